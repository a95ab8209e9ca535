/* Control flow, tuples, checks and the rest. */
#include "models/inline.h"
#include "models/verify.h"

static pop_error *want_types(verifier *v, const operation *op, const char *what,
                             value *const *values, size_t count, value *const *as, size_t wanted)
{
  WANT(count == wanted, "%s: %s are %zu values, not %zu", op->name, what, wanted, count);
  for (size_t i = 0; i < count; ++i)
    WANT(type_equal(values[i]->type, as[i]->type), "%s: %s: value %zu is %s, not %s", op->name,
         what, i, type_text(v->m->arena, as[i]->type), type_text(v->m->arena, values[i]->type));
  return NULL;
}

/* What a check compares is read after the program has run. A branch may not have run then, and a
 * loop's values are the last turn's. */
static void refuse_checks(verifier *v, const block *b)
{
  for (const operation *op = b->first; op; op = op->next)
    if (op->code >= OP_EXPECT_ALMOST_EQ && op->code < OP_COUNT)
      name_unsupported(
          v, op->offset,
          pop_arena_printf(v->m->arena, "%s in a branch or a loop (check its results)", op->name));
}

pop_error *verify_flow(verifier *v, const operation *op)
{
  for (size_t i = 0; i < op->num_regions; ++i) refuse_checks(v, &op->regions[i]);
  if (op->code == OP_WHILE) {
    WANT(op->num_regions == 2, "%s has two regions", op->name);
    const block *condition = &op->regions[0], *body = &op->regions[1];
    POP_TRY(
        want_types(v, op, "results", op->results, op->num_results, op->operands, op->num_operands));
    POP_TRY(want_types(v, op, "arguments of the condition", condition->arguments,
                       condition->num_arguments, op->operands, op->num_operands));
    POP_TRY(want_types(v, op, "arguments of the body", body->arguments, body->num_arguments,
                       op->operands, op->num_operands));
    POP_TRY(want_types(v, op, "what the body returns", body->last->operands,
                       body->last->num_operands, op->operands, op->num_operands));
    const operation *last = condition->last;
    WANT(last->num_operands == 1 && last->operands[0]->type->kind == TYPE_TENSOR &&
             last->operands[0]->type->rank == 0 && last->operands[0]->type->element == ELEMENT_I1,
         "%s: the condition returns one i1", op->name);
    return NULL;
  }
  WANT(op->num_operands == 1 && op->num_regions >= 1 && type_of(op, 0)->kind == TYPE_TENSOR &&
           type_of(op, 0)->rank == 0,
       "%s takes one scalar", op->name);
  WANT(type_of(op, 0)->element == (op->code == OP_IF ? ELEMENT_I1 : ELEMENT_I32), "%s takes an %s",
       op->name, op->code == OP_IF ? "i1" : "i32");
  WANT(op->code != OP_IF || op->num_regions == 2, "%s has two regions", op->name);
  for (size_t i = 0; i < op->num_regions; ++i) {
    WANT(op->regions[i].num_arguments == 0, "branches of %s have no arguments", op->name);
    POP_TRY(want_types(v, op, "what a branch returns", op->regions[i].last->operands,
                       op->regions[i].last->num_operands, op->results, op->num_results));
  }
  return NULL;
}

static pop_error *verify_check(verifier *v, const operation *op)
{
  bool constant = op->code == OP_EXPECT_EQ_CONST || op->code == OP_EXPECT_ALMOST_EQ_CONST;
  POP_TRY(want_counts(v, op, constant ? 1 : 2, 0, 0));
  POP_TRY(want_tensors(v, op));
  const attribute *a = op_attribute(op, "value");
  WANT(!constant || (a && a->kind == ATTRIBUTE_DENSE), "%s has no value", op->name);
  const model_type *with = constant ? a->type : type_of(op, 1);
  WANT(type_equal(type_of(op, 0), with), "%s compares %s with %s", op->name,
       type_text(v->m->arena, type_of(op, 0)), type_text(v->m->arena, with));
  return NULL;
}

static pop_error *verify_rng_state(verifier *v, const operation *op, const model_type *t)
{
  WANT(t->kind == TYPE_TENSOR && t->rank == 1 && t->dims[0] == 2 && t->element == ELEMENT_U64,
       "%s is of tensor<2xui64>", op->name);
  return NULL;
}

