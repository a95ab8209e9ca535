/* Writes computations as functions and regions. */
#include "models/hlo_translate.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define PRINT(...) pop_arena_printf(t->h->m->arena, __VA_ARGS__)

/* The text from here on is translated from the instruction at `offset`. */
static void mark(translation *t, uint32_t offset)
{
  module_place p = {(uint32_t)t->to->size, offset};
  pop_push(t->places, t->num_places, t->capacity, p);
}

/* ---- names and lists ---- */

/* The instruction's name. If other computations have the same name, the entry keeps it, because its
 * parameters are the module's arguments. */
const char *hlo_unique_name(translation *t, const hlo_computation *c, const hlo_instruction *i)
{
  bool several = !c->entry && pop_name_table_find(&t->repeated, i->name) != POP_NAME_NONE;
  return several ? PRINT("%%%s..%s", i->name, c->name) : PRINT("%%%s", i->name);
}

/* Names the leaves as results of an operation called `result`. */
void hlo_set_leaves(translation *t, hlo_instruction *i, const char *result)
{
  size_t count = hlo_num_leaves(&i->type);
  i->leaves = pop_arena_alloc(t->h->m->arena, (count + 1) * sizeof *i->leaves);
  for (size_t k = 0; k < count; ++k)
    i->leaves[k] = count == 1 ? PRINT("%s", result) : PRINT("%s#%zu", result, k);
}

static void write_types(translation *t, const hlo_type *type, bool comma)
{
  size_t count = hlo_num_leaves(type);
  for (size_t k = 0; k < count; ++k)
    text_add(t->to, "%s%s", comma || k ? ", " : "", hlo_type_text(t->h, hlo_leaf(type, k)));
}

static void write_leaves(translation *t, const hlo_instruction *i, bool comma)
{
  size_t count = hlo_num_leaves(&i->type);
  for (size_t k = 0; k < count; ++k) text_add(t->to, "%s%s", comma || k ? ", " : "", i->leaves[k]);
}

/* "(%a, %b)"; the types "(ta, tb) -> (tc)" come later. */
static void write_operands(translation *t, hlo_instruction *const *operands, size_t count)
{
  bool comma = false;
  text_add(t->to, "(");
  for (size_t i = 0; i < count; ++i) {
    write_leaves(t, operands[i], comma);
    comma = comma || hlo_num_leaves(&operands[i]->type);
  }
  text_add(t->to, ")");
}

static void write_signature(translation *t, hlo_instruction *const *operands, size_t count,
                            const hlo_type *result)
{
  bool comma = false;
  text_add(t->to, " : (");
  for (size_t i = 0; i < count; ++i) {
    write_types(t, &operands[i]->type, comma);
    comma = comma || hlo_num_leaves(&operands[i]->type);
  }
  text_add(t->to, ") -> (");
  write_types(t, result, false);
  text_add(t->to, ")\n");
}

/* "%x:2 = "; an empty tuple has no name. */
static const char *write_results(translation *t, const hlo_computation *c, hlo_instruction *i)
{
  const char *name = hlo_unique_name(t, c, i);
  size_t count = hlo_num_leaves(&i->type);
  hlo_set_leaves(t, i, name);
  if (count == 1) text_add(t->to, "%s = ", name);
  if (count > 1) text_add(t->to, "%s:%zu = ", name, count);
  return name;
}

/* ---- computations ---- */

static hlo_computation *computation_of(translation *t, const hlo_instruction *i, const char *key,
                                       pop_error **error)
{
  const char *name = hlo_attribute_value(i, key);
  hlo_computation *c = name ? hlo_find_computation(t->h, name) : NULL;
  if (!c)
    *error =
        hlo_error(t->h, i, "%s: there is no computation %s=%s", i->opcode, key, name ? name : "");
  return c;
}

static int64_t parameter_number(const hlo_instruction *i)
{
  return strcmp(i->opcode, "parameter") == 0 ? strtoll(i->inside, NULL, 10) : -1;
}

