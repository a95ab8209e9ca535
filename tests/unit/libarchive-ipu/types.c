/* libarchive-ipu/types.c: element types and half floats. */
#include "support/expect.h"

#include <populus/types.h>

#include <math.h>

static float float_of(uint32_t bits)
{
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

Test(types, names_lead_back_to_their_types)
{
  for (unsigned i = 0; i < POP_TYPE_COUNT; i++) {
    pop_type found = POP_TYPE_COUNT;
    cr_assert(pop_type_from_name(pop_type_name((pop_type)i), &found));
    cr_assert_eq(found, (pop_type)i);
  }
  pop_type type;
  cr_assert_not(pop_type_from_name("Float", &type));
  cr_assert_not(pop_type_from_name("", &type));
  cr_assert_str_eq(pop_type_name(POP_TYPE_COUNT), "?");
  cr_assert_eq(pop_type_bytes(POP_TYPE_COUNT), 0);
}

Test(types, sizes)
{
  cr_assert_eq(pop_type_bytes(POP_BOOL), 1);
  cr_assert_eq(pop_type_bytes(POP_HALF), 2);
  cr_assert_eq(pop_type_bytes(POP_FLOAT), 4);
  cr_assert_eq(pop_type_bytes(POP_UNSIGNED_LONGLONG), 8);
  cr_assert_eq(pop_type_align(POP_UNSIGNED_LONGLONG), 8);
}

/* The value of the three fields of a half, as IEEE 754 defines it. */
static double defined_value(uint16_t half)
{
  int exponent = half >> 10 & 0x1f, fraction = half & 0x3ff;
  double magnitude = exponent ? ldexp(1024 + fraction, exponent - 25) : ldexp(fraction, -24);
  return half & 0x8000 ? -magnitude : magnitude;
}

Test(types, every_half_converts_to_float_and_back)
{
  for (uint32_t bits = 0; bits < 0x10000; bits++) {
    uint16_t half = (uint16_t)bits;
    float value = pop_half_to_float(half);
    if ((half & 0x7c00) != 0x7c00)
      cr_assert_eq((double)value, defined_value(half), "half 0x%04x", bits);
    else if (half & 0x3ff)
      cr_assert(isnan(value), "half 0x%04x", bits);
    else
      cr_assert(isinf(value) && (signbit(value) != 0) == half >> 15, "half 0x%04x", bits);
    if (isnan(value))
      cr_assert_eq(pop_half_from_float(value), half | 0x200, "NaN 0x%04x gets quiet", bits);
    else
      cr_assert_eq(pop_half_from_float(value), half, "half 0x%04x", bits);
  }
}

/* Between two neighbouring halves: below the middle, the middle (to even), above the middle. */
Test(types, float_to_half_rounds_to_nearest_even)
{
  for (uint16_t half = 0; half < 0x7bff; half++) {
    /* Exact: a float has more bits than the middle needs. Positive floats have the order of their
     * bits. */
    float middle = (pop_half_to_float(half) + pop_half_to_float(half + 1)) / 2;
    uint32_t bits;
    memcpy(&bits, &middle, sizeof bits);
    cr_assert_eq(pop_half_from_float(float_of(bits - 1)), half, "below, 0x%04x", half);
    cr_assert_eq(pop_half_from_float(middle), half + (half & 1), "middle, 0x%04x", half);
    cr_assert_eq(pop_half_from_float(float_of(bits + 1)), half + 1, "above, 0x%04x", half);
    cr_assert_eq(pop_half_from_float(-middle), (half + (half & 1)) | 0x8000, "-, 0x%04x", half);
  }
}

/* Doubles that a float would put into the middle. */
Test(types, double_to_half_rounds_once)
{
  for (uint16_t half = 0; half < 0x7bff; half++) {
    double middle =
        ((double)pop_half_to_float(half) + (double)pop_half_to_float((uint16_t)(half + 1))) / 2;
    cr_assert_eq(pop_half_from_double(nextafter(middle, 0)), half, "below, 0x%04x", half);
    cr_assert_eq(pop_half_from_double(middle), half + (half & 1), "middle, 0x%04x", half);
    cr_assert_eq(pop_half_from_double(nextafter(middle, INFINITY)), half + 1, "above, 0x%04x",
                 half);
    cr_assert_eq(pop_half_from_double(-nextafter(middle, INFINITY)), (half + 1) | 0x8000,
                 "-, 0x%04x", half);
  }
  cr_assert_eq(pop_half_from_double(65520), 0x7c00);
  cr_assert_eq(pop_half_from_double(nextafter(65520, 0)), 0x7bff);
  cr_assert_eq(pop_half_from_double(1e300), 0x7c00);
  cr_assert_eq(pop_half_from_double(-1e-300), 0x8000);
  cr_assert_eq(pop_half_from_double(-INFINITY), 0xfc00);
  cr_assert(isnan(pop_half_to_float(pop_half_from_double(NAN))));
}

Test(types, float_to_half_at_the_ends)
{
  static const struct {
    uint32_t bits;
    uint16_t half;
  } cases[] = {
      {0x477fefff, 0x7bff}, /* just below 65520: the largest half */
      {0x477ff000, 0x7c00}, /* 65520: infinity */
      {0x7f7fffff, 0x7c00}, /* the largest float */
      {0xff800000, 0xfc00}, /* minus infinity */
      {0x33000000, 0x0000}, /* half of the smallest subnormal: rounded to even, 0 */
      {0x33000001, 0x0001}, /* slightly more */
      {0x00000001, 0x0000}, /* the smallest float */
      {0x80000000, 0x8000}, /* minus 0 */
      {0x7f800001, 0x7e00}, /* a signalling NaN loses its payload and becomes a quiet NaN */
      {0xffc02000, 0xfe01}, /* a quiet NaN with payload in bits that a half has */
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    cr_assert_eq(pop_half_from_float(float_of(cases[i].bits)), cases[i].half, "0x%08x",
                 cases[i].bits);
}
