/* Integer results that C has no operator for, or leaves undefined. */
#ifndef ISA_INTEGER_H
#define ISA_INTEGER_H

#include <stdint.h>

static inline uint32_t divide_signed(uint32_t a, uint32_t b)
{
  if (b == 0) return UINT32_MAX;
  if (a == 0x80000000 && b == UINT32_MAX) return a;
  return (uint32_t)((int32_t)a / (int32_t)b);
}

static inline uint32_t remainder_signed(uint32_t a, uint32_t b)
{
  if (b == 0) return a;
  if (a == 0x80000000 && b == UINT32_MAX) return 0;
  return (uint32_t)((int32_t)a % (int32_t)b);
}

static inline uint32_t shift_right_arithmetic(uint32_t value, uint32_t count)
{
  uint32_t sign = value >> 31 ? ~(UINT32_MAX >> count) : 0;
  return value >> count | sign;
}

static inline uint32_t rotate_right(uint32_t value, uint32_t count)
{
  return value >> (count & 31) | value << (-count & 31);
}

/* 0xff for every byte that is not 0. */
static inline uint32_t or_combine_bytes(uint32_t value)
{
  value |= value >> 4 & 0x0f0f0f0f;
  value |= value >> 2 & 0x03030303;
  value |= value >> 1 & 0x01010101;
  return (value & 0x01010101) * 0xff;
}

static inline uint32_t high_product(int64_t a, int64_t b)
{
  return (uint32_t)((uint64_t)(a * b) >> 32);
}

#endif
