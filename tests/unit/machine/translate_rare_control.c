/* The translator against the interpreter: loops some of whose rounds take a rare path, under float
 * control; and more of those without (translate_rare.c), so that both tests take as long. */
#include <criterion/criterion.h>

#include "support/rare_loops.h"

Test(translate_rare_control, rounds_that_go_rare_ways_do_what_they_do_under_float_control)
{
  seed_range seeds = test_seeds(1, 30);
  for (uint64_t seed = seeds.first; seed <= seeds.last; seed++)
    compare_rare(seed, 1 + (uint32_t)seed % 7);
}

Test(translate_rare_control, rounds_that_go_rare_ways_do_what_they_do_without)
{
  seed_range seeds = test_seeds(61, 100);
  for (uint64_t seed = seeds.first; seed <= seeds.last; seed++) compare_rare(seed, 0);
}
