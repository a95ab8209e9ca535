/* Streams as a host program sees them: circular buffers, callbacks, and calls that give errors.
 * random.c copies random tensors through streams. */
#include "support/expect.h"
#include "support/graph_test.h"

#include <populus/executable.h>
#include <populus/populus.h>

enum { NUM_TILES = 6, COUNT = 12 };

typedef struct looping {
  pop_graph *graph;
  pop_engine *engine;
} looping;

/* Streams through a variable that is spread over the tiles: data come in by `in` and go out
 * unchanged by `out`, `rounds` times in a run. */
static looping start(uint32_t rounds, const pop_option *options, size_t num_options)
{
  looping l = {.graph = new_graph_with_tiles(NUM_TILES)};
  const size_t shape[] = {3, 4};
  pop_tensor v = pop_graph_add_variable(l.graph, POP_INT, shape, 2, "v");
  for (size_t column = 0; column < 4; column++)
    pop_graph_set_tile_mapping(l.graph, pop_tensor_slice(v, column, column + 1, 1), 5 - column);
  pop_stream in = pop_graph_add_host_to_device_fifo(l.graph, "in", POP_INT, COUNT);
  pop_stream out = pop_graph_add_device_to_host_fifo(l.graph, "out", POP_INT, COUNT);
  pop_graph_add_host_to_device_fifo(l.graph, "unused", POP_HALF, 5);
  pop_program body = pop_program_sequence(l.graph, "body");
  pop_sequence_add(body, pop_program_copy_from_stream(in, v, "in"));
  pop_sequence_add(body, pop_program_copy_to_stream(v, out, "out"));
  pop_program main = pop_program_repeat(l.graph, rounds, body, "main");
  assert_no_error(l.graph);
  expect_ok(pop_engine_create(l.graph, &main, 1, options, num_options, &l.engine));
  expect_ok(pop_engine_load(l.engine));
  return l;
}

static void end(looping *l)
{
  pop_engine_free(l->engine);
  pop_graph_free(l->graph);
}

TEST_ON_EACH_DEVICE(engine_streams, buffers_are_gone_through_in_a_circle)
{
  looping l = start(2, NULL, 0);
  int in[3 * COUNT], out[2 * COUNT] = {0};
  for (int i = 0; i < 3 * COUNT; i++) in[i] = i;
  expect_ok(pop_engine_connect_stream(l.engine, "in", in, in + 3 * COUNT));
  expect_ok(pop_engine_connect_stream(l.engine, "out", out, out + 2 * COUNT));
  for (int run = 0; run < 3; run++) {
    expect_ok(pop_engine_run(l.engine, 0));
    for (int i = 0; i < 2 * COUNT; i++)
      cr_assert_eq(out[i], in[(2 * run * COUNT + i) % (3 * COUNT)], "run %d, element %d", run, i);
  }
  expect_ok(pop_engine_load(l.engine)); /* starts from the beginning */
  expect_ok(pop_engine_run(l.engine, 0));
  cr_assert_arr_eq(out, in, sizeof out);
  expect_ok(pop_engine_connect_stream(l.engine, "in", in + COUNT, in + 2 * COUNT));
  expect_ok(pop_engine_run(l.engine, 0));
  cr_assert_arr_eq(out + COUNT, in + COUNT, sizeof out / 2);
  end(&l);
}

static int never(void *context, void *data)
{
  (void)context, (void)data;
  cr_assert_fail("a copy of nothing asks for data");
  return 1;
}

