/* Tile mapping against a model with one tile number per element, for all orders of calls. */
#include "support/graph_test.h"
#include "support/random.h"

#include <stdlib.h>

enum { ELEMENTS = 400, TILES = 5, UNMAPPED = -1 };

static uint64_t random_state;

static size_t choose(size_t limit)
{
  return random_below(&random_state, (uint32_t)limit);
}

/* The mapping of variable 0 equals `tiles`; it is ordered, disjoint and has as few intervals as
 * possible. */
static void assert_mapping(pop_graph *graph, const int *tiles, size_t count, const char *when)
{
  assert_no_error(graph);
  size_t num_intervals, element = 0;
  const mapping_interval *intervals = graph_mapping(graph, 0, &num_intervals);
  for (size_t i = 0; i < num_intervals; i++) {
    for (; element < intervals[i].begin; element++)
      cr_assert_eq(tiles[element], UNMAPPED, "%s: element %zu", when, element);
    cr_assert_lt(intervals[i].begin, intervals[i].end, "%s: empty interval", when);
    for (; element < intervals[i].end; element++)
      cr_assert_eq(tiles[element], (int)intervals[i].tile, "%s: element %zu", when, element);
    if (i > 0 && intervals[i].begin == intervals[i - 1].end)
      cr_assert_neq(intervals[i].tile, intervals[i - 1].tile, "%s: two intervals are one", when);
  }
  for (; element < count; element++)
    cr_assert_eq(tiles[element], UNMAPPED, "%s: element %zu", when, element);
}

static void map(pop_graph *graph, pop_tensor v, int *tiles, size_t begin, size_t end, int tile)
{
  pop_graph_set_tile_mapping(graph, pop_tensor_slice(v, begin, end, 0), (size_t)tile);
  for (size_t i = begin; i < end; i++) tiles[i] = tile;
}

Test(mapping, later_calls_win_whatever_their_order)
{
  for (uint64_t seed = 1; seed <= 200; seed++) {
    random_state = seed;
    pop_graph *graph = new_graph_with_tiles(TILES);
    const size_t shape[] = {ELEMENTS};
    pop_tensor v = pop_graph_add_variable(graph, POP_FLOAT, shape, 1, "v");
    int tiles[ELEMENTS];
    for (size_t i = 0; i < ELEMENTS; i++) tiles[i] = UNMAPPED;
    size_t num_calls = choose(150);
    char when[40];
    snprintf(when, sizeof when, "seed %llu", (unsigned long long)seed);
    for (size_t i = 0; i < num_calls; i++) {
      size_t begin = choose(ELEMENTS), length = choose(1 + choose(60));
      size_t end = begin + length < ELEMENTS ? begin + length : ELEMENTS;
      map(graph, v, tiles, begin, end, (int)choose(TILES));
      if (choose(30) == 0) assert_mapping(graph, tiles, ELEMENTS, when);
    }
    assert_mapping(graph, tiles, ELEMENTS, when);
    pop_graph_free(graph);
  }
}

Test(mapping, views_map_the_elements_that_they_show)
{
  pop_graph *graph = new_graph_with_tiles(TILES);
  pop_tensor m = pop_graph_add_variable(graph, POP_INT, (const size_t[]){4, 3}, 2, "m");
  pop_graph_set_tile_mapping(graph, pop_tensor_slice(m, 1, 2, 1), 2); /* a column */
  pop_graph_set_tile_mapping(graph, pop_tensor_reverse(pop_tensor_index(m, 3), 0), 1);
  pop_tensor corner = pop_tensor_slice_nd(m, (const size_t[]){0, 2}, (const size_t[]){1, 3}, 2);
  pop_graph_set_tile_mapping(graph, pop_tensor_broadcast(corner, (size_t)1 << 50, 0), 4);
  const int n = UNMAPPED, tiles[] = {n, 2, 4, n, 2, n, n, 2, n, 1, 1, 1};
  assert_mapping(graph, tiles, 12, "views");
  pop_graph_free(graph);
}

Test(mapping, calls_in_ascending_order_keep_the_list_in_order)
{
  pop_graph *graph = new_graph();
  pop_tensor v = pop_graph_add_variable(graph, POP_FLOAT, (const size_t[]){100000}, 1, "v");
  for (size_t i = 0; i < 100000; i++)
    pop_graph_set_tile_mapping(graph, pop_tensor_index(v, i), i / 100);
  assert_no_error(graph);
  cr_assert(graph->variables[0].mapping_sorted);
  cr_assert_eq(graph->variables[0].num_mapping, 1000);
  pop_graph_free(graph);
}

