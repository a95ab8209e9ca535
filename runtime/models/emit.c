/* C code of operations on single elements, and of regions that are made of such. */
#include "models/lowering.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

const char *suffix_of(const value *v)
{
  return element_infos[v->type->element].suffix;
}

const char *c_type_of(const value *v)
{
  return element_infos[v->type->element].value;
}

const char *emit_variable(emitter *e, const value *v)
{
  size_t number = 0;
  while (number < e->num_values && e->values[number] != v) ++number;
  if (number == e->num_values) pop_push(e->values, e->num_values, e->values_capacity, v);
  return pop_arena_printf(e->l->m->arena, "v%zu", number);
}

void emitter_free(emitter *e)
{
  text_free(&e->functions);
  text_free(&e->setup);
  text_free(&e->body);
  free(e->inputs);
  free(e->values);
}

/* Written as bits, so that it is exact. */
const char *emit_literal(pop_arena *arena, element_type e, const uint8_t *bytes)
{
  uint64_t bits = 0;
  float half;
  memcpy(&bits, bytes, element_bytes(e));
  switch (e) {
  case ELEMENT_I1:
    return bits ? "true" : "false";
  case ELEMENT_F16:
    half = pop_half_to_float((uint16_t)bits);
    memcpy(&bits, &half, sizeof half);
    return pop_arena_printf(arena, "hlo_from_bits_f32(0x%08" PRIx32 "u)", (uint32_t)bits);
  case ELEMENT_BF16:
    return pop_arena_printf(arena, "hlo_from_bits_f32(0x%08" PRIx32 "u)", (uint32_t)bits << 16);
  case ELEMENT_F32:
    return pop_arena_printf(arena, "hlo_from_bits_f32(0x%08" PRIx32 "u)", (uint32_t)bits);
  case ELEMENT_F64:
  case ELEMENT_C64:
    return pop_arena_printf(arena, "hlo_load_%s(0x%016" PRIx64 "ull)", element_infos[e].suffix,
                            bits);
  default:
    return pop_arena_printf(arena, "((%s)0x%" PRIx64 "ull)", element_infos[e].value, bits);
  }
}

/* ---- operands ---- */

static size_t input_number(emitter *e, const value *v, access how)
{
  for (size_t i = 0; i < e->num_inputs; ++i)
    if (e->inputs[i].v == v && e->inputs[i].how == how) return i;
  pop_push(e->inputs, e->num_inputs, e->inputs_capacity, (emitted_input){.v = v, .how = how});
  return e->num_inputs - 1;
}

/* Each operation has a box of its own. */
static size_t box_number(emitter *e, const operation *op, size_t operand)
{
  for (size_t i = 0; i < e->num_inputs; ++i)
    if (e->inputs[i].op == op && e->inputs[i].operand == operand) return i;
  pop_push(e->inputs, e->num_inputs, e->inputs_capacity,
           (emitted_input){op->operands[operand], ACCESS_BOX, op, operand});
  return e->num_inputs - 1;
}

const char *emit_operand(emitter *e, const value *v, access how, const char *index)
{
  pop_arena *arena = e->l->m->arena;
  const value_state *s = state_of(e->l, v);
  if (s->kind == STATE_SPLAT) return emit_literal(arena, v->type->element, s->splat);
  if (s->in_group && (how == ACCESS_SAME || how == ACCESS_SCALAR)) return emit_variable(e, v);
  if (how == ACCESS_SCALAR || (how == ACCESS_SAME && e->in_setup)) {
    how = ACCESS_WHOLE;
    index = "0";
  }
  size_t n = input_number(e, v, how);
  if (how == ACCESS_SAME) return pop_arena_printf(arena, "hlo_load_%s(in%zu[i])", suffix_of(v), n);
  return pop_arena_printf(arena, "hlo_load_%s(in%zu[%s])", suffix_of(v), n, index);
}

const char *emit_linear_index(emitter *e, const char *const *x, const model_type *type)
{
  const char *at = "0";
  for (uint32_t d = 0; d < type->rank; ++d)
    at = d ? pop_arena_printf(e->l->m->arena, "(%s * %" PRId64 " + %s)", at, type->dims[d], x[d])
           : x[d];
  return at;
}

