/* fidelity <codelets.gp> [row...]: our cycles of programs whose cycles on chips are published.
 *
 * Prints a line for each row, or for the named ones: name, kind, published cycles, ours, then ours
 * in parts: computing, copies within the tile, exchange, syncs, host. fidelity.sh has the sources,
 * computes ratios, and says which rows are kept aside. The kinds are:
 *
 *   program   measured by its author on a chip
 *   estimate  the chip's libraries' own formula for one tile
 *   aside     measured by its author on a chip; all are kept aside. Written without a look at them
 *             after costs, or joined operations, had been chosen
 *   new       the same, but written after repeats and joined accesses had been chosen, as the rows
 *             of kind aside had been seen by then
 *   listing   instructions of a published loop; for pairs only
 *
 * A program of 1,216 or 1,472 equal tiles is measured on 3 x 3 (x 3) of them with the same work for
 * each tile. The tile in the middle does what each of them does. */
#include "engine/engine_private.h"

#include <populus/popops.h>
#include <populus/populus.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void check(pop_error *error)
{
  if (!error) return;
  fprintf(stderr, "fidelity: %s\n", pop_error_message(error));
  exit(1);
}

/* The requested rows; none: all. */
static char *const *asked;
static int num_asked;

static bool is_asked(const char *row)
{
  int i = 0;
  while (i < num_asked && strcmp(asked[i], row) != 0) i++;
  return num_asked == 0 || i < num_asked;
}

/* ---- what a tile does in a run ---- */

enum { MAX_COMPUTES = 16 };

typedef struct phases {
  uint32_t tile;
  uint64_t computes[MAX_COMPUTES];
  uint32_t num_computes;
  uint64_t exchange, host;
  uint32_t syncs;
} phases;

static void hear(void *context, const machine_trace_event *event)
{
  phases *p = context;
  uint64_t cycles = event->to - event->from;
  if (event->kind == MACHINE_TRACE_SYNC) p->syncs++;
  if (event->tile != p->tile) return;
  if (event->kind == MACHINE_TRACE_COMPUTE && p->num_computes < MAX_COMPUTES)
    p->computes[p->num_computes++] = cycles;
  if (event->kind == MACHINE_TRACE_EXCHANGE) p->exchange += cycles;
  if (event->kind == MACHINE_TRACE_HOST_EXCHANGE) p->host += cycles;
}

typedef struct result {
  uint64_t total; /* of what a second and third time add to a run */
  uint64_t compute, copies, exchange, sync, host;
} result;

static uint64_t run(pop_engine *engine, size_t program)
{
  uint64_t before = pop_engine_cycles(engine);
  check(pop_engine_run(engine, program));
  return pop_engine_cycles(engine) - before;
}

/* Measures `step` once, traced, and three times. Of the step's computing on the tile, the
 * `vertices` longest parts are its own vertices', the others are copies. */
static result measure(pop_graph *graph, pop_program step, uint32_t tile, uint32_t vertices)
{
  pop_program programs[] = {pop_program_sequence(graph, "once"),
                            pop_program_sequence(graph, "thrice")};
  pop_sequence_add(programs[0], step);
  for (int i = 0; i < 3; i++) pop_sequence_add(programs[1], step);
  pop_engine *engine;
  check(pop_engine_create(graph, programs, 2, NULL, 0, &engine));
  check(pop_engine_load(engine));
  phases p = {.tile = tile};
  machine_set_trace(engine->replicas[0].machine, hear, &p);
  uint64_t once = run(engine, 0);
  machine_set_trace(engine->replicas[0].machine, NULL, NULL);
  result r = {.total = (run(engine, 1) - once) / 2,
              .exchange = p.exchange,
              .host = p.host,
              .sync = (uint64_t)p.syncs * pop_graph_get_target(graph)->sync_cycles};
  for (uint32_t i = 0; i < p.num_computes; i++) {
    uint32_t longer = 0;
    for (uint32_t j = 0; j < p.num_computes; j++)
      longer += p.computes[j] > p.computes[i] || (p.computes[j] == p.computes[i] && j < i);
    *(longer < vertices ? &r.compute : &r.copies) += p.computes[i];
  }
  pop_engine_free(engine);
  return r;
}

