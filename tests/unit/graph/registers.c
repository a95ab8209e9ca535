/* Programs with control registers of tiles: cycle counts, floating-point behaviour (V09), seeds of
 * random numbers.
 *
 * Each program with floating point runs on the interpreter and on both engines that translate
 * code. */
#include "support/expect.h"
#include "support/graph_test.h"

#include <populus/introspection.h>
#include <populus/populus.h>

TestSuite(registers, .init = enter_fresh_folder);

static const char codelets[] = "#include <poplar/Vertex.hpp>\n"
                               "using namespace poplar;\n"
                               "struct Wait : Vertex {\n"
                               "  Output<unsigned> out; unsigned rounds;\n"
                               "  bool compute() {\n"
                               "    for (volatile unsigned i = 0; i < rounds; i = i + 1) {}\n"
                               "    *out = rounds;\n"
                               "    return true;\n"
                               "  }\n"
                               "};\n"
                               "template <typename T> struct Divide : Vertex {\n"
                               "  Input<T> a, b; Output<T> out;\n"
                               "  bool compute() { *out = T(*a / *b); return true; }\n"
                               "};\n"
                               "template <typename T> struct Multiply : Vertex {\n"
                               "  Input<T> a, b; Output<T> out;\n"
                               "  bool compute() { *out = T(*a * *b); return true; }\n"
                               "};\n"
                               "struct Less : Vertex {\n"
                               "  Input<float> a, b; Output<float> out;\n"
                               "  bool compute() { *out = *a < *b ? 1.0f : 2.0f; return true; }\n"
                               "};\n"
                               "template struct Divide<float>; template struct Divide<half>;\n"
                               "template struct Multiply<float>; template struct Multiply<half>;\n"
                               "struct Narrow : Vertex {\n"
                               "  Input<Vector<float>> in; Output<Vector<half>> out;\n"
                               "  bool compute() { for (unsigned i = 0; i < in.size(); ++i) out[i] "
                               "= half(in[i]); return true; }\n"
                               "};\n";

static pop_graph *new_world(uint32_t tiles)
{
  pop_graph *graph = new_graph_with_tiles(tiles);
  pop_graph_add_codelets_source(graph, "c++", codelets, "registers.cpp", "-O2");
  assert_no_error(graph);
  return graph;
}

static pop_engine *new_engine(pop_graph *graph, pop_program program, const pop_option *options,
                              size_t count)
{
  pop_engine *engine;
  assert_no_error(graph);
  expect_ok(pop_engine_create(graph, &program, 1, options, count, &engine));
  expect_ok(pop_engine_load(engine));
  return engine;
}

/* ---- cycles ---- */

static pop_program wait_program(pop_graph *graph, unsigned rounds, size_t tile)
{
  pop_compute_set set = pop_graph_add_compute_set(graph, "wait");
  pop_tensor out = pop_graph_add_variable(graph, POP_UNSIGNED_INT, NULL, 0, "out");
  pop_vertex v = pop_graph_add_vertex(graph, set, "Wait");
  pop_graph_connect(graph, v, "out", out);
  pop_graph_set_field_int(graph, v, "rounds", rounds);
  pop_graph_set_vertex_tile(graph, v, tile);
  pop_graph_set_tile_mapping(graph, out, tile);
  return pop_program_execute(graph, set, "wait");
}

static uint64_t read_count(pop_engine *engine, const char *handle)
{
  uint32_t words[2];
  expect_ok(pop_engine_read_tensor(engine, handle, words, sizeof words));
  return words[0] | (uint64_t)words[1] << 32;
}

Test(registers, a_sequence_that_could_not_be_counted_is_as_it_was)
{
  pop_graph *graph = new_world(2);
  pop_program timed = pop_program_sequence(graph, "timed");
  pop_sequence_add(timed, wait_program(graph, 10, 1));
  pop_graph_cycle_count(graph, timed, 2, POP_SYNC_INTERNAL, "timed");
  pop_error *error = pop_graph_take_error(graph);
  expect_error(error, POP_ERROR_INVALID_TILE_MAPPING, "tile 2", "a tile that is not there");
  cr_assert_eq(graph->programs[timed.index - 1].num_children, 1);
  pop_tensor count = pop_graph_cycle_count(graph, timed, 0, POP_SYNC_INTERNAL, "timed");
  pop_graph_create_host_read(graph, "count", count);
  pop_engine *engine = new_engine(graph, timed, NULL, 0);
  expect_ok(pop_engine_run(engine, 0));
  cr_assert_gt(read_count(engine, "count"), 10);
  pop_engine_free(engine);
  pop_graph_free(graph);
}

