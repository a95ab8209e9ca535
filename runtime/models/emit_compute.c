/* C code of operations that calculate each element from many: sums of products, reductions, … */
#include "models/emit_index.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

bool emit_map(emitter *e, text *to, const operation *op)
{
  expression *arguments = pop_arena_alloc(e->l->m->arena, op->num_operands * sizeof *arguments);
  expression results[1] = {PRINT("m%u", e->next_name++)};
  const char *name = emit_region(e, op, 0);
  if (!name) return false;
  for (size_t i = 0; i < op->num_operands; ++i)
    arguments[i] = emit_operand(e, op->operands[i], ACCESS_SAME, NULL);
  text_add(to, "    %s %s;\n    ", c_type_of(op->results[0]), results[0]);
  emit_region_call(e, to, &op->regions[0], name, arguments, results);
  emit_define(e, to, op->results[0], results[0]);
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

/* Defines acc<k>, the accumulators, with the initial values. */
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

bool emit_reduce(emitter *e, text *to, const operation *op)
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
  expression *x = emit_own_index(e, to, op);
  for (uint32_t i = 0; i < from->rank; ++i) at[order[i]] = i < kept ? x[i] : PRINT("r%u_%u", n, i);
  for (uint32_t i = kept; i < from->rank; ++i)
    text_add(to, "    for (int %s = 0; %s < %" PRId64 "; ++%s) {\n", at[order[i]], at[order[i]],
             from->dims[order[i]], at[order[i]]);
  for (size_t k = 0; k < inputs; ++k) acc[inputs + k] = emit_at(e, op, k, at);
  text_add(to, "      ");
  emit_region_call(e, to, &op->regions[0], name, acc, acc);
  for (uint32_t i = kept; i < from->rank; ++i) text_add(to, "    }\n");
  for (size_t k = 0; k < inputs; ++k) emit_define(e, to, op->results[k], acc[k]);
  return true;
}

/* The C type of a position in an operand that is dilated and padded. Padding is at most 1 << 30
 * (verify_compute.c), so an int holds positions up to 1 << 30 before it is subtracted. */
static const char *position_type(int64_t windows, int64_t stride, int64_t window, int64_t dilation)
{
  int64_t last = (windows - 1) * stride + (window - 1) * dilation;
  return last <= 1 << 30 ? "int" : "long long";
}

bool emit_reduce_window(emitter *e, text *to, const operation *op)
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
  expression *x = emit_own_index(e, to, op);
  unsigned n = e->next_name++;
  for (uint32_t d = 0; d < rank; ++d) {
    text_add(to, "    for (int w%u_%u = 0; w%u_%u < %" PRId64 "; ++w%u_%u) {\n", n, d, n, d,
             window[d], n, d);
    const char *type =
        position_type(op->results[0]->type->dims[d], stride[d], window[d], window_dilation[d]);
    text_add(to,
             "      const %s p%u_%u = (%s)%s * %" PRId64 " + (%s)w%u_%u * %" PRId64 " - (%" PRId64
             ");\n",
             type, n, d, type, x[d], stride[d], type, n, d, window_dilation[d], padding[2 * d]);
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
  /* Padding and holes count as elements with the initial value. */
  for (size_t k = 0; k < inputs; ++k) {
    expression outside = emit_operand(e, op->operands[inputs + k], ACCESS_SCALAR, NULL);
    acc[inputs + k] = type_elements(from)
                          ? PRINT("(in%u ? %s : %s)", n, emit_at(e, op, k, at), outside)
                          : outside;
  }
  text_add(to, "      ");
  emit_region_call(e, to, &op->regions[0], name, acc, acc);
  for (uint32_t d = 0; d < rank; ++d) text_add(to, "    }\n");
  for (size_t k = 0; k < inputs; ++k) emit_define(e, to, op->results[k], acc[k]);
  return true;
}

/* 16-bit floats are added in single precision and rounded at the end. */
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
  emit_define(e, to, op->results[0],
              t == ELEMENT_F16 || t == ELEMENT_BF16
                  ? PRINT("hlo_round_%s(s%u)", suffix_of(op->results[0]), n)
                  : PRINT("s%u", n));
}

