/* An engine is used by one call at a time. A call of a stream's callback, or of another thread, on
 * a running engine is an error that does the run no harm. */
#include "support/graph_test.h"

#include "support/expect.h"
#include <populus/populus.h>
#include <populus/profile.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

enum { COUNT = 4, MANY_RUNS = 300 };
static const int sent[COUNT] = {7, 11, 13, 17};

typedef struct session {
  pop_engine *engine;
  /* The stream's callback calls it and keeps its error. */
  pop_error *(*ask)(pop_engine *engine);
  pop_error *answer;
  int calls;
} session;

static int fetch(void *context, void *data)
{
  session *p = context;
  p->calls++;
  pop_error_free(p->answer);
  p->answer = p->ask ? p->ask(p->engine) : NULL;
  memcpy(data, sent, sizeof sent);
  return 0;
}

/* A stream to tile 0, a copy to tile 1 that the host can read and write, and a remote buffer. */
static void start(session *p, uint32_t repeats)
{
  const size_t shape = COUNT;
  pop_graph *graph = new_graph_with_tiles(2);
  pop_tensor first = pop_graph_add_variable(graph, POP_INT, &shape, 1, "first");
  pop_tensor second = pop_graph_add_variable(graph, POP_INT, &shape, 1, "second");
  pop_graph_set_tile_mapping(graph, first, 0);
  pop_graph_set_tile_mapping(graph, second, 1);
  pop_stream in = pop_graph_add_host_to_device_fifo(graph, "in", POP_INT, COUNT);
  pop_remote_buffer rows = pop_graph_add_remote_buffer(graph, "rows", POP_INT, COUNT, 1);
  pop_program main = pop_program_sequence(graph, "main");
  pop_sequence_add(main, pop_program_copy_from_stream(in, first, "stream"));
  pop_sequence_add(main, pop_program_copy(first, second, "on"));
  pop_sequence_add(main, pop_program_copy_to_remote_buffer(second, rows, (pop_tensor){0}, "keep"));
  main = pop_program_repeat(graph, repeats, main, "again");
  pop_graph_create_host_read(graph, "second", second);
  pop_graph_create_host_write(graph, "first", first);
  assert_no_error(graph);
  const pop_stream_callback callback = {.fetch = fetch, .context = p};
  expect_ok(pop_engine_create(graph, &main, 1, NULL, 0, &p->engine));
  expect_ok(pop_engine_load(p->engine));
  expect_ok(pop_engine_connect_stream_callback(p->engine, "in", &callback));
  pop_graph_free(graph);
}

static void expect_sent(pop_engine *engine, const char *what)
{
  int seen[COUNT];
  expect_ok(pop_engine_read_tensor(engine, "second", seen, sizeof seen));
  cr_assert_arr_eq(seen, sent, sizeof sent, "%s", what);
}

/* ---- callbacks ---- */

static pop_error *ask_load(pop_engine *engine)
{
  return pop_engine_load(engine);
}
static pop_error *ask_load_nowhere(pop_engine *engine)
{
  return pop_engine_load_device(engine, NULL);
}
static pop_error *ask_run(pop_engine *engine)
{
  return pop_engine_run(engine, 0);
}
static pop_error *ask_run_named(pop_engine *engine)
{
  return pop_engine_run_named(engine, "again");
}
static pop_error *ask_read(pop_engine *engine)
{
  int values[COUNT];
  return pop_engine_read_tensor(engine, "second", values, sizeof values);
}
static pop_error *ask_write(pop_engine *engine)
{
  const int values[COUNT] = {0};
  return pop_engine_write_tensor(engine, "first", values, sizeof values);
}
static pop_error *ask_connect(pop_engine *engine)
{
  static int values[COUNT];
  return pop_engine_connect_stream(engine, "in", values, values + COUNT);
}
static pop_error *ask_connect_replica(pop_engine *engine)
{
  static int values[COUNT];
  return pop_engine_connect_replica_stream(engine, "in", 0, values, values + COUNT);
}
static pop_error *ask_connect_callback(pop_engine *engine)
{
  const pop_stream_callback callback = {.fetch = fetch};
  return pop_engine_connect_stream_callback(engine, "in", &callback);
}
static pop_error *ask_connect_replica_callback(pop_engine *engine)
{
  const pop_stream_callback callback = {.fetch = fetch};
  return pop_engine_connect_replica_stream_callback(engine, "in", 0, &callback);
}
static pop_error *ask_read_row(pop_engine *engine)
{
  int values[COUNT];
  return pop_engine_copy_from_remote_buffer(engine, "rows", 0, 0, values, sizeof values);
}
static pop_error *ask_write_row(pop_engine *engine)
{
  const int values[COUNT] = {0};
  return pop_engine_copy_to_remote_buffer(engine, "rows", 0, 0, values, sizeof values);
}

