/* C code of operations whose results' elements follow from their indices: element e is looked up or calculated. */
#include "models/lowering.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef const char *expression;

#define PRINT(...) pop_arena_printf(e->l->m->arena, __VA_ARGS__)

bool fits_whole(const lowering *l, const value *v)
{
  return type_elements(v->type) * element_bytes(v->type->element) <= l->copy_limit;
}

static bool is_scalar(const value *v)
{
  return type_elements(v->type) == 1;
}

/* ---- indices ---- */

/* Variables x<n>_<d>: the index of element `index` of a tensor with these dimensions. */
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

static void define(emitter *e, text *to, const value *v, expression is)
{
  text_add(to, "    const %s %s = %s;\n", c_type_of(v), emit_variable(e, v), is);
}

static expression *own_index(emitter *e, text *to, const operation *op)
{
  return split_index(e, to, "e", op->results[0]->type->dims, op->results[0]->type->rank);
}

/* ---- data from elsewhere ---- */

static void emit_lookup(emitter *e, text *to, const operation *op, const expression *x)
{
  define(e, to, op->results[0], emit_at(e, op, 0, x));
}

static void emit_broadcast_in_dim(emitter *e, text *to, const operation *op)
{
  const model_type *from = op->operands[0]->type;
  size_t count;
  const int64_t *dims = op_int_list(e->l->m, op, "broadcast_dimensions", &count);
  expression *x = own_index(e, to, op), at[MODEL_MAX_RANK] = {0};
  for (uint32_t d = 0; d < from->rank; ++d) at[d] = from->dims[d] == 1 ? "0" : x[dims[d]];
  emit_lookup(e, to, op, at);
}

static void emit_transpose(emitter *e, text *to, const operation *op)
{
  size_t rank;
  const int64_t *permutation = op_int_list(e->l->m, op, "permutation", &rank);
  expression *x = own_index(e, to, op), at[MODEL_MAX_RANK] = {0};
  for (size_t d = 0; d < rank; ++d) at[permutation[d]] = x[d];
  emit_lookup(e, to, op, at);
}

static void emit_reverse(emitter *e, text *to, const operation *op)
{
  size_t count;
  const int64_t *dims = op_int_list(e->l->m, op, "dimensions", &count);
  expression *x = own_index(e, to, op);
  for (size_t i = 0; i < count; ++i)
    x[dims[i]] = PRINT("(%" PRId64 " - %s)", op->results[0]->type->dims[dims[i]] - 1, x[dims[i]]);
  emit_lookup(e, to, op, x);
}

static void emit_slice(emitter *e, text *to, const operation *op)
{
  uint32_t rank = op->results[0]->type->rank;
  const int64_t *begin = op_ints(e->l->m, op, "start_indices", rank, 0);
  const int64_t *stride = op_ints(e->l->m, op, "strides", rank, 1);
  expression *x = own_index(e, to, op);
  for (uint32_t d = 0; d < rank; ++d)
    x[d] = PRINT("(%s * %" PRId64 " + %" PRId64 ")", x[d], stride[d], begin[d]);
  emit_lookup(e, to, op, x);
}

/* An index, which is an element of `v`: as an int, kept between 0 and `most`. */
static expression clamped_index(emitter *e, text *to, const value *v, expression is, int64_t most)
{
  unsigned n = e->next_name++;
  bool is_signed = element_is_signed(v->type->element);
  text_add(to, "    const %s k%u = %s;\n", c_type_of(v), n, is);
  text_add(to, "    const int y%u = %sk%u > %" PRId64 "%s ? %" PRId64 " : (int)k%u;\n", n,
           is_signed ? PRINT("k%u < 0 ? 0 : ", n) : "", n, most, is_signed ? "" : "u", most, n);
  return PRINT("y%u", n);
}

