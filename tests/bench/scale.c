/* scale <case> <codelets.gp> [archive]: the toolchain with graphs that are large in one way.
 *
 * Builds the case's graph, compiles it, writes the archive if there is one, loads and runs it, and
 * prints one object for run.sh for each step. For a case that must be refused, the time until the
 * refusal is measured. POPLAR_LOG_LEVEL=DEBUG shows the passes. */
#include "../support/compiled.h"
#include <populus/arena.h>
#include <populus/popops.h>
#include <populus/populus.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

enum { WORD = 4 };

/* ---- the cases ---- */

enum { MANY_VERTICES = 1000000, VERTEX_FLOATS = 2 };

static pop_tensor add_rows(pop_graph *graph, size_t rows, const char *name)
{
  const size_t shape[] = {rows, VERTEX_FLOATS};
  return pop_graph_add_variable(graph, POP_FLOAT, shape, 2, name);
}

/* A vertex per row of `output`, spread evenly; the rows of `local` and `output` lie where it runs. */
static void add_vertex(pop_graph *graph, pop_compute_set set, const char *type, size_t row,
                       size_t tile, pop_tensor input, pop_tensor output, pop_vertex *vertex)
{
  pop_tensor in = pop_tensor_index(input, row), out = pop_tensor_index(output, row);
  *vertex = pop_graph_add_vertex(graph, set, type);
  pop_graph_connect(graph, *vertex, "out", out);
  pop_graph_set_vertex_tile(graph, *vertex, tile);
  pop_graph_set_tile_mapping(graph, in, tile);
  pop_graph_set_tile_mapping(graph, out, tile);
}

static pop_program local_vertices(pop_graph *graph, size_t vertices)
{
  size_t tiles = pop_target_num_tiles(pop_graph_get_target(graph));
  pop_tensor input = add_rows(graph, vertices, "input");
  pop_tensor output = add_rows(graph, vertices, "output");
  pop_compute_set set = pop_graph_add_compute_set(graph, "local");
  for (size_t row = 0; row < vertices; ++row) {
    pop_vertex vertex;
    add_vertex(graph, set, "Scale", row, row * tiles / vertices, input, output, &vertex);
    pop_graph_connect(graph, vertex, "in", pop_tensor_index(input, row));
  }
  return pop_program_execute(graph, set, "local");
}

static pop_program build_local(pop_graph *graph)
{
  return local_vertices(graph, MANY_VERTICES);
}

/* Every vertex reads two rows from other tiles. The strides and the number of rows are coprime, so
 * every row is read twice, from everywhere. */
static pop_program build_exchange(pop_graph *graph)
{
  const size_t vertices = MANY_VERTICES, strides[] = {618033, 414213}, first[] = {1000, 500000};
  size_t tiles = pop_target_num_tiles(pop_graph_get_target(graph));
  pop_tensor input = add_rows(graph, vertices, "input");
  pop_tensor output = add_rows(graph, vertices, "output");
  pop_compute_set set = pop_graph_add_compute_set(graph, "exchange");
  for (size_t row = 0; row < vertices; ++row) {
    pop_vertex vertex;
    add_vertex(graph, set, "Add", row, row * tiles / vertices, input, output, &vertex);
    size_t a = (first[0] + row * strides[0]) % vertices,
           b = (first[1] + row * strides[1]) % vertices;
    pop_graph_connect(graph, vertex, "a", pop_tensor_index(input, a));
    pop_graph_connect(graph, vertex, "b", pop_tensor_index(input, b));
  }
  return pop_program_execute(graph, set, "exchange");
}

/* Four vertices a tile. Each reads the row of the vertex four further on, which is on
 * the next tile. */
