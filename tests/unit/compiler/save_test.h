/* An engine with an archive of many images, for the tests of save.c. */
#ifndef SAVE_TEST_H
#define SAVE_TEST_H

#include "engine/engine_private.h"
#include "support/expect.h"
#include "support/graph_test.h"

#include <populus/archive.h>
#include <populus/file.h>

/* Tile t has a constant of t * 16 words and a large variable of zeros, so the images have different
 * sizes. */
static inline pop_engine *new_engine(uint32_t tiles, const char *num_threads)
{
  pop_graph *graph = new_graph_with_tiles(tiles);
  uint32_t *words = pop_xcalloc(16 * (size_t)tiles, sizeof *words);
  for (uint32_t i = 0; i < 16 * tiles; i++) words[i] = i * 2654435761U + 1;
  pop_program program = pop_program_sequence(graph, "copies");
  for (size_t tile = 0; tile < tiles; tile++) {
    const size_t shape[] = {16 * tile + 16};
    const size_t zeros_shape[] = {10000};
    pop_tensor from = pop_graph_add_constant(graph, POP_UNSIGNED_INT, shape, 1, words, "words");
    pop_tensor to = pop_graph_add_variable(graph, POP_UNSIGNED_INT, shape, 1, "copy");
    pop_tensor zeros = pop_graph_add_variable(graph, POP_UNSIGNED_INT, zeros_shape, 1, "zeros");
    pop_graph_set_tile_mapping(graph, from, tile);
    pop_graph_set_tile_mapping(graph, to, (tile + 7) % tiles);
    pop_graph_set_tile_mapping(graph, zeros, tile);
    pop_graph_create_host_read(graph, pop_arena_printf(graph->arena, "zeros%zu", tile), zeros);
    pop_sequence_add(program, pop_program_copy(from, to, "copy"));
  }
  free(words);
  const pop_option options[] = {{"opt.maxCompilationThreads", num_threads}};
  pop_engine *engine = NULL;
  expect_ok(pop_engine_create(graph, &program, 1, options, 1, &engine));
  pop_graph_free(graph);
  return engine;
}

#endif