/* The difference between the cycle counts of a sequence and of an empty one is the cycles
 * of its programs. */
Test(registers, cycle_count_is_what_the_sequence_takes)
{
  const unsigned rounds[] = {0, 100, 1100};
  uint64_t counts[3], whole[3];
  for (size_t i = 0; i < 3; i++) {
    pop_graph *graph = new_world(2);
    pop_program timed = pop_program_sequence(graph, "timed");
    pop_sequence_add(timed, wait_program(graph, rounds[i], 1));
    pop_tensor count = pop_graph_cycle_count(graph, timed, 0, POP_SYNC_INTERNAL, "timed");
    pop_graph_create_host_read(graph, "count", count);
    pop_engine *engine = new_engine(graph, timed, NULL, 0);
    uint64_t before = pop_engine_cycles(engine);
    expect_ok(pop_engine_run(engine, 0));
    whole[i] = pop_engine_cycles(engine) - before;
    counts[i] = read_count(engine, "count");
    cr_assert_lt(counts[i], whole[i]);
    expect_ok(pop_engine_run(engine, 0));
    cr_assert_eq(read_count(engine, "count"), counts[i], "measured anew each time");
    pop_engine_free(engine);
    pop_graph_free(graph);
  }
  cr_assert_gt(counts[0], 2 * 118);
  cr_assert_eq(counts[2] - counts[1], whole[2] - whole[1]);
  cr_assert_eq((counts[2] - counts[1]) % 1000, 0);
}

Test(registers, cycle_stamp_is_the_counter)
{
  pop_graph *graph = new_world(2);
  pop_program program = pop_program_sequence(graph, NULL);
  pop_tensor first = pop_graph_cycle_stamp(graph, program, 1, POP_SYNC_EXTERNAL, NULL);
  pop_sequence_add(program, wait_program(graph, 50, 0));
  pop_tensor second = pop_graph_cycle_stamp(graph, program, 1, POP_SYNC_EXTERNAL, NULL);
  pop_graph_create_host_read(graph, "first", first);
  pop_graph_create_host_read(graph, "second", second);
  pop_engine *engine = new_engine(graph, program, NULL, 0);
  uint64_t start = pop_engine_cycles(engine);
  expect_ok(pop_engine_run(engine, 0));
  uint64_t a = read_count(engine, "first"), b = read_count(engine, "second");
  cr_assert(start < a && a + 50 * 6 < b && b < pop_engine_cycles(engine));
  pop_engine_free(engine);
  pop_graph_free(graph);
}

/* One tile works longer than the others, which wait for it. All stamps are from the moment after
 * the sync. */
Test(registers, cycle_stamps_of_several_tiles_are_behind_one_sync)
{
  const size_t tiles[] = {2, 0};
  pop_graph *graph = new_world(3);
  pop_program program = pop_program_sequence(graph, NULL);
  pop_sequence_add(program, wait_program(graph, 50, 1));
  pop_tensor stamps = pop_graph_cycle_stamps(graph, program, tiles, 2, POP_SYNC_INTERNAL, NULL);
  cr_assert_eq(pop_tensor_rank(stamps), 2);
  const char *const handles[] = {"2", "0"};
  for (size_t i = 0; i < 2; ++i)
    pop_graph_create_host_read(graph, handles[i], pop_tensor_index(stamps, i));
  pop_engine *engine = new_engine(graph, program, NULL, 0);
  uint64_t start = pop_engine_cycles(engine), counts[2];
  expect_ok(pop_engine_run(engine, 0));
  for (size_t i = 0; i < 2; ++i) {
    counts[i] = read_count(engine, handles[i]);
    cr_assert(start + 50 * 6 < counts[i] && counts[i] < pop_engine_cycles(engine));
    cr_assert_lt(counts[i] < counts[0] ? counts[0] - counts[i] : counts[i] - counts[0], 50);
  }
  pop_engine_free(engine);
  pop_graph_free(graph);
}

