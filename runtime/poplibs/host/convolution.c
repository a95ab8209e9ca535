/* Convolutions: populus/poplin.h. Each is a matrix product, planned as such (matmul.c). Its rows
 * are the positions of the result, its columns the result's channels, and k is all that is
 * summed over:
 *
 *     [groups, batch * places, channels * kernel]  x  [groups, channels * kernel, channels of the result]
 *
 * The left matrix is a view of the input (im2col), which repeats elements as often as they are
 * needed. Only what is sent to tiles exists in memory. Padding and dilation by zeros are the
 * exception: they need a variable, to which the input is copied. The view is concatenated from
 * one slice for each position of the kernel. If the result has fewer positions than the kernel,
 * as in weight gradients, it has one slice for each position of the result instead. */
#include "graph/graph.h"
#include "poplibs/host/matmul.h"
#include "poplibs/host/spread.h"

#include <populus/popops.h>
#include <stdlib.h>

typedef pop_conv_dim conv_dim;

typedef struct convolution {
  pop_graph *graph;
  const char *call, *name;
  const pop_conv_params *params;
  size_t fields, batch, groups, in_channels, out_channels;
  size_t kernel[POP_CONV_MAX_DIMS], padded[POP_CONV_MAX_DIMS], out[POP_CONV_MAX_DIMS];
  size_t num_kernel, num_out; /* positions */
  pop_program sequence;
} convolution;

enum { MOST_RANK = POP_CONV_MAX_DIMS + 3 };

pop_conv_params pop_conv_default_params(size_t num_field_dims)
{
  pop_conv_params p = {.num_field_dims = num_field_dims, .groups = 1};
  for (size_t d = 0; d < POP_CONV_MAX_DIMS; d++)
    p.field[d] = (conv_dim){.stride = 1, .input_dilation = 1, .kernel_dilation = 1};
  return p;
}

/* ---- checks ---- */

static bool refuse(const convolution *c, pop_error_code code, const char *what, size_t value)
{
  poplibs_fail(c->graph, code, "%s: %s %zu", c->call, what, value);
  return false;
}

/* With sizes up to this, no sum or product of two overflows 64 bits. */
enum { MOST = POP_CONV_MAX_SIZE };

/* Are the numbers of dimension `d`, and the field's and the kernel's sizes, in their ranges? */
static bool check_dim(const convolution *c, size_t d, size_t field, size_t kernel)
{
  const conv_dim *f = &c->params->field[d];
  if (!f->stride || !f->input_dilation || !f->kernel_dilation)
    return refuse(c, POP_ERROR_INVALID_ARGUMENT,
                  "strides and dilations are at least 1; not so in dimension", d);
  if (f->stride <= MOST && f->input_dilation <= MOST && f->kernel_dilation <= MOST &&
      field <= MOST && kernel <= MOST && f->padding_lower >= -MOST && f->padding_lower <= MOST &&
      f->padding_upper >= -MOST && f->padding_upper <= MOST)
    return true;
  poplibs_fail(c->graph, POP_ERROR_INVALID_ARGUMENT,
               "%s: sizes, strides, dilations and paddings are at most %d; not so in dimension %zu",
               c->call, MOST, d);
  return false;
}

static bool check_params(const convolution *c, pop_tensor in, pop_tensor weights)
{
  const pop_conv_params *p = c->params;
  if (pop_graph_error(c->graph)) return false;
  if (!p) {
    poplibs_fail(c->graph, POP_ERROR_INVALID_ARGUMENT, "%s: there are no parameters", c->call);
    return false;
  }
  if (p->num_field_dims > POP_CONV_MAX_DIMS)
    return refuse(c, POP_ERROR_INVALID_ARGUMENT, "at most 6 dimensions of the field, not",
                  p->num_field_dims);
  if (pop_tensor_rank(in) != p->num_field_dims + 2 ||
      pop_tensor_rank(weights) != p->num_field_dims + 3) {
    char shapes[2][96];
    pop_tensor_shape_string(in, shapes[0], sizeof shapes[0]);
    pop_tensor_shape_string(weights, shapes[1], sizeof shapes[1]);
    poplibs_fail(c->graph, POP_ERROR_TENSOR,
                 "%s: an input of shape %s, weights of shape %s; {batch,channels,field…} and "
                 "{groups,channels of the result,channels,kernel…} of %zu dimensions are needed",
                 c->call, shapes[0], shapes[1], p->num_field_dims);
    return false;
  }
  if (p->groups == 0 || pop_tensor_dim(weights, 0) != p->groups ||
      pop_tensor_dim(in, 1) != p->groups * pop_tensor_dim(weights, 2))
    return refuse(
        c, POP_ERROR_TENSOR,
        "groups of the weights, and channels of the input for each, must be as many as the "
        "parameters say: groups:",
        p->groups);
  for (size_t d = 0; d < p->num_field_dims; d++)
    if (!check_dim(c, d, pop_tensor_dim(in, d + 2), pop_tensor_dim(weights, d + 3))) return false;
  return true;
}