const char *emit_at(emitter *e, const operation *op, size_t i, const char *const *at)
{
  const value *v = op->operands[i];
  pop_arena *arena = e->l->m->arena;
  if (index_access(e->l, op, i) != ACCESS_BOX || state_of(e->l, v)->kind == STATE_SPLAT)
    return emit_operand(e, v, ACCESS_WHOLE, emit_linear_index(e, at, v->type));
  size_t n = box_number(e, op, i);
  return pop_arena_printf(arena, "hlo_load_%s(in%zu[%s])", suffix_of(v), n,
                          box_index(arena, n, v->type->rank, at));
}

/* ---- one operation on one element ---- */

const char *emit_converted(pop_arena *arena, element_type from, element_type to, const char *x)
{
  if (from == to) return x;
  return pop_arena_printf(arena, "hlo_convert_%s_%s(%s)", element_infos[from].suffix,
                          element_infos[to].suffix, x);
}

const char *emit_product_added(pop_arena *arena, element_type e, const char *sum, const char *a,
                               const char *b)
{
  const char *s = element_infos[e].suffix;
  return pop_arena_printf(arena, "hlo_add_%s(%s, hlo_multiply_%s(%s, %s))", s, sum, s, a, b);
}

static const char *compare(emitter *e, const operation *op, const char *const *x)
{
  static const char *const names[][2] = {{"EQ", "eq"}, {"NE", "ne"}, {"LT", "lt"},
                                         {"LE", "le"}, {"GT", "gt"}, {"GE", "ge"}};
  const char *direction = op_word(op, "comparison_direction"), *name = "eq";
  const char *suffix = suffix_of(op->operands[0]);
  for (size_t i = 0; i < 6; ++i)
    if (strcmp(direction, names[i][0]) == 0) name = names[i][1];
  if (strcmp(op_word(op, "compare_type"), "TOTALORDER") == 0 &&
      element_is_float(op->operands[0]->type->element))
    return pop_arena_printf(e->l->m->arena, "hlo_%s_i64(hlo_order_%s(%s), hlo_order_%s(%s))", name,
                            suffix, x[0], suffix, x[1]);
  return pop_arena_printf(e->l->m->arena, "hlo_%s_%s(%s, %s)", name, suffix, x[0], x[1]);
}

const char *emit_element(emitter *e, const operation *op, const char *const *x)
{
  pop_arena *arena = e->l->m->arena;
  const char *suffix = suffix_of(op->operands[0]), *name = op_infos[op->code].name;
  switch (op->code) {
  case OP_COMPARE:
    return compare(e, op, x);
  case OP_SELECT:
    return pop_arena_printf(arena, "(%s ? %s : %s)", x[0], x[1], x[2]);
  case OP_CLAMP:
    suffix = suffix_of(op->results[0]);
    return pop_arena_printf(arena, "hlo_minimum_%s(hlo_maximum_%s(%s, %s), %s)", suffix, suffix,
                            x[1], x[0], x[2]);
  case OP_CONVERT:
    return emit_converted(arena, op->operands[0]->type->element, op->results[0]->type->element,
                          x[0]);
  case OP_REDUCE_PRECISION:
    return pop_arena_printf(arena, "hlo_reduce_precision_%s(%s, %u, %u)", suffix, x[0],
                            (unsigned)op_int(op, "exponent_bits", 0),
                            (unsigned)op_int(op, "mantissa_bits", 0));
  default:
    break;
  }
  if (op->num_operands == 1) return pop_arena_printf(arena, "hlo_%s_%s(%s)", name, suffix, x[0]);
  return pop_arena_printf(arena, "hlo_%s_%s(%s, %s)", name, suffix, x[0], x[1]);
}

/* ---- regions of scalars ---- */

static bool emit_choice(emitter *e, text *to, const operation *op);
static bool emit_while(emitter *e, text *to, const operation *op);

