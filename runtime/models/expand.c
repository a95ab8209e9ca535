/* Operations that are expanded to others. Each becomes a function as StableHLO text, which is then
 * read and called.
 *
 *   batch_norm_training, batch_norm_grad   reduces and operations element by element
 *   dynamic_pad, dynamic_conv              pad, convolution: their padding must be constant
 *   rng                                    rng_bit_generator, with a state that the engine keeps
 *   reduce_window                          with long windows (expand_windows.c)
 *   fft                                    of long lengths (expand_fft.c)
 *   einsum, torch_index_select             dot_general, gather (expand_einsum.c)
 *   chlo.broadcast_add, …                  broadcasts and an add (expand_chlo.c)
 *   JAX's custom calls                     the operations that they stand for (expand_jax.c)
 *   collectives between replicas           operations on what all replicas have (replicas.c)
 *
 * The definitions are those of the specification. It leaves the algorithm of rng open. Here it is
 * Philox: the upper bits of each word become a number in [0, 1). NORMAL is made of these by the
 * Box-Muller transform, of which only the cosines are used. */
#include "models/inline.h"
#include "models/verify.h"

#include <inttypes.h>

#define PRINT(...) pop_arena_printf(m->arena, __VA_ARGS__)

char *expand_type(module *m, const model_type *like, int64_t *dims, uint32_t rank,
                  element_type element)
{
  model_type t = *like;
  t.dims = dims;
  t.rank = rank;
  t.element = element;
  return type_text(m->arena, &t);
}

char *expand_list(module *m, const int64_t *values, size_t count)
{
  char *all = pop_arena_strdup(m->arena, "[");
  for (size_t i = 0; i < count; ++i) all = PRINT("%s%s%" PRId64, all, i ? ", " : "", values[i]);
  return PRINT("%s]", all);
}

/* ---- batch norms ---- */

typedef struct norm {
  char *full, *row, *scalar; /* types: the operand's, a number for each feature, a scalar */
  char *others;              /* all dimensions except the feature's */
  int64_t feature;
  double count; /* elements of a feature */
  double epsilon;
} norm;

static norm norm_of(module *m, const operation *op)
{
  const model_type *t = op->operands[0]->type;
  const attribute *epsilon = op_attribute(op, "epsilon");
  norm n = {.feature = op_int(op, "feature_index", 0), .count = 1};
  int64_t others[MODEL_MAX_RANK];
  size_t count = 0;
  for (uint32_t d = 0; d < t->rank; ++d)
    if (d != n.feature) {
      others[count++] = d;
      n.count *= (double)t->dims[d];
    }
  n.full = type_text(m->arena, t);
  n.row = expand_type(m, t, &t->dims[n.feature], 1, t->element);
  n.scalar = expand_type(m, t, NULL, 0, t->element);
  n.others = expand_list(m, others, count);
  n.epsilon = epsilon ? epsilon->number : 0;
  return n;
}

static char *reduced(module *m, const norm *n, const char *to, const char *from)
{
  return PRINT(
      "%s = stablehlo.reduce(%s init: %%zero) applies stablehlo.add across dimensions = %s "
      ": (%s, %s) -> %s\n",
      to, from, n->others, n->full, n->scalar, n->row);
}

static char *spread(module *m, const norm *n, const char *to, const char *from)
{
  return PRINT("%s = stablehlo.broadcast_in_dim %s, dims = [%" PRId64 "] : (%s) -> %s\n", to, from,
               n->feature, n->row, n->full);
}