static void emit_dynamic_slice(emitter *e, text *to, const operation *op)
{
  const model_type *from = op->operands[0]->type;
  expression *x = own_index(e, to, op);
  for (uint32_t d = 0; d < from->rank; ++d)
    x[d] = PRINT("(%s + %s)", x[d],
                 clamped_index(e, to, op->operands[1 + d],
                               emit_operand(e, op->operands[1 + d], ACCESS_SCALAR, NULL),
                               from->dims[d] - op->results[0]->type->dims[d]));
  emit_lookup(e, to, op, x);
}

/* Starts, limits and strides are tensors of rank 1. */
static void emit_real_dynamic_slice(emitter *e, text *to, const operation *op)
{
  const model_type *from = op->operands[0]->type;
  expression *x = own_index(e, to, op);
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

static void emit_dynamic_update_slice(emitter *e, text *to, const operation *op)
{
  const model_type *type = op->results[0]->type, *update = op->operands[1]->type;
  expression *x = own_index(e, to, op), at[MODEL_MAX_RANK] = {0};
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
    define(e, to, op->results[0],
           PRINT("%s ? %s : %s", inside.data, emit_at(e, op, 1, at),
                 emit_operand(e, op->operands[0], ACCESS_SAME, NULL)));
  else
    define(e, to, op->results[0], emit_operand(e, op->operands[0], ACCESS_SAME, NULL));
  text_free(&inside);
}

static void emit_pad(emitter *e, text *to, const operation *op)
{
  const model_type *from = op->operands[0]->type;
  const int64_t *low = op_ints(e->l->m, op, "edge_padding_low", from->rank, 0);
  const int64_t *interior = op_ints(e->l->m, op, "interior_padding", from->rank, 0);
  expression padding = emit_operand(e, op->operands[1], ACCESS_SCALAR, NULL);
  if (type_elements(from) == 0) {
    define(e, to, op->results[0], padding);
    return;
  }
  expression *x = own_index(e, to, op), at[MODEL_MAX_RANK] = {0};
  text inside = {0};
  text_add(&inside, "true");
  for (uint32_t d = 0; d < from->rank; ++d) {
    expression from_low = PRINT("(%s - (%" PRId64 "))", x[d], low[d]);
    int64_t step = interior[d] + 1;
    at[d] = step > 1 ? PRINT("(%s / %" PRId64 ")", from_low, step) : from_low;
    text_add(&inside, " && %s >= 0 && %s < %" PRId64, from_low, at[d], from->dims[d]);
    if (step > 1) text_add(&inside, " && %s %% %" PRId64 " == 0", from_low, step);
  }
  define(e, to, op->results[0], PRINT("%s ? %s : %s", inside.data, emit_at(e, op, 0, at), padding));
  text_free(&inside);
}

static void emit_concatenate(emitter *e, text *to, const operation *op)
{
  int64_t dimension = op_int(op, "dimension", 0), begin = 0;
  expression *x = own_index(e, to, op), along = x[dimension];
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
  /* Without any element there is nothing to choose from; the loop has no turn. */
  define(e, to, op->results[0], PRINT("%s", choice.size ? choice.data : "{0}"));
  text_free(&choice);
}

static void emit_iota(emitter *e, text *to, const operation *op)
{
  expression *x = own_index(e, to, op);
  define(e, to, op->results[0],
         PRINT("hlo_convert_i32_%s(%s)", suffix_of(op->results[0]),
               x[op_int(op, "iota_dimension", 0)]));
}

/* Elements of another size have one more dimension, or one less. */
static void emit_bitcast(emitter *e, text *to, const operation *op)
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
    /* c is of the result's type. */
    text_add(to, "    %s d%u;\n", field, n);
    text_add(to, "    for (unsigned k = 0; k < %zu; ++k) b%u[k] = hlo_store_%s(%s);\n", ratio, n,
             suffix_of(from), emit_operand(e, from, ACCESS_WHOLE, PRINT("e * %zu + k", ratio)));
    text_add(to, "    memcpy(&d%u, b%u, %zu);\n    (void)c%u;\n", n, n, bytes, n);
    define(e, to, result, PRINT("hlo_load_%s(d%u)", suffix_of(result), n));
    return;
  }
  define(e, to, result, PRINT("hlo_load_%s(c%u)", suffix_of(result), n));
}

