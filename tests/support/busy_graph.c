/* A program that uses a bit of everything, for tests of images and archives.
 *
 *   busy_graph CODELETS TARGET TILES
 *
 * CODELETS is tests/codelets/busy.c or its .gp. Compiles and runs on a TARGET of so many
 * tiles, checks a result, and prints a line for each tile: its number, its bytes without
 * gaps and with gaps as the memory report has them, and the bytes loaded.
 * POPLAR_ENGINE_OPTIONS names the archive. */
#include <populus/populus.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { PER_TILE = 21 };

typedef struct busy_graph {
  pop_graph *graph;
  size_t num_tiles;
  pop_tensor in, out, calls, halves, sums, counts;
} busy_graph;

static pop_tensor add_variable(busy_graph *b, pop_type type, size_t per_tile, const char *name)
{
  const size_t shape[] = {b->num_tiles, per_tile};
  pop_tensor t = pop_graph_add_variable(b->graph, type, shape, 2, name);
  for (size_t tile = 0; tile < b->num_tiles; ++tile)
    pop_graph_set_tile_mapping(b->graph, pop_tensor_index(t, tile), tile);
  return t;
}

static void add_variables(busy_graph *b)
{
  uint16_t halves[PER_TILE];
  float values[PER_TILE];
  for (size_t i = 0; i < PER_TILE; ++i) {
    halves[i] = pop_half_from_float((float)i);
    values[i] = (float)i;
  }
  b->in = add_variable(b, POP_FLOAT, PER_TILE, "in");
  b->out = add_variable(b, POP_FLOAT, PER_TILE, "out");
  b->calls = add_variable(b, POP_UNSIGNED_INT, 1, "calls");
  b->sums = add_variable(b, POP_FLOAT, 1, "sums");
  b->counts = add_variable(b, POP_CHAR, 3, "counts");
  static const size_t shape[] = {PER_TILE};
  b->halves = pop_graph_add_constant(b->graph, POP_HALF, shape, 1, halves, "halves");
  pop_graph_set_tile_mapping(b->graph, b->halves, b->num_tiles - 1);
  for (size_t tile = 0; tile < b->num_tiles; ++tile)
    pop_graph_set_initial_value(b->graph, pop_tensor_index(b->in, tile), values);
}

/* A vertex on each tile, with the elements of its neighbour. */
static pop_program add_roots(busy_graph *b)
{
  pop_compute_set set = pop_graph_add_compute_set(b->graph, "roots");
  for (size_t tile = 0; tile < b->num_tiles; ++tile) {
    pop_vertex vertex = pop_graph_add_vertex(b->graph, set, "Root");
    pop_tensor neighbour = pop_tensor_index(b->in, (tile + 1) % b->num_tiles);
    pop_graph_connect(b->graph, vertex, "in", neighbour);
    pop_graph_connect(b->graph, vertex, "out", pop_tensor_index(b->out, tile));
    pop_graph_connect(b->graph, vertex, "calls", pop_tensor_index(b->calls, tile));
    pop_graph_set_vertex_tile(b->graph, vertex, tile);
  }
  return pop_program_execute(b->graph, set, "roots");
}

/* Dot products on every second tile, with a constant that is on the last tile. */
static pop_program add_dot_products(busy_graph *b)
{
  pop_compute_set set = pop_graph_add_compute_set(b->graph, "dot products");
  for (size_t tile = 0; tile < b->num_tiles; tile += 2) {
    pop_tensor count = pop_tensor_index(b->counts, (tile + 1) % b->num_tiles);
    pop_vertex vertex = pop_graph_add_vertex(b->graph, set, "DotHalf");
    pop_graph_connect(b->graph, vertex, "a", b->halves);
    pop_graph_connect(b->graph, vertex, "b", pop_tensor_reverse(b->halves, 0));
    pop_graph_connect(b->graph, vertex, "sum", pop_tensor_index(b->sums, tile));
    pop_graph_connect(b->graph, vertex, "count", pop_tensor_index(count, 1));
    pop_graph_set_field_int(b->graph, vertex, "divisor", 1000000);
    pop_graph_set_vertex_tile(b->graph, vertex, tile);
  }
  return pop_program_execute(b->graph, set, "dot products");
}

static pop_program add_programs(busy_graph *b)
{
  pop_program body = pop_program_sequence(b->graph, "body");
  pop_sequence_add(body, add_roots(b));
  pop_sequence_add(body, add_dot_products(b));
  pop_sequence_add(body, pop_program_copy(pop_tensor_reverse(b->out, 0), b->in, "back"));
  pop_program all = pop_program_sequence(b->graph, "all");
  pop_sequence_add(all, pop_program_repeat(b->graph, 3, body, "loop"));
  pop_sequence_add(all, pop_program_print_tensor(pop_tensor_index(b->counts, 0), "counts"));
  pop_graph_create_host_read(b->graph, "sums", pop_tensor_index(b->sums, 0));
  return all;
}

/* 0*20 + 1*19 + … + 20*0, and 10^12 / 10^6. */
static pop_error *check_sum(pop_engine *engine)
{
  float sum, expected = 1000000;
  for (int i = 0; i < PER_TILE; ++i) expected += (float)(i * (PER_TILE - 1 - i));
  POP_TRY(pop_engine_read_tensor(engine, "sums", &sum, sizeof sum));
  if (fabsf(sum - expected) < 1) return NULL;
  return pop_error_new(POP_ERROR_INTERNAL, "the sum is %g, not %g", (double)sum, (double)expected);
}

static pop_error *print_tiles(const pop_engine *engine, size_t num_tiles)
{
  for (uint32_t tile = 0; tile < num_tiles; ++tile) {
    pop_tile_memory memory;
    POP_TRY(pop_engine_tile_memory(engine, tile, &memory));
    printf("%u %u %u %u\n", tile, memory.total, memory.total_including_gaps,
           pop_engine_loaded_bytes(engine, tile));
  }
  return NULL;
}

static pop_error *run(const char *codelets, const pop_target *target, pop_engine **engine)
{
  busy_graph b = {.graph = pop_graph_create(target), .num_tiles = pop_target_num_tiles(target)};
  pop_graph_add_codelets(b.graph, codelets, NULL);
  add_variables(&b);
  pop_program program = add_programs(&b);
  pop_error *error = pop_engine_create(b.graph, &program, 1, NULL, 0, engine);
  pop_graph_free(b.graph);
  POP_TRY(error);
  POP_TRY(pop_engine_load(*engine));
  pop_engine_set_print_stream(*engine, stdout);
  POP_TRY(pop_engine_run(*engine, 0));
  POP_TRY(check_sum(*engine));
  return print_tiles(*engine, b.num_tiles);
}

int main(int argc, char **argv)
{
  pop_target target;
  pop_engine *engine = NULL;
  if (argc != 4) {
    fprintf(stderr, "usage: busy_graph CODELETS TARGET TILES\n");
    return 2;
  }
  pop_error *error = pop_target_create(argv[2], 1, &target);
  target.tiles_per_ipu = (uint32_t)strtoul(argv[3], NULL, 10);
  if (!error) error = run(argv[1], &target, &engine);
  int status = pop_error_exit_status(error);
  if (error) fprintf(stderr, "busy_graph: %s\n", pop_error_message(error));
  pop_error_free(error);
  pop_engine_free(engine);
  return status;
}
