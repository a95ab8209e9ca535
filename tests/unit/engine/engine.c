/* Engines as a host program uses them: load, run, read and write, copies of every kind, and
 * vertices with unusual connections. random.c tries combinations. The cases here must not depend on
 * chance. */
#include "support/model.h"

#include <fcntl.h>
#include <malloc.h>

static const char codelets[] =
    "#include <populus/vertex.h>\n"
    "typedef struct { INOUT(VECTOR(int)) x; int by; } Add;\n"
    "COMPUTE(Add)\n"
    "{\n"
    "  for (unsigned i = 0; i < vertex->x.size; ++i) vertex->x.data[i] += vertex->by;\n"
    "  return true;\n"
    "}\n"
    "typedef struct { INPUT(VECTOR(int)) in; OUTPUT(int) out; } Sum;\n"
    "COMPUTE(Sum)\n"
    "{\n"
    "  *vertex->out = 1000;\n"
    "  for (unsigned i = 0; i < vertex->in.size; ++i) *vertex->out += vertex->in.data[i];\n"
    "  return true;\n"
    "}\n"
    "typedef struct { INOUT(char) c; } Invert;\n"
    "COMPUTE(Invert) { *vertex->c = ~*vertex->c; return true; }\n"
    "typedef struct { OUTPUT(VECTOR(unsigned long long)) out; bool b; char c; signed char sc;\n"
    "                 unsigned char uc; short s; unsigned short us; int i; unsigned u;\n"
    "                 long long ll; unsigned long long ull; half h; float f; } Constants;\n"
    "COMPUTE(Constants)\n"
    "{\n"
    "  unsigned long long *out = vertex->out.data;\n"
    "  out[0] = vertex->b; out[1] = vertex->c; out[2] = vertex->sc; out[3] = vertex->uc;\n"
    "  out[4] = vertex->s; out[5] = vertex->us; out[6] = vertex->i; out[7] = vertex->u;\n"
    "  out[8] = vertex->ll; out[9] = vertex->ull; out[10] = (int)(vertex->h * 8);\n"
    "  out[11] = (int)(vertex->f * 8);\n"
    "  return true;\n"
    "}\n";

static model new_model(uint32_t num_tiles)
{
  pop_target target;
  expect_ok(pop_target_create("ipu2", 1, &target));
  target.tiles_per_ipu = num_tiles;
  return (model){.graph = pop_graph_create(&target), .arena = pop_arena_new(), .random = 1};
}

static void free_model(model *m)
{
  pop_graph_free(m->graph);
  pop_arena_free(m->arena);
}

static void add_codelets(model *m)
{
  pop_graph_add_codelets_source(m->graph, "c", codelets, "engine.c", NULL);
}

/* A variable without a mapping and with random initial contents. */
static model_view add_variable(model *m, pop_type type, const size_t *shape, size_t rank)
{
  uint32_t number = m->num_variables++, size = pop_type_bytes(type);
  model_variable *v = &m->variables[number];
  *v = (model_variable){.type = type, .num_elements = model_product(shape, rank)};
  v->bytes = pop_arena_alloc(m->arena, v->num_elements * size + 1);
  v->tensor = pop_graph_add_variable(m->graph, type, shape, rank, "variable");
  for (size_t i = 0; i < v->num_elements; ++i) model_random_value(m, type, v->bytes + i * size);
  pop_graph_set_initial_value(m->graph, v->tensor, v->bytes);
  return model_whole(m, number);
}

static pop_engine *new_engine(pop_graph *graph, const pop_program *programs, size_t count)
{
  pop_engine *engine;
  expect_ok(pop_engine_create(graph, programs, count, NULL, 0, &engine));
  expect_ok(pop_engine_load(engine));
  return engine;
}

