/* small_archive ARCHIVE: compiles a graph of two tiles and saves it.
 *
 *   program "scale"  doubles x, half[2,3], which the host writes as "in" and reads as "out", and adds 1
 *                    to n, char[4], which it writes as "n" and reads as "count"
 *   program "break"  a vertex on tile 1 stores to address 4
 *
 *   small_archive ARCHIVE streams: a third program, "stream", takes n from stream "numbers", adds 1, and
 *                    gives it to stream "counts", three times. The streams "nothing" and "silence" have no elements.
 *
 *   small_archive ARCHIVE replicas: the same in three replicas of one IPU each; and a fourth program, "keep",
 *                    which takes n from stream "same", that is broadcast, and keeps it in row 0 of the remote
 *                    buffer "rows", char[2,4]
 *   small_archive ARCHIVE endless: a third program, "forever", repeats "scale" 2^64 times
 *   small_archive ARCHIVE replicated-graph: the same in three replicas of one graph
 *   small_archive ARCHIVE odd-name: with a handle whose name is none that a terminal should see.
 *   small_archive ARCHIVE like-names: with three variables "twin", two of them on tile 0, and one that is named
 *                    like the state of a vertex
 */
#include <populus/populus.h>

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

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

static pop_program add_streams(pop_graph *graph, pop_tensor n)
{
  pop_stream numbers = pop_graph_add_host_to_device_fifo(graph, "numbers", POP_CHAR, 4);
  pop_stream counts = pop_graph_add_device_to_host_fifo(graph, "counts", POP_CHAR, 4);
  pop_compute_set set = pop_graph_add_compute_set(graph, "count them");
  add_vertex(graph, set, "Count", "n", n, 0);
  pop_program body = pop_program_sequence(graph, "once");
  pop_sequence_add(body, pop_program_copy_from_stream(numbers, n, "get"));
  pop_sequence_add(body, pop_program_execute(graph, set, "count"));
  pop_sequence_add(body, pop_program_copy_to_stream(n, counts, "put"));
  return pop_program_repeat(graph, 3, body, "stream");
}

static pop_program add_keep(pop_graph *graph, pop_tensor n)
{
  pop_stream same = pop_graph_add_host_to_device_fifo(graph, "same", POP_CHAR, 4);
  pop_stream_set_replicated_mode(same, POP_STREAM_BROADCAST);
  pop_remote_buffer rows = pop_graph_add_remote_buffer(graph, "rows", POP_CHAR, 4, 2);
  pop_program keep = pop_program_sequence(graph, "keep");
  pop_sequence_add(keep, pop_program_copy_from_stream(same, n, "get"));
  pop_sequence_add(keep, pop_program_copy_to_remote_buffer(n, rows, (pop_tensor){0}, "put"));
  return keep;
}

static pop_error *compile_and_save(pop_graph *graph, const char *path, size_t num_programs,
                                   bool endless)
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
  pop_program programs[4] = {pop_program_execute(graph, scale, "scale"),
                             pop_program_execute(graph, broken, "break")};
  if (endless)
    programs[2] = pop_program_repeat(
        graph, UINT32_MAX, pop_program_repeat(graph, UINT32_MAX, programs[0], "inner"), "forever");
  else if (num_programs > 2)
    programs[2] = add_streams(graph, n);
  if (num_programs == 3 && !endless) {
    pop_graph_add_host_to_device_fifo(graph, "nothing", POP_FLOAT, 0);
    pop_graph_add_device_to_host_fifo(graph, "silence", POP_FLOAT, 0);
  }
  if (num_programs > 3) programs[3] = add_keep(graph, n);
  pop_executable *executable;
  POP_TRY(pop_compile_graph(graph, programs, num_programs, NULL, 0, &executable));
  pop_error *error = pop_executable_save(executable, path);
  pop_executable_free(executable);
  return error;
}

/* A handle that the host reads, whose name has control characters and a line feed. */
static void add_odd_name(pop_graph *graph)
{
  static const char name[] = "odd\x1b[31m\nname";
  pop_tensor t = pop_graph_add_variable(graph, POP_INT, NULL, 0, name);
  pop_graph_set_tile_mapping(graph, t, 0);
  pop_graph_create_host_read(graph, name, t);
}

static void add_read(pop_graph *graph, const char *name, const char *handle, size_t elements,
                     uint32_t tile)
{
  pop_tensor t = pop_graph_add_variable(graph, POP_INT, &elements, 1, name);
  pop_graph_set_tile_mapping(graph, t, tile);
  pop_graph_create_host_read(graph, handle, t);
}

static void add_like_names(pop_graph *graph)
{
  add_read(graph, "twin", "first", 3, 0);
  add_read(graph, "twin", "second", 5, 0);
  add_read(graph, "twin", "third", 1, 1);
  add_read(graph, "vertex.weights.0", "fourth", 7, 0);
}

int main(int argc, char **argv)
{
  enum { REPLICAS = 3, TILES = 2 };
  const char *kind = argc == 3 ? argv[2] : "";
  bool streams = strcmp(kind, "streams") == 0, loaded_for_each = strcmp(kind, "replicas") == 0,
       in_graph = strcmp(kind, "replicated-graph") == 0, endless = strcmp(kind, "endless") == 0,
       odd = strcmp(kind, "odd-name") == 0, alike = strcmp(kind, "like-names") == 0;
  if (argc < 2 || argc > 3 ||
      (*kind && !streams && !loaded_for_each && !in_graph && !endless && !odd && !alike))
    return 2;
  pop_target target;
  pop_error *error = pop_target_create("ipu2", loaded_for_each ? REPLICAS : 1, &target);
  if (!error) {
    target.tiles_per_ipu = in_graph ? REPLICAS * TILES : TILES;
    pop_graph *graph = loaded_for_each ? pop_graph_create_replicated(&target, REPLICAS)
                                       : pop_graph_create(&target);
    pop_graph *part = in_graph ? pop_graph_create_replicated_graph(graph, REPLICAS) : graph;
    if (odd) add_odd_name(part);
    if (alike) add_like_names(part);
    error = compile_and_save(
        part, argv[1], part != graph || loaded_for_each ? 4 : 2 + (streams || endless), endless);
    pop_graph_free(graph);
  }
  if (error) fprintf(stderr, "%s\n", pop_error_message(error));
  int status = pop_error_exit_status(error);
  pop_error_free(error);
  return status;
}
