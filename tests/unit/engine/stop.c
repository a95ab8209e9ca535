/* pop_engine_stop: a thread, a signal handler or a callback stops endless runs, on each engine of
 * tile code and on the CPU. Afterwards memory can be read, and the engine runs as before. */
#include "support/graph_test.h"

#include "support/expect.h"
#include <populus/populus.h>
#include <pthread.h>
#include <signal.h>
#include <sys/time.h>
#include <time.h>

enum { COUNT = 8, WAIT_MICROSECONDS = 30000 };
enum { ONCE, VERTEX_LOOP, NESTED_LOOP, PROGRAM_LOOP, CONTROL_LOOP, STREAM_LOOP, NUM_PROGRAMS };

static const char codelets[] =
    "#include <populus/vertex.h>\n"
    "typedef struct { INOUT(VECTOR(int)) x; } Once;\n"
    "COMPUTE(Once) { for (unsigned i = 0; i < vertex->x.size; i++) vertex->x.data[i]++; return "
    "true; }\n"
    "typedef struct { INOUT(VECTOR(int)) x; } Endless;\n"
    "COMPUTE(Endless)\n"
    "{\n"
    "  volatile int *x = vertex->x.data;\n"
    "  while (x[0] != 77) x[1]++;\n"
    "  return true;\n"
    "}\n"
    "typedef struct { INOUT(VECTOR(int)) x; } Nested;\n"
    "COMPUTE(Nested)\n"
    "{\n"
    "  volatile int *end = vertex->x.data;\n"
    "  while (*end != 77)\n"
    "    for (unsigned k = 0; k < 100; k++)\n"
    "      for (unsigned i = 1; i < vertex->x.size; i++) vertex->x.data[i] += i;\n"
    "  return true;\n"
    "}\n";

static pop_engine *engine; /* that signal handlers and threads stop */

typedef struct bench {
  pop_graph *graph;
  pop_tensor x, forever;
  pop_program programs[NUM_PROGRAMS];
} bench;

static pop_program execute(bench *b, const char *type)
{
  pop_compute_set set = pop_graph_add_compute_set(b->graph, type);
  pop_vertex v = pop_graph_add_vertex(b->graph, set, type);
  pop_graph_set_vertex_tile(b->graph, v, 1);
  pop_graph_connect(b->graph, v, "x", b->x);
  return pop_program_execute(b->graph, set, type);
}

static int stop_in_the_third_copy(void *context, void *data)
{
  memset(data, 0, COUNT * sizeof(int));
  if (++*(int *)context == 3) pop_engine_stop(engine);
  return 0;
}

static void build(bench *b, const char *tile_engine)
{
  const size_t count = COUNT, one = 1;
  const int yes = 1;
  b->graph = new_graph_with_tiles(2);
  pop_graph_add_codelets_source(b->graph, "c", codelets, "stop", "-O2");
  b->x = pop_graph_add_variable(b->graph, POP_INT, &count, 1, "x");
  pop_graph_set_tile_mapping(b->graph, b->x, 1);
  b->forever = pop_graph_add_constant(b->graph, POP_INT, &one, 1, &yes, "forever");
  pop_graph_set_tile_mapping(b->graph, b->forever, 0);
  b->programs[ONCE] = execute(b, "Once");
  b->programs[VERTEX_LOOP] = execute(b, "Endless");
  b->programs[NESTED_LOOP] = execute(b, "Nested");
  b->programs[PROGRAM_LOOP] =
      pop_program_repeat_while_true((pop_program){0}, b->forever, b->programs[ONCE], "loop");
  b->programs[CONTROL_LOOP] = pop_program_repeat(
      b->graph, UINT32_MAX, pop_program_repeat(b->graph, UINT32_MAX, b->programs[ONCE], "inner"),
      "outer");
  pop_stream in = pop_graph_add_host_to_device_fifo(b->graph, "in", POP_INT, COUNT);
  b->programs[STREAM_LOOP] = pop_program_repeat_while_true(
      (pop_program){0}, b->forever, pop_program_copy_from_stream(in, b->x, "in"), "streams");
  pop_graph_create_host_read(b->graph, "x", b->x);
  pop_graph_create_host_write(b->graph, "x in", b->x);
  const pop_option options[] = {{"target.tileEngine", tile_engine},
                                {"debug.maxCyclesPerRun", "0"},
                                {"target.hostSyncTimeout", "0"}};
  expect_ok(pop_engine_create(b->graph, b->programs, NUM_PROGRAMS, options, 3, &engine));
  pop_graph_free(b->graph);
}

