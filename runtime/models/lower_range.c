/* Operations that make several elements of a result at a time: top_k, row by row, and
 * select_and_scatter. Each has a codelet of its own. */
#include "models/range.h"

#include <inttypes.h>

#define PRINT(...) pop_arena_printf(l->m->arena, __VA_ARGS__)

/* ---- select_and_scatter ---- */

/* Operands: the tensor, the source, the initial value, then values that the regions use from
 * outside (captures.c). */
enum { SELECT_OPERANDS = 3 };

/* The arguments of a region: `a`, `b`, then values from outside. */
static const char **select_arguments(range_codelet *c, const operation *op, const char *a,
                                     const char *b)
{
  lowering *l = c->e.l;
  const char **x = pop_arena_alloc(l->m->arena, op->num_operands * sizeof *x);
  x[0] = a;
  x[1] = b;
  for (size_t i = SELECT_OPERANDS; i < op->num_operands; ++i)
    x[i - 1] = PRINT("hlo_load_%s(outside%zu[0])", suffix_of(op->operands[i]), i);
  return x;
}

/* In each window, the element that `select` keeps is combined with the window's source. A vertex
 * goes through all windows that contain its elements. */
static bool select_body(range_codelet *c, const operation *op)
{
  lowering *l = c->e.l;
  text *to = &c->e.body;
  const model_type *type = op->operands[0]->type;
  uint32_t rank = type->rank;
  const int64_t *window = op_ints(l->m, op, "window_dimensions", rank, 1);
  const int64_t *stride = op_ints(l->m, op, "window_strides", rank, 1);
  const int64_t *padding = op_ints(l->m, op, "padding", 2 * (size_t)rank, 0);
  const char *select = emit_region(&c->e, op, 0), *scatter = emit_region(&c->e, op, 1);
  if (!select || !scatter) return false;
  const char *s = suffix_of(op->operands[0]), *type_name = c_type_of(op->operands[0]);
  const char *x[MODEL_MAX_RANK] = {0}, *y[MODEL_MAX_RANK] = {0};
  for (uint32_t d = 0; d < rank; ++d) {
    x[d] = PRINT("x%u", d);
    y[d] = PRINT("y%u", d);
  }
  text_add(to, "  for (unsigned i = 0; i < size; ++i) out0[i] = initial0[0];\n");
  for (uint32_t d = 0; d < rank; ++d)
    text_add(to,
             "  for (int x%u = (int)vertex->begin1_%u, e%u = x%u + (int)vertex->size1_%u; x%u < "
             "e%u; ++x%u)\n",
             d, d, d, d, d, d, d, d);
  text_add(to, "  do {\n    unsigned best = ~0u, kept = 0;\n");
  for (uint32_t d = 0; d < rank; ++d) {
    text_add(to, "    for (int w%u = 0; w%u < %" PRId64 "; ++w%u) {\n", d, d, window[d], d);
    text_add(to, "      const int y%u = x%u * %" PRId64 " + w%u - (%" PRId64 ");\n", d, d,
             stride[d], d, padding[2 * d]);
    text_add(to, "      if (y%u < 0 || y%u >= %" PRId64 ") continue;\n", d, d, type->dims[d]);
  }
  text_add(to, "      const unsigned at = %s;\n", box_index(l->m->arena, 0, rank, y));
  text_add(to, "      bool keep = false;\n      if (best != ~0u) ");
  const char **two =
      select_arguments(c, op, PRINT("hlo_load_%s(in0[kept])", s), PRINT("hlo_load_%s(in0[at])", s));
  const char *const keep[1] = {"keep"};
  emit_region_call(&c->e, to, &op->regions[0], select, two, keep);
  text_add(to, "      if (!keep) {\n        kept = at;\n        best = (unsigned)(%s);\n      }\n",
           emit_linear_index(&c->e, y, type));
  for (uint32_t d = 0; d < rank; ++d) text_add(to, "    }\n");
  text_add(to,
           "    const unsigned i = best - base;\n    if (best == ~0u || i >= size) continue;\n");
  const char **both =
      select_arguments(c, op, PRINT("hlo_load_%s(out0[i])", s),
                       PRINT("hlo_load_%s(source0[%s])", s, box_index(l->m->arena, 1, rank, x)));
  const char *const result[1] = {"r"};
  text_add(to, "    %s r;\n    ", type_name);
  emit_region_call(&c->e, to, &op->regions[1], scatter, both, result);
  text_add(to, "    out0[i] = hlo_store_%s(r);\n  } while (0);\n", s);
  return true;
}