static void expect_variable(const model *m, pop_engine *engine, const char *handle,
                            uint32_t variable, const char *what)
{
  const model_variable *v = &m->variables[variable];
  size_t size = pop_type_bytes(v->type);
  uint8_t found[4096];
  cr_assert_leq(v->num_elements * size, sizeof found);
  expect_ok(pop_engine_read_tensor(engine, handle, found, v->num_elements * size));
  for (size_t i = 0; i < v->num_elements; ++i)
    cr_assert_arr_eq(found + i * size, v->bytes + i * size, size, "%s: element %zu", what, i);
}

/* ---- copies ---- */

enum { SIDE = 6 }; /* copies stay within a matrix of SIDE x SIDE */

typedef enum mapping_kind {
  ON_ONE_TILE,
  ROWS_ON_TILES,
  COLUMNS_ON_TILES,
  ELEMENTS_ON_TILES,
  NUM_MAPPINGS
} mapping_kind;

static void map_matrix(pop_graph *graph, pop_tensor matrix, mapping_kind kind)
{
  pop_tensor flat = pop_tensor_flatten(matrix);
  for (size_t i = 0; i < SIDE * SIDE; ++i) {
    const size_t tiles[NUM_MAPPINGS] = {1, i / SIDE % 4, i % SIDE % 4, i * 7 % 4};
    pop_graph_set_tile_mapping(graph, pop_tensor_index(flat, i), tiles[kind]);
  }
}

typedef struct copy_case {
  const char *name;
  model_view (*source)(model *m, const model_view *matrix);
  model_view (*destination)(model *m, const model_view *matrix);
} copy_case;

static model_view flat_slice(model *m, const model_view *v, size_t begin, size_t end)
{
  model_view flat = model_flatten(v);
  return model_slice(m, &flat, begin, end, 0);
}

static model_view head(model *m, const model_view *v)
{
  return flat_slice(m, v, 0, SIDE * SIDE - 1);
}

static model_view tail(model *m, const model_view *v)
{
  return flat_slice(m, v, 1, SIDE * SIDE);
}

static model_view whole(model *m, const model_view *v)
{
  (void)m;
  return *v;
}

static model_view reversed(model *m, const model_view *v)
{
  model_view flat = model_flatten(v);
  return model_reverse(m, &flat, 0);
}

static model_view transposed(model *m, const model_view *v)
{
  cr_assert_eq(v->rank, 2);
  return model_dim_shuffle(m, v, (const size_t[]){1, 0});
}

static model_view first_column(model *m, const model_view *v)
{
  return model_slice(m, v, 0, 1, 1);
}

static model_view last_row(model *m, const model_view *v)
{
  return model_slice(m, v, SIDE - 1, SIDE, 0);
}

static model_view even(model *m, const model_view *v)
{
  model_view flat = model_flatten(v);
  return model_sub_sample(m, &flat, 2, 0);
}

static model_view odd(model *m, const model_view *v)
{
  model_view rest = tail(m, v);
  return model_sub_sample(m, &rest, 2, 0);
}

static model_view first_broadcast(model *m, const model_view *v)
{
  model_view first = flat_slice(m, v, 0, 1);
  return model_broadcast(m, &first, SIDE * SIDE, 0);
}

static model_view last_row_broadcast(model *m, const model_view *v)
{
  model_view row = last_row(m, v);
  return model_broadcast(m, &row, SIDE, 0);
}

static model_view inner(model *m, const model_view *v)
{
  model_view rows = model_slice(m, v, 1, 4, 0);
  return model_slice(m, &rows, 1, 4, 1);
}

static model_view corner(model *m, const model_view *v)
{
  model_view rows = model_slice(m, v, 2, 5, 0);
  return model_slice(m, &rows, 2, 5, 1);
}

static model_view halves_swapped(model *m, const model_view *v)
{
  model_view front = flat_slice(m, v, 0, SIDE * SIDE / 2);
  model_view back = flat_slice(m, v, SIDE * SIDE / 2, SIDE * SIDE);
  return model_concat(m, &back, &front);
}

static model_view nothing(model *m, const model_view *v)
{
  return flat_slice(m, v, 3, 3);
}

