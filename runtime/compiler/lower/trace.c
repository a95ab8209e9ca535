/* debug.trace on tiles: what it prints (traced.h) becomes steps like those of PrintTensor. */
#include "compiler/lower/lowering.h"
#include "compiler/traced.h"

typedef struct tracing {
  lowering *l;
  step_list *steps;
} tracing;

static void add_print(void *context, uint32_t tensor, const char *title)
{
  const tracing *t = context;
  pop_push(t->steps->items, t->steps->count, t->steps->capacity,
           lower_traced_tensor(t->l, tensor, title));
}

void lower_traced_set(lowering *l, uint32_t compute_set, bool after, step_list *steps)
{
  const vertices_by_compute_set *groups = &l->by_compute_set;
  size_t first = groups->first[compute_set];
  if (l->c->options.trace)
    trace_compute_set(l->c->graph, groups->vertices + first, groups->first[compute_set + 1] - first,
                      after, add_print, &(tracing){l, steps});
}

void lower_traced_copy(lowering *l, const program *copy, bool after, step_list *steps)
{
  if (l->c->options.trace) trace_copy(l->c->graph, copy, after, add_print, &(tracing){l, steps});
}
