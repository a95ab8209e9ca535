/* Remote buffers: rows that programs and the host read and write, offsets that are computed on the
 * device, and calls that give errors. random.c copies random tensors through remote buffers. */
#include "support/graph_test.h"

#include "engine/engine_private.h"
#include "support/expect.h"

enum { NUM_TILES = 6, ROW = 10, ROWS = 7, ROW_BYTES = ROW * 4 };

typedef struct bench {
  pop_graph *graph;
  pop_remote_buffer buffer;
  pop_tensor data;   /* ROW elements over four tiles */
  pop_tensor offset; /* on a tile that has no elements of it */
  pop_program programs[3];
  pop_engine *engine;
} bench;

static pop_tensor new_variable(pop_graph *graph, pop_type type, size_t count, const char *name)
{
  pop_tensor t = pop_graph_add_variable(graph, type, &count, 1, name);
  pop_graph_create_host_read(graph, name, t);
  pop_graph_create_host_write(graph, pop_arena_printf(graph->arena, ">%s", name), t);
  return t;
}

static bench new_bench(void)
{
  bench x = {.graph = new_graph_with_tiles(NUM_TILES)};
  x.buffer = pop_graph_add_remote_buffer(x.graph, "store", POP_INT, ROW, ROWS);
  x.data = new_variable(x.graph, POP_INT, ROW, "data");
  x.offset = new_variable(x.graph, POP_UNSIGNED_INT, 1, "offset");
  pop_graph_map_linearly(x.graph, x.data, 3, 1);
  pop_graph_set_tile_mapping(x.graph, x.offset, 5);
  return x;
}

static void load(bench *x, size_t num_programs)
{
  assert_no_error(x->graph);
  expect_ok(pop_engine_create(x->graph, x->programs, num_programs, NULL, 0, &x->engine));
  expect_ok(pop_engine_load(x->engine));
}

static void end(bench *x)
{
  pop_engine_free(x->engine);
  pop_graph_free(x->graph);
}

static void write_offset(bench *x, uint32_t offset)
{
  expect_ok(pop_engine_write_tensor(x->engine, ">offset", &offset, sizeof offset));
}

static void set_row(bench *x, size_t row, int from)
{
  int data[ROW];
  for (int i = 0; i < ROW; i++) data[i] = from + i;
  expect_ok(pop_engine_copy_to_remote_buffer(x->engine, "store", row, 0, data, sizeof data));
}

static void expect_row(bench *x, size_t row, int from, int step)
{
  int data[ROW];
  expect_ok(pop_engine_copy_from_remote_buffer(x->engine, "store", row, 0, data, sizeof data));
  for (int i = 0; i < ROW; i++)
    cr_assert_eq(data[i], from + step * i, "row %zu, element %d: %d", row, i, data[i]);
}

/* Program 0 copies a row to the tensor, program 1 the tensor to a row. The host writes the
 * index. */
TEST_ON_EACH_DEVICE(remote_buffers, rows_are_chosen_when_the_copy_is_made)
{
  bench x = new_bench();
  x.programs[0] = pop_program_copy_from_remote_buffer(x.buffer, x.data, x.offset, "load");
  x.programs[1] = pop_program_copy_to_remote_buffer(x.data, x.buffer, x.offset, "save");
  load(&x, 2);
  expect_row(&x, 6, 0, 0);
  for (size_t row = 0; row < ROWS; row++) set_row(&x, row, 100 * (int)row);
  static const uint32_t moves[][2] = {{3, 6}, {0, 0}, {6, 1}, {5, 2}};
  int expected[ROWS];
  for (int row = 0; row < ROWS; row++) expected[row] = 100 * row;
  for (size_t i = 0; i < sizeof moves / sizeof *moves; i++) {
    write_offset(&x, moves[i][0]);
    expect_ok(pop_engine_run(x.engine, 0));
    write_offset(&x, moves[i][1]);
    expect_ok(pop_engine_run(x.engine, 1));
    expected[moves[i][1]] = expected[moves[i][0]];
    for (size_t row = 0; row < ROWS; row++) expect_row(&x, row, expected[row], 1);
  }
  expect_ok(pop_engine_load(x.engine)); /* starts again */
  for (size_t row = 0; row < ROWS; row++) expect_row(&x, row, 0, 0);
  end(&x);
}

/* Several rows in one copy, in the order of the offsets. The offsets lie on several tiles, some of
 * them beside data. */
