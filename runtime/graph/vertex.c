/* Compute sets, vertices and edges. What can be said about a connection when it is made is said
 * then: the graph compiler checks what takes the whole graph. */
#include "graph/check.h"
#include "graph/describe.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

pop_compute_set pop_graph_add_compute_set(pop_graph *graph, const char *name)
{
  if (!graph_usable(graph) ||
      !check_room(graph, "pop_graph_add_compute_set", graph->num_compute_sets, "compute sets"))
    return (pop_compute_set){graph, 0};
  compute_set set = {.name = name && *name ? pop_arena_strdup(graph->arena, name) : ""};
  pop_push(graph->compute_sets, graph->num_compute_sets, graph->compute_sets_capacity, set);
  return (pop_compute_set){graph, (uint32_t)graph->num_compute_sets};
}

/* ---- vertices ---- */

static bool in_word(char c)
{
  return isalnum((unsigned char)c) || c == '_';
}

/* Type names have blanks only between words: "Add<unsigned int,float>". People write more of them. */
static char *without_needless_blanks(const char *name)
{
  char *result = pop_xmalloc(strlen(name) + 1), *out = result;
  for (const char *p = name; *p; p++) {
    if (!isspace((unsigned char)*p))
      *out++ = *p;
    else if (out > result && in_word(out[-1]) && in_word(p[1]))
      *out++ = ' ';
  }
  *out = '\0';
  return result;
}

static void fail_vertex_type(pop_graph *graph, const char *name)
{
  const char **names = pop_xcalloc(graph->num_vertex_types, sizeof *names);
  for (size_t i = 0; i < graph->num_vertex_types; i++) names[i] = graph->vertex_types[i].type->name;
  const char *alternatives =
      graph->num_vertex_types
          ? say_alternatives(graph, name, names, graph->num_vertex_types)
          : "; the graph has no codelets yet: add them with pop_graph_add_codelets";
  free(names);
  graph_failf(graph, POP_ERROR_UNKNOWN_VERTEX_TYPE,
              "pop_graph_add_vertex: there is no vertex type %s%s", say_name(graph, name),
              alternatives);
}

/* Index of the type, or POP_NAME_NONE after an error. */
static uint32_t find_vertex_type(pop_graph *graph, const char *name)
{
  uint32_t type = pop_name_table_find(&graph->vertex_type_names, name);
  if (type != POP_NAME_NONE) return type;
  char *shorter = without_needless_blanks(name);
  type = pop_name_table_find(&graph->vertex_type_names, shorter);
  free(shorter);
  if (type == POP_NAME_NONE) fail_vertex_type(graph, name);
  return type;
}

pop_vertex pop_graph_add_vertex(pop_graph *graph, pop_compute_set handle, const char *vertex_type)
{
  static const char call[] = "pop_graph_add_vertex";
  pop_vertex none = {graph, 0};
  if (!graph_usable(graph) || !check_room(graph, call, graph->num_vertices, "vertices"))
    return none;
  compute_set *set = check_compute_set(graph, call, handle);
  if (!set) return none;
  if (!vertex_type) {
    graph_failf(graph, POP_ERROR_INVALID_ARGUMENT, "%s: the vertex type is NULL", call);
    return none;
  }
  uint32_t type = find_vertex_type(graph, vertex_type);
  if (type == POP_NAME_NONE) return none;
  vertex v = {.type = type,
              .compute_set = handle.index - 1,
              .tile = GRAPH_NONE,
              .first_edge = GRAPH_NONE,
              .first_value = GRAPH_NONE};
  pop_push(graph->vertices, graph->num_vertices, graph->vertices_capacity, v);
  set->num_vertices++;
  return (pop_vertex){graph, (uint32_t)graph->num_vertices};
}

void pop_graph_set_vertex_tile(pop_graph *graph, pop_vertex handle, size_t tile)
{
  static const char call[] = "pop_graph_set_vertex_tile";
  if (!graph_usable(graph)) return;
  vertex *v = check_vertex(graph, call, handle);
  if (!v) return;
  uint32_t num_tiles = pop_target_num_tiles(&graph->target);
  if (tile >= num_tiles)
    graph_failf(graph, POP_ERROR_INVALID_TILE_MAPPING,
                "%s: tile %zu for %s; the target has the tiles 0 to %u", call, tile,
                say_vertex(graph, handle.index - 1), num_tiles - 1);
  else
    v->tile = (uint32_t)tile;
}

