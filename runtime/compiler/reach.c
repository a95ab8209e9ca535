/* Depth-first walk over the programs, with an explicit stack: programs may be nested to any
 * depth. */
#include "compiler/reach.h"

#include <stdlib.h>

typedef struct visit {
  uint32_t program;
  size_t next_child;
} visit;

typedef enum visit_state { UNSEEN, OPEN, DONE } visit_state;

typedef struct walk {
  const pop_graph *graph;
  reach *reach;
  uint8_t *states; /* visit_state by program */
  visit *stack;
  size_t depth, stack_capacity;
} walk;

static pop_error *enter(walk *w, uint32_t program)
{
  w->reach->program_uses[program]++;
  if (w->states[program] == DONE) return NULL;
  if (w->states[program] == OPEN)
    return pop_error_new(POP_ERROR_CONTROL_PROGRAM,
                         "program '%s' contains itself: a program must end somewhere",
                         w->graph->programs[program].name);
  w->states[program] = OPEN;
  pop_push(w->stack, w->depth, w->stack_capacity, (visit){.program = program});
  return NULL;
}

static void leave(walk *w, uint32_t number)
{
  w->states[number] = DONE;
  w->reach->order[w->reach->num_order++] = number;
  w->depth--;
}

static pop_error *visit_from(walk *w, uint32_t root)
{
  POP_TRY(enter(w, root));
  while (w->depth > 0) {
    visit *top = &w->stack[w->depth - 1];
    const program *p = &w->graph->programs[top->program];
    bool dead = p->kind == PROGRAM_REPEAT && p->count == 0;
    if (dead || top->next_child == p->num_children)
      leave(w, top->program);
    else
      POP_TRY(enter(w, p->children[top->next_child++]));
  }
  return NULL;
}

static void count_compute_sets(const pop_graph *graph, reach *r)
{
  for (size_t i = 0; i < r->num_order; i++) {
    const program *p = &graph->programs[r->order[i]];
    if (p->kind == PROGRAM_EXECUTE)
      r->compute_set_uses[p->compute_set] += r->program_uses[r->order[i]];
  }
}

pop_error *reach_programs(const compilation *c, reach *out)
{
  const pop_graph *graph = c->graph;
  *out = (reach){.program_uses = pop_xcalloc(graph->num_programs + 1, sizeof(uint32_t)),
                 .compute_set_uses = pop_xcalloc(graph->num_compute_sets + 1, sizeof(uint32_t)),
                 .order = pop_xcalloc(graph->num_programs + 1, sizeof(uint32_t))};
  walk w = {.graph = graph, .reach = out, .states = pop_xcalloc(graph->num_programs + 1, 1)};
  pop_error *error = NULL;
  for (size_t i = 0; i < c->num_control_programs && !error; i++)
    error = visit_from(&w, c->control_programs[i]);
  free(w.stack);
  free(w.states);
  if (error) {
    reach_free(out);
    return error;
  }
  count_compute_sets(graph, out);
  return NULL;
}

void reach_free(reach *r)
{
  free(r->program_uses);
  free(r->compute_set_uses);
  free(r->order);
  *r = (reach){0};
}