void emit_dot(emitter *e, text *to, const operation *op)
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
  if (op->code == OP_DOT) { /* last dimension of the first, first of the second */
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
  expression *x = emit_own_index(e, to, op), at[2][MODEL_MAX_RANK] = {0};
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

/* The dimension with this role: 0, 1, … are spatial; -1 and -2 are the two named by letters. */
static size_t dimension_of(const int64_t *roles, size_t count, int64_t role)
{
  size_t d = 0;
  while (d < count && roles[d] != role) d++;
  return d;
}

/* The roles from the generic attribute, or from what the pretty form was read to. */
static void conv_roles(const module *m, const operation *op, const int64_t *roles[3], size_t *rank)
{
  const attribute *dn = op_attribute(op, "dimension_numbers");
  roles[0] = dict_int_list(m, dn, "input", rank);
  roles[1] = dict_int_list(m, dn, "kernel", rank);
  roles[2] = dict_int_list(m, dn, "output", rank);
}

void emit_convolution(emitter *e, text *to, const operation *op)
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
  expression *x = emit_own_index(e, to, op), at[MODEL_MAX_RANK] = {0}, k[MODEL_MAX_RANK] = {0};
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
      const char *type =
          position_type(out->dims[out_d], stride[s], kernel->dims[k_d], rhs_dilation[s]);
      text_add(to,
               "      const %s p%u_%zu = (%s)%s * %" PRId64 " + (%s)w%u_%zu * %" PRId64
               " - (%" PRId64 ");\n      if (p%u_%zu < 0 || p%u_%zu > %" PRId64,
               type, n, s, type, x[out_d], stride[s], type, n, s, rhs_dilation[s], padding[2 * s],
               n, s, n, s, (in->dims[in_d] - 1) * lhs_dilation[s]);
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
void emit_batch_norm_inference(emitter *e, text *to, const operation *op)
{
  const attribute *epsilon = op_attribute(op, "epsilon");
  const char *s = suffix_of(op->results[0]);
  expression *x = emit_own_index(e, to, op), f = x[op_int(op, "feature_index", 0)], p[5];
  for (size_t i = 1; i < 5; ++i) p[i] = emit_operand(e, op->operands[i], ACCESS_WHOLE, f);
  uint8_t bytes[8];
  element_from_double(op->results[0]->type->element, epsilon ? epsilon->number : 0, bytes);
  emit_define(e, to, op->results[0],
              PRINT("hlo_add_%s(hlo_multiply_%s(hlo_divide_%s(hlo_subtract_%s(%s, %s), "
                    "hlo_sqrt_%s(hlo_add_%s(%s, %s))), %s), %s)",
                    s, s, s, s, emit_operand(e, op->operands[0], ACCESS_SAME, NULL), p[3], s, s,
                    p[4], emit_literal(e->l->m->arena, op->results[0]->type->element, bytes), p[1],
                    p[2]));
}

/* Emits a table of exp(2 pi i k / length). On the axes it is exact. */
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

/* The sum of the definition. It is for short transforms, and for lengths that are prime
 * (expand_fft.c). */
bool emit_fft(emitter *e, text *to, const operation *op)
{
  const model_type *out = op->results[0]->type;
  const char *type = op_word(op, "fft_type");
  size_t count;
  const int64_t *length = op_int_list(e->l->m, op, "fft_length", &count);
  bool inverse = type[0] == 'I', real_in = strcmp(type, "RFFT") == 0;
  bool real_out = strcmp(type, "IRFFT") == 0;
  uint32_t first = out->rank - (uint32_t)count;
  unsigned n = e->next_name++;
  expression *x = emit_own_index(e, to, op), at[MODEL_MAX_RANK] = {0};
  enum { TABLE = 512 }; /* lengths up to which a tile has a table of the factors */
  bool table = count == 1 && length[0] <= TABLE;
  if (table) emit_turns(to, n, length[0]);
  text_add(to, "    float t%u = 0, u%u = 0;\n", n, n);
  for (uint32_t d = 0; d < first; ++d) at[d] = x[d];
  text phase = {0};
  text_add(&phase, "0");
  for (size_t k = 0; k < count; ++k) {
    /* The input of IRFFT has only half of the last dimension. The rest are conjugates. */
    text_add(to, "    for (int r%u_%zu = 0; r%u_%zu < %" PRId64 "; ++r%u_%zu) {\n", n, k, n, k,
             length[k], n, k);
    /* Chooses a type that holds products below the square of the length. */
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
  emit_define(e, to, op->results[0],
              real_out ? PRINT("t%u%s", n, scale)
                       : PRINT("hlo_make_c64(t%u%s, u%u%s)", n, scale, n, scale));
  return true;
}
