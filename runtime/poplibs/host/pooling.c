/* Pooling: populus/popnn_pooling.h. Fields of fewer than three dimensions get leading dimensions
 * of size 1. A plane is one channel of one batch element. Each worker of each tile has a vertex
 * for some planes. If there are fewer planes than workers, it has a band of one plane, along the
 * first dimension with more than one window or element. */
#include "graph/graph.h"
#include "poplibs/host/spread.h"

#include <populus/popnn_pooling.h>
#include <populus/popops.h>
#include <stdlib.h>

enum { DIMS = POP_POOLING_MAX_DIMS };

/* One dimension of a vertex's input and output: popnn/pooling.cpp. */
typedef struct axis {
  int32_t in, out, kernel, stride, first;
} axis;

typedef struct job {
  pop_graph *graph;
  const char *call, *name;
  pop_pooling_kind kind;
  pop_pooling_dim dims[DIMS];
  size_t in[DIMS], out[DIMS]; /* of a plane */
  size_t planes;
} job;

/* Up to this size no sum or product overflows. */
enum { MOST_PLACES = POP_POOLING_MAX_SIZE };

static bool is_near(int64_t padding)
{
  return padding >= -MOST_PLACES && padding <= MOST_PLACES;
}

size_t pop_pooling_output_size(const pop_pooling_dim *dim)
{
  if (!dim || dim->kernel == 0 || dim->stride == 0) return 0;
  if (dim->input > MOST_PLACES || dim->kernel > MOST_PLACES || dim->stride > MOST_PLACES ||
      !is_near(dim->padding_lower) || !is_near(dim->padding_upper))
    return 0;
  int64_t places = (int64_t)dim->input + dim->padding_lower + dim->padding_upper;
  if (places < (int64_t)dim->kernel) return 0;
  return ((size_t)places - dim->kernel) / dim->stride + 1;
}

static bool check_parameters(pop_graph *graph, const char *call, const pop_pooling *p)
{
  if (pop_graph_error(graph)) return false;
  if (!p || p->num_dims < 1 || p->num_dims > DIMS) {
    poplibs_fail(graph, POP_ERROR_INVALID_ARGUMENT,
                 "%s: a field of %zu dimensions; 1 to %d are possible", call, p ? p->num_dims : 0,
                 DIMS);
    return false;
  }
  for (size_t i = 0; i < p->num_dims; i++) {
    const pop_pooling_dim *d = &p->dims[i];
    if (pop_pooling_output_size(d) > 0) continue;
    poplibs_fail(
        graph, POP_ERROR_INVALID_ARGUMENT,
        "%s: dimension %zu of the field: %zu elements with a padding of %lld and %lld have "
        "no window of %zu places, %zu apart (1 to %d of each, and at most as much padding)",
        call, i, d->input, (long long)d->padding_lower, (long long)d->padding_upper, d->kernel,
        d->stride, MOST_PLACES);
    return false;
  }
  return true;
}

/* Is `t` [batch, channels, field...], with the field of the pooling's input or output? */
static bool check_shape(pop_graph *graph, const char *call, const pop_pooling *p, pop_tensor t,
                        bool input)
{
  bool fits = pop_tensor_rank(t) == p->num_dims + 2;
  for (size_t i = 0; fits && i < p->num_dims; i++)
    fits = pop_tensor_dim(t, i + 2) ==
           (input ? p->dims[i].input : pop_pooling_output_size(&p->dims[i]));
  if (fits && pop_tensor_num_elements(t) > 0) return true;
  char shape[64];
  pop_tensor_shape_string(t, shape, sizeof shape);
  poplibs_fail(
      graph, POP_ERROR_TENSOR,
      "%s: a tensor of shape %s; {batch,channels,field...} is needed, not empty, the field "
      "as that of the pooling's %s",
      call, shape, input ? "input" : "output");
  return false;
}

static bool check_type(pop_graph *graph, const char *call, pop_tensor t, pop_type type)
{
  pop_type is = pop_tensor_element_type(t);
  if (is != type) {
    poplibs_fail(graph, POP_ERROR_TYPE, "%s: tensors of type %s and %s; one is needed", call,
                 pop_type_name(type), pop_type_name(is));
    return false;
  }
  return poplibs_check_vertex_type(
      graph, call, pop_arena_printf(graph->top->arena, "popnn::Pool<%s,0>", pop_type_name(type)),
      "pooling (pop_popnn_add_codelets)", type);
}

