/* ranks <what> <replicas> <tiles> <elements> <rounds>: replicas in one process or, under poprun, in several ranks.
 *
 * In each round `reduce` all-reduces so many floats of each replica. `mixed` first computes on
 * them, for as long as the test machine takes for some supersteps. Prints for each round "run
 * <seconds>" of pop_engine_run, and at the end "peak_mib <MiB>" of the process. */
#include <populus/populus.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

static void check(pop_error *error)
{
  if (!error) return;
  fprintf(stderr, "ranks: %s\n", pop_error_message(error));
  exit(1);
}

static double now_seconds(void)
{
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

/* x = x * x - x / 2, many times, on all tiles. */
static void add_compute(pop_graph *graph, pop_tensor x, pop_program to)
{
  const pop_expr_node nodes[] = {{.kind = POP_EXPR_TENSOR},
                                 {.kind = POP_EXPR_TENSOR},
                                 {.kind = POP_EXPR_BINARY, .op = POP_BINARY_MULTIPLY},
                                 {.kind = POP_EXPR_CONSTANT, .value = 0.5, .type = POP_FLOAT},
                                 {.kind = POP_EXPR_BINARY, .op = POP_BINARY_SUBTRACT}};
  pop_program body = pop_program_sequence(graph, "body");
  pop_popops_map(graph, nodes, sizeof nodes / sizeof *nodes, &x, 1, x, body, "compute");
  pop_sequence_add(to, pop_program_repeat(graph, 100, body, "many"));
}

static pop_engine *make_engine(bool computes, uint32_t replicas, uint32_t tiles, size_t elements)
{
  pop_target target;
  pop_engine *engine;
  check(pop_target_create("ipu2", replicas, &target));
  target.tiles_per_ipu = tiles;
  pop_graph *graph = pop_graph_create_replicated(&target, replicas);
  pop_popops_add_codelets(graph);
  pop_tensor x = pop_graph_add_variable(graph, POP_FLOAT, &elements, 1, "x");
  pop_graph_map_linearly(graph, x, 1, 1);
  pop_program fill = pop_program_sequence(graph, "fill"),
              main = pop_program_sequence(graph, "main");
  pop_popops_fill(graph, x, NULL, fill, "zero");
  if (computes) add_compute(graph, x, main);
  pop_gcl_all_reduce(graph, x, POP_COLLECTIVE_ADD, (pop_comm_group){POP_COMM_ALL, 0}, x, main,
                     "reduce");
  check(pop_engine_create(graph, (pop_program[]){fill, main}, 2, NULL, 0, &engine));
  check(pop_engine_load(engine));
  check(pop_engine_run(engine, 0));
  pop_graph_free(graph);
  return engine;
}

int main(int argc, char **argv)
{
  if (argc != 6) return 2;
  pop_engine *engine =
      make_engine(strcmp(argv[1], "mixed") == 0, (uint32_t)strtoul(argv[2], NULL, 10),
                  (uint32_t)strtoul(argv[3], NULL, 10), strtoul(argv[4], NULL, 10));
  for (unsigned long rounds = strtoul(argv[5], NULL, 10); rounds-- > 0;) {
    double begun = now_seconds();
    check(pop_engine_run(engine, 1));
    printf("run %.6f\n", now_seconds() - begun);
  }
  struct rusage use;
  getrusage(RUSAGE_SELF, &use);
  printf("peak_mib %.1f\n", (double)use.ru_maxrss / 1024);
  pop_engine_free(engine);
  return 0;
}
