/* Lightweight profiling: chosen tiles time blocks. */
#include "engine/engine_private.h"
#include "support/count_codelet.h"
#include "support/expect.h"
#include "support/graph_test.h"

#include <jansson.h>
#include <populus/populus.h>
#include <stdlib.h>

TestSuite(timed_blocks, .init = enter_fresh_folder);

enum { TILES = 3, SLOT = 6 };

static const char codelets[] = COUNT_CODELET;

static pop_program count_on(pop_graph *graph, uint32_t tile, unsigned rounds, const char *name)
{
  pop_tensor n = pop_graph_add_variable(graph, POP_INT, NULL, 0, name);
  pop_graph_set_tile_mapping(graph, n, tile);
  pop_graph_set_initial_value(graph, n, &(int){0});
  pop_compute_set set = pop_graph_add_compute_set(graph, name);
  pop_vertex v = pop_graph_add_vertex(graph, set, "Count");
  pop_graph_set_vertex_tile(graph, v, tile);
  pop_graph_connect(graph, v, "n", n);
  pop_graph_set_field_int(graph, v, "rounds", rounds);
  return pop_program_execute(graph, set, NULL); /* it has the name of its compute set */
}

/* "main": a stream copy "in" to tile 1, then "outer" `times` times. "outer" is "inner", work on
 * tile 1, and then work on tile 2. */
static pop_engine *start(const pop_option *options, size_t num_options, uint32_t times)
{
  pop_graph *graph = new_graph_with_tiles(TILES);
  pop_graph_add_codelets_source(graph, "c", codelets, "count.c", NULL);
  pop_tensor x = pop_graph_add_variable(graph, POP_INT, NULL, 0, "x");
  pop_graph_set_tile_mapping(graph, x, 1);
  pop_stream in = pop_graph_add_host_to_device_fifo(graph, "in", POP_INT, 1);
  pop_program both = pop_program_sequence(graph, "both"),
              main = pop_program_sequence(graph, "main");
  pop_sequence_add(both, pop_program_block(graph, count_on(graph, 1, 50, "long"), "inner"));
  pop_sequence_add(both, count_on(graph, 2, 3, "short"));
  pop_sequence_add(main, pop_program_copy_from_stream(in, x, "in"));
  pop_sequence_add(
      main, pop_program_repeat(graph, times, pop_program_block(graph, both, "outer"), "often"));
  assert_no_error(graph);
  pop_engine *engine;
  expect_ok(pop_engine_create(graph, &main, 1, options, num_options, &engine));
  pop_graph_free(graph);
  static int zero;
  expect_ok(pop_engine_load(engine));
  expect_ok(pop_engine_connect_stream(engine, "in", &zero, &zero + 1));
  expect_ok(pop_engine_run(engine, 0));
  return engine;
}

static const timed_blocks *blocks_of(const pop_engine *engine)
{
  cr_assert_not_null(engine->profile);
  return &execution_profile_get(engine->profile)->timed;
}

static size_t count(const timed_blocks *t, timed_block_kind kind, uint32_t tile, const char *name)
{
  size_t found = 0;
  for (size_t i = 0; i < t->num_blocks; i++)
    found += t->blocks[i].kind == kind && t->blocks[i].tile == tile &&
             (!name || strcmp(timed_block_name(t->executable, &t->blocks[i]), name) == 0);
  return found;
}

Test(timed_blocks, chosen_tiles_time_the_blocks_that_the_filter_names)
{
  const pop_option options[] = {{"profiler.blocks.filter", "^(in|out)ner$|outer"},
                                {"profiler.blocks.tile", "0,1"}};
  pop_engine *engine = start(options, 2, 3);
  const timed_blocks *t = blocks_of(engine);
  cr_assert_eq(count(t, TIMED_COMMON, 0, NULL) + count(t, TIMED_COMMON, 1, NULL), 2 * 3 * 2);
  cr_assert_eq(count(t, TIMED_COMMON, 1, "inner"), 3);
  cr_assert_eq(count(t, TIMED_COMMON, 0, "outer"), 3);
  for (size_t i = 0; i < t->num_blocks; i++) {
    const timed_block *b = &t->blocks[i];
    cr_assert(b->has_end && b->from < b->to && b->to <= pop_engine_cycles(engine));
    bool works = b->tile == 1 && strcmp(timed_block_name(t->executable, b), "inner") == 0;
    if (works) cr_assert_gt(b->to - b->from, 50 * 4 * SLOT);    /* load, add, store, branch */
    if (b->tile == 0) cr_assert_lt(b->to - b->from, 60 * SLOT); /* only marks */
  }
  /* Inner blocks end first, and lie inside the outer ones. */
  const timed_block *first = t->blocks;
  while (first->kind != TIMED_COMMON) first++; /* after the stream copy */
  cr_assert_str_eq(timed_block_name(t->executable, first), "inner");
  cr_assert_lt(first[1].from, first->from);
  cr_assert_gt(first[1].to, first->to);
  pop_engine_free(engine);
}

