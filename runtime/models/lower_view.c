/* Data movement without calculation. A reshape of a tensor is a view. So are other movements of
 * operands that are too large to be copied to each tile. */
#include "models/lowering.h"

#include <string.h>

static pop_tensor view_reshape(const value *v, pop_tensor t)
{
  size_t shape[MODEL_MAX_RANK] = {0};
  for (uint32_t d = 0; d < v->type->rank; ++d) shape[d] = (size_t)v->type->dims[d];
  return pop_tensor_reshape(t, shape, v->type->rank);
}

static pop_tensor view_transpose(lowering *l, const operation *op, pop_tensor t)
{
  size_t count, order[MODEL_MAX_RANK] = {0};
  const int64_t *permutation = op_int_list(l->m, op, "permutation", &count);
  for (size_t i = 0; i < count; ++i) order[i] = (size_t)permutation[i];
  return pop_tensor_dim_shuffle(t, order, count);
}

static pop_tensor view_slice(lowering *l, const operation *op, pop_tensor t)
{
  uint32_t rank = op->results[0]->type->rank;
  const int64_t *begin = op_ints(l->m, op, "start_indices", rank, 0);
  const int64_t *end = op_ints(l->m, op, "limit_indices", rank, 0);
  const int64_t *stride = op_ints(l->m, op, "strides", rank, 1);
  for (uint32_t d = 0; d < rank; ++d) {
    t = pop_tensor_slice(t, (size_t)begin[d], (size_t)end[d], d);
    if (stride[d] > 1) t = pop_tensor_sub_sample(t, (size_t)stride[d], d);
  }
  return t;
}

static pop_tensor view_reverse(lowering *l, const operation *op, pop_tensor t)
{
  size_t count;
  const int64_t *dims = op_int_list(l->m, op, "dimensions", &count);
  for (size_t i = 0; i < count; ++i) t = pop_tensor_reverse(t, (size_t)dims[i]);
  return t;
}

/* Puts the dimensions in the result's order, adds the new ones, then repeats. */
static pop_tensor view_broadcast(lowering *l, const operation *op, pop_tensor t)
{
  const model_type *from = op->operands[0]->type, *to = op->results[0]->type;
  size_t count, order[MODEL_MAX_RANK] = {0}, n = 0, shape[MODEL_MAX_RANK] = {0};
  const int64_t *dims = op_int_list(l->m, op, "broadcast_dimensions", &count);
  for (uint32_t d = 0; d < to->rank; ++d) {
    shape[d] = 1;
    for (size_t i = 0; i < count; ++i)
      if (dims[i] == d) {
        order[n++] = i;
        shape[d] = (size_t)from->dims[i];
      }
  }
  t = pop_tensor_reshape(pop_tensor_dim_shuffle(t, order, n), shape, to->rank);
  for (uint32_t d = 0; d < to->rank; ++d)
    if (shape[d] == 1 && to->dims[d] != 1) t = pop_tensor_broadcast(t, (size_t)to->dims[d], d);
  return t;
}

static pop_tensor view_concatenate(lowering *l, const operation *op)
{
  pop_tensor *parts = pop_arena_alloc(l->m->arena, op->num_operands * sizeof *parts);
  for (size_t i = 0; i < op->num_operands; ++i) parts[i] = lowering_tensor(l, op->operands[i]);
  if (l->error) return (pop_tensor){0};
  return pop_concat(parts, op->num_operands, (size_t)op_int(op, "dimension", 0));
}

/* Adds `count` elements of padding in front of, or behind, dimension d. */
static pop_tensor padded(pop_tensor t, pop_tensor padding, size_t d, size_t count, bool front)
{
  size_t shape[MODEL_MAX_RANK] = {0}, rank = pop_tensor_rank(t), all = count;
  if (count == 0) return t;
  for (size_t i = 0; i < rank; ++i) {
    shape[i] = i == d ? count : pop_tensor_dim(t, i);
    if (i != d) all *= shape[i];
  }
  pop_tensor edge =
      pop_tensor_reshape(pop_tensor_broadcast(pop_tensor_flatten(padding), all, 0), shape, rank);
  return pop_concat((pop_tensor[]){front ? edge : t, front ? t : edge}, 2, d);
}

