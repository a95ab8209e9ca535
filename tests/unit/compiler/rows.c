/* Copies of columns, or of the same words many times. Tiles send each other rows, and strided
 * copies put them into place. The copies run on the software IPU, and the results are compared with
 * those of a loop. The number of messages is checked, too. */
#include "compiler/compilation.h"
#include "support/expect.h"
#include "support/graph_test.h"
#include "support/random.h"

#include <populus/engine.h>
#include <stdlib.h>

TestSuite(rows, .init = enter_fresh_folder);

/* A matrix and its transpose, of ROWS by COLUMNS elements. */
typedef struct matrices {
  pop_graph *graph;
  pop_tensor from, to;
  pop_program copy;
} matrices;

static pop_graph *new_graph_of(uint32_t num_ipus, uint32_t tiles)
{
  pop_target target;
  expect_ok(pop_target_create("ipu2", num_ipus, &target));
  target.tiles_per_ipu = tiles;
  return pop_graph_create(&target);
}

static matrices new_matrices(uint32_t num_ipus, uint32_t tiles, pop_type type, size_t rows,
                             size_t columns)
{
  matrices m = {.graph = new_graph_of(num_ipus, tiles)};
  m.from = pop_graph_add_variable(m.graph, type, (const size_t[]){rows, columns}, 2, "from");
  m.to = pop_graph_add_variable(m.graph, type, (const size_t[]){columns, rows}, 2, "to");
  pop_graph_map_linearly(m.graph, m.from, 0, 0);
  pop_graph_map_linearly(m.graph, m.to, 0, 0);
  pop_graph_create_host_write(m.graph, "from", m.from);
  pop_graph_create_host_read(m.graph, "to", m.to);
  m.copy = pop_program_copy(pop_tensor_transpose(m.from), m.to, "transposed");
  assert_no_error(m.graph);
  return m;
}

static pop_error *compile_copy(const matrices *m, const compile_options *options, compilation **out)
{
  uint32_t program = m->copy.index - 1;
  return compile(m->graph, &program, 1, options, out);
}

static size_t count_messages(const matrices *m, uint32_t exchange_target)
{
  const compile_options options = {.exchange_target = exchange_target};
  compilation *c;
  expect_ok(compile_copy(m, &options, &c));
  size_t count = c->num_messages;
  compilation_free(c);
  return count;
}

/* Writes random bytes to `from`, runs the copy and reads `to`. */
static void run_copy(const matrices *m, uint8_t *from, size_t from_bytes, uint8_t *to,
                     size_t to_bytes)
{
  uint64_t seed = 7;
  for (size_t i = 0; i < from_bytes; i++) from[i] = (uint8_t)random_below(&seed, 256);
  pop_engine *engine;
  expect_ok(pop_engine_create(m->graph, &m->copy, 1, NULL, 0, &engine));
  expect_ok(pop_engine_load(engine));
  expect_ok(pop_engine_write_tensor(engine, "from", from, from_bytes));
  expect_ok(pop_engine_run(engine, 0));
  expect_ok(pop_engine_read_tensor(engine, "to", to, to_bytes));
  pop_engine_free(engine);
}

static void expect_transposed(const matrices *m, size_t rows, size_t columns, size_t element_bytes)
{
  size_t bytes = rows * columns * element_bytes;
  uint8_t *from = pop_xcalloc(bytes, 1), *to = pop_xcalloc(bytes, 1);
  run_copy(m, from, bytes, to, bytes);
  for (size_t i = 0; i < rows; i++)
    for (size_t j = 0; j < columns; j++)
      cr_assert_arr_eq(from + (i * columns + j) * element_bytes,
                       to + (j * rows + i) * element_bytes, element_bytes, "row %zu, column %zu", i,
                       j);
  free(from);
  free(to);
}

typedef struct size {
  pop_type type;
  uint32_t num_ipus, tiles;
  size_t rows, columns, element_bytes;
} size;

