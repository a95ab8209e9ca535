/* Matrix products against sums of integers, which do not depend on the order of additions.
 * Shapes, tiles, types, layouts and memory are random. Also the promises of plans, and the
 * accuracy of their estimates. */
#include "compiler/compilation.h"
#include "poplibs/host/matmul_plan.h"
#include "support/expect.h"
#include "support/graph_test.h"
#include "support/random.h"

#include <populus/engine.h>
#include <populus/poplin.h>
#include <populus/popops.h>
#include <stdlib.h>

TestSuite(matmul, .init = enter_fresh_folder);

typedef struct problem {
  size_t groups, m, k, n;
  uint32_t tiles;
  pop_type type;
  pop_mat_mul_options options;
  bool transposed[2], created[2]; /* operands: transposed; created for the product */
} problem;

typedef struct bench {
  const problem *p;
  pop_graph *graph;
  pop_program main;
  pop_tensor operands[2], result;
  float *values[2];
  uint64_t cycles;
} bench;

static size_t count_of(const problem *p, int operand)
{
  return p->groups * p->k * (operand == 0 ? p->m : p->n);
}

static pop_tensor add_operand(const bench *b, int operand)
{
  static const char *const names[] = {"left", "right"};
  const problem *p = b->p;
  pop_mat_mul_sizes sizes = {p->groups, p->m, p->k, p->n};
  size_t shape[3] = {p->groups, operand == 0 ? p->m : p->k, operand == 0 ? p->k : p->n};
  pop_tensor t;
  if (p->created[operand]) {
    t = pop_poplin_create_mat_mul_input(b->graph, p->type,
                                        operand == 0 ? POP_MAT_MUL_LEFT : POP_MAT_MUL_RIGHT, sizes,
                                        &p->options, names[operand]);
  } else {
    size_t other[3] = {shape[0], shape[2], shape[1]};
    t = pop_graph_add_variable(b->graph, p->type, p->transposed[operand] ? other : shape, 3,
                               names[operand]);
    pop_graph_map_linearly(b->graph, t, 0, 0);
    if (p->transposed[operand]) t = pop_tensor_dim_shuffle(t, (size_t[]){0, 2, 1}, 3);
  }
  pop_graph_create_host_write(b->graph, names[operand], t);
  return t;
}

static bench new_bench(const problem *p)
{
  bench b = {.p = p, .graph = new_graph_with_tiles(p->tiles)};
  pop_popops_add_codelets(b.graph);
  pop_poplin_add_codelets(b.graph);
  b.main = pop_program_sequence(b.graph, "main");
  for (int o = 0; o < 2; o++) b.operands[o] = add_operand(&b, o);
  b.result = pop_poplin_mat_mul_grouped(b.graph, b.operands[0], b.operands[1], &p->options, b.main,
                                        "product");
  pop_graph_create_host_read(b.graph, "out", b.result);
  assert_no_error(b.graph);
  for (int o = 0; o < 2; o++) {
    b.values[o] = pop_xcalloc(count_of(p, o), sizeof *b.values[o]);
    for (size_t i = 0; i < count_of(p, o); i++) b.values[o][i] = (float)(i * 7 % 5) - 2;
  }
  return b;
}

static void free_bench(bench *b)
{
  for (int o = 0; o < 2; o++) free(b->values[o]);
  pop_graph_free(b->graph);
}

static float read_element(const void *data, pop_type type, size_t i)
{
  return type == POP_HALF ? pop_half_to_float(((const uint16_t *)data)[i])
                          : ((const float *)data)[i];
}

static void write_operand(const bench *b, pop_engine *engine, int operand, const char *name)
{
  size_t count = count_of(b->p, operand), bytes = count * pop_type_bytes(b->p->type);
  uint16_t *halves = pop_xcalloc(count, sizeof *halves);
  for (size_t i = 0; i < count; i++) halves[i] = pop_half_from_float(b->values[operand][i]);
  const void *data = b->p->type == POP_HALF ? (const void *)halves : b->values[operand];
  expect_ok(pop_engine_write_tensor(engine, name, data, bytes));
  free(halves);
}

