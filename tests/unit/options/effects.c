/* The effects of engine options: each one changes some output. */
#include "engine/engine_private.h"
#include "support/expect.h"
#include "support/graph_test.h"

#include <jansson.h>
#include <populus/archive.h>
#include <populus/file.h>
#include <populus/populus.h>
#include <time.h>

TestSuite(option_effects, .init = enter_fresh_folder);

enum { TILES = 4 };

static const char codelets[] = "#include <populus/vertex.h>\n"
                               "typedef struct { INOUT(int) out; } Break;\n"
                               "COMPUTE(Break)\n"
                               "{\n"
                               "  int *nowhere = 0;\n"
                               "  __asm__(\"\" : \"+r\"(nowhere));\n"
                               "  *vertex->out = 1;\n"
                               "  *nowhere = 2;\n"
                               "  return true;\n"
                               "}\n";

/* Each tile sends a word to all others. A second program writes to an invalid address. */
static pop_engine *new_engine(const pop_option *options, size_t num_options, pop_error **error)
{
  pop_graph *graph = new_graph_with_tiles(TILES);
  pop_graph_add_codelets_source(graph, "c", codelets, "break.c", "-g");
  pop_tensor words = pop_graph_add_variable(graph, POP_INT, (size_t[]){TILES}, 1, "words");
  pop_tensor all = pop_graph_add_variable(graph, POP_INT, (size_t[]){TILES, TILES}, 2, "all");
  pop_compute_set set = pop_graph_add_compute_set(graph, "break");
  for (size_t i = 0; i < TILES; i++) {
    pop_graph_set_tile_mapping(graph, pop_tensor_index(words, i), i);
    pop_graph_set_tile_mapping(graph, pop_tensor_index(all, i), i);
    pop_vertex v = pop_graph_add_vertex(graph, set, "Break");
    pop_graph_set_vertex_tile(graph, v, i);
    pop_graph_connect(graph, v, "out", pop_tensor_index(words, i));
  }
  pop_graph_set_initial_value(graph, words, (const int[]){3, 5, 7, 11});
  pop_graph_create_host_read(graph, "all", all);
  pop_tensor source = pop_tensor_broadcast(pop_tensor_expand(words, 0), TILES, 0);
  const pop_program programs[] = {pop_program_copy(source, all, "tell"),
                                  pop_program_execute(graph, set, "break")};
  assert_no_error(graph);
  pop_engine *engine;
  *error = pop_engine_create(graph, programs, 2, options, num_options, &engine);
  pop_graph_free(graph);
  return engine;
}

static pop_engine *engine_with(const char *key, const char *value)
{
  pop_error *error;
  pop_engine *engine = new_engine(&(pop_option){key, value}, 1, &error);
  expect_ok(error);
  return engine;
}

/* Runs the copy, checks it, and returns the bytes of exchange code on all tiles. */
static uint32_t exchange_code_with(const char *key, const char *value)
{
  pop_engine *engine = engine_with(key, value);
  int all[TILES * TILES];
  expect_ok(pop_engine_load(engine));
  expect_ok(pop_engine_run(engine, 0));
  expect_ok(pop_engine_read_tensor(engine, "all", all, sizeof all));
  for (int i = 0; i < TILES * TILES; i++)
    cr_assert_eq(all[i], ((const int[]){3, 5, 7, 11})[i % TILES], "%s=%s: %d", key, value, i);
  uint32_t bytes = 0;
  for (uint32_t tile = 0; tile < TILES; tile++) {
    pop_tile_memory memory;
    expect_ok(pop_engine_tile_memory(engine, tile, &memory));
    bytes += memory.not_overlapped[POP_MEMORY_INTERNAL_EXCHANGE_CODE][POP_REGION_NON_INTERLEAVED];
  }
  pop_engine_free(engine);
  return bytes;
}

Test(option_effects, exchange_plans_save_cycles_or_memory)
{
  static const char target[] = "opt.internalExchangeOptimisationTarget",
                    policy[] = "exchange.multicastPolicy";
  uint32_t apart = exchange_code_with(target, "cycles");
  uint32_t together = exchange_code_with(target, "memory");
  cr_assert_lt(together, apart);
  cr_assert_eq(exchange_code_with(target, "balanced"), together); /* for three tiles each */
  cr_assert_eq(exchange_code_with(policy, "balanced"), apart);
  cr_assert_eq(exchange_code_with(policy, "never"), apart);
  cr_assert_eq(exchange_code_with(policy, "always"), together);
}

