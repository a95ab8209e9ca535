/* Triangular matrices: triangular_solve and cholesky (hlo_linear.h). A vertex inverts or factors
 * whole matrices; it solves for some of the right-hand sides. */
#include "models/range.h"

#include <inttypes.h>
#include <string.h>

static const char *flag(bool value)
{
  return value ? "true" : "false";
}

/* Matrices of the operand's shape in the type of calculation: sums of 16-bit floats are kept in
 * single precision. */
static const value *scratch_of(lowering *l, const operation *op)
{
  model_type *type = pop_arena_alloc(l->m->arena, sizeof *type);
  value *v = pop_arena_alloc(l->m->arena, sizeof *v);
  *type = *op->operands[0]->type;
  if (type->element == ELEMENT_F16 || type->element == ELEMENT_BF16) type->element = ELEMENT_F32;
  *v = (value){.type = type};
  return v;
}

/* Each vertex has some of the `count` matrices of a stack; `cost` is that of one matrix. The fields
 * are the operands, the result and scratch. */
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

/* First each vertex inverts some matrices. Then each vertex has the inverse of one matrix and some
 * of its right-hand sides. Right-hand sides are the rows of [matrices, n, m], whether A is on the
 * left or on the right. */
typedef struct triangular {
  lowering *l;
  const operation *op;
  bool left, transposed, adjoint;
  size_t m, n, count;
} triangular;

static triangular triangular_of(lowering *l, const operation *op)
{
  const model_type *type = op->results[0]->type;
  const char *transpose = op_word(op, "transpose_a");
  triangular t = {.l = l, .op = op, .left = op_flag(op, "left_side", false)};
  size_t rows = (size_t)type->dims[type->rank - 2], columns = (size_t)type->dims[type->rank - 1];
  t.adjoint = strcmp(transpose, "ADJOINT") == 0;
  t.transposed = t.adjoint || strcmp(transpose, "TRANSPOSE") == 0;
  t.m = t.left ? rows : columns;
  t.n = t.left ? columns : rows;
  t.count = rows && columns ? (size_t)type_elements(type) / (rows * columns) : 0;
  return t;
}

/* [matrices, m, m] */
static pop_tensor invert(const triangular *t)
{
  static const bool sliced[2] = {true, true};
  range_codelet c = {.e.l = t->l};
  const value *scratch = scratch_of(t->l, t->op);
  spread_plan plan = lowering_plan(t->l, t->count, (uint64_t)t->m * t->m * t->m + 257, t->m * t->m);
  pop_tensor tensors[2] = {lowering_tensor(t->l, t->op->operands[0])};
  if (!t->l->error && range_add_field(&c, t->op, "a", 0, t->op->operands[0], false) &&
      range_add_field(&c, t->op, "inverse", 0, scratch, true)) {
    include_linear(&c);
    text_add(&c.e.body,
             "  for (unsigned done = 0; done < size; done += %zu)\n"
             "    hlo_invert_%s(a0 + done, inverse0 + done, %zu, %s, %s, %s);\n",
             t->m * t->m, suffix_of(t->op->operands[0]), t->m, flag(op_flag(t->op, "lower", false)),
             flag(op_flag(t->op, "unit_diagonal", false)), flag(t->adjoint));
    tensors[1] = lowering_variable(t->l, scratch->type, &plan, lowering_name(t->l, t->op));
    range_add_vertices(t->l, t->op, &c, range_finish(&c, t->op), &plan, tensors, sliced);
    tensors[1] = pop_tensor_reshape(tensors[1], (size_t[]){t->count, t->m, t->m}, 3);
  }
  range_free(&c);
  return tensors[1];
}

/* From the shape of the result to [matrices, right-hand sides, m]; like_result is the inverse. */
static pop_tensor as_right_hand_sides(const triangular *t, pop_tensor b)
{
  size_t shape[3] = {t->count, t->left ? t->m : t->n, t->left ? t->n : t->m};
  b = pop_tensor_reshape(b, shape, 3);
  return t->left ? pop_tensor_dim_shuffle(b, (size_t[]){0, 2, 1}, 3) : b;
}

static pop_tensor like_result(const triangular *t, pop_tensor x)
{
  const model_type *type = t->op->results[0]->type;
  size_t shape[MODEL_MAX_RANK] = {0};
  for (uint32_t d = 0; d < type->rank; ++d) shape[d] = (size_t)type->dims[d];
  if (t->left) x = pop_tensor_dim_shuffle(x, (size_t[]){0, 2, 1}, 3);
  return pop_tensor_reshape(x, shape, type->rank);
}

