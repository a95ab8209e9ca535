/* Collectives against arrays, to the bit: all operations, all kinds of groups, both kinds of
 * replicas. tests/e2e/ranks.sh tests them in several ranks. */
#include "support/graph_test.h"

#include "support/expect.h"
#include <populus/collectives.h>
#include <populus/engine.h>
#include <populus/popops.h>
#include <stdlib.h>

enum { MOST = 42, REPLICAS = 4 };

typedef enum kind { LOADED_FOR_EACH, IN_ONE_GRAPH, ONE_REPLICA, KINDS } kind;

typedef struct bench {
  kind of;
  uint32_t replicas;
  pop_graph *graph;
  pop_tensor data;
  pop_program main;
  size_t count; /* elements of the data */
} bench;

static bench new_bench(kind of, pop_type type, size_t count)
{
  bench x = {.of = of, .replicas = of == ONE_REPLICA ? 1 : REPLICAS, .count = count};
  pop_target target;
  expect_ok(pop_target_create("ipu2", 2 * x.replicas, &target));
  target.tiles_per_ipu = 3;
  x.graph = of == IN_ONE_GRAPH
                ? pop_graph_create_replicated_graph(pop_graph_create(&target), x.replicas)
                : pop_graph_create_replicated(&target, x.replicas);
  pop_popops_add_codelets(x.graph);
  x.data = pop_graph_add_variable(x.graph, type, &count, 1, "data");
  pop_graph_map_linearly(x.graph, x.data, 1, 1);
  x.main = pop_program_sequence(x.graph, "main");
  pop_graph_create_host_write(x.graph, "in", x.data);
  return x;
}

static void free_bench(bench *x)
{
  pop_graph *parent = pop_graph_parent(x->graph);
  pop_graph_free(parent ? parent : x->graph);
}

/* Runs the program with the data of all replicas. `out` gets `bytes` of the result from each.
 * Returns the cycles of the run. */
static uint64_t run(bench *x, pop_tensor result, const void *in, void *out, size_t bytes)
{
  pop_engine *engine;
  pop_graph_create_host_read(x->graph, "out", result);
  assert_no_error(x->graph);
  const pop_option verify = {"debug.verify", "true"};
  expect_ok(pop_engine_create(x->graph, &x->main, 1, &verify, 1, &engine));
  expect_ok(pop_engine_load(engine));
  size_t in_bytes = x->count * pop_type_bytes(pop_tensor_element_type(x->data));
  expect_ok(pop_engine_write_tensor(engine, "in", in, x->replicas * in_bytes));
  uint64_t before = pop_engine_cycles(engine);
  expect_ok(pop_engine_run(engine, 0));
  uint64_t cycles = pop_engine_cycles(engine) - before;
  expect_ok(pop_engine_read_tensor(engine, "out", out, x->replicas * bytes));
  pop_engine_free(engine);
  return cycles;
}

/* ---- groups and expected results ---- */

static const pop_comm_group groups[] = {
    {POP_COMM_ALL, 0},         {POP_COMM_CONSECUTIVE, 2}, {POP_COMM_ORTHOGONAL, 2},
    {POP_COMM_CONSECUTIVE, 1}, {POP_COMM_ALL, REPLICAS},
};
enum { NUM_GROUPS = sizeof groups / sizeof *groups };

static uint32_t size_of(const bench *x, pop_comm_group group)
{
  if (x->replicas == 1) return 1;
  return group.type == POP_COMM_ALL ? x->replicas : group.size;
}

static uint32_t position_of(const bench *x, pop_comm_group group, uint32_t replica)
{
  if (x->replicas == 1) return 0;
  static const uint32_t orthogonal[] = {0, 0, 1, 1};
  uint32_t size = size_of(x, group);
  return group.type == POP_COMM_ORTHOGONAL ? orthogonal[replica] : replica % size;
}

