/* Norms and their gradients against sums in double precision on the host. The gradients of the
 * activations are also compared with the change of a scalar function of the result. */
#include "support/expect.h"
#include "support/graph_test.h"
#include "support/random.h"

#include <math.h>
#include <populus/engine.h>
#include <populus/popnn_norm.h>
#include <populus/popops.h>

TestSuite(norm, .init = enter_fresh_folder);

enum { BATCH = 3, CHANNELS = 6, FIELD = 8, ALL = BATCH * CHANNELS * FIELD };
static const double epsilon = .01;

static size_t set_of(pop_norm norm, size_t i)
{
  size_t element = i / (CHANNELS * FIELD), channel = i / FIELD % CHANNELS;
  if (norm.groups == 0) return channel;
  return element * norm.groups +
         (norm.strided ? channel % norm.groups : channel / (CHANNELS / norm.groups));
}

static size_t num_sets(pop_norm norm)
{
  return norm.groups ? BATCH * norm.groups : CHANNELS;
}

typedef struct numbers {
  double x[ALL], gamma[CHANNELS], beta[CHANNELS], gradient[ALL];
  double mean[ALL], inverse[ALL]; /* of sets */
  double whitened[ALL], result[ALL], gamma_gradient[CHANNELS], beta_gradient[CHANNELS], back[ALL];
} numbers;

static void normalise(pop_norm norm, bool unbiased, numbers *n)
{
  double size = (double)ALL / (double)num_sets(norm);
  memset(n->mean, 0, sizeof n->mean);
  memset(n->inverse, 0, sizeof n->inverse);
  for (size_t i = 0; i < ALL; i++) n->mean[set_of(norm, i)] += n->x[i] / size;
  for (size_t i = 0; i < ALL; i++)
    n->inverse[set_of(norm, i)] +=
        pow(n->x[i] - n->mean[set_of(norm, i)], 2) / (unbiased ? size - 1 : size);
  for (size_t s = 0; s < num_sets(norm); s++) n->inverse[s] = 1 / sqrt(n->inverse[s] + epsilon);
  for (size_t i = 0; i < ALL; i++) {
    size_t s = set_of(norm, i), c = i / FIELD % CHANNELS;
    n->whitened[i] = (n->x[i] - n->mean[s]) * n->inverse[s];
    n->result[i] = n->whitened[i] * n->gamma[c] + n->beta[c];
  }
}

/* The sum of gradient[i] * result[i], of which gradients are taken. */
static double function_of(pop_norm norm, const numbers *n)
{
  numbers copy = *n;
  double sum = 0;
  normalise(norm, false, &copy);
  for (size_t i = 0; i < ALL; i++) sum += n->gradient[i] * copy.result[i];
  return sum;
}

static void differentiate(pop_norm norm, numbers *n)
{
  memset(n->gamma_gradient, 0, sizeof n->gamma_gradient);
  memset(n->beta_gradient, 0, sizeof n->beta_gradient);
  for (size_t i = 0; i < ALL; i++) {
    n->gamma_gradient[i / FIELD % CHANNELS] += n->gradient[i] * n->whitened[i];
    n->beta_gradient[i / FIELD % CHANNELS] += n->gradient[i];
  }
  for (size_t i = 0; i < ALL; i++) {
    const double step = 1e-5, x = n->x[i];
    n->x[i] = x + step;
    n->back[i] = function_of(norm, n);
    n->x[i] = x - step;
    n->back[i] = (n->back[i] - function_of(norm, n)) / (2 * step);
    n->x[i] = x;
  }
}

static void make_numbers(numbers *n, double around)
{
  uint64_t r = 7;
  for (size_t i = 0; i < ALL; i++) n->x[i] = around + (double)random_below(&r, 65) / 16 - 2;
  for (size_t i = 0; i < ALL; i++) n->gradient[i] = (double)random_below(&r, 33) / 16 - 1;
  for (size_t c = 0; c < CHANNELS; c++) n->gamma[c] = .5 + (double)c / 4;
  for (size_t c = 0; c < CHANNELS; c++) n->beta[c] = 1 - (double)c / 2;
}

