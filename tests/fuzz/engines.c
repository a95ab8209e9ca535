#include "engines.h"

#include <populus/arena.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct outcome {
  machine_fault fault;
  machine_counters counters;
  uint8_t *memory;
} outcome;

static void expect_no_error(pop_error *error)
{
  if (!error) return;
  fprintf(stderr, "%s\n", pop_error_message(error));
  abort();
}

static void run(const pop_image *image, const machine_stack *stacks, machine_options options,
                outcome *out)
{
  machine *m;
  pop_target target;
  expect_no_error(pop_target_create("ipu2", 1, &target));
  target.tiles_per_ipu = 1;
  expect_no_error(machine_create(&target, &options, &m));
  expect_no_error(machine_load(m, image, stacks));
  uint32_t event;
  pop_error_free(machine_run(m, 0, &event));
  out->fault = *machine_get_fault(m);
  out->counters = machine_get_counters(m);
  out->memory = pop_xmalloc(image->size);
  expect_no_error(machine_read(m, 0, image->base, out->memory, image->size));
  machine_free(m);
}

static bool same_fault(const machine_fault *f, const machine_fault *g)
{
  return f->kind == g->kind && f->context == g->context && f->pc == g->pc &&
         f->address == g->address && f->cycle == g->cycle && f->vertex_entry == g->vertex_entry &&
         f->vertex_state == g->vertex_state && !strcmp(f->detail, g->detail);
}

static void compare(const outcome *a, const outcome *b, const pop_image *image)
{
  const char *differs = NULL;
  if (!same_fault(&a->fault, &b->fault)) differs = "fault";
  if (a->counters.cycles != b->counters.cycles) differs = "cycles";
  if (a->counters.instructions != b->counters.instructions) differs = "instructions";
  uint32_t at = 0;
  while (at < image->size && a->memory[at] == b->memory[at]) at++;
  if (at < image->size) differs = "memory";
  if (!differs) return;
  fprintf(stderr, "%s differ (memory from 0x%x): interpreted %s at 0x%x, translated %s at 0x%x\n",
          differs, image->base + at, machine_fault_name(a->fault.kind), a->fault.pc,
          machine_fault_name(b->fault.kind), b->fault.pc);
  abort();
}

void expect_engines_agree(const pop_image *image, const machine_stack *stacks, uint64_t max_cycles)
{
  outcome interpreted, translated;
  machine_options options = {
      .max_cycles_per_run = max_cycles, .engine = MACHINE_INTERPRETER, .num_threads = 1};
  run(image, stacks, options, &interpreted);
  options.engine = MACHINE_TRANSLATOR;
  run(image, stacks, options, &translated);
  compare(&interpreted, &translated, image);
  free(interpreted.memory);
  free(translated.memory);
}