/* The replica at a position in the group of `replica`. */
static uint32_t member(const bench *x, pop_comm_group group, uint32_t replica, uint32_t position)
{
  if (x->replicas == 1) return 0;
  uint32_t size = size_of(x, group);
  return group.type == POP_COMM_ORTHOGONAL ? replica % 2 + 2 * position
                                           : replica / size * size + position;
}

static pop_comm_group usable(const bench *x, pop_comm_group group)
{
  return x->replicas == 1 ? (pop_comm_group){group.type, 0} : group;
}

static float combine(pop_collective_op op, float a, float b)
{
  switch (op) {
  case POP_COLLECTIVE_MUL:
    return a * b;
  case POP_COLLECTIVE_MIN:
    return a < b ? a : b;
  case POP_COLLECTIVE_MAX:
    return a > b ? a : b;
  default:
    return a + b;
  }
}

/* Reduces in the order that the header promises: it begins after the position that has the chunk's
 * number. */
static float reduced(const bench *x, pop_collective_op op, pop_comm_group group, uint32_t replica,
                     size_t element, size_t chunk, const float *in)
{
  uint32_t size = size_of(x, group);
  float sum = 0;
  if (op == POP_COLLECTIVE_LOCAL) return in[replica * x->count + element];
  for (uint32_t i = 0; i < size; i++) {
    uint32_t position = (uint32_t)((chunk + 1 + i) % size);
    float value = in[member(x, group, replica, position) * x->count + element];
    if (op == POP_COLLECTIVE_SQUARE_ADD) value *= value;
    sum = i ? combine(op, sum, value) : value;
  }
  return op == POP_COLLECTIVE_MEAN && size > 1 ? sum / (float)size : sum;
}

static size_t divide_up(size_t a, size_t b)
{
  return (a + b - 1) / b;
}

/* The chunk of an element in an all-reduce: a chunk of its tile's elements, unless that would make
 * rows longer by more than a quarter; then a chunk of all. The data begin with the variable's
 * element `turn`; the variable is mapped linearly. */
static size_t chunk_of(const bench *x, uint32_t size, size_t element, size_t turn)
{
  enum { TILES = 6 };
  size_t each = divide_up(x->count, TILES), on_tile[TILES] = {0}, columns = 0,
         tile = (element + turn) % x->count / each, before = 0;
  for (size_t i = 0; i < x->count; i++) {
    size_t of = (i + turn) % x->count / each;
    before += of == tile && i < element;
    on_tile[of]++;
  }
  for (size_t i = 0; i < TILES; i++) columns += divide_up(on_tile[i], size);
  if (columns > divide_up(x->count, size) * 5 / 4) return element / divide_up(x->count, size);
  return before / divide_up(on_tile[tile], size);
}

static void make_data(float *in, size_t count)
{
  for (size_t i = 0; i < count; i++) in[i] = (float)((i * 2654435761U) % 1000) / 7 - 60;
}

/* ---- all reduce, reduce scatter ---- */

typedef enum place { ANEW, IN_PLACE, TURNED, ON_ONE_TILE } place;

/* ANEW: the result is a new tensor. TURNED: also, and the data begin in the middle of the variable,
 * so that a tile has them in two runs. ON_ONE_TILE: the result is on another tile than the data. */
