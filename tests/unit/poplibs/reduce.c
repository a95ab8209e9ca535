/* Reductions of matrices with all kinds of mappings, against loops on the host, and the number of
 * exchanged elements. Also errors of wrong dimensions. */
#include "compiler/compilation.h"
#include "support/expect.h"
#include "support/graph_test.h"
#include "support/random.h"

#include <populus/engine.h>
#include <populus/popops.h>
#include <stdlib.h>
#include <string.h>

TestSuite(reduce, .init = enter_fresh_folder);

enum { TILES = 24, MOST = 40 * 600 };

typedef struct problem {
  size_t rows, columns;
  size_t parts
      [2]; /* of rows and columns that lie on a tile each; 0: elements as they come, linearly */
  bool irregular;  /* some element is mapped elsewhere */
  bool transposed; /* rows are reduced */
  pop_type type, result;
  pop_reduction how;
} problem;

static void map_parts(pop_graph *graph, pop_tensor t, const problem *p)
{
  if (p->parts[0] == 0) {
    pop_graph_map_linearly(graph, t, 0, 0);
    return;
  }
  for (size_t i = 0; i < p->parts[0]; i++)
    for (size_t j = 0; j < p->parts[1]; j++) {
      const size_t begin[] = {i * p->rows / p->parts[0], j * p->columns / p->parts[1]};
      const size_t end[] = {(i + 1) * p->rows / p->parts[0], (j + 1) * p->columns / p->parts[1]};
      pop_graph_set_tile_mapping(graph, pop_tensor_slice_nd(t, begin, end, 2),
                                 (i * p->parts[1] + j + 3) % TILES);
    }
  if (p->irregular)
    pop_graph_set_tile_mapping(graph, pop_tensor_slice(pop_tensor_flatten(t), 1, 2, 0), TILES - 1);
}

static size_t count_outs(const problem *p)
{
  return p->transposed ? p->columns : p->rows;
}

/* The reduction of small integers, which is the same for all orders of additions. */
static float expected(const problem *p, const float *values, size_t out, float before)
{
  size_t length = p->transposed ? p->rows : p->columns;
  double result = 0;
  for (size_t i = 0; i < length; i++) {
    double x = values[p->transposed ? i * p->columns + out : out * p->columns + i];
    if (p->how.op == POP_REDUCE_SQUARE_ADD) x *= x;
    bool first = i == 0;
    if (p->how.op == POP_REDUCE_MAX)
      result = first || x > result ? x : result;
    else if (p->how.op == POP_REDUCE_MIN)
      result = first || x < result ? x : result;
    else
      result += x;
  }
  if (!p->how.update) return (float)result;
  if (p->how.op == POP_REDUCE_MAX) return result > before ? (float)result : before;
  if (p->how.op == POP_REDUCE_MIN) return result < before ? (float)result : before;
  return (float)(result + before);
}

static void to_type(pop_type type, const float *values, size_t count, void *out)
{
  for (size_t i = 0; i < count; i++)
    if (type == POP_HALF)
      ((uint16_t *)out)[i] = pop_half_from_float(values[i]);
    else if (type == POP_INT)
      ((int32_t *)out)[i] = (int32_t)values[i];
    else
      ((float *)out)[i] = values[i];
}

static float from_type(pop_type type, const void *in, size_t i)
{
  if (type == POP_HALF) return pop_half_to_float(((const uint16_t *)in)[i]);
  return type == POP_INT ? (float)((const int32_t *)in)[i] : ((const float *)in)[i];
}

/* The caller frees `values`. */
static pop_graph *new_reduction(const problem *p, float *values, pop_program *main)
{
  float before[60];
  uint32_t bits[MOST];
  pop_graph *graph = new_graph_with_tiles(TILES);
  pop_popops_add_codelets(graph);
  *main = pop_program_sequence(graph, "main");
  pop_tensor t =
      pop_graph_add_variable(graph, p->type, (size_t[]){p->rows, p->columns}, 2, "matrix");
  map_parts(graph, t, p);
  for (size_t i = 0; i < p->rows * p->columns; i++) values[i] = (float)(i * 7 % 11) - 5;
  to_type(p->type, values, p->rows * p->columns, bits);
  pop_graph_set_initial_value(graph, t, bits);
  size_t outs = count_outs(p);
  pop_tensor out = pop_graph_add_variable(graph, p->result, &outs, 1, "out");
  pop_graph_map_linearly(graph, out, 0, 0);
  for (size_t i = 0; i < outs; i++) before[i] = (float)i / 2 - 3;
  if (p->result == POP_INT)
    for (size_t i = 0; i < outs; i++) before[i] = (float)(int)before[i];
  to_type(p->result, before, outs, bits);
  pop_graph_set_initial_value(graph, out, bits);
  pop_popops_reduce(graph, t, (const size_t[]){p->transposed ? 0 : 1}, 1, p->how, out, *main, NULL,
                    NULL, "reduce");
  pop_graph_create_host_read(graph, "out", out);
  assert_no_error(graph);
  return graph;
}

