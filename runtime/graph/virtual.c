/* Virtual graphs: views of a part of another graph's tiles. Replicated ones are views of as many
 * parts as there are replicas.
 *
 * Everything in a graph is in its top-level graph. A view has a list of tiles, by which calls
 * translate tile numbers, and the target that those tiles would make up. Views of views also
 * list tiles of the top-level graph. */
#include "graph/check.h"
#include "graph/describe.h"

#include <stdlib.h>
#include <string.h>

uint32_t graph_tile_of_top(const pop_graph *view, uint32_t replica, uint32_t tile)
{
  if (!view->parent || graph_is_for_host(view)) return tile;
  return view->tiles[(size_t)replica * view->num_tiles + tile];
}

uint32_t graph_tile_of_view(pop_graph *view, uint32_t tile_of_top)
{
  if (!view->parent || graph_is_for_host(view)) return tile_of_top;
  uint32_t count = view->top->num_tiles;
  if (!view->numbers) {
    view->numbers = pop_xrealloc(NULL, count, sizeof *view->numbers);
    for (uint32_t i = 0; i < count; i++) view->numbers[i] = GRAPH_NONE;
    for (uint32_t i = 0; i < view->num_tiles; i++) view->numbers[view->tiles[i]] = i;
  }
  return view->numbers[tile_of_top];
}

/* ---- which tiles ----
 *
 * Those of a CPU are below graph_tile_limit. Its target does not say how many there are. */

typedef struct tile_list {
  uint32_t *tiles; /* of the parent */
  size_t count, capacity;
} tile_list;

static void add_range(tile_list *list, size_t first, size_t end)
{
  for (size_t tile = first; tile < end; tile++)
    pop_push(list->tiles, list->count, list->capacity, (uint32_t)tile);
}

/* A tile that is listed twice, or SIZE_MAX. */
static size_t find_twice(const tile_list *list, uint32_t num_tiles)
{
  bool *seen = pop_xcalloc(num_tiles, sizeof *seen);
  size_t twice = SIZE_MAX;
  for (size_t i = 0; i < list->count && twice == SIZE_MAX; i++) {
    if (seen[list->tiles[i]]) twice = list->tiles[i];
    seen[list->tiles[i]] = true;
  }
  free(seen);
  return twice;
}

/* If the tiles are grouped by IPU, and each IPU has as many as the others, the virtual target
 * has these IPUs. Otherwise it has one IPU. */
static void set_virtual_target(pop_graph *view)
{
  const pop_target *real = &view->top->target;
  view->target = *real;
  if (graph_is_for_host(view) || view->num_tiles == 0) return;
  uint32_t num_ipus = 1, of_first = 0;
  while (of_first < view->num_tiles &&
         view->tiles[of_first] / real->tiles_per_ipu == view->tiles[0] / real->tiles_per_ipu)
    of_first++;
  bool even = view->num_tiles % of_first == 0;
  for (uint32_t i = of_first; i < view->num_tiles && even; i++) {
    uint32_t ipu = view->tiles[i] / real->tiles_per_ipu;
    uint32_t before = view->tiles[i - 1] / real->tiles_per_ipu;
    even = i % of_first == 0 ? ipu > before : ipu == before;
  }
  if (even) num_ipus = view->num_tiles / of_first;
  view->target.num_ipus = num_ipus;
  view->target.tiles_per_ipu = view->num_tiles / num_ipus;
}

/* `tiles` are numbers in the top-level graph, for all replicas; they are copied. */
static pop_graph *add_view(pop_graph *parent, uint32_t num_replicas, uint32_t num_tiles,
                           const uint32_t *tiles)
{
  pop_graph *top = parent->top, *view = object_new(OBJECT_GRAPH, sizeof *view);
  size_t bytes = (size_t)num_replicas * num_tiles * sizeof *tiles;
  uint32_t *kept = pop_arena_alloc(top->arena, bytes);
  memcpy(kept, tiles, bytes);
  view->top = top;
  view->parent = parent;
  view->num_tiles = num_tiles;
  view->tiles = kept;
  view->replication = parent->replication;
  view->num_replicas = num_replicas;
  set_virtual_target(view);
  view->next = top->next;
  top->next = view;
  return view;
}

