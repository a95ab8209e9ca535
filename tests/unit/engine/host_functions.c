/* Host functions: programs that call the host, on tiles and on the CPU. */
#include "engine/engine_private.h"
#include "support/expect.h"
#include "support/graph_test.h"

#include <populus/populus.h>
#include <unistd.h>

TestSuite(host_functions, .init = enter_fresh_folder);

enum { COUNT = 5 };

static pop_tensor new_vector(pop_graph *graph, pop_type type, size_t count, size_t tile,
                             const char *name)
{
  pop_tensor t = pop_graph_add_variable(graph, type, &count, 1, name);
  pop_graph_set_tile_mapping(graph, t, tile);
  return t;
}

typedef struct calls {
  int count, result;
} calls;

/* x * factor, and the number of the call. */
static int scale(void *context, const void *const *inputs, void *const *outputs)
{
  calls *c = context;
  const int *x = inputs[0];
  const float *factor = inputs[1];
  int *scaled = outputs[0];
  for (int i = 0; i < COUNT; i++) scaled[i] = (int)((float)x[i] * *factor);
  *(unsigned *)outputs[1] = (unsigned)++c->count;
  return c->result;
}

static pop_engine *new_scaler(pop_graph *graph)
{
  const pop_host_argument inputs[] = {{POP_INT, COUNT}, {POP_FLOAT, 1}};
  const pop_host_argument outputs[] = {{POP_INT, COUNT}, {POP_UNSIGNED_INT, 1}};
  pop_host_function f = pop_graph_add_host_function(graph, "scale", inputs, 2, outputs, 2);
  pop_tensor x = new_vector(graph, POP_INT, COUNT, 0, "x");
  pop_tensor factor = new_vector(graph, POP_FLOAT, 1, 1, "factor");
  pop_tensor number = new_vector(graph, POP_UNSIGNED_INT, 1, 1, "number");
  pop_graph_set_initial_value(graph, x, (const int[COUNT]){1, -2, 3, 4, 5});
  pop_graph_set_initial_value(graph, factor, &(const float){3});
  pop_program body = pop_program_call_host_function(f, (const pop_tensor[]){x, factor},
                                                    (const pop_tensor[]){x, number}, "scale");
  pop_program program = pop_program_repeat(graph, 3, body, NULL);
  pop_graph_create_host_read(graph, "x", x);
  pop_graph_create_host_read(graph, "number", number);
  assert_no_error(graph);
  pop_engine *engine;
  expect_ok(pop_engine_create(graph, &program, 1, NULL, 0, &engine));
  expect_ok(pop_engine_load(engine));
  pop_graph_free(graph);
  return engine;
}

static pop_graph *new_cpu_graph(void)
{
  pop_target target;
  pop_target_create_cpu(&target);
  return pop_graph_create(&target);
}

Test(host_functions, are_called_with_what_the_tiles_hold)
{
  for (int on_cpu = 0; on_cpu < 2; on_cpu++) {
    pop_engine *engine = new_scaler(on_cpu ? new_cpu_graph() : new_graph_with_tiles(2));
    calls c = {0};
    int x[COUNT];
    unsigned number;
    expect_error(pop_engine_run(engine, 0), POP_ERROR_STREAM_CONNECTION, "scale/input0", "open");
    expect_ok(pop_engine_connect_host_function(engine, "scale", 0,
                                               &(pop_host_function_callback){scale, &c}));
    expect_ok(pop_engine_load(engine));
    for (int run = 1; run <= 2; run++) {
      expect_ok(pop_engine_run(engine, 0));
      cr_assert_eq(c.count, 3 * run);
    }
    expect_ok(pop_engine_read_tensor(engine, "x", x, sizeof x));
    expect_ok(pop_engine_read_tensor(engine, "number", &number, sizeof number));
    cr_assert_arr_eq(x, ((const int[COUNT]){729, -1458, 2187, 2916, 3645}), sizeof x);
    cr_assert_eq(number, 6);
    pop_engine_free(engine);
  }
}

Test(host_functions, may_fail)
{
  pop_engine *engine = new_scaler(new_graph_with_tiles(2));
  calls c = {.result = 4};
  expect_ok(pop_engine_connect_host_function(engine, "scale", 0,
                                             &(pop_host_function_callback){scale, &c}));
  expect_error(pop_engine_run(engine, 0), POP_ERROR_RUNTIME, "failed with 4", "fails");
  cr_assert_eq(c.count, 1);
  pop_engine_free(engine);
}

