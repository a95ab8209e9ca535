/* The translator against the interpreter: random programs of the shape of compilers' code
 * (support/random_kernel.h). */
#include <criterion/criterion.h>

#include "support/compare_engines.h"
#include "support/random.h"
#include "support/random_kernel.h"
#include "support/seeds.h"

enum { NUM_CHOICES = 2000 };

static void compare_kernel(const pop_target *target, uint64_t seed, uint32_t float_control)
{
  static kernel k;
  uint8_t choices[NUM_CHOICES];
  uint64_t state = seed * UINT64_C(0x9e3779b97f4a7c15);
  for (size_t i = 0; i < NUM_CHOICES; i++) choices[i] = (uint8_t)(random_next(&state) >> 23);
  kernel_make(choices, NUM_CHOICES, &k);
  machine_options options = {.max_cycles_per_run = k.max_cycles, .float_control = float_control};
  char *difference = engines_differ(MACHINE_TRANSLATOR, target, &k.image, k.stacks, options);
  cr_assert_null(difference, "kernel %llu, float control %x: %s", (unsigned long long)seed,
                 float_control, difference);
}

Test(translate_kernels, do_the_same_to_the_bit_and_cycle)
{
  pop_target target;
  expect_ok(pop_target_create("ipu2", 1, &target));
  target.tiles_per_ipu = 1;
  seed_range seeds = test_seeds(1, 60);
  for (uint64_t seed = seeds.first; seed <= seeds.last; seed++) compare_kernel(&target, seed, 0);
}

/* With faults, NaN on overflow and random rounding: operations without such an event run natively,
 * those with one are the interpreter's. */
Test(translate_kernels, do_the_same_under_float_control)
{
  static const uint32_t controls[] = {7, 1, 2, 4, 1 << 20, 7 | 1 << 20, 1 << 19, 7 | 1 << 19};
  enum { NUM_CONTROLS = sizeof controls / sizeof *controls };
  pop_target target;
  expect_ok(pop_target_create("ipu2", 1, &target));
  target.tiles_per_ipu = 1;
  seed_range seeds = test_seeds(1001, 1032);
  for (uint64_t seed = seeds.first; seed <= seeds.last; seed++)
    compare_kernel(&target, seed, controls[seed % NUM_CONTROLS]);
}
