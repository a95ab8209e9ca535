/* Pooling and its gradients against plain loops of the host: fields of one to three dimensions,
 * padding, truncated elements, windows that overlap, leave gaps or contain only padding, few planes
 * and many, both types. */
#include "support/expect.h"
#include "support/graph_test.h"
#include "support/random.h"

#include <math.h>
#include <populus/engine.h>
#include <populus/popnn.h>
#include <populus/popnn_pooling.h>
#include <populus/popops.h>

TestSuite(pooling, .init = enter_fresh_folder);

enum { MOST = 3000 };

typedef struct pooling_case {
  pop_pooling pooling;
  size_t batch, channels;
} pooling_case;

static const pooling_case cases[] = {
    /* 2 x 2 without overlap: more planes than workers, and fewer */
    {{.num_dims = 2, .dims = {{6, 2, 2, 0, 0}, {8, 2, 2, 0, 0}}}, 4, 13},
    {{.num_dims = 2, .dims = {{24, 2, 2, 0, 0}, {8, 2, 2, 0, 0}}}, 1, 2},
    /* 3 x 3 that overlap, with padding, as ResNet's */
    {{.num_dims = 2, .dims = {{11, 3, 2, 1, 1}, {9, 3, 2, 1, 0}}}, 2, 3},
    /* one dimension: gaps, and a beginning that is cut off */
    {{.num_dims = 1, .dims = {{50, 2, 5, -3, -1}}}, 1, 4},
    /* so much padding that the first and last windows have no element */
    {{.num_dims = 1, .dims = {{5, 2, 1, 4, 3}}}, 2, 2},
    {{.num_dims = 3, .dims = {{4, 2, 1, 0, 1}, {5, 3, 2, 1, 1}, {3, 3, 1, 2, 2}}}, 1, 2},
    /* the whole field */
    {{.num_dims = 2, .dims = {{7, 7, 7, 0, 0}, {5, 5, 5, 0, 0}}}, 2, 5},
};

static size_t sizes_of(const pooling_case *p, bool input, size_t shape[5])
{
  size_t all = p->batch * p->channels;
  shape[0] = p->batch;
  shape[1] = p->channels;
  for (size_t i = 0; i < p->pooling.num_dims; i++) {
    const pop_pooling_dim *d = &p->pooling.dims[i];
    all *= shape[2 + i] = input ? d->input : pop_pooling_output_size(d);
  }
  cr_assert_leq(all, MOST);
  return all;
}

/* The position of element `i` of a shape. */
static void split(size_t i, const size_t *shape, size_t rank, size_t *at)
{
  for (size_t d = rank; d-- > 0; i /= shape[d]) at[d] = i % shape[d];
}

/* Whether the input's element is in the output's window. */
static bool is_in(const pooling_case *p, const size_t *element, const size_t *window)
{
  bool in = element[0] == window[0] && element[1] == window[1];
  for (size_t i = 0; i < p->pooling.num_dims; i++) {
    const pop_pooling_dim *d = &p->pooling.dims[i];
    int64_t begin = (int64_t)(window[2 + i] * d->stride) - d->padding_lower;
    int64_t at = (int64_t)element[2 + i];
    in = in && at >= begin && at < begin + (int64_t)d->kernel;
  }
  return in;
}

/* The result of each window; or the gradient of the activations if `gradient` is that of
 * the windows' results. */
static void host_pooling(const pooling_case *p, const float *in, const float *gradient, bool shared,
                         float *out, float *back)
{
  size_t in_shape[5], out_shape[5], rank = 2 + p->pooling.num_dims;
  size_t element[5] = {0}, window[5] = {0};
  size_t num_in = sizes_of(p, true, in_shape), num_out = sizes_of(p, false, out_shape);
  memset(back, 0, num_in * sizeof *back);
  for (size_t o = 0; o < num_out; o++) {
    float sum = 0, largest = -INFINITY;
    unsigned count = 0, ties = 0;
    split(o, out_shape, rank, window);
    for (size_t i = 0; i < num_in; i++) {
      split(i, in_shape, rank, element);
      if (!is_in(p, element, window)) continue;
      count++;
      sum += in[i];
      ties = in[i] > largest ? 1 : ties + (in[i] == largest);
      largest = fmaxf(largest, in[i]);
    }
    bool max = p->pooling.kind == POP_POOLING_MAX;
    float parts = max ? (shared ? (float)ties : 1)
                      : (p->pooling.kind == POP_POOLING_AVERAGE ? (float)count : 1);
    out[o] = count == 0 ? 0 : max ? largest : sum / parts;
    for (size_t i = 0; i < num_in; i++) {
      split(i, in_shape, rank, element);
      if (is_in(p, element, window) && (!max || in[i] == largest)) back[i] += gradient[o] / parts;
    }
  }
}

