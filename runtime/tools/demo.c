#include "demo.h"

#include "engine_environment.h"

#include <populus/arena.h>
#include <populus/cache_folder.h>
#include <populus/device.h>
#include <populus/engine.h>
#include <populus/file.h>
#include <populus/graph.h>
#include <populus/program.h>
#include <populus/stream.h>
#include <stdint.h>
#include <stdlib.h>

enum { TILES = 64, PER_TILE = 24, BATCH = TILES * PER_TILE, NUM_BATCHES = 6, RUNS = 2 };

static const char codelets[] =
    "#include <populus/vertex.h>\n"
    "typedef struct { INPUT(VECTOR(float)) in; OUTPUT(VECTOR(float)) out; float scale; unsigned "
    "rounds; } Dense;\n"
    "COMPUTE(Dense) {\n"
    "  for (unsigned i = 0; i < vertex->in.size; ++i) {\n"
    "    float x = vertex->in.data[i];\n"
    "    for (unsigned r = 0; r < vertex->rounds; ++r) x = x * vertex->scale + 0.5f;\n"
    "    vertex->out.data[i] = x;\n"
    "  }\n"
    "  return true;\n"
    "}\n"
    "typedef struct { INOUT(VECTOR(float)) x; } Relu;\n"
    "COMPUTE(Relu) {\n"
    "  for (unsigned i = 0; i < vertex->x.size; ++i) if (vertex->x.data[i] < 0) vertex->x.data[i] "
    "= 0;\n"
    "  return true;\n"
    "}\n"
    "typedef struct { INPUT(VECTOR(float)) in; OUTPUT(float) sum; } Sum;\n"
    "COMPUTE(Sum) {\n"
    "  float sum = 0;\n"
    "  for (unsigned i = 0; i < vertex->in.size; ++i) sum += vertex->in.data[i];\n"
    "  *vertex->sum = sum;\n"
    "  return true;\n"
    "}\n"
    "typedef struct { INPUT(VECTOR(float)) sums; INOUT(unsigned) step; OUTPUT(unsigned) isFourth; "
    "OUTPUT(float) loss; } Judge;\n"
    "COMPUTE(Judge) {\n"
    "  float all = 0;\n"
    "  for (unsigned i = 0; i < vertex->sums.size; ++i) all += vertex->sums.data[i];\n"
    "  *vertex->loss = all;\n"
    "  *vertex->step += 1;\n"
    "  *vertex->isFourth = *vertex->step % 4 == 0;\n"
    "  return true;\n"
    "}\n";

/* A batch on the tiles of an IPU. */
static pop_tensor add_batch(pop_graph *ipu, const char *name)
{
  const size_t shape[] = {BATCH};
  pop_tensor made = pop_graph_add_variable(ipu, POP_FLOAT, shape, 1, name);
  pop_graph_map_linearly(ipu, made, PER_TILE, 1);
  return made;
}

static pop_tensor part_of(pop_tensor batch, size_t tile, size_t first, size_t end)
{
  return pop_tensor_slice(batch, tile * PER_TILE + first, tile * PER_TILE + end, 0);
}

/* Four vertices a tile. Tiles with higher numbers have more work. */
static pop_program dense(pop_graph *ipu, pop_tensor in, pop_tensor out, uint32_t rounds,
                         const char *name)
{
  enum { VERTICES = 4, SHARE = PER_TILE / VERTICES };
  pop_compute_set set = pop_graph_add_compute_set(ipu, name);
  for (size_t tile = 0; tile < TILES; ++tile)
    for (size_t i = 0; i < VERTICES; ++i) {
      pop_vertex v = pop_graph_add_vertex(ipu, set, "Dense");
      pop_graph_connect(ipu, v, "in", part_of(in, tile, i * SHARE, (i + 1) * SHARE));
      pop_graph_connect(ipu, v, "out", part_of(out, tile, i * SHARE, (i + 1) * SHARE));
      pop_graph_set_field_float(ipu, v, "scale", 0.75);
      pop_graph_set_field_int(ipu, v, "rounds", (int64_t)(rounds + rounds * tile / TILES));
      pop_graph_set_vertex_tile(ipu, v, tile);
    }
  return pop_program_execute(ipu, set, name);
}

