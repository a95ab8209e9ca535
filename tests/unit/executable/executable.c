/* Executables: one that was compiled here equals one from an archive. Invalid archives and metadata
 * are refused with a message. */
#include "engine/engine_private.h"
#include "support/expect.h"
#include "support/graph_test.h"

#include <populus/archive.h>
#include <populus/file.h>
#include <populus/populus.h>
#include <stdio.h>

enum { TILES = 4, ELEMENTS = 10 };

static const char codelets[] =
    "#include <populus/vertex.h>\n"
    "typedef struct { INOUT(VECTOR(int)) x; int by; } Add;\n"
    "COMPUTE(Add)\n"
    "{\n"
    "  for (unsigned i = 0; i < vertex->x.size; ++i) vertex->x.data[i] += vertex->by;\n"
    "  return true;\n"
    "}\n"
    "typedef struct { INPUT(VECTOR(int)) in; } Break;\n"
    "COMPUTE(Break) { *(int *)4 = vertex->in.data[0]; return true; }\n";

/* x += 1 on all tiles, then printed; and a program that faults. */
static pop_graph *new_example(const char *broken_name)
{
  static const int first[ELEMENTS] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
  const size_t shape[] = {2, ELEMENTS / 2};
  pop_graph *graph = new_graph_with_tiles(TILES);
  pop_graph_add_codelets_source(graph, "c", codelets, "executable.c", NULL);
  pop_tensor x = pop_graph_add_variable(graph, POP_INT, shape, 2, "x");
  pop_tensor flat = pop_tensor_flatten(x);
  pop_graph_set_initial_value(graph, x, first);
  pop_compute_set add = pop_graph_add_compute_set(graph, "add");
  for (size_t i = 0; i < ELEMENTS; ++i) {
    pop_tensor element = pop_tensor_slice(flat, i, i + 1, 0);
    pop_graph_set_tile_mapping(graph, element, i % TILES);
    pop_vertex v = pop_graph_add_vertex(graph, add, "Add");
    pop_graph_connect(graph, v, "x", element);
    pop_graph_set_field_int(graph, v, "by", 1);
    pop_graph_set_vertex_tile(graph, v, i % TILES);
  }
  pop_compute_set broken = pop_graph_add_compute_set(graph, broken_name);
  pop_vertex v = pop_graph_add_vertex(graph, broken, "Break");
  pop_graph_connect(graph, v, "in", pop_tensor_slice(flat, 3, 4, 0));
  pop_graph_set_vertex_tile(graph, v, 3);
  pop_graph_create_host_write(graph, "in", x);
  pop_graph_create_host_read(graph, "out", x);
  assert_no_error(graph);
  return graph;
}

static pop_executable *compile_example_of(const char *broken_name, const pop_option *options,
                                          size_t num_options)
{
  pop_graph *graph = new_example(broken_name);
  const size_t shape[] = {2, ELEMENTS / 2};
  pop_compute_set add = {graph, 1}, broken = {graph, 2};
  pop_tensor x = pop_graph_add_variable(graph, POP_INT, shape, 2, "not used");
  pop_graph_set_tile_mapping(graph, x, 1);
  pop_program first = pop_program_sequence(graph, "first");
  pop_sequence_add(first, pop_program_execute(graph, add, "add"));
  pop_sequence_add(first, pop_program_print_tensor((pop_tensor){graph, 1}, "x now"));
  const pop_program programs[] = {first, pop_program_execute(graph, broken, "second")};
  pop_executable *executable;
  expect_ok(pop_compile_graph(graph, programs, 2, options, num_options, &executable));
  pop_graph_free(graph);
  return executable;
}

static pop_executable *compile_example(void)
{
  return compile_example_of("break it", NULL, 0);
}

static pop_executable *load_archive(const char *path)
{
  pop_executable *executable;
  expect_ok(pop_executable_load(path, &executable));
  return executable;
}

