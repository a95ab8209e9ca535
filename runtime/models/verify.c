/* What the specification asks of operations: ranks, shapes, types and attributes. What follows relies on it, so
 * everything that code is generated from is looked at here.
 *
 * Operations and types that are not supported are collected, so that they are all named at once. */
#include "models/module.h"

#include <stdlib.h>
#include <string.h>

typedef struct verifier {
  module *m;
  char *unsupported; /* a line for each */
} verifier;

static pop_error *verify_block(verifier *v, const block *b);

static void name_unsupported(verifier *v, uint32_t offset, const char *what)
{
  /* The same thing once, where it is first. */
  char *quoted = pop_xasprintf("%s is not supported", what);
  if (v->unsupported && strstr(v->unsupported, quoted)) {
    free(quoted);
    return;
  }
  char *place = model_place(v->m, offset);
  char *all = v->unsupported ? pop_xasprintf("%s\n%s: %s", v->unsupported, place, quoted)
                             : pop_xasprintf("%s: %s", place, quoted);
  free(v->unsupported);
  free(place);
  free(quoted);
  v->unsupported = all;
}

/* ---- types ---- */

static pop_error *verify_type(verifier *v, const model_type *t, uint32_t offset)
{
  if (t->kind == TYPE_TUPLE) {
    for (uint32_t i = 0; i < t->num_members; ++i) POP_TRY(verify_type(v, t->members[i], offset));
    return NULL;
  }
  if (t->kind == TYPE_TOKEN) return NULL;
  uint32_t at = t->offset ? t->offset : offset;
  if (t->unsupported) {
    char *what = pop_xasprintf("the type %s", t->unsupported);
    name_unsupported(v, at, what);
    free(what);
    return NULL;
  }
  if (t->kind != TYPE_TENSOR) return model_error(v->m, at, "a tensor is expected");
  if (t->dynamic) {
    name_unsupported(v, at, "a tensor with a dynamic dimension");
    return NULL;
  }
  if (type_elements(t) == UINT64_MAX)
    return model_error(v->m, at, "%s has more than 2^32 - 1 elements", type_text(v->m->arena, t));
  return NULL;
}

/* ---- operations ---- */

#define FAIL(...) return model_error(v->m, op->offset, __VA_ARGS__)
#define WANT(condition, ...)                                                                       \
  do {                                                                                             \
    if (!(condition)) FAIL(__VA_ARGS__);                                                           \
  } while (0)

static const model_type *type_of(const operation *op, size_t operand)
{
  return op->operands[operand]->type;
}

static bool same_element(const model_type *a, const model_type *b)
{
  return a->element == b->element;
}

static pop_error *want_counts(verifier *v, const operation *op, size_t operands, size_t results,
                              size_t regions)
{
  WANT(op->num_operands == operands, "%s takes %zu operands, not %zu", op->name, operands,
       op->num_operands);
  WANT(op->num_results == results, "%s has %zu results, not %zu", op->name, results,
       op->num_results);
  WANT(op->num_regions == regions, "%s has %zu regions, not %zu", op->name, regions,
       op->num_regions);
  return NULL;
}

static pop_error *want_tensors(verifier *v, const operation *op)
{
  for (size_t i = 0; i < op->num_operands; ++i)
    WANT(type_of(op, i)->kind == TYPE_TENSOR, "operand %zu of %s is no tensor", i, op->name);
  for (size_t i = 0; i < op->num_results; ++i)
    WANT(op->results[i]->type->kind == TYPE_TENSOR, "result %zu of %s is no tensor", i, op->name);
  return NULL;
}

/* `count` integers, each in [least, most]. */
static pop_error *want_ints(verifier *v, const operation *op, const char *name, size_t count,
                            int64_t fallback, int64_t least, int64_t most, const int64_t **values)
{
  *values = op_ints(v->m, op, name, count, fallback);
  WANT(*values, "%s: '%s' is to have %zu numbers", op->name, name, count);
  for (size_t i = 0; i < count; ++i)
    WANT((*values)[i] >= least && (*values)[i] <= most,
         "%s: '%s' has %lld, which is not from %lld to %lld", op->name, name,
         (long long)(*values)[i], (long long)least, (long long)most);
  return NULL;
}

/* A list of dimensions of a tensor of this rank, each once. */
static pop_error *want_dims(verifier *v, const operation *op, const char *name, const int64_t *dims,
                            size_t count, uint32_t rank)
{
  WANT(count <= MODEL_MAX_RANK, "%s: '%s' has too many dimensions", op->name, name);
  for (size_t i = 0; i < count; ++i) {
    WANT(dims[i] >= 0 && dims[i] < rank, "%s: '%s' has dimension %lld, there are %u", op->name,
         name, (long long)dims[i], rank);
    for (size_t k = 0; k < i; ++k)
      WANT(dims[k] != dims[i], "%s: '%s' has dimension %lld twice", op->name, name,
           (long long)dims[i]);
  }
  return NULL;
}

static pop_error *want_shape(verifier *v, const operation *op, const model_type *is,
                             const int64_t *dims, uint32_t rank)
{
  model_type want = *is;
  want.rank = rank;
  want.dims = (int64_t *)dims;
  WANT(type_same_shape(is, &want), "the result of %s is %s, not %s", op->name,
       type_text(v->m->arena, &want), type_text(v->m->arena, is));
  return NULL;
}

/* ---- element by element ---- */

typedef enum element_set {
  SET_INTEGER = 1,
  SET_I1 = 2,
  SET_FLOAT = 4,
  SET_COMPLEX = 8,
  SET_F64 = 16, /* f64 is not there though other floats are */
  SET_ALL = 15
} element_set;

/* What the first operand may be. */
static const struct {
  op_code code;
  unsigned set;
  size_t operands;
} element_ops[] = {
    {OP_ABS, 13, 1},
    {OP_CBRT, 12, 1},
    {OP_CEIL, 4, 1},
    {OP_CONVERT, 15, 1},
    {OP_COSINE, 12, 1},
    {OP_COUNT_LEADING_ZEROS, 1, 1},
    {OP_EXPONENTIAL, 12, 1},
    {OP_EXPONENTIAL_MINUS_ONE, 12, 1},
    {OP_FLOOR, 4, 1},
    {OP_IMAG, 12, 1},
    {OP_IS_FINITE, 12, 1},
    {OP_LOG, 12, 1},
    {OP_LOG_PLUS_ONE, 12, 1},
    {OP_LOGISTIC, 12, 1},
    {OP_NEGATE, 13, 1},
    {OP_NOT, 3, 1},
    {OP_POPCNT, 1, 1},
    {OP_REAL, 12, 1},
    {OP_REDUCE_PRECISION, 4, 1},
    {OP_ROUND_NEAREST_AFZ, 4, 1},
    {OP_ROUND_NEAREST_EVEN, 4, 1},
    {OP_RSQRT, 12, 1},
    {OP_SIGN, 13, 1},
    {OP_SINE, 12, 1},
    {OP_SQRT, 12, 1},
    {OP_TAN, 12, 1},
    {OP_TANH, 12, 1},
    {OP_ACOS, 4, 1},
    {OP_ACOSH, 4, 1},
    {OP_ASIN, 4, 1},
    {OP_ASINH, 4, 1},
    {OP_ATAN, 4, 1},
    {OP_ATANH, 4, 1},
    {OP_BESSEL_I1E, 4 | SET_F64, 1},
    {OP_CONJ, 8, 1},
    {OP_COSH, 4, 1},
    {OP_DIGAMMA, 4 | SET_F64, 1},
    {OP_ERF, 4, 1},
    {OP_ERF_INV, 4 | SET_F64, 1},
    {OP_ERFC, 4, 1},
    {OP_IS_INF, 4, 1},
    {OP_IS_NEG_INF, 4, 1},
    {OP_IS_POS_INF, 4, 1},
    {OP_LGAMMA, 4 | SET_F64, 1},
    {OP_SINH, 4, 1},
    {OP_SQUARE, 13, 1},
    {OP_ADD, 15, 2},
    {OP_AND, 3, 2},
    {OP_ATAN2, 4, 2},
    {OP_COMPARE, 15, 2},
    {OP_COMPLEX, 4 | SET_F64, 2},
    {OP_DIVIDE, 13, 2},
    {OP_MAXIMUM, 15, 2},
    {OP_MINIMUM, 15, 2},
    {OP_MULTIPLY, 15, 2},
    {OP_NEXT_AFTER, 4, 2},
    {OP_OR, 3, 2},
    {OP_POLYGAMMA, 4 | SET_F64, 2},
    {OP_POWER, 13, 2},
    {OP_REMAINDER, 5, 2},
    {OP_SHIFT_LEFT, 1, 2},
    {OP_SHIFT_RIGHT_ARITHMETIC, 1, 2},
    {OP_SHIFT_RIGHT_LOGICAL, 1, 2},
    {OP_SUBTRACT, 13, 2},
    {OP_XOR, 3, 2},
    {OP_ZETA, 4 | SET_F64, 2},
    {OP_CLAMP, 15, 3},
    {OP_SELECT, 15, 3},
};

