/* execution <rounds> <steps>: the cost of the ability to profile programs, and the cost
 * of profiling them.
 *
 * The program is <steps> times a compute set with six vertices on each of 1,472 tiles and an
 * exchange to each from its neighbour. Prints a line "<name> <number>" for each figure of each
 * round; execution.sh explains them:
 *
 *   engine      milliseconds of pop_engine_run without instrumentation
 *   machine     of the machine alone with the same images, which knows nothing of profiles
 *   profiled    of pop_engine_run with all of debug.instrument and vertices measured
 *   cycles_off, cycles_on, peak_mib cycles of the device; memory of the process after writing
 *   profile, summary and trace
 */
#include "engine/engine_private.h"

#include <populus/populus.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

enum { TILES = 1472, WORKERS = 6 };

static void check(pop_error *error)
{
  if (!error) return;
  fprintf(stderr, "execution: %s\n", pop_error_message(error));
  exit(1);
}

static double now_ms(void)
{
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec * 1e3 + (double)time.tv_nsec / 1e6;
}

static const char codelets[] = "#include <populus/vertex.h>\n"
                               "typedef struct { INOUT(int) n; } Count;\n"
                               "COMPUTE(Count) { for (int i = 0; i < 8; ++i) *(volatile int "
                               "*)vertex->n += 1; return true; }\n";

static pop_engine *make_engine(uint32_t steps, bool profiled)
{
  static const int zeros[TILES * WORKERS];
  pop_target target;
  check(pop_target_create("ipu2", 1, &target));
  pop_graph *graph = pop_graph_create(&target);
  pop_graph_add_codelets_source(graph, "c", codelets, "count.c", NULL);
  const size_t shape[] = {TILES, WORKERS}, one[] = {TILES};
  pop_tensor n = pop_graph_add_variable(graph, POP_INT, shape, 2, "n"),
             near = pop_graph_add_variable(graph, POP_INT, one, 1, "near");
  pop_compute_set set = pop_graph_add_compute_set(graph, "count");
  for (uint32_t tile = 0; tile < TILES; tile++) {
    pop_graph_set_tile_mapping(graph, pop_tensor_index(n, tile), tile);
    pop_graph_set_tile_mapping(graph, pop_tensor_index(near, tile), (tile + 1) % TILES);
    for (uint32_t w = 0; w < WORKERS; w++) {
      pop_vertex v = pop_graph_add_vertex(graph, set, "Count");
      pop_graph_set_vertex_tile(graph, v, tile);
      pop_graph_connect(graph, v, "n", pop_tensor_index(pop_tensor_index(n, tile), w));
    }
  }
  pop_graph_set_initial_value(graph, n, zeros);
  pop_tensor first = pop_tensor_flatten(pop_tensor_slice(n, 0, 1, 1));
  pop_program body = pop_program_sequence(graph, "step");
  pop_sequence_add(body, pop_program_execute(graph, set, "count"));
  pop_sequence_add(body, pop_program_copy(first, near, "tell"));
  pop_program main = pop_program_repeat(graph, steps, body, "main");
  const pop_option options[] = {{"debug.instrument", profiled ? "true" : "false"},
                                {"debug.computeInstrumentationLevel", "vertex"}};
  pop_engine *engine;
  check(pop_engine_create(graph, &main, 1, options, 2, &engine));
  check(pop_engine_load(engine));
  pop_graph_free(graph);
  return engine;
}

static double run_ms(pop_engine *engine)
{
  double start = now_ms();
  check(pop_engine_run(engine, 0));
  return now_ms() - start;
}

/* What the engine's run does, on its machine. */
static double machine_ms(pop_engine *engine)
{
  uint32_t event = 1;
  double start = now_ms();
  check(machine_run(engine->replicas[0].machine, 0, &event));
  return now_ms() - start;
}

static uint64_t cycles_of(pop_engine *engine)
{
  uint64_t before = pop_engine_cycles(engine);
  check(pop_engine_run(engine, 0));
  return pop_engine_cycles(engine) - before;
}

int main(int argc, char **argv)
{
  if (argc != 3) return 2;
  uint32_t rounds = (uint32_t)atoi(argv[1]), steps = (uint32_t)atoi(argv[2]);
  pop_engine *plain = make_engine(steps, false), *profiled = make_engine(steps, true);
  printf("cycles_off %llu\n", (unsigned long long)cycles_of(plain)); /* and warms up */
  printf("cycles_on %llu\n", (unsigned long long)cycles_of(profiled));
  for (uint32_t i = 0; i < rounds; i++) {
    printf("machine %.3f\n", machine_ms(plain));
    printf("engine %.3f\n", run_ms(plain));
    check(pop_engine_reset_execution_profile(profiled));
    printf("profiled %.3f\n", run_ms(profiled));
  }
  FILE *nowhere = fopen("/dev/null", "w");
  if (!nowhere) return 1;
  check(pop_engine_write_execution_profile(profiled, POP_PROFILE_JSON, nowhere));
  check(pop_engine_print_execution_summary(profiled, true, nowhere));
  check(pop_engine_write_trace_events(profiled, nowhere));
  fclose(nowhere);
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  printf("peak_mib %.1f\n", (double)usage.ru_maxrss / 1024);
  pop_engine_free(plain);
  pop_engine_free(profiled);
  return 0;
}