static void check_problem(const problem *p, size_t number)
{
  float values[MOST];
  uint32_t is[60];
  pop_program main;
  pop_graph *graph = new_reduction(p, values, &main);
  pop_engine *engine;
  const pop_option verify = {"debug.verify", "true"};
  expect_ok(pop_engine_create(graph, &main, 1, &verify, 1, &engine));
  expect_ok(pop_engine_load(engine));
  expect_ok(pop_engine_run(engine, 0));
  size_t outs = count_outs(p);
  expect_ok(pop_engine_read_tensor(engine, "out", is, outs * pop_type_bytes(p->result)));
  for (size_t i = 0; i < outs; i++) {
    float before = (float)i / 2 - 3, want = expected(p, values, i, before);
    if (p->result == POP_INT) want = expected(p, values, i, (float)(int)before);
    cr_assert_eq(from_type(p->result, is, i), want,
                 "problem %zu: [%zu, %zu], element %zu is %g, not %g", number, p->rows, p->columns,
                 i, (double)from_type(p->result, is, i), (double)want);
  }
  pop_engine_free(engine);
  pop_graph_free(graph);
}

Test(reduce, rows_and_columns_however_they_lie)
{
  static const pop_reduce_op ops[] = {POP_REDUCE_ADD, POP_REDUCE_SQUARE_ADD, POP_REDUCE_MAX,
                                      POP_REDUCE_MIN};
  static const pop_type types[] = {POP_FLOAT, POP_HALF, POP_INT};
  uint64_t r = 11;
  for (size_t i = 0; i < 80; i++) {
    problem p = {.rows = 1 + random_below(&r, 40), .columns = 1 + random_below(&r, 60)};
    if (random_below(&r, 4)) {
      p.parts[0] = 1 + random_below(&r, p.rows < 6 ? p.rows : 6);
      p.parts[1] = 1 + random_below(&r, p.columns < 7 ? p.columns : 7);
    }
    p.irregular = random_below(&r, 5) == 0 && p.rows * p.columns > 1;
    p.transposed = random_below(&r, 2);
    p.type = p.result = types[random_below(&r, 3)];
    if (p.type == POP_HALF && random_below(&r, 2)) p.result = POP_FLOAT;
    p.how.op = ops[random_below(&r, 4)];
    if (p.type == POP_INT && p.how.op == POP_REDUCE_SQUARE_ADD) p.how.op = POP_REDUCE_ADD;
    p.how.update = random_below(&r, 2);
    check_problem(&p, i);
  }
}

/* Programs for the CPU may use a million tiles, although its target says one. */
Test(reduce, rows_on_far_tiles_of_the_cpu)
{
  enum { COLUMNS = 200, FAR = 900000 };
  graphs_for_cpu = true;
  pop_graph *graph = new_graph();
  pop_popops_add_codelets(graph);
  pop_program main = pop_program_sequence(graph, "main");
  float values[2 * COLUMNS], sums[2];
  for (size_t i = 0; i < 2 * COLUMNS; i++) values[i] = i < COLUMNS ? 1 : 2;
  pop_tensor t = pop_graph_add_variable(graph, POP_FLOAT, (size_t[]){2, COLUMNS}, 2, "matrix"), sum;
  pop_graph_set_tile_mapping(graph, t, 1);
  pop_graph_set_tile_mapping(graph, pop_tensor_slice(t, COLUMNS / 2, COLUMNS, 1), FAR);
  pop_graph_set_initial_value(graph, t, values);
  sum = pop_popops_reduce(graph, t, (const size_t[]){1}, 1, (pop_reduction){.op = POP_REDUCE_ADD},
                          (pop_tensor){0}, main, NULL, NULL, "reduce");
  pop_graph_create_host_read(graph, "out", sum);
  assert_no_error(graph);
  pop_engine *engine;
  expect_ok(pop_engine_create(graph, &main, 1, NULL, 0, &engine));
  expect_ok(pop_engine_load(engine));
  expect_ok(pop_engine_run(engine, 0));
  expect_ok(pop_engine_read_tensor(engine, "out", sums, sizeof sums));
  cr_assert(sums[0] == COLUMNS && sums[1] == 2 * COLUMNS);
  pop_engine_free(engine);
  pop_graph_free(graph);
}

static size_t words_exchanged(const problem *p)
{
  float values[MOST];
  pop_program main;
  pop_graph *graph = new_reduction(p, values, &main);
  uint32_t program = main.index - 1;
  const compile_options options = {.exchange_target = EXCHANGE_FOR_CYCLES};
  compilation *c;
  expect_ok(compile(graph, &program, 1, &options, &c));
  size_t words = 0;
  for (size_t i = 0; i < c->num_messages; i++) words += c->messages[i].num_words;
  compilation_free(c);
  pop_graph_free(graph);
  return words;
}

