/* The threads on which stream callbacks run, and which callbacks run at the same time. */
#include "support/expect.h"
#include "support/graph_test.h"

#include <populus/populus.h>
#include <pthread.h>

enum { NUM_STREAMS = 3, COPIES = 4 };

/* A stream's callback that counts its calls. */
typedef struct source {
  pthread_t thread;           /* of the last call */
  pthread_barrier_t *barrier; /* where all callbacks wait for each other; NULL: none waits */
  int next, fail_at;
} source;

static int fetch(void *context, void *data)
{
  source *s = context;
  s->thread = pthread_self();
  if (s->barrier) pthread_barrier_wait(s->barrier);
  *(int *)data = s->next;
  return s->next++ == s->fail_at ? 9 : 0;
}

typedef struct world {
  pop_graph *graph;
  pop_engine *engine;
  source sources[NUM_STREAMS];
} world;

/* Copies from all streams, `copies` times, merged into one host exchange. */
static void start(world *w, const char *mode, const char *threads, int copies)
{
  const pop_option options[] = {{"streamCallbacks.multiThreadMode", mode},
                                {"streamCallbacks.numWorkerThreads", threads}};
  w->graph = new_graph_with_tiles(1);
  pop_program main = pop_program_sequence(w->graph, "main");
  for (int i = 0; i < copies * NUM_STREAMS; i++) {
    char name[16];
    snprintf(name, sizeof name, "%d", i);
    pop_tensor v = pop_graph_add_variable(w->graph, POP_INT, NULL, 0, name);
    pop_graph_set_tile_mapping(w->graph, v, 0);
    pop_graph_create_host_read(w->graph, name, v);
    pop_stream in = {w->graph, (uint32_t)(i % NUM_STREAMS) + 1};
    if (i < NUM_STREAMS) in = pop_graph_add_host_to_device_fifo(w->graph, name, POP_INT, 1);
    pop_sequence_add(main, pop_program_copy_from_stream(in, v, NULL));
  }
  assert_no_error(w->graph);
  expect_ok(pop_engine_create(w->graph, &main, 1, options, 2, &w->engine));
  expect_ok(pop_engine_load(w->engine));
  for (int i = 0; i < NUM_STREAMS; i++) {
    char name[2] = {(char)('0' + i), '\0'};
    w->sources[i] = (source){.thread = pthread_self(), .next = 100 * i, .fail_at = -1};
    const pop_stream_callback callback = {.fetch = fetch, .context = &w->sources[i]};
    expect_ok(pop_engine_connect_stream_callback(w->engine, name, &callback));
  }
}

static void end(world *w)
{
  pop_engine_free(w->engine);
  pop_graph_free(w->graph);
}

static void expect_copies(world *w, int copies, int first)
{
  for (int i = 0; i < copies * NUM_STREAMS; i++) {
    char name[16];
    int value;
    snprintf(name, sizeof name, "%d", i);
    expect_ok(pop_engine_read_tensor(w->engine, name, &value, sizeof value));
    cr_assert_eq(value, 100 * (i % NUM_STREAMS) + i / NUM_STREAMS + first, "copy %d: %d", i, value);
  }
}

/* If several callbacks are wanted at the same time, each waits until all have come. One after the
 * other they would wait for ever. */
Test(callback_threads, those_of_different_streams_run_at_once)
{
  static const struct {
    const char *mode, *threads;
    bool at_once, never_mine;
  } ways[] = {{"singleThread", "0", false, false}, {"singleThread", "3", false, false},
              {"dedicated", "0", false, false},    {"dedicated", "1", false, true},
              {"dedicated", "3", true, true},      {"collaborative", "0", false, false},
              {"collaborative", "2", true, false}, {"collaborative", "auto", false, false}};
  for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
    world w;
    pthread_barrier_t barrier;
    start(&w, ways[i].mode, ways[i].threads, 1);
    cr_assert_eq(pthread_barrier_init(&barrier, NULL, NUM_STREAMS), 0);
    for (int j = 0; ways[i].at_once && j < NUM_STREAMS; j++) w.sources[j].barrier = &barrier;
    for (int run = 0; run < 3; run++) {
      expect_ok(pop_engine_run(w.engine, 0));
      expect_copies(&w, 1, run);
    }
    int mine = 0;
    for (int j = 0; j < NUM_STREAMS; j++)
      mine += pthread_equal(w.sources[j].thread, pthread_self());
    if (ways[i].never_mine) cr_assert_eq(mine, 0, "%s %s", ways[i].mode, ways[i].threads);
    if (ways[i].at_once && !ways[i].never_mine) cr_assert_eq(mine, 1, "%d of them", mine);
    if (strcmp(ways[i].threads, "0") == 0) cr_assert_eq(mine, NUM_STREAMS, "%s", ways[i].mode);
    if (*ways[i].mode == 's') cr_assert_eq(mine, NUM_STREAMS);
    end(&w);
    pthread_barrier_destroy(&barrier);
  }
}

Test(callback_threads, copies_of_one_stream_stay_in_their_order)
{
  world w;
  start(&w, "dedicated", "8", COPIES);
  for (int run = 0; run < 50; run++) {
    expect_ok(pop_engine_run(w.engine, 0));
    expect_copies(&w, COPIES, run * COPIES);
  }
  end(&w);
}

/* All streams share one context, which is not made for several threads. */
Test(callback_threads, those_of_one_context_are_called_in_the_order_of_the_copies)
{
  world w;
  start(&w, "dedicated", "3", COPIES);
  for (int i = 0; i < NUM_STREAMS; i++) {
    char name[2] = {(char)('0' + i), '\0'};
    const pop_stream_callback callback = {.fetch = fetch, .context = &w.sources[0]};
    expect_ok(pop_engine_connect_stream_callback(w.engine, name, &callback));
  }
  for (int run = 0; run < 20; run++) {
    expect_ok(pop_engine_run(w.engine, 0));
    for (int i = 0; i < COPIES * NUM_STREAMS; i++) {
      char name[16];
      int value;
      snprintf(name, sizeof name, "%d", i);
      expect_ok(pop_engine_read_tensor(w.engine, name, &value, sizeof value));
      cr_assert_eq(value, run * COPIES * NUM_STREAMS + i, "copy %d: %d", i, value);
    }
  }
  end(&w);
}

Test(callback_threads, one_that_fails_ends_the_run)
{
  world w;
  start(&w, "dedicated", "2", COPIES);
  w.sources[1].fail_at = 102;
  w.sources[2].fail_at = 200;
  expect_error(pop_engine_run(w.engine, 0), POP_ERROR_RUNTIME,
               "the callback of stream '2' failed with 9", "the first copy that failed");
  cr_assert_eq(w.sources[1].next, 103, "the third copy failed: the fourth is not asked for");
  cr_assert_eq(w.sources[0].next, COPIES);
  for (int i = 0; i < NUM_STREAMS; i++) w.sources[i].next = 100 * i + 10;
  expect_ok(pop_engine_load(w.engine));
  expect_ok(pop_engine_run(w.engine, 0));
  expect_copies(&w, COPIES, 10);
  end(&w);
}
