/*
 * floor and ceil of double precision, which a tile calculates by integers. Linked instead of picolibc's: Debian's build of
 * those loses the carry from the lower word of the fraction into the upper one, so that floor(-3131595.5) is -3131594.
 */
#include <math.h>
#include <stdbool.h>
#include <stdint.h>

static inline uint64_t bits_of_double(double x)
{
  uint64_t bits;
  __builtin_memcpy(&bits, &x, sizeof bits);
  return bits;
}

static inline double double_of(uint64_t bits)
{
  double x;
  __builtin_memcpy(&x, &bits, sizeof x);
  return x;
}

/* The next integer away from zero if `away`, towards zero otherwise. What is one already stays, as do infinities and NaNs. */
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
