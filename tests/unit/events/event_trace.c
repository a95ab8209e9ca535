/* Event traces: which events are recorded, their contents, and where their reports are written. */
#include "support/graph_test.h"

#include "support/expect.h"
#include <jansson.h>
#include <populus/populus.h>
#include <stdio.h>
#include <sys/stat.h>

TestSuite(event_trace, .init = enter_fresh_folder);

enum { NUM_TILES = 2 };

typedef struct rig {
  pop_event_trace *trace;
  pop_graph *graph;
  pop_program program;
  pop_executable *executable;
  pop_engine *engine;
} rig;

/* `options` ends with an option without a key. */
static pop_event_trace *new_trace(const pop_option *options)
{
  size_t count = 0;
  pop_event_trace *trace;
  while (options[count].key) count++;
  expect_ok(pop_event_trace_create(options, count, &trace));
  return trace;
}

/* A program with one vertex. */
static pop_program negate(pop_graph *graph, const char *name)
{
  const size_t one = 1;
  static const int zero;
  pop_tensor n = pop_graph_add_variable(graph, POP_INT, &one, 1, "n");
  pop_graph_set_tile_mapping(graph, n, 1);
  pop_graph_set_initial_value(graph, n, &zero);
  pop_program sequence = pop_program_sequence(graph, name);
  pop_popops_unary(graph, POP_UNARY_NEGATE, n, n, sequence, name);
  return sequence;
}

static pop_graph *new_negating_graph(void)
{
  pop_graph *graph = new_graph_with_tiles(NUM_TILES);
  pop_popops_add_codelets(graph);
  return graph;
}

static rig compile_as(const char *name, const pop_option *options)
{
  rig r = {.trace = new_trace(options), .graph = new_negating_graph()};
  r.program = negate(r.graph, name);
  assert_no_error(r.graph);
  expect_ok(pop_event_trace_compile_graph(r.trace, r.graph, &r.program, 1, NULL, 0, &r.executable));
  return r;
}

static rig load(const pop_option *options)
{
  rig r = compile_as("count", options);
  expect_ok(pop_engine_create_from_executable(r.executable, NULL, 0, &r.engine));
  expect_ok(pop_engine_load(r.engine));
  return r;
}

static void free_rig(rig *r)
{
  pop_engine_free(r->engine);
  pop_executable_free(r->executable);
  pop_graph_free(r->graph);
  pop_event_trace_free(r->trace);
}

/* Compares the recorded events with `expected`, a letter for each event. The caller frees the
 * result. */
static pop_trace_events *fetch(const rig *r, const char *expected)
{
  static const char letters[] = "?BELX";
  char found[64] = "";
  pop_trace_events *events = pop_event_trace_fetch(r->trace);
  for (size_t i = 0; i < pop_trace_events_count(events) && i < sizeof found - 1; i++)
    found[i] = letters[pop_trace_events_at(events, i)->type];
  cr_assert_str_eq(found, expected);
  return events;
}

static void fetch_only(const rig *r, const char *expected)
{
  pop_trace_events_free(fetch(r, expected));
}

/* ---- recorded events ---- */

Test(event_trace, has_what_happened_in_order_until_it_is_fetched)
{
  static const pop_option options[] = {
      {"enable_ipu_events", "true"}, {"ordinal", "3"}, {NULL, NULL}};
  rig r = load(options);
  expect_ok(pop_engine_run(r.engine, 0));
  pop_trace_events *events = fetch(&r, "BELX");
  double before = 1.7e9;
  for (size_t i = 0; i < 4; i++) {
    const pop_trace_event *event = pop_trace_events_at(events, i);
    cr_assert_not_null(event);
    cr_assert_str_eq(event->module_name, "count");
    cr_assert_eq(event->ordinal, 3);
    cr_assert_geq(event->timestamp, before);
    cr_assert_eq(event->duration > 0, event->type != POP_TRACE_COMPILE_BEGIN);
    cr_assert_str_empty(event->error);
    cr_assert_eq(event->report.size, 0);
    cr_assert_str_eq(event->program, event->type == POP_TRACE_EXECUTE ? "count" : "");
    before = event->timestamp;
  }
  const pop_trace_event *end = pop_trace_events_at(events, 1);
  cr_assert_not_null(end);
  cr_assert_float_eq(end->timestamp - pop_trace_events_at(events, 0)->timestamp,
                     (double)end->duration * 1e-6, 0.5);
  cr_assert_null(pop_trace_events_at(events, 4));
  pop_trace_events_free(events);
  fetch_only(&r, "");
  expect_ok(pop_engine_run(r.engine, 0));
  expect_ok(pop_engine_load(r.engine));
  fetch_only(&r, "XL");
  free_rig(&r);
}