Test(timed_blocks, programs_become_blocks_by_their_names)
{
  const pop_option options[] = {{"profiler.programs.filter", "^(long|often|main)$"}};
  pop_engine *engine = start(options, 1, 2);
  const timed_blocks *t = blocks_of(engine);
  cr_assert_eq(count(t, TIMED_COMMON, 0, "long"), 2);
  cr_assert_eq(count(t, TIMED_COMMON, 0, "often"), 1);
  cr_assert_eq(count(t, TIMED_COMMON, 0, "main"), 1);
  cr_assert_eq(t->num_blocks, 4 + 3); /* with the phases of the stream copy */
  pop_engine_free(engine);
}

/* 64 bytes hold eight marks, and each pass makes four. */
static const pop_option small[] = {{"profiler.blocks.filter", "."},
                                   {"profiler.blocks.bufferSize", "64"},
                                   {"profiler.blocks.implicitFlush", "true"}};

Test(timed_blocks, full_buffers_are_flushed_in_between_and_nothing_is_lost)
{
  pop_engine *engine = start(small, 3, 100);
  const timed_blocks *t = blocks_of(engine);
  cr_assert_eq(count(t, TIMED_COMMON, 0, "inner"), 100);
  cr_assert_eq(count(t, TIMED_COMMON, 0, "outer"), 100);
  cr_assert_eq(count(t, TIMED_OVERFLOW, 0, NULL) + count(t, TIMED_UNKNOWN, 0, NULL), 0);
  cr_assert_gt(count(t, TIMED_FLUSH, 0, NULL), 50);
  for (size_t i = 0; i < t->num_blocks; i++) cr_assert(t->blocks[i].has_end);
  pop_engine_free(engine);
}

/* Each end of a block finds its beginning, however many there were before. A linear search would
 * exceed the test's time limit. */
Test(timed_blocks, there_may_be_many)
{
  enum { MANY = 150000 };
  const pop_option options[] = {{"profiler.blocks.filter", "."},
                                {"profiler.blocks.bufferSize", "65536"}};
  pop_engine *engine = start(options, 2, MANY);
  cr_assert_eq(count(blocks_of(engine), TIMED_COMMON, 0, "outer"), MANY);
  pop_engine_free(engine);
}

Test(timed_blocks, large_buffers_are_flushed_seldom_and_none_is_flushed_without_need)
{
  const pop_option options[] = {{"profiler.blocks.filter", "."},
                                {"profiler.blocks.bufferSize", "1000"}};
  pop_engine *engine = start(options, 2, 100);
  const timed_blocks *t = blocks_of(engine);
  cr_assert_eq(count(t, TIMED_COMMON, 0, "outer"), 100);
  size_t flushes = count(t, TIMED_FLUSH, 0, NULL);
  cr_assert(flushes > 0 && flushes <= 4, "%zu", flushes); /* 400 marks, at most 125 at a time */
  pop_engine_free(engine);
  engine = start(options, 2, 20);
  cr_assert_eq(count(blocks_of(engine), TIMED_FLUSH, 0, NULL), 0);
  pop_engine_free(engine);
}

Test(timed_blocks, without_flushes_buffers_overflow_and_say_so)
{
  pop_option options[3];
  memcpy(options, small, sizeof options);
  options[2].value = "false";
  pop_engine *engine = start(options, 3, 100);
  const timed_blocks *t = blocks_of(engine);
  cr_assert_eq(count(t, TIMED_COMMON, 0, NULL), 4);
  cr_assert_eq(count(t, TIMED_OVERFLOW, 0, NULL), 1);
  cr_assert_eq(count(t, TIMED_FLUSH, 0, NULL), 0);
  pop_engine_free(engine);
}

/* A block that is open when the buffer is full has no end. An end without a recorded beginning has
 * an unknown beginning. */
