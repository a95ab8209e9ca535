/* poplibs/quotient.h: quotients that are computed with floats equal those of integers. */
#include "poplibs/quotient.h"
#include "support/random.h"

#include <criterion/criterion.h>

static void expect_quotients(unsigned a, unsigned b)
{
  cr_assert(quotient(a, b) == a / b, "%u / %u is %u", a, b, quotient(a, b));
}

Test(quotient, just_below_at_and_above_multiples)
{
  for (unsigned b = 1; b < 1u << 24; b += 1 + b / 64)
    for (unsigned n = 1; (uint64_t)n * b <= 1u << 24; n += 1 + n / 16) {
      expect_quotients(n * b - 1, b);
      expect_quotients(n * b, b);
      expect_quotients(n * b + 1, b);
    }
}

Test(quotient, of_all_sizes)
{
  uint64_t random = 5;
  for (int i = 0; i < 2000000; i++) {
    uint32_t a = (uint32_t)random_next(&random), b = (uint32_t)random_next(&random);
    expect_quotients(a >> random_below(&random, 31), (b >> random_below(&random, 31)) | 1);
  }
}
