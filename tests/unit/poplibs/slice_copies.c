/* Sums of many updates of a small table, made in copies of it, equal one update after the other. */
#include "support/expect.h"
#include "support/graph_test.h"
#include "support/random.h"

#include <populus/engine.h>
#include <populus/popops.h>
#include <populus/popops_slice.h>

TestSuite(slice_copies, .init = enter_fresh_folder);

enum { ROWS = 5, COLUMNS = 3, MOST = 700 * 2 * COLUMNS };

typedef struct sums_case {
  pop_type type;
  size_t count, dim, size;
  int scale; /* 0: none */
} sums_case;

typedef union number {
  float f;
  int i;
} number;

static number number_of(pop_type type, int value)
{
  return type == POP_FLOAT ? (number){.f = (float)value} : (number){.i = value};
}

static pop_tensor add_values(pop_graph *graph, pop_type type, const size_t *shape, size_t rank,
                             const int *values)
{
  static number numbers[MOST];
  pop_tensor t = pop_graph_add_variable(graph, type, shape, rank, "t");
  pop_graph_map_linearly(graph, t, 1, 1);
  for (size_t i = 0; i < pop_tensor_num_elements(t); i++) numbers[i] = number_of(type, values[i]);
  pop_graph_set_initial_value(graph, t, numbers);
  return t;
}

/* The table is [rows, columns] or, with dim 1, [columns, rows]. Slices have the same order. */
static void check_sums(const sums_case *c)
{
  static int table[ROWS * COLUMNS], slices[MOST], offsets[MOST];
  static number is[ROWS * COLUMNS];
  uint64_t r = c->count + c->size;
  size_t shape[] = {ROWS, COLUMNS}, many[] = {c->count, c->size, COLUMNS};
  if (c->dim) {
    shape[0] = many[1] = COLUMNS;
    shape[1] = ROWS;
    many[2] = c->size;
  }
  for (size_t i = 0; i < ROWS * COLUMNS; i++) table[i] = (int)random_below(&r, 100);
  for (size_t i = 0; i < c->count * c->size * COLUMNS; i++)
    slices[i] = (int)random_below(&r, 50) - 20;
  for (size_t i = 0; i < c->count; i++)
    offsets[i] = (int)random_below(&r, ROWS + 2); /* some are out of range */
  pop_graph *graph = new_graph_with_tiles(7);
  pop_popops_add_codelets(graph);
  pop_program main = pop_program_sequence(graph, "main");
  pop_tensor t = add_values(graph, c->type, shape, 2, table), scale = {0};
  if (c->scale) scale = add_values(graph, c->type, NULL, 0, &c->scale);
  pop_popops_multi_update(graph, POP_UPDATE_ADD, t, add_values(graph, c->type, many, 3, slices),
                          add_values(graph, POP_UNSIGNED_INT, &c->count, 1, offsets), c->dim,
                          c->size, scale, main, "sums");
  pop_graph_create_host_read(graph, "sums", t);
  assert_no_error(graph);
  pop_engine *engine;
  expect_ok(pop_engine_create(graph, &main, 1, NULL, 0, &engine));
  expect_ok(pop_engine_load(engine));
  expect_ok(pop_engine_run(engine, 0));
  expect_ok(pop_engine_read_tensor(engine, "sums", is, sizeof is));
  for (size_t u = 0; u < c->count; u++)
    for (size_t k = 0; k < c->size; k++)
      for (size_t j = 0; j < COLUMNS; j++) {
        size_t row = (size_t)offsets[u] + k;
        size_t from = c->dim ? (u * COLUMNS + j) * c->size + k : (u * c->size + k) * COLUMNS + j;
        if (row < ROWS)
          table[c->dim ? j * ROWS + row : row * COLUMNS + j] +=
              (c->scale ? c->scale : 1) * slices[from];
      }
  for (size_t i = 0; i < ROWS * COLUMNS; i++)
    cr_assert_eq(is[i].i, number_of(c->type, table[i]).i, "%zu updates: element %zu", c->count, i);
  pop_engine_free(engine);
  pop_graph_free(graph);
}

TEST_ON_EACH_DEVICE(slice_copies, many_updates_of_a_small_table_are_added)
{
  static const sums_case cases[] = {
      {POP_FLOAT, 600, 0, 1, 0},  {POP_INT, 701 - 2, 0, 1, 3}, {POP_UNSIGNED_INT, 512, 1, 1, 0},
      {POP_FLOAT, 333, 1, 2, -2}, {POP_INT, 333, 0, 2, 0},     {POP_INT, 20, 0, 1, 0},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) check_sums(&cases[i]);
}
