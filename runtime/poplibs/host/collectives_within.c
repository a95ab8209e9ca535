/* Collectives within one replica: populus/collectives.h. The parts of a tensor stand for the
 * replicas' data. Nothing is passed on in rings: these collectives are reductions, copies and
 * tile mappings. */
#include "graph/graph.h"
#include "poplibs/host/collectives.h"
#include "poplibs/host/ring.h"

#include <populus/popops.h>

static const pop_tensor none;

/* Opens a ring without positions: it only carries the call, the sequence and the name. */
static bool open_parts(ring *r, const char *call, pop_graph *graph, pop_tensor data,
                       pop_collective_op op, pop_program sequence, const char *name)
{
  poplibs_log(call, name, &data, 1);
  *r = (ring){.graph = graph, .call = call, .name = name, .sequence = sequence};
  if (!collective_check_op(graph, call, data, op)) return false;
  if (pop_tensor_rank(data) == 0)
    poplibs_fail(graph, POP_ERROR_TENSOR, "%s: the data have no parts: their rank is 0", call);
  poplibs_need_popops(graph);
  return !pop_graph_error(graph);
}

/* Combines all parts. `out` is null, or a tensor of a part's shape for the result. */
static pop_tensor combine_parts(const ring *r, pop_tensor data, pop_collective_op op,
                                pop_tensor out)
{
  static const size_t parts = 0;
  static const pop_reduce_op ops[POP_COLLECTIVE_COUNT] = {
      [POP_COLLECTIVE_ADD] = POP_REDUCE_ADD,
      [POP_COLLECTIVE_MEAN] = POP_REDUCE_ADD,
      [POP_COLLECTIVE_SQUARE_ADD] = POP_REDUCE_SQUARE_ADD,
      [POP_COLLECTIVE_MUL] = POP_REDUCE_MUL,
      [POP_COLLECTIVE_MIN] = POP_REDUCE_MIN,
      [POP_COLLECTIVE_MAX] = POP_REDUCE_MAX,
      [POP_COLLECTIVE_LOGICAL_AND] = POP_REDUCE_LOGICAL_AND,
      [POP_COLLECTIVE_LOGICAL_OR] = POP_REDUCE_LOGICAL_OR};
  pop_tensor sum = pop_popops_reduce(r->graph, data, &parts, 1, (pop_reduction){.op = ops[op]}, out,
                                     r->sequence, NULL, NULL, r->name);
  collective_divide_mean(r->graph, sum, op, pop_tensor_dim(data, 0), r->sequence, r->name);
  return sum;
}

/* `out`, or a clone of the data if `out` is null. */
static pop_tensor result_of_parts(const ring *r, pop_tensor data, pop_tensor out)
{
  if (!out.index) return ring_clone(r, data);
  return poplibs_result(r->graph, r->call, out, pop_tensor_element_type(data),
                        pop_tensor_shape(data), pop_tensor_rank(data), &data, 1, r->name);
}

pop_tensor pop_gcl_all_reduce_within(pop_graph *graph, pop_tensor data, pop_collective_op op,
                                     pop_tensor out, pop_program sequence, const char *name)
{
  GRAPH_TURN(graph);
  if (!graph_lives(graph, __func__)) return none;
  ring r;
  if (!open_parts(&r, __func__, graph, data, op, sequence, name)) return data;
  out = result_of_parts(&r, data, out);
  if (op == POP_COLLECTIVE_LOCAL) {
    ring_copy(&r, data, out);
    return out;
  }
  pop_tensor sum = combine_parts(&r, data, op, none);
  for (size_t i = 0; i < pop_tensor_dim(data, 0) && !pop_graph_error(graph); i++)
    ring_copy(&r, sum, pop_tensor_index(out, i));
  return out;
}

/* The elements [begin, end) of one chunk. */
typedef struct chunk_range {
  size_t begin, end;
} chunk_range;

static chunk_range chunk_of_part(size_t number, size_t parts, size_t count)
{
  size_t each = (count + parts - 1) / parts, begin = number * each;
  if (begin > count) begin = count;
  return (chunk_range){begin, count - begin < each ? count : begin + each};
}

