/* Runs that end in a fault: the report has what was executed before, and where the run ended. */
#include "support/graph_test.h"

#include "support/expect.h"
#include <jansson.h>
#include <populus/populus.h>
#include <populus/profile.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

TestSuite(faulted_runs, .init = enter_fresh_folder);

/* In the third round Wild stores to an invalid address, or Endless does not return. Each adds one;
 * Fine, which follows, adds two. */
static const char codelets[] =
    "#include <populus/vertex.h>\n"
    "typedef struct { INOUT(int) n; } Wild;\n"
    "COMPUTE(Wild) { if (++*vertex->n == 7) *(volatile int *)16 = 1; return true; }\n"
    "typedef struct { INOUT(int) n; } Endless;\n"
    "COMPUTE(Endless) { if (++*vertex->n == 7) for (volatile int i = 0;; i++) {} return true; }\n"
    "typedef struct { INOUT(int) n; } Fine;\n"
    "COMPUTE(Fine) { *vertex->n += 2; return true; }\n";

enum { NUM_TILES = 2, ROUNDS = 5, LIMIT = 100000 };

typedef struct rig {
  pop_graph *graph;
  pop_tensor on_0, on_1;
  pop_engine *engine;
  int streamed;
} rig;

static rig new_rig(void)
{
  static const int zero;
  const size_t one = 1;
  rig r = {.graph = new_graph_with_tiles(NUM_TILES)};
  r.on_0 = pop_graph_add_variable(r.graph, POP_INT, &one, 1, "on_0");
  r.on_1 = pop_graph_add_variable(r.graph, POP_INT, &one, 1, "on_1");
  pop_graph_set_tile_mapping(r.graph, r.on_0, 0);
  pop_graph_set_tile_mapping(r.graph, r.on_1, 1);
  pop_graph_set_initial_value(r.graph, r.on_0, &zero);
  pop_graph_set_initial_value(r.graph, r.on_1, &zero);
  pop_graph_add_codelets_source(r.graph, "c", codelets, "faults.c", NULL);
  return r;
}

/* The type's vertex is on tile 1, a vertex without a fault on tile 0. */
static pop_program execute(const rig *r, const char *type)
{
  pop_compute_set set = pop_graph_add_compute_set(r->graph, type);
  for (unsigned tile = 0; tile < NUM_TILES; tile++) {
    pop_vertex vertex = pop_graph_add_vertex(r->graph, set, tile ? type : "Fine");
    pop_graph_connect(r->graph, vertex, "n", pop_tensor_index(tile ? r->on_1 : r->on_0, 0));
    pop_graph_set_vertex_tile(r->graph, vertex, tile);
  }
  return pop_program_execute(r->graph, set, type);
}

/* Each round: a copy from the host, a copy to the other tile, the type, then Fine. */
static pop_program rounds_of(const rig *r, const char *type)
{
  pop_stream in = pop_graph_add_host_to_device_fifo(r->graph, "in", POP_INT, 1);
  pop_tensor copied = pop_graph_add_variable(r->graph, POP_INT, &(size_t){1}, 1, "copied");
  pop_graph_set_tile_mapping(r->graph, copied, 1);
  pop_program round = pop_program_sequence(r->graph, "round");
  pop_sequence_add(round, pop_program_copy_from_stream(in, r->on_0, "in"));
  pop_sequence_add(round, pop_program_copy(r->on_0, copied, "over"));
  pop_sequence_add(round, execute(r, type));
  pop_sequence_add(round, execute(r, "Fine"));
  return pop_program_repeat(r->graph, ROUNDS, round, "rounds");
}

static void start(rig *r, pop_program main, const pop_option *options, size_t num_options)
{
  assert_no_error(r->graph);
  expect_ok(pop_engine_create(r->graph, &main, 1, options, num_options, &r->engine));
  expect_ok(pop_engine_load(r->engine));
  expect_ok(pop_engine_connect_stream(r->engine, "in", &r->streamed, &r->streamed + 1));
}

static void free_rig(const rig *r)
{
  pop_engine_free(r->engine);
  pop_graph_free(r->graph);
}

static json_t *report_of(const char *path)
{
  json_error_t where;
  json_t *report = json_load_file(path, 0, &where);
  cr_assert_not_null(report, "%s: line %d: %s", path, where.line, where.text);
  return report;
}

/* `name` NULL: any name. */
static size_t count_of(const json_t *steps, const char *type, const char *name)
{
  size_t count = 0, i;
  const json_t *step;
  json_array_foreach(steps, i, step)
  {
    const char *named = json_string_value(json_object_get(step, "name"));
    count += strcmp(json_string_value(json_object_get(step, "type")), type) == 0 &&
             (!name || (named && strcmp(named, name) == 0));
  }
  return count;
}

static json_int_t number_of(const json_t *object, const char *key)
{
  const json_t *value = json_object_get(object, key);
  cr_assert(json_is_integer(value), "%s is no number", key);
  return json_integer_value(value);
}