static pop_engine *new_engine(pop_executable *executable)
{
  pop_engine *engine;
  expect_ok(pop_engine_create_from_executable(executable, NULL, 0, &engine));
  expect_ok(pop_engine_load(engine));
  return engine;
}

/* Writes what the example prints and reports to `text`. */
static void run_example(pop_engine *engine, char *text, size_t size)
{
  int x[ELEMENTS];
  FILE *stream = fmemopen(text, size, "w");
  pop_engine_set_print_stream(engine, stream);
  expect_ok(pop_engine_run(engine, 0));
  expect_ok(pop_engine_read_tensor(engine, "out", x, sizeof x));
  for (int i = 0; i < ELEMENTS; ++i) cr_assert_eq(x[i], i + 1);
  for (int i = 0; i < ELEMENTS; ++i) x[i] = 10 * i;
  expect_ok(pop_engine_write_tensor(engine, "in", x, sizeof x));
  expect_ok(pop_engine_run(engine, 0));
  expect_ok(pop_engine_read_tensor(engine, "out", x, sizeof x));
  for (int i = 0; i < ELEMENTS; ++i) cr_assert_eq(x[i], 10 * i + 1);
  pop_error *fault = pop_engine_run(engine, 1);
  cr_assert_not_null(fault);
  fprintf(stream, "%s", pop_error_message(fault));
  pop_error_free(fault);
  fclose(stream);
}

static void read_file(const char *path, uint8_t **bytes, size_t *size)
{
  expect_ok(pop_file_read(path, SIZE_MAX, bytes, size));
}

Test(executable, an_archive_runs_as_what_was_compiled_runs, .init = enter_fresh_folder)
{
  char here[2048] = "", there[2048] = "";
  pop_executable *executable = compile_example();
  expect_ok(pop_executable_save(executable, "example.a"));
  pop_engine *engine = new_engine(executable);
  run_example(engine, here, sizeof here);
  pop_engine *loaded = new_engine(load_archive("example.a"));
  run_example(loaded, there, sizeof there);
  cr_assert_str_eq(here, there);
  cr_assert_not_null(strstr(here, "x now: {\n {1,2,3,4,5},\n {6,7,8,9,10}\n}\n"), "%s", here);
  cr_assert_not_null(strstr(here, "in vertex Break (number 10 of the graph) of compute set "
                                  "'break it'"),
                     "%s", here);
  cr_assert_eq(pop_engine_cycles(engine), pop_engine_cycles(loaded));
  for (uint32_t tile = 0; tile < TILES; ++tile) {
    pop_tile_memory a, b;
    expect_ok(pop_engine_tile_memory(engine, tile, &a));
    expect_ok(pop_engine_tile_memory(loaded, tile, &b));
    cr_assert_eq(memcmp(&a, &b, sizeof a), 0, "tile %u", tile);
    cr_assert_eq(a.total_including_gaps, pop_engine_loaded_bytes(loaded, tile));
  }
  pop_executable_free(executable);
  pop_executable_free(loaded->executable); /* the reference of load_archive */
  pop_engine_free(engine);
  pop_engine_free(loaded);
}

Test(executable, what_was_loaded_saves_as_it_was, .init = enter_fresh_folder)
{
  uint8_t *first, *second;
  size_t first_size, second_size;
  pop_executable *executable = compile_example();
  expect_ok(pop_executable_save(executable, "a.a"));
  pop_executable_free(executable);
  executable = load_archive("a.a");
  expect_ok(pop_executable_save(executable, "b.a"));
  pop_executable_free(executable);
  read_file("a.a", &first, &first_size);
  read_file("b.a", &second, &second_size);
  cr_assert_eq(first_size, second_size);
  cr_assert_eq(memcmp(first, second, first_size), 0);
  expect_ok(pop_executable_load_memory(first, first_size, "memory", &executable));
  pop_engine *engine = new_engine(executable);
  char text[2048];
  run_example(engine, text, sizeof text);
  pop_engine_free(engine);
  pop_executable_free(executable);
  free(first);
  free(second);
}

