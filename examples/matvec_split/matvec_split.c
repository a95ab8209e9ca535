/* The guide's tutorial 7: matrix times vector with each row split into segments, so that there is
 * work for all workers of all tiles and less of the input vector to send. Two compute sets: dot
 * products of segments, then the sum of each row's partial results. How many segments is found by
 * estimating the cycles of every split. */
#include "../matvec_host.h"

enum { INPUT_GRAIN = 8 };

static size_t divide_up(size_t a, size_t b)
{
  return (a + b - 1) / b;
}

typedef struct cycle_estimate {
  size_t compute, exchange, reduce_exchange, reduce_compute;
} cycle_estimate;

static size_t total_cycles(const cycle_estimate *e)
{
  return e->compute + e->exchange + e->reduce_exchange + e->reduce_compute;
}

/* Five cycles to start a vertex; then two multiply-adds, or two additions, a cycle. */
static size_t vertex_cycles(size_t elements)
{
  return 5 + (elements + 1) / 2;
}

/* Cycles of the busiest tile for `vertices` equal vertices: workers are filled in rounds. */
static size_t tile_cycles(const pop_target *target, size_t vertices, size_t cycles_per_vertex)
{
  size_t workers = target->num_worker_contexts;
  return divide_up(vertices, workers) * workers * cycles_per_vertex;
}

/* The tutorial's cost model of a split: the longest-running tile's computation and what the tile that
 * receives most receives, for both phases. */
static cycle_estimate estimate_cycles(const pop_target *target, size_t rows, size_t columns,
                                      size_t split)
{
  size_t tiles = pop_target_num_tiles(target);
  size_t words_per_cycle = target->exchange_bytes_per_cycle / sizeof(float);
  size_t dot_vertices = divide_up(rows * split, tiles);
  size_t reduce_vertices = divide_up(rows, tiles);
  size_t segment = divide_up(columns, split);
  return (cycle_estimate){
      .compute = tile_cycles(target, dot_vertices, vertex_cycles(segment)),
      .exchange = divide_up(dot_vertices, rows) * segment / words_per_cycle,
      .reduce_exchange = reduce_vertices * split / words_per_cycle,
      .reduce_compute = tile_cycles(target, reduce_vertices, vertex_cycles(split)),
  };
}

static size_t find_best_split(const pop_target *target, size_t rows, size_t columns)
{
  size_t best = 1, worst_cost = 0;
  cycle_estimate best_estimate = estimate_cycles(target, rows, columns, 1);
  for (size_t split = 1; split < columns; ++split) {
    cycle_estimate estimate = estimate_cycles(target, rows, columns, split);
    size_t cost = total_cycles(&estimate);
    if (cost < total_cycles(&best_estimate)) {
      best = split;
      best_estimate = estimate;
    }
    worst_cost = cost > worst_cost ? cost : worst_cost;
  }
  printf("Best split chosen:\n"
         "colsAxisSplit=%zu, total cost=%zu (compute cost=%zu, exchange cost=%zu, "
         "reduce exchange cost=%zu, reduce compute cost=%zu)\n"
         "Worst cost seen: %zu\n",
         best, total_cycles(&best_estimate), best_estimate.compute, best_estimate.exchange,
         best_estimate.reduce_exchange, best_estimate.reduce_compute, worst_cost);
  return best;
}

/* Where the vertex of a row's segment is: spread over all tiles; or each segment over tiles of its own, so
 * that none needs two segments of the input vector, if the busiest tile has no more vertices then. */
static size_t tile_of_segment(size_t tiles, size_t rows, size_t split, size_t segment, size_t row)
{
  size_t first = segment * tiles / split, own = (segment + 1) * tiles / split - first;
  bool is_even = tiles >= split && divide_up(rows, tiles / split) <= divide_up(rows * split, tiles);
  return is_even ? first + row * own / rows : (segment * rows + row) * tiles / (split * rows);
}