/* Two complete rounds, and the third one up to the fault. */
static void expect_rounds(const json_t *execution, const char *type, const char *where)
{
  const json_t *simulation = json_object_get(execution, "simulation"),
               *steps = json_object_get(simulation, "steps"),
               *last = json_array_get(steps, json_array_size(steps) - 1),
               *run = json_array_get(json_object_get(execution, "runs"), 0),
               *fault = json_object_get(run, "fault");
  cr_assert_eq(count_of(steps, "OnTileExecute", type), 3, "%s", where);
  cr_assert_eq(count_of(steps, "OnTileExecute", "Fine"), 2, "%s", where);
  cr_assert_eq(count_of(steps, "DoExchange", NULL), 3, "%s", where);
  cr_assert_eq(count_of(steps, "StreamCopy", NULL), 3, "%s", where);
  cr_assert_str_eq(json_string_value(json_object_get(last, "name")), type, "%s", where);
  cr_assert(json_is_true(json_object_get(execution, "programTraceComplete")), "%s", where);
  cr_assert_eq(number_of(fault, "tile"), 1, "%s", where);
  cr_assert_gt(number_of(run, "cycles"), 0, "%s", where);
  cr_assert_eq(number_of(fault, "computeSet"), number_of(last, "computeSet"), "%s", where);
}

/* A step that began and did not end must not count as a measurement. */
static void expect_sane(const json_t *execution, const char *where)
{
  const json_t *steps = json_object_get(json_object_get(execution, "simulation"), "steps"), *step;
  size_t i;
  json_array_foreach(steps, i, step)
  {
    cr_assert_lt(number_of(step, "cyclesTo"), 2 * LIMIT, "%s: step %zu", where, i);
    const json_t *balance = json_object_get(step, "threadBalance");
    if (balance) cr_assert_leq(json_number_value(balance), 1, "%s: step %zu", where, i);
  }
}

static void run_into(const char *type, const char *kind, const char *level, const char *external)
{
  const pop_option options[] = {{"debug.instrument", "true"},
                                {"debug.computeInstrumentationLevel", level},
                                {"debug.instrumentExternalExchange", external},
                                {"debug.maxCyclesPerRun", "100000"},
                                {"autoReport.outputExecutionProfile", "true"},
                                {"autoReport.directory", "report"}};
  char where[96];
  snprintf(where, sizeof where, "%s, level %s, external %s", type, level, external);
  rig r = new_rig();
  start(&r, rounds_of(&r, type), options, sizeof options / sizeof *options);
  pop_error *error = pop_engine_run(r.engine, 0);
  char *message = strdup(error ? pop_error_message(error) : "");
  expect_error(error, POP_ERROR_RUNTIME, kind, where);
  json_t *execution = report_of("report/execution.json");
  const json_t *fault =
      json_object_get(json_array_get(json_object_get(execution, "runs"), 0), "fault");
  cr_assert_str_eq(json_string_value(json_object_get(fault, "message")), message, "%s", where);
  cr_assert_str_eq(json_string_value(json_object_get(fault, "kind")), kind, "%s", where);
  expect_rounds(execution, type, where);
  expect_sane(execution, where);
  json_decref(execution);
  free(message);
  free_rig(&r);
}

Test(faulted_runs, B6_the_trace_ends_in_the_step_of_the_fault)
{
  static const char *const levels[] = {"vertex", "tile", "ipu", "device"};
  for (size_t i = 0; i < sizeof levels / sizeof *levels; i++) {
    run_into("Wild", "INVALID_ADDRESS", levels[i], "true");
    run_into("Wild", "INVALID_ADDRESS", levels[i], "false");
  }
}

/* The faulted step has the cycles up to the limit, not those of an earlier execution. */
Test(faulted_runs, B6_a_vertex_that_the_watchdog_ends_has_taken_all_its_time)
{
  run_into("Endless", "OUT_OF_CYCLES", "tile", "true");
  json_t *execution = report_of("report/execution.json");
  const json_t *steps = json_object_get(json_object_get(execution, "simulation"), "steps"),
               *last = json_array_get(steps, json_array_size(steps) - 1);
  cr_assert_eq(number_of(last, "faultedTile"), 1);
  cr_assert_gt(number_of(last, "faultedTileCycles"), LIMIT / 2);
  cr_assert_leq(number_of(last, "faultedTileCycles"), LIMIT);
  cr_assert_eq(number_of(last, "cycles"), number_of(last, "faultedTileCycles"));
  json_decref(execution);
}

/* The run of `main` fails. Gives what its report says of the execution. */
static json_t *execution_of_failure(rig *r, pop_program main, const char *level, const char *words)
{
  const pop_option options[] = {{"debug.instrument", "true"},
                                {"debug.computeInstrumentationLevel", level},
                                {"autoReport.outputExecutionProfile", "true"},
                                {"autoReport.directory", "report"}};
  start(r, main, options, sizeof options / sizeof *options);
  expect_error(pop_engine_run(r->engine, 0), POP_ERROR_RUNTIME, words, level);
  return report_of("report/execution.json");
}