static char *norm_training(module *m, const operation *op)
{
  const norm n = norm_of(m, op);
  char *text = PRINT("func.func private @f(%%x: %s, %%scale: %s, %%offset: %s) -> (%s, %s, %s) {\n"
                     "%%zero = stablehlo.constant dense<0.0> : %s\n"
                     "%%count = stablehlo.constant dense<%.17e> : %s\n",
                     n.full, n.row, n.row, n.full, n.row, n.row, n.scalar, n.count, n.row);
  text = PRINT("%s%s%%mean = stablehlo.divide %%sum, %%count : %s\n%s", text,
               reduced(m, &n, "%sum", "%x"), n.row, spread(m, &n, "%means", "%mean"));
  text = PRINT("%s%%centred = stablehlo.subtract %%x, %%means : %s\n"
               "%%squares = stablehlo.multiply %%centred, %%centred : %s\n%s"
               "%%variance = stablehlo.divide %%spread, %%count : %s\n",
               text, n.full, n.full, reduced(m, &n, "%spread", "%squares"), n.row);
  return PRINT(
      "%s%%y = \"stablehlo.batch_norm_inference\"(%%x, %%scale, %%offset, %%mean, %%variance) "
      "{epsilon = %.17e : f32, feature_index = %" PRId64 " : i64} : (%s, %s, %s, %s, %s) -> %s\n"
      "return %%y, %%mean, %%variance : %s, %s, %s\n}\n",
      text, n.epsilon, n.feature, n.full, n.row, n.row, n.row, n.row, n.full, n.full, n.row, n.row);
}

static char *norm_gradient(module *m, const operation *op)
{
  const norm n = norm_of(m, op);
  const char *t = n.full;
  char *text = PRINT(
      "func.func private @f(%%x: %s, %%scale: %s, %%mean: %s, %%variance: %s, %%g: %s) -> (%s, %s, "
      "%s) {\n%%zero = stablehlo.constant dense<0.0> : %s\n"
      "%%count = stablehlo.constant dense<%.17e> : %s\n"
      "%%eps = stablehlo.constant dense<%.17e> : %s\n%s%s%s",
      t, n.row, n.row, n.row, t, t, n.row, n.row, n.scalar, n.count, t, n.epsilon, t,
      spread(m, &n, "%scales", "%scale"), spread(m, &n, "%means", "%mean"),
      spread(m, &n, "%variances", "%variance"));
  text = PRINT("%s%%centred = stablehlo.subtract %%x, %%means : %s\n"
               "%%wide = stablehlo.add %%variances, %%eps : %s\n"
               "%%deviation = stablehlo.sqrt %%wide : %s\n"
               "%%normal = stablehlo.divide %%centred, %%deviation : %s\n"
               "%%a = stablehlo.multiply %%g, %%count : %s\n%s%s"
               "%%gc = stablehlo.multiply %%g, %%centred : %s\n%s%s",
               text, t, t, t, t, t, reduced(m, &n, "%offset", "%g"), spread(m, &n, "%b", "%offset"),
               t, reduced(m, &n, "%sum", "%gc"), spread(m, &n, "%sums", "%sum"));
  return PRINT("%s%%c = stablehlo.multiply %%sums, %%centred : %s\n"
               "%%d = stablehlo.divide %%c, %%wide : %s\n"
               "%%ab = stablehlo.subtract %%a, %%b : %s\n"
               "%%abd = stablehlo.subtract %%ab, %%d : %s\n"
               "%%s = stablehlo.divide %%scales, %%deviation : %s\n"
               "%%r = stablehlo.divide %%s, %%count : %s\n"
               "%%dx = stablehlo.multiply %%r, %%abd : %s\n"
               "%%gn = stablehlo.multiply %%g, %%normal : %s\n%s"
               "return %%dx, %%dscale, %%offset : %s, %s, %s\n}\n",
               text, t, t, t, t, t, t, t, t, reduced(m, &n, "%dscale", "%gn"), t, n.row, n.row);
}

/* ---- padding that is an operand ---- */

/* The elements of a constant operand of integers. NULL if it is not such an operand. */
static const int64_t *constant_ints(module *m, const value *v, size_t wanted)
{
  int64_t *values;
  size_t count;
  const attribute *a = v->op && v->op->code == OP_CONSTANT ? op_attribute(v->op, "value") : NULL;
  return a && attribute_ints(m->arena, a, &values, &count) && count == wanted ? values : NULL;
}

static pop_error *not_constant(const module *m, const operation *op, size_t operand)
{
  return model_error(m, op->offset,
                     "operand %zu of %s is no constant with a number for each dimension", operand,
                     op->name);
}