static void check_all_reduce(kind of, pop_collective_op op, pop_comm_group group, size_t count,
                             place where)
{
  float in[REPLICAS * MOST], out[REPLICAS * MOST];
  bench x = new_bench(of, POP_FLOAT, count);
  size_t turn = where == TURNED ? count / 2 : 0;
  make_data(in, REPLICAS * count);
  pop_tensor data = pop_concat((pop_tensor[]){pop_tensor_slice(x.data, turn, count, 0),
                                              pop_tensor_slice(x.data, 0, turn, 0)},
                               2, 0);
  pop_tensor to = where == IN_PLACE ? data : (pop_tensor){0};
  if (where == ON_ONE_TILE) {
    to = pop_graph_add_variable(x.graph, POP_FLOAT, &count, 1, "to");
    pop_graph_set_tile_mapping(x.graph, to, 4);
  }
  pop_tensor result =
      pop_gcl_all_reduce(x.graph, data, op, usable(&x, group), to, x.main, "reduce");
  run(&x, where == IN_PLACE ? x.data : result, in, out, count * sizeof *out);
  for (uint32_t r = 0; r < x.replicas; r++)
    for (size_t i = 0; i < count; i++) {
      size_t chunk = chunk_of(&x, size_of(&x, group), i, turn);
      float wanted = reduced(&x, op, group, r, (i + turn) % count, chunk, in),
            got = out[r * count + i];
      cr_assert_eq(
          got, wanted,
          "kind %d, op %d, group %d of %u, %zu, place %d, replica %u, element %zu: %a, not %a",
          (int)of, (int)op, (int)group.type, group.size, count, (int)where, r, i, (double)got,
          (double)wanted);
    }
  free_bench(&x);
}

Test(collectives, all_reduce_is_the_same_everywhere)
{
  static const pop_collective_op ops[] = {
      POP_COLLECTIVE_ADD, POP_COLLECTIVE_MEAN,       POP_COLLECTIVE_MUL,  POP_COLLECTIVE_MIN,
      POP_COLLECTIVE_MAX, POP_COLLECTIVE_SQUARE_ADD, POP_COLLECTIVE_LOCAL};
  for (size_t i = 0; i < sizeof ops / sizeof *ops; i++)
    check_all_reduce(i % 2 ? IN_ONE_GRAPH : LOADED_FOR_EACH, ops[i], groups[0], 13, i % 2);
}

Test(collectives, data_lie_as_they_may)
{
  static const size_t counts[] = {8, 13, 30, 40};
  for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
    for (int where = ANEW; where <= ON_ONE_TILE; where++)
      check_all_reduce(where % 2 ? IN_ONE_GRAPH : LOADED_FOR_EACH, POP_COLLECTIVE_ADD,
                       groups[i % 3], counts[i], (place)where);
}

/* Each tile has a part of each chunk: 1, 1, 1, 1 elements, then 2, 2, 2, 1. */
Test(collectives, chunks_go_from_where_they_lie)
{
  static const pop_collective_op ops[] = {POP_COLLECTIVE_ADD, POP_COLLECTIVE_MEAN,
                                          POP_COLLECTIVE_MUL, POP_COLLECTIVE_SQUARE_ADD,
                                          POP_COLLECTIVE_MIN};
  for (size_t i = 0; i < sizeof ops / sizeof *ops; i++) {
    check_all_reduce(LOADED_FOR_EACH, ops[i], groups[i % 3], 24, i % 2 ? ANEW : IN_PLACE);
    check_all_reduce(LOADED_FOR_EACH, ops[i], groups[(i + 1) % 3], 42, IN_PLACE);
  }
}

Test(collectives, groups_are_apart)
{
  for (size_t g = 0; g < NUM_GROUPS; g++)
    check_all_reduce(g % 2 ? IN_ONE_GRAPH : LOADED_FOR_EACH, POP_COLLECTIVE_ADD, groups[g], 8,
                     g % 2);
}

Test(collectives, data_may_be_fewer_than_replicas)
{
  check_all_reduce(LOADED_FOR_EACH, POP_COLLECTIVE_ADD, groups[0], 1, ANEW);
  check_all_reduce(IN_ONE_GRAPH, POP_COLLECTIVE_ADD, groups[0], 3, IN_PLACE);
}

Test(collectives, one_replica_is_a_group)
{
  check_all_reduce(ONE_REPLICA, POP_COLLECTIVE_ADD, groups[0], 5, ANEW);
  check_all_reduce(ONE_REPLICA, POP_COLLECTIVE_MEAN, groups[1], 5, IN_PLACE);
}

