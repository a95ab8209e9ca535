/* Shape operations: each is a nest of loops over the positions of its operand (view.h).
 *
 * With a shape cut in three around one dimension, outer x size x inner, the element (o, i, n) is at
 * position (o * size + i) * inner + n; that is all there is to most operations.
 */
#include "graph/check.h"
#include "graph/describe.h"
#include "graph/replicated.h"
#include "graph/view.h"
#include "graph/view_scratch.h"

#include <string.h>

static const tensor *operand(const char *call, pop_tensor t)
{
  return graph_usable(t.graph, call) ? check_tensor(t.graph, call, t) : NULL;
}

static pop_tensor null_tensor(pop_graph *graph)
{
  return (pop_tensor){graph, 0};
}

static bool check_dimension(pop_graph *graph, const char *call, const tensor *t, size_t dimension)
{
  if (dimension < t->rank) return true;
  if (t->rank == 0)
    graph_failf(graph, POP_ERROR_INDEX, "%s: the %s is a scalar: it has no dimensions", call,
                say_tensor(graph, t));
  else
    graph_failf(graph, POP_ERROR_INDEX, "%s: dimension %zu of the %s; its dimensions are 0 to %u",
                call, dimension, say_tensor(graph, t), t->rank - 1);
  return false;
}

static bool check_range(pop_graph *graph, const char *call, const tensor *t, size_t begin,
                        size_t end, size_t dimension)
{
  if (begin <= end && end <= t->shape[dimension]) return true;
  graph_failf(graph, POP_ERROR_INDEX,
              "%s: elements [%zu, %zu) of dimension %zu of the %s; begin <= end <= %zu is needed",
              call, begin, end, dimension, say_tensor(graph, t), t->shape[dimension]);
  return false;
}

static bool check_elements(pop_graph *graph, const char *call, const size_t *shape, size_t rank,
                           uint64_t *num_elements)
{
  if (view_count_elements(shape, rank, num_elements)) return true;
  graph_failf(graph, POP_ERROR_INVALID_ARGUMENT,
              "%s: a tensor of shape %s would have more than 2^63 - 1 elements", call,
              say_shape(graph, shape, rank));
  return false;
}

typedef struct cut {
  uint64_t outer, size, inner;
} cut;

/* For tensors with elements only: with a size of 0 the products of the others may overflow. */
static cut cut_shape(const size_t *shape, size_t rank, size_t dimension)
{
  cut c = {1, shape[dimension], 1};
  for (size_t d = 0; d < dimension; d++) c.outer *= shape[d];
  for (size_t d = dimension + 1; d < rank; d++) c.inner *= shape[d];
  return c;
}

/* The elements of `t` at a nest of positions; `shape` may be without elements. */
static pop_tensor gathered(pop_graph *graph, const char *call, const tensor *t, uint64_t base,
                           const view_dim *loops, size_t num_loops, const size_t *shape,
                           size_t rank)
{
  view_begin(graph, t->replication);
  view_gather(graph, t, base, loops, num_loops);
  return view_end(graph, call, t->type, shape, rank);
}

static pop_tensor without_elements(pop_graph *graph, const char *call, const tensor *t,
                                   const size_t *shape, size_t rank)
{
  view_begin(graph, t->replication);
  return view_end(graph, call, t->type, shape, rank);
}

/* ---- parts ---- */

/* Elements begin <= i < end of a dimension, with the given result shape. */
static pop_tensor sliced(pop_graph *graph, const char *call, const tensor *t, size_t begin,
                         size_t end, size_t dimension, const size_t *shape, size_t rank)
{
  if (t->num_elements == 0 || begin == end) return without_elements(graph, call, t, shape, rank);
  if (end - begin == t->shape[dimension]) return view_reshaped(graph, call, t, shape, rank);
  cut c = cut_shape(t->shape, t->rank, dimension);
  const view_dim loops[] = {{c.outer, (int64_t)(c.size * c.inner)}, {(end - begin) * c.inner, 1}};
  return gathered(graph, call, t, begin * c.inner, loops, 2, shape, rank);
}

