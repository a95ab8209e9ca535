/* Collectives between replicas: populus/collectives.h, which names the algorithms.
 *
 * All replicas run the same program, so the chunk that a replica sends in a step depends on its
 * replica index, which only the device knows. Chunks are those of tables that have a part of
 * each chunk on each tile (chunks.h). They go round in rings (ring.h). An all-reduce makes such
 * a table of the data where they lie, so that nothing moves between tiles. */
#include "poplibs/host/collectives.h"
#include "graph/graph.h"
#include "poplibs/host/ring.h"

#include <populus/popops.h>
#include <stdlib.h>
#include <string.h>

static const pop_tensor none;

/* ---- tables of chunks ---- */

static chunk_table new_table(const ring *r, pop_type type, size_t columns, pop_tensor *rows)
{
  return chunks_new(r->graph, r->call, r->name, type, r->size, columns, rows);
}

static pop_tensor first_of(pop_tensor rows, size_t count)
{
  return pop_tensor_slice(pop_tensor_flatten(rows), 0, count, 0);
}

/* Copies `data` to the rows; what is left over of the rows becomes zeros. */
static void fill_rows(const ring *r, pop_tensor data, pop_tensor rows)
{
  size_t count = pop_tensor_num_elements(data), all = pop_tensor_num_elements(rows);
  if (count < all)
    pop_popops_fill(r->graph, pop_tensor_slice(pop_tensor_flatten(rows), count, all, 0), NULL,
                    r->sequence, r->name);
  ring_copy(r, pop_tensor_flatten(data), first_of(rows, count));
}

/* Copies the data to a new table with a row for each position. */
static chunk_table cut(const ring *r, pop_tensor data, pop_tensor *rows)
{
  size_t count = pop_tensor_num_elements(data), columns = (count + r->size - 1) / r->size;
  chunk_table table = new_table(r, pop_tensor_element_type(data), columns, rows);
  fill_rows(r, data, *rows);
  return table;
}

/* [within, across * columns] as [across * within, columns], in the order of positions. */
static pop_tensor by_positions(const ring_levels *l, pop_tensor rows, size_t columns)
{
  const size_t within = l->within.size, across = l->across.size;
  pop_tensor apart = pop_tensor_reshape(rows, (size_t[]){within, across, columns}, 3);
  return pop_tensor_reshape(pop_tensor_dim_roll(apart, 1, 0), (size_t[]){within * across, columns},
                            2);
}

/* ---- combining ---- */

/* Does the type have additions and comparisons? */
static bool is_number(pop_type type)
{
  return type == POP_FLOAT || type == POP_HALF || type == POP_INT || type == POP_UNSIGNED_INT;
}

/* Groups of one replica combine nothing, but have the same types as others. */
bool collective_check_op(pop_graph *graph, const char *call, pop_tensor data, pop_collective_op op)
{
  if (pop_graph_error(graph)) return false;
  static const char *const names[POP_COLLECTIVE_COUNT] = {
      [POP_COLLECTIVE_ADD] = "ADD",
      [POP_COLLECTIVE_SQUARE_ADD] = "SQUARE_ADD",
      [POP_COLLECTIVE_MUL] = "MUL",
      [POP_COLLECTIVE_MIN] = "MIN",
      [POP_COLLECTIVE_MAX] = "MAX"}; /* those of numbers */
  pop_type type = pop_tensor_element_type(data);
  bool is_float = type == POP_FLOAT || type == POP_HALF;
  bool is_logical = op == POP_COLLECTIVE_LOGICAL_AND || op == POP_COLLECTIVE_LOGICAL_OR;
  if ((unsigned)op >= POP_COLLECTIVE_COUNT)
    poplibs_fail(graph, POP_ERROR_INVALID_ARGUMENT, "%s: there is no operation %d", call, (int)op);
  else if (op == POP_COLLECTIVE_MEAN && !is_float)
    poplibs_fail(graph, POP_ERROR_TYPE, "%s: a mean is of float or half, not of %s", call,
                 pop_type_name(type));
  else if (is_logical && type != POP_BOOL && pop_tensor_valid(data))
    poplibs_fail(graph, POP_ERROR_TYPE, "%s: a logical operation is of bool, not of %s", call,
                 pop_type_name(type));
  else if (names[op] && !is_number(type) && pop_tensor_valid(data))
    poplibs_fail(graph, POP_ERROR_TYPE, "%s: %s is of float, half, int or unsigned int, not of %s",
                 call, names[op], pop_type_name(type));
  return !pop_graph_error(graph);
}

