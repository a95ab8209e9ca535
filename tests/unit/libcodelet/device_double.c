/* The device library's functions of double precision (libcodelet/device/lib/double.c) against the host's, to the bit. */
#include <criterion/criterion.h>

#include "support/random.h"
#include <float.h>
#include <math.h>
#include <stdint.h>

#define floor tile_floor
#define ceil tile_ceil
double floor(double x);
double ceil(double x);
#include "device/lib/double.c"
#undef floor
#undef ceil

static void expect_same(double x)
{
  if (isnan(x)) {
    cr_assert(isnan(tile_floor(x)) && isnan(tile_ceil(x)));
    return;
  }
  cr_assert_eq(bits_of_double(tile_floor(x)), bits_of_double(floor(x)), "floor(%a) is %a", x,
               tile_floor(x));
  cr_assert_eq(bits_of_double(tile_ceil(x)), bits_of_double(ceil(x)), "ceil(%a) is %a", x,
               tile_ceil(x));
}

Test(device_double, integers_near_any_number)
{
  uint64_t random = 5;
  for (int i = 0; i < 200000; i++) {
    uint64_t bits = random_next(&random);
    expect_same(double_of(bits));
    /* exponents at which something is cut off */
    uint64_t exponent = 1020 + bits % 56;
    expect_same(double_of((bits & ~(UINT64_C(0x7ff) << 52)) | exponent << 52));
  }
}

Test(device_double, integers_near_special_numbers)
{
  const double special[] = {0,      1,       0.5,     1.5,    -3131595.5, 0x1p52, 0x1p52 - 0.5,
                            0x1p53, DBL_MIN, DBL_MAX, 5e-324, INFINITY,   NAN,    1 - 0x1p-53};
  for (size_t i = 0; i < sizeof special / sizeof *special; i++) {
    expect_same(special[i]);
    expect_same(-special[i]);
  }
}