TEST_ON_EACH_DEVICE(remote_buffers, several_rows_in_one_copy)
{
  enum { N = 4 };
  bench x = new_bench();
  pop_tensor many = new_variable(x.graph, POP_INT, (size_t)N * ROW, "many");
  pop_tensor offsets = new_variable(x.graph, POP_INT, N, "offsets");
  pop_graph_map_linearly(x.graph, many, 7, 1);
  for (size_t i = 0; i < N; i++)
    pop_graph_set_tile_mapping(x.graph, pop_tensor_slice(offsets, i, i + 1, 0), i % 3 * 2);
  x.programs[0] = pop_program_copy_from_remote_buffer(x.buffer, many, offsets, "gather");
  x.programs[1] =
      pop_program_copy_to_remote_buffer(pop_tensor_reverse(many, 0), x.buffer, offsets, "scatter");
  load(&x, 2);
  for (size_t row = 0; row < ROWS; row++) set_row(&x, row, 100 * (int)row);
  static const int chosen[N] = {5, 0, 6, 2};
  int found[N * ROW];
  expect_ok(pop_engine_write_tensor(x.engine, ">offsets", chosen, sizeof chosen));
  expect_ok(pop_engine_run(x.engine, 0));
  expect_ok(pop_engine_read_tensor(x.engine, "many", found, sizeof found));
  for (int i = 0; i < N * ROW; i++)
    cr_assert_eq(found[i], 100 * chosen[i / ROW] + i % ROW, "element %d", i);
  expect_ok(pop_engine_run(x.engine, 1));
  for (int i = 0; i < N; i++) expect_row(&x, chosen[i], 100 * chosen[N - 1 - i] + ROW - 1, -1);
  expect_row(&x, 1, 100, 1);
  expect_row(&x, 3, 300, 1);
  end(&x);
}

/* One offset addresses both rows. On the offset's tile, the end of the first row is before the
 * beginning of the second, but in the row of the buffer it is after it. When the buffer is written,
 * one row overwrites the other completely. */
TEST_ON_EACH_DEVICE(remote_buffers, one_offset_for_several_rows)
{
  static const size_t borders[] = {0, 4, 16, 2 * ROW};
  bench x = new_bench();
  pop_tensor two = new_variable(x.graph, POP_INT, (size_t)2 * ROW, "two");
  for (size_t i = 0; i < 3; i++)
    pop_graph_set_tile_mapping(x.graph, pop_tensor_slice(two, borders[i], borders[i + 1], 0),
                               3 + 2 * i % 4);
  pop_tensor same = new_variable(x.graph, POP_INT, (size_t)2 * ROW, "same");
  pop_graph_set_tile_mapping(x.graph, same, 5);
  pop_tensor offsets = pop_tensor_broadcast(x.offset, 2, 0);
  x.programs[0] = pop_program_copy_from_remote_buffer(x.buffer, two, offsets, "gather");
  x.programs[1] = pop_program_copy_to_remote_buffer(two, x.buffer, offsets, "scatter");
  x.programs[2] = pop_program_copy_to_remote_buffer(same, x.buffer, offsets, "same");
  load(&x, 3);
  for (size_t row = 0; row < ROWS; row++) set_row(&x, row, 100 * (int)row);
  int found[2 * ROW];
  write_offset(&x, 3);
  expect_ok(pop_engine_run(x.engine, 0));
  expect_ok(pop_engine_read_tensor(x.engine, "two", found, sizeof found));
  for (int i = 0; i < 2 * ROW; i++) cr_assert_eq(found[i], 300 + i % ROW, "element %d", i);
  write_offset(&x, 1);
  expect_ok(pop_engine_run(x.engine, 1));
  expect_row(&x, 1, 300, 1);
  expect_ok(pop_engine_write_tensor(x.engine, ">same", found, sizeof found));
  write_offset(&x, 2);
  expect_ok(pop_engine_run(x.engine, 2));
  expect_row(&x, 2, 300, 1);
  end(&x);
}