/* The specification's words: result[result_index] = operand[full_start_index + full_batching_index + full_offset_index]. */
static void emit_gather(emitter *e, text *to, const operation *op)
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
  expression *x = own_index(e, to, op), batch[MODEL_MAX_RANK] = {0}, at[MODEL_MAX_RANK + 1] = {0};
  size_t num_batch = 0;
  for (uint32_t d = 0; d < rank; ++d)
    if (!ints_have(offset, num_offset, d)) batch[num_batch++] = x[d];
  /* Where in the slice, by dimension of the operand. */
  expression full[MODEL_MAX_RANK] = {0};
  size_t next = 0;
  for (uint32_t d = 0; d < operand->type->rank; ++d)
    full[d] =
        ints_have(collapsed, num_collapsed, d) || ints_have(operand_batch, num_operand_batch, d)
            ? "0"
            : x[offset[next++]];
  /* The slices' sizes: an attribute, or of dynamic_gather those of the result. */
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

/* ---- calculated ---- */

static bool emit_map(emitter *e, text *to, const operation *op)
{
  expression arguments[64], results[1] = {PRINT("m%u", e->next_name++)};
  const char *name = emit_region(e, op, 0);
  if (!name || op->num_operands > 64) return false;
  for (size_t i = 0; i < op->num_operands; ++i)
    arguments[i] = emit_operand(e, op->operands[i], ACCESS_SAME, NULL);
  text_add(to, "    %s %s;\n    ", c_type_of(op->results[0]), results[0]);
  emit_region_call(e, to, &op->regions[0], name, arguments, results);
  define(e, to, op->results[0], results[0]);
  return true;
}

void reduce_order(const lowering *l, const operation *op, size_t order[MODEL_MAX_RANK])
{
  size_t count, n = 0;
  const int64_t *dims = op_int_list(l->m, op, "dimensions", &count);
  const model_type *from = op->operands[0]->type;
  for (uint32_t d = 0; d < from->rank; ++d)
    if (!ints_have(dims, count, d)) order[n++] = d;
  for (uint32_t d = 0; d < from->rank; ++d)
    if (ints_have(dims, count, d)) order[n++] = d;
}

/* acc<k>: what results are accumulated in, from the initial values. */
static void emit_accumulators(emitter *e, text *to, const operation *op, size_t inputs,
                              expression *acc)
{
  unsigned n = e->next_name++;
  for (size_t k = 0; k < inputs; ++k) {
    acc[k] = PRINT("a%u_%zu", n, k);
    text_add(to, "    %s %s = %s;\n", c_type_of(op->results[k]), acc[k],
             emit_operand(e, op->operands[inputs + k], ACCESS_SCALAR, NULL));
  }
}

enum { MAX_INPUTS = 32 };

static bool emit_reduce(emitter *e, text *to, const operation *op)
{
  size_t inputs = op->num_operands / 2, order[MODEL_MAX_RANK] = {0};
  if (inputs > MAX_INPUTS)
    return lowering_fail(e->l, op, "a reduce has at most %d inputs", MAX_INPUTS);
  const model_type *from = op->operands[0]->type;
  uint32_t kept = op->results[0]->type->rank;
  expression acc[2 * MAX_INPUTS] = {0}, at[MODEL_MAX_RANK] = {0};
  const char *name = emit_region(e, op, 0);
  if (!name) return false;
  reduce_order(e->l, op, order);
  emit_accumulators(e, to, op, inputs, acc);
  unsigned n = e->next_name++;
  expression *x = own_index(e, to, op);
  for (uint32_t i = 0; i < from->rank; ++i) at[order[i]] = i < kept ? x[i] : PRINT("r%u_%u", n, i);
  for (uint32_t i = kept; i < from->rank; ++i)
    text_add(to, "    for (int %s = 0; %s < %" PRId64 "; ++%s) {\n", at[order[i]], at[order[i]],
             from->dims[order[i]], at[order[i]]);
  for (size_t k = 0; k < inputs; ++k) acc[inputs + k] = emit_at(e, op, k, at);
  text_add(to, "      ");
  emit_region_call(e, to, &op->regions[0], name, acc, acc);
  for (uint32_t i = kept; i < from->rank; ++i) text_add(to, "    }\n");
  for (size_t k = 0; k < inputs; ++k) define(e, to, op->results[k], acc[k]);
  return true;
}

