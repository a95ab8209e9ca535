/* Data parallel: one graph, four replicas of it, a quarter of the data for each. Every replica adds up its
 * quarter; then the sums go round in a ring, so that after three copies each replica has the sum of all. The
 * graph is compiled once; or, with --one-graph, the replicas are four parts of one graph, compiled as a whole.
 *
 * usage: replicas [--device ipu|ipumodel|cpu] [--one-graph] */
#include "../example.h"

enum { REPLICAS = 4, PER_REPLICA = 1000 };

static pop_program add_sum(pop_graph *graph, pop_tensor data, pop_tensor total)
{
  pop_compute_set set = pop_graph_add_compute_set(graph, "sum");
  pop_vertex v = pop_graph_add_vertex(graph, set, "PartSum");
  pop_graph_connect(graph, v, "in", data);
  pop_graph_connect(graph, v, "out", pop_tensor_index(total, 0));
  pop_graph_set_vertex_tile(graph, v, 0);
  return pop_program_execute(graph, set, "sum");
}

/* What is passed on comes to the next replica, which adds it and passes it on in the next round. */
static pop_program add_round(pop_graph *graph, pop_tensor passed, pop_tensor total)
{
  pop_replica_pair ring[REPLICAS];
  for (uint32_t i = 0; i < REPLICAS; ++i) ring[i] = (pop_replica_pair){i, (i + 1) % REPLICAS};
  pop_compute_set set = pop_graph_add_compute_set(graph, "add");
  pop_vertex v = pop_graph_add_vertex(graph, set, "AddOther");
  pop_graph_connect(graph, v, "total", pop_tensor_index(total, 0));
  pop_graph_connect(graph, v, "other", pop_tensor_index(passed, 0));
  pop_graph_set_vertex_tile(graph, v, 0);
  pop_program round = pop_program_sequence(graph, "round");
  pop_sequence_add(round, pop_program_cross_replica_copy(passed, passed, ring, REPLICAS, "ring"));
  pop_sequence_add(round, pop_program_execute(graph, set, "add"));
  return pop_program_repeat(graph, REPLICAS - 1, round, "rounds");
}

static pop_program build(pop_graph *graph)
{
  const size_t count = PER_REPLICA, one = 1;
  pop_tensor data = pop_graph_add_variable(graph, POP_FLOAT, &count, 1, "data");
  pop_tensor total = pop_graph_add_variable(graph, POP_FLOAT, &one, 1, "total");
  pop_tensor passed = pop_graph_add_variable(graph, POP_FLOAT, &one, 1, "passed");
  pop_graph_map_linearly(graph, data, 1, 1);
  pop_graph_set_tile_mapping(graph, total, 0);
  pop_graph_set_tile_mapping(graph, passed, 0);
  pop_stream in = pop_graph_add_host_to_device_fifo(graph, "data", POP_FLOAT, PER_REPLICA);
  pop_program program = pop_program_sequence(graph, "main");
  pop_sequence_add(program, pop_program_copy_from_stream(in, data, "a quarter of the data"));
  pop_sequence_add(program, add_sum(graph, data, total));
  pop_sequence_add(program, pop_program_copy(total, passed, "own sum first"));
  pop_sequence_add(program, add_round(graph, passed, total));
  pop_sequence_add(program, pop_program_assume_equal_across_replicas(total, "the sum of all"));
  pop_graph_create_host_read(graph, "total", total);
  return program;
}

static const char usage[] = EXAMPLE_DEVICE " [--one-graph]";

int main(int argc, char **argv)
{
  example_help(argc, argv, usage);
  static float data[REPLICAS][PER_REPLICA];
  float expected = 0, totals[REPLICAS];
  for (int i = 0; i < REPLICAS * PER_REPLICA; ++i)
    expected += (&data[0][0])[i] = (float)(i % 100); /* all sums are exact */
  pop_device *device = example_device(&argc, argv, REPLICAS);
  bool one_graph = argc > 1 && strcmp(argv[1], "--one-graph") == 0;
  if (one_graph) {
    argv[1] = argv[0];
    ++argv;
    --argc;
  }
  example_check_arguments(argc, argv, 0, usage);
  const pop_target *target = pop_device_target(device);
  pop_graph *whole =
      one_graph ? pop_graph_create(target) : pop_graph_create_replicated(target, REPLICAS);
  pop_graph *graph = one_graph ? pop_graph_create_replicated_graph(whole, REPLICAS) : whole;
  pop_graph_add_codelets(graph, EXAMPLE_CODELET_DIR "/replicas_codelets.gp", NULL);
  pop_program program = build(graph);
  const pop_option check = {"debug.runtimeVerify", "true"}; /* that the totals are equal */
  pop_engine *engine;
  example_check(pop_engine_create(graph, &program, 1, &check, 1, &engine));
  example_check(pop_engine_connect_stream(engine, "data", data, data + REPLICAS));
  example_check(pop_engine_load_device(engine, device));
  example_check(pop_engine_run(engine, 0));
  example_check(pop_engine_read_tensor(engine, "total", totals, sizeof totals));
  int wrong = 0;
  for (int i = 0; i < REPLICAS; ++i) {
    printf("replica %d: %g\n", i, (double)totals[i]);
    wrong += totals[i] != expected;
  }
  printf("%d replicas, %d wrong, %llu cycles\n", REPLICAS, wrong,
         (unsigned long long)pop_engine_cycles(engine));
  pop_engine_free(engine);
  pop_graph_free(whole);
  pop_device_free(device);
  return example_end(wrong != 0);
}