/* Without offsets, the first rows are copied. In a loop, the device counts. */
TEST_ON_EACH_DEVICE(remote_buffers, without_offsets_it_is_about_the_first_rows)
{
  bench x = new_bench();
  pop_tensor two = new_variable(x.graph, POP_INT, (size_t)2 * ROW, "two");
  pop_graph_map_linearly(x.graph, two, 9, 1);
  x.programs[0] = pop_program_copy_from_remote_buffer(x.buffer, two, (pop_tensor){0}, "load");
  x.programs[1] = pop_program_copy_to_remote_buffer(x.data, x.buffer, (pop_tensor){0}, "save");
  load(&x, 2);
  set_row(&x, 0, 10);
  set_row(&x, 1, 20);
  int found[2 * ROW];
  expect_ok(pop_engine_run(x.engine, 0));
  expect_ok(pop_engine_read_tensor(x.engine, "two", found, sizeof found));
  cr_assert_eq(found[0], 10);
  cr_assert_eq(found[ROW], 20);
  cr_assert_eq(found[2 * ROW - 1], 29);
  expect_ok(pop_engine_run(x.engine, 1));
  expect_row(&x, 0, 0, 0);
  expect_row(&x, 1, 20, 1);
  end(&x);
}

/* ---- cost ---- */

/* A number for each tile that has data, a packet, and four instructions: the three of the exchange
 * are hostRecord, the packet and end. */
Test(remote_buffers, a_copy_costs_packets_and_the_numbers_of_rows)
{
  bench x = new_bench();
  x.programs[0] = pop_program_copy_from_remote_buffer(x.buffer, x.data, x.offset, "load");
  load(&x, 1);
  for (uint32_t tile = 0; tile < NUM_TILES; tile++) {
    pop_tile_memory m;
    uint32_t has_data = tile < 4;
    expect_ok(pop_engine_tile_memory(x.engine, tile, &m));
    cr_assert_eq(m.not_overlapped[POP_MEMORY_HOST_EXCHANGE_CODE][0], 12 * has_data, "tile %u",
                 tile);
    cr_assert_eq(m.not_overlapped[POP_MEMORY_HOST_EXCHANGE_PACKET_HEADER][0], 24 * has_data);
    uint32_t message = 0;
    for (int region = 0; region < POP_REGION_COUNT; region++)
      message += m.not_overlapped[POP_MEMORY_HOST_MESSAGE][region] +
                 m.overlapped[POP_MEMORY_HOST_MESSAGE][region];
    cr_assert_eq(message, 4 * has_data, "tile %u: %u bytes", tile, message);
  }
  uint64_t before = pop_engine_cycles(x.engine);
  expect_ok(pop_engine_run(x.engine, 0));
  uint64_t offset_0 = pop_engine_cycles(x.engine) - before;
  write_offset(&x, ROWS - 1);
  before = pop_engine_cycles(x.engine);
  expect_ok(pop_engine_run(x.engine, 0));
  cr_assert_eq(pop_engine_cycles(x.engine) - before, offset_0);
  end(&x);
}

/* ---- faults ---- */

TEST_ON_EACH_DEVICE(remote_buffers, an_offset_that_there_is_not_ends_the_run)
{
  static const struct {
    uint32_t offset;
    const char *words;
  } cases[] = {{ROWS, "offset 7 in remote buffer 'store', which has offsets 0 to 6"},
               {UINT32_MAX, "offset -1 in remote buffer 'store'"}};
  for (size_t i = 0; i < 2; i++) {
    bench x = new_bench();
    x.programs[0] = pop_program_copy_to_remote_buffer(x.data, x.buffer, x.offset, "save");
    load(&x, 1);
    set_row(&x, 0, 5);
    write_offset(&x, cases[i].offset);
    expect_error(pop_engine_run(x.engine, 0), POP_ERROR_RUNTIME, cases[i].words, "run");
    expect_row(&x, 0, 5, 1);
    expect_error(pop_engine_run(x.engine, 0), POP_ERROR_RUNTIME, "pop_engine_load", "again");
    expect_ok(pop_engine_load(x.engine));
    expect_ok(pop_engine_run(x.engine, 0));
    end(&x);
  }
}