static bool emit_reduce_window(emitter *e, text *to, const operation *op)
{
  size_t inputs = op->num_operands / 2;
  if (inputs > MAX_INPUTS)
    return lowering_fail(e->l, op, "a reduce_window has at most %d inputs", MAX_INPUTS);
  const module *m = e->l->m;
  const model_type *from = op->operands[0]->type;
  uint32_t rank = from->rank;
  const int64_t *window = op_ints(m, op, "window_dimensions", rank, 1);
  const int64_t *stride = op_ints(m, op, "window_strides", rank, 1);
  const int64_t *base_dilation = op_ints(m, op, "base_dilations", rank, 1);
  const int64_t *window_dilation = op_ints(m, op, "window_dilations", rank, 1);
  const int64_t *padding = op_ints(m, op, "padding", 2 * (size_t)rank, 0);
  expression acc[2 * MAX_INPUTS] = {0}, at[MODEL_MAX_RANK] = {0};
  const char *name = emit_region(e, op, 0);
  if (!name) return false;
  emit_accumulators(e, to, op, inputs, acc);
  expression *x = own_index(e, to, op);
  unsigned n = e->next_name++;
  for (uint32_t d = 0; d < rank; ++d) {
    text_add(to, "    for (int w%u_%u = 0; w%u_%u < %" PRId64 "; ++w%u_%u) {\n", n, d, n, d,
             window[d], n, d);
    text_add(to,
             "      const int p%u_%u = %s * %" PRId64 " + w%u_%u * %" PRId64 " - (%" PRId64 ");\n",
             n, d, x[d], stride[d], n, d, window_dilation[d], padding[2 * d]);
    at[d] = base_dilation[d] > 1 ? PRINT("(p%u_%u / %" PRId64 ")", n, d, base_dilation[d])
                                 : PRINT("p%u_%u", n, d);
  }
  text_add(to, "      const bool in%u = true", n);
  for (uint32_t d = 0; d < rank; ++d) {
    text_add(to, " && p%u_%u >= 0 && p%u_%u <= %" PRId64, n, d, n, d,
             (from->dims[d] - 1) * base_dilation[d]);
    if (base_dilation[d] > 1)
      text_add(to, " && p%u_%u %% %" PRId64 " == 0", n, d, base_dilation[d]);
  }
  text_add(to, ";\n");
  /* Padding and holes are elements, too: they are the initial value. */
  for (size_t k = 0; k < inputs; ++k) {
    expression outside = emit_operand(e, op->operands[inputs + k], ACCESS_SCALAR, NULL);
    acc[inputs + k] = type_elements(from)
                          ? PRINT("(in%u ? %s : %s)", n, emit_at(e, op, k, at), outside)
                          : outside;
  }
  text_add(to, "      ");
  emit_region_call(e, to, &op->regions[0], name, acc, acc);
  for (uint32_t d = 0; d < rank; ++d) text_add(to, "    }\n");
  for (size_t k = 0; k < inputs; ++k) define(e, to, op->results[k], acc[k]);
  return true;
}

