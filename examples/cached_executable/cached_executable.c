/* Compiled once, loaded ever after: the first run of this program puts the executable into a folder, the next
 * ones take it from there. Each tile sums up the vector's elements from its own on, as in suffix_sum.
 *
 * usage: cached_executable [FOLDER]     (default: cache) */
#include "../example.h"

#include <time.h>

static double now_ms(void)
{
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec * 1e3 + (double)time.tv_nsec / 1e6;
}

static pop_program build(pop_graph *graph, size_t count)
{
  pop_tensor in = pop_graph_add_variable(graph, POP_FLOAT, &count, 1, "in");
  pop_tensor out = pop_graph_add_variable(graph, POP_FLOAT, &count, 1, "out");
  pop_graph_map_linearly(graph, in, 1, 1);
  pop_graph_map_linearly(graph, out, 1, 1);
  pop_graph_create_host_write(graph, "in", in);
  pop_graph_create_host_read(graph, "out", out);
  pop_compute_set set = pop_graph_add_compute_set(graph, "suffix sums");
  for (size_t i = 0; i < count; ++i) {
    pop_vertex vertex = pop_graph_add_vertex(graph, set, "SumVertex");
    pop_graph_connect(graph, vertex, "in", pop_tensor_slice(in, i, count, 0));
    pop_graph_connect(graph, vertex, "out", pop_tensor_index(out, i));
    pop_graph_set_vertex_tile(graph, vertex, i);
  }
  return pop_program_execute(graph, set, "suffix sums");
}

/* By the option, or for any program by the environment's POPLAR_EXECUTABLE_CACHE_DIR. */
static pop_executable *compile_with_cache(pop_graph *graph, pop_program program, const char *folder)
{
  const pop_option options[] = {{"target.executableCachePath", folder}};
  pop_executable *executable;
  example_check(pop_compile_graph(graph, &program, 1, options, 1, &executable));
  return executable;
}

static void run(pop_executable *executable, size_t count)
{
  float *in = example_alloc(2 * count, sizeof *in), *out = in + count;
  for (size_t i = 0; i < count; ++i) in[i] = 1;
  pop_engine *engine;
  example_check(pop_engine_create_from_executable(executable, NULL, 0, &engine));
  example_check(pop_engine_load(engine));
  example_check(pop_engine_write_tensor(engine, "in", in, count * sizeof *in));
  example_check(pop_engine_run(engine, 0));
  example_check(pop_engine_read_tensor(engine, "out", out, count * sizeof *out));
  printf("sums: %g %g ... %g\n", (double)out[0], (double)out[1], (double)out[count - 1]);
  pop_engine_free(engine);
  free(in);
}

static const char usage[] = "[FOLDER]";

int main(int argc, char **argv)
{
  example_help(argc, argv, usage);
  pop_target target;
  example_check_arguments(argc, argv, 1, usage);
  example_check(pop_target_create("ipu2", 1, &target));
  pop_graph *graph = pop_graph_create(&target);
  pop_graph_add_codelets(graph, EXAMPLE_CODELET_DIR "/sum_codelets.gp", NULL);
  size_t count = pop_target_num_tiles(&target);
  pop_program program = build(graph, count);
  double start = now_ms();
  pop_executable *executable = compile_with_cache(graph, program, argc > 1 ? argv[1] : "cache");
  printf("executable: %.0f ms\n", now_ms() - start);
  pop_graph_free(graph);
  run(executable, count);
  pop_executable_free(executable);
  return example_end(0);
}