static int note(void *context, const void *const *inputs, void *const *outputs)
{
  (void)outputs;
  int *sum = context;
  *sum = *sum * 10 + *(const int *)inputs[0];
  return 0;
}

static int count_up(void *context, const void *const *inputs, void *const *outputs)
{
  (void)inputs;
  int *next = context;
  *(int *)outputs[0] = ++*next;
  *(int *)outputs[1] = -*next;
  return 0;
}

/* Both arguments are from the same call. */
static int match(void *context, const void *const *inputs, void *const *outputs)
{
  (void)outputs;
  int *matched = context, number = *(const int *)inputs[0];
  *matched += number == *matched + 1 && *(const int *)inputs[1] == -number;
  return 0;
}

static int count_up_slowly(void *context, const void *const *inputs, void *const *outputs)
{
  usleep(500);
  return count_up(context, inputs, outputs);
}

static int count_up_too_slowly_at_0(void *context, const void *const *inputs, void *const *outputs)
{
  count_up(context, inputs, outputs);
  if (*(const int *)outputs[0] == 0) usleep(1100000);
  return 0;
}

/* One function only gives two numbers, another one only takes the results. Each call is made. */
Test(host_functions, need_not_have_inputs_or_outputs)
{
  pop_graph *graph = new_graph_with_tiles(2);
  const pop_host_argument ints[] = {{POP_INT, 1}, {POP_INT, 1}};
  pop_host_function give = pop_graph_add_host_function(graph, "give", NULL, 0, ints, 2);
  pop_host_function take = pop_graph_add_host_function(graph, "take", ints, 1, NULL, 0);
  pop_tensor a = new_vector(graph, POP_INT, 1, 0, "a"), b = new_vector(graph, POP_INT, 1, 1, "b");
  pop_program body = pop_program_sequence(graph, NULL);
  pop_sequence_add(body,
                   pop_program_call_host_function(give, NULL, (const pop_tensor[]){a, b}, NULL));
  pop_sequence_add(body, pop_program_call_host_function(take, &a, NULL, NULL));
  pop_program program = pop_program_repeat(graph, 4, body, NULL);
  pop_graph_create_host_read(graph, "b", b);
  assert_no_error(graph);
  pop_engine *engine;
  int next = 0, taken = 0, last;
  expect_ok(pop_engine_create(graph, &program, 1, NULL, 0, &engine));
  expect_ok(pop_engine_load(engine));
  expect_ok(pop_engine_connect_host_function(engine, "give", 0,
                                             &(pop_host_function_callback){count_up, &next}));
  expect_ok(pop_engine_connect_host_function(engine, "take", 0,
                                             &(pop_host_function_callback){note, &taken}));
  expect_ok(pop_engine_run(engine, 0));
  expect_ok(pop_engine_read_tensor(engine, "b", &last, sizeof last));
  cr_assert_eq(next, 4);
  cr_assert_eq(taken, 1234);
  cr_assert_eq(last, -4);
  pop_engine_free(engine);
  pop_graph_free(graph);
}

/* The arguments of a call stay together, whatever threads the stream callbacks run on. */
Test(host_functions, arguments_stay_together_on_several_threads)
{
  const pop_option options[] = {{"streamCallbacks.multiThreadMode", "dedicated"},
                                {"streamCallbacks.numWorkerThreads", "4"}};
  enum { ARGUMENTS = 2, CALLS = 50 };
  pop_graph *graph = new_graph_with_tiles(2);
  const pop_host_argument ints[ARGUMENTS] = {{POP_INT, 1}, {POP_INT, 1}};
  pop_host_function give = pop_graph_add_host_function(graph, "give", NULL, 0, ints, ARGUMENTS);
  pop_host_function take = pop_graph_add_host_function(graph, "take", ints, ARGUMENTS, NULL, 0);
  const pop_tensor both[ARGUMENTS] = {new_vector(graph, POP_INT, 1, 0, "a"),
                                      new_vector(graph, POP_INT, 1, 1, "b")};
  pop_program body = pop_program_sequence(graph, NULL);
  pop_sequence_add(body, pop_program_call_host_function(give, NULL, both, NULL));
  pop_sequence_add(body, pop_program_call_host_function(take, both, NULL, NULL));
  pop_program program = pop_program_repeat(graph, CALLS, body, NULL);
  assert_no_error(graph);
  pop_engine *engine;
  int next = 0, matched = 0;
  expect_ok(pop_engine_create(graph, &program, 1, options, 2, &engine));
  expect_ok(pop_engine_load(engine));
  expect_ok(pop_engine_connect_host_function(
      engine, "give", 0, &(pop_host_function_callback){count_up_slowly, &next}));
  expect_ok(pop_engine_connect_host_function(engine, "take", 0,
                                             &(pop_host_function_callback){match, &matched}));
  expect_ok(pop_engine_run(engine, 0));
  cr_assert_eq(next, CALLS);
  cr_assert_eq(matched, CALLS);
  pop_engine_free(engine);
  pop_graph_free(graph);
}