static void *run(bench *b)
{
  pop_engine *engine;
  const pop_option verify = {"debug.verify", "true"};
  size_t bytes = b->p->groups * b->p->m * b->p->n * pop_type_bytes(b->p->options.output);
  void *out = pop_xcalloc(bytes, 1);
  expect_ok(pop_engine_create(b->graph, &b->main, 1, &verify, 1, &engine));
  expect_ok(pop_engine_load(engine));
  write_operand(b, engine, 0, "left");
  write_operand(b, engine, 1, "right");
  uint64_t before = pop_engine_cycles(engine);
  expect_ok(pop_engine_run(engine, 0));
  b->cycles = pop_engine_cycles(engine) - before;
  expect_ok(pop_engine_read_tensor(engine, "out", out, bytes));
  pop_engine_free(engine);
  return out;
}

static void check_result(const bench *b, const void *out)
{
  const problem *p = b->p;
  for (size_t g = 0; g < p->groups; g++)
    for (size_t i = 0; i < p->m; i++)
      for (size_t j = 0; j < p->n; j++) {
        float sum = 0;
        for (size_t k = 0; k < p->k; k++)
          sum += b->values[0][(g * p->m + i) * p->k + k] * b->values[1][(g * p->k + k) * p->n + j];
        float is = read_element(out, p->options.output, (g * p->m + i) * p->n + j);
        cr_assert_eq(is, sum,
                     "%zu x [%zu,%zu] x [%zu,%zu] on %u tiles: [%zu][%zu,%zu] is %g, not %g",
                     p->groups, p->m, p->k, p->k, p->n, p->tiles, g, i, j, (double)is, (double)sum);
      }
}

static void check_problem(const problem *p)
{
  bench b = new_bench(p);
  void *out = run(&b);
  check_result(&b, out);
  free(out);
  free_bench(&b);
}

static problem plain(size_t groups, size_t m, size_t k, size_t n, uint32_t tiles)
{
  return (problem){.groups = groups,
                   .m = m,
                   .k = k,
                   .n = n,
                   .tiles = tiles,
                   .type = POP_FLOAT,
                   .options = pop_mat_mul_default_options(POP_FLOAT)};
}

Test(matmul, products_of_all_kinds_are_exact)
{
  uint64_t r = 21;
  for (int i = 0; i < 24; i++) {
    problem p = plain(1 + random_below(&r, 3), 1 + random_below(&r, 40), 1 + random_below(&r, 90),
                      1 + random_below(&r, 40), 1 + random_below(&r, 30));
    if (random_below(&r, 3) == 0) {
      p.type = POP_HALF;
      p.options = pop_mat_mul_default_options(POP_HALF);
      p.options.partials = random_below(&r, 2) ? POP_HALF : POP_FLOAT;
    }
    static const double proportions[] = {.6, .02, .005, 0};
    p.options.memory_proportion = proportions[random_below(&r, 4)];
    for (int o = 0; o < 2; o++) {
      p.transposed[o] = random_below(&r, 2);
      p.created[o] = random_below(&r, 2);
    }
    check_problem(&p);
  }
}

Test(matmul, parts_hold_each_element_once)
{
  uint64_t r = 5;
  for (int i = 0; i < 2000; i++) {
    const product_shape shape = {.element_bytes = random_below(&r, 2) ? 2 : 4};
    size_t size = 1 + random_below(&r, 60), parts = 1 + random_below(&r, size), at = 0, largest = 0;
    product_cut cut = product_cut_of(&shape, size, parts);
    for (size_t n = 0; n < parts; n++) {
      product_part part = product_part_of(cut, n);
      cr_assert(part.begin == at && part.end > at, "part %zu of %zu of %zu: [%zu, %zu)", n, parts,
                size, part.begin, part.end);
      cr_assert(shape.element_bytes == 4 || 2 * parts > size || at % 2 == 0, "%zu of %zu: %zu", n,
                parts, at);
      for (; at < part.end; at++) cr_assert_eq(product_part_with(cut, at), n);
      if (part.end - part.begin > largest) largest = part.end - part.begin;
    }
    cr_assert(at == size && largest <= product_largest_part(cut), "%zu of %zu", parts, size);
  }
}

