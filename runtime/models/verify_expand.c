/* Operations that are expanded to others (expand.c), except those that calculate an element from
 * many. */
#include "models/inline.h"
#include "models/verify.h"

pop_error *verify_broadcasting(verifier *v, const operation *op)
{
  op_code code = op_find(strstr(op->name, "broadcast_") + strlen("broadcast_"));
  POP_TRY(want_counts(v, op, code == OP_SELECT ? 3 : 2, 1, 0));
  POP_TRY(want_tensors(v, op));
  const model_type *y = op->results[0]->type;
  if (code == OP_COUNT || op_infos[code].how != HOW_ELEMENT) {
    name_unsupported(v, op->offset, op->name);
    return NULL;
  }
  size_t count;
  const int64_t *dims = op_int_list(v->m, op, "broadcast_dimensions", &count);
  POP_TRY(want_dims(v, op, "broadcast_dimensions", dims, count, y->rank));
  for (size_t i = 0; i < op->num_operands; ++i) {
    const model_type *x = type_of(op, i);
    WANT(x->rank <= y->rank, "%s: operand %zu is %s, the result %s", op->name, i,
         type_text(v->m->arena, x), type_text(v->m->arena, y));
    bool given = count && x->rank < y->rank;
    WANT(!given || count == x->rank, "%s: 'broadcast_dimensions' is to have %u numbers", op->name,
         x->rank);
    for (uint32_t d = 0; d < x->rank; ++d) {
      int64_t at = given ? dims[d] : (int64_t)(y->rank - x->rank + d);
      WANT(x->dims[d] == 1 || x->dims[d] == y->dims[at], "%s: operand %zu is %s, the result %s",
           op->name, i, type_text(v->m->arena, x), type_text(v->m->arena, y));
    }
  }
  return NULL;
}

pop_error *verify_constant_like(verifier *v, const operation *op)
{
  POP_TRY(want_counts(v, op, 1, 1, 0));
  POP_TRY(want_tensors(v, op));
  const attribute *a = op_attribute(op, "value");
  element_type e = op->results[0]->type->element;
  WANT(type_equal(type_of(op, 0), op->results[0]->type), "%s: the operand is %s, the result %s",
       op->name, type_text(v->m->arena, type_of(op, 0)),
       type_text(v->m->arena, op->results[0]->type));
  WANT(a && (a->kind == ATTRIBUTE_BOOL || a->kind == ATTRIBUTE_INT || a->kind == ATTRIBUTE_FLOAT),
       "%s: 'value' is a number", op->name);
  WANT((a->kind == ATTRIBUTE_FLOAT) == element_is_float(e), "%s: 'value' is none of %s", op->name,
       element_infos[e].name);
  return NULL;
}

pop_error *verify_einsum(verifier *v, const operation *op)
{
  size_t inputs = op->code == OP_EINSUM ? 2 : 1;
  POP_TRY(want_counts(v, op, inputs, 1, 0));
  POP_TRY(want_tensors(v, op));
  for (size_t i = 0; i < inputs; ++i)
    WANT(same_element(type_of(op, i), op->results[0]->type), "%s: operand %zu is %s, the result %s",
         op->name, i, type_text(v->m->arena, type_of(op, i)),
         type_text(v->m->arena, op->results[0]->type));
  const char *complaint = einsum_complaint(op);
  WANT(!complaint, "%s: %s: \"%s\"", op->name, complaint, op_word(op, "einsum_config"));
  return NULL;
}

