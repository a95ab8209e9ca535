/* many_replicas REPLICAS TILES ELEMENTS: up to the largest number of replicas, of one IPU each,
 * with so many tiles, all-reduce and gather floats of their own. Prints a hash of what the host
 * sees of all of them, and the cycles. These are the same in one process and in any number of
 * ranks. Then prints, on standard error, the seconds until the engine is loaded, those of the run,
 * and the process's peak memory. */
#include <populus/populus.h>

#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

static void ok(pop_error *error)
{
  if (!error) return;
  fprintf(stderr, "error: %s\n", pop_error_message(error));
  exit(pop_error_exit_status(error));
}

static double now_seconds(void)
{
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static pop_graph *build(uint32_t replicas, uint32_t tiles, size_t count, pop_program *main)
{
  pop_target target;
  ok(pop_target_create("ipu2", replicas, &target));
  target.tiles_per_ipu = tiles;
  pop_graph *graph = pop_graph_create_replicated(&target, replicas);
  pop_popops_add_codelets(graph);
  pop_tensor x = pop_graph_add_variable(graph, POP_FLOAT, &count, 1, "x");
  pop_graph_map_linearly(graph, x, 1, 1);
  pop_graph_create_host_write(graph, "in", x);
  *main = pop_program_sequence(graph, "main");
  pop_tensor sum = pop_gcl_all_reduce(graph, x, POP_COLLECTIVE_ADD, (pop_comm_group){0},
                                      (pop_tensor){0}, *main, "sum");
  pop_graph_create_host_read(graph, "out", sum);
  return graph;
}

static uint64_t hash(const void *bytes, size_t count)
{
  uint64_t h = 14695981039346656037U;
  for (size_t i = 0; i < count; i++) h = (h ^ ((const uint8_t *)bytes)[i]) * 1099511628211U;
  return h;
}

int main(int argc, char **argv)
{
  if (argc != 4) return 2;
  uint32_t replicas = (uint32_t)strtoul(argv[1], NULL, 10);
  size_t count = strtoul(argv[3], NULL, 10), all = replicas * count;
  float *data = calloc(all, sizeof *data);
  if (!data) return 4;
  for (size_t i = 0; i < all; i++) data[i] = (float)(i * 2654435761U % 1000) / 7;
  pop_program main;
  pop_engine *engine;
  double begun = now_seconds();
  pop_graph *graph = build(replicas, (uint32_t)strtoul(argv[2], NULL, 10), count, &main);
  ok(pop_engine_create(graph, &main, 1, NULL, 0, &engine));
  ok(pop_engine_load(engine));
  double loaded = now_seconds();
  ok(pop_engine_write_tensor(engine, "in", data, all * sizeof *data));
  ok(pop_engine_run(engine, 0));
  double done = now_seconds();
  ok(pop_engine_read_tensor(engine, "out", data, all * sizeof *data));
  printf("%016llx %llu cycles\n", (unsigned long long)hash(data, all * sizeof *data),
         (unsigned long long)pop_engine_cycles(engine));
  struct rusage use;
  getrusage(RUSAGE_SELF, &use);
  fprintf(stderr, "loaded in %.2f s, run in %.2f s, peak %.1f MiB\n", loaded - begun, done - loaded,
          (double)use.ru_maxrss / 1024);
  pop_engine_free(engine);
  pop_graph_free(graph);
  free(data);
  return 0;
}