/* Takes the list; its tiles are tiles of the parent. NULL after an error. */
static pop_graph *make_view(pop_graph *parent, const char *call, tile_list *list)
{
  pop_graph *view = NULL;
  size_t twice = find_twice(list, graph_tile_limit(parent));
  if (list->count == 0) {
    graph_failf(parent, POP_ERROR_INVALID_TILE_MAPPING,
                "%s: no tiles; a virtual graph has at least one", call);
  } else if (twice != SIZE_MAX) {
    graph_failf(parent, POP_ERROR_INVALID_TILE_MAPPING,
                "%s: tile %zu is there twice; each tile of a virtual graph is another one", call,
                twice);
  } else {
    uint32_t replicas = parent->replication ? parent->num_replicas : 1;
    uint32_t *tiles = pop_xcalloc((size_t)replicas * list->count, sizeof *tiles);
    for (uint32_t r = 0; r < replicas; r++)
      for (size_t i = 0; i < list->count; i++)
        tiles[r * list->count + i] = graph_tile_of_top(parent, r, list->tiles[i]);
    view = add_view(parent, replicas, (uint32_t)list->count, tiles);
    free(tiles);
  }
  free(list->tiles);
  return view;
}

/* A graph on which calls do nothing. It is returned after an error, so that the next call on it
 * does not crash. */
static pop_graph *graph_after_error(pop_graph *graph)
{
  return graph ? graph->top : NULL;
}

static pop_graph *finish(pop_graph *parent, const char *call, tile_list *list)
{
  pop_graph *view = make_view(parent, call, list);
  return view ? view : graph_after_error(parent);
}

static bool check_range_of(pop_graph *graph, const char *call, const char *things, size_t first,
                           size_t end, size_t count)
{
  if (first < end && end <= count) return true;
  graph_failf(graph->top, POP_ERROR_INVALID_TILE_MAPPING,
              "%s: %s [%zu, %zu); first < end <= %zu is needed, the graph has %zu", call, things,
              first, end, count, count);
  return false;
}

static bool is_usable(pop_graph *graph, const char *call)
{
  return graph_enter(&graph, call);
}

pop_graph *pop_graph_create_virtual_graph(pop_graph *graph, size_t first, size_t end)
{
  GRAPH_TURN(graph);
  static const char call[] = "pop_graph_create_virtual_graph";
  if (!is_usable(graph, call) ||
      !check_range_of(graph, call, "tiles", first, end, graph_tile_limit(graph)))
    return graph_after_error(graph);
  tile_list list = {0};
  add_range(&list, first, end);
  return finish(graph, call, &list);
}

pop_graph *pop_graph_create_virtual_graph_by_ipus(pop_graph *graph, size_t first, size_t end)
{
  GRAPH_TURN(graph);
  static const char call[] = "pop_graph_create_virtual_graph_by_ipus";
  if (!is_usable(graph, call)) return graph_after_error(graph);
  size_t per_ipu = graph->target.tiles_per_ipu, num_ipus = graph->target.num_ipus;
  if (graph_is_for_host(graph)) num_ipus = graph_tile_limit(graph) / per_ipu;
  if (!check_range_of(graph, call, "IPUs", first, end, num_ipus)) return graph_after_error(graph);
  tile_list list = {0};
  add_range(&list, first * per_ipu, end * per_ipu);
  return finish(graph, call, &list);
}

static bool check_list(pop_graph *graph, const char *call, const size_t *tiles, size_t count,
                       size_t limit, const char *of)
{
  if (count && !tiles) {
    graph_failf(graph->top, POP_ERROR_INVALID_ARGUMENT, "%s: the list of tiles is NULL", call);
    return false;
  }
  for (size_t i = 0; i < count; i++) {
    if (tiles[i] < limit) continue;
    graph_failf(graph->top, POP_ERROR_INVALID_TILE_MAPPING,
                "%s: tile %zu (entry %zu of the list); %s has the tiles 0 to %zu", call, tiles[i],
                i, of, limit - 1);
    return false;
  }
  return true;
}

pop_graph *pop_graph_create_virtual_graph_by_tiles(pop_graph *graph, const size_t *tiles,
                                                   size_t count)
{
  GRAPH_TURN(graph);
  static const char call[] = "pop_graph_create_virtual_graph_by_tiles";
  if (!is_usable(graph, call) ||
      !check_list(graph, call, tiles, count, graph_tile_limit(graph), "the graph"))
    return graph_after_error(graph);
  tile_list list = {0};
  for (size_t i = 0; i < count; i++) add_range(&list, tiles[i], tiles[i] + 1);
  return finish(graph, call, &list);
}

