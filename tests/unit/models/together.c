/* Several models are lowered together, each into its own graph, for tiles or for the CPU, and with
 * its own error. */
#include "support/comma_locale.h"
#include "support/expect.h"
#include "support/graph_test.h"

#include <populus/engine.h>
#include <populus/model.h>

TestSuite(together, .init = enter_fresh_folder);

static const char sums[] = "func.func @main() {\n"
                           "  %x = stablehlo.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf32>\n"
                           "  %0 = stablehlo.add %x, %x : tensor<3xf32>\n"
                           "  check.expect_eq_const %0, dense<[2.0, 4.0, 6.0]> : tensor<3xf32>\n"
                           "  return\n"
                           "}\n";

static const char both[] = "func.func @main() {\n"
                           "  %x = stablehlo.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf32>\n"
                           "  %0 = stablehlo.multiply %x, %x : tensor<3xf32>\n"
                           "  %1 = stablehlo.add %x, %x : tensor<3xf32>\n"
                           "  check.expect_eq_const %0, dense<[1.0, 4.0, 9.0]> : tensor<3xf32>\n"
                           "  check.expect_eq_const %1, dense<[2.0, 4.0, 6.0]> : tensor<3xf32>\n"
                           "  return\n"
                           "}\n";

enum { MOST = 4 };

typedef struct lowered {
  pop_model *models[MOST];
  pop_graph *graphs[MOST];
  pop_program programs[MOST];
  pop_error *errors[MOST];
  size_t count;
} lowered;

static void add(lowered *l, const char *text, bool cpu, uint32_t replicas)
{
  pop_target target;
  if (cpu)
    pop_target_create_cpu(&target);
  else
    expect_ok(pop_target_create("ipu2", replicas, &target));
  if (!cpu) target.tiles_per_ipu = 2;
  expect_ok(pop_model_parse(text, strlen(text), "test.mlir", 0, &l->models[l->count]));
  l->graphs[l->count++] =
      replicas > 1 ? pop_graph_create_replicated(&target, replicas) : pop_graph_create(&target);
}

static void lower(lowered *l)
{
  expect_ok(pop_model_lower_all(l->models, l->graphs, l->count, l->programs, l->errors));
}

static void expect_holds(const lowered *l, size_t i)
{
  pop_engine *engine;
  expect_ok(l->errors[i]);
  expect_ok(pop_engine_create(l->graphs[i], &l->programs[i], 1, NULL, 0, &engine));
  expect_ok(pop_engine_load(engine));
  expect_ok(pop_engine_run(engine, 0));
  expect_ok(pop_model_judge(l->models[i], engine));
  pop_engine_free(engine);
}

static void lowered_free(lowered *l)
{
  for (size_t i = 0; i < l->count; i++) {
    pop_error_free(l->errors[i]);
    pop_graph_free(l->graphs[i]);
    pop_model_free(l->models[i]);
  }
}

Test(together, models_hold_on_tiles_and_on_the_cpu)
{
  lowered l = {0};
  add(&l, sums, false, 1);
  add(&l, both, false, 1);
  add(&l, both, true, 1);
  add(&l, sums, true, 1);
  lower(&l);
  for (size_t i = 0; i < l.count; i++) expect_holds(&l, i);
  lowered_free(&l);
}

/* The addition of two models is one vertex type. Two sources have the three codelets. */
Test(together, the_same_codelet_is_compiled_once)
{
  lowered l = {0};
  add(&l, sums, false, 1);
  add(&l, both, false, 1);
  lower(&l);
  cr_assert_eq(l.graphs[0]->num_codelets, 1);
  cr_assert_eq(pop_gp_num_vertex_types(l.graphs[0]->codelets[0]), 2);
  cr_assert_eq(pop_gp_num_vertex_types(l.graphs[1]->codelets[0]), 2);
  /* The source of each model is the same as if it were lowered alone. */
  pop_model *alone;
  pop_target target;
  pop_program program;
  expect_ok(pop_target_create("ipu2", 1, &target));
  target.tiles_per_ipu = 2;
  expect_ok(pop_model_parse(both, sizeof both - 1, "test.mlir", 0, &alone));
  pop_graph *graph = pop_graph_create(&target);
  expect_ok(pop_model_lower(alone, graph, &program));
  char *a = pop_model_codelet_source(alone), *b = pop_model_codelet_source(l.models[1]);
  cr_assert_str_eq(a, b);
  free(a);
  free(b);
  pop_graph_free(graph);
  pop_model_free(alone);
  lowered_free(&l);
}

/* The caller's earlier mistake does not use the model up. */
Test(together, a_model_that_met_a_graph_with_an_error_can_be_lowered)
{
  lowered l = {0};
  add(&l, sums, true, 1);
  pop_graph_add_vertex(l.graphs[0], (pop_compute_set){0}, "None");
  expect_error(pop_model_lower(l.models[0], l.graphs[0], &l.programs[0]),
               POP_ERROR_INVALID_ARGUMENT, "pop_graph_add_vertex", "earlier");
  lower(&l);
  expect_holds(&l, 0);
  lowered_free(&l);
}