Test(mapping, a_list_does_not_grow_when_the_same_is_said_again)
{
  pop_graph *graph = new_graph_with_tiles(TILES);
  pop_tensor v = pop_graph_add_variable(graph, POP_FLOAT, (const size_t[]){64}, 1, "v");
  int tiles[64];
  for (int round = 0; round < 1000; round++)
    for (size_t i = 64; i-- > 0;) map(graph, v, tiles, i, i + 1, (int)(i + (size_t)round) % TILES);
  cr_assert_leq(graph->variables[0].mapping_capacity, 512);
  assert_mapping(graph, tiles, 64, "all rounds");
  pop_graph_free(graph);
}

/* ---- map_linearly ---- */

Test(mapping, map_linearly_gives_each_tile_the_same_number_of_elements)
{
  static const struct {
    pop_type type;
    size_t elements, tiles, at_least, grain, per_tile;
  } cases[] = {
      {POP_INT, 10, 4, 0, 0, 3},
      {POP_HALF, 10, 4, 1, 1, 3},
      {POP_HALF, 12, 4, 0, 1, 3},
      {POP_INT, 10, 4, 5, 0, 5},
      {POP_HALF, 10, 4, 0, 4, 4},
      {POP_HALF, 10, 4, 5, 4, 8},
      {POP_INT, 3, 4, 0, 0, 1},
      {POP_HALF, 10, 4, SIZE_MAX, 7, 10},
      {POP_HALF, 10, 4, 0, SIZE_MAX, 10},
      {POP_HALF, 0, 4, 0, 0, 1},
      {POP_HALF, 10, 1, 0, 0, 10},
      {POP_HALF, 10, 4, 100, 0, 10},
      /* Whole words, unless the call asks for something else. */
      {POP_HALF, 10, 4, 0, 0, 4},
      {POP_HALF, 3, 4, 0, 0, 2},
      {POP_HALF, 10, 4, 5, 0, 6},
      {POP_BOOL, 10, 4, 0, 0, 4},
      {POP_CHAR, 13, 2, 0, 0, 8},
      {POP_LONGLONG, 10, 4, 0, 0, 3},
  };
  for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
    pop_graph *graph = new_graph_with_tiles((uint32_t)cases[c].tiles);
    pop_tensor v = pop_graph_add_variable(graph, cases[c].type, &cases[c].elements, 1, "v");
    pop_graph_map_linearly(graph, v, cases[c].at_least, cases[c].grain);
    int tiles[16];
    for (size_t i = 0; i < cases[c].elements; i++) tiles[i] = (int)(i / cases[c].per_tile);
    char when[20];
    snprintf(when, sizeof when, "case %zu", c);
    assert_mapping(graph, tiles, cases[c].elements, when);
    pop_graph_free(graph);
  }
}

Test(mapping, map_linearly_counts_in_the_order_of_the_view)
{
  pop_graph *graph = new_graph_with_tiles(3);
  pop_tensor m = pop_graph_add_variable(graph, POP_INT, (const size_t[]){2, 3}, 2, "m");
  pop_graph_map_linearly(graph, pop_tensor_transpose(m), 0, 0);
  const int tiles[] = {0, 1, 2, 0, 1, 2};
  assert_mapping(graph, tiles, 6, "transposed");
  pop_graph_free(graph);
}

/* Elements that are repeated are mapped by their last repetition. The number of repetitions costs
 * no time. */