/* ---- floating point: V09 ---- */

enum { HALF_MAX = 0x7bff, HALF_INFINITY = 0x7c00, HALF_NAN = 0x7e00, HALF_ONE = 0x3c00 };

typedef struct calculation {
  const char *vertex_type;
  pop_type type;
  uint32_t a, b, result; /* bits; the result that IEEE 754 defines */
  uint32_t exception;    /* the exception that it raises */
  const char *fault;
} calculation;

static const calculation calculations[] = {
    {"Divide<float>", POP_FLOAT, 0x3f800000, 0, 0x7f800000, POP_FP_DIVISION_BY_ZERO,
     "FLOATING_POINT_DIVIDE_BY_ZERO"},
    {"Divide<float>", POP_FLOAT, 0, 0, 0x7fc00000, POP_FP_INVALID,
     "FLOATING_POINT_INVALID_OPERATION"},
    {"Multiply<float>", POP_FLOAT, 0x7f000000, 0x7f000000, 0x7f800000, POP_FP_OVERFLOW,
     "FLOATING_POINT_OVERFLOW"},
    {"Less", POP_FLOAT, 0x7fc00000, 0, 0x40000000, POP_FP_INVALID,
     "FLOATING_POINT_INVALID_OPERATION"},
    {"Divide<half>", POP_HALF, HALF_ONE, 0, HALF_INFINITY, POP_FP_DIVISION_BY_ZERO,
     "FLOATING_POINT_DIVIDE_BY_ZERO"},
    {"Multiply<half>", POP_HALF, HALF_MAX, HALF_MAX, HALF_INFINITY, POP_FP_OVERFLOW,
     "FLOATING_POINT_OVERFLOW"},
    {"Multiply<half>", POP_HALF, HALF_INFINITY, 0, HALF_NAN, POP_FP_INVALID,
     "FLOATING_POINT_INVALID_OPERATION"},
    {"Multiply<float>", POP_FLOAT, 0x00000001, 0x3f000000, 0, 0, NULL},
    {"Multiply<float>", POP_FLOAT, 0x40400000, 0x3f000000, 0x3fc00000, 0, NULL},
};
enum { NUM_CALCULATIONS = sizeof calculations / sizeof *calculations };

static const char *const tile_engines[] = {"interpreter", "translator", "auto"};

/* The setting of the program that runs before. */
enum { NOTHING, NONE, OTHERS, ALL, NUM_SAID };

static uint32_t said(const calculation *c, int what)
{
  return what == NONE ? 0 : what == OTHERS ? POP_FP_EXCEPTIONS & ~c->exception : POP_FP_EXCEPTIONS;
}

static pop_program calculation_program(pop_graph *graph, size_t number, int what)
{
  const calculation *c = &calculations[number];
  pop_program program = pop_program_sequence(graph, NULL);
  if (what != NOTHING) pop_graph_set_floating_point_behaviour(graph, program, said(c, what), NULL);
  pop_compute_set set = pop_graph_add_compute_set(graph, "calculate");
  pop_vertex v = pop_graph_add_vertex(graph, set, c->vertex_type);
  pop_tensor out = pop_graph_add_variable(graph, c->type, NULL, 0, "out");
  pop_graph_connect_value(graph, v, "a", c->type, &c->a, 1);
  pop_graph_connect_value(graph, v, "b", c->type, &c->b, 1);
  pop_graph_connect(graph, v, "out", out);
  pop_graph_set_vertex_tile(graph, v, 0);
  pop_graph_set_tile_mapping(graph, out, 0);
  char handle[16];
  snprintf(handle, sizeof handle, "out%zu", number * NUM_SAID + (size_t)what);
  pop_graph_create_host_read(graph, handle, out);
  pop_sequence_add(program, pop_program_execute(graph, set, NULL));
  return program;
}