static model_view single(model *m, const model_view *v)
{
  return flat_slice(m, v, 5, 6);
}

static model_view odd_offset(model *m, const model_view *v)
{
  return flat_slice(m, v, 3, 10);
}

static model_view other_odd_offset(model *m, const model_view *v)
{
  return flat_slice(m, v, 21, 28);
}

static const copy_case copy_cases[] = {
    {"one element forward", head, tail},
    {"one element back", tail, head},
    {"to itself", whole, whole},
    {"in reverse", reversed, whole},
    {"transposed", transposed, whole},
    {"to a transposed view", whole, transposed},
    {"a column to a row", first_column, last_row},
    {"a row to a column", last_row, first_column},
    {"even to odd", even, odd},
    {"odd to even", odd, even},
    {"one element to all", first_broadcast, whole},
    {"a row to all rows", last_row_broadcast, whole},
    {"a block that overlaps", inner, corner},
    {"back halves swapped", halves_swapped, whole},
    {"to swapped halves", whole, halves_swapped},
    {"nothing", nothing, nothing},
    {"one element", single, single},
    {"odd offsets", odd_offset, other_odd_offset},
};

/* Checks the copy within one matrix, and from another one with another mapping. */
static void check_copy(const copy_case *c, pop_type type, mapping_kind kind, bool within)
{
  static const size_t shape[] = {SIDE, SIDE};
  char what[128];
  snprintf(what, sizeof what, "%s of %s, mapping %d, %s", c->name, pop_type_name(type), kind,
           within ? "overlapping" : "to another");
  model m = new_model(4);
  model_view from = add_variable(&m, type, shape, 2), to = add_variable(&m, type, shape, 2);
  map_matrix(m.graph, from.tensor, kind);
  map_matrix(m.graph, to.tensor, within ? kind : (kind + 1) % NUM_MAPPINGS);
  model_view source = c->source(&m, &from);
  model_view destination = c->destination(&m, within ? &from : &to);
  pop_graph_create_host_read(m.graph, "from", from.tensor);
  pop_graph_create_host_read(m.graph, "to", to.tensor);
  pop_program copy = pop_program_copy(source.tensor, destination.tensor, "copy");
  pop_engine *engine = new_engine(m.graph, &copy, 1);
  for (int run = 0; run < 2; ++run) {
    uint8_t through[SIDE * SIDE * 8];
    model_gather(&m, &source, through);
    model_scatter(&m, &destination, through);
    expect_ok(pop_engine_run(engine, 0));
    expect_variable(&m, engine, "from", 0, what);
    expect_variable(&m, engine, "to", 1, what);
  }
  pop_engine_free(engine);
  free_model(&m);
}

Test(engine, X07_copies_of_all_kinds_are_as_if_through_a_temporary)
{
  static const pop_type types[] = {POP_BOOL, POP_CHAR, POP_HALF, POP_INT, POP_LONGLONG};
  for (size_t c = 0; c < sizeof copy_cases / sizeof *copy_cases; ++c)
    for (size_t t = 0; t < sizeof types / sizeof *types; ++t)
      for (int kind = 0; kind < NUM_MAPPINGS; ++kind)
        for (int within = 0; within < 2; ++within)
          check_copy(&copy_cases[c], types[t], (mapping_kind)kind, within);
}

