/* Which part of an operand a vertex needs, if that follows from its elements of the result. The
 * part is a box: an interval in each dimension. All vertices share one codelet; the place and size
 * of the box are fields. */
#include "models/lowering.h"

#include <stdio.h>
#include <string.h>

box box_of_range(const model_type *type, uint64_t begin, uint64_t end)
{
  uint64_t first = begin, last = end - 1, stride = 1;
  bool same = true;
  box b = {{0}, {0}};
  for (uint32_t d = 0; d < type->rank; ++d) stride *= (uint64_t)type->dims[d];
  for (uint32_t d = 0; d < type->rank; ++d) {
    stride /= (uint64_t)type->dims[d];
    b.begin[d] = same ? (int64_t)(first / stride) : 0;
    b.end[d] = same ? (int64_t)(last / stride) + 1 : type->dims[d];
    same = same && first / stride == last / stride;
    first %= stride;
    last %= stride;
  }
  return b;
}

static int64_t floor_divide(int64_t a, int64_t b)
{
  return a >= 0 ? a / b : -((b - 1 - a) / b);
}

/* Clips the interval to the dimension and makes it at least one element long. Elements outside are
 * never read. */
static void set(box *b, uint32_t d, int64_t begin, int64_t end, int64_t size)
{
  if (end > size) end = size;
  if (begin >= size) begin = size - 1;
  if (begin < 0) begin = 0;
  if (end <= begin) end = begin + 1;
  b->begin[d] = begin;
  b->end[d] = end;
}

/* ---- operations ---- */

/* A window over a dimension whose elements are `dilation` apart. */
typedef struct sliding {
  int64_t stride, padding, size, window_dilation, dilation;
} sliding;

static void set_window(box *b, uint32_t d, int64_t begin, int64_t end, sliding s, int64_t size)
{
  int64_t low = begin * s.stride - s.padding;
  int64_t high = (end - 1) * s.stride - s.padding + (s.size - 1) * s.window_dilation;
  set(b, d, floor_divide(low + s.dilation - 1, s.dilation), floor_divide(high, s.dilation) + 1,
      size);
}

static void reduce_window(const lowering *l, const operation *op, const box *r, box *b)
{
  const model_type *from = op->operands[0]->type;
  const int64_t *window = op_ints(l->m, op, "window_dimensions", from->rank, 1);
  const int64_t *stride = op_ints(l->m, op, "window_strides", from->rank, 1);
  const int64_t *dilation = op_ints(l->m, op, "base_dilations", from->rank, 1);
  const int64_t *window_dilation = op_ints(l->m, op, "window_dilations", from->rank, 1);
  const int64_t *padding = op_ints(l->m, op, "padding", 2 * (size_t)from->rank, 0);
  for (uint32_t d = 0; d < from->rank; ++d)
    set_window(b, d, r->begin[d], r->end[d],
               (sliding){stride[d], padding[2 * d], window[d], window_dilation[d], dilation[d]},
               from->dims[d]);
}

static void reduce(const lowering *l, const operation *op, const box *r, box *b)
{
  size_t order[MODEL_MAX_RANK];
  reduce_order(l, op, order);
  for (uint32_t i = 0; i < op->results[0]->type->rank; ++i) {
    b->begin[order[i]] = r->begin[i];
    b->end[order[i]] = r->end[i];
  }
}

/* Of the operand: in dimensions that slices have all of, and in those of the batch, what the
 * result's range says. Of the indices: the vectors for the range. */
