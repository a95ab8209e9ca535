#include "profile/graph_steps.h"

#include <stdlib.h>

/* Programs may be nested as deep as memory allows, so this uses a worklist, not recursion. */
static void follow(const pop_graph *graph, uint32_t first, graph_steps *steps)
{
  uint32_t *waiting = NULL;
  size_t count = 0, capacity = 0;
  pop_push(waiting, count, capacity, first);
  while (count) {
    uint32_t number = waiting[--count];
    const program *p = &graph->programs[number];
    if (steps->programs[number]) continue;
    steps->programs[number] = true;
    if (p->kind == PROGRAM_EXECUTE) steps->compute_sets[p->compute_set] = true;
    for (size_t i = 0; i < p->num_children; i++) pop_push(waiting, count, capacity, p->children[i]);
  }
  free(waiting);
}

pop_error *graph_steps_find(const char *call, const pop_graph *graph, const pop_program *programs,
                            size_t num_programs, graph_steps *steps)
{
  for (size_t i = 0; i < num_programs; i++)
    if (programs[i].graph != graph || programs[i].index == 0 ||
        programs[i].index > graph->num_programs)
      return pop_error_new(POP_ERROR_CONTROL_PROGRAM, "%s: program %zu %s", call, i,
                           programs[i].graph && programs[i].graph != graph
                               ? "belongs to another graph"
                               : "is a null program");
  *steps = (graph_steps){pop_xcalloc(graph->num_programs + 1, sizeof(bool)),
                         pop_xcalloc(graph->num_compute_sets + 1, sizeof(bool))};
  for (size_t i = 0; i < num_programs; i++) follow(graph, programs[i].index - 1, steps);
  for (size_t i = 0; num_programs == 0 && i < graph->num_compute_sets; i++)
    steps->compute_sets[i] = true;
  return NULL;
}

void graph_steps_free(graph_steps *steps)
{
  free(steps->programs);
  free(steps->compute_sets);
  *steps = (graph_steps){0};
}
