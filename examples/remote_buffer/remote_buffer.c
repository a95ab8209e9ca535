/* A remote buffer: samples that do not fit on the IPU stay outside of it, and the device fetches those that it
 * wants, by numbers that it has itself.
 *
 * The host fills the buffer once. Each step of the program takes two samples by their numbers, averages them
 * and writes the result back to where the second one was. */
#include "../example.h"

#include <string.h>

enum { SAMPLE = 1000, NUM_SAMPLES = 4096, PAIR = 2, NUM_STEPS = 3 };

static pop_program add_average(pop_graph *graph, pop_tensor samples, pop_tensor average)
{
  enum { NUM_VERTICES = 20, PER_VERTEX = SAMPLE / NUM_VERTICES };
  pop_compute_set set = pop_graph_add_compute_set(graph, "average");
  for (size_t i = 0; i < NUM_VERTICES; ++i) {
    size_t begin = i * PER_VERTEX, end = begin + PER_VERTEX;
    pop_vertex v = pop_graph_add_vertex(graph, set, "AverageOfTwo");
    pop_tensor part = pop_tensor_slice(samples, begin, end, 1);
    pop_graph_connect(graph, v, "first", pop_tensor_index(part, 0));
    pop_graph_connect(graph, v, "second", pop_tensor_index(part, 1));
    pop_graph_connect(graph, v, "average", pop_tensor_slice(average, begin, end, 0));
    pop_graph_set_vertex_tile(graph, v, i);
  }
  return pop_program_execute(graph, set, "average");
}

static pop_program build(pop_graph *graph)
{
  static const size_t pair[] = {PAIR, SAMPLE}, single[] = {SAMPLE}, numbers[] = {PAIR};
  pop_remote_buffer store =
      pop_graph_add_remote_buffer(graph, "samples", POP_FLOAT, SAMPLE, NUM_SAMPLES);
  pop_tensor samples = pop_graph_add_variable(graph, POP_FLOAT, pair, 2, "samples");
  pop_tensor average = pop_graph_add_variable(graph, POP_FLOAT, single, 1, "average");
  pop_tensor wanted = pop_graph_add_variable(graph, POP_UNSIGNED_INT, numbers, 1, "wanted");
  pop_graph_map_linearly(graph, samples, 0, 0);
  pop_graph_map_linearly(graph, average, 0, 0);
  pop_graph_set_tile_mapping(graph, wanted, 0);
  pop_stream in = pop_graph_add_host_to_device_fifo(graph, "numbers", POP_UNSIGNED_INT, PAIR);
  pop_program step = pop_program_sequence(graph, "step");
  pop_sequence_add(step, pop_program_copy_from_stream(in, wanted, "which"));
  pop_sequence_add(step, pop_program_copy_from_remote_buffer(store, samples, wanted, "fetch"));
  pop_sequence_add(step, add_average(graph, samples, average));
  pop_sequence_add(step, pop_program_copy_to_remote_buffer(
                             average, store, pop_tensor_slice(wanted, 1, 2, 0), "store"));
  return pop_program_repeat(graph, NUM_STEPS, step, "main");
}

static void fill(pop_engine *engine)
{
  float sample[SAMPLE];
  for (size_t row = 0; row < NUM_SAMPLES; ++row) {
    for (size_t i = 0; i < SAMPLE; ++i) sample[i] = (float)row;
    example_check(
        pop_engine_copy_to_remote_buffer(engine, "samples", row, 0, sample, sizeof sample));
  }
}

static void print(pop_engine *engine, size_t row)
{
  float sample[SAMPLE];
  example_check(
      pop_engine_copy_from_remote_buffer(engine, "samples", row, 0, sample, sizeof sample));
  printf("sample %zu: %g ... %g\n", row, (double)sample[0], (double)sample[SAMPLE - 1]);
}

static const char usage[] = EXAMPLE_DEVICE;

int main(int argc, char **argv)
{
  example_help(argc, argv, usage);
  pop_device *device = example_device(&argc, argv, 1);
  example_check_arguments(argc, argv, 0, usage);
  pop_graph *graph = pop_graph_create(pop_device_target(device));
  pop_graph_add_codelets(graph, EXAMPLE_CODELET_DIR "/average_of_two_codelets.gp", NULL);
  pop_program main_program = build(graph);
  pop_engine *engine;
  example_check(pop_engine_create(graph, &main_program, 1, NULL, 0, &engine));
  unsigned numbers[NUM_STEPS][PAIR] = {{10, 20}, {4095, 1}, {20, 1}};
  example_check(pop_engine_connect_stream(engine, "numbers", numbers, numbers + NUM_STEPS));
  example_check(pop_engine_load_device(engine, device));
  fill(engine);
  example_check(pop_engine_run(engine, 0));
  for (size_t i = 0; i < PAIR; ++i) print(engine, numbers[i][1]);
  printf("%llu cycles\n", (unsigned long long)pop_engine_cycles(engine));
  pop_engine_free(engine);
  pop_graph_free(graph);
  pop_device_free(device);
  return example_end(0);
}
