/* engines_differ.h for Criterion tests: the case is named by `what` and a seed. */
#ifndef SUPPORT_COMPARE_ENGINES_H
#define SUPPORT_COMPARE_ENGINES_H

#include "engines_differ.h"
#include "rig.h"

static inline void compare_with(machine_engine engine, const pop_target *target,
                                const pop_image *image, const tile_stack *stacks,
                                uint64_t max_cycles, const char *what, uint64_t seed)
{
  machine_options options = {.max_cycles_per_run = max_cycles};
  char *difference = engines_differ(engine, target, image, stacks, options);
  cr_assert_null(difference, "%s %llu: %s", what, (unsigned long long)seed, difference);
}

static inline void compare_engines(const pop_target *target, const pop_image *image,
                                   const tile_stack *stacks, uint64_t max_cycles, const char *what,
                                   uint64_t seed)
{
  compare_with(MACHINE_TRANSLATOR, target, image, stacks, max_cycles, what, seed);
}

#endif