/* Tiles with whole rows and parts of rows. Elements are words, parts of words, or several words. */
static const size sizes[] = {
    {POP_UNSIGNED_INT, 1, 6, 190, 191, 4},  {POP_UNSIGNED_SHORT, 1, 5, 203, 177, 2},
    {POP_UNSIGNED_CHAR, 1, 4, 160, 161, 1}, {POP_UNSIGNED_LONGLONG, 1, 4, 150, 170, 8},
    {POP_UNSIGNED_INT, 2, 3, 300, 291, 4},  {POP_UNSIGNED_SHORT, 2, 2, 180, 190, 2},
};

Test(rows, a_transposing_copy_puts_every_element_in_its_place)
{
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    const size *s = &sizes[i];
    matrices m = new_matrices(s->num_ipus, s->tiles, s->type, s->rows, s->columns);
    expect_transposed(&m, s->rows, s->columns, s->element_bytes);
    pop_graph_free(m.graph);
  }
}

/* A tile has 5 or 6 rows and parts of others. A message for each element would make 30,000
 * messages. */
Test(rows, what_many_words_of_are_wanted_comes_in_messages_of_rows)
{
  matrices m = new_matrices(1, 6, POP_UNSIGNED_INT, 190, 191);
  size_t in_rows = count_messages(&m, EXCHANGE_FOR_CYCLES);
  cr_assert_leq(in_rows, 6 * (190 + 12), "%zu messages", in_rows);
  pop_graph_free(m.graph);
}

/* Few pieces are sent directly, unless the compiler optimizes for memory. */
Test(rows, few_pieces_go_to_their_places_at_once)
{
  matrices m = new_matrices(1, 4, POP_UNSIGNED_INT, 60, 60);
  size_t at_once = count_messages(&m, EXCHANGE_FOR_CYCLES),
         for_memory = count_messages(&m, EXCHANGE_FOR_MEMORY);
  cr_assert_geq(at_once, 60 * 60 * 3 / 4);
  cr_assert_leq(for_memory, at_once / 4, "%zu instead of %zu", for_memory, at_once);
  pop_graph_free(m.graph);
}

/* Three matrices of halves. Their order differs in the destination; they are transposed or not. */
static matrices new_equals(bool turned)
{
  const size_t shape[] = {3, 64, 46}, order[] = {0, 2, 1};
  matrices m = {.graph = new_graph_of(1, 6)};
  m.from = pop_graph_add_variable(m.graph, POP_HALF, shape, 3, "from");
  m.to = pop_graph_add_variable(m.graph, POP_HALF, shape, 3, "to");
  pop_graph_map_linearly(m.graph, m.from, 0, 0);
  pop_graph_map_linearly(m.graph, pop_tensor_reverse(m.to, 0), 0, 0);
  pop_graph_create_host_write(m.graph, "from", m.from);
  pop_graph_create_host_read(m.graph, "to", m.to);
  m.copy = pop_program_copy(turned ? pop_tensor_dim_shuffle(m.from, order, 3) : m.from,
                            turned ? pop_tensor_dim_shuffle(m.to, order, 3) : m.to, "equals");
  assert_no_error(m.graph);
  return m;
}

Test(rows, what_is_turned_on_both_sides_is_copied_as_it_lies)
{
  enum { BYTES = 3 * 64 * 46 * 2 };
  matrices turned = new_equals(true), straight = new_equals(false);
  size_t messages = count_messages(&turned, EXCHANGE_FOR_CYCLES);
  cr_assert_eq(messages, count_messages(&straight, EXCHANGE_FOR_CYCLES));
  uint8_t from[BYTES], to[BYTES];
  run_copy(&turned, from, BYTES, to, BYTES);
  cr_assert_arr_eq(from, to, BYTES);
  pop_graph_free(turned.graph);
  pop_graph_free(straight.graph);
}

