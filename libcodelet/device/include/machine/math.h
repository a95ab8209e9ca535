/* The inline functions of <math.h> that are instructions of the tile. This file replaces picolibc's
 * of the same name. picolibc's functions are inline assembly, which is not hoisted out of loops,
 * and its fmaxf and fminf call a function to look for signalling NaNs. Here fmaxf and fminf are
 * fmax.s and fmin.s: of a number and a NaN of either kind, the result is the number. */
#ifndef _MACHINE_MATH_H_
#define _MACHINE_MATH_H_

#define _HAVE_FAST_FMAF 1

#define POPULUS_MATH(type) extern __inline__ __attribute__((__gnu_inline__, __always_inline__)) type

POPULUS_MATH(float) copysignf(float x, float y)
{
  return __builtin_copysignf(x, y);
}

POPULUS_MATH(float) fabsf(float x)
{
  return __builtin_fabsf(x);
}

POPULUS_MATH(float) fmaxf(float x, float y)
{
  return __builtin_fmaxf(x, y);
}

POPULUS_MATH(float) fminf(float x, float y)
{
  return __builtin_fminf(x, y);
}

POPULUS_MATH(float) sqrtf(float x)
{
  return __builtin_sqrtf(x);
}

POPULUS_MATH(float) fmaf(float x, float y, float z)
{
  return __builtin_fmaf(x, y, z);
}

POPULUS_MATH(int) __finitef(float x)
{
  return __builtin_isfinite(x);
}

POPULUS_MATH(int) finitef(float x)
{
  return __builtin_isfinite(x);
}

POPULUS_MATH(int) __fpclassifyf(float x)
{
  return __builtin_fpclassify(FP_NAN, FP_INFINITE, FP_NORMAL, FP_SUBNORMAL, FP_ZERO, x);
}

#undef POPULUS_MATH
#endif