Test(event_trace, options_say_which_events_there_are)
{
  static const struct {
    pop_option options[3];
    const char *events;
    bool compile_report, execution_report;
  } cases[] = {
      {{{NULL, NULL}}, "", false, false},
      {{{"enable_ipu_events", "true"}}, "BELX", false, false},
      {{{"profiling", "true"}}, "BEL", true, false},
      {{{"profile_execution", "true"}}, "BELX", false, true},
      {{{"profiling", "true"}, {"profile_execution", "true"}}, "BELX", true, true},
      {{{"profiling", "true"}, {"enable_ipu_events", "true"}}, "BELX", true, false},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    rig r = load(cases[i].options);
    expect_ok(pop_engine_run(r.engine, 0));
    pop_trace_events *events = fetch(&r, cases[i].events);
    for (size_t j = 0; j < pop_trace_events_count(events); j++) {
      const pop_trace_event *event = pop_trace_events_at(events, j);
      cr_assert_not_null(event);
      bool reports = event->type == POP_TRACE_COMPILE_END ? cases[i].compile_report
                     : event->type == POP_TRACE_EXECUTE   ? cases[i].execution_report
                                                          : false;
      cr_assert_eq(event->report.size > 0, reports, "case %zu, event %zu", i, j);
    }
    pop_trace_events_free(events);
    free_rig(&r);
  }
}

