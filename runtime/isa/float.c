/* IEEE 754 arithmetic on integers.
 *
 * Every operation unpacks its operands and computes the exact result as sign, 64-bit integer and
 * exponent. Bits that do not fit are ORed into the lowest one ("sticky"). One function,
 * round_result, does rounding, overflow and underflow. Single precision needs 24 bits and at least
 * two more to round, so 64 bits are plenty.
 *
 * What RISC-V adds to IEEE 754 ("F" chapter of the specification): results that are NaN are the
 * canonical NaN; tininess is detected after rounding; infinity * 0 + NaN is invalid. */
#include "isa/float.h"

const float_format float_single = {.fraction_bits = 23,
                                   .bias = 127,
                                   .infinity = 0x7f800000,
                                   .nan = 0x7fc00000,
                                   .sign = 0x80000000};
const float_format float_half = {
    .fraction_bits = 10, .bias = 15, .infinity = 0x7c00, .nan = 0x7e00, .sign = 0x8000};

typedef enum number_kind { KIND_ZERO, KIND_FINITE, KIND_INFINITE, KIND_NAN } number_kind;

/* FINITE: value = significand * 2^exponent, the significand's leading bit is bit 23. */
typedef struct number {
  number_kind kind;
  bool negative;
  int exponent;
  uint64_t significand;
} number;

enum { SIGNIFICAND_TOP = 23 }; /* leading bit of an unpacked significand */
enum { ROUND_TOP = 62 };       /* leading bit of the value in round_result */

static int highest_bit(uint64_t value)
{
  return 63 - __builtin_clzll(value);
}

static number unpack(const float_format *format, uint32_t bits, uint32_t *flags)
{
  number n = {.negative = bits & format->sign};
  uint32_t magnitude = bits & ~format->sign;
  if (float_is_nan(format, bits)) {
    n.kind = KIND_NAN;
    if (float_is_signalling(format, bits)) *flags |= FLAG_INVALID;
  } else if (magnitude == format->infinity) {
    n.kind = KIND_INFINITE;
  } else if (magnitude) {
    int biased = (int)(magnitude >> format->fraction_bits);
    uint64_t fraction = magnitude & ((1u << format->fraction_bits) - 1);
    n.kind = KIND_FINITE;
    n.significand = biased ? fraction | 1u << format->fraction_bits : fraction;
    n.exponent = (biased ? biased : 1) - format->bias - format->fraction_bits;
    int shift = SIGNIFICAND_TOP - highest_bit(n.significand);
    n.significand <<= shift;
    n.exponent -= shift;
  }
  return n;
}

static uint32_t with_sign(const float_format *format, bool negative, uint32_t magnitude)
{
  return negative ? magnitude | format->sign : magnitude;
}

static uint32_t invalid(const float_format *format, uint32_t *flags)
{
  *flags |= FLAG_INVALID;
  return format->nan;
}

/* value >> shift; the lowest bit is also set if any bit below it was. */
static uint64_t shift_right_sticky(uint64_t value, int shift)
{
  if (shift <= 0) return value;
  if (shift > 63) return value != 0;
  return value >> shift | ((value & ((UINT64_C(1) << shift) - 1)) != 0);
}

/* value / 2^drop, 1 <= drop <= 63, rounded to an integer. */
static uint64_t round_integer(uint64_t value, int drop, bool negative, rounding_mode mode,
                              bool *inexact)
{
  uint64_t quotient = value >> drop, rest = value & ((UINT64_C(1) << drop) - 1);
  uint64_t middle = UINT64_C(1) << (drop - 1);
  *inexact = rest != 0;
  switch (mode) {
  case ROUND_NEAREST_EVEN:
    return quotient + (rest > middle || (rest == middle && (quotient & 1)));
  case ROUND_DOWN:
    return quotient + (negative && rest);
  case ROUND_UP:
    return quotient + (!negative && rest);
  case ROUND_NEAREST_AWAY:
    return quotient + (rest >= middle);
  default:
    return quotient;
  }
}