Test(executable, a_part_of_a_file_is_as_good_as_a_file, .init = enter_fresh_folder)
{
  uint8_t *archive;
  size_t size;
  pop_executable *executable = compile_example(), *part;
  pop_engine *engine;
  expect_ok(pop_executable_save(executable, "a.a"));
  pop_executable_free(executable);
  read_file("a.a", &archive, &size);
  FILE *file = fopen("part", "w");
  cr_assert_not_null(file);
  fwrite("in front", 1, 8, file);
  fwrite(archive, 1, size, file);
  fwrite("behind", 1, 6, file);
  fclose(file);
  char text[2048];
  expect_ok(pop_executable_load_part("part", 8, size, "mine", &part));
  engine = new_engine(part);
  pop_executable_free(part);
  run_example(engine, text, sizeof text);
  pop_engine_free(engine);
  expect_error(pop_executable_load_part("part", 8, size + 6, "mine", &part), POP_ERROR_FILE_LOAD,
               "'mine'", "header");
  expect_error(pop_executable_load_part("part", 7, size, "mine", &part), POP_ERROR_FILE_LOAD,
               "'mine'", "not an ar archive");
  expect_error(pop_executable_load_part("part", 8, size + 7, "mine", &part), POP_ERROR_FILE_LOAD,
               "'part'", "there are no");
  expect_error(pop_executable_load_part("part", UINT64_MAX, 2, "mine", &part), POP_ERROR_FILE_LOAD,
               "'part'", "there are no");

  const pop_option wrong = {"debug.allowOutOfMemory", "true"};
  expect_ok(pop_engine_create_from_memory(archive, size, "memory", NULL, 0, &engine));
  expect_ok(pop_engine_load(engine));
  run_example(engine, text, sizeof text);
  pop_engine_free(engine);
  expect_error(pop_engine_create_from_memory(archive, size - 1000, "memory", NULL, 0, &engine),
               POP_ERROR_FILE_LOAD, "memory", "memory");
  cr_assert_null(engine);
  expect_error(pop_engine_create_from_memory(archive, size, "memory", &wrong, 1, &engine),
               POP_ERROR_INVALID_OPTION, "debug.allowOutOfMemory", "compiling");
  free(archive);
}

Test(executable, says_what_it_holds, .init = enter_fresh_folder)
{
  const pop_option options[] = {{"debug.workerStackSizeInBytes", "4096"},
                                {"target.saveArchive", "example.a"}};
  pop_executable_free(compile_example_of("break it", options, 2));
  pop_executable *e = load_archive("example.a");
  pop_handle_info info;
  cr_assert_str_eq(pop_executable_version(e), POPULUS_VERSION);
  cr_assert_eq(pop_target_num_tiles(pop_executable_target(e)), TILES);
  cr_assert_str_eq(pop_executable_target(e)->name, "ipu2");
  cr_assert_eq(pop_executable_num_programs(e), 2);
  cr_assert_str_eq(pop_executable_program_name(e, 0), "first");
  cr_assert_str_eq(pop_executable_program_name(e, 1), "second");
  cr_assert_null(pop_executable_program_name(e, 2));
  cr_assert_eq(pop_executable_num_handles(e), 2);
  for (size_t i = 0; i < 2; ++i) {
    expect_ok(pop_executable_handle(e, i, &info));
    cr_assert_str_eq(info.name, info.read ? "out" : "in");
    cr_assert_eq(info.type, POP_INT);
    cr_assert_eq(info.rank, 2);
    cr_assert_eq(info.shape[0], 2);
    cr_assert_eq(info.shape[1], ELEMENTS / 2);
    cr_assert_eq(info.bytes, ELEMENTS * sizeof(int));
  }
  expect_error(pop_executable_handle(e, 2, &info), POP_ERROR_INDEX, "no host handle 2", "2");
  cr_assert_eq(e->num_options, 1);
  cr_assert_str_eq(e->options[0].key, "debug.workerStackSizeInBytes");
  cr_assert_eq(e->num_variables, 2);
  cr_assert_str_eq(e->variables[0].name, "x");
  cr_assert_eq(e->variables[0].rank, 2);
  cr_assert_eq(e->variables[0].num_intervals, ELEMENTS);
  pop_executable_free(e);
}

