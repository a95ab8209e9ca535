/* Collectives: populus/collectives.h, which says which algorithms these are.
 *
 * All replicas run the same program, so which chunk of its data a replica sends in a step depends on its number on the
 * device: chunks are those of tables that have a part of each on each tile (chunks.h). An all-reduce takes the data as they
 * lie for such a table, so that nothing moves between tiles. */
#include "graph/graph.h"
#include "poplibs/host/chunks.h"

#include <populus/collectives.h>
#include <populus/popops.h>
#include <stdlib.h>
#include <string.h>

static const pop_tensor none;

/* Groups, resolved, and how all of this is called. */
typedef struct ring {
  pop_graph *graph;
  const char *call, *name;
  uint32_t num_replicas, size, stride; /* from one position to the next */
  pop_program sequence;
  pop_tensor index; /* of the replica: unsigned int [1]; null if the size is 1, and then so is: */
  pop_tensor position; /* its position in the group; by find_position */
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

static void find_position(ring *r)
{
  const size_t one = 1;
  if (!r->index.index) return;
  r->position = pop_graph_add_variable(r->graph, POP_UNSIGNED_INT, &one, 1, r->name);
  pop_graph_set_tile_mapping(r->graph, r->position, 0);
  calculate(r, r->index, POP_BINARY_DIVIDE, r->stride, r->position);
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
  poplibs_need_popops(graph);
  pop_tensor index = pop_graph_add_replication_index_constant(graph, name);
  pop_graph_set_tile_mapping(graph, index, 0);
  r->index = pop_tensor_flatten(index);
  return !pop_graph_error(graph);
}

/* How many positions of a group, one after the other, are in one link domain, if they are so in all of them; else all. */
static uint32_t linked_positions(const ring *r)
{
  const pop_target *target = pop_graph_get_target(r->graph);
  if (target->link_domain_ipus % target->num_ipus) return r->size;
  uint32_t replicas = target->link_domain_ipus / target->num_ipus;
  uint32_t linked = replicas % r->stride ? 1 : replicas / r->stride;
  return linked > 1 && linked < r->size && r->size % linked == 0 ? linked : r->size;
}

/* The ring among those that are linked, and the one among those of the same place in theirs, of size 1 if all are. */
typedef struct levels {
  ring within, across;
} levels;

static levels split(const ring *r)
{
  levels l = {.within = *r, .across = *r};
  l.within.size = linked_positions(r);
  l.across.size = r->size / l.within.size;
  l.across.stride = r->stride * l.within.size;
  find_position(&l.within);
  if (l.across.size > 1) find_position(&l.across);
  return l;
}

/* Each to the one `shift` positions further; the caller's to free. */
static pop_replica_pair *map_of(const ring *r, uint32_t shift)
{
  pop_replica_pair *map = pop_xcalloc(r->num_replicas, sizeof *map);
  for (uint32_t i = 0; i < r->num_replicas; i++)
    map[i] = (pop_replica_pair){i, neighbour(r, i, shift)};
  return map;
}

/* A copy of all replicas at once. */
static void pass_on(const ring *r, pop_tensor from, pop_tensor to, uint32_t shift)
{
  pop_replica_pair *map = map_of(r, shift);
  pop_sequence_add(r->sequence,
                   pop_program_cross_replica_copy(from, to, map, r->num_replicas, r->name));
  free(map);
}

/* ---- tables of chunks ---- */

static void copy(const ring *r, pop_tensor from, pop_tensor to)
{
  pop_sequence_add(r->sequence, pop_program_copy(from, to, r->name));
}

/* Elements of a variable lie where those of `like` do, which are as many. */
static void map_like(const ring *r, pop_tensor flat, pop_tensor like)
{
  spread s = spread_of(r->graph, r->call, like);
  for (size_t i = 0; i < s.count; i++)
    pop_graph_set_tile_mapping(r->graph, spread_slice(&s.parts[i], flat), s.parts[i].tile);
  spread_free(&s);
}

/* A variable of `like`'s shape and type that lies where it does. */
static pop_tensor clone(const ring *r, pop_tensor like)
{
  pop_tensor made = pop_graph_add_variable(r->graph, pop_tensor_element_type(like),
                                           pop_tensor_shape(like), pop_tensor_rank(like), r->name);
  map_like(r, pop_tensor_flatten(made), pop_tensor_flatten(like));
  return made;
}

static chunk_table new_table(const ring *r, pop_type type, size_t columns, pop_tensor *rows)
{
  return chunks_new(r->graph, r->call, r->name, type, r->size, columns, rows);
}

static pop_tensor first_of(pop_tensor rows, size_t count)
{
  return pop_tensor_slice(pop_tensor_flatten(rows), 0, count, 0);
}

/* Rows with less than all data go on with zeros. */
static void fill_rows(const ring *r, pop_tensor data, pop_tensor rows)
{
  size_t count = pop_tensor_num_elements(data), all = pop_tensor_num_elements(rows);
  if (count < all)
    pop_popops_fill(r->graph, pop_tensor_slice(pop_tensor_flatten(rows), count, all, 0), NULL,
                    r->sequence, r->name);
  copy(r, pop_tensor_flatten(data), first_of(rows, count));
}

/* The data in a table of as many rows as positions, one behind the other. */
static chunk_table cut(const ring *r, pop_tensor data, pop_tensor *rows)
{
  size_t count = pop_tensor_num_elements(data), columns = (count + r->size - 1) / r->size;
  chunk_table table = new_table(r, pop_tensor_element_type(data), columns, rows);
  fill_rows(r, data, *rows);
  return table;
}

/* [within, across * columns] as [across * within, columns], in the order of positions. */
static pop_tensor by_positions(const levels *l, pop_tensor rows, size_t columns)
{
  const size_t within = l->within.size, across = l->across.size;
  pop_tensor apart = pop_tensor_reshape(rows, (size_t[]){within, across, columns}, 3);
  return pop_tensor_reshape(pop_tensor_dim_roll(apart, 1, 0), (size_t[]){within * across, columns},
                            2);
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

/* The body of a loop: chunks are passed on, and what `at` counts goes one back. */
typedef struct step {
  ring r; /* with the body's sequence */
  pop_tensor at;
} step;

static step begin_steps(const ring *r)
{
  step s = {.r = *r, .at = clone(r, r->position)};
  s.r.sequence = pop_program_sequence(r->graph, r->name);
  return s;
}

static void go_on(const step *s, pop_tensor sent, pop_tensor received)
{
  pass_on(&s->r, sent, received, 1);
  calculate(&s->r, s->at, POP_BINARY_ADD, s->r.size - 1, s->at);
}

static void end_steps(const ring *r, const step *s, uint32_t times)
{
  pop_sequence_add(r->sequence, pop_program_repeat(r->graph, times, s->r.sequence, r->name));
}

/* The chunk of the replica's position, of all tables combined. */
static pop_tensor scatter(const ring *r, const chunk_table *table, pop_collective_op op)
{
  pop_tensor row = chunks_new_row(table);
  if (r->size == 1) {
    copy(r, table->flat, row);
    return row;
  }
  if (op == POP_COLLECTIVE_LOCAL) {
    chunks_take(table, r->position, row, r->sequence);
    return row;
  }
  pop_tensor first = calculate(r, r->position, POP_BINARY_ADD, r->size - 1, none);
  pop_tensor received = clone(r, row);
  chunks_take(table, first, row, r->sequence);
  step s = begin_steps(r);
  copy(r, first, s.at);
  go_on(&s, row, received);
  chunks_combine(table, combination(op), s.at, received, row, s.r.sequence);
  end_steps(r, &s, r->size - 1);
  return row;
}

/* Puts the chunks of all into the table; `row`, the replica's own, is overwritten. What has come in one step is sent in the
 * next one, so that they go in pairs. */
static void gather(const ring *r, pop_tensor row, const chunk_table *table)
{
  if (r->size == 1) {
    copy(r, row, table->flat);
    return;
  }
  pop_sequence_add(r->sequence, pop_program_write_undef(table->flat, r->name));
  chunks_put(table, r->position, row, r->sequence);
  pop_tensor other = clone(r, row), swapped[] = {row, other, row};
  step s = begin_steps(r), last = s;
  last.r.sequence = r->sequence;
  copy(r, r->position, s.at);
  for (int i = 0; i < 2 && r->size > 2; i++) {
    go_on(&s, swapped[i], swapped[i + 1]);
    chunks_put(table, s.at, swapped[i + 1], s.r.sequence);
  }
  if (r->size > 2) end_steps(r, &s, (r->size - 1) / 2);
  if (r->size % 2) return;
  go_on(&last, row, other);
  chunks_put(table, s.at, other, r->sequence);
}

/* ---- rings whose chunks stay in the table ----
 *
 * The machine keeps some exchanges between replicas that it has read (machine/global_kept.h): here each step is one of its own, so that
 * of large rings none would be found again. Those have rows. */

enum { MOST_STAYING = 16 };

static bool stays_in_table(const ring *r, const chunk_table *table)
{
  return r->size > 1 && r->size <= MOST_STAYING && chunks_can_stay(table);
}

/* Each replica's chunk of its own position is that of all tables combined. The state to go on with. */
static pop_tensor scatter_here(const ring *r, const chunk_table *table, pop_collective_op op)
{
  pop_tensor state = chunks_new_state(table, r->position, r->sequence), row = chunks_new_row(table);
  pop_replica_pair *map = map_of(r, 1);
  pop_program body = pop_program_sequence(r->graph, r->name);
  chunks_pass(table, state, row, map, r->num_replicas, body);
  chunks_combine_here(table, combination(op), state, row, body);
  pop_sequence_add(r->sequence, pop_program_repeat(r->graph, r->size - 1, body, r->name));
  free(map);
  return state;
}

static void gather_here(const ring *r, const chunk_table *table, pop_tensor state)
{
  pop_replica_pair *map = map_of(r, 1);
  pop_program body = pop_program_sequence(r->graph, r->name);
  chunks_pass(table, state, none, map, r->num_replicas, body);
  pop_sequence_add(r->sequence, pop_program_repeat(r->graph, r->size - 1, body, r->name));
  free(map);
}

/* ---- what programs call ---- */

pop_tensor pop_gcl_reduce_scatter(pop_graph *graph, pop_tensor data, pop_collective_op op,
                                  pop_comm_group group, pop_program sequence, const char *name)
{
  GRAPH_TURN(graph);
  if (!graph_lives(graph, __func__)) return none;
  ring r;
  pop_tensor rows;
  if (!check_op(graph, __func__, data, op) ||
      !open_ring(&r, __func__, graph, data, group, sequence, name))
    return data;
  levels l = split(&r);
  data = squared(&r, data, op);
  size_t columns = (pop_tensor_num_elements(data) + r.size - 1) / r.size;
  chunk_table table =
      new_table(&l.within, pop_tensor_element_type(data), columns * l.across.size, &rows);
  fill_rows(&r, data, by_positions(&l, rows, columns));
  pop_tensor row = scatter(&l.within, &table, op);
  chunks_free(&table);
  if (l.across.size > 1) {
    table = cut(&l.across, row, &rows);
    row = scatter(&l.across, &table, op);
    chunks_free(&table);
  }
  divide_mean(graph, row, op, r.size, sequence, name);
  return row;
}

/* How the data of an all-reduce become a table, and the table the result. */
typedef struct cutting {
  spread of_data, of_out;
  bool here;     /* chunks stay in the table */
  bool in_place; /* data are a table, and so is `out`; else: */
  bool stays; /* each tile's elements are copied to a run of their own; else they are spread anew */
  chunk_table table;
  pop_tensor rows; /* of one that is spread anew */
} cutting;

static bool is_same_spread(const spread *a, const spread *b)
{
  bool same = a->count == b->count;
  for (size_t i = 0; i < a->count && same; i++) {
    const spread_part *x = &a->parts[i], *y = &b->parts[i];
    same = x->tile == y->tile && x->count == y->count &&
           memcmp(x->intervals, y->intervals, x->count * sizeof *x->intervals) == 0;
  }
  return same;
}

/* A few elements on each of many tiles, and many replicas, would make chunks of many tiles that are mostly nothing. */
static bool is_wasteful(const ring *r, const spread *on, size_t count)
{
  size_t columns = 0;
  for (size_t i = 0; i < on->count; i++)
    columns += (on->parts[i].num_elements + r->size - 1) / r->size;
  return columns > (count + r->size - 1) / r->size * 5 / 4;
}

/* Elements tile by tile. */
static pop_tensor by_tiles(const spread *on, pop_tensor flat)
{
  pop_tensor *parts = pop_xcalloc(on->count + 1, sizeof *parts);
  for (size_t i = 0; i < on->count; i++) parts[i] = spread_slice(&on->parts[i], flat);
  pop_tensor result = on->count ? pop_concat(parts, on->count, 0) : flat;
  free(parts);
  return result;
}

static chunk_table table_over(const ring *r, pop_tensor flat)
{
  return chunks_of(r->graph, r->call, r->name, flat, r->size);
}

static void find_spreads(const ring *r, cutting *c, pop_tensor data, pop_tensor out)
{
  c->of_data = spread_of(r->graph, r->call, data);
  c->of_out = spread_of(r->graph, r->call, out);
  c->stays = !is_wasteful(r, &c->of_data, pop_tensor_num_elements(data));
  c->in_place = c->stays && is_same_spread(&c->of_data, &c->of_out) &&
                chunks_are_runs(data, &c->of_data) && chunks_are_runs(out, &c->of_out);
}

static cutting begin_cutting(const ring *r, pop_tensor data, pop_tensor out)
{
  pop_tensor flat = pop_tensor_flatten(data), flat_out = pop_tensor_flatten(out);
  cutting c = {0};
  find_spreads(r, &c, flat, flat_out);
  if (pop_graph_error(r->graph)) return c;
  if (c.in_place) {
    c.table = table_over(r, flat_out);
    c.here = stays_in_table(r, &c.table);
    if (c.here) copy(r, flat, flat_out); /* of what is there already nothing is copied */
    if (c.here) return c;
    chunks_free(&c.table);
    c.table = table_over(r, flat);
    return c;
  }
  if (c.stays) {
    pop_tensor ordered = by_tiles(&c.of_data, flat), staged = clone(r, ordered);
    copy(r, ordered, staged);
    c.table = table_over(r, staged);
  } else {
    c.table = cut(r, data, &c.rows);
  }
  c.here = stays_in_table(r, &c.table);
  return c;
}

/* The table has the result, but for one that is in place. */
static void end_cutting(const ring *r, const cutting *c, pop_tensor out)
{
  pop_tensor flat = pop_tensor_flatten(out);
  if (c->in_place) return;
  copy(r, c->stays ? c->table.flat : first_of(c->rows, pop_tensor_num_elements(flat)),
       c->stays ? by_tiles(&c->of_data, flat) : flat);
}

static void free_cutting(cutting *c)
{
  spread_free(&c->of_data);
  spread_free(&c->of_out);
  chunks_free(&c->table);
}

/* What is done to a chunk that is combined: across `levels` of rings, and divided by `mean_of` (1: it is not). */
typedef struct finish {
  const ring *across; /* NULL: there is none */
  uint32_t mean_of;
} finish;

static void reduce(const ring *r, pop_tensor data, pop_tensor out, pop_collective_op op, finish f);

static void finish_row(const ring *r, pop_tensor row, pop_collective_op op, finish f)
{
  if (f.across) reduce(f.across, row, row, op, (finish){NULL, 1});
  if (f.mean_of > 1)
    divide_mean(r->graph, row, POP_COLLECTIVE_MEAN, f.mean_of, r->sequence, r->name);
}

static void reduce_here(const ring *r, const chunk_table *table, pop_collective_op op, finish f)
{
  pop_tensor state = scatter_here(r, table, op);
  if (f.across || f.mean_of > 1) {
    pop_tensor row = chunks_new_row(table);
    chunks_take(table, r->position, row, r->sequence);
    finish_row(r, row, op, f);
    chunks_put(table, r->position, row, r->sequence);
  }
  gather_here(r, table, state);
}

static void reduce_by_rows(const ring *r, const cutting *c, pop_tensor out, pop_collective_op op,
                           finish f)
{
  pop_tensor row = scatter(r, &c->table, op);
  finish_row(r, row, op, f);
  chunk_table to = c->in_place ? table_over(r, pop_tensor_flatten(out)) : c->table;
  gather(r, row, &to);
  if (c->in_place) chunks_free(&to);
}

/* NOLINTNEXTLINE(misc-no-recursion): one level deep */
static void reduce(const ring *r, pop_tensor data, pop_tensor out, pop_collective_op op, finish f)
{
  cutting c = begin_cutting(r, data, out);
  if (!pop_graph_error(r->graph)) {
    if (c.here)
      reduce_here(r, &c.table, op, f);
    else
      reduce_by_rows(r, &c, out, op, f);
    end_cutting(r, &c, out);
  }
  free_cutting(&c);
}

pop_tensor pop_gcl_all_reduce(pop_graph *graph, pop_tensor data, pop_collective_op op,
                              pop_comm_group group, pop_tensor out, pop_program sequence,
                              const char *name)
{
  GRAPH_TURN(graph);
  if (!graph_lives(graph, __func__)) return none;
  ring r;
  if (!check_op(graph, __func__, data, op) ||
      !open_ring(&r, __func__, graph, data, group, sequence, name))
    return data;
  out = poplibs_result(graph, __func__, out, pop_tensor_element_type(data), pop_tensor_shape(data),
                       pop_tensor_rank(data), &data, 1, name);
  if (pop_graph_error(graph)) return out;
  if (op == POP_COLLECTIVE_LOCAL) {
    if (out.index != data.index) copy(&r, data, out);
    return out;
  }
  levels l = split(&r);
  reduce(&l.within, squared(&r, data, op), out, op,
         (finish){l.across.size > 1 ? &l.across : NULL, op == POP_COLLECTIVE_MEAN ? r.size : 1});
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

/* [size * elements], from all that have such data [elements] */
static pop_tensor gather_rows(const ring *r, pop_tensor data)
{
  pop_tensor rows;
  chunk_table table =
      new_table(r, pop_tensor_element_type(data), pop_tensor_num_elements(data), &rows);
  pop_tensor row = chunks_new_row(&table);
  copy(r, data, row);
  gather(r, row, &table);
  chunks_free(&table);
  return pop_tensor_flatten(rows);
}

pop_tensor pop_gcl_all_gather(pop_graph *graph, pop_tensor data, pop_comm_group group,
                              pop_program sequence, const char *name)
{
  GRAPH_TURN(graph);
  if (!graph_lives(graph, __func__)) return none;
  ring r;
  if (!open_ring(&r, __func__, graph, data, group, sequence, name)) return data;
  levels l = split(&r);
  size_t count = pop_tensor_num_elements(data);
  pop_tensor all = pop_tensor_flatten(data);
  if (l.across.size > 1) all = gather_rows(&l.across, all);
  return shape_as(&r, by_positions(&l, gather_rows(&l.within, all), count), data);
}

/* In each step every replica's chunk for the one so many positions further. */
static void swap_rows(const ring *r, const chunk_table *table, const chunk_table *result)
{
  pop_tensor row = chunks_new_row(table), received = clone(r, row);
  pop_sequence_add(r->sequence, pop_program_write_undef(result->flat, r->name));
  chunks_take(table, r->position, row, r->sequence);
  chunks_put(result, r->position, row, r->sequence);
  for (uint32_t shift = 1; shift < r->size && !pop_graph_error(r->graph); shift++) {
    pop_tensor to = calculate(r, r->position, POP_BINARY_ADD, shift, none);
    pop_tensor from = calculate(r, r->position, POP_BINARY_ADD, r->size - shift, none);
    chunks_take(table, to, row, r->sequence);
    pass_on(r, row, received, shift);
    chunks_put(result, from, received, r->sequence);
  }
}

pop_tensor pop_gcl_all_to_all(pop_graph *graph, pop_tensor data, pop_comm_group group,
                              pop_program sequence, const char *name)
{
  GRAPH_TURN(graph);
  if (!graph_lives(graph, __func__)) return none;
  ring r;
  if (!open_ring(&r, __func__, graph, data, group, sequence, name)) return data;
  if (pop_tensor_rank(data) == 0 || pop_tensor_dim(data, 0) != r.size) {
    poplibs_fail(graph, POP_ERROR_TENSOR,
                 "%s: the first dimension has to be the size of the groups, %u", __func__, r.size);
    return data;
  }
  find_position(&r);
  pop_tensor rows, result_rows;
  chunk_table table = cut(&r, data, &rows);
  chunk_table result =
      new_table(&r, pop_tensor_element_type(data), pop_tensor_dim(rows, 1), &result_rows);
  if (r.size == 1)
    copy(&r, rows, result_rows);
  else
    swap_rows(&r, &table, &result);
  chunks_free(&table);
  chunks_free(&result);
  return pop_tensor_reshape(result_rows, pop_tensor_shape(data), pop_tensor_rank(data));
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
  GRAPH_TURN(graph);
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

/* ---- within a replica ---- */

static bool open_parts(ring *r, const char *call, pop_graph *graph, pop_tensor data,
                       pop_collective_op op, pop_program sequence, const char *name)
{
  poplibs_log(call, name, &data, 1);
  *r = (ring){.graph = graph, .call = call, .name = name, .sequence = sequence};
  if (!check_op(graph, call, data, op)) return false;
  if (pop_tensor_rank(data) == 0)
    poplibs_fail(graph, POP_ERROR_TENSOR, "%s: the data have no parts: their rank is 0", call);
  poplibs_need_popops(graph);
  return !pop_graph_error(graph);
}

/* The combination of all parts; `out`: a tensor of a part's shape that gets it, or null. */
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
  divide_mean(r->graph, sum, op, pop_tensor_dim(data, 0), r->sequence, r->name);
  return sum;
}

/* `out`, or if that is null one like the data. */
static pop_tensor result_of_parts(const ring *r, pop_tensor data, pop_tensor out)
{
  if (!out.index) return clone(r, data);
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
    copy(&r, data, out);
    return out;
  }
  pop_tensor sum = combine_parts(&r, data, op, none);
  for (size_t i = 0; i < pop_tensor_dim(data, 0) && !pop_graph_error(graph); i++)
    copy(&r, sum, pop_tensor_index(out, i));
  return out;
}

/* Elements of chunk `number` of so many parts: [begin, end). */
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
    map_like(&r, to, own);
    if (op == POP_COLLECTIVE_LOCAL) copy(&r, own, to);
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
      map_like(&r, pop_tensor_slice(to, at, end, 0),
               pop_tensor_slice(flat, own.begin, own.begin + end - at, 0));
    }
    copy(&r, flat, to);
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
  pop_tensor out = clone(&r, data);
  copy(&r, pop_tensor_dim_roll(data, 1, 0), out);
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
  pop_tensor out = clone(&r, data);
  copy(&r, pop_tensor_broadcast(pop_tensor_slice(data, root, root + 1, 0), parts, 0), out);
  return out;
}