/* Like the result of a product: each of six tiles has a part of each row. */
Test(reduce, what_a_tile_has_of_a_row_is_reduced_there)
{
  const problem p = {.rows = 40,
                     .columns = 600,
                     .parts = {4, 6},
                     .type = POP_FLOAT,
                     .result = POP_FLOAT,
                     .how = {.op = POP_REDUCE_ADD}};
  cr_assert_leq(words_exchanged(&p), 40 * 6);
}

/* Rows on the tile of their result are not cut. */
Test(reduce, rows_on_the_tiles_of_their_results_stay_there)
{
  const problem p = {.rows = TILES,
                     .columns = 60,
                     .type = POP_FLOAT,
                     .result = POP_FLOAT,
                     .how = {.op = POP_REDUCE_MAX}};
  cr_assert_eq(words_exchanged(&p), 0);
}

/* The tensor is not mapped. The compiler reports that. */
Test(reduce, what_is_on_no_tile)
{
  enum { ROWS = 2, COLUMNS = 3000 };
  static const float ones[ROWS * COLUMNS];
  const size_t shape[] = {ROWS, COLUMNS};
  for (int is_constant = 0; is_constant < 2; is_constant++) {
    pop_graph *graph = new_graph_with_tiles(TILES);
    pop_popops_add_codelets(graph);
    pop_program main = pop_program_sequence(graph, "main");
    pop_tensor t = is_constant ? pop_graph_add_constant(graph, POP_FLOAT, shape, 2, ones, "lost")
                               : pop_graph_add_variable(graph, POP_FLOAT, shape, 2, "lost");
    pop_popops_reduce(graph, t, (const size_t[]){1}, 1, (pop_reduction){.op = POP_REDUCE_ADD},
                      (pop_tensor){0}, main, NULL, NULL, "reduce");
    assert_no_error(graph);
    pop_engine *engine;
    pop_error *error = pop_engine_create(graph, &main, 1, NULL, 0, &engine);
    cr_assert_not_null(error);
    cr_expect(strstr(pop_error_message(error), "'lost'"), "%s", pop_error_message(error));
    pop_error_free(error);
    pop_graph_free(graph);
  }
}

static pop_tensor reduce_ones(pop_graph *graph, const size_t *dimensions, size_t count)
{
  const size_t shape[] = {2, 3};
  pop_popops_add_codelets(graph);
  return pop_popops_reduce(graph, pop_graph_add_variable(graph, POP_FLOAT, shape, 2, "t"),
                           dimensions, count, (pop_reduction){.op = POP_REDUCE_ADD},
                           (pop_tensor){0}, pop_program_sequence(graph, "main"), NULL, NULL, "sum");
}

static void no_list(pop_graph *graph)
{
  reduce_ones(graph, NULL, 1);
}

static void no_such_dimension(pop_graph *graph)
{
  reduce_ones(graph, (const size_t[]){2}, 1);
}

static void same_dimension(pop_graph *graph)
{
  reduce_ones(graph, (const size_t[]){1, 1}, 2);
}

static void null_tensor(pop_graph *graph)
{
  pop_popops_add_codelets(graph);
  pop_popops_reduce(graph, (pop_tensor){0}, (const size_t[]){0}, 1,
                    (pop_reduction){.op = POP_REDUCE_ADD}, (pop_tensor){0},
                    pop_program_sequence(graph, "main"), NULL, NULL, "sum");
}

Test(reduce, P02_dimensions_that_there_are_not)
{
  static const bad_call cases[] = {
      {no_list, POP_ERROR_INVALID_ARGUMENT, {"pop_popops_reduce", "1 dimensions", "NULL"}},
      {no_such_dimension, POP_ERROR_INDEX, {"pop_popops_reduce", "dimension 2", "rank 2"}},
      {same_dimension, POP_ERROR_INDEX, {"dimension 1", "twice"}},
      {null_tensor, POP_ERROR_TYPE, {"pop_popops_reduce"}},
  };
  assert_bad_calls(cases, sizeof cases / sizeof *cases);
}

/* The tensor is another graph's. The graph of the call gets the error, and the other one none. */
Test(reduce, P02_a_wrong_dimension_is_an_error_of_the_graph_of_the_call)
{
  const size_t shape[] = {2, 3};
  pop_graph *graph = new_graph(), *other = new_graph();
  pop_popops_add_codelets(graph);
  pop_popops_reduce(graph, pop_graph_add_variable(other, POP_FLOAT, shape, 2, "t"),
                    (const size_t[]){2}, 1, (pop_reduction){.op = POP_REDUCE_ADD}, (pop_tensor){0},
                    pop_program_sequence(graph, "main"), NULL, NULL, "sum");
  assert_error(graph, POP_ERROR_INDEX, (const char *[5]){"dimension 2"}, "graph");
  assert_no_error(other);
  pop_graph_free(other);
  pop_graph_free(graph);
}