Test(executable, options_of_the_wrong_stage_are_refused)
{
  const pop_option run = {"debug.maxCyclesPerRun", "10"};
  const pop_option compile = {"debug.workerStackSizeInBytes", "4096"};
  pop_executable *executable = compile_example();
  pop_engine *engine;
  expect_error(pop_engine_create_from_executable(executable, &compile, 1, &engine),
               POP_ERROR_INVALID_OPTION, "compiled already", "compile");
  cr_assert_null(engine);
  expect_ok(pop_engine_create_from_executable(executable, &run, 1, &engine));
  pop_error *error = pop_engine_load(engine);
  if (!error) error = pop_engine_run(engine, 0);
  expect_error(error, POP_ERROR_RUNTIME, "debug.maxCyclesPerRun", "limit");
  pop_engine_free(engine);
  pop_executable_free(executable);
}

/* ---- metadata ---- */

static pop_bytes encode(const pop_executable *e)
{
  static const uint64_t digests[TILES] = {1, 2, UINT64_MAX, 1ull << 63};
  pop_bytes cbor = {0};
  executable_encode(e, digests, &cbor);
  return cbor;
}

static pop_error *decode(const uint8_t *cbor, size_t size, pop_executable **out)
{
  *out = executable_new();
  return executable_decode(cbor, size, *out);
}

Test(executable, metadata_come_back_as_they_went)
{
  pop_executable *compiled = compile_example(), *decoded;
  pop_bytes first = encode(compiled);
  expect_ok(decode(first.data, first.size, &decoded));
  cr_assert_eq(decoded->digests[2], UINT64_MAX);
  cr_assert_eq(decoded->digests[3], 1ull << 63);
  pop_bytes second = encode(decoded);
  cr_assert_eq(first.size, second.size);
  cr_assert_eq(memcmp(first.data, second.data, first.size), 0);
  pop_bytes_free(&first);
  pop_bytes_free(&second);
  pop_executable_free(compiled);
  pop_executable_free(decoded);
}

Test(executable, names_may_hold_any_bytes)
{
  static const char name[] = "caf\xe9 \xff";
  pop_executable *compiled = compile_example_of(name, NULL, 0), *decoded;
  pop_bytes cbor = encode(compiled);
  expect_ok(decode(cbor.data, cbor.size, &decoded));
  bool found = false;
  for (size_t i = 0; i < decoded->num_compute_sets; ++i)
    found |= strcmp(decoded->compute_sets[i].name, name) == 0;
  cr_assert(found);
  pop_bytes_free(&cbor);
  pop_executable_free(compiled);
  pop_executable_free(decoded);
}

/* Every prefix is refused. With changed bytes, the metadata are refused or decoded without harm. */
Test(executable, damaged_metadata_are_refused)
{
  static const uint8_t flips[] = {0x01, 0x20, 0x80, 0xff};
  pop_executable *compiled = compile_example(), *decoded;
  pop_bytes cbor = encode(compiled);
  size_t refused = 0;
  for (size_t size = 0; size < cbor.size; ++size) {
    uint8_t *part = malloc(size + 1); /* its own block: a sanitizer then reports reads beyond it */
    memcpy(part, cbor.data, size);
    expect_error(decode(part, size, &decoded), POP_ERROR_FILE_LOAD, "", "prefix");
    pop_executable_free(decoded);
    free(part);
  }
  for (size_t at = 0; at < cbor.size; ++at)
    for (size_t i = 0; i < sizeof flips; ++i) {
      cbor.data[at] ^= flips[i];
      pop_error *error = decode(cbor.data, cbor.size, &decoded);
      refused += error != NULL;
      pop_error_free(error);
      pop_executable_free(decoded);
      cbor.data[at] ^= flips[i];
    }
  cr_assert_gt(refused, cbor.size);
  pop_bytes_free(&cbor);
  pop_executable_free(compiled);
}

