/* Checks what the specification requires of operations: ranks, shapes, types and attributes. Later
 * stages rely on it, so everything that code is generated from is checked here.
 *
 * Operations and types that are not supported are collected and reported together. */
#include "models/verify.h"

static pop_error *verify_block(verifier *v, const block *b);

void name_unsupported(verifier *v, uint32_t offset, const char *what)
{
  /* Each thing is reported once, at its first place. */
  char *quoted = pop_xasprintf("%s is not supported", what);
  if (v->unsupported && strstr(v->unsupported, quoted)) {
    free(quoted);
    return;
  }
  char *place = model_place(v->m, offset);
  char *all = v->unsupported ? pop_xasprintf("%s\n%s: %s", v->unsupported, place, quoted)
                             : pop_xasprintf("%s: %s", place, quoted);
  free(v->unsupported);
  free(place);
  free(quoted);
  v->unsupported = all;
}

/* ---- types ---- */

static pop_error *verify_type(verifier *v, const model_type *t, uint32_t offset)
{
  if (t->kind == TYPE_TUPLE) {
    for (uint32_t i = 0; i < t->num_members; ++i) POP_TRY(verify_type(v, t->members[i], offset));
    return NULL;
  }
  if (t->kind == TYPE_TOKEN) return NULL;
  uint32_t at = t->offset ? t->offset : offset;
  if (t->unsupported) {
    char *what = pop_xasprintf("the type %s", t->unsupported);
    name_unsupported(v, at, what);
    free(what);
    return NULL;
  }
  if (t->kind != TYPE_TENSOR) return model_error(v->m, at, "a tensor is expected");
  if (t->dynamic) {
    name_unsupported(v, at, "a tensor with a dynamic dimension");
    return NULL;
  }
  if (type_elements(t) == UINT64_MAX)
    return model_error(v->m, at, "%s has more than 2^32 - 1 elements", type_text(v->m->arena, t));
  return NULL;
}

/* ---- operations ---- */

pop_error *want_counts(verifier *v, const operation *op, size_t operands, size_t results,
                       size_t regions)
{
  WANT(op->num_operands == operands, "%s takes %zu operands, not %zu", op->name, operands,
       op->num_operands);
  WANT(op->num_results == results, "%s has %zu results, not %zu", op->name, results,
       op->num_results);
  WANT(op->num_regions == regions, "%s has %zu regions, not %zu", op->name, regions,
       op->num_regions);
  return NULL;
}

pop_error *want_tensors(verifier *v, const operation *op)
{
  for (size_t i = 0; i < op->num_operands; ++i)
    WANT(type_of(op, i)->kind == TYPE_TENSOR, "operand %zu of %s is no tensor", i, op->name);
  for (size_t i = 0; i < op->num_results; ++i)
    WANT(op->results[i]->type->kind == TYPE_TENSOR, "result %zu of %s is no tensor", i, op->name);
  return NULL;
}

/* `count` integers, each in [least, most]. */
pop_error *want_ints(verifier *v, const operation *op, const char *name, size_t count,
                     int64_t fallback, int64_t least, int64_t most, const int64_t **values)
{
  *values = op_ints(v->m, op, name, count, fallback);
  WANT(*values, "%s: '%s' is to have %zu numbers", op->name, name, count);
  for (size_t i = 0; i < count; ++i)
    WANT((*values)[i] >= least && (*values)[i] <= most,
         "%s: '%s' has %lld, which is not from %lld to %lld", op->name, name,
         (long long)(*values)[i], (long long)least, (long long)most);
  return NULL;
}

/* A list of dimensions of a tensor of this rank, without repetition. */
pop_error *want_dims(verifier *v, const operation *op, const char *name, const int64_t *dims,
                     size_t count, uint32_t rank)
{
  WANT(count <= MODEL_MAX_RANK, "%s: '%s' has too many dimensions", op->name, name);
  for (size_t i = 0; i < count; ++i) {
    WANT(dims[i] >= 0 && dims[i] < rank, "%s: '%s' has dimension %lld, there are %u", op->name,
         name, (long long)dims[i], rank);
    for (size_t k = 0; k < i; ++k)
      WANT(dims[k] != dims[i], "%s: '%s' has dimension %lld twice", op->name, name,
           (long long)dims[i]);
  }
  return NULL;
}

pop_error *want_shape(verifier *v, const operation *op, const model_type *is, const int64_t *dims,
                      uint32_t rank)
{
  model_type want = *is;
  want.rank = rank;
  want.dims = (int64_t *)dims;
  WANT(type_same_shape(is, &want), "the result of %s is %s, not %s", op->name,
       type_text(v->m->arena, &want), type_text(v->m->arena, is));
  return NULL;
}

pop_error *dict_dims(verifier *v, const operation *op, const attribute *dn, const char *name,
                     uint32_t rank, dims_list *list)
{
  list->dims = dict_int_list(v->m, dn, name, &list->count);
  return want_dims(v, op, name, list->dims, list->count, rank);
}

pop_error *dict_sorted_dims(verifier *v, const operation *op, const attribute *dn, const char *name,
                            uint32_t rank, dims_list *list)
{
  POP_TRY(dict_dims(v, op, dn, name, rank, list));
  for (size_t i = 1; i < list->count; ++i)
    WANT(list->dims[i - 1] < list->dims[i], "%s: '%s' is to be in ascending order", op->name, name);
  return NULL;
}