static element_set set_of(element_type e)
{
  if (e == ELEMENT_I1) return SET_I1;
  if (e == ELEMENT_C64) return SET_COMPLEX;
  return element_is_float(e) ? SET_FLOAT : SET_INTEGER;
}

/* The type of the result, where it is not the operand's. */
static element_type result_element(const operation *op)
{
  element_type e = type_of(op, 0)->element;
  switch (op->code) {
  case OP_COMPARE:
  case OP_IS_FINITE:
  case OP_IS_INF:
  case OP_IS_POS_INF:
  case OP_IS_NEG_INF:
    return ELEMENT_I1;
  case OP_ABS:
  case OP_REAL:
  case OP_IMAG:
    return e == ELEMENT_C64 ? ELEMENT_F32 : e;
  case OP_COMPLEX:
    return ELEMENT_C64;
  case OP_CONVERT:
    return op->results[0]->type->element;
  case OP_SELECT:
  case OP_CLAMP:
    return type_of(op, 1)->element;
  default:
    return e;
  }
}

static pop_error *verify_element_words(verifier *v, const operation *op)
{
  static const char *const directions[] = {"EQ", "NE", "LT", "LE", "GT", "GE"};
  if (op->code == OP_COMPARE) {
    const char *direction = op_word(op, "comparison_direction");
    bool known = false;
    for (size_t i = 0; i < 6; ++i) known = known || strcmp(direction, directions[i]) == 0;
    WANT(known, "%s: the direction is EQ, NE, LT, LE, GT or GE, not '%s'", op->name, direction);
  }
  if (op->code == OP_REDUCE_PRECISION) {
    int64_t e = op_int(op, "exponent_bits", 0), m = op_int(op, "mantissa_bits", -1);
    WANT(e >= 1 && e <= 64 && m >= 0 && m <= 64,
         "%s: exponent_bits is at least 1, mantissa_bits at least 0", op->name);
  }
  return NULL;
}

static pop_error *verify_element(verifier *v, const operation *op)
{
  size_t n = 0;
  while (n < sizeof element_ops / sizeof *element_ops && element_ops[n].code != op->code) n++;
  if (n == sizeof element_ops / sizeof *element_ops) FAIL("%s is not known", op->name);
  POP_TRY(want_counts(v, op, element_ops[n].operands, 1, 0));
  POP_TRY(want_tensors(v, op));
  const model_type *result = op->results[0]->type;
  size_t checked = op->code == OP_SELECT || op->code == OP_CLAMP ? 1 : 0;
  element_type e = type_of(op, checked)->element;
  if (!(set_of(e) & element_ops[n].set) || (e == ELEMENT_F64 && (element_ops[n].set & SET_F64)) ||
      (op->code == OP_COMPLEX && e != ELEMENT_F32)) {
    char *what = pop_xasprintf("%s of %s", op->name, element_infos[e].name);
    name_unsupported(v, op->offset, what);
    free(what);
    return NULL;
  }
  for (size_t i = 0; i < op->num_operands; ++i) {
    const model_type *t = type_of(op, i);
    /* Scalars go with all shapes in select's predicate and clamp's bounds. */
    bool scalar =
        t->rank == 0 && ((op->code == OP_SELECT && i == 0) || (op->code == OP_CLAMP && i != 1));
    WANT(scalar || type_same_shape(t, result), "%s: operand %zu is %s, the result %s", op->name, i,
         type_text(v->m->arena, t), type_text(v->m->arena, result));
    bool predicate = op->code == OP_SELECT && i == 0;
    WANT(!predicate || t->element == ELEMENT_I1, "%s: the predicate is of i1, not %s", op->name,
         element_infos[t->element].name);
    WANT(predicate || t->element == e, "%s: operand %zu is of %s, another of %s", op->name, i,
         element_infos[t->element].name, element_infos[e].name);
  }
  WANT(result->element == result_element(op), "the result of %s is of %s, not %s", op->name,
       element_infos[result_element(op)].name, element_infos[result->element].name);
  return verify_element_words(v, op);
}

/* ---- regions of scalars ---- */

/* Arguments: scalars of the types; results: scalars of theirs. */
static pop_error *verify_region(verifier *v, const operation *op, size_t region, size_t arguments)
{
  const block *b = &op->regions[region];
  WANT(b->num_arguments == arguments, "region %zu of %s has %zu arguments, not %zu", region,
       op->name, arguments, b->num_arguments);
  for (size_t i = 0; i < arguments; ++i) {
    const model_type *t = b->arguments[i]->type;
    WANT(t->kind == TYPE_TENSOR && t->rank == 0, "arguments of the region of %s are scalars",
         op->name);
    POP_TRY(verify_type(v, t, op->offset));
  }
  for (size_t i = 0; i < b->last->num_operands; ++i) {
    const model_type *t = b->last->operands[i]->type;
    WANT(t->kind == TYPE_TENSOR && t->rank == 0, "the region of %s returns scalars", op->name);
  }
  return NULL;
}

/* Arguments a0 … an b0 … bn, results r0 … rn, where ai, bi and ri have the type of element i. */
static pop_error *verify_reducer(verifier *v, const operation *op, size_t region, size_t inputs,
                                 size_t first)
{
  POP_TRY(verify_region(v, op, region, 2 * inputs));
  const block *b = &op->regions[region];
  WANT(b->last->num_operands == inputs, "the region of %s returns %zu values, not %zu", op->name,
       inputs, b->last->num_operands);
  for (size_t i = 0; i < inputs; ++i) {
    const model_type *of = type_of(op, first + i);
    WANT(same_element(b->arguments[i]->type, of) &&
             same_element(b->arguments[inputs + i]->type, of) &&
             same_element(b->last->operands[i]->type, of),
         "%s: the region's argument %zu and its result are to be of %s", op->name, i,
         element_infos[of->element].name);
  }
  return NULL;
}

static pop_error *verify_comparator(verifier *v, const operation *op, size_t inputs)
{
  POP_TRY(verify_region(v, op, 0, 2 * inputs));
  const block *b = &op->regions[0];
  WANT(b->last->num_operands == 1 && b->last->operands[0]->type->element == ELEMENT_I1,
       "the comparator of %s returns one i1", op->name);
  for (size_t i = 0; i < inputs; ++i)
    WANT(same_element(b->arguments[2 * i]->type, type_of(op, i)) &&
             same_element(b->arguments[2 * i + 1]->type, type_of(op, i)),
         "%s: arguments %zu and %zu of the comparator are to be of %s", op->name, 2 * i, 2 * i + 1,
         element_infos[type_of(op, i)->element].name);
  return NULL;
}

