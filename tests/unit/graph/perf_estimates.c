/* Estimates of vertices: where they come from, and their effect on an IPUModel. */
#include "support/expect.h"
#include "support/graph_test.h"

#include <populus/introspection.h>
#include <populus/populus.h>
#include <pthread.h>

TestSuite(perf_estimates, .init = enter_fresh_folder);

static const char codelets[] =
    "#include <populus/vertex.h>\n"
    "typedef struct { INPUT(VECTOR(int)) in; OUTPUT(int) out; int factor; } Sum;\n"
    "COMPUTE(Sum)\n"
    "{\n"
    "  int sum = 0;\n"
    "  for (unsigned i = 0; i < vertex->in.size; i++) sum += vertex->in.data[i];\n"
    "  *vertex->out = sum * vertex->factor;\n"
    "  return true;\n"
    "}\n";

enum { ELEMENTS = 12 };

typedef struct world {
  pop_graph *graph;
  pop_device *device;
  pop_vertex vertices[2];
  pop_program program;
} world;

/* Two sums on tile 0, of all elements and of the last 5, each on a worker of its own. */
static world new_world(bool code_cycles)
{
  pop_ipu_model model;
  expect_ok(pop_ipu_model_init(&model, "ipu2"));
  cr_assert_not(model.code_cycles);
  model.tiles_per_ipu = 1;
  model.code_cycles = code_cycles;
  world w;
  expect_ok(pop_ipu_model_create_device(&model, &w.device));
  w.graph = pop_graph_create(pop_device_target(w.device));
  pop_graph_add_codelets_source(w.graph, "c", codelets, "sum.c", "-O2");
  pop_tensor in = pop_graph_add_variable(w.graph, POP_INT, (size_t[]){ELEMENTS}, 1, "in");
  pop_tensor out = pop_graph_add_variable(w.graph, POP_INT, (size_t[]){2}, 1, "out");
  pop_graph_set_tile_mapping(w.graph, in, 0);
  pop_graph_set_tile_mapping(w.graph, out, 0);
  pop_graph_set_initial_value(w.graph, in, (const int[ELEMENTS]){1, 2, 3, 4, 5, 6, 7, 8});
  pop_graph_create_host_read(w.graph, "out", out);
  pop_compute_set set = pop_graph_add_compute_set(w.graph, "sums");
  for (size_t i = 0; i < 2; i++) {
    pop_vertex v = w.vertices[i] = pop_graph_add_vertex(w.graph, set, "Sum");
    pop_graph_connect(w.graph, v, "in", pop_tensor_slice(in, i ? ELEMENTS - 5 : 0, ELEMENTS, 0));
    pop_graph_connect(w.graph, v, "out", pop_tensor_index(out, i));
    pop_graph_set_field_int(w.graph, v, "factor", 1);
    pop_graph_set_vertex_tile(w.graph, v, 0);
  }
  w.program = pop_program_execute(w.graph, set, "sums");
  assert_no_error(w.graph);
  return w;
}

static void free_world(world *w)
{
  pop_graph_free(w->graph);
  pop_device_free(w->device);
}

static uint64_t run(pop_engine *engine, pop_device *device)
{
  int out[2];
  expect_ok(device ? pop_engine_load_device(engine, device) : pop_engine_load(engine));
  uint64_t before = pop_engine_cycles(engine);
  expect_ok(pop_engine_run(engine, 0));
  uint64_t cycles = pop_engine_cycles(engine) - before;
  expect_ok(pop_engine_read_tensor(engine, "out", out, sizeof out));
  cr_assert_eq(out[0], 36);
  cr_assert_eq(out[1], 8);
  return cycles;
}

static uint64_t cycles_of(const world *w)
{
  pop_engine *engine;
  expect_ok(pop_engine_create(w->graph, &w->program, 1, NULL, 0, &engine));
  uint64_t cycles = run(engine, w->device);
  pop_engine_free(engine);
  return cycles;
}

/* The slower vertex makes the whole difference, in cycles of its worker. The results are those of
 * the code. */
Test(perf_estimates, model_takes_what_vertices_are_said_to_take)
{
  world w = new_world(false);
  pop_graph_set_cycle_estimate(w.graph, w.vertices[0], 1000);
  pop_graph_set_perf_estimate(w.graph, w.vertices[1], 3000, 12);
  uint64_t cycles = cycles_of(&w);
  pop_graph_set_perf_estimate(w.graph, w.vertices[1], 4000, 12);
  cr_assert_eq(cycles_of(&w) - cycles, 1000 * 6);
  pop_graph_set_cycle_estimate(w.graph, w.vertices[0], 900);
  cr_assert_eq(cycles_of(&w) - cycles, 1000 * 6);
  cr_assert_eq(pop_graph_perf_estimate(w.graph, w.vertices[1]).cycles, 4000);
  cr_assert_eq(pop_graph_perf_estimate(w.graph, w.vertices[1]).flops, 12);
  free_world(&w);
}