/* The size with `dilation - 1` zeros between elements. */
static size_t dilated(size_t size, size_t dilation)
{
  return size ? (size - 1) * dilation + 1 : 0;
}

static bool find_sizes(convolution *c, pop_tensor in, pop_tensor weights)
{
  const pop_conv_params *p = c->params;
  c->fields = p->num_field_dims;
  c->batch = pop_tensor_dim(in, 0);
  c->groups = p->groups;
  c->out_channels = pop_tensor_dim(weights, 1);
  c->in_channels = pop_tensor_dim(weights, 2);
  c->num_kernel = c->num_out = 1;
  for (size_t d = 0; d < c->fields; d++) {
    const conv_dim *f = &p->field[d];
    int64_t size = (int64_t)dilated(pop_tensor_dim(in, d + 2), f->input_dilation) +
                   f->padding_lower + f->padding_upper;
    c->kernel[d] = pop_tensor_dim(weights, d + 3);
    int64_t window = (int64_t)dilated(c->kernel[d], f->kernel_dilation);
    if (window == 0)
      return refuse(c, POP_ERROR_TENSOR, "the kernel has no elements in dimension", d);
    if (size < window)
      return refuse(c, POP_ERROR_TENSOR,
                    "the input with its padding is smaller than the kernel in dimension", d);
    c->padded[d] = (size_t)size;
    c->out[d] = (size_t)(size - window) / f->stride + 1;
    c->num_kernel *= c->kernel[d];
    c->num_out *= c->out[d];
  }
  if (c->batch * c->in_channels * c->out_channels == 0)
    return refuse(c, POP_ERROR_TENSOR, "nothing to convolve: batch", c->batch);
  return true;
}

/* ---- zeros ---- */

static bool has_zeros(const convolution *c)
{
  for (size_t d = 0; d < c->fields; d++) {
    const conv_dim *f = &c->params->field[d];
    if (f->padding_lower > 0 || f->padding_upper > 0 || f->input_dilation > 1) return true;
  }
  return false;
}

/* In one dimension: which elements of the input remain after padding and cropping, and where
 * they go. */
typedef struct inside {
  size_t from, to; /* of the input */
  size_t begin;    /* place of the first */
} inside;

static inside inside_of(const convolution *c, size_t d, size_t size)
{
  const conv_dim *f = &c->params->field[d];
  inside x = {0, 0, 0};
  int64_t step = (int64_t)f->input_dilation;
  int64_t first = f->padding_lower < 0 ? (-f->padding_lower + step - 1) / step : 0;
  int64_t end = (int64_t)size;
  while (end > first && (end - 1) * step + f->padding_lower >= (int64_t)c->padded[d]) end--;
  if (first >= end) return x;
  return (inside){(size_t)first, (size_t)end, (size_t)(first * step + f->padding_lower)};
}

/* Copies `t` [batch, groups, channels, field…] to a new variable that has the zeros. If
 * `channels_last`, the channels of a position are adjacent in that variable. */
static pop_tensor with_zeros(const convolution *c, pop_tensor t, bool channels_last)
{
  size_t shape[MOST_RANK] = {c->batch, c->groups, c->in_channels}, rank = c->fields + 3;
  for (size_t d = 0; d < c->fields; d++) shape[d + 3] = c->padded[d];
  if (channels_last)
    for (size_t d = 2; d < rank; d++) shape[d] = d + 1 < rank ? c->padded[d - 2] : c->in_channels;
  pop_tensor all =
      pop_graph_add_variable(c->graph, pop_tensor_element_type(t), shape, rank, c->name);
  pop_graph_map_linearly(c->graph, all, 0, channels_last ? c->in_channels : shape[rank - 1]);
  if (has_zeros(c)) pop_popops_fill(c->graph, all, NULL, c->sequence, c->name);
  pop_tensor result = channels_last ? pop_tensor_dim_roll(all, rank - 1, 2) : all, place = result;
  for (size_t d = 0; d < c->fields; d++) {
    inside x = inside_of(c, d, pop_tensor_dim(t, d + 3));
    size_t step = c->params->field[d].input_dilation;
    if (x.from == x.to) return result;
    t = pop_tensor_slice(t, x.from, x.to, d + 3);
    place = pop_tensor_slice(place, x.begin, x.begin + dilated(x.to - x.from, step), d + 3);
    if (step > 1) place = pop_tensor_sub_sample(place, step, d + 3);
  }
  pop_sequence_add(c->sequence, pop_program_copy(t, place, c->name));
  return result;
}