/* Data without elements have results without elements, in any number of replicas. */
static void check_empty(kind of)
{
  bench x = new_bench(of, POP_FLOAT, 1);
  const size_t shape[] = {0, 3};
  pop_tensor data = pop_graph_add_variable(x.graph, POP_FLOAT, shape, 2, "none"), null = {0};
  pop_tensor sum =
      pop_gcl_all_reduce(x.graph, data, POP_COLLECTIVE_ADD, groups[0], null, x.main, "r");
  pop_gcl_all_reduce(x.graph, data, POP_COLLECTIVE_MEAN, groups[0], data, x.main, "r");
  pop_tensor part =
      pop_gcl_reduce_scatter(x.graph, data, POP_COLLECTIVE_ADD, groups[0], x.main, "r");
  pop_tensor all = pop_gcl_all_gather(x.graph, data, groups[0], x.main, "r");
  pop_tensor first = pop_gcl_broadcast(x.graph, data, groups[0], 0, x.main, "r");
  assert_no_error(x.graph);
  cr_assert_eq(pop_tensor_dim(sum, 0) + pop_tensor_dim(first, 0), 0);
  cr_assert_eq(pop_tensor_rank(all), 3);
  cr_assert_eq(pop_tensor_num_elements(part) + pop_tensor_num_elements(all), 0);
  float in[REPLICAS] = {1, 2, 3, 4}, out[REPLICAS];
  run(&x, x.data, in, out, sizeof *out);
  cr_assert_arr_eq(in, out, x.replicas * sizeof *out);
  free_bench(&x);
}

Test(collectives, data_may_be_empty)
{
  for (kind of = 0; of < KINDS; of++) check_empty(of);
}

/* Groups with an odd number of replicas, and elements smaller than a word: all-reduce of halves and
 * of bools. */
static void check_small(uint32_t replicas, pop_type type, pop_collective_op op, size_t count)
{
  enum { MOST_BYTES = 2 * 5 * MOST };
  uint8_t in[MOST_BYTES] = {0}, out[MOST_BYTES];
  pop_target target;
  expect_ok(pop_target_create("ipu2", replicas, &target));
  target.tiles_per_ipu = 3;
  bench x = {.replicas = replicas, .count = count};
  x.graph = pop_graph_create_replicated(&target, replicas);
  pop_popops_add_codelets(x.graph);
  x.data = pop_graph_add_variable(x.graph, type, &count, 1, "data");
  pop_graph_map_linearly(x.graph, x.data, 1, 1);
  x.main = pop_program_sequence(x.graph, "main");
  pop_graph_create_host_write(x.graph, "in", x.data);
  bool is_half = type == POP_HALF;
  for (size_t i = 0; i < replicas * count; i++)
    if (is_half) /* 1, 2, 4, … by replica */
      in[2 * i + 1] = (uint8_t)(0x3c + 4 * (i / count));
    else
      in[i] = i % 3 == 0;
  pop_tensor result =
      pop_gcl_all_reduce(x.graph, x.data, op, groups[0], (pop_tensor){0}, x.main, "small");
  size_t bytes = count * (is_half ? 2 : 1);
  run(&x, result, in, out, bytes);
  for (size_t i = 0; i < replicas * count; i++) {
    static const uint16_t sums[] = {[1] = 0x3c00, [3] = 0x4700, [4] = 0x4b80}; /* 1, 7, 15 */
    if (is_half) cr_assert_eq(out[2 * i] | out[2 * i + 1] << 8, sums[replicas]);
    bool any = false;
    for (size_t r = 0; r < replicas && !is_half; r++) any |= in[r * count + i % count];
    if (!is_half) cr_assert_eq(out[i], any, "element %zu of %zu", i, count);
  }
  free_bench(&x);
}

Test(collectives, small_elements_and_odd_groups)
{
  static const size_t counts[] = {1, 12, 31};
  for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
    for (uint32_t replicas = 1; replicas <= 4; replicas += replicas == 1 ? 2 : 1) {
      check_small(replicas, POP_HALF, POP_COLLECTIVE_ADD, counts[i]);
      check_small(replicas, POP_BOOL, POP_COLLECTIVE_LOGICAL_OR, counts[i]);
    }
}