/* ---- data from elsewhere ---- */

static pop_error *verify_constant(verifier *v, const operation *op)
{
  POP_TRY(want_counts(v, op, 0, 1, 0));
  const attribute *a = op_attribute(op, "value");
  WANT(a && a->kind == ATTRIBUTE_DENSE, "%s has no value: dense<…> is expected", op->name);
  WANT(type_equal(a->type, op->results[0]->type), "the value of %s is %s, its result %s", op->name,
       type_text(v->m->arena, a->type), type_text(v->m->arena, op->results[0]->type));
  return NULL;
}

static pop_error *verify_broadcast(verifier *v, const operation *op)
{
  const model_type *from = type_of(op, 0), *to = op->results[0]->type;
  size_t count;
  const int64_t *dims;
  if (op->code == OP_BROADCAST) {
    dims = op_int_list(v->m, op, "broadcast_sizes", &count);
    WANT(to->rank == from->rank + count, "%s: the result has %u dimensions, not %zu", op->name,
         to->rank, from->rank + count);
    for (size_t i = 0; i < to->rank; ++i)
      WANT(to->dims[i] == (i < count ? dims[i] : from->dims[i - count]),
           "%s: dimension %zu of the result is %lld", op->name, i, (long long)to->dims[i]);
    return NULL;
  }
  dims = op_int_list(v->m, op, "broadcast_dimensions", &count);
  WANT(count == from->rank, "%s: 'broadcast_dimensions' is to have %u numbers", op->name,
       from->rank);
  POP_TRY(want_dims(v, op, "broadcast_dimensions", dims, count, to->rank));
  for (size_t i = 0; i < count; ++i)
    WANT(from->dims[i] == 1 || from->dims[i] == to->dims[dims[i]],
         "%s: dimension %zu of the operand is %lld, and %lld is dimension %lld of the result",
         op->name, i, (long long)from->dims[i], (long long)to->dims[dims[i]], (long long)dims[i]);
  return NULL;
}

static pop_error *verify_transpose(verifier *v, const operation *op)
{
  const model_type *from = type_of(op, 0);
  size_t count;
  const int64_t *permutation = op_int_list(v->m, op, "permutation", &count);
  int64_t dims[MODEL_MAX_RANK];
  WANT(count == from->rank, "%s: 'permutation' is to have %u numbers", op->name, from->rank);
  POP_TRY(want_dims(v, op, "permutation", permutation, count, from->rank));
  for (size_t i = 0; i < count; ++i) dims[i] = from->dims[permutation[i]];
  return want_shape(v, op, op->results[0]->type, dims, from->rank);
}

static pop_error *verify_slice(verifier *v, const operation *op)
{
  const model_type *from = type_of(op, 0);
  const int64_t *begin, *end, *stride;
  int64_t dims[MODEL_MAX_RANK];
  POP_TRY(want_ints(v, op, "start_indices", from->rank, 0, 0, UINT32_MAX, &begin));
  POP_TRY(want_ints(v, op, "limit_indices", from->rank, -1, 0, UINT32_MAX, &end));
  POP_TRY(want_ints(v, op, "strides", from->rank, 1, 1, UINT32_MAX, &stride));
  for (uint32_t d = 0; d < from->rank; ++d) {
    WANT(begin[d] <= end[d] && end[d] <= from->dims[d],
         "%s: [%lld:%lld] of dimension %u, which has %lld elements", op->name, (long long)begin[d],
         (long long)end[d], d, (long long)from->dims[d]);
    dims[d] = (end[d] - begin[d] + stride[d] - 1) / stride[d];
  }
  return want_shape(v, op, op->results[0]->type, dims, from->rank);
}

static pop_error *verify_dynamic_slice(verifier *v, const operation *op)
{
  bool update = op->code == OP_DYNAMIC_UPDATE_SLICE;
  size_t first = update ? 2 : 1;
  WANT(op->num_operands >= first, "%s has too few operands", op->name);
  const model_type *from = type_of(op, 0), *slice = update ? type_of(op, 1) : op->results[0]->type;
  POP_TRY(want_counts(v, op, first + from->rank, 1, 0));
  for (size_t i = first; i < op->num_operands; ++i)
    WANT(type_of(op, i)->rank == 0 && element_is_integer(type_of(op, i)->element),
         "%s: start indices are integer scalars", op->name);
  WANT(slice->rank == from->rank, "%s: the slice has %u dimensions, the operand %u", op->name,
       slice->rank, from->rank);
  for (uint32_t d = 0; d < from->rank; ++d)
    WANT(slice->dims[d] <= from->dims[d], "%s: the slice is larger in dimension %u", op->name, d);
  if (update) return want_shape(v, op, op->results[0]->type, from->dims, from->rank);
  const int64_t *sizes;
  POP_TRY(want_ints(v, op, "slice_sizes", from->rank, -1, 0, UINT32_MAX, &sizes));
  return want_shape(v, op, op->results[0]->type, sizes, from->rank);
}

static pop_error *verify_pad(verifier *v, const operation *op)
{
  POP_TRY(want_counts(v, op, 2, 1, 0));
  const model_type *from = type_of(op, 0);
  const int64_t *low, *high, *interior;
  int64_t dims[MODEL_MAX_RANK], least = -(int64_t)UINT32_MAX;
  WANT(type_of(op, 1)->rank == 0 && same_element(type_of(op, 1), from),
       "%s: the padding value is a scalar of %s", op->name, element_infos[from->element].name);
  POP_TRY(want_ints(v, op, "edge_padding_low", from->rank, 0, least, UINT32_MAX, &low));
  POP_TRY(want_ints(v, op, "edge_padding_high", from->rank, 0, least, UINT32_MAX, &high));
  POP_TRY(want_ints(v, op, "interior_padding", from->rank, 0, 0, UINT16_MAX, &interior));
  for (uint32_t d = 0; d < from->rank; ++d) {
    int64_t n = from->dims[d];
    dims[d] = low[d] + high[d] + n + (n > 1 ? n - 1 : 0) * interior[d];
    WANT(dims[d] >= 0, "%s: dimension %u of the result is negative", op->name, d);
  }
  return want_shape(v, op, op->results[0]->type, dims, from->rank);
}

static pop_error *verify_concatenate(verifier *v, const operation *op)
{
  WANT(op->num_operands >= 1, "%s has no operands", op->name);
  const model_type *to = op->results[0]->type;
  int64_t dimension = op_int(op, "dimension", -1), sum = 0;
  WANT(dimension >= 0 && dimension < to->rank, "%s: there is no dimension %lld", op->name,
       (long long)dimension);
  for (size_t i = 0; i < op->num_operands; ++i) {
    const model_type *t = type_of(op, i);
    WANT(t->rank == to->rank && same_element(t, to), "%s: operand %zu is %s", op->name, i,
         type_text(v->m->arena, t));
    for (uint32_t d = 0; d < t->rank; ++d)
      WANT(d == dimension || t->dims[d] == to->dims[d], "%s: operand %zu is %s, the result %s",
           op->name, i, type_text(v->m->arena, t), type_text(v->m->arena, to));
    sum += t->dims[dimension];
  }
  WANT(sum == to->dims[dimension], "%s: dimension %lld of the result is %lld, not %lld", op->name,
       (long long)dimension, (long long)sum, (long long)to->dims[dimension]);
  return NULL;
}