/* The computation's parameters by number; NULL for a missing one. */
static hlo_instruction **parameters_of(translation *t, const hlo_computation *c, size_t *count)
{
  *count = 0;
  for (size_t i = 0; i < c->num_instructions; ++i)
    *count += parameter_number(c->instructions[i]) >= 0;
  hlo_instruction **all = pop_arena_alloc(t->h->m->arena, (*count + 1) * sizeof *all);
  for (size_t i = 0; i < c->num_instructions; ++i) {
    int64_t n = parameter_number(c->instructions[i]);
    if (n >= 0 && (size_t)n < *count) all[n] = c->instructions[i];
  }
  return all;
}

static pop_error *check_parameters(translation *t, const hlo_computation *c,
                                   hlo_instruction *const *parameters, size_t count)
{
  for (size_t i = 0; i < count; ++i)
    if (!parameters[i]) {
      const hlo_instruction at = {.offset = c->offset};
      return hlo_error(t->h, &at, "%s has no parameter(%zu), or one twice", c->name, i);
    }
  return NULL;
}

/* The computation's instructions and a return. Parameters have been named before. */
static pop_error *write_body(translation *t, hlo_computation *c, const char *end)
{
  enum { MAX_DEPTH = 150 };
  const hlo_instruction at = {.offset = c->offset};
  if (c->open) return hlo_error(t->h, &at, "%s is a part of itself", c->name);
  if (t->depth == MAX_DEPTH)
    return hlo_error(t->h, &at, "computations are more than %d deep", MAX_DEPTH);
  c->open++;
  t->depth++;
  for (size_t i = 0; i < c->num_instructions; ++i)
    if (parameter_number(c->instructions[i]) < 0)
      POP_TRY(hlo_write_instruction(t, c, c->instructions[i]));
  t->depth--;
  c->open--;
  mark(t, c->root->offset);
  text_add(t->to, "%s", end);
  if (hlo_num_leaves(&c->root->type)) {
    text_add(t->to, " ");
    write_leaves(t, c->root, false);
    text_add(t->to, " : ");
    write_types(t, &c->root->type, false);
  }
  text_add(t->to, "\n");
  return NULL;
}

/* Block arguments, "%x: t", for all leaves of the parameters. */
static void write_arguments(translation *t, const hlo_computation *c,
                            hlo_instruction *const *parameters, size_t count)
{
  bool comma = false;
  for (size_t i = 0; i < count; ++i) {
    hlo_instruction *p = parameters[i];
    size_t leaves = hlo_num_leaves(&p->type);
    const char *name = hlo_unique_name(t, c, p);
    p->leaves = pop_arena_alloc(t->h->m->arena, (leaves + 1) * sizeof *p->leaves);
    for (size_t k = 0; k < leaves; ++k) {
      p->leaves[k] = leaves == 1 ? PRINT("%s", name) : PRINT("%s..%zu", name, k);
      mark(t, p->offset);
      text_add(t->to, "%s%s: %s", comma ? ", " : "", p->leaves[k],
               hlo_type_text(t->h, hlo_leaf(&p->type, k)));
      comma = true;
    }
  }
}

static pop_error *write_region(translation *t, hlo_computation *c)
{
  size_t count;
  hlo_instruction **parameters = parameters_of(t, c, &count);
  POP_TRY(check_parameters(t, c, parameters, count));
  text_add(t->to, "{\n^bb0(");
  write_arguments(t, c, parameters, count);
  text_add(t->to, "):\n");
  POP_TRY(write_body(t, c, "stablehlo.return"));
  text_add(t->to, "}");
  return NULL;
}

static pop_error *write_function(translation *t, hlo_computation *c)
{
  size_t count;
  hlo_instruction **parameters = parameters_of(t, c, &count);
  POP_TRY(check_parameters(t, c, parameters, count));
  mark(t, c->offset);
  text_add(t->to, "func.func %s @\"%s\"(", c->entry ? "public" : "private",
           c->entry ? "main" : c->name);
  write_arguments(t, c, parameters, count);
  text_add(t->to, ") -> (");
  write_types(t, &c->root->type, false);
  text_add(t->to, ") {\n");
  POP_TRY(write_body(t, c, "func.return"));
  text_add(t->to, "}\n");
  return NULL;
}

