/* Reports without data, reports that cannot be written, and large numbers. */
#include "base/emitter.h"
#include "profile/report_file.h"
#include "support/graph_test.h"

#include "support/expect.h"
#include <jansson.h>
#include <math.h>
#include <populus/populus.h>
#include <populus/profile.h>
#include <populus/report_page.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>

TestSuite(report_faults, .init = enter_fresh_folder);

static const char codelets[] = "#include <populus/vertex.h>\n"
                               "typedef struct { INOUT(int) n; } Count;\n"
                               "COMPUTE(Count) { ++*vertex->n; return true; }\n"
                               "typedef struct { INOUT(int) n; } Wild;\n"
                               "COMPUTE(Wild) { *(volatile int *)16 = 1; return true; }\n";

enum { NUM_TILES = 2, SYNC_CYCLES = 1000000, NUM_SYNCS = 5000 };

typedef struct rig {
  pop_graph *graph;
  pop_tensor n;
  pop_engine *engine;
} rig;

static rig new_rig(void)
{
  static const int zero;
  const size_t one = 1;
  rig r = {.graph = new_graph_with_tiles(NUM_TILES)};
  r.n = pop_graph_add_variable(r.graph, POP_INT, &one, 1, "n");
  pop_graph_set_tile_mapping(r.graph, r.n, 1);
  pop_graph_set_initial_value(r.graph, r.n, &zero);
  pop_graph_create_host_read(r.graph, "n", r.n);
  return r;
}

static pop_program execute(rig *r, const char *type)
{
  pop_graph_add_codelets_source(r->graph, "c", codelets, "count.c", NULL);
  pop_compute_set set = pop_graph_add_compute_set(r->graph, type);
  pop_vertex vertex = pop_graph_add_vertex(r->graph, set, type);
  pop_graph_connect(r->graph, vertex, "n", pop_tensor_index(r->n, 0));
  pop_graph_set_vertex_tile(r->graph, vertex, 1);
  return pop_program_execute(r->graph, set, type);
}

static void start(rig *r, pop_program main, const pop_option *options, size_t num_options)
{
  assert_no_error(r->graph);
  expect_ok(pop_engine_create(r->graph, &main, 1, options, num_options, &r->engine));
  expect_ok(pop_engine_load(r->engine));
}

static void free_rig(rig *r)
{
  pop_engine_free(r->engine);
  pop_graph_free(r->graph);
}

static void expect_n(const rig *r, int expected)
{
  int n;
  expect_ok(pop_engine_read_tensor(r->engine, "n", &n, sizeof n));
  cr_assert_eq(n, expected, "%d instead of %d", n, expected);
}

/* ---- numbers in reports ---- */

static void expect_finite(json_t *value)
{
  const char *key;
  json_t *item;
  size_t i;
  cr_assert(value && !json_is_null(value));
  if (json_is_real(value)) cr_assert(isfinite(json_real_value(value)));
  if (json_is_object(value)) {
    json_object_foreach(value, key, item) expect_finite(item);
  } else {
    json_array_foreach(value, i, item) expect_finite(item);
  }
}

static char *text_of(const rig *r, pop_error *(*print)(const pop_engine *engine, FILE *stream))
{
  char *text = NULL;
  size_t size;
  FILE *stream = open_memstream(&text, &size);
  cr_assert_not_null(stream);
  expect_ok(print(r->engine, stream));
  fclose(stream);
  return text;
}

static pop_error *print_profile(const pop_engine *engine, FILE *stream)
{
  return pop_engine_write_execution_profile(engine, POP_PROFILE_JSON, stream);
}

/* The execution profile as JSON. Its numbers must be finite. */
static json_t *profile_of(const rig *r)
{
  json_error_t where;
  char *text = text_of(r, print_profile);
  json_t *root = json_loads(text, 0, &where);
  cr_assert_not_null(root, "%s in: %s", where.text, text);
  free(text);
  expect_finite(root);
  return root;
}

static void expect_plain_summary(const rig *r)
{
  char *text = text_of(r, pop_engine_print_memory);
  cr_assert_not_null(strstr(text, "Memory Usage:"));
  cr_assert_null(strstr(text, "nan"), "%s", text);
  cr_assert_null(strstr(text, "inf"), "%s", text);
  free(text);
}

