/* Programs that end a run, wait, mark or do nothing: their effect and their cost on the software
 * IPU. */
#include "support/graph_test.h"

#include "engine/engine_private.h"
#include "support/expect.h"
#include <populus/engine.h>

enum { NUM_TILES = 8, HOST_SYNC = 118, SYNC = 118, SLOT = 6 };

/* The handles are `name` for reading and `>name` for writing. */
static pop_tensor scalar(pop_graph *graph, size_t tile, const char *name)
{
  const size_t one = 1;
  char to[32];
  snprintf(to, sizeof to, ">%s", name);
  pop_tensor t = pop_graph_add_variable(graph, POP_INT, &one, 1, name);
  pop_graph_set_tile_mapping(graph, t, tile);
  pop_graph_create_host_write(graph, to, t);
  pop_graph_create_host_read(graph, name, t);
  return t;
}

static pop_program set(pop_graph *graph, pop_tensor to, int value)
{
  const size_t one = 1;
  pop_tensor constant = pop_graph_add_constant(graph, POP_INT, &one, 1, &value, "constant");
  pop_graph_set_tile_mapping(graph, constant, 5);
  return pop_program_copy(constant, to, "set");
}

static pop_engine *start(pop_graph *graph, const pop_program *programs, size_t count)
{
  pop_engine *engine;
  assert_no_error(graph);
  expect_ok(pop_engine_create(graph, programs, count, NULL, 0, &engine));
  expect_ok(pop_engine_load(engine));
  return engine;
}

static int read_int(pop_engine *engine, const char *handle)
{
  int value;
  expect_ok(pop_engine_read_tensor(engine, handle, &value, sizeof value));
  return value;
}

static void write_int(pop_engine *engine, const char *handle, int value)
{
  expect_ok(pop_engine_write_tensor(engine, handle, &value, sizeof value));
}

/* ---- Abort ---- */

/* Programs before it are done, programs after it are not. Memory can be read. A load makes the
 * engine usable again. */
Test(program_kinds, abort_on_condition_ends_the_run_where_the_predicate_is_true)
{
  pop_graph *graph = new_graph_with_tiles(NUM_TILES);
  pop_tensor bad = scalar(graph, 3, "bad"), before = scalar(graph, 0, "before"),
             behind = scalar(graph, 7, "behind");
  pop_program main = pop_program_sequence(graph, "main");
  pop_sequence_add(main, set(graph, before, 11));
  pop_sequence_add(main, pop_program_abort_on_condition(bad, "loss is NaN", "check"));
  pop_sequence_add(main, set(graph, behind, 12));
  pop_engine *engine = start(graph, &main, 1);
  expect_ok(pop_engine_run(engine, 0));
  cr_assert_eq(read_int(engine, "behind"), 12);

  write_int(engine, ">before", 0);
  write_int(engine, ">behind", 0);
  write_int(engine, ">bad", -7);
  pop_error *error = pop_engine_run(engine, 0);
  cr_assert_not_null(error);
  const char *text = pop_error_message(error);
  cr_assert_not_null(strstr(text, "program 'check' aborted the run: loss is NaN"), "%s", text);
  cr_assert_not_null(strstr(text, "the predicate is on tile 3, IPU 0"), "%s", text);
  cr_assert_not_null(strstr(text, "cycle "), "%s", text);
  cr_assert_eq(pop_error_get_code(error), POP_ERROR_RUNTIME);
  cr_assert_eq(pop_error_exit_status(error), 3);
  pop_error_free(error);
  cr_assert_eq(read_int(engine, "before"), 11);
  cr_assert_eq(read_int(engine, "behind"), 0);
  expect_error(pop_engine_run(engine, 0), POP_ERROR_RUNTIME, "pop_engine_load", "run after abort");

  expect_ok(pop_engine_load(engine));
  expect_ok(pop_engine_run(engine, 0));
  cr_assert_eq(read_int(engine, "behind"), 12);
  pop_engine_free(engine);
  pop_graph_free(graph);
}

TEST_ON_EACH_DEVICE(program_kinds, abort_ends_the_run_always)
{
  pop_graph *graph = new_graph_with_tiles(NUM_TILES);
  pop_tensor choice = scalar(graph, 2, "choice"), out = scalar(graph, 1, "out");
  pop_program main = pop_program_sequence(graph, "main");
  pop_sequence_add(main, pop_program_if(choice, pop_program_abort(graph, NULL, "stop"),
                                        set(graph, out, 4), "choose"));
  pop_engine *engine = start(graph, &main, 1);
  expect_ok(pop_engine_run(engine, 0));
  cr_assert_eq(read_int(engine, "out"), 4);
  write_int(engine, ">choice", 1);
  expect_error(pop_engine_run(engine, 0), POP_ERROR_RUNTIME, "program 'stop' aborted the run;",
               "abort without message");
  pop_engine_free(engine);
  pop_graph_free(graph);
}

/* ---- Sync, Nop ---- */

static uint64_t cycles_of(void (*build)(pop_graph *graph, pop_program main), uint32_t external)
{
  pop_graph *graph = new_graph_with_tiles(NUM_TILES);
  graph->target.host_sync_cycles = external;
  pop_program main = pop_program_sequence(graph, "main");
  build(graph, main);
  pop_engine *engine = start(graph, &main, 1);
  uint64_t before = pop_engine_cycles(engine);
  expect_ok(pop_engine_run(engine, 0));
  uint64_t cycles = pop_engine_cycles(engine) - before;
  pop_engine_free(engine);
  pop_graph_free(graph);
  return cycles;
}