void pop_graph_set_cycle_estimate(pop_graph *graph, pop_vertex handle, uint64_t cycles)
{
  if (!graph_usable(graph)) return;
  vertex *v = check_vertex(graph, "pop_graph_set_cycle_estimate", handle);
  if (v) v->cycle_estimate = cycles;
}

/* ---- edges ---- */

/* An attempt to connect, and where its error goes. */
typedef struct connection {
  pop_graph *graph;
  uint32_t vertex;
  const pop_field *field;
  const tensor *tensor;
} connection;

static bool refuse(const connection *c, pop_error_code code, const char *reason)
{
  graph_failf(c->graph, code, "pop_graph_connect: field '%s' of %s: %s", c->field->name,
              say_vertex(c->graph, c->vertex), reason);
  return false;
}

static bool check_field_type(const connection *c)
{
  if (c->field->kind == POP_FIELD_CONSTANT)
    return refuse(c, POP_ERROR_GRAPH_CONNECTION,
                  "it is a plain member, not an edge; give it a value with pop_graph_set_field");
  if (c->field->type == c->tensor->type) return true;
  return refuse(c, POP_ERROR_GRAPH_CONNECTION,
                pop_arena_printf(c->graph->arena,
                                 "it has elements of type %s, which does not fit the %s",
                                 pop_type_name(c->field->type), say_tensor(c->graph, c->tensor)));
}

static bool check_field_shape(const connection *c)
{
  if (c->field->layout == POP_LAYOUT_SCALAR && c->tensor->num_elements != 1)
    return refuse(c, POP_ERROR_GRAPH_CONNECTION,
                  pop_arena_printf(c->graph->arena, "it takes one element, but the %s has %llu",
                                   say_tensor(c->graph, c->tensor),
                                   (unsigned long long)c->tensor->num_elements));
  if (c->field->layout != POP_LAYOUT_SCALAR && c->tensor->rank != 1)
    return refuse(c, POP_ERROR_GRAPH_CONNECTION,
                  pop_arena_printf(c->graph->arena,
                                   "it takes a tensor of rank 1, but the %s has rank %u; "
                                   "pop_tensor_flatten makes it one",
                                   say_tensor(c->graph, c->tensor), c->tensor->rank));
  return true;
}

static bool check_field_writes(const connection *c, pop_tensor handle)
{
  if (c->field->kind == POP_FIELD_INPUT) return true;
  if (pop_tensor_contains_constant(handle))
    return refuse(c, POP_ERROR_GRAPH_CONNECTION,
                  pop_arena_printf(c->graph->arena,
                                   "the vertex writes it, but the %s is (partly) a constant",
                                   say_tensor(c->graph, c->tensor)));
  if (pop_tensor_contains_aliases(handle))
    return refuse(c, POP_ERROR_GRAPH_CONNECTION,
                  pop_arena_printf(c->graph->arena,
                                   "the vertex writes it, but the %s holds some element twice",
                                   say_tensor(c->graph, c->tensor)));
  return true;
}

/* Puts the edge behind the others of the vertex; false if the field has one already. */
static bool append_edge(pop_graph *graph, vertex *v, uint32_t field, uint32_t tensor)
{
  uint32_t *link = &v->first_edge;
  for (; *link != GRAPH_NONE; link = &graph->edges[*link].next)
    if (graph->edges[*link].field == field) return false;
  *link = (uint32_t)graph->num_edges;
  edge added = {field, tensor, GRAPH_NONE};
  pop_push(graph->edges, graph->num_edges, graph->edges_capacity, added);
  return true;
}

void pop_graph_connect(pop_graph *graph, pop_vertex handle, const char *field, pop_tensor tensor)
{
  static const char call[] = "pop_graph_connect";
  if (!graph_usable(graph)) return;
  vertex *v = check_vertex(graph, call, handle);
  if (!v || !check_room(graph, call, graph->num_edges, "edges")) return;
  const pop_vertex_type *type = graph->vertex_types[v->type].type;
  connection c = {.graph = graph, .vertex = handle.index - 1};
  c.field = check_field(graph, call, c.vertex, field);
  if (!c.field) return;
  c.tensor = check_tensor(graph, call, tensor);
  if (!c.tensor) return;
  if (!check_field_type(&c) || !check_field_shape(&c) || !check_field_writes(&c, tensor)) return;
  if (!append_edge(graph, v, (uint32_t)(c.field - type->fields), tensor.index))
    refuse(&c, POP_ERROR_GRAPH_CONNECTION, "it is connected already; a field has one edge");
}