static const pop_option instrumented[] = {{"debug.instrument", "true"}};

/* No cycle is spent in a compute set, and no tile has a vertex. */
Test(report_faults, Z05_reports_of_nothing_have_numbers_that_are_some)
{
  rig r = {.graph = new_graph_with_tiles(1)};
  start(&r, pop_program_sequence(r.graph, "nothing"), instrumented, 1);
  expect_plain_summary(&r);
  json_decref(profile_of(&r));
  expect_ok(pop_engine_run(r.engine, 0));
  json_decref(profile_of(&r));
  free_rig(&r);
}

Test(report_faults, E07_profiles_before_any_run_without_instruments_and_after_a_fault)
{
  for (int instruments = 0; instruments < 2; instruments++) {
    rig r = new_rig();
    pop_program main = pop_program_sequence(r.graph, "main");
    pop_sequence_add(main, execute(&r, "Count"));
    pop_sequence_add(main, execute(&r, "Wild"));
    start(&r, main, instrumented, (size_t)instruments);
    json_decref(profile_of(&r)); /* before any run */
    expect_error(pop_engine_run(r.engine, 0), POP_ERROR_RUNTIME, "INVALID_ADDRESS", "wild");
    json_decref(profile_of(&r));
    expect_plain_summary(&r);
    expect_n(&r, 1);
    free_rig(&r);
  }
}

/* ---- reports that cannot be written ---- */

Test(report_faults, E08_a_missing_folder_of_reports_is_made)
{
  static const pop_option options[] = {{"autoReport.all", "true"},
                                       {"autoReport.directory", "not/there/yet"}};
  rig r = new_rig();
  start(&r, execute(&r, "Count"), options, 2);
  expect_ok(pop_engine_run(r.engine, 0));
  cr_assert_eq(access("not/there/yet/archive.a", F_OK), 0);
  free_rig(&r);
}

/* The run has completed: its results can be read, and the engine can run again. */
Test(report_faults, E08_a_full_disk_loses_no_result)
{
  static const pop_option options[] = {{"debug.instrument", "true"},
                                       {"autoReport.outputExecutionProfile", "true"},
                                       {"autoReport.directory", "reports"}};
  rig r = new_rig();
  struct rlimit limit;
  start(&r, execute(&r, "Count"), options, 3);
  signal(SIGXFSZ, SIG_IGN);
  cr_assert_eq(getrlimit(RLIMIT_FSIZE, &limit), 0);
  limit.rlim_cur = 10;
  cr_assert_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
  pop_error *error = pop_engine_run(r.engine, 0);
  cr_assert_not_null(error);
  cr_assert_eq(pop_error_exit_status(error), 4);
  expect_error(error, POP_ERROR_SYSTEM, "reports/", "full disk");
  expect_n(&r, 1);
  limit.rlim_cur = limit.rlim_max;
  cr_assert_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
  expect_ok(pop_engine_run(r.engine, 0));
  expect_n(&r, 2);
  free_rig(&r);
}

Test(report_faults, E08_code_that_cannot_be_written)
{
  rig r = new_rig();
  pop_program main = execute(&r, "Count");
  pop_executable *e;
  FILE *full = fopen("/dev/full", "w");
  cr_assert_not_null(full);
  expect_ok(pop_compile_graph(r.graph, &main, 1, NULL, 0, &e));
  expect_error(pop_executable_write_code(e, true, full), POP_ERROR_SYSTEM, "cannot write the code",
               "full disk");
  fclose(full);
  pop_executable_free(e);
  pop_graph_free(r.graph);
}