static bool lower_select_and_scatter(lowering *l, const operation *op)
{
  static const char *const stems[SELECT_OPERANDS] = {"in", "source", "initial"};
  range_codelet c = {.e.l = l};
  size_t n = op->num_operands;
  bool good = true, *sliced = pop_arena_alloc(l->m->arena, (n + 1) * sizeof *sliced);
  for (size_t i = 0; i < n && good; ++i) {
    bool own = i < SELECT_OPERANDS;
    good = range_add_field(&c, op, own ? stems[i] : "outside", own ? 0 : i, op->operands[i], false);
    sliced[i] = false;
  }
  good = good && range_add_field(&c, op, "out", 0, op->results[0], true) && select_body(&c, op);
  sliced[n] = true;
  c.fields[0].boxed = c.fields[1].boxed = true;
  if (good) {
    spread_plan plan = lowering_plan(l, type_elements(op->results[0]->type), 16, 1);
    pop_tensor *tensors = pop_arena_alloc(l->m->arena, (n + 1) * sizeof *tensors);
    for (size_t i = 0; i < n; ++i) tensors[i] = lowering_tensor(l, op->operands[i]);
    tensors[n] = lowering_variable(l, op->results[0]->type, &plan, lowering_name(l, op));
    lowering_set_tensor(l, op->results[0], tensors[n]);
    good = !l->error;
    if (good && plan.elements)
      range_add_vertices(l, op, &c, range_finish(&c, op), &plan, tensors, sliced);
  }
  range_free(&c);
  return good;
}

/* ---- top_k ---- */

/* The k largest elements of each row, or the k smallest, in order, and their positions. NaN is
 * larger than all numbers. Among equals the first comes first. */
static bool lower_top_k(lowering *l, const operation *op)
{
  range_codelet c = {.e.l = l};
  const model_type *type = op->operands[0]->type;
  int64_t row = type->dims[type->rank - 1], k = op->results[0]->type->dims[type->rank - 1];
  uint64_t rows = row && k ? type_elements(type) / (uint64_t)row : 0;
  const char *s = suffix_of(op->operands[0]);
  bool is_float = element_is_float(type->element);
  bool good = range_add_field(&c, op, "in", 0, op->operands[0], false) &&
              range_add_field(&c, op, "out", 0, op->results[0], true) &&
              range_add_field(&c, op, "where", 0, op->results[1], true);
  if (good) {
    const char *order = is_float ? PRINT("hlo_order_%s", s) : "";
    char before = op_flag(op, "largest", true) ? '>' : '<';
    text_add(
        &c.e.body,
        "  const unsigned rows = size / %" PRId64 ";\n"
        "  for (unsigned r = 0; r < rows; ++r, in0 += %" PRId64 ", out0 += %" PRId64
        ", where0 += %" PRId64 ")\n"
        "    for (unsigned n = 0, kept = 0; n < %" PRId64 "; ++n) {\n"
        "      unsigned at = kept;\n"
        "      while (at > 0 && %s(hlo_load_%s(in0[n])) %c %s(hlo_load_%s(out0[at - 1]))) at--;\n"
        "      if (at == %" PRId64 ") continue;\n"
        "      if (kept < %" PRId64 ") kept++;\n"
        "      for (unsigned m = kept - 1; m > at; --m) {\n"
        "        out0[m] = out0[m - 1];\n"
        "        where0[m] = where0[m - 1];\n"
        "      }\n"
        "      out0[at] = in0[n];\n"
        "      where0[at] = (int)n;\n"
        "    }\n",
        k, row, k, k, row, order, s, before, order, s, k, k);
    spread_plan plan = lowering_plan(l, rows, (uint64_t)row * 4 + 257, (uint64_t)k);
    const bool sliced[3] = {true, true, true};
    pop_tensor tensors[3] = {{0}};
    tensors[0] = lowering_tensor(l, op->operands[0]);
    for (int i = 0; i < 2; ++i) {
      tensors[1 + i] = lowering_variable(l, op->results[i]->type, &plan, lowering_name(l, op));
      lowering_set_tensor(l, op->results[i], tensors[1 + i]);
    }
    good = !l->error;
    if (good && rows) range_add_vertices(l, op, &c, range_finish(&c, op), &plan, tensors, sliced);
  }
  range_free(&c);
  return good;
}

bool lower_range(lowering *l, const operation *op)
{
  switch (op->code) {
  case OP_CHOLESKY:
    return lower_cholesky(l, op);
  case OP_RNG_BIT_GENERATOR:
    return lower_rng_bit_generator(l, op);
  case OP_TRIANGULAR_SOLVE:
    return lower_triangular_solve(l, op);
  case OP_SCATTER:
    return windows_are_planned(l, op) ? lower_windows(l, op) : lower_scatter(l, op);
  case OP_SELECT_AND_SCATTER:
    return lower_select_and_scatter(l, op);
  case OP_SORT:
    return lower_sort(l, op);
  case OP_TOP_K:
    return lower_top_k(l, op);
  default:
    return lowering_fail(l, op, "%s is not supported", op->name);
  }
}
