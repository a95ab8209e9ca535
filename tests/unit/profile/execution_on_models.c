/* IPU Models: vertices take their estimated cycles, and programs are traced without
 * instrumentation. */
#include "engine/engine_private.h"
#include "support/count_codelet.h"
#include "support/expect.h"
#include "support/graph_test.h"
#include "support/simulated_steps.h"

#include <populus/populus.h>

TestSuite(execution_on_models, .init = enter_fresh_folder);

enum { SLOT = 6 };

static const char codelet[] = COUNT_CODELET;

/* Executes the compute set `times` times, and twice more after a branch if that is taken. */
static pop_engine *run_on_model(uint32_t times, bool branches)
{
  pop_ipu_model model;
  expect_ok(pop_ipu_model_init(&model, "ipu2"));
  model.tiles_per_ipu = 2;
  pop_device *device;
  expect_ok(pop_ipu_model_create_device(&model, &device));
  pop_graph *graph = pop_graph_create(pop_device_target(device));
  pop_graph_add_codelets_source(graph, "c", codelet, "count.c", NULL);
  pop_tensor n = pop_graph_add_variable(graph, POP_INT, (size_t[]){4}, 1, "n");
  pop_graph_set_tile_mapping(graph, n, 1);
  pop_graph_set_initial_value(graph, n, (int[4]){0});
  pop_compute_set set = pop_graph_add_compute_set(graph, "count");
  for (size_t i = 0; i < 4; i++) {
    pop_vertex v = pop_graph_add_vertex(graph, set, "Count");
    pop_graph_set_vertex_tile(graph, v, i == 0 ? 0 : 1);
    pop_graph_connect(graph, v, "n", pop_tensor_index(n, i));
    pop_graph_set_field_int(graph, v, "rounds", 1);
    pop_graph_set_perf_estimate(graph, v, 10 + 10 * i, 0);
  }
  pop_tensor first = pop_tensor_index(n, 0);
  pop_graph_set_tile_mapping(graph, first, 0);
  pop_program main = pop_program_sequence(graph, "main"),
              execute = pop_program_execute(graph, set, NULL);
  pop_tensor yes = pop_graph_add_variable(graph, POP_INT, NULL, 0, "yes");
  pop_graph_set_tile_mapping(graph, yes, 1);
  pop_graph_set_initial_value(graph, yes, &(int){1});
  if (branches)
    pop_sequence_add(
        main, pop_program_if(yes, pop_program_repeat(graph, 2, execute, "twice"), execute, "if"));
  pop_sequence_add(main, pop_program_repeat(graph, times, execute, "times"));
  pop_engine *engine;
  expect_ok(pop_engine_create(graph, &main, 1, NULL, 0, &engine));
  pop_graph_free(graph);
  expect_ok(pop_engine_load_device(engine, device));
  expect_ok(pop_engine_run(engine, 0));
  pop_device_free(device);
  return engine;
}

Test(execution_on_models, models_take_what_vertices_are_said_to_take)
{
  pop_engine *engine = run_on_model(3, false);
  pop_profile *profile;
  expect_ok(pop_engine_execution_profile(engine, &profile));
  pop_profile_value root = pop_profile_root(profile);
  cr_assert_str_eq(pop_profile_as_string(pop_profile_get(root, "profilerMode")), "IPU_MODEL");
  cr_assert(is_complete(profile));
  cr_assert_eq(engine->executable->num_measures, 0);
  pop_profile_value steps = pop_profile_find(root, "simulation.steps");
  size_t executed = 0;
  for (size_t i = 0; i < pop_profile_count(steps); i++) {
    pop_profile_value step = pop_profile_at(steps, i);
    if (strcmp(pop_profile_as_string(pop_profile_get(step, "type")), "OnTileExecute") != 0)
      continue;
    executed++;
    /* Tile 0 has a vertex of 10 cycles; tile 1 has three on three workers, the slowest of 40; a
     * slot is six cycles. */
    cr_assert_eq(pop_profile_as_int(pop_profile_get(step, "cycles")), 40 * SLOT);
    cr_assert_eq(pop_profile_as_int(pop_profile_get(step, "activeTiles")), 2);
    cr_assert_float_eq(pop_profile_as_double(pop_profile_get(step, "tileBalance")), 50 / 80., 1e-9);
    cr_assert_float_eq(pop_profile_as_double(pop_profile_get(step, "threadBalance")),
                       100 / (50. * SLOT), 1e-9);
  }
  cr_assert_eq(executed, 3);
  cr_assert_eq(pop_profile_count(pop_profile_get(root, "runs")), 1);
  pop_profile_free(profile);
  pop_engine_free(engine);
}