/* With and without a connected stream, and from an archive. */
TEST_ON_EACH_DEVICE(engine_streams, copies_of_no_elements_do_nothing)
{
  static const size_t shape[] = {0, 3};
  pop_graph *g = new_graph_with_tiles(NUM_TILES);
  pop_tensor v = pop_graph_add_variable(g, POP_FLOAT, shape, 2, "v");
  pop_stream in = pop_graph_add_host_to_device_fifo(g, "in", POP_FLOAT, 0);
  pop_stream out = pop_graph_add_device_to_host_fifo(g, "out", POP_FLOAT, 0);
  pop_program both[] = {pop_program_sequence(g, "both")};
  pop_sequence_add(both[0], pop_program_copy_from_stream(in, v, "in"));
  pop_sequence_add(both[0], pop_program_copy_to_stream(v, out, "out"));
  pop_executable *compiled, *loaded;
  expect_ok(pop_compile_graph(g, both, 1, NULL, 0, &compiled));
  pop_engine *engine;
  expect_ok(pop_engine_create_from_executable(compiled, NULL, 0, &engine));
  expect_ok(pop_engine_load(engine));
  expect_ok(pop_engine_run(engine, 0));
  const pop_stream_callback callback = {.fetch = never};
  float nowhere[1];
  expect_ok(pop_engine_connect_stream_callback(engine, "in", &callback));
  expect_ok(pop_engine_connect_stream(engine, "out", nowhere, nowhere));
  expect_ok(pop_engine_connect_stream(engine, "out", NULL, NULL));
  expect_error(pop_engine_connect_stream(engine, "out", nowhere, nowhere + 1),
               POP_ERROR_STREAM_CONNECTION, "'out' is connected to 4 bytes", "0 elements");
  expect_ok(pop_engine_run(engine, 0));
  pop_engine_free(engine);
  if (pop_graph_get_target(g)->type != POP_TARGET_CPU) {
    expect_ok(pop_executable_save(compiled, "nothing.a"));
    expect_ok(pop_executable_load("nothing.a", &loaded));
    pop_executable_free(loaded);
  }
  pop_executable_free(compiled);
  pop_graph_free(g);
}

/* The cost of a column-wise mapping: a packet for each tile, and its instructions. */
Test(engine_streams, regular_rows_are_one_packet)
{
  looping l = start(1, NULL, 0);
  for (uint32_t tile = 0; tile < NUM_TILES; tile++) {
    pop_tile_memory m;
    expect_ok(pop_engine_tile_memory(l.engine, tile, &m));
    const uint32_t takes_part = tile >= 2;
    cr_assert_eq(m.not_overlapped[POP_MEMORY_HOST_EXCHANGE_PACKET_HEADER][0], 2 * 24 * takes_part);
    cr_assert_eq(m.not_overlapped[POP_MEMORY_HOST_EXCHANGE_CODE][0], 2 * 8 * takes_part);
  }
  end(&l);
}

/* ---- callbacks ---- */

typedef struct source {
  int next, fetched, prefetched, invalidated, completed;
  bool has_early; /* prefetch can do it */
  int fail_at;    /* the number of the fetch that fails; -1: none */
} source;

static void fill(source *s, int *data)
{
  for (int i = 0; i < COUNT; i++) data[i] = s->next++;
}
static int fetch(void *context, void *data)
{
  source *s = context;
  if (s->fetched++ == s->fail_at) return 7;
  fill(s, data);
  return 0;
}
static bool prefetch(void *context, void *data)
{
  source *s = context;
  if (!s->has_early) return false;
  s->prefetched++;
  fill(s, data);
  return true;
}
static void invalidate(void *context)
{
  ((source *)context)->invalidated++;
}
static void complete(void *context)
{
  ((source *)context)->completed++;
}

typedef struct sink {
  int data[16 * COUNT];
  size_t count;
} sink;

static int take(void *context, void *data)
{
  sink *s = context;
  memcpy(s->data + s->count, data, COUNT * sizeof(int));
  s->count += COUNT;
  return 0;
}

static void connect(looping *l, source *from, sink *to)
{
  pop_stream_callback in = {fetch, prefetch, invalidate, complete, from};
  pop_stream_callback out = {.fetch = take, .context = to};
  expect_ok(pop_engine_connect_stream_callback(l->engine, "in", &in));
  expect_ok(pop_engine_connect_stream_callback(l->engine, "out", &out));
}

