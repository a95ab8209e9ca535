/* The device library's functions of double precision (libcodelet/device/lib/double.c) give the
 * host's results to the bit. */
#include <criterion/criterion.h>

#include "support/random.h"
#include <float.h>
#include <math.h>
#include <stdint.h>

#define floor tile_floor
#define ceil tile_ceil
#define trunc tile_trunc
#define llround tile_llround
#define fma tile_fma
double floor(double x);
double ceil(double x);
double trunc(double x);
long long llround(double x);
double fma(double x, double y, double z);
#include "device/lib/double.c"
#undef floor
#undef ceil
#undef trunc
#undef llround
#undef fma

static uint64_t random_bits(uint64_t *random)
{
  uint64_t high = random_next(random), middle = random_next(random);
  return high << 62 ^ middle << 31 ^ random_next(random);
}

static void expect_same(double x)
{
  if (isnan(x)) {
    cr_assert(isnan(tile_floor(x)) && isnan(tile_ceil(x)) && isnan(tile_trunc(x)));
    return;
  }
  cr_assert_eq(bits_of_double(tile_floor(x)), bits_of_double(floor(x)), "floor(%a) is %a", x,
               tile_floor(x));
  cr_assert_eq(bits_of_double(tile_ceil(x)), bits_of_double(ceil(x)), "ceil(%a) is %a", x,
               tile_ceil(x));
  cr_assert_eq(bits_of_double(tile_trunc(x)), bits_of_double(trunc(x)), "trunc(%a) is %a", x,
               tile_trunc(x));
  if (fabs(x) < 0x1p63)
    cr_assert_eq(tile_llround(x), llround(x), "llround(%a) is %lld", x, tile_llround(x));
}

static void expect_same_fma(double x, double y, double z)
{
  double ours = tile_fma(x, y, z), host = fma(x, y, z);
  if (isnan(host))
    cr_assert(isnan(ours), "fma(%a, %a, %a) is %a", x, y, z, ours);
  else
    cr_assert_eq(bits_of_double(ours), bits_of_double(host), "fma(%a, %a, %a) is %a, not %a", x, y,
                 z, ours, host);
}

/* A number with an exponent near another one, so that terms cancel or round each other. */
static double number_near(uint64_t *random, int exponent)
{
  int near = exponent + (int)(random_next(random) % 240) - 120;
  uint64_t biased = (uint64_t)(near < 0 ? 0 : near > 2046 ? 2046 : near);
  uint64_t fraction = random_bits(random) >> 12;
  if (random_next(random) % 4 == 0) fraction &= ~UINT64_C(0) << random_next(random) % 52;
  return double_of((uint64_t)random_next(random) << 63 | biased << 52 | fraction);
}

Test(device_double, fma_rounds_once)
{
  uint64_t random = 9;
  for (int i = 0; i < 1000000; i++) {
    double x = double_of(random_bits(&random)), y = double_of(random_bits(&random));
    if (i % 4 > 0) {
      x = number_near(&random, i % 4 == 1 ? 1023 : 512);
      y = number_near(&random, i % 4 == 3 ? 590 : 1023);
    }
    int product = 1023;
    if (isfinite(x * y) && x != 0 && y != 0) product = ilogb(x) + ilogb(y) + 1023;
    expect_same_fma(x, y, number_near(&random, product));
    expect_same_fma(x, y, -x * y);
  }
}

Test(device_double, fma_of_special_numbers)
{
  const double special[] = {0,           1,       -0.0,     0x1p-537, 0x1p-538, -1,
                            0x1p1023,    5e-324,  DBL_MIN,  DBL_MAX,  INFINITY, NAN,
                            1 - 0x1p-53, -5e-324, -DBL_MAX, -INFINITY};
  enum { NUM = sizeof special / sizeof *special };
  for (size_t i = 0; i < NUM * NUM * NUM; i++)
    expect_same_fma(special[i / NUM / NUM], special[i / NUM % NUM], special[i % NUM]);
}

Test(device_double, integers_near_any_number)
{
  uint64_t random = 5;
  for (int i = 0; i < 200000; i++) {
    uint64_t bits = random_bits(&random);
    expect_same(double_of(bits));
    /* exponents at which bits are cut off */
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