/* The number of symbols with the prefix in the image of tile 1. */
static size_t count_symbols(const char *value, const char *prefix)
{
  pop_engine *engine = engine_with("debug.outputAllSymbols", value);
  pop_arena *arena = pop_arena_new();
  pop_bytes elf = {0};
  pop_image image;
  size_t count = 0;
  expect_ok(executable_image(engine->executable, 1, POP_IMAGE_SYMBOLS, &elf, arena, &image));
  for (size_t i = 0; i < image.num_symbols; i++)
    count += strncmp(image.symbols[i].name, prefix, strlen(prefix)) == 0;
  pop_bytes_free(&elf);
  pop_arena_free(arena);
  pop_engine_free(engine);
  return count;
}

Test(option_effects, local_symbols_can_be_left_out_of_images)
{
  cr_assert_eq(count_symbols("true", "vertex.break."), 1);
  cr_assert_eq(count_symbols("false", "vertex.break."), 0);
  cr_assert_eq(count_symbols("true", "all"), 1);
  cr_assert_eq(count_symbols("false", "all"), 0);
  cr_assert_eq(count_symbols("false", "__runCodelet_Break"), 1);
}

static size_t count_debug_files(const char *archive)
{
  pop_archive *a;
  size_t count = 0;
  expect_ok(pop_archive_open(archive, &a));
  for (size_t i = 0; i < pop_archive_num_members(a); i++)
    count += strncmp(pop_archive_get_member(a, i)->name, "code-", 5) == 0;
  pop_archive_close(a);
  return count;
}

/* V01: checks the message of the fault. */
static void run_fault(pop_engine *engine, const char *line, bool named)
{
  expect_ok(pop_engine_load(engine));
  pop_error *error = pop_engine_run(engine, 1);
  cr_assert_not_null(error);
  cr_assert_eq(strstr(pop_error_message(error), line) != NULL, named, "%s",
               pop_error_message(error));
  pop_error_free(error);
}

Test(option_effects, debug_information_can_be_dropped)
{
  pop_engine *with = engine_with("debug.retainDebugInformation", "true");
  pop_engine *without = engine_with("debug.retainDebugInformation", "false");
  expect_ok(pop_engine_save_archive(with, "with.a"));
  expect_ok(pop_engine_save_archive(without, "without.a"));
  cr_assert_gt(count_debug_files("with.a"), 0);
  cr_assert_eq(count_debug_files("without.a"), 0);
  run_fault(with, "break.c:8", true);
  run_fault(without, "break.c:", false);
  pop_engine_free(with);
  pop_engine_free(without);
}

static const char *text_of(const json_t *object, const char *key)
{
  const char *text = json_string_value(json_object_get(object, key));
  return text ? text : "";
}

Test(option_effects, what_tiles_hold_is_written_as_JSON)
{
  pop_engine_free(engine_with("debug.loweredVarDumpFile", "vars.capnp"));
  json_error_t where;
  json_t *root = json_load_file("vars.capnp", 0, &where);
  cr_assert_not_null(root, "%s at %d", where.text, where.position);
  const json_t *tiles = json_object_get(root, "tiles");
  cr_assert_eq(json_array_size(tiles), TILES);
  const json_t *variables = json_object_get(json_array_get(tiles, 2), "variables"), *variable;
  size_t i, found = 0;
  json_int_t before = 0;
  json_array_foreach(variables, i, variable)
  {
    json_int_t address = json_integer_value(json_object_get(variable, "address"));
    cr_assert_geq(address, before);
    before = address;
    if (strcmp(text_of(variable, "name"), "all") != 0) continue;
    found++;
    cr_assert_str_eq(text_of(variable, "category"), "variable");
    cr_assert_str_eq(text_of(variable, "type"), "int[4,4]");
    cr_assert_eq(json_integer_value(json_object_get(variable, "bytes")), TILES * 4);
  }
  cr_assert_eq(found, 1);
  json_decref(root);
}

