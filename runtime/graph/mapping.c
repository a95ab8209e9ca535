/* Tile mappings.
 *
 * Each variable has a list of intervals, each with a tile. Calls append to it; a later call
 * overrides earlier ones. Most lists are appended to in ascending order, and so are sorted.
 * Other lists are sorted when somebody asks for the mapping. */
#include "graph/check.h"
#include "graph/describe.h"
#include "graph/replicated.h"

#include <stdlib.h>
#include <string.h>

/* ---- putting a list in order ---- */

typedef struct call {
  mapping_interval interval;
  size_t number; /* in the order of the calls */
} call;

/* The calls that cover the current element: a heap with the latest call on top. */
typedef struct call_heap {
  const call *calls; /* by where they begin */
  size_t *items;     /* indices of calls */
  size_t count;
} call_heap;

/* Merges two neighbouring sorted runs to `to`. The merge is stable: of calls that begin at the
 * same element, those of the first run come first. */
static void merge_runs(const call *first, const call *second, const call *end, call *to)
{
  const call *a = first, *b = second;
  while (a < second && b < end) *to++ = b->interval.begin < a->interval.begin ? *b++ : *a++;
  memcpy(to, a, (size_t)(second - a) * sizeof *a);
  memcpy(to + (second - a), b, (size_t)(end - b) * sizeof *b);
}

/* The end of the sorted run that begins at `first`. */
static size_t end_of_run(const call *calls, size_t first, size_t count)
{
  size_t i = first + 1;
  while (i < count && calls[i - 1].interval.begin <= calls[i].interval.begin) i++;
  return i < count ? i : count;
}

/* A stable merge sort by begin. A program's loops make few long sorted runs; each pass merges
 * pairs of runs. */
static call *sort_calls(call *calls, size_t count)
{
  call *other = pop_xmalloc(count * sizeof *other);
  while (end_of_run(calls, 0, count) < count) {
    for (size_t i = 0, middle, end; i < count; i = end) {
      middle = end_of_run(calls, i, count);
      end = middle < count ? end_of_run(calls, middle, count) : count;
      merge_runs(calls + i, calls + middle, calls + end, other + i);
    }
    call *sorted = other;
    other = calls;
    calls = sorted;
  }
  free(other);
  return calls;
}

static bool is_later(const call_heap *heap, size_t a, size_t b)
{
  return heap->calls[heap->items[a]].number > heap->calls[heap->items[b]].number;
}

static void swap_items(call_heap *heap, size_t a, size_t b)
{
  size_t item = heap->items[a];
  heap->items[a] = heap->items[b];
  heap->items[b] = item;
}

static void heap_push(call_heap *heap, size_t item)
{
  size_t i = heap->count++;
  heap->items[i] = item;
  for (; i > 0 && is_later(heap, i, (i - 1) / 2); i = (i - 1) / 2) swap_items(heap, i, (i - 1) / 2);
}

static void heap_pop(call_heap *heap)
{
  heap->items[0] = heap->items[--heap->count];
  for (size_t i = 0, child; (child = 2 * i + 1) < heap->count; i = child) {
    if (child + 1 < heap->count && is_later(heap, child + 1, child)) child++;
    if (!is_later(heap, child, i)) break;
    swap_items(heap, i, child);
  }
}

/* Appends an interval. If it continues the last one, on the same tile, extends that instead. */
static void append(variable *v, uint64_t begin, uint64_t end, uint32_t tile)
{
  mapping_interval *last = v->num_mapping ? &v->mapping[v->num_mapping - 1] : NULL;
  if (last && last->end == begin && last->tile == tile)
    last->end = end;
  else
    pop_push(v->mapping, v->num_mapping, v->mapping_capacity, (mapping_interval){begin, end, tile});
}

/* Does call `i` end before the next one begins? Then, with an empty heap, it stays as it is. */
static bool is_disjoint(const call *calls, size_t i, size_t count)
{
  const mapping_interval *interval = &calls[i].interval;
  return interval->begin < interval->end &&
         (i + 1 == count || calls[i + 1].interval.begin >= interval->end);
}

/* Sweeps over the elements, from one begin or end of a call to the next. The latest call that
 * covers an element has its tile. */