/* Every other tile has a part of the work. */
static pop_program relu(pop_graph *ipu, pop_tensor x, const char *name)
{
  pop_compute_set set = pop_graph_add_compute_set(ipu, name);
  for (size_t tile = 0; tile < TILES; tile += 2) {
    pop_vertex v = pop_graph_add_vertex(ipu, set, "Relu");
    pop_graph_connect(ipu, v, "x", part_of(x, tile, 0, PER_TILE));
    pop_graph_set_vertex_tile(ipu, v, tile);
  }
  return pop_program_execute(ipu, set, name);
}

typedef struct judged {
  pop_tensor sums, is_fourth, loss;
  pop_program program;
} judged;

static judged judge(pop_graph *ipu, pop_tensor x)
{
  const size_t tiles[] = {TILES};
  judged j = {.sums = pop_graph_add_variable(ipu, POP_FLOAT, tiles, 1, "loss/partials"),
              .is_fourth = pop_graph_add_variable(ipu, POP_UNSIGNED_INT, NULL, 0, "isFourth"),
              .loss = pop_graph_add_variable(ipu, POP_FLOAT, NULL, 0, "loss"),
              .program = pop_program_sequence(ipu, "loss")};
  pop_tensor step = pop_graph_add_variable(ipu, POP_UNSIGNED_INT, NULL, 0, "step");
  pop_graph_set_initial_value(ipu, step, &(uint32_t){0});
  pop_graph_map_linearly(ipu, j.sums, 1, 1);
  pop_compute_set sum = pop_graph_add_compute_set(ipu, "loss/sum"),
                  all = pop_graph_add_compute_set(ipu, "loss/judge");
  for (size_t tile = 0; tile < TILES; ++tile) {
    pop_vertex v = pop_graph_add_vertex(ipu, sum, "Sum");
    pop_graph_connect(ipu, v, "in", part_of(x, tile, 0, PER_TILE));
    pop_graph_connect(ipu, v, "sum", pop_tensor_index(j.sums, tile));
    pop_graph_set_vertex_tile(ipu, v, tile);
  }
  const pop_tensor scalars[] = {step, j.is_fourth, j.loss};
  for (size_t i = 0; i < 3; ++i) pop_graph_set_tile_mapping(ipu, scalars[i], 0);
  pop_vertex v = pop_graph_add_vertex(ipu, all, "Judge");
  pop_graph_connect(ipu, v, "sums", j.sums);
  pop_graph_connect(ipu, v, "step", step);
  pop_graph_connect(ipu, v, "isFourth", j.is_fourth);
  pop_graph_connect(ipu, v, "loss", j.loss);
  pop_graph_set_vertex_tile(ipu, v, 0);
  pop_sequence_add(j.program, pop_program_execute(ipu, sum, "loss/sum"));
  pop_sequence_add(j.program, pop_program_execute(ipu, all, "loss/judge"));
  return j;
}

