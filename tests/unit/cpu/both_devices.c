/* Programs of kinds that the random graphs (engine/random.c) do not have. They give the same
 * results and messages on tiles and on the CPU. */
#include "support/expect.h"
#include "support/graph_test.h"

#include <populus/populus.h>

TestSuite(both_devices, .init = enter_fresh_folder);

static const char codelets[] = "#include <errno.h>\n"
                               "#include <math.h>\n"
                               "#include <stdlib.h>\n"
                               "#include <populus/vertex.h>\n"
                               "typedef struct { INOUT(int) n; } Twice;\n"
                               "COMPUTE(Twice) { *vertex->n *= 2; return true; }\n"
                               "typedef struct { INOUT(int) n; } Digest;\n"
                               "static unsigned bits(float x) { unsigned u;\n"
                               "  if (x != x) return 7;\n"
                               "  __builtin_memcpy(&u, &x, sizeof u); return u; }\n"
                               "COMPUTE(Digest) { unsigned sum = 0;\n"
                               "  for (unsigned u = 1; u < 0xffe00000; u += 1400000) {\n"
                               "    float x; __builtin_memcpy(&x, &u, sizeof x);\n"
                               "    const float all[] = {expf(x), exp2f(x), logf(x), log2f(x),\n"
                               "      tanhf(x), 1 / (1 + expf(-x)), 1 / sqrtf(x)};\n"
                               "    for (int i = 0; i < 7; ++i) sum = sum * 31 + bits(all[i]); }\n"
                               "  *vertex->n += (int)sum; return true; }\n"
                               "_Thread_local int kept = 4;\n"
                               "static _Thread_local int own;\n"
                               "typedef struct { INOUT(int) n; } OfThreads;\n"
                               "COMPUTE(OfThreads) {\n"
                               "  errno = 0; strtol(\"99999999999999999999\", 0, 10);\n"
                               "  if (errno == ERANGE) *vertex->n += ++kept + ++own;\n"
                               "  return true; }\n";

typedef struct world {
  pop_graph *graph;
  pop_tensor n, other, stop;
  pop_program twice;
} world;

static pop_tensor scalar(pop_graph *graph, const char *name, size_t tile)
{
  char to[16];
  snprintf(to, sizeof to, ">%s", name);
  pop_tensor t = pop_graph_add_variable(graph, POP_INT, NULL, 0, name);
  pop_graph_set_tile_mapping(graph, t, tile);
  pop_graph_create_host_read(graph, name, t);
  pop_graph_create_host_write(graph, to, t);
  return t;
}

/* A world with a vertex of this type, which changes `n`. */
static world new_world_of(const char *type, bool on_cpu)
{
  pop_target target;
  expect_ok(pop_target_create("ipu2", 1, &target));
  target.tiles_per_ipu = 4;
  if (on_cpu) pop_target_create_cpu(&target);
  world w = {.graph = pop_graph_create(&target)};
  pop_graph_add_codelets_source(w.graph, "c", codelets, "twice.c", "-O2");
  w.n = scalar(w.graph, "n", 1);
  w.other = scalar(w.graph, "other", 2);
  w.stop = scalar(w.graph, "stop", 3);
  pop_compute_set set = pop_graph_add_compute_set(w.graph, "twice");
  pop_vertex v = pop_graph_add_vertex(w.graph, set, type);
  pop_graph_connect(w.graph, v, "n", w.n);
  pop_graph_set_vertex_tile(w.graph, v, 1);
  w.twice = pop_program_execute(w.graph, set, "twice");
  return w;
}

static world new_world(bool on_cpu)
{
  return new_world_of("Twice", on_cpu);
}

/* The results of a run. */
typedef struct outcome {
  int n, other;
  char printed[512];
  char error[256]; /* without what depends on the device's clocks and tiles */
} outcome;

static outcome run(world *w, pop_program main, int n, int stop, const pop_option *option)
{
  outcome o = {.n = 0};
  pop_engine *engine;
  assert_no_error(w->graph);
  expect_ok(pop_engine_create(w->graph, &main, 1, option, option != NULL, &engine));
  expect_ok(pop_engine_load(engine));
  expect_ok(pop_engine_write_tensor(engine, ">n", &n, sizeof n));
  expect_ok(pop_engine_write_tensor(engine, ">other", &(int){-1}, sizeof(int)));
  expect_ok(pop_engine_write_tensor(engine, ">stop", &stop, sizeof stop));
  FILE *stream = fmemopen(o.printed, sizeof o.printed, "w");
  cr_assert_not_null(stream);
  pop_engine_set_print_stream(engine, stream);
  pop_error *error = pop_engine_run(engine, 0);
  fclose(stream);
  if (error) snprintf(o.error, sizeof o.error, "%s", pop_error_message(error));
  o.error[strcspn(o.error, ";")] = '\0';
  pop_error_free(error);
  expect_ok(pop_engine_read_tensor(engine, "n", &o.n, sizeof o.n));
  expect_ok(pop_engine_read_tensor(engine, "other", &o.other, sizeof o.other));
  pop_engine_free(engine);
  pop_graph_free(w->graph);
  return o;
}

