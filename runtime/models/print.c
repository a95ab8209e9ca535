/* Prints modules in the generic form, which read.c can read. Equal modules give equal text. Places
 * in the source and attributes of frameworks are left out, since they have no meaning here.
 *
 * Without names the text is for a hash, and no longer depends on the notation: attributes are in
 * the order of their names, integers have no types, dense<[1, 0]> and array<i64: 1, 0> are [1, 0],
 * equal elements are one, and operations have no dialect. */
#include "models/print.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void print_block(text *to, const module *m, const block *b, int depth, bool names);

/* ---- elements ---- */

static void print_float(text *to, element_type e, const uint8_t *bytes)
{
  double value = element_to_double(e, bytes);
  uint64_t bits = 0;
  memcpy(&bits, bytes, element_bytes(e));
  if (isfinite(value))
    text_add(to, e == ELEMENT_F64 ? "%.16e" : "%.8e", value);
  else
    text_add(to, "0x%0*" PRIX64, (int)element_bits(e) / 4, bits);
}

static void print_element(text *to, element_type e, const uint8_t *bytes)
{
  if (e == ELEMENT_C64) {
    text_add(to, "(");
    print_float(to, ELEMENT_F32, bytes);
    text_add(to, ", ");
    print_float(to, ELEMENT_F32, bytes + 4);
    text_add(to, ")");
  } else if (e == ELEMENT_I1) {
    text_add(to, "%s", *bytes ? "true" : "false");
  } else if (element_is_float(e)) {
    print_float(to, e, bytes);
  } else if (element_is_signed(e)) {
    text_add(to, "%" PRId64, element_to_int(e, bytes));
  } else {
    text_add(to, "%" PRIu64, (uint64_t)element_to_int(e, bytes));
  }
}

/* Returns the next element. */
static const uint8_t *print_rows(text *to, const model_type *t, uint32_t dimension,
                                 const uint8_t *at)
{
  if (dimension == t->rank) {
    print_element(to, t->element, at);
    return at + element_bytes(t->element);
  }
  text_add(to, "[");
  for (int64_t i = 0; i < t->dims[dimension]; ++i) {
    if (i) text_add(to, ", ");
    at = print_rows(to, t, dimension + 1, at);
  }
  text_add(to, "]");
  return at;
}

static bool has_equal_elements(const attribute *a)
{
  size_t bytes = element_bytes(a->type->element);
  uint64_t count = a->splat ? 1 : type_elements(a->type);
  return memcmp(a->data, a->data + bytes, (count - 1) * bytes) == 0;
}

static void print_dense(text *to, const module *m, const attribute *a, bool names)
{
  text_add(to, "dense<");
  if (a->data && type_elements(a->type)) {
    if (a->splat || (!names && has_equal_elements(a)))
      print_element(to, a->type->element, a->data);
    else
      (void)print_rows(to, a->type, 0, a->data);
  }
  text_add(to, "> : %s", type_text(m->arena, a->type));
}

/* ---- attributes ---- */

static void print_string(text *to, const char *s)
{
  text_add(to, "\"");
  for (; *s; ++s) text_add(to, *s == '"' || *s == '\\' ? "\\%c" : *s == '\n' ? "\\n" : "%c", *s);
  text_add(to, "\"");
}

static bool is_identifier(const char *s)
{
  return *s &&
         strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") == strlen(s);
}

static const char *name_of(const attribute *a)
{
  return a->name ? a->name : "";
}

static int by_name(const void *a, const void *b)
{
  return strcmp(name_of(*(const attribute *const *)a), name_of(*(const attribute *const *)b));
}

/* The attributes in their order, or by name. */
static const attribute **in_order(const module *m, const attribute *items, size_t count, bool names)
{
  const attribute **all = pop_arena_alloc(m->arena, (count + 1) * sizeof *all);
  for (size_t i = 0; i < count; ++i) all[i] = &items[i];
  if (!names && count) qsort(all, count, sizeof *all, by_name);
  return all;
}

static void print_attribute(text *to, const module *m, const attribute *a, bool names);

/* What a notation has in other forms. False if the attribute is none of these. */
static bool print_without_notation(text *to, const module *m, const attribute *a)
{
  int64_t *values;
  size_t count;
  model_type numbers;
  switch (a->kind) {
  case ATTRIBUTE_UNIT:
    text_add(to, "1");
    return true;
  case ATTRIBUTE_BOOL:
  case ATTRIBUTE_INT:
    text_add(to, "%" PRId64, a->integer);
    return true;
  case ATTRIBUTE_WORD:
    print_string(to, a->text);
    return true;
  case ATTRIBUTE_DENSE:
    if (strcmp(name_of(a), "value") == 0 || !attribute_ints(m->arena, a, &values, &count))
      return false;
    numbers = *a->type;
    numbers.element = ELEMENT_I64;
    if (count)
      (void)print_rows(to, &numbers, 0, (const uint8_t *)values);
    else
      text_add(to, "[]");
    return true;
  default:
    return false;
  }
}