static void print(const char *name, const char *kind, double published, double ours,
                  const result *r)
{
  printf("%s %s %.0f %.0f %llu %llu %llu %llu %llu\n", name, kind, published, ours,
         (unsigned long long)r->compute, (unsigned long long)r->copies,
         (unsigned long long)r->exchange, (unsigned long long)r->sync, (unsigned long long)r->host);
  fflush(stdout);
}

static pop_graph *new_graph(const char *name, uint32_t tiles, const char *codelets)
{
  pop_target target;
  check(pop_target_create(name, 1, &target));
  target.tiles_per_ipu = tiles;
  pop_graph *graph = pop_graph_create(&target);
  pop_graph_add_codelets(graph, codelets, NULL);
  return graph;
}

static void finish(pop_graph *graph)
{
  check(pop_graph_take_error(graph));
  pop_graph_free(graph);
}

/* ---- stencils on grids ---- */

enum { GRID = 3, MAX_RANK = 4, MAX_CONSTANTS = 9 };

typedef struct stencil {
  const char *name, *vertex, *target;
  double published;
  pop_type type;
  size_t rank;              /* of the grid; `channels` come behind it if there are any */
  size_t tile[3], split[3]; /* points of a tile; among its workers */
  size_t channels;
  bool with_r; /* an InOut field beside `in` and `out` */
  struct {
    const char *name;
    float value;
  } constants[MAX_CONSTANTS];
  size_t border; /* points around the grid; 0: one. Else the vertex has a field for it */
} stencil;

static const stencil stencils[] = {
    {"blur_float",
     "Blur<float,1>",
     "ipu1",
     226772,
     POP_FLOAT,
     2,
     {28, 72},
     {2, 3},
     4,
     false,
     {{0}},
     0},
    {"blur_float2",
     "Blur<float,2>",
     "ipu1",
     116780,
     POP_FLOAT,
     2,
     {28, 72},
     {2, 3},
     4,
     false,
     {{0}},
     0},
    {"blur_half4",
     "Blur<half,4>",
     "ipu1",
     74799,
     POP_HALF,
     2,
     {28, 72},
     {2, 3},
     4,
     false,
     {{0}},
     0},
    {"heat_2d",
     "Heat2d",
     "ipu2",
     399000,
     POP_FLOAT,
     2,
     {250, 174},
     {6, 1},
     0,
     false,
     {{"alpha", .1f}},
     0},
    {"heat_3d",
     "Heat3d",
     "ipu2",
     344700,
     POP_FLOAT,
     3,
     {45, 45, 16},
     {2, 3, 1},
     0,
     false,
     {{"alpha", .1f}},
     0},
};

/* Kept aside. Largest tiles of 342 x 342 x 342 points in 23 x 8 x 8 parts, the outer two on each side not computed. */
static const stencil diffusion_3d = {
    .name = "diffusion_3d",
    .vertex = "Diffusion3d",
    .target = "ipu2",
    .published = 1452200,
    .type = POP_FLOAT,
    .rank = 3,
    .tile = {15, 43, 43},
    .split = {2, 3, 1},
    .border = 2,
    .constants = {
        {"alpha", .5f}, {"dt", 1e-3f}, {"r0", 1e3f}, {"r1", 1e2f}, {"r2", 1e2f}, {"r3", 1e2f}}};

static const stencil heat_3d_simple = {.name = "heat_3d_simple",
                                       .vertex = "Heat3dSimple",
                                       .target = "ipu2",
                                       .published = 477000,
                                       .type = POP_FLOAT,
                                       .rank = 3,
                                       .tile = {45, 45, 16},
                                       .split = {2, 3, 1},
                                       .constants = {{"alpha", .1f}}};

static const stencil aliev_panfilov = {"aliev_panfilov",
                                       "AlievPanfilov",
                                       "ipu2",
                                       1444250,
                                       POP_FLOAT,
                                       2,
                                       {219, 153},
                                       {6, 1},
                                       0,
                                       true,
                                       {{"delta", 5e-5f},
                                        {"epsilon", .01f},
                                        {"my1", .07f},
                                        {"my2", .3f},
                                        {"h", 1e-3f},
                                        {"dt", 1e-3f},
                                        {"k", 8},
                                        {"a", .1f},
                                        {"b", .1f}},
                                       0};