/* All calculations with all settings: the program number is calculation * NUM_SAID + setting. */
static pop_engine *new_calculator(const pop_option *options, size_t num_options)
{
  pop_graph *graph = new_world(1);
  pop_program programs[NUM_CALCULATIONS * NUM_SAID];
  for (size_t i = 0; i < NUM_CALCULATIONS * NUM_SAID; i++)
    programs[i] = calculation_program(graph, i / NUM_SAID, (int)(i % NUM_SAID));
  assert_no_error(graph);
  pop_engine *engine;
  expect_ok(pop_engine_create(graph, programs, NUM_CALCULATIONS * NUM_SAID, options, num_options,
                              &engine));
  pop_graph_free(graph);
  return engine;
}

/* The result, or the error of the run. */
static pop_error *calculate(pop_engine *engine, size_t number, int what, uint32_t *result)
{
  size_t program = number * NUM_SAID + (size_t)what;
  char handle[16];
  *result = 0;
  expect_ok(pop_engine_load(engine));
  POP_TRY(pop_engine_run(engine, program));
  snprintf(handle, sizeof handle, "out%zu", program);
  return pop_engine_read_tensor(engine, handle, result, pop_type_bytes(calculations[number].type));
}

static void expect_result(pop_engine *engine, size_t number, int what, uint32_t expected)
{
  uint32_t result;
  expect_ok(calculate(engine, number, what, &result));
  cr_assert_eq(result, expected, "%zu, %d: 0x%x", number, what, result);
}

static void expect_fault(pop_engine *engine, size_t number, int what, const char *fault)
{
  uint32_t result;
  expect_error(calculate(engine, number, what, &result), POP_ERROR_RUNTIME, fault,
               calculations[number].vertex_type);
}

Test(registers, v09_exceptions_are_faults_where_they_are_on)
{
  for (size_t e = 0; e < 3; e++) {
    pop_engine *engine = new_calculator(&(pop_option){"target.tileEngine", tile_engines[e]}, 1);
    for (size_t i = 0; i < NUM_CALCULATIONS; i++) {
      const calculation *c = &calculations[i];
      for (int what = NOTHING; what < ALL; what++) expect_result(engine, i, what, c->result);
      if (c->fault)
        expect_fault(engine, i, ALL, c->fault);
      else
        expect_result(engine, i, ALL, c->result);
    }
    pop_engine_free(engine);
  }
}

Test(registers, v09_options_say_it_until_a_program_does)
{
  pop_engine *engine = new_calculator(&(pop_option){"debug.floatPointOpException", "true"}, 1);
  expect_fault(engine, 0, NOTHING, "FLOATING_POINT_DIVIDE_BY_ZERO");
  expect_result(engine, 0, NONE, calculations[0].result);
  pop_engine_free(engine);
}

Test(registers, v09_halves_overflow_to_nan)
{
  const pop_option options[] = {{"debug.nanOverflowMode", "true"},
                                {"debug.floatPointOpException", "true"}};
  const size_t single = 2, half = 5;
  pop_engine *engine = new_calculator(options, 1);
  expect_result(engine, half, NOTHING, HALF_NAN);
  expect_result(engine, single, NOTHING, calculations[single].result);
  pop_engine_free(engine);
  engine = new_calculator(options, 2);
  expect_fault(engine, half, NOTHING, "FLOATING_POINT_INVALID_OPERATION");
  pop_engine_free(engine);
}

/* ---- rounding at random ---- */

enum { NUM_NARROWED = 4000 };