Test(option_effects, lowered_programs_are_written_as_text)
{
  pop_engine_free(engine_with("debug.loweredProgsFile", "programs.txt"));
  uint8_t *text;
  size_t size;
  expect_ok(pop_file_read("programs.txt", 1 << 20, &text, &size));
  const char expected[] = "program 0 'tell'\n"
                          "  Sequence 'tell'\n"
                          "    DoExchange 'tell/ExchangePre'\n"
                          "program 1 'break'\n"
                          "  Sequence 'break'\n"
                          "    OnTileExecute 'break'\n";
  cr_assert_eq(size, strlen(expected), "%.*s", (int)size, (const char *)text);
  cr_assert_eq(memcmp(text, expected, size), 0, "%.*s", (int)size, (const char *)text);
  free(text);
}

Test(option_effects, the_memory_summary_goes_where_it_is_wanted)
{
  pop_engine_free(engine_with("debug.graphReportDestination", "report.txt"));
  uint8_t *text;
  size_t size;
  expect_ok(pop_file_read("report.txt", 1 << 20, &text, &size));
  cr_assert_eq(strncmp((char *)text, "Target:", 7), 0);
  free(text);
  setenv("POPLAR_GRAPH_REPORT_DEST", "other.txt", 1);
  pop_engine_free(engine_with("debug.graphReportDestination", "report.txt"));
  cr_assert_neq(access("other.txt", F_OK), 0);
  pop_engine_free(engine_with("debug.verify", "true"));
  cr_assert_eq(access("other.txt", F_OK), 0);
}

Test(option_effects, reports_that_cannot_be_written_are_errors_that_name_the_file)
{
  static const char *const keys[] = {"debug.graphReportDestination", "debug.loweredVarDumpFile",
                                     "debug.loweredProgsFile", "target.saveArchive"};
  for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
    pop_error *error;
    const pop_option option = {keys[i], "no/such/folder/file"};
    pop_engine *engine = new_engine(&option, 1, &error);
    cr_assert_null(engine);
    expect_error(error, POP_ERROR_SYSTEM, "no/such/folder/file", keys[i]);
  }
}

/* ---- the execution profile, reports ---- */

enum { PROFILE_TILES = 2 };

static const char counting[] = "#include <populus/vertex.h>\n"
                               "typedef struct { INOUT(int) n; } Count;\n"
                               "COMPUTE(Count) { ++*vertex->n; return true; }\n";

/* Tile 1 has two vertices on one worker, so its first compute set takes longer. Program 0 executes
 * "a" three times and "b" once, and copies from a stream. */
static pop_engine *counting_engine(const pop_option *options, size_t num_options,
                                   pop_executable **executable)
{
  static const int zero[7];
  pop_graph *graph = new_graph_with_tiles(PROFILE_TILES);
  pop_graph_add_codelets_source(graph, "c", counting, "count.c", NULL);
  pop_tensor n = pop_graph_add_variable(graph, POP_INT, (size_t[]){9}, 1, "n");
  pop_compute_set a = pop_graph_add_compute_set(graph, "a"),
                  b = pop_graph_add_compute_set(graph, "b");
  for (size_t i = 0; i < 9; i++) { /* one on tile 0 and seven on tile 1 in a; one in b */
    pop_vertex v = pop_graph_add_vertex(graph, i < 8 ? a : b, "Count");
    pop_graph_set_tile_mapping(graph, pop_tensor_index(n, i), i > 0);
    pop_graph_set_vertex_tile(graph, v, i > 0);
    pop_graph_connect(graph, v, "n", pop_tensor_index(n, i));
  }
  pop_graph_set_initial_value(graph, pop_tensor_slice(n, 0, 7, 0), zero);
  pop_stream stream = pop_graph_add_host_to_device_fifo(graph, "first", POP_INT, 1);
  pop_program main = pop_program_sequence(graph, "main");
  pop_sequence_add(main, pop_program_copy_from_stream(stream, pop_tensor_slice(n, 0, 1, 0), NULL));
  pop_sequence_add(main, pop_program_repeat(graph, 3, pop_program_execute(graph, a, NULL), NULL));
  pop_sequence_add(main, pop_program_execute(graph, b, NULL));
  assert_no_error(graph);
  expect_ok(pop_compile_graph(graph, &main, 1, options, num_options, executable));
  pop_engine *engine;
  expect_ok(pop_engine_create_from_executable(*executable, options, num_options, &engine));
  pop_graph_free(graph);
  return engine;
}

static void run_counting(pop_engine *engine)
{
  static int first = 4;
  expect_ok(pop_engine_load(engine));
  expect_ok(pop_engine_connect_stream(engine, "first", &first, &first + 1));
  expect_ok(pop_engine_run(engine, 0));
}