/* The other tiles that fault have begun to measure, too. */
Test(faulted_runs, B6_no_tile_of_several_that_fault_has_measured_the_set)
{
  static const char *const levels[] = {"vertex", "tile", "ipu", "device"};
  for (size_t i = 0; i < sizeof levels / sizeof *levels; i++) {
    rig r = new_rig();
    pop_graph_add_host_to_device_fifo(r.graph, "in", POP_INT, 1);
    pop_compute_set set = pop_graph_add_compute_set(r.graph, "Wild");
    for (unsigned tile = 0; tile < NUM_TILES; tile++) {
      pop_vertex vertex = pop_graph_add_vertex(r.graph, set, "Wild");
      pop_graph_connect(r.graph, vertex, "n", pop_tensor_index(tile ? r.on_1 : r.on_0, 0));
      pop_graph_set_vertex_tile(r.graph, vertex, tile);
    }
    pop_program main =
        pop_program_repeat(r.graph, 8, pop_program_execute(r.graph, set, "Wild"), "rounds");
    json_t *execution = execution_of_failure(&r, main, levels[i], "1 more tile");
    expect_sane(execution, levels[i]);
    json_decref(execution);
    free_rig(&r);
  }
}

static int fail_the_third_time(void *context, void *data)
{
  int *count = context;
  *(int *)data = 0;
  return ++*count == 3;
}

/* The tiles wait in the exchange when the run ends. It has the planned cycles then. */
Test(faulted_runs, B6_an_exchange_that_the_host_fails_is_not_measured)
{
  rig r = new_rig();
  int count = 0;
  const pop_stream_callback callback = {.fetch = fail_the_third_time, .context = &count};
  const pop_option options[] = {{"debug.instrument", "true"},
                                {"autoReport.outputExecutionProfile", "true"},
                                {"autoReport.directory", "report"}};
  start(&r, rounds_of(&r, "Fine"), options, sizeof options / sizeof *options);
  expect_ok(pop_engine_connect_stream_callback(r.engine, "in", &callback));
  expect_error(pop_engine_run(r.engine, 0), POP_ERROR_RUNTIME, "'in'", "callback");
  json_t *execution = report_of("report/execution.json");
  const json_t *steps = json_object_get(json_object_get(execution, "simulation"), "steps");
  cr_assert_eq(count_of(steps, "StreamCopy", "in"), 3);
  expect_sane(execution, "callback");
  json_decref(execution);
  free_rig(&r);
}

/* An offset behind the end of a remote buffer is found by the tiles in the exchange. */
Test(faulted_runs, B6_an_exchange_in_which_tiles_fault_is_not_measured)
{
  rig r = new_rig();
  static const int far = 7;
  pop_graph_add_host_to_device_fifo(r.graph, "in", POP_INT, 1);
  pop_remote_buffer buffer = pop_graph_add_remote_buffer(r.graph, "buffer", POP_INT, 1, 7);
  pop_tensor row = pop_graph_add_variable(r.graph, POP_UNSIGNED_INT, &(size_t){1}, 1, "row");
  pop_graph_set_tile_mapping(r.graph, row, 0);
  pop_graph_set_initial_value(r.graph, row, &far);
  json_t *execution = execution_of_failure(
      &r, pop_program_copy_from_remote_buffer(buffer, r.on_1, row, "fetch"), "tile", "offset 7");
  const json_t *steps = json_object_get(json_object_get(execution, "simulation"), "steps");
  cr_assert_eq(count_of(steps, "StreamCopy", "fetch"), 1);
  expect_sane(execution, "remote buffer");
  json_decref(execution);
  free_rig(&r);
}

/* The complete run is still in the report, and the summary tells how the next one ended. */
Test(faulted_runs, B6_an_abort_is_reported_behind_the_runs_before_it)
{
  static const pop_option options[] = {{"debug.instrument", "true"},
                                       {"autoReport.outputExecutionProfile", "true"},
                                       {"autoReport.directory", "report"}};
  rig r = new_rig();
  pop_program main = pop_program_sequence(r.graph, "main");
  pop_sequence_add(main, execute(&r, "Fine"));
  pop_sequence_add(main, pop_program_abort(r.graph, "enough of it", "end"));
  assert_no_error(r.graph);
  expect_ok(pop_engine_create(r.graph, &main, 1, options, 3, &r.engine));
  expect_ok(pop_engine_load(r.engine));
  expect_error(pop_engine_run(r.engine, 0), POP_ERROR_RUNTIME, "enough of it", "abort");
  json_t *execution = report_of("report/execution.json");
  const json_t *run = json_array_get(json_object_get(execution, "runs"), 0);
  const json_t *fault = json_object_get(run, "fault");
  cr_assert_not_null(strstr(json_string_value(json_object_get(fault, "message")), "enough of it"));
  cr_assert_null(json_object_get(fault, "kind"));
  json_decref(execution);
  FILE *summary = fopen("report/execution.txt", "r");
  char text[4096] = "";
  cr_assert_not_null(summary);
  cr_assert_gt(fread(text, 1, sizeof text - 1, summary), 0);
  fclose(summary);
  cr_assert_not_null(strstr(text, "Run 1 ended in an error: "), "%s", text);
  free_rig(&r);
}