/* A vertex for each segment of each row; the segment and its partial result live with it. */
static pop_compute_set add_dot_products(pop_graph *graph, pop_tensor matrix, pop_tensor input,
                                        pop_tensor partials)
{
  size_t rows = pop_tensor_dim(matrix, 0), columns = pop_tensor_dim(matrix, 1);
  size_t split = pop_tensor_dim(partials, 1);
  size_t tiles = pop_target_num_tiles(pop_graph_get_target(graph));
  pop_compute_set multiply = pop_graph_add_compute_set(graph, "mulCS");
  for (size_t segment = 0; segment < split; ++segment) {
    size_t begin = segment * columns / split, end = (segment + 1) * columns / split;
    pop_tensor input_elements = pop_tensor_slice(input, begin, end, 0);
    for (size_t row = 0; row < rows; ++row) {
      size_t tile = tile_of_segment(tiles, rows, split, segment, row);
      pop_tensor matrix_elements = pop_tensor_slice(pop_tensor_index(matrix, row), begin, end, 0);
      pop_tensor partial = pop_tensor_index(pop_tensor_index(partials, row), segment);
      pop_vertex vertex = pop_graph_add_vertex(graph, multiply, "DotProductVertex");
      pop_graph_connect(graph, vertex, "a", matrix_elements);
      pop_graph_connect(graph, vertex, "b", input_elements);
      pop_graph_connect(graph, vertex, "out", partial);
      pop_graph_set_vertex_tile(graph, vertex, tile);
      pop_graph_set_tile_mapping(graph, matrix_elements, tile);
      pop_graph_set_tile_mapping(graph, partial, tile);
      pop_graph_set_cycle_estimate(graph, vertex, vertex_cycles(end - begin));
    }
  }
  return multiply;
}

/* A vertex for each output element. */
static pop_compute_set add_reductions(pop_graph *graph, pop_tensor partials, pop_tensor output)
{
  size_t rows = pop_tensor_dim(partials, 0);
  size_t tiles = pop_target_num_tiles(pop_graph_get_target(graph));
  pop_compute_set reduce = pop_graph_add_compute_set(graph, "reduceCS");
  for (size_t row = 0; row < rows; ++row) {
    size_t tile = row * tiles / rows;
    pop_vertex vertex = pop_graph_add_vertex(graph, reduce, "ReduceVertex");
    pop_graph_connect(graph, vertex, "in", pop_tensor_index(partials, row));
    pop_graph_connect(graph, vertex, "out", pop_tensor_index(output, row));
    pop_graph_set_vertex_tile(graph, vertex, tile);
    pop_graph_set_tile_mapping(graph, pop_tensor_index(output, row), tile);
    pop_graph_set_cycle_estimate(graph, vertex, vertex_cycles(pop_tensor_dim(partials, 1)));
  }
  return reduce;
}

static pop_program build_multiply(pop_graph *graph, pop_tensor matrix, pop_tensor input,
                                  pop_tensor output)
{
  size_t rows = pop_tensor_dim(matrix, 0), columns = pop_tensor_dim(matrix, 1);
  const pop_target *target = pop_graph_get_target(graph);
  size_t split = find_best_split(target, rows, columns);
  const size_t shape[] = {rows, split};
  pop_tensor partials = pop_graph_add_variable(graph, POP_FLOAT, shape, 2, "partials");
  /* Every tile uses the input vector: no place is better than another. In runs of some elements it takes
   * fewer instructions to send and to receive them. */
  pop_graph_map_linearly(graph, input, INPUT_GRAIN, INPUT_GRAIN);
  pop_compute_set multiply = add_dot_products(graph, matrix, input, partials);
  pop_compute_set reduce = add_reductions(graph, partials, output);
  pop_program program = pop_program_sequence(graph, "multiply");
  pop_sequence_add(program, pop_program_execute(graph, multiply, "dot products"));
  pop_sequence_add(program, pop_program_execute(graph, reduce, "sums"));
  return program;
}

int main(int argc, char **argv)
{
  return matvec_main(argc, argv, EXAMPLE_CODELET_DIR "/matvec_split_codelets.gp", build_multiply);
}