static pop_tensor squared(const ring *r, pop_tensor data, pop_collective_op op)
{
  if (op != POP_COLLECTIVE_SQUARE_ADD) return data;
  return pop_popops_unary(r->graph, POP_UNARY_SQUARE, data, none, r->sequence, r->name);
}

void collective_divide_mean(pop_graph *graph, pop_tensor sum, pop_collective_op op, size_t by,
                            pop_program sequence, const char *name)
{
  if (op != POP_COLLECTIVE_MEAN || by == 1) return;
  const pop_expr_node nodes[] = {
      {.kind = POP_EXPR_TENSOR, .tensor = 0},
      {.kind = POP_EXPR_CONSTANT, .value = (double)by, .type = pop_tensor_element_type(sum)},
      {.kind = POP_EXPR_BINARY, .op = POP_BINARY_DIVIDE}};
  pop_popops_map(graph, nodes, 3, &sum, 1, sum, sequence, name);
}

/* ---- what programs call ---- */

pop_tensor pop_gcl_reduce_scatter(pop_graph *graph, pop_tensor data, pop_collective_op op,
                                  pop_comm_group group, pop_program sequence, const char *name)
{
  GRAPH_TURN(graph);
  if (!graph_lives(graph, __func__)) return none;
  ring r;
  pop_tensor rows;
  if (!collective_check_op(graph, __func__, data, op) ||
      !ring_open(&r, __func__, graph, data, group, sequence, name))
    return data;
  ring_levels l = ring_split(&r);
  data = squared(&r, data, op);
  size_t columns = (pop_tensor_num_elements(data) + r.size - 1) / r.size;
  chunk_table table =
      new_table(&l.within, pop_tensor_element_type(data), columns * l.across.size, &rows);
  fill_rows(&r, data, by_positions(&l, rows, columns));
  pop_tensor row = ring_scatter(&l.within, &table, op);
  chunks_free(&table);
  if (l.across.size > 1) {
    table = cut(&l.across, row, &rows);
    row = ring_scatter(&l.across, &table, op);
    chunks_free(&table);
  }
  collective_divide_mean(graph, row, op, r.size, sequence, name);
  return row;
}

/* How the data of an all-reduce become a table, and how the table becomes the result. */
typedef struct chunking {
  spread of_data, of_out;
  bool in_table; /* chunks stay in the table */
  bool in_place; /* `data` and `out` are tables where they lie; otherwise: */
  bool stays;    /* a tile's elements go to a run on that tile; else all are spread anew */
  chunk_table table;
  pop_tensor rows; /* of a table that is spread anew */
} chunking;

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

/* With few elements on each of many tiles, and many replicas, most of a row would be padding. */
static bool is_mostly_padding(const ring *r, const spread *on, size_t count)
{
  size_t columns = 0;
  for (size_t i = 0; i < on->count; i++)
    columns += (on->parts[i].num_elements + r->size - 1) / r->size;
  return columns > (count + r->size - 1) / r->size * 5 / 4;
}

/* The elements in the order of tiles. */
static pop_tensor in_tile_order(const spread *on, pop_tensor flat)
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

static void find_spreads(const ring *r, chunking *c, pop_tensor data, pop_tensor out)
{
  c->of_data = spread_of(r->graph, r->call, data);
  c->of_out = spread_of(r->graph, r->call, out);
  c->stays = !is_mostly_padding(r, &c->of_data, pop_tensor_num_elements(data));
  c->in_place = c->stays && is_same_spread(&c->of_data, &c->of_out) &&
                chunks_are_runs(data, &c->of_data) && chunks_are_runs(out, &c->of_out);
}

