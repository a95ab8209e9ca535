/* Alias checks: does a view have an element twice? Do two views share an element?
 *
 * Pieces are sorted by their spans. Pieces whose spans do not overlap cannot share elements. A
 * nest of loops has no element twice if every stride is larger than all that the inner loops
 * together reach. Only the other cases (pieces that interleave, such as two columns of a matrix)
 * are checked element by element, in a bit map of the span. */
#include "graph/check.h"
#include "graph/replicated.h"

#include <stdlib.h>

typedef struct span {
  uint32_t variable;
  uint64_t first, last; /* elements */
  size_t piece;         /* in graph->pieces */
  bool second;          /* of two views: it is in the second */
} span;

static span piece_span(const pop_graph *graph, size_t index)
{
  const view_piece *piece = &graph->pieces[index];
  const view_dim *dims = piece_dims(graph, piece);
  span s = {piece->variable, piece->base, piece->base, index, false};
  for (uint32_t i = 0; i < piece->num_dims; i++) {
    uint64_t reach = (dims[i].count - 1) * (uint64_t)dims[i].stride;
    if (dims[i].stride < 0)
      s.first += reach;
    else
      s.last += reach;
  }
  return s;
}

static int compare_spans(const void *a, const void *b)
{
  const span *x = a, *y = b;
  if (x->variable != y->variable) return x->variable < y->variable ? -1 : 1;
  if (x->first != y->first) return x->first < y->first ? -1 : 1;
  return (x->piece > y->piece) - (x->piece < y->piece);
}

/* True if the piece certainly has no element twice; false if that needs a closer look. */
static bool strides_are_apart(const pop_graph *graph, const view_piece *piece)
{
  view_dim sorted[GRAPH_MAX_RANK * 4]; /* by stride */
  for (uint32_t i = 0; i < piece->num_dims; i++) {
    view_dim dim = graph->dims[piece->first_dim + i];
    if (dim.stride < 0) dim.stride = -dim.stride;
    uint32_t at = i;
    for (; at > 0 && sorted[at - 1].stride > dim.stride; at--) sorted[at] = sorted[at - 1];
    sorted[at] = dim;
  }
  int64_t reach = 0;
  for (uint32_t i = 0; i < piece->num_dims; i++) {
    if (sorted[i].stride <= reach) return false;
    reach += (int64_t)(sorted[i].count - 1) * sorted[i].stride;
  }
  return true;
}

static bool set_bit(uint8_t *bits, uint64_t bit)
{
  uint8_t mask = (uint8_t)(1u << bit % 8);
  bool was_set = bits[bit / 8] & mask;
  bits[bit / 8] |= mask;
  return was_set;
}

/* Marks the elements of a piece, from `first` on; true if one was marked already. */
static bool mark_piece(const pop_graph *graph, size_t piece, uint64_t first, uint8_t *bits)
{
  const tensor alone = {.first_piece = piece, .num_pieces = 1};
  view_walk walk = {.graph = graph, .tensor = &alone};
  for (view_run run; view_walk_next(&walk, &run);)
    for (uint64_t i = 0; i < run.count; i++)
      if (set_bit(bits, run.begin - first + i)) return true;
  return false;
}

/* `count` overlapping spans of one variable, from the first span's begin to `last`. */
static bool cluster_has_alias(const pop_graph *graph, const span *spans, size_t count,
                              uint64_t last)
{
  if (count == 1 && strides_are_apart(graph, &graph->pieces[spans[0].piece])) return false;
  uint8_t *bits = pop_xcalloc((last - spans[0].first) / 8 + 1, 1);
  bool found = false;
  for (size_t i = 0; i < count && !found; i++)
    found = mark_piece(graph, spans[i].piece, spans[0].first, bits);
  free(bits);
  return found;
}

static bool repeats(const pop_graph *graph, const view_piece *piece)
{
  for (uint32_t i = 0; i < piece->num_dims; i++)
    if (graph->dims[piece->first_dim + i].stride == 0) return true;
  return false;
}

