/* The device library's division of 64-bit integers (libcodelet/device/lib/int64.c) gives the host's
 * results in every rounding mode. Its first estimate comes from a float. */
#include <criterion/criterion.h>

#include "support/random.h"
#include "support/seeds.h"
#include <fenv.h>
#include <stdint.h>

#define __floatundisf tile_floatundisf
#define __floatdisf tile_floatdisf
#define __fixunssfdi tile_fixunssfdi
#define __fixsfdi tile_fixsfdi
#define __udivmoddi4 tile_udivmoddi4
#define __udivdi3 tile_udivdi3
#define __umoddi3 tile_umoddi3
#define __divmoddi4 tile_divmoddi4
#define __divdi3 tile_divdi3
#define __moddi3 tile_moddi3
#include "device/lib/int64.c"

static const int modes[] = {FE_TONEAREST, FE_TOWARDZERO, FE_UPWARD, FE_DOWNWARD};
enum { NUM_MODES = sizeof modes / sizeof *modes };

static void expect_quotient(uint64_t n, uint64_t d)
{
  for (int i = 0; i < NUM_MODES; i++) {
    uint64_t rest;
    fesetround(modes[i]);
    uint64_t quotient = tile_udivmoddi4(n, d, &rest);
    fesetround(FE_TONEAREST);
    cr_assert(quotient == n / d && rest == n % d, "mode %d: %llx / %llx is %llx, rest %llx", i,
              (unsigned long long)n, (unsigned long long)d, (unsigned long long)quotient,
              (unsigned long long)rest);
  }
}

/* A number of any length, or near a power of two, or a multiple of the other one. */
static uint64_t pick(uint64_t *random, uint64_t other)
{
  uint64_t low = random_next(random), any = low << 32 ^ random_next(random);
  uint64_t power = UINT64_C(1) << random_below(random, 64);
  switch (random_below(random, 4)) {
  case 0:
    return power - 2 + random_below(random, 5);
  case 1:
    return other * (1 + (any & (power - 1))) - 1 + random_below(random, 3);
  default:
    return any >> random_below(random, 64);
  }
}

Test(device_int64, quotients_and_rests_are_those_of_the_host)
{
  seed_range seeds = test_seeds(1, 200000);
  for (uint64_t seed = seeds.first; seed <= seeds.last; seed++) {
    uint64_t random = seed * UINT64_C(0x9e3779b97f4a7c15), d = pick(&random, 1);
    if (d) expect_quotient(pick(&random, d), d);
  }
}

Test(device_int64, the_ends_of_the_range)
{
  static const uint64_t ends[] = {0,
                                  1,
                                  2,
                                  3,
                                  UINT32_MAX,
                                  1ull << 32,
                                  INT64_MAX,
                                  1ull << 63,
                                  UINT64_MAX,
                                  UINT64_MAX - 1,
                                  0xffffffff00000000u,
                                  0x80000001};
  enum { NUM_ENDS = sizeof ends / sizeof *ends };
  for (int i = 0; i < NUM_ENDS; i++)
    for (int j = 0; j < NUM_ENDS; j++)
      if (ends[j]) expect_quotient(ends[i], ends[j]);
  cr_assert_eq(tile_udivdi3(5, 0), UINT64_MAX);
  cr_assert_eq(tile_umoddi3(5, 0), 5);
}

Test(device_int64, signs_are_those_of_the_host)
{
  uint64_t random = 3;
  for (int i = 0; i < 100000; i++) {
    int64_t n = (int64_t)pick(&random, 1), d = (int64_t)pick(&random, 1), rest;
    if (d == 0 || (n == INT64_MIN && d == -1)) continue;
    cr_assert(tile_divmoddi4(n, d, &rest) == n / d && rest == n % d, "%lld / %lld", (long long)n,
              (long long)d);
    cr_assert(tile_divdi3(n, d) == n / d && tile_moddi3(n, d) == n % d);
  }
}
