/* Images with a section for each use of memory: they have the memory of one .text, and the sums of
 * the report. */
#include "engine/engine_private.h"
#include "support/expect.h"
#include "support/graph_test.h"

#include <populus/archive.h>
#include <populus/image.h>

TestSuite(archive_sections, .init = enter_fresh_folder);

enum { TILES = 5 };

static const char codelets[] =
    "#include <populus/vertex.h>\n"
    "static const int table[] = {7, 11, 13, 17};\n"
    "int calls;\n"
    "typedef struct { INPUT(VECTOR(int)) in; OUTPUT(int) out; } Sum;\n"
    "COMPUTE(Sum)\n"
    "{\n"
    "  int sum = table[++calls & 3];\n"
    "  for (unsigned i = 0; i < vertex->in.size; ++i) sum += vertex->in.data[i];\n"
    "  *vertex->out = sum;\n"
    "  return true;\n"
    "}\n";

/* Exchanges, constants, buffers that share memory with others, a tile without vertices. */
static pop_engine *new_engine(const char *sections)
{
  pop_graph *graph = new_graph_with_tiles(TILES);
  pop_graph_add_codelets_source(graph, "c", codelets, "codelets.c", NULL);
  const size_t shape[] = {TILES, 50};
  int32_t numbers[TILES * 50];
  for (int i = 0; i < TILES * 50; i++) numbers[i] = i;
  pop_tensor in = pop_graph_add_constant(graph, POP_INT, shape, 2, numbers, "numbers");
  pop_tensor copy = pop_graph_add_variable(graph, POP_INT, shape, 2, "copy");
  pop_tensor sums = pop_graph_add_variable(graph, POP_INT, shape, 1, "sums"); /* of each row */
  pop_compute_set set = pop_graph_add_compute_set(graph, "sum");
  for (size_t tile = 0; tile < TILES; tile++) {
    pop_tensor sum = pop_tensor_index(sums, tile);
    pop_graph_set_tile_mapping(graph, pop_tensor_index(in, tile), tile);
    pop_graph_set_tile_mapping(graph, pop_tensor_index(copy, tile), (tile + 1) % TILES);
    pop_graph_set_tile_mapping(graph, sum, tile);
    if (tile == TILES - 1) continue;
    pop_vertex vertex = pop_graph_add_vertex(graph, set, "Sum");
    pop_graph_connect(graph, vertex, "in", pop_tensor_index(copy, (tile + 2) % TILES));
    pop_graph_connect(graph, vertex, "out", sum);
    pop_graph_set_vertex_tile(graph, vertex, tile);
  }
  pop_tensor last = pop_tensor_index(sums, TILES - 1), first = pop_tensor_index(sums, 0);
  pop_program program = pop_program_sequence(graph, "all");
  pop_sequence_add(program, pop_program_copy(in, copy, "copy"));
  pop_sequence_add(program, pop_program_execute(graph, set, "sum"));
  pop_sequence_add(program, pop_program_copy(first, last, "last"));
  pop_graph_create_host_read(graph, "sums", sums);
  const pop_option options[] = {{"target.archiveSections", sections}};
  pop_engine *engine = NULL;
  expect_ok(pop_engine_create(graph, &program, 1, options, 1, &engine));
  pop_graph_free(graph);
  return engine;
}

/* Reads the images of the archive that the engine saves. */
static void read_images(const pop_engine *engine, pop_arena *arena, pop_image images[TILES])
{
  pop_archive *archive;
  expect_ok(pop_engine_save_archive(engine, "archive.a"));
  expect_ok(pop_archive_open("archive.a", &archive));
  for (uint32_t tile = 0; tile < TILES; tile++) {
    bool overflowed;
    expect_ok(pop_image_read_member(archive, tile, POP_IMAGE_MEMORY | POP_IMAGE_SYMBOLS,
                                    &engine->executable->target, arena, &images[tile],
                                    &overflowed));
  }
  pop_archive_close(archive);
}