pop_tensor pop_tensor_index(pop_tensor handle, size_t i)
{
  GRAPH_TURN(handle.graph);
  static const char call[] = "pop_tensor_index";
  pop_graph *graph = handle.graph;
  const tensor *t = operand(call, handle);
  if (!t || !check_dimension(graph, call, t, 0)) return null_tensor(graph);
  if (i >= t->shape[0]) {
    graph_failf(graph, POP_ERROR_INDEX,
                "%s: index %zu into the %s, whose first dimension has %zu elements", call, i,
                say_tensor(graph, t), t->shape[0]);
    return null_tensor(graph);
  }
  return sliced(graph, call, t, i, i + 1, 0, t->shape + 1, t->rank - 1);
}

pop_tensor pop_tensor_slice(pop_tensor handle, size_t begin, size_t end, size_t dimension)
{
  GRAPH_TURN(handle.graph);
  static const char call[] = "pop_tensor_slice";
  pop_graph *graph = handle.graph;
  const tensor *t = operand(call, handle);
  if (!t || !check_dimension(graph, call, t, dimension) ||
      !check_range(graph, call, t, begin, end, dimension))
    return null_tensor(graph);
  size_t shape[GRAPH_MAX_RANK];
  memcpy(shape, t->shape, t->rank * sizeof *shape);
  shape[dimension] = end - begin;
  return sliced(graph, call, t, begin, end, dimension, shape, t->rank);
}

pop_tensor pop_tensor_slice_nd(pop_tensor handle, const size_t *begin, const size_t *end,
                               size_t count)
{
  GRAPH_TURN(handle.graph);
  static const char call[] = "pop_tensor_slice_nd";
  pop_graph *graph = handle.graph;
  const tensor *t = operand(call, handle);
  if (!t) return null_tensor(graph);
  if (count > t->rank || (count && (!begin || !end))) {
    graph_failf(graph, POP_ERROR_INDEX, "%s: ranges of %zu dimensions of the %s, which has %u",
                call, begin && end ? count : 0, say_tensor(graph, t), t->rank);
    return null_tensor(graph);
  }
  size_t shape[GRAPH_MAX_RANK];
  memcpy(shape, t->shape, t->rank * sizeof *shape);
  for (size_t d = 0; d < count; d++) {
    if (!check_range(graph, call, t, begin[d], end[d], d)) return null_tensor(graph);
    shape[d] = end[d] - begin[d];
  }
  view_dim loops[GRAPH_MAX_RANK];
  uint64_t base = 0, weight = 1;
  for (size_t d = t->rank; d-- > 0;) {
    loops[d] = (view_dim){shape[d], (int64_t)weight};
    base += d < count ? begin[d] * weight : 0;
    weight *= t->shape[d]; /* may wrap only if there are no elements: then it is not used */
  }
  if (t->num_elements == 0) return without_elements(graph, call, t, shape, t->rank);
  return gathered(graph, call, t, base, loops, t->rank, shape, t->rank);
}

pop_tensor pop_tensor_sub_sample(pop_tensor handle, size_t stride, size_t dimension)
{
  GRAPH_TURN(handle.graph);
  static const char call[] = "pop_tensor_sub_sample";
  pop_graph *graph = handle.graph;
  const tensor *t = operand(call, handle);
  if (!t || !check_dimension(graph, call, t, dimension)) return null_tensor(graph);
  if (stride == 0) {
    graph_failf(graph, POP_ERROR_INVALID_ARGUMENT,
                "%s: a stride of 0 in dimension %zu of the %s; it must be at least 1", call,
                dimension, say_tensor(graph, t));
    return null_tensor(graph);
  }
  size_t shape[GRAPH_MAX_RANK];
  memcpy(shape, t->shape, t->rank * sizeof *shape);
  shape[dimension] = shape[dimension] / stride + (shape[dimension] % stride != 0);
  if (t->num_elements == 0) return without_elements(graph, call, t, shape, t->rank);
  cut c = cut_shape(t->shape, t->rank, dimension);
  size_t taken = shape[dimension];
  /* With one element taken the stride is not used, and may be too large to multiply. */
  int64_t step = taken > 1 ? (int64_t)(stride * c.inner) : 0;
  const view_dim loops[] = {{c.outer, (int64_t)(c.size * c.inner)}, {taken, step}, {c.inner, 1}};
  return gathered(graph, call, t, 0, loops, 3, shape, t->rank);
}