/* From one tile to all others and back, with more words than one exchange instruction can move. */
Test(engine, X09_all_tiles_to_one_and_one_to_all)
{
  enum { TILES = 5, EACH = 700 };
  static const size_t parts_shape[] = {TILES, EACH}, all_shape[] = {TILES * EACH};
  model m = new_model(TILES);
  pop_tensor parts = pop_graph_add_variable(m.graph, POP_SHORT, parts_shape, 2, "parts");
  pop_tensor all = pop_graph_add_variable(m.graph, POP_SHORT, all_shape, 1, "all");
  pop_tensor copies = pop_graph_add_variable(m.graph, POP_SHORT, parts_shape, 2, "copies");
  for (size_t t = 0; t < TILES; ++t) {
    pop_graph_set_tile_mapping(m.graph, pop_tensor_index(parts, t), t);
    pop_graph_set_tile_mapping(m.graph, pop_tensor_index(copies, t), TILES - 1 - t);
  }
  pop_graph_set_tile_mapping(m.graph, all, 2);
  pop_graph_create_host_write(m.graph, "parts", parts);
  pop_graph_create_host_read(m.graph, "all", all);
  pop_graph_create_host_read(m.graph, "copies", copies);
  pop_program main = pop_program_sequence(m.graph, "main");
  pop_tensor last = pop_tensor_slice(all, (TILES - 1) * EACH, TILES * EACH, 0);
  pop_sequence_add(main, pop_program_copy(parts, all, "all to one"));
  pop_sequence_add(main,
                   pop_program_copy(pop_tensor_broadcast(last, TILES, 0), copies, "one to all"));
  pop_engine *engine = new_engine(m.graph, &main, 1);
  short sent[TILES * EACH], received[TILES * EACH];
  for (int i = 0; i < TILES * EACH; ++i) sent[i] = (short)(i * 13);
  expect_ok(pop_engine_write_tensor(engine, "parts", sent, sizeof sent));
  expect_ok(pop_engine_run(engine, 0));
  expect_ok(pop_engine_read_tensor(engine, "all", received, sizeof received));
  cr_assert_arr_eq(received, sent, sizeof sent);
  expect_ok(pop_engine_read_tensor(engine, "copies", received, sizeof received));
  for (int i = 0; i < TILES * EACH; ++i)
    cr_assert_eq(received[i], sent[(TILES - 1) * EACH + i % EACH], "element %d", i);
  pop_engine_free(engine);
  free_model(&m);
}

/* ---- lifetime of an engine ---- */

/* x += by, for x of 2 elements on tile 1. */
static pop_program add_adding(model *m, pop_tensor x, int by)
{
  pop_compute_set set = pop_graph_add_compute_set(m->graph, "adding");
  pop_vertex vertex = pop_graph_add_vertex(m->graph, set, "Add");
  pop_graph_connect(m->graph, vertex, "x", x);
  pop_graph_set_field_int(m->graph, vertex, "by", by);
  pop_graph_set_vertex_tile(m->graph, vertex, 1);
  return pop_program_execute(m->graph, set, "adding");
}

/* Two programs over x: x += 1, and x += 6 by a loop in a loop. */
static pop_tensor make_counter(model *m, pop_program programs[2])
{
  static const size_t shape[] = {2};
  static const int start[] = {10, 20};
  add_codelets(m);
  pop_tensor x = pop_graph_add_variable(m->graph, POP_INT, shape, 1, "x");
  pop_graph_set_tile_mapping(m->graph, pop_tensor_index(x, 0), 0);
  pop_graph_set_tile_mapping(m->graph, pop_tensor_index(x, 1), 2);
  pop_graph_set_initial_value(m->graph, x, start);
  pop_graph_create_host_read(m->graph, "x", x);
  pop_graph_create_host_write(m->graph, "set x", x);
  programs[0] = add_adding(m, x, 1);
  pop_program loop = pop_program_repeat(m->graph, 3, programs[0], "loop");
  programs[1] = pop_program_repeat(m->graph, 2, loop, "outer");
  return x;
}

static void expect_counter(pop_engine *engine, int first, int second, const char *when)
{
  int x[2];
  expect_ok(pop_engine_read_tensor(engine, "x", x, sizeof x));
  cr_assert_eq(x[0], first, "%s: %d, not %d", when, x[0], first);
  cr_assert_eq(x[1], second, "%s: %d, not %d", when, x[1], second);
}

