/* Counts between levels against a loop on the host: values on the levels, below and above all of
 * them, NaN and infinities, in both types. */
#include "support/expect.h"
#include "support/graph_test.h"
#include "support/random.h"

#include <math.h>
#include <populus/engine.h>
#include <populus/popops.h>

TestSuite(histogram, .init = enter_fresh_folder);

enum { ELEMENTS = 500, LEVELS = 9, BEFORE = 3 };

static pop_tensor add_values(pop_graph *graph, pop_type type, const float *values, size_t count)
{
  uint16_t halves[ELEMENTS];
  for (size_t i = 0; i < count; i++) halves[i] = pop_half_from_float(values[i]);
  pop_tensor t = pop_graph_add_variable(graph, type, &count, 1, "t");
  pop_graph_map_linearly(graph, t, 0, 0);
  pop_graph_set_initial_value(graph, t,
                              type == POP_HALF ? (const void *)halves : (const void *)values);
  return t;
}

static void check_counts(pop_type type, bool absolute, bool update)
{
  static const float levels[LEVELS] = {-4, -1, -.5f, 0, .25f, 1, 2, 3, 100};
  float values[ELEMENTS];
  unsigned want[LEVELS + 1] = {0}, is[LEVELS + 1];
  uint64_t r = 3;
  for (size_t i = 0; i < ELEMENTS; i++) {
    float x = i == 0   ? NAN
              : i == 1 ? INFINITY
              : i == 2 ? -INFINITY
              : i == 3 ? -0.f
                       : (float)random_below(&r, 41) / 4 - 5;
    values[i] = x;
    size_t bin = 0;
    for (size_t k = 0; k < LEVELS; k++) bin += (absolute ? fabsf(x) : x) >= levels[k];
    want[bin]++;
  }
  pop_graph *graph = new_graph_with_tiles(7);
  pop_popops_add_codelets(graph);
  pop_program main = pop_program_sequence(graph, "main");
  const size_t bins = LEVELS + 1;
  pop_tensor out = {0};
  if (update) {
    unsigned before[LEVELS + 1];
    for (size_t i = 0; i < bins; i++) want[i] += before[i] = BEFORE;
    out = pop_graph_add_variable(graph, POP_UNSIGNED_INT, &bins, 1, "out");
    pop_graph_map_linearly(graph, out, 0, 0);
    pop_graph_set_initial_value(graph, out, before);
  }
  pop_tensor counts = pop_popops_histogram(graph, add_values(graph, type, values, ELEMENTS),
                                           add_values(graph, type, levels, LEVELS), absolute, out,
                                           update, main, "counts");
  pop_graph_create_host_read(graph, "counts", counts);
  assert_no_error(graph);
  pop_engine *engine;
  expect_ok(pop_engine_create(graph, &main, 1, NULL, 0, &engine));
  expect_ok(pop_engine_load(engine));
  expect_ok(pop_engine_run(engine, 0));
  expect_ok(pop_engine_read_tensor(engine, "counts", is, sizeof is));
  for (size_t i = 0; i < bins; i++)
    cr_expect_eq(is[i], want[i], "%s, bin %zu: %u, not %u", pop_type_name(type), i, is[i], want[i]);
  pop_engine_free(engine);
  pop_graph_free(graph);
}

Test(histogram, counts_are_those_of_a_loop)
{
  check_counts(POP_FLOAT, false, false);
  check_counts(POP_FLOAT, true, true);
  check_counts(POP_HALF, false, true);
  check_counts(POP_HALF, true, false);
}

static void other_levels(pop_graph *graph)
{
  static const float values[4];
  pop_popops_add_codelets(graph);
  pop_popops_histogram(graph, add_values(graph, POP_FLOAT, values, 4),
                       add_values(graph, POP_HALF, values, 2), false, (pop_tensor){0}, false,
                       pop_program_sequence(graph, "main"), "counts");
}

Test(histogram, levels_that_do_not_go_with_the_elements)
{
  static const bad_call cases[] = {
      {other_levels, POP_ERROR_TENSOR, {"pop_popops_histogram", "type float", "type half"}},
  };
  assert_bad_calls(cases, sizeof cases / sizeof *cases);
}
