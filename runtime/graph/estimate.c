/* Cycle estimates of vertices: each one's own, or that of its type. */
#include "graph/check.h"
#include "graph/replicated.h"

#include <string.h>

void pop_graph_set_perf_estimate(pop_graph *graph, pop_vertex handle, uint64_t cycles,
                                 uint64_t flops)
{
  GRAPH_TURN(graph);
  if (!graph_enter(&graph, __func__)) return;
  vertex *v = check_vertex(graph, "pop_graph_set_perf_estimate", handle);
  for (uint32_t r = 0; v && r < vertex_replicas(graph, handle); r++) {
    v[r].is_own_estimate = true;
    v[r].cycle_estimate = cycles;
    v[r].flop_estimate = flops;
  }
}

void pop_graph_set_cycle_estimate(pop_graph *graph, pop_vertex handle, uint64_t cycles)
{
  GRAPH_TURN(graph);
  if (!graph_enter(&graph, __func__)) return;
  vertex *v = check_vertex(graph, "pop_graph_set_cycle_estimate", handle);
  for (uint32_t r = 0; v && r < vertex_replicas(graph, handle); r++) {
    v[r].is_own_estimate = true;
    v[r].cycle_estimate = cycles;
  }
}

void pop_graph_register_perf_estimator(pop_graph *graph, const char *vertex_type,
                                       pop_perf_estimator *estimate, void *context)
{
  GRAPH_TURN(graph);
  if (!graph_enter(&graph, __func__)) return;
  uint32_t type = check_vertex_type(graph, "pop_graph_register_perf_estimator", vertex_type);
  if (type == POP_NAME_NONE) return;
  graph->vertex_types[type].estimators[ESTIMATE_PROGRAM] = (type_estimator){estimate, context};
  graph->vertex_types[type].program_decides = true;
}

void graph_add_library_estimator(pop_graph *graph, const char *vertex_type, estimate_source source,
                                 pop_perf_estimator *estimate, void *context)
{
  graph = graph->top;
  uint32_t type = pop_name_table_find(&graph->vertex_type_names, vertex_type);
  if (type == POP_NAME_NONE) return;
  graph->vertex_types[type].estimators[source] = (type_estimator){estimate, context};
}

/* The first applicable source. */
static estimate_source source_of(const vertex_type_entry *type, estimate_source from)
{
  if (type->program_decides)
    return type->estimators[ESTIMATE_PROGRAM].estimate ? ESTIMATE_PROGRAM : ESTIMATE_NONE;
  if (from == ESTIMATE_NONE) return ESTIMATE_NONE;
  while (from < NUM_ESTIMATE_SOURCES && !type->estimators[from].estimate) from++;
  return from < NUM_ESTIMATE_SOURCES ? from : ESTIMATE_NONE;
}

void graph_estimate_vertices(pop_graph *graph, estimate_source from)
{
  for (size_t i = 0; i < graph->num_vertex_types; i++)
    graph->vertex_types[i].source = source_of(&graph->vertex_types[i], from);
  for (size_t i = 0; i < graph->num_vertices; i++) {
    const vertex *v = &graph->vertices[i];
    const vertex_type_entry *type = &graph->vertex_types[v->type];
    if (v->is_own_estimate) continue;
    pop_perf_estimate estimate = {0};
    const type_estimator *by = &type->estimators[type->source];
    if (by->estimate)
      estimate = by->estimate(by->context, graph, (pop_vertex){graph, (uint32_t)i + 1});
    graph->vertices[i].cycle_estimate = estimate.cycles;
    graph->vertices[i].flop_estimate = estimate.flops;
  }
}

/* The vertex of a handle that may be invalid. Estimators may ask during compilation, when
 * nothing may fail. */
static const vertex *find_vertex(pop_graph **graph, const char *call, pop_vertex handle)
{
  if (!graph_lives(*graph, call)) return NULL;
  *graph = (*graph)->top;
  bool is_there =
      handle.graph == *graph && handle.index > 0 && handle.index <= (*graph)->num_vertices;
  return is_there ? &(*graph)->vertices[handle.index - 1] : NULL;
}

pop_perf_estimate pop_graph_perf_estimate(pop_graph *graph, pop_vertex handle)
{
  GRAPH_TURN(graph);
  const vertex *v = find_vertex(&graph, __func__, handle);
  return v ? (pop_perf_estimate){v->cycle_estimate, v->flop_estimate} : (pop_perf_estimate){0};
}

