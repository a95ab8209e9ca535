/* Operations on elements against a loop on the host, to the bit. Operands are aligned to 8 bytes or
 * not, and some have a single element. Workers share the elements evenly or not. Zeros, infinities
 * and NaNs are among the values. */
#include "support/expect.h"
#include "support/graph_test.h"
#include "support/random.h"

#include <math.h>
#include <populus/engine.h>
#include <populus/executable.h>
#include <populus/popops.h>

TestSuite(element_wise, .init = enter_fresh_folder);

enum { ELEMENTS = 208, RESULTS = 1 << 15 };
static const size_t counts[] = {1, 5, 25, 97, 200};
enum { NUM_COUNTS = sizeof counts / sizeof *counts };

typedef enum single { NEITHER, FIRST, SECOND, SINGLES } single;

typedef struct world {
  pop_type type;
  float x[ELEMENTS], y[ELEMENTS]; /* as the type stores them */
  uint32_t want[RESULTS], is[RESULTS];
  const char *names[RESULTS]; /* of the operations */
  pop_graph *graph;
  pop_tensor a, b, out;
  pop_program main;
  size_t num_results;
} world;

static uint32_t bits_of(pop_type type, float value)
{
  uint32_t bits;
  if (type == POP_HALF) return pop_half_from_float(isnan(value) ? NAN : value);
  if (isnan(value)) return 0x7fc00000;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

static float any_value(size_t i, uint64_t *r)
{
  static const float special[] = {0, -0.f, INFINITY, -INFINITY, NAN, 65504, 6e-8f, -1, 1};
  size_t which = random_below(r, 40);
  if (which < sizeof special / sizeof *special) return special[which];
  return (float)((int)random_below(r, 4001) - 2000) / (float)(1 << i % 7);
}

/* Adds elements, zeros if `values` is NULL. */
static pop_tensor add_elements(world *w, const float *values, size_t count, const char *name)
{
  pop_tensor t = pop_graph_add_variable(w->graph, w->type, &count, 1, name);
  pop_graph_set_tile_mapping(w->graph, t, 0);
  if (!values) {
    pop_graph_set_initial_value(w->graph, t, w->is);
    return t;
  }
  uint16_t halves[ELEMENTS];
  for (size_t i = 0; i < count; i++) halves[i] = pop_half_from_float(values[i]);
  pop_graph_set_initial_value(w->graph, t,
                              w->type == POP_HALF ? (const void *)halves : (const void *)values);
  return t;
}

static world *new_world(pop_type type)
{
  world *w = calloc(1, sizeof *w);
  uint64_t r = 11;
  w->type = type;
  for (size_t i = 0; i < ELEMENTS; i++) {
    w->x[i] = any_value(i, &r);
    w->y[i] = any_value(i + 3, &r);
    if (type == POP_HALF) {
      w->x[i] = pop_half_to_float(pop_half_from_float(w->x[i]));
      w->y[i] = pop_half_to_float(pop_half_from_float(w->y[i]));
    }
  }
  w->graph = new_graph_with_tiles(1);
  pop_popops_add_codelets(w->graph);
  w->main = pop_program_sequence(w->graph, "main");
  w->a = add_elements(w, w->x, ELEMENTS, "a");
  w->b = add_elements(w, w->y, ELEMENTS, "b");
  w->out = add_elements(w, NULL, RESULTS, "out");
  return w;
}

static void expect_results(world *w, const char *engine_name)
{
  size_t bytes = w->type == POP_HALF ? 2 : 4;
  for (size_t i = 0; i < w->num_results; i++) {
    uint32_t element = 0;
    memcpy(&element, (const uint8_t *)w->is + i * bytes, bytes);
    cr_assert_eq(element, w->want[i], "%s, result %zu on %s: 0x%x, not 0x%x", w->names[i], i,
                 engine_name, element, w->want[i]);
  }
}

/* Runs the added operations on both engines, and compares the results. */
static void run(world *w)
{
  static const char *const engines[] = {"interpreter", "translator"};
  pop_executable *executable;
  pop_graph_create_host_read(w->graph, "out", w->out);
  assert_no_error(w->graph);
  cr_assert_leq(w->num_results, RESULTS);
  expect_ok(pop_compile_graph(w->graph, &w->main, 1, NULL, 0, &executable));
  for (size_t e = 0; e < 2; e++) {
    const pop_option option = {"target.tileEngine", engines[e]};
    pop_engine *engine;
    expect_ok(pop_engine_create_from_executable(executable, &option, 1, &engine));
    expect_ok(pop_engine_load(engine));
    expect_ok(pop_engine_run(engine, 0));
    expect_ok(
        pop_engine_read_tensor(engine, "out", w->is, (w->type == POP_HALF ? 2 : 4) * RESULTS));
    expect_results(w, engines[e]);
    pop_engine_free(engine);
  }
  pop_executable_free(executable);
  pop_graph_free(w->graph);
  free(w);
}

/* The place of the next results, `skew` elements after an 8-byte boundary. */
static size_t next_results(world *w, size_t count, size_t skew, const char *name)
{
  size_t at = (w->num_results + 7) / 8 * 8 + skew;
  w->num_results = at + count;
  for (size_t i = at; i < w->num_results; i++) w->names[i] = name;
  return at;
}

/* ---- two operands ---- */

static float apply(pop_binary_op op, float a, float b)
{
  switch (op) {
  case POP_BINARY_ADD:
    return a + b;
  case POP_BINARY_MULTIPLY:
    return a * b;
  default: /* POP_BINARY_DIVIDE */
    return a / b;
  }
}

/* Operands begin `skew` elements, and half as many, after an 8-byte boundary. */
static void add_case(world *w, pop_binary_op op, single one, size_t count, size_t skew,
                     const char *name)
{
  size_t at = next_results(w, count, skew & 1, name);
  size_t ends[] = {one == FIRST ? 1 : count, one == SECOND ? 1 : count};
  pop_tensor a = pop_tensor_slice(w->a, skew, skew + ends[0], 0);
  pop_tensor b = pop_tensor_slice(w->b, skew / 2, skew / 2 + ends[1], 0);
  pop_popops_binary(w->graph, op, a, b, pop_tensor_slice(w->out, at, at + count, 0), w->main, name);
  for (size_t i = 0; i < count; i++)
    w->want[at + i] = bits_of(w->type, apply(op, w->x[skew + (one == FIRST ? 0 : i)],
                                             w->y[skew / 2 + (one == SECOND ? 0 : i)]));
}

static void add_binary(world *w, pop_binary_op op, const char *name)
{
  for (size_t i = 0; i < NUM_COUNTS; i++)
    for (single one = 0; one < SINGLES; one++) {
      add_case(w, op, one, counts[i], 0, name);
      add_case(w, op, one, counts[i], 1 + i % 5, name);
    }
}

static void check_binary(pop_type type)
{
  world *w = new_world(type);
  add_binary(w, POP_BINARY_ADD, "add");
  add_binary(w, POP_BINARY_MULTIPLY, "multiply");
  add_binary(w, POP_BINARY_DIVIDE, "divide");
  run(w);
}

Test(element_wise, two_operands)
{
  check_binary(POP_FLOAT);
  check_binary(POP_HALF);
}

/* ---- one operand ---- */

static float apply_unary(pop_unary_op op, float x)
{
  return op == POP_UNARY_SQUARE ? x * x : x > 0 ? x : 0;
}

static void add_unary(world *w, pop_unary_op op, const char *name)
{
  for (size_t i = 0; i < NUM_COUNTS; i++)
    for (size_t skew = 0; skew < 5; skew++) {
      size_t at = next_results(w, counts[i], skew / 2, name);
      pop_popops_unary(w->graph, op, pop_tensor_slice(w->a, skew, skew + counts[i], 0),
                       pop_tensor_slice(w->out, at, at + counts[i], 0), w->main, name);
      for (size_t k = 0; k < counts[i]; k++)
        w->want[at + k] = bits_of(w->type, apply_unary(op, w->x[skew + k]));
    }
}

static void check_unary(pop_type type)
{
  world *w = new_world(type);
  add_unary(w, POP_UNARY_SQUARE, "square");
  add_unary(w, POP_UNARY_RELU, "relu");
  run(w);
}

Test(element_wise, one_operand)
{
  check_unary(POP_FLOAT);
  check_unary(POP_HALF);
}
