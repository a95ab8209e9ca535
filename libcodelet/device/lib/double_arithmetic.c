/*
 * Sums and products of double precision, computed with integers. They replace libgcc's, which read
 * the rounding mode and record exceptions. A product and a sum take 300 slots there and 190 here.
 * Results are rounded to nearest, ties to even. The NaN is 0x7ff8000000000000, as RISC-V has it.
 */
#include "double_bits.h"

#include <stdbool.h>
#include <stdint.h>

static const uint64_t not_a_number = UINT64_C(0x7ff8) << 48, infinity = UINT64_C(0x7ff) << 52;
static const uint64_t hidden = UINT64_C(1) << 52, sign_bit = UINT64_C(1) << 63;
enum { BIAS = 1023, TOP = 0x7ff };

static inline uint32_t exponent_of(uint64_t bits)
{
  return (uint32_t)(bits >> 52) & TOP;
}

/* Shifts `m` right by n; the lowest bit is set if a set bit is lost. A shift by 32 - n is made of
 * one by 31 - n and one more, so that n may be 0. */
static inline uint64_t shift_jamming(uint64_t m, uint32_t n)
{
  uint32_t high = (uint32_t)(m >> 32), low = (uint32_t)m;
  if (n >= 64) return m != 0;
  if (n >= 32) {
    bool lost = low || high << 1 << (63 - n);
    return high >> (n - 32) | lost;
  }
  bool lost = low << 1 << (31 - n);
  return (uint64_t)(high >> n) << 32 | (low >> n | high << 1 << (31 - n) | lost);
}

/* Rounds m to a number. Its exponent field is `exponent` if m has bit 52 + `extra`, and one less if
 * not (`exponent` is then 1). A carry out of the fraction correctly increases the exponent. */
static inline double packed(uint64_t sign, uint32_t exponent, uint64_t m, uint32_t extra)
{
  uint32_t low = (uint32_t)m & ((1u << extra) - 1), odd = (uint32_t)(m >> extra) & 1;
  uint64_t all = ((uint64_t)(exponent - 1) << 52) + (m >> extra) + (low + odd > 1u << (extra - 1));
  return double_of(sign | (all < infinity ? all : infinity));
}

/* ---- sums ---- */

enum { EXTRA = 10 };

/* The sum if a is infinite or a NaN; |a| is not less than |b|. */
static double sum_of_special(uint64_t a, uint64_t b)
{
  if (a << 1 > infinity << 1) return double_of(not_a_number);
  return double_of(b << 1 == infinity << 1 && a != b ? not_a_number : a);
}

/* The 53 bits of the significand, and EXTRA more. An exponent field of 0 means 1 without
 * the hidden bit. */
static inline uint64_t summand(uint64_t bits, uint32_t *exponent)
{
  uint64_t m = bits & (hidden - 1);
  if (__builtin_expect(*exponent != 0, 1))
    m |= hidden;
  else
    *exponent = 1;
  return m << EXTRA;
}

/* A difference of 0 is +0. */
static double difference(uint64_t sign, uint32_t exponent, uint64_t m, uint64_t n)
{
  m -= n;
  if (!m) return double_of(0);
  uint32_t zeros = (uint32_t)__builtin_clzll(m) - (63 - 52 - EXTRA);
  if (zeros >= exponent) zeros = exponent - 1;
  return packed(sign, exponent - zeros, m << zeros, EXTRA);
}

static inline double sum(uint64_t a, uint64_t b)
{
  if (a << 1 < b << 1) {
    uint64_t larger = b;
    b = a;
    a = larger;
  }
  uint32_t exponent = exponent_of(a), other = exponent_of(b);
  if (__builtin_expect(exponent == TOP, 0)) return sum_of_special(a, b);
  uint64_t m = summand(a, &exponent), n = summand(b, &other);
  n = shift_jamming(n, exponent - other);
  if ((a ^ b) >> 63) return difference(a & sign_bit, exponent, m, n);
  m += n;
  if (m >> (53 + EXTRA)) {
    m = m >> 1 | (m & 1);
    exponent++;
  }
  return packed(a & sign_bit, exponent, m, EXTRA);
}