static pop_error *verify_bitcast(verifier *v, const operation *op)
{
  const model_type *from = type_of(op, 0), *to = op->results[0]->type;
  unsigned a = element_bits(from->element), b = element_bits(to->element);
  if (a == 1 || b == 1) {
    WANT(a == b && type_same_shape(from, to), "%s between %s and %s is not supported", op->name,
         element_infos[from->element].name, element_infos[to->element].name);
    return NULL;
  }
  const model_type *small = a < b ? from : to, *large = a < b ? to : from;
  uint32_t rank = large->rank;
  bool good =
      a == b ? type_same_shape(from, to)
             : small->rank == rank + 1 && small->dims[rank] == (a < b ? b / a : a / b) &&
                   (rank == 0 || memcmp(small->dims, large->dims, rank * sizeof *small->dims) == 0);
  WANT(good, "%s: %s cannot be the bits of %s", op->name, type_text(v->m->arena, to),
       type_text(v->m->arena, from));
  return NULL;
}

typedef struct dims_list {
  const int64_t *dims;
  size_t count;
} dims_list;

static pop_error *dict_dims(verifier *v, const operation *op, const attribute *dn, const char *name,
                            uint32_t rank, dims_list *list)
{
  list->dims = dict_int_list(v->m, dn, name, &list->count);
  return want_dims(v, op, name, list->dims, list->count, rank);
}

static bool listed(const dims_list *l, int64_t d)
{
  for (size_t i = 0; i < l->count; ++i)
    if (l->dims[i] == d) return true;
  return false;
}

static pop_error *verify_gather(verifier *v, const operation *op)
{
  POP_TRY(want_counts(v, op, op->code == OP_GATHER ? 2 : 3, 1, 0));
  const attribute *dn = op_attribute(op, "dimension_numbers");
  WANT(dn && dn->kind == ATTRIBUTE_DICT, "%s has no dimension_numbers", op->name);
  const model_type *from = type_of(op, 0), *indices = type_of(op, 1), *to = op->results[0]->type;
  dims_list offset, collapsed, batch, indices_batch, map;
  int64_t vector = dict_int(dn, "index_vector_dim", 0);
  WANT(vector >= 0 && vector <= indices->rank, "%s: index_vector_dim is %lld", op->name,
       (long long)vector);
  WANT(element_is_integer(indices->element), "%s: indices are integers", op->name);
  POP_TRY(dict_dims(v, op, dn, "offset_dims", to->rank, &offset));
  POP_TRY(dict_dims(v, op, dn, "collapsed_slice_dims", from->rank, &collapsed));
  POP_TRY(dict_dims(v, op, dn, "operand_batching_dims", from->rank, &batch));
  POP_TRY(dict_dims(v, op, dn, "start_indices_batching_dims", indices->rank, &indices_batch));
  POP_TRY(dict_dims(v, op, dn, "start_index_map", from->rank, &map));
  WANT(map.count == (vector < indices->rank ? (size_t)indices->dims[vector] : 1),
       "%s: start_index_map is to have as many dimensions as an index", op->name);
  WANT(batch.count == indices_batch.count && !listed(&indices_batch, vector),
       "%s: batching dimensions do not match", op->name);
  WANT(offset.count + collapsed.count + batch.count == from->rank,
       "%s: offset_dims, collapsed_slice_dims and operand_batching_dims are all %u dimensions",
       op->name, from->rank);
  uint32_t batch_rank = indices->rank - (vector < indices->rank ? 1 : 0);
  WANT(to->rank == batch_rank + offset.count, "%s: the result has %u dimensions, not %zu", op->name,
       to->rank, batch_rank + offset.count);
  size_t next = 0, at = 0, num_sizes;
  const int64_t *sizes = op_int_list(v->m, op, "slice_sizes", &num_sizes);
  WANT(num_sizes == (op->code == OP_GATHER ? from->rank : 0), "%s: slice_sizes has %zu numbers",
       op->name, num_sizes);
  for (uint32_t d = 0; d < from->rank; ++d) {
    bool inside = listed(&collapsed, d) || listed(&batch, d);
    int64_t size = num_sizes ? sizes[d] : inside ? 1 : to->dims[offset.dims[at]];
    WANT(size >= 0 && size <= from->dims[d] && (!inside || size <= 1),
         "%s: slice size %lld of dimension %u", op->name, (long long)size, d);
    if (inside) continue;
    WANT(to->dims[offset.dims[at]] == size, "%s: dimension %lld of the result is to be %lld",
         op->name, (long long)offset.dims[at], (long long)size);
    at++;
  }
  for (uint32_t d = 0; d < indices->rank; ++d) {
    if (d == vector) continue;
    while (listed(&offset, (int64_t)next)) next++;
    WANT(to->dims[next] == indices->dims[d], "%s: dimension %zu of the result is to be %lld",
         op->name, next, (long long)indices->dims[d]);
    next++;
  }
  for (size_t k = 0; k < batch.count; ++k)
    WANT(from->dims[batch.dims[k]] == indices->dims[indices_batch.dims[k]],
         "%s: batching dimensions differ in size", op->name);
  return NULL;
}

static pop_error *verify_scatter(verifier *v, const operation *op)
{
  size_t inputs = op->num_operands / 2;
  WANT(op->num_operands % 2 == 1 && inputs >= 1 && op->num_results == inputs &&
           op->num_regions == 1,
       "%s has inputs, indices and as many updates, one result for each input, and a region",
       op->name);
  const attribute *dn = op_attribute(op, "scatter_dimension_numbers");
  WANT(dn && dn->kind == ATTRIBUTE_DICT, "%s has no scatter_dimension_numbers", op->name);
  const model_type *to = type_of(op, 0), *indices = type_of(op, inputs);
  const model_type *updates = type_of(op, inputs + 1);
  dims_list window, inserted, batch, indices_batch, map;
  int64_t vector = dict_int(dn, "index_vector_dim", 0);
  WANT(vector >= 0 && vector <= indices->rank, "%s: index_vector_dim is %lld", op->name,
       (long long)vector);
  WANT(element_is_integer(indices->element), "%s: indices are integers", op->name);
  POP_TRY(dict_dims(v, op, dn, "update_window_dims", updates->rank, &window));
  POP_TRY(dict_dims(v, op, dn, "inserted_window_dims", to->rank, &inserted));
  POP_TRY(dict_dims(v, op, dn, "input_batching_dims", to->rank, &batch));
  POP_TRY(dict_dims(v, op, dn, "scatter_indices_batching_dims", indices->rank, &indices_batch));
  POP_TRY(dict_dims(v, op, dn, "scatter_dims_to_operand_dims", to->rank, &map));
  WANT(map.count == (vector < indices->rank ? (size_t)indices->dims[vector] : 1),
       "%s: scatter_dims_to_operand_dims is to have as many dimensions as an index", op->name);
  WANT(batch.count == indices_batch.count && !listed(&indices_batch, vector),
       "%s: batching dimensions do not match", op->name);
  WANT(window.count + inserted.count + batch.count == to->rank,
       "%s: update_window_dims, inserted_window_dims and input_batching_dims are all %u dimensions",
       op->name, to->rank);
  uint32_t batch_rank = indices->rank - (vector < indices->rank ? 1 : 0);
  WANT(updates->rank == batch_rank + window.count, "%s: updates have %u dimensions, not %zu",
       op->name, updates->rank, batch_rank + window.count);
  size_t next = 0, at = 0;
  for (uint32_t d = 0; d < to->rank; ++d) {
    if (listed(&inserted, d) || listed(&batch, d)) continue;
    WANT(updates->dims[window.dims[at]] <= to->dims[d],
         "%s: the window of the updates is larger than dimension %u", op->name, d);
    at++;
  }
  for (uint32_t d = 0; d < indices->rank; ++d) {
    if (d == vector) continue;
    while (listed(&window, (int64_t)next)) next++;
    WANT(updates->dims[next] == indices->dims[d], "%s: dimension %zu of updates is to be %lld",
         op->name, next, (long long)indices->dims[d]);
    next++;
  }
  for (size_t k = 0; k < batch.count; ++k)
    WANT(to->dims[batch.dims[k]] == indices->dims[indices_batch.dims[k]],
         "%s: batching dimensions differ in size", op->name);
  for (size_t i = 0; i < inputs; ++i) {
    WANT(type_same_shape(type_of(op, i), to) &&
             type_same_shape(type_of(op, inputs + 1 + i), updates) &&
             same_element(type_of(op, i), type_of(op, inputs + 1 + i)) &&
             type_equal(op->results[i]->type, type_of(op, i)),
         "%s: input, updates and result %zu do not match", op->name, i);
  }
  return verify_reducer(v, op, 0, inputs, 0);
}

