/* Is what a run leaves behind the same with another engine as with the interpreter? To the bit and cycle. */
#ifndef SUPPORT_COMPARE_ENGINES_H
#define SUPPORT_COMPARE_ENGINES_H

#include "rig.h"

/* What a run leaves behind. */
typedef struct outcome {
  machine_fault fault;
  machine_counters counters;
  uint8_t *memory;
  uint32_t bytes;
} outcome;

static inline void run_image(const pop_target *target, const pop_image *image,
                             const machine_stack *stacks, machine_options options, outcome *out)
{
  machine *m;
  expect_ok(machine_create(target, &options, &m));
  expect_ok(machine_load(m, image, stacks));
  uint32_t event;
  pop_error_free(machine_run(m, 0, &event));
  out->fault = *machine_get_fault(m);
  out->counters = machine_get_counters(m);
  out->bytes = image->size;
  out->memory = pop_xmalloc(image->size);
  expect_ok(machine_read(m, 0, image->base, out->memory, image->size));
  machine_free(m);
}

static inline void expect_same(const outcome *a, const outcome *b, const char *what, uint64_t seed)
{
  cr_assert_eq(a->fault.kind, b->fault.kind, "%s %llu: fault %s, translated %s at 0x%x", what,
               (unsigned long long)seed, machine_fault_name(a->fault.kind),
               machine_fault_name(b->fault.kind), b->fault.pc);
  cr_assert_eq(a->fault.pc, b->fault.pc, "%s %llu: fault at 0x%x, translated 0x%x", what,
               (unsigned long long)seed, a->fault.pc, b->fault.pc);
  cr_assert_eq(a->fault.address, b->fault.address, "%s %llu", what, (unsigned long long)seed);
  cr_assert_eq(a->fault.cycle, b->fault.cycle, "%s %llu: cycle %llu, translated %llu", what,
               (unsigned long long)seed, (unsigned long long)a->fault.cycle,
               (unsigned long long)b->fault.cycle);
  cr_assert_eq(a->fault.vertex_entry, b->fault.vertex_entry, "%s %llu", what,
               (unsigned long long)seed);
  cr_assert_str_eq(a->fault.detail, b->fault.detail, "%s %llu", what, (unsigned long long)seed);
  cr_assert_eq(a->counters.cycles, b->counters.cycles, "%s %llu: %llu cycles, translated %llu",
               what, (unsigned long long)seed, (unsigned long long)a->counters.cycles,
               (unsigned long long)b->counters.cycles);
  cr_assert_eq(a->counters.instructions, b->counters.instructions,
               "%s %llu: %llu instructions, translated %llu", what, (unsigned long long)seed,
               (unsigned long long)a->counters.instructions,
               (unsigned long long)b->counters.instructions);
  for (uint32_t i = 0; i < a->bytes; i += 4)
    cr_assert(!memcmp(a->memory + i, b->memory + i, 4),
              "%s %llu: word at 0x%x: 0x%08x, translated 0x%08x", what, (unsigned long long)seed,
              RIG_BASE + i, *(uint32_t *)(void *)(a->memory + i),
              *(uint32_t *)(void *)(b->memory + i));
}

static inline void compare_with(machine_engine engine, const pop_target *target,
                                const pop_image *image, const machine_stack *stacks,
                                uint64_t max_cycles, const char *what, uint64_t seed)
{
  outcome interpreted, translated;
  machine_options options = {.max_cycles_per_run = max_cycles, .engine = MACHINE_INTERPRETER};
  run_image(target, image, stacks, options, &interpreted);
  options.engine = engine;
  run_image(target, image, stacks, options, &translated);
  expect_same(&interpreted, &translated, what, seed);
  free(interpreted.memory);
  free(translated.memory);
}

static inline void compare_engines(const pop_target *target, const pop_image *image,
                                   const machine_stack *stacks, uint64_t max_cycles,
                                   const char *what, uint64_t seed)
{
  compare_with(MACHINE_TRANSLATOR, target, image, stacks, max_cycles, what, seed);
}

#endif