Test(mapping, map_linearly_of_a_broadcast)
{
  enum { ROWS = 3, TIMES = 4 };
  pop_graph *graph = new_graph_with_tiles(4);
  pop_tensor rows = pop_graph_add_variable(graph, POP_INT, (const size_t[]){ROWS}, 1, "rows");
  pop_tensor inner = pop_tensor_broadcast(pop_tensor_expand(rows, 1), TIMES, 1);
  pop_graph_map_linearly(graph, inner, 0, 0); /* 0 0 0 | 0 1 1 | 1 1 2 | 2 2 2 */
  const int last_of_row[] = {1, 2, 3};
  assert_mapping(graph, last_of_row, ROWS, "each row several times");
  pop_graph_map_linearly(graph, pop_tensor_broadcast(rows, TIMES, 0), 0, 0); /* 0 1 2 | 0 1 2 | … */
  const int last_round[] = {3, 3, 3};
  assert_mapping(graph, last_round, ROWS, "all rows several times");
  pop_tensor huge = pop_tensor_broadcast(pop_tensor_broadcast(rows, 1u << 31, 0), 1u << 20, 0);
  pop_graph_map_linearly(graph, huge, 0, 0);
  assert_mapping(graph, last_round, ROWS, "2^51 times");
  pop_graph_free(graph);
}

/* ---- visit_tile_mapping ---- */

typedef struct visited {
  size_t count;
  size_t runs[16][3]; /* tile, begin, end */
} visited;

static void note(void *context, size_t tile, size_t begin, size_t end)
{
  visited *v = context;
  cr_assert_lt(v->count, 16);
  v->runs[v->count][0] = tile;
  v->runs[v->count][1] = begin;
  v->runs[v->count++][2] = end;
}

static void assert_visited(pop_graph *graph, pop_tensor t, const size_t (*runs)[3], size_t count)
{
  visited v = {0};
  pop_graph_visit_tile_mapping(graph, t, note, &v);
  assert_no_error(graph);
  cr_assert_eq(v.count, count, "%zu runs instead of %zu", v.count, count);
  cr_assert_arr_eq(v.runs, runs, count * sizeof *runs);
}

Test(mapping, visits_runs_of_a_view_joined_by_tile_with_gaps)
{
  pop_graph *graph = new_graph_with_tiles(4);
  pop_tensor v = pop_graph_add_variable(graph, POP_INT, (const size_t[]){10}, 1, "v");
  pop_tensor w = pop_graph_add_variable(graph, POP_INT, (const size_t[]){4}, 1, "w");
  pop_graph_set_tile_mapping(graph, pop_tensor_slice(v, 2, 5, 0), 1);
  pop_graph_set_tile_mapping(graph, pop_tensor_slice(v, 5, 8, 0), 3);
  pop_graph_set_tile_mapping(graph, w, 3);
  const pop_tensor parts[] = {pop_tensor_slice(v, 0, 8, 0), w, pop_tensor_reverse(v, 0)};
  const size_t runs[][3] = {{SIZE_MAX, 0, 2}, {1, 2, 5},   {3, 5, 12},        {SIZE_MAX, 12, 14},
                            {3, 14, 17},      {1, 17, 20}, {SIZE_MAX, 20, 22}};
  assert_visited(graph, pop_concat(parts, 3, 0), runs, 7);
  assert_visited(graph, pop_tensor_slice(v, 3, 3, 0), runs, 0);
  pop_graph_free(graph);
}

/* A step for each element would take hours. */
Test(mapping, visits_of_huge_views_take_a_step_for_a_run)
{
  enum { ROWS = 3, TIMES = 1 << 20 };
  pop_graph *graph = new_graph_with_tiles(4);
  pop_tensor rows = pop_graph_add_variable(graph, POP_INT, (const size_t[]){ROWS}, 1, "rows");
  pop_graph_set_tile_mapping(graph, pop_tensor_slice(rows, 1, 3, 0), 2);
  pop_tensor wide = pop_tensor_broadcast(pop_tensor_expand(rows, 1), (size_t)1 << 60, 1);
  const size_t each_row[][3] = {{SIZE_MAX, 0, (size_t)1 << 60},
                                {2, (size_t)1 << 60, (size_t)3 << 60}};
  assert_visited(graph, wide, each_row, 2);
  pop_graph_set_tile_mapping(graph, rows, 1);
  pop_tensor high = pop_tensor_broadcast(rows, (size_t)1 << 59, 0);
  const size_t all[][3] = {{1, 0, (size_t)3 << 59}};
  assert_visited(graph, high, all, 1);

  pop_tensor m = pop_graph_add_variable(graph, POP_HALF, (const size_t[]){TIMES, 4000}, 2, "m");
  pop_graph_set_tile_mapping(graph, pop_tensor_slice(m, 0, TIMES / 2, 0), 3);
  pop_graph_set_tile_mapping(graph, pop_tensor_slice(m, TIMES / 2, TIMES, 0), 0);
  pop_tensor two = pop_tensor_slice(pop_tensor_transpose(m), 7, 9, 0);
  const size_t halves[][3] = {{3, 0, TIMES / 2},
                              {0, TIMES / 2, TIMES},
                              {3, TIMES, TIMES / 2 * 3},
                              {0, TIMES / 2 * 3, TIMES * 2}};
  assert_visited(graph, two, halves, 4);
  const size_t backwards[][3] = {{0, 0, TIMES / 2},
                                 {3, TIMES / 2, TIMES},
                                 {0, TIMES, TIMES / 2 * 3},
                                 {3, TIMES / 2 * 3, TIMES * 2}};
  assert_visited(graph, pop_tensor_reverse(two, 1), backwards, 4);
  pop_graph_free(graph);
}