static uint32_t overflow(const float_format *format, bool negative, rounding_mode mode,
                         uint32_t *flags)
{
  *flags |= FLAG_OVERFLOW | FLAG_INEXACT;
  bool to_largest =
      mode == ROUND_TO_ZERO || (mode == ROUND_DOWN && !negative) || (mode == ROUND_UP && negative);
  return with_sign(format, negative, format->infinity - to_largest);
}

/* The number ±value * 2^exponent (value's lowest bit may be sticky) in `format`. value != 0 */
static uint32_t round_result(const float_format *format, bool negative, uint64_t value,
                             int exponent, rounding_mode mode, uint32_t *flags)
{
  int top = highest_bit(value);
  value = top > ROUND_TOP ? shift_right_sticky(value, top - ROUND_TOP) : value << (ROUND_TOP - top);
  exponent += top; /* now that of the leading bit */
  int drop = ROUND_TOP - format->fraction_bits, least = 1 - format->bias;
  bool inexact, denormal = exponent < least, tiny = false;
  if (denormal) {
    uint64_t unbounded = round_integer(value, drop, negative, mode, &inexact);
    tiny = exponent + 1 < least || !(unbounded >> (format->fraction_bits + 1));
    value = shift_right_sticky(value, least - exponent);
    exponent = least;
  }
  uint64_t rounded = round_integer(value, drop, negative, mode, &inexact);
  if (inexact) *flags |= FLAG_INEXACT | (tiny ? FLAG_UNDERFLOW : 0);
  /* A carry out of the fraction moves into the exponent by itself; the leading bit of a normal
   * number would add one more. */
  uint64_t biased = denormal ? 0 : (uint64_t)(exponent + format->bias - 1);
  uint64_t magnitude = (biased << format->fraction_bits) + rounded;
  if (magnitude >= format->infinity) return overflow(format, negative, mode, flags);
  return with_sign(format, negative, (uint32_t)magnitude);
}

/* a * b of finite numbers: at most 48 bits, exact. */
static number multiply_exactly(number a, number b)
{
  return (number){.kind = KIND_FINITE,
                  .negative = a.negative != b.negative,
                  .exponent = a.exponent + b.exponent,
                  .significand = a.significand * b.significand};
}

/* a + b of finite numbers of at most 48 bits, rounded. Both are shifted up to bit 61. So the
 * smaller one loses bits to the sticky one only where cancellation in the sum cannot bring them
 * up. */
static uint32_t add_finite(const float_format *format, number a, number b, rounding_mode mode,
                           uint32_t *flags)
{
  number *operands[] = {&a, &b};
  for (int i = 0; i < 2; i++) {
    int shift = ROUND_TOP - 1 - highest_bit(operands[i]->significand);
    operands[i]->significand <<= shift;
    operands[i]->exponent -= shift;
  }
  if (a.exponent < b.exponent || (a.exponent == b.exponent && a.significand < b.significand)) {
    number swap = a;
    a = b;
    b = swap;
  }
  uint64_t aligned = shift_right_sticky(b.significand, a.exponent - b.exponent);
  uint64_t sum = a.negative == b.negative ? a.significand + aligned : a.significand - aligned;
  if (!sum) return with_sign(format, mode == ROUND_DOWN, 0);
  return round_result(format, a.negative, sum, a.exponent, mode, flags);
}

static uint32_t round_number(const float_format *format, number n, rounding_mode mode,
                             uint32_t *flags)
{
  if (n.kind == KIND_NAN) return format->nan;
  if (n.kind == KIND_INFINITE) return with_sign(format, n.negative, format->infinity);
  if (n.kind == KIND_ZERO) return with_sign(format, n.negative, 0);
  return round_result(format, n.negative, n.significand, n.exponent, mode, flags);
}