static json_t *load_json(const char *path)
{
  json_error_t where;
  json_t *root = json_load_file(path, 0, &where);
  cr_assert_not_null(root, "%s: %s at %d", path, where.text, where.position);
  return root;
}

static json_int_t number_of(const json_t *object, const char *key)
{
  return json_integer_value(json_object_get(object, key));
}

/* ---- the trace ---- */

static char *trace_of(const pop_option *options, size_t num_options)
{
  pop_executable *executable;
  pop_engine *engine = counting_engine(options, num_options, &executable);
  run_counting(engine);
  pop_engine_free(engine);
  pop_executable_free(executable);
  uint8_t *text = NULL;
  size_t size;
  expect_ok(pop_file_read("trace.txt", 1 << 20, &text, &size));
  return (char *)text;
}

Test(option_effects, the_trace_has_tensors_before_and_after)
{
  const pop_option options[] = {{"debug.traceFile", "trace.txt"}, {"debug.trace", "true"}};
  char *text = trace_of(options, 1);
  cr_assert_str_eq(text, "", "a trace that nobody asked for");
  free(text);
  text = trace_of(options, 2);
  static const char *const lines[] = {
      "before a: vertex 0, Count.n: 4\n", "before a: vertex 6, Count.n: 0\n",
      "after a: vertex 0, Count.n: 5\n",  "after a: vertex 0, Count.n: 6\n",
      "after a: vertex 6, Count.n: 3\n",  "before b: vertex 8, Count.n: ",
      "after b: vertex 8, Count.n: "};
  const char *at = text;
  for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
    const char *found = strstr(at, lines[i]);
    cr_assert_not_null(found, "no '%s' behind the last one in:\n%s", lines[i], text);
    at = found;
  }
  free(text);
  pop_executable *executable;
  pop_engine *engine;
  executable = NULL;
  const pop_option bad = {"debug.traceFile", "no/such/folder/trace"};
  pop_engine_free(counting_engine(NULL, 0, &executable));
  expect_error(pop_engine_create_from_executable(executable, &bad, 1, &engine), POP_ERROR_SYSTEM,
               "cannot write the trace 'no/such/folder/trace'", "a folder that is not there");
  pop_executable_free(executable);
}

/* The options that UoB-HPC's programs share, with their file names. Both calls get the same. */
static const pop_option shared_block[] = {
    {"target.saveArchive", "archive.a"},          {"debug.instrument", "true"},
    {"debug.instrumentCompute", "true"},          {"debug.loweredVarDumpFile", "vars.capnp"},
    {"debug.instrumentControlFlow", "true"},      {"debug.computeInstrumentationLevel", "tile"},
    {"debug.outputAllSymbols", "true"},           {"autoReport.all", "true"},
    {"autoReport.outputSerializedGraph", "true"}, {"debug.retainDebugInformation", "true"},
    {"autoReport.directory", "reports/here"},
};

Test(option_effects, the_options_that_public_programs_share_are_taken_and_write_what_they_say)
{
  static const char *const files[] = {"archive.a",
                                      "vars.capnp",
                                      "reports/here/archive.a",
                                      "reports/here/graph.txt",
                                      "reports/here/graph.json",
                                      "reports/here/vars.json",
                                      "reports/here/debug.json",
                                      "reports/here/serialized_graph.json",
                                      "reports/here/execution.json"};
  pop_executable *executable;
  pop_engine *engine =
      counting_engine(shared_block, sizeof shared_block / sizeof *shared_block, &executable);
  run_counting(engine);
  for (size_t i = 0; i < sizeof files / sizeof *files; i++)
    cr_assert_eq(access(files[i], F_OK), 0, "no %s", files[i]);
  json_decref(load_json("reports/here/debug.json"));
  json_decref(load_json("reports/here/serialized_graph.json"));
  json_decref(load_json("reports/here/vars.json"));

  json_t *root = load_json("reports/here/execution.json");
  const json_t *run = json_array_get(json_object_get(root, "runs"), 0);
  cr_assert_str_eq(text_of(run, "name"), "main");
  cr_assert_gt(number_of(run, "cycles"), 0);
  cr_assert_str_eq(text_of(root, "profilerMode"), "COMPUTE_SETS");
  /* "a" three times, then "b". */
  const json_t *simulation = json_object_get(root, "simulation"),
               *steps = json_object_get(simulation, "steps"), *step;
  size_t index;
  json_int_t sets[8], num_sets = 0;
  json_array_foreach((json_t *)steps, index, step) if (json_object_get(step, "computeSet"))
      sets[num_sets++] = number_of(step, "computeSet");
  cr_assert(num_sets == 4 && sets[0] == 0 && sets[1] == 0 && sets[2] == 0 && sets[3] == 1);
  const json_t *tiles = json_array_get(json_object_get(root, "computeSetCyclesByTile"), 0);
  cr_assert_eq(json_array_size(tiles), 2);
  json_int_t one = json_integer_value(json_array_get(tiles, 0)),
             seven = json_integer_value(json_array_get(tiles, 1));
  cr_assert(one > 0 && seven > one, "%lld and %lld", (long long)one, (long long)seven);
  const json_t *copy = json_array_get(json_object_get(root, "hostExchangeCycles"), 0);
  cr_assert_eq(json_array_size(copy), 2);
  cr_assert_gt(json_integer_value(json_array_get(copy, 0)), 0);
  cr_assert_eq(json_integer_value(json_array_get(copy, 1)), 0);
  json_decref(root);
  pop_engine_free(engine);
  pop_executable_free(executable);
}

