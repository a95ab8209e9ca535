/* The translator against the interpreter: loops in which some rounds take a rare path. */
#include <criterion/criterion.h>

#include "support/rare_loops.h"

Test(translate_rare, rounds_that_go_rare_ways_do_what_they_do)
{
  seed_range seeds = test_seeds(1, 60);
  for (uint64_t seed = seeds.first; seed <= seeds.last; seed++) compare_rare(seed, 0);
}