/* Converts `value` to half many times. */
static void narrow(float value, const pop_option *options, size_t num_options, bool by_program,
                   uint16_t *halves)
{
  pop_graph *graph = new_world(1);
  const size_t count = NUM_NARROWED;
  pop_program program = pop_program_sequence(graph, NULL);
  if (by_program) pop_graph_set_stochastic_rounding(graph, program, true, NULL);
  pop_tensor in = pop_graph_add_variable(graph, POP_FLOAT, &count, 1, "in");
  pop_tensor out = pop_graph_add_variable(graph, POP_HALF, &count, 1, "out");
  pop_compute_set set = pop_graph_add_compute_set(graph, "narrow");
  pop_vertex v = pop_graph_add_vertex(graph, set, "Narrow");
  pop_graph_connect(graph, v, "in", in);
  pop_graph_connect(graph, v, "out", out);
  pop_graph_set_vertex_tile(graph, v, 0);
  pop_graph_set_tile_mapping(graph, in, 0);
  pop_graph_set_tile_mapping(graph, out, 0);
  pop_graph_create_host_read(graph, "out", out);
  static float values[NUM_NARROWED];
  for (size_t i = 0; i < count; i++) values[i] = value;
  pop_graph_set_initial_value(graph, in, values);
  pop_sequence_add(program, pop_program_execute(graph, set, NULL));
  pop_engine *engine = new_engine(graph, program, options, num_options);
  expect_ok(pop_engine_run(engine, 0));
  expect_ok(pop_engine_read_tensor(engine, "out", halves, count * sizeof *halves));
  pop_engine_free(engine);
  pop_graph_free(graph);
}

/* The share of results that are the upper of the two neighbours. */
static double share_of_upper(float value, uint16_t lower)
{
  static uint16_t halves[NUM_NARROWED];
  const pop_option on = {"prng.enableStochasticRounding", "true"};
  narrow(value, &on, 1, false, halves);
  size_t upper = 0;
  for (size_t i = 0; i < NUM_NARROWED; i++) {
    cr_assert(halves[i] == lower || halves[i] == lower + 1, "%g: 0x%x", (double)value, halves[i]);
    upper += halves[i] != lower;
  }
  return (double)upper / NUM_NARROWED;
}

/* 4,000 draws: a share is off by 0.04 for one in millions of seeds, and the seed is fixed. */
Test(registers, halves_are_rounded_at_random)
{
  static const struct {
    float value;
    uint16_t lower;
    double share;
  } cases[] = {
      {1, HALF_ONE, 0},
      {1 + 0x1p-12f, HALF_ONE, 0.25},
      {1 + 0x1.8p-11f, HALF_ONE, 0.75},
      {-1 - 0x1p-12f, 0xbc00, 0.25},
      {0x1.8p-25f, 0, 0.75},      /* below the least subnormal */
      {0x1.04p-15f, 0x0208, 0.0}, /* a subnormal: exact */
      {0x1.041p-15f, 0x0208, 0.125},
      {65504 + 8, HALF_MAX, 0.25}, /* or infinity */
      {0, 0, 0},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    double share = share_of_upper(cases[i].value, cases[i].lower);
    cr_assert(share > cases[i].share - 0.04 && share < cases[i].share + 0.04, "%zu: %g", i, share);
    if (cases[i].share == 0) cr_assert(share == 0, "%zu: %g", i, share);
  }
}

Test(registers, rounding_at_random_follows_the_seed)
{
  static uint16_t halves[4][NUM_NARROWED];
  const float value = 1 + 0x1p-11f;
  const pop_option options[] = {{"target.tileEngine", "translator"}, {"prng.seed", "7"}};
  narrow(value, options, 1, true, halves[0]);
  narrow(value, NULL, 0, true, halves[1]);
  narrow(value, options, 2, true, halves[2]);
  narrow(value, options + 1, 1, true, halves[3]);
  cr_assert_arr_eq(halves[0], halves[1], sizeof halves[0]);
  cr_assert_arr_eq(halves[2], halves[3], sizeof halves[0]);
  cr_assert_arr_neq(halves[0], halves[2], sizeof halves[0]);
  narrow(value, options, 1, false, halves[0]);
  for (size_t i = 0; i < NUM_NARROWED; i++) cr_assert_eq(halves[0][i], HALF_ONE, "to nearest");
}

/* ---- behaviour as a tensor ---- */

