/*
 * lgammaf and tgammaf near 0. picolibc's divide by the square of the argument there: for negative
 * numbers from about -2^-64 on, both are infinite. All other numbers are left to picolibc.
 */
#include "math_single.h"

float lgammaf_r(float x, int *sign); /* picolibc's, which standard C does not declare */
extern int __signgam;

static const float near_zero = 0x1p-20f, euler = 0x1.2788dp-1f;

/* -ln |x| - euler * x */
float lgammaf(float x)
{
  float size = __builtin_fabsf(x);
  if (!(size < near_zero)) return lgammaf_r(x, &__signgam);
  __signgam = bits_of(x) >> 31 ? -1 : 1;
  return multiply_add(-euler, x, -logf(size));
}

/* 1 / x - euler. Elsewhere the sign and e to the power of the logarithm, as in picolibc. */
float tgammaf(float x)
{
  if (__builtin_fabsf(x) < near_zero) return 1 / x - euler;
  if (x < 0 && __builtin_floorf(x) == x) return (x - x) / (x - x);
  int sign;
  float size = expf(lgammaf_r(x, &sign));
  return sign < 0 ? -size : size;
}