TEST_ON_EACH_DEVICE(remote_buffers, E01_E02_bad_access_of_the_host_names_the_buffer)
{
  bench x = new_bench();
  pop_graph_add_remote_buffer(x.graph, "other", POP_HALF, 3, 1);
  x.programs[0] = pop_program_copy_to_remote_buffer(x.data, x.buffer, x.offset, "save");
  assert_no_error(x.graph);
  expect_ok(pop_engine_create(x.graph, x.programs, 1, NULL, 0, &x.engine));
  int row[ROW];
  expect_error(pop_engine_copy_from_remote_buffer(x.engine, "store", 0, 0, row, sizeof row),
               POP_ERROR_RUNTIME, "not loaded", "too early");
  expect_ok(pop_engine_load(x.engine));
  expect_error(pop_engine_copy_from_remote_buffer(x.engine, "stor", 0, 0, row, sizeof row),
               POP_ERROR_UNKNOWN_HANDLE, "did you mean 'store'", "unknown");
  expect_error(pop_engine_copy_from_remote_buffer(x.engine, NULL, 0, 0, row, sizeof row),
               POP_ERROR_INVALID_ARGUMENT, "name of the remote buffer is NULL", "NULL");
  expect_error(pop_engine_copy_to_remote_buffer(x.engine, "store", ROWS, 0, row, sizeof row),
               POP_ERROR_INDEX, "rows 0 to 6, not 7", "row");
  expect_error(pop_engine_copy_to_remote_buffer(x.engine, "store", 0, 1, row, sizeof row),
               POP_ERROR_INDEX, "replica 1", "replica");
  expect_error(pop_engine_copy_to_remote_buffer(x.engine, "store", 0, 0, row, sizeof row - 4),
               POP_ERROR_INVALID_ARGUMENT, "40 bytes (10 elements of type int), not 36", "bytes");
  end(&x);
}

static void no_handle(bench *x)
{
  pop_graph_add_remote_buffer(x->graph, "", POP_INT, 1, 1);
}
static void no_rows(bench *x)
{
  pop_graph_add_remote_buffer(x->graph, "r", POP_INT, 1, 0);
}
static void long_row(bench *x)
{
  pop_graph_add_remote_buffer(x->graph, "r", POP_INT, (size_t)1 << 30, 1);
}
static void too_many_rows(bench *x)
{
  pop_graph_add_remote_buffer(x->graph, "r", POP_INT, 1 << 20, SIZE_MAX);
}
static void twice(bench *x)
{
  pop_graph_add_remote_buffer(x->graph, "store", POP_INT, 1, 1);
}
static void wrong_type(bench *x)
{
  pop_program_copy_to_remote_buffer(x->offset, x->buffer, x->offset, "copy");
}
static void wrong_size(bench *x)
{
  pop_program_copy_to_remote_buffer(pop_tensor_slice(x->data, 0, 9, 0), x->buffer, x->offset,
                                    "copy");
}
static void wrong_size_without_offsets(bench *x)
{
  pop_program_copy_to_remote_buffer(pop_tensor_broadcast(x->data, ROWS + 1, 0), x->buffer,
                                    (pop_tensor){0}, "copy");
}
static void float_offsets(bench *x)
{
  pop_program_copy_to_remote_buffer(x->data, x->buffer, new_variable(x->graph, POP_FLOAT, 1, "f"),
                                    "copy");
}
static void into_alias(bench *x)
{
  pop_tensor t = pop_tensor_broadcast(pop_tensor_slice(x->data, 0, 5, 0), 2, 0);
  pop_program_copy_from_remote_buffer(x->buffer, t, x->offset, "copy");
}
static void into_constant(bench *x)
{
  const size_t count = ROW;
  pop_tensor c = pop_graph_add_constant(x->graph, POP_INT, &count, 1, (int[ROW]){0}, "c");
  pop_program_copy_from_remote_buffer(x->buffer, c, x->offset, "copy");
}
static void null_buffer(bench *x)
{
  pop_program_copy_from_remote_buffer((pop_remote_buffer){0}, x->data, x->offset, "copy");
}

Test(remote_buffers, X07_P01_bad_calls_say_what_is_wrong)
{
  static const struct {
    void (*call)(bench *x);
    pop_error_code code;
    const char *words[5];
  } cases[] = {
      {no_handle, POP_ERROR_INVALID_ARGUMENT, {"pop_graph_add_remote_buffer", "no handle"}},
      {no_rows, POP_ERROR_INVALID_ARGUMENT, {"'r' has 0 rows"}},
      {long_row, POP_ERROR_INVALID_ARGUMENT, {"'r'", "too long", "1073741823"}},
      {too_many_rows, POP_ERROR_INVALID_ARGUMENT, {"'r'", "more than 256 GiB"}},
      {twice, POP_ERROR_INVALID_ARGUMENT, {"'store' already"}},
      {wrong_type, POP_ERROR_TYPE, {"'copy'", "'store' of 7 rows of 10 int", "element types"}},
      {wrong_size, POP_ERROR_TENSOR, {"'store'", "rows of 10", "1 offsets", "{9} of 'data'"}},
      {wrong_size_without_offsets, POP_ERROR_TENSOR, {"'store'", "without offsets"}},
      {float_offsets, POP_ERROR_TYPE, {"'copy'", "float tensor", "unsigned int or int"}},
      {into_alias, POP_ERROR_TENSOR, {"'store'", "twice"}},
      {into_constant, POP_ERROR_TENSOR, {"'store'", "constant"}},
      {null_buffer, POP_ERROR_INVALID_ARGUMENT, {"remote buffer is null"}},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    bench x = new_bench();
    cases[i].call(&x);
    char where[20];
    snprintf(where, sizeof where, "case %zu", i);
    assert_error(x.graph, cases[i].code, cases[i].words, where);
    pop_graph_free(x.graph);
  }
}