/* ---- order ---- */

pop_tensor pop_tensor_reverse(pop_tensor handle, size_t dimension)
{
  GRAPH_TURN(handle.graph);
  static const char call[] = "pop_tensor_reverse";
  pop_graph *graph = handle.graph;
  const tensor *t = operand(call, handle);
  if (!t || !check_dimension(graph, call, t, dimension)) return null_tensor(graph);
  if (t->num_elements == 0) return view_reshaped(graph, call, t, t->shape, t->rank);
  cut c = cut_shape(t->shape, t->rank, dimension);
  const view_dim loops[] = {
      {c.outer, (int64_t)(c.size * c.inner)}, {c.size, -(int64_t)c.inner}, {c.inner, 1}};
  return gathered(graph, call, t, (c.size - 1) * c.inner, loops, 3, t->shape, t->rank);
}

static bool check_permutation(pop_graph *graph, const char *call, const tensor *t,
                              const size_t *permutation, size_t count)
{
  uint32_t seen = 0;
  for (size_t i = 0; permutation && i < count && permutation[i] < t->rank; i++)
    seen |= (uint32_t)1 << permutation[i];
  if (count == t->rank && seen == ((uint32_t)1 << t->rank) - 1) return true;
  graph_failf(graph, POP_ERROR_INVALID_ARGUMENT,
              "%s: %s is not a permutation of the %u dimensions of the %s; each must be named once",
              call, permutation ? say_shape(graph, permutation, count) : "NULL", t->rank,
              say_tensor(graph, t));
  return false;
}

static pop_tensor shuffled(pop_graph *graph, const char *call, const tensor *t,
                           const size_t *permutation)
{
  size_t shape[GRAPH_MAX_RANK];
  for (size_t d = 0; d < t->rank; d++) shape[d] = t->shape[permutation[d]];
  if (t->num_elements == 0) return without_elements(graph, call, t, shape, t->rank);
  uint64_t weights[GRAPH_MAX_RANK], weight = 1;
  for (size_t d = t->rank; d-- > 0; weight *= t->shape[d]) weights[d] = weight;
  view_dim loops[GRAPH_MAX_RANK];
  for (size_t d = 0; d < t->rank; d++)
    loops[d] = (view_dim){shape[d], (int64_t)weights[permutation[d]]};
  return gathered(graph, call, t, 0, loops, t->rank, shape, t->rank);
}

pop_tensor pop_tensor_transpose(pop_tensor handle)
{
  GRAPH_TURN(handle.graph);
  static const char call[] = "pop_tensor_transpose";
  const tensor *t = operand(call, handle);
  if (!t) return null_tensor(handle.graph);
  size_t permutation[GRAPH_MAX_RANK];
  for (size_t d = 0; d < t->rank; d++) permutation[d] = t->rank - 1 - d;
  return shuffled(handle.graph, call, t, permutation);
}

pop_tensor pop_tensor_dim_shuffle(pop_tensor handle, const size_t *permutation, size_t count)
{
  GRAPH_TURN(handle.graph);
  static const char call[] = "pop_tensor_dim_shuffle";
  const tensor *t = operand(call, handle);
  if (!t || !check_permutation(handle.graph, call, t, permutation, count))
    return null_tensor(handle.graph);
  return shuffled(handle.graph, call, t, permutation);
}

