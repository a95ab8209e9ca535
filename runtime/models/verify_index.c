/* Operations on tensors: calls the check of each, and has the short ones. */
#include "models/verify.h"

/* The numbers of a constant operand; NULL if it is none, or has not `wanted` of them. */
static const int64_t *constant_numbers(verifier *v, const operation *op, size_t i, size_t wanted)
{
  const operation *from = op->operands[i]->op;
  const attribute *a = from && from->code == OP_CONSTANT ? op_attribute(from, "value") : NULL;
  int64_t *values;
  size_t count;
  return a && attribute_ints(v->m->arena, a, &values, &count) && count == wanted ? values : NULL;
}

/* Operand i is the shape of the result, which is static. */
static pop_error *verify_shape(verifier *v, const operation *op, size_t i)
{
  const model_type *shape = type_of(op, i), *to = op->results[0]->type;
  WANT(shape->rank == 1 && shape->dims[0] == to->rank && element_is_integer(shape->element),
       "%s: operand %zu has an integer for each dimension of the result", op->name, i);
  const int64_t *sizes = constant_numbers(v, op, i, to->rank);
  for (uint32_t d = 0; d < to->rank && sizes; ++d)
    WANT(sizes[d] == to->dims[d],
         "%s: dimension %u of the result is %lld, and operand %zu says %lld", op->name, d,
         (long long)to->dims[d], i, (long long)sizes[d]);
  return NULL;
}

static pop_error *verify_iota(verifier *v, const operation *op)
{
  if (op->code == OP_DYNAMIC_IOTA) {
    POP_TRY(want_counts(v, op, 1, 1, 0));
    POP_TRY(verify_shape(v, op, 0));
  }
  const model_type *to = op->results[0]->type;
  int64_t d = op_int(op, "iota_dimension", -1);
  WANT(op->num_results == 1 && d >= 0 && d < to->rank, "%s: there is no dimension %lld", op->name,
       (long long)d);
  WANT(to->element != ELEMENT_I1, "%s of i1", op->name);
  return NULL;
}

static pop_error *verify_dimension_size(verifier *v, const operation *op)
{
  const model_type *to = op->results[0]->type;
  int64_t d = op_int(op, "dimension", -1);
  WANT(op->num_operands == 1 && d >= 0 && d < type_of(op, 0)->rank && to->rank == 0 &&
           to->element == ELEMENT_I32,
       "%s: there is no dimension %lld", op->name, (long long)d);
  return NULL;
}

static pop_error *verify_reshape(verifier *v, const operation *op)
{
  POP_TRY(want_counts(v, op, op->code == OP_RESHAPE ? 1 : 2, 1, 0));
  if (op->code == OP_DYNAMIC_RESHAPE) POP_TRY(verify_shape(v, op, 1));
  const model_type *from = type_of(op, 0), *to = op->results[0]->type;
  WANT(type_elements(from) == type_elements(to), "%s: %s and %s have not as many elements",
       op->name, type_text(v->m->arena, from), type_text(v->m->arena, to));
  return NULL;
}

static pop_error *verify_reverse(verifier *v, const operation *op)
{
  const model_type *from = type_of(op, 0);
  size_t count;
  const int64_t *dims = op_int_list(v->m, op, "dimensions", &count);
  POP_TRY(want_dims(v, op, "dimensions", dims, count, from->rank));
  return want_shape(v, op, op->results[0]->type, from->dims, from->rank);
}

static pop_error *verify_real_dynamic_slice(verifier *v, const operation *op)
{
  POP_TRY(want_counts(v, op, 4, 1, 0));
  uint32_t rank = type_of(op, 0)->rank;
  for (size_t i = 1; i < 4; ++i) {
    const model_type *t = type_of(op, i);
    WANT(t->rank == 1 && t->dims[0] == rank && element_is_integer(t->element) &&
             op->results[0]->type->rank == rank,
         "%s: operand %zu has an integer for each dimension", op->name, i);
  }
  const int64_t *begin = constant_numbers(v, op, 1, rank), *end = constant_numbers(v, op, 2, rank);
  const int64_t *stride = constant_numbers(v, op, 3, rank);
  for (uint32_t d = 0; d < rank && begin && end && stride; ++d) {
    int64_t size = type_of(op, 0)->dims[d], is = op->results[0]->type->dims[d];
    WANT(begin[d] >= 0 && begin[d] <= end[d] && end[d] <= size && stride[d] >= 1 &&
             is == (end[d] - begin[d]) / stride[d] + ((end[d] - begin[d]) % stride[d] != 0),
         "%s: [%lld:%lld:%lld] of dimension %u, which has %lld elements; the result has %lld",
         op->name, (long long)begin[d], (long long)end[d], (long long)stride[d], d, (long long)size,
         (long long)is);
  }
  return NULL;
}