static void sweep(variable *v, const call *calls, size_t count)
{
  call_heap heap = {calls, pop_xmalloc(count * sizeof *heap.items), 0};
  size_t next = 0;
  for (uint64_t at = 0; next < count || heap.count;) {
    if (heap.count == 0 && at < calls[next].interval.begin) at = calls[next].interval.begin;
    if (heap.count == 0 && is_disjoint(calls, next, count)) {
      at = calls[next].interval.end;
      append(v, calls[next].interval.begin, at, calls[next].interval.tile);
      next++;
      continue;
    }
    while (next < count && calls[next].interval.begin <= at) heap_push(&heap, next++);
    while (heap.count && calls[heap.items[0]].interval.end <= at) heap_pop(&heap);
    if (heap.count == 0) continue;
    mapping_interval top = calls[heap.items[0]].interval;
    uint64_t end = top.end;
    if (next < count && calls[next].interval.begin < end) end = calls[next].interval.begin;
    append(v, at, end, top.tile);
    at = end;
  }
  free(heap.items);
}

static void sort_mapping(variable *v)
{
  if (v->mapping_sorted) return;
  size_t count = v->num_mapping;
  call *calls = pop_xmalloc(count * sizeof *calls);
  for (size_t i = 0; i < count; i++) calls[i] = (call){v->mapping[i], i};
  calls = sort_calls(calls, count);
  v->num_mapping = 0;
  sweep(v, calls, count);
  free(calls);
  v->mapping_sorted = true;
}

/* The tile of the vertex or variable that this variable follows; GRAPH_NONE if there is none, or
 * if it has no tile. */
static uint32_t tile_of_other(pop_graph *graph, const variable *v)
{
  if (v->with_vertex) return graph->vertices[v->with_vertex - 1].tile;
  if (!v->metadata_of) return GRAPH_NONE;
  size_t count;
  const mapping_interval *quarters = graph_mapping(graph, v->metadata_of - 1, &count);
  return count ? quarters->tile : GRAPH_NONE;
}

const mapping_interval *graph_mapping(pop_graph *graph, uint32_t index, size_t *count)
{
  variable *v = &graph->variables[index];
  sort_mapping(v);
  uint32_t tile = tile_of_other(graph, v);
  if (tile != GRAPH_NONE && v->num_elements) {
    v->num_mapping = 0;
    append(v, 0, v->num_elements, tile);
  }
  *count = v->num_mapping;
  return v->mapping;
}

/* ---- setting ---- */

/* Sorts the list before it grows. So it stays short if the same mapping is set again and again. */
static void make_room(variable *v)
{
  if (v->mapping_capacity == 0) { /* most variables are on one tile */
    v->mapping = pop_xmalloc(sizeof *v->mapping);
    v->mapping_capacity = 1;
    return;
  }
  sort_mapping(v);
  if (v->num_mapping > v->mapping_capacity / 2)
    pop_reserve(v->mapping, v->mapping_capacity + 1, v->mapping_capacity);
}

static void map_run(variable *v, uint64_t begin, uint64_t end, uint32_t tile)
{
  if (v->metadata_of) v->metadata_of = 0, v->num_mapping = 0;
  if (v->num_mapping == v->mapping_capacity) make_room(v);
  if (v->num_mapping && v->mapping[v->num_mapping - 1].end > begin) v->mapping_sorted = false;
  append(v, begin, end, tile);
}

void graph_map_elements(pop_graph *graph, uint32_t index, uint64_t begin, uint64_t end,
                        uint32_t tile)
{
  map_run(&graph->variables[index], begin, end, tile);
}

/* `run` is replica 0's; `tile` is the view's number. */
static void map_in_all_replicas(const pop_graph *view, view_run run, uint32_t tile)
{
  uint32_t count = replication_count(view->top, view->replication);
  for (uint32_t r = 0; r < count; r++)
    map_run(&view->top->variables[run.variable + r], run.begin, run.begin + run.count,
            graph_tile_of_top(view, r, tile));
}

void pop_graph_set_tile_mapping(pop_graph *graph, pop_tensor handle, size_t tile)
{
  GRAPH_TURN(graph);
  static const char call[] = "pop_graph_set_tile_mapping";
  const pop_graph *view = graph;
  if (!graph_enter(&graph, __func__)) return;
  const tensor *t = check_tensor(graph, call, handle);
  if (!t || !check_replication(graph, call, t, view->replication)) return;
  if (tile >= graph_tile_limit(view)) {
    graph_failf(graph, POP_ERROR_INVALID_TILE_MAPPING, "%s: tile %zu for the %s; %s", call, tile,
                say_tensor(graph, t), say_tiles(view));
    return;
  }
  view_walk walk;
  view_walk_start(&walk, graph, handle.index);
  walk.skip_repeats = true;
  for (view_run run; view_walk_next(&walk, &run);) map_in_all_replicas(view, run, (uint32_t)tile);
}