static void gather(const lowering *l, const operation *op, size_t i, const box *r, box *b)
{
  const attribute *dn = op_attribute(op, "dimension_numbers");
  const model_type *operand = op->operands[0]->type, *indices = op->operands[1]->type;
  size_t num_offset, num_collapsed, num_batch, num_of, num_sizes, next = 0;
  const int64_t *offset = dict_int_list(l->m, dn, "offset_dims", &num_offset);
  const int64_t *collapsed = dict_int_list(l->m, dn, "collapsed_slice_dims", &num_collapsed);
  const int64_t *batch = dict_int_list(l->m, dn, "operand_batching_dims", &num_batch);
  const int64_t *of_indices = dict_int_list(l->m, dn, "start_indices_batching_dims", &num_of);
  const int64_t *sizes = op_int_list(l->m, op, "slice_sizes", &num_sizes);
  int64_t vector = dict_int(dn, "index_vector_dim", 0);
  uint32_t from[MODEL_MAX_RANK] = {0}; /* for each dimension of the indices, that of the result */
  for (uint32_t d = 0, of = 0; d < op->results[0]->type->rank; ++d) {
    if (ints_have(offset, num_offset, d)) continue;
    if (of == vector) ++of;
    from[of++] = d;
  }
  for (uint32_t d = 0; i == 1 && d < indices->rank; ++d)
    if (d != vector) {
      b->begin[d] = r->begin[from[d]];
      b->end[d] = r->end[from[d]];
    }
  for (uint32_t d = 0; i == 0 && d < operand->rank; ++d) {
    if (ints_have(collapsed, num_collapsed, d) || ints_have(batch, num_batch, d)) continue;
    int64_t of = offset[next++];
    if (sizes[d] != operand->dims[d]) continue;
    b->begin[d] = r->begin[of];
    b->end[d] = r->end[of];
  }
  for (size_t k = 0; i == 0 && k < num_batch; ++k) {
    b->begin[batch[k]] = r->begin[from[of_indices[k]]];
    b->end[batch[k]] = r->end[from[of_indices[k]]];
  }
}

/* A slice as long as the tensor's dimension begins at 0, whatever the index. There the box is the
 * result's range. */
static void where_whole(const int64_t *sizes, const model_type *type, const box *r, box *b)
{
  for (uint32_t d = 0; d < type->rank; ++d)
    if (sizes[d] == type->dims[d]) {
      b->begin[d] = r->begin[d];
      b->end[d] = r->end[d];
    }
}

static void fft(const lowering *l, const operation *op, const box *r, box *b)
{
  size_t count;
  op_int_list(l->m, op, "fft_length", &count);
  for (uint32_t d = 0; d + count < op->results[0]->type->rank; ++d) {
    b->begin[d] = r->begin[d];
    b->end[d] = r->end[d];
  }
}

/* For the source (i = 1) the windows that contain elements `r`; for the operand (i = 0) all
 * elements of these windows. */
static void select_and_scatter(const lowering *l, const operation *op, size_t i, const box *r,
                               box *b)
{
  const model_type *type = op->operands[0]->type, *source = op->operands[1]->type;
  const int64_t *window = op_ints(l->m, op, "window_dimensions", type->rank, 1);
  const int64_t *stride = op_ints(l->m, op, "window_strides", type->rank, 1);
  const int64_t *padding = op_ints(l->m, op, "padding", 2 * (size_t)type->rank, 0);
  if (!type_elements(source)) return;
  for (uint32_t d = 0; d < type->rank; ++d) {
    int64_t first = floor_divide(r->begin[d] + padding[2 * d] - window[d] + stride[d], stride[d]);
    int64_t last = floor_divide(r->end[d] - 1 + padding[2 * d], stride[d]);
    set(b, d, first, last + 1, source->dims[d]);
    if (i == 0)
      set_window(b, d, b->begin[d], b->end[d],
                 (sliding){stride[d], padding[2 * d], window[d], 1, 1}, type->dims[d]);
  }
}

bool box_is_known(const operation *op, size_t i)
{
  switch (op->code) {
  case OP_REDUCE:
  case OP_REDUCE_WINDOW:
    return i < op->num_operands / 2;
  case OP_GATHER:
    return true;
  case OP_DYNAMIC_UPDATE_SLICE:
    return i == 1;
  case OP_DYNAMIC_SLICE:
  case OP_FFT:
    return i == 0;
  default:
    return false;
  }
}