/* ---- instructions that are more or less than one operation ---- */

void hlo_alias(translation *t, hlo_instruction *i, const hlo_instruction *of, size_t first)
{
  size_t count = hlo_num_leaves(&i->type);
  i->leaves = pop_arena_alloc(t->h->m->arena, (count + 1) * sizeof *i->leaves);
  for (size_t k = 0; k < count; ++k) i->leaves[k] = of->leaves[first + k];
}

static pop_error *element_of_tuple(translation *t, hlo_instruction *i)
{
  const char *text = hlo_attribute_value(i, "index");
  const hlo_type *from = i->num_operands == 1 ? &i->operands[0]->type : NULL;
  size_t index = text ? strtoul(text, NULL, 10) : 0, first = 0;
  if (!text || !from || !from->tuple || index >= from->num_members ||
      hlo_num_leaves(&from->members[index]) != hlo_num_leaves(&i->type))
    return hlo_error(t->h, i, "get-tuple-element: the operand has no such member");
  for (size_t k = 0; k < index; ++k) first += hlo_num_leaves(&from->members[k]);
  hlo_alias(t, i, i->operands[0], first);
  return NULL;
}

static pop_error *make_tuple(translation *t, hlo_instruction *i)
{
  size_t count = hlo_num_leaves(&i->type), at = 0, given = 0;
  for (size_t k = 0; k < i->num_operands; ++k) given += hlo_num_leaves(&i->operands[k]->type);
  if (given != count) return hlo_error(t->h, i, "tuple: the type is not that of the operands");
  i->leaves = pop_arena_alloc(t->h->m->arena, (count + 1) * sizeof *i->leaves);
  for (size_t k = 0; k < i->num_operands; ++k)
    for (size_t n = 0; n < hlo_num_leaves(&i->operands[k]->type); ++n)
      i->leaves[at++] = i->operands[k]->leaves[n];
  return NULL;
}

static pop_error *write_call(translation *t, hlo_computation *c, hlo_instruction *i)
{
  pop_error *error = NULL;
  bool fusion = strcmp(i->opcode, "fusion") == 0;
  hlo_computation *callee = computation_of(t, i, fusion ? "calls" : "to_apply", &error);
  if (!callee) return error;
  if (callee->entry) return hlo_error(t->h, i, "%s is the entry, which nobody calls", callee->name);
  callee->wanted = true;
  (void)write_results(t, c, i);
  text_add(t->to, "\"func.call\"");
  write_operands(t, i->operands, i->num_operands);
  text_add(t->to, " {callee = @\"%s\"}", callee->name);
  write_signature(t, i->operands, i->num_operands, &i->type);
  return NULL;
}

static pop_error *write_while(translation *t, hlo_computation *c, hlo_instruction *i)
{
  pop_error *error = NULL;
  hlo_computation *condition = computation_of(t, i, "condition", &error);
  hlo_computation *body = condition ? computation_of(t, i, "body", &error) : NULL;
  if (error) return error;
  (void)write_results(t, c, i);
  text_add(t->to, "\"stablehlo.while\"");
  write_operands(t, i->operands, i->num_operands);
  text_add(t->to, " (");
  POP_TRY(write_region(t, condition));
  text_add(t->to, ", ");
  POP_TRY(write_region(t, body));
  text_add(t->to, ")");
  write_signature(t, i->operands, i->num_operands, &i->type);
  return NULL;
}

/* A branch can see values from outside, so its parameter is an alias of the operand. */
static pop_error *write_branch(translation *t, const hlo_instruction *i, hlo_computation *branch,
                               size_t operand)
{
  size_t count;
  hlo_instruction **parameters = parameters_of(t, branch, &count);
  POP_TRY(check_parameters(t, branch, parameters, count));
  if (count > 1 ||
      (count && (operand >= i->num_operands || hlo_num_leaves(&parameters[0]->type) !=
                                                   hlo_num_leaves(&i->operands[operand]->type))))
    return hlo_error(t->h, i, "conditional: %s takes other operands", branch->name);
  if (count) hlo_alias(t, parameters[0], i->operands[operand], 0);
  text_add(t->to, "%s{\n", operand > 1 ? ", " : "");
  POP_TRY(write_body(t, branch, "stablehlo.return"));
  text_add(t->to, "}");
  return NULL;
}