/* ---- shape only ---- */

pop_tensor pop_tensor_reshape(pop_tensor handle, const size_t *shape, size_t rank)
{
  GRAPH_TURN(handle.graph);
  static const char call[] = "pop_tensor_reshape";
  pop_graph *graph = handle.graph;
  const tensor *t = operand(call, handle);
  if (!t || !check_rank(graph, call, rank)) return null_tensor(graph);
  if (rank && !shape) {
    graph_failf(graph, POP_ERROR_INVALID_ARGUMENT, "%s: the shape is NULL but the rank is %zu",
                call, rank);
    return null_tensor(graph);
  }
  uint64_t num_elements;
  if (!check_elements(graph, call, shape, rank, &num_elements)) return null_tensor(graph);
  if (num_elements != t->num_elements) {
    graph_failf(graph, POP_ERROR_TENSOR,
                "%s: the %s has %llu elements, the shape %s has %llu; they must be as many", call,
                say_tensor(graph, t), (unsigned long long)t->num_elements,
                say_shape(graph, shape, rank), (unsigned long long)num_elements);
    return null_tensor(graph);
  }
  return view_reshaped(graph, call, t, shape, rank);
}

pop_tensor pop_tensor_flatten(pop_tensor handle)
{
  GRAPH_TURN(handle.graph);
  static const char call[] = "pop_tensor_flatten";
  const tensor *t = operand(call, handle);
  if (!t) return null_tensor(handle.graph);
  return view_reshaped(handle.graph, call, t, &(size_t){t->num_elements}, 1);
}

pop_tensor pop_tensor_expand(pop_tensor handle, size_t dimension)
{
  GRAPH_TURN(handle.graph);
  static const char call[] = "pop_tensor_expand";
  pop_graph *graph = handle.graph;
  const tensor *t = operand(call, handle);
  if (!t || !check_rank(graph, call, (size_t)t->rank + 1)) return null_tensor(graph);
  if (dimension > t->rank) {
    graph_failf(graph, POP_ERROR_INDEX,
                "%s: a new dimension %zu of the %s; it can be put at 0 to %u", call, dimension,
                say_tensor(graph, t), t->rank);
    return null_tensor(graph);
  }
  size_t shape[GRAPH_MAX_RANK];
  for (size_t d = 0; d <= t->rank; d++)
    shape[d] = d == dimension ? 1 : t->shape[d < dimension ? d : d - 1];
  return view_reshaped(graph, call, t, shape, (size_t)t->rank + 1);
}

pop_tensor pop_tensor_squeeze(pop_tensor handle)
{
  GRAPH_TURN(handle.graph);
  static const char call[] = "pop_tensor_squeeze";
  const tensor *t = operand(call, handle);
  if (!t) return null_tensor(handle.graph);
  size_t shape[GRAPH_MAX_RANK], rank = 0;
  for (size_t d = 0; d < t->rank; d++)
    if (t->shape[d] != 1) shape[rank++] = t->shape[d];
  return view_reshaped(handle.graph, call, t, shape, rank);
}

/* ---- more than one ---- */

/* The shape with a dimension n times as large. */
static bool check_repeated(pop_graph *graph, const char *call, const tensor *t, size_t n,
                           size_t dimension, size_t *shape)
{
  uint64_t num_elements;
  memcpy(shape, t->shape, t->rank * sizeof *shape);
  if (!__builtin_mul_overflow(shape[dimension], n, &shape[dimension]))
    return check_elements(graph, call, shape, t->rank, &num_elements);
  graph_failf(graph, POP_ERROR_INVALID_ARGUMENT,
              "%s: dimension %zu of the %s, %zu times, would have more than 2^64 - 1 elements",
              call, dimension, say_tensor(graph, t), n);
  return false;
}

