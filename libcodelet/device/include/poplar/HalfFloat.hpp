// The 16-bit floating point type of codelets.
#ifndef POPLAR_HALF_FLOAT_HPP
#define POPLAR_HALF_FLOAT_HPP

typedef _Float16 half;

#endif
