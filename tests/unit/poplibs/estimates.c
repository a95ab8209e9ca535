/* The cycles that vertices of popops are stated to take. On a model an option says which: those of
 * the chip, by its libraries' formulae, or those of our code. A profile's summary says which ones
 * it has. */
#include "support/expect.h"
#include "support/graph_test.h"

#include <populus/engine.h>
#include <populus/poplin.h>
#include <populus/popops.h>
#include <populus/profile.h>
#include <stdlib.h>

TestSuite(estimates, .init = enter_fresh_folder);

enum { ELEMENTS = 6000 };

typedef struct row {
  const char *name;
  pop_type type;
  bool binary;
  unsigned op;
  uint64_t cycles; /* of the chip, for ELEMENTS on one tile, by hand from the published formulae */
} row;

static const row rows[] = {
    {"add f32", POP_FLOAT, true, POP_BINARY_ADD, 9185},
    {"add f16", POP_HALF, true, POP_BINARY_ADD, 4667},
    {"add i32", POP_INT, true, POP_BINARY_ADD, 42167},
    {"division f32", POP_FLOAT, true, POP_BINARY_DIVIDE, 30185},
    {"exp f32", POP_FLOAT, false, POP_UNARY_EXPONENT, 18218},
    {"exp f16", POP_HALF, false, POP_UNARY_EXPONENT, 6218},
    {"tanh f32", POP_FLOAT, false, POP_UNARY_TANH, 36122},
    {"log f32", POP_FLOAT, false, POP_UNARY_LOGARITHM, 36122},
    {"logistic f32", POP_FLOAT, false, POP_UNARY_SIGMOID, 36122},
    {"rsqrt f32", POP_FLOAT, false, POP_UNARY_RSQRT, 24122},
    {"sqrt f32", POP_FLOAT, false, POP_UNARY_SQRT, 30122},
};
enum { NUM_ROWS = sizeof rows / sizeof *rows };

typedef struct world {
  pop_device *device;
  pop_graph *graph;
  pop_program main;
} world;

static pop_tensor add_elements(pop_graph *graph, pop_type type, size_t count, const char *name)
{
  pop_tensor t = pop_graph_add_variable(graph, type, &count, 1, name);
  pop_graph_set_tile_mapping(graph, t, 0);
  return t;
}

static world new_world(void)
{
  world w;
  pop_ipu_model model;
  expect_ok(pop_ipu_model_init(&model, "ipu2"));
  model.tiles_per_ipu = 1;
  expect_ok(pop_ipu_model_create_device(&model, &w.device));
  w.graph = pop_graph_create(pop_device_target(w.device));
  pop_popops_add_codelets(w.graph);
  w.main = pop_program_sequence(w.graph, "main");
  return w;
}

static void add_operation(world *w, const row *r, size_t count, size_t second)
{
  pop_tensor a = add_elements(w->graph, r->type, count, "a"),
             out = add_elements(w->graph, r->type, count, "out");
  if (r->binary)
    pop_popops_binary(w->graph, (pop_binary_op)r->op, a,
                      add_elements(w->graph, r->type, second, "b"), out, w->main, r->name);
  else
    pop_popops_unary(w->graph, (pop_unary_op)r->op, a, out, w->main, r->name);
}

/* Frees the world. `summary` may be NULL. */
static uint64_t run(world *w, const pop_option *options, size_t num_options, char *summary,
                    size_t summary_bytes)
{
  pop_engine *engine;
  assert_no_error(w->graph);
  expect_ok(pop_engine_create(w->graph, &w->main, 1, options, num_options, &engine));
  expect_ok(pop_engine_load_device(engine, w->device));
  uint64_t before = pop_engine_cycles(engine);
  expect_ok(pop_engine_run(engine, 0));
  uint64_t cycles = pop_engine_cycles(engine) - before;
  if (summary) {
    FILE *stream = fmemopen(summary, summary_bytes, "w");
    expect_ok(pop_engine_print_execution_summary(engine, true, stream));
    fclose(stream);
  }
  pop_engine_free(engine);
  pop_graph_free(w->graph);
  pop_device_free(w->device);
  return cycles;
}