/* Repeats each block of elements n times. A block is what one index of the dimension has
 * (each_index), or what all of them have. */
static pop_tensor repeated(const char *call, pop_tensor handle, size_t n, size_t dimension,
                           bool each_index)
{
  pop_graph *graph = handle.graph;
  const tensor *t = operand(call, handle);
  size_t shape[GRAPH_MAX_RANK];
  if (!t || !check_dimension(graph, call, t, dimension) ||
      !check_repeated(graph, call, t, n, dimension, shape))
    return null_tensor(graph);
  if (n == 0 || t->num_elements == 0) return without_elements(graph, call, t, shape, t->rank);
  cut c = cut_shape(t->shape, t->rank, dimension);
  uint64_t run = each_index ? c.inner : c.size * c.inner;
  const view_dim loops[] = {{t->num_elements / run, (int64_t)run}, {n, 0}, {run, 1}};
  return gathered(graph, call, t, 0, loops, 3, shape, t->rank);
}

pop_tensor pop_tensor_broadcast(pop_tensor t, size_t n, size_t dimension)
{
  GRAPH_TURN(t.graph);
  return repeated("pop_tensor_broadcast", t, n, dimension, false);
}

pop_tensor pop_tensor_upsample(pop_tensor t, size_t n, size_t dimension)
{
  GRAPH_TURN(t.graph);
  return repeated("pop_tensor_upsample", t, n, dimension, true);
}

/* Can `next` be concatenated to `first`? */
static bool check_joint(pop_graph *graph, const char *call, const tensor *first, const tensor *next,
                        size_t number, size_t dimension)
{
  bool fits = next->type == first->type && next->rank == first->rank;
  for (size_t d = 0; fits && d < first->rank; d++)
    fits = d == dimension || next->shape[d] == first->shape[d];
  if (!fits)
    graph_failf(graph, next->type == first->type ? POP_ERROR_TENSOR : POP_ERROR_TYPE,
                "%s along dimension %zu: tensor 0 is a %s, tensor %zu is a %s; types and all other "
                "dimensions must be the same",
                call, dimension, say_tensor(graph, first), number, say_tensor(graph, next));
  return fits;
}

/* Sets the shape of the result and returns the first tensor; NULL after an error. */
static const tensor *check_concat(pop_graph *graph, const char *call, const pop_tensor *tensors,
                                  size_t count, size_t dimension, size_t *shape)
{
  const tensor *first = check_tensor(graph, call, tensors[0]);
  if (!first || !check_dimension(graph, call, first, dimension)) return NULL;
  memcpy(shape, first->shape, first->rank * sizeof *shape);
  for (size_t i = 1; i < count; i++) {
    const tensor *next = check_tensor(graph, call, tensors[i]);
    if (!next || !check_joint(graph, call, first, next, i, dimension) ||
        !check_replication(graph, call, next, first->replication))
      return NULL;
    if (__builtin_add_overflow(shape[dimension], next->shape[dimension], &shape[dimension])) {
      graph_failf(graph, POP_ERROR_INVALID_ARGUMENT,
                  "%s: dimension %zu would have more than 2^64 - 1 elements", call, dimension);
      return NULL;
    }
  }
  return first;
}

/* ---- concatenations of many rows ---- */

enum { MOST_LOOPS = GRAPH_MAX_RANK * 4 }; /* of a piece */

/* The loops of a tensor of one piece around its rows of `row` elements; GRAPH_NONE: a row does not
 * begin where a loop does. */
