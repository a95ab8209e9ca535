/* The guide's tutorial 6: matrix times vector, one vertex per row; every vertex gets the whole input
 * vector, so each tile with a vertex receives a copy of it. */
#include "../matvec_host.h"

/* One vertex per row, spread evenly; each row and its output element live where their vertex is,
 * the input vector is spread over all tiles. */
static pop_program build_multiply(pop_graph *graph, pop_tensor matrix, pop_tensor input,
                                  pop_tensor output)
{
  size_t rows = pop_tensor_dim(matrix, 0);
  size_t num_tiles = pop_target_num_tiles(pop_graph_get_target(graph));
  pop_graph_map_linearly(graph, input, 0, 0);
  pop_compute_set multiply = pop_graph_add_compute_set(graph, "mulCS");
  for (size_t row = 0; row < rows; ++row) {
    size_t tile = row * num_tiles / rows;
    pop_vertex vertex = pop_graph_add_vertex(graph, multiply, "DotProductVertex");
    pop_graph_connect(graph, vertex, "a", pop_tensor_index(matrix, row));
    pop_graph_connect(graph, vertex, "b", input);
    pop_graph_connect(graph, vertex, "out", pop_tensor_index(output, row));
    pop_graph_set_vertex_tile(graph, vertex, tile);
    pop_graph_set_tile_mapping(graph, pop_tensor_index(matrix, row), tile);
    pop_graph_set_tile_mapping(graph, pop_tensor_index(output, row), tile);
  }
  return pop_program_execute(graph, multiply, "multiply");
}

int main(int argc, char **argv)
{
  return matvec_main(argc, argv, EXAMPLE_CODELET_DIR "/dot_codelets.gp", build_multiply);
}
