/* Stream copies that the compiler merges into one host exchange or splits into several. The number
 * of host exchanges is checked, and that the data are the same. */
#include "support/graph_test.h"

#include "engine/engine_private.h"
#include "support/expect.h"
#include <populus/stream.h>

enum { NUM_TILES = 4, COUNT = 12, MAX_STREAMS = 140 };

typedef struct bench {
  pop_graph *graph;
  pop_program main;
  pop_tensor a, b; /* spread over the tiles */
  pop_engine *engine;
} bench;

static bench start(void)
{
  bench x = {.graph = new_graph_with_tiles(NUM_TILES)};
  const size_t count = COUNT;
  x.a = pop_graph_add_variable(x.graph, POP_INT, &count, 1, "a");
  x.b = pop_graph_add_variable(x.graph, POP_INT, &count, 1, "b");
  pop_graph_map_linearly(x.graph, x.a, 3, 1);
  pop_graph_map_linearly(x.graph, x.b, 4, 1);
  pop_graph_create_host_read(x.graph, "a", x.a);
  pop_graph_create_host_read(x.graph, "b", x.b);
  x.main = pop_program_sequence(x.graph, "main");
  return x;
}

static pop_stream in(const bench *x, const char *name)
{
  return pop_graph_add_host_to_device_fifo(x->graph, name, POP_INT, COUNT);
}

static pop_stream out(const bench *x, const char *name)
{
  return pop_graph_add_device_to_host_fifo(x->graph, name, POP_INT, COUNT);
}

static void add_in(const bench *x, pop_stream s, pop_tensor t)
{
  pop_sequence_add(x->main, pop_program_copy_from_stream(s, t, NULL));
}

static void add_out(const bench *x, pop_tensor t, pop_stream s)
{
  pop_sequence_add(x->main, pop_program_copy_to_stream(t, s, NULL));
}

static void load(bench *x)
{
  assert_no_error(x->graph);
  expect_ok(pop_engine_create(x->graph, &x->main, 1, NULL, 0, &x->engine));
  expect_ok(pop_engine_load(x->engine));
}

static void end(bench *x)
{
  pop_engine_free(x->engine);
  pop_graph_free(x->graph);
}

static size_t count_exchanges(const bench *x)
{
  cr_assert_not_null(x->engine);
  const pop_executable *e = x->engine->executable;
  size_t count = 0;
  for (size_t i = 0; i < e->num_events; i++)
    count += e->events[i].kind == EXECUTABLE_EVENT_EXCHANGE;
  return count;
}

static void connect(bench *x, const char *name, int *data, size_t count)
{
  expect_ok(pop_engine_connect_stream(x->engine, name, data, data + count));
}

static void expect_values(bench *x, const char *handle, const int *values)
{
  int found[COUNT];
  expect_ok(pop_engine_read_tensor(x->engine, handle, found, sizeof found));
  cr_assert_arr_eq(found, values, sizeof found, "%s", handle);
}

static void count_up(int *data, size_t count, int from)
{
  for (size_t i = 0; i < count; i++) data[i] = from + (int)i;
}

/* Two copies to the device and two to the host without dependencies. Some are in sequences of their
 * own. */
