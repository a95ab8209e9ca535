/*
 * Functions of double precision, which a tile computes with integers. They replace picolibc's,
 * because in Debian's build of picolibc
 *   floor, ceil lose the carry from the low into the high word of the fraction:
 *   floor(-3131595.5) is -3131594;
 *   trunc        loses the low word of a number that is an integer already;
 *   llround      is wrong from 2^52 on;
 *   fma          rounds the product before it adds.
 */
#include "double_bits.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

/* The next integer away from zero if `away`, towards zero otherwise. Integers, infinities
 * and NaNs stay. */
static double integer_near(double x, bool away)
{
  const uint64_t sign = UINT64_C(1) << 63;
  uint64_t bits = bits_of_double(x);
  int exponent = (int)(bits >> 52 & 0x7ff) - 1023;
  if (exponent >= 52 || !(bits & ~sign)) return x;
  if (exponent < 0) return double_of((bits & sign) | (away ? UINT64_C(1023) << 52 : 0));
  uint64_t fraction = (UINT64_C(1) << (52 - exponent)) - 1;
  if (!(bits & fraction)) return x;
  /* A carry into the exponent is right: 1.5 becomes 2. */
  if (away) bits += fraction;
  return double_of(bits & ~fraction);
}

double floor(double x)
{
  return integer_near(x, bits_of_double(x) >> 63);
}

double ceil(double x)
{
  return integer_near(x, !(bits_of_double(x) >> 63));
}

double trunc(double x)
{
  return integer_near(x, false);
}

/* A number out of the range of long long becomes the nearest one inside, as in conversions
 * on a tile. */
long long llround(double x)
{
  uint64_t bits = bits_of_double(x);
  int exponent = (int)(bits >> 52 & 0x7ff) - 1023;
  if (exponent < -1) return 0;
  if (exponent >= 63) return (long long)x;
  uint64_t magnitude = (bits & ((UINT64_C(1) << 52) - 1)) | UINT64_C(1) << 52;
  if (exponent < 52)
    magnitude = (magnitude + (UINT64_C(1) << (51 - exponent))) >> (52 - exponent);
  else
    magnitude <<= exponent - 52;
  return bits >> 63 ? -(long long)magnitude : (long long)magnitude;
}

/* ---- fma ---- */

typedef struct wide {
  uint64_t high, low;
} wide;

/* A sum or one of its terms: significand * 2^exponent. */
typedef struct term {
  wide significand;
  int exponent;
  bool negative;
} term;

/* The highest bit of a term's significand: above it is room for a carry. */
enum { TERM_TOP = 125 };

/* Shifts to the right. The lowest bit is set if a bit that was shifted out was (sticky bit). */
static wide shift_with_rest(wide x, int count)
{
  if (count >= 128) return (wide){0, x.high || x.low};
  if (count >= 64) {
    bool rest = x.low || (count > 64 && x.high << (128 - count));
    return (wide){0, (x.high >> (count - 64)) | rest};
  }
  if (count == 0) return x;
  bool rest = x.low << (64 - count) != 0;
  return (wide){x.high >> count, (x.low >> count) | x.high << (64 - count) | rest};
}

static wide multiply(uint64_t a, uint64_t b)
{
  uint64_t a1 = a >> 32, a0 = (uint32_t)a, b1 = b >> 32, b0 = (uint32_t)b;
  uint64_t low = a0 * b0, middle = a1 * b0 + (low >> 32), other = a0 * b1 + (uint32_t)middle;
  return (wide){a1 * b1 + (middle >> 32) + (other >> 32), other << 32 | (uint32_t)low};
}

/* The significand of a number that is neither zero nor infinite; its highest bit is bit 52. */
static uint64_t significand_of(double x, int *exponent)
{
  uint64_t bits = bits_of_double(x), fraction = bits & ((UINT64_C(1) << 52) - 1);
  int biased = (int)(bits >> 52 & 0x7ff);
  if (biased > 0) {
    *exponent = biased - 1075;
    return fraction | UINT64_C(1) << 52;
  }
  int shift = __builtin_clzll(fraction) - 11;
  *exponent = -1074 - shift;
  return fraction << shift;
}

static term product_of(double x, double y)
{
  int of_x, of_y;
  uint64_t a = significand_of(x, &of_x), b = significand_of(y, &of_y);
  term t = {multiply(a << 11, b << 10), of_x + of_y - 21,
            (bits_of_double(x) ^ bits_of_double(y)) >> 63};
  if (t.significand.high >> (TERM_TOP + 1 - 64)) {
    t.significand = shift_with_rest(t.significand, 1);
    t.exponent++;
  }
  return t;
}

static term term_of(double z)
{
  term t = {.negative = bits_of_double(z) >> 63};
  t.significand.high = significand_of(z, &t.exponent) << (TERM_TOP - 64 - 52);
  t.exponent -= TERM_TOP - 52;
  return t;
}

/* Lost bits do not matter: terms that lose more than one are too far apart to cancel each other. */
static term add(term a, term b)
{
  bool b_is_larger =
      b.exponent > a.exponent ||
      (b.exponent == a.exponent &&
       (b.significand.high > a.significand.high ||
        (b.significand.high == a.significand.high && b.significand.low > a.significand.low)));
  if (b_is_larger) {
    term other = a;
    a = b;
    b = other;
  }
  wide smaller = shift_with_rest(b.significand, a.exponent - b.exponent);
  uint64_t low = a.significand.low;
  if (a.negative == b.negative) {
    a.significand.low += smaller.low;
    a.significand.high += smaller.high + (a.significand.low < low);
  } else {
    a.significand.low -= smaller.low;
    a.significand.high -= smaller.high + (a.significand.low > low);
  }
  return a;
}

/* Rounds to nearest, ties to even. */
static double rounded(term t)
{
  if (!t.significand.high && !t.significand.low) return 0;
  int zeros = t.significand.high ? __builtin_clzll(t.significand.high)
                                 : 64 + __builtin_clzll(t.significand.low);
  wide s = t.significand;
  if (zeros >= 64) s = (wide){s.low, 0};
  int shift = zeros & 63;
  if (shift > 0) s = (wide){s.high << shift | s.low >> (64 - shift), s.low << shift};
  uint64_t sign = (uint64_t)t.negative << 63;
  int biased = t.exponent - zeros + 127 + 1023;
  if (biased >= 0x7ff) return double_of(sign | UINT64_C(0x7ff) << 52);
  if (biased <= 0) s = shift_with_rest(s, 1 - biased);
  uint64_t kept = s.high >> 11, rest = (s.high & 0x7ff) << 1 | (s.low != 0), half = 0x800;
  if (rest > half || (rest == half && kept & 1)) kept++;
  /* The highest bit of `kept` adds one to the exponent, as a carry does. */
  return double_of(sign | ((biased > 0 ? (uint64_t)(biased - 1) << 52 : 0) + kept));
}

double fma(double x, double y, double z)
{
  if (!isfinite(x) || !isfinite(y) || x == 0 || y == 0) return x * y + z;
  if (!isfinite(z)) return z + z;
  if (z == 0) return x * y;
  return rounded(add(product_of(x, y), term_of(z)));
}