/* The tile's place in the grid of tiles. */
static void place_of(const stencil *s, size_t tile, size_t place[3])
{
  for (size_t d = s->rank; d-- > 0; tile /= GRID) place[d] = tile % GRID;
}

static size_t num_tiles(const stencil *s)
{
  return s->rank == 2 ? GRID * GRID : GRID * GRID * GRID;
}

static size_t border_of(const stencil *s)
{
  return s->border ? s->border : 1;
}

/* All tiles' points with a border around them, which is mapped to the outermost tiles. */
static pop_tensor add_grid(pop_graph *graph, const stencil *s, const char *name)
{
  size_t shape[MAX_RANK], rank = s->rank, border = border_of(s);
  for (size_t d = 0; d < rank; d++) shape[d] = GRID * s->tile[d] + 2 * border;
  if (s->channels) shape[rank++] = s->channels;
  pop_tensor grid = pop_graph_add_variable(graph, s->type, shape, rank, name);
  for (size_t tile = 0; tile < num_tiles(s); tile++) {
    size_t place[3], begin[MAX_RANK], end[MAX_RANK];
    place_of(s, tile, place);
    for (size_t d = 0; d < s->rank; d++) {
      begin[d] = place[d] * s->tile[d] + (place[d] > 0) * border;
      end[d] = (place[d] + 1) * s->tile[d] + border + (place[d] == GRID - 1) * border;
    }
    pop_graph_set_tile_mapping(graph, pop_tensor_slice_nd(grid, begin, end, s->rank), tile);
  }
  return grid;
}

/* A field's tensor: one row of everything for pixels with channels, else rows of the last dimension. */
static pop_tensor field_of(const stencil *s, pop_tensor grid, const size_t *begin,
                           const size_t *end)
{
  pop_tensor part = pop_tensor_slice_nd(grid, begin, end, s->rank);
  return s->channels ? pop_tensor_flatten(part) : pop_tensor_flatten_partial(part, 0, s->rank - 1);
}

static void add_worker(pop_graph *graph, const stencil *s, pop_compute_set set,
                       const pop_tensor grids[3], size_t tile, size_t worker)
{
  static const char *const sizes[] = {"height", "width", "depth"};
  size_t place[3], begin[3], end[3], out[3], inner[3], border = border_of(s);
  place_of(s, tile, place);
  pop_vertex v = pop_graph_add_vertex(graph, set, s->vertex);
  for (size_t d = s->rank; d-- > 0; worker /= s->split[d]) {
    size_t part = worker % s->split[d], first = border + place[d] * s->tile[d];
    out[d] = first + s->tile[d] * part / s->split[d];
    inner[d] = first + s->tile[d] * (part + 1) / s->split[d];
    begin[d] = out[d] - border;
    end[d] = inner[d] + border;
    pop_graph_set_field_int(graph, v, sizes[d], (int64_t)(inner[d] - out[d]));
  }
  if (s->border) pop_graph_set_field_int(graph, v, "border", (int64_t)border);
  pop_graph_connect(graph, v, "in", field_of(s, grids[0], begin, end));
  pop_graph_connect(graph, v, "out", field_of(s, grids[1], out, inner));
  if (s->with_r) pop_graph_connect(graph, v, "r", field_of(s, grids[2], out, inner));
  for (size_t i = 0; i < MAX_CONSTANTS && s->constants[i].name; i++)
    pop_graph_set_field_float(graph, v, s->constants[i].name, s->constants[i].value);
  pop_graph_set_vertex_tile(graph, v, tile);
}

