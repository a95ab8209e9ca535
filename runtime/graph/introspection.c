/* Questions about graphs: <populus/introspection.h>. */
#include "graph/check.h"

#include <populus/introspection.h>

static pop_error *no_such(const char *call, size_t number, const char *thing, size_t count)
{
  return pop_error_new(POP_ERROR_INDEX, "%s: there is no %s %zu: the graph has %zu", call, thing,
                       number, count);
}

size_t pop_graph_num_variables(const pop_graph *graph)
{
  GRAPH_TURN(graph);
  if (!graph_lives(graph, __func__)) return 0;
  return graph->top->num_variables;
}

pop_error *pop_graph_variable_info(pop_graph *graph, size_t number, pop_variable_info *info)
{
  GRAPH_TURN(graph);
  POP_TRY(object_check(graph, OBJECT_GRAPH, __func__));
  POP_TRY(object_check_argument(info, "the information", __func__));
  graph = graph->top;
  if (number >= graph->num_variables)
    return no_such("pop_graph_variable_info", number, "variable", graph->num_variables);
  const variable *v = &graph->variables[number];
  *info = (pop_variable_info){v->name, v->type, v->constant, {graph, v->tensor}};
  return NULL;
}

size_t pop_graph_num_vertex_types(const pop_graph *graph)
{
  GRAPH_TURN(graph);
  if (!graph_lives(graph, __func__)) return 0;
  return graph->top->num_vertex_types;
}

const char *pop_graph_vertex_type_name(const pop_graph *graph, size_t number)
{
  GRAPH_TURN(graph);
  if (!graph_lives(graph, __func__)) return NULL;
  graph = graph->top;
  return number < graph->num_vertex_types ? graph->vertex_types[number].type->name : NULL;
}

bool pop_graph_has_vertex_type(const pop_graph *graph, const char *name)
{
  GRAPH_TURN(graph);
  if (!graph_lives(graph, __func__)) return false;
  return name && pop_name_table_find(&graph->top->vertex_type_names, name) != POP_NAME_NONE;
}

size_t pop_graph_num_compute_sets(const pop_graph *graph)
{
  GRAPH_TURN(graph);
  if (!graph_lives(graph, __func__)) return 0;
  return graph->top->num_compute_sets;
}

pop_error *pop_graph_compute_set_info(pop_graph *graph, size_t number, pop_compute_set_info *info)
{
  GRAPH_TURN(graph);
  POP_TRY(object_check(graph, OBJECT_GRAPH, __func__));
  POP_TRY(object_check_argument(info, "the information", __func__));
  graph = graph->top;
  if (number >= graph->num_compute_sets)
    return no_such("pop_graph_compute_set_info", number, "compute set", graph->num_compute_sets);
  const compute_set *set = &graph->compute_sets[number];
  *info = (pop_compute_set_info){set->name, {graph, (uint32_t)number + 1}, set->num_vertices};
  return NULL;
}

size_t pop_graph_num_vertices(const pop_graph *graph)
{
  GRAPH_TURN(graph);
  if (!graph_lives(graph, __func__)) return 0;
  return graph->top->num_vertices;
}

pop_error *pop_graph_vertex_info(pop_graph *view, size_t number, pop_vertex_info *info)
{
  GRAPH_TURN(view);
  POP_TRY(object_check(view, OBJECT_GRAPH, __func__));
  POP_TRY(object_check_argument(info, "the information", __func__));
  pop_graph *graph = view->top;
  if (number >= graph->num_vertices)
    return no_such("pop_graph_vertex_info", number, "vertex", graph->num_vertices);
  const vertex *v = &graph->vertices[number];
  uint32_t tile = v->tile == GRAPH_NONE ? GRAPH_NONE : graph_tile_of_view(view, v->tile);
  *info = (pop_vertex_info){.vertex_type = graph->vertex_types[v->type].type->name,
                            .vertex = {graph, (uint32_t)number + 1},
                            .compute_set = {graph, v->compute_set + 1},
                            .tile = tile == GRAPH_NONE ? SIZE_MAX : tile};
  return NULL;
}