/* ---- calculated ---- */

static pop_error *verify_reduce(verifier *v, const operation *op)
{
  size_t inputs = op->num_operands / 2, count;
  WANT(op->num_operands % 2 == 0 && inputs >= 1 && op->num_results == inputs &&
           op->num_regions == 1,
       "%s has inputs, as many initial values and results, and a region", op->name);
  const model_type *from = type_of(op, 0);
  const int64_t *dims = op_int_list(v->m, op, "dimensions", &count);
  POP_TRY(want_dims(v, op, "dimensions", dims, count, from->rank));
  int64_t kept[MODEL_MAX_RANK];
  uint32_t rank = 0;
  for (uint32_t d = 0; d < from->rank; ++d) {
    bool reduced = false;
    for (size_t i = 0; i < count; ++i) reduced = reduced || dims[i] == d;
    if (!reduced) kept[rank++] = from->dims[d];
  }
  for (size_t i = 0; i < inputs; ++i) {
    WANT(type_same_shape(type_of(op, i), from) && type_of(op, inputs + i)->rank == 0 &&
             same_element(type_of(op, i), type_of(op, inputs + i)) &&
             same_element(type_of(op, i), op->results[i]->type),
         "%s: input, initial value and result %zu do not match", op->name, i);
    POP_TRY(want_shape(v, op, op->results[i]->type, kept, rank));
  }
  return verify_reducer(v, op, 0, inputs, 0);
}

/* The size that a window gives a dimension. */
static int64_t windowed(int64_t size, int64_t low, int64_t high, int64_t base, int64_t window,
                        int64_t dilation, int64_t stride)
{
  int64_t dilated = size ? (size - 1) * base + 1 : 0, padded = low + dilated + high;
  int64_t w = window ? (window - 1) * dilation + 1 : 0;
  return padded < w || padded == 0 ? 0 : (padded - w) / stride + 1;
}

enum { MOST_PADDING = 1 << 30 };

static pop_error *verify_reduce_window(verifier *v, const operation *op)
{
  size_t inputs = op->num_operands / 2;
  WANT(op->num_operands % 2 == 0 && inputs >= 1 && op->num_results == inputs &&
           op->num_regions == 1,
       "%s has inputs, as many initial values and results, and a region", op->name);
  const model_type *from = type_of(op, 0);
  uint32_t rank = from->rank;
  const int64_t *window, *stride, *base, *dilation, *padding;
  int64_t dims[MODEL_MAX_RANK], most = 1 << 20;
  POP_TRY(want_ints(v, op, "window_dimensions", rank, -1, 1, UINT32_MAX, &window));
  POP_TRY(want_ints(v, op, "window_strides", rank, 1, 1, UINT32_MAX, &stride));
  POP_TRY(want_ints(v, op, "base_dilations", rank, 1, 1, most, &base));
  POP_TRY(want_ints(v, op, "window_dilations", rank, 1, 1, most, &dilation));
  POP_TRY(want_ints(v, op, "padding", 2 * (size_t)rank, 0, -MOST_PADDING, MOST_PADDING, &padding));
  for (uint32_t d = 0; d < rank; ++d)
    dims[d] = windowed(from->dims[d], padding[2 * d], padding[2 * d + 1], base[d], window[d],
                       dilation[d], stride[d]);
  for (size_t i = 0; i < inputs; ++i) {
    WANT(type_same_shape(type_of(op, i), from) && type_of(op, inputs + i)->rank == 0 &&
             same_element(type_of(op, i), type_of(op, inputs + i)) &&
             same_element(type_of(op, i), op->results[i]->type),
         "%s: input, initial value and result %zu do not match", op->name, i);
    POP_TRY(want_shape(v, op, op->results[i]->type, dims, rank));
  }
  return verify_reducer(v, op, 0, inputs, 0);
}

static pop_error *verify_select_and_scatter(verifier *v, const operation *op)
{
  POP_TRY(want_counts(v, op, 3, 1, 2));
  const model_type *from = type_of(op, 0), *source = type_of(op, 1);
  uint32_t rank = from->rank;
  const int64_t *window, *stride, *padding;
  int64_t dims[MODEL_MAX_RANK];
  POP_TRY(want_ints(v, op, "window_dimensions", rank, 1, 1, UINT32_MAX, &window));
  POP_TRY(want_ints(v, op, "window_strides", rank, 1, 1, UINT32_MAX, &stride));
  POP_TRY(want_ints(v, op, "padding", 2 * (size_t)rank, 0, -MOST_PADDING, MOST_PADDING, &padding));
  for (uint32_t d = 0; d < rank; ++d)
    dims[d] =
        windowed(from->dims[d], padding[2 * d], padding[2 * d + 1], 1, window[d], 1, stride[d]);
  POP_TRY(want_shape(v, op, source, dims, rank));
  POP_TRY(want_shape(v, op, op->results[0]->type, from->dims, rank));
  WANT(same_element(from, source) && same_element(from, type_of(op, 2)) &&
           type_of(op, 2)->rank == 0 && same_element(from, op->results[0]->type),
       "%s: operand, source, initial value and result are of one type", op->name);
  POP_TRY(verify_region(v, op, 0, 2));
  WANT(op->regions[0].last->num_operands == 1 &&
           op->regions[0].last->operands[0]->type->element == ELEMENT_I1 &&
           same_element(op->regions[0].arguments[0]->type, from) &&
           same_element(op->regions[0].arguments[1]->type, from),
       "%s: select takes two elements and returns an i1", op->name);
  return verify_reducer(v, op, 1, 1, 0);
}

static pop_error *verify_sort(verifier *v, const operation *op)
{
  WANT(op->num_operands >= 1 && op->num_results == op->num_operands && op->num_regions == 1,
       "%s has as many results as operands, and a comparator", op->name);
  const model_type *from = type_of(op, 0);
  int64_t dimension = op_int(op, "dimension", -1);
  WANT(from->rank == 0 || (dimension >= -(int64_t)from->rank && dimension < from->rank),
       "%s: there is no dimension %lld", op->name, (long long)dimension);
  for (size_t i = 0; i < op->num_operands; ++i)
    WANT(type_same_shape(type_of(op, i), from) && type_equal(type_of(op, i), op->results[i]->type),
         "%s: operand and result %zu do not match", op->name, i);
  return verify_comparator(v, op, op->num_operands);
}

static pop_error *verify_top_k(verifier *v, const operation *op)
{
  POP_TRY(want_counts(v, op, 1, 2, 0));
  const model_type *from = type_of(op, 0), *to = op->results[0]->type;
  WANT(from->rank >= 1 && from->element != ELEMENT_C64, "%s: the operand is %s", op->name,
       type_text(v->m->arena, from));
  int64_t dims[MODEL_MAX_RANK], k = op_int(op, "k", to->rank ? to->dims[to->rank - 1] : -1);
  memcpy(dims, from->dims, from->rank * sizeof *dims);
  WANT(k >= 0 && k <= dims[from->rank - 1], "%s: k is %lld", op->name, (long long)k);
  dims[from->rank - 1] = k;
  POP_TRY(want_shape(v, op, to, dims, from->rank));
  POP_TRY(want_shape(v, op, op->results[1]->type, dims, from->rank));
  WANT(same_element(from, to) && op->results[1]->type->element == ELEMENT_I32,
       "%s: results are of %s and i32", op->name, element_infos[from->element].name);
  return NULL;
}

