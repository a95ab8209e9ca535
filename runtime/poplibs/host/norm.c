/* Norms: populus/popnn_norm.h. Activations are reshaped to [a, sets, b]; a set has one mean and
 * variance:
 *
 *     batch norm    [batch, channels, field]
 *     group norm    [1, batch * groups, channels of a group * field] */
#include "graph/graph.h"
#include "poplibs/host/spread.h"

#include <populus/collectives.h>
#include <populus/popnn_norm.h>
#include <populus/popops.h>

typedef struct job {
  pop_graph *graph;
  const char *call, *name;
  pop_program sequence;
  pop_type type;
  size_t batch, channels, field;
  pop_norm norm;
} job;

static const pop_norm by_channel = {0};

static bool start(job *j, pop_tensor activations)
{
  pop_graph *graph = j->graph;
  if (pop_graph_error(graph)) return false;
  if (pop_tensor_rank(activations) < 2 || pop_tensor_num_elements(activations) == 0) {
    char shape[64];
    pop_tensor_shape_string(activations, shape, sizeof shape);
    if (!pop_graph_error(graph))
      poplibs_fail(graph, POP_ERROR_TENSOR,
                   "%s: activations of shape %s; {batch,channels,field...} are needed, not empty",
                   j->call, shape);
    return false;
  }
  j->type = pop_tensor_element_type(activations);
  j->batch = pop_tensor_dim(activations, 0);
  j->channels = pop_tensor_dim(activations, 1);
  j->field = pop_tensor_num_elements(activations) / j->batch / j->channels;
  if (j->type != POP_FLOAT && j->type != POP_HALF) {
    poplibs_fail(graph, POP_ERROR_TYPE, "%s: activations are of type float or half, not %s",
                 j->call, pop_type_name(j->type));
    return false;
  }
  if (j->norm.groups > 0 && j->channels % j->norm.groups != 0) {
    poplibs_fail(graph, POP_ERROR_INVALID_ARGUMENT, "%s: %zu groups do not divide %zu channels",
                 j->call, j->norm.groups, j->channels);
    return false;
  }
  if (j->norm.half_sums && j->type != POP_HALF) {
    poplibs_fail(graph, POP_ERROR_TYPE, "%s: sums of half are of half activations, not of %s",
                 j->call, pop_type_name(j->type));
    return false;
  }
  if (j->norm.replicas > 1 && j->norm.groups > 0) {
    poplibs_fail(graph, POP_ERROR_INVALID_ARGUMENT,
                 "%s: parts of a batch in %zu replicas are of a batch norm: groups are 0, not %zu",
                 j->call, j->norm.replicas, j->norm.groups);
    return false;
  }
  return true;
}

/* Does `t` have `count` elements of the activations' type? */
static bool check_vector(const job *j, const char *what, pop_tensor t, size_t count)
{
  if (pop_graph_error(j->graph)) return false;
  if (pop_tensor_num_elements(t) == count && pop_tensor_element_type(t) == j->type) return true;
  if (!pop_graph_error(j->graph))
    poplibs_fail(j->graph, POP_ERROR_TENSOR,
                 "%s: %s has %zu elements of type %s; %zu of type %s are needed", j->call, what,
                 pop_tensor_num_elements(t), pop_type_name(pop_tensor_element_type(t)), count,
                 pop_type_name(j->type));
  return false;
}

static bool check_alike(const job *j, const char *what, pop_tensor t, pop_tensor activations)
{
  if (!check_vector(j, what, t, pop_tensor_num_elements(activations))) return false;
  bool alike = pop_tensor_rank(t) == pop_tensor_rank(activations);
  for (size_t d = 0; alike && d < pop_tensor_rank(t); d++)
    alike = pop_tensor_dim(t, d) == pop_tensor_dim(activations, d);
  if (!alike)
    poplibs_fail(j->graph, POP_ERROR_TENSOR, "%s: %s has not the activations' shape", j->call,
                 what);
  return alike;
}

static size_t num_sets(const job *j)
{
  return j->norm.groups ? j->batch * j->norm.groups : j->channels;
}

/* The size of a set, over all replicas. */
static size_t elements_of_set(const job *j)
{
  size_t replicas = j->norm.replicas ? j->norm.replicas : 1;
  return j->batch * j->channels * j->field / num_sets(j) * replicas;
}

/* [a, sets, b] */
static pop_tensor by_sets(const job *j, pop_tensor t)
{
  const size_t groups = j->norm.groups, shape[] = {j->batch, j->channels, j->field};
  if (groups == 0) return pop_tensor_reshape(t, shape, 3);
  const size_t each = j->channels / groups;
  if (j->norm.strided) {
    const size_t parts[] = {j->batch, each, groups, j->field};
    t = pop_tensor_dim_roll(pop_tensor_reshape(t, parts, 4), 1, 2);
  }
  const size_t sets[] = {1, j->batch * groups, each * j->field};
  return pop_tensor_reshape(t, sets, 3);
}