Test(report_faults, E08_summaries_that_cannot_be_written)
{
  rig r = new_rig();
  pop_profile *graph, *execution;
  start(&r, execute(&r, "Count"), instrumented, 1);
  expect_ok(pop_engine_graph_profile(r.engine, &graph));
  expect_ok(pop_engine_execution_profile(r.engine, &execution));
  pop_profile_value of_graph = pop_profile_root(graph), of_runs = pop_profile_root(execution);
  FILE *full = fopen("/dev/full", "w");
  cr_assert_not_null(full);
  expect_error(pop_profile_print_graph_summary(of_graph, NULL, 0, full), POP_ERROR_SYSTEM,
               "cannot write", "the graph's");
  clearerr(full);
  expect_error(pop_profile_print_execution_summary(of_graph, of_runs, NULL, 0, full),
               POP_ERROR_SYSTEM, "cannot write", "the execution's");
  fclose(full);
  pop_profile_free(graph);
  pop_profile_free(execution);
  free_rig(&r);
}

/* All of what is written fits the stream's buffer. */
Test(report_faults, E08_a_page_that_does_not_leave_the_buffer)
{
  static char buffer[1 << 22];
  static const char *const report = "execution.json";
  FILE *small = fopen(report, "w"), *full = fopen("/dev/full", "w");
  cr_assert_not_null(small);
  fputs("{\"profilerMode\":\"NONE\"}", small);
  fclose(small);
  if (!full) return;
  setvbuf(full, buffer, _IOFBF, sizeof buffer);
  expect_error(pop_report_write_json(&report, 1, 0, full), POP_ERROR_SYSTEM,
               "cannot write the page", "reports");
  pop_error *error = pop_report_write_page_frame(full);
  cr_assert_not_null(error);
  cr_assert_eq(pop_error_get_code(error), POP_ERROR_SYSTEM); /* also without a viewer */
  pop_error_free(error);
  fclose(full);
}

Test(report_faults, E08_a_file_where_the_folder_should_be)
{
  static const pop_option options[] = {{"autoReport.all", "true"},
                                       {"autoReport.directory", "file"}};
  FILE *file = fopen("file", "wb");
  cr_assert(file && !fclose(file));
  rig r = new_rig();
  pop_program main = execute(&r, "Count");
  pop_error *error = pop_engine_create(r.graph, &main, 1, options, 2, &r.engine);
  cr_assert_null(r.engine);
  expect_error(error, POP_ERROR_SYSTEM, "cannot write 'file/archive.a': not a folder", "a file");
  free_rig(&r);
}

/* ---- counters beyond 32 bits ---- */

Test(report_faults, E12_cycles_beyond_32_bits_are_counted)
{
  rig r = new_rig();
  r.graph->target.sync_cycles = SYNC_CYCLES;
  pop_program main = pop_program_sequence(r.graph, "main");
  pop_sequence_add(main, execute(&r, "Count"));
  pop_sequence_add(main, pop_program_repeat(r.graph, NUM_SYNCS,
                                            pop_program_sync(r.graph, POP_SYNC_INTERNAL, "wait"),
                                            "wait long"));
  pop_sequence_add(main, execute(&r, "Count"));
  start(&r, main, instrumented, 1);
  uint64_t before = pop_engine_cycles(r.engine);
  expect_ok(pop_engine_run(r.engine, 0));
  uint64_t cycles = pop_engine_cycles(r.engine) - before;
  cr_assert_geq(cycles, (uint64_t)NUM_SYNCS * SYNC_CYCLES);
  cr_assert_leq(cycles, (NUM_SYNCS + 20ull) * SYNC_CYCLES);
  json_t *profile = profile_of(&r), *run = json_array_get(json_object_get(profile, "runs"), 0);
  cr_assert_eq((uint64_t)json_integer_value(json_object_get(run, "cycles")), cycles);
  json_decref(profile);
  expect_ok(pop_engine_run(r.engine, 0));
  cr_assert_eq(pop_engine_cycles(r.engine) - before, 2 * cycles, "the second run takes other time");
  expect_n(&r, 4);
  free_rig(&r);
}

/* ---- sizes of targets ---- */

static void set_tiles_0(pop_target *t)
{
  t->tiles_per_ipu = 0;
}
static void set_ipus_0(pop_target *t)
{
  t->num_ipus = 0;
}
static void set_ipus_1025(pop_target *t)
{
  t->num_ipus = 1025;
}