Test(host_exchanges, copies_side_by_side_are_one_exchange)
{
  uint64_t cycles[2];
  for (int apart = 0; apart < 2; apart++) {
    bench x = start();
    const size_t count = COUNT;
    pop_tensor c = pop_graph_add_constant(x.graph, POP_INT, &count, 1,
                                          (int[COUNT]){1, 2, 3, 4, 5, 6, 7, 8, 9}, "c");
    pop_graph_set_tile_mapping(x.graph, c, 2);
    const pop_program copies[] = {pop_program_copy_from_stream(in(&x, "to a"), x.a, "first"),
                                  pop_program_copy_from_stream(in(&x, "to b"), x.b, "second"),
                                  pop_program_copy_to_stream(c, out(&x, "of c"), "third"),
                                  pop_program_copy_to_stream(c, out(&x, "again"), "fourth")};
    pop_program nested = pop_program_sequence(x.graph, NULL);
    for (int i = 0; i < 4; i++) {
      if (apart) pop_sequence_add(nested, pop_program_block(x.graph, copies[i], "apart"));
      if (!apart) pop_sequence_add(i == 1 ? nested : x.main, copies[i]);
      if (i == 0) pop_sequence_add(x.main, nested);
    }
    load(&x);
    cr_assert_eq(count_exchanges(&x), apart ? 4 : 1);
    if (!apart) cr_assert_str_eq(x.engine->executable->events[0].name, "first+second+third+fourth");
    int to_a[COUNT], to_b[COUNT], of_c[COUNT], again[COUNT];
    count_up(to_a, COUNT, 100);
    count_up(to_b, COUNT, 200);
    connect(&x, "to a", to_a, COUNT);
    connect(&x, "to b", to_b, COUNT);
    connect(&x, "of c", of_c, COUNT);
    connect(&x, "again", again, COUNT);
    uint64_t before = pop_engine_cycles(x.engine);
    expect_ok(pop_engine_run(x.engine, 0));
    cycles[apart] = pop_engine_cycles(x.engine) - before;
    expect_values(&x, "a", to_a);
    expect_values(&x, "b", to_b);
    cr_assert_eq(of_c[8], 9);
    cr_assert_arr_eq(of_c, again, sizeof of_c);
    end(&x);
  }
  cr_assert_gt(cycles[1], cycles[0] + 3 * 118, "three syncs with the host are saved");
}

/* One copy must not touch what another writes, and the host may want to see earlier data
 * before it sends. */
Test(host_exchanges, copies_that_depend_on_each_other_stay_apart)
{
  bench x = start();
  pop_tensor half = pop_tensor_slice(x.a, 3, 4, 0);
  pop_stream in1 = in(&x, "in1"), in2 = in(&x, "in2"), out1 = out(&x, "out1");
  pop_stream one = pop_graph_add_host_to_device_fifo(x.graph, "one", POP_INT, 1);
  add_in(&x, in1, x.a);
  add_in(&x, one, half); /* writes the same elements as the copy before */
  add_out(&x, x.a, out1);
  add_in(&x, in2, x.b); /* follows a copy to the host */
  load(&x);
  cr_assert_eq(count_exchanges(&x), 4);
  int data[3][COUNT], single = -5;
  for (int i = 0; i < 3; i++) count_up(data[i], COUNT, 10 * i);
  connect(&x, "in1", data[0], COUNT);
  connect(&x, "in2", data[2], COUNT);
  connect(&x, "out1", data[2], COUNT); /* the output is the next input */
  connect(&x, "one", &single, 1);
  expect_ok(pop_engine_run(x.engine, 0));
  data[0][3] = single;
  expect_values(&x, "a", data[0]);
  expect_values(&x, "b", data[0]);
  end(&x);
}

/* Merged copies to the same elements, and from elements that another copy writes. */
Test(host_exchanges, streams_that_share_memory_look_as_if_one_came_after_another)
{
  bench x = start();
  pop_tensor reversed = pop_tensor_reverse(x.b, 0);
  add_in(&x, in(&x, "in"), x.a);
  add_out(&x, x.b, out(&x, "out1"));
  add_out(&x, reversed, out(&x, "out2"));
  pop_graph_create_host_write(x.graph, ">b", x.b);
  load(&x);
  cr_assert_eq(count_exchanges(&x), 1);
  int memory[COUNT], in_before[COUNT], of_b[COUNT], expected[COUNT];
  count_up(memory, COUNT, 0);
  count_up(in_before, COUNT, 0);
  count_up(of_b, COUNT, 50);
  for (int i = 0; i < COUNT; i++) expected[i] = of_b[COUNT - 1 - i];
  expect_ok(pop_engine_write_tensor(x.engine, ">b", of_b, sizeof of_b));
  connect(&x, "in", memory, COUNT);
  connect(&x, "out1", memory, COUNT);
  connect(&x, "out2", memory, COUNT);
  expect_ok(pop_engine_run(x.engine, 0));
  expect_values(&x, "a", in_before);
  cr_assert_arr_eq(memory, expected, sizeof expected);
  end(&x);
}