static void add_solvers(const triangular *t, uint32_t codelet, const spread_plan *plan,
                        pop_tensor inverse, pop_tensor b, pop_tensor x)
{
  lowering *l = t->l;
  pop_compute_set set = pop_graph_add_compute_set(l->graph, lowering_name(l, t->op));
  for (uint64_t begin = 0, end; begin < plan->elements; begin = end) {
    size_t matrix = (size_t)begin / t->n, from = (size_t)begin % t->n;
    end = plan_end(plan, begin);
    if (end > (matrix + 1) * t->n) end = (matrix + 1) * t->n;
    size_t to = from + (size_t)(end - begin), tile = plan_tile(l, plan, begin / plan->per_vertex);
    planned_vertex *v = lowering_add_vertex(l, set, codelet, tile, 4);
    vertex_set(v, "base", (int64_t)(begin * t->m));
    vertex_connect(v, "inverse0", pop_tensor_flatten(pop_tensor_index(inverse, matrix)));
    vertex_connect(v, "b0",
                   pop_tensor_flatten(pop_tensor_slice(pop_tensor_index(b, matrix), from, to, 0)));
    vertex_connect(v, "out0",
                   pop_tensor_flatten(pop_tensor_slice(pop_tensor_index(x, matrix), from, to, 0)));
  }
  pop_sequence_add(l->sequence, pop_program_execute(l->graph, set, ""));
}

static bool solve(const triangular *t, pop_tensor inverse)
{
  lowering *l = t->l;
  const operation *op = t->op;
  range_codelet c = {.e.l = l};
  pop_tensor b = lowering_tensor(l, op->operands[1]);
  bool good = !l->error && range_add_field(&c, op, "inverse", 0, scratch_of(l, op), false) &&
              range_add_field(&c, op, "b", 0, op->operands[1], false) &&
              range_add_field(&c, op, "out", 0, op->results[0], true);
  if (good) {
    int64_t dims[3] = {(int64_t)t->count, (int64_t)t->n, (int64_t)t->m};
    const model_type type = {
        .rank = 3, .dims = dims, .element = op->results[0]->type->element, .kind = TYPE_TENSOR};
    spread_plan plan = lowering_plan(l, (uint64_t)t->count * t->n, 2 * (uint64_t)t->m * t->m, t->m);
    include_linear(&c);
    text_add(&c.e.body, "  hlo_solve_%s(inverse0, b0, out0, %zu, (int)(size / %zuu), false, %s);\n",
             suffix_of(op->operands[0]), t->m, t->m, flag(t->left != t->transposed));
    pop_tensor x = lowering_variable(l, &type, &plan, lowering_name(l, op));
    add_solvers(t, range_finish(&c, op), &plan, inverse, as_right_hand_sides(t, b), x);
    lowering_set_tensor(l, op->results[0], like_result(t, x));
  }
  range_free(&c);
  return good;
}

bool lower_triangular_solve(lowering *l, const operation *op)
{
  triangular t = triangular_of(l, op);
  if (!t.count) { /* no elements */
    spread_plan none = lowering_plan(l, 0, 1, 1);
    lowering_set_tensor(l, op->results[0],
                        lowering_variable(l, op->results[0]->type, &none, lowering_name(l, op)));
    return true;
  }
  pop_tensor inverse = invert(&t);
  return !l->error && solve(&t, inverse);
}

/* ---- cholesky ---- */

bool lower_cholesky(lowering *l, const operation *op)
{
  range_codelet c = {.e.l = l};
  const model_type *type = op->results[0]->type;
  int64_t m = type->dims[type->rank - 1];
  uint64_t each = (uint64_t)m * (uint64_t)m, count = each ? type_elements(type) / each : 0;
  const value *scratch = scratch_of(l, op);
  bool in_place = scratch->type->element == type->element;
  bool good = range_add_field(&c, op, "a", 0, op->operands[0], false) &&
              range_add_field(&c, op, "out", 0, op->results[0], true) &&
              (in_place || range_add_field(&c, op, "factor", 0, scratch, true));
  if (good && count) {
    include_linear(&c);
    text_add(&c.e.body,
             "  for (unsigned done = 0; done < size; done += %" PRId64 ")\n"
             "    hlo_factor_%s(a0 + done, %s + done, out0 + done, %" PRId64 ", %s);\n",
             m * m, suffix_of(op->operands[0]), in_place ? "out0" : "factor0", m,
             flag(op_flag(op, "lower", false)));
  }
  good = good && add_matrix_vertices(l, op, &c, count, each * (uint64_t)m + 257);
  range_free(&c);
  return good;
}
