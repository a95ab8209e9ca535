/* Collectives: populus/collectives.h, which says which algorithms these are.
 *
 * All replicas run the same program, so which chunk of its data a replica sends in a step depends on its number on the
 * device: chunks are rows of a table, [size, elements of a chunk], taken by dynamic slices. The table's rows lie one
 * behind the other on each tile, so taking one is a copy within tiles. */
#include "graph/graph.h"
#include "poplibs/host/spread.h"

#include <populus/collectives.h>
#include <populus/popops.h>
#include <populus/popops_slice.h>
#include <stdlib.h>
#include <string.h>

static const pop_tensor none;

/* Groups, resolved, and how all of this is called. */
typedef struct ring {
  pop_graph *graph;
  const char *call, *name;
  uint32_t num_replicas, size, stride; /* from one position to the next */
  pop_program sequence;
  pop_tensor position; /* of the replica in its group: unsigned int [1]; null if the size is 1 */
} ring;

/* ---- which replicas ---- */

static uint32_t position_of(const ring *r, uint32_t replica)
{
  return replica / r->stride % r->size;
}

/* The replica of its group that is `shift` positions further. */
static uint32_t neighbour(const ring *r, uint32_t replica, uint32_t shift)
{
  uint32_t from = position_of(r, replica), to = (from + shift) % r->size;
  return replica - from * r->stride + to * r->stride;
}

/* unsigned int [1] = (a + add) % size, or (a / divide) % size. */
static pop_tensor calculate(const ring *r, pop_tensor a, pop_binary_op op, uint32_t by,
                            pop_tensor out)
{
  const pop_expr_node nodes[] = {
      {.kind = POP_EXPR_TENSOR, .tensor = 0},
      {.kind = POP_EXPR_CONSTANT, .value = by, .type = POP_UNSIGNED_INT},
      {.kind = POP_EXPR_BINARY, .op = op},
      {.kind = POP_EXPR_CONSTANT, .value = r->size, .type = POP_UNSIGNED_INT},
      {.kind = POP_EXPR_BINARY, .op = POP_BINARY_REMAINDER}};
  return pop_popops_map(r->graph, nodes, sizeof nodes / sizeof *nodes, &a, 1, out, r->sequence,
                        r->name);
}

static bool open_ring(ring *r, const char *call, pop_graph *graph, pop_tensor data,
                      pop_comm_group group, pop_program sequence, const char *name)
{
  poplibs_log(call, name, &data, 1);
  uint32_t count = pop_graph_replication_factor(graph);
  uint32_t size = group.size && group.type != POP_COMM_ALL ? group.size : count;
  *r = (ring){.graph = graph,
              .call = call,
              .name = name,
              .num_replicas = count,
              .size = size,
              .sequence = sequence,
              .position = none};
  if (pop_graph_error(graph)) return false;
  if (count % size || (group.type == POP_COMM_ALL && group.size && group.size != count)) {
    poplibs_fail(graph, POP_ERROR_INVALID_ARGUMENT,
                 "%s: groups of %u replicas; the graph has %u, and groups have to be as large as "
                 "each other",
                 call, group.size, count);
    return false;
  }
  r->stride = group.type == POP_COMM_ORTHOGONAL ? count / size : 1;
  if (size == 1) return true;
  pop_tensor index = pop_graph_add_replication_index_constant(graph, name);
  pop_graph_set_tile_mapping(graph, index, 0);
  pop_tensor flat = pop_tensor_flatten(index);
  const size_t one = 1;
  r->position = pop_graph_add_variable(graph, POP_UNSIGNED_INT, &one, 1, name);
  pop_graph_set_tile_mapping(graph, r->position, 0);
  calculate(r, flat, POP_BINARY_DIVIDE, r->stride, r->position);
  return !pop_graph_error(graph);
}

