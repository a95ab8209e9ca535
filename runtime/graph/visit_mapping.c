/* Visits the tiles of a view's elements, in the view's order.
 *
 * A view is a nest of loops over a variable, and the variable's mapping is a list of intervals.
 * All iterations of a loop that lie in one interval (or one gap) are visited at once, whatever
 * their inner loops do. Only iterations that leave it are descended into. So neither a broadcast
 * nor a transposed matrix takes a step for each element.
 *
 * The function that is called may make views and map other tensors. So nothing here points into
 * the graph's arrays while it runs. */
#include "graph/check.h"
#include "graph/replicated.h"

#include <string.h>

/* Runs on one tile, merged before they are shown. */
typedef struct shown_run {
  pop_graph *view; /* whose tiles are shown */
  void (*visit)(void *context, size_t tile, size_t begin, size_t end);
  void *context;
  size_t tile;
  uint64_t begin, end; /* positions in the view */
} shown_run;

static void show(shown_run *shown, size_t tile, uint64_t count)
{
  if (shown->tile != tile && shown->end > shown->begin) {
    shown->visit(shown->context, shown->tile, shown->begin, shown->end);
    shown->begin = shown->end;
  }
  shown->tile = tile;
  shown->end += count;
}

typedef struct shown_piece {
  shown_run *shown;
  uint32_t variable, num_dims;
  view_dim dims[GRAPH_MAX_RANK * 4];
  /* One iteration of loop k, or a single element at [num_dims]: its elements, and how far they
   * reach below and above the first one. */
  uint64_t elements[GRAPH_MAX_RANK * 4 + 1], below[GRAPH_MAX_RANK * 4 + 1],
      above[GRAPH_MAX_RANK * 4 + 1];
} shown_piece;

/* [begin, end): the interval or the gap that the element is in, and its tile for the view. */
typedef struct place {
  uint64_t begin, end;
  size_t tile;
} place;

/* For the view, elements on tiles that it does not have are unmapped. */
static place find_place(const shown_piece *p, uint64_t element)
{
  size_t count;
  const mapping_interval *mapping = graph_mapping(p->shown->view->top, p->variable, &count);
  size_t i = graph_find_mapping(mapping, count, element);
  if (i < count && mapping[i].begin <= element) {
    uint32_t tile = graph_tile_of_view(p->shown->view, mapping[i].tile);
    return (place){mapping[i].begin, mapping[i].end, tile == GRAPH_NONE ? SIZE_MAX : tile};
  }
  return (place){i ? mapping[i - 1].end : 0, i < count ? mapping[i].begin : UINT64_MAX, SIZE_MAX};
}

/* How many of the remaining iterations of loop k, from the one at `element` on, lie in the
 * place. */
static uint64_t rounds_within(const shown_piece *p, uint32_t k, uint64_t element, place in,
                              uint64_t left)
{
  int64_t stride = p->dims[k].stride;
  uint64_t before = element - in.begin, behind = in.end - 1 - element;
  if (before < p->below[k + 1] || behind < p->above[k + 1]) return 0;
  if (stride == 0) return left;
  uint64_t more = stride > 0 ? (behind - p->above[k + 1]) / (uint64_t)stride
                             : (before - p->below[k + 1]) / -(uint64_t)stride;
  return more < left - 1 ? more + 1 : left;
}

/* Visits loop k and its inner loops, from the element on. */
static void show_nest(const shown_piece *p, uint32_t k, uint64_t element)
{
  if (k == p->num_dims) {
    show(p->shown, find_place(p, element).tile, 1);
    return;
  }
  uint64_t left = p->dims[k].count;
  while (left) {
    place in = find_place(p, element);
    uint64_t rounds = rounds_within(p, k, element, in, left);
    if (rounds)
      show(p->shown, in.tile, rounds * p->elements[k + 1]);
    else
      show_nest(p, k + 1, element);
    if (!rounds) rounds = 1;
    element += rounds * (uint64_t)p->dims[k].stride;
    left -= rounds;
  }
}

static void show_piece(const pop_graph *graph, size_t index, shown_run *shown)
{
  const view_piece piece = graph->pieces[index];
  shown_piece p;
  p.shown = shown;
  p.variable = piece.variable;
  p.num_dims = piece.num_dims;
  if (p.num_dims) memcpy(p.dims, piece_dims(graph, &piece), p.num_dims * sizeof *p.dims);
  p.elements[p.num_dims] = 1;
  p.below[p.num_dims] = p.above[p.num_dims] = 0;
  for (uint32_t k = p.num_dims; k-- > 0;) {
    uint64_t stride = (uint64_t)p.dims[k].stride, last = p.dims[k].count - 1;
    p.elements[k] = p.elements[k + 1] * p.dims[k].count;
    p.below[k] = p.below[k + 1] + (p.dims[k].stride < 0 ? last * -stride : 0);
    p.above[k] = p.above[k + 1] + (p.dims[k].stride > 0 ? last * stride : 0);
  }
  show_nest(&p, 0, piece.base);
}

void pop_graph_visit_tile_mapping(pop_graph *graph, pop_tensor handle,
                                  void (*visit)(void *context, size_t tile, size_t begin,
                                                size_t end),
                                  void *context)
{
  GRAPH_TURN(graph);
  static const char call[] = "pop_graph_visit_tile_mapping";
  pop_graph *view = graph;
  const tensor *t = graph_enter(&graph, __func__) ? check_tensor(graph, call, handle) : NULL;
  if (!t || !check_replication(graph, call, t, view->replication)) return;
  if (!visit) {
    graph_failf(graph, POP_ERROR_INVALID_ARGUMENT, "%s: there is no function to call", call);
    return;
  }
  shown_run shown = {view, visit, context, SIZE_MAX, 0, 0};
  for (size_t i = t->first_piece, end = i + t->num_pieces; i < end; i++)
    show_piece(graph, i, &shown);
  if (shown.end > shown.begin) visit(context, shown.tile, shown.begin, shown.end);
}