TEST_ON_EACH_DEVICE(engine_streams, callbacks_fetch_prefetch_and_complete)
{
  for (int way = 0; way < 3; way++) { /* prefetch: none, failing, working */
    const pop_option options[] = {{"exchange.enablePrefetch", way ? "true" : "false"}};
    looping l = start(3, options, 1);
    source from = {.fail_at = -1, .has_early = way != 1};
    sink to = {.count = 0};
    connect(&l, &from, &to);
    for (int run = 0; run < 2; run++) expect_ok(pop_engine_run(l.engine, 0));
    cr_assert_eq(to.count, 6 * COUNT);
    for (int i = 0; i < 6 * COUNT; i++) cr_assert_eq(to.data[i], i, "way %d, element %d", way, i);
    cr_assert_eq(from.fetched, way == 2 ? 1 : 6);
    cr_assert_eq(from.prefetched, way == 2 ? 6 : 0);
    cr_assert_eq(from.completed, 6);
    cr_assert_eq(from.invalidated, 0);
    expect_ok(pop_engine_load(l.engine));
    cr_assert_eq(from.invalidated, way == 2, "what was prefetched last is not used");
    end(&l);
    cr_assert_eq(from.invalidated, way == 2);
  }
}

/* A host program that continues with its next data when the last ones were taken. */
static int fill_with_number(void *context, void *data)
{
  memcpy(data, context, sizeof(int));
  return 0;
}

static void go_on(void *context)
{
  ++*(int *)context;
}

/* Each copy is completed before the data of the next one are fetched, also if copies in sequence
 * are one exchange. */
TEST_ON_EACH_DEVICE(engine_streams, a_copy_is_completed_before_the_next_is_fetched)
{
  enum { COPIES = 3 };
  const size_t count = COPIES;
  pop_graph *graph = new_graph_with_tiles(1);
  pop_tensor v = pop_graph_add_variable(graph, POP_INT, &count, 1, "v");
  pop_graph_set_tile_mapping(graph, v, 0);
  pop_graph_create_host_read(graph, "v", v);
  pop_stream in = pop_graph_add_host_to_device_fifo(graph, "in", POP_INT, 1);
  pop_program main = pop_program_sequence(graph, "main");
  for (size_t i = 0; i < COPIES; i++)
    pop_sequence_add(main,
                     pop_program_copy_from_stream(in, pop_tensor_slice(v, i, i + 1, 0), "in"));
  assert_no_error(graph);
  looping l = {.graph = graph};
  expect_ok(pop_engine_create(graph, &main, 1, NULL, 0, &l.engine));
  expect_ok(pop_engine_load(l.engine));
  int number = 0, found[COPIES];
  pop_stream_callback callback = {.fetch = fill_with_number, .complete = go_on, .context = &number};
  expect_ok(pop_engine_connect_stream_callback(l.engine, "in", &callback));
  for (int run = 0; run < 2; run++) {
    expect_ok(pop_engine_run(l.engine, 0));
    expect_ok(pop_engine_read_tensor(l.engine, "v", found, sizeof found));
    for (int i = 0; i < COPIES; i++) cr_assert_eq(found[i], COPIES * run + i, "copy %d", i);
    cr_assert_eq(number, COPIES * (run + 1));
  }
  end(&l);
}

