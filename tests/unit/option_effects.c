/* What engine options do: each is seen in what comes out. */
#include "../support/expect.h"
#include "engine/engine_private.h"
#include "graph_test.h"

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

/* Each tile tells all others one word; then they write into nowhere. */
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
  cr_assert_eq(exchange_code_with(target, "balanced"), together); /* to three tiles each */
  cr_assert_eq(exchange_code_with(policy, "balanced"), apart);
  cr_assert_eq(exchange_code_with(policy, "never"), apart);
  cr_assert_eq(exchange_code_with(policy, "always"), together);
}

/* Symbols of the image of tile 1: those with the prefix. */
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

/* V01: the message of the fault. */
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

Test(option_effects, the_memory_summary_goes_where_it_is_wanted)
{
  pop_engine_free(engine_with("debug.graphReportDestination", "report.txt"));
  uint8_t *text;
  size_t size;
  expect_ok(pop_file_read("report.txt", 1 << 20, &text, &size));
  cr_assert_eq(strncmp((char *)text, "Memory Usage:", 13), 0);
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
                                     "target.saveArchive"};
  for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
    pop_error *error;
    const pop_option option = {keys[i], "no/such/folder/file"};
    pop_engine *engine = new_engine(&option, 1, &error);
    cr_assert_null(engine);
    expect_error(error, POP_ERROR_SYSTEM, "no/such/folder/file", keys[i]);
  }
}

/* ---- a callback that takes its time ---- */

static int fetch_slowly(void *context, void *data)
{
  const struct timespec pause = {.tv_nsec = 50000000};
  (void)context;
  memset(data, 0, sizeof(int));
  nanosleep(&pause, NULL);
  return 0;
}

static pop_error *run_with_limit(const char *seconds)
{
  pop_graph *graph = new_graph_with_tiles(1);
  pop_tensor v = pop_graph_add_variable(graph, POP_INT, NULL, 0, "v");
  pop_graph_set_tile_mapping(graph, v, 0);
  pop_stream stream = pop_graph_add_host_to_device_fifo(graph, "slow", POP_INT, 1);
  pop_program copy = pop_program_copy_from_stream(stream, v, "copy");
  const pop_option option = {"target.hostSyncTimeout", seconds};
  const pop_stream_callback callback = {.fetch = fetch_slowly};
  pop_engine *engine;
  expect_ok(pop_engine_create(graph, &copy, 1, &option, 1, &engine));
  expect_ok(pop_engine_load(engine));
  expect_ok(pop_engine_connect_stream_callback(engine, "slow", &callback));
  pop_error *error = pop_engine_run(engine, 0);
  pop_engine_free(engine);
  pop_graph_free(graph);
  return error;
}

Test(option_effects, a_callback_that_takes_too_long_ends_the_run)
{
  expect_ok(run_with_limit("0"));
  expect_ok(run_with_limit("300"));
  expect_error(run_with_limit("0.01"), POP_ERROR_RUNTIME, "the callback of stream 'slow' took 0.05",
               "limit");
}

Test(option_effects, values_that_need_what_is_not_there_are_errors_that_say_so)
{
  pop_error *error;
  const pop_option option = {"prng.enableStochasticRounding", "true"};
  cr_assert_null(new_engine(&option, 1, &error));
  expect_error(error, POP_ERROR_INVALID_OPTION, "needs stochastic rounding", option.key);
  pop_engine_free(engine_with("prng.enableStochasticRounding", "false"));
}
