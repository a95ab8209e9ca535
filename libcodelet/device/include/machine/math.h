/* The inline functions of <math.h> that are instructions of the tile. This file replaces picolibc's
 * of the same name. picolibc's functions are inline assembly, which is not hoisted out of loops,
 * and its fmaxf and fminf call a function to look for signalling NaNs. Here fmaxf and fminf are
 * fmax.s and fmin.s: of a number and a NaN of either kind, the result is the number. */
#ifndef _MACHINE_MATH_H_
#define _MACHINE_MATH_H_

#define _HAVE_FAST_FMAF 1

#define POPULUS_MATH(type) extern __inline__ __attribute__((__gnu_inline__, __always_inline__)) type

POPULUS_MATH(float) copysignf(float __x, float __y)
{
  return __builtin_copysignf(__x, __y);
}

POPULUS_MATH(float) fabsf(float __x)
{
  return __builtin_fabsf(__x);
}

POPULUS_MATH(float) fmaxf(float __x, float __y)
{
  return __builtin_fmaxf(__x, __y);
}

POPULUS_MATH(float) fminf(float __x, float __y)
{
  return __builtin_fminf(__x, __y);
}

POPULUS_MATH(float) sqrtf(float __x)
{
  return __builtin_sqrtf(__x);
}

POPULUS_MATH(float) fmaf(float __x, float __y, float __z)
{
  return __builtin_fmaf(__x, __y, __z);
}

POPULUS_MATH(int) __finitef(float __x)
{
  return __builtin_isfinite(__x);
}

POPULUS_MATH(int) finitef(float __x)
{
  return __builtin_isfinite(__x);
}

POPULUS_MATH(int) __fpclassifyf(float __x)
{
  return __builtin_fpclassify(FP_NAN, FP_INFINITE, FP_NORMAL, FP_SUBNORMAL, FP_ZERO, __x);
}

#undef POPULUS_MATH
#endif
