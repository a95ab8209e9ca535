/* Random convolutions against loops over integers, which are the same for all orders of additions:
 * fields of one to three dimensions, groups, strides, dilations, padding of both signs, flipped
 * kernels, halves. */
#include "support/expect.h"
#include "support/graph_test.h"
#include "support/random.h"

#include <populus/engine.h>
#include <populus/poplin.h>
#include <populus/popops.h>
#include <stdlib.h>

TestSuite(convolution, .init = enter_fresh_folder);

typedef struct problem {
  pop_conv_params params;
  size_t batch, channels, out_channels; /* of a group */
  size_t field[3], kernel[3], out[3];   /* missing dimensions: 1 */
  pop_type type;
} problem;

static size_t out_size(const pop_conv_dim *f, size_t field, size_t kernel)
{
  int64_t size =
      (int64_t)((field - 1) * f->input_dilation + 1) + f->padding_lower + f->padding_upper;
  int64_t window = (int64_t)((kernel - 1) * f->kernel_dilation + 1);
  return size < window ? 0 : (size_t)(size - window) / f->stride + 1;
}

static float value_of(size_t i)
{
  return (float)(i * 7 % 5) - 2;
}

/* The input's element for a position with dilation and padding. False: a zero. */
static bool input_place(const pop_conv_dim *f, size_t field, int64_t at, size_t *place)
{
  at -= f->padding_lower;
  if (at < 0 || at % (int64_t)f->input_dilation) return false;
  *place = (size_t)at / f->input_dilation;
  return *place < field;
}

static float expected(const problem *p, size_t b, size_t channel, const size_t out[3])
{
  const pop_conv_params *c = &p->params;
  size_t group = channel / p->out_channels, all = p->channels * c->groups;
  float sum = 0;
  for (size_t i = 0; i < p->channels; i++)
    for (size_t w = 0; w < p->kernel[0] * p->kernel[1] * p->kernel[2]; w++) {
      size_t k[3] = {w / p->kernel[2] / p->kernel[1], w / p->kernel[2] % p->kernel[1],
                     w % p->kernel[2]};
      size_t at = b * all + group * p->channels + i, weight = channel * p->channels + i;
      bool inside = true;
      for (size_t d = 0; d < 3 && inside; d++) {
        const pop_conv_dim *f = &c->field[d];
        size_t place = 0;
        inside = input_place(f, p->field[d],
                             (int64_t)(out[d] * f->stride + k[d] * f->kernel_dilation), &place);
        at = at * p->field[d] + place;
        weight = weight * p->kernel[d] + (f->flip_kernel ? p->kernel[d] - 1 - k[d] : k[d]);
      }
      if (inside) sum += value_of(at) * value_of(weight);
    }
  return sum;
}

static pop_tensor add_values(pop_graph *graph, pop_type type, const size_t *shape, size_t rank)
{
  size_t count = 1;
  for (size_t d = 0; d < rank; d++) count *= shape[d];
  float *floats = pop_xcalloc(count, sizeof *floats);
  uint16_t *halves = pop_xcalloc(count, sizeof *halves);
  for (size_t i = 0; i < count; i++) halves[i] = pop_half_from_float(floats[i] = value_of(i));
  pop_tensor t = pop_graph_add_variable(graph, type, shape, rank, "t");
  pop_graph_map_linearly(graph, t, 0, 0);
  pop_graph_set_initial_value(graph, t, type == POP_HALF ? (void *)halves : (void *)floats);
  free(floats);
  free(halves);
  return t;
}

static void check_values(const problem *p, const void *data)
{
  size_t at = 0, out[3];
  for (size_t b = 0; b < p->batch; b++)
    for (size_t c = 0; c < p->params.groups * p->out_channels; c++)
      for (out[0] = 0; out[0] < p->out[0]; out[0]++)
        for (out[1] = 0; out[1] < p->out[1]; out[1]++)
          for (out[2] = 0; out[2] < p->out[2]; out[2]++, at++) {
            float is = p->type == POP_HALF ? pop_half_to_float(((const uint16_t *)data)[at])
                                           : ((const float *)data)[at];
            float want = expected(p, b, c, out);
            cr_assert_eq(is, want, "[%zu,%zu,%zu,%zu,%zu] is %g, not %g", b, c, out[0], out[1],
                         out[2], (double)is, (double)want);
          }
}