static void check_scatter(kind of, pop_comm_group group, size_t count)
{
  float in[REPLICAS * MOST], out[REPLICAS * MOST];
  bench x = new_bench(of, POP_FLOAT, count);
  make_data(in, REPLICAS * count);
  pop_tensor result = pop_gcl_reduce_scatter(x.graph, x.data, POP_COLLECTIVE_ADD, usable(&x, group),
                                             x.main, "scatter");
  uint32_t size = size_of(&x, group);
  size_t chunk = (count + size - 1) / size;
  cr_assert_eq(pop_tensor_num_elements(result), chunk);
  run(&x, result, in, out, chunk * sizeof *out);
  for (uint32_t r = 0; r < x.replicas; r++)
    for (size_t i = 0; i < chunk; i++) {
      size_t element = position_of(&x, group, r) * chunk + i;
      if (element >= count) continue;
      float wanted = reduced(&x, POP_COLLECTIVE_ADD, group, r, element, element / chunk, in);
      cr_assert_eq(out[r * chunk + i], wanted);
    }
  free_bench(&x);
}

Test(collectives, reduce_scatter_gives_each_position_its_chunk)
{
  for (size_t g = 0; g < NUM_GROUPS; g++) check_scatter((kind)(g % KINDS), groups[g], 11);
}

/* ---- all gather, all to all, broadcast ---- */

Test(collectives, all_gather_is_in_the_order_of_positions)
{
  enum { COUNT = 6 };
  for (size_t g = 0; g < NUM_GROUPS; g++) {
    int in[REPLICAS * COUNT], out[REPLICAS * REPLICAS * COUNT];
    bench x = new_bench((kind)(g % KINDS), POP_INT, COUNT);
    uint32_t size = size_of(&x, groups[g]);
    for (int i = 0; i < REPLICAS * COUNT; i++) in[i] = 17 * i;
    const size_t shape[] = {2, 3};
    pop_tensor result = pop_gcl_all_gather(x.graph, pop_tensor_reshape(x.data, shape, 2),
                                           usable(&x, groups[g]), x.main, "gather");
    cr_assert_eq(pop_tensor_rank(result), 3);
    cr_assert_eq(pop_tensor_dim(result, 0), size);
    cr_assert_eq(pop_tensor_dim(result, 2), 3);
    run(&x, result, in, out, size * sizeof in / REPLICAS);
    for (uint32_t r = 0; r < x.replicas; r++)
      for (uint32_t p = 0; p < size; p++)
        for (uint32_t i = 0; i < COUNT; i++)
          cr_assert_eq(out[(r * size + p) * COUNT + i],
                       in[member(&x, groups[g], r, p) * COUNT + i]);
    free_bench(&x);
  }
}

Test(collectives, all_to_all_swaps_rows_and_positions)
{
  enum { COLUMNS = 5 };
  for (size_t g = 0; g < NUM_GROUPS; g++) {
    kind of = (kind)(g % KINDS);
    int in[REPLICAS * REPLICAS * COLUMNS], out[REPLICAS * REPLICAS * COLUMNS];
    bench counted = {.replicas = of == ONE_REPLICA ? 1 : REPLICAS};
    size_t size = size_of(&counted, groups[g]);
    bench x = new_bench(of, POP_INT, size * COLUMNS);
    for (int i = 0; i < REPLICAS * REPLICAS * COLUMNS; i++) in[i] = 1000 + i;
    const size_t shape[] = {size, COLUMNS};
    pop_tensor result = pop_gcl_all_to_all(x.graph, pop_tensor_reshape(x.data, shape, 2),
                                           usable(&x, groups[g]), x.main, "swap");
    run(&x, result, in, out, size * COLUMNS * sizeof *out);
    for (uint32_t r = 0; r < x.replicas; r++)
      for (uint32_t p = 0; p < size; p++)
        for (uint32_t i = 0; i < COLUMNS; i++) {
          uint32_t from = member(&x, groups[g], r, p), own = position_of(&x, groups[g], r);
          cr_assert_eq(out[(r * size + p) * COLUMNS + i], in[(from * size + own) * COLUMNS + i]);
        }
    free_bench(&x);
  }
}