/* A copy of all replicas of `replicas` at once, each to the one `shift` positions further. */
static void pass_on(const ring *r, pop_tensor from, pop_tensor to, uint32_t shift)
{
  pop_replica_pair *map = calloc(r->num_replicas, sizeof *map);
  for (uint32_t i = 0; map && i < r->num_replicas; i++)
    map[i] = (pop_replica_pair){i, neighbour(r, i, shift)};
  pop_program copy =
      pop_program_cross_replica_copy(from, to, map, map ? r->num_replicas : 0, r->name);
  if (!map) poplibs_fail(r->graph, POP_ERROR_MEMORY, "%s: no memory", r->call);
  pop_sequence_add(r->sequence, copy);
  free(map);
}

/* ---- tables of chunks ---- */

static pop_tensor new_table(const ring *r, pop_type type, size_t columns)
{
  const size_t shape[] = {r->size, columns}, rows = 0;
  return pop_popops_create_sliceable(r->graph, type, shape, 2, &rows, 1, r->name);
}

static void copy(const ring *r, pop_tensor from, pop_tensor to)
{
  pop_sequence_add(r->sequence, pop_program_copy(from, to, r->name));
}

/* A variable of `like`'s shape and type that lies where it does. */
static pop_tensor clone(const ring *r, pop_tensor like)
{
  pop_tensor made = pop_graph_add_variable(r->graph, pop_tensor_element_type(like),
                                           pop_tensor_shape(like), pop_tensor_rank(like), r->name);
  spread s = spread_of(r->graph, r->call, pop_tensor_flatten(like));
  for (size_t i = 0; i < s.count; i++)
    pop_graph_set_tile_mapping(r->graph, spread_slice(&s.parts[i], pop_tensor_flatten(made)),
                               s.parts[i].tile);
  spread_free(&s);
  return made;
}

/* Row number `offset` of a table, as a row of its own, [1, columns]. */
static pop_tensor take_row(const ring *r, pop_tensor table, pop_tensor offset, pop_tensor out)
{
  const size_t rows = 0, one = 1;
  return pop_popops_dynamic_slice(r->graph, table, offset, &rows, &one, 1, out, r->sequence,
                                  r->name);
}

static void put_row(const ring *r, pop_tensor table, pop_tensor offset, pop_tensor row)
{
  const size_t rows = 0, one = 1;
  pop_popops_dynamic_update(r->graph, table, row, offset, &rows, &one, 1, r->sequence, r->name);
}

/* The data in a table of as many rows as positions. */
static pop_tensor cut(const ring *r, pop_tensor data)
{
  size_t count = pop_tensor_num_elements(data), columns = (count + r->size - 1) / r->size;
  pop_tensor table = new_table(r, pop_tensor_element_type(data), columns);
  pop_tensor flat = pop_tensor_flatten(table);
  if (count < r->size * columns)
    pop_popops_fill(r->graph, pop_tensor_slice(flat, count, r->size * columns, 0), NULL,
                    r->sequence, r->name);
  copy(r, pop_tensor_flatten(data), pop_tensor_slice(flat, 0, count, 0));
  return table;
}

/* ---- combining ---- */

static pop_binary_op combination(pop_collective_op op)
{
  static const pop_binary_op ops[POP_COLLECTIVE_COUNT] = {
      [POP_COLLECTIVE_ADD] = POP_BINARY_ADD,
      [POP_COLLECTIVE_MEAN] = POP_BINARY_ADD,
      [POP_COLLECTIVE_SQUARE_ADD] = POP_BINARY_ADD,
      [POP_COLLECTIVE_MUL] = POP_BINARY_MULTIPLY,
      [POP_COLLECTIVE_MIN] = POP_BINARY_MINIMUM,
      [POP_COLLECTIVE_MAX] = POP_BINARY_MAXIMUM,
      [POP_COLLECTIVE_LOGICAL_AND] = POP_BINARY_LOGICAL_AND,
      [POP_COLLECTIVE_LOGICAL_OR] = POP_BINARY_LOGICAL_OR};
  return ops[op];
}

