/* Does a run of an image have the same outcome with another engine as with the interpreter, to the
 * bit and cycle? */
#ifndef SUPPORT_ENGINES_DIFFER_H
#define SUPPORT_ENGINES_DIFFER_H

#include <machine/machine.h>
#include <machine/native.h>
#include <populus/arena.h>
#include <stdlib.h>
#include <string.h>

/* What a run leaves behind. */
typedef struct outcome {
  machine_fault fault;
  machine_counters counters;
  uint8_t *memory;
} outcome;

static inline pop_error *run_image(const pop_target *target, const pop_image *image,
                                   const tile_stack *stacks, machine_options options, outcome *out)
{
  machine *m;
  uint32_t event;
  out->memory = NULL;
  POP_TRY(machine_create(target, &options, &m));
  pop_error *error = machine_load(m, image, stacks);
  if (!error) {
    pop_error_free(machine_run(m, 0, &event));
    out->fault = *machine_get_fault(m);
    out->counters = machine_get_counters(m);
    out->memory = pop_xmalloc(image->size);
    error = machine_read(m, image->tile, image->base, out->memory, image->size);
  }
  machine_free(m);
  return error;
}

/* A sentence, the caller's to free; NULL: they are the same. */
static inline char *outcomes_differ(const outcome *a, const outcome *b, const pop_image *image)
{
  const machine_fault *f = &a->fault, *g = &b->fault;
  if (f->kind != g->kind || f->pc != g->pc || f->address != g->address || f->cycle != g->cycle)
    return pop_xasprintf("fault %s at pc 0x%x, address 0x%x, cycle %llu; translated %s at pc 0x%x, "
                         "address 0x%x, cycle %llu",
                         machine_fault_name(f->kind), f->pc, f->address,
                         (unsigned long long)f->cycle, machine_fault_name(g->kind), g->pc,
                         g->address, (unsigned long long)g->cycle);
  if (f->context != g->context || f->vertex_entry != g->vertex_entry ||
      f->vertex_state != g->vertex_state || strcmp(f->detail, g->detail))
    return pop_xasprintf("fault of context %u in vertex 0x%x with state 0x%x (%s); translated of "
                         "context %u in vertex 0x%x with state 0x%x (%s)",
                         f->context, f->vertex_entry, f->vertex_state, f->detail, g->context,
                         g->vertex_entry, g->vertex_state, g->detail);
  if (a->counters.cycles != b->counters.cycles ||
      a->counters.instructions != b->counters.instructions)
    return pop_xasprintf(
        "%llu cycles and %llu instructions; translated %llu and %llu",
        (unsigned long long)a->counters.cycles, (unsigned long long)a->counters.instructions,
        (unsigned long long)b->counters.cycles, (unsigned long long)b->counters.instructions);
  for (uint32_t i = 0; i < image->size; i++)
    if (a->memory[i] != b->memory[i])
      return pop_xasprintf("the byte at 0x%x is 0x%02x; translated 0x%02x", image->base + i,
                           a->memory[i], b->memory[i]);
  return NULL;
}

/* The difference of `engine` from the interpreter as a sentence. An error counts as a difference.
 * So does code that the translator could not translate, as that would compare the interpreter with
 * itself. `options`: all but the engine. */
static inline char *engines_differ(machine_engine engine, const pop_target *target,
                                   const pop_image *image, const tile_stack *stacks,
                                   machine_options options)
{
  outcome interpreted = {0}, translated = {0};
  options.engine = MACHINE_INTERPRETER;
  pop_error *error = run_image(target, image, stacks, options, &interpreted);
  options.engine = engine;
  if (!error) error = run_image(target, image, stacks, options, &translated);
  char *difference = error ? pop_xstrdup(pop_error_message(error))
                           : outcomes_differ(&interpreted, &translated, image);
  if (!difference && native_get_counters().failed)
    difference = pop_xstrdup("the translator could not make some code");
  pop_error_free(error);
  free(interpreted.memory);
  free(translated.memory);
  return difference;
}

#endif