static void run_on_no_tile(pop_executable *e)
{
  e->runs[0].tile = TILES;
}
static void run_below_memory(pop_executable *e)
{
  e->runs[0].address = e->target.memory_base - 4;
}
static void run_behind_memory(pop_executable *e)
{
  e->runs[0].address = pop_target_memory_end(&e->target) - 2;
}
static void run_too_long(pop_executable *e)
{
  e->runs[0].bytes += 4;
}
static void huge_shape(pop_executable *e)
{
  static const size_t shape[] = {SIZE_MAX / 4, SIZE_MAX / 4};
  e->tensors[0].shape = shape;
}
static void high_rank(pop_executable *e)
{
  static const size_t shape[17];
  e->tensors[0].shape = shape;
  e->tensors[0].rank = 17;
}
static executable_event *first_print(pop_executable *e)
{
  size_t i = 0;
  while (e->events[i].kind != EXECUTABLE_EVENT_PRINT) ++i;
  return &e->events[i];
}
static void event_without_print(pop_executable *e)
{
  first_print(e)->tensor = 0;
}
static void event_of_no_tensor(pop_executable *e)
{
  first_print(e)->tensor = 77;
}
static void event_on_no_tile(pop_executable *e)
{
  first_print(e)->tile = TILES;
}
static void vertex_of_no_type(pop_executable *e)
{
  e->vertices[0].type = 99;
}
static void work_of_no_row(pop_executable *e)
{
  e->works[0].row = 99;
}
static void works_out_of_order(pop_executable *e)
{
  e->works[1].tile = 0;
}
static void tile_of_no_row(pop_executable *e)
{
  e->tiles[1].memory = 99;
}
static void too_many_tiles(pop_executable *e)
{
  e->target.tiles_per_ipu = TILES - 1;
}
static void no_such_target(pop_executable *e)
{
  e->target.memory_bytes = 7;
}
static void interval_behind_its_variable(pop_executable *e)
{
  e->intervals[ELEMENTS - 1].end = ELEMENTS + 1;
}