/* Negative padding only crops, so it needs no variable. */
static pop_tensor cut_off(const convolution *c, pop_tensor t)
{
  for (size_t d = 0; d < c->fields; d++) {
    const conv_dim *f = &c->params->field[d];
    size_t begin = f->padding_lower < 0 ? (size_t)-f->padding_lower : 0;
    t = pop_tensor_slice(t, begin, begin + c->padded[d], d + 3);
  }
  return t;
}

/* ---- matrices ---- */

/* The coordinates of position `i` in an array of these sizes, row-major. */
static void place_at(size_t i, const size_t *sizes, size_t count, size_t *place)
{
  for (size_t d = count; d-- > 0; i /= sizes[d]) place[d] = i % sizes[d];
}

/* The elements of `t` [batch, groups, channels, field…] that one position of the kernel reads;
 * their field is the result's. */
static pop_tensor at_kernel_place(const convolution *c, pop_tensor t, size_t i)
{
  size_t place[POP_CONV_MAX_DIMS] = {0};
  place_at(i, c->kernel, c->fields, place);
  for (size_t d = 0; d < c->fields; d++) {
    const conv_dim *f = &c->params->field[d];
    size_t begin = place[d] * f->kernel_dilation;
    t = pop_tensor_slice(t, begin, begin + (c->out[d] - 1) * f->stride + 1, d + 3);
    if (f->stride > 1) t = pop_tensor_sub_sample(t, f->stride, d + 3);
  }
  return t;
}

/* The elements that one position of the result reads; their field is the kernel's. */
static pop_tensor at_out_place(const convolution *c, pop_tensor t, size_t i)
{
  size_t place[POP_CONV_MAX_DIMS] = {0};
  place_at(i, c->out, c->fields, place);
  for (size_t d = 0; d < c->fields; d++) {
    const conv_dim *f = &c->params->field[d];
    size_t begin = place[d] * f->stride;
    t = pop_tensor_slice(t, begin, begin + dilated(c->kernel[d], f->kernel_dilation), d + 3);
    if (f->kernel_dilation > 1) t = pop_tensor_sub_sample(t, f->kernel_dilation, d + 3);
  }
  return t;
}

/* [groups, batch * places, kernel * channels] or [groups, places * batch, channels * kernel] */
static pop_tensor input_matrix(const convolution *c, pop_tensor t, bool by_out)
{
  size_t count = by_out ? c->num_out : c->num_kernel, k = c->num_kernel * c->in_channels;
  pop_tensor *parts = pop_xcalloc(count, sizeof *parts);
  for (size_t i = 0; i < count && !pop_graph_error(c->graph); i++) {
    pop_tensor part = by_out ? at_out_place(c, t, i) : at_kernel_place(c, t, i);
    part = pop_tensor_dim_roll(part, 1, 0); /* [groups, batch, channels, field…] */
    if (by_out) {
      parts[i] = pop_tensor_reshape(part, (size_t[]){c->groups, c->batch, k}, 3);
      continue;
    }
    part = pop_tensor_dim_roll(part, 2, pop_tensor_rank(part) - 1);
    parts[i] =
        pop_tensor_reshape(part, (size_t[]){c->groups, c->batch * c->num_out, c->in_channels}, 3);
  }
  pop_tensor matrix = pop_concat(parts, count, by_out ? 1 : 2);
  free(parts);
  return matrix;
}

/* weights: [groups, channels of the result, channels, kernel…] */
static pop_tensor weight_matrix(const convolution *c, pop_tensor weights, bool by_out)
{
  for (size_t d = 0; d < c->fields; d++)
    if (c->params->field[d].flip_kernel) weights = pop_tensor_reverse(weights, d + 3);
  size_t last = pop_tensor_rank(weights) - 1;
  if (!by_out) weights = pop_tensor_dim_roll(weights, 2, last);
  weights = pop_tensor_dim_roll(weights, 1, last);
  return pop_tensor_reshape(
      weights, (size_t[]){c->groups, c->num_kernel * c->in_channels, c->out_channels}, 3);
}