static chunking begin_chunking(const ring *r, pop_tensor data, pop_tensor out)
{
  pop_tensor flat = pop_tensor_flatten(data), flat_out = pop_tensor_flatten(out);
  chunking c = {0};
  find_spreads(r, &c, flat, flat_out);
  if (pop_graph_error(r->graph)) return c;
  if (c.in_place) {
    c.table = table_over(r, flat_out);
    c.in_table = ring_works_in_table(r, &c.table);
    if (c.in_table) ring_copy(r, flat, flat_out); /* copies nothing if both are the same */
    if (c.in_table) return c;
    chunks_free(&c.table);
    c.table = table_over(r, flat);
    return c;
  }
  if (c.stays) {
    pop_tensor ordered = in_tile_order(&c.of_data, flat), staged = ring_clone(r, ordered);
    ring_copy(r, ordered, staged);
    c.table = table_over(r, staged);
  } else {
    c.table = cut(r, data, &c.rows);
  }
  c.in_table = ring_works_in_table(r, &c.table);
  return c;
}

/* Copies the result from the table to `out`, unless it is there already. */
static void end_chunking(const ring *r, const chunking *c, pop_tensor out)
{
  pop_tensor flat = pop_tensor_flatten(out);
  if (c->in_place) return;
  ring_copy(r, c->stays ? c->table.flat : first_of(c->rows, pop_tensor_num_elements(flat)),
            c->stays ? in_tile_order(&c->of_data, flat) : flat);
}

static void free_chunking(chunking *c)
{
  spread_free(&c->of_data);
  spread_free(&c->of_out);
  chunks_free(&c->table);
}

/* What happens to a chunk once it is combined: it is reduced over the rings `across`, and
 * divided by `mean_of` (1: not). */
typedef struct finish {
  const ring *across; /* NULL: there is none */
  uint32_t mean_of;
} finish;

static void reduce(const ring *r, pop_tensor data, pop_tensor out, pop_collective_op op, finish f);

static void finish_row(const ring *r, pop_tensor row, pop_collective_op op, finish f)
{
  if (f.across) reduce(f.across, row, row, op, (finish){NULL, 1});
  if (f.mean_of > 1)
    collective_divide_mean(r->graph, row, POP_COLLECTIVE_MEAN, f.mean_of, r->sequence, r->name);
}

static void reduce_here(const ring *r, const chunk_table *table, pop_collective_op op, finish f)
{
  pop_tensor state = ring_scatter_here(r, table, op);
  if (f.across || f.mean_of > 1) {
    pop_tensor row = chunks_new_row(table);
    chunks_take(table, r->position, row, r->sequence);
    finish_row(r, row, op, f);
    chunks_put(table, r->position, row, r->sequence);
  }
  ring_gather_here(r, table, state);
}

static void reduce_by_rows(const ring *r, const chunking *c, pop_tensor out, pop_collective_op op,
                           finish f)
{
  pop_tensor row = ring_scatter(r, &c->table, op);
  finish_row(r, row, op, f);
  chunk_table to = c->in_place ? table_over(r, pop_tensor_flatten(out)) : c->table;
  ring_gather(r, row, &to);
  if (c->in_place) chunks_free(&to);
}

/* NOLINTNEXTLINE(misc-no-recursion): one level deep */
static void reduce(const ring *r, pop_tensor data, pop_tensor out, pop_collective_op op, finish f)
{
  chunking c = begin_chunking(r, data, out);
  if (!pop_graph_error(r->graph)) {
    if (c.in_table)
      reduce_here(r, &c.table, op, f);
    else
      reduce_by_rows(r, &c, out, op, f);
    end_chunking(r, &c, out);
  }
  free_chunking(&c);
}

pop_tensor pop_gcl_all_reduce(pop_graph *graph, pop_tensor data, pop_collective_op op,
                              pop_comm_group group, pop_tensor out, pop_program sequence,
                              const char *name)
{
  GRAPH_TURN(graph);
  if (!graph_lives(graph, __func__)) return none;
  ring r;
  if (!collective_check_op(graph, __func__, data, op) ||
      !ring_open(&r, __func__, graph, data, group, sequence, name))
    return data;
  out = poplibs_result(graph, __func__, out, pop_tensor_element_type(data), pop_tensor_shape(data),
                       pop_tensor_rank(data), &data, 1, name);
  if (pop_graph_error(graph)) return out;
  if (op == POP_COLLECTIVE_LOCAL || r.size == 1 || pop_tensor_num_elements(data) == 0) {
    /* nothing is combined */
    data = squared(&r, data, op);
    if (out.index != data.index) ring_copy(&r, data, out);
    return out;
  }
  ring_levels l = ring_split(&r);
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
  ring_copy(r, data, row);
  ring_gather(r, row, &table);
  chunks_free(&table);
  return pop_tensor_flatten(rows);
}

