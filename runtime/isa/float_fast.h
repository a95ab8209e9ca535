/* Single precision by the host's instructions, for cases that need more than one. They raise the
 * host's sticky flags, or `flags`. */
#ifndef ISA_FLOAT_FAST_H
#define ISA_FLOAT_FAST_H

#include "isa/float.h"

static inline uint32_t fast_multiply_add(uint32_t *flags, uint32_t a, uint32_t b, uint32_t d)
{
  uint32_t bits =
      single_to_bits(fmaf(single_from_bits(a), single_from_bits(b), single_from_bits(d)));
  if (single_is_nan(bits)) /* hosts differ for infinity * 0 + NaN */
    return float_multiply_add(&float_single, a, b, d, ROUND_NEAREST_EVEN, flags);
  return bits;
}

static inline uint32_t fast_to_signed(uint32_t *flags, uint32_t a)
{
  float value = single_from_bits(a);
  if ((a & 0x7fffffff) < 0x4f000000) return (uint32_t)(int32_t)value; /* below 2^31 */
  return float_to_integer(&float_single, a, true, ROUND_TO_ZERO, flags);
}

static inline uint32_t fast_to_unsigned(uint32_t *flags, uint32_t a)
{
  float value = single_from_bits(a);
  if (a < 0x4f800000) return (uint32_t)(int64_t)value; /* 0 to below 2^32 */
  return float_to_integer(&float_single, a, false, ROUND_TO_ZERO, flags);
}

static inline uint32_t fast_widen(uint32_t *flags, uint32_t half)
{
  if (float_is_nan(&float_half, half))
    return float_convert(&float_single, &float_half, half, ROUND_NEAREST_EVEN, flags);
  return single_to_bits(half_to_single(half));
}

/* Comparisons raise the host's invalid flag if the tile's comparison is invalid. */
static inline uint32_t fast_equal(uint32_t *flags, uint32_t a, uint32_t b)
{
  float x = single_from_bits(a), y = single_from_bits(b);
  if (__builtin_isunordered(x, y)) return float_equal(&float_single, a, b, flags);
  return x == y;
}

static inline uint32_t fast_less(uint32_t *flags, uint32_t a, uint32_t b)
{
  float x = single_from_bits(a), y = single_from_bits(b);
  if (__builtin_isunordered(x, y)) return float_less(&float_single, a, b, false, flags);
  return x < y;
}

static inline uint32_t fast_less_or_equal(uint32_t *flags, uint32_t a, uint32_t b)
{
  float x = single_from_bits(a), y = single_from_bits(b);
  if (__builtin_isunordered(x, y)) return float_less(&float_single, a, b, true, flags);
  return x <= y;
}

/* Without branches, which could not be predicted. Equal operands have the same bits, or are zeros,
 * of which the negative one is less. */
static inline uint32_t fast_minimum(uint32_t *flags, uint32_t a, uint32_t b)
{
  float x = single_from_bits(a), y = single_from_bits(b);
  if (__builtin_isunordered(x, y)) return float_minimum(&float_single, a, b, flags);
  uint32_t less = 0 - (uint32_t)(x < y), greater = 0 - (uint32_t)(x > y);
  return (a & ~greater) | (b & ~less);
}

static inline uint32_t fast_maximum(uint32_t *flags, uint32_t a, uint32_t b)
{
  float x = single_from_bits(a), y = single_from_bits(b);
  if (__builtin_isunordered(x, y)) return float_maximum(&float_single, a, b, flags);
  uint32_t less = 0 - (uint32_t)(x < y), greater = 0 - (uint32_t)(x > y);
  return (a | less) & (b | greater);
}

#endif
