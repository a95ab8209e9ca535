/* einsum, unary_einsum and torch_index_select as StableHLO text.
 *
 *   einsum "abk,kc->cab"    dimensions of one operand only are summed; dot_general; transpose
 *   torch_index_select      gather */
#include "models/inline.h"
#include "models/verify.h"

#include <ctype.h>

#define PRINT(...) pop_arena_printf(m->arena, __VA_ARGS__)

/* ---- einsum ---- */

/* A name for each dimension. */
typedef struct labels {
  char names[MODEL_MAX_RANK];
  int64_t sizes[MODEL_MAX_RANK];
  uint32_t rank;
} labels;

typedef struct sum_of_products {
  size_t inputs;
  labels in[2], out;
} sum_of_products;

static int find_label(const labels *l, char name)
{
  for (uint32_t d = 0; d < l->rank; ++d)
    if (l->names[d] == name) return (int)d;
  return -1;
}

/* Reads labels such as "ab...c" up to the end, ',' or '-'. The dots stand for the remaining
 * dimensions. These are numbered from the last, so that the last ones match in all operands. False
 * if labels are malformed, too many, too few or repeated. */
static bool read_labels(const char **at, const model_type *type, labels *l)
{
  uint32_t letters = 0;
  for (const char *p = *at; *p && *p != ',' && *p != '-'; ++p)
    letters += isalpha((unsigned char)*p) != 0;
  if (letters > type->rank) return false;
  l->rank = 0;
  for (; **at && **at != ',' && **at != '-'; ++*at) {
    if (**at == ' ') continue;
    uint32_t count = 1;
    bool dots = strncmp(*at, "...", 3) == 0;
    if (dots)
      count = type->rank - letters, *at += 2;
    else if (!isalpha((unsigned char)**at))
      return false;
    for (; count > 0; --count) {
      char name = dots ? (char)('0' + count - 1) : **at;
      if (l->rank == type->rank || find_label(l, name) >= 0) return false;
      l->sizes[l->rank] = type->dims[l->rank];
      l->names[l->rank++] = name;
    }
  }
  return l->rank == type->rank;
}

static bool has_sizes_of(const labels *a, const labels *b)
{
  for (uint32_t d = 0; d < a->rank; ++d) {
    int other = find_label(b, a->names[d]);
    if (other >= 0 && b->sizes[other] != a->sizes[d]) return false;
  }
  return true;
}

static const char *read_einsum(const operation *op, sum_of_products *s)
{
  const char *at = op_word(op, "einsum_config");
  *s = (sum_of_products){.inputs = op->code == OP_EINSUM ? 2 : 1};
  for (size_t i = 0; i < s->inputs; ++i) {
    if (i && *at++ != ',') return "einsum_config has labels of two operands, with ',' between";
    if (!read_labels(&at, op->operands[i]->type, &s->in[i]))
      return "einsum_config has a label for each dimension of the operands, none twice";
  }
  if (at[0] != '-' || at[1] != '>') return "einsum_config has '->' behind the operands";
  at += 2;
  if (!read_labels(&at, op->results[0]->type, &s->out) || *at)
    return "einsum_config has a label for each dimension of the result, none twice";
  for (uint32_t d = 0; d < s->out.rank; ++d)
    if (find_label(&s->in[0], s->out.names[d]) < 0 && find_label(&s->in[1], s->out.names[d]) < 0)
      return "a label of the result is none of the operands'";
  if (!has_sizes_of(&s->in[0], &s->in[1]) || !has_sizes_of(&s->out, &s->in[0]) ||
      !has_sizes_of(&s->out, &s->in[1]))
    return "dimensions with the same label have different sizes";
  return NULL;
}

const char *einsum_complaint(const operation *op)
{
  sum_of_products s;
  return read_einsum(op, &s);
}

static char *labels_type(module *m, const operation *op, const labels *l)
{
  const model_type *t = op->results[0]->type;
  return expand_type(m, t, (int64_t *)l->sizes, l->rank, t->element);
}

/* Defines %s<i>: %x<i> summed over the dimensions that neither the other operand nor the result
 * has. */
static char *sum_alone(module *m, const operation *op, sum_of_products *s, size_t i)
{
  labels *l = &s->in[i], left = {.rank = 0};
  int64_t gone[MODEL_MAX_RANK];
  size_t num_gone = 0;
  char *before = labels_type(m, op, l);
  for (uint32_t d = 0; d < l->rank; ++d) {
    if (find_label(&s->out, l->names[d]) < 0 && find_label(&s->in[1 - i], l->names[d]) < 0) {
      gone[num_gone++] = d;
      continue;
    }
    left.sizes[left.rank] = l->sizes[d];
    left.names[left.rank++] = l->names[d];
  }
  *l = left;
  char *after = labels_type(m, op, l);
  const char *scalar = expand_type(m, op->results[0]->type, NULL, 0, op->results[0]->type->element);
  return PRINT("%%s%zu = stablehlo.reduce(%%x%zu init: %%zero) applies stablehlo.add across "
               "dimensions = %s : (%s, %s) -> %s\n",
               i, i, expand_list(m, gone, num_gone), before, scalar, after);
}