Test(registers, behaviour_is_modified_and_restored)
{
  pop_graph *graph = new_world(3);
  pop_program program = pop_program_sequence(graph, NULL);
  pop_graph_set_floating_point_behaviour(graph, program, POP_FP_INVALID | POP_FP_OVERFLOW, NULL);
  pop_tensor before = pop_graph_modify_floating_point_behaviour(graph, program, POP_FP_OVERFLOW,
                                                                POP_FP_STOCHASTIC_ROUNDING, NULL);
  pop_tensor between = pop_graph_modify_floating_point_behaviour(graph, program, 0, 0, NULL);
  pop_graph_restore_floating_point_behaviour(graph, program, before, NULL);
  pop_tensor after = pop_graph_modify_floating_point_behaviour(graph, program, 0, 0, NULL);
  pop_graph_set_stochastic_rounding(graph, program, true, NULL);
  pop_tensor rounding = pop_graph_modify_floating_point_behaviour(graph, program, 0, 0, NULL);
  pop_graph_set_stochastic_rounding(graph, program, false, NULL);
  pop_tensor last = pop_graph_modify_floating_point_behaviour(graph, program, 0, 0, NULL);
  pop_graph_create_host_read(graph, "rounding", rounding);
  pop_graph_create_host_read(graph, "last", last);
  pop_graph_create_host_read(graph, "before", before);
  pop_graph_create_host_read(graph, "between", between);
  pop_graph_create_host_read(graph, "after", after);
  pop_engine *engine = new_engine(graph, program, NULL, 0);
  expect_ok(pop_engine_run(engine, 0));
  const struct {
    const char *handle;
    uint32_t bits;
  } expected[] = {{"before", POP_FP_INVALID | POP_FP_OVERFLOW},
                  {"between", POP_FP_INVALID | POP_FP_STOCHASTIC_ROUNDING},
                  {"after", POP_FP_INVALID | POP_FP_OVERFLOW},
                  {"rounding", POP_FP_INVALID | POP_FP_OVERFLOW | POP_FP_STOCHASTIC_ROUNDING},
                  {"last", POP_FP_INVALID | POP_FP_OVERFLOW}};
  for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
    uint32_t words[3];
    expect_ok(pop_engine_read_tensor(engine, expected[i].handle, words, sizeof words));
    for (size_t tile = 0; tile < 3; tile++) cr_assert_eq(words[tile], expected[i].bits);
  }
  pop_engine_free(engine);
  pop_graph_free(graph);
}

/* ---- seeds ---- */

enum { TILES = 2, SEED_WORDS = TILES * 6 * 4 };

Test(registers, seeds_are_set_and_read)
{
  pop_graph *graph = new_world(TILES);
  pop_program program = pop_program_sequence(graph, NULL);
  pop_tensor first = pop_graph_get_hw_seeds(graph, program, NULL);
  cr_assert_eq(pop_tensor_rank(first), 3);
  cr_assert_eq(pop_tensor_dim(first, 1), 6);
  const size_t shape[] = {TILES, 6, 4};
  pop_tensor wanted = pop_graph_add_variable(graph, POP_UNSIGNED_INT, shape, 3, "wanted");
  pop_graph_set_tile_mapping(graph, wanted, 1); /* not their final tile */
  pop_graph_set_hw_seeds(graph, program, wanted, NULL);
  pop_tensor second = pop_graph_get_hw_seeds(graph, program, NULL);
  pop_graph_create_host_read(graph, "first", first);
  pop_graph_create_host_read(graph, "second", second);
  pop_graph_create_host_write(graph, "wanted", wanted);
  const pop_option seed = {"prng.seed", "42"};
  pop_engine *engine = new_engine(graph, program, &seed, 1);
  uint32_t words[SEED_WORDS], given[SEED_WORDS];
  for (uint32_t i = 0; i < SEED_WORDS; i++) given[i] = 1000 + i;
  expect_ok(pop_engine_write_tensor(engine, "wanted", given, sizeof given));
  expect_ok(pop_engine_run(engine, 0));
  expect_ok(pop_engine_read_tensor(engine, "first", words, sizeof words));
  for (size_t i = 0; i < SEED_WORDS; i++)
    for (size_t j = 0; j < i; j++) cr_assert_neq(words[i], words[j], "each has its own");
  expect_ok(pop_engine_read_tensor(engine, "second", words, sizeof words));
  cr_assert_arr_eq(words, given, sizeof words);
  expect_ok(pop_engine_run(engine, 0));
  expect_ok(pop_engine_read_tensor(engine, "first", words, sizeof words));
  cr_assert_arr_eq(words, given, sizeof words, "they stay from run to run");
  pop_engine_free(engine);
  pop_graph_free(graph);
}