static void check_problem(const problem *p)
{
  pop_graph *graph = new_graph_with_tiles(13);
  pop_popops_add_codelets(graph);
  pop_poplin_add_codelets(graph);
  size_t fields = p->params.num_field_dims, groups = p->params.groups;
  size_t in[5] = {p->batch, groups * p->channels},
         weights[6] = {groups, p->out_channels, p->channels};
  for (size_t d = 0; d < fields; d++) {
    in[d + 2] = p->field[d];
    weights[d + 3] = p->kernel[d];
  }
  pop_program main = pop_program_sequence(graph, "main");
  pop_mat_mul_options options = pop_mat_mul_default_options(p->type);
  pop_tensor result = pop_poplin_convolution(graph, add_values(graph, p->type, in, fields + 2),
                                             add_values(graph, p->type, weights, fields + 3),
                                             &p->params, &options, main, "convolution");
  pop_graph_create_host_read(graph, "out", result);
  assert_no_error(graph);
  size_t bytes = pop_tensor_num_elements(result) * pop_type_bytes(p->type);
  cr_assert_eq(pop_tensor_rank(result), fields + 2);
  void *data = pop_xcalloc(bytes, 1);
  pop_engine *engine;
  expect_ok(pop_engine_create(graph, &main, 1, NULL, 0, &engine));
  expect_ok(pop_engine_load(engine));
  expect_ok(pop_engine_run(engine, 0));
  expect_ok(pop_engine_read_tensor(engine, "out", data, bytes));
  check_values(p, data);
  pop_engine_free(engine);
  free(data);
  pop_graph_free(graph);
}

static problem random_problem(uint64_t *r)
{
  problem p = {.params = pop_conv_default_params(1 + random_below(r, 3)),
               .batch = 1 + random_below(r, 3),
               .channels = 1 + random_below(r, 4),
               .out_channels = 1 + random_below(r, 5),
               .field = {1, 1, 1},
               .kernel = {1, 1, 1},
               .out = {1, 1, 1},
               .type = random_below(r, 4) ? POP_FLOAT : POP_HALF};
  p.params.groups = 1 + random_below(r, 2);
  for (size_t d = 0; d < p.params.num_field_dims; d++) {
    pop_conv_dim *f = &p.params.field[d];
    do {
      p.field[d] = 1 + random_below(r, 7);
      p.kernel[d] = 1 + random_below(r, 5);
      *f = (pop_conv_dim){.stride = 1 + random_below(r, 3),
                          .input_dilation = 1 + random_below(r, 2),
                          .kernel_dilation = 1 + random_below(r, 2),
                          .padding_lower = (int64_t)random_below(r, 5) - 1,
                          .padding_upper = (int64_t)random_below(r, 5) - 1,
                          .flip_kernel = random_below(r, 2)};
      p.out[d] = out_size(f, p.field[d], p.kernel[d]);
    } while (p.out[d] == 0);
  }
  return p;
}

Test(convolution, convolutions_of_all_kinds_are_exact)
{
  uint64_t r = 7;
  for (int i = 0; i < 30; i++) {
    problem p = random_problem(&r);
    check_problem(&p);
  }
}

/* ---- gradients ---- */

/* The terms of a convolution's sums, one product after the other. */
typedef struct term {
  size_t out, in, weight; /* elements */
} term;

/* Term `w` of the result's element `out`. False: a zero. */
static bool term_of(const problem *p, size_t out, size_t w, term *t)
{
  const pop_conv_params *c = &p->params;
  size_t kernel = p->kernel[0] * p->kernel[1] * p->kernel[2], i = w / kernel, place[3], k[3];
  size_t rest = out, last = w % kernel;
  for (size_t d = 3; d-- > 0; rest /= p->out[d], last /= p->kernel[d]) {
    place[d] = rest % p->out[d];
    k[d] = last % p->kernel[d];
  }
  size_t channel = rest % (c->groups * p->out_channels), b = rest / (c->groups * p->out_channels);
  *t = (term){out, (b * c->groups + channel / p->out_channels) * p->channels + i,
              channel * p->channels + i};
  for (size_t d = 0; d < 3; d++) {
    const pop_conv_dim *f = &c->field[d];
    size_t at = 0;
    if (!input_place(f, p->field[d], (int64_t)(place[d] * f->stride + k[d] * f->kernel_dilation),
                     &at))
      return false;
    t->in = t->in * p->field[d] + at;
    t->weight = t->weight * p->kernel[d] + (f->flip_kernel ? p->kernel[d] - 1 - k[d] : k[d]);
  }
  return true;
}