/* Defines %p as dot_general of %s0 and %s1, and returns the labels of its dimensions. */
static char *multiply(module *m, const operation *op, const sum_of_products *s, labels *product)
{
  int64_t dims[2][2][MODEL_MAX_RANK]; /* [batch or contracting][operand] */
  size_t counts[2] = {0, 0};
  *product = (labels){.rank = 0};
  for (uint32_t d = 0; d < s->in[0].rank; ++d) {
    int other = find_label(&s->in[1], s->in[0].names[d]);
    if (other < 0) continue;
    int contracting = find_label(&s->out, s->in[0].names[d]) < 0;
    dims[contracting][0][counts[contracting]] = d;
    dims[contracting][1][counts[contracting]++] = other;
    if (contracting) continue;
    product->sizes[product->rank] = s->in[0].sizes[d];
    product->names[product->rank++] = s->in[0].names[d];
  }
  for (size_t i = 0; i < 2; ++i)
    for (uint32_t d = 0; d < s->in[i].rank; ++d) {
      if (find_label(&s->in[1 - i], s->in[i].names[d]) >= 0) continue;
      product->sizes[product->rank] = s->in[i].sizes[d];
      product->names[product->rank++] = s->in[i].names[d];
    }
  return PRINT(
      "%%p = stablehlo.dot_general %%s0, %%s1, batching_dims = %s x %s, contracting_dims = "
      "%s x %s : (%s, %s) -> %s\n",
      expand_list(m, dims[0][0], counts[0]), expand_list(m, dims[0][1], counts[0]),
      expand_list(m, dims[1][0], counts[1]), expand_list(m, dims[1][1], counts[1]),
      labels_type(m, op, &s->in[0]), labels_type(m, op, &s->in[1]), labels_type(m, op, product));
}

char *einsum_expand(module *m, const operation *op)
{
  sum_of_products s;
  labels product;
  int64_t order[MODEL_MAX_RANK];
  (void)read_einsum(op, &s);
  const model_type *t = op->results[0]->type;
  const char *zero = element_is_float(t->element) ? "0.0"
                     : t->element == ELEMENT_C64  ? "(0.0, 0.0)"
                     : t->element == ELEMENT_I1   ? "false"
                                                  : "0";
  const char *y = type_text(m->arena, t);
  char *arguments = PRINT("%%x0: %s", labels_type(m, op, &s.in[0]));
  if (s.inputs == 2) arguments = PRINT("%s, %%x1: %s", arguments, labels_type(m, op, &s.in[1]));
  char *text =
      PRINT("func.func private @f(%s) -> %s {\n%%zero = stablehlo.constant dense<%s> : %s\n",
            arguments, y, zero, expand_type(m, t, NULL, 0, t->element));
  for (size_t i = 0; i < s.inputs; ++i) text = PRINT("%s%s", text, sum_alone(m, op, &s, i));
  product = s.in[0];
  if (s.inputs == 2) text = PRINT("%s%s", text, multiply(m, op, &s, &product));
  for (uint32_t d = 0; d < s.out.rank; ++d) order[d] = find_label(&product, s.out.names[d]);
  return PRINT("%s%%y = stablehlo.transpose %s, dims = %s : (%s) -> %s\nreturn %%y : %s\n}\n", text,
               s.inputs == 2 ? "%p" : "%s0", expand_list(m, order, s.out.rank),
               labels_type(m, op, &product), y, y);
}

/* ---- torch_index_select ---- */

/* result[batch …, …, i …, …] = operand[batch …, …, index[batch …, i …], …] */
char *index_select_expand(module *m, const operation *op)
{
  const model_type *x = op->operands[0]->type, *i = op->operands[1]->type,
                   *y = op->results[0]->type;
  int64_t dim = op_int(op, "dim", 0), batch = op_int(op, "batch_dims", 0);
  int64_t offset[MODEL_MAX_RANK], batching[MODEL_MAX_RANK], sizes[MODEL_MAX_RANK];
  size_t num_offset = 0;
  for (int64_t d = 0; d < y->rank; ++d)
    if (d >= batch && (d < dim || d >= dim + i->rank - batch)) offset[num_offset++] = d;
  for (int64_t d = 0; d < x->rank; ++d) {
    if (d < batch) batching[d] = d;
    sizes[d] = d < batch || d == dim ? 1 : x->dims[d];
  }
  const char *xs = type_text(m->arena, x), *is = type_text(m->arena, i),
             *ys = type_text(m->arena, y), *list = expand_list(m, batching, (size_t)batch);
  char *all = expand_list(m, sizes, x->rank);
  all[strlen(all) - 1] = '\0'; /* without its brackets */
  return PRINT("func.func private @f(%%x: %s, %%i: %s) -> %s {\n"
               "%%y = \"stablehlo.gather\"(%%x, %%i) {dimension_numbers = "
               "#stablehlo.gather<offset_dims = %s, collapsed_slice_dims = [%lld], "
               "operand_batching_dims = %s, start_indices_batching_dims = %s, start_index_map = "
               "[%lld], index_vector_dim = %u>, slice_sizes = array<i64: %s>} : (%s, %s) -> %s\n"
               "return %%y : %s\n}\n",
               xs, is, ys, expand_list(m, offset, num_offset), (long long)dim, list, list,
               (long long)dim, i->rank, all + 1, xs, is, ys, ys);
}