Test(collectives, broadcast_is_from_any_position)
{
  enum { COUNT = 7 };
  for (size_t g = 0; g < NUM_GROUPS; g++) {
    uint16_t in[REPLICAS * COUNT], out[REPLICAS * COUNT];
    bench x = new_bench((kind)(g % KINDS), POP_UNSIGNED_SHORT, COUNT);
    uint32_t root = size_of(&x, groups[g]) - 1;
    for (int i = 0; i < REPLICAS * COUNT; i++) in[i] = (uint16_t)(40000 + i);
    pop_tensor result =
        pop_gcl_broadcast(x.graph, x.data, usable(&x, groups[g]), root, x.main, "broadcast");
    run(&x, result, in, out, COUNT * sizeof *out);
    for (uint32_t r = 0; r < x.replicas; r++)
      for (uint32_t i = 0; i < COUNT; i++)
        cr_assert_eq(out[r * COUNT + i], in[member(&x, groups[g], r, root) * COUNT + i]);
    free_bench(&x);
  }
}

enum { PARTS = 2, PART = 4 };

typedef enum what_within { REDUCED, REDUCED_IN_PLACE, SWAPPED, BROADCAST, WITHIN } what_within;

static pop_tensor within(what_within what, const bench *x, pop_tensor data)
{
  const size_t square[] = {PARTS, PARTS, PART / PARTS};
  switch (what) {
  case SWAPPED:
    return pop_gcl_all_to_all_within(x->graph, pop_tensor_reshape(data, square, 3), x->main, "w");
  case BROADCAST:
    return pop_gcl_broadcast_within(x->graph, data, 1, x->main, "w");
  default:
    return pop_gcl_all_reduce_within(x->graph, data, POP_COLLECTIVE_ADD,
                                     what == REDUCED_IN_PLACE ? data : (pop_tensor){0}, x->main,
                                     "w");
  }
}

/* The expected element `i` of part `p`, from the replica's own data. */
static float expected_within(what_within what, const float *own, int p, int i)
{
  enum { PIECE = PART / PARTS };
  if (what == SWAPPED) return own[i / PIECE * PART + p * PIECE + i % PIECE];
  return what == BROADCAST ? own[PART + i] : own[i] + own[PART + i];
}

static void see_tile(void *context, size_t tile, size_t begin, size_t end)
{
  (void)begin;
  (void)end;
  *(size_t *)context = tile;
}

static size_t tile_of(pop_graph *graph, pop_tensor element)
{
  size_t tile = SIZE_MAX;
  pop_graph_visit_tile_mapping(graph, element, see_tile, &tile);
  return tile;
}

Test(collectives, within_a_replica_each_part_has_its_own_or_all)
{
  float in[REPLICAS * PARTS * PART], out[REPLICAS * PARTS * PART];
  make_data(in, sizeof in / sizeof *in);
  for (int what = 0; what < WITHIN; what++) {
    bench x = new_bench(LOADED_FOR_EACH, POP_FLOAT, PARTS * PART);
    pop_tensor data = pop_tensor_reshape(x.data, (const size_t[]){PARTS, PART}, 2);
    pop_tensor result = pop_tensor_flatten(within((what_within)what, &x, data));
    for (size_t i = 0; i < PARTS * PART; i++)
      cr_assert_eq(tile_of(x.graph, pop_tensor_slice(result, i, i + 1, 0)),
                   tile_of(x.graph, pop_tensor_slice(x.data, i, i + 1, 0)));
    run(&x, result, in, out, sizeof out / REPLICAS);
    for (int k = 0; k < REPLICAS * PARTS * PART; k++) {
      const float *own = in + k / (PARTS * PART) * PARTS * PART;
      cr_assert_eq(out[k], expected_within((what_within)what, own, k / PART % PARTS, k % PART),
                   "%d: element %d", what, k);
    }
    free_bench(&x);
  }
}