/* The same profile, as large as the format makes it, and in the file of the format. */
Test(option_effects, the_execution_profile_is_written_in_the_format_that_is_asked_for)
{
  static const struct {
    const char *format, *file;
  } cases[] = {{"json", "json/execution.json"},
               {"jsonPretty", "jsonPretty/execution.json"},
               {"cbor", "cbor/execution.cbor"}};
  size_t sizes[3];
  for (size_t i = 0; i < 3; i++) {
    const pop_option options[] = {{"debug.instrument", "true"},
                                  {"autoReport.outputExecutionProfile", "true"},
                                  {"autoReport.profileFormat", cases[i].format},
                                  {"autoReport.directory", cases[i].format}};
    pop_executable *executable;
    pop_engine *engine = counting_engine(options, sizeof options / sizeof *options, &executable);
    run_counting(engine);
    pop_engine_free(engine);
    pop_executable_free(executable);
    uint8_t *bytes;
    expect_ok(pop_file_read(cases[i].file, SIZE_MAX, &bytes, &sizes[i]));
    free(bytes);
  }
  cr_assert(sizes[2] < sizes[0] && sizes[0] < sizes[1], "%zu %zu %zu", sizes[0], sizes[1],
            sizes[2]);
  cr_assert_neq(access("cbor/execution.json", F_OK), 0);
  json_decref(load_json("json/execution.json"));
  pop_profile *profile;
  expect_ok(pop_profile_read("cbor/execution.cbor", &profile));
  cr_assert_not_null(
      pop_profile_as_string(pop_profile_find(pop_profile_root(profile), "profilerMode")));
  pop_profile_free(profile);
}

static json_t *profile_of(const pop_option *options, size_t num_options)
{
  pop_executable *executable;
  pop_engine *engine = counting_engine(options, num_options, &executable);
  run_counting(engine);
  char *text;
  size_t size;
  FILE *stream = open_memstream(&text, &size);
  expect_ok(pop_engine_write_execution_profile(engine, POP_PROFILE_JSON, stream));
  fclose(stream);
  json_t *root = json_loadb(text, size, 0, NULL);
  cr_assert_not_null(root);
  free(text);
  pop_engine_free(engine);
  pop_executable_free(executable);
  return root;
}

static json_t *profile_with(const char *key, const char *value)
{
  const pop_option options[] = {{"debug.instrumentCompute", "true"}, {key, value}};
  return profile_of(options, 2);
}

Test(option_effects, older_programs_say_by_mode_what_is_measured)
{
  static const struct {
    const char *value;
    pop_option same[2];
  } modes[] = {
      {"none", {{"debug.instrument", "false"}}},
      {"compute_sets", {{"debug.instrumentCompute", "true"}}},
      {"single_tile_compute_sets",
       {{"debug.instrumentCompute", "true"}, {"debug.computeInstrumentationLevel", "device"}}},
      {"vertices",
       {{"debug.instrumentCompute", "true"}, {"debug.computeInstrumentationLevel", "vertex"}}},
      {"external_exchanges", {{"debug.instrumentExternalExchange", "true"}}},
      {"host_exchanges", {{"debug.instrumentExternalExchange", "true"}}}};
  for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
    const pop_option mode = {"debug.executionProfile", modes[i].value};
    json_t *found = profile_of(&mode, 1);
    json_t *same = profile_of(modes[i].same, modes[i].same[1].key ? 2 : 1);
    cr_assert(json_equal(found, same), "%s", modes[i].value);
    json_decref(found);
    json_decref(same);
  }
}