static pop_error *verify_map(verifier *v, const operation *op)
{
  const model_type *to = op->results[0]->type;
  POP_TRY(want_counts(v, op, op->num_operands, 1, 1));
  for (size_t i = 0; i < op->num_operands; ++i)
    WANT(type_same_shape(type_of(op, i), to), "%s: operand %zu has another shape", op->name, i);
  size_t count;
  const int64_t *dims = op_int_list(v->m, op, "dimensions", &count);
  WANT(count == 0 || count == to->rank, "%s: 'dimensions' are all %u", op->name, to->rank);
  for (size_t i = 0; i < count; ++i)
    WANT(dims[i] == (int64_t)i, "%s: 'dimensions' are 0, 1, … in this order", op->name);
  POP_TRY(verify_region(v, op, 0, op->num_operands));
  for (size_t i = 0; i < op->num_operands; ++i)
    WANT(same_element(op->regions[0].arguments[i]->type, type_of(op, i)),
         "%s: argument %zu of the region has another type", op->name, i);
  WANT(op->regions[0].last->num_operands == 1 &&
           same_element(op->regions[0].last->operands[0]->type, to),
       "%s: the region returns one %s", op->name, element_infos[to->element].name);
  return NULL;
}

/* Operations whose result may have another element type than the operand. They check it
 * themselves. */
static bool has_own_type(op_code code)
{
  return code == OP_DOT || code == OP_DOT_GENERAL || code == OP_CONVOLUTION || code == OP_MAP ||
         code == OP_FFT || code == OP_REDUCE || code == OP_REDUCE_WINDOW;
}

/* One operand, one result. */
static pop_error *verify_unary(verifier *v, const operation *op,
                               pop_error *(*verify)(verifier *, const operation *))
{
  POP_TRY(want_counts(v, op, 1, 1, 0));
  return verify(v, op);
}

static pop_error *verify_by_code(verifier *v, const operation *op)
{
  switch (op->code) {
  case OP_RESHAPE:
  case OP_DYNAMIC_RESHAPE:
    return verify_reshape(v, op);
  case OP_BROADCAST:
  case OP_BROADCAST_IN_DIM:
    return verify_unary(v, op, verify_broadcast);
  case OP_DYNAMIC_BROADCAST_IN_DIM:
    POP_TRY(want_counts(v, op, 2, 1, 0));
    POP_TRY(verify_shape(v, op, 1));
    return verify_broadcast(v, op);
  case OP_TRANSPOSE:
    return verify_unary(v, op, verify_transpose);
  case OP_REVERSE:
    return verify_unary(v, op, verify_reverse);
  case OP_SLICE:
    return verify_unary(v, op, verify_slice);
  case OP_REAL_DYNAMIC_SLICE:
    return verify_real_dynamic_slice(v, op);
  case OP_DYNAMIC_SLICE:
  case OP_DYNAMIC_UPDATE_SLICE:
    return verify_dynamic_slice(v, op);
  case OP_PAD:
    return verify_pad(v, op);
  case OP_CONCATENATE:
    POP_TRY(want_counts(v, op, op->num_operands, 1, 0));
    return verify_concatenate(v, op);
  case OP_GATHER:
  case OP_DYNAMIC_GATHER:
    return verify_gather(v, op);
  case OP_MAP:
    return verify_map(v, op);
  case OP_REDUCE:
    return verify_reduce(v, op);
  case OP_REDUCE_WINDOW:
    return verify_reduce_window(v, op);
  case OP_DOT:
  case OP_DOT_GENERAL:
    return verify_dot(v, op);
  case OP_CONVOLUTION:
    return verify_convolution(v, op);
  case OP_FFT:
    return verify_fft(v, op);
  case OP_BATCH_NORM_INFERENCE:
    return verify_batch_norm(v, op);
  default:
    FAIL("%s is not known", op->name);
  }
}

pop_error *verify_index(verifier *v, const operation *op)
{
  if (op->code != OP_CONSTANT) POP_TRY(want_tensors(v, op));
  WANT(op->num_results >= 1, "%s has no result", op->name);
  if (op->code == OP_CONSTANT) return verify_constant(v, op);
  if (op->code == OP_IOTA || op->code == OP_DYNAMIC_IOTA) return verify_iota(v, op);
  WANT(op->num_operands >= 1, "%s has no operand", op->name);
  if (op->code == OP_GET_DIMENSION_SIZE) return verify_dimension_size(v, op);
  if (op->code == OP_BITCAST_CONVERT) return verify_unary(v, op, verify_bitcast);
  const model_type *from = type_of(op, 0), *to = op->results[0]->type;
  WANT(has_own_type(op->code) || same_element(from, to), "%s of %s has a result of %s", op->name,
       element_infos[from->element].name, element_infos[to->element].name);
  return verify_by_code(v, op);
}

pop_error *verify_range(verifier *v, const operation *op)
{
  POP_TRY(want_tensors(v, op));
  WANT(op->num_operands >= 1 && op->num_results >= 1, "%s has operands and results", op->name);
  switch (op->code) {
  case OP_SCATTER:
    return verify_scatter(v, op);
  case OP_SELECT_AND_SCATTER:
    return verify_select_and_scatter(v, op);
  case OP_SORT:
    return verify_sort(v, op);
  case OP_TOP_K:
    return verify_top_k(v, op);
  case OP_TRIANGULAR_SOLVE:
    return verify_triangular_solve(v, op);
  case OP_CHOLESKY:
    return verify_cholesky(v, op);
  case OP_RNG_BIT_GENERATOR:
    return verify_rng_bit_generator(v, op);
  default:
    name_unsupported(v, op->offset, op->name);
    return NULL;
  }
}
