/* Triangular matrices: solving with them, and making them (hlo_linear.h). A vertex takes whole matrices. */
#include "models/range.h"

#include <inttypes.h>
#include <string.h>

static const char *flag(bool value)
{
  return value ? "true" : "false";
}

/* Matrices of the operand's shape in the type that is calculated with: sums of 16-bit numbers are kept in single precision. */
static const value *scratch_of(lowering *l, const operation *op)
{
  model_type *type = pop_arena_alloc(l->m->arena, sizeof *type);
  value *v = pop_arena_alloc(l->m->arena, sizeof *v);
  *type = *op->operands[0]->type;
  if (type->element == ELEMENT_F16 || type->element == ELEMENT_BF16) type->element = ELEMENT_F32;
  *v = (value){.type = type};
  return v;
}

/* One vertex for some of the `count` matrices of a stack, of which each costs `cost`; the fields are the operands, the result and
 * scratch. */
static bool add_matrix_vertices(lowering *l, const operation *op, range_codelet *c, uint64_t count,
                                uint64_t cost)
{
  static const bool sliced[4] = {true, true, true, true};
  uint64_t elements = type_elements(op->results[0]->type);
  spread_plan plan = lowering_plan(l, count, cost, 1);
  pop_tensor tensors[4] = {{0}};
  for (size_t i = 0; i < c->num_fields; ++i) {
    const model_type *type = c->fields[i].of->type;
    plan.grain = count ? type_elements(type) / count : 1;
    tensors[i] = i < op->num_operands ? lowering_tensor(l, op->operands[i])
                                      : lowering_variable(l, type, &plan, lowering_name(l, op));
  }
  lowering_set_tensor(l, op->results[0], tensors[op->num_operands]);
  if (l->error) return false;
  if (elements) range_add_vertices(l, op, c, range_finish(c, op), &plan, tensors, sliced);
  return true;
}

static void include_linear(range_codelet *c)
{
  text_add(&c->e.functions, "#include <populus/hlo_linear.h>\n");
}

/* ---- triangular_solve ---- */

static void solve_body(range_codelet *c, const operation *op, int64_t m, int64_t n)
{
  const char *s = suffix_of(op->operands[0]), *transpose = op_word(op, "transpose_a");
  bool adjoint = strcmp(transpose, "ADJOINT") == 0;
  bool transposed = adjoint || strcmp(transpose, "TRANSPOSE") == 0;
  include_linear(c);
  text_add(&c->e.body,
           "  for (unsigned done = 0; done < size; done += %" PRId64 ") {\n"
           "    hlo_invert_%s(a0, inverse0, %" PRId64 ", %s, %s, %s);\n"
           "    hlo_solve_%s(inverse0, b0 + done, out0 + done, %" PRId64 ", %" PRId64 ", %s, %s);\n"
           "    a0 += %" PRId64 ";\n    inverse0 += %" PRId64 ";\n  }\n",
           m * n, s, m, flag(op_flag(op, "lower", false)),
           flag(op_flag(op, "unit_diagonal", false)), flag(adjoint), s, m, n,
           flag(op_flag(op, "left_side", false)), flag(transposed), m * m, m * m);
}

bool lower_triangular_solve(lowering *l, const operation *op)
{
  range_codelet c = {.e.l = l};
  const model_type *type = op->results[0]->type;
  bool left = op_flag(op, "left_side", false);
  int64_t rows = type->dims[type->rank - 2], columns = type->dims[type->rank - 1];
  int64_t m = left ? rows : columns, n = left ? columns : rows;
  uint64_t each = (uint64_t)m * (uint64_t)n, count = each ? type_elements(type) / each : 0;
  bool good = range_add_field(&c, op, "a", 0, op->operands[0], false) &&
              range_add_field(&c, op, "b", 0, op->operands[1], false) &&
              range_add_field(&c, op, "out", 0, op->results[0], true) &&
              range_add_field(&c, op, "inverse", 0, scratch_of(l, op), true);
  if (good && count) solve_body(&c, op, m, n);
  good =
      good && add_matrix_vertices(l, op, &c, count, (each + (uint64_t)(m * m)) * (uint64_t)m + 257);
  range_free(&c);
  return good;
}

/* ---- cholesky ---- */

bool lower_cholesky(lowering *l, const operation *op)
{
  range_codelet c = {.e.l = l};
  const model_type *type = op->results[0]->type;
  int64_t m = type->dims[type->rank - 1];
  uint64_t each = (uint64_t)m * (uint64_t)m, count = each ? type_elements(type) / each : 0;
  bool good = range_add_field(&c, op, "a", 0, op->operands[0], false) &&
              range_add_field(&c, op, "out", 0, op->results[0], true) &&
              range_add_field(&c, op, "factor", 0, scratch_of(l, op), true);
  if (good && count) {
    include_linear(&c);
    text_add(&c.e.body,
             "  for (unsigned done = 0; done < size; done += %" PRId64 ")\n"
             "    hlo_factor_%s(a0 + done, factor0 + done, out0 + done, %" PRId64 ", %s);\n",
             m * m, suffix_of(op->operands[0]), m, flag(op_flag(op, "lower", false)));
  }
  good = good && add_matrix_vertices(l, op, &c, count, each * (uint64_t)m + 257);
  range_free(&c);
  return good;
}
