/* Prints what compute sets and copies access, tensor by tensor. Before them come the tensors that
 * are read, after them the tensors that are written. */
#include "compiler/traced.h"

#include <stdlib.h>

static void trace_tensor(const pop_graph *graph, uint32_t tensor, char *title, traced_tensor *print,
                         void *context)
{
  if (graph->tensors[tensor].num_elements) print(context, tensor, title);
  free(title);
}

static void trace_vertex(const pop_graph *graph, uint32_t number, bool after, traced_tensor *print,
                         void *context)
{
  const char *when = after ? "after" : "before";
  const vertex *v = &graph->vertices[number];
  const pop_vertex_type *type = graph->vertex_types[v->type].type;
  const char *set = graph->compute_sets[v->compute_set].name;
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
      trace_tensor(graph, tensors[row], title, print, context);
    }
  }
}

void trace_compute_set(const pop_graph *graph, const uint32_t *vertices, size_t num_vertices,
                       bool after, traced_tensor *print, void *context)
{
  for (size_t i = 0; i < num_vertices; i++) trace_vertex(graph, vertices[i], after, print, context);
}

void trace_copy(const pop_graph *graph, const program *copy, bool after, traced_tensor *print,
                void *context)
{
  trace_tensor(graph, after ? copy->destination : copy->source,
               pop_xasprintf("%s copy %s", after ? "after" : "before", copy->name), print, context);
}