static void measure_stencil(const stencil *s, const char *kind, const char *codelets)
{
  if (!is_asked(s->name)) return;
  pop_graph *graph = new_graph(s->target, (uint32_t)num_tiles(s), codelets);
  pop_tensor grids[3] = {add_grid(graph, s, "from"), add_grid(graph, s, "to")};
  if (s->with_r) grids[2] = add_grid(graph, s, "r");
  pop_compute_set set = pop_graph_add_compute_set(graph, s->name);
  size_t workers = 1;
  for (size_t d = 0; d < s->rank; d++) workers *= s->split[d];
  for (size_t tile = 0; tile < num_tiles(s); tile++)
    for (size_t worker = 0; worker < workers; worker++)
      add_worker(graph, s, set, grids, tile, worker);
  result r =
      measure(graph, pop_program_execute(graph, set, s->name), (uint32_t)num_tiles(s) / 2, 1);
  print(s->name, kind, s->published, (double)r.total, &r);
  finish(graph);
}

/* ---- one vertex ---- */

static void measure_pi(const char *name, const char *kind, const char *vertex, double published,
                       const char *codelets)
{
  if (!is_asked(name)) return;
  pop_graph *graph = new_graph("ipu21", 1, codelets);
  pop_compute_set set = pop_graph_add_compute_set(graph, name);
  pop_tensor out = pop_graph_add_variable(graph, POP_FLOAT, NULL, 0, "out");
  pop_graph_set_tile_mapping(graph, out, 0);
  pop_vertex v = pop_graph_add_vertex(graph, set, vertex);
  unsigned id = 7, n = 1000;
  float slice = 1.0f / (1472 * 1000);
  pop_graph_connect_value(graph, v, "id", POP_UNSIGNED_INT, &id, 1);
  pop_graph_connect_value(graph, v, "n", POP_UNSIGNED_INT, &n, 1);
  pop_graph_connect_value(graph, v, "slice", POP_FLOAT, &slice, 1);
  pop_graph_connect(graph, v, "out", out);
  pop_graph_set_vertex_tile(graph, v, 0);
  result r = measure(graph, pop_program_execute(graph, set, name), 0, 1);
  print(name, kind, published, (double)r.compute, &r);
  finish(graph);
}

/* Measures the supervisor's part of a step, as the step has nothing else. */
static void measure_loop(const char *codelets)
{
  if (!is_asked("empty_loop")) return;
  pop_graph *graph = new_graph("ipu2", 1, codelets);
  pop_compute_set set = pop_graph_add_compute_set(graph, "loop");
  pop_tensor out = pop_graph_add_variable(graph, POP_UNSIGNED_INT, NULL, 0, "out");
  pop_graph_set_tile_mapping(graph, out, 0);
  pop_vertex v = pop_graph_add_vertex(graph, set, "EmptyLoop");
  pop_graph_connect(graph, v, "out", out);
  pop_graph_set_vertex_tile(graph, v, 0);
  result r = measure(graph, pop_program_execute(graph, set, "loop"), 0, 0);
  r.compute = r.total - r.sync;
  print("empty_loop", "program", 3618, (double)r.compute, &r);
  finish(graph);
}

/* ---- tutorial 6: a tile's part of 10,000 x 1,000 in seven segments ---- */

static pop_tensor add_vector(pop_graph *graph, size_t count, size_t tile, const char *name)
{
  pop_tensor v = pop_graph_add_variable(graph, POP_FLOAT, &count, 1, name);
  pop_graph_set_tile_mapping(graph, v, tile);
  return v;
}

/* The vector and the partial sums come from the other tile, as nearly all come from other tiles
 * in the original. */