/* Halves are added as floats and rounded at the end. */
static void emit_product_sum(text *to, const operation *op, unsigned n)
{
  text_add(to, "    %s s%u = %s;\n", c_type_of(op->results[0]), n,
           op->results[0]->type->element == ELEMENT_C64 ? "{0, 0}" : "0");
}

static void emit_product(emitter *e, text *to, const operation *op, unsigned n, expression a,
                         expression b)
{
  pop_arena *arena = e->l->m->arena;
  element_type t = op->results[0]->type->element;
  expression x[2] = {a, b};
  for (int i = 0; i < 2; ++i) x[i] = emit_converted(arena, op->operands[i]->type->element, t, x[i]);
  if (t == ELEMENT_F16 || t == ELEMENT_BF16) t = ELEMENT_F32;
  text_add(to, "      s%u = %s;\n", n, emit_product_added(arena, t, PRINT("s%u", n), x[0], x[1]));
}

static void end_product(emitter *e, text *to, const operation *op, unsigned n)
{
  element_type t = op->results[0]->type->element;
  define(e, to, op->results[0],
         t == ELEMENT_F16 || t == ELEMENT_BF16
             ? PRINT("hlo_round_%s(s%u)", suffix_of(op->results[0]), n)
             : PRINT("s%u", n));
}

static void emit_dot(emitter *e, text *to, const operation *op)
{
  const module *m = e->l->m;
  const attribute *dn = op_attribute(op, "dot_dimension_numbers");
  const model_type *types[2] = {op->operands[0]->type, op->operands[1]->type};
  static const char *const names[2][2] = {
      {"lhs_batching_dimensions", "lhs_contracting_dimensions"},
      {"rhs_batching_dimensions", "rhs_contracting_dimensions"}};
  const int64_t *batch[2], *contracting[2];
  int64_t last = types[0]->rank - 1, zero = 0;
  size_t num_batch = 0, num_contracting = 1;
  if (op->code == OP_DOT) { /* the last dimension of the first, the first of the second */
    batch[0] = batch[1] = &zero;
    contracting[0] = &last;
    contracting[1] = &zero;
  } else {
    for (int i = 0; i < 2; ++i) {
      batch[i] = dict_int_list(m, dn, names[i][0], &num_batch);
      contracting[i] = dict_int_list(m, dn, names[i][1], &num_contracting);
    }
  }
  unsigned n = e->next_name++;
  expression *x = own_index(e, to, op), at[2][MODEL_MAX_RANK] = {0};
  size_t next = num_batch;
  for (int i = 0; i < 2; ++i) {
    for (size_t k = 0; k < num_batch; ++k) at[i][batch[i][k]] = x[k];
    for (size_t k = 0; k < num_contracting; ++k) at[i][contracting[i][k]] = PRINT("r%u_%zu", n, k);
    for (uint32_t d = 0; d < types[i]->rank; ++d)
      if (!ints_have(batch[i], num_batch, d) && !ints_have(contracting[i], num_contracting, d))
        at[i][d] = x[next++];
  }
  emit_product_sum(to, op, n);
  for (size_t k = 0; k < num_contracting; ++k)
    text_add(to, "    for (int r%u_%zu = 0; r%u_%zu < %" PRId64 "; ++r%u_%zu) {\n", n, k, n, k,
             types[0]->dims[contracting[0][k]], n, k);
  emit_product(e, to, op, n, emit_at(e, op, 0, at[0]), emit_at(e, op, 1, at[1]));
  for (size_t k = 0; k < num_contracting; ++k) text_add(to, "    }\n");
  end_product(e, to, op, n);
}

/* Which dimension has a role: -1 and -2 of the letters, 0, 1, … of the spatial ones. */
static size_t dimension_of(const int64_t *roles, size_t count, int64_t role)
{
  size_t d = 0;
  while (d < count && roles[d] != role) d++;
  return d;
}