static pop_error *verify_entry(verifier *v, const operation *op, const attribute *config,
                               const char *name, attribute_kind kind, bool needed)
{
  const attribute *a = attribute_find(config->items, config->num_items, name);
  WANT(a || !needed, "%s: backend_config has no '%s'", op->name, name);
  WANT(!a || a->kind == kind, "%s: '%s' of backend_config is to be %s", op->name, name,
       kind == ATTRIBUTE_INT ? "an integer" : "a string");
  WANT(!a || kind != ATTRIBUTE_INT || a->integer >= 0, "%s: '%s' is negative", op->name, name);
  return NULL;
}

/* @populus.vertex: lower_custom.c. */
static pop_error *verify_vertex(verifier *v, const operation *op)
{
  const attribute *config = custom_config(op);
  POP_TRY(want_tensors(v, op));
  WANT(config, "%s: @populus.vertex needs a backend_config = {vertex = …, codelets = …}", op->name);
  POP_TRY(verify_entry(v, op, config, "vertex", ATTRIBUTE_STRING, true));
  POP_TRY(verify_entry(v, op, config, "codelets", ATTRIBUTE_STRING, true));
  POP_TRY(verify_entry(v, op, config, "tile", ATTRIBUTE_INT, false));
  for (size_t i = 0; i < config->num_items; ++i) {
    attribute_kind kind = config->items[i].kind;
    WANT(kind == ATTRIBUTE_INT || kind == ATTRIBUTE_BOOL || kind == ATTRIBUTE_FLOAT ||
             kind == ATTRIBUTE_STRING,
         "%s: '%s' of backend_config is to be a number", op->name, config->items[i].name);
    WANT(kind != ATTRIBUTE_STRING || strcmp(config->items[i].name, "vertex") == 0 ||
             strcmp(config->items[i].name, "codelets") == 0,
         "%s: '%s' of backend_config is to be a number", op->name, config->items[i].name);
  }
  return NULL;
}

/* Does every group of processes, or pair, consist of process 0 only? Without groups, all processes
 * are one group. */
static bool of_one_process(verifier *v, const operation *op)
{
  const char *name = op->code == OP_COLLECTIVE_PERMUTE ? "source_target_pairs" : "replica_groups";
  size_t count;
  const int64_t *members = op_int_list(v->m, op, name, &count);
  for (size_t i = 0; i < count; ++i)
    if (members[i] != 0) return false;
  if (op->code == OP_COLLECTIVE_PERMUTE) return count == 2;
  const attribute *groups = op_attribute(op, name);
  return count == 1 || !groups || (groups->kind == ATTRIBUTE_DENSE && count == 0);
}

/* The dimension that a collective gathers or scatters must be one of each operand. */
static pop_error *verify_collective_dims(verifier *v, const operation *op)
{
  static const struct {
    op_code code;
    const char *name;
  } dims[] = {{OP_ALL_GATHER, "all_gather_dim"},
              {OP_ALL_TO_ALL, "concat_dimension"},
              {OP_ALL_TO_ALL, "split_dimension"},
              {OP_REDUCE_SCATTER, "scatter_dimension"}};
  for (size_t i = 0; i < sizeof dims / sizeof *dims; ++i) {
    int64_t d = op_int(op, dims[i].name, 0);
    if (dims[i].code != op->code || !op_attribute(op, dims[i].name)) continue;
    for (size_t k = 0; k < op->num_operands; ++k)
      POP_TRY(want_dims(v, op, dims[i].name, &d, 1, type_of(op, k)->rank));
  }
  return NULL;
}

/* A module runs as one process. A collective between several is reported as not supported. */
static pop_error *verify_collective(verifier *v, const operation *op)
{
  if (!of_one_process(v, op)) {
    name_unsupported(v, op->offset,
                     pop_arena_printf(v->m->arena,
                                      "%s between several processes (replicas: pophlo --replicas)",
                                      op->name));
    return NULL;
  }
  POP_TRY(want_tensors(v, op));
  POP_TRY(verify_collective_dims(v, op));
  return want_types(v, op, "results", op->results, op->num_results, op->operands, op->num_operands);
}

/* An infeed takes a token and returns tensors and a token. An outfeed takes tensors and a token and
 * returns a token. */