Test(engine, runs_go_on_where_the_last_one_ended_and_load_starts_afresh)
{
  static const int written[] = {-5, 7};
  pop_program programs[2];
  model m = new_model(3);
  make_counter(&m, programs);
  pop_engine *engine = new_engine(m.graph, programs, 2);
  pop_engine *other = new_engine(m.graph, programs + 1, 1);
  free_model(&m); /* engines do not need the graph */
  expect_counter(engine, 10, 20, "loaded");
  expect_ok(pop_engine_run(engine, 0));
  expect_ok(pop_engine_run(engine, 0));
  expect_counter(engine, 12, 22, "after two runs");
  expect_ok(pop_engine_run(engine, 1));
  expect_counter(engine, 18, 28, "after a run of the other program");
  expect_counter(other, 10, 20, "another engine");
  expect_ok(pop_engine_run(other, 0));
  expect_counter(other, 16, 26, "another engine that ran");
  expect_ok(pop_engine_write_tensor(engine, "set x", written, sizeof written));
  expect_counter(engine, -5, 7, "written");
  expect_ok(pop_engine_run(engine, 0));
  expect_counter(engine, -4, 8, "run with what was written");
  expect_ok(pop_engine_load(engine));
  expect_counter(engine, 10, 20, "loaded again");
  expect_ok(pop_engine_run(engine, 1));
  expect_counter(engine, 16, 26, "run after loading again");
  pop_engine_free(engine);
  pop_engine_free(other);
}

/* A program that is also a part of another one still works by itself. */
Test(engine, a_loop_that_is_also_a_program_and_in_another_loop)
{
  pop_program programs[3];
  model m = new_model(3);
  make_counter(&m, programs);
  programs[2] = pop_program_repeat(m.graph, 2, programs[1], "outermost");
  pop_engine *engine = new_engine(m.graph, programs, 3);
  int expected = 10;
  static const struct {
    size_t program;
    int adds;
  } runs[] = {{1, 6}, {2, 12}, {0, 1}, {2, 12}, {1, 6}};
  for (size_t i = 0; i < sizeof runs / sizeof *runs; ++i) {
    expect_ok(pop_engine_run(engine, runs[i].program));
    expected += runs[i].adds;
    expect_counter(engine, expected, expected + 10, "run");
  }
  pop_engine_free(engine);
  free_model(&m);
}

static size_t num_descriptors(void)
{
  size_t count = 0;
  for (int fd = 0; fd < 256; ++fd) count += fcntl(fd, F_GETFD) >= 0;
  return count;
}

Test(engine, E11_a_million_runs_need_no_more_memory_or_descriptors)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  enum { RUNS = 50000 };
#else
  enum { RUNS = 1000000 };
#endif
  pop_program programs[2];
  model m = new_model(3);
  make_counter(&m, programs);
  pop_engine *engine = new_engine(m.graph, programs, 2);
  size_t in_use = 0, open = 0;
  uint64_t start = pop_engine_cycles(engine), cycles = start, first = 0, each = 0;
  for (int i = 0; i < RUNS; ++i) {
    if (i == 10) {
      in_use = mallinfo2().uordblks;
      open = num_descriptors();
    }
    expect_ok(pop_engine_run(engine, 0));
    uint64_t took = pop_engine_cycles(engine) - cycles;
    cycles += took;
    if (i == 0) first = took;
    if (i == 1) each = took;
    if (i > 1) cr_assert_eq(took, each, "run %d takes %lu cycles", i, (unsigned long)took);
  }
  cr_assert_gt(first, 0);
  cr_assert_eq(pop_engine_cycles(engine), start + first + (RUNS - 1) * each);
  cr_assert_eq(pop_engine_cycles_passed(engine), pop_engine_cycles(engine));
  expect_counter(engine, RUNS + 10, RUNS + 20, "after all runs");
  cr_assert_eq(num_descriptors(), open);
#if !defined(__SANITIZE_ADDRESS__)
  cr_assert_leq(mallinfo2().uordblks, in_use + 1024);
#endif
  (void)in_use;
  pop_engine_free(engine);
  free_model(&m);
}

/* ---- vertices ---- */