static pop_error *ask_reset(pop_engine *engine)
{
  return pop_engine_reset_execution_profile(engine);
}

typedef struct use_case {
  pop_error *(*ask)(pop_engine *engine);
  const char *what; /* the call that is refused */
} use_case;

static const use_case use_cases[] = {
    {ask_load, "load"},
    {ask_load_nowhere, "load"},
    {ask_run, "run"},
    {ask_run_named, "run"},
    {ask_read, "read a tensor"},
    {ask_write, "write a tensor"},
    {ask_connect, "connect a stream"},
    {ask_connect_replica, "connect a stream"},
    {ask_connect_callback, "connect a stream"},
    {ask_connect_replica_callback, "connect a stream"},
    {ask_read_row, "read a remote buffer"},
    {ask_write_row, "write a remote buffer"},
    {ask_reset, "reset the profile"},
};

Test(engine_use, E03_a_callback_that_uses_its_engine_gets_an_error)
{
  for (size_t i = 0; i < sizeof use_cases / sizeof *use_cases; ++i) {
    const use_case *c = &use_cases[i];
    session p = {.ask = c->ask};
    char wanted[64];
    start(&p, 2);
    expect_ok(pop_engine_run(p.engine, 0));
    cr_assert_eq(p.calls, 2, "%s: %d calls", c->what, p.calls);
    snprintf(wanted, sizeof wanted, "cannot %s: the engine is in use", c->what);
    expect_error(p.answer, POP_ERROR_RUNTIME, wanted, c->what);
    p.answer = NULL;
    expect_sent(p.engine, c->what);
    p.ask = NULL;
    p.answer = c->ask(p.engine); /* now it is allowed */
    cr_assert(!p.answer || c->ask == ask_load_nowhere, "%s: %s", c->what,
              p.answer ? pop_error_message(p.answer) : "");
    pop_error_free(p.answer);
    pop_engine_free(p.engine);
  }
}

static pop_error *free_it(pop_engine *engine)
{
  pop_engine_free(engine);
  pop_engine_free(engine); /* the engine still exists: the caller of the callback uses it */
  return NULL;
}

Test(engine_use, E09_an_engine_freed_by_a_callback_ends_its_run)
{
  session p = {.ask = free_it};
  start(&p, 1000);
  expect_error(pop_engine_run(p.engine, 0), POP_ERROR_RUNTIME, "freed while it ran", "run");
  cr_assert_eq(p.calls, 1);
}

static pop_error *leave_process(pop_engine *engine)
{
  (void)engine;
  exit(23);
}

Test(engine_use, E09_a_callback_may_end_the_process, .exit_code = 23)
{
  session p = {.ask = leave_process};
  start(&p, 1);
  pop_error_free(pop_engine_run(p.engine, 0));
}

/* ---- callbacks that do not return ---- */

static jmp_buf left;

static pop_error *leave_run(pop_engine *engine)
{
  (void)engine;
  longjmp(left, 1);
}

/* Like a program with its own error handling: it leaves the run by longjmp, and the run's stack is
 * gone. */
static void run_and_leave(session *p)
{
  if (setjmp(left) == 0) { /* NOLINT(cert-err52-cpp): that is the test */
    pop_error_free(pop_engine_run(p->engine, 0));
    cr_assert_fail("it came back");
  }
}

