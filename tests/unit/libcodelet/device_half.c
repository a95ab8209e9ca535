/* The half conversions of the device library, compared with the host compiler's own: every
 * exponent, the neighbourhood of every rounding boundary, and random bits. */
#include <criterion/criterion.h>

#define __floatdihf device_floatdihf
#define __floatundihf device_floatundihf
#define __fixhfdi device_fixhfdi
#define __fixunshfdi device_fixunshfdi
#define __truncdfhf2 device_truncdfhf2
#define __trunctfhf2 device_trunctfhf2
#include "device/lib/half.c"

static uint64_t state = 88172645463325252u;

static uint64_t random_bits(void)
{
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return state;
}

static uint16_t bits_of(half value)
{
  uint16_t bits;
  memcpy(&bits, &value, sizeof bits);
  /* All NaNs count as equal. */
  return value != value ? 0x7e00 : bits;
}

static half half_of(uint16_t bits)
{
  half value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

static void expect_same(double value)
{
  cr_assert_eq(bits_of(device_truncdfhf2(value)), bits_of((half)value), "double %a", value);
  quad wide = value;
  cr_assert_eq(bits_of(device_trunctfhf2(wide)), bits_of((half)value), "quad %a", value);
}

Test(device_half, double_and_quad_round_once)
{
  /* Every half, the middle between it and the next one, and the numbers next to that middle. */
  for (unsigned bits = 0; bits < 0x7c00; ++bits) {
    double middle = ((double)half_of((uint16_t)bits) +
                     (bits == 0x7bff ? 65536.0 : (double)half_of((uint16_t)(bits + 1)))) /
                    2;
    for (int sign = -1; sign <= 1; sign += 2) {
      expect_same(sign * (double)half_of((uint16_t)bits));
      expect_same(sign * middle);
      expect_same(sign * middle * (1 + 0x1p-52));
      expect_same(sign * middle * (1 - 0x1p-52));
      quad above = (quad)(sign * middle) * (1 + (quad)0x1p-112);
      cr_assert_eq(bits_of(device_trunctfhf2(above)), bits_of((half)above), "just above %a",
                   sign * middle);
    }
  }
}

Test(device_half, any_double)
{
  for (int i = 0; i < 1000000; ++i) {
    uint64_t bits = random_bits();
    if (i & 1) bits = (bits & 0x800fffffffffffff) | (uint64_t)(1023 - 30 + i % 50) << 52;
    double value;
    memcpy(&value, &bits, sizeof value);
    expect_same(value);
  }
  expect_same(__builtin_inf());
  expect_same(-__builtin_inf());
  expect_same(__builtin_nan(""));
  expect_same(5e-324);
}

Test(device_half, integers)
{
  for (int64_t value = -70000; value <= 70000; ++value) {
    cr_assert_eq(bits_of(device_floatdihf(value)), bits_of((half)value));
    if (value >= 0)
      cr_assert_eq(bits_of(device_floatundihf((uint64_t)value)), bits_of((half)value));
  }
  for (int i = 0; i < 100000; ++i) {
    int64_t value = (int64_t)random_bits() >> i % 64;
    cr_assert_eq(bits_of(device_floatdihf(value)), bits_of((half)(double)value));
    cr_assert_eq(bits_of(device_floatundihf((uint64_t)value)),
                 bits_of((half)(double)(uint64_t)value));
  }
  for (unsigned bits = 0; bits < 0x7c00; ++bits) {
    half value = half_of((uint16_t)bits);
    cr_assert_eq(device_fixhfdi(-value), (int64_t)-(double)value);
    cr_assert_eq(device_fixunshfdi(value), (uint64_t)(double)value);
  }
}