static job make_job(pop_graph *graph, const char *call, const char *name, const pop_pooling *p,
                    pop_tensor planes)
{
  job j = {.graph = graph, .call = call, .name = name, .kind = p->kind};
  for (size_t i = 0; i < DIMS; i++) {
    const size_t missing = DIMS - p->num_dims;
    j.dims[i] = i < missing ? (pop_pooling_dim){1, 1, 1, 0, 0} : p->dims[i - missing];
    j.in[i] = j.dims[i].input;
    j.out[i] = pop_pooling_output_size(&j.dims[i]);
  }
  j.planes = pop_tensor_dim(planes, 0) * pop_tensor_dim(planes, 1);
  return j;
}

/* [planes, z, y, x] */
static pop_tensor as_planes(const job *j, pop_tensor t, const size_t sizes[DIMS])
{
  if (!t.index) return t;
  const size_t shape[] = {j->planes, sizes[0], sizes[1], sizes[2]};
  return pop_tensor_reshape(t, shape, DIMS + 1);
}

/* ---- shares ---- */

/* The work of one vertex: some planes, and of each the elements [begin, end) along one
 * dimension. */
typedef struct share {
  size_t first_plane, end_plane, along, begin, end;
} share;

/* How planes of such sizes are cut into vertices. */
typedef struct cut {
  size_t count, along, bands; /* of each plane */
} cut;

static cut make_cut(const job *j, const size_t sizes[DIMS])
{
  size_t slots = pop_graph_num_tiles(j->graph) * j->graph->target.num_worker_contexts;
  cut c = {.bands = 1};
  while (c.along + 1 < DIMS && sizes[c.along] == 1) c.along++;
  if (j->planes >= slots) {
    c.count = slots;
    return c;
  }
  c.bands = slots / j->planes;
  if (c.bands > sizes[c.along]) c.bands = sizes[c.along];
  c.count = j->planes * c.bands;
  return c;
}

static share share_of(const job *j, const cut *c, size_t i, const size_t sizes[DIMS])
{
  size_t size = sizes[c->along];
  if (c->bands == 1)
    return (share){i * j->planes / c->count, (i + 1) * j->planes / c->count, c->along, 0, size};
  size_t plane = i / c->bands, band = i % c->bands;
  return (share){plane, plane + 1, c->along, band * size / c->bands, (band + 1) * size / c->bands};
}

static size_t tile_of(const job *j, const cut *c, size_t i)
{
  size_t tiles = pop_graph_num_tiles(j->graph);
  return c->count <= tiles ? i : i * tiles / c->count;
}

/* The share's planes, from begin to end along its dimension, flattened. */
static pop_tensor part(const share *s, pop_tensor planes, size_t begin, size_t end)
{
  pop_tensor own = pop_tensor_slice(planes, s->first_plane, s->end_plane, 0);
  return pop_tensor_flatten(pop_tensor_slice(own, begin, end, s->along + 1));
}

static size_t clamp(int64_t x, size_t size)
{
  return x<0 ? 0 : x>(int64_t) size ? size : (size_t)x;
}

/* All axes of whole planes. */
static void whole_axes(const job *j, axis axes[DIMS])
{
  for (size_t i = 0; i < DIMS; i++)
    axes[i] = (axis){(int32_t)j->in[i], (int32_t)j->out[i], (int32_t)j->dims[i].kernel,
                     (int32_t)j->dims[i].stride, (int32_t)-j->dims[i].padding_lower};
}

static void connect_axes(const job *j, pop_vertex v, const axis axes[DIMS])
{
  pop_graph_connect_value(j->graph, v, "axes", POP_INT, axes,
                          DIMS * sizeof *axes / sizeof(int32_t));
}

static pop_tensor new_planes(const job *j, const cut *c, pop_type type, const size_t sizes[DIMS])
{
  const size_t shape[] = {j->planes, sizes[0], sizes[1], sizes[2]};
  pop_tensor t = pop_graph_add_variable(j->graph, type, shape, DIMS + 1, j->name);
  for (size_t i = 0; i < c->count && !pop_graph_error(j->graph); i++) {
    share s = share_of(j, c, i, sizes);
    pop_graph_set_tile_mapping(j->graph, part(&s, t, s.begin, s.end), tile_of(j, c, i));
  }
  return t;
}

/* ---- forward ---- */

enum { TIES = POP_POOLING_SUM + 1 };

/* Adds the vertex for the windows of a share. It gets the input elements that they reach, and
 * the offset of the first window in them. */
