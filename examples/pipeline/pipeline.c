/* A pipeline on several IPUs: a virtual graph for each stage, on an IPU of its own. In each step all stages
 * work at the same time, each on the batch that the one before it has finished in the step before; then
 * the results go to the next IPU. */
#include "../example.h"

enum { NUM_STAGES = 4, BATCH = 64, NUM_BATCHES = 6 };

typedef struct stage {
  pop_tensor in, out;
} stage;

/* One vertex for each part of the batch that is on a tile of the stage's IPU. */
static stage add_stage(pop_graph *ipu, pop_compute_set set, float scale)
{
  enum { PER_TILE = 8 };
  const size_t shape[] = {BATCH};
  stage s = {pop_graph_add_variable(ipu, POP_FLOAT, shape, 1, "in"),
             pop_graph_add_variable(ipu, POP_FLOAT, shape, 1, "out")};
  pop_graph_map_linearly(ipu, s.in, PER_TILE, 1);
  pop_graph_map_linearly(ipu, s.out, PER_TILE, 1);
  for (size_t tile = 0; tile < BATCH / PER_TILE; ++tile) {
    size_t begin = tile * PER_TILE, end = begin + PER_TILE;
    pop_vertex v = pop_graph_add_vertex(ipu, set, "Stage");
    pop_graph_connect(ipu, v, "in", pop_tensor_slice(s.in, begin, end, 0));
    pop_graph_connect(ipu, v, "out", pop_tensor_slice(s.out, begin, end, 0));
    pop_graph_set_field_float(ipu, v, "scale", (double)scale);
    pop_graph_set_field_float(ipu, v, "shift", 1);
    pop_graph_set_vertex_tile(ipu, v, tile); /* of the stage's IPU */
  }
  return s;
}

static pop_program build(pop_graph *graph, pop_stream from_host, pop_stream to_host)
{
  stage stages[NUM_STAGES];
  pop_compute_set set = pop_graph_add_compute_set(graph, "all stages");
  for (size_t i = 0; i < NUM_STAGES; ++i)
    stages[i] =
        add_stage(pop_graph_create_virtual_graph_by_ipus(graph, i, i + 1), set, (float)(i + 2));
  pop_program step = pop_program_sequence(graph, "step");
  pop_sequence_add(step, pop_program_copy_from_stream(from_host, stages[0].in, "next batch"));
  pop_sequence_add(step, pop_program_execute(graph, set, "all stages"));
  for (size_t i = 1; i < NUM_STAGES; ++i)
    pop_sequence_add(step, pop_program_copy(stages[i - 1].out, stages[i].in, "to the next IPU"));
  pop_sequence_add(step,
                   pop_program_copy_to_stream(stages[NUM_STAGES - 1].out, to_host, "results"));
  /* The last batch leaves the pipeline NUM_STAGES - 1 steps after it has come in. */
  return pop_program_repeat(graph, NUM_BATCHES + NUM_STAGES - 1, step, "steps");
}

static float expected(float x)
{
  for (int i = 0; i < NUM_STAGES; ++i) x = x * (float)(i + 2) + 1;
  return x;
}

static const char usage[] = EXAMPLE_DEVICE;

int main(int argc, char **argv)
{
  example_help(argc, argv, usage);
  enum { NUM_STEPS = NUM_BATCHES + NUM_STAGES - 1 };
  static float batches[NUM_STEPS][BATCH], results[NUM_STEPS][BATCH];
  for (int i = 0; i < NUM_BATCHES * BATCH; ++i) batches[i / BATCH][i % BATCH] = (float)i;
  pop_device *device = example_device(&argc, argv, NUM_STAGES);
  example_check_arguments(argc, argv, 0, usage);
  pop_graph *graph = pop_graph_create(pop_device_target(device));
  pop_graph_add_codelets(graph, EXAMPLE_CODELET_DIR "/pipeline_codelets.gp", NULL);
  pop_program program =
      build(graph, pop_graph_add_host_to_device_fifo(graph, "batches", POP_FLOAT, BATCH),
            pop_graph_add_device_to_host_fifo(graph, "results", POP_FLOAT, BATCH));
  pop_engine *engine;
  example_check(pop_engine_create(graph, &program, 1, NULL, 0, &engine));
  example_check(pop_engine_connect_stream(engine, "batches", batches, batches + NUM_STEPS));
  example_check(pop_engine_connect_stream(engine, "results", results, results + NUM_STEPS));
  example_check(pop_engine_load_device(engine, device));
  example_check(pop_engine_run(engine, 0));
  int wrong = 0;
  for (int i = 0; i < NUM_BATCHES * BATCH; ++i)
    wrong += results[NUM_STAGES - 1 + i / BATCH][i % BATCH] != expected((float)i);
  printf("%d stages on %d IPUs, %d batches of %d: %d wrong, %llu cycles\n", NUM_STAGES, NUM_STAGES,
         NUM_BATCHES, BATCH, wrong, (unsigned long long)pop_engine_cycles(engine));
  pop_engine_free(engine);
  pop_graph_free(graph);
  pop_device_free(device);
  return example_end(wrong != 0);
}