/* Back to the activations' shape. */
static pop_tensor from_sets(const job *j, pop_tensor t, pop_tensor like)
{
  const size_t groups = j->norm.groups;
  if (pop_graph_error(j->graph)) return (pop_tensor){j->graph->top, 0};
  if (groups > 0 && j->norm.strided) {
    const size_t parts[] = {j->batch, groups, j->channels / groups, j->field};
    t = pop_tensor_dim_roll(pop_tensor_reshape(t, parts, 4), 2, 1);
  }
  return pop_tensor_reshape(t, pop_tensor_shape(like), pop_tensor_rank(like));
}

/* A vector with one element for each set, as a shape that broadcasts over [a, sets, b]. */
static pop_tensor for_sets(pop_tensor vector)
{
  const size_t shape[] = {pop_tensor_num_elements(vector), 1};
  return pop_tensor_reshape(vector, shape, 2);
}

/* ---- arithmetic ---- */

static pop_tensor operate(const job *j, pop_binary_op op, pop_tensor a, pop_tensor b)
{
  return pop_popops_binary(j->graph, op, a, b, (pop_tensor){j->graph->top, 0}, j->sequence,
                           j->name);
}

static pop_tensor as(const job *j, pop_type type, pop_tensor t)
{
  if (pop_graph_error(j->graph) || pop_tensor_element_type(t) == type) return t;
  return pop_popops_cast(j->graph, t, type, (pop_tensor){j->graph->top, 0}, j->sequence, j->name);
}

/* To the type of sums. */
static pop_tensor to_sum(const job *j, pop_tensor t)
{
  return as(j, j->norm.half_sums ? POP_HALF : POP_FLOAT, t);
}

/* [sets]: for each set of [a, sets, b], the sum (of squares) over this replica's elements,
 * divided by `divisor`. */
static pop_tensor sum_of_sets(const job *j, pop_reduce_op op, pop_tensor t, double divisor)
{
  const size_t outside[] = {0, 2};
  float factor = (float)(1 / divisor);
  pop_reduction how = {.op = op};
  if (divisor != 1) {
    how.scale = pop_graph_add_constant(j->graph, POP_FLOAT, NULL, 0, &factor, j->name);
    pop_graph_set_tile_mapping(j->graph, how.scale, 0);
  }
  return pop_popops_reduce(j->graph, t, outside, 2, how, (pop_tensor){j->graph->top, 0},
                           j->sequence, NULL, NULL, j->name);
}

/* Adds the sums of all replicas that the batch is spread over. */
static void add_over_replicas(const job *j, pop_tensor *sums, size_t count)
{
  const pop_comm_group group = {POP_COMM_CONSECUTIVE, (uint32_t)j->norm.replicas};
  if (j->norm.replicas <= 1 || pop_graph_error(j->graph)) return;
  if (j->norm.add) {
    j->norm.add(j->norm.context, sums, count, j->sequence);
    return;
  }
  for (size_t i = 0; i < count; i++)
    sums[i] = pop_gcl_all_reduce(j->graph, sums[i], POP_COLLECTIVE_ADD, group,
                                 (pop_tensor){j->graph->top, 0}, j->sequence, j->name);
}

/* ---- forward ---- */

/* The mean of each set and its variance: divided by n or, unbiased, by n - 1. */
static pop_tensor stable_variance(const job *j, pop_tensor x, bool unbiased, pop_tensor *mean)
{
  double n = (double)elements_of_set(j);
  *mean = sum_of_sets(j, POP_REDUCE_ADD, x, n);
  add_over_replicas(j, mean, 1);
  pop_tensor distance = operate(j, POP_BINARY_SUBTRACT, x, for_sets(*mean));
  pop_tensor variance =
      sum_of_sets(j, POP_REDUCE_SQUARE_ADD, distance, unbiased && n > 1 ? n - 1 : n);
  add_over_replicas(j, &variance, 1);
  return variance;
}