double __adddf3(double a, double b);
double __adddf3(double a, double b)
{
  return sum(bits_of_double(a), bits_of_double(b));
}

double __subdf3(double a, double b);
double __subdf3(double a, double b)
{
  return sum(bits_of_double(a), bits_of_double(b) ^ sign_bit);
}

/* ---- products ---- */

/* The upper 64 bits of a * b; the lowest one is set if any bit below is. */
static inline uint64_t upper_product(uint64_t a, uint64_t b)
{
  uint32_t a0 = (uint32_t)a, a1 = (uint32_t)(a >> 32), b0 = (uint32_t)b, b1 = (uint32_t)(b >> 32);
  uint64_t low = (uint64_t)a0 * b0, one = (uint64_t)a0 * b1, two = (uint64_t)a1 * b0;
  uint64_t middle = (low >> 32) + (uint32_t)one + (uint32_t)two;
  uint64_t high = (uint64_t)a1 * b1 + (one >> 32) + (two >> 32) + (middle >> 32);
  return high | (((uint32_t)low | (uint32_t)middle) != 0);
}

/* The product of significands whose 53 bits begin at the top of the word. */
static inline double product_of(uint64_t sign, int32_t exponent, uint64_t a, uint64_t b)
{
  enum { LOW = 11 };
  uint64_t m = upper_product(a, b); /* 1 to 4, with two bits in front of the point */
  if (m >> 63)
    exponent++;
  else
    m = m
        << 1; /* what is below is rounded away: the lowest bit says that there is some, wherever it is */
  if (__builtin_expect((uint32_t)(exponent - 1) >= TOP - 1, 0)) {
    if (exponent > 0) return double_of(sign | infinity);
    m = shift_jamming(m, (uint32_t)(1 - exponent));
    exponent = 1;
  }
  return packed(sign, (uint32_t)exponent, m, LOW);
}

/* The 53 bits, from the top of the word. A denormal number is normalised: its exponent becomes
 * 0 or less. */
static uint64_t significand(uint64_t bits, int32_t *exponent)
{
  if (*exponent) return (bits | hidden) << 11;
  uint64_t m = bits & (hidden - 1);
  int32_t zeros = __builtin_clzll(m);
  *exponent = 12 - zeros;
  return m << zeros;
}

/* The product if a factor is 0, infinite, a NaN or denormal. */
__attribute__((noinline)) static double product_of_special(uint64_t a, uint64_t b)
{
  uint64_t sign = (a ^ b) & sign_bit, larger = a << 1 > b << 1 ? a << 1 : b << 1;
  bool zero = !(a << 1) || !(b << 1);
  if (larger > infinity << 1 || (zero && larger == infinity << 1)) return double_of(not_a_number);
  if (larger == infinity << 1) return double_of(sign | infinity);
  if (zero) return double_of(sign);
  int32_t exponents[2] = {(int32_t)exponent_of(a), (int32_t)exponent_of(b)};
  uint64_t ma = significand(a, &exponents[0]), mb = significand(b, &exponents[1]);
  return product_of(sign, exponents[0] + exponents[1] - BIAS, ma, mb);
}

double __muldf3(double x, double y);
double __muldf3(double x, double y)
{
  uint64_t a = bits_of_double(x), b = bits_of_double(y);
  uint32_t exponent_a = exponent_of(a), exponent_b = exponent_of(b);
  if (__builtin_expect(exponent_a - 1 >= TOP - 1 || exponent_b - 1 >= TOP - 1, 0))
    return product_of_special(a, b);
  return product_of((a ^ b) & sign_bit, (int32_t)(exponent_a + exponent_b) - BIAS,
                    (a | hidden) << 11, (b | hidden) << 11);
}