static pop_tensor new_ints(model *m, size_t count, size_t tile, const char *name)
{
  pop_tensor t = pop_graph_add_variable(m->graph, POP_INT, &count, 1, name);
  pop_graph_set_tile_mapping(m->graph, t, tile);
  return t;
}

/* One input for vertices on all tiles, the same input twice in one view, and empty vectors. */
Test(engine, vertices_share_an_input_and_vectors_may_be_empty)
{
  enum { TILES = 3, COUNT = 3 * TILES };
  static const int values[] = {1, 20, 300, 4000};
  model m = new_model(TILES);
  add_codelets(&m);
  pop_tensor in = new_ints(&m, 4, 1, "in"), outs[COUNT];
  pop_graph_set_initial_value(m.graph, in, values);
  pop_compute_set set = pop_graph_add_compute_set(m.graph, "sums");
  for (size_t i = 0; i < COUNT; ++i) {
    const pop_tensor inputs[] = {in, pop_tensor_broadcast(in, 2, 0), pop_tensor_slice(in, 2, 2, 0)};
    outs[i] = new_ints(&m, 1, (i + 1) % TILES, "out");
    pop_vertex vertex = pop_graph_add_vertex(m.graph, set, "Sum");
    pop_graph_connect(m.graph, vertex, "in", inputs[i / TILES]);
    pop_graph_connect(m.graph, vertex, "out", pop_tensor_index(outs[i], 0));
    pop_graph_set_vertex_tile(m.graph, vertex, i % TILES);
  }
  pop_graph_create_host_read(m.graph, "out", pop_concat(outs, COUNT, 0));
  pop_program program = pop_program_execute(m.graph, set, "sums");
  pop_engine *engine = new_engine(m.graph, &program, 1);
  int found[COUNT];
  static const int expected[] = {5321, 9642, 1000};
  expect_ok(pop_engine_run(engine, 0));
  expect_ok(pop_engine_read_tensor(engine, "out", found, sizeof found));
  for (size_t i = 0; i < COUNT; ++i)
    cr_assert_eq(found[i], expected[i / TILES], "vertex %zu: %d", i, found[i]);
  pop_engine_free(engine);
  free_model(&m);
}

/* Four chars of one word, each changed by a vertex on another tile. */
Test(engine, neighbours_in_a_word_are_changed_by_vertices_on_other_tiles)
{
  static const size_t shape[] = {8};
  static const unsigned char values[] = {0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef};
  model m = new_model(4);
  add_codelets(&m);
  pop_tensor chars = pop_graph_add_variable(m.graph, POP_CHAR, shape, 1, "chars");
  pop_graph_set_tile_mapping(m.graph, chars, 0);
  pop_graph_set_initial_value(m.graph, chars, values);
  pop_graph_create_host_read(m.graph, "chars", chars);
  pop_compute_set set = pop_graph_add_compute_set(m.graph, "invert");
  for (size_t i = 0; i < 8; ++i) {
    if (i == 2) continue;
    pop_vertex vertex = pop_graph_add_vertex(m.graph, set, "Invert");
    pop_graph_connect(m.graph, vertex, "c", pop_tensor_index(chars, i));
    pop_graph_set_vertex_tile(m.graph, vertex, i % 4);
  }
  pop_program program = pop_program_execute(m.graph, set, "invert");
  pop_engine *engine = new_engine(m.graph, &program, 1);
  unsigned char found[8];
  expect_ok(pop_engine_run(engine, 0));
  expect_ok(pop_engine_read_tensor(engine, "chars", found, sizeof found));
  for (size_t i = 0; i < 8; ++i)
    cr_assert_eq(found[i], i == 2 ? values[i] : (unsigned char)~values[i], "char %zu: %02x", i,
                 found[i]);
  pop_engine_free(engine);
  free_model(&m);
}