/* One vertex has no estimate. It takes its cycles on an IPU, and the summary says so. */
Test(execution_on_models, models_measure_vertices_without_an_estimate)
{
  static const char source[] =
      "#include <populus/vertex.h>\n"
      "typedef struct { INPUT(VECTOR(int)) in; OUTPUT(int) out; } Said;\n"
      "COMPUTE(Said) { *vertex->out = 1; return true; }\n"
      "typedef struct { INPUT(VECTOR(int)) in; OUTPUT(int) out; } Sum;\n"
      "COMPUTE(Sum) {\n"
      "  int sum = 0;\n"
      "  for (unsigned i = 0; i < vertex->in.size; i++) sum += vertex->in.data[i];\n"
      "  *vertex->out = sum;\n"
      "  return true;\n"
      "}\n";
  pop_ipu_model model;
  pop_device *device;
  expect_ok(pop_ipu_model_init(&model, "ipu2"));
  model.tiles_per_ipu = 1;
  expect_ok(pop_ipu_model_create_device(&model, &device));
  pop_graph *graph = pop_graph_create(pop_device_target(device));
  pop_graph_add_codelets_source(graph, "c", source, "sums.c", "-O2");
  pop_tensor in = pop_graph_add_variable(graph, POP_INT, (size_t[]){1000}, 1, "in");
  pop_tensor out = pop_graph_add_variable(graph, POP_INT, (size_t[]){2}, 1, "out");
  pop_graph_set_tile_mapping(graph, in, 0);
  pop_graph_set_tile_mapping(graph, out, 0);
  pop_graph_set_initial_value(graph, in, (int[1000]){0});
  pop_compute_set set = pop_graph_add_compute_set(graph, "sums");
  for (size_t i = 0; i < 2; i++) {
    pop_vertex v = pop_graph_add_vertex(graph, set, i ? "Sum" : "Said");
    pop_graph_set_vertex_tile(graph, v, 0);
    pop_graph_connect(graph, v, "in", in);
    pop_graph_connect(graph, v, "out", pop_tensor_index(out, i));
    if (i == 0) pop_graph_set_perf_estimate(graph, v, 50, 0);
  }
  pop_program main = pop_program_execute(graph, set, "main");
  pop_engine *engine;
  expect_ok(pop_engine_create(graph, &main, 1, NULL, 0, &engine));
  pop_graph_free(graph);
  expect_ok(pop_engine_load_device(engine, device));
  expect_ok(pop_engine_run(engine, 0));
  char *text;
  size_t size;
  FILE *stream = open_memstream(&text, &size);
  expect_ok(pop_engine_print_execution_summary(engine, true, stream));
  fclose(stream);
  unsigned long long said = 0, sum = 0;
  const char *by_type = strstr(text, "  Cycles by vertex type:\n");
  cr_assert_not_null(by_type, "%s", text);
  cr_assert_eq(
      sscanf(by_type,
             " Cycles by vertex type: Sum (1 instances): %llu,%llu Said (1 instances): %llu", &sum,
             &said, &said),
      3, "%s", by_type);
  cr_assert_eq(said, 50);
  cr_assert(sum >= 3 && sum < 10, "%llu thousand cycles for a loop of 1,000", sum);
  cr_assert_not_null(strstr(text, "  Without an estimate, as their code was measured:\n    Sum\n"));
  cr_assert_not_null(strstr(text, "    By vertex type:\n"));
  free(text);
  pop_engine_free(engine);
  pop_device_free(device);
}

Test(execution_on_models, models_are_traced_behind_branches)
{
  pop_engine *engine = run_on_model(3, true);
  pop_profile *profile;
  char text[16];
  expect_ok(pop_engine_execution_profile(engine, &profile));
  cr_assert_str_eq(executed(profile, text), "00000");
  cr_assert(is_complete(profile));
  pop_profile_free(profile);
  pop_engine_free(engine);
}