/* P05: offsets that are not mapped to a tile. */
Test(remote_buffers, P05_unmapped_offsets_are_named)
{
  bench x = new_bench();
  pop_tensor nowhere = new_variable(x.graph, POP_INT, 1, "nowhere");
  x.programs[0] = pop_program_copy_to_remote_buffer(x.data, x.buffer, nowhere, "save");
  pop_error *error = pop_engine_create(x.graph, x.programs, 1, NULL, 0, &x.engine);
  cr_assert_not_null(strstr(pop_error_message(error), "'nowhere'"), "%s", pop_error_message(error));
  pop_error_free(error);
  pop_graph_free(x.graph);
}

/* ---- archives ---- */

Test(remote_buffers, an_archive_has_its_remote_buffers, .init = enter_fresh_folder)
{
  bench x = new_bench();
  x.programs[0] = pop_program_copy_from_remote_buffer(x.buffer, x.data, x.offset, "load");
  pop_graph_add_remote_buffer(x.graph, "unused", POP_HALF, 3, 2);
  load(&x, 1);
  expect_ok(pop_engine_save_archive(x.engine, "remote.a"));
  end(&x);
  pop_executable *executable;
  pop_remote_buffer_info info;
  expect_ok(pop_executable_load("remote.a", &executable));
  cr_assert_eq(pop_executable_num_remote_buffers(executable), 2);
  expect_ok(pop_executable_remote_buffer(executable, 0, &info));
  cr_assert_str_eq(info.name, "store");
  cr_assert(info.is_used && info.type == POP_INT && info.num_elements == ROW &&
            info.repeats == ROWS);
  expect_ok(pop_executable_remote_buffer(executable, 1, &info));
  cr_assert(!info.is_used && info.type == POP_HALF && info.num_elements == 3 && info.repeats == 2);
  expect_error(pop_executable_remote_buffer(executable, 2, &info), POP_ERROR_INDEX,
               "no remote buffer 2", "info");
  expect_ok(pop_engine_create_from_executable(executable, NULL, 0, &x.engine));
  pop_executable_free(executable);
  expect_ok(pop_engine_load(x.engine));
  set_row(&x, 4, 40);
  write_offset(&x, 4);
  expect_ok(pop_engine_run(x.engine, 0));
  int found[ROW];
  expect_ok(pop_engine_read_tensor(x.engine, "data", found, sizeof found));
  cr_assert_eq(found[9], 49);
  pop_engine_free(x.engine);
}

/* More than 4 GiB need several windows. The last one ends at the end of the buffer. */
Test(remote_buffers, an_archive_may_fill_a_buffer_of_5_gib, .init = enter_fresh_folder)
{
  enum { MIB_ROW = 1 << 18, MIB_ROWS = 5 << 10 };
  bench x = {.graph = new_graph_with_tiles(NUM_TILES)};
  x.buffer = pop_graph_add_remote_buffer(x.graph, "large", POP_INT, MIB_ROW, MIB_ROWS);
  pop_tensor row = new_variable(x.graph, POP_INT, MIB_ROW, "row");
  pop_graph_map_linearly(x.graph, row, 0, 1);
  x.programs[0] = pop_program_copy_to_remote_buffer(pop_tensor_broadcast(row, MIB_ROWS, 0),
                                                    x.buffer, (pop_tensor){0}, "fill");
  assert_no_error(x.graph);
  expect_ok(pop_engine_create(x.graph, x.programs, 1, NULL, 0, &x.engine));
  expect_ok(pop_engine_save_archive(x.engine, "large.a"));
  end(&x);
  pop_executable *executable;
  expect_ok(pop_executable_load("large.a", &executable));
  pop_executable_free(executable);
}