static void measure_matrix_vector(const char *codelets)
{
  enum { DOTS = 48, SEGMENT = 143, SUMS = 7, PARTIALS = 7 };
  if (!is_asked("matrix_vector")) return;
  pop_graph *graph = new_graph("ipu2", 2, codelets);
  pop_compute_set multiply = pop_graph_add_compute_set(graph, "mul"),
                  reduce = pop_graph_add_compute_set(graph, "reduce");
  pop_tensor vector = add_vector(graph, SEGMENT, 1, "vector"),
             partials = add_vector(graph, SUMS * PARTIALS, 1, "partials");
  pop_tensor matrix = add_vector(graph, DOTS * SEGMENT, 0, "matrix"),
             out = add_vector(graph, DOTS + SUMS, 0, "out");
  for (size_t i = 0; i < DOTS; i++) {
    pop_vertex v = pop_graph_add_vertex(graph, multiply, "Dot");
    pop_graph_connect(graph, v, "a", pop_tensor_slice(matrix, i * SEGMENT, (i + 1) * SEGMENT, 0));
    pop_graph_connect(graph, v, "b", vector);
    pop_graph_connect(graph, v, "out", pop_tensor_index(out, i));
    pop_graph_set_vertex_tile(graph, v, 0);
  }
  for (size_t i = 0; i < SUMS; i++) {
    pop_vertex v = pop_graph_add_vertex(graph, reduce, "Sum");
    pop_graph_connect(graph, v, "in",
                      pop_tensor_slice(partials, i * PARTIALS, (i + 1) * PARTIALS, 0));
    pop_graph_connect(graph, v, "out", pop_tensor_index(out, DOTS + i));
    pop_graph_set_vertex_tile(graph, v, 0);
  }
  pop_program step = pop_program_sequence(graph, "step");
  pop_sequence_add(step, pop_program_execute(graph, multiply, "mul"));
  pop_sequence_add(step, pop_program_execute(graph, reduce, "reduce"));
  result r = measure(graph, step, 0, 2);
  print("matrix_vector", "program", 28300, (double)(r.compute + r.copies), &r);
  finish(graph);
}

/* The matrix of that tutorial comes from the host: 40 MB and the vector. */
static void measure_host_link(const char *codelets)
{
  enum { TILES = 1472, ELEMENTS = 10000 * 1000 + 1000 };
  if (!is_asked("host_link_40_MB")) return;
  pop_graph *graph = new_graph("ipu2", TILES, codelets);
  pop_tensor matrix =
      pop_graph_add_variable(graph, POP_FLOAT, (const size_t[]){ELEMENTS}, 1, "matrix");
  pop_graph_map_linearly(graph, matrix, 1, 1);
  pop_program nothing = pop_program_sequence(graph, "nothing");
  pop_engine *engine;
  pop_stream stream =
      pop_graph_add_host_to_device_fifo(graph, "matrix stream", POP_FLOAT, ELEMENTS);
  pop_program copy = pop_program_copy_from_stream(stream, matrix, "copy");
  check(pop_engine_create(graph, (pop_program[]){copy, nothing}, 2, NULL, 0, &engine));
  float *values = calloc(ELEMENTS, sizeof *values);
  check(pop_engine_connect_stream(engine, "matrix stream", values, values + ELEMENTS));
  check(pop_engine_load(engine));
  result r = {.host = run(engine, 0) - run(engine, 1)};
  print("host_link_40_MB", "program", 2641488, (double)r.host, &r);
  pop_engine_free(engine);
  free(values);
  finish(graph);
}

/* Two floats a round. `slots`: those of a published listing of the chip's compiler. */
static void measure_listing(const char *name, const char *vertex, unsigned slots,
                            const char *codelets)
{
  enum { PAIRS = 1000, CYCLES_A_SLOT = 6 };
  if (!is_asked(name)) return;
  pop_graph *graph = new_graph("ipu2", 1, codelets);
  pop_compute_set set = pop_graph_add_compute_set(graph, name);
  pop_vertex v = pop_graph_add_vertex(graph, set, vertex);
  pop_graph_connect(graph, v, "data", add_vector(graph, 2 * PAIRS, 0, "data"));
  pop_graph_set_field_float(graph, v, "number", 1);
  if (!strcmp(vertex, "AddAligned")) pop_graph_set_field_int(graph, v, "size", 2 * PAIRS);
  pop_graph_set_vertex_tile(graph, v, 0);
  result r = measure(graph, pop_program_execute(graph, set, name), 0, 1);
  print(name, "listing", PAIRS * CYCLES_A_SLOT * slots, (double)r.compute, &r);
  finish(graph);
}

/* ---- library operations on one tile ---- */

typedef enum operation_kind {
  UNARY,
  BINARY,
  SCALE,         /* the second operand is a single element */
  SCALED_ADD,    /* a += 2 b, at once */
  SCALED_ADD_BY, /* a += x b, where x is an element in memory */
  SCALE_AND_ADD  /* the same in two steps */
} operation_kind;