static uint32_t loops_around_rows(const pop_graph *graph, const tensor *t, uint64_t row,
                                  view_dim loops[MOST_LOOPS])
{
  if (t->num_pieces != 1) return GRAPH_NONE;
  const view_piece *piece = &graph->pieces[t->first_piece];
  const view_dim *dims = piece_dims(graph, piece);
  uint32_t num_loops = piece->num_dims;
  if (num_loops) memcpy(loops, dims, num_loops * sizeof *loops);
  for (uint64_t inside = 1; inside < row;) { /* elements of the loops that are in a row */
    if (num_loops == 0) return GRAPH_NONE;
    view_dim *last = &loops[num_loops - 1];
    uint64_t wanted = row / inside;
    if (row % inside) return GRAPH_NONE;
    if (last->count > wanted) { /* rows follow each other in this loop */
      if (last->count % wanted) return GRAPH_NONE;
      *last = (view_dim){last->count / wanted, last->stride * (int64_t)wanted};
      return num_loops;
    }
    inside *= last->count;
    num_loops--;
  }
  return num_loops;
}

/* Makes the concatenation as loops around its first row, if all tensors have the same loops around
 * their rows: a step for each row of a broadcast might never end. False if they have not, or if
 * the row is more than one piece. */
static bool concat_in_loops(pop_graph *graph, const pop_tensor *tensors, size_t count,
                            size_t dimension, uint64_t inner)
{
  const uint32_t replication = graph->tensors[tensors[0].index].replication;
  const struct view_scratch *s = graph->scratch;
  view_dim loops[2 * MOST_LOOPS], others[MOST_LOOPS];
  uint32_t num_loops = GRAPH_NONE;
  view_begin(graph, replication);
  for (size_t i = 0; i < count; i++) {
    const tensor *t = &graph->tensors[tensors[i].index];
    const view_dim row = {t->shape[dimension] * inner, 1};
    if (t->num_elements == 0) continue;
    bool is_first = num_loops == GRAPH_NONE;
    uint32_t found = loops_around_rows(graph, t, row.count, is_first ? loops : others);
    if (is_first) num_loops = found;
    if (found == GRAPH_NONE || found != num_loops ||
        (!is_first && memcmp(loops, others, found * sizeof *loops) != 0) ||
        !view_gather(graph, t, 0, &row, 1) || s->num_pieces != 1)
      return false;
  }
  const view_piece row = s->pieces[0];
  if (num_loops + row.num_dims > MOST_LOOPS) return false;
  if (row.num_dims)
    memcpy(loops + num_loops, s->dims + row.first_dim, row.num_dims * sizeof *loops);
  view_begin(graph, replication);
  view_add_piece(graph->scratch, row.variable, row.base, loops, num_loops + row.num_dims);
  return true;
}

pop_tensor pop_concat(const pop_tensor *tensors, size_t count, size_t dimension)
{
  GRAPH_TURN(count && tensors ? tensors[0].graph : NULL);
  static const char call[] = "pop_concat";
  pop_graph *graph = NULL;
  for (size_t i = 0; tensors && i < count && !graph; i++) graph = tensors[i].graph;
  if (!graph_usable(graph, __func__)) return null_tensor(graph);
  size_t shape[GRAPH_MAX_RANK];
  uint64_t num_elements;
  const tensor *first = check_concat(graph, call, tensors, count, dimension, shape);
  if (!first || !check_elements(graph, call, shape, first->rank, &num_elements))
    return null_tensor(graph);
  if (num_elements == 0) return without_elements(graph, call, first, shape, first->rank);

  enum { FEW_ROWS = 8 };
  cut c = cut_shape(shape, first->rank, dimension);
  if (c.outer > FEW_ROWS && concat_in_loops(graph, tensors, count, dimension, c.inner))
    return view_end(graph, call, first->type, shape, first->rank);
  view_begin(graph, first->replication);
  bool fits = true;
  for (uint64_t o = 0; o < c.outer && fits; o++)
    for (size_t i = 0; i < count; i++) {
      const tensor *t = &graph->tensors[tensors[i].index];
      uint64_t row = t->shape[dimension] * c.inner;
      fits = view_gather(graph, t, o * row, &(view_dim){row, 1}, 1);
    }
  return view_end(graph, call, first->type, shape, first->rank);
}