static bool is_of_scalars(const operation *op)
{
  bool all = op->num_results > 0;
  for (size_t i = 0; i < op->num_operands + op->num_results; ++i) {
    const value *v = i < op->num_operands ? op->operands[i] : op->results[i - op->num_operands];
    all = all && type_elements(v->type) == 1;
  }
  return all;
}

static bool emit_scalar_op(emitter *e, text *to, const operation *op)
{
  const char **x = pop_arena_alloc(e->l->m->arena, (op->num_operands + 1) * sizeof *x);
  if (!is_of_scalars(op))
    return lowering_fail(e->l, op, "%s in a region: only operations on scalars are supported there",
                         op->name);
  const value *result = op->results[0];
  if (op->code == OP_WHILE) return emit_while(e, to, op);
  if (op->code == OP_IF || op->code == OP_CASE) return emit_choice(e, to, op);
  for (size_t i = 0; i < op->num_operands; ++i) x[i] = emit_variable(e, op->operands[i]);
  const char *type = c_type_of(result), *name = emit_variable(e, result);
  if (op->code == OP_CONSTANT) {
    const attribute *a = op_attribute(op, "value");
    text_add(to, "  const %s %s = %s;\n", type, name,
             emit_literal(e->l->m->arena, result->type->element, a->data));
    return true;
  }
  if (op_infos[op->code].how == HOW_ELEMENT) {
    text_add(to, "  const %s %s = %s;\n", type, name, emit_element(e, op, x));
    return true;
  }
  if (op->code == OP_RESHAPE || op->code == OP_BROADCAST_IN_DIM || op->code == OP_TRANSPOSE ||
      op->code == OP_OPTIMIZATION_BARRIER) {
    for (size_t i = 0; i < op->num_results; ++i)
      text_add(to, "  const %s %s = %s;\n", type, emit_variable(e, op->results[i]), x[i]);
    return true;
  }
  if (op->code == OP_BITCAST_CONVERT &&
      element_bits(op->operands[0]->type->element) == element_bits(result->type->element)) {
    unsigned n = e->next_name++;
    text_add(to,
             "  const %s b%u = hlo_store_%s(%s);\n  %s c%u;\n  memcpy(&c%u, &b%u, %zu);\n"
             "  const %s %s = hlo_load_%s(c%u);\n",
             element_infos[op->operands[0]->type->element].field, n, suffix_of(op->operands[0]),
             x[0], element_infos[result->type->element].field, n, n, n,
             element_bytes(result->type->element), type, name, suffix_of(result), n);
    return true;
  }
  return lowering_fail(e->l, op, "%s in a region is not supported", op->name);
}

/* Emits the block's operations, then sets `variables` to what it returns. */
static bool emit_block(emitter *e, text *to, const block *b, const char *const *variables)
{
  for (const operation *op = b->first; op != b->last; op = op->next)
    if (!emit_scalar_op(e, to, op)) return false;
  /* All are evaluated before the first is set, because they may be permuted. */
  unsigned n = e->next_name++;
  for (size_t i = 0; i < b->last->num_operands; ++i)
    text_add(to, "  const %s t%u_%zu = %s;\n", c_type_of(b->last->operands[i]), n, i,
             emit_variable(e, b->last->operands[i]));
  for (size_t i = 0; i < b->last->num_operands; ++i)
    text_add(to, "  %s = t%u_%zu;\n", variables[i], n, i);
  return true;
}

static const char **emit_results(emitter *e, text *to, const operation *op)
{
  const char **names = pop_arena_alloc(e->l->m->arena, (op->num_results + 1) * sizeof *names);
  for (size_t i = 0; i < op->num_results; ++i) {
    names[i] = emit_variable(e, op->results[i]);
    text_add(to, "  %s %s;\n", c_type_of(op->results[i]), names[i]);
  }
  return names;
}

/* An index out of range selects the last branch. */
static bool emit_choice(emitter *e, text *to, const operation *op)
{
  const char **results = emit_results(e, to, op), *by = emit_variable(e, op->operands[0]);
  for (size_t i = 0; i < op->num_regions; ++i) {
    if (i + 1 == op->num_regions)
      text_add(to, "  {\n");
    else if (op->code == OP_IF)
      text_add(to, "  if (%s) {\n", by);
    else
      text_add(to, "  if (%s == %zu) {\n", by, i);
    if (!emit_block(e, to, &op->regions[i], results)) return false;
    text_add(to, i + 1 == op->num_regions ? "  }\n" : "  } else\n");
  }
  return true;
}