static pop_tensor add_values(pop_graph *graph, pop_type type, const float *values,
                             const size_t *shape, size_t rank)
{
  uint16_t halves[MOST];
  pop_tensor t = pop_graph_add_variable(graph, type, shape, rank, "t");
  for (size_t i = 0; i < pop_tensor_num_elements(t); i++)
    halves[i] = pop_half_from_float(values[i]);
  pop_graph_map_linearly(graph, t, 0, 0);
  pop_graph_set_initial_value(graph, t,
                              type == POP_HALF ? (const void *)halves : (const void *)values);
  return t;
}

static void compare(pop_engine *engine, const char *handle, pop_type type, const float *want,
                    size_t count, const char *what)
{
  float floats[MOST];
  uint16_t halves[MOST];
  bool half = type == POP_HALF;
  expect_ok(pop_engine_read_tensor(engine, handle, half ? (void *)halves : (void *)floats,
                                   count * (half ? 2 : 4)));
  for (size_t i = 0; i < count; i++) {
    float is = half ? pop_half_to_float(halves[i]) : floats[i];
    cr_assert(fabsf(is - want[i]) <= (half ? 2e-3f : 1e-6f) * (1 + fabsf(want[i])),
              "%s, %s of %s, element %zu: %g, not %g", what, handle, pop_type_name(type), i, is,
              want[i]);
  }
}

static void check_pooling(const pooling_case *p, pop_type type, bool shared, const char *what)
{
  static float in[MOST], gradient[MOST], out[MOST], back[MOST];
  size_t in_shape[5], out_shape[5], rank = 2 + p->pooling.num_dims;
  size_t num_in = sizes_of(p, true, in_shape), num_out = sizes_of(p, false, out_shape);
  uint64_t r = num_in;
  for (size_t i = 0; i < num_in; i++) in[i] = (float)random_below(&r, 9) / 4 - 1; /* with ties */
  for (size_t i = 0; i < num_out; i++) gradient[i] = (float)random_below(&r, 33) / 4 - 4;
  host_pooling(p, in, gradient, shared, out, back);

  pop_graph *graph = new_graph_with_tiles(5);
  pop_popops_add_codelets(graph);
  pop_popnn_add_codelets(graph);
  pop_program main = pop_program_sequence(graph, "main");
  pop_tensor x = add_values(graph, type, in, in_shape, rank);
  pop_tensor pooled = pop_popnn_pool(graph, &p->pooling, x, main, "pool");
  pop_tensor g = add_values(graph, type, gradient, out_shape, rank), none = {0};
  bool max = p->pooling.kind == POP_POOLING_MAX;
  pop_tensor flowed = pop_popnn_pool_gradient(graph, &p->pooling, max ? x : none,
                                              max ? pooled : none, g, shared, main, "back");
  pop_graph_create_host_read(graph, "pooled", pooled);
  pop_graph_create_host_read(graph, "gradient", flowed);
  assert_no_error(graph);
  cr_assert_eq(pop_tensor_rank(flowed), rank);
  for (size_t d = 0; d < rank; d++) {
    cr_assert_eq(pop_tensor_dim(pooled, d), out_shape[d]);
    cr_assert_eq(pop_tensor_dim(flowed, d), in_shape[d]);
  }
  pop_engine *engine;
  expect_ok(pop_engine_create(graph, &main, 1, NULL, 0, &engine));
  expect_ok(pop_engine_load(engine));
  expect_ok(pop_engine_run(engine, 0));
  compare(engine, "pooled", type, out, num_out, what);
  compare(engine, "gradient", type, back, num_in, what);
  pop_engine_free(engine);
  pop_graph_free(graph);
}