/* Programs that want prefetching only state that streams share no buffers. */
TEST_ON_EACH_DEVICE(engine_streams, streams_that_share_no_buffers_are_prefetched)
{
  static const struct {
    const char *overlap, *prefetch;
    bool early;
  } cases[] = {{"any", "auto", false},
               {"hostRearrangeOnly", "auto", true},
               {"none", "auto", true},
               {"none", "false", false},
               {"any", "true", true}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const pop_option options[] = {{"exchange.streamBufferOverlap", cases[i].overlap},
                                  {"exchange.enablePrefetch", cases[i].prefetch}};
    /* The option "auto" is the default. */
    looping l = start(3, options, strcmp(cases[i].prefetch, "auto") == 0 ? 1 : 2);
    source from = {.fail_at = -1, .has_early = true};
    sink to = {.count = 0};
    connect(&l, &from, &to);
    expect_ok(pop_engine_run(l.engine, 0));
    cr_assert_eq(from.prefetched, cases[i].early ? 3 : 0, "%s, %s", cases[i].overlap,
                 cases[i].prefetch);
    end(&l);
  }
  looping l = start(3, NULL, 0);
  source from = {.fail_at = -1, .has_early = true};
  sink to = {.count = 0};
  connect(&l, &from, &to);
  expect_ok(pop_engine_run(l.engine, 0));
  cr_assert_eq(from.prefetched, 0, "by default nothing is asked early");
  end(&l);
}

/* One copy in and one out. Three copies may be prefetched. */
static looping start_deep(const pop_option *options, size_t num_options)
{
  pop_graph *graph = new_graph_with_tiles(1);
  const size_t count = COUNT;
  pop_tensor v = pop_graph_add_variable(graph, POP_INT, &count, 1, "v");
  pop_graph_set_tile_mapping(graph, v, 0);
  pop_stream in = pop_graph_add_host_to_device_fifo(graph, "in", POP_INT, COUNT);
  pop_stream out = pop_graph_add_device_to_host_fifo(graph, "out", POP_INT, COUNT);
  pop_stream_set_option(in, "bufferingDepth", "3");
  pop_program main = pop_program_sequence(graph, "main");
  pop_sequence_add(main, pop_program_copy_from_stream(in, v, "in"));
  pop_sequence_add(main, pop_program_copy_to_stream(v, out, "out"));
  assert_no_error(graph);
  looping l = {.graph = graph};
  expect_ok(pop_engine_create(graph, &main, 1, options, num_options, &l.engine));
  expect_ok(pop_engine_load(l.engine));
  return l;
}

TEST_ON_EACH_DEVICE(engine_streams, the_engine_may_allow_fewer_copies_ahead)
{
  static const char *const lookahead[] = {"unlimited", "2", "1", "9"};
  static const int expected[] = {3, 2, 1, 3};
  for (int i = 0; i < 4; i++) {
    const pop_option options[] = {{"exchange.enablePrefetch", "true"},
                                  {"streamCallbacks.maxLookahead", lookahead[i]}};
    looping l = start_deep(options, 2);
    source from = {.fail_at = -1, .has_early = true};
    sink to = {.count = 0};
    connect(&l, &from, &to);
    for (int run = 0; run < 3; run++) {
      expect_ok(pop_engine_run(l.engine, 0));
      cr_assert_eq(from.prefetched, expected[i] + run, "%s", lookahead[i]);
    }
    for (int j = 0; j < 3 * COUNT; j++) cr_assert_eq(to.data[j], j, "element %d", j);
    end(&l);
  }
}

/* Three copies may be prefetched. They are taken in order, and discarded together. */
TEST_ON_EACH_DEVICE(engine_streams, as_many_copies_are_prefetched_as_the_buffering_depth_says)
{
  const pop_option option = {"exchange.enablePrefetch", "true"};
  looping l = start_deep(&option, 1);
  source from = {.fail_at = -1, .has_early = true};
  sink to = {.count = 0};
  connect(&l, &from, &to);
  expect_ok(pop_engine_run(l.engine, 0));
  cr_assert_eq(from.fetched, 1);
  cr_assert_eq(from.prefetched, 3);
  from.has_early = false;
  for (int run = 0; run < 4; run++) expect_ok(pop_engine_run(l.engine, 0));
  cr_assert_eq(from.fetched, 2, "the three that were there, then one that is fetched");
  for (int i = 0; i < 5 * COUNT; i++) cr_assert_eq(to.data[i], i, "element %d", i);
  from.has_early = true;
  expect_ok(pop_engine_run(l.engine, 0));
  cr_assert_eq(from.invalidated, 0);
  end(&l);
  cr_assert_eq(from.invalidated, 1);
}

