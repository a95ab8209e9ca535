/* The guide's tutorial 1: variables on tiles, a constant, copies, slices, host access, a data stream. */
#include "../example.h"

static const size_t four[] = {4}, four_by_four[] = {4, 4}, ten[] = {10};

/* v1 on tile 0, v2 spread over tiles 0 to 3, v3 and v4 elsewhere. */
static void map_variables(pop_graph *graph, pop_tensor v1, pop_tensor v2, pop_tensor v3,
                          pop_tensor v4)
{
  pop_graph_set_tile_mapping(graph, v1, 0);
  for (size_t i = 0; i < 4; ++i) pop_graph_set_tile_mapping(graph, pop_tensor_index(v2, i), i);
  pop_graph_set_tile_mapping(graph, v3, 0);
  pop_graph_map_linearly(graph, v4, 0, 0);
}

/* v4 gets new data from the host twice. */
static void add_stream_copies(pop_graph *graph, pop_tensor v4, pop_program program)
{
  pop_stream in = pop_graph_add_host_to_device_fifo(graph, "v4-input-stream", POP_INT, ten[0]);
  static const char *const titles[] = {"v4-0", "v4-1"};
  for (size_t i = 0; i < 2; ++i) {
    pop_sequence_add(program, pop_program_copy_from_stream(in, v4, "next of v4"));
    pop_sequence_add(program, pop_program_print_tensor(v4, titles[i]));
  }
}

static void print_matrix(const float *h3)
{
  printf("\nh3 data:\n");
  for (size_t i = 0; i < 4; ++i)
    printf("  %g %g %g %g\n", (double)h3[4 * i], (double)h3[4 * i + 1], (double)h3[4 * i + 2],
           (double)h3[4 * i + 3]);
}

static const char usage[] = EXAMPLE_DEVICE;

int main(int argc, char **argv)
{
  example_help(argc, argv, usage);
  pop_device *device = example_device(&argc, argv, 1);
  example_check_arguments(argc, argv, 0, usage);
  pop_graph *graph = pop_graph_create(pop_device_target(device));

  pop_tensor v1 = pop_graph_add_variable(graph, POP_FLOAT, four, 1, "v1");
  pop_tensor v2 = pop_graph_add_variable(graph, POP_FLOAT, four, 1, "v2");
  pop_tensor v3 = pop_graph_add_variable(graph, POP_FLOAT, four_by_four, 2, "v3");
  pop_tensor v4 = pop_graph_add_variable(graph, POP_INT, ten, 1, "v4");
  map_variables(graph, v1, v2, v3, v4);

  static const float c1_values[] = {1.0f, 1.5f, 2.0f, 2.5f};
  pop_tensor c1 = pop_graph_add_constant(graph, POP_FLOAT, four, 1, c1_values, "c1");
  pop_graph_set_tile_mapping(graph, c1, 0);

  pop_graph_create_host_write(graph, "v3-write", v3);
  pop_graph_create_host_read(graph, "v3-read", v3);
  static const size_t begin[] = {1, 1}, end[] = {2, 4};
  pop_tensor v1_slice = pop_tensor_slice(v1, 0, 3, 0);
  pop_tensor v3_slice = pop_tensor_slice_nd(v3, begin, end, 2);

  pop_program program = pop_program_sequence(graph, "main");
  pop_sequence_add(program, pop_program_copy(c1, v1, "initialise v1"));
  pop_sequence_add(program, pop_program_print_tensor(v1, "v1-debug"));
  pop_sequence_add(program, pop_program_copy(v1, v2, "v1 to v2"));
  pop_sequence_add(program, pop_program_print_tensor(v2, "v2-debug"));
  pop_sequence_add(program, pop_program_copy(v1_slice, v3_slice, "slice of v1 to v3"));
  add_stream_copies(graph, v4, program);

  pop_engine *engine;
  example_check(pop_engine_create(graph, &program, 1, NULL, 0, &engine));
  example_check(pop_engine_load_device(engine, device));

  float h3[4 * 4] = {0};
  example_check(pop_engine_write_tensor(engine, "v3-write", h3, sizeof h3));
  int in_data[3 * 10]; /* gone through in a circle */
  for (int i = 0; i < 3 * 10; ++i) in_data[i] = i;
  example_check(pop_engine_connect_stream(engine, "v4-input-stream", in_data, in_data + 3 * 10));
  printf("Running program\n");
  fflush(stdout);
  example_check(pop_engine_run(engine, 0));
  printf("Program complete\n");
  example_check(pop_engine_read_tensor(engine, "v3-read", h3, sizeof h3));
  print_matrix(h3);

  pop_engine_free(engine);
  pop_graph_free(graph);
  pop_device_free(device);
  return example_end(0);
}