static pop_tensor add_values(pop_graph *graph, pop_type type, const double *values,
                             const size_t *shape, size_t rank)
{
  uint16_t halves[ALL];
  float floats[ALL];
  pop_tensor t = pop_graph_add_variable(graph, type, shape, rank, "t");
  for (size_t i = 0; i < pop_tensor_num_elements(t); i++) {
    floats[i] = (float)values[i];
    halves[i] = pop_half_from_float(floats[i]);
  }
  pop_graph_map_linearly(graph, t, 0, 0);
  pop_graph_set_initial_value(graph, t,
                              type == POP_HALF ? (const void *)halves : (const void *)floats);
  return t;
}

static void compare(pop_engine *engine, const char *what, pop_type type, const double *want,
                    size_t count)
{
  uint16_t halves[ALL];
  float floats[ALL];
  bool half = type == POP_HALF;
  expect_ok(pop_engine_read_tensor(engine, what, half ? (void *)halves : (void *)floats,
                                   count * (half ? 2 : 4)));
  for (size_t i = 0; i < count; i++) {
    double is = half ? pop_half_to_float(halves[i]) : floats[i];
    cr_assert(fabs(is - want[i]) <= (half ? 1e-2 : 2e-5) * (1 + fabs(want[i])),
              "%s of %s, element %zu: %g, not %g", what, pop_type_name(type), i, is, want[i]);
  }
}

typedef struct results {
  pop_tensor mean, inverse, whitened, result, gamma_gradient, beta_gradient, back;
} results;

static results add_norm(pop_graph *graph, pop_program main, pop_norm norm, bool unbiased,
                        pop_type type, const numbers *n)
{
  const size_t shape[] = {BATCH, CHANNELS, 2, FIELD / 2}, channels = CHANNELS;
  results r;
  pop_tensor x = add_values(graph, type, n->x, shape, 4);
  pop_tensor gradient = add_values(graph, type, n->gradient, shape, 4);
  pop_tensor gamma = add_values(graph, type, n->gamma, &channels, 1);
  pop_tensor beta = add_values(graph, type, n->beta, &channels, 1);
  r.mean = pop_popnn_norm_statistics(graph, norm, x, epsilon, unbiased, &r.inverse, main, "of");
  r.whitened = pop_popnn_norm_whiten(graph, norm, x, r.mean, r.inverse, main, "whiten");
  r.result = pop_popnn_norm_scale(graph, r.whitened, gamma, beta, main, "scale");
  r.gamma_gradient = pop_popnn_norm_parameter_gradients(graph, norm, r.whitened, gradient,
                                                        &r.beta_gradient, main, "parameters");
  r.back =
      pop_popnn_norm_gradient(graph, norm, r.whitened, gradient, r.inverse, gamma, main, "back");
  pop_graph_create_host_read(graph, "mean", r.mean);
  pop_graph_create_host_read(graph, "inverse", r.inverse);
  pop_graph_create_host_read(graph, "whitened", r.whitened);
  pop_graph_create_host_read(graph, "result", r.result);
  pop_graph_create_host_read(graph, "gamma_gradient", r.gamma_gradient);
  pop_graph_create_host_read(graph, "beta_gradient", r.beta_gradient);
  pop_graph_create_host_read(graph, "back", r.back);
  assert_no_error(graph);
  cr_assert_eq(pop_tensor_rank(r.back), 4);
  for (size_t d = 0; d < 4; d++) cr_assert_eq(pop_tensor_dim(r.back, d), shape[d]);
  return r;
}

