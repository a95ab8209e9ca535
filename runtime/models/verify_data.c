/* Operations that take elements from elsewhere: constants, shapes, slices, gather and scatter. */
#include "models/verify.h"

pop_error *verify_constant(verifier *v, const operation *op)
{
  POP_TRY(want_counts(v, op, 0, 1, 0));
  const attribute *a = op_attribute(op, "value");
  WANT(a && a->kind == ATTRIBUTE_DENSE, "%s has no value: dense<…> is expected", op->name);
  WANT(type_equal(a->type, op->results[0]->type), "the value of %s is %s, its result %s", op->name,
       type_text(v->m->arena, a->type), type_text(v->m->arena, op->results[0]->type));
  return NULL;
}

pop_error *verify_broadcast(verifier *v, const operation *op)
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

pop_error *verify_transpose(verifier *v, const operation *op)
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

pop_error *verify_slice(verifier *v, const operation *op)
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

pop_error *verify_dynamic_slice(verifier *v, const operation *op)
{
  bool update = op->code == OP_DYNAMIC_UPDATE_SLICE;
  size_t first = update ? 2 : 1;
  WANT(op->num_operands >= first, "%s has too few operands", op->name);
  const model_type *from = type_of(op, 0), *slice = update ? type_of(op, 1) : op->results[0]->type;
  POP_TRY(want_counts(v, op, first + from->rank, 1, 0));
  for (size_t i = first; i < op->num_operands; ++i)
    WANT(type_of(op, i)->rank == 0 && element_is_integer(type_of(op, i)->element),
         "%s: start indices are integer scalars", op->name);
  for (size_t i = first + 1; i < op->num_operands; ++i)
    WANT(same_element(type_of(op, i), type_of(op, first)), "%s: start indices are of one type",
         op->name);
  WANT(slice->rank == from->rank, "%s: the slice has %u dimensions, the operand %u", op->name,
       slice->rank, from->rank);
  for (uint32_t d = 0; d < from->rank; ++d)
    WANT(slice->dims[d] <= from->dims[d], "%s: the slice is larger in dimension %u", op->name, d);
  WANT(same_element(slice, from), "%s of %s has an update of %s", op->name,
       element_infos[from->element].name, element_infos[slice->element].name);
  if (update) return want_shape(v, op, op->results[0]->type, from->dims, from->rank);
  const int64_t *sizes;
  POP_TRY(want_ints(v, op, "slice_sizes", from->rank, -1, 0, UINT32_MAX, &sizes));
  return want_shape(v, op, op->results[0]->type, sizes, from->rank);
}

pop_error *verify_pad(verifier *v, const operation *op)
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

pop_error *verify_concatenate(verifier *v, const operation *op)
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

pop_error *verify_bitcast(verifier *v, const operation *op)
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

/* A dimension of the batch is not in the other list, too. */
static pop_error *want_apart(verifier *v, const operation *op, const char *name,
                             const dims_list *list, const dims_list *batch)
{
  for (size_t i = 0; i < batch->count; ++i)
    WANT(!listed(list, batch->dims[i]), "%s: '%s' has batching dimension %lld", op->name, name,
         (long long)batch->dims[i]);
  return NULL;
}

pop_error *verify_gather(verifier *v, const operation *op)
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
  POP_TRY(dict_sorted_dims(v, op, dn, "offset_dims", to->rank, &offset));
  POP_TRY(dict_sorted_dims(v, op, dn, "collapsed_slice_dims", from->rank, &collapsed));
  POP_TRY(dict_sorted_dims(v, op, dn, "operand_batching_dims", from->rank, &batch));
  POP_TRY(dict_dims(v, op, dn, "start_indices_batching_dims", indices->rank, &indices_batch));
  POP_TRY(dict_dims(v, op, dn, "start_index_map", from->rank, &map));
  POP_TRY(want_apart(v, op, "collapsed_slice_dims", &collapsed, &batch));
  POP_TRY(want_apart(v, op, "start_index_map", &map, &batch));
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
    WANT(!inside || size == 1 || type_elements(to) == 0,
         "%s: slices have no element in dimension %u, and the result has elements", op->name, d);
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

pop_error *verify_scatter(verifier *v, const operation *op)
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
  POP_TRY(dict_sorted_dims(v, op, dn, "update_window_dims", updates->rank, &window));
  POP_TRY(dict_sorted_dims(v, op, dn, "inserted_window_dims", to->rank, &inserted));
  POP_TRY(dict_sorted_dims(v, op, dn, "input_batching_dims", to->rank, &batch));
  POP_TRY(dict_dims(v, op, dn, "scatter_indices_batching_dims", indices->rank, &indices_batch));
  POP_TRY(dict_dims(v, op, dn, "scatter_dims_to_operand_dims", to->rank, &map));
  POP_TRY(want_apart(v, op, "inserted_window_dims", &inserted, &batch));
  POP_TRY(want_apart(v, op, "scatter_dims_to_operand_dims", &map, &batch));
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
             type_same_shape(op->results[i]->type, to),
         "%s: input, updates and result %zu do not match", op->name, i);
  }
  return verify_reducer(v, op, 0, inputs, 0);
}
