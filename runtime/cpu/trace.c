/* debug.trace on the CPU: an Execute or a Copy becomes a sequence with prints in front of it and
 * behind it. */
#include "compiler/traced.h"
#include "cpu/cpu_private.h"

#include <stdlib.h>

typedef struct tracing {
  cpu_compilation *c;
  uint32_t *steps;
  size_t num_steps, capacity;
} tracing;

static void add_print(void *context, uint32_t tensor, const char *title)
{
  tracing *t = context;
  cpu_step step = cpu_print_step(t->c, title, EXECUTABLE_TRACE, tensor);
  uint32_t number = cpu_add_step(t->c, &step);
  pop_push(t->steps, t->num_steps, t->capacity, number);
}

static void trace(tracing *t, const program *from, bool after)
{
  const cpu_compilation *c = t->c;
  if (from->kind == PROGRAM_COPY) {
    trace_copy(c->graph, from, after, add_print, t);
    return;
  }
  size_t first = c->first_vertex[from->compute_set];
  size_t end = c->first_vertex[from->compute_set + 1];
  trace_compute_set(c->graph, c->vertices + first, end - first, after, add_print, t);
}

uint32_t cpu_trace_step(cpu_compilation *c, const program *from, uint32_t step)
{
  if (from->kind != PROGRAM_COPY && from->kind != PROGRAM_EXECUTE) return step;
  cpu_program *p = c->p;
  tracing t = {.c = c};
  trace(&t, from, false);
  pop_push(t.steps, t.num_steps, t.capacity, step);
  trace(&t, from, true);
  cpu_step all = {
      .kind = CPU_SEQUENCE, .first_child = p->num_children, .num_children = t.num_steps};
  for (size_t i = 0; i < t.num_steps; i++)
    pop_push(p->children, p->num_children, p->children_capacity, t.steps[i]);
  free(t.steps);
  return cpu_add_step(c, &all);
}
