/* supersteps <matvec_split_codelets.gp> [measurement]: the work of the software IPU between
 * vertices, on all tiles of an ipu2.
 *
 *   exchange_vs_memcpy   time of memcpy divided by that of an exchange of 12 MB. Every tile sends
 *                        and receives blocks of 1 KiB, each to and from another tile. memcpy copies
 *                        12 MB between two buffers. The exchange's time is that of the whole
 *                        superstep with all control code. Both run on one host thread and are
 *                        measured by its processor time.
 *   exchange_1_block_…   the same with one block on each tile, 1.5 MB
 *   superstep_us         a superstep in which two of all tiles exchange a word and the
 *                        others only sync
 *   tutorial7_run_ms     the guide's tutorial 7 with 10000 x 1000 floats; matrix and vector
 *                        come by streams, the result goes by one. The whole of pop_engine_run
 *                        on all host threads, after translation, beside the host's own loop
 *                        over the same data, on one thread
 *   tutorial7_cpu_ms     processor time of all threads in these runs
 *   tutorial7_first_run_ms   the first run after the load, which begins interpreted
 *
 * Pairs are measured in rotation and are medians. */
#include <populus/populus.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ROUNDS = 11, BLOCK_FLOATS = 256 };

static double seconds(clockid_t which)
{
  struct timespec now;
  clock_gettime(which, &now);
  return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static void check(pop_error *error)
{
  if (!error) return;
  fprintf(stderr, "supersteps: %s\n", pop_error_message(error));
  exit(1);
}

static void *allocate(size_t count, size_t size)
{
  void *memory = calloc(count + 1, size);
  if (memory) return memory;
  fprintf(stderr, "supersteps: no memory\n");
  exit(1);
}

static int compare_doubles(const void *a, const void *b)
{
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static double median(double times[ROUNDS])
{
  qsort(times, ROUNDS, sizeof *times, compare_doubles);
  return times[ROUNDS / 2];
}

static pop_graph *new_graph(size_t *num_tiles)
{
  pop_target target;
  check(pop_target_create("ipu2", 1, &target));
  *num_tiles = pop_target_num_tiles(&target);
  return pop_graph_create(&target);
}

/* An engine that has run its program once. */
static pop_engine *new_engine(pop_graph *graph, pop_program program, const char *threads)
{
  const pop_option options[] = {{"target.tileEngineThreads", threads}};
  pop_engine *engine;
  check(pop_engine_create(graph, &program, 1, options, 1, &engine));
  pop_graph_free(graph);
  check(pop_engine_load(engine));
  return engine;
}

/* ---- exchange ---- */

static pop_tensor add_blocks(pop_graph *graph, size_t tiles, size_t blocks, const char *name)
{
  const size_t shape[] = {tiles * blocks, BLOCK_FLOATS};
  pop_tensor t = pop_graph_add_variable(graph, POP_FLOAT, shape, 2, name);
  for (size_t i = 0; i < tiles * blocks; ++i)
    pop_graph_set_tile_mapping(graph, pop_tensor_index(t, i), i / blocks);
  return t;
}

/* One block on each tile: to the next tile. More: the matrix of tiles and blocks is transposed. */
static pop_program add_exchange(pop_graph *graph, size_t tiles, size_t blocks)
{
  pop_tensor from = add_blocks(graph, tiles, blocks, "from");
  pop_tensor to = add_blocks(graph, tiles, blocks, "to");
  if (blocks == 1)
    return pop_program_copy(pop_tensor_slice(from, 0, tiles - 1, 0),
                            pop_tensor_slice(to, 1, tiles, 0), "shift");
  const size_t rows[] = {blocks, tiles, BLOCK_FLOATS}, columns[] = {tiles, blocks, BLOCK_FLOATS};
  static const size_t order[] = {1, 0, 2};
  pop_tensor transposed = pop_tensor_dim_shuffle(pop_tensor_reshape(from, rows, 3), order, 3);
  return pop_program_copy(transposed, pop_tensor_reshape(to, columns, 3), "transpose");
}

static void measure_exchange(size_t blocks, const char *name)
{
  size_t tiles, repeats = 96 / blocks;
  pop_graph *graph = new_graph(&tiles);
  pop_program once = add_exchange(graph, tiles, blocks);
  pop_engine *engine =
      new_engine(graph, pop_program_repeat(graph, (uint32_t)repeats, once, ""), "1");
  check(pop_engine_run(engine, 0));
  size_t bytes = tiles * blocks * BLOCK_FLOATS * sizeof(float);
  char *from = allocate(bytes, 1), *to = allocate(bytes, 1);
  double ratios[ROUNDS];
  for (int round = 0; round < ROUNDS; round++) {
    double start = seconds(CLOCK_THREAD_CPUTIME_ID);
    check(pop_engine_run(engine, 0));
    double middle = seconds(CLOCK_THREAD_CPUTIME_ID);
    for (size_t i = 0; i < repeats; i++) {
      from[i] = (char)round;
      memcpy(to, from, bytes);
      *(volatile char *)to;
    }
    ratios[round] = (seconds(CLOCK_THREAD_CPUTIME_ID) - middle) / (middle - start);
  }
  free(from);
  free(to);
  pop_engine_free(engine);
  printf("{\"name\": \"%s\", \"value\": %.3f, \"unit\": \"x memcpy\"}\n", name, median(ratios));
}

static void measure_superstep(void)
{
  enum { SUPERSTEPS = 1000 };
  const size_t size = 1;
  size_t tiles;
  pop_graph *graph = new_graph(&tiles);
  pop_tensor from = pop_graph_add_variable(graph, POP_FLOAT, &size, 1, "from");
  pop_tensor to = pop_graph_add_variable(graph, POP_FLOAT, &size, 1, "to");
  pop_graph_set_tile_mapping(graph, from, 0);
  pop_graph_set_tile_mapping(graph, to, 1);
  pop_program once = pop_program_copy(from, to, "word");
  pop_engine *engine = new_engine(graph, pop_program_repeat(graph, SUPERSTEPS, once, ""), "1");
  double times[ROUNDS];
  for (int round = 0; round < ROUNDS; round++) {
    double start = seconds(CLOCK_THREAD_CPUTIME_ID);
    check(pop_engine_run(engine, 0));
    times[round] = seconds(CLOCK_THREAD_CPUTIME_ID) - start;
  }
  pop_engine_free(engine);
  printf("{\"name\": \"superstep_us\", \"value\": %.2f, \"unit\": \"us\"}\n",
         median(times) / SUPERSTEPS * 1e6);
}

/* ---- tutorial 7 ---- */

enum { ROWS = 10000, COLUMNS = 1000, SPLIT = 7 /* what the tutorial's estimate finds */ };

static void add_dot_products(pop_graph *graph, pop_compute_set set, pop_tensor matrix,
                             pop_tensor input, pop_tensor partials)
{
  size_t tiles = pop_target_num_tiles(pop_graph_get_target(graph));
  for (size_t segment = 0; segment < SPLIT; ++segment) {
    size_t begin = segment * COLUMNS / SPLIT, end = (segment + 1) * COLUMNS / SPLIT;
    pop_tensor part = pop_tensor_slice(input, begin, end, 0);
    for (size_t row = 0; row < ROWS; ++row) {
      size_t tile = (segment * ROWS + row) * tiles / (SPLIT * ROWS);
      pop_tensor a = pop_tensor_slice(pop_tensor_index(matrix, row), begin, end, 0);
      pop_tensor out = pop_tensor_index(pop_tensor_index(partials, row), segment);
      pop_vertex vertex = pop_graph_add_vertex(graph, set, "DotProductVertex");
      pop_graph_connect(graph, vertex, "a", a);
      pop_graph_connect(graph, vertex, "b", part);
      pop_graph_connect(graph, vertex, "out", out);
      pop_graph_set_vertex_tile(graph, vertex, tile);
      pop_graph_set_tile_mapping(graph, a, tile);
      pop_graph_set_tile_mapping(graph, out, tile);
    }
  }
}

static void add_sums(pop_graph *graph, pop_compute_set set, pop_tensor partials, pop_tensor output)
{
  size_t tiles = pop_target_num_tiles(pop_graph_get_target(graph));
  for (size_t row = 0; row < ROWS; ++row) {
    pop_vertex vertex = pop_graph_add_vertex(graph, set, "ReduceVertex");
    pop_graph_connect(graph, vertex, "in", pop_tensor_index(partials, row));
    pop_graph_connect(graph, vertex, "out", pop_tensor_index(output, row));
    pop_graph_set_vertex_tile(graph, vertex, row * tiles / ROWS);
    pop_graph_set_tile_mapping(graph, pop_tensor_index(output, row), row * tiles / ROWS);
  }
}

static pop_program add_multiply(pop_graph *graph)
{
  const size_t matrix_shape[] = {ROWS, COLUMNS}, partials_shape[] = {ROWS, SPLIT};
  const size_t rows = ROWS, columns = COLUMNS;
  pop_tensor matrix = pop_graph_add_variable(graph, POP_FLOAT, matrix_shape, 2, "matrix");
  pop_tensor input = pop_graph_add_variable(graph, POP_FLOAT, &columns, 1, "input");
  pop_tensor output = pop_graph_add_variable(graph, POP_FLOAT, &rows, 1, "output");
  pop_tensor partials = pop_graph_add_variable(graph, POP_FLOAT, partials_shape, 2, "partials");
  pop_graph_map_linearly(graph, input, 0, 0);
  pop_compute_set dot = pop_graph_add_compute_set(graph, "dot products");
  pop_compute_set sum = pop_graph_add_compute_set(graph, "sums");
  add_dot_products(graph, dot, matrix, input, partials);
  add_sums(graph, sum, partials, output);
  pop_stream matrix_in =
      pop_graph_add_host_to_device_fifo(graph, "matrix", POP_FLOAT, (size_t)ROWS * COLUMNS);
  pop_stream input_in = pop_graph_add_host_to_device_fifo(graph, "input", POP_FLOAT, COLUMNS);
  pop_stream output_out = pop_graph_add_device_to_host_fifo(graph, "output", POP_FLOAT, ROWS);
  pop_program program = pop_program_sequence(graph, "multiply");
  pop_sequence_add(program, pop_program_copy_from_stream(matrix_in, matrix, "matrix"));
  pop_sequence_add(program, pop_program_copy_from_stream(input_in, input, "input"));
  pop_sequence_add(program, pop_program_execute(graph, dot, "dot products"));
  pop_sequence_add(program, pop_program_execute(graph, sum, "sums"));
  pop_sequence_add(program, pop_program_copy_to_stream(output, output_out, "output"));
  return program;
}

typedef struct data {
  float *matrix, *input, *output, *expected;
} data;

/* Small whole numbers: sums of any order are exact. */
static data make_data(void)
{
  data d = {.matrix = allocate((size_t)ROWS * COLUMNS, sizeof(float)),
            .input = allocate(COLUMNS, sizeof(float)),
            .output = allocate(ROWS, sizeof(float)),
            .expected = allocate(ROWS, sizeof(float))};
  for (size_t i = 0; i < (size_t)ROWS * COLUMNS; i++) d.matrix[i] = (float)(i % 101);
  for (size_t i = 0; i < COLUMNS; i++) d.input[i] = (float)(i % 13);
  return d;
}

static void multiply_on_host(const data *d)
{
  for (size_t row = 0; row < ROWS; row++) {
    const float *a = d->matrix + row * COLUMNS, *b = d->input;
    float even = 0, odd = 0;
    for (size_t i = 0; i < COLUMNS; i += 2) {
      even += a[i] * b[i];
      odd += a[i + 1] * b[i + 1];
    }
    d->expected[row] = even + odd;
  }
}

static double time_tutorial(pop_engine *engine)
{
  double start = seconds(CLOCK_MONOTONIC);
  check(pop_engine_run(engine, 0));
  return (seconds(CLOCK_MONOTONIC) - start) * 1e3;
}

static void measure_tutorial(const char *codelets)
{
  static const double until_translated =
      4; /* seconds: while threads keep all cores busy, it has a ninth of one */
  size_t tiles;
  pop_graph *graph = new_graph(&tiles);
  pop_graph_add_codelets(graph, codelets, NULL);
  pop_engine *engine = new_engine(graph, add_multiply(graph), "0");
  data d = make_data();
  check(pop_engine_connect_stream(engine, "matrix", d.matrix, d.matrix + (size_t)ROWS * COLUMNS));
  check(pop_engine_connect_stream(engine, "input", d.input, d.input + COLUMNS));
  check(pop_engine_connect_stream(engine, "output", d.output, d.output + ROWS));
  double first = time_tutorial(engine), times[ROUNDS], host[ROUNDS], processor[ROUNDS];
  for (double end = seconds(CLOCK_MONOTONIC) + until_translated; seconds(CLOCK_MONOTONIC) < end;)
    time_tutorial(engine);
  for (int round = 0; round < ROUNDS; round++) {
    double before = seconds(CLOCK_PROCESS_CPUTIME_ID);
    times[round] = time_tutorial(engine);
    processor[round] = (seconds(CLOCK_PROCESS_CPUTIME_ID) - before) * 1e3;
    double start = seconds(CLOCK_MONOTONIC);
    multiply_on_host(&d);
    host[round] = (seconds(CLOCK_MONOTONIC) - start) * 1e3;
  }
  pop_engine_free(engine);
  for (size_t row = 0; row < ROWS; row++)
    if (d.output[row] != d.expected[row]) {
      fprintf(stderr, "supersteps: row %zu of tutorial 7 has another result than the host\n", row);
      exit(1);
    }
  double run = median(times), own = median(host);
  printf("{\"name\": \"tutorial7_run_ms\", \"value\": %.2f, \"unit\": \"ms\", \"rival\": \"host "
         "loop\", "
         "\"rival_value\": %.2f, \"ratio\": %.2f}\n",
         run, own, run / own);
  printf("{\"name\": \"tutorial7_cpu_ms\", \"value\": %.2f, \"unit\": \"ms\"}\n",
         median(processor));
  printf("{\"name\": \"tutorial7_first_run_ms\", \"value\": %.2f, \"unit\": \"ms\"}\n", first);
  free(d.matrix);
  free(d.input);
  free(d.output);
  free(d.expected);
}

static bool wanted(int argc, char **argv, const char *name)
{
  return argc == 2 || strcmp(argv[2], name) == 0;
}

int main(int argc, char **argv)
{
  if (argc != 2 && argc != 3) {
    fprintf(stderr, "usage: supersteps CODELETS [exchange|exchange_1_block|superstep|tutorial7]\n");
    return 2;
  }
  if (wanted(argc, argv, "exchange")) measure_exchange(8, "exchange_vs_memcpy");
  if (wanted(argc, argv, "exchange_1_block")) measure_exchange(1, "exchange_1_block_vs_memcpy");
  if (wanted(argc, argv, "superstep")) measure_superstep();
  if (wanted(argc, argv, "tutorial7")) measure_tutorial(argv[1]);
  return 0;
}