static pop_error *dynamic_pad(module *m, const operation *op, char **text)
{
  const int64_t *numbers[3];
  const model_type *t = op->operands[0]->type;
  for (size_t i = 0; i < 3; ++i)
    if (!(numbers[i] = constant_ints(m, op->operands[2 + i], t->rank)))
      return not_constant(m, op, 2 + i);
  const char *x = type_text(m->arena, t), *v = type_text(m->arena, op->operands[1]->type);
  const char *n = type_text(m->arena, op->operands[2]->type);
  const char *y = type_text(m->arena, op->results[0]->type);
  *text =
      PRINT("func.func private @f(%%x: %s, %%v: %s, %%a: %s, %%b: %s, %%c: %s) -> %s {\n"
            "%%y = stablehlo.pad %%x, %%v, low = %s, high = %s, interior = %s : (%s, %s) -> %s\n"
            "return %%y : %s\n}\n",
            x, v, n, n, n, y, expand_list(m, numbers[0], t->rank),
            expand_list(m, numbers[1], t->rank), expand_list(m, numbers[2], t->rank), x, v, y, y);
  return NULL;
}

/* ---- rng ---- */

/* Defines %<to>, numbers in [0, 1) of the type. It takes words of 32 bits, or of 64 for f64. */
static char *unit_numbers(module *m, const model_type *t, const char *to)
{
  bool wide = t->element == ELEMENT_F64;
  unsigned bits = wide ? 53 : t->element == ELEMENT_F16 ? 11 : t->element == ELEMENT_BF16 ? 8 : 24;
  const char *word = expand_type(m, t, t->dims, t->rank, wide ? ELEMENT_U64 : ELEMENT_U32);
  const char *full = type_text(m->arena, t);
  return PRINT("%%s%s = populus.rng_state : tensor<2xui64>\n"
               "%%n%s, %%w%s = stablehlo.rng_bit_generator %%s%s, algorithm = PHILOX : "
               "(tensor<2xui64>) -> (tensor<2xui64>, %s)\n"
               "populus.rng_keep %%s%s, %%n%s : tensor<2xui64>, tensor<2xui64>\n"
               "%%shift%s = stablehlo.constant dense<%u> : %s\n"
               "%%up%s = stablehlo.shift_right_logical %%w%s, %%shift%s : %s\n"
               "%%f%s = stablehlo.convert %%up%s : (%s) -> %s\n"
               "%%unit%s = stablehlo.constant dense<%.17e> : %s\n"
               "%%%s = stablehlo.multiply %%f%s, %%unit%s : %s\n",
               to, to, to, to, word, to, to, to, (wide ? 64 : 32) - bits, word, to, to, to, word,
               to, to, word, full, to, 1.0 / (double)(1ull << bits), full, to, to, to, full);
}

static char *rng_floats(module *m, const operation *op, bool normal)
{
  const model_type *t = op->results[0]->type;
  const char *y = type_text(m->arena, t), *s = type_text(m->arena, op->operands[0]->type);
  const char *spread = PRINT("%%as = stablehlo.broadcast_in_dim %%a, dims = [] : (%s) -> %s\n"
                             "%%bs = stablehlo.broadcast_in_dim %%b, dims = [] : (%s) -> %s\n",
                             s, y, s, y);
  if (!normal) /* Rounding may give b, which is not in the interval. */
    return PRINT("%s%s%%width = stablehlo.subtract %%bs, %%as : %s\n"
                 "%%r = stablehlo.multiply %%u, %%width : %s\n"
                 "%%sum = stablehlo.add %%r, %%as : %s\n"
                 "%%below = chlo.next_after %%bs, %%as : %s, %s -> %s\n"
                 "%%y = stablehlo.minimum %%sum, %%below : %s\n",
                 spread, unit_numbers(m, t, "u"), y, y, y, y, y, y, y);
  return PRINT(
      "%s%s%s%%one = stablehlo.constant dense<1.0> : %s\n"
      "%%v = stablehlo.subtract %%one, %%u : %s\n%%log = stablehlo.log %%v : %s\n"
      "%%minus = stablehlo.constant dense<-2.0> : %s\n"
      "%%square = stablehlo.multiply %%log, %%minus : %s\n"
      "%%radius = stablehlo.sqrt %%square : %s\n"
      "%%turn = stablehlo.constant dense<6.2831853071795865> : %s\n"
      "%%angle = stablehlo.multiply %%t, %%turn : %s\n"
      "%%cos = stablehlo.cosine %%angle : %s\n%%z = stablehlo.multiply %%radius, %%cos : %s\n"
      "%%r = stablehlo.multiply %%z, %%bs : %s\n%%y = stablehlo.add %%r, %%as : %s\n",
      spread, unit_numbers(m, t, "u"), unit_numbers(m, t, "t"), y, y, y, y, y, y, y, y, y, y, y, y);
}

