/* plan <graph> <codelets.gp>: graphs whose memory is hard to plan. target.saveArchive
 * names the archive.
 *
 *   chip       1,472 tiles
 *   sixteen    16 IPUs, 23,552 tiles
 *   overfull   8 tiles, one of which has more data than memory
 *
 * Each is a network of layers. A layer reads the one before it, on the next tile, and one from
 * further back, so that live ranges of many lengths overlap. Sizes differ from layer to layer
 * and from tile to tile. Some layers are in loops, and some vertices want memory elements apart
 * or interleaved memory. */
#include "support/random.h"

#include <populus/arena.h>
#include <populus/populus.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_LAYERS = 40, PATTERNS = 12, REACH = 4, LOOP_PASSES = 2 };

static const struct planned_graph {
  const char *name;
  uint32_t num_ipus, tiles_per_ipu; /* 0: the target's */
  size_t layers, most_floats;
  size_t extra_floats; /* on tile 1 */
} graphs[] = {
    {"chip", 1, 0, 40, 900, 0},
    {"sixteen", 16, 0, 5, 200, 0},
    {"overfull", 1, 8, 40, 900, 200000},
};

typedef struct builder {
  const struct planned_graph *kind;
  pop_graph *graph;
  size_t tiles;
  uint64_t random;
  size_t floats[MOST_LAYERS][PATTERNS]; /* of a layer on tiles of a pattern */
  size_t first[MOST_LAYERS][PATTERNS];  /* of the tile's in a row of PATTERNS tiles */
  size_t row[MOST_LAYERS];              /* floats of such a row */
  pop_tensor layers[MOST_LAYERS];
} builder;

static size_t choose(builder *b, size_t limit)
{
  return random_below(&b->random, (uint32_t)limit);
}

/* Floats of the layer on the tile. */
static pop_tensor part(const builder *b, size_t layer, size_t tile)
{
  size_t pattern = tile % PATTERNS;
  size_t begin = tile / PATTERNS * b->row[layer] + b->first[layer][pattern];
  return pop_tensor_slice(b->layers[layer], begin, begin + b->floats[layer][pattern], 0);
}

static void add_layer(builder *b, size_t layer)
{
  size_t rows = (b->tiles + PATTERNS - 1) / PATTERNS;
  for (size_t p = 0; p < PATTERNS; ++p) {
    b->floats[layer][p] = 2 + choose(b, b->kind->most_floats);
    b->first[layer][p] = b->row[layer];
    b->row[layer] += b->floats[layer][p];
  }
  size_t count = rows * b->row[layer];
  char name[32];
  snprintf(name, sizeof name, "layer%zu", layer);
  b->layers[layer] = pop_graph_add_variable(b->graph, POP_FLOAT, &count, 1, name);
  pop_graph_set_tile_mapping(b->graph, b->layers[layer], 0); /* rows of missing tiles, too */
  for (size_t tile = 0; tile < b->tiles; ++tile)
    pop_graph_set_tile_mapping(b->graph, part(b, layer, tile), tile);
}

static void add_vertex(builder *b, pop_compute_set set, size_t layer, size_t back, size_t tile)
{
  bool two = back > 1 && layer % 3 == 0;
  bool interleaved = layer % 5 == 2 && tile % PATTERNS == 5;
  const char *type = two ? "AddApart" : interleaved ? "Interleaved" : "Halve";
  pop_vertex vertex = pop_graph_add_vertex(b->graph, set, type);
  pop_tensor before = part(b, layer - 1, layer % 4 ? (tile + 1) % b->tiles : tile);
  pop_graph_connect(b->graph, vertex, two ? "a" : "in", before);
  if (two) pop_graph_connect(b->graph, vertex, "b", part(b, layer - back, tile));
  pop_graph_connect(b->graph, vertex, "out", part(b, layer, tile));
  pop_graph_set_vertex_tile(b->graph, vertex, tile);
}

static pop_program compute_layer(builder *b, size_t layer)
{
  char name[32];
  snprintf(name, sizeof name, "compute%zu", layer);
  size_t back = 1 + choose(b, layer < REACH ? layer : REACH);
  pop_compute_set set = pop_graph_add_compute_set(b->graph, name);
  for (size_t tile = 0; tile < b->tiles; ++tile) add_vertex(b, set, layer, back, tile);
  pop_program program = pop_program_execute(b->graph, set, name);
  return layer % 7 == 3 ? pop_program_repeat(b->graph, LOOP_PASSES, program, name) : program;
}

static pop_program build(builder *b)
{
  size_t last = b->kind->layers - 1;
  for (size_t layer = 0; layer <= last; ++layer) add_layer(b, layer);
  pop_program all = pop_program_sequence(b->graph, "all");
  for (size_t layer = 1; layer <= last; ++layer) pop_sequence_add(all, compute_layer(b, layer));
  pop_graph_create_host_write(b->graph, "in", b->layers[0]);
  pop_graph_create_host_read(b->graph, "out", b->layers[last]);
  if (b->kind->extra_floats) {
    size_t count = b->kind->extra_floats;
    pop_tensor extra = pop_graph_add_variable(b->graph, POP_FLOAT, &count, 1, "extra");
    pop_graph_set_tile_mapping(b->graph, extra, 1);
    pop_graph_create_host_read(b->graph, "extra", extra);
  }
  return all;
}

static pop_error *compile(const struct planned_graph *kind, const char *codelets)
{
  pop_target target;
  POP_TRY(pop_target_create("ipu2", kind->num_ipus, &target));
  if (kind->tiles_per_ipu) target.tiles_per_ipu = kind->tiles_per_ipu;
  builder *b = pop_xcalloc(1, sizeof *b);
  b->kind = kind;
  b->graph = pop_graph_create(&target);
  b->tiles = pop_target_num_tiles(&target);
  b->random = 1;
  pop_graph_add_codelets(b->graph, codelets, NULL);
  pop_program program = build(b);
  const pop_option allow = {"debug.allowOutOfMemory", "true"};
  pop_executable *executable = NULL;
  pop_error *error =
      pop_compile_graph(b->graph, &program, 1, &allow, kind->extra_floats ? 1 : 0, &executable);
  pop_executable_free(executable);
  pop_graph_free(b->graph);
  free(b);
  return error;
}

int main(int argc, char **argv)
{
  for (size_t i = 0; argc == 3 && i < sizeof graphs / sizeof *graphs; ++i) {
    if (strcmp(argv[1], graphs[i].name) != 0) continue;
    pop_error *error = compile(&graphs[i], argv[2]);
    int status = pop_error_exit_status(error);
    if (error) fprintf(stderr, "plan: %s: %s\n", argv[1], pop_error_message(error));
    pop_error_free(error);
    return status;
  }
  fprintf(stderr, "usage: plan GRAPH CODELETS, where GRAPH is chip, sixteen or overfull\n");
  return 2;
}
