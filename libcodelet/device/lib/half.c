/*
 * Conversions of half that neither the tile's instructions nor libgcc 12 have: to and from 64-bit
 * integers, and from wider floating-point types. The names are the compiler's.
 *
 * double -> float -> half would round twice. So the first step rounds to odd: it truncates, and
 * sets the last bit if anything was lost. Then the second step rounds as if it had seen the whole
 * number, because float's 24 bits are more than half's 11 + 2 (Boldo and Melquiond, "Emulation of
 * FMA and correctly rounded sums: proved algorithms using rounding to odd", 2008).
 */
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

__extension__ typedef _Float16 half;
#ifdef __riscv
typedef long double quad;
#else
__extension__ typedef __float128 quad; /* the test of this file runs on the host */
#endif

half __floatdihf(int64_t value);
half __floatundihf(uint64_t value);
int64_t __fixhfdi(half value);
uint64_t __fixunshfdi(half value);
half __truncdfhf2(double value);
half __trunctfhf2(quad value);

/* Numbers beyond 32 bits are beyond half's range, too, and round as the largest 32-bit
 * number does. */
half __floatdihf(int64_t value)
{
  if (value > INT_MAX) return (half)INT_MAX;
  if (value < INT_MIN) return (half)INT_MIN;
  return (half)(int)value;
}

half __floatundihf(uint64_t value)
{
  return value > UINT_MAX ? (half)UINT_MAX : (half)(unsigned)value;
}

/* By way of int, which holds every finite half. A conversion by way of float would become a
 * call of this function. */
int64_t __fixhfdi(half value)
{
  return (int)value;
}

uint64_t __fixunshfdi(half value)
{
  return (unsigned)value;
}

/*
 * A number as its sign (bit 31), exponent without bias, the 32 bits after the binary point, and
 * whether any bit after these is set. `special`: it is infinity (fraction 0) or a NaN.
 */
static half round_to_half(uint32_t sign, int exponent, uint32_t fraction, bool rest, bool special)
{
  uint32_t bits;
  if (special)
    bits = fraction || rest ? 0x7fc00000 : 0x7f800000;
  else if (exponent > 127)
    bits = 0x7f7fffff; /* rounds as every number above half's range */
  else if (exponent < -126)
    bits = 0x00800000; /* rounds as every number below half's smallest */
  else
    bits = (uint32_t)(exponent + 127) << 23 | fraction >> 9 | (rest || fraction << 23);
  bits |= sign;

  float odd;
  memcpy(&odd, &bits, sizeof odd);
  return (half)odd;
}

half __truncdfhf2(double value)
{
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  uint32_t sign = (uint32_t)(bits >> 32) & 0x80000000;
  int exponent = (int)(bits >> 52 & 0x7ff);
  if (bits << 1 == 0) return sign ? -(half)0 : (half)0;
  return round_to_half(sign, exponent - 1023, (uint32_t)(bits >> 20), bits << 44 != 0,
                       exponent == 0x7ff);
}

half __trunctfhf2(quad value)
{
  uint64_t words[2];
  memcpy(words, &value, sizeof words);
  uint64_t low = words[0], high = words[1];
  uint32_t sign = (uint32_t)(high >> 32) & 0x80000000;
  int exponent = (int)(high >> 48 & 0x7fff);
  if (low == 0 && high << 1 == 0) return sign ? -(half)0 : (half)0;
  return round_to_half(sign, exponent - 16383, (uint32_t)(high >> 16), low || high << 48,
                       exponent == 0x7fff);
}