static size_t count_of(const size_t *shape, size_t rank)
{
  size_t count = 1;
  for (size_t d = 0; d < rank; d++) count *= shape[d];
  return count;
}

static void check_gradients(const problem *p)
{
  pop_graph *graph = new_graph_with_tiles(13);
  pop_popops_add_codelets(graph);
  pop_poplin_add_codelets(graph);
  size_t fields = p->params.num_field_dims, groups = p->params.groups;
  size_t in[5] = {p->batch, groups * p->channels},
         weights[6] = {groups, p->out_channels, p->channels};
  size_t out[5] = {p->batch, groups * p->out_channels};
  for (size_t d = 0; d < fields; d++) {
    in[d + 2] = p->field[d];
    weights[d + 3] = p->kernel[d];
    out[d + 2] = p->out[d];
  }
  pop_program main = pop_program_sequence(graph, "main");
  pop_mat_mul_options options = pop_mat_mul_default_options(POP_FLOAT);
  pop_tensor deltas = add_values(graph, POP_FLOAT, out, fields + 2);
  pop_tensor of_in = pop_poplin_convolution_input_deltas(
      graph, deltas, add_values(graph, POP_FLOAT, weights, fields + 3), p->field, &p->params,
      &options, main, "in");
  pop_tensor of_weights = pop_poplin_convolution_weight_deltas(
      graph, deltas, add_values(graph, POP_FLOAT, in, fields + 2), p->kernel, &p->params, &options,
      main, "weights");
  assert_no_error(graph);
  size_t counts[2] = {count_of(in, fields + 2), count_of(weights, fields + 3)};
  cr_assert_eq(pop_tensor_num_elements(of_in), counts[0]);
  cr_assert_eq(pop_tensor_num_elements(of_weights), counts[1]);
  pop_graph_create_host_read(graph, "in", of_in);
  pop_graph_create_host_read(graph, "weights", of_weights);
  float *want[2], *is[2];
  for (int i = 0; i < 2; i++) {
    want[i] = pop_xcalloc(counts[i], sizeof *want[i]);
    is[i] = pop_xcalloc(counts[i], sizeof *is[i]);
  }
  size_t products = p->channels * p->kernel[0] * p->kernel[1] * p->kernel[2];
  for (size_t o = 0; o < count_of(out, fields + 2); o++)
    for (size_t w = 0; w < products; w++) {
      term t;
      if (!term_of(p, o, w, &t)) continue;
      want[0][t.in] += value_of(o) * value_of(t.weight);
      want[1][t.weight] += value_of(o) * value_of(t.in);
    }
  pop_engine *engine;
  expect_ok(pop_engine_create(graph, &main, 1, NULL, 0, &engine));
  expect_ok(pop_engine_load(engine));
  expect_ok(pop_engine_run(engine, 0));
  expect_ok(pop_engine_read_tensor(engine, "in", is[0], counts[0] * sizeof(float)));
  expect_ok(pop_engine_read_tensor(engine, "weights", is[1], counts[1] * sizeof(float)));
  for (int i = 0; i < 2; i++) {
    for (size_t k = 0; k < counts[i]; k++)
      cr_assert_eq(is[i][k], want[i][k], "%s [%zu] is %g, not %g", i ? "weights" : "in", k,
                   (double)is[i][k], (double)want[i][k]);
    free(want[i]);
    free(is[i]);
  }
  pop_engine_free(engine);
  pop_graph_free(graph);
}

Test(convolution, gradients_are_exact)
{
  uint64_t r = 11;
  for (int i = 0; i < 20; i++) {
    problem p = random_problem(&r);
    check_gradients(&p);
  }
}

/* ---- mistakes ---- */

static void convolve(pop_graph *graph, const size_t in[3], const size_t weights[4],
                     const pop_conv_params *params)
{
  pop_popops_add_codelets(graph);
  pop_poplin_add_codelets(graph);
  pop_mat_mul_options options = pop_mat_mul_default_options(POP_FLOAT);
  pop_poplin_convolution(graph, add_values(graph, POP_FLOAT, in, 3),
                         add_values(graph, POP_FLOAT, weights, 4), params, &options,
                         pop_program_sequence(graph, "main"), "convolution");
}