/* Builds the program on each device. Each must give the expected outcome. */
static void check_with(const pop_option *option, pop_program (*build)(world *), int n, int stop,
                       outcome expected)
{
  for (int on_cpu = 0; on_cpu < 2; on_cpu++) {
    world w = new_world(on_cpu);
    outcome o = run(&w, build(&w), n, stop, option);
    const char *device = on_cpu ? "CPU" : "IPU";
    cr_assert(o.n == expected.n && o.other == expected.other, "%s: %d, %d", device, o.n, o.other);
    cr_assert_str_eq(o.printed, expected.printed, "%s: %s", device, o.printed);
    cr_assert_str_eq(o.error, expected.error, "%s: %s", device, o.error);
  }
}

static void check(pop_program (*build)(world *), int n, int stop, outcome expected)
{
  check_with(NULL, build, n, stop, expected);
}

/* Calls `twice` three times, once from another function. */
static pop_program calls(world *w)
{
  pop_function twice = pop_graph_add_function(w->graph, w->twice);
  pop_program main = pop_program_sequence(w->graph, "main"),
              body = pop_program_sequence(w->graph, "body");
  pop_sequence_add(body, pop_program_call(twice, "inner"));
  pop_sequence_add(body, pop_program_print_tensor(w->n, "n"));
  pop_function outer = pop_graph_add_function(w->graph, body);
  pop_sequence_add(main, pop_program_call(twice, "first"));
  pop_sequence_add(main, pop_program_call(outer, "second"));
  pop_sequence_add(main, pop_program_call(twice, "third"));
  return main;
}

Test(both_devices, functions)
{
  check(calls, 3, 0, (outcome){.n = 24, .other = -1, .printed = "n: 12\n"});
}

/* The undefined variable is written before it is read. */
static pop_program undefined(world *w)
{
  pop_program main = pop_program_sequence(w->graph, "main");
  pop_sequence_add(main, pop_program_write_undef(w->other, "forget"));
  pop_sequence_add(main, w->twice);
  pop_sequence_add(main, pop_program_copy(w->n, w->other, "copy"));
  pop_sequence_add(main, pop_program_assume_equal_across_replicas(w->other, "same"));
  pop_sequence_add(main, pop_program_sync(w->graph, POP_SYNC_EXTERNAL, "sync"));
  return main;
}

/* Functions that are instructions of the tile. */
Test(both_devices, functions_of_floats)
{
  int sums[2];
  for (int i = 0; i < 2; i++) {
    world w = new_world_of("Digest", i);
    sums[i] = run(&w, w.twice, 5, 0, NULL).n;
  }
  cr_assert_eq(sums[0], sums[1], "%d on the tile, %d on the CPU", sums[0], sums[1]);
  cr_assert_neq(sums[0], 5);
}

Test(both_devices, variables_of_threads)
{
  for (int i = 0; i < 2; i++) {
    world w = new_world_of("OfThreads", i);
    cr_assert_eq(run(&w, w.twice, 5, 0, NULL).n, 11, "%s", i ? "on the CPU" : "on the tile");
  }
}

Test(both_devices, write_undef_and_assumed_equality)
{
  check(undefined, 5, 0, (outcome){.n = 10, .other = 10});
}

static pop_program aborts(world *w)
{
  pop_program main = pop_program_sequence(w->graph, "main");
  pop_sequence_add(main, w->twice);
  pop_sequence_add(main, pop_program_if(w->stop, pop_program_abort(w->graph, "no more", "stop"),
                                        pop_program_nop(w->graph, "on"), "if"));
  pop_sequence_add(main, pop_program_copy(w->n, w->other, "copy"));
  return main;
}

Test(both_devices, an_abort)
{
  check(aborts, 7, 0, (outcome){.n = 14, .other = 14});
  check(aborts, 7, 1,
        (outcome){.n = 14, .other = -1, .error = "program 'stop' aborted the run: no more"});
}

/* A copy in a loop, and a compute set that is executed in two places. */
static pop_program traced(world *w)
{
  pop_program main = pop_program_sequence(w->graph, "main"),
              body = pop_program_sequence(w->graph, "body");
  pop_sequence_add(body, w->twice);
  pop_sequence_add(body, pop_program_copy(w->n, w->other, "keep"));
  pop_sequence_add(main, pop_program_repeat(w->graph, 2, body, "repeat"));
  pop_sequence_add(main, pop_program_print_tensor(w->other, "other"));
  pop_sequence_add(main, w->twice);
  return main;
}

Test(both_devices, the_trace)
{
  const pop_option trace = {"debug.trace", "true"};
  check_with(&trace, traced, 3, 0,
             (outcome){.n = 24,
                       .other = 12,
                       .printed = "before twice: vertex 0, Twice.n: 3\n"
                                  "after twice: vertex 0, Twice.n: 6\n"
                                  "before copy keep: 6\n"
                                  "after copy keep: 6\n"
                                  "before twice: vertex 0, Twice.n: 6\n"
                                  "after twice: vertex 0, Twice.n: 12\n"
                                  "before copy keep: 12\n"
                                  "after copy keep: 12\n"
                                  "other: 12\n"
                                  "before twice: vertex 0, Twice.n: 12\n"
                                  "after twice: vertex 0, Twice.n: 24\n"});
  check(traced, 3, 0, (outcome){.n = 24, .other = 12, .printed = "other: 12\n"});
}