static pop_error *verify_triangular_solve(verifier *v, const operation *op)
{
  POP_TRY(want_counts(v, op, 2, 1, 0));
  const model_type *a = type_of(op, 0), *b = type_of(op, 1);
  WANT(a->rank >= 2 && b->rank == a->rank && same_element(a, b) &&
           (element_is_float(a->element) || a->element == ELEMENT_C64) &&
           type_equal(b, op->results[0]->type),
       "%s solves matrices of floating-point numbers; the result is as the second operand",
       op->name);
  int64_t m = a->dims[a->rank - 1];
  WANT(m == a->dims[a->rank - 2] &&
           m == b->dims[b->rank - (op_flag(op, "left_side", false) ? 2 : 1)] &&
           memcmp(a->dims, b->dims, (a->rank - 2) * sizeof *a->dims) == 0,
       "%s: %s does not go with %s", op->name, type_text(v->m->arena, a),
       type_text(v->m->arena, b));
  const char *transpose = op_word(op, "transpose_a");
  WANT(!*transpose || strcmp(transpose, "NO_TRANSPOSE") == 0 ||
           strcmp(transpose, "TRANSPOSE") == 0 || strcmp(transpose, "ADJOINT") == 0,
       "%s: transpose_a is NO_TRANSPOSE, TRANSPOSE or ADJOINT, not '%s'", op->name, transpose);
  return NULL;
}

static pop_error *verify_cholesky(verifier *v, const operation *op)
{
  POP_TRY(want_counts(v, op, 1, 1, 0));
  const model_type *a = type_of(op, 0);
  WANT(a->rank >= 2 && a->dims[a->rank - 1] == a->dims[a->rank - 2] &&
           (element_is_float(a->element) || a->element == ELEMENT_C64) &&
           type_equal(a, op->results[0]->type),
       "%s is of square matrices of floating-point numbers, not of %s; the result is alike",
       op->name, type_text(v->m->arena, a));
  return NULL;
}

static pop_error *verify_rng_bit_generator(verifier *v, const operation *op)
{
  POP_TRY(want_counts(v, op, 1, 2, 0));
  const model_type *state = type_of(op, 0);
  const char *algorithm = op_word(op, "rng_algorithm");
  bool threefry = strcmp(algorithm, "THREE_FRY") == 0;
  WANT(threefry || strcmp(algorithm, "PHILOX") == 0 || strcmp(algorithm, "DEFAULT") == 0,
       "%s: rng_algorithm is THREE_FRY, PHILOX or DEFAULT, not '%s'", op->name, algorithm);
  WANT(state->rank == 1 && state->element == ELEMENT_U64 &&
           (state->dims[0] == 2 || (state->dims[0] == 3 && !threefry)) &&
           type_equal(state, op->results[0]->type),
       "%s: the state is tensor<2xui64>%s, before and after, not %s", op->name,
       threefry ? "" : " or tensor<3xui64>", type_text(v->m->arena, state));
  if (!element_is_integer(op->results[1]->type->element))
    name_unsupported(v, op->offset, "rng_bit_generator of other than integers");
  return NULL;
}

static pop_error *verify_dot(verifier *v, const operation *op)
{
  POP_TRY(want_counts(v, op, 2, 1, 0));
  const model_type *a = type_of(op, 0), *b = type_of(op, 1);
  dims_list batch[2] = {{NULL, 0}, {NULL, 0}}, contracting[2] = {{NULL, 0}, {NULL, 0}};
  int64_t last = (int64_t)a->rank - 1, zero = 0, dims[2 * MODEL_MAX_RANK];
  if (op->code == OP_DOT) {
    WANT(a->rank >= 1 && a->rank <= 2 && b->rank >= 1 && b->rank <= 2,
         "%s takes vectors and matrices", op->name);
    contracting[0] = (dims_list){&last, 1};
    contracting[1] = (dims_list){&zero, 1};
  } else {
    const attribute *dn = op_attribute(op, "dot_dimension_numbers");
    POP_TRY(dict_dims(v, op, dn, "lhs_batching_dimensions", a->rank, &batch[0]));
    POP_TRY(dict_dims(v, op, dn, "rhs_batching_dimensions", b->rank, &batch[1]));
    POP_TRY(dict_dims(v, op, dn, "lhs_contracting_dimensions", a->rank, &contracting[0]));
    POP_TRY(dict_dims(v, op, dn, "rhs_contracting_dimensions", b->rank, &contracting[1]));
  }
  WANT(batch[0].count == batch[1].count && contracting[0].count == contracting[1].count,
       "%s: both sides have as many batching and contracting dimensions", op->name);
  uint32_t rank = 0;
  for (size_t i = 0; i < batch[0].count; ++i) {
    WANT(!listed(&contracting[0], batch[0].dims[i]) && !listed(&contracting[1], batch[1].dims[i]),
         "%s: a dimension is both batching and contracting", op->name);
    WANT(a->dims[batch[0].dims[i]] == b->dims[batch[1].dims[i]],
         "%s: batching dimensions differ in size", op->name);
    dims[rank++] = a->dims[batch[0].dims[i]];
  }
  for (size_t i = 0; i < contracting[0].count; ++i)
    WANT(a->dims[contracting[0].dims[i]] == b->dims[contracting[1].dims[i]],
         "%s: contracting dimensions have %lld and %lld elements", op->name,
         (long long)a->dims[contracting[0].dims[i]], (long long)b->dims[contracting[1].dims[i]]);
  for (uint32_t d = 0; d < a->rank; ++d)
    if (!listed(&batch[0], d) && !listed(&contracting[0], d)) dims[rank++] = a->dims[d];
  for (uint32_t d = 0; d < b->rank; ++d)
    if (!listed(&batch[1], d) && !listed(&contracting[1], d)) dims[rank++] = b->dims[d];
  WANT(rank <= MODEL_MAX_RANK, "%s: the result has too many dimensions", op->name);
  return want_shape(v, op, op->results[0]->type, dims, rank);
}

static size_t role(const int64_t *roles, size_t count, int64_t which)
{
  size_t d = 0;
  while (d < count && roles[d] != which) d++;
  return d;
}