static void large_kernel(pop_graph *graph)
{
  pop_conv_params p = pop_conv_default_params(1);
  convolve(graph, (size_t[]){1, 1, 3}, (size_t[]){1, 1, 1, 4}, &p);
}

static void no_kernel(pop_graph *graph)
{
  pop_conv_params p = pop_conv_default_params(1);
  convolve(graph, (size_t[]){1, 1, 3}, (size_t[]){1, 1, 1, 0}, &p);
}

static void other_groups(pop_graph *graph)
{
  pop_conv_params p = pop_conv_default_params(1);
  p.groups = 2;
  convolve(graph, (size_t[]){1, 2, 3}, (size_t[]){1, 1, 2, 2}, &p);
}

static void no_stride(pop_graph *graph)
{
  pop_conv_params p = pop_conv_default_params(1);
  p.field[0].stride = 0;
  convolve(graph, (size_t[]){1, 2, 3}, (size_t[]){1, 1, 2, 2}, &p);
}

static void other_rank(pop_graph *graph)
{
  pop_conv_params p = pop_conv_default_params(2);
  convolve(graph, (size_t[]){1, 2, 3}, (size_t[]){1, 1, 2, 2}, &p);
}

/* Sums of these do not fit 64 bits. */
static void far_padding(pop_graph *graph)
{
  pop_conv_params p = pop_conv_default_params(1);
  p.field[0].padding_lower = p.field[0].padding_upper = INT64_MAX;
  convolve(graph, (size_t[]){1, 1, 3}, (size_t[]){1, 1, 1, 2}, &p);
}

static void far_cropping(pop_graph *graph)
{
  pop_conv_params p = pop_conv_default_params(1);
  p.field[0].padding_lower = INT64_MIN;
  p.field[0].padding_upper = INT64_MAX;
  convolve(graph, (size_t[]){1, 1, 3}, (size_t[]){1, 1, 1, 2}, &p);
}

static void far_dilation(pop_graph *graph)
{
  pop_conv_params p = pop_conv_default_params(1);
  p.field[0].input_dilation = SIZE_MAX / 2 + 2; /* twice this is 2 */
  convolve(graph, (size_t[]){1, 1, 3}, (size_t[]){1, 1, 1, 2}, &p);
}

static void far_padding_of_gradient(pop_graph *graph)
{
  pop_conv_params p = pop_conv_default_params(1);
  pop_mat_mul_options options = pop_mat_mul_default_options(POP_FLOAT);
  p.field[0].padding_lower = INT64_MIN;
  pop_popops_add_codelets(graph);
  pop_poplin_add_codelets(graph);
  pop_poplin_convolution_input_deltas(graph, add_values(graph, POP_FLOAT, (size_t[]){1, 1, 2}, 3),
                                      add_values(graph, POP_FLOAT, (size_t[]){1, 1, 1, 2}, 4),
                                      (size_t[]){3}, &p, &options,
                                      pop_program_sequence(graph, "main"), "deltas");
}

Test(convolution, shapes_and_parameters_that_do_not_go_together)
{
  static const bad_call cases[] = {
      {large_kernel, POP_ERROR_TENSOR, {"pop_poplin_convolution", "smaller than the kernel", "0"}},
      {no_kernel, POP_ERROR_TENSOR, {"the kernel has no elements in dimension 0"}},
      {other_groups, POP_ERROR_TENSOR, {"groups: 2"}},
      {no_stride, POP_ERROR_INVALID_ARGUMENT, {"at least 1", "dimension 0"}},
      {other_rank, POP_ERROR_TENSOR, {"{1,2,3}", "{1,1,2,2}", "2 dimensions"}},
      {far_padding, POP_ERROR_INVALID_ARGUMENT, {"paddings", "1073741824", "dimension 0"}},
      {far_cropping, POP_ERROR_INVALID_ARGUMENT, {"paddings", "dimension 0"}},
      {far_dilation, POP_ERROR_INVALID_ARGUMENT, {"dilations", "dimension 0"}},
      {far_padding_of_gradient,
       POP_ERROR_INVALID_ARGUMENT,
       {"pop_poplin_convolution_input_deltas", "paddings", "dimension 0"}},
  };
  assert_bad_calls(cases, sizeof cases / sizeof *cases);
}