/* a + word mod (b - a), in words as wide as the element. */
static char *rng_integers(module *m, const operation *op)
{
  const model_type *t = op->results[0]->type;
  static const element_type words[] = {
      [8] = ELEMENT_U8, [16] = ELEMENT_U16, [32] = ELEMENT_U32, [64] = ELEMENT_U64};
  element_type word = words[element_bits(t->element)];
  const char *y = type_text(m->arena, t), *s = type_text(m->arena, op->operands[0]->type);
  const char *w = expand_type(m, t, t->dims, t->rank, word),
             *one = expand_type(m, t, NULL, 0, word);
  return PRINT("%%width = stablehlo.subtract %%b, %%a : %s\n"
               "%%uw = stablehlo.bitcast_convert %%width : (%s) -> %s\n"
               "%%ua = stablehlo.bitcast_convert %%a : (%s) -> %s\n"
               "%%ws = stablehlo.broadcast_in_dim %%uw, dims = [] : (%s) -> %s\n"
               "%%as = stablehlo.broadcast_in_dim %%ua, dims = [] : (%s) -> %s\n"
               "%%s = populus.rng_state : tensor<2xui64>\n"
               "%%n, %%w = stablehlo.rng_bit_generator %%s, algorithm = PHILOX : "
               "(tensor<2xui64>) -> (tensor<2xui64>, %s)\n"
               "populus.rng_keep %%s, %%n : tensor<2xui64>, tensor<2xui64>\n"
               "%%r = stablehlo.remainder %%w, %%ws : %s\n%%sum = stablehlo.add %%r, %%as : %s\n"
               "%%y = stablehlo.bitcast_convert %%sum : (%s) -> %s\n",
               s, s, one, s, one, one, w, one, w, w, w, w, w, y);
}

/* The interval [a, b) of truth values has only a. */
static char *rng_truths(module *m, const operation *op)
{
  return PRINT("%%y = stablehlo.broadcast_in_dim %%a, dims = [] : (%s) -> %s\n",
               type_text(m->arena, op->operands[0]->type),
               type_text(m->arena, op->results[0]->type));
}

static char *rng(module *m, const operation *op)
{
  const model_type *t = op->results[0]->type;
  bool normal = strcmp(op_word(op, "rng_distribution"), "NORMAL") == 0;
  const char *body = element_is_float(t->element) ? rng_floats(m, op, normal)
                     : t->element == ELEMENT_I1   ? rng_truths(m, op)
                                                  : rng_integers(m, op);
  const char *s = type_text(m->arena, op->operands[0]->type), *y = type_text(m->arena, t);
  return PRINT(
      "func.func private @f(%%a: %s, %%b: %s, %%shape: %s) -> %s {\n%sreturn %%y : %s\n}\n", s, s,
      type_text(m->arena, op->operands[2]->type), y, body, y);
}

/* ---- all of them ---- */

bool op_expands(const module *m, const operation *op)
{
  op_code code = op->code;
  return windows_are_long(m, op) || fft_is_long(m, op) || code == OP_BATCH_NORM_TRAINING ||
         code == OP_BATCH_NORM_GRAD || code == OP_BROADCASTING || code == OP_CONSTANT_LIKE ||
         code == OP_EINSUM || code == OP_UNARY_EINSUM || code == OP_SET_DIMENSION_SIZE ||
         code == OP_TORCH_INDEX_SELECT || jax_call_of(op) != JAX_NONE || code == OP_DYNAMIC_PAD ||
         code == OP_DYNAMIC_CONV || code == OP_RNG;
}