static void nothing(pop_graph *graph, pop_program main)
{
  (void)graph;
  (void)main;
}
static void nop(pop_graph *graph, pop_program main)
{
  pop_sequence_add(main, pop_program_nop(graph, "nop"));
}
static void empty_block(pop_graph *graph, pop_program main)
{
  pop_sequence_add(main, pop_program_block(graph, pop_program_nop(graph, NULL), "block"));
}
static void internal_sync(pop_graph *graph, pop_program main)
{
  pop_sequence_add(main, pop_program_sync(graph, POP_SYNC_INTERNAL, "sync"));
}
static void block_around_sync(pop_graph *graph, pop_program main)
{
  pop_program sync = pop_program_sync(graph, POP_SYNC_INTERNAL, "sync");
  pop_sequence_add(main, pop_program_block(graph, sync, "block"));
}
static void external_sync(pop_graph *graph, pop_program main)
{
  pop_sequence_add(main, pop_program_sync(graph, POP_SYNC_EXTERNAL, "sync"));
}
static void global_sync(pop_graph *graph, pop_program main)
{
  pop_sequence_add(main, pop_program_sync(graph, POP_SYNC_GLOBAL, "sync"));
}

Test(program_kinds, syncs_cost_what_the_target_says_and_marks_nothing)
{
  enum { FAR = 1000 };
  uint64_t none = cycles_of(nothing, FAR);
  cr_assert_eq(cycles_of(nop, FAR), none);
  cr_assert_eq(cycles_of(empty_block, FAR), none);
  cr_assert_eq(cycles_of(internal_sync, FAR) - none, SLOT + SYNC);
  cr_assert_eq(cycles_of(block_around_sync, FAR) - none, SLOT + SYNC);
  cr_assert_eq(cycles_of(external_sync, FAR) - none, SLOT + FAR);
  cr_assert_eq(cycles_of(global_sync, FAR) - none, SLOT + FAR);
}

/* ---- Block ---- */

static const pop_image_symbol *find_symbol(const pop_image *image, const char *name)
{
  for (size_t i = 0; i < image->num_symbols; ++i)
    if (strcmp(image->symbols[i].name, name) == 0) return &image->symbols[i];
  return NULL;
}

/* Only tile 1 takes part in one of the blocks. On other tiles the loop around it has no work, and
 * is left out with the block. */
Test(program_kinds, blocks_are_areas_of_control_code)
{
  pop_graph *graph = new_graph_with_tiles(NUM_TILES);
  pop_tensor a = scalar(graph, 1, "a"), b = scalar(graph, 1, "b");
  pop_program main = pop_program_sequence(graph, "main"), two = pop_program_sequence(graph, NULL);
  pop_sequence_add(two, pop_program_copy(a, b, "there"));
  pop_sequence_add(two, pop_program_sync(graph, POP_SYNC_INTERNAL, "sync"));
  pop_sequence_add(main, pop_program_block(graph, two, "outer part"));
  pop_program inner = pop_program_block(graph, pop_program_copy(b, a, "back"), "on tile 1");
  pop_sequence_add(main, pop_program_repeat(graph, 3, inner, "loop"));
  pop_engine *engine = start(graph, &main, 1);
  const pop_executable *e = engine->executable;
  cr_assert_eq(e->num_blocks, 2);
  cr_assert_str_eq(e->blocks[0], "outer part");
  for (uint32_t tile = 0; tile < 2; ++tile) {
    pop_arena *arena = pop_arena_new();
    pop_bytes elf = {0};
    pop_image image;
    expect_ok(executable_image(e, tile, POP_IMAGE_SYMBOLS, &elf, arena, &image));
    const pop_image_symbol *control = find_symbol(&image, "control"),
                           *outer = find_symbol(&image, "block.0.outer part"),
                           *on_tile_1 = find_symbol(&image, "block.1.on tile 1");
    cr_assert(control && outer);
    cr_assert_geq(outer->address, control->address);
    cr_assert_leq(outer->address + outer->size, control->address + control->size);
    cr_assert_eq(tile == 0, outer->size == 4, "tile %u: %u bytes", tile, outer->size);
    cr_assert_eq(on_tile_1 != NULL, tile == 1);
    cr_assert(!on_tile_1 || on_tile_1->address >= outer->address + outer->size);
    pop_bytes_free(&elf);
    pop_arena_free(arena);
  }
  expect_ok(pop_engine_run(engine, 0));
  pop_engine_free(engine);
  pop_graph_free(graph);
}

/* ---- programs by name ---- */

TEST_ON_EACH_DEVICE(program_kinds, E01_programs_run_by_name)
{
  pop_graph *graph = new_graph_with_tiles(NUM_TILES);
  pop_tensor out = scalar(graph, 2, "out");
  pop_program programs[4];
  static const char *const names[] = {"train", "test", "same", "same"};
  for (int i = 0; i < 4; ++i) {
    programs[i] = pop_program_sequence(graph, names[i]);
    pop_sequence_add(programs[i], set(graph, out, i + 1));
  }
  pop_engine *engine = start(graph, programs, 4);
  expect_ok(pop_engine_run_named(engine, "test"));
  cr_assert_eq(read_int(engine, "out"), 2);
  expect_ok(pop_engine_run_named(engine, "train"));
  cr_assert_eq(read_int(engine, "out"), 1);
  expect_error(pop_engine_run_named(engine, "trian"), POP_ERROR_INDEX,
               "no program 'trian'; did you mean 'train'?", "unknown");
  expect_error(pop_engine_run_named(engine, "same"), POP_ERROR_INDEX, "2 programs", "twice");
  expect_error(pop_engine_run_named(engine, NULL), POP_ERROR_INVALID_ARGUMENT, "NULL", "NULL");
  expect_error(pop_engine_run(engine, 4), POP_ERROR_INDEX, "has 4", "number");
  pop_engine_free(engine);
  pop_graph_free(graph);
}
