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

/* The quotient and the rest, by the instructions of divide64.S. The return address stays in a
 * register, as these leave enough of them. */
static uint64_t divide(uint64_t n, uint64_t d, uint64_t *rest)
{
#ifdef __riscv
  register uint32_t n_low __asm__("a0") = (uint32_t)n, n_high __asm__("a1") = (uint32_t)(n >> 32);
  register uint32_t d_low __asm__("a2") = (uint32_t)d, d_high __asm__("a3") = (uint32_t)(d >> 32);
  uint32_t back;
  __asm__("mv %4, ra\n"
          "call __udivdi3\n"
          "mv ra, %4"
          : "+r"(n_low), "+r"(n_high), "+r"(d_low), "+r"(d_high), "=&r"(back)
          :
          : "t0", "t1", "t2", "t3", "t4", "t5", "t6");
  *rest = (uint64_t)d_high << 32 | d_low;
  return (uint64_t)n_high << 32 | n_low;
#else /* for tests of the other functions */
  *rest = d ? n % d : n;
  return d ? n / d : UINT64_MAX;
#endif
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