/* Subtracts the cycles of the same program without the loops over elements. */
Test(estimates, on_a_model_operations_take_what_the_chip_takes)
{
  uint64_t expected = 0;
  world w = new_world(), one = new_world();
  for (size_t i = 0; i < NUM_ROWS; i++) {
    add_operation(&w, &rows[i], ELEMENTS, ELEMENTS);
    add_operation(&one, &rows[i], 6, 6);
    expected += rows[i].cycles;
  }
  uint64_t all = run(&w, NULL, 0, NULL, 0), few = run(&one, NULL, 0, NULL, 0);
  cr_assert_geq(all, expected);
  cr_assert_leq(all - expected, few, "%lu cycles, %lu of them are said to be the vertices'", all,
                expected);
}

Test(estimates, each_vertex_is_said_to_take_what_the_formula_says)
{
  for (size_t i = 0; i < NUM_ROWS; i++) {
    world w = new_world();
    add_operation(&w, &rows[i], ELEMENTS, ELEMENTS);
    pop_graph *graph = w.graph;
    graph_estimate_vertices(graph, ESTIMATE_CHIP);
    cr_assert_eq(graph->num_vertices, 1);
    cr_assert_eq(graph->vertices[0].cycle_estimate, rows[i].cycles, "%s: %lu", rows[i].name,
                 graph->vertices[0].cycle_estimate);
    pop_graph_free(graph);
    pop_device_free(w.device);
  }
}

/* (20 + 500 * 2) * 6 + 11: one load fewer for each 64 bits. */
Test(estimates, one_element_for_all_takes_less)
{
  world w = new_world();
  add_operation(&w, &rows[0], ELEMENTS, 1);
  graph_estimate_vertices(w.graph, ESTIMATE_CHIP);
  cr_assert_eq(w.graph->vertices[0].cycle_estimate, 6131);
  pop_graph_free(w.graph);
  pop_device_free(w.device);
}

/* A vertex's cycles for ELEMENTS on one tile, 1,000 for each worker, computed by hand from the
 * published formulae. */
static void expect_cycles(world *w, uint64_t cycles, const char *what)
{
  assert_no_error(w->graph);
  graph_estimate_vertices(w->graph, ESTIMATE_CHIP);
  cr_assert_eq(w->graph->num_vertices, 1, "%s", what);
  cr_assert_eq(w->graph->vertices[0].cycle_estimate, cycles, "%s: %lu", what,
               w->graph->vertices[0].cycle_estimate);
  pop_graph_free(w->graph);
  pop_device_free(w->device);
}

Test(estimates, casts_take_what_the_chip_takes)
{
  static const struct {
    pop_type from, to;
    uint64_t cycles;
  } cases[] = {
      {POP_FLOAT, POP_HALF, 6 * (18 + 19 + 250 * 2 + 2) + 12}, /* 4 elements: 2 loads, 1 store */
      {POP_HALF, POP_FLOAT, 6 * (18 + 19 + 500 * 1 + 1) + 12},
      {POP_INT, POP_FLOAT, 6 * (18 + 19 + 1000 * 2) + 12},
      {POP_UNSIGNED_CHAR, POP_HALF, 6 * (18 + 4 + 14 + 249 * 9 + 2) + 12},
      {POP_HALF, POP_UNSIGNED_CHAR, 6 * (18 + 8 + 19 + 249 * 16 + 2) + 12}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    world w = new_world();
    pop_popops_cast(w.graph, add_elements(w.graph, cases[i].from, ELEMENTS, "a"), cases[i].to,
                    add_elements(w.graph, cases[i].to, ELEMENTS, "out"), w.main, "cast");
    expect_cycles(&w, cases[i].cycles, pop_type_name(cases[i].from));
  }
}