/* ---- wrong use, and the CPU ---- */

typedef void wrong_use(pop_graph *graph, pop_program sequence);

static void cycles_of_no_sequence(pop_graph *graph, pop_program sequence)
{
  (void)sequence;
  pop_graph_cycle_count(graph, pop_program_nop(graph, "idle"), 0, POP_SYNC_INTERNAL, NULL);
}

static void cycles_of_no_tile(pop_graph *graph, pop_program sequence)
{
  pop_graph_cycle_stamp(graph, sequence, 7, POP_SYNC_INTERNAL, NULL);
}

static void cycles_of_no_tile_among_others(pop_graph *graph, pop_program sequence)
{
  const size_t tiles[] = {0, 7};
  pop_graph_cycle_stamps(graph, sequence, tiles, 2, POP_SYNC_INTERNAL, NULL);
}

static void no_behaviour(pop_graph *graph, pop_program sequence)
{
  pop_graph_set_floating_point_behaviour(graph, sequence, 8, NULL);
}

static void few_behaviours(pop_graph *graph, pop_program sequence)
{
  const size_t count = 1;
  pop_tensor t = pop_graph_add_variable(graph, POP_UNSIGNED_INT, &count, 1, "few");
  pop_graph_restore_floating_point_behaviour(graph, sequence, t, NULL);
}

static void few_seeds(pop_graph *graph, pop_program sequence)
{
  const size_t shape[] = {2, 6, 3};
  pop_tensor t = pop_graph_add_variable(graph, POP_UNSIGNED_INT, shape, 3, "few");
  pop_graph_set_hw_seeds(graph, sequence, t, NULL);
}

Test(registers, wrong_use)
{
  static const struct {
    wrong_use *use;
    pop_error_code code;
    const char *words[3];
  } uses[] = {
      {cycles_of_no_sequence, POP_ERROR_CONTROL_PROGRAM, {"is not a sequence", NULL}},
      {cycles_of_no_tile, POP_ERROR_INVALID_TILE_MAPPING, {"tile 7"}},
      {cycles_of_no_tile_among_others, POP_ERROR_INVALID_TILE_MAPPING, {"tile 7"}},
      {no_behaviour, POP_ERROR_INVALID_ARGUMENT, {"0x8 is no set"}},
      {few_behaviours, POP_ERROR_TENSOR, {"'few'", "each of the 2 tiles"}},
      {few_seeds, POP_ERROR_TENSOR, {"'few'", "{2,6,4}"}},
  };
  for (size_t i = 0; i < sizeof uses / sizeof *uses; i++) {
    pop_graph *graph = new_graph_with_tiles(2);
    uses[i].use(graph, pop_program_sequence(graph, NULL));
    assert_error(graph, uses[i].code, uses[i].words, uses[i].words[0]);
    pop_graph_free(graph);
  }
}

Test(registers, the_cpu_has_none_of_it)
{
  pop_target target;
  pop_target_create_cpu(&target);
  pop_graph *graph = pop_graph_create(&target);
  pop_program program = pop_program_sequence(graph, NULL);
  pop_graph_set_floating_point_behaviour(graph, program, POP_FP_EXCEPTIONS, NULL);
  pop_graph_create_host_read(graph, "seeds", pop_graph_get_hw_seeds(graph, program, NULL));
  pop_engine *engine = new_engine(graph, program, NULL, 0);
  expect_ok(pop_engine_run(engine, 0));
  uint32_t words[6 * 4];
  expect_ok(pop_engine_read_tensor(engine, "seeds", words, sizeof words));
  for (size_t i = 0; i < 6 * 4; i++) cr_assert_eq(words[i], 0);
  pop_engine_free(engine);
  pop_graph_cycle_count(graph, program, 0, POP_SYNC_INTERNAL, NULL);
  assert_error(graph, POP_ERROR_INVALID_ARGUMENT,
               (const char *const[]){"the CPU, which counts no cycles", NULL}, "cycles on the CPU");
  pop_graph_free(graph);
}