TEST_ON_EACH_DEVICE(engine_streams, a_callback_that_fails_ends_the_run)
{
  looping l = start(3, NULL, 0);
  source from = {.fail_at = 1};
  sink to = {.count = 0};
  connect(&l, &from, &to);
  expect_error(pop_engine_run(l.engine, 0), POP_ERROR_RUNTIME, "stream 'in' failed with 7", "run");
  cr_assert_eq(to.count, COUNT);
  expect_error(pop_engine_run(l.engine, 0), POP_ERROR_RUNTIME, "pop_engine_load", "again");
  from.fail_at = -1;
  expect_ok(pop_engine_load(l.engine));
  expect_ok(pop_engine_run(l.engine, 0));
  cr_assert_eq(to.count, 4 * COUNT);
  end(&l);
}

/* ---- refused calls ---- */

TEST_ON_EACH_DEVICE(engine_streams, E02_bad_connections_name_the_stream)
{
  looping l = start(1, NULL, 0);
  int data[2 * COUNT];
  pop_stream_callback empty = {.fetch = NULL};
  expect_error(pop_engine_run(l.engine, 0), POP_ERROR_STREAM_CONNECTION,
               "stream 'in' (host to device, 12 elements of type int) is not connected", "run");
  expect_error(pop_engine_connect_stream(l.engine, "inn", data, data + COUNT),
               POP_ERROR_STREAM_CONNECTION, "did you mean 'in'?", "name");
  expect_error(pop_engine_connect_stream(l.engine, NULL, data, data + COUNT),
               POP_ERROR_INVALID_ARGUMENT, "NULL", "no name");
  void *const ends[] = {data, data + 1, data + COUNT - 1, data + COUNT + 1};
  for (size_t i = 0; i < 4; i++)
    expect_error(pop_engine_connect_stream(l.engine, "in", data, ends[i]),
                 POP_ERROR_STREAM_CONNECTION, "a multiple of 48", "size");
  expect_error(pop_engine_connect_stream(l.engine, "in", NULL, NULL), POP_ERROR_STREAM_CONNECTION,
               "'in'", "NULL");
  expect_error(pop_engine_connect_stream_callback(l.engine, "out", &empty),
               POP_ERROR_INVALID_ARGUMENT, "no fetch", "fetch");
  expect_error(pop_engine_connect_stream_callback(l.engine, "out", NULL),
               POP_ERROR_INVALID_ARGUMENT, "is NULL", "callback");
  expect_ok(pop_engine_connect_stream(l.engine, "in", data, data + COUNT));
  expect_ok(pop_engine_load(l.engine));
  expect_error(pop_engine_run(l.engine, 0), POP_ERROR_STREAM_CONNECTION, "stream 'out'", "run");
  expect_error(pop_engine_run(l.engine, 0), POP_ERROR_RUNTIME, "pop_engine_load", "again");
  expect_ok(pop_engine_connect_stream(l.engine, "out", data, data + COUNT));
  expect_ok(pop_engine_load(l.engine));
  expect_ok(pop_engine_run(l.engine, 0)); /* no program uses 'unused' */
  end(&l);
}

