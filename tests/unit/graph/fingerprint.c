/* Fingerprints of graphs: the same calls give the same fingerprint, and any change gives another
 * one. */
#include "graph/fingerprint.h"
#include "support/expect.h"
#include "support/graph_test.h"

#include <populus/stream.h>

static pop_graph *new_example(void)
{
  static const char codelets[] =
      "#include <populus/vertex.h>\n"
      "typedef struct { INOUT(VECTOR(int)) x; int by; INPUT(VECTOR(float)) factors; } Add;\n"
      "COMPUTE(Add) { vertex->x.data[0] += vertex->by * (int)vertex->factors.data[0]; return true; "
      "}\n";
  static const int first[4] = {1, 2, 3, 4};
  static const float factors[2] = {0.5f, 2};
  const size_t shape[] = {2, 2};
  pop_graph *graph = new_graph_with_tiles(4);
  pop_graph_add_codelets_source(graph, "c", codelets, "fingerprint.c", NULL);
  pop_tensor x = pop_graph_add_variable(graph, POP_INT, shape, 2, "x");
  pop_tensor f = pop_graph_add_constant(graph, POP_FLOAT, shape, 1, factors, "factors");
  pop_graph_set_initial_value(graph, x, first);
  pop_graph_set_tile_mapping(graph, x, 1);
  pop_graph_set_tile_mapping(graph, f, 2);
  pop_compute_set set = pop_graph_add_compute_set(graph, "add");
  pop_vertex v = pop_graph_add_vertex(graph, set, "Add");
  pop_graph_connect(graph, v, "x", pop_tensor_flatten(pop_tensor_slice(x, 0, 1, 1)));
  pop_graph_connect(graph, v, "factors", f);
  pop_graph_set_field_int(graph, v, "by", 3);
  pop_graph_set_vertex_tile(graph, v, 1);
  pop_graph_create_host_read(graph, "out", x);
  pop_stream stream = pop_graph_add_host_to_device_fifo(graph, "in", POP_INT, 4);
  pop_program sequence = pop_program_sequence(graph, "main");
  pop_sequence_add(sequence, pop_program_copy_from_stream(stream, x, "get"));
  pop_sequence_add(sequence,
                   pop_program_repeat(graph, 5, pop_program_execute(graph, set, "add"), "again"));
  assert_no_error(graph);
  return graph;
}

static fingerprint fingerprint_of(pop_graph *graph)
{
  const uint32_t program = 0;
  return graph_fingerprint(graph, &program, 1);
}

static bool same(fingerprint a, fingerprint b)
{
  cr_assert_eq(a.low == b.low, a.high == b.high);
  return a.low == b.low;
}

Test(fingerprint, of_the_same_calls_is_the_same)
{
  pop_graph *a = new_example(), *b = new_example();
  cr_assert(same(fingerprint_of(a), fingerprint_of(b)));
  cr_assert(same(fingerprint_of(a), fingerprint_of(a)));
  const uint32_t programs[] = {0, 1};
  cr_assert_not(same(fingerprint_of(a), graph_fingerprint(a, programs, 2)));
  cr_assert_not(same(fingerprint_of(a), graph_fingerprint(a, programs + 1, 1)));
  pop_graph_free(a);
  pop_graph_free(b);
}

/* X(what, change) */
#define CHANGES(X)                                                                                 \
  X(target_name, g->target.name[0] = 'J')                                                          \
  X(target_memory, g->target.memory_bytes += 4)                                                    \
  X(target_clock, g->target.clock_hz += 1)                                                         \
  X(target_cost, g->target.cost[3]++)                                                              \
  X(variable_name, g->variables[0].name = "y")                                                     \
  X(variable_type, g->variables[0].type = POP_UNSIGNED_INT)                                        \
  X(initial_value, g->variables[0].initial[5] = 9)                                                 \
  X(no_initial_value, (free(g->variables[0].initial), g->variables[0].initial = NULL))             \
  X(mapping_tile, g->variables[0].mapping[0].tile = 3)                                             \
  X(mapping_end, g->variables[0].mapping[0].end--)                                                 \
  X(shape, g->tensors[1].rank = 1)                                                                 \
  X(piece, g->pieces[g->num_pieces - 1].base++)                                                    \
  X(loop, g->dims[0].stride++)                                                                     \
  X(vertex_tile, g->vertices[0].tile = 2)                                                          \
  X(cycle_estimate, g->vertices[0].cycle_estimate = 12)                                            \
  X(edge_tensor, g->edges[0].tensor++)                                                             \
  X(edge_field, g->edges[0].field++)                                                               \
  X(field_value, g->field_values[0].bytes[0]++)                                                    \
  X(compute_set_name, g->compute_sets[0].name = "sub")                                             \
  X(program_name, g->programs[0].name = "Main")                                                    \
  X(program_count, g->programs[g->num_programs - 1].count++)                                       \
  X(program_children, g->programs[0].num_children--)                                               \
  X(handle_name, g->handles[0].name = "Out")                                                       \
  X(handle_direction, g->handles[0].read = false)                                                  \
  X(stream_elements, g->streams[0].num_elements++)                                                 \
  X(stream_direction, g->streams[0].to_device = false)

#define CHANGE_FUNCTION(what, change)                                                              \
  static void change_##what(pop_graph *g)                                                          \
  {                                                                                                \
    change;                                                                                        \
  }
CHANGES(CHANGE_FUNCTION)

Test(fingerprint, of_anything_else_is_another)
{
  static const struct {
    const char *what;
    void (*change)(pop_graph *g);
  } changes[] = {
#define CHANGE_ENTRY(what, change) {#what, change_##what},
      CHANGES(CHANGE_ENTRY)};
  pop_graph *graph = new_example();
  fingerprint first = fingerprint_of(graph);
  pop_graph_free(graph);
  for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
    graph = new_example();
    fingerprint_of(graph); /* sorts mappings */
    changes[i].change(graph);
    cr_assert_not(same(fingerprint_of(graph), first), "%s", changes[i].what);
    pop_graph_free(graph);
  }
}
