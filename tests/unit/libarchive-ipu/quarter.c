/* libarchive-ipu/quarter.c: all codes of both formats have the values of their definition (Noune et
 * al., 2022, tables 1 and 2). */
#include "support/expect.h"

#include <populus/types.h>

#include <math.h>

enum { F143 = 0x80, F152 = 0 };

static uint8_t metadata_of(int format, int scale)
{
  return (uint8_t)(format | (scale & 0x3f));
}

/* Sign, exponent and fraction of a code; bias 8 and 16, no infinities. */
static double defined_value(uint8_t code, int format, int scale)
{
  int bits = format == F143 ? 3 : 2, bias = format == F143 ? 8 : 16;
  int exponent = (code & 0x7f) >> bits, fraction = code & ((1 << bits) - 1);
  double magnitude = exponent ? ldexp(1 + ldexp(fraction, -bits), exponent - bias)
                              : ldexp(fraction, 1 - bias - bits);
  return ldexp(code & 0x80 ? -magnitude : magnitude, scale);
}

static const struct table {
  int format;
  double largest, smallest;
} tables[] = {{F143, 240, 0x1p-10}, {F152, 57344, 0x1p-17}};

Test(quarter, every_code_has_its_value_and_comes_back)
{
  for (size_t i = 0; i < 2; i++)
    for (int scale = -32; scale < 32; scale++) {
      uint8_t metadata = metadata_of(tables[i].format, scale);
      for (unsigned code = 0; code < 256; code++) {
        float value = pop_quarter_to_float((uint8_t)code, metadata);
        if (code == 0x80) {
          cr_assert(isnan(value));
        } else {
          cr_assert_eq((double)value, defined_value((uint8_t)code, tables[i].format, scale));
          cr_assert_eq(pop_quarter_from_float(value, metadata, true), code);
        }
      }
    }
}

Test(quarter, the_ends_of_both_formats_are_the_published_ones)
{
  for (size_t i = 0; i < 2; i++) {
    uint8_t metadata = metadata_of(tables[i].format, 0);
    cr_assert_eq((double)pop_quarter_to_float(0x7f, metadata), tables[i].largest);
    cr_assert_eq((double)pop_quarter_to_float(0x01, metadata), tables[i].smallest);
    cr_assert_eq(pop_quarter_to_float(0, metadata), 0);
  }
}

/* The nearer of two neighbouring codes; if both are equally near, the even one. */
static uint8_t nearest(double value, unsigned below, int format)
{
  double low = defined_value((uint8_t)below, format, 0);
  double high = defined_value((uint8_t)(below + 1), format, 0), middle = (low + high) / 2;
  return (uint8_t)(value < middle || (value == middle && below % 2 == 0) ? below : below + 1);
}

Test(quarter, numbers_between_codes_go_to_the_nearest)
{
  for (size_t i = 0; i < 2; i++) {
    int format = tables[i].format;
    uint8_t metadata = metadata_of(format, 0);
    for (unsigned code = 0; code < 0x7f; code++)
      for (int part = 0; part <= 16; part++) {
        double low = defined_value((uint8_t)code, format, 0);
        double high = defined_value((uint8_t)(code + 1), format, 0);
        double value = low + (high - low) * part / 16;
        uint8_t expected = nearest(value, code, format);
        cr_assert_eq(pop_quarter_from_float((float)value, metadata, true), expected);
        if (expected)
          cr_assert_eq(pop_quarter_from_float((float)-value, metadata, true), expected | 0x80);
      }
  }
}

Test(quarter, what_is_too_large_is_no_number_or_the_largest)
{
  for (size_t i = 0; i < 2; i++) {
    uint8_t metadata = metadata_of(tables[i].format, 0);
    const float large[] = {(float)tables[i].largest * 1.25F, 1e30F, INFINITY};
    for (size_t k = 0; k < 3; k++) {
      cr_assert_eq(pop_quarter_from_float(large[k], metadata, true), 0x80);
      cr_assert_eq(pop_quarter_from_float(large[k], metadata, false), 0x7f);
      cr_assert_eq(pop_quarter_from_float(-large[k], metadata, false), 0xff);
    }
    cr_assert_eq(pop_quarter_from_float(NAN, metadata, false), 0x80);
    cr_assert_eq(pop_quarter_from_float(1e-30F, metadata, true), 0);
    cr_assert_eq(pop_quarter_from_float(-1e-30F, metadata, true), 0); /* there is no -0 */
  }
}