Test(report_faults, Z02_no_tiles_are_an_error)
{
  static const struct {
    void (*set)(pop_target *target);
    const char *words;
  } cases[] = {{set_tiles_0, "tiles_per_ipu is 0"},
               {set_ipus_0, "num_ipus is 0"},
               {set_ipus_1025, "num_ipus is 1025, but must be from 1 to 1024"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    pop_target target;
    expect_ok(pop_target_create("ipu2", 1, &target));
    cases[i].set(&target);
    pop_graph *graph = pop_graph_create(&target);
    assert_error(graph, POP_ERROR_INVALID_ARGUMENT, (const char *[5]){cases[i].words}, "target");
    pop_graph_free(graph);
  }
}

Test(report_faults, Z02_one_tile_and_all_tiles_of_64_ipus)
{
  static const uint32_t ipus[] = {1, 64};
  for (size_t i = 0; i < 2; i++) {
    pop_target target;
    expect_ok(pop_target_create("ipu2", ipus[i], &target));
    if (ipus[i] == 1) target.tiles_per_ipu = 1;
    rig r = {.graph = pop_graph_create(&target)};
    size_t last = pop_target_num_tiles(&target) - 1, one = 1;
    cr_assert_eq(last, ipus[i] == 1 ? 0 : 94207);
    static const int value = 77;
    pop_tensor from = pop_graph_add_variable(r.graph, POP_INT, &one, 1, "from");
    r.n = pop_graph_add_variable(r.graph, POP_INT, &one, 1, "n");
    pop_graph_set_tile_mapping(r.graph, from, 0);
    pop_graph_set_tile_mapping(r.graph, r.n, last);
    pop_graph_set_initial_value(r.graph, from, &value);
    pop_graph_create_host_read(r.graph, "n", r.n);
    start(&r, pop_program_copy(from, r.n, "far"), NULL, 0);
    expect_ok(pop_engine_run(r.engine, 0));
    expect_n(&r, 77);
    expect_plain_summary(&r);
    free_rig(&r);
  }
}

Test(report_faults, Z03_a_broadcast_that_no_host_can_hold_is_refused)
{
  for (int print = 0; print < 2; print++) {
    rig r = new_rig();
    pop_tensor wide = pop_tensor_broadcast(r.n, (size_t)1 << 33, 0);
    pop_program main = pop_program_nop(r.graph, "nop");
    if (print)
      main = pop_program_print_tensor(wide, "wide");
    else
      pop_graph_create_host_read(r.graph, "wide", wide);
    pop_error *error = pop_engine_create(r.graph, &main, 1, NULL, 0, &r.engine);
    expect_error(error, POP_ERROR_TENSOR,
                 "a tensor of 8589934592 elements goes to the host: up to 4294967295 can",
                 print ? "print" : "read");
    free_rig(&r);
  }
}

/* ---- sizes ---- */

enum { LARGE_BLOCKS = 4097, BLOCK_BYTES = 1 << 20 }; /* 4 GiB and one more block */

static void put_number(const emitter *to, const void *number)
{
  emit_int(to, NULL, *(const int *)number);
}

/* Writes the blocks, then the profile "7". */
static pop_error *write_large(FILE *stream, const void *block)
{
  for (int i = 0; i < LARGE_BLOCKS; i++)
    if (fwrite(block, BLOCK_BYTES, 1, stream) != 1) break;
  return emit_to_stream(put_number, &(int){7}, POP_PROFILE_JSON, stream);
}

/* Reports are streamed, so only the file's position counts their bytes. */
Test(report_faults, Z04_a_report_of_more_than_4_GiB)
{
  const uint64_t bytes = (uint64_t)LARGE_BLOCKS * BLOCK_BYTES + 1;
  void *block = calloc(1, BLOCK_BYTES);
  cr_assert_not_null(block);
  bool too_large = true;
  expect_ok(report_file_write_at_most("/dev/null", bytes, write_large, block, &too_large));
  cr_assert(!too_large);
  expect_ok(report_file_write_at_most("/dev/null", bytes - 1, write_large, block, &too_large));
  cr_assert(too_large);
  expect_error(report_file_write("/dev/full", write_large, block), POP_ERROR_SYSTEM, "/dev/full",
               "disk");
  free(block);
}