static pop_error *write_conditional(translation *t, hlo_computation *c, hlo_instruction *i)
{
  static const char *const keys[] = {"true_computation", "false_computation"};
  const char *list = hlo_attribute_value(i, "branch_computations");
  if (!i->num_operands || i->operands[0]->type.tuple)
    return hlo_error(t->h, i, "conditional takes a scalar first");
  (void)write_results(t, c, i);
  text_add(t->to, "\"stablehlo.%s\"",
           strcmp(i->operands[0]->type.element, "i1") == 0 ? "if" : "case");
  write_operands(t, i->operands, 1);
  text_add(t->to, " (");
  pop_error *error = NULL;
  size_t branches = 0;
  for (; !list && branches < 2; ++branches) {
    hlo_computation *branch = computation_of(t, i, keys[branches], &error);
    if (!branch) return error;
    POP_TRY(write_branch(t, i, branch, branches + 1));
  }
  while (list && *(list += strspn(list, "{}, \n")) != '\0') {
    size_t length = strcspn(list, "{}, \n");
    const char *name = PRINT("%.*s", (int)length, list);
    hlo_computation *branch = hlo_find_computation(t->h, name);
    if (!branch) return hlo_error(t->h, i, "conditional: there is no computation %s", name);
    POP_TRY(write_branch(t, i, branch, ++branches));
    list += length;
  }
  text_add(t->to, ")");
  write_signature(t, i->operands, 1, &i->type);
  return NULL;
}

/* Bytes of an element; 0 if it is not of whole bytes, or unknown. */
static int64_t bytes_of(const char *element)
{
  for (element_type e = 0; e < ELEMENT_COUNT; ++e)
    if (e != ELEMENT_I1 && strcmp(element_infos[e].name, element) == 0)
      return (int64_t)element_bytes(e);
  return 0;
}

/* Reinterprets flat elements as another type: [n] becomes [n, more] if the new elements are
 * smaller, and [less, m] becomes [less] if they are larger. */
static pop_error *write_other_bits(translation *t, const hlo_instruction *i, const char *name,
                                   const hlo_type *from, const hlo_type *to)
{
  int64_t old = bytes_of(from->element), new = bytes_of(to->element), count = 1;
  for (uint32_t d = 0; d < from->rank; ++d) count *= from->dims[d];
  int64_t wanted = 1;
  for (uint32_t d = 0; d < to->rank; ++d) wanted *= to->dims[d];
  if (!old || !new)
    return hlo_error(t->h, i, "a bitcast between %s and %s is not supported", from->element,
                     to->element);
  if (count * old != wanted * new)
    return hlo_error(t->h, i, "a bitcast of %" PRId64 " bytes to %" PRId64, count * old,
                     wanted * new);
  int64_t least = old < new ? wanted : count;
  hlo_type line = {.element = from->element, .rank = 1 + (old < new), .dims = {least, new / old}};
  hlo_type bits = {.element = to->element, .rank = 1 + (old > new), .dims = {least, old / new}};
  const char *a = hlo_type_text(t->h, from), *b = hlo_type_text(t->h, &line),
             *c = hlo_type_text(t->h, &bits);
  text_add(t->to,
           "%s..line = stablehlo.reshape %s..out : (%s) -> %s\n"
           "%s..bits = stablehlo.bitcast_convert %s..line : (%s) -> %s\n",
           name, name, a, b, name, name, b, c);
  text_add(t->to, "%s..in = stablehlo.reshape %s..bits : (%s) -> ", name, name, c);
  return NULL;
}

