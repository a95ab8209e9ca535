/* cached <rounds> <codelets.gp> <folder>: times of an engine that is compiled, and of
 * one from the cache.
 *
 * The program is the example matvec_split itself, for a matrix of 10000 x 1000. Each round builds
 * its graph anew, twice: one engine is compiled, the other is found in the folder. Both are loaded.
 *
 * Prints a line "<name> <milliseconds>" for each figure of each round; cached.sh explains them:
 *
 *   compiled, compiled_load    pop_engine_create and pop_engine_load without a cache
 *   cached, cached_load        the same with a hit
 */
#define EXAMPLE_CODELET_DIR ""
#define main example_main
#include "../../examples/matvec_split/matvec_split.c"
#undef main

#include <time.h>

static double now_ms(void)
{
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec * 1e3 + (double)time.tv_nsec / 1e6;
}

static pop_program build(pop_graph *graph)
{
  const size_t rows = 10000, columns = 1000, matrix_shape[] = {rows, columns};
  pop_tensor matrix = pop_graph_add_variable(graph, POP_FLOAT, matrix_shape, 2, "matrix");
  pop_tensor input = pop_graph_add_variable(graph, POP_FLOAT, &columns, 1, "inputVector");
  pop_tensor output = pop_graph_add_variable(graph, POP_FLOAT, &rows, 1, "outputVector");
  pop_graph_create_host_write(graph, "matrix", matrix);
  pop_graph_create_host_write(graph, "inputVector", input);
  pop_graph_create_host_read(graph, "outputVector", output);
  return build_multiply(graph, matrix, input, output);
}

/* folder NULL: without a cache; name NULL: not measured. */
static void make_engine(const char *codelets, const char *folder, const char *name)
{
  pop_target target;
  example_check(pop_target_create("ipu2", 1, &target));
  pop_graph *graph = pop_graph_create(&target);
  pop_graph_add_codelets(graph, codelets, NULL);
  FILE *said = stdout; /* the example talks */
  stdout = fopen("/dev/null", "w");
  pop_program program = build(graph);
  fclose(stdout);
  stdout = said;
  const pop_option options[] = {{"target.executableCachePath", folder ? folder : ""}};
  pop_engine *engine;
  double start = now_ms();
  example_check(pop_engine_create(graph, &program, 1, options, 1, &engine));
  double created = now_ms();
  example_check(pop_engine_load(engine));
  double loaded = now_ms();
  if (name) printf("%s %.3f\n%s_load %.3f\n", name, created - start, name, loaded - created);
  pop_engine_free(engine);
  pop_graph_free(graph);
}

int main(int argc, char **argv)
{
  if (argc != 4) {
    fprintf(stderr, "usage: cached ROUNDS CODELETS.gp FOLDER\n");
    return 2;
  }
  make_engine(argv[2], argv[3], NULL);
  for (int i = 0; i < atoi(argv[1]); ++i) {
    make_engine(argv[2], NULL, "compiled");
    make_engine(argv[2], argv[3], "cached");
  }
  return 0;
}