static void check_kind(pop_pooling_kind kind, bool shared)
{
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char what[64];
    pooling_case p = cases[i];
    p.pooling.kind = kind;
    snprintf(what, sizeof what, "case %zu, kind %d", i, (int)kind);
    check_pooling(&p, i % 2 ? POP_HALF : POP_FLOAT, shared, what);
  }
  pooling_case p = cases[2]; /* in the other type */
  p.pooling.kind = kind;
  check_pooling(&p, POP_HALF, shared, "case 2 of halves");
}

Test(pooling, largest_elements_and_gradients_to_all_of_them)
{
  check_kind(POP_POOLING_MAX, false);
}

Test(pooling, largest_elements_and_gradients_shared)
{
  check_kind(POP_POOLING_MAX, true);
}

Test(pooling, averages)
{
  check_kind(POP_POOLING_AVERAGE, false);
}

Test(pooling, sums)
{
  check_kind(POP_POOLING_SUM, false);
}

/* ---- mistakes ---- */

static const size_t image[] = {1, 2, 6, 6}, pooled_image[] = {1, 2, 3, 3};
static const pop_pooling of_image = {.num_dims = 2, .dims = {{6, 2, 2, 0, 0}, {6, 2, 2, 0, 0}}};

static void pool_of(pop_graph *graph, pop_pooling pooling, pop_type type, const size_t *shape)
{
  pop_popops_add_codelets(graph);
  pop_popnn_add_codelets(graph);
  pop_tensor t = pop_graph_add_variable(graph, type, shape, 4, "t");
  pop_graph_map_linearly(graph, t, 0, 0);
  pop_popnn_pool(graph, &pooling, t, pop_program_sequence(graph, "main"), "pool");
}

static void kernel_too_large(pop_graph *graph)
{
  pop_pooling p = of_image;
  p.dims[1].kernel = 7;
  pool_of(graph, p, POP_FLOAT, image);
}

static void no_stride(pop_graph *graph)
{
  pop_pooling p = of_image;
  p.dims[0].stride = 0;
  pool_of(graph, p, POP_FLOAT, image);
}

static void far_too_much_padding(pop_graph *graph)
{
  pop_pooling p = of_image;
  p.dims[0].padding_lower = INT64_MAX;
  pool_of(graph, p, POP_FLOAT, image);
}

static void four_dimensions(pop_graph *graph)
{
  pop_pooling p = of_image;
  p.num_dims = 4;
  pool_of(graph, p, POP_FLOAT, image);
}

static void another_field(pop_graph *graph)
{
  pool_of(graph, of_image, POP_FLOAT, pooled_image);
}

static void integers(pop_graph *graph)
{
  pool_of(graph, of_image, POP_INT, image);
}

static void gradient_of_another_type(pop_graph *graph)
{
  pop_popops_add_codelets(graph);
  pop_popnn_add_codelets(graph);
  pop_tensor in = pop_graph_add_variable(graph, POP_FLOAT, image, 4, "in");
  pop_tensor out = pop_graph_add_variable(graph, POP_FLOAT, pooled_image, 4, "out");
  pop_tensor gradient = pop_graph_add_variable(graph, POP_HALF, pooled_image, 4, "gradient");
  pop_popnn_pool_gradient(graph, &of_image, in, out, gradient, false,
                          pop_program_sequence(graph, "main"), "back");
}

Test(pooling, what_does_not_go_together)
{
  static const bad_call wrong[] = {
      {kernel_too_large, POP_ERROR_INVALID_ARGUMENT, {"pop_popnn_pool", "dimension 1", "7"}},
      {no_stride, POP_ERROR_INVALID_ARGUMENT, {"dimension 0", "0 apart"}},
      {far_too_much_padding, POP_ERROR_INVALID_ARGUMENT, {"dimension 0", "1048576"}},
      {four_dimensions, POP_ERROR_INVALID_ARGUMENT, {"4 dimensions", "1 to 3"}},
      {another_field, POP_ERROR_TENSOR, {"{1,2,3,3}", "input"}},
      {integers, POP_ERROR_TYPE, {"pooling", "int"}},
      {gradient_of_another_type, POP_ERROR_TYPE, {"pop_popnn_pool_gradient", "half", "float"}},
  };
  assert_bad_calls(wrong, sizeof wrong / sizeof *wrong);
}