typedef struct follower {
  pop_graph *graph;
  pop_tensor to;
} follower;

/* Maps the same elements of another tensor, which makes views. */
static void follow(void *context, size_t tile, size_t begin, size_t end)
{
  const follower *f = context;
  pop_tensor part = pop_tensor_slice(f->to, begin, end, 0);
  pop_graph_set_tile_mapping(f->graph, pop_tensor_reverse(pop_tensor_sub_sample(part, 2, 0), 0),
                             tile);
  pop_graph_set_tile_mapping(f->graph, part, tile);
}

/* Enough views for the graph's arrays to grow several times. */
Test(mapping, a_visit_may_map_other_tensors)
{
  enum { ROWS = 300, COLUMNS = 100, COUNT = ROWS * COLUMNS };
  static int tiles[COUNT];
  pop_graph *graph = new_graph_with_tiles(4);
  follower f = {graph, pop_graph_add_variable(graph, POP_INT, (const size_t[]){COUNT}, 1, "to")};
  pop_tensor m = pop_graph_add_variable(graph, POP_INT, (const size_t[]){ROWS, COLUMNS}, 2, "m");
  for (size_t r = 0; r < ROWS; r++)
    pop_graph_set_tile_mapping(graph, pop_tensor_index(m, r), r % 4);
  const pop_tensor parts[] = {pop_tensor_slice(pop_tensor_transpose(m), 0, 50, 0),
                              pop_tensor_slice(pop_tensor_transpose(m), 50, COLUMNS, 0)};
  pop_graph_visit_tile_mapping(graph, pop_concat(parts, 2, 0), follow, &f);
  for (size_t i = 0; i < COUNT; i++) tiles[i] = (int)(i % ROWS % 4);
  assert_mapping(graph, tiles, COUNT, "followed");
  pop_graph_free(graph);
}

/* ---- refused calls ---- */

Test(mapping, P05_tile_that_the_target_does_not_have)
{
  static const struct {
    size_t tiles, tile;
    const char *words[5];
  } cases[] = {
      {4, 4, {"pop_graph_set_tile_mapping", "tile 4", "float tensor {7} of 'weights'", "0 to 3"}},
      {1472, 1472, {"tile 1472", "0 to 1471"}},
      {1, SIZE_MAX, {"18446744073709551615", "0 to 0"}},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    pop_graph *graph = new_graph_with_tiles((uint32_t)cases[i].tiles);
    pop_tensor v = pop_graph_add_variable(graph, POP_FLOAT, (const size_t[]){7}, 1, "weights");
    pop_graph_set_tile_mapping(graph, v, cases[i].tile);
    assert_error(graph, POP_ERROR_INVALID_TILE_MAPPING, cases[i].words, "tile out of range");
    pop_graph_free(graph);
  }
}

Test(mapping, P01_null_tensors_and_tensors_of_other_graphs)
{
  pop_graph *graph = new_graph(), *other = new_graph();
  pop_tensor v = pop_graph_add_variable(other, POP_FLOAT, NULL, 0, "v");
  pop_graph_set_tile_mapping(graph, v, 0);
  assert_error(graph, POP_ERROR_INVALID_ARGUMENT, (const char *[5]){"another graph"}, "foreign");
  pop_graph_set_tile_mapping(other, (pop_tensor){0}, 0);
  assert_error(other, POP_ERROR_INVALID_ARGUMENT, (const char *[5]){"null"}, "null");
  pop_graph_set_tile_mapping(NULL, v, 0);
  pop_graph_free(graph);
  pop_graph_free(other);
}
