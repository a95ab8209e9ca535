/* The translator against the interpreter: random programs of the shape that compilers make (support/random_kernel.h). */
#include <criterion/criterion.h>

#include "support/compare_engines.h"
#include "support/random.h"
#include "support/random_kernel.h"
#include "support/seeds.h"

enum { NUM_CHOICES = 2000 };

static void compare_kernel(const pop_target *target, uint64_t seed)
{
  static kernel k;
  uint8_t choices[NUM_CHOICES];
  uint64_t state = seed * UINT64_C(0x9e3779b97f4a7c15);
  for (size_t i = 0; i < NUM_CHOICES; i++) choices[i] = (uint8_t)(random_next(&state) >> 23);
  kernel_make(choices, NUM_CHOICES, &k);
  compare_engines(target, &k.image, k.stacks, k.max_cycles, "kernel", seed);
}

Test(translate_kernels, do_the_same_to_the_bit_and_cycle)
{
  pop_target target;
  expect_ok(pop_target_create("ipu2", 1, &target));
  target.tiles_per_ipu = 1;
  seed_range seeds = test_seeds(1, 60);
  for (uint64_t seed = seeds.first; seed <= seeds.last; seed++) compare_kernel(&target, seed);
}