static bool check_op(pop_graph *graph, const char *call, pop_tensor data, pop_collective_op op)
{
  if (pop_graph_error(graph)) return false;
  pop_type type = pop_tensor_element_type(data);
  bool is_float = type == POP_FLOAT || type == POP_HALF;
  if ((unsigned)op >= POP_COLLECTIVE_COUNT)
    poplibs_fail(graph, POP_ERROR_INVALID_ARGUMENT, "%s: there is no operation %d", call, (int)op);
  else if (op == POP_COLLECTIVE_MEAN && !is_float)
    poplibs_fail(graph, POP_ERROR_TYPE, "%s: a mean is of float or half, not of %s", call,
                 pop_type_name(type));
  return !pop_graph_error(graph);
}

static pop_tensor squared(const ring *r, pop_tensor data, pop_collective_op op)
{
  if (op != POP_COLLECTIVE_SQUARE_ADD) return data;
  return pop_popops_unary(r->graph, POP_UNARY_SQUARE, data, none, r->sequence, r->name);
}

static void divide_mean(pop_graph *graph, pop_tensor sum, pop_collective_op op, size_t by,
                        pop_program sequence, const char *name)
{
  if (op != POP_COLLECTIVE_MEAN || by == 1) return;
  const pop_expr_node nodes[] = {
      {.kind = POP_EXPR_TENSOR, .tensor = 0},
      {.kind = POP_EXPR_CONSTANT, .value = (double)by, .type = pop_tensor_element_type(sum)},
      {.kind = POP_EXPR_BINARY, .op = POP_BINARY_DIVIDE}};
  pop_popops_map(graph, nodes, 3, &sum, 1, sum, sequence, name);
}

/* ---- the rings ---- */

/* `steps` times: what `at` counts goes one back, chunks are passed on, `then`. The body is there once. */
typedef struct step {
  ring r; /* with the body's sequence */
  pop_tensor at, sent, received;
} step;

static step begin_steps(const ring *r, pop_tensor row)
{
  step s = {.r = *r};
  s.at = clone(r, r->position);
  s.sent = row;
  s.received = clone(r, row);
  s.r.sequence = pop_program_sequence(r->graph, r->name);
  pass_on(&s.r, s.sent, s.received, 1);
  calculate(&s.r, s.at, POP_BINARY_ADD, r->size - 1, s.at);
  return s;
}

static void end_steps(const ring *r, const step *s)
{
  pop_sequence_add(r->sequence, pop_program_repeat(r->graph, r->size - 1, s->r.sequence, r->name));
}

/* The row of the replica's position, of all tables combined: [1, columns]. */
static pop_tensor scatter(const ring *r, pop_tensor table, pop_collective_op op)
{
  if (r->size == 1 || op == POP_COLLECTIVE_LOCAL)
    return r->size == 1 ? table : take_row(r, table, r->position, none);
  pop_tensor first = calculate(r, r->position, POP_BINARY_ADD, r->size - 1, none);
  pop_tensor row = take_row(r, table, first, none);
  step s = begin_steps(r, row);
  copy(r, first, s.at);
  pop_tensor own = take_row(&s.r, table, s.at, none);
  pop_popops_binary(r->graph, combination(op), s.received, own, s.sent, s.r.sequence, r->name);
  end_steps(r, &s);
  return row;
}

/* A table of the rows of all; `row` is overwritten. */
static pop_tensor gather(const ring *r, pop_tensor row)
{
  if (r->size == 1) return row;
  pop_tensor table = new_table(r, pop_tensor_element_type(row), pop_tensor_num_elements(row));
  pop_sequence_add(r->sequence, pop_program_write_undef(table, r->name));
  put_row(r, table, r->position, row);
  step s = begin_steps(r, row);
  copy(r, r->position, s.at);
  put_row(&s.r, table, s.at, s.received);
  copy(&s.r, s.received, s.sent);
  end_steps(r, &s);
  return table;
}

