/* Products of matrices whose operands are too large to be copied to each tile. poplin plans them
 * over the tiles if it has the type. Other types are done in blocks (lower_product_blocks.c).
 *
 *   left  [batch…, free…, contracted…] -> [b, m, k]
 *   right [batch…, contracted…, free…] -> [b, k, n]
 */
#include "models/lowering.h"

#include <populus/poplin.h>
#include <populus/popops.h>

typedef struct side {
  const int64_t *batch, *contracted;
  size_t num_batch, num_contracted;
} side;

/* `dot` contracts the last dimension of the left operand with the first of the right. */
static void sides_of_dot(lowering *l, const operation *op, side sides[2])
{
  int64_t *dims = pop_arena_alloc(l->m->arena, 2 * sizeof *dims);
  dims[0] = (int64_t)op->operands[0]->type->rank - 1;
  dims[1] = 0;
  for (int i = 0; i < 2; ++i) sides[i] = (side){.contracted = &dims[i], .num_contracted = 1};
}

static void sides_of(lowering *l, const operation *op, side sides[2])
{
  if (op->code == OP_DOT) {
    sides_of_dot(l, op, sides);
    return;
  }
  static const char *const names[2][2] = {
      {"lhs_batching_dimensions", "lhs_contracting_dimensions"},
      {"rhs_batching_dimensions", "rhs_contracting_dimensions"}};
  const attribute *dn = op_attribute(op, "dot_dimension_numbers");
  for (int i = 0; i < 2; ++i) {
    sides[i].batch = dict_int_list(l->m, dn, names[i][0], &sides[i].num_batch);
    sides[i].contracted = dict_int_list(l->m, dn, names[i][1], &sides[i].num_contracted);
  }
}

/* The dimensions in the order batch, free, contracted; or batch, contracted, free. */
static void order_of(const side *s, const model_type *type, bool contracted_first,
                     size_t order[MODEL_MAX_RANK])
{
  size_t n = 0;
  for (size_t i = 0; i < s->num_batch; ++i) order[n++] = (size_t)s->batch[i];
  for (int pass = 0; pass < 2; ++pass) {
    if ((pass == 0) == contracted_first) {
      for (size_t i = 0; i < s->num_contracted; ++i) order[n++] = (size_t)s->contracted[i];
      continue;
    }
    for (uint32_t d = 0; d < type->rank; ++d)
      if (!ints_have(s->batch, s->num_batch, d) && !ints_have(s->contracted, s->num_contracted, d))
        order[n++] = d;
  }
}

/* Reshapes an operand to matrices, one for each index of the batch: [b, free, contracted] or [b,
 * contracted, free]. */
static pop_tensor matrices(const side *s, const model_type *type, pop_tensor t,
                           bool contracted_first)
{
  size_t order[MODEL_MAX_RANK] = {0}, shape[3] = {1, 1, 1};
  order_of(s, type, contracted_first, order);
  for (size_t i = 0; i < s->num_batch; ++i) shape[0] *= (size_t)type->dims[s->batch[i]];
  size_t contracted = contracted_first ? 1 : 2;
  for (size_t i = 0; i < s->num_contracted; ++i)
    shape[contracted] *= (size_t)type->dims[s->contracted[i]];
  shape[3 - contracted] = type_elements(type) / shape[0] / shape[contracted];
  return pop_tensor_reshape(pop_tensor_dim_shuffle(t, order, type->rank), shape, 3);
}

/* A product without elements is not planned. */
bool product_is_planned(const lowering *l, const operation *op)
{
  if (op->code != OP_DOT_GENERAL && op->code != OP_DOT) return false;
  return type_elements(op->results[0]->type) > 0 &&
         (!fits_whole(l, op->operands[0]) || !fits_whole(l, op->operands[1]));
}

static pop_mat_mul_sizes sizes_of(const side sides[2], const model_type *a, const model_type *b)
{
  pop_mat_mul_sizes s = {1, 1, 1, 1};
  for (size_t i = 0; i < sides[0].num_batch; ++i) s.groups *= (size_t)a->dims[sides[0].batch[i]];
  for (size_t i = 0; i < sides[0].num_contracted; ++i)
    s.k *= (size_t)a->dims[sides[0].contracted[i]];
  s.m = type_elements(a) / s.groups / s.k;
  s.n = type_elements(b) / s.groups / s.k;
  return s;
}

