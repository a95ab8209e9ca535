/* A program that uses the kinds of memory that no example uses: rearranged inputs, rows, lists of
 * rows, buffers that are read and written, padding, and functions of the device library.
 * POPLAR_ENGINE_OPTIONS names the archive. */
#include <populus/populus.h>

#include <stdio.h>
#include <stdlib.h>

enum { NUM_TILES = 4, NUM_ROWS = 3, ROW = 4 };

static const char codelets[] =
    "#include <cmath>\n"
    "#include <poplar/Vertex.hpp>\n"
    "using namespace poplar;\n"
    "static const float factors[] = {1.5f, 2.5f, 3.25f, 7.75f, 9.125f};\n"
    "class Scale : public Vertex {\n"
    "public:\n"
    "  InOut<Vector<float>> x;\n"
    "  unsigned char which;\n"
    "  float add;\n"
    "  bool compute() {\n"
    "    for (unsigned i = 0; i < x.size(); ++i)\n"
    "      x[i] = std::exp(x[i]) * factors[(which + i) % 5] + add;\n"
    "    return true;\n"
    "  }\n"
    "};\n"
    "template <typename Rows> class SumRows : public Vertex {\n"
    "public:\n"
    "  Rows rows;\n"
    "  Output<float> sum;\n"
    "  bool compute() {\n"
    "    float s = 0;\n"
    "    for (unsigned r = 0; r < rows.size(); ++r)\n"
    "      for (unsigned i = 0; i < rows[r].size(); ++i) s += rows[r][i];\n"
    "    *sum = s;\n"
    "    return true;\n"
    "  }\n"
    "};\n"
    "template class SumRows<Vector<Input<Vector<float>>>>;\n"
    "template class SumRows<Input<VectorList<float>>>;\n";

static void check(pop_error *error)
{
  if (!error) return;
  fprintf(stderr, "every_category: %s\n", pop_error_message(error));
  exit(1);
}

static void add_scales(pop_graph *graph, pop_program sequence, pop_tensor x)
{
  pop_compute_set set = pop_graph_add_compute_set(graph, "scale");
  for (size_t i = 0; i < NUM_TILES; ++i) {
    pop_vertex v = pop_graph_add_vertex(graph, set, "Scale");
    pop_graph_connect(graph, v, "x", pop_tensor_index(x, i));
    pop_graph_set_field_int(graph, v, "which", (int64_t)i);
    pop_graph_set_field_float(graph, v, "add", 0.5);
    pop_graph_set_vertex_tile(graph, v, (i + 1) % NUM_TILES);
  }
  pop_sequence_add(sequence, pop_program_execute(graph, set, "scale"));
}

/* The rows are columns of a variable that is stored by rows: so they are rearranged. */
static void add_sum(pop_graph *graph, pop_program sequence, const char *type, pop_tensor matrix)
{
  const size_t one = 1;
  pop_tensor sum = pop_graph_add_variable(graph, POP_FLOAT, &one, 1, type);
  pop_graph_set_tile_mapping(graph, sum, 0);
  pop_compute_set set = pop_graph_add_compute_set(graph, type);
  pop_vertex v = pop_graph_add_vertex(graph, set, type);
  pop_graph_connect(graph, v, "rows", pop_tensor_transpose(matrix));
  pop_graph_connect(graph, v, "sum", pop_tensor_index(sum, 0));
  pop_graph_set_vertex_tile(graph, v, 0);
  pop_sequence_add(sequence, pop_program_execute(graph, set, type));
  pop_sequence_add(sequence, pop_program_print_tensor(sum, type));
}

int main(void)
{
  pop_target target;
  check(pop_target_create("ipu2", 1, &target));
  target.tiles_per_ipu = NUM_TILES;
  pop_graph *graph = pop_graph_create(&target);
  pop_graph_add_codelets_source(graph, "c++", codelets, "every_category.cpp", "-O2");
  pop_tensor x = pop_graph_add_variable(graph, POP_FLOAT, (size_t[]){NUM_TILES, ROW}, 2, "x");
  pop_tensor matrix =
      pop_graph_add_variable(graph, POP_FLOAT, (size_t[]){ROW, NUM_ROWS}, 2, "matrix");
  pop_graph_set_tile_mapping(graph, matrix, 0);
  for (size_t i = 0; i < NUM_TILES; ++i)
    pop_graph_set_tile_mapping(graph, pop_tensor_index(x, i), i);
  pop_program sequence = pop_program_sequence(graph, "main");
  add_scales(graph, sequence, x);
  add_sum(graph, sequence, "SumRows<poplar::Vector<poplar::Input<poplar::Vector<float>>>>", matrix);
  add_sum(graph, sequence, "SumRows<poplar::Input<poplar::VectorList<float>>>", matrix);

  pop_engine *engine;
  check(pop_engine_create(graph, &sequence, 1, NULL, 0, &engine));
  check(pop_engine_load(engine));
  pop_engine_set_print_stream(engine, stdout);
  check(pop_engine_run(engine, 0));
  pop_engine_free(engine);
  pop_graph_free(graph);
  return 0;
}