/* ---- what programs call ---- */

pop_tensor pop_gcl_reduce_scatter(pop_graph *graph, pop_tensor data, pop_collective_op op,
                                  pop_comm_group group, pop_program sequence, const char *name)
{
  if (!graph_lives(graph, __func__)) return none;
  ring r;
  if (!check_op(graph, __func__, data, op) ||
      !open_ring(&r, __func__, graph, data, group, sequence, name))
    return data;
  pop_tensor row = scatter(&r, cut(&r, squared(&r, data, op)), op);
  divide_mean(graph, row, op, r.size, sequence, name);
  return pop_tensor_flatten(row);
}

pop_tensor pop_gcl_all_reduce(pop_graph *graph, pop_tensor data, pop_collective_op op,
                              pop_comm_group group, pop_tensor out, pop_program sequence,
                              const char *name)
{
  if (!graph_lives(graph, __func__)) return none;
  ring r;
  if (!check_op(graph, __func__, data, op) ||
      !open_ring(&r, __func__, graph, data, group, sequence, name))
    return data;
  size_t count = pop_tensor_num_elements(data);
  out = poplibs_result(graph, __func__, out, pop_tensor_element_type(data), pop_tensor_shape(data),
                       pop_tensor_rank(data), &data, 1, name);
  if (pop_graph_error(graph)) return out;
  if (op == POP_COLLECTIVE_LOCAL) {
    if (out.index != data.index) copy(&r, data, out);
    return out;
  }
  pop_tensor row = scatter(&r, cut(&r, squared(&r, data, op)), op);
  divide_mean(graph, row, op, r.size, sequence, name);
  pop_tensor all = pop_tensor_flatten(gather(&r, row));
  copy(&r, pop_tensor_slice(all, 0, count, 0), pop_tensor_flatten(out));
  return out;
}

/* [size, shape of `data`], from [size, elements] */
static pop_tensor shape_as(const ring *r, pop_tensor table, pop_tensor data)
{
  size_t rank = pop_tensor_rank(data), *shape = calloc(rank + 1, sizeof *shape);
  if (!shape) {
    poplibs_fail(r->graph, POP_ERROR_MEMORY, "%s: no memory", r->call);
    return table;
  }
  shape[0] = r->size;
  if (rank) memcpy(shape + 1, pop_tensor_shape(data), rank * sizeof *shape);
  pop_tensor shaped = pop_tensor_reshape(table, shape, rank + 1);
  free(shape);
  return shaped;
}

pop_tensor pop_gcl_all_gather(pop_graph *graph, pop_tensor data, pop_comm_group group,
                              pop_program sequence, const char *name)
{
  if (!graph_lives(graph, __func__)) return none;
  ring r;
  if (!open_ring(&r, __func__, graph, data, group, sequence, name)) return data;
  const size_t shape[] = {1, pop_tensor_num_elements(data)};
  pop_tensor like = pop_tensor_reshape(pop_tensor_flatten(data), shape, 2);
  pop_tensor row = pop_graph_add_variable(graph, pop_tensor_element_type(data), shape, 2, name);
  pop_graph_map_linearly(graph, row, 1, 1);
  copy(&r, like, row);
  return shape_as(&r, gather(&r, row), data);
}

