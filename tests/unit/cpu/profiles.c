/* Profiles on the CPU. As the guide says, there is no memory profile. An execution profile has only
 * the mode of the profiler. */
#include "support/expect.h"
#include "support/graph_test.h"

#include <populus/populus.h>
#include <unistd.h>

TestSuite(cpu_profiles, .init = enter_fresh_folder);

static pop_engine *run_on_cpu(const pop_option *options, size_t num_options)
{
  static const char codelet[] = "#include <populus/vertex.h>\n"
                                "typedef struct { INOUT(int) n; } Count;\n"
                                "COMPUTE(Count) { *vertex->n += 1; return true; }\n";
  pop_target target;
  pop_target_create_cpu(&target);
  pop_graph *graph = pop_graph_create(&target);
  pop_graph_add_codelets_source(graph, "c", codelet, "count.c", NULL);
  pop_tensor n = pop_graph_add_variable(graph, POP_INT, NULL, 0, "n");
  pop_graph_set_tile_mapping(graph, n, 0);
  pop_graph_set_initial_value(graph, n, &(int){0});
  pop_compute_set set = pop_graph_add_compute_set(graph, "count");
  pop_vertex v = pop_graph_add_vertex(graph, set, "Count");
  pop_graph_set_vertex_tile(graph, v, 0);
  pop_graph_connect(graph, v, "n", n);
  pop_program main = pop_program_repeat(graph, 3, pop_program_execute(graph, set, NULL), "main");
  pop_engine *engine;
  expect_ok(pop_engine_create(graph, &main, 1, options, num_options, &engine));
  pop_graph_free(graph);
  expect_ok(pop_engine_load(engine));
  expect_ok(pop_engine_run(engine, 0));
  return engine;
}

typedef pop_error *writer(const pop_engine *engine, FILE *stream);

static pop_error *write_json(const pop_engine *engine, FILE *stream)
{
  return pop_engine_write_execution_profile(engine, POP_PROFILE_JSON, stream);
}

static void expect_written(const pop_engine *engine, writer *write, const char *expected)
{
  char *text;
  size_t size;
  FILE *stream = open_memstream(&text, &size);
  cr_assert_not_null(stream);
  expect_ok(write(engine, stream));
  fclose(stream);
  cr_assert_str_eq(text, expected);
  free(text);
}

static const pop_option instrument[] = {{"debug.instrument", "true"},
                                        {"debug.computeInstrumentationLevel", "vertex"}};

Test(cpu_profiles, execution_profile_is_its_mode_alone)
{
  for (size_t num_options = 0; num_options <= 2; num_options += 2) {
    pop_engine *engine = run_on_cpu(instrument, num_options);
    pop_profile *profile;
    expect_ok(pop_engine_execution_profile(engine, &profile));
    pop_profile_value root = pop_profile_root(profile);
    cr_assert_eq(pop_profile_count(root), 1);
    cr_assert_str_eq(pop_profile_key(root, 0), "profilerMode");
    cr_assert_str_eq(pop_profile_as_string(pop_profile_at(root, 0)), "CPU");
    pop_profile_free(profile);
    expect_written(engine, write_json, "{\"profilerMode\":\"CPU\"}\n");
    expect_written(engine, pop_engine_write_folded_stacks, "");
    expect_ok(pop_engine_reset_execution_profile(engine));
    pop_engine_disable_execution_profiling(engine);
    pop_engine_enable_execution_profiling(engine);
    expect_ok(pop_engine_run(engine, 0));
    expect_written(engine, write_json, "{\"profilerMode\":\"CPU\"}\n");
    pop_engine_free(engine);
  }
}

Test(cpu_profiles, what_is_about_memory_is_refused)
{
  pop_engine *engine = run_on_cpu(NULL, 0);
  pop_profile *profile = NULL;
  expect_error(pop_engine_graph_profile(engine, &profile), POP_ERROR_INVALID_ARGUMENT,
               "no graph profile for the CPU", "no memory plan");
  expect_error(pop_engine_print_profile_summary(engine, NULL, 0, stdout),
               POP_ERROR_INVALID_ARGUMENT, "no graph profile", "CPU");
  expect_error(pop_engine_report(engine, true, &profile), POP_ERROR_INVALID_ARGUMENT,
               "no graph profile", "CPU");
  pop_engine_free(engine);
}

static size_t log_bytes(void)
{
  char text[4096];
  FILE *log = fopen("log.txt", "r");
  if (!log) return 0;
  size_t size = fread(text, 1, sizeof text - 1, log);
  text[size] = '\0';
  fclose(log);
  if (size) cr_assert_not_null(strstr(text, "no reports and no archive are written"), "%s", text);
  return size;
}

Test(cpu_profiles, reports_that_are_asked_for_are_warned_of)
{
  static const pop_option all = {"autoReport.all", "true"},
                          archive = {"target.saveArchive", "archive.a"};
  setenv("POPLAR_LOG_LEVEL", "WARN", 1);
  setenv("POPLAR_LOG_DEST", "log.txt", 1);
  pop_engine_free(run_on_cpu(NULL, 0));
  cr_assert_eq(log_bytes(), 0);
  pop_engine_free(run_on_cpu(&all, 1));
  size_t once = log_bytes();
  cr_assert_gt(once, 0);
  pop_engine_free(run_on_cpu(&archive, 1));
  cr_assert_gt(log_bytes(), once);
  cr_assert_neq(access("archive.a", F_OK), 0);
}
