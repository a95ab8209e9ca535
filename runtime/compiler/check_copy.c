/* A copy reads what is there and writes each element of its destination once. */
#include "compiler/check.h"
#include "compiler/order.h"

#include <stdlib.h>

typedef struct run_list {
  view_run *items;
  size_t count, capacity;
} run_list;

static pop_error *find_repetition(const pop_graph *graph, const run_list *runs)
{
  keyed *order = pop_xrealloc(NULL, runs->count + 1, sizeof *order);
  for (size_t i = 0; i < runs->count; i++)
    order[i] = (keyed){.key = (uint64_t)runs->items[i].variable << 32 | runs->items[i].begin,
                       .index = (uint32_t)i};
  sort_keyed(order, runs->count);
  pop_error *error = NULL;
  for (size_t i = 1; i < runs->count && !error; i++) {
    const view_run *a = &runs->items[order[i - 1].index], *b = &runs->items[order[i].index];
    if (a->variable == b->variable && a->begin + a->count > b->begin)
      error = pop_error_new(POP_ERROR_CONTROL_PROGRAM,
                            "the destination contains element %llu of variable '%s' more than "
                            "once: a copy writes an element once",
                            (unsigned long long)b->begin, graph->variables[b->variable].name);
  }
  free(order);
  return error;
}

static pop_error *check_destination(const mapped_variables *mapped, uint32_t tensor_number)
{
  const pop_graph *graph = mapped->graph;
  run_list runs = {0};
  view_walk walk;
  view_run run;
  pop_error *error = NULL;
  view_walk_start(&walk, graph, tensor_number);
  while (!error && view_walk_next(&walk, &run)) {
    if (graph->variables[run.variable].constant)
      error = pop_error_new(POP_ERROR_CONTROL_PROGRAM,
                            "the destination contains constant '%s': constants cannot be written",
                            graph->variables[run.variable].name);
    else
      error = check_mapped(mapped, run.variable, run.begin, run.begin + run.count);
    pop_push(runs.items, runs.count, runs.capacity, run);
  }
  if (!error) error = find_repetition(graph, &runs);
  free(runs.items);
  return error;
}

pop_error *check_copy(const mapped_variables *mapped, const program *copy)
{
  POP_TRY(check_destination(mapped, copy->destination));
  return check_tensor_mapped(mapped, copy->source);
}