static void print_attribute(text *to, const module *m, const attribute *a, bool names)
{
  if (!names && print_without_notation(to, m, a)) return;
  const attribute **items = NULL;
  switch (a->kind) {
  case ATTRIBUTE_UNIT:
    text_add(to, "unit");
    return;
  case ATTRIBUTE_BOOL:
    text_add(to, "%s", a->integer ? "true" : "false");
    return;
  case ATTRIBUTE_INT:
    text_add(to, "%" PRId64, a->integer);
    break;
  case ATTRIBUTE_FLOAT:
    text_add(to, "%.16e", a->number);
    break;
  case ATTRIBUTE_STRING:
    print_string(to, a->text);
    return;
  case ATTRIBUTE_SYMBOL:
    text_add(to, "@");
    print_string(to, a->text);
    return;
  case ATTRIBUTE_WORD:
    if (is_identifier(a->text))
      text_add(to, "#stablehlo<word %s>", a->text);
    else
      print_string(to, a->text);
    return;
  case ATTRIBUTE_TYPE:
    text_add(to, "%s", type_text(m->arena, a->type));
    return;
  case ATTRIBUTE_DENSE:
    print_dense(to, m, a, names);
    return;
  case ATTRIBUTE_ARRAY:
  case ATTRIBUTE_DICT:
    text_add(to, a->kind == ATTRIBUTE_ARRAY ? "[" : "{");
    items = in_order(m, a->items, a->num_items, names || a->kind == ATTRIBUTE_ARRAY);
    for (size_t i = 0; i < a->num_items; ++i) {
      text_add(to, "%s", i ? ", " : "");
      if (a->kind == ATTRIBUTE_DICT) text_add(to, "%s = ", items[i]->name);
      print_attribute(to, m, items[i], names);
    }
    text_add(to, a->kind == ATTRIBUTE_ARRAY ? "]" : "}");
    return;
  }
  if (a->type && a->type->kind == TYPE_TENSOR && a->type->element < ELEMENT_COUNT)
    text_add(to, " : %s", element_infos[a->type->element].name);
}

/* "mhlo.sharding" is of a framework; ours have no dot. */
static void print_attributes(text *to, const module *m, const operation *op, bool names)
{
  bool any = false;
  const attribute **all = in_order(m, op->attributes, op->num_attributes, names);
  for (size_t i = 0; i < op->num_attributes; ++i) {
    const attribute *a = all[i];
    if (!is_identifier(name_of(a))) continue;
    text_add(to, any ? ", %s = " : " {%s = ", a->name);
    print_attribute(to, m, a, names);
    any = true;
  }
  if (any) text_add(to, "}");
}

/* ---- operations ---- */

static void indent(text *to, int depth)
{
  for (int i = 0; i < depth; ++i) text_add(to, "  ");
}

static void print_types(text *to, const module *m, value *const *values, size_t count)
{
  text_add(to, "(");
  for (size_t i = 0; i < count; ++i)
    text_add(to, "%s%s", i ? ", " : "", type_text(m->arena, values[i]->type));
  text_add(to, ")");
}

static void print_op(text *to, const module *m, const operation *op, int depth, bool names)
{
  indent(to, depth);
  for (size_t i = 0; i < op->num_results; ++i)
    text_add(to, "%s%%%u%s", i ? ", " : "", op->results[i]->number,
             i + 1 == op->num_results ? " = " : "");
  text_add(to, "\"%s\"(", names || op->code == OP_COUNT ? op->name : op_infos[op->code].name);
  for (size_t i = 0; i < op->num_operands; ++i)
    text_add(to, "%s%%%u", i ? ", " : "", op->operands[i]->number);
  text_add(to, ")");
  for (size_t i = 0; i < op->num_regions; ++i) {
    text_add(to, i ? ", {\n" : " ({\n");
    print_block(to, m, &op->regions[i], depth + 1, names);
    indent(to, depth);
    text_add(to, "}%s", i + 1 == op->num_regions ? ")" : "");
  }
  print_attributes(to, m, op, names);
  text_add(to, " : ");
  print_types(to, m, op->operands, op->num_operands);
  text_add(to, " -> ");
  print_types(to, m, op->results, op->num_results);
  /* The name in the source, if it is more than a number. */
  const char *name = names && op->num_results ? op->results[0]->name : NULL;
  text_add(to, name ? "  // %s\n" : "\n", name);
}

static void print_arguments(text *to, const module *m, const block *b)
{
  for (size_t i = 0; i < b->num_arguments; ++i)
    text_add(to, "%s%%%u: %s", i ? ", " : "", b->arguments[i]->number,
             type_text(m->arena, b->arguments[i]->type));
}

static void print_block(text *to, const module *m, const block *b, int depth, bool names)
{
  if (b->num_arguments && depth > 2) {
    indent(to, depth - 1);
    text_add(to, "^bb0(");
    print_arguments(to, m, b);
    text_add(to, "):\n");
  }
  for (const operation *op = b->first; op; op = op->next) print_op(to, m, op, depth, names);
}

static void print_function(text *to, const module *m, function *f, bool names)
{
  function_number_values(f);
  text_add(to, "  func.func %s @", names && f->is_private ? "private" : "public");
  print_string(to, names ? f->name : "");
  text_add(to, "(");
  print_arguments(to, m, &f->body);
  text_add(to, ") -> (");
  for (size_t i = 0; i < f->num_results; ++i)
    text_add(to, "%s%s", i ? ", " : "", type_text(m->arena, f->results[i]));
  text_add(to, ") {\n");
  print_block(to, m, &f->body, 2, names);
  text_add(to, "  }\n");
}

void module_print(text *to, const module *m, function *only, bool names)
{
  text_add(to, "module @");
  print_string(to, names ? m->name : "");
  text_add(to, " {\n");
  if (only) {
    print_function(to, m, only, names);
  } else {
    for (size_t i = 0; i < m->num_functions; ++i) print_function(to, m, &m->functions[i], names);
  }
  text_add(to, "}\n");
}