bool listed(const dims_list *l, int64_t d)
{
  return ints_have(l->dims, l->count, d);
}

/* ---- regions of scalars ---- */

/* The region has this many arguments, of supported types. Arguments and results are scalars. */
pop_error *verify_region(verifier *v, const operation *op, size_t region, size_t arguments)
{
  const block *b = &op->regions[region];
  WANT(b->num_arguments == arguments, "region %zu of %s has %zu arguments, not %zu", region,
       op->name, arguments, b->num_arguments);
  for (size_t i = 0; i < arguments; ++i) {
    const model_type *t = b->arguments[i]->type;
    WANT(t->kind == TYPE_TENSOR && t->rank == 0, "arguments of the region of %s are scalars",
         op->name);
    POP_TRY(verify_type(v, t, op->offset));
  }
  for (size_t i = 0; i < b->last->num_operands; ++i) {
    const model_type *t = b->last->operands[i]->type;
    WANT(t->kind == TYPE_TENSOR && t->rank == 0, "the region of %s returns scalars", op->name);
  }
  return NULL;
}

/* To integers of at least as many bits, or floating-point numbers of more bits. Neither f16 nor
 * bf16 has all values of the other. */
static bool is_promotable(element_type type, element_type wide)
{
  if (element_is_integer(type) && element_is_integer(wide))
    return element_bits(type) <= element_bits(wide);
  return type == wide || (element_is_float(type) && element_is_float(wide) &&
                          element_bits(type) < element_bits(wide));
}

pop_error *verify_reducer(verifier *v, const operation *op, size_t region, size_t inputs,
                          size_t first)
{
  POP_TRY(verify_region(v, op, region, 2 * inputs));
  const block *b = &op->regions[region];
  WANT(b->last->num_operands == inputs, "the region of %s returns %zu values, not %zu", op->name,
       inputs, b->last->num_operands);
  for (size_t i = 0; i < inputs; ++i) {
    const model_type *is = b->arguments[i]->type, *of = type_of(op, first + i);
    WANT(is_promotable(of->element, is->element) &&
             same_element(b->arguments[inputs + i]->type, is) &&
             same_element(b->last->operands[i]->type, is),
         "%s: the region's arguments %zu and %zu and its result %zu are to be of %s, or all of a "
         "wider type",
         op->name, i, inputs + i, i, element_infos[of->element].name);
    WANT(same_element(op->results[i]->type, is),
         "%s: result %zu is to be of %s, as the region has it", op->name, i,
         element_infos[is->element].name);
  }
  return NULL;
}

pop_error *verify_comparator(verifier *v, const operation *op, size_t inputs)
{
  POP_TRY(verify_region(v, op, 0, 2 * inputs));
  const block *b = &op->regions[0];
  WANT(b->last->num_operands == 1 && b->last->operands[0]->type->element == ELEMENT_I1,
       "the comparator of %s returns one i1", op->name);
  for (size_t i = 0; i < inputs; ++i)
    WANT(same_element(b->arguments[2 * i]->type, type_of(op, i)) &&
             same_element(b->arguments[2 * i + 1]->type, type_of(op, i)),
         "%s: arguments %zu and %zu of the comparator are to be of %s", op->name, 2 * i, 2 * i + 1,
         element_infos[type_of(op, i)->element].name);
  return NULL;
}

static pop_error *verify_op(verifier *v, const operation *op)
{
  for (size_t i = 0; i < op->num_results; ++i)
    POP_TRY(verify_type(v, op->results[i]->type, op->offset));
  for (size_t i = 0; i < op->num_regions; ++i) POP_TRY(verify_block(v, &op->regions[i]));
  if (op->code == OP_COUNT) {
    name_unsupported(v, op->offset, op->name);
    return NULL;
  }
  /* No other errors are reported for a type that is not supported. */
  for (size_t i = 0; i < op->num_operands + op->num_results; ++i) {
    const model_type *t =
        i < op->num_operands ? op->operands[i]->type : op->results[i - op->num_operands]->type;
    if (t->kind == TYPE_TENSOR && (t->unsupported || t->dynamic)) return NULL;
  }
  switch (op_infos[op->code].how) {
  case HOW_ELEMENT:
    return verify_element(v, op);
  case HOW_INDEX:
    return verify_index(v, op);
  case HOW_RANGE:
    return verify_range(v, op);
  case HOW_FLOW:
    return verify_flow(v, op);
  default:
    return verify_other(v, op);
  }
}

pop_error *module_verify_op(module *m, const operation *op, bool *supported)
{
  verifier v = {.m = m};
  for (size_t i = 0; i < op->num_operands; ++i)
    POP_TRY(verify_type(&v, op->operands[i]->type, op->offset));
  pop_error *error = v.unsupported ? NULL : verify_op(&v, op);
  *supported = !v.unsupported;
  free(v.unsupported);
  return error;
}

static pop_error *verify_block(verifier *v, const block *b)
{
  for (size_t i = 0; i < b->num_arguments; ++i) POP_TRY(verify_type(v, b->arguments[i]->type, 0));
  for (const operation *op = b->first; op; op = op->next) POP_TRY(verify_op(v, op));
  return NULL;
}

pop_error *module_verify(module *m, function *f)
{
  verifier v = {.m = m};
  pop_error *error = verify_block(&v, &f->body);
  if (!error && v.unsupported) error = pop_error_new(POP_ERROR_FILE_LOAD, "%s", v.unsupported);
  free(v.unsupported);
  return error;
}