pop_graph *pop_graph_create_virtual_graph_per_ipu(pop_graph *graph, const size_t *tiles,
                                                  size_t count)
{
  GRAPH_TURN(graph);
  static const char call[] = "pop_graph_create_virtual_graph_per_ipu";
  if (!is_usable(graph, call)) return graph_after_error(graph);
  size_t per_ipu = graph->target.tiles_per_ipu, num_ipus = graph->target.num_ipus;
  if (!check_list(graph, call, tiles, count, per_ipu, "an IPU of the graph"))
    return graph_after_error(graph);
  tile_list list = {0};
  for (size_t ipu = 0; ipu < num_ipus; ipu++)
    for (size_t i = 0; i < count; i++) {
      size_t tile = ipu * per_ipu + tiles[i];
      add_range(&list, tile, tile + 1);
    }
  return finish(graph, call, &list);
}

/* ---- replicas ---- */

static bool check_replicas(pop_graph *graph, const char *call, uint32_t count)
{
  uint32_t have = pop_graph_replication_factor(graph);
  if (graph->replication || have > 1)
    graph_failf(graph, POP_ERROR_INVALID_ARGUMENT,
                "%s: the graph is replicated already: it is that of one of %u replicas", call,
                have);
  else if (graph_is_for_host(graph) && count > graph_tile_limit(graph))
    graph_failf(graph, POP_ERROR_INVALID_ARGUMENT, "%s: %u replicas; at most %u are possible", call,
                count, graph_tile_limit(graph));
  else if (count == 0 || (!graph_is_for_host(graph) && graph->num_tiles % count))
    graph_failf(graph, POP_ERROR_INVALID_ARGUMENT,
                "%s: %u replicas on %u tiles; each replica has as many tiles as the others, at "
                "least one",
                call, count, graph->num_tiles);
  else if (graph->top->num_replications == MAX_REPLICATIONS)
    graph_failf(graph, POP_ERROR_INVALID_ARGUMENT,
                "%s: %d replicated graphs have been made of this one already, which is the limit",
                call, MAX_REPLICATIONS);
  else
    return true;
  return false;
}

pop_graph *pop_graph_create_replicated_graph(pop_graph *graph, uint32_t replication_factor)
{
  GRAPH_TURN(graph);
  static const char call[] = "pop_graph_create_replicated_graph";
  if (!is_usable(graph, call) || !check_replicas(graph, call, replication_factor))
    return graph_after_error(graph);
  pop_graph *top = graph->top;
  bool host = graph_is_for_host(graph);
  uint32_t num_tiles = host ? graph->num_tiles : graph->num_tiles / replication_factor;
  uint32_t *tiles = pop_xcalloc((size_t)replication_factor * num_tiles, sizeof *tiles);
  for (uint32_t i = 0; i < graph->num_tiles; i++) tiles[i] = graph_tile_of_top(graph, 0, i);
  pop_graph *view = add_view(graph, replication_factor, num_tiles, tiles);
  free(tiles);
  pop_push(top->replications, top->num_replications, top->replications_capacity,
           (replication){replication_factor});
  view->replication = (uint32_t)top->num_replications;
  return view;
}

/* ---- questions ---- */

size_t pop_graph_num_tiles(const pop_graph *graph)
{
  GRAPH_TURN(graph);
  return graph_lives(graph, __func__) ? graph->num_tiles : 0;
}

size_t pop_graph_physical_tile(const pop_graph *graph, size_t tile)
{
  GRAPH_TURN(graph);
  if (!graph_lives(graph, __func__)) return SIZE_MAX;
  return tile < graph->num_tiles ? graph_tile_of_top(graph, 0, (uint32_t)tile) : SIZE_MAX;
}

pop_graph *pop_graph_parent(pop_graph *graph)
{
  return graph_lives(graph, __func__) ? graph->parent : NULL;
}

pop_graph *pop_graph_top_level_graph(pop_graph *graph)
{
  GRAPH_TURN(graph);
  if (!graph_lives(graph, __func__)) return NULL;
  if (graph->top->num_replicas > 1) {
    graph_failf(
        graph->top, POP_ERROR_INVALID_ARGUMENT,
        "pop_graph_top_level_graph: a graph that pop_graph_create_replicated made exists as "
        "replicas only: no graph is above them");
    return NULL;
  }
  return graph->top;
}
