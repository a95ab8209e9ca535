/* debug.trace: what compute sets and copies work on is printed before and after them, tensor by tensor, as a PrintTensor
 * there would. What is only written is not printed before, nor what is only read after. */
#include "compiler/lowering.h"

#include <stdlib.h>

static void trace_tensor(lowering *l, uint32_t tensor, char *title, step_list *steps)
{
  if (l->c->graph->tensors[tensor].num_elements)
    pop_push(steps->items, steps->count, steps->capacity, lower_traced_tensor(l, tensor, title));
  free(title);
}

static void trace_vertex(lowering *l, uint32_t number, const char *when, step_list *steps)
{
  const pop_graph *graph = l->c->graph;
  const vertex *v = &graph->vertices[number];
  const pop_vertex_type *type = graph->vertex_types[v->type].type;
  const char *set = graph->compute_sets[v->compute_set].name;
  bool after = *when == 'a';
  for (uint32_t n = v->first_edge; n != GRAPH_NONE; n = graph->edges[n].next) {
    const edge *e = &graph->edges[n];
    const pop_field *field = &type->fields[e->field];
    if (field->kind == (after ? POP_FIELD_INPUT : POP_FIELD_OUTPUT)) continue;
    uint32_t rows;
    const uint32_t *tensors = edge_tensors(graph, e, &rows);
    for (uint32_t row = 0; row < rows; row++) {
      char *title =
          e->num_rows == GRAPH_NONE
              ? pop_xasprintf("%s %s: vertex %u, %s.%s", when, set, number, type->name, field->name)
              : pop_xasprintf("%s %s: vertex %u, %s.%s[%u]", when, set, number, type->name,
                              field->name, row);
      trace_tensor(l, tensors[row], title, steps);
    }
  }
}

void lower_traced_set(lowering *l, uint32_t compute_set, bool after, step_list *steps)
{
  const vertices_by_compute_set *groups = &l->by_compute_set;
  if (!l->c->options.trace) return;
  for (size_t i = groups->first[compute_set]; i < groups->first[compute_set + 1]; i++)
    trace_vertex(l, groups->vertices[i], after ? "after" : "before", steps);
}

void lower_traced_copy(lowering *l, const program *copy, bool after, step_list *steps)
{
  if (!l->c->options.trace) return;
  char *title = pop_xasprintf("%s copy %s", after ? "after" : "before", copy->name);
  trace_tensor(l, after ? copy->destination : copy->source, title, steps);
}