/* The generic attribute, or the one that the form has been read to. */
static void conv_roles(const module *m, const operation *op, const int64_t *roles[3], size_t *rank)
{
  const attribute *dn = op_attribute(op, "dimension_numbers");
  roles[0] = dict_int_list(m, dn, "input", rank);
  roles[1] = dict_int_list(m, dn, "kernel", rank);
  roles[2] = dict_int_list(m, dn, "output", rank);
}

static void emit_convolution(emitter *e, text *to, const operation *op)
{
  const module *m = e->l->m;
  const model_type *in = op->operands[0]->type, *kernel = op->operands[1]->type;
  const model_type *out = op->results[0]->type;
  const int64_t *roles[3];
  size_t rank;
  conv_roles(m, op, roles, &rank);
  size_t spatial = rank - 2;
  const int64_t *stride = op_ints(m, op, "window_strides", spatial, 1);
  const int64_t *padding = op_ints(m, op, "padding", 2 * spatial, 0);
  const int64_t *lhs_dilation = op_ints(m, op, "lhs_dilation", spatial, 1);
  const int64_t *rhs_dilation = op_ints(m, op, "rhs_dilation", spatial, 1);
  const int64_t *reversal = op_ints(m, op, "window_reversal", spatial, 0);
  int64_t groups = op_int(op, "feature_group_count", 1);
  int64_t batch_groups = op_int(op, "batch_group_count", 1);
  size_t in_batch = dimension_of(roles[0], rank, -1), in_feature = dimension_of(roles[0], rank, -2);
  size_t k_in = dimension_of(roles[1], rank, -1), k_out = dimension_of(roles[1], rank, -2);
  size_t out_batch = dimension_of(roles[2], rank, -1);
  size_t out_feature = dimension_of(roles[2], rank, -2);
  unsigned n = e->next_name++;
  expression *x = own_index(e, to, op), at[MODEL_MAX_RANK] = {0}, k[MODEL_MAX_RANK] = {0};
  emit_product_sum(to, op, n);
  if (type_elements(in) && type_elements(kernel)) {
    /* Output feature o belongs to group o / (features / groups). */
    int64_t out_features = out->dims[out_feature];
    at[in_batch] = batch_groups > 1
                       ? PRINT("(%s / %" PRId64 " * %" PRId64 " + %s)", x[out_feature],
                               out_features / batch_groups, out->dims[out_batch], x[out_batch])
                       : x[out_batch];
    at[in_feature] = groups > 1 ? PRINT("(%s / %" PRId64 " * %" PRId64 " + f%u)", x[out_feature],
                                        out_features / groups, kernel->dims[k_in], n)
                                : PRINT("f%u", n);
    k[k_in] = PRINT("f%u", n);
    k[k_out] = x[out_feature];
    for (size_t s = 0; s < spatial; ++s) {
      size_t in_d = dimension_of(roles[0], rank, (int64_t)s);
      size_t k_d = dimension_of(roles[1], rank, (int64_t)s);
      size_t out_d = dimension_of(roles[2], rank, (int64_t)s);
      text_add(to, "    for (int w%u_%zu = 0; w%u_%zu < %" PRId64 "; ++w%u_%zu) {\n", n, s, n, s,
               kernel->dims[k_d], n, s);
      text_add(to,
               "      const int p%u_%zu = %s * %" PRId64 " + w%u_%zu * %" PRId64 " - (%" PRId64
               ");\n      if (p%u_%zu < 0 || p%u_%zu > %" PRId64,
               n, s, x[out_d], stride[s], n, s, rhs_dilation[s], padding[2 * s], n, s, n, s,
               (in->dims[in_d] - 1) * lhs_dilation[s]);
      if (lhs_dilation[s] > 1) text_add(to, " || p%u_%zu %% %" PRId64, n, s, lhs_dilation[s]);
      text_add(to, ") continue;\n");
      at[in_d] = lhs_dilation[s] > 1 ? PRINT("(p%u_%zu / %" PRId64 ")", n, s, lhs_dilation[s])
                                     : PRINT("p%u_%zu", n, s);
      k[k_d] = reversal[s] ? PRINT("(%" PRId64 " - w%u_%zu)", kernel->dims[k_d] - 1, n, s)
                           : PRINT("w%u_%zu", n, s);
    }
    text_add(to, "    for (int f%u = 0; f%u < %" PRId64 "; ++f%u) {\n", n, n, kernel->dims[k_in],
             n);
    emit_product(e, to, op, n, emit_at(e, op, 0, at), emit_at(e, op, 1, k));
    for (size_t s = 0; s <= spatial; ++s) text_add(to, "    }\n");
  }
  end_product(e, to, op, n);
}