typedef struct operation {
  const char *name;
  double formula;
  pop_type type;
  operation_kind kind;
  unsigned op;
} operation_row;

/* 6,000 elements; the formulae: graphcore/poplibs, lib/popops/popopsCycleEstimators.cpp and PerformanceEstimation.cpp. */
static const operation_row operations[] = {
    {"add_float", 9185, POP_FLOAT, BINARY, POP_BINARY_ADD},
    {"add_half", 4667, POP_HALF, BINARY, POP_BINARY_ADD},
    {"add_int", 42167, POP_INT, BINARY, POP_BINARY_ADD},
    {"divide_float", 30185, POP_FLOAT, BINARY, POP_BINARY_DIVIDE},
    {"divide_int", 1662167, POP_INT, BINARY, POP_BINARY_DIVIDE},
    {"cbrt_float", 93122, POP_FLOAT, UNARY, POP_UNARY_CBRT},
    {"remainder_unsigned", 1692167, POP_UNSIGNED_INT, BINARY, POP_BINARY_REMAINDER},
    {"exp_float", 18218, POP_FLOAT, UNARY, POP_UNARY_EXPONENT},
    {"exp_half", 6218, POP_HALF, UNARY, POP_UNARY_EXPONENT},
    {"tanh_float", 36122, POP_FLOAT, UNARY, POP_UNARY_TANH},
    {"log_float", 36122, POP_FLOAT, UNARY, POP_UNARY_LOGARITHM},
    {"logistic_float", 36122, POP_FLOAT, UNARY, POP_UNARY_SIGMOID},
    {"rsqrt_float", 24122, POP_FLOAT, UNARY, POP_UNARY_RSQRT},
    {"sqrt_float", 30122, POP_FLOAT, UNARY, POP_UNARY_SQRT},
    {"scale_float", 6131, POP_FLOAT, SCALE, POP_BINARY_MULTIPLY},
    {"scaled_add_float", 9189, POP_FLOAT, SCALED_ADD, 0},
    {"scale_and_add", 15316, POP_FLOAT, SCALE_AND_ADD, 0},
    {"divide_by_float", 18131, POP_FLOAT, SCALE, POP_BINARY_DIVIDE},
};

static pop_tensor add_elements(pop_graph *graph, pop_type type, size_t count, const char *name)
{
  pop_tensor t = pop_graph_add_variable(graph, type, &count, 1, name);
  pop_graph_set_tile_mapping(graph, t, 0);
  return t;
}

static void add_operation(pop_graph *graph, const operation_row *o, size_t elements,
                          pop_program step)
{
  pop_tensor a = add_elements(graph, o->type, elements, "a"),
             out = add_elements(graph, o->type, elements, "out"),
             b = add_elements(graph, o->type, elements, "b"),
             one = add_elements(graph, o->type, 1, "one");
  switch (o->kind) {
  case UNARY:
    pop_popops_unary(graph, (pop_unary_op)o->op, a, out, step, o->name);
    break;
  case BINARY:
    pop_popops_binary(graph, (pop_binary_op)o->op, a, b, out, step, o->name);
    break;
  case SCALE:
    pop_popops_binary(graph, (pop_binary_op)o->op, a, one, out, step, o->name);
    break;
  case SCALED_ADD:
    pop_popops_scaled_add_to(graph, a, b, 2, step, o->name);
    break;
  case SCALED_ADD_BY:
    pop_popops_scaled_add_by(graph, a, b, one, 1, step, o->name);
    break;
  case SCALE_AND_ADD:
    pop_popops_binary(graph, POP_BINARY_MULTIPLY, b, one, out, step, "scale");
    pop_popops_binary(graph, POP_BINARY_ADD, a, out, a, step, "add");
  }
}

static void measure_operation(const operation_row *o, size_t elements, const char *kind,
                              const char *codelets)
{
  if (!is_asked(o->name)) return;
  pop_graph *graph = new_graph("ipu2", 1, codelets);
  pop_popops_add_codelets(graph);
  pop_program step = pop_program_sequence(graph, "step");
  add_operation(graph, o, elements, step);
  result r = measure(graph, step, 0, o->kind == SCALE_AND_ADD ? 2 : 1);
  print(o->name, kind, o->formula, (double)r.compute, &r);
  finish(graph);
}