Test(archive_sections, memory_and_symbols_are_the_same_in_both_layouts)
{
  pop_arena *arena = pop_arena_new();
  pop_image flat[TILES], split[TILES];
  pop_engine *engine = new_engine("flat");
  read_images(engine, arena, flat);
  pop_engine_free(engine);
  engine = new_engine("byCategory");
  read_images(engine, arena, split);
  pop_engine_free(engine);
  for (int tile = 0; tile < TILES; tile++) {
    cr_assert_eq(flat[tile].num_sections, 0);
    cr_assert_gt(split[tile].num_sections, 3);
    cr_assert_eq(split[tile].size, flat[tile].size);
    cr_assert_eq(split[tile].entry, flat[tile].entry);
    cr_assert(memcmp(split[tile].bytes, flat[tile].bytes, flat[tile].size) == 0);
    cr_assert_eq(split[tile].num_mappings, flat[tile].num_mappings);
    cr_assert_eq(split[tile].num_symbols, flat[tile].num_symbols);
    for (size_t i = 0; i < flat[tile].num_symbols; i++)
      cr_assert_str_eq(split[tile].symbols[i].name, flat[tile].symbols[i].name);
  }
  pop_arena_free(arena);
}

Test(archive_sections, sums_are_those_of_the_memory_report)
{
  pop_engine *engine = new_engine("byCategory");
  pop_arena *arena = pop_arena_new();
  pop_image images[TILES];
  read_images(engine, arena, images);
  uint32_t overlapped = 0;
  for (uint32_t tile = 0; tile < TILES; tile++) {
    uint64_t bytes[POP_IMAGE_SECTION_KIND_COUNT] = {0}, all = 0, used = 0;
    for (size_t i = 0; i < images[tile].num_sections; i++)
      bytes[images[tile].sections[i].kind] += images[tile].sections[i].size;
    pop_tile_memory memory;
    expect_ok(pop_engine_tile_memory(engine, tile, &memory));
    for (int kind = 0; kind < POP_IMAGE_SECTION_KIND_COUNT; kind++) all += bytes[kind];
    for (int category = 0; category < POP_MEMORY_CATEGORY_COUNT; category++) {
      uint64_t reported = 0;
      for (int region = 0; region < POP_REGION_COUNT; region++)
        reported += memory.not_overlapped[category][region];
      cr_assert_eq(bytes[category], reported, "%s", pop_image_section_name((unsigned)category));
      used += bytes[category];
    }
    cr_assert_eq(used + bytes[POP_IMAGE_SECTION_OVERLAPPED], memory.total);
    cr_assert_eq(all, memory.total_including_gaps);
    cr_assert_eq(bytes[POP_IMAGE_SECTION_SYSTEM], engine->executable->target.system_bytes);
    overlapped += bytes[POP_IMAGE_SECTION_OVERLAPPED] != 0;
    cr_assert_eq(bytes[POP_MEMORY_VERTEX_CODE] != 0, tile != TILES - 1);
  }
  cr_assert_gt(overlapped, 0, "no tile has memory that is used twice: the test shows too little");
  pop_arena_free(arena);
  pop_engine_free(engine);
}

Test(archive_sections, images_with_sections_run)
{
  int32_t sums[TILES];
  pop_engine *engine = new_engine("byCategory");
  expect_ok(pop_engine_load(engine));
  expect_ok(pop_engine_run(engine, 0));
  expect_ok(pop_engine_read_tensor(engine, "sums", sums, TILES * sizeof *sums));
  static const int32_t table[] = {7, 11, 13, 17};
  for (int tile = 0; tile < TILES; tile++) {
    int row = tile == TILES - 1 ? 2 : (tile + 2) % TILES;
    int32_t expected = table[1];
    for (int i = 0; i < 50; i++) expected += row * 50 + i;
    cr_assert_eq(sums[tile], expected, "tile %d: %d", tile, sums[tile]);
  }
  pop_engine_free(engine);
}

Test(archive_sections, other_words_are_refused)
{
  pop_graph *graph = new_graph_with_tiles(1);
  pop_program program = pop_program_sequence(graph, "nothing");
  const pop_option options[] = {{"target.archiveSections", "byCategories"}};
  pop_engine *engine = NULL;
  expect_error(pop_engine_create(graph, &program, 1, options, 1, &engine), POP_ERROR_INVALID_OPTION,
               "cannot be 'byCategories': it takes flat or byCategory", "value");
  pop_graph_free(graph);
}