Test(estimates, fills_take_what_the_chip_takes)
{
  static const struct {
    pop_type type;
    uint64_t cycles;
  } cases[] = {{POP_FLOAT, 6 * (16 + 500 + 6 + 1)},
               {POP_HALF, 6 * (26 + 250)},
               {POP_UNSIGNED_CHAR, 6 * (39 + 125)},
               {POP_UNSIGNED_LONGLONG, 6 * (5 + 1000)}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    world w = new_world();
    pop_popops_fill(w.graph, add_elements(w.graph, cases[i].type, ELEMENTS, "a"), NULL, w.main,
                    "fill");
    expect_cycles(&w, cases[i].cycles, pop_type_name(cases[i].type));
  }
}

static pop_perf_estimate seventy_thousand(void *context, pop_graph *graph, pop_vertex vertex)
{
  (void)context, (void)graph, (void)vertex;
  return (pop_perf_estimate){.cycles = 70000};
}

Test(estimates, what_the_program_says_comes_first)
{
  static const char type[] = "popops::Binary<popops::expr::BinaryOpType::ADD,float>";
  world w = new_world();
  pop_graph_register_perf_estimator(w.graph, type, seventy_thousand, NULL);
  pop_popops_add_codelets(w.graph);
  add_operation(&w, &rows[0], ELEMENTS, ELEMENTS);
  graph_estimate_vertices(w.graph, ESTIMATE_NONE);
  cr_assert_eq(w.graph->vertices[0].cycle_estimate, 70000);
  pop_graph_free(w.graph);
  pop_device_free(w.device);
}

Test(estimates, the_option_says_whose_cycles_count_and_the_summary_which_did)
{
  static const char *const values[] = {"chip", "ours", "code"};
  static const char *const said[] = {
      "  With the cycles that their library's formulae say of the chip:\n    popops::Binary<",
      "  With the cycles that their library's estimators say of our code:\n    popops::Binary<",
      "  Without an estimate, as their code was measured:\n    popops::Binary<"};
  enum { WAYS = 3 };
  uint64_t cycles[WAYS];
  for (size_t i = 0; i < WAYS; i++) {
    const pop_option option = {"profiler.libraryCycleEstimates", values[i]};
    char *summary = calloc(1, 1 << 16);
    world w = new_world();
    add_operation(&w, &rows[2], ELEMENTS, ELEMENTS);
    cycles[i] = run(&w, &option, 1, summary, 1 << 16);
    for (size_t j = 0; j < WAYS; j++)
      cr_assert_eq(strstr(summary, said[j]) != NULL, i == j, "%s: %s", values[i], summary);
    free(summary);
  }
  cr_assert_geq(cycles[0], 42167);
  cr_assert_lt(cycles[2], 42167, "our code takes %lu", cycles[2]);
  cr_assert_leq(10 * cycles[1], 11 * cycles[2], "%lu, %lu", cycles[1], cycles[2]);
  cr_assert_geq(10 * cycles[1], 9 * cycles[2], "%lu, %lu", cycles[1], cycles[2]);
}

/* A matrix product, for which the chip's libraries have no formula. */
Test(estimates, without_a_formula_our_estimator_counts)
{
  static const char said[] = "  With the cycles that their library's estimators say of our code:\n "
                             "   poplin::MatMulBlock<";
  char *summary = calloc(1, 1 << 16);
  world w = new_world();
  pop_poplin_add_codelets(w.graph);
  pop_tensor a = add_elements(w.graph, POP_FLOAT, 400, "a");
  a = pop_tensor_reshape(a, (size_t[]){20, 20}, 2);
  pop_poplin_mat_mul(w.graph, a, a, w.main, "product");
  run(&w, NULL, 0, summary, 1 << 16);
  cr_assert_not_null(strstr(summary, said), "%s", summary);
  free(summary);
}