/* Limits the memory of the plan. Besides operands and result, a tile may have half as much as its
 * share of these, code of the exchanges included: large tensors take at most 1.5 times their own
 * memory. FEW_BYTES is the least limit, since each tile has that much anyway. */
static pop_mat_mul_options options_of(const lowering *l, const operation *op, pop_mat_mul_sizes s)
{
  enum { FEW_BYTES = 6144 };
  pop_type type = element_infos[product_element(op)].type;
  pop_mat_mul_options options = pop_mat_mul_default_options(type);
  double bytes = (double)pop_type_bytes(type) * (double)s.groups / (double)l->num_tiles;
  double result = bytes * (double)s.m * (double)s.n;
  double half = (result + bytes * (double)s.k * (double)(s.m + s.n)) / 2;
  double room = result + (half > FEW_BYTES ? half : FEW_BYTES);
  double proportion = 2 * room / pop_graph_get_target(l->graph)->memory_bytes;
  if (proportion < options.memory_proportion) options.memory_proportion = proportion;
  options.output = product_output(op);
  return options;
}

/* The inverse of `matrices`: from [b, m, k] or [b, k, n] to the operand's own dimensions. */
static pop_tensor as_operand(const side *s, const model_type *type, pop_tensor t,
                             bool contracted_first)
{
  size_t order[MODEL_MAX_RANK] = {0}, shape[MODEL_MAX_RANK] = {0}, back[MODEL_MAX_RANK] = {0};
  order_of(s, type, contracted_first, order);
  for (uint32_t d = 0; d < type->rank; ++d) {
    shape[d] = (size_t)type->dims[order[d]];
    back[order[d]] = d;
  }
  return pop_tensor_dim_shuffle(pop_tensor_reshape(t, shape, type->rank), back, type->rank);
}

pop_tensor product_argument(lowering *l, const operation *op, size_t i, const char *name)
{
  side sides[2];
  const value *v = op->operands[i];
  sides_of(l, op, sides);
  pop_mat_mul_sizes sizes = sizes_of(sides, op->operands[0]->type, op->operands[1]->type);
  pop_type type = element_infos[v->type->element].type;
  pop_mat_mul_options options = options_of(l, op, sizes);
  pop_tensor t = pop_poplin_create_mat_mul_input(
      l->graph, type, i == 0 ? POP_MAT_MUL_LEFT : POP_MAT_MUL_RIGHT, sizes, &options, name);
  return as_operand(&sides[i], v->type, t, i == 1);
}

static pop_tensor product_by_poplin(lowering *l, const operation *op, pop_mat_mul_sizes sizes,
                                    pop_tensor a, pop_tensor b)
{
  pop_popops_add_codelets(l->graph);
  pop_poplin_add_codelets(l->graph);
  pop_mat_mul_options options = options_of(l, op, sizes);
  pop_tensor t =
      pop_poplin_mat_mul_grouped(l->graph, a, b, &options, l->sequence, lowering_name(l, op));
  return product_result(l, op, t, options.output == POP_HALF ? ELEMENT_F16 : ELEMENT_F32);
}

bool lower_product(lowering *l, const operation *op)
{
  side sides[2];
  sides_of(l, op, sides);
  const model_type *types[2] = {op->operands[0]->type, op->operands[1]->type};
  pop_tensor t[2] = {{0}};
  for (int i = 0; i < 2; ++i) t[i] = product_operand(l, op, (size_t)i);
  if (l->error) return false;
  for (int i = 0; i < 2; ++i) t[i] = matrices(&sides[i], types[i], t[i], i == 1);
  pop_tensor product =
      product_is_poplins(op)
          ? product_by_poplin(l, op, sizes_of(sides, types[0], types[1]), t[0], t[1])
          : lower_product_in_blocks(l, op, t[0], t[1]);
  if (l->error) return false;
  size_t shape[MODEL_MAX_RANK] = {0};
  const model_type *type = op->results[0]->type;
  for (uint32_t d = 0; d < type->rank; ++d) shape[d] = (size_t)type->dims[d];
  lowering_set_tensor(l, op->results[0], pop_tensor_reshape(product, shape, type->rank));
  return true;
}