Test(option_effects, cycles_of_the_slowest_tile_or_of_each_IPU)
{
  static const char level[] = "debug.computeInstrumentationLevel";
  json_t *tile = profile_with(level, "tile"), *device = profile_with(level, "device"),
         *ipu = profile_with(level, "ipu");
  const json_t *by_tile = json_array_get(json_object_get(tile, "computeSetCyclesByTile"), 0),
               *all = json_object_get(device, "computeSetCycles"),
               *by_ipu = json_object_get(ipu, "computeSetCycles");
  cr_assert_str_eq(text_of(device, "profilerMode"), "SINGLE_TILE_COMPUTE_SETS");
  cr_assert_eq(json_array_size(all), 2);
  json_int_t slowest = json_integer_value(json_array_get(by_tile, 1)),
             measured = json_integer_value(json_array_get(all, 0));
  cr_assert_eq(measured, slowest, "%lld, not %lld", (long long)measured, (long long)slowest);
  cr_assert(json_equal(all, by_ipu));
  cr_assert_null(json_object_get(tile, "hostExchangeCycles"));
  json_decref(tile);
  json_decref(device);
  json_decref(ipu);
}

Test(option_effects, reports_are_written_as_far_as_they_are_wanted)
{
  const pop_option options[] = {{"autoReport.all", "true"},
                                {"autoReport.outputArchive", "false"},
                                {"autoReport.directory", "some"},
                                {"debug.instrumentCompute", "true"},
                                {"autoReport.executionProfileProgramRunCount", "0"}};
  pop_executable *executable;
  pop_engine *engine = counting_engine(options, 5, &executable);
  run_counting(engine);
  cr_assert_eq(access("some/graph.txt", F_OK), 0);
  cr_assert_neq(access("some/archive.a", F_OK), 0);
  cr_assert_neq(access("some/serialized_graph.json", F_OK), 0);
  cr_assert_neq(access("some/execution.json", F_OK), 0);
  pop_engine_free(engine);
  pop_executable_free(executable);
  engine = counting_engine(NULL, 0, &executable);
  const pop_option none = {"profiler.replicaToProfile", "1"};
  pop_engine *refused;
  expect_error(pop_engine_create_from_executable(executable, &none, 1, &refused),
               POP_ERROR_INVALID_OPTION, "has 1 replicas", "replica 1");
  pop_profile *profile;
  expect_ok(pop_engine_execution_profile(engine, &profile));
  cr_assert_eq(pop_profile_count(pop_profile_root(profile)), 1);
  cr_assert_str_eq(
      pop_profile_as_string(pop_profile_find(pop_profile_root(profile), "profilerMode")), "NONE");
  pop_profile_free(profile);
  pop_engine_free(engine);
  pop_executable_free(executable);
}

/* ---- a slow callback ---- */

static int fetch_slowly(void *context, void *data)
{
  const struct timespec pause = {.tv_nsec = 50000000};
  (void)context;
  memset(data, 0, sizeof(int));
  nanosleep(&pause, NULL);
  return 0;
}

static int fetch_at_once(void *context, void *data)
{
  (void)context;
  memset(data, 0, sizeof(int));
  return 0;
}

static bool prefetch_slowly(void *context, void *data)
{
  return fetch_slowly(context, data) == 0;
}

static void complete_slowly(void *context)
{
  int ignored;
  (void)fetch_slowly(context, &ignored);
}

static pop_error *run_with_limit(const char *seconds, pop_stream_callback callback)
{
  pop_graph *graph = new_graph_with_tiles(1);
  pop_tensor v = pop_graph_add_variable(graph, POP_INT, NULL, 0, "v");
  pop_graph_set_tile_mapping(graph, v, 0);
  pop_stream stream = pop_graph_add_host_to_device_fifo(graph, "slow", POP_INT, 1);
  pop_program copy = pop_program_copy_from_stream(stream, v, "copy");
  const pop_option options[] = {{"target.hostSyncTimeout", seconds},
                                {"exchange.enablePrefetch", "true"}};
  pop_engine *engine;
  expect_ok(pop_engine_create(graph, &copy, 1, options, 2, &engine));
  expect_ok(pop_engine_load(engine));
  expect_ok(pop_engine_connect_stream_callback(engine, "slow", &callback));
  pop_error *error = pop_engine_run(engine, 0);
  pop_engine_free(engine);
  pop_graph_free(graph);
  return error;
}

