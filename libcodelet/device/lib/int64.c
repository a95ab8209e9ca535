/*
 * Conversions between 64-bit integers and single precision, and 64-bit division. They replace
 * libgcc's. Its conversions compute in double precision: 9 KB of integer code on each tile that
 * converts, or calls sinf. Its quotients are made of 32-bit divisions, which take 270 slots each
 * (libarchive-ipu/target.c), as the chip has no such instruction.
 */
#include "math_single.h"

/* Rounds in the current mode. Set bits below the upper 32 (31 if signed) set the lowest of these
 * (sticky bit), which lies below the bit at which the number is rounded. */
float __floatundisf(uint64_t n);
float __floatundisf(uint64_t n)
{
  uint32_t high = (uint32_t)(n >> 32);
  if (!high) return (float)(uint32_t)n;
  uint32_t shift = 32 - (uint32_t)__builtin_clz(high);
  uint32_t rest = (uint32_t)n << (32 - shift) != 0;
  return (float)((uint32_t)(n >> shift) | rest) * power_of_two((int)shift);
}

float __floatdisf(int64_t n);
float __floatdisf(int64_t n)
{
  int32_t high = (int32_t)(n >> 32);
  if (high == (int32_t)n >> 31) return (float)(int32_t)n;
  uint32_t shift = 33 - (uint32_t)__builtin_clz((uint32_t)(high ^ high >> 31) | 1);
  uint64_t below = (uint64_t)n << (64 - shift);
  return (float)((int32_t)(n >> shift) | (below != 0)) * power_of_two((int)shift);
}

/* Truncates. A number out of range becomes the nearest integer in range, a NaN the largest, as in
 * the tile's instructions for 32 bits. */
uint64_t __fixunssfdi(float x);
uint64_t __fixunssfdi(float x)
{
  if (x < 0x1p32f) return (uint32_t)x;
  uint32_t bits = bits_of(x);
  uint32_t exponent = bits >> 23 & 0xff;
  if (exponent >= 127 + 64) return UINT64_MAX;
  return (uint64_t)((bits & 0x7fffff) | 0x800000) << (exponent - 127 - 23);
}

int64_t __fixsfdi(float x);
int64_t __fixsfdi(float x)
{
  if (__builtin_fabsf(x) < 0x1p31f) return (int32_t)x;
  if (__builtin_fabsf(x) < 0x1p63f) {
    int64_t size = (int64_t)__fixunssfdi(__builtin_fabsf(x));
    return x < 0 ? -size : size;
  }
  return x < 0 ? INT64_MIN : INT64_MAX;
}

/* A divisor prepared for n / d: a 32-bit reciprocal of d, shifted left so that its first bit is bit
 * 63. The reciprocal is never too large, and less than 2^-28 of it is missing. */
typedef struct divisor {
  uint32_t reciprocal; /* of d = 2^63 to 2^64 - 1: 2^95 / d */
  uint32_t shift;
} divisor;

/* One step of Newton's iteration from below, starting with a float's precision. */
static inline divisor prepare(uint64_t d)
{
  uint32_t high = (uint32_t)(d >> 32), low = (uint32_t)d, first = high ? high : low;
  uint32_t zeros = (uint32_t)__builtin_clz(first);
  uint32_t top = first << zeros | (high ? low >> 1 >> (31 - zeros) : 0);
  uint32_t near = (uint32_t)(0x1.fffffp62f / (float)top);
  uint64_t missing = (UINT64_C(1) << 63) - (uint64_t)near * top;
  uint32_t more = (uint32_t)((uint64_t)near * (uint32_t)(missing >> 11) >> 52);
  return (divisor){near + more - 2, (high ? 63 : 31) - zeros}; /* 2: for what is below `top` */
}

static inline uint64_t estimate(uint64_t n, divisor d)
{
  uint64_t low = (uint64_t)(uint32_t)n * d.reciprocal >> 32;
  return ((n >> 32) * d.reciprocal + low) >> d.shift;
}

/* n / d and the remainder. Division by 0 gives all bits, as the tile's instructions do. The first
 * estimate misses a small quotient by at most 2, so processors rarely have to predict a branch. */
static uint64_t divide(uint64_t n, uint64_t d, uint64_t *rest)
{
  *rest = n;
  if (!d) return UINT64_MAX;
  divisor by = prepare(d);
  uint64_t quotient = estimate(n, by);
  n -= quotient * d;
  while (n >= d) {
    uint64_t part = estimate(n, by);
    if (!part) part = 1;
    quotient += part;
    n -= part * d;
  }
  *rest = n;
  return quotient;
}

static uint64_t size_of(int64_t n)
{
  return n < 0 ? -(uint64_t)n : (uint64_t)n;
}

uint64_t __udivmoddi4(uint64_t n, uint64_t d, uint64_t *rest);
uint64_t __udivmoddi4(uint64_t n, uint64_t d, uint64_t *rest)
{
  uint64_t left, quotient = divide(n, d, &left);
  if (rest) *rest = left;
  return quotient;
}

uint64_t __udivdi3(uint64_t n, uint64_t d);
uint64_t __udivdi3(uint64_t n, uint64_t d)
{
  uint64_t rest;
  return divide(n, d, &rest);
}

uint64_t __umoddi3(uint64_t n, uint64_t d);
uint64_t __umoddi3(uint64_t n, uint64_t d)
{
  uint64_t rest;
  divide(n, d, &rest);
  return rest;
}

int64_t __divmoddi4(int64_t n, int64_t d, int64_t *rest);
int64_t __divmoddi4(int64_t n, int64_t d, int64_t *rest)
{
  uint64_t left, quotient = divide(size_of(n), size_of(d), &left);
  *rest = (int64_t)(n < 0 ? -left : left);
  return (int64_t)(d && (n ^ d) < 0 ? -quotient : quotient);
}

int64_t __divdi3(int64_t n, int64_t d);
int64_t __divdi3(int64_t n, int64_t d)
{
  int64_t rest;
  return __divmoddi4(n, d, &rest);
}

int64_t __moddi3(int64_t n, int64_t d);
int64_t __moddi3(int64_t n, int64_t d)
{
  int64_t rest;
  __divmoddi4(n, d, &rest);
  return rest;
}