/* (x - mean) / sqrt(variance + epsilon) * scale + offset; scale, offset, mean and variance by feature */
static void emit_batch_norm_inference(emitter *e, text *to, const operation *op)
{
  const attribute *epsilon = op_attribute(op, "epsilon");
  const char *s = suffix_of(op->results[0]);
  expression *x = own_index(e, to, op), f = x[op_int(op, "feature_index", 0)], p[5];
  for (size_t i = 1; i < 5; ++i) p[i] = emit_operand(e, op->operands[i], ACCESS_WHOLE, f);
  uint8_t bytes[8];
  element_from_double(op->results[0]->type->element, epsilon ? epsilon->number : 0, bytes);
  define(e, to, op->results[0],
         PRINT("hlo_add_%s(hlo_multiply_%s(hlo_divide_%s(hlo_subtract_%s(%s, %s), "
               "hlo_sqrt_%s(hlo_add_%s(%s, %s))), %s), %s)",
               s, s, s, s, emit_operand(e, op->operands[0], ACCESS_SAME, NULL), p[3], s, s, p[4],
               emit_literal(e->l->m->arena, op->results[0]->type->element, bytes), p[1], p[2]));
}

/* exp(2 pi i k / length) for each k; exact where the axes are. */
static void emit_turns(text *to, unsigned n, int64_t length)
{
  static const float quarters[] = {1, 0, -1, 0};
  text_add(to, "    static const hlo_c64 turns%u[] = {", n);
  for (int64_t k = 0; k < length; ++k) {
    double angle = 6.283185307179586 * (double)k / (double)length;
    float cosine = (float)cos(angle), sine = (float)sin(angle);
    if (4 * k % length == 0) {
      cosine = quarters[4 * k / length];
      sine = quarters[(4 * k / length + 3) % 4];
    }
    text_add(to, "%s{%af, %af}", k ? ", " : "", (double)cosine, (double)sine);
  }
  text_add(to, "};\n");
}