static void check_norm(pop_norm norm, bool unbiased, pop_type type, double around)
{
  static numbers n;
  make_numbers(&n, around);
  normalise(norm, unbiased, &n);
  pop_graph *graph = new_graph_with_tiles(5);
  pop_popops_add_codelets(graph);
  pop_program main = pop_program_sequence(graph, "main");
  add_norm(graph, main, norm, unbiased, type, &n);
  pop_engine *engine;
  expect_ok(pop_engine_create(graph, &main, 1, NULL, 0, &engine));
  expect_ok(pop_engine_load(engine));
  expect_ok(pop_engine_run(engine, 0));
  compare(engine, "mean", type, n.mean, num_sets(norm));
  compare(engine, "inverse", type, n.inverse, num_sets(norm));
  compare(engine, "whitened", type, n.whitened, ALL);
  compare(engine, "result", type, n.result, ALL);
  differentiate(norm, &n);
  compare(engine, "gamma_gradient", type, n.gamma_gradient, CHANNELS);
  compare(engine, "beta_gradient", type, n.beta_gradient, CHANNELS);
  if (!unbiased) compare(engine, "back", type, n.back, ALL);
  pop_engine_free(engine);
  pop_graph_free(graph);
}

Test(norm, of_batches)
{
  check_norm((pop_norm){0}, false, POP_FLOAT, 0);
  check_norm((pop_norm){0}, true, POP_FLOAT, 0);
  check_norm((pop_norm){0}, false, POP_HALF, 0);
}

Test(norm, of_groups_layers_and_instances)
{
  check_norm((pop_norm){.groups = 2}, false, POP_FLOAT, 0);
  check_norm((pop_norm){.groups = 3, .strided = true}, false, POP_HALF, 0);
  check_norm((pop_norm){.groups = 2, .strided = true}, true, POP_FLOAT, 0);
  check_norm((pop_norm){.groups = 1}, false, POP_FLOAT, 0);
  check_norm((pop_norm){.groups = CHANNELS}, false, POP_HALF, 0);
}

Test(norm, in_one_pass_and_with_sums_of_half)
{
  check_norm((pop_norm){.fast = true}, true, POP_FLOAT, 0);
  check_norm((pop_norm){.fast = true, .groups = 2}, false, POP_FLOAT, 1);
  check_norm((pop_norm){.groups = 3, .half_sums = true}, false, POP_HALF, 0);
}

/* The inverse deviations of the channels. */
static void inverse_of(pop_norm norm, pop_type type, const numbers *n, double *inverse)
{
  pop_graph *graph = new_graph_with_tiles(5);
  pop_popops_add_codelets(graph);
  pop_program main = pop_program_sequence(graph, "main");
  add_norm(graph, main, norm, false, type, n);
  pop_engine *engine;
  expect_ok(pop_engine_create(graph, &main, 1, NULL, 0, &engine));
  expect_ok(pop_engine_load(engine));
  expect_ok(pop_engine_run(engine, 0));
  uint16_t halves[CHANNELS];
  float floats[CHANNELS];
  bool half = type == POP_HALF;
  expect_ok(pop_engine_read_tensor(engine, "inverse", half ? (void *)halves : (void *)floats,
                                   half ? sizeof halves : sizeof floats));
  for (size_t i = 0; i < CHANNELS; i++)
    inverse[i] = half ? pop_half_to_float(halves[i]) : floats[i];
  pop_engine_free(engine);
  pop_graph_free(graph);
}

/* In single precision, the squares of such numbers do not differ any more. */
Test(norm, deviations_far_from_zero)
{
  static numbers n;
  double stable[CHANNELS], fast[CHANNELS];
  make_numbers(&n, 30000);
  normalise((pop_norm){0}, false, &n);
  inverse_of((pop_norm){0}, POP_FLOAT, &n, stable);
  inverse_of((pop_norm){.fast = true}, POP_FLOAT, &n, fast);
  for (size_t i = 0; i < CHANNELS; i++) {
    cr_expect(fabs(stable[i] - n.inverse[i]) < .01 * n.inverse[i], "%zu: %g, not %g", i, stable[i],
              n.inverse[i]);
    cr_expect(fabs(fast[i] - n.inverse[i]) > .01 * n.inverse[i], "%zu: %g", i, fast[i]);
  }
}

/* Halves whose variance is above the largest half. Sums are halves only if that is
 * asked for (half_sums). */