static pop_program build_neighbours(pop_graph *graph)
{
  enum { PER_TILE = 4 };
  size_t tiles = pop_target_num_tiles(pop_graph_get_target(graph)), vertices = tiles * PER_TILE;
  pop_tensor input = add_rows(graph, vertices, "input");
  pop_tensor output = add_rows(graph, vertices, "output");
  pop_compute_set set = pop_graph_add_compute_set(graph, "neighbours");
  for (size_t row = 0; row < vertices; ++row) {
    pop_vertex vertex;
    add_vertex(graph, set, "Scale", row, row / PER_TILE, input, output, &vertex);
    pop_graph_connect(graph, vertex, "in", pop_tensor_index(input, (row + PER_TILE) % vertices));
  }
  return pop_program_execute(graph, set, "neighbours");
}

/* The same in replicas, which then give their output to the next one: all of it crosses
 * between IPUs. */
static pop_program build_replicas(pop_graph *graph)
{
  enum { REPLICAS = 4 };
  const size_t rows = pop_target_num_tiles(pop_graph_get_target(graph));
  pop_replica_pair ring[REPLICAS];
  for (uint32_t i = 0; i < REPLICAS; ++i) ring[i] = (pop_replica_pair){i, (i + 1) % REPLICAS};
  pop_tensor mine = add_rows(graph, rows, "mine"), other = add_rows(graph, rows, "other");
  pop_graph_map_linearly(graph, mine, VERTEX_FLOATS, VERTEX_FLOATS);
  pop_graph_map_linearly(graph, other, VERTEX_FLOATS, VERTEX_FLOATS);
  pop_program program = pop_program_sequence(graph, "replicas");
  pop_sequence_add(program, build_neighbours(graph));
  pop_sequence_add(program, pop_program_cross_replica_copy(mine, other, ring, REPLICAS, "ring"));
  return program;
}

/* All on the one tile of the target. */
static pop_program build_one_tile(pop_graph *graph)
{
  return local_vertices(graph, 100000);
}

static pop_program huge_copy(pop_graph *graph, bool mapped)
{
  const size_t size = (size_t)1 << 31;
  pop_tensor source = pop_graph_add_variable(graph, POP_FLOAT, &size, 1, "source");
  pop_tensor destination = pop_graph_add_variable(graph, POP_FLOAT, &size, 1, "destination");
  if (mapped) {
    pop_graph_map_linearly(graph, source, 0, 0);
    pop_graph_map_linearly(graph, destination, 0, 0);
  }
  return pop_program_copy(source, destination, "huge");
}

static pop_program build_huge(pop_graph *graph)
{
  return huge_copy(graph, true);
}

static pop_program build_huge_unmapped(pop_graph *graph)
{
  return huge_copy(graph, false);
}

/* Sequences in sequences, a copy in the innermost. */
static pop_program build_nested(pop_graph *graph)
{
  const size_t size = 16;
  pop_tensor source = pop_graph_add_variable(graph, POP_FLOAT, &size, 1, "source");
  pop_tensor destination = pop_graph_add_variable(graph, POP_FLOAT, &size, 1, "destination");
  pop_graph_set_tile_mapping(graph, source, 0);
  pop_graph_set_tile_mapping(graph, destination, 1);
  pop_program program = pop_program_copy(source, destination, "inner");
  for (int depth = 0; depth < 100000; ++depth) {
    pop_program outer = pop_program_sequence(graph, "outer");
    pop_sequence_add(outer, program);
    program = outer;
  }
  return program;
}

/* One copy after another, each between two tiles of its own choice. */
static pop_program build_copies(pop_graph *graph)
{
  const size_t copies = 10000, words = 8, tiles = 1472;
  const size_t shape[] = {tiles, words};
  pop_tensor data = pop_graph_add_variable(graph, POP_FLOAT, shape, 2, "data");
  for (size_t tile = 0; tile < tiles; ++tile)
    pop_graph_set_tile_mapping(graph, pop_tensor_index(data, tile), tile);
  pop_program program = pop_program_sequence(graph, "copies");
  for (size_t i = 0; i < copies; ++i) {
    pop_tensor from = pop_tensor_index(data, i * 7 % tiles);
    pop_tensor to = pop_tensor_index(data, (i * 7 + 1 + i % 5) % tiles);
    pop_sequence_add(program, pop_program_copy(from, to, "copy"));
  }
  return program;
}