/* ---- kept aside: vertices of six workers, on one tile ---- */

/* The cycles between two successive reads of the cycle counter, by its authors
 * (tile_interpreter_hw_primitives.py of graphcore-research/tessellate-ipu). Their
 * figures include them. */
enum { LOOKING = 45, WORKERS = 6 };

/* ScaledAddSupervisor of poplibs, on the chip. */
static const operation_row scaled_add_512 = {"scaled_add_512", 1043 - LOOKING, POP_FLOAT,
                                             SCALED_ADD_BY, 0},
                           scaled_add_64 = {"scaled_add_64", 375 - LOOKING, POP_FLOAT,
                                            SCALED_ADD_BY, 0},
                           scaled_add_128 = {"scaled_add_128", 467 - LOOKING, POP_FLOAT,
                                             SCALED_ADD_BY, 0},
                           scaled_add_256 = {"scaled_add_256", 665 - LOOKING, POP_FLOAT,
                                             SCALED_ADD_BY, 0};

/* add of jax, by popops, on each tile: 1.0054 microseconds at 1.85 GHz; looks at the counter 330 cycles apart. */
static const operation_row add_1024 = {"add_1024", 1860 - LOOKING, POP_FLOAT, BINARY,
                                       POP_BINARY_ADD},
                           add_10 = {"add_10", 330 - LOOKING, POP_FLOAT, BINARY, POP_BINARY_ADD};

static void measure_aside(pop_graph *graph, pop_compute_set set, const char *name, double published)
{
  result r = measure(graph, pop_program_execute(graph, set, name), 0, 1);
  print(name, "aside", published, (double)r.compute, &r);
  finish(graph);
}

/* `name` of vertex `v` is a new tensor of `count` floats on tile 0. */
static void connect_floats(pop_graph *graph, pop_vertex v, const char *name, size_t count)
{
  pop_graph_connect(graph, v, name, add_elements(graph, POP_FLOAT, count, name));
}

/* `starts`: pairs of `count` floats, equally many for each worker but the last one that
 * gets any. */
static void connect_starts(pop_graph *graph, pop_vertex v, size_t count)
{
  unsigned short starts[WORKERS + 1] = {0};
  size_t pairs = count / 2, most = (pairs + WORKERS - 1) / WORKERS;
  for (size_t i = 1; i <= WORKERS; i++)
    starts[i] = (unsigned short)(i * most < pairs ? i * most : pairs);
  pop_graph_connect_value(graph, v, "starts", POP_UNSIGNED_SHORT, starts, WORKERS + 1);
}

/* Points of four floats; published as floating-point operations a cycle, of which a point has 28. */
static void measure_transform(const char *name, const char *vertex, double operations_a_cycle,
                              const char *codelets)
{
  enum { POINTS = 2004 };
  if (!is_asked(name)) return;
  pop_graph *graph = new_graph("ipu2", 1, codelets);
  pop_compute_set set = pop_graph_add_compute_set(graph, name);
  pop_vertex v = pop_graph_add_vertex(graph, set, vertex);
  connect_floats(graph, v, "matrix", 16);
  connect_floats(graph, v, "points", 4 * POINTS);
  pop_graph_set_vertex_tile(graph, v, 0);
  measure_aside(graph, set, name, POINTS * 28 / operations_a_cycle);
}

static void measure_householder(const char *codelets)
{
  enum { FLOATS = 256 };
  if (!is_asked("householder_256")) return;
  pop_graph *graph = new_graph("ipu2", 1, codelets);
  pop_compute_set set = pop_graph_add_compute_set(graph, "householder");
  pop_vertex v = pop_graph_add_vertex(graph, set, "Householder");
  connect_floats(graph, v, "row", FLOATS);
  connect_floats(graph, v, "v", FLOATS);
  connect_floats(graph, v, "first", 1);
  connect_floats(graph, v, "second", 1);
  connect_starts(graph, v, FLOATS);
  pop_graph_set_field_int(graph, v, "begin", 0);
  pop_graph_set_vertex_tile(graph, v, 0);
  measure_aside(graph, set, "householder_256", 683 - LOOKING);
}