/* Vertices without an estimate take the cycles of their code, as on an IPU. */
Test(perf_estimates, code_counts_where_nothing_is_said)
{
  world none = new_world(false), all = new_world(false), compiled = new_world(true);
  for (int i = 0; i < 2; i++) {
    pop_graph_set_cycle_estimate(all.graph, all.vertices[i], 5000);
    pop_graph_set_cycle_estimate(compiled.graph, compiled.vertices[i], 5000);
  }
  uint64_t cycles = cycles_of(&none);
  cr_assert_gt(cycles, 0);
  cr_assert_eq(cycles_of(&compiled), cycles);
  cr_assert_gt(cycles_of(&all), 5000 * 6);
  free_world(&none);
  free_world(&all);
  free_world(&compiled);
}

static pop_perf_estimate estimate_sum(void *context, pop_graph *graph, pop_vertex vertex)
{
  (void)context;
  size_t elements = pop_graph_vertex_field_size(graph, vertex, "in");
  cr_assert_eq(pop_graph_vertex_field_size(graph, vertex, "out"), 1);
  cr_assert_eq(pop_graph_vertex_field_size(graph, vertex, "factor"), 1);
  cr_assert_eq(pop_graph_vertex_field_size(graph, vertex, "nothing"), SIZE_MAX);
  return (pop_perf_estimate){.cycles = 1000 * elements, .flops = elements};
}

Test(perf_estimates, type_knows_what_its_vertices_take)
{
  world w = new_world(false), same = new_world(false);
  pop_graph_register_perf_estimator(w.graph, "Sum", estimate_sum, NULL);
  pop_graph_set_cycle_estimate(w.graph, w.vertices[1], 100);
  pop_graph_set_cycle_estimate(same.graph, same.vertices[0], 1000 * ELEMENTS);
  pop_graph_set_cycle_estimate(same.graph, same.vertices[1], 100);
  cr_assert_eq(cycles_of(&w), cycles_of(&same));
  cr_assert_eq(pop_graph_perf_estimate(w.graph, w.vertices[0]).flops, ELEMENTS);
  cr_assert_eq(pop_graph_perf_estimate(w.graph, w.vertices[1]).cycles, 100);
  pop_graph_register_perf_estimator(w.graph, "Sum", NULL, NULL);
  cr_assert_lt(cycles_of(&w), cycles_of(&same));
  cr_assert_eq(pop_graph_perf_estimate(w.graph, w.vertices[0]).cycles, 0);
  free_world(&w);
  free_world(&same);
}

Test(perf_estimates, are_in_the_archive)
{
  world w = new_world(false);
  pop_graph_set_cycle_estimate(w.graph, w.vertices[0], 7777);
  uint64_t cycles = cycles_of(&w);
  pop_executable *compiled, *loaded;
  pop_engine *engine;
  expect_ok(pop_compile_graph(w.graph, &w.program, 1, NULL, 0, &compiled));
  expect_ok(pop_executable_save(compiled, "a.a"));
  expect_ok(pop_executable_load("a.a", &loaded));
  expect_ok(pop_engine_create_from_executable(loaded, NULL, 0, &engine));
  cr_assert_eq(run(engine, NULL), cycles);
  pop_engine_free(engine);
  pop_executable_free(loaded);
  pop_executable_free(compiled);
  free_world(&w);
}

Test(perf_estimates, wrong_use)
{
  world w = new_world(false);
  cr_assert_eq(pop_graph_vertex_field_size(w.graph, (pop_vertex){w.graph, 9}, "in"), SIZE_MAX);
  cr_assert_eq(pop_graph_perf_estimate(w.graph, (pop_vertex){0}).cycles, 0);
  pop_graph_register_perf_estimator(w.graph, "Sun", estimate_sum, NULL);
  assert_error(
      w.graph, POP_ERROR_UNKNOWN_VERTEX_TYPE,
      (const char *const[]){"pop_graph_register_perf_estimator", "no vertex type 'Sun'", NULL},
      "unknown type");
  free_world(&w);
}

/* ---- calls during compilation ---- */

static void *compile_again(void *context)
{
  world *w = context;
  pop_executable *executable = NULL;
  return pop_compile_graph(w->graph, &w->program, 1, NULL, 0, &executable);
}

static void *add_a_variable(void *context)
{
  world *w = context;
  pop_graph_add_variable(w->graph, POP_INT, (size_t[]){1}, 1, "late");
  return NULL;
}

typedef struct intruder {
  world *world;
  void *(*call)(void *);
  void *result;
  bool on_a_thread, came;
} intruder;

