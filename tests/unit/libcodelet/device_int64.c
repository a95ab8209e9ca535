/* The device library's division of 64-bit integers with signs (libcodelet/device/lib/int64.c). Here
 * it uses the host's division of those without signs; tests/unit/machine/divisions.c tests the
 * tile's. */
#include <criterion/criterion.h>

#include "support/division_operands.h"
#include <stdint.h>

#define __floatundisf tile_floatundisf
#define __floatdisf tile_floatdisf
#define __fixunssfdi tile_fixunssfdi
#define __fixsfdi tile_fixsfdi
#define __udivmoddi4 tile_udivmoddi4
#define __umoddi3 tile_umoddi3
#define __divmoddi4 tile_divmoddi4
#define __divdi3 tile_divdi3
#define __moddi3 tile_moddi3
#include "device/lib/int64.c"

Test(device_int64, signs_are_those_of_the_host)
{
  uint64_t random = 3;
  for (int i = 0; i < 100000; i++) {
    int64_t n = (int64_t)pick_operand(&random, 1), d = (int64_t)pick_operand(&random, 1), rest;
    if (d == 0 || (n == INT64_MIN && d == -1)) continue;
    cr_assert(tile_divmoddi4(n, d, &rest) == n / d && rest == n % d, "%lld / %lld", (long long)n,
              (long long)d);
    cr_assert(tile_divdi3(n, d) == n / d && tile_moddi3(n, d) == n % d);
  }
}

Test(device_int64, division_by_zero_gives_all_bits)
{
  uint64_t rest;
  cr_assert_eq(tile_udivmoddi4(5, 0, &rest), UINT64_MAX);
  cr_assert_eq(rest, 5);
  cr_assert_eq(tile_umoddi3(5, 0), 5);
}