/* 7 elements in each of two parts: chunks of 4 and 3, each on the tile of its part. */
Test(collectives, within_a_replica_each_part_gets_a_chunk_and_then_all)
{
  enum { PARTS = 2, COUNT = 7 };
  float in[REPLICAS * PARTS * COUNT], out[REPLICAS * PARTS * COUNT];
  for (int local = 0; local < 2; local++) {
    bench x = new_bench(LOADED_FOR_EACH, POP_FLOAT, PARTS * COUNT);
    make_data(in, sizeof in / sizeof *in);
    pop_tensor data = pop_tensor_reshape(x.data, (const size_t[]){PARTS, COUNT}, 2);
    pop_tensor chunks = pop_gcl_reduce_scatter_within(
        x.graph, data, local ? POP_COLLECTIVE_LOCAL : POP_COLLECTIVE_MEAN, x.main, "scatter");
    for (size_t i = 0; i < COUNT; i++)
      cr_assert_eq(tile_of(x.graph, pop_tensor_slice(chunks, i, i + 1, 0)),
                   tile_of(x.graph, pop_tensor_slice(x.data, i < 4 ? i : COUNT + i,
                                                     (i < 4 ? i : COUNT + i) + 1, 0)));
    pop_tensor result = pop_gcl_all_gather_within(x.graph, chunks, PARTS, x.main, "gather");
    cr_assert_eq(tile_of(x.graph, pop_tensor_slice(pop_tensor_index(result, 1), 0, 1, 0)),
                 tile_of(x.graph, pop_tensor_slice(chunks, 4, 5, 0)));
    run(&x, result, in, out, sizeof out / REPLICAS);
    for (int r = 0; r < REPLICAS; r++)
      for (int i = 0; i < PARTS * COUNT; i++) {
        const float *own = in + r * PARTS * COUNT;
        int e = i % COUNT;
        float wanted = local ? own[e < 4 ? e : COUNT + e] : (own[e] + own[COUNT + e]) / 2;
        cr_assert_eq(out[r * PARTS * COUNT + i], wanted, "%d, replica %d, element %d", local, r, i);
      }
    free_bench(&x);
  }
}

/* ---- cost and refused calls ---- */

/* Both halves of the ring send each replica's chunk once a step: eight times the data are eight
 * times the bytes. The target gives the links' time for both. */
Test(collectives, time_is_that_of_the_ring)
{
  enum { FEW = 4 * 64, MANY = 8 * FEW };
  uint64_t cycles[2];
  pop_target target;
  float *in = pop_xcalloc(REPLICAS * MANY, sizeof *in),
        *out = pop_xcalloc(REPLICAS * MANY, sizeof *out);
  expect_ok(pop_target_create("ipu2", 1, &target));
  for (int i = 0; i < 2; i++) {
    size_t count = i ? MANY : FEW;
    bench x = new_bench(LOADED_FOR_EACH, POP_FLOAT, count);
    pop_tensor result = pop_gcl_all_reduce(x.graph, x.data, POP_COLLECTIVE_ADD, groups[0],
                                           (pop_tensor){0}, x.main, "reduce");
    cycles[i] = run(&x, result, in, out, count * sizeof *out);
    free_bench(&x);
  }
  uint64_t steps = 2 * (REPLICAS - 1);
  uint64_t chunk_bytes = (MANY - FEW) / REPLICAS * sizeof(float);
  cr_assert_gt(cycles[0], steps * target.global_latency_cycles);
  cr_assert_gt(cycles[1] - cycles[0], steps * chunk_bytes / target.global_bytes_per_cycle / 2);
  free(in);
  free(out);
}

