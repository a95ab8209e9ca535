/* Convolutions whose operands are too large to be copied to each tile. poplin does them, as
 * products of matrices that are planned over the tiles.
 *
 * Dimensions may be in any order. Each has a role: 0, 1, … are the spatial dimensions; -1 and -2
 * are the other two, in the order of the list below.
 *
 *   input, output  batch, feature
 *   kernel         input feature, output feature */
#include "models/lowering.h"

#include <populus/poplin.h>
#include <populus/popops.h>

typedef struct roles {
  const int64_t *of[3]; /* of the input, kernel and output: the role of each dimension */
  size_t rank;
} roles;

static roles roles_of(const lowering *l, const operation *op)
{
  static const char *const names[] = {"input", "kernel", "output"};
  const attribute *dn = op_attribute(op, "dimension_numbers");
  roles r;
  for (int i = 0; i < 3; ++i) r.of[i] = dict_int_list(l->m, dn, names[i], &r.rank);
  return r;
}

static size_t dimension_of(const roles *r, int which, int64_t role)
{
  size_t d = 0;
  while (d < r->rank && r->of[which][d] != role) d++;
  return d;
}

/* The dimensions in the order `first`, `second`, spatial. */
static void order_of(const roles *r, int which, int64_t first, int64_t second,
                     size_t order[MODEL_MAX_RANK])
{
  order[0] = dimension_of(r, which, first);
  order[1] = dimension_of(r, which, second);
  for (size_t s = 0; s + 2 < r->rank; ++s) order[s + 2] = dimension_of(r, which, (int64_t)s);
}

static pop_conv_params params_of(const lowering *l, const operation *op, size_t spatial)
{
  const int64_t *stride = op_ints(l->m, op, "window_strides", spatial, 1);
  const int64_t *padding = op_ints(l->m, op, "padding", 2 * spatial, 0);
  const int64_t *lhs_dilation = op_ints(l->m, op, "lhs_dilation", spatial, 1);
  const int64_t *rhs_dilation = op_ints(l->m, op, "rhs_dilation", spatial, 1);
  const int64_t *reversal = op_ints(l->m, op, "window_reversal", spatial, 0);
  pop_conv_params p = pop_conv_default_params(spatial);
  p.groups = (size_t)(op_int(op, "feature_group_count", 1) * op_int(op, "batch_group_count", 1));
  for (size_t s = 0; s < spatial; ++s)
    p.field[s] = (pop_conv_dim){.stride = (size_t)stride[s],
                                .input_dilation = (size_t)lhs_dilation[s],
                                .kernel_dilation = (size_t)rhs_dilation[s],
                                .padding_lower = padding[2 * s],
                                .padding_upper = padding[2 * s + 1],
                                .flip_kernel = reversal[s] != 0};
  return p;
}

bool convolution_is_planned(const lowering *l, const operation *op)
{
  if (op->code != OP_CONVOLUTION || op->results[0]->type->rank > POP_CONV_MAX_DIMS + 2)
    return false;
  if (!product_is_poplins(op)) return false;
  return type_elements(op->results[0]->type) > 0 && type_elements(op->operands[0]->type) > 0 &&
         type_elements(op->operands[1]->type) > 0 &&
         (!fits_whole(l, op->operands[0]) || !fits_whole(l, op->operands[1]));
}

/* [batch, features, spatial…]; groups of the batch become groups of features. */
static pop_tensor input_of(const roles *r, pop_tensor t, size_t batch_groups)
{
  size_t order[MODEL_MAX_RANK];
  order_of(r, 0, -1, -2, order);
  t = pop_tensor_dim_shuffle(t, order, r->rank);
  if (batch_groups == 1) return t;
  size_t split[] = {batch_groups, pop_tensor_dim(t, 0) / batch_groups};
  t = pop_tensor_dim_roll(pop_tensor_reshape_partial(t, 0, 1, split, 2), 0, 1);
  return pop_tensor_flatten_partial(t, 1, 3);
}

/* [groups, output features of each, input features, spatial…] */
static pop_tensor kernel_of(const roles *r, pop_tensor t, size_t groups)
{
  size_t order[MODEL_MAX_RANK];
  order_of(r, 1, -2, -1, order);
  t = pop_tensor_dim_shuffle(t, order, r->rank);
  size_t split[] = {groups, pop_tensor_dim(t, 0) / groups};
  return pop_tensor_reshape_partial(t, 0, 1, split, 2);
}

bool lower_convolution(lowering *l, const operation *op)
{
  roles r = roles_of(l, op);
  pop_tensor operands[2] = {{0}};
  for (int i = 0; i < 2; ++i) operands[i] = product_operand(l, op, (size_t)i);
  if (l->error) return false;
  pop_popops_add_codelets(l->graph);
  pop_poplin_add_codelets(l->graph);
  pop_conv_params params = params_of(l, op, r.rank - 2);
  pop_mat_mul_options options =
      pop_mat_mul_default_options(element_infos[product_element(op)].type);
  options.output = product_output(op);
  pop_tensor t = pop_poplin_convolution(
      l->graph, input_of(&r, operands[0], (size_t)op_int(op, "batch_group_count", 1)),
      kernel_of(&r, operands[1], params.groups), &params, &options, l->sequence,
      lowering_name(l, op));
  t = product_result(l, op, t, options.output == POP_HALF ? ELEMENT_F16 : ELEMENT_F32);
  if (l->error) return false;
  size_t order[MODEL_MAX_RANK], back[MODEL_MAX_RANK] = {0};
  order_of(&r, 2, -1, -2, order);
  for (size_t d = 0; d < r.rank; ++d) back[order[d]] = d;
  lowering_set_tensor(l, op->results[0], pop_tensor_dim_shuffle(t, back, r.rank));
  return true;
}