/* Adds `interior` elements of padding between those of dimension d. */
static pop_tensor dilated(pop_tensor t, pop_tensor padding, size_t d, size_t interior)
{
  size_t count = pop_tensor_dim(t, d), one[] = {count, 1};
  if (interior == 0 || count == 0) return t;
  t = padded(pop_tensor_reshape_partial(t, d, d + 1, one, 2), padding, d + 1, interior, false);
  t = pop_tensor_flatten_partial(t, d, d + 2);
  return pop_tensor_slice(t, 0, (count - 1) * (interior + 1) + 1, d);
}

/* Negative padding removes elements. */
static pop_tensor view_pad(lowering *l, const operation *op, pop_tensor t)
{
  uint32_t rank = op->results[0]->type->rank;
  const int64_t *low = op_ints(l->m, op, "edge_padding_low", rank, 0);
  const int64_t *high = op_ints(l->m, op, "edge_padding_high", rank, 0);
  const int64_t *interior = op_ints(l->m, op, "interior_padding", rank, 0);
  pop_tensor padding = lowering_tensor(l, op->operands[1]);
  if (l->error) return t;
  for (uint32_t d = 0; d < rank; ++d) {
    t = dilated(t, padding, d, (size_t)interior[d]);
    t = padded(t, padding, d, low[d] > 0 ? (size_t)low[d] : 0, true);
    t = padded(t, padding, d, high[d] > 0 ? (size_t)high[d] : 0, false);
    size_t end = pop_tensor_dim(t, d);
    if (low[d] < 0 || high[d] < 0)
      t = pop_tensor_slice(t, low[d] < 0 ? (size_t)-low[d] : 0,
                           high[d] < 0 ? end - (size_t)-high[d] : end, d);
  }
  return t;
}

/* Is the operand larger than a tile's share of the result? Then copying it to all tiles costs more
 * than sending each tile its elements, repetitions included. In a softmax, for example, the row of
 * sums took more of a tile than what is divided by it. */
static bool is_more_than_share(const lowering *l, const operation *op)
{
  enum { WORTH_IT = 1024 };
  const model_type *from = op->operands[0]->type, *to = op->results[0]->type;
  uint64_t elements = type_elements(from);
  return elements * element_bytes(from->element) > WORTH_IT &&
         elements > type_elements(to) / l->num_tiles;
}

/* A view with padding between elements has one more dimension on the way. */
static bool has_room(const lowering *l, const operation *op)
{
  uint32_t rank = op->results[0]->type->rank;
  if (op->code != OP_PAD || rank < MODEL_MAX_RANK) return true;
  const int64_t *interior = op_ints(l->m, op, "interior_padding", rank, 0);
  for (uint32_t d = 0; d < rank; ++d)
    if (interior[d]) return false;
  return true;
}

static bool is_large(const lowering *l, const operation *op)
{
  if (op->code == OP_BROADCAST_IN_DIM && is_more_than_share(l, op)) return true;
  if (op->code != OP_CONCATENATE) return !fits_whole(l, op->operands[0]);
  uint64_t bytes = 0;
  for (size_t i = 0; i < op->num_operands; ++i)
    bytes += type_elements(op->operands[i]->type) * element_bytes(op->operands[i]->type->element);
  return bytes > l->copy_limit;
}

bool lower_view(lowering *l, const operation *op, bool *done)
{
  pop_tensor t;
  if (!op->num_operands) return true;
  const value_state *s = state_of(l, op->operands[0]);
  *done = true;
  if (op->code == OP_RESHAPE && s->kind == STATE_TENSOR) {
    lowering_set_tensor(l, op->results[0], view_reshape(op->results[0], s->tensor));
    return true;
  }
  switch (op->code) {
  case OP_TRANSPOSE:
  case OP_SLICE:
  case OP_REVERSE:
  case OP_BROADCAST_IN_DIM:
  case OP_CONCATENATE:
  case OP_PAD:
    if (is_large(l, op) && has_room(l, op)) break;
    /* fall through */
  default:
    *done = false;
    return true;
  }
  t = op->code == OP_CONCATENATE ? view_concatenate(l, op) : lowering_tensor(l, op->operands[0]);
  if (l->error) return false;
  if (op->code == OP_TRANSPOSE) t = view_transpose(l, op, t);
  if (op->code == OP_SLICE) t = view_slice(l, op, t);
  if (op->code == OP_REVERSE) t = view_reverse(l, op, t);
  if (op->code == OP_BROADCAST_IN_DIM) t = view_broadcast(l, op, t);
  if (op->code == OP_PAD) {
    t = view_pad(l, op, t);
    if (l->error) return false;
  }
  lowering_set_tensor(l, op->results[0], t);
  return true;
}