static pop_program build_transpose(pop_graph *graph)
{
  const size_t shape[] = {4096, 4096};
  pop_tensor source = pop_graph_add_variable(graph, POP_FLOAT, shape, 2, "source");
  pop_tensor destination = pop_graph_add_variable(graph, POP_FLOAT, shape, 2, "destination");
  pop_graph_map_linearly(graph, source, 0, 0);
  pop_graph_map_linearly(graph, destination, 0, 0);
  return pop_program_copy(pop_tensor_transpose(source), destination, "transpose");
}

/* Independent copies in a row, each from one tile to another. */
static pop_program build_many_copies(pop_graph *graph)
{
  const size_t copies = 8502, words = 4;
  size_t tiles = pop_target_num_tiles(pop_graph_get_target(graph));
  const size_t shape[] = {copies, words};
  pop_tensor source = pop_graph_add_variable(graph, POP_FLOAT, shape, 2, "source");
  pop_tensor destination = pop_graph_add_variable(graph, POP_FLOAT, shape, 2, "destination");
  pop_program program = pop_program_sequence(graph, "copies");
  for (size_t i = 0; i < copies; ++i) {
    pop_tensor from = pop_tensor_index(source, i), to = pop_tensor_index(destination, i);
    pop_graph_set_tile_mapping(graph, from, i % tiles);
    pop_graph_set_tile_mapping(graph, to, (i * 617 + i / tiles * 31) % tiles);
    char name[24];
    snprintf(name, sizeof name, "copy %zu", i);
    pop_sequence_add(program, pop_program_copy(from, to, name));
  }
  return program;
}

/* Reduces over the outer dimension, to one element for each of the inner one. */
static pop_program build_reduce(pop_graph *graph)
{
  const size_t shape[] = {300, 30000}, dimension = 0;
  pop_popops_add_codelets(graph);
  pop_tensor data = pop_graph_add_variable(graph, POP_FLOAT, shape, 2, "data");
  pop_graph_map_linearly(graph, data, 0, 0);
  pop_program program = pop_program_sequence(graph, "reduce");
  pop_popops_reduce(graph, data, &dimension, 1, (pop_reduction){.op = POP_REDUCE_ADD},
                    (pop_tensor){graph, 0}, program, NULL, NULL, "sums");
  return program;
}

static const struct scale_case {
  const char *name;
  uint32_t num_ipus;
  uint32_t tiles_per_ipu; /* 0: the target's */
  uint32_t num_replicas;  /* 0: the graph is not replicated */
  bool in_one_graph;      /* the replicas; otherwise they are loaded one by one */
  pop_program (*build)(pop_graph *graph);
  bool refused;
  bool writes_profile; /* and says how long that takes */
  const char *key;     /* of the time to compile it, beside the others' */
} cases[] = {
    {"local", 1, 0, 0, false, build_local, false, true, NULL},
    {"exchange", 1, 0, 0, false, build_exchange, false, false, NULL},
    {"64_ipus", 64, 0, 0, false, build_neighbours, false, false, NULL},
    {"one_tile", 1, 1, 0, false, build_one_tile, true, false, NULL},
    {"huge", 1, 0, 0, false, build_huge, true, false, NULL},
    {"huge_unmapped", 1, 0, 0, false, build_huge_unmapped, true, false, NULL},
    {"nested", 1, 0, 0, false, build_nested, false, false, NULL},
    {"copies", 1, 0, 0, false, build_copies, false, false, NULL},
    {"transpose", 1, 0, 0, false, build_transpose, false, false, "transpose_4096_s"},
    {"many_copies", 1, 0, 0, false, build_many_copies, false, false, "many_copies_s"},
    {"reduce", 1, 0, 0, false, build_reduce, false, false, "reduce_300x30000_s"},
    {"ipus16", 16, 0, 4, true, build_replicas, false, false, NULL},
    {"ipus16_loaded", 16, 0, 4, false, build_replicas, false, false, NULL},
};

