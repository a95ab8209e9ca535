/* small_archive ARCHIVE: compiles a graph of two tiles and saves it.
 *
 *   program "scale"  doubles x, half[2,3], which the host writes as "in" and reads as "out", and adds 1
 *                    to n, char[4], which it writes as "n" and reads as "count"
 *   program "break"  a vertex on tile 1 stores to address 4 */
#include <populus/populus.h>

#include <stdio.h>

static const char codelets[] =
    "#include <populus/vertex.h>\n"
    "typedef struct { INOUT(VECTOR(half)) x; } Double;\n"
    "COMPUTE(Double)\n"
    "{\n"
    "  for (unsigned i = 0; i < vertex->x.size; ++i) vertex->x.data[i] *= 2;\n"
    "  return true;\n"
    "}\n"
    "typedef struct { INOUT(VECTOR(char)) n; } Count;\n"
    "COMPUTE(Count)\n"
    "{\n"
    "  for (unsigned i = 0; i < vertex->n.size; ++i) ++vertex->n.data[i];\n"
    "  return true;\n"
    "}\n"
    "typedef struct { INPUT(VECTOR(char)) n; } Break;\n"
    "COMPUTE(Break) { *(int *)4 = vertex->n.data[0]; return true; }\n";

static void add_vertex(pop_graph *graph, pop_compute_set set, const char *type, const char *field,
                       pop_tensor x, uint32_t tile)
{
  pop_vertex vertex = pop_graph_add_vertex(graph, set, type);
  pop_graph_connect(graph, vertex, field, pop_tensor_flatten(x));
  pop_graph_set_vertex_tile(graph, vertex, tile);
}

static pop_error *compile_and_save(pop_graph *graph, const char *path)
{
  static const size_t x_shape[] = {2, 3}, n_shape[] = {4};
  pop_graph_add_codelets_source(graph, "c", codelets, "codelets.c", NULL);
  pop_tensor x = pop_graph_add_variable(graph, POP_HALF, x_shape, 2, "x");
  pop_tensor n = pop_graph_add_variable(graph, POP_CHAR, n_shape, 1, "n");
  pop_graph_set_tile_mapping(graph, pop_tensor_index(x, 0), 0);
  pop_graph_set_tile_mapping(graph, pop_tensor_index(x, 1), 1);
  pop_graph_set_tile_mapping(graph, n, 0);
  pop_graph_create_host_write(graph, "in", x);
  pop_graph_create_host_read(graph, "out", x);
  pop_graph_create_host_write(graph, "n", n);
  pop_graph_create_host_read(graph, "count", n);
  pop_compute_set scale = pop_graph_add_compute_set(graph, "scale it");
  add_vertex(graph, scale, "Double", "x", pop_tensor_index(x, 0), 0);
  add_vertex(graph, scale, "Double", "x", pop_tensor_index(x, 1), 1);
  add_vertex(graph, scale, "Count", "n", n, 0);
  pop_compute_set broken = pop_graph_add_compute_set(graph, "break it");
  add_vertex(graph, broken, "Break", "n", n, 1);
  const pop_program programs[] = {pop_program_execute(graph, scale, "scale"),
                                  pop_program_execute(graph, broken, "break")};
  pop_executable *executable;
  POP_TRY(pop_compile_graph(graph, programs, 2, NULL, 0, &executable));
  pop_error *error = pop_executable_save(executable, path);
  pop_executable_free(executable);
  return error;
}

int main(int argc, char **argv)
{
  if (argc != 2) return 2;
  pop_target target;
  pop_error *error = pop_target_create("ipu2", 1, &target);
  if (!error) {
    target.tiles_per_ipu = 2;
    pop_graph *graph = pop_graph_create(&target);
    error = compile_and_save(graph, argv[1]);
    pop_graph_free(graph);
  }
  if (error) fprintf(stderr, "%s\n", pop_error_message(error));
  int status = pop_error_exit_status(error);
  pop_error_free(error);
  return status;
}
