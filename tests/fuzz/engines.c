#include "engines.h"

#include "support/engines_differ.h"
#include <stdio.h>

static void expect_nothing(const char *sentence)
{
  if (!sentence) return;
  fprintf(stderr, "%s\n", sentence);
  abort();
}

void expect_engines_agree(const pop_image *image, const tile_stack *stacks, uint64_t max_cycles)
{
  pop_target target;
  pop_error *error = pop_target_create("ipu2", 1, &target);
  expect_nothing(error ? pop_error_message(error) : NULL);
  target.tiles_per_ipu = 1;
  machine_options options = {.max_cycles_per_run = max_cycles, .num_threads = 1};
  expect_nothing(engines_differ(MACHINE_TRANSLATOR, &target, image, stacks, options));
}
