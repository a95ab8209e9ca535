/*
 * Conversions of 64-bit integers to single precision and back, and their division. Linked instead of libgcc's: its conversions compute
 * in double precision, 9 KB of additions and products by integers on each tile that converts one, or calls sinf; its quotients are
 * made of divisions of 32 bits, which take 270 slots each (libarchive-ipu/target.c), as the chip has none.
 */
#include "math_single.h"

/* Rounded as the mode says. What is below the upper 31 (32) bits becomes the lowest one of these: some bits further up is where the
 * number is rounded. */
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

/* Cut off; of what no such integer holds, the nearest that one does, of NaN the largest: as the tile's instructions for 32 bits. */
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

/* What n / d is computed with: of d, shifted to the left until its first bit is bit 63, the upper half; of its reciprocal, 32 bits,
 * which are never too large and miss less than 2^-28 of it. */
typedef struct divisor {
  uint32_t reciprocal; /* of d = 2^63 to 2^64 - 1: 2^95 / d */
  uint32_t shift;
} divisor;

/* One step of Newton's iteration from what a float knows, from below. */
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

/* n / d, and what is left of n. By 0: all bits, as the tile's instructions. The first part is all of a small quotient, but for 1 or 2, so
 * that hardly a branch is for a processor to guess. */
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