Test(collectives, mistakes_are_named)
{
  bench x = new_bench(LOADED_FOR_EACH, POP_FLOAT, 8);
  pop_gcl_all_reduce(x.graph, x.data, POP_COLLECTIVE_ADD, (pop_comm_group){POP_COMM_CONSECUTIVE, 3},
                     (pop_tensor){0}, x.main, "r");
  assert_error(x.graph, POP_ERROR_INVALID_ARGUMENT,
               (const char *[5]){"pop_gcl_all_reduce", "groups of 3 replicas", "has 4"}, "size");
  free_bench(&x);
  x = new_bench(LOADED_FOR_EACH, POP_INT, 8);
  pop_gcl_all_reduce(x.graph, x.data, POP_COLLECTIVE_MEAN, groups[0], (pop_tensor){0}, x.main, "r");
  assert_error(x.graph, POP_ERROR_TYPE, (const char *[5]){"mean is of float or half, not of int"},
               "mean");
  free_bench(&x);
  x = new_bench(LOADED_FOR_EACH, POP_FLOAT, 8);
  pop_gcl_all_reduce(x.graph, x.data, POP_COLLECTIVE_LOGICAL_AND, groups[0], (pop_tensor){0},
                     x.main, "r");
  assert_error(
      x.graph, POP_ERROR_TYPE,
      (const char *[5]){"pop_gcl_all_reduce: a logical operation is of bool, not of float"}, "and");
  free_bench(&x);
  for (kind of = 0; of < KINDS; of++) {
    x = new_bench(of, POP_BOOL, 8);
    pop_gcl_all_reduce(x.graph, x.data, POP_COLLECTIVE_ADD, groups[0], (pop_tensor){0}, x.main,
                       "r");
    assert_error(x.graph, POP_ERROR_TYPE,
                 (const char *[5]){"pop_gcl_all_reduce: ADD is of float, half, int or unsigned int",
                                   "not of bool"},
                 "sum of bools");
    free_bench(&x);
    x = new_bench(of, POP_SHORT, 8);
    pop_gcl_reduce_scatter(x.graph, x.data, POP_COLLECTIVE_SQUARE_ADD, groups[0], x.main, "r");
    assert_error(x.graph, POP_ERROR_TYPE,
                 (const char *[5]){"pop_gcl_reduce_scatter: SQUARE_ADD is of", "not of short"},
                 "squares of shorts");
    free_bench(&x);
  }
  x = new_bench(LOADED_FOR_EACH, POP_INT, 8);
  pop_gcl_all_to_all_within(x.graph, pop_tensor_reshape(x.data, (const size_t[]){4, 2}, 2), x.main,
                            "r");
  assert_error(x.graph, POP_ERROR_TENSOR,
               (const char *[5]){"second dimension has to be the number of parts, 4"}, "square");
  free_bench(&x);
  x = new_bench(LOADED_FOR_EACH, POP_INT, 8);
  pop_gcl_broadcast_within(x.graph, pop_tensor_reshape(x.data, (const size_t[]){4, 2}, 2), 4,
                           x.main, "r");
  assert_error(x.graph, POP_ERROR_INVALID_ARGUMENT, (const char *[5]){"there is no part 4 of 4"},
               "root");
  free_bench(&x);
  x = new_bench(LOADED_FOR_EACH, POP_INT, 8);
  pop_gcl_all_to_all(x.graph, x.data, groups[0], x.main, "r");
  assert_error(x.graph, POP_ERROR_TENSOR,
               (const char *[5]){"first dimension has to be the size of the groups, 4"}, "rows");
  free_bench(&x);
  x = new_bench(LOADED_FOR_EACH, POP_INT, 8);
  pop_gcl_broadcast(x.graph, x.data, groups[1], 2, x.main, "r");
  assert_error(x.graph, POP_ERROR_INVALID_ARGUMENT,
               (const char *[5]){"no position 2 in a group of 2"}, "root");
  free_bench(&x);
}