/* The data alone are too large, so no time goes into planning their exchange. */
Test(rows, what_cannot_fit_is_refused_before_its_exchange_is_planned)
{
  enum { TILES = 40, N = 1800 };
  matrices m = new_matrices(1, TILES, POP_UNSIGNED_INT, N, N);
  compilation *c = NULL;
  expect_error(compile_copy(&m, &(compile_options){0}, &c), POP_ERROR_GRAPH_MEMORY,
               "in 'transposed/ExchangePre', without code", "too large");
  expect_ok(compile_copy(&m, &(compile_options){.allow_out_of_memory = true}, &c));
  cr_assert_not_null(c->out_of_memory);
  compilation_free(c);
  pop_graph_free(m.graph);
}

/* A copy has one row of `columns` elements in each of `rows` rows, which lie on the tiles in
 * turn. */
static matrices new_repeats(uint32_t num_ipus, uint32_t tiles, pop_type type, size_t rows,
                            size_t columns)
{
  matrices m = {.graph = new_graph_of(num_ipus, tiles)};
  m.from = pop_graph_add_variable(m.graph, type, (const size_t[]){1, columns}, 2, "from");
  m.to = pop_graph_add_variable(m.graph, type, (const size_t[]){rows, columns}, 2, "to");
  pop_graph_set_tile_mapping(m.graph, m.from, 1);
  for (size_t i = 0; i < rows; i++)
    pop_graph_set_tile_mapping(m.graph, pop_tensor_slice(m.to, i, i + 1, 0),
                               (uint32_t)(i % (num_ipus * tiles)));
  pop_graph_create_host_write(m.graph, "from", m.from);
  pop_graph_create_host_read(m.graph, "to", m.to);
  m.copy = pop_program_copy(pop_tensor_broadcast(m.from, rows, 0), m.to, "repeated");
  assert_no_error(m.graph);
  return m;
}

static void expect_repeated(const matrices *m, size_t rows, size_t row_bytes)
{
  uint8_t *from = pop_xcalloc(row_bytes, 1), *to = pop_xcalloc(rows * row_bytes, 1);
  run_copy(m, from, row_bytes, to, rows * row_bytes);
  for (size_t i = 0; i < rows; i++)
    cr_assert_arr_eq(from, to + i * row_bytes, row_bytes, "row %zu", i);
  free(from);
  free(to);
}

/* Scalars and short rows, in small copies and in large ones. */
static const size repeated[] = {
    {POP_UNSIGNED_INT, 1, 5, 700, 1, 4},      {POP_UNSIGNED_SHORT, 1, 4, 1300, 1, 2},
    {POP_UNSIGNED_CHAR, 1, 3, 900, 1, 1},     {POP_UNSIGNED_LONGLONG, 2, 3, 1000, 1, 8},
    {POP_UNSIGNED_INT, 1, 4, 12000, 1, 4},    {POP_UNSIGNED_SHORT, 1, 3, 9001, 3, 2},
    {POP_UNSIGNED_LONGLONG, 1, 3, 800, 5, 8},
};

/* A message for each row would make some hundreds of messages. */
Test(rows, what_a_tile_wants_many_times_is_sent_to_it_once)
{
  for (size_t i = 0; i < sizeof repeated / sizeof *repeated; i++) {
    const size *s = &repeated[i];
    matrices m = new_repeats(s->num_ipus, s->tiles, s->type, s->rows, s->columns);
    size_t messages = count_messages(&m, EXCHANGE_FOR_CYCLES);
    cr_assert_leq(messages, 2 * s->num_ipus * s->tiles, "%zu: %zu messages", i, messages);
    expect_repeated(&m, s->rows, s->columns * s->element_bytes);
    pop_graph_free(m.graph);
  }
}

/* Few repetitions are sent to each place. */
Test(rows, what_a_tile_wants_some_times_is_sent_to_each_place)
{
  matrices m = new_repeats(1, 4, POP_UNSIGNED_INT, 4 * 20, 1);
  size_t messages = count_messages(&m, EXCHANGE_FOR_CYCLES);
  cr_assert_geq(messages, 20, "%zu messages", messages);
  expect_repeated(&m, 4 * 20, 4);
  pop_graph_free(m.graph);
}