Test(timed_blocks, what_begins_or_ends_in_an_overflow_is_shown_as_that)
{
  pop_executable *e = executable_new();
  const char *name = "b";
  pop_push(e->blocks, e->num_blocks, e->blocks_capacity, name);
  pop_push(e->blocks, e->num_blocks, e->blocks_capacity, name);
  timed_blocks t = {.executable = e};
  const executable_measure buffer = {.kind = MEASURE_BLOCKS, .tile = 7, .words = 8};
  /* Blocks 0 and 1 begin. There is room for three marks. The counter has wrapped meanwhile. */
  timed_blocks_take(&t, &buffer,
                    (uint32_t[]){2, 0xfffffff0u, 2 * MARK_OF_BLOCK(0), 0xffffff00u,
                                 2 * MARK_OF_BLOCK(1), 0xffffff80u, 0, 0},
                    0x500000010);
  cr_assert_eq(t.num_blocks, 1);
  cr_assert(t.blocks[0].kind == TIMED_OVERFLOW && t.blocks[0].from == 0x4fffffff0 &&
            t.blocks[0].to == 0x500000010);
  /* Block 0 ends, so block 1 has ended too. Then comes an end without a recorded beginning. */
  timed_blocks_take(
      &t, &buffer,
      (uint32_t[]){2, 0, 2 * MARK_OF_BLOCK(0) + 1, 0x20, 2 * MARK_OF_BLOCK(1) + 1, 0x30, 0, 0},
      0x500000040);
  cr_assert_eq(t.num_blocks, 4);
  cr_assert(t.blocks[1].kind == TIMED_COMMON && t.blocks[1].index == 1 && !t.blocks[1].has_end &&
            t.blocks[1].from == 0x4ffffff80);
  cr_assert(t.blocks[2].index == 0 && t.blocks[2].has_end && t.blocks[2].from == 0x4ffffff00 &&
            t.blocks[2].to == 0x500000020);
  cr_assert(t.blocks[3].kind == TIMED_UNKNOWN && t.blocks[3].from == 0x4fffffff0 &&
            t.blocks[3].to == 0x500000030);
  timed_blocks_free(&t);
  pop_executable_free(e);
}

static const timed_block *find(const timed_blocks *t, timed_block_kind kind, uint32_t tile)
{
  for (size_t i = 0; i < t->num_blocks; i++)
    if (t->blocks[i].kind == kind && t->blocks[i].tile == tile) return &t->blocks[i];
  return NULL;
}

Test(timed_blocks, stream_copies_are_three_blocks_one_behind_the_other)
{
  const pop_option options[] = {{"profiler.blocks.filter", "outer"},
                                {"profiler.blocks.tile", "0,1"},
                                {"debug.instrumentExternalExchange", "true"}};
  pop_engine *engine = start(options, 3, 1);
  const timed_blocks *t = blocks_of(engine);
  const timed_block *begin = find(t, TIMED_STREAM_BEGIN, 1), *mid = find(t, TIMED_STREAM_MID, 1),
                    *end = find(t, TIMED_STREAM_END, 1);
  cr_assert_not_null(begin);
  cr_assert_not_null(mid);
  cr_assert_not_null(end);
  cr_assert_str_eq(timed_block_name(t->executable, begin), "in");
  cr_assert_str_eq(timed_block_name(t->executable, end), "in");
  cr_assert(begin->from < begin->to && begin->to == mid->from && mid->from < mid->to &&
            mid->to == end->from && end->from < end->to);
  cr_assert(begin->has_end && mid->has_end && end->has_end);
  cr_assert_null(find(t, TIMED_STREAM_BEGIN, 0));
  pop_profile *profile;
  expect_ok(pop_engine_execution_profile(engine, &profile));
  /* The exchange has the cycles that the tile measured for the execution profile. */
  pop_profile_value of_tile = pop_profile_at(
      pop_profile_at(pop_profile_find(pop_profile_root(profile), "hostExchangeCycles"), 0), 1);
  const executable_measure *m = &t->executable->measures[0];
  while (m->kind != MEASURE_HOST_EXCHANGE || m->tile != 1) m++;
  cr_assert_eq(pop_profile_as_int(of_tile), (int64_t)(mid->to - mid->from) - m->overhead);
  pop_profile_value tiles = pop_profile_find(pop_profile_root(profile), "lightweightProfile.tiles");
  cr_assert_eq(pop_profile_count(tiles), 2);
  pop_profile_value value = pop_profile_at(pop_profile_get(pop_profile_at(tiles, 1), "blocks"), 1);
  cr_assert_str_eq(pop_profile_as_string(pop_profile_get(value, "type")), "StreamCopyMid");
  cr_assert_str_eq(pop_profile_as_string(pop_profile_get(value, "category")), "Host");
  cr_assert_eq(pop_profile_as_int(pop_profile_at(pop_profile_get(value, "tiles"), 0)), 1);
  pop_profile_free(profile);
  pop_engine_free(engine);
}