/* A stopped run gives an error that says so. Then the engine works as before. */
static void expect_stopped(size_t program, const char *what)
{
  expect_error(pop_engine_run(engine, program), POP_ERROR_RUNTIME, "the run was stopped", what);
  int x[COUNT];
  expect_ok(pop_engine_read_tensor(engine, "x", x, sizeof x));
  expect_error(pop_engine_run(engine, ONCE), POP_ERROR_RUNTIME, "call pop_engine_load", what);
  expect_ok(pop_engine_load(engine));
  memset(x, 0, sizeof x);
  expect_ok(pop_engine_write_tensor(engine, "x in", x, sizeof x));
  expect_ok(pop_engine_run(engine, ONCE));
  expect_ok(pop_engine_read_tensor(engine, "x", x, sizeof x));
  for (int i = 0; i < COUNT; i++) cr_assert_eq(x[i], 1, "%s: x[%d] is %d", what, i, x[i]);
}

static void *stop_soon(void *unused)
{
  const struct timespec soon = {0, WAIT_MICROSECONDS * 1000};
  nanosleep(&soon, NULL);
  pop_engine_stop(engine);
  return unused;
}

static void stop_by_signal(int number)
{
  (void)number;
  pop_engine_stop(engine); /* made for it; NOLINT(bugprone-signal-handler,cert-sig30-c) */
}

static void stop_each(const char *tile_engine, size_t first_program)
{
  bench b;
  build(&b, tile_engine);
  expect_ok(pop_engine_load(engine));
  pop_engine_stop(engine); /* no run: no effect */
  for (size_t p = first_program; p <= CONTROL_LOOP; p++) {
    char what[40];
    snprintf(what, sizeof what, "%s, program %zu", tile_engine, p);
    pthread_t thread;
    cr_assert_eq(pthread_create(&thread, NULL, stop_soon, NULL), 0);
    expect_stopped(p, what);
    pthread_join(thread, NULL);
    const struct itimerval soon = {.it_value = {0, WAIT_MICROSECONDS}};
    signal(SIGALRM, stop_by_signal);
    setitimer(ITIMER_REAL, &soon, NULL);
    expect_stopped(p, what);
  }
  int calls = 0;
  const pop_stream_callback callback = {.fetch = stop_in_the_third_copy, .context = &calls};
  expect_ok(pop_engine_connect_stream_callback(engine, "in", &callback));
  expect_stopped(STREAM_LOOP, tile_engine);
  cr_assert_eq(calls, 3);
  pop_engine_free(engine);
}

Test(stop, a_run_of_the_interpreter)
{
  stop_each("interpreter", VERTEX_LOOP);
}

Test(stop, a_run_of_native_code)
{
  stop_each("translator", VERTEX_LOOP);
}

Test(stop, a_run_while_code_is_translated)
{
  stop_each("auto", VERTEX_LOOP);
}

/* On the CPU, vertices are code of this process: a run is stopped between them. */
Test(stop, a_run_on_the_cpu)
{
  graphs_for_cpu = true;
  stop_each("auto", PROGRAM_LOOP);
}

/* The message says where the run was, as for a fault. */
Test(stop, the_error_says_where_the_run_was)
{
  bench b;
  build(&b, "interpreter");
  expect_ok(pop_engine_load(engine));
  pthread_t thread;
  cr_assert_eq(pthread_create(&thread, NULL, stop_soon, NULL), 0);
  expect_error(pop_engine_run(engine, VERTEX_LOOP), POP_ERROR_RUNTIME,
               "the run was stopped (pop_engine_stop) on tile 1, worker 0, in vertex Endless "
               "(number 1 of the graph) "
               "of compute set 'Endless', pc 0x",
               "in a vertex");
  pthread_join(thread, NULL);
  pop_engine_free(engine);
}