Test(option_effects, a_callback_that_takes_too_long_ends_the_run)
{
  static const pop_stream_callback callbacks[] = {
      {.fetch = fetch_slowly},
      {.fetch = fetch_at_once, .prefetch = prefetch_slowly},
      {.fetch = fetch_at_once, .complete = complete_slowly},
  };
  expect_ok(run_with_limit("0", callbacks[0]));
  expect_ok(run_with_limit("300", callbacks[0]));
  for (size_t i = 1; i < sizeof callbacks / sizeof *callbacks; i++)
    expect_error(run_with_limit("0.01", callbacks[i]), POP_ERROR_RUNTIME,
                 "the callback of stream 'slow' took ", i == 1 ? "prefetch" : "complete");
  pop_error *error = run_with_limit("0.01", callbacks[0]);
  const char *took = error ? strstr(pop_error_message(error), " took ") : NULL;
  double seconds = took ? strtod(took + strlen(" took "), NULL) : 0;
  cr_assert(seconds >= 0.05 && seconds < 5, "it says %g s", seconds); /* on a busy machine more */
  expect_error(error, POP_ERROR_RUNTIME, "the callback of stream 'slow' took ", "limit");
}

static pop_perf_estimate seven_operations(void *context, pop_graph *graph, pop_vertex vertex)
{
  (void)context, (void)graph, (void)vertex;
  return (pop_perf_estimate){.cycles = 20, .flops = 7};
}

/* From the graph through an archive to the report of the program that runs it. */
Test(option_effects, operations_of_vertices_are_in_the_graph_profile)
{
  const pop_option options[] = {{"profiler.includeFlopEstimates", "true"},
                                {"autoReport.outputGraphProfile", "true"}};
  pop_graph *graph = new_graph_with_tiles(PROFILE_TILES);
  pop_graph_add_codelets_source(graph, "c", counting, "count.c", NULL);
  pop_graph_register_perf_estimator(graph, "Count", seven_operations, NULL);
  pop_tensor n = pop_graph_add_variable(graph, POP_INT, (size_t[]){3}, 1, "n");
  pop_compute_set set = pop_graph_add_compute_set(graph, "set");
  pop_graph_set_tile_mapping(graph, n, 1);
  for (size_t i = 0; i < 3; i++) {
    pop_vertex v = pop_graph_add_vertex(graph, set, "Count");
    pop_graph_connect(graph, v, "n", pop_tensor_index(n, i));
    pop_graph_set_vertex_tile(graph, v, 1);
    if (i == 2) pop_graph_set_perf_estimate(graph, v, 0, 100);
  }
  pop_program main = pop_program_execute(graph, set, "main");
  pop_executable *executable, *loaded;
  pop_engine *engine;
  expect_ok(pop_compile_graph(graph, &main, 1, options, 1, &executable));
  expect_ok(pop_executable_save(executable, "archive.a"));
  expect_ok(pop_executable_load("archive.a", &loaded));
  expect_ok(pop_engine_create_from_executable(loaded, options, 2, &engine));
  json_t *root = load_json("graph.json");
  const json_t *flops = json_object_get(json_object_get(root, "computeSets"), "flopEstimates");
  const json_t *by_tile = json_array_get(json_object_get(flops, "flopsByTile"), 0);
  cr_assert_eq(json_integer_value(json_array_get(by_tile, 0)), 0);
  cr_assert_eq(json_integer_value(json_array_get(by_tile, 1)), 7 + 7 + 100);
  json_decref(root);
  pop_engine_free(engine);
  pop_executable_free(loaded);
  pop_executable_free(executable);
  pop_graph_free(graph);
}

