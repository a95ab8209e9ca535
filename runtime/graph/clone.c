/* Clones: a new variable, and a view of it that looks like a view of other variables.
 *
 * To preserve the order, the elements that the view has of each variable are found as ranges.
 * The ranges follow each other in the new variable:
 *
 *     variable a   ..XXXX....XX      new   XXXXXXYYY
 *     variable b   .YYY
 *
 * To gather by tile, ranges are also cut where the tile changes, and sorted by tile.
 *
 * A piece of the view whose elements are all in one range keeps its loops, with another base.
 * Only a piece with holes is taken apart into runs. */
#include "base/order.h"
#include "graph/check.h"
#include "graph/replicated.h"
#include "graph/view.h"
#include "graph/view_scratch.h"

#include <stdlib.h>
#include <string.h>

typedef struct range {
  uint32_t variable;
  uint64_t begin, end;
  uint64_t at; /* position of `begin` in the new variable */
} range;

typedef struct range_list {
  range *items;
  size_t count, capacity;
} range_list;

typedef struct keyed_list {
  keyed *items;
  size_t count, capacity;
} keyed_list;

/* ---- what the view has ---- */

static range piece_hull(const pop_graph *graph, const view_piece *piece)
{
  const view_dim *dims = piece_dims(graph, piece);
  range hull = {.variable = piece->variable, .begin = piece->base, .end = piece->base + 1};
  for (uint32_t i = 0; i < piece->num_dims; i++) {
    uint64_t reach = (dims[i].count - 1) * (uint64_t)dims[i].stride;
    if (dims[i].stride < 0)
      hull.begin += reach;
    else
      hull.end += reach;
  }
  return hull;
}

/* Does the piece have all elements of its hull? True for certain if each loop, sorted by stride,
 * continues where the finer loops together end. */
static bool is_dense(const pop_graph *graph, const view_piece *piece)
{
  view_dim sorted[GRAPH_MAX_RANK * 4];
  uint32_t count = 0;
  for (uint32_t i = 0; i < piece->num_dims; i++) {
    view_dim dim = graph->dims[piece->first_dim + i];
    if (dim.stride == 0) continue;
    if (dim.stride < 0) dim.stride = -dim.stride;
    uint32_t at = count++;
    for (; at > 0 && sorted[at - 1].stride > dim.stride; at--) sorted[at] = sorted[at - 1];
    sorted[at] = dim;
  }
  uint64_t reach = 1;
  for (uint32_t i = 0; i < count; i++) {
    if ((uint64_t)sorted[i].stride > reach) return false;
    reach += (sorted[i].count - 1) * (uint64_t)sorted[i].stride;
  }
  return true;
}

static void add_range(range_list *ranges, uint32_t variable, uint64_t begin, uint64_t end)
{
  pop_push(ranges->items, ranges->count, ranges->capacity,
           (range){.variable = variable, .begin = begin, .end = end});
}

static void add_piece_ranges(const pop_graph *graph, size_t index, range_list *ranges)
{
  const view_piece *piece = &graph->pieces[index];
  range hull = piece_hull(graph, piece);
  if (is_dense(graph, piece)) {
    add_range(ranges, hull.variable, hull.begin, hull.end);
    return;
  }
  const tensor alone = {.first_piece = index, .num_pieces = 1};
  view_walk walk = {.graph = graph, .tensor = &alone, .skip_repeats = true};
  for (view_run run; view_walk_next(&walk, &run);)
    add_range(ranges, run.variable, run.begin, run.begin + run.count);
}

static int compare_ranges(const void *left, const void *right)
{
  const range *a = left, *b = right;
  if (a->variable != b->variable) return a->variable < b->variable ? -1 : 1;
  if (a->begin != b->begin) return a->begin < b->begin ? -1 : 1;
  return (a->end > b->end) - (a->end < b->end);
}

/* Finds the view's ranges, sorted and disjoint. */
static void find_ranges(const pop_graph *graph, const tensor *t, range_list *ranges)
{
  for (size_t i = 0; i < t->num_pieces; i++) add_piece_ranges(graph, t->first_piece + i, ranges);
  if (ranges->count == 0) return;
  qsort(ranges->items, ranges->count, sizeof *ranges->items, compare_ranges);
  size_t kept = 1;
  for (size_t i = 1; i < ranges->count; i++) {
    range *last = &ranges->items[kept - 1], next = ranges->items[i];
    if (next.variable != last->variable || next.begin > last->end)
      ranges->items[kept++] = next;
    else if (next.end > last->end)
      last->end = next.end;
  }
  ranges->count = kept;
}

