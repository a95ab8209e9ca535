/* Floating point of the tile: RISC-V F and Zfh, to the bit.
 *
 * There are two implementations. The functions of float.c work on integers only, for both formats
 * and all five rounding modes: they are the definition. The inline functions below are for the
 * common case, rounding to nearest even, and use the host's own instructions. IEEE 754 leaves them
 * no freedom except in two things: NaNs, which are made canonical here, and tininess, which x86
 * detects after rounding, as RISC-V does. The host must round to nearest and must not flush
 * subnormals (machine_run sets that). Its sticky exception flags are the tile's (float_host_flags).
 *
 * Values are bit patterns. A half lives in a 32-bit register with ones above it ("NaN boxing");
 * float_unbox turns anything else into the canonical NaN, as the specification says. */
#ifndef ISA_FLOAT_H
#define ISA_FLOAT_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

typedef enum rounding_mode {
  ROUND_NEAREST_EVEN,
  ROUND_TO_ZERO,
  ROUND_DOWN,
  ROUND_UP,
  ROUND_NEAREST_AWAY,
  ROUND_DYNAMIC = 7 /* in an instruction: the mode in frm */
} rounding_mode;

/* fflags */
enum {
  FLAG_INEXACT = 1,
  FLAG_UNDERFLOW = 2,
  FLAG_OVERFLOW = 4,
  FLAG_DIVIDE = 8,
  FLAG_INVALID = 16
};

typedef struct float_format {
  int fraction_bits, bias;
  uint32_t infinity, nan, sign; /* bit patterns */
} float_format;

extern const float_format float_single, float_half;

/* Results in `format`; raised flags are ORed into `flags`. */
uint32_t float_add(const float_format *format, uint32_t a, uint32_t b, rounding_mode mode,
                   uint32_t *flags);
uint32_t float_multiply(const float_format *format, uint32_t a, uint32_t b, rounding_mode mode,
                        uint32_t *flags);
uint32_t float_divide(const float_format *format, uint32_t a, uint32_t b, rounding_mode mode,
                      uint32_t *flags);
uint32_t float_sqrt(const float_format *format, uint32_t a, rounding_mode mode, uint32_t *flags);
/* a * b + c, rounded once */
uint32_t float_multiply_add(const float_format *format, uint32_t a, uint32_t b, uint32_t c,
                            rounding_mode mode, uint32_t *flags);
uint32_t float_convert(const float_format *to, const float_format *from, uint32_t a,
                       rounding_mode mode, uint32_t *flags);
uint32_t float_from_integer(const float_format *format, bool negative, uint32_t magnitude,
                            rounding_mode mode, uint32_t *flags);
/* Saturating; NaN counts as plus infinity. */
uint32_t float_to_integer(const float_format *format, uint32_t a, bool is_signed,
                          rounding_mode mode, uint32_t *flags);
uint32_t float_minimum(const float_format *format, uint32_t a, uint32_t b, uint32_t *flags);
uint32_t float_maximum(const float_format *format, uint32_t a, uint32_t b, uint32_t *flags);
uint32_t float_classify(const float_format *format, uint32_t a); /* result of fclass */

static inline uint32_t float_negate(const float_format *format, uint32_t a)
{
  return a ^ format->sign;
}

static inline bool float_is_nan(const float_format *format, uint32_t a)
{
  return (a & ~format->sign) > format->infinity;
}

static inline bool float_is_signalling(const float_format *format, uint32_t a)
{
  return float_is_nan(format, a) && !(a >> (format->fraction_bits - 1) & 1);
}

/* Comparisons. float_equal is quiet; float_less is invalid for every NaN. */
static inline bool float_less(const float_format *format, uint32_t a, uint32_t b, bool or_equal,
                              uint32_t *flags)
{
  if (float_is_nan(format, a) || float_is_nan(format, b)) {
    *flags |= FLAG_INVALID;
    return false;
  }
  bool negative_a = a & format->sign, negative_b = b & format->sign;
  if (((a | b) & ~format->sign) == 0) return or_equal;
  if (negative_a != negative_b) return negative_a;
  if (a == b) return or_equal;
  return (a < b) != negative_a;
}

static inline bool float_equal(const float_format *format, uint32_t a, uint32_t b, uint32_t *flags)
{
  if (float_is_nan(format, a) || float_is_nan(format, b)) {
    if (float_is_signalling(format, a) || float_is_signalling(format, b)) *flags |= FLAG_INVALID;
    return false;
  }
  return a == b || ((a | b) & ~format->sign) == 0;
}

static inline uint32_t float_box(uint32_t half)
{
  return half | 0xffff0000;
}

static inline uint32_t float_unbox(uint32_t bits)
{
  return bits >= 0xffff0000 ? bits & 0xffff : 0x7e00;
}

static inline uint32_t float_from_signed(const float_format *format, uint32_t value,
                                         rounding_mode mode, uint32_t *flags)
{
  bool negative = value >> 31;
  return float_from_integer(format, negative, negative ? 0 - value : value, mode, flags);
}

/* float_host.c: the exceptions that the host has raised since float_clear_host_flags, as fflags. */
uint32_t float_host_flags(void);
void float_clear_host_flags(void);

static inline float single_from_bits(uint32_t bits)
{
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

/* The bits of an operation's result; the caller makes NaNs canonical. The barrier makes the host
 * store the bits from an integer register. If a float register is stored, the next operation waits
 * a third longer for them (on AMD's processors). */
static inline uint32_t single_to_bits(float value)
{
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  __asm__("" : "+r"(bits));
  return bits;
}

static inline bool single_is_nan(uint32_t bits)
{
  return bits << 1 > 0xff000000;
}

/* Exact; signalling NaNs stay signalling. A subnormal half d * 2^-24 is (2^-14 + d * 2^-24) -
 * 2^-14, which the host computes without an exception. */
static inline float half_to_single(uint32_t half)
{
  const uint32_t exponent_mask = 0x1f << 23;
  uint32_t bits = (half & 0x7fff) << 13, sign = (half & 0x8000) << 16;
  if ((bits & exponent_mask) == 0) {
    float magnitude = single_from_bits(bits + (113u << 23)) - single_from_bits(113u << 23);
    memcpy(&bits, &magnitude, sizeof bits);
    return single_from_bits(bits | sign);
  }
  bits += (bits & exponent_mask) == exponent_mask ? (255u - 31) << 23 : (127u - 15) << 23;
  return single_from_bits(bits | sign);
}

/* Rounds to nearest even. For the result of one single-precision +, -, *, / or sqrt of halves that
 * is the same as rounding once, because 24 >= 2 * 11 + 2 bits (Figueroa, "When is double rounding
 * innocuous?", 1995). */
static inline uint32_t half_from_single(float value, uint32_t *flags)
{
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  uint32_t magnitude = bits & 0x7fffffff;
  if (magnitude - 0x38800000 < 0x477ff000 - 0x38800000) { /* normal: 2^-14 <= value < 65520 */
    uint32_t rest = magnitude & 0x1fff, half = (magnitude - (112u << 23)) >> 13;
    if (rest) *flags |= FLAG_INEXACT;
    half += rest > 0x1000 || (rest == 0x1000 && (half & 1));
    return half | (bits >> 16 & 0x8000);
  }
  return float_convert(&float_half, &float_single, bits, ROUND_NEAREST_EVEN, flags);
}

#endif
