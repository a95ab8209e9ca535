/* The guide's tutorial 3: a codelet, four vertices on four tiles. Element i of v2 becomes the sum of
 * the elements of v1 from i on.
 *
 * usage: suffix_sum [--device ipu|ipumodel|cpu] [CODELETS]     a .gp file, or source that is compiled now */
#include "../example.h"

static const char usage[] = EXAMPLE_DEVICE " [CODELETS]";

int main(int argc, char **argv)
{
  example_help(argc, argv, usage);
  pop_device *device = example_device(&argc, argv, 1);
  example_check_arguments(argc, argv, 1, usage);
  pop_graph *graph = pop_graph_create(pop_device_target(device));
  pop_graph_add_codelets(graph, argc > 1 ? argv[1] : EXAMPLE_CODELET_DIR "/sum_codelets.gp", NULL);

  static const size_t shape[] = {4};
  static const float c1_values[] = {1.0f, 1.5f, 2.0f, 2.5f};
  pop_tensor v1 = pop_graph_add_variable(graph, POP_FLOAT, shape, 1, "v1");
  pop_tensor v2 = pop_graph_add_variable(graph, POP_FLOAT, shape, 1, "v2");
  pop_tensor c1 = pop_graph_add_constant(graph, POP_FLOAT, shape, 1, c1_values, "c1");
  for (size_t i = 0; i < 4; ++i) {
    pop_graph_set_tile_mapping(graph, pop_tensor_index(v1, i), i);
    pop_graph_set_tile_mapping(graph, pop_tensor_index(v2, i), i);
  }
  pop_graph_set_tile_mapping(graph, c1, 0);

  pop_compute_set compute_set = pop_graph_add_compute_set(graph, "computeSet");
  for (size_t i = 0; i < 4; ++i) {
    pop_vertex vertex = pop_graph_add_vertex(graph, compute_set, "SumVertex");
    pop_graph_connect(graph, vertex, "in", pop_tensor_slice(v1, i, 4, 0));
    pop_graph_connect(graph, vertex, "out", pop_tensor_index(v2, i));
    pop_graph_set_vertex_tile(graph, vertex, i);
    pop_graph_set_cycle_estimate(graph, vertex, 20);
  }

  pop_program program = pop_program_sequence(graph, "main");
  pop_sequence_add(program, pop_program_copy(c1, v1, "initialise v1"));
  pop_sequence_add(program, pop_program_execute(graph, compute_set, "suffix sums"));
  pop_sequence_add(program, pop_program_print_tensor(v2, "v2"));

  pop_engine *engine;
  example_check(pop_engine_create(graph, &program, 1, NULL, 0, &engine));
  example_check(pop_engine_load_device(engine, device));
  pop_engine_set_print_stream(engine, stdout);
  example_check(pop_engine_run(engine, 0));
  pop_engine_free(engine);
  pop_graph_free(graph);
  pop_device_free(device);
  return example_end(0);
}