/* Places ranges one after the other in the new variable; returns its number of elements. */
static uint64_t give_places(range_list *ranges)
{
  uint64_t at = 0;
  for (size_t i = 0; i < ranges->count; i++) {
    ranges->items[i].at = at;
    at += ranges->items[i].end - ranges->items[i].begin;
  }
  return at;
}

/* Cuts the range where its tile changes; appends the tile of each part to `tiles`. */
static void cut_by_tile(pop_graph *graph, const range *r, range_list *parts, keyed_list *tiles)
{
  size_t count;
  const mapping_interval *mapping = graph_mapping(graph, r->variable, &count);
  size_t next = graph_find_mapping(mapping, count, r->begin);
  for (uint64_t begin = r->begin, end; begin < r->end; begin = end) {
    while (next < count && mapping[next].end <= begin) next++;
    bool mapped = next < count && mapping[next].begin <= begin;
    end = next == count ? r->end : mapped ? mapping[next].end : mapping[next].begin;
    if (end > r->end) end = r->end;
    keyed tile = {mapped ? mapping[next].tile : UINT64_MAX, (uint32_t)parts->count};
    pop_push(tiles->items, tiles->count, tiles->capacity, tile);
    add_range(parts, r->variable, begin, end);
  }
}

/* As give_places, but sorted by tile, and otherwise in the same order; elements on no tile come
 * last. In a replicated graph, replica 0's tiles count. */
static uint64_t give_places_by_tile(pop_graph *graph, range_list *ranges)
{
  range_list parts = {0};
  keyed_list tiles = {0};
  for (size_t i = 0; i < ranges->count; i++) cut_by_tile(graph, &ranges->items[i], &parts, &tiles);
  free(ranges->items);
  *ranges = parts;
  sort_keyed(tiles.items, tiles.count);
  uint64_t at = 0;
  for (size_t i = 0; i < tiles.count; i++) {
    range *r = &ranges->items[tiles.items[i].index];
    r->at = at;
    at += r->end - r->begin;
  }
  free(tiles.items);
  return at;
}

/* The range that has the element. */
static const range *range_of(const range_list *ranges, uint32_t variable, uint64_t element)
{
  size_t low = 0, high = ranges->count;
  while (high - low > 1) {
    size_t middle = low + (high - low) / 2;
    const range *r = &ranges->items[middle];
    if (r->variable < variable || (r->variable == variable && r->begin <= element))
      low = middle;
    else
      high = middle;
  }
  return &ranges->items[low];
}

/* ---- the new variable ---- */

/* Maps the clone's variable in one replica; the ranges are replica 0's. */
static void map_ranges(pop_graph *graph, const range_list *ranges, uint32_t variable,
                       uint32_t replica)
{
  variable += replica;
  for (size_t i = 0; i < ranges->count; i++) {
    const range *r = &ranges->items[i];
    size_t count;
    const mapping_interval *mapping = graph_mapping(graph, r->variable + replica, &count);
    for (size_t j = graph_find_mapping(mapping, count, r->begin);
         j < count && mapping[j].begin < r->end; j++) {
      uint64_t begin = mapping[j].begin > r->begin ? mapping[j].begin : r->begin;
      uint64_t end = mapping[j].end < r->end ? mapping[j].end : r->end;
      graph_map_elements(graph, variable, r->at + (begin - r->begin), r->at + (end - r->begin),
                         mapping[j].tile);
    }
  }
}

