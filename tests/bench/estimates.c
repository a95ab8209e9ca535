/* estimates <codelets.gp>: cycles of the example matvec_split with a matrix of 10000 x 1000 on a
 * model of ipu1, where vertices take the cycles of the tutorial's estimates.
 *
 * Prints "<name> <cycles>" for: program, the program; empty, a program that does nothing, which
 * is the overhead of any run; ipu, the program with the cycles of the vertices' code. Before
 * that it prints where the program's cycles go, by the machine's events: "step <what> <from>
 * <to>", when the first tile begins the step and the last one ends it. estimates.sh says to
 * what these are compared. */
#define EXAMPLE_CODELET_DIR ""
#define main example_main
#include "../../examples/matvec_split/matvec_split.c"
#undef main

#include "engine/engine_private.h"

/* A run, as steps that follow each other: events of one kind in a row. */
typedef struct timeline {
  uint64_t start;
  machine_trace_kind kind;
  uint64_t from, to; /* 0: no step has begun */
} timeline;

static void end_step(timeline *t)
{
  static const char *const names[] = {
      [MACHINE_TRACE_COMPUTE] = "compute", [MACHINE_TRACE_EXCHANGE] = "exchange",
      [MACHINE_TRACE_SYNC] = "sync",       [MACHINE_TRACE_HOST_SYNC] = "host_sync",
      [MACHINE_TRACE_VERTEX] = "vertex",   [MACHINE_TRACE_HOST_EXCHANGE] = "host_exchange",
  };
  if (t->to)
    printf("step %s %llu %llu\n", names[t->kind], (unsigned long long)(t->from - t->start),
           (unsigned long long)(t->to - t->start));
  t->to = 0;
}

static void hear(void *context, const machine_trace_event *event)
{
  timeline *t = context;
  if (t->to && event->kind != t->kind) end_step(t);
  if (!t->to || event->from < t->from) t->from = event->from;
  if (event->to > t->to) t->to = event->to;
  t->kind = event->kind;
}

static uint64_t cycles_of(pop_engine *engine, size_t program, bool shows_steps)
{
  timeline t = {.start = pop_engine_cycles(engine)};
  machine_set_trace(engine->replicas[0].machine, shows_steps ? hear : NULL, &t);
  example_check(pop_engine_run(engine, program));
  end_step(&t);
  machine_set_trace(engine->replicas[0].machine, NULL, NULL);
  return pop_engine_cycles(engine) - t.start;
}

static void measure(const char *codelets, bool code_cycles, uint64_t cycles[2])
{
  const size_t rows = 10000, columns = 1000, matrix_shape[] = {rows, columns};
  pop_ipu_model model;
  pop_device *device;
  example_check(pop_ipu_model_init(&model, "ipu1"));
  model.code_cycles = code_cycles;
  example_check(pop_ipu_model_create_device(&model, &device));
  pop_graph *graph = pop_graph_create(pop_device_target(device));
  pop_graph_add_codelets(graph, codelets, NULL);
  pop_tensor matrix = pop_graph_add_variable(graph, POP_FLOAT, matrix_shape, 2, "matrix");
  pop_tensor input = pop_graph_add_variable(graph, POP_FLOAT, &columns, 1, "inputVector");
  pop_tensor output = pop_graph_add_variable(graph, POP_FLOAT, &rows, 1, "outputVector");
  FILE *said = stdout; /* the example talks */
  stdout = fopen("/dev/null", "w");
  const pop_program programs[] = {build_multiply(graph, matrix, input, output),
                                  pop_program_sequence(graph, "nothing")};
  fclose(stdout);
  stdout = said;
  pop_engine *engine;
  example_check(pop_engine_create(graph, programs, 2, NULL, 0, &engine));
  example_check(pop_engine_load_device(engine, device));
  for (size_t i = 0; i < 2; ++i) cycles[i] = cycles_of(engine, i, i == 0 && !code_cycles);
  pop_engine_free(engine);
  pop_graph_free(graph);
  pop_device_free(device);
}

int main(int argc, char **argv)
{
  if (argc != 2) {
    fprintf(stderr, "usage: estimates CODELETS.gp\n");
    return 2;
  }
  uint64_t model[2], ipu[2];
  measure(argv[1], false, model);
  measure(argv[1], true, ipu);
  printf("program %llu\nempty %llu\nipu %llu\n", (unsigned long long)model[0],
         (unsigned long long)model[1], (unsigned long long)ipu[0]);
  return 0;
}