/* A function that took too long has given the first of two outputs when the run ends. The next run
 * begins with a call. */
Test(host_functions, begin_again_after_load)
{
  const pop_option options[] = {{"target.hostSyncTimeout", "1"}};
  pop_graph *graph = new_graph_with_tiles(2);
  const pop_host_argument ints[] = {{POP_INT, 1}, {POP_INT, 1}};
  pop_host_function give = pop_graph_add_host_function(graph, "give", NULL, 0, ints, 2);
  const pop_tensor both[] = {new_vector(graph, POP_INT, 1, 0, "a"),
                             new_vector(graph, POP_INT, 1, 1, "b")};
  pop_program program = pop_program_call_host_function(give, NULL, both, NULL);
  pop_graph_create_host_read(graph, "both", pop_concat(both, 2, 0));
  assert_no_error(graph);
  pop_engine *engine;
  int next = -1, last[2];
  expect_ok(pop_engine_create(graph, &program, 1, options, 1, &engine));
  expect_ok(pop_engine_load(engine));
  expect_ok(pop_engine_connect_host_function(
      engine, "give", 0, &(pop_host_function_callback){count_up_too_slowly_at_0, &next}));
  expect_error(pop_engine_run(engine, 0), POP_ERROR_RUNTIME, "hostSyncTimeout", "slow");
  expect_ok(pop_engine_load(engine));
  for (int run = 1; run <= 2; run++) {
    expect_ok(pop_engine_run(engine, 0));
    expect_ok(pop_engine_read_tensor(engine, "both", last, sizeof last));
    cr_assert(last[0] == run && last[1] == -run, "%d, %d", last[0], last[1]);
  }
  pop_engine_free(engine);
  pop_graph_free(graph);
}

static size_t count_functions(const pop_engine *engine)
{
  size_t count = 0;
  for (host_function *f = engine->host_functions; f; f = host_functions_next(f)) count++;
  return count;
}

/* A program may connect it before each run. */
Test(host_functions, connected_again_takes_the_place_of_the_former_one)
{
  pop_engine *engine = new_scaler(new_graph_with_tiles(2));
  calls former = {0}, last = {0};
  for (int i = 0; i < 3; i++) {
    calls *to = i < 2 ? &former : &last;
    expect_ok(pop_engine_connect_host_function(engine, "scale", 0,
                                               &(pop_host_function_callback){scale, to}));
    cr_assert_eq(count_functions(engine), 1);
    expect_error(pop_engine_connect_host_function(engine, "scale", 1,
                                                  &(pop_host_function_callback){scale, to}),
                 POP_ERROR_INDEX, "replica", "no such replica");
    cr_assert_eq(count_functions(engine), 1);
    expect_ok(pop_engine_run(engine, 0));
  }
  cr_assert_eq(former.count, 6);
  cr_assert_eq(last.count, 3);
  pop_engine_free(engine);
}

Test(host_functions, a_wrong_argument_leaves_no_streams)
{
  pop_graph *graph = new_graph_with_tiles(2);
  const pop_host_argument bad[] = {{POP_INT, 1}, {POP_TYPE_COUNT, 1}};
  const pop_host_argument good[] = {{POP_INT, 1}, {POP_INT, 1}};
  pop_graph_add_host_function(graph, "f", good, 2, bad, 2);
  expect_error(pop_graph_take_error(graph), POP_ERROR_TYPE, "not an element type", "type");
  pop_graph_add_host_function(graph, "f", good, 2, good, 2);
  assert_no_error(graph);
  pop_graph_add_host_function(graph, "f", good, 1, NULL, 0);
  expect_error(pop_graph_take_error(graph), POP_ERROR_INVALID_ARGUMENT, "'f/input0'", "twice");
  pop_graph_free(graph);
}