/* Products of 90, 20 and 46 elements, which are cut into odd parts. */
Test(matmul, products_of_halves_are_cut_at_words)
{
  static const uint32_t tiles[] = {2, 12, 28, 60};
  for (size_t i = 0; i < 2 * sizeof tiles / sizeof *tiles; i++) {
    problem p = plain(2, 90, 202, 46, tiles[i / 2]);
    p.type = POP_HALF;
    p.options = pop_mat_mul_default_options(POP_HALF);
    p.options.memory_proportion = i % 2 ? 0 : .02;
    p.transposed[0] = i % 2;
    check_problem(&p);
  }
}

static product_shape shape_of(const problem *p, const pop_target *target, size_t bytes)
{
  return (product_shape){.groups = p->groups,
                         .m = p->m,
                         .k = p->k,
                         .n = p->n,
                         .run = 1,
                         .element_bytes = 4,
                         .partial_bytes = 4,
                         .num_tiles = p->tiles,
                         .bytes = bytes,
                         .target = target};
}

/* Blocks that overlap their neighbours, of each shape that vertices have, in steps of several
 * lengths, each with an uneven end; with operands in either orientation. */
Test(matmul, edges_of_blocks_are_added_once)
{
  static const size_t sizes[][2] = {{4, 11}, {5, 9},  {11, 11}, {11, 4}, {13, 5}, {3, 17},
                                    {4, 7},  {17, 3}, {1, 11},  {47, 1}, {2, 2},  {9, 16}};
  static const unsigned blocks[] = {46, 64, 38, 83, 44, 18, 81, 11};
  bool seen[100] = {false};
  pop_target target;
  expect_ok(pop_target_create("ipu2", 1, &target));
  for (size_t i = 0; i < 4 * sizeof sizes / sizeof *sizes; i++) {
    problem p = plain(1, sizes[i / 4][0], 37, sizes[i / 4][1], 1);
    p.options.memory_proportion = .002;
    p.transposed[0] = i & 1;
    p.transposed[1] = i & 2;
    product_shape s = shape_of(&p, &target, (size_t)(.001 * target.memory_bytes));
    product_plan plan = product_find_plan(&s);
    seen[10 * plan.block_rows + plan.block_columns] = true;
    check_problem(&p);
  }
  for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
    cr_expect(seen[blocks[i]], "no product has blocks of %u x %u", blocks[i] / 10, blocks[i] % 10);
}

/* The two parts of an odd k differ by three halves, so that the shorter one ends before the last step
 * of the other one. */
Test(matmul, parts_end_in_different_steps)
{
  pop_target target;
  expect_ok(pop_target_create("ipu2", 1, &target));
  problem p = plain(1, 65, 1455, 8, 8);
  p.type = POP_HALF;
  p.options.memory_proportion = .013;
  product_shape s = shape_of(&p, &target, (size_t)(.013 / 2 * target.memory_bytes));
  s.element_bytes = 2;
  s.may_rotate = true;
  product_plan plan = product_find_plan(&s);
  product_cut depths = product_cut_of(&s, p.k, plan.depth);
  product_part first = product_part_of(depths, 0);
  size_t steps = (product_largest_part(depths) + plan.length - 1) / plan.length;
  cr_expect(steps > 3 && first.end - first.begin < (steps - 1) * plan.length,
            "%zu parts of k, %zu steps of %zu: take another product", plan.depth, steps,
            plan.length);
  check_problem(&p);
}

/* Rotating panels, of operands made for the product, which are unchanged after it, and of others;
 * with and without zeros after k; by groups; of halves. Everything is done twice. */
