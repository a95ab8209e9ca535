/* Shape operations that only work out a shape or permutation for those of tensor.c. */
#include "graph/check.h"
#include "graph/describe.h"
#include "graph/view.h"

#include <string.h>

static const tensor *operand(const char *call, pop_tensor t)
{
  return graph_usable(t.graph, call) ? check_tensor(t.graph, call, t) : NULL;
}

static pop_tensor null_tensor(pop_graph *graph)
{
  return (pop_tensor){graph, 0};
}

/* ---- order ---- */

/* The permutation that moves dimensions `source` to `destination`; false if a number is too
 * large or given twice. */
static bool place_dimensions(size_t rank, const size_t *source, const size_t *destination,
                             size_t count, size_t *permutation)
{
  uint32_t taken = 0, filled = 0;
  for (size_t i = 0; i < count; i++) {
    if (source[i] >= rank || destination[i] >= rank) return false;
    if (taken >> source[i] & 1 || filled >> destination[i] & 1) return false;
    taken |= (uint32_t)1 << source[i];
    filled |= (uint32_t)1 << destination[i];
    permutation[destination[i]] = source[i];
  }
  size_t next = 0;
  for (size_t d = 0; d < rank; d++) {
    if (filled >> d & 1) continue;
    while (taken >> next & 1) next++;
    permutation[d] = next++;
  }
  return true;
}

static pop_tensor with_dimensions_moved(const char *call, pop_tensor handle, const size_t *source,
                                        const size_t *destination, size_t count)
{
  pop_graph *graph = handle.graph;
  const tensor *t = operand(call, handle);
  size_t permutation[GRAPH_MAX_RANK];
  if (!t) return null_tensor(graph);
  bool there = count == 0 || (source && destination);
  if (there && place_dimensions(t->rank, source, destination, count, permutation))
    return pop_tensor_dim_shuffle(handle, permutation, t->rank);
  graph_failf(graph, POP_ERROR_INVALID_ARGUMENT,
              "%s: dimensions %s to %s of the %s; both must be different numbers below %u", call,
              there ? say_shape(graph, source, count) : "NULL",
              there ? say_shape(graph, destination, count) : "NULL", say_tensor(graph, t), t->rank);
  return null_tensor(graph);
}

pop_tensor pop_tensor_dim_shuffle_partial(pop_tensor handle, const size_t *source,
                                          const size_t *destination, size_t count)
{
  GRAPH_TURN(handle.graph);
  return with_dimensions_moved(__func__, handle, source, destination, count);
}

pop_tensor pop_tensor_dim_roll(pop_tensor handle, size_t dimension, size_t to)
{
  GRAPH_TURN(handle.graph);
  return with_dimensions_moved(__func__, handle, &dimension, &to, 1);
}

/* ---- shape ---- */

static bool check_part(pop_graph *graph, const char *call, const tensor *t, size_t begin,
                       size_t end)
{
  if (begin <= end && end <= t->rank) return true;
  graph_failf(graph, POP_ERROR_INDEX,
              "%s: dimensions [%zu, %zu) of the %s; begin <= end <= %u is needed", call, begin, end,
              say_tensor(graph, t), t->rank);
  return false;
}

pop_tensor pop_tensor_reshape_partial(pop_tensor handle, size_t begin, size_t end,
                                      const size_t *shape, size_t rank)
{
  GRAPH_TURN(handle.graph);
  static const char call[] = "pop_tensor_reshape_partial";
  pop_graph *graph = handle.graph;
  const tensor *t = operand(call, handle);
  if (!t || !check_part(graph, call, t, begin, end) || !check_rank(graph, call, rank) ||
      !check_rank(graph, call, t->rank - (end - begin) + rank))
    return null_tensor(graph);
  uint64_t before = 0, after = 1;
  view_count_elements(t->shape + begin, end - begin, &before);
  bool same = (shape || rank == 0) && view_count_elements(shape, rank, &after) && before == after;
  if (!same) {
    graph_failf(graph, POP_ERROR_TENSOR,
                "%s: dimensions [%zu, %zu) of the %s have %llu elements, the shape %s has another "
                "number",
                call, begin, end, say_tensor(graph, t), (unsigned long long)before,
                shape ? say_shape(graph, shape, rank) : "NULL");
    return null_tensor(graph);
  }
  size_t whole[GRAPH_MAX_RANK], behind = t->rank - end;
  memcpy(whole, t->shape, begin * sizeof *whole);
  if (rank) memcpy(whole + begin, shape, rank * sizeof *whole);
  memcpy(whole + begin + rank, t->shape + end, behind * sizeof *whole);
  return view_reshaped(graph, call, t, whole, begin + rank + behind);
}