/* Tile 2 is chosen, and the stream goes to tile 1. That tile gets a buffer too, for the stream copy
 * only. */
Test(timed_blocks, a_stream_copy_is_timed_also_if_no_chosen_tile_takes_part)
{
  const pop_option options[] = {{"profiler.blocks.filter", "."},
                                {"profiler.blocks.tile", "2"},
                                {"debug.instrumentExternalExchange", "true"}};
  for (size_t num_options = 2; num_options <= 3; num_options++) {
    pop_engine *engine = start(options, num_options, 2);
    const timed_blocks *t = blocks_of(engine);
    cr_assert_eq(count(t, TIMED_COMMON, 2, NULL), 4);
    cr_assert_eq(count(t, TIMED_COMMON, 1, NULL) + count(t, TIMED_COMMON, 0, NULL), 0);
    cr_assert_eq(count(t, TIMED_STREAM_MID, 1, "in"), 1);
    cr_assert_eq(count(t, TIMED_STREAM_END, 1, "in"), 1);
    cr_assert_eq(t->num_blocks, 7);
    size_t buffers = 0;
    for (size_t i = 0; i < engine->executable->num_measures; i++)
      buffers += engine->executable->measures[i].kind == MEASURE_BLOCKS;
    cr_assert_eq(buffers, 2);
    /* All tiles measure exchanges if requested, otherwise only the tile that times the stream
     * copy. */
    size_t measured = 0;
    for (size_t i = 0; i < engine->executable->num_measures; i++)
      measured += engine->executable->measures[i].kind == MEASURE_HOST_EXCHANGE;
    cr_assert_eq(measured, 1);
    pop_engine_free(engine);
  }
}

/* Eight marks, of which a stream copy leaves three. Full buffers are flushed in time. */
Test(timed_blocks, stream_copies_fill_buffers_as_far_as_the_compiler_thinks)
{
  const pop_option options[] = {{"profiler.blocks.filter", "outer"},
                                {"profiler.blocks.tile", "1"},
                                {"profiler.blocks.bufferSize", "64"},
                                {"debug.instrumentExternalExchange", "true"}};
  for (uint32_t times = 1; times <= 11; times += 2) {
    pop_engine *engine = start(options, 4, times);
    const timed_blocks *t = blocks_of(engine);
    cr_assert_eq(count(t, TIMED_COMMON, 1, "outer"), times);
    cr_assert_eq(count(t, TIMED_STREAM_END, 1, NULL), 1);
    cr_assert_eq(count(t, TIMED_OVERFLOW, 1, NULL) + count(t, TIMED_UNKNOWN, 1, NULL), 0,
                 "%u times", times);
    cr_assert_eq(count(t, TIMED_FLUSH, 1, NULL) > 0, times > 2);
    pop_engine_free(engine);
  }
}

/* One number is a tile on each IPU. An IPU times the blocks that it takes part in. */
Test(timed_blocks, chosen_tiles_are_those_of_each_IPU_that_takes_part)
{
  pop_target target;
  expect_ok(pop_target_create("ipu2", 2, &target));
  target.tiles_per_ipu = 2;
  pop_graph *graph = pop_graph_create(&target);
  pop_graph_add_codelets_source(graph, "c", codelets, "count.c", NULL);
  pop_program on_0 = pop_program_block(graph, count_on(graph, 0, 50, "work"), "first"),
              on_1 = pop_program_block(graph, count_on(graph, 3, 50, "work"), "second"),
              both = pop_program_sequence(graph, "both"),
              main = pop_program_sequence(graph, "main");
  pop_sequence_add(both, on_0);
  pop_sequence_add(both, on_1);
  pop_function twice = pop_graph_add_function(graph, both);
  pop_sequence_add(main, pop_program_call(twice, NULL));
  pop_sequence_add(main, pop_program_block(graph, pop_program_call(twice, NULL), "all"));
  pop_sequence_add(main, pop_program_block(
                             graph, pop_program_sync(graph, POP_SYNC_INTERNAL, "sync"), "nothing"));
  const pop_option options[] = {{"profiler.blocks.filter", "."}, {"profiler.blocks.tile", "1"}};
  pop_engine *engine;
  expect_ok(pop_engine_create(graph, &main, 1, options, 2, &engine));
  pop_graph_free(graph);
  expect_ok(pop_engine_load(engine));
  expect_ok(pop_engine_run(engine, 0));
  const timed_blocks *t = blocks_of(engine);
  static const struct {
    const char *name;
    size_t on_first, on_second;
  } expected[] = {{"first", 2, 0}, {"second", 0, 2}, {"all", 1, 1}, {"nothing", 1, 1}};
  for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
    cr_assert_eq(count(t, TIMED_COMMON, 1, expected[i].name), expected[i].on_first, "%s",
                 expected[i].name);
    cr_assert_eq(count(t, TIMED_COMMON, 3, expected[i].name), expected[i].on_second, "%s",
                 expected[i].name);
  }
  const timed_block *work = find(t, TIMED_COMMON, 3), *nothing = find(t, TIMED_COMMON, 1);
  cr_assert_not_null(work);
  cr_assert_not_null(nothing);
  cr_assert_gt(work->to - work->from, 50 * 4 * SLOT);
  cr_assert_lt(nothing->to - nothing->from, 50 * SLOT); /* tile 1 waits for no other */
  pop_engine_free(engine);
}