Test(matmul, panels_go_round)
{
  static const struct {
    size_t groups, m, k, n;
    uint32_t tiles;
    bool halves;
  } cases[] = {{1, 180, 183, 190, 36, false}, {1, 96, 256, 98, 16, false},
               {2, 80, 200, 84, 32, false},   {1, 100, 190, 92, 16, false},
               {1, 240, 288, 216, 36, true},  {3, 60, 300, 66, 48, false}};
  bool seen[2] = {false};
  for (size_t i = 0; i < 4 * sizeof cases / sizeof *cases; i++) {
    problem p = plain(cases[i / 4].groups, cases[i / 4].m, cases[i / 4].k, cases[i / 4].n,
                      cases[i / 4].tiles);
    if (cases[i / 4].halves) {
      p.type = POP_HALF;
      p.options = pop_mat_mul_default_options(POP_HALF);
    }
    p.options.memory_proportion = 0; /* the smallest */
    for (int o = 0; o < 2; o++) {
      p.created[o] = i >> o & 1;
      p.transposed[o] = i & 2;
    }
    bench b = new_bench(&p);
    product_shape s = shape_of(&p, pop_graph_get_target(b.graph), 0);
    s.may_rotate = true;
    s.element_bytes = pop_type_bytes(p.type);
    product_plan plan = product_find_plan(&s);
    cr_expect(plan.rotates, "case %zu: %zu x %zu, %zu, %zu", i / 4, plan.rows, plan.columns,
              plan.depth, plan.length);
    bool has_zeros = plan.rows * plan.depth * plan.length > p.k;
    seen[has_zeros] = true;
    pop_program once = b.main;
    b.main = pop_program_sequence(b.graph, "twice");
    for (int n = 0; n < 2; n++) pop_sequence_add(b.main, once);
    void *out = run(&b);
    check_result(&b, out);
    free(out);
    free_bench(&b);
  }
  cr_expect(seen[0] && seen[1]);
}

Test(matmul, on_the_cpu)
{
  graphs_for_cpu = true;
  problem p = plain(2, 9, 30, 12, 4);
  check_problem(&p);
}

/* ---- plans ---- */

Test(matmul, plans_have_tiles_and_room)
{
  uint64_t r = 4;
  pop_target target;
  expect_ok(pop_target_create("ipu2", 1, &target));
  for (int i = 0; i < 200; i++) {
    problem p =
        plain(1 + random_below(&r, 20), 1 + random_below(&r, 2000), 1 + random_below(&r, 3000),
              1 + random_below(&r, 2000), 1 + random_below(&r, 1472));
    product_shape s = shape_of(&p, &target, 200000);
    product_plan plan = product_find_plan(&s);
    size_t parts = plan.rows * plan.columns * plan.depth;
    cr_assert(parts >= 1 && parts <= (p.tiles / p.groups ? p.tiles / p.groups : 1));
    cr_assert(plan.rows <= p.m && plan.columns <= p.n && plan.depth <= p.k);
    cr_assert(p.m / plan.rows >= plan.block_rows && p.n / plan.columns >= plan.block_columns);
    cr_assert(plan.length >= 1 && plan.length <= (p.k + plan.depth - 1) / plan.depth);
  }
}

Test(matmul, less_memory_means_shorter_steps)
{
  pop_target target;
  expect_ok(pop_target_create("ipu2", 1, &target));
  problem p = plain(1, 300, 4000, 200, 16);
  size_t before = SIZE_MAX;
  for (size_t bytes = 256 << 10; bytes >= 32 << 10; bytes /= 2) {
    product_shape s = shape_of(&p, &target, bytes);
    product_plan plan = product_find_plan(&s);
    size_t rows = (p.m + plan.rows - 1) / plan.rows,
           columns = (p.n + plan.columns - 1) / plan.columns;
    size_t taken = 4 * (rows * columns + (rows + columns) * plan.length);
    cr_assert_leq(taken, bytes);
    cr_assert_leq(taken, before);
    before = taken;
  }
}

/* k is 9 runs of adjacent elements, as in a convolution with a kernel of 3 x 3 and so many
 * channels. Steps are multiples of a run, because others would take pieces for each row. */
Test(matmul, steps_are_whole_runs)
{
  static const size_t runs[] = {64, 48, 96};
  pop_target target;
  expect_ok(pop_target_create("ipu2", 1, &target));
  for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
    problem p = plain(1, 3000, 9 * runs[i], 64, 1472);
    product_shape s = shape_of(&p, &target, 200000);
    s.run = runs[i];
    product_plan plan = product_find_plan(&s);
    cr_expect(plan.length % runs[i] == 0, "%zu of %zu", plan.length, runs[i]);
    cr_expect(plan.length < p.k);
  }
}

