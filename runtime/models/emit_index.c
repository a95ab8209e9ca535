/* Operations that calculate an element of the result from its index: how they access operands, what
 * they cost, and which function writes their code (emit_data.c, emit_compute.c). */
#include "models/emit_index.h"

#include <inttypes.h>

bool fits_whole(const lowering *l, const value *v)
{
  return type_elements(v->type) * element_bytes(v->type->element) <= l->copy_limit;
}

static bool is_scalar(const value *v)
{
  return type_elements(v->type) == 1;
}

/* ---- indices ---- */

/* Emits variables x<n>_<d>: the index in each dimension of element `index`. */
static expression *split_index(emitter *e, text *to, const char *index, const int64_t *dims,
                               uint32_t rank)
{
  unsigned n = e->next_name++;
  expression *x = pop_arena_alloc(e->l->m->arena, (rank + 1) * sizeof *x);
  uint64_t stride = 1;
  for (uint32_t d = rank; d-- > 0;) {
    x[d] = PRINT("x%u_%u", n, d);
    text_add(to, "    const int %s = (int)(", x[d]);
    if (stride > 1)
      text_add(to, "%s / %" PRIu64 "u", index, stride);
    else
      text_add(to, "%s", index);
    if (d > 0) text_add(to, " %% %" PRIu64 "u", (uint64_t)dims[d]);
    text_add(to, ");\n");
    stride *= (uint64_t)dims[d];
  }
  return x;
}

void emit_define(emitter *e, text *to, const value *v, expression is)
{
  text_add(to, "    const %s %s = %s;\n", c_type_of(v), emit_variable(e, v), is);
}

expression *emit_own_index(emitter *e, text *to, const operation *op)
{
  return split_index(e, to, "e", op->results[0]->type->dims, op->results[0]->type->rank);
}

/* ---- the table ---- */

access index_access(const lowering *l, const operation *op, size_t i)
{
  const value *v = op->operands[i], *result = op->results[0];
  bool only = is_scalar(v) && !is_scalar(result);
  if (box_is_known(op, i) && !fits_whole(l, v)) return ACCESS_BOX;
  switch (op->code) {
  case OP_RESHAPE:
  case OP_MAP:
    return ACCESS_SAME;
  case OP_DYNAMIC_RESHAPE:
    return i == 0 ? ACCESS_SAME : ACCESS_WHOLE;
  case OP_BITCAST_CONVERT:
    return element_bytes(v->type->element) == element_bytes(result->type->element) ? ACCESS_SAME
                                                                                   : ACCESS_WHOLE;
  case OP_BROADCAST:
  case OP_BROADCAST_IN_DIM:
  case OP_DYNAMIC_BROADCAST_IN_DIM:
    if (i == 1) return ACCESS_WHOLE;
    if (is_scalar(v)) return ACCESS_SCALAR;
    return ACCESS_WHOLE;
  case OP_DYNAMIC_SLICE:
    return i == 0 ? ACCESS_WHOLE : ACCESS_SCALAR;
  case OP_DYNAMIC_UPDATE_SLICE:
    return i == 0 ? ACCESS_SAME : i == 1 ? ACCESS_WHOLE : ACCESS_SCALAR;
  case OP_PAD:
    return i == 0 ? ACCESS_WHOLE : ACCESS_SCALAR;
  case OP_REDUCE:
    if (i >= op->num_operands / 2) return ACCESS_SCALAR;
    return ACCESS_WHOLE;
  case OP_REDUCE_WINDOW:
    return i < op->num_operands / 2 ? ACCESS_WHOLE : ACCESS_SCALAR;
  case OP_BATCH_NORM_INFERENCE:
    return i == 0 ? ACCESS_SAME : ACCESS_WHOLE;
  default:
    if (op_infos[op->code].how == HOW_ELEMENT) return only ? ACCESS_SCALAR : ACCESS_SAME;
    return ACCESS_WHOLE;
  }
}

static uint64_t product(const int64_t *values, size_t count)
{
  uint64_t p = 1;
  for (size_t i = 0; i < count; ++i) p *= values[i] > 0 ? (uint64_t)values[i] : 1;
  return p;
}

uint64_t index_cost(const lowering *l, const operation *op)
{
  uint64_t n = op->num_results ? type_elements(op->results[0]->type) : 1;
  if (n == 0) return 1;
  switch (op->code) {
  case OP_REDUCE:
    return type_elements(op->operands[0]->type) / n + 1;
  case OP_DOT:
  case OP_DOT_GENERAL:
  case OP_FFT:
    return product(op->operands[0]->type->dims, op->operands[0]->type->rank) / 4 + 1;
  case OP_CONVOLUTION:
    return product(op->operands[1]->type->dims, op->operands[1]->type->rank) + 1;
  case OP_REDUCE_WINDOW:
    return 16;
  case OP_GATHER: /* the cost is mostly in receiving what may be chosen from */
    return index_access(l, op, 0) == ACCESS_BOX ? 2 + box_bytes(l, op, 0, 0, 1) / 8 : 2;
  default:
    return 2;
  }
}

bool emit_index(emitter *e, text *to, const operation *op)
{
  switch (op->code) {
  case OP_RESHAPE:
  case OP_DYNAMIC_RESHAPE:
    emit_same(e, to, op);
    return true;
  case OP_BITCAST_CONVERT:
    emit_bitcast(e, to, op);
    return true;
  case OP_BROADCAST:
  case OP_BROADCAST_IN_DIM:
  case OP_DYNAMIC_BROADCAST_IN_DIM:
    emit_broadcast(e, to, op);
    return true;
  case OP_TRANSPOSE:
    emit_transpose(e, to, op);
    return true;
  case OP_REVERSE:
    emit_reverse(e, to, op);
    return true;
  case OP_SLICE:
    emit_slice(e, to, op);
    return true;
  case OP_DYNAMIC_SLICE:
    emit_dynamic_slice(e, to, op);
    return true;
  case OP_REAL_DYNAMIC_SLICE:
    emit_real_dynamic_slice(e, to, op);
    return true;
  case OP_DYNAMIC_UPDATE_SLICE:
    emit_dynamic_update_slice(e, to, op);
    return true;
  case OP_PAD:
    emit_pad(e, to, op);
    return true;
  case OP_CONCATENATE:
    emit_concatenate(e, to, op);
    return true;
  case OP_IOTA:
  case OP_DYNAMIC_IOTA:
    emit_iota(e, to, op);
    return true;
  case OP_GATHER:
  case OP_DYNAMIC_GATHER:
    emit_gather(e, to, op);
    return true;
  case OP_GET_DIMENSION_SIZE:
    emit_get_dimension_size(e, to, op);
    return true;
  case OP_MAP:
    return emit_map(e, to, op);
  case OP_REDUCE:
    return emit_reduce(e, to, op);
  case OP_REDUCE_WINDOW:
    return emit_reduce_window(e, to, op);
  case OP_DOT:
  case OP_DOT_GENERAL:
    emit_dot(e, to, op);
    return true;
  case OP_CONVOLUTION:
    emit_convolution(e, to, op);
    return true;
  case OP_BATCH_NORM_INFERENCE:
    emit_batch_norm_inference(e, to, op);
    return true;
  case OP_FFT:
    return emit_fft(e, to, op);
  default:
    return lowering_fail(e->l, op, "%s is not supported", op->name);
  }
}