pop_tensor pop_gcl_reduce_scatter_within(pop_graph *graph, pop_tensor data, pop_collective_op op,
                                         pop_program sequence, const char *name)
{
  GRAPH_TURN(graph);
  if (!graph_lives(graph, __func__)) return none;
  ring r;
  if (!open_parts(&r, __func__, graph, data, op, sequence, name)) return data;
  size_t parts = pop_tensor_dim(data, 0);
  size_t shape[] = {parts, parts ? pop_tensor_num_elements(data) / parts : 0};
  pop_tensor rows = pop_tensor_reshape(data, shape, 2);
  pop_tensor out = pop_graph_add_variable(graph, pop_tensor_element_type(data), &shape[1], 1, name);
  for (size_t i = 0; i < parts && !pop_graph_error(graph); i++) {
    chunk_range of = chunk_of_part(i, parts, shape[1]);
    pop_tensor own = pop_tensor_slice(pop_tensor_index(rows, i), of.begin, of.end, 0),
               to = pop_tensor_slice(out, of.begin, of.end, 0);
    ring_map_like(&r, to, own);
    if (op == POP_COLLECTIVE_LOCAL) ring_copy(&r, own, to);
  }
  return op == POP_COLLECTIVE_LOCAL || pop_graph_error(graph) ? out
                                                              : combine_parts(&r, rows, op, out);
}

pop_tensor pop_gcl_all_gather_within(pop_graph *graph, pop_tensor chunks, size_t parts,
                                     pop_program sequence, const char *name)
{
  GRAPH_TURN(graph);
  if (!graph_lives(graph, __func__)) return none;
  poplibs_log(__func__, name, &chunks, 1);
  ring r = {.graph = graph, .call = __func__, .name = name, .sequence = sequence};
  if (pop_graph_error(graph)) return chunks;
  pop_tensor flat = pop_tensor_flatten(chunks);
  size_t count = pop_tensor_num_elements(flat), shape[] = {parts, count};
  if (parts == 0 || (count && chunk_of_part(parts - 1, parts, count).begin == count)) {
    poplibs_fail(graph, POP_ERROR_TENSOR,
                 "%s: %zu elements are no chunks for %zu parts, each with some", __func__, count,
                 parts);
    return chunks;
  }
  pop_tensor out = pop_graph_add_variable(graph, pop_tensor_element_type(chunks), shape, 2, name);
  for (size_t i = 0; i < parts && !pop_graph_error(graph); i++) {
    chunk_range own = chunk_of_part(i, parts, count);
    pop_tensor to = pop_tensor_index(out, i);
    for (size_t at = 0; at < count; at += own.end - own.begin) {
      size_t end = at + own.end - own.begin < count ? at + own.end - own.begin : count;
      ring_map_like(&r, pop_tensor_slice(to, at, end, 0),
                    pop_tensor_slice(flat, own.begin, own.begin + end - at, 0));
    }
    ring_copy(&r, flat, to);
  }
  return out;
}

pop_tensor pop_gcl_all_to_all_within(pop_graph *graph, pop_tensor data, pop_program sequence,
                                     const char *name)
{
  GRAPH_TURN(graph);
  if (!graph_lives(graph, __func__)) return none;
  ring r;
  if (!open_parts(&r, __func__, graph, data, POP_COLLECTIVE_LOCAL, sequence, name)) return data;
  if (pop_tensor_rank(data) < 2 || pop_tensor_dim(data, 1) != pop_tensor_dim(data, 0)) {
    poplibs_fail(graph, POP_ERROR_TENSOR,
                 "%s: the second dimension has to be the number of parts, %zu", __func__,
                 pop_tensor_dim(data, 0));
    return data;
  }
  pop_tensor out = ring_clone(&r, data);
  ring_copy(&r, pop_tensor_dim_roll(data, 1, 0), out);
  return out;
}

pop_tensor pop_gcl_broadcast_within(pop_graph *graph, pop_tensor data, size_t root,
                                    pop_program sequence, const char *name)
{
  GRAPH_TURN(graph);
  if (!graph_lives(graph, __func__)) return none;
  ring r;
  if (!open_parts(&r, __func__, graph, data, POP_COLLECTIVE_LOCAL, sequence, name)) return data;
  size_t parts = pop_tensor_dim(data, 0);
  if (root >= parts) {
    poplibs_fail(graph, POP_ERROR_INVALID_ARGUMENT, "%s: there is no part %zu of %zu", __func__,
                 root, parts);
    return data;
  }
  pop_tensor out = ring_clone(&r, data);
  ring_copy(&r, pop_tensor_broadcast(pop_tensor_slice(data, root, root + 1, 0), parts, 0), out);
  return out;
}