static void add_piece_of_clone(pop_graph *graph, size_t index, const range_list *ranges,
                               uint32_t variable)
{
  view_piece piece = graph->pieces[index];
  range hull = piece_hull(graph, &piece);
  const range *in = range_of(ranges, hull.variable, hull.begin);
  if (hull.end <= in->end) {
    view_add_piece(graph->scratch, variable, in->at + (piece.base - in->begin),
                   piece_dims(graph, &piece), piece.num_dims);
    return;
  }
  const tensor alone = {.first_piece = index, .num_pieces = 1};
  view_walk walk = {.graph = graph, .tensor = &alone};
  for (view_run run; view_walk_next(&walk, &run);)
    for (uint64_t end = run.begin + run.count; run.begin < end;) {
      in = range_of(ranges, run.variable, run.begin);
      uint64_t until = in->end < end ? in->end : end;
      view_add_run(graph, variable, in->at + (run.begin - in->begin), until - run.begin);
      run.begin = until;
    }
}

/* The variable of a non-empty tensor that is a whole variable. */
static uint32_t variable_of(pop_tensor t)
{
  return t.graph->pieces[t.graph->tensors[t.index].first_piece].variable;
}

static pop_tensor clone_in_order(pop_graph *view, const char *call, pop_type type,
                                 uint32_t original, const char *name, bool by_tile)
{
  pop_graph *graph = view->top;
  range_list ranges = {0};
  tensor t = graph->tensors[original];
  find_ranges(graph, &t, &ranges);
  uint64_t count = by_tile ? give_places_by_tile(graph, &ranges) : give_places(&ranges);
  pop_tensor whole = pop_graph_add_variable(view, type, &(size_t){count}, 1, name);
  pop_tensor clone = {graph, 0};
  if (whole.index) {
    uint32_t variable = count ? variable_of(whole) : 0;
    for (uint32_t r = 0; r < tensor_replicas(whole); r++) map_ranges(graph, &ranges, variable, r);
    view_begin(graph, t.replication);
    for (size_t i = 0; i < t.num_pieces; i++)
      add_piece_of_clone(graph, t.first_piece + i, &ranges, variable);
    clone = view_end(graph, call, type, t.shape, t.rank);
  }
  free(ranges.items);
  return clone;
}

typedef struct mapped_clone {
  pop_graph *graph;
  uint32_t variable;
} mapped_clone;

static void map_like(void *context, size_t tile, size_t begin, size_t end)
{
  const mapped_clone *clone = context;
  if (tile != SIZE_MAX)
    graph_map_elements(clone->graph, clone->variable, begin, end, (uint32_t)tile);
}

static pop_tensor clone_anew(pop_graph *view, const char *call, pop_type type, pop_tensor original,
                             const char *name)
{
  pop_graph *graph = view->top;
  const tensor t = graph->tensors[original.index];
  pop_tensor clone = pop_graph_add_variable(view, type, t.shape, t.rank, name);
  if (!clone.index || t.num_elements == 0) return clone;
  for (uint32_t r = 0; r < tensor_replicas(clone); r++) {
    mapped_clone mapped = {graph, variable_of(clone) + r};
    pop_tensor like = tensor_of_replica(graph, call, original, r);
    if (like.index) pop_graph_visit_tile_mapping(graph, like, map_like, &mapped);
  }
  return clone;
}

pop_tensor pop_graph_clone(pop_graph *graph, pop_type type, pop_tensor original, const char *name,
                           pop_clone_method method)
{
  GRAPH_TURNS(graph, original.graph);
  static const char call[] = "pop_graph_clone";
  pop_graph *view = graph;
  const tensor *t = graph_enter(&graph, __func__) ? check_tensor(graph, call, original) : NULL;
  if (!t || !check_type(graph, call, type) || !check_replication(graph, call, t, view->replication))
    return (pop_tensor){graph, 0};
  switch (method) {
  case POP_CLONE_PRESERVE_ORDER_AND_ALIASES:
    return clone_in_order(view, call, type, original.index, name, false);
  case POP_CLONE_GATHER_AND_PRESERVE_TILE_ORDER_AND_ALIASES:
    return clone_in_order(view, call, type, original.index, name, true);
  case POP_CLONE_CREATE_NEW_ORDER:
    return clone_anew(view, call, type, original, name);
  case POP_CLONE_PRESERVE_ORDER_UNLESS_ALIASES:
    return pop_tensor_contains_aliases(original)
               ? clone_anew(view, call, type, original, name)
               : clone_in_order(view, call, type, original.index, name, false);
  }
  graph_failf(graph, POP_ERROR_INVALID_ARGUMENT, "%s: there is no method %d", call, (int)method);
  return (pop_tensor){graph, 0};
}