static pop_error *verify_feed(verifier *v, const operation *op)
{
  bool in = op->code == OP_INFEED;
  value *const *list = in ? op->results : op->operands, *const *other =
                                                            in ? op->operands : op->results;
  size_t count = in ? op->num_results : op->num_operands;
  size_t others = in ? op->num_operands : op->num_results;
  WANT(count > 0 && list[count - 1]->type->kind == TYPE_TOKEN && others == 1 &&
           other[0]->type->kind == TYPE_TOKEN,
       "%s takes a token, behind the others, and makes one", op->name);
  for (size_t i = 0; i + 1 < count; ++i)
    if (list[i]->type->kind != TYPE_TENSOR)
      name_unsupported(v, op->offset,
                       pop_arena_printf(v->m->arena, "%s of other than tensors", op->name));
  return NULL;
}

/* Sets `is` if the scalar is constant, or follows from static shapes. Its types may be unsupported,
 * since such values are not verified. */
bool known_integer(const value *v, unsigned depth, int64_t *is)
{
  enum { MAX_DEPTH = 16 };
  const operation *op = v->op;
  int64_t a, b;
  if (!op || depth == MAX_DEPTH || type_elements(v->type) != 1) return false;
  switch (op->code) {
  case OP_CONSTANT: {
    const attribute *value = op_attribute(op, "value");
    element_type e = v->type->element;
    if (!value || value->kind != ATTRIBUTE_DENSE || e == ELEMENT_COUNT ||
        (e != ELEMENT_I1 && !element_is_integer(e)))
      return false;
    *is = element_to_int(e, value->data);
    return true;
  }
  case OP_GET_DIMENSION_SIZE: {
    const model_type *of = op->num_operands == 1 ? op->operands[0]->type : NULL;
    int64_t dimension = op_int(op, "dimension", -1);
    if (!of || of->kind != TYPE_TENSOR || dimension < 0 || dimension >= of->rank) return false;
    *is = of->dims[dimension];
    return *is >= 0;
  }
  case OP_AND:
    if (op->num_operands != 2 || !known_integer(op->operands[0], depth + 1, &a) ||
        !known_integer(op->operands[1], depth + 1, &b))
      return false;
    *is = a & b;
    return true;
  case OP_COMPARE: {
    const char *how = op_word(op, "comparison_direction");
    if (op->num_operands != 2 || !known_integer(op->operands[0], depth + 1, &a) ||
        !known_integer(op->operands[1], depth + 1, &b) || a < 0 || b < 0)
      return false;
    *is = strcmp(how, "EQ") == 0   ? a == b
          : strcmp(how, "NE") == 0 ? a != b
          : strcmp(how, "LT") == 0 ? a < b
          : strcmp(how, "LE") == 0 ? a <= b
          : strcmp(how, "GT") == 0 ? a > b
                                   : a >= b;
    return true;
  }
  default:
    return false;
  }
}

/* jax.export asserts something about the shapes of a call. Here they are static. */
static pop_error *verify_assertion(verifier *v, const operation *op)
{
  int64_t holds;
  WANT(op->num_operands && op->num_results == 0 && type_of(op, 0)->kind == TYPE_TENSOR &&
           type_of(op, 0)->element == ELEMENT_I1,
       "%s: @shape_assertion takes an i1 first, and has no results", op->name);
  if (known_integer(op->operands[0], 0, &holds)) {
    WANT(holds, "%s: the assertion does not hold: %s", op->name, op_word(op, "error_message"));
    return NULL;
  }
  name_unsupported(v, op->offset, "@shape_assertion of what is not known before the program runs");
  return NULL;
}

static pop_error *verify_token(verifier *v, const operation *op)
{
  WANT(op->num_results == 1 && op->results[0]->type->kind == TYPE_TOKEN, "%s makes a token",
       op->name);
  return NULL;
}

static pop_error *verify_tuple(verifier *v, const operation *op)
{
  WANT(op->num_results == 1 && op->results[0]->type->kind == TYPE_TUPLE &&
           op->results[0]->type->num_members == op->num_operands,
       "%s makes a tuple of its operands", op->name);
  for (size_t i = 0; i < op->num_operands; ++i)
    WANT(type_equal(type_of(op, i), op->results[0]->type->members[i]),
         "%s: member %zu has another type", op->name, i);
  return NULL;
}

static pop_error *verify_element_of_tuple(verifier *v, const operation *op)
{
  POP_TRY(want_counts(v, op, 1, 1, 0));
  int64_t index = op_int(op, "index", -1);
  const model_type *t = type_of(op, 0);
  WANT(t->kind == TYPE_TUPLE && index >= 0 && index < t->num_members &&
           type_equal(t->members[index], op->results[0]->type),
       "%s: the operand has no such member", op->name);
  return NULL;
}