Test(event_trace, wrong_options_are_refused)
{
  static const struct {
    pop_option options[2];
    const char *message;
  } cases[] = {
      {{{"profilin", "true"}, {"profiling", "true"}}, "did you mean 'profiling'?"},
      {{{"profiling", "yes"}, {"enable_ipu_events", "true"}}, "it takes true or false"},
      {{{"profiling", "true"}, {"profiling", "false"}}, "given twice"},
      {{{"profile_execution", "VERTEX_PROFILE"}, {"profiling", "true"}}, "TILE_PROFILE"},
      {{{"max_report_size", "-1"}, {"profiling", "true"}}, "it takes a number"},
      {{{"max_report_size", "18446744073709551616"}, {"profiling", "true"}}, "it takes a number"},
      {{{"ordinal", "2147483648"}, {"profiling", "true"}}, "it takes a number"},
      {{{"report_directory", "here"}, {"report_every_nth_execution", "2nd"}}, "it takes a number"},
      {{{"use_poplar_text_report", "true"}, {"use_poplar_cbor_report", "true"}}, "both"},
      {{{"profiling", NULL}, {"profiling", "true"}}, "no value"},
      {{{NULL, "true"}, {"profiling", "true"}}, "no key"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    pop_event_trace *trace;
    expect_error(pop_event_trace_create(cases[i].options, 2, &trace), POP_ERROR_INVALID_OPTION,
                 cases[i].message, cases[i].message);
    cr_assert_null(trace);
  }
}

Test(event_trace, says_why_there_is_no_executable)
{
  static const pop_option options[] = {{"profiling", "true"}, {NULL, NULL}};
  rig r = {.trace = new_trace(options), .graph = new_negating_graph()};
  r.program = negate(r.graph, "count");
  pop_tensor large =
      pop_graph_add_variable(r.graph, POP_INT, (size_t[]){1 << 20}, 1, "too much for a tile");
  pop_graph_set_tile_mapping(r.graph, large, 0);
  pop_program both = pop_program_sequence(r.graph, "both");
  pop_sequence_add(both, r.program);
  pop_sequence_add(both, pop_program_copy(large, large, "copy"));
  pop_graph_create_host_read(r.graph, "large", large);
  expect_error(pop_event_trace_compile_graph(r.trace, r.graph, &both, 1, NULL, 0, &r.executable),
               POP_ERROR_GRAPH_MEMORY, "", "compile");
  cr_assert_null(r.executable);
  pop_trace_events *events = fetch(&r, "BE");
  const pop_trace_event *end = pop_trace_events_at(events, 1);
  cr_assert_not_null(end);
  cr_assert_not_null(strstr(end->error, "memory"), "%s", end->error);
  cr_assert_eq(end->report.size, 0);
  pop_trace_events_free(events);
  free_rig(&r);
}

Test(event_trace, says_why_a_run_ended)
{
  static const pop_option options[] = {{"profile_execution", "true"}, {NULL, NULL}};
  rig r = {.trace = new_trace(options), .graph = new_negating_graph()};
  r.program = pop_program_abort(r.graph, "enough", "count");
  expect_ok(pop_event_trace_compile_graph(r.trace, r.graph, &r.program, 1, NULL, 0, &r.executable));
  expect_ok(pop_engine_create_from_executable(r.executable, NULL, 0, &r.engine));
  expect_ok(pop_engine_load(r.engine));
  expect_error(pop_engine_run(r.engine, 0), POP_ERROR_RUNTIME, "enough", "run");
  pop_trace_events *events = fetch(&r, "BELX");
  const pop_trace_event *run = pop_trace_events_at(events, 3);
  cr_assert_not_null(run);
  cr_assert_not_null(strstr(run->error, "enough"), "%s", run->error);
  cr_assert_eq(run->report.size, 0);
  pop_trace_events_free(events);
  free_rig(&r);
}

Test(event_trace, records_what_engines_of_an_archive_do)
{
  static const pop_option options[] = {{"enable_ipu_events", "true"}, {NULL, NULL}};
  rig r = compile_as("count", options);
  expect_ok(pop_executable_save(r.executable, "archive.a"));
  pop_executable *loaded;
  expect_ok(pop_executable_load("archive.a", &loaded));
  expect_ok(pop_event_trace_add_executable(r.trace, loaded, "from a file"));
  expect_error(pop_event_trace_add_executable(r.trace, loaded, "again"), POP_ERROR_INVALID_ARGUMENT,
               "'from a file'", "twice");
  expect_ok(pop_engine_create_from_executable(loaded, NULL, 0, &r.engine));
  pop_executable_free(loaded);
  expect_ok(pop_engine_load(r.engine));
  expect_ok(pop_engine_run(r.engine, 0));
  pop_trace_events *events = fetch(&r, "BELX");
  cr_assert_str_eq(pop_trace_events_at(events, 3)->module_name, "from a file");
  pop_trace_events_free(events);
  free_rig(&r);
}

Test(event_trace, leaves_out_engines_that_were_made_before)
{
  static const pop_option options[] = {{"enable_ipu_events", "true"}, {NULL, NULL}};
  rig r = compile_as("count", options);
  pop_executable *loaded;
  pop_engine *before;
  expect_ok(pop_executable_save(r.executable, "archive.a"));
  expect_ok(pop_executable_load("archive.a", &loaded));
  expect_ok(pop_engine_create_from_executable(loaded, NULL, 0, &before));
  expect_ok(pop_event_trace_add_executable(r.trace, loaded, "late"));
  expect_ok(pop_engine_create_from_executable(loaded, NULL, 0, &r.engine));
  pop_executable_free(loaded);
  expect_ok(pop_engine_load(before));
  expect_ok(pop_engine_run(before, 0));
  fetch_only(&r, "BE");
  expect_ok(pop_engine_load(r.engine));
  expect_ok(pop_engine_run(r.engine, 0));
  fetch_only(&r, "LX");
  pop_engine_free(before);
  free_rig(&r);
}

Test(event_trace, outlives_who_made_it)
{
  static const pop_option options[] = {{"enable_ipu_events", "true"}, {NULL, NULL}};
  rig r = load(options);
  pop_event_trace_free(r.trace);
  r.trace = NULL;
  expect_ok(pop_engine_run(r.engine, 0));
  free_rig(&r);
}

/* ---- reports ---- */

static const pop_trace_text *report_of(const pop_trace_events *events, size_t number)
{
  const pop_trace_event *event = pop_trace_events_at(events, number);
  cr_assert_not_null(event);
  cr_assert_eq(event->report.data[event->report.size], '\0');
  return &event->report;
}

/* Checks the report against the profile. */
static void expect_profile(const rig *r, const pop_trace_text *report, pop_profile_format format)
{
  char *bytes = NULL;
  size_t size;
  FILE *stream = open_memstream(&bytes, &size);
  cr_assert_not_null(stream);
  expect_ok(pop_executable_write_graph_profile(r->executable, format, stream));
  fclose(stream);
  cr_assert_eq(report->size, size);
  cr_assert_arr_eq(report->data, bytes, size);
  free(bytes);
}

Test(event_trace, reports_are_profiles_in_the_format_that_was_asked_for)
{
  static const pop_option json[] = {{"profiling", "true"}, {NULL, NULL}};
  static const pop_option cbor[] = {
      {"profiling", "true"}, {"use_poplar_cbor_report", "true"}, {NULL, NULL}};
  static const pop_option text[] = {
      {"profiling", "true"}, {"use_poplar_text_report", "true"}, {NULL, NULL}};
  const pop_option *const options[] = {json, cbor, text};
  for (size_t i = 0; i < 3; i++) {
    rig r = compile_as("count", options[i]);
    pop_trace_events *events = fetch(&r, "BE");
    const pop_trace_text *report = report_of(events, 1);
    if (i < 2)
      expect_profile(&r, report, i ? POP_PROFILE_CBOR : POP_PROFILE_JSON);
    else
      cr_assert_eq(strncmp(report->data, "Target:\n", 8), 0);
    pop_trace_events_free(events);
    free_rig(&r);
  }
}

Test(event_trace, the_execution_profile_is_of_the_type_that_was_asked_for)
{
  static const struct {
    const char *type, *mode;
  } cases[] = {{"true", "SINGLE_TILE_COMPUTE_SETS"},
               {"DEVICE_PROFILE", "SINGLE_TILE_COMPUTE_SETS"},
               {"IPU_PROFILE", "SINGLE_TILE_COMPUTE_SETS"},
               {"TILE_PROFILE", "COMPUTE_SETS"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const pop_option options[] = {{"profile_execution", cases[i].type}, {NULL, NULL}};
    rig r = load(options);
    expect_ok(pop_engine_run(r.engine, 0));
    pop_trace_events *events = fetch(&r, "BELX");
    json_t *profile = json_loads(report_of(events, 3)->data, 0, NULL);
    const char *mode = json_string_value(json_object_get(profile, "profilerMode"));
    cr_assert_str_eq(mode ? mode : "none", cases[i].mode, "%s", cases[i].type);
    json_decref(profile);
    pop_trace_events_free(events);
    free_rig(&r);
  }
}

Test(event_trace, what_the_call_says_about_instruments_counts)
{
  static const pop_option options[] = {{"profile_execution", "TILE_PROFILE"}, {NULL, NULL}};
  static const pop_option given[] = {{"debug.computeInstrumentationLevel", "vertex"}};
  rig r = {.trace = new_trace(options), .graph = new_negating_graph()};
  r.program = negate(r.graph, "count");
  expect_ok(
      pop_event_trace_compile_graph(r.trace, r.graph, &r.program, 1, given, 1, &r.executable));
  expect_ok(pop_engine_create_from_executable(r.executable, NULL, 0, &r.engine));
  expect_ok(pop_engine_load(r.engine));
  expect_ok(pop_engine_run(r.engine, 0));
  pop_trace_events *events = fetch(&r, "BELX");
  cr_assert_not_null(strstr(report_of(events, 3)->data, "\"VERTICES\""));
  pop_trace_events_free(events);
  free_rig(&r);
}

Test(event_trace, every_nth_execution_has_a_report)
{
  static const struct {
    const char *every, *with_report;
  } cases[] = {{"0", "+++++"}, {"1", "+++++"},  {"2", "+-+-+"},
               {"4", "+---+"}, {"08", "+----"}, {"0x2", "+-+-+"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const pop_option options[] = {{"profile_execution", "true"},
                                  {"report_every_nth_execution", cases[i].every},
                                  {NULL, NULL}};
    rig r = load(options);
    for (int run = 0; run < 5; run++) expect_ok(pop_engine_run(r.engine, 0));
    pop_trace_events *events = fetch(&r, "BELXXXXX");
    char found[6] = "";
    for (size_t run = 0; run < 5; run++) found[run] = report_of(events, 3 + run)->size ? '+' : '-';
    cr_assert_str_eq(found, cases[i].with_report, "every %s", cases[i].every);
    pop_trace_events_free(events);
    free_rig(&r);
  }
}

/* Compiles with reports of at most `most` bytes, and returns the size of the compilation report. */
static size_t report_bytes(size_t most, const char *directory)
{
  char number[32];
  snprintf(number, sizeof number, "%zu", most);
  const pop_option options[] = {{"profiling", "true"},
                                {"max_report_size", number},
                                {"report_directory", directory},
                                {NULL, NULL}};
  rig r = compile_as("count", options);
  pop_trace_events *events = fetch(&r, "BE");
  size_t size = report_of(events, 1)->size;
  cr_assert_gt(pop_trace_events_at(events, 1)->tensor_map.size, 0);
  pop_trace_events_free(events);
  free_rig(&r);
  return size;
}

static bool log_has(const char *text)
{
  char line[512];
  bool found = false;
  FILE *log = fopen("log.txt", "r");
  while (log && fgets(line, sizeof line, log)) found |= strstr(line, text) != NULL;
  if (log) fclose(log);
  return found;
}

Test(event_trace, a_report_that_is_too_large_is_left_out_with_a_warning)
{
  setenv("POPLAR_LOG_LEVEL", "WARN", 1);
  setenv("POPLAR_LOG_DEST", "log.txt", 1);
  size_t size = report_bytes(1 << 28, "");
  cr_assert_gt(size, 1000);
  cr_assert_eq(report_bytes(size, ""), size);
  cr_assert(!log_has("discarded"));
  cr_assert_eq(report_bytes(size - 1, ""), 0);
  cr_assert(log_has("report.json of module 'count' is discarded"));
  cr_assert_eq(report_bytes(1, ""), 0);
  cr_assert(!log_has("tensor map"), "which is no report");
  cr_assert_gt(report_bytes(size, "reports"), 0);
  cr_assert_eq(access("reports/count/report.json", F_OK), 0);
  cr_assert_eq(report_bytes(size - 1, "small"), 0);
  cr_assert_neq(access("small/count/report.json", F_OK), 0);
}

/* ---- folders ---- */

static size_t file_bytes(const char *path)
{
  struct stat status;
  return stat(path, &status) == 0 ? (size_t)status.st_size : 0;
}

Test(event_trace, each_compilation_has_a_folder_of_its_own)
{
  static const pop_option options[] = {{"profiling", "true"},
                                       {"profile_execution", "true"},
                                       {"enable_poplar_serialized_graph", "true"},
                                       {"use_poplar_cbor_report", "true"},
                                       {"report_directory", "a/b"},
                                       {NULL, NULL}};
  static const char *const folders[] = {"a/b/count", "a/b/count_2"};
  cr_assert_eq(mkdir("a", 0777), 0);
  cr_assert_eq(mkdir("a/b", 0777), 0);
  cr_assert_eq(mkdir("a/b/count_1", 0777), 0);
  for (size_t i = 0; i < 2; i++) {
    rig r = load(options);
    expect_ok(pop_engine_run(r.engine, 0));
    expect_ok(pop_engine_run(r.engine, 0));
    pop_trace_events *events = fetch(&r, "BELXX");
    char path[64];
    snprintf(path, sizeof path, "%s/report.cbor", folders[i]);
    cr_assert_str_eq(report_of(events, 1)->data, path);
    cr_assert_gt(file_bytes(path), 0);
    snprintf(path, sizeof path, "%s/execution.cbor", folders[i]);
    cr_assert_str_eq(report_of(events, 3)->data, path);
    cr_assert_str_eq(report_of(events, 4)->data, path);
    cr_assert_gt(file_bytes(path), 0);
    snprintf(path, sizeof path, "%s/serialized_graph.json", folders[i]);
    cr_assert_str_eq(pop_trace_events_at(events, 1)->graph.data, path);
    cr_assert_gt(file_bytes(path), 0);
    pop_trace_events_free(events);
    free_rig(&r);
  }
  cr_assert_eq(rmdir("a/b/count_1"), 0, "something was written to a folder that was there");
}

Test(event_trace, a_folder_stays_in_the_directory_whatever_the_name)
{
  static const pop_option options[] = {
      {"profiling", "true"}, {"report_directory", "reports"}, {NULL, NULL}};
  rig r = compile_as("../up/\n.x", options);
  cr_assert_eq(access("reports/_._up__.x/report.json", F_OK), 0);
  free_rig(&r);
}

Test(event_trace, E08_a_directory_that_cannot_be_made_is_an_error)
{
  static const pop_option options[] = {
      {"profiling", "true"}, {"report_directory", "file/reports"}, {NULL, NULL}};
  FILE *file = fopen("file", "w");
  cr_assert_not_null(file);
  fclose(file);
  rig r = {.trace = new_trace(options), .graph = new_negating_graph()};
  r.program = negate(r.graph, "count");
  expect_error(
      pop_event_trace_compile_graph(r.trace, r.graph, &r.program, 1, NULL, 0, &r.executable),
      POP_ERROR_SYSTEM, "file", "directory");
  cr_assert_null(r.executable);
  fetch_only(&r, "BE");
  free_rig(&r);
}

/* ---- the graph ---- */

static char *map_of(pop_graph *graph, const pop_program *programs, size_t count, bool info)
{
  static const pop_option options[] = {{"enable_ipu_events", "true"}, {NULL, NULL}};
  assert_no_error(graph);
  rig r = {.trace = new_trace(options), .graph = graph};
  expect_ok(pop_event_trace_compile_graph(r.trace, graph, programs, count, NULL, 0, &r.executable));
  pop_trace_events *events = fetch(&r, "BE");
  const pop_trace_event *end = pop_trace_events_at(events, 1);
  cr_assert_not_null(end);
  char *text = pop_xstrdup(info ? end->instruction_info.data : end->tensor_map.data);
  text[strcspn(text, "\n")] = '\0';
  pop_trace_events_free(events);
  free_rig(&r);
  return text;
}

Test(event_trace, the_tensor_map_says_which_tiles_have_what)
{
  static const float values[] = {1, 2, 3, 4, 5, 6};
  pop_graph *graph = new_graph_with_tiles(3);
  const size_t shape[] = {2, 3};
  pop_tensor x = pop_graph_add_variable(graph, POP_FLOAT, shape, 2, "x");
  pop_tensor again = pop_graph_add_variable(graph, POP_FLOAT, shape, 2, "x");
  pop_tensor plain = pop_graph_add_variable(graph, POP_INT, shape, 1, NULL);
  pop_tensor one = pop_graph_add_constant(graph, POP_FLOAT, shape, 2, values, "one");
  pop_graph_set_tile_mapping(graph, pop_tensor_index(x, 0), 2);
  pop_graph_set_tile_mapping(graph, pop_tensor_index(x, 1), 0);
  pop_graph_set_tile_mapping(graph, pop_tensor_slice(pop_tensor_index(x, 1), 1, 2, 0), 2);
  pop_graph_set_tile_mapping(graph, again, 1);
  pop_graph_set_tile_mapping(graph, plain, 1);
  pop_graph_set_tile_mapping(graph, one, 1);
  pop_tensor row = pop_tensor_index(x, 0);
  pop_graph_create_host_read(graph, "twice", pop_tensor_broadcast(row, 2, 0));
  pop_graph_create_host_read(graph, "n", plain);
  pop_program sequence = pop_program_sequence(graph, "same");
  pop_sequence_add(sequence, pop_program_copy(one, x, "fill"));
  pop_sequence_add(sequence, pop_program_copy(x, again, "copy"));
  const pop_program programs[] = {sequence, pop_program_print_tensor(plain, ""),
                                  pop_program_copy(again, x, "same")};
  char *map = map_of(graph, programs, 3, false);
  cr_expect_str_eq(map, "{\"mappings\":{"
                        "\"same\":["
                        "[\"x\",0,[2,3],\"float\",false,false,6,[[0,2],[2,4]]],"
                        "[\"x\",1,[2,3],\"float\",false,false,6,[[1,6]]],"
                        "[\"one\",0,[2,3],\"float\",true,false,6,[[1,6]]],"
                        "[\"twice\",0,[6],\"float\",false,true,6,[[2,6]]]],"
                        "\"program 1\":["
                        "[\"<anon>\",0,[2],\"int\",false,false,2,[[1,2]]],"
                        "[\"n\",0,[2],\"int\",false,false,2,[[1,2]]]],"
                        "\"same (program 2)\":["
                        "[\"x\",0,[2,3],\"float\",false,false,6,[[0,2],[2,4]]],"
                        "[\"x\",1,[2,3],\"float\",false,false,6,[[1,6]]],"
                        "[\"twice\",0,[6],\"float\",false,true,6,[[2,6]]]]}}");
  free(map);
}

Test(event_trace, the_tensor_map_has_what_vertices_are_connected_to)
{
  pop_graph *graph = new_negating_graph();
  pop_program program = negate(graph, "count");
  negate(graph, "another");
  char *map = map_of(graph, &program, 1, false);
  cr_expect_str_eq(map, "{\"mappings\":{\"count\":["
                        "[\"n\",0,[1],\"int\",false,false,1,[[1,1]]]]}}");
  free(map);
}

static pop_program products(pop_graph *graph, const char *const *names, size_t count)
{
  const size_t shape[] = {2, 2};
  pop_popops_add_codelets(graph);
  pop_poplin_add_codelets(graph);
  pop_program sequence = pop_program_sequence(graph, "products");
  for (size_t i = 0; i < count; i++) {
    pop_tensor a = pop_graph_add_variable(graph, POP_FLOAT, shape, 2, "a");
    pop_graph_map_linearly(graph, a, 0, 0);
    pop_poplin_mat_mul(graph, a, a, sequence, names[i]);
  }
  return sequence;
}

Test(event_trace, matrix_products_are_said_to_be_for_what_their_names_say)
{
  static const char *const layers[] = {"Layer1/Fwd/mul", "Layer1/Bwd", "Wu/mul", "BwdFwd/mul"};
  static const char *const plain[] = {"mul"};
  pop_graph *graph = new_graph_with_tiles(NUM_TILES);
  pop_program program = products(graph, layers, 4);
  char *info = map_of(graph, &program, 1, true);
  cr_expect_str_eq(info, "{\"ml_types\":{\"Layer1/Fwd/mul\":2,\"Layer1/Bwd\":3,\"Wu/mul\":4,"
                         "\"BwdFwd/mul\":0}}");
  free(info);
  graph = new_graph_with_tiles(NUM_TILES);
  program = products(graph, plain, 1);
  info = map_of(graph, &program, 1, true);
  cr_expect_str_eq(info, "{\"ml_types\":{\"mul\":1}}");
  free(info);
}

Test(event_trace, matrix_products_of_one_name_are_there_once)
{
  static const char *const names[] = {"mul", "Fwd/mul", "mul"};
  pop_graph *graph = new_graph_with_tiles(NUM_TILES);
  pop_program program = products(graph, names, 3);
  char *info = map_of(graph, &program, 1, true);
  cr_expect_str_eq(info, "{\"ml_types\":{\"mul\":0,\"Fwd/mul\":2}}");
  free(info);
}

Test(event_trace, the_graph_is_there_if_it_is_wanted)
{
  static const pop_option options[] = {
      {"enable_ipu_events", "true"}, {"enable_poplar_serialized_graph", "true"}, {NULL, NULL}};
  rig r = compile_as("count", options);
  pop_trace_events *events = fetch(&r, "BE");
  char *text = NULL;
  size_t size;
  FILE *stream = open_memstream(&text, &size);
  cr_assert_not_null(stream);
  expect_ok(pop_graph_serialize(r.graph, stream));
  fclose(stream);
  cr_assert_str_eq(pop_trace_events_at(events, 1)->graph.data, text);
  free(text);
  pop_trace_events_free(events);
  free_rig(&r);
}

/* ---- the host ---- */

Test(event_trace, records_what_runs_on_the_cpu)
{
  static const pop_option options[] = {
      {"profiling", "true"}, {"profile_execution", "true"}, {NULL, NULL}};
  pop_device *cpu = pop_device_create_cpu();
  rig r = {.trace = new_trace(options), .graph = pop_graph_create(pop_device_target(cpu))};
  pop_popops_add_codelets(r.graph);
  r.program = negate(r.graph, "count");
  expect_ok(pop_event_trace_compile_graph(r.trace, r.graph, &r.program, 1, NULL, 0, &r.executable));
  expect_ok(pop_engine_create_from_executable(r.executable, NULL, 0, &r.engine));
  expect_ok(pop_engine_load_device(r.engine, cpu));
  expect_ok(pop_engine_run(r.engine, 0));
  pop_trace_events *events = fetch(&r, "BELX");
  cr_assert_eq(report_of(events, 1)->size, 0);
  cr_assert_not_null(strstr(report_of(events, 3)->data, "\"CPU\""));
  pop_trace_events_free(events);
  free_rig(&r);
  pop_device_free(cpu);
}

/* ---- writing ---- */

/* Anybody may have named a program. */
Test(event_trace, a_name_is_within_its_line)
{
  static const pop_option options[] = {{"enable_ipu_events", "true"}, {NULL, NULL}};
  rig r = compile_as("a\nb\x1b[2J", options);
  expect_ok(pop_engine_create_from_executable(r.executable, NULL, 0, &r.engine));
  expect_ok(pop_engine_load(r.engine));
  expect_ok(pop_engine_run(r.engine, 0));
  pop_trace_events *events = fetch(&r, "BELX");
  char *text = NULL;
  size_t size;
  FILE *stream = open_memstream(&text, &size);
  cr_assert_not_null(stream);
  expect_ok(pop_trace_events_print(events, stream));
  fclose(stream);
  cr_assert_null(strchr(text, '\x1b'));
  cr_assert_null(strstr(text, "a\n"));
  cr_assert_not_null(strstr(text, ": Execute: a\\x0ab\\x1b[2J, program a\\x0ab\\x1b[2J\n"), "%s",
                     text);
  free(text);
  pop_trace_events_free(events);
  free_rig(&r);
}

Test(event_trace, a_full_disk_is_an_error)
{
  static const pop_option options[] = {{"profiling", "true"}, {NULL, NULL}};
  rig r = compile_as("count", options);
  pop_trace_events *events = fetch(&r, "BE");
  FILE *full = fopen("/dev/full", "w");
  cr_assert_not_null(full);
  expect_error(pop_trace_events_write(events, full), POP_ERROR_SYSTEM, "No space left", "protobuf");
  fclose(full);
  full = fopen("/dev/full", "w");
  cr_assert_not_null(full);
  expect_error(pop_trace_events_print(events, full), POP_ERROR_SYSTEM, "No space left", "text");
  fclose(full);
  pop_trace_events_free(events);
  free_rig(&r);
}