TEST_ON_EACH_DEVICE(engine_use, E03_a_run_that_a_callback_left_by_longjmp_is_over)
{
  session p = {.ask = leave_run};
  start(&p, 3);
  for (int i = 0; i < 2; i++) {
    run_and_leave(&p);
    int values[COUNT];
    expect_ok(pop_engine_read_tensor(p.engine, "second", values, sizeof values));
    expect_error(pop_engine_run(p.engine, 0), POP_ERROR_RUNTIME,
                 "was left by longjmp out of a stream's callback", "run again");
    expect_ok(pop_engine_load(p.engine));
  }
  p.ask = NULL;
  expect_ok(pop_engine_run(p.engine, 0));
  expect_sent(p.engine, "after all");
  p.ask = leave_run;
  run_and_leave(&p);
  pop_engine_free(p.engine);
  expect_error(pop_engine_run(p.engine, 0), POP_ERROR_INVALID_ARGUMENT, "the engine was freed",
               "run");
}

/* The child continues the run, and so does the parent. From there on they are separate runs. */
static pid_t child;

static pop_error *fork_once(pop_engine *engine)
{
  (void)engine;
  if (!child) child = fork() ? -1 : 1;
  return NULL;
}

static int run_in_both(session *p)
{
  int seen[COUNT] = {0};
  pop_error *error = pop_engine_run(p->engine, 0);
  if (!error) error = pop_engine_run(p->engine, 0);
  if (!error) error = pop_engine_read_tensor(p->engine, "second", seen, sizeof seen);
  if (error) fprintf(stderr, "%s\n", pop_error_message(error));
  return !error && !memcmp(seen, sent, sizeof sent) ? 0 : 1;
}

TEST_ON_EACH_DEVICE(engine_use, T04_a_callback_may_fork)
{
  session p = {.ask = fork_once};
  child = 0;
  start(&p, 3);
  alarm(60); /* the child ends even if it waits for a thread that it lacks */
  int result = run_in_both(&p);
  if (child == 1) {
    pop_engine_free(p.engine);
    _exit(result);
  }
  int status = -1;
  cr_assert_gt(wait(&status), 0);
  cr_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0, "the child: status 0x%x",
            (unsigned)status);
  cr_assert_eq(result, 0);
  pop_engine_free(p.engine);
}

/* ---- freed engines and devices ---- */

Test(engine_use, P01_freed_twice_and_used_afterwards)
{
  session p = {0};
  start(&p, 1);
  pop_device *device;
  pop_ipu_model model;
  expect_ok(pop_ipu_model_init(&model, "ipu2"));
  model.tiles_per_ipu = 2;
  expect_ok(pop_ipu_model_create_device(&model, &device));
  pop_device_free(device);
  pop_device_free(device);
  expect_error(pop_engine_load_device(p.engine, device), POP_ERROR_INVALID_ARGUMENT,
               "pop_engine_load_device: the device was freed", "load on a freed device");
  expect_ok(pop_engine_run(p.engine, 0)); /* the engine is unchanged */

  pop_engine_free(p.engine);
  pop_engine_free(p.engine);
  expect_error(pop_engine_run(p.engine, 0), POP_ERROR_INVALID_ARGUMENT,
               "pop_engine_run: the engine was freed", "run");
  pop_engine *freed = p.engine;
  start(&p, 1);
  cr_assert(p.engine != freed);
  expect_error(pop_engine_run(freed, 0), POP_ERROR_INVALID_ARGUMENT,
               "pop_engine_run: the engine was freed", "run beside a new engine");
  pop_engine_free(p.engine);
}