static void measure_rotation(const char *codelets)
{
  static const char *const rows[] = {"x", "y", "x_out", "y_out"};
  enum { FLOATS = 512 };
  if (!is_asked("rotation_512")) return;
  pop_graph *graph = new_graph("ipu2", 1, codelets);
  pop_compute_set set = pop_graph_add_compute_set(graph, "rotation");
  pop_vertex v = pop_graph_add_vertex(graph, set, "Rotation");
  connect_floats(graph, v, "cosine_sine", 2);
  for (int i = 0; i < 4; i++) connect_floats(graph, v, rows[i], FLOATS);
  connect_starts(graph, v, FLOATS);
  pop_graph_set_vertex_tile(graph, v, 0);
  measure_aside(graph, set, "rotation_512", 1916 - LOOKING);
}

/* One worker alone, as its author measured it. */
static void measure_schur(const char *codelets)
{
  enum { FLOATS = 128, P = 3, Q = 64 };
  if (!is_asked("schur_2x2")) return;
  pop_graph *graph = new_graph("ipu2", 1, codelets);
  pop_compute_set set = pop_graph_add_compute_set(graph, "schur");
  pop_vertex v = pop_graph_add_vertex(graph, set, "Schur");
  unsigned places[] = {P, Q};
  float column[FLOATS];
  for (int i = 0; i < FLOATS; i++) column[i] = (float)((i * 37) % 64) / 16 - 2;
  pop_graph_connect_value(graph, v, "places", POP_UNSIGNED_INT, places, 2);
  pop_graph_connect_value(graph, v, "p", POP_FLOAT, column, FLOATS);
  pop_graph_connect_value(graph, v, "q", POP_FLOAT, column, FLOATS);
  connect_floats(graph, v, "out", 2);
  pop_graph_set_vertex_tile(graph, v, 0);
  result r = measure(graph, pop_program_execute(graph, set, "schur"), 0, 1);
  print("schur_2x2", "new", 250, (double)r.compute, &r);
  finish(graph);
}

int main(int argc, char **argv)
{
  if (argc < 2) {
    fprintf(stderr, "usage: fidelity CODELETS.gp [ROW...]\n");
    return 2;
  }
  asked = argv + 2;
  num_asked = argc - 2;
  measure_pi("pi_1000", "program", "Pi<1>", 90084, argv[1]);
  measure_pi("pi_1000_by_2", "program", "Pi<2>", 57318, argv[1]);
  measure_pi("pi_1000_by_12", "program", "Pi<12>", 47500, argv[1]);
  measure_loop(argv[1]);
  for (size_t i = 0; i < sizeof stencils / sizeof *stencils; i++)
    measure_stencil(&stencils[i], "program", argv[1]);
  measure_matrix_vector(argv[1]);
  measure_host_link(argv[1]);
  measure_stencil(&aliev_panfilov, "program", argv[1]);
  for (size_t i = 0; i < sizeof operations / sizeof *operations; i++)
    measure_operation(&operations[i], 6000, "estimate", argv[1]);
  measure_transform("transform", "Transform", .68, argv[1]);
  measure_transform("transform_pairs", "TransformPairs", 1.03, argv[1]);
  measure_householder(argv[1]);
  measure_rotation(argv[1]);
  measure_operation(&scaled_add_512, 512, "aside", argv[1]);
  measure_stencil(&heat_3d_simple, "aside", argv[1]);
  measure_stencil(&diffusion_3d, "aside", argv[1]);
  measure_operation(&add_1024, 1024, "aside", argv[1]);
  measure_operation(&add_10, 10, "aside", argv[1]);
  measure_operation(&scaled_add_64, 64, "new", argv[1]);
  measure_operation(&scaled_add_128, 128, "new", argv[1]);
  measure_operation(&scaled_add_256, 256, "new", argv[1]);
  measure_schur(argv[1]);
  measure_pi("pi_julia", "new", "Pi<1>", 84000, argv[1]);
  measure_listing("add_unaligned", "AddUnaligned", 6, argv[1]);
  measure_listing("add_aligned", "AddAligned", 4, argv[1]);
  return 0;
}
