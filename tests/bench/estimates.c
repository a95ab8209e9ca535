/* estimates <codelets.gp>: cycles of the example matvec_split with a matrix of 10000 x 1000 on a model of ipu1, where
 * vertices take what the tutorial says that they take.
 *
 * Prints "<name> <cycles>" for: program, the program; empty, one that does nothing, which is what running any takes; ipu,
 * the program with what the vertices' code takes. estimates.sh knows what they are compared with. */
#define EXAMPLE_CODELET_DIR ""
#define main example_main
#include "../../examples/matvec_split/matvec_split.c"
#undef main

static uint64_t cycles_of(pop_engine *engine, size_t program)
{
  uint64_t before = pop_engine_cycles(engine);
  example_check(pop_engine_run(engine, program));
  return pop_engine_cycles(engine) - before;
}

static void measure(const char *codelets, bool compile_ipu_code, uint64_t cycles[2])
{
  const size_t rows = 10000, columns = 1000, matrix_shape[] = {rows, columns};
  pop_ipu_model model;
  pop_device *device;
  example_check(pop_ipu_model_init(&model, "ipu1"));
  model.compile_ipu_code = compile_ipu_code;
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
  for (size_t i = 0; i < 2; ++i) cycles[i] = cycles_of(engine, i);
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
