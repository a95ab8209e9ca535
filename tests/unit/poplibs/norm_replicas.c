/* Batch norms with the batch spread over replicas, forward and backward: against sums in double
 * precision on the host over the parts of each group of replicas. The gradients are compared with
 * the change of a function of the result. */
#include "support/expect.h"
#include "support/graph_test.h"
#include "support/random.h"

#include <math.h>
#include <populus/collectives.h>
#include <populus/engine.h>
#include <populus/popnn_norm.h>
#include <populus/popops.h>

TestSuite(norm_replicas, .init = enter_fresh_folder);

enum { REPLICAS = 4, GROUP = 2, BATCH = 3, CHANNELS = 2, FIELD = 5 };
enum { PART = BATCH * CHANNELS * FIELD, ALL = REPLICAS * PART };
static const double epsilon = .01, gamma_of[CHANNELS] = {1.5, -.5};

static double x[ALL], flows[ALL];

static size_t channel_of(size_t i)
{
  return i / FIELD % CHANNELS;
}

/* Mean and inverse deviation of element i's group and channel. */
static void statistics_at(size_t i, double *mean, double *inverse)
{
  size_t begin = i / (GROUP * PART) * (GROUP * PART);
  double n = GROUP * BATCH * FIELD, sum = 0, squares = 0;
  for (size_t k = begin; k < begin + GROUP * PART; k++)
    if (channel_of(k) == channel_of(i)) sum += x[k];
  for (size_t k = begin; k < begin + GROUP * PART; k++)
    if (channel_of(k) == channel_of(i)) squares += pow(x[k] - sum / n, 2);
  *mean = sum / n;
  *inverse = 1 / sqrt(squares / n + epsilon);
}

static double flow_in_all(void)
{
  double total = 0;
  for (size_t i = 0; i < ALL; i++) {
    double mean, inverse;
    statistics_at(i, &mean, &inverse);
    total += flows[i] * gamma_of[channel_of(i)] * (x[i] - mean) * inverse;
  }
  return total;
}

static double gradient_at(size_t i)
{
  const double step = 1e-5, was = x[i];
  x[i] = was + step;
  double above = flow_in_all();
  x[i] = was - step;
  double below = flow_in_all();
  x[i] = was;
  return (above - below) / (2 * step);
}

/* A callback that counts its calls and adds as the library does without a callback. */
static unsigned num_sums;
static void add_by_callback(void *context, pop_tensor *sums, size_t count, pop_program sequence)
{
  pop_graph *graph = context;
  for (size_t i = 0; i < count; i++, num_sums++)
    sums[i] = pop_gcl_all_reduce(graph, sums[i], POP_COLLECTIVE_ADD,
                                 (pop_comm_group){POP_COMM_CONSECUTIVE, GROUP}, (pop_tensor){0},
                                 sequence, "sums");
}

static pop_tensor add_input(pop_graph *graph, const char *name)
{
  const size_t shape[] = {BATCH, CHANNELS, FIELD};
  pop_tensor t = pop_graph_add_variable(graph, POP_FLOAT, shape, 3, name);
  pop_graph_map_linearly(graph, t, 1, 1);
  pop_graph_create_host_write(graph, name, t);
  return t;
}

static pop_graph *add_norm(pop_norm norm, bool callback, pop_program *main)
{
  pop_target target;
  expect_ok(pop_target_create("ipu2", REPLICAS, &target));
  target.tiles_per_ipu = 3;
  pop_graph *graph = pop_graph_create_replicated(&target, REPLICAS);
  pop_popops_add_codelets(graph);
  *main = pop_program_sequence(graph, "main");
  if (callback) norm.add = add_by_callback;
  norm.context = graph;
  pop_tensor in = add_input(graph, "x"), flow = add_input(graph, "flow"), inverse;
  const size_t channels = CHANNELS;
  const float values[CHANNELS] = {(float)gamma_of[0], (float)gamma_of[1]};
  pop_tensor gamma = pop_graph_add_constant(graph, POP_FLOAT, &channels, 1, values, "gamma");
  pop_graph_set_tile_mapping(graph, gamma, 0);
  pop_tensor mean =
      pop_popnn_norm_statistics(graph, norm, in, epsilon, false, &inverse, *main, "statistics");
  pop_tensor whitened = pop_popnn_norm_whiten(graph, norm, in, mean, inverse, *main, "whiten");
  pop_tensor back =
      pop_popnn_norm_gradient(graph, norm, whitened, flow, inverse, gamma, *main, "back");
  pop_graph_create_host_read(graph, "whitened", whitened);
  pop_graph_create_host_read(graph, "back", back);
  assert_no_error(graph);
  return graph;
}

static void check(bool fast, bool callback)
{
  uint64_t r = 3;
  float in[ALL], flow[ALL], whitened[ALL], back[ALL];
  for (size_t i = 0; i < ALL; i++) {
    size_t replica = i / PART;
    in[i] = (float)random_below(&r, 65) / 16 - 2 + (float)replica; /* different in each replica */
    flow[i] = (float)random_below(&r, 33) / 16 - 1;
    x[i] = in[i];
    flows[i] = flow[i];
  }
  pop_program main;
  pop_graph *graph = add_norm((pop_norm){.fast = fast, .replicas = GROUP}, callback, &main);
  pop_engine *engine;
  expect_ok(pop_engine_create(graph, &main, 1, NULL, 0, &engine));
  expect_ok(pop_engine_load(engine));
  expect_ok(pop_engine_write_tensor(engine, "x", in, sizeof in));
  expect_ok(pop_engine_write_tensor(engine, "flow", flow, sizeof flow));
  expect_ok(pop_engine_run(engine, 0));
  expect_ok(pop_engine_read_tensor(engine, "whitened", whitened, sizeof whitened));
  expect_ok(pop_engine_read_tensor(engine, "back", back, sizeof back));
  for (size_t i = 0; i < ALL; i++) {
    double mean, inverse;
    statistics_at(i, &mean, &inverse);
    double want = (x[i] - mean) * inverse, gradient = gradient_at(i);
    cr_assert(fabs(whitened[i] - want) < 2e-5 * (1 + fabs(want)), "whitened %zu: %g, not %g", i,
              (double)whitened[i], want);
    cr_assert(fabs(back[i] - gradient) < 5e-5 * (1 + fabs(gradient)), "back %zu: %g, not %g", i,
              (double)back[i], gradient);
  }
  pop_engine_free(engine);
  pop_graph_free(graph);
}

Test(norm_replicas, one_batch_in_two)
{
  check(false, false);
  check(true, false);
}

Test(norm_replicas, by_a_callback)
{
  check(false, true);
  cr_expect_eq(num_sums, 4); /* mean; variance; backwards: two */
}