/* Reinterprets the bits as they lie in memory: takes the elements in the order of the operand's
 * layout, and orders them by the result's. */
static pop_error *write_bitcast(translation *t, const hlo_computation *c, hlo_instruction *i)
{
  const hlo_type *to = &i->type, *from = i->num_operands == 1 ? &i->operands[0]->type : NULL;
  if (!from || from->tuple || to->tuple)
    return hlo_error(t->h, i, "a bitcast between %s and %s is not supported",
                     from && !from->tuple ? from->element : "tuples",
                     to->tuple ? "tuples" : to->element);
  hlo_type flat = *from, back = *to;
  char *out = PRINT("["), *in = PRINT("[");
  for (uint32_t d = 0; d < from->rank; ++d) {
    int64_t dimension = from->layout[from->rank - 1 - d];
    flat.dims[d] = from->dims[dimension];
    out = PRINT("%s%s%" PRId64, out, d ? ", " : "", dimension);
  }
  for (uint32_t d = 0; d < to->rank; ++d) back.dims[d] = to->dims[to->layout[to->rank - 1 - d]];
  for (uint32_t d = 0; d < to->rank; ++d)
    for (uint32_t k = 0; k < to->rank; ++k)
      if (to->layout[to->rank - 1 - k] == d) in = PRINT("%s%s%u", in, d ? ", " : "", k);
  const char *name = hlo_unique_name(t, c, i), *x = i->operands[0]->leaves[0];
  const char *a = hlo_type_text(t->h, from), *b = hlo_type_text(t->h, &flat);
  const char *p = hlo_type_text(t->h, &back), *q = hlo_type_text(t->h, to);
  text_add(t->to, "%s..out = stablehlo.transpose %s, dims = %s] : (%s) -> %s\n", name, x, out, a,
           b);
  if (strcmp(from->element, to->element) == 0)
    text_add(t->to, "%s..in = stablehlo.reshape %s..out : (%s) -> ", name, name, b);
  else
    POP_TRY(write_other_bits(t, i, name, &flat, to));
  text_add(t->to, "%s\n%s = stablehlo.transpose %s..in, dims = %s] : (%s) -> %s\n", p, name, name,
           in, p, q);
  hlo_set_leaves(t, i, name);
  return NULL;
}

/* The shape becomes a constant operand. */
static pop_error *write_rng(translation *t, const hlo_computation *c, hlo_instruction *i)
{
  hlo_operation op;
  POP_TRY(hlo_describe(t->h, i, &op));
  if (i->num_operands != 2 || i->type.tuple) return hlo_error(t->h, i, "rng takes two operands");
  const char *name = hlo_unique_name(t, c, i), *s = hlo_type_text(t->h, &i->operands[0]->type);
  text_add(t->to, "%s..shape = stablehlo.constant dense<[", name);
  for (uint32_t d = 0; d < i->type.rank; ++d)
    text_add(t->to, "%s%" PRId64, d ? ", " : "", i->type.dims[d]);
  text_add(t->to,
           "]> : tensor<%uxi64>\n%s = \"stablehlo.rng\"(%s, %s, %s..shape)%s : (%s, %s, "
           "tensor<%uxi64>) -> %s\n",
           i->type.rank, name, i->operands[0]->leaves[0], i->operands[1]->leaves[0], name,
           op.attributes, s, hlo_type_text(t->h, &i->operands[1]->type), i->type.rank,
           hlo_type_text(t->h, &i->type));
  hlo_set_leaves(t, i, name);
  return NULL;
}

pop_error *hlo_write_operation(translation *t, hlo_computation *c, hlo_instruction *i)
{
  hlo_operation op;
  POP_TRY(hlo_describe(t->h, i, &op));
  (void)write_results(t, c, i);
  text_add(t->to, "\"%s\"", op.name);
  write_operands(t, i->operands, i->num_operands);
  for (size_t k = 0; k < op.num_regions; ++k) {
    text_add(t->to, "%s", k ? ", " : " (");
    POP_TRY(write_region(t, op.regions[k]));
  }
  text_add(t->to, "%s%s", op.num_regions ? ")" : "", op.attributes);
  write_signature(t, i->operands, i->num_operands, &i->type);
  return NULL;
}

