/* Data streams with callbacks: the device asks for batches, and the host makes the next one ahead of time
 * (prefetch); after some batches the device sends what it has. */
#include "../example.h"

enum { BATCH = 4096, NUM_BATCHES = 5, NUM_REPORTS = 3 };

typedef struct batches {
  unsigned made, ahead; /* how many of them before the device asked */
} batches;

static void make_batch(batches *b, float *data)
{
  for (size_t i = 0; i < BATCH; ++i) data[i] = (float)(b->made + i % 2);
  b->made++;
}

static int fetch(void *context, void *data)
{
  make_batch(context, data);
  return 0;
}

static bool prefetch(void *context, void *data)
{
  batches *b = context;
  make_batch(b, data);
  b->ahead++;
  return true;
}

static int report(void *context, void *data)
{
  (void)context;
  const float *average = data;
  printf("average: %.4f %.4f ... %.4f\n", (double)average[0], (double)average[1],
         (double)average[BATCH - 1]);
  return 0;
}

static pop_program add_update(pop_graph *graph, pop_tensor batch, pop_tensor average)
{
  size_t num_tiles = pop_target_num_tiles(pop_graph_get_target(graph));
  size_t per_tile = (BATCH + num_tiles - 1) / num_tiles;
  pop_compute_set set = pop_graph_add_compute_set(graph, "update");
  for (size_t tile = 0, begin = 0; begin < BATCH; ++tile, begin += per_tile) {
    size_t end = begin + per_tile < BATCH ? begin + per_tile : BATCH;
    pop_vertex v = pop_graph_add_vertex(graph, set, "MovingAverage");
    pop_graph_connect(graph, v, "batch", pop_tensor_slice(batch, begin, end, 0));
    pop_graph_connect(graph, v, "average", pop_tensor_slice(average, begin, end, 0));
    pop_graph_set_field_float(graph, v, "weight", 0.5);
    pop_graph_set_vertex_tile(graph, v, tile);
  }
  return pop_program_execute(graph, set, "update");
}

static pop_program build(pop_graph *graph)
{
  static const size_t size[] = {BATCH};
  pop_tensor batch = pop_graph_add_variable(graph, POP_FLOAT, size, 1, "batch");
  pop_tensor average = pop_graph_add_variable(graph, POP_FLOAT, size, 1, "average");
  pop_graph_map_linearly(graph, batch, 0, 0);
  pop_graph_map_linearly(graph, average, 0, 0);
  pop_stream in = pop_graph_add_host_to_device_fifo(graph, "batches", POP_FLOAT, BATCH);
  pop_stream out = pop_graph_add_device_to_host_fifo(graph, "averages", POP_FLOAT, BATCH);
  pop_program step = pop_program_sequence(graph, "step");
  pop_sequence_add(step, pop_program_copy_from_stream(in, batch, "next batch"));
  pop_sequence_add(step, add_update(graph, batch, average));
  pop_program round = pop_program_sequence(graph, "round");
  pop_sequence_add(round, pop_program_repeat(graph, NUM_BATCHES, step, "batches"));
  pop_sequence_add(round, pop_program_copy_to_stream(average, out, "report"));
  return pop_program_repeat(graph, NUM_REPORTS, round, "main");
}

static const char usage[] = EXAMPLE_DEVICE;

int main(int argc, char **argv)
{
  example_help(argc, argv, usage);
  pop_device *device = example_device(&argc, argv, 1);
  example_check_arguments(argc, argv, 0, usage);
  pop_graph *graph = pop_graph_create(pop_device_target(device));
  pop_graph_add_codelets(graph, EXAMPLE_CODELET_DIR "/average_codelets.gp", NULL);
  pop_program main_program = build(graph);
  static const pop_option options[] = {{"exchange.enablePrefetch", "true"}};
  pop_engine *engine;
  example_check(pop_engine_create(graph, &main_program, 1, options, 1, &engine));
  batches made = {0};
  const pop_stream_callback in = {.fetch = fetch, .prefetch = prefetch, .context = &made};
  const pop_stream_callback out = {.fetch = report};
  example_check(pop_engine_connect_stream_callback(engine, "batches", &in));
  example_check(pop_engine_connect_stream_callback(engine, "averages", &out));
  example_check(pop_engine_load_device(engine, device));
  example_check(pop_engine_run(engine, 0));
  printf("%u batches made, %u of them ahead of time, %llu cycles\n", made.made, made.ahead,
         (unsigned long long)pop_engine_cycles(engine));
  pop_engine_free(engine);
  pop_graph_free(graph);
  pop_device_free(device);
  return example_end(0);
}