Test(host_functions, wrong_use)
{
  pop_engine *engine = new_scaler(new_graph_with_tiles(2));
  const pop_host_function_callback callback = {scale, NULL}, none = {NULL, NULL};
  expect_error(pop_engine_connect_host_function(engine, "scales", 0, &callback),
               POP_ERROR_STREAM_CONNECTION, "'scale'", "nearest");
  expect_error(pop_engine_connect_host_function(engine, "scale", 1, &callback), POP_ERROR_INDEX,
               "replica", "no such replica");
  expect_error(pop_engine_connect_host_function(engine, "scale", 0, &none),
               POP_ERROR_INVALID_ARGUMENT, "callback is NULL", "no function");
  cr_assert_null(engine->host_functions, "a refused call has changed the engine");
  pop_engine_free(engine);
  pop_graph *graph = new_graph_with_tiles(2);
  pop_graph_add_host_function(graph, "nothing", NULL, 0, NULL, 0);
  assert_error(graph, POP_ERROR_INVALID_ARGUMENT, (const char *const[]){"give at least one", NULL},
               "no arguments");
  pop_graph_free(graph);
  graph = new_graph_with_tiles(2);
  const pop_host_argument empty[] = {{POP_INT, 1}, {POP_INT, 0}};
  pop_graph_add_host_function(graph, "empty", empty, 2, NULL, 0);
  assert_error(graph, POP_ERROR_INVALID_ARGUMENT, (const char *const[]){"no elements", NULL},
               "an argument of no elements");
  pop_graph_free(graph);
}

typedef struct reconnecting {
  pop_engine *engine;
  calls calls;
} reconnecting;

static int reconnect(void *context, const void *const *inputs, void *const *outputs)
{
  reconnecting *r = context;
  expect_error(pop_engine_connect_host_function(r->engine, "scale", 0,
                                                &(pop_host_function_callback){scale, &r->calls}),
               POP_ERROR_RUNTIME, "in use by another call", "during the run");
  return scale(&r->calls, inputs, outputs);
}

/* The function that runs stays the only one. */
Test(host_functions, are_not_connected_during_a_run)
{
  reconnecting r = {.engine = new_scaler(new_graph_with_tiles(2))};
  expect_ok(pop_engine_connect_host_function(r.engine, "scale", 0,
                                             &(pop_host_function_callback){reconnect, &r}));
  const struct host_function *before = r.engine->host_functions;
  expect_ok(pop_engine_run(r.engine, 0));
  cr_assert_eq(r.calls.count, 3);
  cr_assert_eq(r.engine->host_functions, before);
  pop_engine_free(r.engine);
}

/* ---- points in time ---- */

Test(host_functions, time_stamps_are_of_both_clocks)
{
  pop_engine *engine = new_scaler(new_graph_with_tiles(2));
  calls c = {0};
  expect_ok(pop_engine_connect_host_function(engine, "scale", 0,
                                             &(pop_host_function_callback){scale, &c}));
  uint64_t cycles = pop_engine_cycles(engine);
  pop_time_stamp start = pop_engine_time_stamp(engine);
  cr_assert_eq(start.device_cycles, cycles);
  expect_ok(pop_engine_run(engine, 0));
  pop_time_stamp end = pop_engine_time_stamp(engine);
  cr_assert_eq(end.device_cycles, pop_engine_cycles(engine));
  cr_assert(end.host_seconds >= start.host_seconds);
  char *text = NULL, expected[64];
  size_t size;
  FILE *stream = open_memstream(&text, &size);
  pop_engine_report_timing(engine, stream, "three calls", start, end);
  fclose(stream);
  snprintf(expected, sizeof expected, " s on the host, %llu cycles (",
           (unsigned long long)(end.device_cycles - start.device_cycles));
  cr_assert_eq(strncmp(text, "three calls: ", 13), 0);
  cr_assert_not_null(strstr(text, expected), "%s", text);
  free(text);
  pop_engine_free(engine);
}
