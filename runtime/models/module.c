/* Modules: tables, types, attributes, places. */
#include "models/module.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const element_info element_infos[ELEMENT_COUNT] = {
#define ELEMENT_ROW(id, name, suffix, type, field, value) [id] = {name, suffix, type, field, value},
    ELEMENT_TYPES(ELEMENT_ROW)
#undef ELEMENT_ROW
};

const op_info op_infos[OP_COUNT + 1] = {
#define OP(id, name, how) [OP_##id] = {name, how},
#include "models/operations.h"
#undef OP
    [OP_COUNT] = {"?", HOW_OTHER},
};

op_code op_find(const char *name)
{
  for (int i = 0; i < OP_COUNT; ++i)
    if (strcmp(op_infos[i].name, name) == 0) return (op_code)i;
  return OP_COUNT;
}

/* ---- types ---- */

uint64_t type_elements(const model_type *t)
{
  uint64_t count = 1;
  if (t->kind != TYPE_TENSOR || t->dynamic) return UINT64_MAX;
  for (uint32_t d = 0; d < t->rank; ++d)
    if (t->dims[d] == 0) return 0;
  for (uint32_t d = 0; d < t->rank; ++d) {
    if ((uint64_t)t->dims[d] > UINT32_MAX / count) return UINT64_MAX;
    count *= (uint64_t)t->dims[d];
  }
  return count;
}

bool type_same_shape(const model_type *a, const model_type *b)
{
  return a->kind == TYPE_TENSOR && b->kind == TYPE_TENSOR && a->rank == b->rank &&
         a->dynamic == b->dynamic &&
         (a->rank == 0 || memcmp(a->dims, b->dims, a->rank * sizeof *a->dims) == 0);
}

/* Recursion is bounded: the reader limits how deep tuples are nested. */
bool type_equal(const model_type *a, const model_type *b)
{
  if (a->kind != b->kind) return false;
  if (a->kind == TYPE_TENSOR) return a->element == b->element && type_same_shape(a, b);
  if (a->kind != TYPE_TUPLE) return true;
  if (a->num_members != b->num_members) return false;
  for (uint32_t i = 0; i < a->num_members; ++i)
    if (!type_equal(a->members[i], b->members[i])) return false;
  return true;
}

char *type_text(pop_arena *arena, const model_type *t)
{
  if (t->kind == TYPE_TOKEN) return pop_arena_strdup(arena, "!stablehlo.token");
  if (t->kind == TYPE_OTHER)
    return pop_arena_strdup(arena, t->unsupported ? t->unsupported : "none");
  char *text;
  if (t->kind == TYPE_TUPLE) {
    text = pop_arena_strdup(arena, "tuple<");
    for (uint32_t i = 0; i < t->num_members; ++i)
      text =
          pop_arena_printf(arena, "%s%s%s", text, i ? ", " : "", type_text(arena, t->members[i]));
    return pop_arena_printf(arena, "%s>", text);
  }
  text = pop_arena_strdup(arena, "tensor<");
  for (uint32_t d = 0; d < t->rank; ++d)
    text = t->dims[d] < 0 ? pop_arena_printf(arena, "%s?x", text)
                          : pop_arena_printf(arena, "%s%lldx", text, (long long)t->dims[d]);
  return pop_arena_printf(arena, "%s%s>", text,
                          t->element < ELEMENT_COUNT ? element_infos[t->element].name
                                                     : t->unsupported);
}

/* ---- attributes ---- */

const attribute *attribute_find(const attribute *items, size_t count, const char *name)
{
  for (size_t i = 0; i < count; ++i)
    if (items[i].name && strcmp(items[i].name, name) == 0) return &items[i];
  return NULL;
}

bool attribute_ints(pop_arena *arena, const attribute *a, int64_t **values, size_t *count)
{
  if (a->kind == ATTRIBUTE_ARRAY) {
    *count = a->num_items;
    *values = pop_arena_alloc(arena, (a->num_items + 1) * sizeof **values);
    for (size_t i = 0; i < a->num_items; ++i) {
      if (a->items[i].kind == ATTRIBUTE_ARRAY) { /* pairs in rows */
        int64_t *row;
        size_t columns;
        if (!attribute_ints(arena, &a->items[i], &row, &columns)) return false;
        if (i == 0)
          *values = pop_arena_alloc(arena, (columns * a->num_items + 1) * sizeof **values);
        if (columns != a->items[0].num_items) return false;
        memcpy(*values + i * columns, row, columns * sizeof *row);
        *count = columns * a->num_items;
        continue;
      }
      if (a->items[i].kind != ATTRIBUTE_INT && a->items[i].kind != ATTRIBUTE_BOOL) return false;
      if (*count != a->num_items) return false;
      (*values)[i] = a->items[i].integer;
    }
    return true;
  }
  if (a->kind != ATTRIBUTE_DENSE || a->type->element >= ELEMENT_COUNT) return false;
  element_type e = a->type->element;
  if (!element_is_integer(e) && e != ELEMENT_I1) return false;
  uint64_t n = type_elements(a->type);
  if (n > 1 << 24) return false;
  *count = n;
  *values = pop_arena_alloc(arena, (n + 1) * sizeof **values);
  for (size_t i = 0; i < n; ++i)
    (*values)[i] = element_to_int(e, a->data + (a->splat ? 0 : i * element_bytes(e)));
  return true;
}

const attribute *op_attribute(const operation *op, const char *name)
{
  return attribute_find(op->attributes, op->num_attributes, name);
}

static const int64_t *int_list(const module *m, const attribute *a, size_t *count)
{
  int64_t *values;
  *count = 0;
  if (!a || !attribute_ints(m->arena, a, &values, count))
    return pop_arena_alloc(m->arena, sizeof(int64_t));
  return values;
}