static pop_tensor fast_variance(const job *j, pop_tensor x, bool unbiased, pop_tensor *mean)
{
  double n = (double)elements_of_set(j);
  pop_tensor both[] = {sum_of_sets(j, POP_REDUCE_ADD, x, n),
                       sum_of_sets(j, POP_REDUCE_SQUARE_ADD, x, n)};
  add_over_replicas(j, both, 2);
  *mean = both[0];
  const pop_expr_node difference[] = {
      {.kind = POP_EXPR_TENSOR, .tensor = 1},
      {.kind = POP_EXPR_TENSOR, .tensor = 0},
      {.kind = POP_EXPR_UNARY, .op = POP_UNARY_SQUARE},
      {.kind = POP_EXPR_BINARY, .op = POP_BINARY_SUBTRACT},
      {.kind = POP_EXPR_CONSTANT, .value = 0},
      {.kind = POP_EXPR_BINARY, .op = POP_BINARY_MAXIMUM},
      {.kind = POP_EXPR_CONSTANT, .value = unbiased && n > 1 ? n / (n - 1) : 1},
      {.kind = POP_EXPR_BINARY, .op = POP_BINARY_MULTIPLY}};
  return pop_popops_map(j->graph, difference, sizeof difference / sizeof *difference, both, 2,
                        (pop_tensor){j->graph->top, 0}, j->sequence, j->name);
}

pop_tensor pop_popnn_norm_statistics(pop_graph *graph, pop_norm norm, pop_tensor activations,
                                     double epsilon, bool unbiased, pop_tensor *inverse_deviation,
                                     pop_program sequence, const char *name)
{
  GRAPH_TURN(graph);
  if (!graph_lives(graph, __func__)) return (pop_tensor){0};
  poplibs_log(__func__, name, (const pop_tensor[]){activations}, 1);
  pop_tensor none = {graph->top, 0};
  job j = {graph, __func__, name, sequence, .norm = norm};
  if (inverse_deviation) *inverse_deviation = none;
  if (!start(&j, activations)) return none;
  pop_tensor x = by_sets(&j, to_sum(&j, activations)), mean;
  pop_tensor variance =
      norm.fast ? fast_variance(&j, x, unbiased, &mean) : stable_variance(&j, x, unbiased, &mean);
  const pop_expr_node inverse[] = {{.kind = POP_EXPR_TENSOR},
                                   {.kind = POP_EXPR_CONSTANT, .value = epsilon},
                                   {.kind = POP_EXPR_BINARY, .op = POP_BINARY_ADD},
                                   {.kind = POP_EXPR_UNARY, .op = POP_UNARY_RSQRT}};
  pop_tensor deviation = pop_popops_map(graph, inverse, sizeof inverse / sizeof *inverse, &variance,
                                        1, none, sequence, name);
  deviation = as(&j, j.type, deviation);
  mean = as(&j, j.type, mean);
  if (pop_graph_error(graph)) return none;
  if (inverse_deviation) *inverse_deviation = deviation;
  return mean;
}

pop_tensor pop_popnn_norm_whiten(pop_graph *graph, pop_norm norm, pop_tensor activations,
                                 pop_tensor mean, pop_tensor inverse_deviation,
                                 pop_program sequence, const char *name)
{
  GRAPH_TURN(graph);
  if (!graph_lives(graph, __func__)) return (pop_tensor){0};
  poplibs_log(__func__, name, (const pop_tensor[]){activations, mean, inverse_deviation}, 3);
  job j = {graph, __func__, name, sequence, .norm = norm};
  if (!start(&j, activations) || !check_vector(&j, "the mean", mean, num_sets(&j)) ||
      !check_vector(&j, "the inverse deviation", inverse_deviation, num_sets(&j)))
    return (pop_tensor){graph->top, 0};
  pop_tensor distance = operate(&j, POP_BINARY_SUBTRACT, by_sets(&j, activations), for_sets(mean));
  pop_tensor whitened = pop_popops_binary(graph, POP_BINARY_MULTIPLY, distance,
                                          for_sets(inverse_deviation), distance, sequence, name);
  return from_sets(&j, whitened, activations);
}

pop_tensor pop_popnn_norm_scale(pop_graph *graph, pop_tensor whitened, pop_tensor gamma,
                                pop_tensor beta, pop_program sequence, const char *name)
{
  GRAPH_TURN(graph);
  if (!graph_lives(graph, __func__)) return (pop_tensor){0};
  poplibs_log(__func__, name, (const pop_tensor[]){whitened, gamma, beta}, 3);
  job j = {graph, __func__, name, sequence, .norm = by_channel};
  if (!start(&j, whitened) || !check_vector(&j, "gamma", gamma, j.channels) ||
      !check_vector(&j, "beta", beta, j.channels))
    return (pop_tensor){graph->top, 0};
  pop_tensor scaled = operate(&j, POP_BINARY_MULTIPLY, by_sets(&j, whitened), for_sets(gamma));
  scaled = pop_popops_binary(graph, POP_BINARY_ADD, scaled, for_sets(beta), scaled, sequence, name);
  return from_sets(&j, scaled, whitened);
}

/* ---- back ---- */

