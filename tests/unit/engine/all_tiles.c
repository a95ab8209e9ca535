/* Exchanges of all tiles of an IPU with each other, of all with one, and of one with all (X09). */
#include "support/expect.h"

#include <populus/populus.h>
#include <stdlib.h>

enum { TILES = 1472 };

static pop_graph *new_graph(void)
{
  pop_target target;
  expect_ok(pop_target_create("ipu2", 1, &target));
  cr_assert_eq(target.tiles_per_ipu, TILES);
  return pop_graph_create(&target);
}

static pop_tensor add_rows(pop_graph *graph, size_t width, const char *name)
{
  const size_t shape[] = {TILES, width};
  pop_tensor t = pop_graph_add_variable(graph, POP_INT, shape, 2, name);
  for (size_t tile = 0; tile < TILES; tile++)
    pop_graph_set_tile_mapping(graph, pop_tensor_index(t, tile), tile);
  return t;
}

static pop_engine *engine_of(pop_graph *graph, pop_program main)
{
  pop_engine *engine;
  expect_ok(pop_engine_create(graph, &main, 1, NULL, 0, &engine));
  pop_graph_free(graph);
  expect_ok(pop_engine_load(engine));
  return engine;
}

/* A different value for each element, and never its position. */
static int value_of(size_t i)
{
  return (int)(i * 2654435761u >> 1);
}

static int *new_values(size_t count)
{
  int *values = malloc(count * sizeof *values);
  cr_assert_not_null(values);
  for (size_t i = 0; i < count; i++) values[i] = value_of(i);
  return values;
}

/* 2,166,784 words, each from one tile to another: no word is wrong, early or repeated. */
Test(all_tiles, X09_each_of_1472_tiles_sends_a_word_to_each)
{
  pop_graph *graph = new_graph();
  pop_tensor from = add_rows(graph, TILES, "from"), to = add_rows(graph, TILES, "to");
  pop_graph_create_host_write(graph, "from", from);
  pop_graph_create_host_read(graph, "to", to);
  pop_engine *engine =
      engine_of(graph, pop_program_copy(pop_tensor_transpose(from), to, "all to all"));
  const size_t count = (size_t)TILES * TILES;
  int *sent = new_values(count), *received = calloc(count, sizeof *received);
  cr_assert_not_null(received);
  expect_ok(pop_engine_write_tensor(engine, "from", sent, count * sizeof *sent));
  expect_ok(pop_engine_run(engine, 0));
  expect_ok(pop_engine_read_tensor(engine, "to", received, count * sizeof *received));
  for (size_t i = 0; i < TILES; i++)
    for (size_t j = 0; j < TILES; j++)
      cr_assert_eq(received[i * TILES + j], sent[j * TILES + i], "tile %zu, word of tile %zu", i,
                   j);
  free(sent);
  free(received);
  pop_engine_free(engine);
}

/* Also tiles that send nothing, and a tile that sends to itself. */
Test(all_tiles, X09_all_1472_tiles_to_one_and_one_to_all)
{
  enum { WIDTH = 32, ONE = 700 };
  static const size_t shape[] = {TILES, WIDTH}, width = WIDTH;
  pop_graph *graph = new_graph();
  pop_tensor from = add_rows(graph, WIDTH, "from"), to = add_rows(graph, WIDTH, "to");
  pop_tensor all = pop_graph_add_variable(graph, POP_INT, shape, 2, "all");
  pop_tensor one = pop_graph_add_variable(graph, POP_INT, &width, 1, "one");
  pop_graph_set_tile_mapping(graph, all, ONE);
  pop_graph_set_tile_mapping(graph, one, TILES - 1);
  pop_graph_create_host_write(graph, "from", from);
  pop_graph_create_host_read(graph, "all", all);
  pop_graph_create_host_read(graph, "to", to);
  pop_program main = pop_program_sequence(graph, "main");
  pop_sequence_add(main, pop_program_copy(from, all, "all to one"));
  pop_sequence_add(main, pop_program_copy(pop_tensor_index(all, 3), one, "to the last"));
  pop_sequence_add(main, pop_program_copy(pop_tensor_broadcast(pop_tensor_expand(one, 0), TILES, 0),
                                          to, "one to all"));
  pop_sequence_add(main, pop_program_copy(pop_tensor_slice(from, 0, 0, 0),
                                          pop_tensor_slice(to, 0, 0, 0), "nothing"));
  pop_sequence_add(main, pop_program_copy(to, to, "to itself"));
  pop_engine *engine = engine_of(graph, main);
  const size_t count = (size_t)TILES * WIDTH;
  int *sent = new_values(count), *received = calloc(count, sizeof *received);
  expect_ok(pop_engine_write_tensor(engine, "from", sent, count * sizeof *sent));
  expect_ok(pop_engine_run(engine, 0));
  expect_ok(pop_engine_read_tensor(engine, "all", received, count * sizeof *received));
  cr_assert_arr_eq(received, sent, count * sizeof *sent);
  expect_ok(pop_engine_read_tensor(engine, "to", received, count * sizeof *received));
  for (size_t i = 0; i < count; i++)
    cr_assert_eq(received[i], sent[3 * WIDTH + i % WIDTH], "element %zu", i);
  free(sent);
  free(received);
  pop_engine_free(engine);
}