/* More IPUs than a word has bits: in a word of 64 bits, IPU 100 would be 36. */
Test(timed_blocks, only_the_IPUs_of_a_block_time_it_however_many_there_are)
{
  pop_target target;
  expect_ok(pop_target_create("ipu2", POP_TARGET_MAX_IPUS, &target));
  target.tiles_per_ipu = 1;
  pop_graph *graph = pop_graph_create(&target);
  pop_graph_add_codelets_source(graph, "c", codelets, "count.c", NULL);
  pop_program main = count_on(graph, 100, 5, "far");
  const pop_option options[] = {{"profiler.programs.filter", "^far$"},
                                {"debug.instrument", "true"}};
  pop_engine *engine;
  assert_no_error(graph);
  expect_ok(pop_engine_create(graph, &main, 1, options, 2, &engine));
  pop_graph_free(graph);
  expect_ok(pop_engine_load(engine));
  expect_ok(pop_engine_run(engine, 0));
  const timed_blocks *t = blocks_of(engine);
  cr_assert_eq(t->num_blocks, 1);
  cr_assert_eq(count(t, TIMED_COMMON, 100, "far"), 1);
  char *text;
  size_t size;
  FILE *stream = open_memstream(&text, &size);
  expect_ok(pop_engine_write_trace_events(engine, stream));
  fclose(stream);
  static const char *const names[] = {"IPU 999", "IPU 1023", "IPU 0, blocks", "IPU 100, blocks"};
  json_t *root = json_loads(text, 0, NULL), *event;
  json_int_t processes[4] = {0};
  size_t index;
  json_array_foreach(json_object_get(root, "traceEvents"), index, event)
  {
    const char *name = json_string_value(json_object_get(json_object_get(event, "args"), "name"));
    for (int i = 0; i < 4 && name; i++)
      if (strcmp(name, names[i]) == 0)
        processes[i] = json_integer_value(json_object_get(event, "pid"));
  }
  for (int i = 0; i < 4; i++)
    for (int j = 0; j < 4; j++)
      cr_assert(processes[i] && (i == j || processes[i] != processes[j]), "%s", names[i]);
  json_decref(root);
  free(text);
  pop_engine_free(engine);
}

Test(timed_blocks, options_that_cannot_be_are_refused)
{
  static const struct {
    const char *key, *value, *words;
  } wrong[] = {{"profiler.blocks.filter", "a(", "no extended regular expression"},
               {"profiler.blocks.tile", "0,3", "names tile 3: each IPU has the tiles 0 to 2"},
               {"profiler.blocks.tile", "1,", "numbers of tiles with commas"},
               {"profiler.blocks.tile", "", "numbers of tiles with commas"},
               {"profiler.blocks.bufferSize", "32", "cannot be '32'"}};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    pop_graph *graph = new_graph_with_tiles(TILES);
    pop_program main = pop_program_sequence(graph, "main");
    const pop_option options[] = {{"profiler.programs.filter", "."},
                                  {wrong[i].key, wrong[i].value}};
    pop_engine *engine;
    expect_error(pop_engine_create(graph, &main, 1, options, 2, &engine), POP_ERROR_INVALID_OPTION,
                 wrong[i].words, wrong[i].value);
    pop_graph_free(graph);
  }
}