/* A plain field of each type: given in the tile's format, as a number, or not at all (zero). */
Test(engine, constant_fields_of_each_type)
{
  enum { COUNT = 12 };
  static const char *const names[] = {"b", "c", "sc", "uc",  "s", "us",
                                      "i", "u", "ll", "ull", "h", "f"};
  static const double values[] = {1,           100,        -100,  250,    -30000, 60000,
                                  -2000000000, 4000000000, -9e15, 1.8e19, -1.125, 2.5};
  static const uint64_t expected[] = {1,
                                      100,
                                      (uint64_t)-100,
                                      250,
                                      (uint64_t)-30000,
                                      60000,
                                      (uint64_t)-2000000000,
                                      4000000000,
                                      (uint64_t)-9000000000000000,
                                      18000000000000000000u,
                                      (uint64_t)-9,
                                      20};
  static const size_t shape[] = {2 * COUNT};
  model m = new_model(2);
  add_codelets(&m);
  pop_tensor out = pop_graph_add_variable(m.graph, POP_UNSIGNED_LONGLONG, shape, 1, "out");
  pop_graph_set_tile_mapping(m.graph, out, 0);
  pop_graph_create_host_read(m.graph, "out", out);
  pop_compute_set set = pop_graph_add_compute_set(m.graph, "constants");
  pop_vertex with = pop_graph_add_vertex(m.graph, set, "Constants");
  pop_vertex without = pop_graph_add_vertex(m.graph, set, "Constants");
  pop_graph_connect(m.graph, with, "out", pop_tensor_slice(out, 0, COUNT, 0));
  pop_graph_connect(m.graph, without, "out", pop_tensor_slice(out, COUNT, 2 * COUNT, 0));
  for (size_t i = 0; i < COUNT; ++i) {
    if (i < 9 && i % 2)
      pop_graph_set_field_int(m.graph, with, names[i], (int64_t)values[i]);
    else if (i == 9)
      pop_graph_set_field(m.graph, with, names[i], POP_UNSIGNED_LONGLONG, &expected[i]);
    else
      pop_graph_set_field_float(m.graph, with, names[i], values[i]);
  }
  pop_graph_set_vertex_tile(m.graph, with, 1);
  pop_graph_set_vertex_tile(m.graph, without, 0);
  pop_program program = pop_program_execute(m.graph, set, "constants");
  pop_engine *engine = new_engine(m.graph, &program, 1);
  uint64_t found[2 * COUNT];
  expect_ok(pop_engine_run(engine, 0));
  expect_ok(pop_engine_read_tensor(engine, "out", found, sizeof found));
  for (size_t i = 0; i < COUNT; ++i) {
    cr_assert_eq(found[i], expected[i], "field %s: %lld", names[i], (long long)found[i]);
    cr_assert_eq(found[COUNT + i], 0, "field %s that was not set: %lld", names[i],
                 (long long)found[COUNT + i]);
  }
  pop_engine_free(engine);
  free_model(&m);
}

/* A search through all names for each would be 10^10 comparisons. */
Test(engine, many_handles_are_read_in_no_time)
{
  enum { MANY = 100000 };
  pop_target cpu;
  char name[32];
  pop_target_create_cpu(&cpu);
  pop_graph *graph = pop_graph_create(&cpu);
  for (int i = 0; i < MANY; i++) {
    pop_tensor t = pop_graph_add_variable(graph, POP_INT, NULL, 0, NULL);
    pop_graph_set_tile_mapping(graph, t, 0);
    pop_graph_set_initial_value(graph, t, &i);
    snprintf(name, sizeof name, "handle %d", i);
    pop_graph_create_host_read(graph, name, t);
  }
  pop_program nothing = pop_program_nop(graph, "nothing");
  pop_engine *engine;
  cr_assert_null(pop_engine_create(graph, &nothing, 1, NULL, 0, &engine));
  pop_graph_free(graph);
  cr_assert_null(pop_engine_load(engine));
  for (int i = 0; i < MANY; i++) {
    int value = -1;
    snprintf(name, sizeof name, "handle %d", i);
    cr_assert_null(pop_engine_read_tensor(engine, name, &value, sizeof value));
    cr_assert_eq(value, i);
  }
  pop_engine_free(engine);
}