box box_needed(const lowering *l, const operation *op, size_t i, uint64_t begin, uint64_t end)
{
  const model_type *type = op->operands[i]->type, *result = op->results[0]->type;
  box r = box_of_range(result, type_elements(result) == 1 ? 0 : begin,
                       type_elements(result) == 1 ? 1 : end);
  box b = {{0}, {0}};
  memcpy(b.end, type->dims, type->rank * sizeof *b.end);
  switch (op->code) {
  case OP_GATHER:
    gather(l, op, i, &r, &b);
    break;
  case OP_REDUCE:
    reduce(l, op, &r, &b);
    break;
  case OP_REDUCE_WINDOW:
    reduce_window(l, op, &r, &b);
    break;
  case OP_DYNAMIC_UPDATE_SLICE:
    where_whole(type->dims, result, &r, &b);
    break;
  case OP_DYNAMIC_SLICE:
    where_whole(result->dims, type, &r, &b);
    break;
  case OP_FFT:
    fft(l, op, &r, &b);
    break;
  case OP_SELECT_AND_SCATTER:
    select_and_scatter(l, op, i, &r, &b);
    break;
  default:
    break;
  }
  return b;
}

uint64_t box_bytes(const lowering *l, const operation *op, size_t i, uint64_t begin, uint64_t end)
{
  const model_type *type = op->operands[i]->type;
  box b = box_needed(l, op, i, begin, end);
  uint64_t bytes = element_bytes(type->element);
  for (uint32_t d = 0; d < type->rank; ++d) bytes *= (uint64_t)(b.end[d] - b.begin[d]);
  return bytes;
}

enum { WORTH_A_VERTEX = 256 }; /* bytes */

/* The outermost boundary of rows, planes, … of the result strictly between `begin` and `end`; `end`
 * if there is none. */
static uint64_t boundary_within(const model_type *type, uint64_t begin, uint64_t end)
{
  uint64_t stride = type_elements(type);
  for (uint32_t d = 0; d + 1 < type->rank && begin < end; ++d) {
    stride /= (uint64_t)type->dims[d];
    uint64_t next = (begin / stride + 1) * stride, last = (end - 1) / stride * stride;
    if (begin % stride != 0 && next < end) return next;
    if (begin % stride == 0 && last > begin && last + stride != end) return last;
  }
  return end;
}

/* A range across a boundary needs a box with both rows, each from end to end. */
uint64_t box_cut(const lowering *l, const operation *op, size_t i, uint64_t begin, uint64_t end)
{
  const model_type *result = op->results[0]->type;
  for (uint64_t at; (at = boundary_within(result, begin, end)) < end; end = at) {
    uint64_t parts = box_bytes(l, op, i, begin, at) + box_bytes(l, op, i, at, end) + WORTH_A_VERTEX;
    if (box_bytes(l, op, i, begin, end) <= 2 * parts) break;
  }
  return end;
}

/* ---- fields ---- */

void box_add_fields(text *to, size_t n, uint32_t rank)
{
  for (uint32_t d = 0; d < rank; ++d)
    text_add(to, "  unsigned begin%zu_%u, size%zu_%u;\n", n, d, n, d);
}

const char *box_index(pop_arena *arena, size_t n, uint32_t rank, const char *const *at)
{
  const char *index = "0";
  for (uint32_t d = 0; d < rank; ++d) {
    const char *x = pop_arena_printf(arena, "((unsigned)(%s) - vertex->begin%zu_%u)", at[d], n, d);
    index = d ? pop_arena_printf(arena, "(%s * vertex->size%zu_%u + %s)", index, n, d, x) : x;
  }
  return index;
}

void box_set(planned_vertex *v, size_t n, size_t rank, const box *b)
{
  for (size_t d = 0; d < rank; ++d) {
    char name[64];
    snprintf(name, sizeof name, "begin%zu_%zu", n, d);
    vertex_set(v, name, b->begin[d]);
    snprintf(name, sizeof name, "size%zu_%zu", n, d);
    vertex_set(v, name, b->end[d] - b->begin[d]);
  }
}

pop_tensor box_of_tensor(pop_tensor t, const box *b)
{
  size_t begin[MODEL_MAX_RANK] = {0}, end[MODEL_MAX_RANK] = {0}, rank = pop_tensor_rank(t);
  for (size_t d = 0; d < rank; ++d) {
    begin[d] = (size_t)b->begin[d];
    end[d] = (size_t)b->end[d];
  }
  return pop_tensor_flatten(pop_tensor_slice_nd(t, begin, end, rank));
}

void box_connect(planned_vertex *v, const char *field, size_t n, pop_tensor t, const box *b)
{
  box_set(v, n, pop_tensor_rank(t), b);
  vertex_connect(v, field, box_of_tensor(t, b));
}