/* ---- measuring ---- */

static double now_seconds(void)
{
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static void print_number(const struct scale_case *x, const char *what, double value, int digits,
                         const char *unit)
{
  const char *topic = x->num_replicas ? "" : "scale_"; /* keys that others know */
  printf("{\"name\": \"%s%s_%s\", \"value\": %.*f, \"unit\": \"%s\"}\n", topic, x->name, what,
         digits, value, unit);
}

/* The time since *from; *from becomes now. */
static void print_seconds(const struct scale_case *x, const char *what, double *from)
{
  double now = now_seconds();
  print_number(x, what, now - *from, 3, "s");
  *from = now;
}

/* `most` before it was forgotten. */
static void print_peak_memory(const struct scale_case *x, double most)
{
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  double peak = (double)usage.ru_maxrss / 1024;
  print_number(x, x->num_replicas ? "peak_mib" : "peak_memory", peak > most ? peak : most, 0,
               "MiB");
}

/* For all exchanges together: cycles of the slowest tile, and their lower bound, the words of the
 * tile that sends or receives most. */
static void print_exchanges(const struct scale_case *x, const compilation *c)
{
  uint64_t cycles = 0, least = 0, code_bytes = 0, all_code_bytes = 0;
  for (size_t i = 0; i < c->num_exchanges; ++i) {
    const exchange *e = &c->exchanges[i];
    uint64_t slowest = 0, bytes = 0;
    for (size_t t = e->first_tile; t < e->first_tile + e->num_tiles; ++t) {
      const tile_exchange *te = &c->tile_exchanges[t];
      if (te->cycles > slowest) slowest = te->cycles;
      if (te->bytes_sent > bytes) bytes = te->bytes_sent;
      if (te->bytes_received > bytes) bytes = te->bytes_received;
      if (te->num_ops * (uint64_t)WORD > code_bytes) code_bytes = te->num_ops * (uint64_t)WORD;
      all_code_bytes += te->num_ops * (uint64_t)WORD;
    }
    cycles += slowest;
    least += bytes / WORD;
  }
  if (c->num_exchanges == 0) return;
  print_number(x, "exchange", (double)cycles, 0, "cycles");
  print_number(x, "exchange_least", (double)least, 0, "cycles");
  print_number(x, "exchange_code", (double)code_bytes, 0, "B on the fullest tile");
  print_number(x, "all_exchange_code", (double)all_code_bytes / 1e6, 2, "MB");
}

/* A line of /proc/self/status, in MiB: VmRSS, VmHWM. */
static double process_memory(const char *key)
{
  char line[256];
  double kib = 0;
  FILE *status = fopen("/proc/self/status", "r");
  while (status && fgets(line, sizeof line, status))
    if (strncmp(line, key, strlen(key)) == 0) kib = strtod(line + strlen(key) + 1, NULL);
  if (status) fclose(status);
  return kib / 1024;
}

/* Resets VmHWM, the peak of resident memory; *most becomes its old value if that is larger. */
static void forget_most_memory(double *most)
{
  double now = process_memory("VmHWM");
  if (now > *most) *most = now;
  FILE *file = fopen("/proc/self/clear_refs", "w");
  if (!file) return;
  fputs("5", file);
  fclose(file);
}

/* Writes it as text. Nothing of it is kept in memory, as the peak of resident memory shows. */
static pop_error *write_profile(const pop_engine *engine, double compile_seconds,
                                double *most_memory)
{
  FILE *stream = fopen("graph.json", "w");
  if (!stream) return pop_error_new(POP_ERROR_SYSTEM, "cannot write graph.json");
  forget_most_memory(most_memory);
  double before = process_memory("VmRSS"), from = now_seconds();
  pop_error *error = pop_engine_write_graph_profile(engine, POP_PROFILE_JSON, stream);
  double mib = (double)ftell(stream) / (1 << 20);
  fclose(stream);
  printf("{\"name\": \"profile_write_vs_compile\", \"value\": %.3f, \"unit\": \"of the compile "
         "time\"}\n",
         (now_seconds() - from) / compile_seconds);
  printf(
      "{\"name\": \"profile_write_memory\", \"value\": %.1f, \"unit\": \"MiB more than before, for "
      "%.1f MiB of text\"}\n",
      process_memory("VmHWM") - before, mib);
  remove("graph.json");
  return error;
}

static pop_error *use(const struct scale_case *x, pop_engine *engine, const char *archive,
                      double *time)
{
  if (archive) {
    POP_TRY(pop_engine_save_archive(engine, archive));
    print_seconds(x, "archive_s", time);
  }
  print_exchanges(x, engine_compilation(engine));
  *time = now_seconds();
  POP_TRY(pop_engine_load(engine));
  print_seconds(x, "load_s", time);
  POP_TRY(pop_engine_run(engine, 0));
  print_seconds(x, "run_s", time);
  return NULL;
}

static pop_error *measure(const struct scale_case *x, const char *codelets, const char *archive,
                          double *most_memory)
{
  pop_target target;
  POP_TRY(pop_target_create("ipu2", x->num_ipus, &target));
  if (x->tiles_per_ipu) target.tiles_per_ipu = x->tiles_per_ipu;
  bool loaded_for_each = x->num_replicas && !x->in_one_graph;
  pop_graph *graph = loaded_for_each ? pop_graph_create_replicated(&target, x->num_replicas)
                                     : pop_graph_create(&target);
  pop_graph *part =
      x->in_one_graph ? pop_graph_create_replicated_graph(graph, x->num_replicas) : graph;
  pop_graph_add_codelets(graph, codelets, NULL);
  double time = now_seconds();
  pop_program program = x->build(part);
  print_seconds(x, "build_s", &time);
  pop_engine *engine = NULL;
  pop_error *error = pop_engine_create(graph, &program, 1, NULL, 0, &engine);
  double compile_seconds = now_seconds() - time;
  if (x->key)
    printf("{\"name\": \"%s\", \"value\": %.3f, \"unit\": \"s\"}\n", x->key, compile_seconds);
  print_seconds(x, "compile_s", &time);
  pop_graph_free(graph);
  if (!error && x->writes_profile) error = write_profile(engine, compile_seconds, most_memory);
  if (!error) error = use(x, engine, archive, &time);
  pop_engine_free(engine);
  return error;
}

static int run_case(const struct scale_case *x, const char *codelets, const char *archive)
{
  double most_memory = 0;
  pop_error *error = measure(x, codelets, archive, &most_memory);
  bool as_expected = x->refused == (error != NULL);
  if (!as_expected)
    fprintf(stderr, "scale: %s: %s\n", x->name,
            error ? pop_error_message(error) : "this should have been refused");
  else if (error)
    fprintf(stderr, "%s: refused, as it must be: %.200s\n", x->name, pop_error_message(error));
  pop_error_free(error);
  print_peak_memory(x, most_memory);
  return as_expected ? 0 : 1;
}

int main(int argc, char **argv)
{
  for (size_t i = 0; argc >= 3 && i < sizeof cases / sizeof *cases; ++i)
    if (strcmp(argv[1], cases[i].name) == 0) return run_case(&cases[i], argv[2], argv[3]);
  fprintf(stderr, "usage: scale <case> <codelets.gp> [archive], where case is one of:\n");
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i)
    fprintf(stderr, "  %s\n", cases[i].name);
  return 2;
}