/* Does `is_true` hold for some cluster of overlapping spans? */
static bool any_cluster(const pop_graph *graph, span *spans, size_t count,
                        bool (*is_true)(const pop_graph *graph, const span *spans, size_t count,
                                        uint64_t last))
{
  if (count) qsort(spans, count, sizeof *spans, compare_spans);
  for (size_t begin = 0, end; begin < count; begin = end) {
    uint64_t last = spans[begin].last;
    for (end = begin + 1;
         end < count && spans[end].variable == spans[begin].variable && spans[end].first <= last;
         end++)
      if (spans[end].last > last) last = spans[end].last;
    if (is_true(graph, spans + begin, end - begin, last)) return true;
  }
  return false;
}

bool pop_tensor_contains_aliases(pop_tensor handle)
{
  GRAPH_TURN(handle.graph);
  if (!handle.graph || !graph_lives(handle.graph, __func__)) return false;
  if (!pop_tensor_valid(handle)) return false;
  const pop_graph *graph = handle.graph;
  const tensor *t = &graph->tensors[handle.index];
  const view_piece *pieces = graph->pieces + t->first_piece;
  for (size_t i = 0; i < t->num_pieces; i++)
    if (repeats(graph, &pieces[i])) return true;
  if (t->num_pieces == 0) return false;
  if (t->num_pieces == 1 && strides_are_apart(graph, pieces)) return false;

  span *spans = pop_xmalloc(t->num_pieces * sizeof *spans);
  for (size_t i = 0; i < t->num_pieces; i++) spans[i] = piece_span(graph, t->first_piece + i);
  bool found = any_cluster(graph, spans, t->num_pieces, cluster_has_alias);
  free(spans);
  return found;
}

/* ---- two views ---- */

/* Marks the elements of a piece of the first view; checks those of the second for marks. */
static bool go_through_piece(const pop_graph *graph, const span *s, uint64_t first, uint8_t *bits)
{
  const tensor alone = {.first_piece = s->piece, .num_pieces = 1};
  view_walk walk = {.graph = graph, .tensor = &alone, .skip_repeats = true};
  for (view_run run; view_walk_next(&walk, &run);)
    for (uint64_t i = run.begin - first; i < run.begin - first + run.count; i++)
      if (!s->second)
        set_bit(bits, i);
      else if (bits[i / 8] >> i % 8 & 1)
        return true;
  return false;
}

/* `count` overlapping spans of one variable, from the first span's begin to `last`. */
static bool cluster_is_shared(const pop_graph *graph, const span *spans, size_t count,
                              uint64_t last)
{
  size_t num_second = 0;
  for (size_t i = 0; i < count; i++) num_second += spans[i].second;
  if (num_second == 0 || num_second == count) return false;
  uint8_t *bits = pop_xcalloc((last - spans[0].first) / 8 + 1, 1);
  bool found = false;
  for (size_t i = 0; i < count; i++)
    if (!spans[i].second) go_through_piece(graph, &spans[i], spans[0].first, bits);
  for (size_t i = 0; i < count && !found; i++)
    if (spans[i].second) found = go_through_piece(graph, &spans[i], spans[0].first, bits);
  free(bits);
  return found;
}

static size_t add_spans(const pop_graph *graph, const tensor *t, bool second, span *spans)
{
  for (size_t i = 0; i < t->num_pieces; i++) {
    spans[i] = piece_span(graph, t->first_piece + i);
    spans[i].second = second;
  }
  return t->num_pieces;
}

bool pop_tensor_intersects_with(pop_tensor left, pop_tensor right)
{
  GRAPH_TURNS(left.graph, right.graph);
  if (!left.graph || !graph_lives(left.graph, __func__)) return false;
  if (!pop_tensor_valid(left) || !pop_tensor_valid(right) || left.graph != right.graph)
    return false;
  pop_graph *graph = left.graph;
  if (graph->tensors[left.index].replication != graph->tensors[right.index].replication) {
    static const char call[] = "pop_tensor_intersects_with";
    left = tensor_of_all_replicas(graph, call, left);
    right = tensor_of_all_replicas(graph, call, right);
  }
  const tensor *a = &graph->tensors[left.index], *b = &graph->tensors[right.index];
  span *spans = pop_xcalloc(a->num_pieces + b->num_pieces + 1, sizeof *spans);
  size_t count = add_spans(graph, a, false, spans);
  count += add_spans(graph, b, true, spans + count);
  bool found = any_cluster(graph, spans, count, cluster_is_shared);
  free(spans);
  return found;
}
