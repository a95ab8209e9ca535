/* Doubles as their bits, for code that computes them with integers (double.c,
 * double_arithmetic.c). */
#ifndef POPULUS_DEVICE_DOUBLE_BITS_H
#define POPULUS_DEVICE_DOUBLE_BITS_H

#include <stdint.h>

static inline uint64_t bits_of_double(double x)
{
  uint64_t bits;
  __builtin_memcpy(&bits, &x, sizeof bits);
  return bits;
}

static inline double double_of(uint64_t bits)
{
  double x;
  __builtin_memcpy(&x, &bits, sizeof x);
  return x;
}

#endif
