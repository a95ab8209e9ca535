// Numbers with a meaning, under the original's names.
#ifndef POPOPS_ENCODINGCONSTANTS_HPP
#define POPOPS_ENCODINGCONSTANTS_HPP

// A label or an index that counts for nothing.
#define MASKED_LABEL_CODE 0xFFFFFFFFU

// The least value of which logarithms of probabilities are taken: the smallest normal single,
// the smallest half.
#define EPS_LOG_N_FLOAT (1.17549435e-38F)
#define EPS_LOG_N_HALF (0.000000059605F)

#endif