const int64_t *op_int_list(const module *m, const operation *op, const char *name, size_t *count)
{
  return int_list(m, op_attribute(op, name), count);
}

const int64_t *op_ints(const module *m, const operation *op, const char *name, size_t count,
                       int64_t fallback)
{
  const attribute *a = op_attribute(op, name);
  int64_t *values;
  size_t given;
  if (a) return attribute_ints(m->arena, a, &values, &given) && given == count ? values : NULL;
  values = pop_arena_alloc(m->arena, (count + 1) * sizeof *values);
  for (size_t i = 0; i < count; ++i) values[i] = fallback;
  return values;
}

int64_t op_int(const operation *op, const char *name, int64_t fallback)
{
  const attribute *a = op_attribute(op, name);
  return a && a->kind == ATTRIBUTE_INT ? a->integer : fallback;
}

bool op_flag(const operation *op, const char *name, bool fallback)
{
  const attribute *a = op_attribute(op, name);
  if (!a) return fallback;
  if (a->kind == ATTRIBUTE_UNIT) return true;
  return a->kind == ATTRIBUTE_BOOL ? a->integer != 0 : fallback;
}

const attribute *custom_config(const operation *op)
{
  const attribute *a = op_attribute(op, "backend_config");
  if (!a || a->kind != ATTRIBUTE_DICT) a = op_attribute(op, "mhlo.backend_config");
  return a && a->kind == ATTRIBUTE_DICT ? a : NULL;
}

const char *op_word(const operation *op, const char *name)
{
  const attribute *a = op_attribute(op, name);
  return a && (a->kind == ATTRIBUTE_WORD || a->kind == ATTRIBUTE_STRING ||
               a->kind == ATTRIBUTE_SYMBOL)
             ? a->text
             : "";
}

const int64_t *dict_int_list(const module *m, const attribute *dict, const char *name,
                             size_t *count)
{
  return int_list(m, dict ? attribute_find(dict->items, dict->num_items, name) : NULL, count);
}

bool ints_have(const int64_t *list, size_t count, int64_t value)
{
  for (size_t i = 0; i < count; ++i)
    if (list[i] == value) return true;
  return false;
}

int64_t dict_int(const attribute *dict, const char *name, int64_t fallback)
{
  const attribute *a = dict ? attribute_find(dict->items, dict->num_items, name) : NULL;
  return a && a->kind == ATTRIBUTE_INT ? a->integer : fallback;
}

/* ---- functions ---- */

function *module_find(module *m, const char *name)
{
  uint32_t i = pop_name_table_find(&m->function_names, name);
  return i == POP_NAME_NONE ? NULL : &m->functions[i];
}

/* Recursion is bounded: the reader limits how deep regions are nested. */
static void number_block(const block *b, uint32_t *next)
{
  for (size_t i = 0; i < b->num_arguments; ++i) b->arguments[i]->number = (*next)++;
  for (operation *op = b->first; op; op = op->next) {
    for (size_t i = 0; i < op->num_results; ++i) op->results[i]->number = (*next)++;
    for (size_t i = 0; i < op->num_regions; ++i) number_block(&op->regions[i], next);
  }
}

void function_number_values(function *f)
{
  f->num_values = 0;
  number_block(&f->body, &f->num_values);
}

/* ---- what passes add ---- */

value *value_new(module *m, const model_type *type, operation *op, const char *name)
{
  value *v = pop_arena_alloc(m->arena, sizeof *v);
  *v = (value){.type = type, .op = op, .name = name};
  return v;
}

operation *operation_new(module *m, op_code code, const operation *by, value *operand,
                         const model_type *result)
{
  operation *op = pop_arena_alloc(m->arena, sizeof *op);
  *op = (operation){.code = code,
                    .name = pop_arena_printf(m->arena, "stablehlo.%s", op_infos[code].name),
                    .offset = by->offset,
                    .num_operands = 1,
                    .num_results = 1};
  op->operands = pop_arena_alloc(m->arena, sizeof(value *));
  op->operands[0] = operand;
  op->results = pop_arena_alloc(m->arena, sizeof(value *));
  op->results[0] = value_new(m, result, op, operand->name);
  return op;
}

/* ---- places ---- */

/* The offset in the source from which the text at `offset` was generated. */
static uint32_t original_offset(const module *m, uint32_t offset)
{
  size_t low = 0, high = m->num_places; /* the first that is behind it */
  while (low < high) {
    size_t middle = (low + high) / 2;
    if (m->places[middle].at <= offset)
      low = middle + 1;
    else
      high = middle;
  }
  return low ? m->places[low - 1].original : 0;
}

char *model_place(const module *m, uint32_t offset)
{
  const char *text = m->source ? m->source : m->text;
  size_t size = m->source ? m->source_size : m->size, line = 1, begin = 0;
  if (m->source) offset = original_offset(m, offset);
  for (size_t i = 0; i < offset && i < size; ++i)
    if (text[i] == '\n') line++, begin = i + 1;
  return pop_xasprintf("%s:%zu:%zu", m->file, line, offset - begin + 1);
}

pop_error *model_error(const module *m, uint32_t offset, const char *format, ...)
{
  va_list args;
  va_start(args, format);
  pop_error *error = pop_error_new_v(POP_ERROR_FILE_LOAD, format, args);
  va_end(args);
  char *place = model_place(m, offset);
  error = pop_error_prefix(error, "%s", place);
  free(place);
  return error;
}

void module_free(module *m)
{
  if (!m) return;
  free(m->functions);
  pop_name_table_free(&m->function_names);
  pop_arena_free(m->arena);
}