static pop_error *verify_everywhere(verifier *v, const operation *op)
{
  POP_TRY(want_counts(v, op, 1, 1, 0));
  POP_TRY(want_tensors(v, op));
  const model_type *t = type_of(op, 0);
  WANT(t->rank < MODEL_MAX_RANK, "%s: a tensor of less dimensions is needed", op->name);
  int64_t dims[MODEL_MAX_RANK] = {v->m->replicas};
  memcpy(dims + 1, t->dims, t->rank * sizeof *dims);
  return want_shape(v, op, op->results[0]->type, dims, t->rank + 1);
}

static pop_error *verify_custom_call(verifier *v, const operation *op)
{
  const char *target = op_word(op, "call_target_name");
  if (jax_call_of(op) != JAX_NONE) return verify_jax_call(v, op);
  if (strcmp(target, "populus.vertex") == 0) return verify_vertex(v, op);
  if (strcmp(target, "shape_assertion") == 0) return verify_assertion(v, op);
  name_unsupported(v, op->offset, pop_arena_printf(v->m->arena, "custom_call @%s", target));
  return NULL;
}

pop_error *verify_other(verifier *v, const operation *op)
{
  switch (op->code) {
  case OP_AFTER_ALL:
  case OP_CREATE_TOKEN:
    return verify_token(v, op);
  case OP_TUPLE:
    return verify_tuple(v, op);
  case OP_GET_TUPLE_ELEMENT:
    return verify_element_of_tuple(v, op);
  case OP_OPTIMIZATION_BARRIER:
    return want_types(v, op, "results", op->results, op->num_results, op->operands,
                      op->num_operands);
  case OP_RETURN:
    return NULL;
  case OP_ALL_GATHER:
  case OP_ALL_REDUCE:
  case OP_ALL_TO_ALL:
  case OP_COLLECTIVE_BROADCAST:
  case OP_COLLECTIVE_PERMUTE:
  case OP_REDUCE_SCATTER:
    return verify_collective(v, op);
  case OP_PARTITION_ID:
  case OP_REPLICA_ID:
    POP_TRY(want_counts(v, op, 0, 1, 0));
    POP_TRY(want_tensors(v, op));
    WANT(op->results[0]->type->rank == 0 && op->results[0]->type->element == ELEMENT_U32,
         "%s is a tensor<ui32>", op->name);
    return NULL;
  case OP_BATCH_NORM_TRAINING:
  case OP_BATCH_NORM_GRAD:
    return verify_batch_norm(v, op);
  case OP_BROADCASTING:
    return verify_broadcasting(v, op);
  case OP_CONSTANT_LIKE:
    return verify_constant_like(v, op);
  case OP_EINSUM:
  case OP_UNARY_EINSUM:
    return verify_einsum(v, op);
  case OP_SET_DIMENSION_SIZE:
    return verify_set_dimension_size(v, op);
  case OP_TORCH_INDEX_SELECT:
    return verify_index_select(v, op);
  case OP_RNG:
    return verify_rng(v, op);
  case OP_DYNAMIC_PAD:
    POP_TRY(want_counts(v, op, 5, 1, 0));
    return want_tensors(v, op); /* the other rules are those of the pad that replaces it */
  case OP_DYNAMIC_CONV:
    POP_TRY(want_counts(v, op, 3, 1, 0));
    POP_TRY(want_tensors(v, op));
    WANT(type_of(op, 0)->rank >= 2, "%s is of a batch and features", op->name);
    return NULL;
  case OP_RNG_STATE:
    POP_TRY(want_counts(v, op, 0, 1, 0));
    return verify_rng_state(v, op, op->results[0]->type);
  case OP_RNG_KEEP:
    POP_TRY(want_counts(v, op, 2, 0, 0));
    WANT(op->operands[0]->op && op->operands[0]->op->code == OP_RNG_STATE,
         "%s keeps what a populus.rng_state made", op->name);
    POP_TRY(verify_rng_state(v, op, type_of(op, 0)));
    return verify_rng_state(v, op, type_of(op, 1));
  case OP_INFEED:
  case OP_OUTFEED:
    return verify_feed(v, op);
  case OP_EVERYWHERE:
    return verify_everywhere(v, op);
  case OP_CUSTOM_CALL:
    return verify_custom_call(v, op);
  default:
    if (op->code >= OP_EXPECT_ALMOST_EQ) return verify_check(v, op);
    name_unsupported(v, op->offset, op->name);
    return NULL;
  }
}
