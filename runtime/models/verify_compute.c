/* Operations that calculate an element from many: reductions, windows, sorting, products,
 * transforms. */
#include "models/inline.h"
#include "models/verify.h"

pop_error *verify_reduce(verifier *v, const operation *op)
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
             same_element(type_of(op, i), type_of(op, inputs + i)),
         "%s: input and initial value %zu do not match", op->name, i);
    POP_TRY(want_shape(v, op, op->results[i]->type, kept, rank));
  }
  return verify_reducer(v, op, 0, inputs, 0);
}

/* The number of windows in a dimension. */
static int64_t windowed(int64_t size, int64_t low, int64_t high, int64_t base, int64_t window,
                        int64_t dilation, int64_t stride)
{
  int64_t dilated = size ? (size - 1) * base + 1 : 0, padded = low + dilated + high;
  int64_t w = window ? (window - 1) * dilation + 1 : 0;
  return padded < w || padded == 0 ? 0 : (padded - w) / stride + 1;
}

enum { MOST_PADDING = 1 << 30 };

pop_error *verify_reduce_window(verifier *v, const operation *op)
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
             same_element(type_of(op, i), type_of(op, inputs + i)),
         "%s: input and initial value %zu do not match", op->name, i);
    POP_TRY(want_shape(v, op, op->results[i]->type, dims, rank));
  }
  return verify_reducer(v, op, 0, inputs, 0);
}

pop_error *verify_select_and_scatter(verifier *v, const operation *op)
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
           type_of(op, 2)->rank == 0,
       "%s: operand, source and initial value are of one type", op->name);
  POP_TRY(verify_region(v, op, 0, 2));
  WANT(op->regions[0].last->num_operands == 1 &&
           op->regions[0].last->operands[0]->type->element == ELEMENT_I1 &&
           same_element(op->regions[0].arguments[0]->type, from) &&
           same_element(op->regions[0].arguments[1]->type, from),
       "%s: select takes two elements and returns an i1", op->name);
  return verify_reducer(v, op, 1, 1, 0);
}

pop_error *verify_sort(verifier *v, const operation *op)
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

pop_error *verify_top_k(verifier *v, const operation *op)
{
  POP_TRY(want_counts(v, op, 1, 2, 0));
  const model_type *from = type_of(op, 0), *to = op->results[0]->type;
  WANT(from->rank >= 1 && from->element != ELEMENT_C64, "%s: the operand is %s", op->name,
       type_text(v->m->arena, from));
  int64_t dims[MODEL_MAX_RANK], k = op_int(op, "k", to->rank ? to->dims[to->rank - 1] : -1);
  memcpy(dims, from->dims, from->rank * sizeof *dims);
  WANT(k >= 0 && k <= dims[from->rank - 1], "%s: k is %lld", op->name, (long long)k);
  const attribute *largest = op_attribute(op, "largest");
  WANT(!largest || largest->kind == ATTRIBUTE_BOOL, "%s: largest is true or false", op->name);
  dims[from->rank - 1] = k;
  POP_TRY(want_shape(v, op, to, dims, from->rank));
  POP_TRY(want_shape(v, op, op->results[1]->type, dims, from->rank));
  WANT(same_element(from, to) && op->results[1]->type->element == ELEMENT_I32,
       "%s: results are of %s and i32", op->name, element_infos[from->element].name);
  return NULL;
}

pop_error *verify_triangular_solve(verifier *v, const operation *op)
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

pop_error *verify_cholesky(verifier *v, const operation *op)
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

pop_error *verify_rng_bit_generator(verifier *v, const operation *op)
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

pop_error *verify_dot(verifier *v, const operation *op)
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

pop_error *verify_convolution(verifier *v, const operation *op)
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

pop_error *verify_fft(verifier *v, const operation *op)
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
    WANT(!in || n < 46341 || fft_is_long(v->m, op),
         "%s: no prime factor of a length may be above 46340", op->name);
    WANT(from->dims[d] == (last && real_out ? half : n) &&
             to->dims[d] == (last && real_in ? half : n),
         "%s: dimension %u does not match the length", op->name, d);
  }
  return NULL;
}

pop_error *verify_batch_norm(verifier *v, const operation *op)
{
  bool inference = op->code == OP_BATCH_NORM_INFERENCE;
  size_t rows = op->code == OP_BATCH_NORM_TRAINING ? 3 : inference ? 5 : 4;
  POP_TRY(want_counts(v, op, op->code == OP_BATCH_NORM_TRAINING ? 3 : 5, inference ? 1 : 3, 0));
  POP_TRY(want_tensors(v, op));
  const model_type *from = type_of(op, 0);
  int64_t feature = op_int(op, "feature_index", -1);
  WANT(feature >= 0 && feature < from->rank && element_is_float(from->element),
       "%s: feature_index is %lld", op->name, (long long)feature);
  for (size_t i = 1; i < rows; ++i)
    WANT(type_of(op, i)->rank == 1 && type_of(op, i)->dims[0] == from->dims[feature] &&
             same_element(type_of(op, i), from),
         "%s: operand %zu is %s", op->name, i, type_text(v->m->arena, type_of(op, i)));
  WANT(type_equal(op->results[0]->type, from), "%s: the result has the operand's type", op->name);
  WANT(op->code != OP_BATCH_NORM_GRAD || type_equal(type_of(op, 4), from),
       "%s: the gradient has the operand's type", op->name);
  for (size_t i = 1; i < op->num_results; ++i)
    WANT(type_equal(op->results[i]->type, type_of(op, 1)), "%s: result %zu is to be %s", op->name,
         i, type_text(v->m->arena, type_of(op, 1)));
  return NULL;
}

pop_error *verify_rng(verifier *v, const operation *op)
{
  POP_TRY(want_counts(v, op, 3, 1, 0));
  POP_TRY(want_tensors(v, op));
  const model_type *to = op->results[0]->type, *shape = type_of(op, 2);
  const char *how = op_word(op, "rng_distribution");
  for (size_t i = 0; i < 2; ++i)
    WANT(type_of(op, i)->rank == 0 && same_element(type_of(op, i), to),
         "%s: operand %zu is a scalar of the result's type", op->name, i);
  WANT(shape->rank == 1 && shape->dims[0] == to->rank && element_is_integer(shape->element),
       "%s: the shape has an integer for each dimension", op->name);
  WANT(strcmp(how, "UNIFORM") == 0 || strcmp(how, "NORMAL") == 0,
       "%s: rng_distribution is UNIFORM or NORMAL, not '%s'", op->name, how);
  WANT(element_is_float(to->element) ||
           ((element_is_integer(to->element) || to->element == ELEMENT_I1) &&
            strcmp(how, "UNIFORM") == 0),
       "%s: %s of %s is not supported", op->name, how, element_infos[to->element].name);
  return NULL;
}