static pop_field_info describe_field(const pop_field *field)
{
  return (pop_field_info){.is_edge = field->kind != POP_FIELD_CONSTANT,
                          .is_vector = field->layout != POP_LAYOUT_SCALAR,
                          .has_rows = field->has_rows,
                          .type = field->type,
                          .layout = field->layout,
                          .row_layout = field->has_rows ? field->row_layout : POP_LAYOUT_SCALAR,
                          .max_rows = !field->has_rows ? 1
                                      : field->layout == POP_LAYOUT_ARRAY
                                          ? field->num_rows
                                          : pop_layout_forms[field->layout].max_count,
                          .max_elements = pop_field_max_elements(field)};
}

pop_error *pop_graph_field_info(pop_vertex vertex, const char *name, pop_field_info *info)
{
  GRAPH_TURN(vertex.graph);
  POP_TRY(object_check_argument(info, "the information", __func__));
  static const char call[] = "pop_graph_field_info";
  pop_graph *graph = vertex.graph;
  POP_TRY(object_check(graph, OBJECT_GRAPH, call));
  if (graph->error)
    return pop_error_new(pop_error_get_code(graph->error), "%s", pop_error_message(graph->error));
  const pop_field *field =
      check_vertex(graph, call, vertex) ? check_field(graph, call, vertex.index - 1, name) : NULL;
  if (!field) return pop_graph_take_error(graph); /* a question is not the graph's mistake */
  *info = describe_field(field);
  return NULL;
}

pop_error *pop_graph_vertex_type_field_info(pop_graph *graph, const char *vertex_type,
                                            const char *name, pop_field_info *info)
{
  GRAPH_TURN(graph);
  POP_TRY(object_check_argument(info, "the information", __func__));
  static const char call[] = "pop_graph_vertex_type_field_info";
  POP_TRY(object_check(graph, OBJECT_GRAPH, call));
  graph = graph->top;
  if (graph->error)
    return pop_error_new(pop_error_get_code(graph->error), "%s", pop_error_message(graph->error));
  uint32_t type = check_vertex_type(graph, call, vertex_type);
  if (type == POP_NAME_NONE) return pop_graph_take_error(graph);
  const pop_vertex_type *of = graph->vertex_types[type].type;
  const pop_field *field = name ? pop_vertex_type_find_field(of, name) : NULL;
  if (!field)
    return pop_error_new(POP_ERROR_UNKNOWN_FIELD, "%s: vertex type '%s' has no field '%s'", call,
                         of->name, name ? name : "");
  *info = describe_field(field);
  return NULL;
}

pop_error *pop_graph_visit_vertex_fields(pop_graph *graph, size_t number,
                                         void (*visit)(void *context, const char *field, size_t row,
                                                       pop_tensor tensor),
                                         void *context)
{
  GRAPH_TURN(graph);
  POP_TRY(object_check(graph, OBJECT_GRAPH, __func__));
  static const char call[] = "pop_graph_visit_vertex_fields";
  graph = graph->top;
  if (number >= graph->num_vertices) return no_such(call, number, "vertex", graph->num_vertices);
  if (!visit)
    return pop_error_new(POP_ERROR_INVALID_ARGUMENT, "%s: there is no function to call", call);
  /* The function may add vertices and connect them: nothing points into the graph's arrays. */
  const vertex v = graph->vertices[number];
  const pop_field *fields = graph->vertex_types[v.type].type->fields;
  for (uint32_t i = v.first_edge; i != GRAPH_NONE; i = graph->edges[i].next) {
    const edge e = graph->edges[i];
    uint32_t count = e.num_rows == GRAPH_NONE ? 1 : e.num_rows;
    for (uint32_t row = 0; row < count; row++)
      visit(context, fields[e.field].name, e.num_rows == GRAPH_NONE ? SIZE_MAX : row,
            (pop_tensor){graph, edge_tensors(graph, &e, &count)[row]});
  }
  return NULL;
}
