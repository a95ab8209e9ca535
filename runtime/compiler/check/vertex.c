/* Checks of a single vertex: its tile has the workers that it is made for, and each field is
 * connected.
 *
 * A plain scalar field that the graph never set is zero: programs rely on that. */
#include "compiler/check/check.h"

#include "isa/isa.h"
#include <stdlib.h>

enum { MAX_EDGE_BYTES = INT32_MAX };

static pop_error *vertex_error(const pop_graph *graph, uint32_t vertex_number,
                               const pop_field *field, const char *what)
{
  char *who = describe_vertex(graph, vertex_number);
  const pop_vertex_type *type = graph->vertex_types[graph->vertices[vertex_number].type].type;
  pop_error *error = field ? pop_error_new(POP_ERROR_GRAPH_CONNECTION, "%s: field %s.%s %s", who,
                                           type->name, field->name, what)
                           : pop_error_new(POP_ERROR_GRAPH_CONNECTION, "%s %s", who, what);
  free(who);
  return error;
}

static pop_error *unconnected_row(const pop_graph *graph, uint32_t vertex_number,
                                  const pop_field *field, uint32_t row, uint32_t count)
{
  char *what = pop_xasprintf("has %u rows, and row %u is not connected: connect it with "
                             "pop_graph_connect_element",
                             count, row);
  pop_error *error = vertex_error(graph, vertex_number, field, what);
  free(what);
  return error;
}

static pop_error *check_edge(const pop_graph *graph, uint32_t vertex_number, const edge *e,
                             const pop_field *field)
{
  uint32_t count;
  const uint32_t *tensors = edge_tensors(graph, e, &count);
  uint64_t elements = 0, most = MAX_EDGE_BYTES / pop_type_bytes(field->type);
  for (uint32_t i = 0; i < count && elements <= most; i++) {
    if (!tensors[i]) return unconnected_row(graph, vertex_number, field, i, count);
    elements += graph->tensors[tensors[i]].num_elements;
  }
  if (elements > most)
    return vertex_error(graph, vertex_number, field,
                        "is connected to more than 2 GiB of data: no tile can hold that");
  return NULL;
}

/* Codelets divide work among all workers by a number that is fixed when they are compiled. */
static pop_error *check_workers(const pop_graph *graph, uint32_t vertex_number)
{
  const pop_target *target = &graph->target;
  if (target->num_worker_contexts == ISA_MAX_WORKERS) return NULL;
  char *who = describe_vertex(graph, vertex_number);
  pop_error *error = pop_error_new(
      POP_ERROR_INVALID_ARGUMENT,
      "%s runs on all workers of a tile and divides its work by %d, but tiles of target '%s' have "
      "%u workers: a target with num_worker_contexts %d can run it",
      who, ISA_MAX_WORKERS, target->name, target->num_worker_contexts, ISA_MAX_WORKERS);
  free(who);
  return error;
}

pop_error *check_one_vertex(const pop_graph *graph, uint32_t vertex_number)
{
  const vertex *v = &graph->vertices[vertex_number];
  const pop_vertex_type *type = graph->vertex_types[v->type].type;
  if (v->tile == GRAPH_NONE)
    return vertex_error(graph, vertex_number, NULL,
                        "is not mapped to a tile: call pop_graph_set_vertex_tile");
  if (type->kind == POP_VERTEX_MULTI) POP_TRY(check_workers(graph, vertex_number));
  for (uint32_t i = 0; i < type->num_fields; i++) {
    const pop_field *field = &type->fields[i];
    if (field->kind == POP_FIELD_CONSTANT) continue;
    uint32_t e = v->first_edge;
    while (e != GRAPH_NONE && graph->edges[e].field != i) e = graph->edges[e].next;
    if (e == GRAPH_NONE)
      return vertex_error(graph, vertex_number, field,
                          "is not connected: connect it with pop_graph_connect");
    POP_TRY(check_edge(graph, vertex_number, &graph->edges[e], field));
  }
  return NULL;
}