static pop_error *verify_convolution(verifier *v, const operation *op)
{
  POP_TRY(want_counts(v, op, 2, 1, 0));
  const attribute *dn = op_attribute(op, "dimension_numbers");
  const model_type *types[3] = {type_of(op, 0), type_of(op, 1), op->results[0]->type};
  static const char *const names[3] = {"input", "kernel", "output"};
  const int64_t *roles[3];
  uint32_t rank = types[0]->rank;
  WANT(dn && dn->kind == ATTRIBUTE_DICT && rank >= 2, "%s has no dimension numbers", op->name);
  for (int i = 0; i < 3; ++i) {
    size_t count;
    roles[i] = dict_int_list(v->m, dn, names[i], &count);
    WANT(count == rank && types[i]->rank == rank, "%s: %s is to have %u dimensions", op->name,
         names[i], rank);
    for (int64_t which = -2; which < (int64_t)rank - 2; ++which)
      WANT(role(roles[i], rank, which) < rank, "%s: dimensions of %s are not complete", op->name,
           names[i]);
  }
  size_t spatial = rank - 2;
  const int64_t *stride, *padding, *base, *dilation, *reversal;
  int64_t most = 1 << 20;
  POP_TRY(want_ints(v, op, "window_strides", spatial, 1, 1, UINT32_MAX, &stride));
  POP_TRY(want_ints(v, op, "padding", 2 * spatial, 0, -MOST_PADDING, MOST_PADDING, &padding));
  POP_TRY(want_ints(v, op, "lhs_dilation", spatial, 1, 1, most, &base));
  POP_TRY(want_ints(v, op, "rhs_dilation", spatial, 1, 1, most, &dilation));
  POP_TRY(want_ints(v, op, "window_reversal", spatial, 0, 0, 1, &reversal));
  int64_t groups = op_int(op, "feature_group_count", 1);
  int64_t batch_groups = op_int(op, "batch_group_count", 1);
  int64_t batch = types[0]->dims[role(roles[0], rank, -1)];
  int64_t features = types[0]->dims[role(roles[0], rank, -2)];
  int64_t out = types[1]->dims[role(roles[1], rank, -2)];
  WANT(groups >= 1 && batch_groups >= 1 && (groups == 1 || batch_groups == 1) &&
           features % groups == 0 && batch % batch_groups == 0 && out % groups == 0 &&
           out % batch_groups == 0,
       "%s: group counts do not divide features and batches", op->name);
  WANT(types[1]->dims[role(roles[1], rank, -1)] == features / groups,
       "%s: the kernel is to have %lld input features", op->name, (long long)(features / groups));
  int64_t dims[MODEL_MAX_RANK];
  dims[role(roles[2], rank, -1)] = batch / batch_groups;
  dims[role(roles[2], rank, -2)] = out;
  for (size_t s = 0; s < spatial; ++s)
    dims[role(roles[2], rank, (int64_t)s)] = windowed(
        types[0]->dims[role(roles[0], rank, (int64_t)s)], padding[2 * s], padding[2 * s + 1],
        base[s], types[1]->dims[role(roles[1], rank, (int64_t)s)], dilation[s], stride[s]);
  return want_shape(v, op, types[2], dims, rank);
}

static pop_error *verify_fft(verifier *v, const operation *op)
{
  POP_TRY(want_counts(v, op, 1, 1, 0));
  const model_type *from = type_of(op, 0), *to = op->results[0]->type;
  const char *type = op_word(op, "fft_type");
  bool real_in = strcmp(type, "RFFT") == 0, real_out = strcmp(type, "IRFFT") == 0;
  size_t count;
  const int64_t *length = op_int_list(v->m, op, "fft_length", &count);
  WANT(real_in || real_out || strcmp(type, "FFT") == 0 || strcmp(type, "IFFT") == 0,
       "%s: the type is FFT, IFFT, RFFT or IRFFT, not '%s'", op->name, type);
  WANT(count >= 1 && count <= 3 && count <= from->rank && to->rank == from->rank,
       "%s: there are 1 to 3 lengths, at most one for each dimension", op->name);
  WANT(from->element == (real_in ? ELEMENT_F32 : ELEMENT_C64) &&
           to->element == (real_out ? ELEMENT_F32 : ELEMENT_C64),
       "%s: %s of %s is not supported", op->name, type, element_infos[from->element].name);
  for (uint32_t d = 0; d < from->rank; ++d) {
    bool in = d + count >= from->rank, last = d + 1 == from->rank;
    int64_t n = in ? length[d + count - from->rank] : from->dims[d];
    int64_t half = n / 2 + 1;
    WANT(n > 0 || !in, "%s: lengths are positive", op->name);
    WANT(n < 46341, "%s: a length is at most 46340", op->name);
    WANT(from->dims[d] == (last && real_out ? half : n) &&
             to->dims[d] == (last && real_in ? half : n),
         "%s: dimension %u does not match the length", op->name, d);
  }
  return NULL;
}

static pop_error *verify_batch_norm(verifier *v, const operation *op)
{
  POP_TRY(want_counts(v, op, 5, 1, 0));
  const model_type *from = type_of(op, 0);
  int64_t feature = op_int(op, "feature_index", -1);
  WANT(feature >= 0 && feature < from->rank && element_is_float(from->element),
       "%s: feature_index is %lld", op->name, (long long)feature);
  for (size_t i = 1; i < 5; ++i)
    WANT(type_of(op, i)->rank == 1 && type_of(op, i)->dims[0] == from->dims[feature] &&
             same_element(type_of(op, i), from),
         "%s: operand %zu is %s", op->name, i, type_text(v->m->arena, type_of(op, i)));
  WANT(type_equal(op->results[0]->type, from), "%s: the result has the operand's type", op->name);
  return NULL;
}