static bool one_of(const char *opcode, const char *const *list)
{
  while (*list && strcmp(*list, opcode) != 0) list++;
  return *list != NULL;
}

pop_error *hlo_write_instruction(translation *t, hlo_computation *c, hlo_instruction *i)
{
  static const char *const same[] = {"copy", "add-dependency", "domain", NULL};
  enum { MAX_BYTES = 1 << 28 };
  if (t->to->size > MAX_BYTES)
    return hlo_error(t->h, i, "with all computations in place the module is too large");
  mark(t, i->offset);
  POP_TRY(hlo_check_attributes(t->h, i));
  if (one_of(i->opcode, same)) {
    if (!i->num_operands || hlo_num_leaves(&i->operands[0]->type) != hlo_num_leaves(&i->type))
      return hlo_error(t->h, i, "%s has the type of its operand", i->opcode);
    hlo_alias(t, i, i->operands[0], 0);
    return NULL;
  }
  if (strcmp(i->opcode, "get-tuple-element") == 0) return element_of_tuple(t, i);
  if (strcmp(i->opcode, "tuple") == 0) return make_tuple(t, i);
  if (strcmp(i->opcode, "call") == 0 || strcmp(i->opcode, "fusion") == 0)
    return write_call(t, c, i);
  if (strcmp(i->opcode, "while") == 0) return write_while(t, c, i);
  if (strcmp(i->opcode, "conditional") == 0) return write_conditional(t, c, i);
  if (strcmp(i->opcode, "bitcast") == 0) return write_bitcast(t, c, i);
  if (strcmp(i->opcode, "rng") == 0) return write_rng(t, c, i);
  bool written = false;
  POP_TRY(hlo_write_form(t, c, i, &written));
  if (written) return NULL;
  if (strcmp(i->opcode, "constant") != 0) return hlo_write_operation(t, c, i);
  (void)write_results(t, c, i);
  text_add(t->to, "stablehlo.constant ");
  POP_TRY(hlo_literal(t->h, i, t->to));
  text_add(t->to, "\n");
  return NULL;
}

/* ---- the module ---- */

static void collect_names(translation *t)
{
  for (size_t i = 0; i < t->h->num_computations; ++i) {
    const hlo_computation *c = &t->h->computations[i];
    for (size_t k = 0; k < c->num_instructions; ++k) {
      const char *name = c->instructions[k]->name;
      if (pop_name_table_find(&t->names, name) == POP_NAME_NONE)
        pop_name_table_add(&t->names, name, 0);
      else if (pop_name_table_find(&t->repeated, name) == POP_NAME_NONE)
        pop_name_table_add(&t->repeated, name, 0);
    }
  }
}

static pop_error *write_functions(translation *t)
{
  text_add(t->to, "module @\"%s\" {\n", t->h->name);
  for (size_t i = 0; i < t->h->num_computations; ++i)
    if (t->h->computations[i].entry) POP_TRY(write_function(t, &t->h->computations[i]));
  for (bool more = true; more;) {
    more = false;
    for (size_t i = 0; i < t->h->num_computations; ++i) {
      hlo_computation *c = &t->h->computations[i];
      if (!c->wanted || c->entry || c->function_written) continue;
      c->function_written = more = true;
      POP_TRY(write_function(t, c));
    }
  }
  text_add(t->to, "}\n");
  return NULL;
}

pop_error *hlo_translate(hlo_module *h, text *to)
{
  translation t = {.h = h, .to = to};
  collect_names(&t);
  pop_error *error = write_functions(&t);
  h->m->places = pop_arena_alloc(h->m->arena, (t.num_places + 1) * sizeof *t.places);
  if (t.num_places) memcpy(h->m->places, t.places, t.num_places * sizeof *t.places);
  h->m->num_places = t.num_places;
  free(t.places);
  pop_name_table_free(&t.names);
  pop_name_table_free(&t.repeated);
  return error;
}
