/* Prints modules in the generic form, which read.c can read. Equal modules give equal text. Places
 * in the source and attributes of frameworks are left out, since they have no meaning here. */
#include "models/print.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
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

static void print_dense(text *to, const module *m, const attribute *a)
{
  text_add(to, "dense<");
  if (a->data && type_elements(a->type)) {
    if (a->splat)
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

static void print_attribute(text *to, const module *m, const attribute *a)
{
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
    print_dense(to, m, a);
    return;
  case ATTRIBUTE_ARRAY:
  case ATTRIBUTE_DICT:
    text_add(to, a->kind == ATTRIBUTE_ARRAY ? "[" : "{");
    for (size_t i = 0; i < a->num_items; ++i) {
      text_add(to, "%s", i ? ", " : "");
      if (a->kind == ATTRIBUTE_DICT) text_add(to, "%s = ", a->items[i].name);
      print_attribute(to, m, &a->items[i]);
    }
    text_add(to, a->kind == ATTRIBUTE_ARRAY ? "]" : "}");
    return;
  }
  if (a->type && a->type->kind == TYPE_TENSOR && a->type->element < ELEMENT_COUNT)
    text_add(to, " : %s", element_infos[a->type->element].name);
}

/* "mhlo.sharding" is of a framework; ours have no dot. */
static void print_attributes(text *to, const module *m, const operation *op)
{
  bool any = false;
  for (size_t i = 0; i < op->num_attributes; ++i) {
    const attribute *a = &op->attributes[i];
    if (!a->name || !is_identifier(a->name)) continue;
    text_add(to, any ? ", %s = " : " {%s = ", a->name);
    print_attribute(to, m, a);
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
  text_add(to, "\"%s\"(", op->name);
  for (size_t i = 0; i < op->num_operands; ++i)
    text_add(to, "%s%%%u", i ? ", " : "", op->operands[i]->number);
  text_add(to, ")");
  for (size_t i = 0; i < op->num_regions; ++i) {
    text_add(to, i ? ", {\n" : " ({\n");
    print_block(to, m, &op->regions[i], depth + 1, names);
    indent(to, depth);
    text_add(to, "}%s", i + 1 == op->num_regions ? ")" : "");
  }
  print_attributes(to, m, op);
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
  text_add(to, "  func.func %s @", f->is_private ? "private" : "public");
  print_string(to, f->name);
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
  print_string(to, m->name);
  text_add(to, " {\n");
  if (only) {
    print_function(to, m, only, names);
  } else {
    for (size_t i = 0; i < m->num_functions; ++i) print_function(to, m, &m->functions[i], names);
  }
  text_add(to, "}\n");
}