pop_error *verify_index_select(verifier *v, const operation *op)
{
  POP_TRY(want_counts(v, op, 2, 1, 0));
  POP_TRY(want_tensors(v, op));
  const model_type *x = type_of(op, 0), *i = type_of(op, 1), *y = op->results[0]->type;
  int64_t dim = op_int(op, "dim", -1), batch = op_int(op, "batch_dims", 0);
  WANT(dim >= 0 && dim < x->rank, "%s: 'dim' is a dimension of the operand", op->name);
  WANT(batch >= 0 && batch <= dim && batch <= i->rank,
       "%s: 'batch_dims' is at most 'dim' and the rank of the index", op->name);
  int64_t dims[2 * MODEL_MAX_RANK];
  uint32_t rank = 0;
  for (int64_t d = 0; d < x->rank; ++d)
    if (d != dim)
      dims[rank++] = x->dims[d];
    else
      for (int64_t k = batch; k < i->rank; ++k) dims[rank++] = i->dims[k];
  POP_TRY(want_shape(v, op, y, dims, rank));
  for (int64_t d = 0; d < batch; ++d)
    WANT(x->dims[d] == i->dims[d], "%s: dimension %lld is %lld of the operand, %lld of the index",
         op->name, (long long)d, (long long)x->dims[d], (long long)i->dims[d]);
  WANT(same_element(x, y), "%s: the operand is %s, the result %s", op->name,
       type_text(v->m->arena, x), type_text(v->m->arena, y));
  return NULL;
}

/* Only the operand's own size can be set. */
pop_error *verify_set_dimension_size(verifier *v, const operation *op)
{
  POP_TRY(want_counts(v, op, 2, 1, 0));
  POP_TRY(want_tensors(v, op));
  const model_type *x = type_of(op, 0);
  int64_t dimension = op_int(op, "dimension", -1), size;
  WANT(dimension >= 0 && dimension < x->rank, "%s: 'dimension' is one of the operand's", op->name);
  WANT(type_equal(x, op->results[0]->type), "%s: the operand is %s, the result %s", op->name,
       type_text(v->m->arena, x), type_text(v->m->arena, op->results[0]->type));
  WANT(type_of(op, 1)->rank == 0 && type_of(op, 1)->element == ELEMENT_I32,
       "%s: the size is a tensor<i32>", op->name);
  if (!known_integer(op->operands[1], 0, &size) || size != x->dims[dimension])
    name_unsupported(v, op->offset, "set_dimension_size to another size than the operand's");
  return NULL;
}

static pop_error *verify_threefry(verifier *v, const operation *op)
{
  POP_TRY(want_counts(v, op, 4, 2, 0));
  POP_TRY(want_tensors(v, op));
  for (size_t i = 0; i < 6; ++i) {
    const model_type *t = i < 4 ? type_of(op, i) : op->results[i - 4]->type;
    WANT(t->element == ELEMENT_U32 && type_same_shape(t, type_of(op, 0)),
         "%s: @%s takes and makes tensors of ui32 of the same shape", op->name,
         op_word(op, "call_target_name"));
  }
  return NULL;
}

static pop_error *want_letter(verifier *v, const operation *op, const char *name, const char *of)
{
  char letter = jax_letter(op, name);
  WANT(letter && strchr(of, letter), "%s: '%s' of @%s is one of the letters %s", op->name, name,
       op_word(op, "call_target_name"), of);
  return NULL;
}

/* The operation that replaces it checks the matrices. */
pop_error *verify_jax_call(verifier *v, const operation *op)
{
  jax_call call = jax_call_of(op);
  if (call == JAX_THREEFRY) return verify_threefry(v, op);
  POP_TRY(want_tensors(v, op));
  POP_TRY(want_letter(v, op, "uplo", "LU"));
  if (call == JAX_CHOLESKY) {
    POP_TRY(want_counts(v, op, 1, 2, 0));
    const model_type *a = type_of(op, 0), *info = op->results[1]->type;
    WANT(type_equal(a, op->results[0]->type) && a->rank >= 2 && info->element == ELEMENT_I32,
         "%s: @%s makes a factor like the operand, and numbers of i32", op->name,
         op_word(op, "call_target_name"));
    return want_shape(v, op, info, a->dims, a->rank - 2);
  }
  POP_TRY(want_counts(v, op, 2, 1, 0));
  POP_TRY(want_letter(v, op, "side", "LR"));
  POP_TRY(want_letter(v, op, "diag", "NU"));
  return want_letter(v, op, "trans_x", "NTC");
}
