// Numbers with a meaning, with the documented names.
#ifndef POPOPS_ENCODINGCONSTANTS_HPP
#define POPOPS_ENCODINGCONSTANTS_HPP

// A label or an index that is ignored.
#define MASKED_LABEL_CODE 0xFFFFFFFFU

// Lower bounds for probabilities of which programs take logarithms: the smallest normal float, and
// the smallest half.
#define EPS_LOG_N_FLOAT (1.17549435e-38F)
#define EPS_LOG_N_HALF (0.000000059605F)

#endif
