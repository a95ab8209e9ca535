/* C code of operations that look up each element elsewhere, at an index that they calculate. */
#include "models/emit_index.h"

#include <inttypes.h>

void emit_same(emitter *e, text *to, const operation *op)
{
  emit_define(e, to, op->results[0], emit_operand(e, op->operands[0], ACCESS_SAME, NULL));
}

void emit_get_dimension_size(emitter *e, text *to, const operation *op)
{
  emit_define(e, to, op->results[0],
              PRINT("%" PRId64, op->operands[0]->type->dims[op_int(op, "dimension", 0)]));
}

static void emit_lookup(emitter *e, text *to, const operation *op, const expression *x)
{
  emit_define(e, to, op->results[0], emit_at(e, op, 0, x));
}

/* Broadcasts by adding dimensions in front. */
static void broadcast_to_front(emitter *e, text *to, const operation *op)
{
  emit_define(e, to, op->results[0],
              emit_operand(e, op->operands[0], ACCESS_WHOLE,
                           PRINT("e %% %" PRIu64 "u", type_elements(op->operands[0]->type))));
}

static void broadcast_in_dim(emitter *e, text *to, const operation *op)
{
  const model_type *from = op->operands[0]->type;
  size_t count;
  const int64_t *dims = op_int_list(e->l->m, op, "broadcast_dimensions", &count);
  expression *x = emit_own_index(e, to, op), at[MODEL_MAX_RANK] = {0};
  for (uint32_t d = 0; d < from->rank; ++d) at[d] = from->dims[d] == 1 ? "0" : x[dims[d]];
  emit_lookup(e, to, op, at);
}

void emit_broadcast(emitter *e, text *to, const operation *op)
{
  if (type_elements(op->operands[0]->type) == 1)
    emit_define(e, to, op->results[0], emit_operand(e, op->operands[0], ACCESS_SCALAR, NULL));
  else if (op->code == OP_BROADCAST)
    broadcast_to_front(e, to, op);
  else
    broadcast_in_dim(e, to, op);
}

void emit_transpose(emitter *e, text *to, const operation *op)
{
  size_t rank;
  const int64_t *permutation = op_int_list(e->l->m, op, "permutation", &rank);
  expression *x = emit_own_index(e, to, op), at[MODEL_MAX_RANK] = {0};
  for (size_t d = 0; d < rank; ++d) at[permutation[d]] = x[d];
  emit_lookup(e, to, op, at);
}

void emit_reverse(emitter *e, text *to, const operation *op)
{
  size_t count;
  const int64_t *dims = op_int_list(e->l->m, op, "dimensions", &count);
  expression *x = emit_own_index(e, to, op);
  for (size_t i = 0; i < count; ++i)
    x[dims[i]] = PRINT("(%" PRId64 " - %s)", op->results[0]->type->dims[dims[i]] - 1, x[dims[i]]);
  emit_lookup(e, to, op, x);
}

void emit_slice(emitter *e, text *to, const operation *op)
{
  uint32_t rank = op->results[0]->type->rank;
  const int64_t *begin = op_ints(e->l->m, op, "start_indices", rank, 0);
  const int64_t *stride = op_ints(e->l->m, op, "strides", rank, 1);
  expression *x = emit_own_index(e, to, op);
  for (uint32_t d = 0; d < rank; ++d)
    x[d] = PRINT("(%s * %" PRId64 " + %" PRId64 ")", x[d], stride[d], begin[d]);
  emit_lookup(e, to, op, x);
}

/* An element of `v`, which is an index, as an int clamped to [0, most]. */
static expression clamped_index(emitter *e, text *to, const value *v, expression is, int64_t most)
{
  unsigned n = e->next_name++;
  bool is_signed = element_is_signed(v->type->element);
  text_add(to, "    const %s k%u = %s;\n", c_type_of(v), n, is);
  text_add(to, "    const int y%u = %sk%u > %" PRId64 "%s ? %" PRId64 " : (int)k%u;\n", n,
           is_signed ? PRINT("k%u < 0 ? 0 : ", n) : "", n, most, is_signed ? "" : "u", most, n);
  return PRINT("y%u", n);
}

void emit_dynamic_slice(emitter *e, text *to, const operation *op)
{
  const model_type *from = op->operands[0]->type;
  expression *x = emit_own_index(e, to, op);
  for (uint32_t d = 0; d < from->rank; ++d)
    x[d] = PRINT("(%s + %s)", x[d],
                 clamped_index(e, to, op->operands[1 + d],
                               emit_operand(e, op->operands[1 + d], ACCESS_SCALAR, NULL),
                               from->dims[d] - op->results[0]->type->dims[d]));
  emit_lookup(e, to, op, x);
}