/* A convolution whose padding is the constant third operand. */
static pop_error *expand_convolution(module *m, const operation *op, operation *to)
{
  size_t count = op->operands[0]->type->rank - 2;
  const int64_t *padding = constant_ints(m, op->operands[2], 2 * count);
  if (!padding) return not_constant(m, op, 2);
  attribute a = {.kind = ATTRIBUTE_ARRAY, .name = "padding", .offset = op->offset};
  a.num_items = 2 * count;
  a.items = pop_arena_alloc(m->arena, (a.num_items + 1) * sizeof *a.items);
  for (size_t i = 0; i < a.num_items; ++i)
    a.items[i] = (attribute){.kind = ATTRIBUTE_INT, .integer = padding[i]};
  *to = *op;
  to->code = OP_CONVOLUTION;
  to->name = "stablehlo.convolution";
  to->num_operands = 2;
  to->attributes = pop_arena_alloc(m->arena, (op->num_attributes + 1) * sizeof *to->attributes);
  to->attributes[0] = a;
  memcpy(to->attributes + 1, op->attributes, op->num_attributes * sizeof *to->attributes);
  to->num_attributes++;
  return NULL;
}

static pop_error *expand_constant(module *m, const operation *op, operation *to)
{
  const attribute *value = op_attribute(op, "value");
  const model_type *type = op->results[0]->type;
  attribute *a = pop_arena_alloc(m->arena, sizeof *a);
  *a = (attribute){.kind = ATTRIBUTE_DENSE, .name = "value", .type = type, .splat = true};
  a->data = pop_arena_alloc(m->arena, 2 * sizeof(double));
  if (value->kind == ATTRIBUTE_FLOAT)
    element_from_double(type->element, value->number, a->data);
  else
    element_from_int(type->element, (uint64_t)value->integer, a->data);
  *to = *op;
  to->code = OP_CONSTANT;
  to->name = "stablehlo.constant";
  to->num_operands = 0;
  to->attributes = a;
  to->num_attributes = 1;
  return NULL;
}

/* The value itself: the size that is set is the size that it has. */
static pop_error *expand_size(const operation *op, operation *to)
{
  *to = *op;
  to->code = OP_OPTIMIZATION_BARRIER;
  to->name = "stablehlo.optimization_barrier";
  to->num_operands = 1;
  to->num_attributes = 0;
  return NULL;
}

pop_error *expand_op(module *m, const operation *op, operation *same, function *f)
{
  char *text = NULL;
  *f = (function){0};
  switch (op->code) {
  case OP_BATCH_NORM_TRAINING:
    text = norm_training(m, op);
    break;
  case OP_BATCH_NORM_GRAD:
    text = norm_gradient(m, op);
    break;
  case OP_RNG:
    text = rng(m, op);
    break;
  case OP_DYNAMIC_PAD:
    POP_TRY(dynamic_pad(m, op, &text));
    break;
  case OP_BROADCASTING:
    text = broadcasting_expand(m, op);
    break;
  case OP_EINSUM:
  case OP_UNARY_EINSUM:
    text = einsum_expand(m, op);
    break;
  case OP_TORCH_INDEX_SELECT:
    text = index_select_expand(m, op);
    break;
  case OP_CUSTOM_CALL:
    text = jax_expand(m, op);
    break;
  case OP_CONSTANT_LIKE:
    return expand_constant(m, op, same);
  case OP_SET_DIMENSION_SIZE:
    return expand_size(op, same);
  case OP_DYNAMIC_CONV:
    return expand_convolution(m, op, same);
  case OP_REDUCE_WINDOW:
    text = windows_expand(m, op);
    break;
  case OP_FFT:
    text = fft_expand(m, op);
    break;
  default:
    POP_TRY(replicas_expand(m, op, &text));
  }
  return module_read_function(m, text, f);
}