Test(executable, metadata_that_contradict_themselves_are_refused_by_key)
{
  static const struct {
    void (*spoil)(pop_executable *e);
    const char *message;
  } cases[] = {
      {run_on_no_tile, "key 'tensors': entry 0: key 'runs': 4, but 3 is the greatest"},
      {run_below_memory, "key 'runs': 4 bytes at offset 0xfffffffc are not in tile memory"},
      {run_behind_memory, "key 'runs': 4 bytes at offset 0x9bffe are not in tile memory"},
      {run_too_long, "key 'runs': 44 bytes, but its elements have 40"},
      {huge_shape, "key 'tensors': entry 0: key 'shape'"},
      {high_rank, "rank 17, but tensors have at most 16"},
      {event_without_print,
       "key 'events': entry 0: key 'tensor': tensor 0 is none that is printed"},
      {event_of_no_tensor,
       "key 'events': entry 0: key 'tensor': tensor 77 is none that is printed"},
      {event_on_no_tile, "key 'events': entry 0: key 'tile': "},
      {vertex_of_no_type, "key 'vertex_rows': entry 0: 99"},
      {work_of_no_row, "key 'compute_sets': entry 0: key 'works': 99"},
      {works_out_of_order, "key 'works': tile 0 is out of order"},
      {tile_of_no_row, "key 'tiles': entry 1: 99"},
      {too_many_tiles, "key 'tiles'"},
      {no_such_target, "key 'target': "},
      {interval_behind_its_variable, "key 'variables': entry 0: key 'intervals': 2, but 1 is the"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    pop_executable *spoilt, *decoded, *compiled = compile_example();
    pop_bytes cbor = encode(compiled);
    expect_ok(decode(cbor.data, cbor.size, &spoilt));
    pop_bytes_free(&cbor);
    uint32_t tiles = spoilt->target.tiles_per_ipu;
    cases[i].spoil(spoilt);
    if (spoilt->target.tiles_per_ipu == tiles)
      cbor = encode(spoilt);
    else {
      spoilt->target.tiles_per_ipu = tiles;
      cbor = encode(spoilt);
      uint8_t *at = memmem(cbor.data, cbor.size, "tiles_per_ipu", 13);
      at[13] = TILES - 1;
    }
    expect_error(decode(cbor.data, cbor.size, &decoded), POP_ERROR_FILE_LOAD, cases[i].message,
                 cases[i].message);
    pop_bytes_free(&cbor);
    pop_executable_free(spoilt);
    pop_executable_free(decoded);
    pop_executable_free(compiled);
  }
}

Test(executable, another_format_says_which_and_what_to_do)
{
  pop_executable *compiled = compile_example(), *decoded;
  pop_bytes cbor = encode(compiled);
  uint8_t *at = memmem(cbor.data, cbor.size, "format", 6);
  cr_assert_lt(EXECUTABLE_FORMAT + 1, 24); /* one byte of CBOR */
  at[6] = EXECUTABLE_FORMAT + 1;
  char words[200];
  snprintf(words, sizeof words,
           "it has format %d, written by Populus " POPULUS_VERSION
           "; this is Populus " POPULUS_VERSION ", which reads format %d: compile",
           EXECUTABLE_FORMAT + 1, EXECUTABLE_FORMAT);
  expect_error(decode(cbor.data, cbor.size, &decoded), POP_ERROR_FILE_LOAD, words, "format");
  pop_bytes_free(&cbor);
  pop_executable_free(compiled);
  pop_executable_free(decoded);
}

/* ---- requirements of the code ---- */

/* A tile with a vertex. The graph does not have the other type of the same source. */
static pop_executable *compile_vertex(const char *type)
{
  static const char source[] = "#include <populus/vertex.h>\n"
                               "#include <populus/vector_types.h>\n"
                               "typedef struct { INOUT(VECTOR(float, SPAN, 8)) x; } Double;\n"
                               "COMPUTE(Double)\n"
                               "{\n"
                               "  float2 *x = (float2 *)vertex->x.data;\n"
                               "  for (unsigned i = 0; i < vertex->x.size / 2; i++) x[i] += x[i];\n"
                               "  return true;\n"
                               "}\n";
  static const char plain[] = "#include <populus/vertex.h>\n"
                              "typedef struct { INOUT(VECTOR(float, SPAN, 8)) x; } Plain;\n"
                              "COMPUTE(Plain) { vertex->x.data[0] += 1; return true; }\n";
  pop_graph *graph = new_graph_with_tiles(1);
  pop_graph_add_codelets_source(graph, "c", source, "double.c", NULL);
  pop_graph_add_codelets_source(graph, "c", plain, "plain.c", NULL);
  pop_tensor x = pop_graph_add_variable(graph, POP_FLOAT, (size_t[]){8}, 1, "x");
  pop_compute_set set = pop_graph_add_compute_set(graph, "set");
  pop_vertex v = pop_graph_add_vertex(graph, set, type);
  pop_graph_set_tile_mapping(graph, x, 0);
  pop_graph_connect(graph, v, "x", x);
  pop_graph_set_vertex_tile(graph, v, 0);
  pop_program main = pop_program_execute(graph, set, "main");
  pop_executable *executable;
  expect_ok(pop_compile_graph(graph, &main, 1, NULL, 0, &executable));
  pop_graph_free(graph);
  return executable;
}

Test(executable, an_archive_says_what_its_code_needs_of_tiles, .init = enter_fresh_folder)
{
  pop_executable *packed = compile_vertex("Double"), *plain = compile_vertex("Plain");
  cr_assert_eq(plain->num_needs, 0);
  cr_assert_eq(packed->num_needs, 1);
  expect_ok(pop_executable_save(packed, "packed.a"));
  pop_executable *loaded = load_archive("packed.a");
  cr_assert_eq(loaded->num_needs, 1);
  cr_assert_str_eq(loaded->needs[0], "packed");
  pop_executable_free(loaded);
  pop_executable_free(packed);
  pop_executable_free(plain);
}

Test(executable, needs_that_tiles_here_have_not_are_refused)
{
  pop_executable *compiled = compile_example(), *decoded;
  compiled->needs = pop_xcalloc(2, sizeof *compiled->needs);
  compiled->needs[0] = "packed";
  compiled->needs[1] = "levitation";
  compiled->num_needs = 2;
  pop_bytes cbor = encode(compiled);
  expect_error(decode(cbor.data, cbor.size, &decoded), POP_ERROR_FILE_LOAD,
               "needs 'levitation' of tiles, and tiles here have 'packed', 'functions' and "
               "'repeats' at most",
               "compile");
  pop_bytes_free(&cbor);
  pop_executable_free(compiled);
  pop_executable_free(decoded);
}

/* ---- archives ---- */

typedef struct members {
  pop_archive *archive;
  pop_archive_writer *writer;
} members;

static members begin(const char *from)
{
  members m;
  expect_ok(pop_archive_open(from, &m.archive));
  expect_ok(pop_archive_writer_open("changed.a", &m.writer));
  return m;
}

/* Copies a member without `cut` bytes at its end. */
static void copy(const members *m, const char *name, size_t cut)
{
  for (size_t i = 0; i < pop_archive_num_members(m->archive); ++i) {
    if (strcmp(pop_archive_get_member(m->archive, i)->name, name) != 0) continue;
    uint8_t *bytes;
    size_t size;
    expect_ok(pop_archive_read_member(m->archive, i, &bytes, &size));
    expect_ok(pop_archive_writer_add(m->writer, name, bytes, size - cut));
    free(bytes);
  }
}

/* The archive is refused when it is loaded, or when its engine is loaded. */
static void expect_refused(members *m, const char *message)
{
  pop_archive_close(m->archive);
  expect_ok(pop_archive_writer_commit(m->writer));
  pop_executable *executable;
  pop_engine *engine = NULL;
  pop_error *error = pop_executable_load("changed.a", &executable);
  if (!error) error = pop_engine_create_from_executable(executable, NULL, 0, &engine);
  if (!error) error = pop_engine_load(engine);
  expect_error(error, POP_ERROR_FILE_LOAD, message, message);
  pop_engine_free(engine);
  pop_executable_free(executable);
}

static void save_example(const char *broken_name, const char *path)
{
  pop_executable *executable = compile_example_of(broken_name, NULL, 0);
  expect_ok(pop_executable_save(executable, path));
  pop_executable_free(executable);
}

static const char *const names[] = {"tile-00000.elf", "tile-00001.elf", "tile-00002.elf",
                                    "tile-00003.elf", "metadata.elf"};

Test(executable, archives_that_are_not_whole_are_refused, .init = enter_fresh_folder)
{
  save_example("break it", "example.a");
  members m = begin("example.a");
  for (size_t i = 0; i < 4; ++i) copy(&m, names[i], 0);
  expect_refused(&m, "'changed.a': it has no member 'metadata.elf': it takes an archive");
  m = begin("example.a");
  for (size_t i = 2; i < 5; ++i) copy(&m, names[i], 0);
  expect_refused(&m, "'changed.a': 2 of 4 tile images are missing, 'tile-00000.elf' is the first");
  m = begin("example.a");
  for (size_t i = 0; i < 6; ++i) copy(&m, names[i % 5], 0);
  expect_refused(&m, "'changed.a': member 'tile-00000.elf' is there twice");
  m = begin("example.a");
  for (size_t i = 0; i < 5; ++i) copy(&m, names[i], 0);
  copy(&m, names[4], 0);
  expect_refused(&m, "'changed.a': member 'metadata.elf' is there 2 times");
  m = begin("example.a");
  for (size_t i = 0; i < 5; ++i) copy(&m, names[i], i == 1 ? 3000 : 0);
  expect_refused(&m, "tile-00001.elf");
  for (size_t cut = 1; cut < 2000; cut = cut * 3 / 2 + 1) {
    m = begin("example.a");
    for (size_t i = 0; i < 5; ++i) copy(&m, names[i], i == 4 ? cut : 0);
    expect_refused(&m, "'changed.a(metadata.elf)': ");
  }
}

Test(executable, images_of_another_program_are_refused, .init = enter_fresh_folder)
{
  save_example("break it", "example.a");
  pop_graph *graph = new_example("break it");
  pop_program program = pop_program_execute(graph, (pop_compute_set){graph, 1}, "add");
  pop_executable *other;
  expect_ok(pop_compile_graph(graph, &program, 1, NULL, 0, &other));
  expect_ok(pop_executable_save(other, "other.a"));
  pop_executable_free(other);
  pop_graph_free(graph);
  members m = begin("example.a"), from = {.writer = m.writer};
  expect_ok(pop_archive_open("other.a", &from.archive));
  for (size_t i = 0; i < 5; ++i) copy(i == 2 ? &from : &m, names[i], 0);
  pop_archive_close(from.archive);
  expect_refused(&m, "'changed.a(tile-00002.elf)': the memory of tile 2 has digest ");
}

Test(executable, other_files_are_refused, .init = enter_fresh_folder)
{
  pop_executable *executable;
  expect_error(pop_executable_load("nothing.a", &executable), POP_ERROR_FILE_LOAD, "nothing.a",
               "no file");
  cr_assert_null(executable);
  pop_archive_writer *writer;
  expect_ok(pop_archive_writer_open("objects.gp", &writer));
  expect_ok(pop_archive_writer_add(writer, "x.o", "abc", 3));
  expect_ok(pop_archive_writer_commit(writer));
  expect_error(pop_executable_load("objects.gp", &executable), POP_ERROR_FILE_LOAD,
               "has no member 'metadata.elf', but others that are no tile images", ".gp");
  expect_error(pop_executable_load_memory("no", 2, "memory", &executable), POP_ERROR_FILE_LOAD,
               "memory", "memory");
}

/* ---- verification ---- */

static void expect_unsound(const pop_executable *e, const char *key)
{
  expect_error(executable_verify(e), POP_ERROR_INTERNAL, key, key);
}

Test(executable, what_no_archive_could_say_the_compiler_does_not_say_either)
{
  pop_executable *e = compile_example();
  expect_ok(executable_verify(e));
  const executable_work work = e->works[1];
  e->works[1].tile = TILES;
  expect_unsound(e, "works");
  e->works[1] = work;
  e->works[1].tile = e->works[0].tile;
  expect_unsound(e, "out of order");
  e->works[1] = work;
  e->works[1].row = (uint32_t)e->num_vertex_rows;
  expect_unsound(e, "works");
  e->works[1] = work;
  const memory_range run = e->runs[0];
  e->runs[0].tile = TILES;
  expect_unsound(e, "tensors");
  e->runs[0] = run;
  expect_ok(executable_verify(e));
  pop_executable_free(e);
}