/* Starts, limits and strides are tensors of rank 1. */
void emit_real_dynamic_slice(emitter *e, text *to, const operation *op)
{
  const model_type *from = op->operands[0]->type;
  expression *x = emit_own_index(e, to, op);
  for (uint32_t d = 0; d < from->rank; ++d) {
    const char *at = PRINT("%u", d);
    expression begin = clamped_index(
        e, to, op->operands[1], emit_operand(e, op->operands[1], ACCESS_WHOLE, at), from->dims[d]);
    expression stride = clamped_index(
        e, to, op->operands[3], emit_operand(e, op->operands[3], ACCESS_WHOLE, at), INT32_MAX);
    unsigned n = e->next_name++;
    text_add(to, "    int z%u = %s + %s * %s;\n", n, begin, x[d], stride);
    text_add(to, "    if (z%u > %" PRId64 ") z%u = %" PRId64 ";\n", n, from->dims[d] - 1, n,
             from->dims[d] - 1);
    x[d] = PRINT("z%u", n);
  }
  emit_lookup(e, to, op, x);
}

void emit_dynamic_update_slice(emitter *e, text *to, const operation *op)
{
  const model_type *type = op->results[0]->type, *update = op->operands[1]->type;
  expression *x = emit_own_index(e, to, op), at[MODEL_MAX_RANK] = {0};
  text inside = {0};
  text_add(&inside, "true");
  for (uint32_t d = 0; d < type->rank; ++d) {
    expression begin = clamped_index(e, to, op->operands[2 + d],
                                     emit_operand(e, op->operands[2 + d], ACCESS_SCALAR, NULL),
                                     type->dims[d] - update->dims[d]);
    at[d] = PRINT("(%s - %s)", x[d], begin);
    text_add(&inside, " && %s >= 0 && %s < %" PRId64, at[d], at[d], update->dims[d]);
  }
  if (type_elements(update))
    emit_define(e, to, op->results[0],
                PRINT("%s ? %s : %s", inside.data, emit_at(e, op, 1, at),
                      emit_operand(e, op->operands[0], ACCESS_SAME, NULL)));
  else
    emit_define(e, to, op->results[0], emit_operand(e, op->operands[0], ACCESS_SAME, NULL));
  text_free(&inside);
}

void emit_pad(emitter *e, text *to, const operation *op)
{
  const model_type *from = op->operands[0]->type;
  const int64_t *low = op_ints(e->l->m, op, "edge_padding_low", from->rank, 0);
  const int64_t *interior = op_ints(e->l->m, op, "interior_padding", from->rank, 0);
  expression padding = emit_operand(e, op->operands[1], ACCESS_SCALAR, NULL);
  if (type_elements(from) == 0) {
    emit_define(e, to, op->results[0], padding);
    return;
  }
  expression *x = emit_own_index(e, to, op), at[MODEL_MAX_RANK] = {0};
  text inside = {0};
  text_add(&inside, "true");
  for (uint32_t d = 0; d < from->rank; ++d) {
    expression from_low = PRINT("(%s - (%" PRId64 "))", x[d], low[d]);
    int64_t step = interior[d] + 1;
    at[d] = step > 1 ? PRINT("(%s / %" PRId64 ")", from_low, step) : from_low;
    text_add(&inside, " && %s >= 0 && %s < %" PRId64, from_low, at[d], from->dims[d]);
    if (step > 1) text_add(&inside, " && %s %% %" PRId64 " == 0", from_low, step);
  }
  emit_define(e, to, op->results[0],
              PRINT("%s ? %s : %s", inside.data, emit_at(e, op, 0, at), padding));
  text_free(&inside);
}

void emit_concatenate(emitter *e, text *to, const operation *op)
{
  int64_t dimension = op_int(op, "dimension", 0), begin = 0;
  expression *x = emit_own_index(e, to, op), along = x[dimension];
  text choice = {0};
  for (size_t i = 0; i < op->num_operands; ++i) {
    const model_type *from = op->operands[i]->type;
    if (type_elements(from) == 0) continue;
    x[dimension] = PRINT("(%s - %" PRId64 ")", along, begin);
    begin += from->dims[dimension];
    expression element = emit_at(e, op, i, x);
    if (begin < op->results[0]->type->dims[dimension])
      text_add(&choice, "%s < %" PRId64 " ? %s : ", along, begin, element);
    else
      text_add(&choice, "%s", element);
  }
  /* If all operands are empty there is nothing to choose from, and the loop never runs. */
  emit_define(e, to, op->results[0], PRINT("%s", choice.size ? choice.data : "{0}"));
  text_free(&choice);
}

void emit_iota(emitter *e, text *to, const operation *op)
{
  expression *x = emit_own_index(e, to, op);
  emit_define(e, to, op->results[0],
              PRINT("hlo_convert_i32_%s(%s)", suffix_of(op->results[0]),
                    x[op_int(op, "iota_dimension", 0)]));
}

