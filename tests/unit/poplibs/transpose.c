/* The built-in transpositions against a loop, on tiles and on the CPU: shapes that fill no block,
 * many matrices, each type. */
#include "support/expect.h"
#include "support/graph_test.h"

#include <populus/engine.h>

TestSuite(transpose, .init = enter_fresh_folder);

enum { MAX_ELEMENTS = 4096, WORKERS = 6 };

typedef struct matrices {
  pop_type type;
  size_t rows, cols, count;
  pop_graph *graph;
  pop_compute_set set;
  pop_vertex vertex;
  pop_tensor src, dst; /* count x elements */
} matrices;

static matrices new_matrices(const char *vertex, pop_type type, size_t rows, size_t cols,
                             size_t count)
{
  matrices m = {.type = type, .rows = rows, .cols = cols, .count = count};
  char name[64];
  snprintf(name, sizeof name, "poplar_rt::%s<%s>", vertex, pop_type_name(type));
  m.graph = new_graph_with_tiles(1);
  m.set = pop_graph_add_compute_set(m.graph, "transpose");
  m.vertex = pop_graph_add_vertex(m.graph, m.set, name);
  pop_graph_set_vertex_tile(m.graph, m.vertex, 0);
  const size_t shape[] = {count, rows * cols};
  cr_assert_leq(count * rows * cols, MAX_ELEMENTS);
  m.src = pop_graph_add_variable(m.graph, type, shape, 2, "src");
  m.dst = pop_graph_add_variable(m.graph, type, shape, 2, "dst");
  pop_graph_set_tile_mapping(m.graph, m.src, 0);
  pop_graph_set_tile_mapping(m.graph, m.dst, 0);
  pop_graph_create_host_write(m.graph, "src", m.src);
  pop_graph_create_host_read(m.graph, "dst", m.dst);
  return m;
}

static void connect_flat(const matrices *m)
{
  size_t block = pop_type_bytes(m->type) == 1 ? 8 : 4;
  pop_graph_connect(m->graph, m->vertex, "src", pop_tensor_flatten(m->src));
  pop_graph_connect(m->graph, m->vertex, "dst", pop_tensor_flatten(m->dst));
  pop_graph_set_field_int(m->graph, m->vertex, "numSrcColumnsD4Or8", (int64_t)(m->cols / block));
  pop_graph_set_field_int(m->graph, m->vertex, "numSrcRowsD4Or8", (int64_t)(m->rows / block));
}

static void run_and_check(matrices *m)
{
  static uint8_t src[4 * MAX_ELEMENTS], dst[4 * MAX_ELEMENTS];
  size_t element = pop_type_bytes(m->type), matrix = m->rows * m->cols;
  size_t bytes = m->count * matrix * element;
  for (size_t i = 0; i < bytes; i++) src[i] = (uint8_t)(i * 89 + i / 256 * 7 + 3);
  pop_program program = pop_program_execute(m->graph, m->set, "transpose");
  assert_no_error(m->graph);
  pop_engine *engine;
  expect_ok(pop_engine_create(m->graph, &program, 1, NULL, 0, &engine));
  expect_ok(pop_engine_load(engine));
  expect_ok(pop_engine_write_tensor(engine, "src", src, bytes));
  expect_ok(pop_engine_run(engine, 0));
  expect_ok(pop_engine_read_tensor(engine, "dst", dst, bytes));
  for (size_t i = 0; i < m->count * matrix; i++) {
    size_t row = i % matrix / m->cols, col = i % m->cols;
    size_t to = i / matrix * matrix + col * m->rows + row;
    cr_assert_arr_eq(&dst[to * element], &src[i * element], element,
                     "%zu of %zu x %zu of %s: matrix %zu, row %zu, column %zu", m->count, m->rows,
                     m->cols, pop_type_name(m->type), i / matrix, row, col);
  }
  pop_engine_free(engine);
  pop_graph_free(m->graph);
}

static const pop_type block_types[] = {POP_HALF, POP_SHORT, POP_UNSIGNED_SHORT, POP_UNSIGNED_CHAR};
enum { NUM_BLOCK_TYPES = sizeof block_types / sizeof *block_types };

TEST_ON_EACH_DEVICE(transpose, many_by_all_workers)
{
  static const size_t counts[] = {1, 5, 6, 7, 13, 18};
  for (size_t t = 0; t < NUM_BLOCK_TYPES; t++)
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
      matrices m = new_matrices("Transpose1D", block_types[t], 16, 8, counts[i]);
      connect_flat(&m);
      size_t most = (m.count + WORKERS - 1) / WORKERS;
      size_t with_most = m.count % WORKERS ? m.count % WORKERS : WORKERS;
      pop_graph_set_field_int(m.graph, m.vertex, "numTranspositions", (int64_t)most);
      pop_graph_set_field_int(m.graph, m.vertex, "workerCount", (int64_t)with_most);
      run_and_check(&m);
    }
}

TEST_ON_EACH_DEVICE(transpose, a_few_by_one_worker)
{
  for (size_t t = 0; t < NUM_BLOCK_TYPES; t++) {
    matrices m = new_matrices("Transpose1DSingleWorker", block_types[t], 8, 24, 3);
    connect_flat(&m);
    pop_graph_set_field_int(m.graph, m.vertex, "numTranspositionsM1", 2);
    run_and_check(&m);
  }
}

/* Two matrices of 3 x 2 blocks. For each, one worker takes the upper two rows of blocks, and two
 * workers a block of the lower row. */
TEST_ON_EACH_DEVICE(transpose, parts_of_few_by_a_work_list)
{
  for (size_t t = 0; t < NUM_BLOCK_TYPES; t++) {
    size_t block = pop_type_bytes(block_types[t]) == 1 ? 8 : 4;
    matrices m = new_matrices("SplitTranspose1D", block_types[t], 3 * block, 2 * block, 2);
    connect_flat(&m);
    uint16_t work[4 * WORKERS];
    size_t matrix = 6 * block; /* in units of a block's side */
    for (size_t w = 0; w < WORKERS; w++) {
      size_t part = w % 3, col = part == 2 ? 1 : 0, row = part == 0 ? 0 : 2;
      uint16_t *to = &work[4 * w];
      to[0] = (uint16_t)(w / 3 * matrix + row * block * 2 + col);
      to[1] = (uint16_t)(w / 3 * matrix + col * block * 3 + row);
      to[2] = part == 0 ? 2 : 1;
      to[3] = part == 0 ? 2 : 1;
    }
    pop_graph_connect_value(m.graph, m.vertex, "workList", POP_UNSIGNED_SHORT, work, 4 * WORKERS);
    run_and_check(&m);
  }
}

TEST_ON_EACH_DEVICE(transpose, rows_of_any_shape)
{
  static const pop_type types[] = {POP_FLOAT,        POP_INT,   POP_UNSIGNED_INT,
                                   POP_HALF,         POP_SHORT, POP_UNSIGNED_SHORT,
                                   POP_UNSIGNED_CHAR};
  for (size_t t = 0; t < sizeof types / sizeof *types; t++) {
    matrices m = new_matrices("Transpose2D", types[t], 5, 7, 4);
    pop_graph_connect(m.graph, m.vertex, "src", m.src);
    pop_graph_connect(m.graph, m.vertex, "dst", m.dst);
    pop_graph_set_field_int(m.graph, m.vertex, "numSrcColumns", 7);
    pop_graph_set_field_int(m.graph, m.vertex, "numSrcRows", 5);
    run_and_check(&m);
  }
}