/* The sum of the definition; lengths of FFTs of small modules are small. */
static bool emit_fft(emitter *e, text *to, const operation *op)
{
  const model_type *out = op->results[0]->type;
  const char *type = op_word(op, "fft_type");
  size_t count;
  const int64_t *length = op_int_list(e->l->m, op, "fft_length", &count);
  bool inverse = type[0] == 'I', real_in = strcmp(type, "RFFT") == 0;
  bool real_out = strcmp(type, "IRFFT") == 0;
  uint32_t first = out->rank - (uint32_t)count;
  unsigned n = e->next_name++;
  expression *x = own_index(e, to, op), at[MODEL_MAX_RANK] = {0};
  enum { TABLE = 512 }; /* lengths up to which a tile has the factors */
  bool table = count == 1 && length[0] <= TABLE;
  if (table) emit_turns(to, n, length[0]);
  text_add(to, "    float t%u = 0, u%u = 0;\n", n, n);
  for (uint32_t d = 0; d < first; ++d) at[d] = x[d];
  text phase = {0};
  text_add(&phase, "0");
  for (size_t k = 0; k < count; ++k) {
    /* Of IRFFT the input has half of the last dimension: the rest is conjugate. */
    text_add(to, "    for (int r%u_%zu = 0; r%u_%zu < %" PRId64 "; ++r%u_%zu) {\n", n, k, n, k,
             length[k], n, k);
    /* Products are below the square of the length. */
    text_add(&phase, " + (float)((%s)r%u_%zu * %s %% %" PRId64 ") / %" PRId64,
             length[k] > UINT16_MAX ? "unsigned long long" : "unsigned", n, k, x[first + k],
             length[k], length[k]);
    at[first + k] = PRINT("r%u_%zu", n, k);
  }
  if (real_out) {
    int64_t half = length[count - 1] / 2;
    text_add(to, "      const bool j%u = r%u_%zu > %" PRId64 ";\n", n, n, count - 1, half);
    for (size_t k = 0; k < count; ++k)
      at[first + k] = PRINT("(j%u ? (%" PRId64 " - r%u_%zu) %% %" PRId64 " : r%u_%zu)", n,
                            length[k], n, k, length[k], n, k);
  }
  expression element = emit_at(e, op, 0, at);
  if (table)
    text_add(to, "      const hlo_c64 w%u = turns%u[(unsigned)r%u_0 * %s %% %" PRId64 "];\n", n, n,
             n, x[first], length[0]);
  else
    text_add(to, "      const hlo_c64 w%u = hlo_turn_c64(%s);\n", n, phase.data);
  text_add(to, "      const float c%u = w%u.re, s%u = %sw%u.im;\n", n, n, n, inverse ? "" : "-", n);
  if (real_in)
    text_add(to, "      const hlo_c64 z%u = {%s, 0};\n", n, element);
  else
    text_add(to, "      %shlo_c64 z%u = %s;\n", real_out ? "" : "const ", n, element);
  if (real_out) text_add(to, "      if (j%u) z%u.im = -z%u.im;\n", n, n, n);
  text_add(to, "      t%u += z%u.re * c%u - z%u.im * s%u;\n", n, n, n, n, n);
  text_add(to, "      u%u += z%u.re * s%u + z%u.im * c%u;\n", n, n, n, n, n);
  for (size_t k = 0; k < count; ++k) text_add(to, "    }\n");
  text_free(&phase);
  int64_t all = 1;
  for (size_t k = 0; k < count; ++k) all *= length[k];
  const char *scale = inverse ? PRINT(" / %" PRId64, all) : "";
  define(e, to, op->results[0],
         real_out ? PRINT("t%u%s", n, scale)
                  : PRINT("hlo_make_c64(t%u%s, u%u%s)", n, scale, n, scale));
  return true;
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
  case OP_GATHER: /* most of it is to bring what may be chosen from */
    return index_access(l, op, 0) == ACCESS_BOX ? 2 + box_bytes(l, op, 0, 0, 1) / 8 : 2;
  default:
    return 2;
  }
}

/* A view of the operand with the same elements in the same order. */
static void emit_same(emitter *e, text *to, const operation *op)
{
  define(e, to, op->results[0], emit_operand(e, op->operands[0], ACCESS_SAME, NULL));
}

static void emit_get_dimension_size(emitter *e, text *to, const operation *op)
{
  define(e, to, op->results[0],
         PRINT("%" PRId64, op->operands[0]->type->dims[op_int(op, "dimension", 0)]));
}

static void emit_scalar_broadcast(emitter *e, text *to, const operation *op)
{
  define(e, to, op->results[0], emit_operand(e, op->operands[0], ACCESS_SCALAR, NULL));
}

/* New dimensions in front. */
static void emit_broadcast(emitter *e, text *to, const operation *op)
{
  define(e, to, op->results[0],
         emit_operand(e, op->operands[0], ACCESS_WHOLE,
                      PRINT("e %% %" PRIu64 "u", type_elements(op->operands[0]->type))));
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
    if (is_scalar(op->operands[0]))
      emit_scalar_broadcast(e, to, op);
    else if (op->code == OP_BROADCAST)
      emit_broadcast(e, to, op);
    else
      emit_broadcast_in_dim(e, to, op);
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