/* If the element sizes differ, one side has one more dimension. */
void emit_bitcast(emitter *e, text *to, const operation *op)
{
  const value *from = op->operands[0], *result = op->results[0];
  size_t from_bytes = element_bytes(from->type->element);
  size_t bytes = element_bytes(result->type->element);
  unsigned n = e->next_name++;
  const char *from_field = element_infos[from->type->element].field;
  const char *field = element_infos[result->type->element].field;
  if (bytes == from_bytes) {
    text_add(to, "    const %s b%u = hlo_store_%s(%s);\n", from_field, n, suffix_of(from),
             emit_operand(e, from, ACCESS_SAME, NULL));
    text_add(to, "    %s c%u;\n    memcpy(&c%u, &b%u, %zu);\n", field, n, n, n, bytes);
  } else if (bytes < from_bytes) {
    size_t ratio = from_bytes / bytes;
    text_add(to, "    const %s b%u = hlo_store_%s(%s);\n", from_field, n, suffix_of(from),
             emit_operand(e, from, ACCESS_WHOLE, PRINT("e / %zu", ratio)));
    text_add(to, "    %s c%u;\n    memcpy(&c%u, (const char *)&b%u + e %% %zu * %zu, %zu);\n",
             field, n, n, n, ratio, bytes, bytes);
  } else {
    size_t ratio = bytes / from_bytes;
    text_add(to, "    %s b%u[%zu], c%u;\n", from_field, n, ratio, n);
    /* c has the result's type */
    text_add(to, "    %s d%u;\n", field, n);
    text_add(to, "    for (unsigned k = 0; k < %zu; ++k) b%u[k] = hlo_store_%s(%s);\n", ratio, n,
             suffix_of(from), emit_operand(e, from, ACCESS_WHOLE, PRINT("e * %zu + k", ratio)));
    text_add(to, "    memcpy(&d%u, b%u, %zu);\n    (void)c%u;\n", n, n, bytes, n);
    emit_define(e, to, result, PRINT("hlo_load_%s(d%u)", suffix_of(result), n));
    return;
  }
  emit_define(e, to, result, PRINT("hlo_load_%s(c%u)", suffix_of(result), n));
}

/* The names are the specification's: result[result_index] = operand[full_start_index +
 * full_batching_index + full_offset_index]. */
void emit_gather(emitter *e, text *to, const operation *op)
{
  const module *m = e->l->m;
  const attribute *dn = op_attribute(op, "dimension_numbers");
  const value *operand = op->operands[0], *indices = op->operands[1];
  size_t num_offset, num_collapsed, num_operand_batch, num_indices_batch, num_map;
  const int64_t *offset = dict_int_list(m, dn, "offset_dims", &num_offset);
  const int64_t *collapsed = dict_int_list(m, dn, "collapsed_slice_dims", &num_collapsed);
  const int64_t *operand_batch = dict_int_list(m, dn, "operand_batching_dims", &num_operand_batch);
  const int64_t *indices_batch =
      dict_int_list(m, dn, "start_indices_batching_dims", &num_indices_batch);
  const int64_t *map = dict_int_list(m, dn, "start_index_map", &num_map);
  int64_t vector_dim = dict_int(dn, "index_vector_dim", 0);
  uint32_t rank = op->results[0]->type->rank;
  expression *x = emit_own_index(e, to, op), batch[MODEL_MAX_RANK] = {0},
             at[MODEL_MAX_RANK + 1] = {0};
  size_t num_batch = 0;
  for (uint32_t d = 0; d < rank; ++d)
    if (!ints_have(offset, num_offset, d)) batch[num_batch++] = x[d];
  /* The position in the slice, by dimension of the operand. */
  expression full[MODEL_MAX_RANK] = {0};
  size_t next = 0;
  for (uint32_t d = 0; d < operand->type->rank; ++d)
    full[d] =
        ints_have(collapsed, num_collapsed, d) || ints_have(operand_batch, num_operand_batch, d)
            ? "0"
            : x[offset[next++]];
  /* Sizes of slices: an attribute, or for a dynamic_gather what the result has. */
  int64_t sizes[MODEL_MAX_RANK] = {0};
  size_t num_sizes;
  const int64_t *given = op_int_list(m, op, "slice_sizes", &num_sizes);
  next = 0;
  for (uint32_t d = 0; d < operand->type->rank; ++d) {
    bool one =
        ints_have(collapsed, num_collapsed, d) || ints_have(operand_batch, num_operand_batch, d);
    sizes[d] = num_sizes ? given[d] : one ? 1 : op->results[0]->type->dims[offset[next++]];
  }
  for (size_t k = 0; k < num_map; ++k) {
    size_t b = 0;
    for (uint32_t d = 0; d < indices->type->rank; ++d)
      at[d] = d == vector_dim ? PRINT("%zu", k) : batch[b++];
    int64_t d = map[k];
    expression start =
        clamped_index(e, to, indices, emit_at(e, op, 1, at), operand->type->dims[d] - sizes[d]);
    full[d] = PRINT("(%s + %s)", full[d], start);
  }
  for (size_t k = 0; k < num_operand_batch; ++k) {
    int64_t d = indices_batch[k];
    full[operand_batch[k]] =
        PRINT("(%s + %s)", full[operand_batch[k]], batch[d - (d > vector_dim ? 1 : 0)]);
  }
  emit_lookup(e, to, op, full);
}