static void add_pool_vertex(const job *j, pop_compute_set set, size_t tile, int kind,
                            const share *s, pop_tensor in, pop_tensor pooled, pop_tensor out)
{
  const pop_pooling_dim *d = &j->dims[s->along];
  int64_t first = (int64_t)(s->begin * d->stride) - d->padding_lower;
  size_t begin = clamp(first, d->input);
  size_t end = clamp(first + (int64_t)((s->end - s->begin - 1) * d->stride + d->kernel), d->input);
  axis axes[DIMS];
  whole_axes(j, axes);
  axes[s->along].in = (int32_t)(end - begin);
  axes[s->along].out = (int32_t)(s->end - s->begin);
  axes[s->along].first = (int32_t)(first - (int64_t)begin);
  pop_vertex v = poplibs_add_vertex(j->graph, set, tile, "popnn::Pool<%s,%d>",
                                    pop_type_name(pop_tensor_element_type(in)), kind);
  pop_graph_connect(j->graph, v, "in", part(s, in, begin, end));
  pop_graph_connect(j->graph, v, "pooled",
                    kind == TIES ? part(s, pooled, s->begin, s->end)
                                 : pop_tensor_slice(pop_tensor_flatten(in), 0, 0, 0));
  pop_graph_connect(j->graph, v, "out", part(s, out, s->begin, s->end));
  connect_axes(j, v, axes);
}

static pop_tensor pool(const job *j, int kind, pop_tensor in, pop_tensor pooled,
                       pop_program sequence)
{
  cut c = make_cut(j, j->out);
  pop_type type = kind == TIES ? POP_FLOAT : pop_tensor_element_type(in);
  pop_tensor out = new_planes(j, &c, type, j->out);
  pop_compute_set set = pop_graph_add_compute_set(j->graph, j->name);
  for (size_t i = 0; i < c.count && !pop_graph_error(j->graph); i++) {
    share s = share_of(j, &c, i, j->out);
    add_pool_vertex(j, set, tile_of(j, &c, i), kind, &s, in, pooled, out);
  }
  pop_sequence_add(sequence, pop_program_execute(j->graph, set, j->name));
  return out;
}

/* Back to [batch, channels, field...]. */
static pop_tensor with_field(const job *j, const pop_pooling *p, pop_tensor planes, pop_tensor like,
                             const size_t sizes[DIMS])
{
  if (pop_graph_error(j->graph)) return (pop_tensor){j->graph->top, 0};
  size_t shape[2 + DIMS] = {pop_tensor_dim(like, 0), pop_tensor_dim(like, 1)};
  for (size_t i = 0; i < p->num_dims; i++) shape[2 + i] = sizes[DIMS - p->num_dims + i];
  return pop_tensor_reshape(planes, shape, 2 + p->num_dims);
}

pop_tensor pop_popnn_pool(pop_graph *graph, const pop_pooling *pooling, pop_tensor in,
                          pop_program sequence, const char *name)
{
  GRAPH_TURN(graph);
  if (!graph_lives(graph, __func__)) return (pop_tensor){0};
  poplibs_log(__func__, name, (const pop_tensor[]){in}, 1);
  pop_tensor none = {graph->top, 0};
  if (!check_parameters(graph, __func__, pooling) ||
      !check_shape(graph, __func__, pooling, in, true) ||
      !check_type(graph, __func__, in, pop_tensor_element_type(in)))
    return none;
  job j = make_job(graph, __func__, name, pooling, in);
  pop_tensor out = pool(&j, (int)pooling->kind, as_planes(&j, in, j.in), none, sequence);
  return with_field(&j, pooling, out, in, j.out);
}

/* ---- back ---- */

/* Adds the vertex for the elements of a share. It gets the windows that reach one of them, and
 * the offset of the first window from the share's begin. */
static void add_gradient_vertex(const job *j, pop_compute_set set, size_t tile, const share *s,
                                pop_tensor in, pop_tensor pooled, pop_tensor gradient,
                                pop_tensor out)
{
  const pop_pooling_dim *d = &j->dims[s->along];
  const int64_t stride = (int64_t)d->stride, from = (int64_t)s->begin + d->padding_lower;
  int64_t beyond = from - (int64_t)d->kernel; /* windows up to here end before the share */
  size_t begin = clamp(beyond < 0 ? 0 : beyond / stride + 1, j->out[s->along]);
  int64_t last = (int64_t)s->end - 1 + d->padding_lower;
  size_t end = clamp(last < 0 ? 0 : last / stride + 1, j->out[s->along]);
  if (end < begin) end = begin;
  axis axes[DIMS];
  whole_axes(j, axes);
  axes[s->along].in = (int32_t)(s->end - s->begin);
  axes[s->along].out = (int32_t)(end - begin);
  axes[s->along].first = (int32_t)((int64_t)begin * stride - from);
  bool is_max = j->kind == POP_POOLING_MAX;
  pop_tensor nothing = pop_tensor_slice(pop_tensor_flatten(gradient), 0, 0, 0);
  pop_vertex v = poplibs_add_vertex(j->graph, set, tile, "popnn::PoolGradient<%s,%s>",
                                    pop_type_name(pop_tensor_element_type(gradient)),
                                    is_max ? "true" : "false");
  pop_graph_connect(j->graph, v, "in", is_max ? part(s, in, s->begin, s->end) : nothing);
  pop_graph_connect(j->graph, v, "pooled", is_max ? part(s, pooled, begin, end) : nothing);
  pop_graph_connect(j->graph, v, "gradient", part(s, gradient, begin, end));
  pop_graph_connect(j->graph, v, "out", part(s, out, s->begin, s->end));
  connect_axes(j, v, axes);
}

