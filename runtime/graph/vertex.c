/* Compute sets and vertices. */
#include "graph/check.h"
#include "graph/describe.h"
#include "graph/replicated.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

pop_compute_set pop_graph_add_compute_set(pop_graph *graph, const char *name)
{
  GRAPH_TURN(graph);
  if (!graph_enter(&graph, __func__) ||
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

/* Removes blanks that are not between words. Users may write more blanks than type names have:
 * "Add<unsigned int,float>". */
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

static const char built_in[] = "poplar_rt::";

static bool begins_with(const char *name, const char *prefix)
{
  return strncmp(name, prefix, strlen(prefix)) == 0;
}

/* Library vertices. Suggestions list the program's own first, because it usually means those. */
static bool is_of_library(const char *name)
{
  static const char *const libraries[] = {built_in,    "popops::",  "poplin::",    "popnn::",
                                          "poprand::", "poputil::", "popsparse::", "popfloat::"};
  for (size_t i = 0; i < sizeof libraries / sizeof *libraries; i++)
    if (begins_with(name, libraries[i])) return true;
  return false;
}

static void fail_vertex_type(pop_graph *graph, const char *call, const char *name)
{
  const char **names = pop_xcalloc(graph->num_vertex_types, sizeof *names);
  size_t count = 0;
  for (int of_library = 0; of_library < 2; of_library++)
    for (size_t i = 0; i < graph->num_vertex_types; i++)
      if (is_of_library(graph->vertex_types[i].type->name) == of_library)
        names[count++] = graph->vertex_types[i].type->name;
  const char *alternatives =
      graph->num_vertex_types
          ? say_alternatives(graph, name, names, graph->num_vertex_types)
          : "; the graph has no codelets yet: add them with pop_graph_add_codelets";
  free(names);
  graph_failf(graph, POP_ERROR_UNKNOWN_VERTEX_TYPE, "%s: there is no vertex type %s%s", call,
              say_name(graph, name), alternatives);
}

/* Finds a type whose name may have additional blanks. */
static uint32_t find_vertex_type(const pop_graph *graph, const char *name)
{
  uint32_t type = pop_name_table_find(&graph->vertex_type_names, name);
  if (type != POP_NAME_NONE) return type;
  char *shorter = without_needless_blanks(name);
  type = pop_name_table_find(&graph->vertex_type_names, shorter);
  free(shorter);
  return type;
}

/* Built-in types are loaded on first use. */
uint32_t check_vertex_type(pop_graph *graph, const char *call, const char *name)
{
  if (!name) {
    graph_failf(graph, POP_ERROR_INVALID_ARGUMENT, "%s: the vertex type is NULL", call);
    return POP_NAME_NONE;
  }
  uint32_t type = find_vertex_type(graph, name);
  if (type == POP_NAME_NONE && begins_with(name, built_in) &&
      graph_add_built_in_codelets(graph, call))
    type = find_vertex_type(graph, name);
  if (type == POP_NAME_NONE) fail_vertex_type(graph, call, name);
  return type;
}

pop_vertex pop_graph_add_vertex(pop_graph *graph, pop_compute_set handle, const char *vertex_type)
{
  GRAPH_TURN(graph);
  static const char call[] = "pop_graph_add_vertex";
  const pop_graph *view = graph;
  bool usable = graph_enter(&graph, __func__);
  pop_vertex none = {graph, 0};
  uint32_t count = usable ? replication_count(graph, view->replication) : 1;
  if (!usable || !check_room(graph, call, graph->num_vertices + (count - 1), "vertices"))
    return none;
  compute_set *set = check_compute_set(graph, call, handle);
  if (!set) return none;
  uint32_t type = check_vertex_type(graph, call, vertex_type);
  if (type == POP_NAME_NONE) return none;
  vertex v = {.type = type,
              .compute_set = handle.index - 1,
              .tile = GRAPH_NONE,
              .first_edge = GRAPH_NONE,
              .first_value = GRAPH_NONE,
              .replication = (uint16_t)view->replication};
  pop_vertex added = {graph, (uint32_t)graph->num_vertices + 1};
  for (uint32_t r = 0; r < count; r++) {
    pop_push(graph->vertices, graph->num_vertices, graph->vertices_capacity, v);
    v.replication = 0;
  }
  set->num_vertices += count;
  return added;
}

void pop_graph_set_vertex_tile(pop_graph *graph, pop_vertex handle, size_t tile)
{
  GRAPH_TURN(graph);
  static const char call[] = "pop_graph_set_vertex_tile";
  const pop_graph *view = graph;
  if (!graph_enter(&graph, __func__)) return;
  vertex *v = check_vertex(graph, call, handle);
  if (!v) return;
  if (tile >= graph_tile_limit(view))
    graph_failf(graph, POP_ERROR_INVALID_TILE_MAPPING, "%s: tile %zu for %s; %s", call, tile,
                say_vertex(graph, handle.index - 1), say_tiles(view));
  else if (v->replication != view->replication)
    graph_failf(graph, POP_ERROR_INVALID_TILE_MAPPING,
                "%s: %s is of %s, and the tile of %s; give the tile with the graph that the vertex "
                "was added to",
                call, say_vertex(graph, handle.index - 1), say_replication(graph, v->replication),
                say_replication(graph, view->replication));
  else
    for (uint32_t r = 0, count = vertex_replicas(graph, handle); r < count; r++)
      v[r].tile = graph_tile_of_top(view, r, (uint32_t)tile);
}