Test(norm, variances_above_the_largest_half)
{
  static numbers n;
  double wide[CHANNELS], narrow[CHANNELS];
  make_numbers(&n, 0);
  for (size_t i = 0; i < ALL; i++) n.x[i] *= 256;
  normalise((pop_norm){0}, false, &n);
  inverse_of((pop_norm){0}, POP_HALF, &n, wide);
  inverse_of((pop_norm){.half_sums = true}, POP_HALF, &n, narrow);
  for (size_t i = 0; i < CHANNELS; i++) {
    cr_expect(fabs(wide[i] - n.inverse[i]) < .01 * n.inverse[i], "%zu: %g, not %g", i, wide[i],
              n.inverse[i]);
    cr_expect_eq(narrow[i], 0, "%zu: %g", i, narrow[i]);
  }
}

/* ---- mistakes ---- */

static void statistics_of(pop_graph *graph, pop_norm norm, pop_type type, size_t rank)
{
  static const size_t shape[] = {BATCH, CHANNELS};
  pop_popops_add_codelets(graph);
  pop_tensor t = pop_graph_add_variable(graph, type, shape, rank, "t"), deviation;
  pop_graph_map_linearly(graph, t, 0, 0);
  pop_popnn_norm_statistics(graph, norm, t, epsilon, false, &deviation,
                            pop_program_sequence(graph, "main"), "norm");
}

static void four_groups(pop_graph *graph)
{
  statistics_of(graph, (pop_norm){.groups = 4}, POP_FLOAT, 2);
}

static void integers(pop_graph *graph)
{
  statistics_of(graph, (pop_norm){0}, POP_INT, 2);
}

static void float_in_half(pop_graph *graph)
{
  statistics_of(graph, (pop_norm){.half_sums = true}, POP_FLOAT, 2);
}

static void layers_over_replicas(pop_graph *graph)
{
  statistics_of(graph, (pop_norm){.groups = 1, .replicas = 2}, POP_FLOAT, 2);
}

static void one_dimension(pop_graph *graph)
{
  statistics_of(graph, (pop_norm){0}, POP_FLOAT, 1);
}

static void gamma_of_another_size(pop_graph *graph)
{
  static const size_t shape[] = {BATCH, CHANNELS};
  pop_popops_add_codelets(graph);
  pop_tensor x = pop_graph_add_variable(graph, POP_FLOAT, shape, 2, "x");
  pop_tensor gamma = pop_graph_add_variable(graph, POP_FLOAT, shape, 1, "gamma");
  pop_popnn_norm_scale(graph, x, gamma, gamma, pop_program_sequence(graph, "main"), "scale");
}

static void gradient_of_another_shape(pop_graph *graph)
{
  static const size_t shape[] = {BATCH, CHANNELS};
  pop_popops_add_codelets(graph);
  pop_tensor x = pop_graph_add_variable(graph, POP_FLOAT, shape, 2, "x"), beta;
  pop_popnn_norm_parameter_gradients(graph, (pop_norm){0}, x, pop_tensor_transpose(x), &beta,
                                     pop_program_sequence(graph, "main"), "parameters");
}

Test(norm, what_does_not_go_together)
{
  static const bad_call wrong[] = {
      {four_groups, POP_ERROR_INVALID_ARGUMENT, {"pop_popnn_norm_statistics", "4 groups", "6"}},
      {integers, POP_ERROR_TYPE, {"float or half", "int"}},
      {float_in_half, POP_ERROR_TYPE, {"sums of half", "not of float"}},
      {layers_over_replicas, POP_ERROR_INVALID_ARGUMENT, {"2 replicas", "batch norm", "not 1"}},
      {one_dimension, POP_ERROR_TENSOR, {"{3}", "{batch,channels,field...}"}},
      {gamma_of_another_size, POP_ERROR_TENSOR, {"gamma has 3", "6"}},
      {gradient_of_another_shape, POP_ERROR_TENSOR, {"the gradient", "shape"}},
  };
  assert_bad_calls(wrong, sizeof wrong / sizeof *wrong);
}