/* A device that is freed once too often still belongs to the engine, which retains it too. */
Test(engine_use, P01_who_frees_a_device_twice_takes_it_from_nobody)
{
  pop_device *device = pop_device_create_cpu();
  const size_t three = 3;
  pop_graph *graph = pop_graph_create(pop_device_target(device));
  pop_tensor t = pop_graph_add_variable(graph, POP_INT, &three, 1, "t");
  pop_graph_map_linearly(graph, t, 0, 0);
  pop_graph_create_host_read(graph, "t", t);
  pop_program nothing = pop_program_sequence(graph, "nothing");
  pop_engine *engine;
  expect_ok(pop_engine_create(graph, &nothing, 1, NULL, 0, &engine));
  expect_ok(pop_engine_load_device(engine, device));
  for (int i = 0; i < 3; i++) pop_device_free(device);
  expect_ok(pop_engine_load(engine));
  expect_ok(pop_engine_run(engine, 0));
  pop_engine_free(engine);
  pop_device_free(device);
  pop_graph_free(graph);
}

/* ---- threads ---- */

typedef struct user {
  pop_engine *engine;
  atomic_bool *done;
  int refused, served;
} user;

/* Writes the values that the stream sends, so the result is the same in either order. */
static void *use_until_done(void *context)
{
  user *u = context;
  do {
    int values[COUNT];
    pop_error *errors[] = {pop_engine_write_tensor(u->engine, "first", sent, sizeof sent),
                           pop_engine_read_tensor(u->engine, "second", values, sizeof values)};
    for (int i = 0; i < 2; ++i) {
      bool refused = errors[i] && strstr(pop_error_message(errors[i]), "in use by another call");
      if (errors[i] && !refused) return errors[i];
      u->refused += refused;
      u->served += !refused;
      pop_error_free(errors[i]);
    }
  } while (!atomic_load(u->done));
  return NULL;
}

/* Tries again while it is refused. */
static void insist_on_run(pop_engine *engine)
{
  for (;;) {
    pop_error *error = pop_engine_run(engine, 0);
    if (!error) return;
    cr_assert_not_null(strstr(pop_error_message(error), "in use by another call"), "%s",
                       pop_error_message(error));
    pop_error_free(error);
  }
}

Test(engine_use, E05_threads_that_use_an_engine_while_it_runs_get_errors_and_do_no_harm)
{
  session p = {0};
  atomic_bool done = false;
  start(&p, 5);
  user u = {.engine = p.engine, .done = &done};
  pthread_t thread;
  cr_assert_eq(pthread_create(&thread, NULL, use_until_done, &u), 0);
  for (int i = 0; i < MANY_RUNS; ++i) insist_on_run(p.engine);
  atomic_store(&done, true);
  void *unexpected;
  cr_assert_eq(pthread_join(thread, &unexpected), 0);
  expect_ok(unexpected);
  cr_assert_gt(u.refused + u.served, 0);
  cr_assert_eq(p.calls, 5 * MANY_RUNS);
  expect_sent(p.engine, "after all runs");
  pop_engine_free(p.engine);
}

/* ---- after an error ---- */