/* The product's rows as [batch, groups * channels, field…]. */
static pop_tensor as_result(const convolution *c, pop_tensor product, bool by_out)
{
  size_t shape[MOST_RANK] = {c->batch, c->groups * c->out_channels};
  for (size_t d = 0; d < c->fields; d++) shape[d + 2] = c->out[d];
  size_t places[] = {c->groups, by_out ? c->num_out : c->batch, by_out ? c->batch : c->num_out,
                     c->out_channels};
  static const size_t batch_first[] = {1, 0, 3, 2}, out_first[] = {2, 0, 3, 1};
  pop_tensor t = pop_tensor_reshape(product, places, 4);
  t = pop_tensor_dim_shuffle(t, by_out ? out_first : batch_first, 4);
  return pop_tensor_reshape(t, shape, c->fields + 2);
}

/* Any of the convolutions here, with its own parameters, which it checks first. */
static pop_tensor convolve(convolution *c, pop_tensor in, pop_tensor weights,
                           const pop_mat_mul_options *options)
{
  pop_graph *graph = c->graph;
  pop_tensor none = {graph->top, 0};
  if (!check_params(c, in, weights) || !find_sizes(c, in, weights)) return none;
  bool by_out = c->num_out < c->num_kernel;
  size_t split[MOST_RANK] = {c->batch, c->groups, c->in_channels};
  for (size_t d = 0; d < c->fields; d++) split[d + 3] = pop_tensor_dim(in, d + 2);
  pop_tensor t = pop_tensor_reshape(in, split, c->fields + 3);
  t = has_zeros(c) ? with_zeros(c, t, !by_out) : cut_off(c, t);
  pop_tensor product =
      poplibs_mat_mul_in_runs(graph, input_matrix(c, t, by_out), weight_matrix(c, weights, by_out),
                              by_out ? 1 : c->in_channels, options, c->sequence, c->name);
  return pop_graph_error(graph) ? none : as_result(c, product, by_out);
}

pop_tensor pop_poplin_convolution(pop_graph *graph, pop_tensor in, pop_tensor weights,
                                  const pop_conv_params *params, const pop_mat_mul_options *options,
                                  pop_program sequence, const char *name)
{
  GRAPH_TURN(graph);
  if (!graph_lives(graph, __func__)) return (pop_tensor){0};
  poplibs_log(__func__, name, (const pop_tensor[]){in, weights}, 2);
  convolution c = {
      .graph = graph, .call = __func__, .name = name, .params = params, .sequence = sequence};
  return convolve(&c, in, weights, options);
}

/* ---- gradients ---- */

/* Checks what a gradient reads before its own parameters are known. `sizes` is the caller's
 * field or kernel. `other` has `more` dimensions than the field. */
static bool check_gradient(const convolution *c, pop_tensor deltas, pop_tensor other, size_t more,
                           const size_t *sizes)
{
  const pop_conv_params *p = c->params;
  if (pop_graph_error(c->graph)) return false;
  if (!p || (p->num_field_dims && !sizes)) {
    poplibs_fail(c->graph, POP_ERROR_INVALID_ARGUMENT, "%s: there are no %s", c->call,
                 p ? "sizes" : "parameters");
    return false;
  }
  if (p->num_field_dims > POP_CONV_MAX_DIMS || p->groups == 0 ||
      pop_tensor_rank(deltas) != p->num_field_dims + 2 ||
      pop_tensor_rank(other) != p->num_field_dims + more || pop_tensor_dim(deltas, 1) % p->groups)
    return refuse(
        c, POP_ERROR_TENSOR,
        "the tensors have not the ranks and channels that the parameters ask for; groups:",
        p->groups);
  for (size_t d = 0; d < p->num_field_dims; d++) {
    if (!sizes[d])
      return refuse(c, POP_ERROR_INVALID_ARGUMENT,
                    "sizes of field and kernel are at least 1; not so in dimension", d);
    size_t of_other = pop_tensor_dim(other, d + more), of_deltas = pop_tensor_dim(deltas, d + 2);
    if (!check_dim(c, d, sizes[d], of_other) || !check_dim(c, d, of_deltas, 1)) return false;
  }
  return true;
}

/* A convolution of the result's gradient: dilated by the strides, with all kernels flipped, and
 * padded so that the input's field comes out. */