static bool emit_while(emitter *e, text *to, const operation *op)
{
  const block *condition = &op->regions[0], *body = &op->regions[1];
  const char **results = emit_results(e, to, op);
  const char *const go_on = pop_arena_printf(e->l->m->arena, "go_on%u", e->next_name++);
  for (size_t i = 0; i < op->num_results; ++i)
    text_add(to, "  %s = %s;\n", results[i], emit_variable(e, op->operands[i]));
  text_add(to, "  for (;;) {\n  bool %s;\n", go_on);
  for (int k = 0; k < 2; ++k)
    for (size_t i = 0; i < op->num_results; ++i)
      text_add(to, "  const %s %s = %s;\n", c_type_of(op->results[i]),
               emit_variable(e, op->regions[k].arguments[i]), results[i]);
  if (!emit_block(e, to, condition, &go_on)) return false;
  text_add(to, "  if (!%s) break;\n", go_on);
  if (!emit_block(e, to, body, results)) return false;
  text_add(to, "  }\n");
  return true;
}

/* Values that regions of `op` use from outside must be constants (captures.c). */
static bool emit_captured(emitter *e, text *to, const operation *op, const block *b)
{
  for (const operation *inside = b->first; inside; inside = inside->next) {
    for (size_t i = 0; i < inside->num_regions; ++i)
      if (!emit_captured(e, to, op, &inside->regions[i])) return false;
    for (size_t i = 0; i < inside->num_operands; ++i) {
      const value *v = inside->operands[i];
      const value_state *s = state_of(e->l, v);
      char definition[32];
      if (v->number > op->results[0]->number) continue;
      snprintf(definition, sizeof definition, " %s = ", emit_variable(e, v));
      if (to->data && strstr(to->data, definition)) continue;
      if (s->kind != STATE_SPLAT)
        return lowering_fail(e->l, inside, "%s is from outside of the region and no constant",
                             v->name ? v->name : "a value");
      text_add(to, "  const %s %s = %s;\n", c_type_of(v), emit_variable(e, v),
               emit_literal(e->l->m->arena, v->type->element, s->splat));
    }
  }
  return true;
}

const char *emit_region(emitter *e, const operation *op, size_t region)
{
  const block *b = &op->regions[region];
  text to = {0};
  const char *name = pop_arena_printf(e->l->m->arena, "NAME_region%u", e->next_name++);
  text parameters = {0};
  for (size_t i = 0; i < b->num_arguments; ++i)
    text_add(&parameters, "%s%s %s", i ? ", " : "", c_type_of(b->arguments[i]),
             emit_variable(e, b->arguments[i]));
  for (size_t i = 0; i < b->last->num_operands; ++i)
    text_add(&parameters, ", %s *r%zu", c_type_of(b->last->operands[i]), i);
  bool good = emit_captured(e, &to, op, b);
  for (const operation *o = b->first; o != b->last && good; o = o->next)
    good = emit_scalar_op(e, &to, o);
  for (size_t i = 0; i < b->last->num_operands && good; ++i)
    text_add(&to, "  *r%zu = %s;\n", i, emit_variable(e, b->last->operands[i]));
  if (good)
    text_add(&e->functions, "static inline void %s(%s)\n{\n%s}\n", name, parameters.data, to.data);
  text_free(&to);
  text_free(&parameters);
  return good ? name : NULL;
}

void emit_region_call(emitter *e, text *to, const block *region, const char *name,
                      const char *const *arguments, const char *const *results)
{
  (void)e;
  text_add(to, "%s(", name);
  for (size_t i = 0; i < region->num_arguments; ++i)
    text_add(to, "%s%s", i ? ", " : "", arguments[i]);
  for (size_t i = 0; i < region->last->num_operands; ++i) text_add(to, ", &%s", results[i]);
  text_add(to, ");\n");
}