/* Program 0 prints `first`, then copies it to `second`. Program 1 copies it to `third`. */
TEST_ON_EACH_DEVICE(engine_use, a_run_that_could_not_print_does_not_go_on_in_the_next_one)
{
  static const char *const names[] = {"first", "second", "third"};
  pop_graph *graph = new_graph_with_tiles(2);
  pop_tensor t[3];
  for (size_t i = 0; i < 3; i++) {
    t[i] = pop_graph_add_variable(graph, POP_INT, NULL, 0, names[i]);
    pop_graph_set_tile_mapping(graph, t[i], 0);
    pop_graph_create_host_read(graph, names[i], t[i]);
  }
  pop_graph_set_initial_value(graph, t[0], &(const int){5});
  pop_program programs[] = {pop_program_sequence(graph, "prints"),
                            pop_program_copy(t[0], t[2], "other")};
  pop_sequence_add(programs[0], pop_program_print_tensor(t[0], "t"));
  pop_sequence_add(programs[0], pop_program_copy(t[0], t[1], "copy"));
  assert_no_error(graph);
  pop_engine *engine;
  FILE *full = fopen("/dev/full", "w"), *null = fopen("/dev/null", "w");
  cr_assert(full && null);
  expect_ok(pop_engine_create(graph, programs, 2, NULL, 0, &engine));
  pop_graph_free(graph);
  expect_ok(pop_engine_load(engine));
  pop_engine_set_print_stream(engine, full);
  expect_error(pop_engine_run(engine, 0), POP_ERROR_SYSTEM, "cannot print", "print");
  pop_engine_set_print_stream(engine, null);
  expect_error(pop_engine_run(engine, 1), POP_ERROR_RUNTIME, "call pop_engine_load", "run");
  int values[3] = {0};
  for (size_t i = 0; i < 3; i++)
    expect_ok(pop_engine_read_tensor(engine, names[i], &values[i], sizeof *values));
  cr_assert_arr_eq(values, ((int[]){5, 0, 0}), sizeof values);
  expect_ok(pop_engine_load(engine));
  expect_ok(pop_engine_run(engine, 1));
  for (size_t i = 0; i < 3; i++)
    expect_ok(pop_engine_read_tensor(engine, names[i], &values[i], sizeof *values));
  cr_assert_arr_eq(values, ((int[]){5, 0, 5}), sizeof values);
  /* A stream that writes each line knows of the error before it is flushed. */
  FILE *lines = fopen("/dev/full", "w");
  cr_assert(lines && setvbuf(lines, NULL, _IOLBF, BUFSIZ) == 0);
  pop_engine_set_print_stream(engine, lines);
  expect_error(pop_engine_run(engine, 0), POP_ERROR_SYSTEM, "cannot print", "print");
  pop_engine_free(engine);
  (void)fclose(lines);
  fclose(null);
  (void)fclose(full);
}

/* What they print is written at the end of a run. A stream that nothing is printed to is not looked
 * at. */
TEST_ON_EACH_DEVICE(engine_use, a_run_whose_codelets_could_not_print_is_an_error)
{
  static const char source[] = "#include <populus/vertex.h>\n"
                               "#include <stdio.h>\n"
                               "typedef struct { OUTPUT(int) n; } Say;\n"
                               "COMPUTE(Say) { *vertex->n = printf(\"hello\\n\"); return true; }\n";
  pop_graph *graph = new_graph_with_tiles(2);
  pop_graph_add_codelets_source(graph, "c", source, "say.c", NULL);
  pop_tensor n = pop_graph_add_variable(graph, POP_INT, NULL, 0, "n"),
             other = pop_graph_add_variable(graph, POP_INT, NULL, 0, "other");
  pop_graph_set_tile_mapping(graph, n, 1);
  pop_graph_set_tile_mapping(graph, other, 1);
  pop_graph_create_host_read(graph, "n", n);
  pop_compute_set set = pop_graph_add_compute_set(graph, "say");
  pop_vertex v = pop_graph_add_vertex(graph, set, "Say");
  pop_graph_set_vertex_tile(graph, v, 1);
  pop_graph_connect(graph, v, "n", n);
  pop_program programs[] = {pop_program_execute(graph, set, "say"),
                            pop_program_copy(n, other, "other")};
  assert_no_error(graph);
  pop_engine *engine;
  FILE *full = fopen("/dev/full", "w");
  cr_assert_not_null(full);
  expect_ok(pop_engine_create(graph, programs, 2, NULL, 0, &engine));
  pop_graph_free(graph);
  expect_ok(pop_engine_load(engine));
  pop_engine_set_print_stream(engine, full);
  expect_ok(pop_engine_run(engine, 1));
  expect_error(pop_engine_run(engine, 0), POP_ERROR_SYSTEM,
               "cannot print what codelets print: No space left on device", "print");
  expect_ok(pop_engine_load(engine));
  expect_ok(pop_engine_run(engine, 1));
  expect_error(pop_engine_run(engine, 0), POP_ERROR_SYSTEM, "No space left", "again");
  int printed = 0;
  expect_ok(pop_engine_read_tensor(engine, "n", &printed, sizeof printed));
  cr_assert_eq(printed, 6);
  pop_engine_free(engine);
  (void)fclose(full);
}