Test(together, an_error_is_of_its_model_only)
{
  lowered l = {0};
  add(&l, sums, false, 1);
  add(&l, sums, false, 2); /* loaded for one replica */
  add(&l, both, true, 1);
  pop_graph_add_vertex(l.graphs[2], (pop_compute_set){0}, "None"); /* the caller's mistake */
  add(&l, both, false, 1);
  lower(&l);
  expect_holds(&l, 0);
  cr_assert_not_null(strstr(pop_error_message(l.errors[1]), "1 replicas, the graph has 2"));
  cr_assert_not_null(strstr(pop_error_message(l.errors[2]), "pop_graph_add_vertex"), "%s",
                     pop_error_message(l.errors[2]));
  expect_holds(&l, 3);
  /* Each model can be lowered once. */
  pop_error *again = NULL;
  expect_ok(pop_model_lower_all(l.models, l.graphs, 1, l.programs, &again));
  cr_assert_not_null(strstr(pop_error_message(again), "has been lowered already"));
  pop_error_free(again);
  lowered_free(&l);
}

static const char window[] =
    "func.func @main() {\n"
    "  %x = stablehlo.iota dim = 0 : tensor<100xi32>\n"
    "  %zero = stablehlo.constant dense<0> : tensor<i32>\n"
    "  %0 = \"stablehlo.reduce_window\"(%x, %zero) ({\n"
    "    ^bb0(%a: tensor<i32>, %b: tensor<i32>):\n"
    "      %m = stablehlo.add %a, %b : tensor<i32>\n"
    "      stablehlo.return %m : tensor<i32>\n"
    "  }) {window_dimensions = array<i64: 50>, window_strides = array<i64: 50>}\n"
    "    : (tensor<100xi32>, tensor<i32>) -> tensor<2xi32>\n"
    "  check.expect_eq_const %0, dense<[1225, 3725]> : tensor<2xi32>\n"
    "  return\n"
    "}\n";

/* Its codelet gets the beginning of the part that it takes of the operand. */
static bool takes_a_part(const lowered *l, size_t i)
{
  char *source = pop_model_codelet_source(l->models[i]);
  bool part = strstr(source, "begin0_0") != NULL;
  free(source);
  return part;
}

Test(together, operands_above_the_limit_are_brought_in_parts)
{
  lowered l = {0};
  for (int i = 0; i < 3; i++) add(&l, window, false, 1);
  expect_ok(pop_model_set_copy_limit(l.models[1], 400)); /* all of %x */
  expect_ok(pop_model_set_copy_limit(l.models[2], 399));
  lower(&l);
  for (size_t i = 0; i < 3; i++) expect_holds(&l, i);
  cr_assert(!takes_a_part(&l, 0));
  cr_assert(!takes_a_part(&l, 1));
  cr_assert(takes_a_part(&l, 2));
  pop_error *late = pop_model_set_copy_limit(l.models[0], 0);
  cr_assert_not_null(late);
  cr_assert_not_null(strstr(pop_error_message(late), "has been lowered already"));
  pop_error_free(late);
  lowered_free(&l);
}

/* The expected values are bits, which no locale changes. */
Test(together, the_locale_of_the_program_does_not_matter)
{
  static const char halves[] =
      "func.func @main() {\n"
      "  %x = stablehlo.constant dense<[0.5, 1.25]> : tensor<2xf32>\n"
      "  %0 = stablehlo.add %x, %x : tensor<2xf32>\n"
      "  check.expect_eq_const %0, dense<[0x3F800000, 0x40200000]> : tensor<2xf32>\n"
      "  %i = stablehlo.constant dense<1.0> : tensor<1x1xf32>\n"
      "  %s = stablehlo.constant dense<1.0> : tensor<1xf32>\n"
      "  %o = stablehlo.constant dense<0.0> : tensor<1xf32>\n"
      "  %v = stablehlo.constant dense<0.5> : tensor<1xf32>\n"
      "  %1 = \"stablehlo.batch_norm_inference\"(%i, %s, %o, %o, %v) {epsilon = 0.5 : f32, "
      "feature_index = 1 : i64} : (tensor<1x1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, "
      "tensor<1xf32>) -> tensor<1x1xf32>\n"
      "  check.expect_almost_eq_const %1, dense<0x3F800000> : tensor<1x1xf32>\n"
      "  return\n"
      "}\n";
  lowered l = {0};
  if (!use_comma_locale()) cr_skip_test("there is no localedef");
  add(&l, halves, false, 1);
  add(&l, halves, true, 1);
  lower(&l);
  for (size_t i = 0; i < l.count; ++i) expect_holds(&l, i);
  cr_assert_str_eq(localeconv()->decimal_point, ",");
  lowered_free(&l);
}