static pop_program build(pop_graph *graph)
{
  pop_stream in = pop_graph_add_host_to_device_fifo(graph, "batches", POP_FLOAT, BATCH),
             out = pop_graph_add_device_to_host_fifo(graph, "losses", POP_FLOAT, 1),
             all = pop_graph_add_device_to_host_fifo(graph, "checkpoints", POP_FLOAT, BATCH);
  pop_graph *first = pop_graph_create_virtual_graph_by_ipus(graph, 0, 1),
            *second = pop_graph_create_virtual_graph_by_ipus(graph, 1, 2);
  pop_tensor batch = add_batch(first, "batch"), hidden = add_batch(first, "encoder/hidden"),
             passed = add_batch(second, "decoder/input"),
             made = add_batch(second, "decoder/output");
  judged j = judge(second, made);
  pop_program step = pop_program_sequence(graph, "step"),
              encoder = pop_program_sequence(graph, "encoder"),
              decoder = pop_program_sequence(graph, "decoder");
  pop_sequence_add(encoder, dense(first, batch, hidden, 6, "encoder/layer1/dense"));
  pop_sequence_add(encoder, relu(first, hidden, "encoder/layer1/relu"));
  pop_sequence_add(
      encoder, pop_program_copy(pop_tensor_reverse(hidden, 0), batch, "encoder/layer2/transpose"));
  pop_sequence_add(encoder, dense(first, batch, hidden, 14, "encoder/layer2/dense"));
  pop_sequence_add(decoder, dense(second, passed, made, 10, "decoder/layer1/dense"));
  pop_sequence_add(decoder, relu(second, made, "decoder/layer1/relu"));
  pop_sequence_add(decoder, j.program);
  pop_sequence_add(step, pop_program_copy_from_stream(in, batch, "next batch"));
  pop_sequence_add(step, pop_program_block(graph, encoder, "encoder"));
  pop_sequence_add(step, pop_program_copy(hidden, passed, "between/send"));
  pop_sequence_add(step, pop_program_block(graph, decoder, "decoder"));
  pop_sequence_add(step, pop_program_copy_to_stream(j.loss, out, "loss to host"));
  pop_sequence_add(step,
                   pop_program_if(j.is_fourth, pop_program_copy_to_stream(made, all, "checkpoint"),
                                  (pop_program){0}, "every fourth step"));
  return pop_program_repeat(graph, NUM_BATCHES, step, "training");
}

static pop_error *run(pop_graph *graph, const char *folder)
{
  static float batches[BATCH], checkpoint[BATCH], losses[NUM_BATCHES * RUNS];
  const pop_option options[] = {{"autoReport.all", "true"},
                                {"autoReport.outputArchive", "false"},
                                {"autoReport.directory", folder},
                                {"debug.instrument", "true"},
                                {"debug.computeInstrumentationLevel", "vertex"},
                                {"profiler.blocks.filter", "."},
                                {"profiler.blocks.tile", "0,63"}};
  pop_engine *engine;
  pop_program program = build(graph);
  for (size_t i = 0; i < BATCH; ++i) batches[i] = (float)i / BATCH - 0.5F;
  POP_TRY(
      pop_engine_create(graph, &program, 1, options, sizeof options / sizeof *options, &engine));
  pop_error *error = pop_engine_connect_stream(engine, "batches", batches, batches + BATCH);
  if (!error) error = pop_engine_connect_stream(engine, "losses", losses, losses + 1);
  if (!error)
    error = pop_engine_connect_stream(engine, "checkpoints", checkpoint, checkpoint + BATCH);
  if (!error) error = pop_engine_load(engine);
  if (!error) error = pop_engine_run_as(engine, 0, "first epoch");
  if (!error) error = pop_engine_run(engine, 0);
  pop_engine_free(engine);
  return error;
}

/* Writes the source as a file beside the report, so that the page can show its lines. */
static pop_error *add_codelets(pop_graph *graph, const char *folder)
{
  char *path = pop_xasprintf("%s/" DEMO_SOURCE, folder);
  pop_output *output;
  pop_error *error = pop_cache_folder_make(folder);
  if (!error) error = pop_output_open(path, &output);
  if (!error) {
    error = pop_output_write(output, codelets, sizeof codelets - 1);
    if (error)
      pop_output_abort(output);
    else
      error = pop_output_commit(output);
  }
  if (!error) pop_graph_add_codelets(graph, path, "-g");
  free(path);
  return error;
}

pop_error *demo_write_report(const char *folder)
{
  pop_target target;
  ignore_engine_options();
  POP_TRY(pop_target_create("ipu2", 2, &target));
  target.tiles_per_ipu = TILES;
  pop_graph *graph = pop_graph_create(&target);
  pop_error *error = add_codelets(graph, folder);
  if (!error) error = run(graph, folder);
  pop_graph_free(graph);
  return error;
}
