/* library_graph: compiles a graph of operations of popops and poplin, which target.saveArchive
 * saves. tests/cxx/same_graphs.cpp builds the same graph in C++. */
#include <populus/poplin.h>
#include <populus/popops.h>
#include <populus/populus.h>

#include <stdio.h>

static int failed(pop_error *error)
{
  if (!error) return 0;
  fprintf(stderr, "library_graph: %s\n", pop_error_message(error));
  pop_error_free(error);
  return 1;
}

static pop_tensor add_matrix(pop_graph *graph, size_t rows, size_t columns, const char *name)
{
  pop_tensor t = pop_graph_add_variable(graph, POP_FLOAT, (size_t[]){rows, columns}, 2, name);
  pop_graph_map_linearly(graph, t, 0, 0);
  pop_graph_create_host_write(graph, name, t);
  return t;
}

static pop_program build(pop_graph *graph)
{
  const pop_tensor none = {0};
  pop_popops_add_codelets(graph);
  pop_poplin_add_codelets(graph);
  pop_tensor x = add_matrix(graph, 40, 30, "x"), y = add_matrix(graph, 30, 50, "y");
  pop_program main = pop_program_sequence(graph, "main");
  pop_tensor square = pop_popops_unary(graph, POP_UNARY_SQUARE, x, none, main, "square");
  pop_popops_binary(graph, POP_BINARY_ADD, x, square, x, main, "add");
  pop_tensor product = pop_poplin_mat_mul(graph, x, y, main, "product");
  const pop_reduction add = {.op = POP_REDUCE_ADD};
  pop_tensor sums =
      pop_popops_reduce(graph, product, (size_t[]){1}, 1, add, none, main, NULL, NULL, "row sums");
  pop_tensor whole = pop_popops_cast(graph, sums, POP_INT, none, main, "whole");
  pop_popops_scaled_add_to(graph, sums, sums, 0.5, main, "half more");
  pop_popops_fill(graph, product, NULL, main, "zero");
  pop_graph_create_host_read(graph, "sums", sums);
  pop_graph_create_host_read(graph, "whole", whole);
  return main;
}

int main(void)
{
  pop_target target;
  pop_error *error = pop_target_create("ipu2", 1, &target);
  target.tiles_per_ipu = 16;
  pop_graph *graph = pop_graph_create(&target);
  pop_program main_program = build(graph);
  pop_engine *engine = NULL;
  if (!error) error = pop_engine_create(graph, &main_program, 1, NULL, 0, &engine);
  int status = failed(error);
  pop_engine_free(engine);
  pop_graph_free(graph);
  return status;
}