/* Without a given grain, a tile's elements begin at whole words, which is what an exchange
 * carries. Halves that begin within a word would be copied once more wherever they go. */
static uint64_t grain_of(pop_type type, uint64_t grain)
{
  enum { WORD = 4 };
  uint32_t bytes = pop_type_bytes(type);
  if (grain != 0) return grain;
  return bytes < WORD ? WORD / bytes : 1;
}

/* Elements for each tile; `num_elements` or more if that number would not fit 64 bits. */
static uint64_t elements_per_tile(uint64_t num_elements, uint32_t num_tiles, uint64_t at_least,
                                  uint64_t grain)
{
  uint64_t per_tile = num_elements / num_tiles + (num_elements % num_tiles != 0);
  if (per_tile < at_least) per_tile = at_least;
  if (per_tile == 0) per_tile = 1;
  uint64_t excess = per_tile % grain;
  if (excess && __builtin_add_overflow(per_tile, grain - excess, &per_tile)) return UINT64_MAX;
  return per_tile;
}

/* The view's piece that is being mapped. */
typedef struct linear_mapping {
  const pop_graph *view, *graph;
  const view_piece *piece;
  uint64_t per_tile;
  uint64_t inner[GRAPH_MAX_RANK * 4]; /* elements in one iteration of each loop of the piece */
} linear_mapping;

/* Maps `count` elements that are at `position` and following in the view. */
static void map_run_linearly(const linear_mapping *m, uint64_t element, uint64_t position,
                             uint64_t count)
{
  while (count) {
    uint64_t tile = position / m->per_tile, left = m->per_tile - position % m->per_tile;
    uint64_t part = count < left ? count : left;
    map_in_all_replicas(m->view, (view_run){m->piece->variable, element, part}, (uint32_t)tile);
    element += part;
    position += part;
    count -= part;
  }
}

/* Maps the loops of the piece from number `k` on. In a loop of stride 0, which repeats elements,
 * the last iteration decides where they are. The earlier ones, of which a broadcast may have any
 * number, are skipped. */
static void map_nest_linearly(const linear_mapping *m, uint32_t k, uint64_t element,
                              uint64_t position)
{
  if (k == m->piece->num_dims) {
    map_run_linearly(m, element, position, 1);
    return;
  }
  const view_dim *dim = &m->graph->dims[m->piece->first_dim + k];
  if (dim->stride == 1 && k + 1 == m->piece->num_dims) {
    map_run_linearly(m, element, position, dim->count);
  } else if (dim->stride == 0) {
    map_nest_linearly(m, k + 1, element, position + (dim->count - 1) * m->inner[k]);
  } else {
    for (uint64_t i = 0; i < dim->count; i++)
      map_nest_linearly(m, k + 1, element + i * (uint64_t)dim->stride, position + i * m->inner[k]);
  }
}

void pop_graph_map_linearly(pop_graph *graph, pop_tensor handle, size_t min_elements_per_tile,
                            size_t grain_size)
{
  GRAPH_TURN(graph);
  static const char call[] = "pop_graph_map_linearly";
  const pop_graph *view = graph;
  if (!graph_enter(&graph, __func__)) return;
  const tensor *t = check_tensor(graph, call, handle);
  if (!t || !check_replication(graph, call, t, view->replication)) return;
  uint64_t per_tile = elements_per_tile(t->num_elements, view->num_tiles, min_elements_per_tile,
                                        grain_of(t->type, grain_size));
  log_poplibs(LOG_INFO, "POPUTIL", "mapTensorLinearly: %llu elements, %llu on each tile",
              (unsigned long long)t->num_elements,
              (unsigned long long)(per_tile < t->num_elements ? per_tile : t->num_elements));
  linear_mapping m = {view, graph, NULL, per_tile, {0}};
  uint64_t position = 0;
  for (size_t i = 0; i < t->num_pieces; i++) {
    m.piece = &graph->pieces[t->first_piece + i];
    uint64_t count = 1;
    for (uint32_t k = m.piece->num_dims; k-- > 0;) {
      m.inner[k] = count;
      count *= graph->dims[m.piece->first_dim + k].count;
    }
    map_nest_linearly(&m, 0, m.piece->base, position);
    position += count;
  }
}

/* ---- asking ---- */

size_t graph_find_mapping(const mapping_interval *mapping, size_t count, uint64_t element)
{
  size_t low = 0, high = count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (mapping[middle].end > element)
      high = middle;
    else
      low = middle + 1;
  }
  return low;
}