static size_t connected_size(const pop_graph *graph, const pop_field *field, const edge *e)
{
  uint32_t count;
  const uint32_t *tensors = edge_tensors(graph, e, &count);
  return field->has_rows ? count : (size_t)graph->tensors[tensors[0]].num_elements;
}

/* SIZE_MAX: there is no such field. */
static size_t find_field(const pop_vertex_type *type, const char *name)
{
  size_t field = 0;
  while (field < type->num_fields && strcmp(type->fields[field].name, name) != 0) field++;
  return field == type->num_fields ? SIZE_MAX : field;
}

size_t pop_graph_vertex_field_size(pop_graph *graph, pop_vertex handle, const char *name)
{
  GRAPH_TURN(graph);
  const vertex *v = find_vertex(&graph, __func__, handle);
  if (!v || !name) return SIZE_MAX;
  const pop_vertex_type *type = graph->vertex_types[v->type].type;
  size_t field = find_field(type, name);
  if (field == SIZE_MAX) return SIZE_MAX;
  for (uint32_t i = v->first_edge; i != GRAPH_NONE; i = graph->edges[i].next)
    if (graph->edges[i].field == field)
      return connected_size(graph, &type->fields[field], &graph->edges[i]);
  for (uint32_t i = v->first_value; i != GRAPH_NONE; i = graph->field_values[i].next)
    if (graph->field_values[i].field == field)
      return type->fields[field].layout == POP_LAYOUT_SCALAR ? 1 : graph->field_values[i].count;
  return 0;
}

static size_t connected_values(pop_graph *graph, const vertex *v, size_t field, void *values,
                               size_t max)
{
  for (uint32_t i = v->first_edge; i != GRAPH_NONE; i = graph->edges[i].next) {
    const edge *e = &graph->edges[i];
    if (e->field != field) continue;
    if (e->num_rows != GRAPH_NONE) return SIZE_MAX;
    return pop_tensor_constant_values((pop_tensor){graph, e->tensor}, values, max);
  }
  return 0;
}

size_t pop_graph_vertex_row_values(pop_graph *graph, pop_vertex handle, const char *name,
                                   size_t row, void *values, size_t max)
{
  GRAPH_TURN(graph);
  const vertex *v = find_vertex(&graph, __func__, handle);
  if (!v || !name) return SIZE_MAX;
  size_t field = find_field(graph->vertex_types[v->type].type, name);
  for (uint32_t i = v->first_edge; i != GRAPH_NONE; i = graph->edges[i].next) {
    const edge *e = &graph->edges[i];
    if (e->field != field || e->num_rows == GRAPH_NONE || row >= e->num_rows) continue;
    uint32_t count, tensor = edge_tensors(graph, e, &count)[row];
    return tensor ? pop_tensor_constant_values((pop_tensor){graph, tensor}, values, max) : 0;
  }
  return SIZE_MAX;
}

size_t pop_graph_vertex_field_values(pop_graph *graph, pop_vertex handle, const char *name,
                                     void *values, size_t max)
{
  GRAPH_TURN(graph);
  const vertex *v = find_vertex(&graph, __func__, handle);
  if (!v || !name) return SIZE_MAX;
  const pop_vertex_type *type = graph->vertex_types[v->type].type;
  size_t number = find_field(type, name);
  if (number == SIZE_MAX) return SIZE_MAX;
  const pop_field *field = &type->fields[number];
  if (field->kind != POP_FIELD_CONSTANT) return connected_values(graph, v, number, values, max);
  for (uint32_t i = v->first_value; i != GRAPH_NONE; i = graph->field_values[i].next) {
    const field_value *value = &graph->field_values[i];
    if (value->field != number) continue;
    bool scalar = field->layout == POP_LAYOUT_SCALAR;
    size_t count = scalar ? 1 : value->count, copied = count < max ? count : max;
    size_t bytes = copied * pop_type_bytes(field->type);
    const void *data = scalar ? value->bytes : value->data;
    if (bytes && data)
      memcpy(values, data, bytes);
    else if (bytes)
      memset(values, 0, bytes);
    return count;
  }
  return 0;
}