pop_tensor pop_popnn_norm_parameter_gradients(pop_graph *graph, pop_norm norm, pop_tensor whitened,
                                              pop_tensor gradient, pop_tensor *beta_gradient,
                                              pop_program sequence, const char *name)
{
  GRAPH_TURN(graph);
  if (!graph_lives(graph, __func__)) return (pop_tensor){0};
  poplibs_log(__func__, name, (const pop_tensor[]){whitened, gradient}, 2);
  pop_tensor none = {graph->top, 0};
  job j = {graph, __func__, name, sequence, .norm = {.half_sums = norm.half_sums}};
  if (beta_gradient) *beta_gradient = none;
  if (!start(&j, whitened) || !check_alike(&j, "the gradient", gradient, whitened)) return none;
  pop_tensor g = by_sets(&j, to_sum(&j, gradient));
  pop_tensor x = by_sets(&j, to_sum(&j, whitened));
  pop_tensor beta = as(&j, j.type, sum_of_sets(&j, POP_REDUCE_ADD, g, 1));
  pop_tensor product = operate(&j, POP_BINARY_MULTIPLY, g, x);
  pop_tensor gamma = as(&j, j.type, sum_of_sets(&j, POP_REDUCE_ADD, product, 1));
  if (pop_graph_error(graph)) return none;
  if (beta_gradient) *beta_gradient = beta;
  return gamma;
}

/* The gradient of the whitened activations, in the type of sums: times gamma, if there is a
 * gamma. */
static pop_tensor gradient_of_whitened(const job *j, pop_tensor gradient, pop_tensor gamma)
{
  if (!gamma.index) return to_sum(j, gradient);
  job channels = *j;
  channels.norm = by_channel;
  pop_tensor g = operate(j, POP_BINARY_MULTIPLY, by_sets(&channels, to_sum(j, gradient)),
                         for_sets(to_sum(j, gamma)));
  return from_sets(&channels, g, gradient);
}

/* The gradient is (g - mean(g) - x * mean(g * x)) * inverse deviation, where g = gradient *
 * gamma, x is the whitened activations, and means are over the set. */
pop_tensor pop_popnn_norm_gradient(pop_graph *graph, pop_norm norm, pop_tensor whitened,
                                   pop_tensor gradient, pop_tensor inverse_deviation,
                                   pop_tensor gamma, pop_program sequence, const char *name)
{
  GRAPH_TURN(graph);
  if (!graph_lives(graph, __func__)) return (pop_tensor){0};
  poplibs_log(__func__, name, (const pop_tensor[]){whitened, gradient, inverse_deviation, gamma},
              4);
  pop_tensor none = {graph->top, 0};
  job j = {graph, __func__, name, sequence, .norm = norm};
  if (!start(&j, whitened) || !check_alike(&j, "the gradient", gradient, whitened) ||
      !check_vector(&j, "the inverse deviation", inverse_deviation, num_sets(&j)) ||
      (gamma.index && !check_vector(&j, "gamma", gamma, j.channels)))
    return none;
  pop_tensor g = by_sets(&j, gradient_of_whitened(&j, gradient, gamma));
  pop_tensor x = by_sets(&j, to_sum(&j, whitened));
  double n = (double)elements_of_set(&j);
  pop_tensor product = operate(&j, POP_BINARY_MULTIPLY, g, x);
  pop_tensor means[] = {sum_of_sets(&j, POP_REDUCE_ADD, g, n),
                        sum_of_sets(&j, POP_REDUCE_ADD, product, n)};
  add_over_replicas(&j, means, 2);
  const pop_expr_node result[] = {{.kind = POP_EXPR_TENSOR, .tensor = 0},
                                  {.kind = POP_EXPR_TENSOR, .tensor = 1},
                                  {.kind = POP_EXPR_BINARY, .op = POP_BINARY_SUBTRACT},
                                  {.kind = POP_EXPR_TENSOR, .tensor = 2},
                                  {.kind = POP_EXPR_TENSOR, .tensor = 3},
                                  {.kind = POP_EXPR_BINARY, .op = POP_BINARY_MULTIPLY},
                                  {.kind = POP_EXPR_BINARY, .op = POP_BINARY_SUBTRACT},
                                  {.kind = POP_EXPR_TENSOR, .tensor = 4},
                                  {.kind = POP_EXPR_BINARY, .op = POP_BINARY_MULTIPLY}};
  const pop_tensor of[] = {g, for_sets(means[0]), x, for_sets(means[1]),
                           for_sets(to_sum(&j, inverse_deviation))};
  pop_tensor flowed = pop_popops_map(graph, result, sizeof result / sizeof *result, of,
                                     sizeof of / sizeof *of, none, sequence, name);
  return from_sets(&j, as(&j, j.type, flowed), whitened);
}