static uint32_t add_numbers(const float_format *format, number a, number b, rounding_mode mode,
                            uint32_t *flags)
{
  if (a.kind == KIND_NAN || b.kind == KIND_NAN) return format->nan;
  if (a.kind == KIND_INFINITE && b.kind == KIND_INFINITE && a.negative != b.negative)
    return invalid(format, flags);
  if (a.kind == KIND_INFINITE || b.kind == KIND_INFINITE)
    return with_sign(format, a.kind == KIND_INFINITE ? a.negative : b.negative, format->infinity);
  if (a.kind == KIND_ZERO && b.kind == KIND_ZERO)
    return with_sign(format, a.negative == b.negative ? a.negative : mode == ROUND_DOWN, 0);
  if (a.kind == KIND_ZERO) return round_number(format, b, mode, flags);
  if (b.kind == KIND_ZERO) return round_number(format, a, mode, flags);
  return add_finite(format, a, b, mode, flags);
}

uint32_t float_add(const float_format *format, uint32_t a, uint32_t b, rounding_mode mode,
                   uint32_t *flags)
{
  number x = unpack(format, a, flags), y = unpack(format, b, flags);
  return add_numbers(format, x, y, mode, flags);
}

/* The exact product; if there is none, a NaN, with `flags` set. */
static number multiply_numbers(number a, number b, uint32_t *flags)
{
  bool negative = a.negative != b.negative;
  bool infinite = a.kind == KIND_INFINITE || b.kind == KIND_INFINITE;
  bool zero = a.kind == KIND_ZERO || b.kind == KIND_ZERO;
  if (infinite && zero) *flags |= FLAG_INVALID;
  if (a.kind == KIND_NAN || b.kind == KIND_NAN || (infinite && zero))
    return (number){.kind = KIND_NAN};
  if (infinite) return (number){.kind = KIND_INFINITE, .negative = negative};
  if (zero) return (number){.kind = KIND_ZERO, .negative = negative};
  return multiply_exactly(a, b);
}

uint32_t float_multiply(const float_format *format, uint32_t a, uint32_t b, rounding_mode mode,
                        uint32_t *flags)
{
  number x = unpack(format, a, flags), y = unpack(format, b, flags);
  return round_number(format, multiply_numbers(x, y, flags), mode, flags);
}

uint32_t float_multiply_add(const float_format *format, uint32_t a, uint32_t b, uint32_t c,
                            rounding_mode mode, uint32_t *flags)
{
  number x = unpack(format, a, flags), y = unpack(format, b, flags), z = unpack(format, c, flags);
  return add_numbers(format, multiply_numbers(x, y, flags), z, mode, flags);
}

uint32_t float_divide(const float_format *format, uint32_t a, uint32_t b, rounding_mode mode,
                      uint32_t *flags)
{
  number x = unpack(format, a, flags), y = unpack(format, b, flags);
  bool negative = x.negative != y.negative;
  if (x.kind == KIND_NAN || y.kind == KIND_NAN) return format->nan;
  if (x.kind == y.kind && x.kind != KIND_FINITE) return invalid(format, flags);
  if (x.kind == KIND_INFINITE) return with_sign(format, negative, format->infinity);
  if (x.kind == KIND_ZERO || y.kind == KIND_INFINITE) return with_sign(format, negative, 0);
  if (y.kind == KIND_ZERO) {
    *flags |= FLAG_DIVIDE;
    return with_sign(format, negative, format->infinity);
  }
  enum { QUOTIENT_BITS = 38 };
  uint64_t dividend = x.significand << QUOTIENT_BITS;
  uint64_t quotient = dividend / y.significand;
  quotient |= dividend % y.significand != 0;
  return round_result(format, negative, quotient, x.exponent - y.exponent - QUOTIENT_BITS, mode,
                      flags);
}

/* The largest root with root * root <= value < 2^62. */
static uint64_t integer_sqrt(uint64_t value)
{
  uint64_t root = 0;
  for (uint64_t bit = UINT64_C(1) << 30; bit; bit >>= 1)
    if ((root + bit) * (root + bit) <= value) root += bit;
  return root;
}

uint32_t float_sqrt(const float_format *format, uint32_t a, rounding_mode mode, uint32_t *flags)
{
  number x = unpack(format, a, flags);
  if (x.kind == KIND_NAN) return format->nan;
  if (x.kind == KIND_ZERO) return with_sign(format, x.negative, 0);
  if (x.negative) return invalid(format, flags);
  if (x.kind == KIND_INFINITE) return format->infinity;
  int shift = x.exponent & 1 ? 37 : 36; /* makes the exponent even */
  uint64_t square = x.significand << shift, root = integer_sqrt(square);
  bool exact = root * root == square;
  return round_result(format, false, root << 1 | !exact, (x.exponent - shift) / 2 - 1, mode, flags);
}