/* Copies are split. If splitting is turned off, 128 MiB is the limit. */
Test(engine_streams, E04_more_than_128_MiB_in_one_copy)
{
  enum { TILES = 300, PER_TILE = 449000 };
  for (int way = 0; way < 3; way++) {
    bool too_large = way != 0;
    pop_target target;
    expect_ok(pop_target_create("ipu2", 1, &target));
    target.tiles_per_ipu = TILES;
    pop_graph *graph = pop_graph_create(&target);
    size_t size = POP_STREAM_COPY_MAX_BYTES + (size_t)too_large;
    pop_tensor v = pop_graph_add_variable(graph, POP_UNSIGNED_CHAR, &size, 1, "v");
    pop_graph_map_linearly(graph, v, PER_TILE, 1);
    pop_stream s = pop_graph_add_host_to_device_fifo(graph, "large", POP_UNSIGNED_CHAR, size);
    if (way < 2) pop_stream_set_option(s, "splitLimit", "0");
    pop_program copy = pop_program_copy_from_stream(s, v, "all at once");
    pop_engine *engine = NULL;
    pop_error *error = pop_engine_create(graph, &copy, 1, NULL, 0, &engine);
    if (way == 1)
      expect_error(error, POP_ERROR_CONTROL_PROGRAM, "more than 128 MiB from or to IPU 0", "copy");
    else
      expect_ok(error);
    pop_engine_free(engine);
    pop_graph_free(graph);
  }
}

/* Through an archive: the tiles have the destinations of the data, the metadata
 * describe the streams. */
Test(engine_streams, an_archive_has_its_streams, .init = enter_fresh_folder)
{
  looping l = start(1, NULL, 0);
  expect_ok(pop_engine_save_archive(l.engine, "streams.a"));
  end(&l);
  pop_executable *executable;
  expect_ok(pop_executable_load("streams.a", &executable));
  cr_assert_eq(pop_executable_num_streams(executable), 3);
  static const pop_stream_info expected[] = {
      {"in", true, POP_INT, COUNT, true, false, 1},
      {"out", false, POP_INT, COUNT, true, false, 1},
      {"unused", true, POP_HALF, 5, false, false, 1},
  };
  for (size_t i = 0; i < 3; i++) {
    pop_stream_info info;
    expect_ok(pop_executable_stream(executable, i, &info));
    cr_assert_str_eq(info.name, expected[i].name);
    cr_assert_eq(info.to_device, expected[i].to_device);
    cr_assert_eq(info.type, expected[i].type);
    cr_assert_eq(info.num_elements, expected[i].num_elements);
    cr_assert_eq(info.is_used, expected[i].is_used);
  }
  pop_stream_info info;
  expect_error(pop_executable_stream(executable, 3, &info), POP_ERROR_INDEX, "no stream 3", "info");
  expect_ok(pop_engine_create_from_executable(executable, NULL, 0, &l.engine));
  pop_executable_free(executable);
  expect_ok(pop_engine_load(l.engine));
  int in[COUNT], out[COUNT] = {0};
  for (int i = 0; i < COUNT; i++) in[i] = 100 - i;
  expect_ok(pop_engine_connect_stream(l.engine, "in", in, in + COUNT));
  expect_ok(pop_engine_connect_stream(l.engine, "out", out, out + COUNT));
  expect_ok(pop_engine_run(l.engine, 0));
  cr_assert_arr_eq(in, out, sizeof in);
  pop_engine_free(l.engine);
}

Test(streams, a_huge_broadcast_is_not_a_copy)
{
  const size_t one = 1, many = (size_t)1 << 60;
  pop_graph *graph = new_graph_with_tiles(2);
  pop_tensor t = pop_graph_add_variable(graph, POP_FLOAT, &one, 1, "t");
  pop_graph_set_tile_mapping(graph, t, 0);
  pop_stream stream = pop_graph_add_device_to_host_fifo(graph, "out", POP_FLOAT, many);
  pop_program copy = pop_program_copy_to_stream(pop_tensor_broadcast(t, many, 0), stream, "copy");
  assert_no_error(graph);
  pop_engine *engine;
  expect_error(pop_engine_create(graph, &copy, 1, NULL, 0, &engine), POP_ERROR_TENSOR,
               "1152921504606846976 elements", "2^60 times");
  pop_graph_free(graph);
}