static pop_perf_estimate let_in(void *context, pop_graph *graph, pop_vertex vertex)
{
  intruder *i = context;
  pthread_t thread;
  cr_assert_eq(pop_graph_vertex_field_size(graph, vertex, "out"),
               1); /* the compiling thread may ask */
  if (!i->came && i->on_a_thread) {
    cr_assert_eq(pthread_create(&thread, NULL, i->call, i->world), 0);
    cr_assert_eq(pthread_join(thread, &i->result), 0);
  } else if (!i->came) {
    i->result = i->call(i->world);
  }
  i->came = true;
  return (pop_perf_estimate){.cycles = 1000};
}

static intruder compile_with(world *w, void *(*call)(void *), bool on_a_thread)
{
  intruder i = {w, call, NULL, on_a_thread, false};
  pop_executable *executable;
  pop_graph_register_perf_estimator(w->graph, "Sum", let_in, &i);
  expect_ok(pop_compile_graph(w->graph, &w->program, 1, NULL, 0, &executable));
  pop_executable_free(executable);
  cr_assert(i.came);
  return i;
}

Test(perf_estimates, P13_a_graph_that_is_being_compiled_is_not_for_others)
{
  for (int on_a_thread = 0; on_a_thread < 2; on_a_thread++) {
    world w = new_world(false);
    intruder i = compile_with(&w, compile_again, on_a_thread);
    expect_error(
        i.result, POP_ERROR_RUNTIME,
        "cannot compile: the graph is being compiled; threads must take turns with a graph, "
        "or have one each",
        on_a_thread ? "by another thread" : "by the estimator");
    assert_no_error(w.graph);
    free_world(&w);
  }
  world w = new_world(false);
  compile_with(&w, add_a_variable, true);
  expect_error(
      pop_graph_take_error(w.graph), POP_ERROR_RUNTIME,
      "the graph is being compiled; threads must take turns with a graph, or have one each",
      "another thread's variable");
  add_a_variable(&w); /* the compilation is over */
  assert_no_error(w.graph);
  free_world(&w);
}

Test(perf_estimates, estimator_reads_plain_fields)
{
  world w = new_world(false);
  int factor = 0;
  cr_assert_eq(pop_graph_vertex_field_values(w.graph, w.vertices[0], "factor", &factor, 1), 1);
  cr_assert_eq(factor, 1);
  cr_assert_eq(pop_graph_vertex_field_values(w.graph, w.vertices[0], "factor", NULL, 0), 1);
  cr_assert_eq(pop_graph_vertex_field_values(w.graph, w.vertices[0], "in", &factor, 1), SIZE_MAX);
  cr_assert_eq(pop_graph_vertex_field_values(w.graph, w.vertices[0], "none", &factor, 1), SIZE_MAX);
  cr_assert_eq(pop_graph_vertex_field_values(w.graph, (pop_vertex){w.graph, 99}, "in", &factor, 1),
               SIZE_MAX);
  free_world(&w);
}

Test(perf_estimates, estimator_reads_constants_that_fields_are_connected_to)
{
  world w = new_world(false);
  pop_vertex v = pop_graph_add_vertex(w.graph, (pop_compute_set){w.graph, 1}, "Sum");
  int values[3] = {0};
  cr_assert_eq(pop_graph_vertex_field_values(w.graph, v, "in", values, 3), 0,
               "nothing is connected");
  pop_graph_connect_value(w.graph, v, "in", POP_INT, (const int[]){4, 5}, 2);
  assert_no_error(w.graph);
  cr_assert_eq(pop_graph_vertex_field_values(w.graph, v, "in", values, 3), 2);
  cr_assert_eq(values[0], 4);
  cr_assert_eq(values[1], 5);
  cr_assert_eq(values[2], 0);
  free_world(&w);
}

typedef struct steps {
  unsigned calls, done, total;
  bool in_order;
} steps;

static void count_step(void *context, unsigned done, unsigned total)
{
  steps *s = context;
  s->in_order = s->calls == 0 ? done == 0 : s->in_order && done == s->done + 1 && total == s->total;
  s->calls++;
  s->done = done;
  s->total = total;
}

Test(perf_estimates, progress_of_a_compilation_is_told)
{
  world w = new_world(false);
  steps s = {0};
  pop_executable *executable;
  pop_graph_set_progress(w.graph, count_step, &s);
  expect_ok(pop_compile_graph(w.graph, &w.program, 1, NULL, 0, &executable));
  cr_assert(s.in_order);
  cr_assert_gt(s.calls, 2);
  cr_assert_eq(s.done, s.total);
  pop_executable_free(executable);
  pop_graph_set_progress(w.graph, NULL, NULL);
  s.calls = 0;
  expect_ok(pop_compile_graph(w.graph, &w.program, 1, NULL, 0, &executable));
  cr_assert_eq(s.calls, 0);
  pop_executable_free(executable);
  free_world(&w);
}