uint32_t float_convert(const float_format *to, const float_format *from, uint32_t a,
                       rounding_mode mode, uint32_t *flags)
{
  return round_number(to, unpack(from, a, flags), mode, flags);
}

uint32_t float_from_integer(const float_format *format, bool negative, uint32_t magnitude,
                            rounding_mode mode, uint32_t *flags)
{
  return magnitude ? round_result(format, negative, magnitude, 0, mode, flags) : 0;
}

/* A finite number rounded to an integer. Exact up to 2^32; from there on it is too large anyway. */
static uint64_t round_to_integer(number x, rounding_mode mode, bool *inexact)
{
  *inexact = false;
  if (x.kind == KIND_ZERO) return 0;
  if (x.exponent >= 0) return x.exponent > 9 ? UINT64_MAX : x.significand << x.exponent;
  enum { GUARD = 32 };
  uint64_t value = shift_right_sticky(x.significand << GUARD, -x.exponent);
  return round_integer(value, GUARD, x.negative, mode, inexact);
}

uint32_t float_to_integer(const float_format *format, uint32_t a, bool is_signed,
                          rounding_mode mode, uint32_t *flags)
{
  uint32_t ignored = 0;
  number x = unpack(format, a, &ignored);
  bool negative = x.negative && x.kind != KIND_NAN, inexact = false;
  uint32_t most = is_signed ? INT32_MAX : UINT32_MAX, least = is_signed ? 0x80000000 : 0;
  uint64_t limit = negative ? least : most; /* the largest magnitude */
  bool endless = x.kind == KIND_NAN || x.kind == KIND_INFINITE;
  uint64_t magnitude = endless ? UINT64_MAX : round_to_integer(x, mode, &inexact);
  if (magnitude > limit) {
    *flags |= FLAG_INVALID;
    return negative ? least : most;
  }
  if (inexact) *flags |= FLAG_INEXACT;
  return negative ? 0 - (uint32_t)magnitude : (uint32_t)magnitude;
}

/* IEEE 754-2019 minimumNumber and maximumNumber: a NaN loses against a number, -0 is below +0. */
static uint32_t pick(const float_format *format, uint32_t a, uint32_t b, bool larger,
                     uint32_t *flags)
{
  bool nan_a = float_is_nan(format, a), nan_b = float_is_nan(format, b);
  if (float_is_signalling(format, a) || float_is_signalling(format, b)) *flags |= FLAG_INVALID;
  if (nan_a && nan_b) return format->nan;
  if (nan_a || nan_b) return nan_a ? b : a;
  bool negative_a = a & format->sign, negative_b = b & format->sign;
  bool a_below = negative_a != negative_b ? negative_a : (a < b) != negative_a;
  return a_below != larger ? a : b;
}

uint32_t float_minimum(const float_format *format, uint32_t a, uint32_t b, uint32_t *flags)
{
  return pick(format, a, b, false, flags);
}

uint32_t float_maximum(const float_format *format, uint32_t a, uint32_t b, uint32_t *flags)
{
  return pick(format, a, b, true, flags);
}

/* Bits: 0 -inf, 1 -normal, 2 -denormal, 3 -0, 4 +0 … 7 +inf, 8 signalling NaN, 9 quiet NaN. */
uint32_t float_classify(const float_format *format, uint32_t a)
{
  uint32_t magnitude = a & ~format->sign;
  if (float_is_nan(format, a)) return float_is_signalling(format, a) ? 1u << 8 : 1u << 9;
  unsigned size = magnitude == format->infinity        ? 3
                  : magnitude >> format->fraction_bits ? 2
                  : magnitude                          ? 1
                                                       : 0;
  return a & format->sign ? 1u << (3 - size) : 1u << (4 + size);
}