pop_tensor pop_poplin_convolution_input_deltas(pop_graph *graph, pop_tensor deltas,
                                               pop_tensor weights, const size_t *field,
                                               const pop_conv_params *params,
                                               const pop_mat_mul_options *options,
                                               pop_program sequence, const char *name)
{
  GRAPH_TURN(graph);
  if (!graph_lives(graph, __func__)) return (pop_tensor){0};
  poplibs_log(__func__, name, (const pop_tensor[]){deltas, weights}, 2);
  convolution c = {
      .graph = graph, .call = __func__, .name = name, .params = params, .sequence = sequence};
  if (!check_gradient(&c, deltas, weights, 3, field)) return (pop_tensor){graph->top, 0};
  size_t fields = params->num_field_dims;
  pop_conv_params own = *params;
  for (size_t d = 0; d < fields; d++) {
    const conv_dim *f = &params->field[d];
    size_t window = dilated(pop_tensor_dim(weights, d + 3), f->kernel_dilation);
    int64_t lower = (int64_t)window - 1 - f->padding_lower;
    int64_t all = (int64_t)(dilated(field[d], f->input_dilation) - 1 + window);
    own.field[d] = (conv_dim){
        .stride = f->input_dilation,
        .input_dilation = f->stride,
        .kernel_dilation = f->kernel_dilation,
        .padding_lower = lower,
        .padding_upper = all - lower - (int64_t)dilated(pop_tensor_dim(deltas, d + 2), f->stride),
        .flip_kernel = !f->flip_kernel};
  }
  c.params = &own;
  return convolve(&c, deltas, pop_tensor_dim_roll(weights, 1, 2), options);
}

/* [batch, groups * channels, …] as [channels, groups * batch, …] */
static pop_tensor exchange_batch(pop_tensor t, size_t groups)
{
  size_t split[] = {groups, pop_tensor_dim(t, 1) / groups};
  t = pop_tensor_reshape_partial(t, 1, 2, split, 2);
  t = pop_tensor_dim_roll(pop_tensor_dim_roll(t, 2, 0), 1, 2);
  return pop_tensor_flatten_partial(t, 1, 3);
}

/* A convolution of the input in which batch and channels change places. The result's gradient is
 * its kernel, and strides become the kernel's dilation. */
pop_tensor pop_poplin_convolution_weight_deltas(pop_graph *graph, pop_tensor deltas, pop_tensor in,
                                                const size_t *kernel, const pop_conv_params *params,
                                                const pop_mat_mul_options *options,
                                                pop_program sequence, const char *name)
{
  GRAPH_TURN(graph);
  if (!graph_lives(graph, __func__)) return (pop_tensor){0};
  poplibs_log(__func__, name, (const pop_tensor[]){deltas, in}, 2);
  convolution c = {
      .graph = graph, .call = __func__, .name = name, .params = params, .sequence = sequence};
  pop_tensor none = {graph->top, 0};
  if (!check_gradient(&c, deltas, in, 2, kernel)) return none;
  size_t fields = params->num_field_dims;
  if (pop_tensor_dim(in, 1) % params->groups) {
    refuse(&c, POP_ERROR_TENSOR,
           "channels of the input are no multiple of the groups:", params->groups);
    return none;
  }
  pop_conv_params own = *params;
  for (size_t d = 0; d < fields; d++) {
    own.field[d].stride = params->field[d].kernel_dilation;
    own.field[d].kernel_dilation = params->field[d].stride;
    own.field[d].flip_kernel = false;
  }
  c.params = &own;
  size_t split[] = {params->groups, pop_tensor_dim(deltas, 1) / params->groups};
  pop_tensor as_kernel =
      pop_tensor_dim_roll(pop_tensor_reshape_partial(deltas, 1, 2, split, 2), 0, 2);
  pop_tensor t = convolve(&c, exchange_batch(in, params->groups), as_kernel, options);
  for (size_t d = 0; d < fields && t.index; d++) {
    if (pop_tensor_dim(t, d + 2) < kernel[d]) {
      refuse(&c, POP_ERROR_TENSOR,
             "the result's gradient is too large for such a kernel in dimension", d);
      return none;
    }
    t = pop_tensor_slice(t, 0, kernel[d], d + 2); /* cuts off what strides leave over */
    if (params->field[d].flip_kernel) t = pop_tensor_reverse(t, d + 2);
  }
  if (!t.index) return none;
  return pop_tensor_dim_roll(pop_tensor_reshape_partial(t, 1, 2, split, 2), 0, 2);
}