/* The same stream twice in one exchange gives the next elements, and then those after them. */
Test(host_exchanges, copies_of_one_stream_go_on_where_the_last_one_ended)
{
  bench x = start();
  pop_stream s = in(&x, "in"), o = out(&x, "out");
  add_in(&x, s, x.a);
  add_in(&x, s, x.b);
  add_out(&x, x.a, o);
  add_out(&x, x.b, o);
  load(&x);
  cr_assert_eq(count_exchanges(&x), 2, "the tensors that come are those that go");
  int from[3 * COUNT], to[4 * COUNT];
  count_up(from, 3 * COUNT, 1000);
  connect(&x, "in", from, 3 * COUNT);
  connect(&x, "out", to, 4 * COUNT);
  for (int run = 0; run < 2; run++) expect_ok(pop_engine_run(x.engine, 0));
  for (int i = 0; i < 4 * COUNT; i++) cr_assert_eq(to[i], from[i % (3 * COUNT)], "element %d", i);
  end(&x);
}

/* An exchange has at most 128 windows. A copy that is used in two places has code of its own. */
Test(host_exchanges, merging_has_an_end)
{
  bench x = start();
  static int data[MAX_STREAMS][COUNT];
  pop_program shared = pop_program_copy_to_stream(x.a, out(&x, "shared"), "shared");
  for (int i = 0; i < MAX_STREAMS; i++) {
    char name[16];
    snprintf(name, sizeof name, "out %d", i);
    add_out(&x, i % 2 ? x.a : x.b, out(&x, name));
  }
  pop_sequence_add(x.main, shared);
  pop_sequence_add(x.main, shared);
  load(&x);
  cr_assert_eq(count_exchanges(&x), 3);
  cr_assert_eq(x.engine->executable->num_windows, MAX_STREAMS + 1);
  for (int i = 0; i < MAX_STREAMS; i++) {
    char name[16];
    snprintf(name, sizeof name, "out %d", i);
    memset(data[i], 1, sizeof data[i]);
    connect(&x, name, data[i], COUNT);
  }
  int twice[COUNT];
  connect(&x, "shared", twice, COUNT);
  expect_ok(pop_engine_run(x.engine, 0));
  for (int i = 0; i < MAX_STREAMS; i++) cr_assert_eq(data[i][COUNT - 1], 0, "stream %d", i);
  end(&x);
}

/* ---- splitting ---- */

typedef struct counter {
  int calls, data[COUNT];
} counter;

static int fetch(void *context, void *data)
{
  counter *c = context;
  c->calls++;
  memcpy(data, c->data, sizeof c->data);
  return 0;
}
static int take(void *context, void *data)
{
  counter *c = context;
  c->calls++;
  memcpy(c->data, data, sizeof c->data);
  return 0;
}

/* 48 bytes in parts of 20 bytes: three exchanges in each direction. The callbacks see one copy. */
Test(host_exchanges, E04_copies_larger_than_the_split_limit_are_several_exchanges)
{
  for (int callbacks = 0; callbacks < 2; callbacks++) {
    bench x = start();
    pop_stream s = in(&x, "in"), o = out(&x, "out");
    pop_stream_set_option(s, "splitLimit", "22");
    pop_stream_set_option(o, "splitLimit", "20");
    add_in(&x, s, x.a);
    pop_sequence_add(x.main, pop_program_copy(x.a, x.b, "a to b"));
    add_out(&x, x.b, o);
    load(&x);
    cr_assert_eq(count_exchanges(&x), 6);
    counter from = {0}, to = {0};
    count_up(from.data, COUNT, 7);
    if (callbacks) {
      expect_ok(pop_engine_connect_stream_callback(
          x.engine, "in", &(pop_stream_callback){.fetch = fetch, .context = &from}));
      expect_ok(pop_engine_connect_stream_callback(
          x.engine, "out", &(pop_stream_callback){.fetch = take, .context = &to}));
    } else {
      connect(&x, "in", from.data, COUNT);
      connect(&x, "out", to.data, COUNT);
    }
    for (int run = 1; run <= 2; run++) {
      memset(to.data, 0, sizeof to.data);
      expect_ok(pop_engine_run(x.engine, 0));
      cr_assert_eq(from.calls, callbacks * run);
      cr_assert_eq(to.calls, callbacks * run);
      cr_assert_arr_eq(to.data, from.data, sizeof to.data);
    }
    end(&x);
  }
}