static double elements_of(const pop_pooling_dim *d, size_t window)
{
  int64_t first = (int64_t)(window * d->stride) - d->padding_lower;
  return (double)clamp(first + (int64_t)d->kernel, d->input) - (double)clamp(first, d->input);
}

/* The number of elements in each window without padding, at least 1: a constant, the same for
 * all planes. Such numbers are floats, because they may be too large for a half. */
static pop_tensor window_sizes(const job *j)
{
  size_t count = j->out[0] * j->out[1] * j->out[2], at = 0;
  float *sizes = pop_xcalloc(count, sizeof *sizes);
  for (size_t z = 0; z < j->out[0]; z++)
    for (size_t y = 0; y < j->out[1]; y++)
      for (size_t x = 0; x < j->out[2]; x++, at++) {
        double n =
            elements_of(&j->dims[0], z) * elements_of(&j->dims[1], y) * elements_of(&j->dims[2], x);
        sizes[at] = n > 0 ? (float)n : 1;
      }
  const size_t shape[] = {1, j->out[0], j->out[1], j->out[2]};
  pop_tensor t = pop_graph_add_constant(j->graph, POP_FLOAT, shape, DIMS + 1, sizes, j->name);
  pop_graph_set_tile_mapping(j->graph, t, 0);
  free(sizes);
  return t;
}

/* The part of a window's gradient that each of its elements gets, if it gets one. */
static pop_tensor shared_gradient(const job *j, bool shared, pop_tensor in, pop_tensor pooled,
                                  pop_tensor gradient, pop_program sequence)
{
  pop_tensor none = {j->graph->top, 0}, count = none;
  if (j->kind == POP_POOLING_AVERAGE)
    count = window_sizes(j);
  else if (j->kind == POP_POOLING_MAX && shared)
    count = pool(j, TIES, in, pooled, sequence);
  if (!count.index) return gradient;
  return poplibs_with_floats(j->graph, POP_BINARY_DIVIDE, gradient, count, none, sequence, j->name);
}

pop_tensor pop_popnn_pool_gradient(pop_graph *graph, const pop_pooling *pooling, pop_tensor in,
                                   pop_tensor pooled, pop_tensor gradient, bool shared,
                                   pop_program sequence, const char *name)
{
  GRAPH_TURN(graph);
  if (!graph_lives(graph, __func__)) return (pop_tensor){0};
  poplibs_log(__func__, name, (const pop_tensor[]){in, pooled, gradient}, 3);
  pop_tensor none = {graph->top, 0};
  pop_type type = pop_tensor_element_type(gradient);
  if (!check_parameters(graph, __func__, pooling) ||
      !check_shape(graph, __func__, pooling, gradient, false) ||
      !check_type(graph, __func__, gradient, type))
    return none;
  if (pooling->kind != POP_POOLING_MAX)
    in = pooled = none;
  else if (!check_shape(graph, __func__, pooling, in, true) ||
           !check_shape(graph, __func__, pooling, pooled, false) ||
           !check_type(graph, __func__, in, type) || !check_type(graph, __func__, pooled, type))
    return none;
  job j = make_job(graph, __func__, name, pooling, gradient);
  in = as_planes(&j, in, j.in);
  pooled = as_planes(&j, pooled, j.out);
  pop_tensor share_of_each =
      shared_gradient(&j, shared, in, pooled, as_planes(&j, gradient, j.out), sequence);
  cut c = make_cut(&j, j.in);
  pop_tensor out = new_planes(&j, &c, type, j.in);
  pop_compute_set set = pop_graph_add_compute_set(graph, name);
  for (size_t i = 0; i < c.count && !pop_graph_error(graph); i++) {
    share s = share_of(&j, &c, i, j.in);
    add_gradient_vertex(&j, set, tile_of(&j, &c, i), &s, in, pooled, share_of_each, out);
  }
  pop_sequence_add(sequence, pop_program_execute(graph, set, name));
  return with_field(&j, pooling, out, gradient, j.in);
}