pop_tensor pop_gcl_all_gather(pop_graph *graph, pop_tensor data, pop_comm_group group,
                              pop_program sequence, const char *name)
{
  GRAPH_TURN(graph);
  if (!graph_lives(graph, __func__)) return none;
  ring r;
  if (!ring_open(&r, __func__, graph, data, group, sequence, name)) return data;
  ring_levels l = ring_split(&r);
  size_t count = pop_tensor_num_elements(data);
  pop_tensor all = pop_tensor_flatten(data);
  if (l.across.size > 1) all = gather_rows(&l.across, all);
  return shape_as(&r, by_positions(&l, gather_rows(&l.within, all), count), data);
}

/* In step `shift`, each replica sends the chunk for the replica `shift` positions further. */
static void swap_rows(const ring *r, const chunk_table *table, const chunk_table *result)
{
  pop_tensor row = chunks_new_row(table), received = ring_clone(r, row);
  pop_sequence_add(r->sequence, pop_program_write_undef(result->flat, r->name));
  chunks_take(table, r->position, row, r->sequence);
  chunks_put(result, r->position, row, r->sequence);
  for (uint32_t shift = 1; shift < r->size && !pop_graph_error(r->graph); shift++) {
    pop_tensor to = ring_calculate(r, r->position, POP_BINARY_ADD, shift, none);
    pop_tensor from = ring_calculate(r, r->position, POP_BINARY_ADD, r->size - shift, none);
    chunks_take(table, to, row, r->sequence);
    ring_shift(r, row, received, shift);
    chunks_put(result, from, received, r->sequence);
  }
}

pop_tensor pop_gcl_all_to_all(pop_graph *graph, pop_tensor data, pop_comm_group group,
                              pop_program sequence, const char *name)
{
  GRAPH_TURN(graph);
  if (!graph_lives(graph, __func__)) return none;
  ring r;
  if (!ring_open(&r, __func__, graph, data, group, sequence, name)) return data;
  if (pop_tensor_rank(data) == 0 || pop_tensor_dim(data, 0) != r.size) {
    poplibs_fail(graph, POP_ERROR_TENSOR,
                 "%s: the first dimension has to be the size of the groups, %u", __func__, r.size);
    return data;
  }
  ring_find_position(&r);
  pop_tensor rows, result_rows;
  chunk_table table = cut(&r, data, &rows);
  chunk_table result =
      new_table(&r, pop_tensor_element_type(data), pop_tensor_dim(rows, 1), &result_rows);
  if (r.size == 1)
    ring_copy(&r, rows, result_rows);
  else
    swap_rows(&r, &table, &result);
  chunks_free(&table);
  chunks_free(&result);
  return pop_tensor_reshape(result_rows, pop_tensor_shape(data), pop_tensor_rank(data));
}

/* One step of a tree broadcast. Positions are counted from the root. The first `have` positions
 * have the data; each sends to the one `have` further. */
static void broadcast_step(const ring *r, pop_tensor t, uint32_t root, uint32_t have)
{
  size_t count = 0;
  pop_replica_pair *map = calloc(r->num_replicas, sizeof *map);
  for (uint32_t i = 0; map && i < r->num_replicas; i++) {
    uint32_t from_root = (ring_position_of(r, i) + r->size - root) % r->size;
    if (from_root < have && from_root + have < r->size)
      map[count++] = (pop_replica_pair){i, ring_neighbour(r, i, have)};
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
  if (!ring_open(&r, __func__, graph, data, group, sequence, name)) return data;
  if (root >= r.size) {
    poplibs_fail(graph, POP_ERROR_INVALID_ARGUMENT, "%s: there is no position %u in a group of %u",
                 __func__, root, r.size);
    return data;
  }
  pop_tensor out = poplibs_result(graph, __func__, none, pop_tensor_element_type(data),
                                  pop_tensor_shape(data), pop_tensor_rank(data), &data, 1, name);
  ring_copy(&r, data, out);
  for (uint32_t have = 1; have < r.size && !pop_graph_error(graph); have *= 2)
    broadcast_step(&r, out, root, have);
  return out;
}