/* Shapes that were not used to fit the estimate's constants. */
Test(matmul, estimates_are_near)
{
  const problem problems[] = {plain(1, 96, 700, 180, 60), plain(1, 150, 90, 333, 100),
                              plain(6, 40, 64, 40, 24),   plain(1, 1, 3000, 100, 50),
                              plain(1, 77, 256, 130, 13), plain(1, 260, 128, 24, 90)};
  for (size_t i = 0; i < sizeof problems / sizeof *problems; i++) {
    problem p = problems[i];
    p.created[0] = p.created[1] = true;
    bench b = new_bench(&p);
    free(run(&b));
    product_shape s = shape_of(&p, pop_graph_get_target(b.graph), 190000);
    double ratio = (double)b.cycles / product_find_plan(&s).cycles;
    cr_expect(ratio > .85 && ratio < 1.15, "problem %zu: %.2f of the estimate", i, ratio);
    free_bench(&b);
  }
}

/* A row is one run of the variable, and each of its elements is on another tile. Products of all
 * columns would fetch the elements one by one. */
Test(matmul, what_is_scattered_over_tiles_is_brought_together_once)
{
  enum { TILES = 48, M = 24, K = 96, N = 200 };
  pop_target target;
  expect_ok(pop_target_create("ipu2", 1, &target));
  target.tiles_per_ipu = TILES;
  pop_graph *graph = pop_graph_create(&target);
  pop_popops_add_codelets(graph);
  pop_poplin_add_codelets(graph);
  pop_program main = pop_program_sequence(graph, "main");
  pop_tensor a = pop_graph_add_variable(graph, POP_FLOAT, (size_t[]){M, K}, 2, "a");
  pop_tensor b = pop_graph_add_variable(graph, POP_FLOAT, (size_t[]){K, N}, 2, "b");
  for (size_t i = 0; i < K; i++)
    pop_graph_set_tile_mapping(graph, pop_tensor_slice(a, i, i + 1, 1), i % TILES);
  pop_graph_map_linearly(graph, b, 0, 0);
  pop_poplin_mat_mul(graph, a, b, main, "product");
  assert_no_error(graph);
  const compile_options options = {.exchange_target = EXCHANGE_FOR_CYCLES};
  uint32_t program = main.index - 1;
  compilation *c;
  expect_ok(compile(graph, &program, 1, &options, &c));
  size_t receivers = 0;
  for (size_t i = 0; i < c->num_messages; i++) receivers += c->messages[i].num_receivers;
  cr_expect_leq(receivers, 8000, "%zu", receivers);
  compilation_free(c);
  pop_graph_free(graph);
}

/* ---- mistakes ---- */

static void no_elements(pop_graph *graph)
{
  pop_mat_mul_options options = pop_mat_mul_default_options(POP_FLOAT);
  pop_poplin_create_mat_mul_input(graph, POP_FLOAT, POP_MAT_MUL_LEFT,
                                  (pop_mat_mul_sizes){1, 2, 0, 3}, &options, "x");
}

static void integers(pop_graph *graph)
{
  pop_mat_mul_options options = pop_mat_mul_default_options(POP_FLOAT);
  pop_poplin_create_mat_mul_input(graph, POP_INT, POP_MAT_MUL_LEFT, (pop_mat_mul_sizes){1, 2, 2, 3},
                                  &options, "x");
}

static void result_of_integers(pop_graph *graph)
{
  pop_mat_mul_options options = pop_mat_mul_default_options(POP_FLOAT);
  pop_poplin_create_mat_mul_output(graph, POP_INT, (pop_mat_mul_sizes){1, 2, 2, 3}, &options, "x");
}

Test(matmul, operands_that_no_product_has)
{
  static const bad_call cases[] = {
      {no_elements, POP_ERROR_TENSOR, {"create_mat_mul_input", "1 products of {2,0} and {0,3}"}},
      {integers, POP_ERROR_TYPE, {"create_mat_mul_input", "int", "float, or half"}},
      {result_of_integers, POP_ERROR_TYPE, {"create_mat_mul_output", "int", "float, or half"}},
  };
  assert_bad_calls(cases, sizeof cases / sizeof *cases);
}