pop_tensor pop_tensor_flatten_partial(pop_tensor handle, size_t begin, size_t end)
{
  GRAPH_TURN(handle.graph);
  static const char call[] = "pop_tensor_flatten_partial";
  const tensor *t = operand(call, handle);
  if (!t || !check_part(handle.graph, call, t, begin, end)) return null_tensor(handle.graph);
  uint64_t elements = 1; /* fits: they are not more than the tensor has, or another size is 0 */
  if (!view_count_elements(t->shape + begin, end - begin, &elements)) {
    graph_failf(handle.graph, POP_ERROR_INVALID_ARGUMENT,
                "%s: dimensions [%zu, %zu) of the %s would have more than 2^63 - 1 elements", call,
                begin, end, say_tensor(handle.graph, t));
    return null_tensor(handle.graph);
  }
  return pop_tensor_reshape_partial(handle, begin, end, &(size_t){elements}, 1);
}

pop_tensor pop_tensor_expand_dims(pop_tensor handle, const size_t *dimensions, size_t count)
{
  GRAPH_TURN(handle.graph);
  static const char call[] = "pop_tensor_expand_dims";
  pop_graph *graph = handle.graph;
  const tensor *t = operand(call, handle);
  if (!t || !check_rank(graph, call, count) || !check_rank(graph, call, t->rank + count))
    return null_tensor(graph);
  bool fits = dimensions || count == 0;
  for (size_t i = 0; fits && i < count; i++)
    fits = dimensions[i] <= t->rank && (i == 0 || dimensions[i - 1] <= dimensions[i]);
  if (!fits) {
    graph_failf(graph, POP_ERROR_INDEX,
                "%s: new dimensions before %s of the %s; they are 0 to %u, in ascending order",
                call, dimensions ? say_shape(graph, dimensions, count) : "NULL",
                say_tensor(graph, t), t->rank);
    return null_tensor(graph);
  }
  size_t shape[GRAPH_MAX_RANK], rank = 0, next = 0;
  for (size_t d = 0; d <= t->rank; d++) {
    for (; next < count && dimensions[next] == d; next++) shape[rank++] = 1;
    if (d < t->rank) shape[rank++] = t->shape[d];
  }
  return view_reshaped(graph, call, t, shape, rank);
}

pop_tensor pop_tensor_squeeze_dims(pop_tensor handle, const size_t *dimensions, size_t count)
{
  GRAPH_TURN(handle.graph);
  static const char call[] = "pop_tensor_squeeze_dims";
  pop_graph *graph = handle.graph;
  const tensor *t = operand(call, handle);
  if (!t) return null_tensor(graph);
  uint32_t dropped = 0;
  for (size_t i = 0; i < count; i++) {
    if (!dimensions || dimensions[i] >= t->rank || t->shape[dimensions[i]] != 1) {
      graph_failf(graph, POP_ERROR_INDEX, "%s: dimension %zu of the %s; its size must be 1", call,
                  dimensions ? dimensions[i] : 0, say_tensor(graph, t));
      return null_tensor(graph);
    }
    dropped |= (uint32_t)1 << dimensions[i];
  }
  size_t shape[GRAPH_MAX_RANK], rank = 0;
  for (size_t d = 0; d < t->rank; d++)
    if (!(dropped >> d & 1)) shape[rank++] = t->shape[d];
  return view_reshaped(graph, call, t, shape, rank);
}

/* ---- type ---- */

pop_tensor pop_tensor_reinterpret(pop_tensor handle, pop_type type)
{
  GRAPH_TURN(handle.graph);
  static const char call[] = "pop_tensor_reinterpret";
  pop_graph *graph = handle.graph;
  const tensor *t = operand(call, handle);
  if (!t || !check_type(graph, call, type)) return null_tensor(graph);
  if (pop_type_bytes(type) != pop_type_bytes(t->type)) {
    graph_failf(graph, POP_ERROR_TYPE,
                "%s: the %s has elements of %zu bytes, those of type %s have %zu; they must have "
                "as many",
                call, say_tensor(graph, t), (size_t)pop_type_bytes(t->type), pop_type_name(type),
                (size_t)pop_type_bytes(type));
    return null_tensor(graph);
  }
  pop_tensor same = view_reshaped(graph, call, t, t->shape, t->rank);
  if (same.index) graph->tensors[same.index].type = type;
  return same;
}
