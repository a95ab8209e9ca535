/* A program whose profile has everything, compiled and run for its figures. */
#ifndef TESTS_PROFILED_PROGRAM_H
#define TESTS_PROFILED_PROGRAM_H

#include "engine/engine_private.h"
#include "support/count_codelet.h"
#include "support/expect.h"
#include "support/graph_test.h"

#include <populus/populus.h>

enum { TILES = 6, SLOT = 6 };

static const char codelets[] =
    COUNT_CODELET "typedef struct { INOUT(int) n; } All;\n"
                  "MULTI_COMPUTE(All)\n"
                  "{\n"
                  "  for (unsigned i = 0; i < worker; ++i) (void)*(volatile int *)vertex->n;\n"
                  "  return true;\n"
                  "}\n"
                  "typedef struct { INOUT(int) n; } One;\n"
                  "SUPERVISOR_COMPUTE(One) { *vertex->n += 1; return true; }\n";

/* Program 0 executes `count`: tile t has 3 * t vertices, and vertex i takes r(i) rounds. Program 1
 * executes `kinds`, with a vertex of all workers, one of the supervisor and one of a worker on tile
 * 2. Program 2 copies from a stream, sends tile 4 what tile 1 has, runs `count` three times, and
 * then as often as the stream's element says. Program 3 is `kinds` if that element is not 0, else
 * `count` twice. */
static inline pop_executable *compile(const pop_option *options, size_t num_options,
                                      uint32_t num_ipus)
{
  pop_target target;
  expect_ok(pop_target_create("ipu2", num_ipus, &target));
  target.tiles_per_ipu = TILES / num_ipus;
  pop_graph *graph = pop_graph_create(&target);
  pop_graph_add_codelets_source(graph, "c", codelets, "count.c", NULL);
  enum { MAX = 3 * TILES * TILES };
  pop_tensor n = pop_graph_add_variable(graph, POP_INT, (size_t[]){MAX}, 1, "n");
  pop_graph_set_tile_mapping(graph, n, 0);
  static const int zeros[MAX];
  pop_graph_set_initial_value(graph, n, zeros);
  pop_compute_set count = pop_graph_add_compute_set(graph, "count"),
                  kinds = pop_graph_add_compute_set(graph, "kinds");
  size_t next = 0;
  for (unsigned tile = 0; tile < TILES; tile++)
    for (unsigned i = 0; i < 3 * tile; i++, next++) {
      pop_tensor element = pop_tensor_index(n, next);
      pop_vertex v = pop_graph_add_vertex(graph, count, "Count");
      pop_graph_set_tile_mapping(graph, element, tile);
      pop_graph_set_vertex_tile(graph, v, tile);
      pop_graph_connect(graph, v, "n", element);
      pop_graph_set_field_int(graph, v, "rounds", 1 + 5 * i % 7);
    }
  static const char *const types[] = {"All", "One", "Count"};
  for (size_t i = 0; i < 3; i++, next++) {
    pop_tensor element = pop_tensor_index(n, next);
    pop_vertex v = pop_graph_add_vertex(graph, kinds, types[i]);
    pop_graph_set_tile_mapping(graph, element, 2);
    pop_graph_set_vertex_tile(graph, v, 2);
    pop_graph_connect(graph, v, "n", element);
    if (i == 2) pop_graph_set_field_int(graph, v, "rounds", 100);
  }
  pop_tensor left = pop_tensor_slice(n, next, next + 1, 0),
             told = pop_tensor_slice(n, next + 1, next + 2, 0);
  pop_graph_set_tile_mapping(graph, left, 1);
  pop_graph_set_tile_mapping(graph, told, 4);
  pop_compute_set down = pop_graph_add_compute_set(graph, "down");
  pop_graph_add_codelets_source(graph, "c",
                                "#include <populus/vertex.h>\n"
                                "typedef struct { INOUT(int) n; } Down;\n"
                                "COMPUTE(Down) { *vertex->n -= 1; return true; }\n",
                                "down.c", NULL);
  pop_vertex v = pop_graph_add_vertex(graph, down, "Down");
  pop_graph_set_vertex_tile(graph, v, 1);
  pop_graph_connect(graph, v, "n", left);

  pop_stream in = pop_graph_add_host_to_device_fifo(graph, "in", POP_INT, 1);
  pop_program programs[4] = {pop_program_execute(graph, count, NULL),
                             pop_program_execute(graph, kinds, NULL),
                             pop_program_sequence(graph, "loops"),
                             {0}};
  pop_sequence_add(programs[2], pop_program_copy_from_stream(in, left, "in"));
  pop_sequence_add(programs[2], pop_program_copy(left, told, "tell"));
  pop_sequence_add(
      programs[2],
      pop_program_block(graph, pop_program_repeat(graph, 3, programs[0], NULL), "three times"));
  pop_sequence_add(programs[2],
                   pop_program_repeat_while_true((pop_program){0}, left,
                                                 pop_program_execute(graph, down, NULL), "while"));
  programs[3] =
      pop_program_if(left, programs[1], pop_program_repeat(graph, 2, programs[0], NULL), "either");
  assert_no_error(graph);
  pop_executable *executable;
  expect_ok(pop_compile_graph(graph, programs, 4, options, num_options, &executable));
  pop_graph_free(graph);
  return executable;
}

/* The machine's figures for each tile's workers in the last compute set. */
typedef struct machine_says {
  uint64_t compute[TILES];
  uint64_t host_exchange, global_exchange;
  uint64_t num_compute;
} machine_says;

static inline void hear(void *context, const machine_trace_event *event)
{
  machine_says *says = context;
  uint64_t cycles = event->to - event->from;
  if (event->kind == MACHINE_TRACE_COMPUTE) says->compute[event->tile] = cycles;
  if (event->kind == MACHINE_TRACE_COMPUTE) says->num_compute++;
  if (event->kind == MACHINE_TRACE_HOST_EXCHANGE) says->host_exchange = cycles;
  if (event->kind == MACHINE_TRACE_GLOBAL_EXCHANGE) says->global_exchange = cycles;
}

typedef struct setting {
  const char *level, *engine, *threads;
  uint32_t num_ipus;
} setting;

typedef struct profiled {
  pop_engine *engine;
  machine_says says;
  int rounds; /* of the stream */
} profiled;

static inline profiled *start(const setting *s)
{
  const pop_option compiled[] = {{"debug.instrument", "true"},
                                 {"debug.computeInstrumentationLevel", s->level}};
  const pop_option running[] = {{"target.tileEngine", s->engine},
                                {"target.tileEngineThreads", s->threads}};
  pop_executable *executable = compile(compiled, 2, s->num_ipus ? s->num_ipus : 1);
  profiled *p = pop_xcalloc(1, sizeof *p);
  expect_ok(pop_engine_create_from_executable(executable, running, 2, &p->engine));
  pop_executable_free(executable);
  expect_ok(pop_engine_load(p->engine));
  expect_ok(pop_engine_connect_stream(p->engine, "in", &p->rounds, &p->rounds + 1));
  machine_set_trace(p->engine->replicas[0].machine, hear, &p->says);
  return p;
}

static inline void stop_profile(profiled *p)
{
  pop_engine_free(p->engine);
  free(p);
}

static inline pop_profile *run(profiled *p, size_t program)
{
  pop_profile *profile;
  memset(&p->says, 0, sizeof p->says);
  expect_ok(pop_engine_run(p->engine, program));
  expect_ok(pop_engine_execution_profile(p->engine, &profile));
  return profile;
}

#endif