/* An engine with a stream and a remote buffer of 1,000 rows of 16 ints, for either device. */
static pop_engine *engine_with_limit(const char *limit)
{
  enum { ROWS = 1000, ROW = 16 };
  pop_graph *graph = new_graph_with_tiles(TILES);
  pop_tensor t = pop_graph_add_variable(graph, POP_INT, (size_t[]){ROW}, 1, "t");
  pop_graph_map_linearly(graph, t, 0, 0);
  pop_stream in = pop_graph_add_host_to_device_fifo(graph, "in", POP_INT, ROW);
  pop_remote_buffer rows = pop_graph_add_remote_buffer(graph, "rows", POP_INT, ROW, ROWS);
  pop_program main = pop_program_sequence(graph, "main");
  pop_sequence_add(main, pop_program_copy_from_stream(in, t, "in"));
  pop_sequence_add(main, pop_program_copy_to_remote_buffer(t, rows, (pop_tensor){0}, "keep"));
  const pop_option option = {"target.maxHostMemory", limit};
  pop_engine *engine;
  expect_ok(pop_engine_create(graph, &main, 1, &option, 1, &engine));
  pop_graph_free(graph);
  return engine;
}

/* D05, for an engine: the error names the smallest sufficient limit. */
TEST_ON_EACH_DEVICE(option_effects, D05_the_memory_of_an_engine_can_be_limited)
{
  pop_engine *engine = engine_with_limit("63999");
  pop_error *error = pop_engine_load(engine);
  cr_assert_not_null(error);
  cr_assert_eq(pop_error_get_code(error), POP_ERROR_MEMORY);
  const char *message = pop_error_message(error), *need = strstr(message, "needs ");
  cr_assert(need && strstr(message, "target.maxHostMemory allows 63999") &&
                strstr(message, "64000 for remote buffers") && strstr(message, "64 for streams"),
            "%s", message);
  unsigned long long bytes = strtoull(need + strlen("needs "), NULL, 10);
  cr_assert_gt(bytes, 64064);
  pop_error_free(error);
  pop_engine_free(engine);
  char limit[32];
  for (unsigned long long lacking = 0; lacking < 2; lacking++) {
    snprintf(limit, sizeof limit, "%llu", bytes - lacking);
    engine = engine_with_limit(limit);
    error = pop_engine_load(engine);
    cr_assert_eq(error != NULL, lacking == 1, "limit %s", limit);
    pop_error_free(error);
    pop_engine_free(engine);
  }
}

/* The bytes that an engine of two replicas needs, and those of them for a replica's streams. The
 * stream of 16 ints may be prefetched 10 copies ahead, if the options say no less. */
static unsigned long long need_of_streams(const char *key, const char *value, bool broadcast,
                                          unsigned long long *streams)
{
  pop_target target;
  expect_ok(pop_target_create("ipu2", 2, &target));
  target.tiles_per_ipu = TILES;
  pop_graph *graph = pop_graph_create_replicated(&target, 2);
  pop_tensor t = pop_graph_add_variable(graph, POP_INT, (size_t[]){16}, 1, "t");
  pop_graph_map_linearly(graph, t, 0, 0);
  pop_stream in = pop_graph_add_host_to_device_fifo(graph, "in", POP_INT, 16);
  pop_stream_set_option(in, "bufferingDepth", "10");
  if (broadcast) pop_stream_set_replicated_mode(in, POP_STREAM_BROADCAST);
  pop_program main = pop_program_copy_from_stream(in, t, "in");
  const pop_option options[] = {
      {"target.maxHostMemory", "1"}, {"exchange.enablePrefetch", "true"}, {key, value}};
  pop_engine *engine;
  expect_ok(pop_engine_create(graph, &main, 1, options, 3, &engine));
  pop_graph_free(graph);
  pop_error *error = pop_engine_load(engine);
  cr_assert_not_null(error);
  const char *message = pop_error_message(error), *need = strstr(message, "needs "),
             *last = strstr(message, "remote buffers, ");
  cr_assert(need && last, "%s", message);
  *streams = strtoull(last + strlen("remote buffers, "), NULL, 10);
  unsigned long long bytes = strtoull(need + strlen("needs "), NULL, 10);
  pop_error_free(error);
  pop_engine_free(engine);
  return bytes;
}

Test(option_effects, the_limit_of_memory_counts_the_buffers_that_streams_may_have)
{
  enum { COPY = 64 };
  static const char key[] = "streamCallbacks.maxLookahead";
  unsigned long long streams, all = need_of_streams(key, "unlimited", false, &streams);
  cr_assert_eq(streams, 11 * COPY);
  cr_assert_eq(need_of_streams(key, "2", false, &streams), all - 2 * 8 * COPY);
  cr_assert_eq(streams, 3 * COPY);
  cr_assert_eq(need_of_streams(key, "unlimited", true, &streams), all - 11 * COPY);
  cr_assert_eq(streams, 11 * COPY);
}