static pop_error *verify_index(verifier *v, const operation *op)
{
  if (op->code != OP_CONSTANT) POP_TRY(want_tensors(v, op));
  WANT(op->num_results >= 1, "%s has no result", op->name);
  WANT(op->code == OP_CONSTANT || op->code == OP_IOTA || op->code == OP_DYNAMIC_IOTA ||
           op->num_operands >= 1,
       "%s has no operand", op->name);
  const model_type *to = op->results[0]->type, *from = op->num_operands ? type_of(op, 0) : to;
  switch (op->code) {
  case OP_CONSTANT:
    return verify_constant(v, op);
  case OP_IOTA:
  case OP_DYNAMIC_IOTA: {
    int64_t d = op_int(op, "iota_dimension", -1);
    WANT(op->num_results == 1 && d >= 0 && d < to->rank, "%s: there is no dimension %lld", op->name,
         (long long)d);
    WANT(to->element != ELEMENT_I1, "%s of i1", op->name);
    return NULL;
  }
  case OP_GET_DIMENSION_SIZE: {
    int64_t d = op_int(op, "dimension", -1);
    WANT(op->num_operands == 1 && d >= 0 && d < from->rank && to->rank == 0 &&
             to->element == ELEMENT_I32,
         "%s: there is no dimension %lld", op->name, (long long)d);
    return NULL;
  }
  default:
    break;
  }
  if (op->code == OP_BITCAST_CONVERT) {
    POP_TRY(want_counts(v, op, 1, 1, 0));
    return verify_bitcast(v, op);
  }
  bool same = op->code != OP_DOT && op->code != OP_DOT_GENERAL && op->code != OP_CONVOLUTION &&
              op->code != OP_MAP && op->code != OP_FFT;
  WANT(!same || same_element(from, to), "%s of %s has a result of %s", op->name,
       element_infos[from->element].name, element_infos[to->element].name);
  size_t count;
  const int64_t *dims;
  switch (op->code) {
  case OP_RESHAPE:
  case OP_DYNAMIC_RESHAPE:
    POP_TRY(want_counts(v, op, op->code == OP_RESHAPE ? 1 : 2, 1, 0));
    WANT(type_elements(from) == type_elements(to), "%s: %s and %s have not as many elements",
         op->name, type_text(v->m->arena, from), type_text(v->m->arena, to));
    return NULL;
  case OP_BROADCAST:
  case OP_BROADCAST_IN_DIM:
  case OP_DYNAMIC_BROADCAST_IN_DIM:
    POP_TRY(want_counts(v, op, op->code == OP_DYNAMIC_BROADCAST_IN_DIM ? 2 : 1, 1, 0));
    return verify_broadcast(v, op);
  case OP_TRANSPOSE:
    POP_TRY(want_counts(v, op, 1, 1, 0));
    return verify_transpose(v, op);
  case OP_REVERSE:
    POP_TRY(want_counts(v, op, 1, 1, 0));
    dims = op_int_list(v->m, op, "dimensions", &count);
    POP_TRY(want_dims(v, op, "dimensions", dims, count, from->rank));
    return want_shape(v, op, to, from->dims, from->rank);
  case OP_SLICE:
    POP_TRY(want_counts(v, op, 1, 1, 0));
    return verify_slice(v, op);
  case OP_REAL_DYNAMIC_SLICE:
    POP_TRY(want_counts(v, op, 4, 1, 0));
    for (size_t i = 1; i < 4; ++i)
      WANT(type_of(op, i)->rank == 1 && type_of(op, i)->dims[0] == from->rank &&
               element_is_integer(type_of(op, i)->element) && to->rank == from->rank,
           "%s: operand %zu has an integer for each dimension", op->name, i);
    return NULL;
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
    POP_TRY(want_counts(v, op, op->num_operands, 1, 1));
    for (size_t i = 0; i < op->num_operands; ++i)
      WANT(type_same_shape(type_of(op, i), to), "%s: operand %zu has another shape", op->name, i);
    POP_TRY(verify_region(v, op, 0, op->num_operands));
    for (size_t i = 0; i < op->num_operands; ++i)
      WANT(same_element(op->regions[0].arguments[i]->type, type_of(op, i)),
           "%s: argument %zu of the region has another type", op->name, i);
    WANT(op->regions[0].last->num_operands == 1 &&
             same_element(op->regions[0].last->operands[0]->type, to),
         "%s: the region returns one %s", op->name, element_infos[to->element].name);
    return NULL;
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

/* ---- control flow and the rest ---- */

static pop_error *want_types(verifier *v, const operation *op, const char *what,
                             value *const *values, size_t count, value *const *as, size_t wanted)
{
  WANT(count == wanted, "%s: %s are %zu values, not %zu", op->name, what, wanted, count);
  for (size_t i = 0; i < count; ++i)
    WANT(type_equal(values[i]->type, as[i]->type), "%s: %s: value %zu is %s, not %s", op->name,
         what, i, type_text(v->m->arena, as[i]->type), type_text(v->m->arena, values[i]->type));
  return NULL;
}

static pop_error *verify_flow(verifier *v, const operation *op)
{
  if (op->code == OP_WHILE) {
    WANT(op->num_regions == 2, "%s has two regions", op->name);
    const block *condition = &op->regions[0], *body = &op->regions[1];
    POP_TRY(
        want_types(v, op, "results", op->results, op->num_results, op->operands, op->num_operands));
    POP_TRY(want_types(v, op, "arguments of the condition", condition->arguments,
                       condition->num_arguments, op->operands, op->num_operands));
    POP_TRY(want_types(v, op, "arguments of the body", body->arguments, body->num_arguments,
                       op->operands, op->num_operands));
    POP_TRY(want_types(v, op, "what the body returns", body->last->operands,
                       body->last->num_operands, op->operands, op->num_operands));
    const operation *last = condition->last;
    WANT(last->num_operands == 1 && last->operands[0]->type->kind == TYPE_TENSOR &&
             last->operands[0]->type->rank == 0 && last->operands[0]->type->element == ELEMENT_I1,
         "%s: the condition returns one i1", op->name);
    return NULL;
  }
  WANT(op->num_operands == 1 && op->num_regions >= 1 && type_of(op, 0)->kind == TYPE_TENSOR &&
           type_of(op, 0)->rank == 0,
       "%s takes one scalar", op->name);
  WANT(type_of(op, 0)->element == (op->code == OP_IF ? ELEMENT_I1 : ELEMENT_I32), "%s takes an %s",
       op->name, op->code == OP_IF ? "i1" : "i32");
  WANT(op->code != OP_IF || op->num_regions == 2, "%s has two regions", op->name);
  for (size_t i = 0; i < op->num_regions; ++i) {
    WANT(op->regions[i].num_arguments == 0, "branches of %s have no arguments", op->name);
    POP_TRY(want_types(v, op, "what a branch returns", op->regions[i].last->operands,
                       op->regions[i].last->num_operands, op->results, op->num_results));
  }
  return NULL;
}

static pop_error *verify_check(verifier *v, const operation *op)
{
  bool constant = op->code == OP_EXPECT_EQ_CONST || op->code == OP_EXPECT_ALMOST_EQ_CONST;
  POP_TRY(want_counts(v, op, constant ? 1 : 2, 0, 0));
  POP_TRY(want_tensors(v, op));
  const attribute *a = op_attribute(op, "value");
  WANT(!constant || (a && a->kind == ATTRIBUTE_DENSE), "%s has no value", op->name);
  const model_type *with = constant ? a->type : type_of(op, 1);
  WANT(type_equal(type_of(op, 0), with), "%s compares %s with %s", op->name,
       type_text(v->m->arena, type_of(op, 0)), type_text(v->m->arena, with));
  return NULL;
}

static pop_error *verify_other(verifier *v, const operation *op)
{
  switch (op->code) {
  case OP_AFTER_ALL:
  case OP_CREATE_TOKEN:
    WANT(op->num_results == 1 && op->results[0]->type->kind == TYPE_TOKEN, "%s makes a token",
         op->name);
    return NULL;
  case OP_TUPLE:
    WANT(op->num_results == 1 && op->results[0]->type->kind == TYPE_TUPLE &&
             op->results[0]->type->num_members == op->num_operands,
         "%s makes a tuple of its operands", op->name);
    for (size_t i = 0; i < op->num_operands; ++i)
      WANT(type_equal(type_of(op, i), op->results[0]->type->members[i]),
           "%s: member %zu has another type", op->name, i);
    return NULL;
  case OP_GET_TUPLE_ELEMENT: {
    POP_TRY(want_counts(v, op, 1, 1, 0));
    int64_t index = op_int(op, "index", -1);
    const model_type *t = type_of(op, 0);
    WANT(t->kind == TYPE_TUPLE && index >= 0 && index < t->num_members &&
             type_equal(t->members[index], op->results[0]->type),
         "%s: the operand has no such member", op->name);
    return NULL;
  }
  case OP_OPTIMIZATION_BARRIER:
    return want_types(v, op, "results", op->results, op->num_results, op->operands,
                      op->num_operands);
  case OP_RETURN:
    return NULL;
  default:
    if (op->code >= OP_EXPECT_ALMOST_EQ) return verify_check(v, op);
    name_unsupported(v, op->offset,
                     op->code == OP_CUSTOM_CALL ? pop_arena_printf(v->m->arena, "custom_call @%s",
                                                                   op_word(op, "call_target_name"))
                                                : op->name);
    return NULL;
  }
}

static pop_error *verify_range(verifier *v, const operation *op)
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

static pop_error *verify_op(verifier *v, const operation *op)
{
  for (size_t i = 0; i < op->num_results; ++i)
    POP_TRY(verify_type(v, op->results[i]->type, op->offset));
  for (size_t i = 0; i < op->num_regions; ++i) POP_TRY(verify_block(v, &op->regions[i]));
  if (op->code == OP_COUNT) {
    name_unsupported(v, op->offset, op->name);
    return NULL;
  }
  /* Of what is not supported no more is said. */
  for (size_t i = 0; i < op->num_operands + op->num_results; ++i) {
    const model_type *t =
        i < op->num_operands ? op->operands[i]->type : op->results[i - op->num_operands]->type;
    if (t->kind == TYPE_TENSOR && (t->unsupported || t->dynamic)) return NULL;
  }
  switch (op_infos[op->code].how) {
  case HOW_ELEMENT:
    return verify_element(v, op);
  case HOW_INDEX:
    return verify_index(v, op);
  case HOW_RANGE:
    return verify_range(v, op);
  case HOW_FLOW:
    return verify_flow(v, op);
  default:
    return verify_other(v, op);
  }
}

static pop_error *verify_block(verifier *v, const block *b)
{
  for (size_t i = 0; i < b->num_arguments; ++i) POP_TRY(verify_type(v, b->arguments[i]->type, 0));
  for (const operation *op = b->first; op; op = op->next) POP_TRY(verify_op(v, op));
  return NULL;
}

pop_error *module_verify(module *m, function *f)
{
  verifier v = {.m = m};
  pop_error *error = verify_block(&v, &f->body);
  if (!error && v.unsupported) error = pop_error_new(POP_ERROR_FILE_LOAD, "%s", v.unsupported);
  free(v.unsupported);
  return error;
}