pop_tensor pop_gcl_all_to_all(pop_graph *graph, pop_tensor data, pop_comm_group group,
                              pop_program sequence, const char *name)
{
  if (!graph_lives(graph, __func__)) return none;
  ring r;
  if (!open_ring(&r, __func__, graph, data, group, sequence, name)) return data;
  if (pop_tensor_rank(data) == 0 || pop_tensor_dim(data, 0) != r.size) {
    poplibs_fail(graph, POP_ERROR_TENSOR,
                 "%s: the first dimension has to be the size of the groups, %u", __func__, r.size);
    return data;
  }
  pop_tensor table = cut(&r, data);
  pop_tensor result = new_table(&r, pop_tensor_element_type(data), pop_tensor_dim(table, 1));
  if (r.size == 1) {
    copy(&r, table, result);
    return pop_tensor_reshape(result, pop_tensor_shape(data), pop_tensor_rank(data));
  }
  pop_tensor row = take_row(&r, table, r.position, none), received = clone(&r, row);
  put_row(&r, result, r.position, row);
  for (uint32_t shift = 1; shift < r.size && !pop_graph_error(graph); shift++) {
    pop_tensor to = calculate(&r, r.position, POP_BINARY_ADD, shift, none);
    pop_tensor from = calculate(&r, r.position, POP_BINARY_ADD, r.size - shift, none);
    take_row(&r, table, to, row);
    pass_on(&r, row, received, shift);
    put_row(&r, result, from, received);
  }
  return pop_tensor_reshape(result, pop_tensor_shape(data), pop_tensor_rank(data));
}

/* Positions are counted from the root; the first `have` have it: as many others get it. */
static void spread_further(const ring *r, pop_tensor t, uint32_t root, uint32_t have)
{
  size_t count = 0;
  pop_replica_pair *map = calloc(r->num_replicas, sizeof *map);
  for (uint32_t i = 0; map && i < r->num_replicas; i++) {
    uint32_t from_root = (position_of(r, i) + r->size - root) % r->size;
    if (from_root < have && from_root + have < r->size)
      map[count++] = (pop_replica_pair){i, neighbour(r, i, have)};
  }
  if (!map) poplibs_fail(r->graph, POP_ERROR_MEMORY, "%s: no memory", r->call);
  pop_sequence_add(r->sequence, pop_program_cross_replica_copy(t, t, map, count, r->name));
  free(map);
}

pop_tensor pop_gcl_broadcast(pop_graph *graph, pop_tensor data, pop_comm_group group, uint32_t root,
                             pop_program sequence, const char *name)
{
  if (!graph_lives(graph, __func__)) return none;
  ring r;
  if (!open_ring(&r, __func__, graph, data, group, sequence, name)) return data;
  if (root >= r.size) {
    poplibs_fail(graph, POP_ERROR_INVALID_ARGUMENT, "%s: there is no position %u in a group of %u",
                 __func__, root, r.size);
    return data;
  }
  pop_tensor out = poplibs_result(graph, __func__, none, pop_tensor_element_type(data),
                                  pop_tensor_shape(data), pop_tensor_rank(data), &data, 1, name);
  copy(&r, data, out);
  for (uint32_t have = 1; have < r.size && !pop_graph_error(graph); have *= 2)
    spread_further(&r, out, root, have);
  return out;
}

pop_tensor pop_gcl_all_reduce_within(pop_graph *graph, pop_tensor data, pop_collective_op op,
                                     pop_program sequence, const char *name)
{
  if (!graph_lives(graph, __func__)) return none;
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
  poplibs_log(__func__, name, &data, 1);
  if (!check_op(graph, __func__, data, op)) return data;
  if (pop_tensor_rank(data) == 0) {
    poplibs_fail(graph, POP_ERROR_TENSOR, "%s: the data have no parts: their rank is 0", __func__);
    return data;
  }
  ring r = {.graph = graph, .call = __func__, .name = name, .sequence = sequence};
  pop_tensor out = clone(&r, data);
  if (op == POP_COLLECTIVE_LOCAL) {
    copy(&r, data, out);
    return out;
  }
  size_t count = pop_tensor_dim(data, 0);
  pop_tensor sum = pop_popops_reduce(graph, data, &parts, 1, (pop_reduction){.op = ops[op]}, none,
                                     sequence, NULL, NULL, name);
  divide_mean(graph, sum, op, count, sequence, name);
  for (size_t i = 0; i < count && !pop_graph_error(graph); i++)
    copy(&r, sum, pop_tensor_index(out, i));
  return out;
}
