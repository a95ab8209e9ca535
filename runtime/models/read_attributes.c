/* Attributes. Those without a meaning here are skipped: attributes of frameworks, locations. */
#include "models/reader.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

typedef struct attribute_list {
  attribute *items;
  size_t count, capacity;
} attribute_list;

static void move_to_arena(reader *r, attribute_list *list, attribute **items, size_t *count)
{
  attribute *all = pop_arena_alloc(r->arena, (*count + list->count + 1) * sizeof *all);
  if (*count) memcpy(all, *items, *count * sizeof *all);
  if (list->count) memcpy(all + *count, list->items, list->count * sizeof *all);
  *items = all;
  *count += list->count;
  free(list->items);
}

void add_attribute(reader *r, operation *op, attribute a)
{
  attribute *all = pop_arena_alloc(r->arena, (op->num_attributes + 1) * sizeof *all);
  if (op->num_attributes) memcpy(all, op->attributes, op->num_attributes * sizeof *all);
  all[op->num_attributes++] = a;
  op->attributes = all;
}

/* Without quotes, with escapes resolved: \n, \t, \" and \\, and bytes as two hexadecimal digits, as
 * printers write letters beyond ASCII. */
static char *string_text(reader *r)
{
  const char *p = r->token.start, *end = p + r->token.length - 1;
  if (*p == '@') p++;
  char *text = pop_arena_alloc(r->arena, r->token.length + 1), *out = text;
  if (*p != '"') {
    memcpy(text, p, (size_t)(end + 1 - p));
    return text;
  }
  for (p++; p < end; p++) {
    if (*p == '\\' && p + 1 < end) {
      p++;
      int high = reader_hex_digit(*p), low = p + 1 < end ? reader_hex_digit(p[1]) : -1;
      if (high >= 0 && low >= 0) {
        *out++ = (char)(high * 16 + low);
        p++;
        continue;
      }
      *out++ = *p == 'n' ? '\n' : *p == 't' ? '\t' : *p;
    } else {
      *out++ = *p;
    }
  }
  return text;
}

/* "name = value", "name" or "\"name\" = value". */
static bool read_named(reader *r, attribute *a)
{
  if (r->token.kind != TOKEN_NAME && r->token.kind != TOKEN_STRING)
    return reader_fail(r, "the name of an attribute is expected");
  char *name = r->token.kind == TOKEN_STRING ? string_text(r) : reader_text(r);
  *a = (attribute){.kind = ATTRIBUTE_UNIT, .offset = reader_offset(r)};
  reader_advance(r);
  bool good = !reader_take(r, "=") || read_attribute(r, a);
  a->name = name;
  return good;
}

static int by_name(const void *a, const void *b)
{
  const attribute *x = *(const attribute *const *)a, *y = *(const attribute *const *)b;
  int order = strcmp(x->name, y->name);
  return order ? order : (x->offset > y->offset) - (x->offset < y->offset);
}

/* One of two values would be ignored. */
static bool check_names_once(reader *r, const attribute *items, size_t count)
{
  const attribute **all = pop_arena_alloc(r->arena, (count + 1) * sizeof *all);
  size_t named = 0;
  for (size_t i = 0; i < count; ++i)
    if (items[i].name) all[named++] = &items[i];
  if (named) qsort(all, named, sizeof *all, by_name);
  for (size_t i = 1; i < named; ++i)
    if (strcmp(all[i - 1]->name, all[i]->name) == 0)
      return reader_fail_at(r, all[i]->offset, "the attribute '%s' is there twice", all[i]->name);
  return true;
}

static bool read_named_list(reader *r, const char *close, attribute **items, size_t *count)
{
  attribute_list list = {0};
  bool good = true;
  while (good && !reader_is(r, close)) {
    attribute a;
    good = read_named(r, &a);
    if (good) pop_push(list.items, list.count, list.capacity, a);
    if (good && !reader_take(r, ",")) break;
  }
  move_to_arena(r, &list, items, count);
  return good && reader_expect(r, close) && check_names_once(r, *items, *count);
}

bool read_dictionary(reader *r, attribute **items, size_t *count)
{
  return reader_expect(r, "{") && read_named_list(r, "}", items, count);
}

static bool read_array(reader *r, attribute *a)
{
  attribute_list list = {0};
  bool good = true;
  a->kind = ATTRIBUTE_ARRAY;
  while (good && !reader_is(r, "]")) {
    attribute item;
    good = read_attribute(r, &item);
    if (good) pop_push(list.items, list.count, list.capacity, item);
    if (good && !reader_take(r, ",")) break;
  }
  move_to_arena(r, &list, &a->items, &a->num_items);
  return good && reader_expect(r, "]");
}

/* array<i64: 1, 2> */
static bool read_typed_array(reader *r, attribute *a)
{
  attribute_list list = {0};
  bool good = true;
  a->kind = ATTRIBUTE_ARRAY;
  if (!reader_expect(r, "<") || !read_type(r, &a->type)) return false;
  if (reader_take(r, ":")) do {
      attribute item;
      good = read_attribute(r, &item);
      if (good) pop_push(list.items, list.count, list.capacity, item);
    } while (good && reader_take(r, ","));
  move_to_arena(r, &list, &a->items, &a->num_items);
  return good && reader_expect(r, ">");
}

/* ---- numbers ---- */

static bool read_number(reader *r, attribute *a)
{
  bool negative = reader_take(r, "-");
  char *text = reader_text(r);
  if (r->token.kind == TOKEN_INTEGER) {
    errno = 0;
    uint64_t magnitude = strtoull(text, NULL, reader_base(text));
    if (errno) return reader_fail(r, "the number has more than 64 bits");
    a->kind = ATTRIBUTE_INT;
    a->integer = (int64_t)(negative ? 0 - magnitude : magnitude);
    a->number = negative ? -(double)magnitude : (double)magnitude;
  } else if (r->token.kind == TOKEN_NUMBER) {
    a->kind = ATTRIBUTE_FLOAT;
    a->number = strtod(text, NULL);
    if (negative) a->number = -a->number;
  } else {
    return reader_fail(r, "a number is expected");
  }
  reader_advance(r);
  if (!reader_take(r, ":")) return true;
  if (!read_type(r, &a->type)) return false;
  if (a->kind == ATTRIBUTE_INT && a->type->kind == TYPE_TENSOR &&
      element_is_float(a->type->element)) {
    uint64_t bits = (uint64_t)a->integer;
    a->kind = ATTRIBUTE_FLOAT;
    if (text[0] == '0' && text[1] == 'x') a->number = element_to_double(a->type->element, &bits);
  }
  return true;
}

/* ---- #dialect.name<…> ---- */

bool reader_skip_balanced(reader *r)
{
  uint32_t at = reader_offset(r);
  for (int depth = 1; depth;) {
    if (r->token.kind == TOKEN_END) return reader_fail_at(r, at, "the attribute has no end");
    if (r->token.kind == TOKEN_PUNCTUATION) {
      if (strchr("<([{", *r->token.start)) depth++;
      if (strchr(">)]}", *r->token.start)) depth--;
    }
    reader_advance(r);
  }
  return true;
}

/* The roles of dimensions, such as "[b, 0, 1, f]". The first of `letters` is -1, the second -2. */
static bool read_roles(reader *r, const char *letters, attribute *a, const char *name)
{
  attribute_list list = {0};
  *a = (attribute){.kind = ATTRIBUTE_ARRAY, .offset = reader_offset(r), .name = name};
  bool good = reader_expect(r, "[");
  while (good && !reader_is(r, "]")) {
    attribute item = {.kind = ATTRIBUTE_INT, .offset = reader_offset(r)};
    if (r->token.kind == TOKEN_NAME && r->token.length == 1 && strchr(letters, *r->token.start)) {
      item.integer = *r->token.start == letters[0] ? -1 : -2;
      reader_advance(r);
    } else {
      good = reader_integer(r, &item.integer);
    }
    if (good) pop_push(list.items, list.count, list.capacity, item);
    if (good && !reader_take(r, ",")) break;
  }
  move_to_arena(r, &list, &a->items, &a->num_items);
  return good && reader_expect(r, "]");
}

/* [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f] */
bool read_conv_dimensions(reader *r, attribute *a)
{
  a->kind = ATTRIBUTE_DICT;
  a->num_items = 3;
  a->items = pop_arena_alloc(r->arena, 3 * sizeof *a->items);
  return read_roles(r, "bf", &a->items[0], "input") && reader_expect(r, "x") &&
         read_roles(r, "io", &a->items[1], "kernel") && reader_expect(r, "->") &&
         read_roles(r, "bf", &a->items[2], "output");
}

enum { NO_ROLE = -3 };

/* Gives dimension `d` the role. False if there is no such dimension, or it has a role already. */
static bool set_role(attribute *roles, int64_t d, int64_t role)
{
  if (d < 0 || (uint64_t)d >= roles->num_items || roles->items[d].integer != NO_ROLE) return false;
  roles->items[d].integer = role;
  return true;
}

/* The result of read_roles from numbers of dimensions instead of letters. names[1] to names[3] are
 * the attributes for the first letter, the second, and the spatial dimensions. */
static bool roles_of_numbers(reader *r, const attribute *raw, const char *const names[4],
                             attribute *a)
{
  int64_t *spatial = NULL;
  size_t count = 0;
  const attribute *list = attribute_find(raw->items, raw->num_items, names[3]);
  if (list && !attribute_ints(r->arena, list, &spatial, &count))
    return reader_fail_at(r, list->offset, "'%s' is to be a list of dimensions", names[3]);
  *a = (attribute){.kind = ATTRIBUTE_ARRAY, .offset = raw->offset, .name = names[0]};
  a->num_items = count + 2;
  a->items = pop_arena_alloc(r->arena, a->num_items * sizeof *a->items);
  for (size_t i = 0; i < a->num_items; ++i)
    a->items[i] = (attribute){.kind = ATTRIBUTE_INT, .offset = raw->offset, .integer = NO_ROLE};
  bool good = true;
  for (int k = 0; k < 2; ++k) {
    const attribute *one = attribute_find(raw->items, raw->num_items, names[1 + k]);
    good = good && set_role(a, one && one->kind == ATTRIBUTE_INT ? one->integer : -1, -1 - k);
  }
  for (size_t i = 0; i < count; ++i) good = good && set_role(a, spatial[i], (int64_t)i);
  return good || reader_fail_at(r, raw->offset,
                                "each dimension of the %s is to be one of '%s', '%s' and '%s'",
                                names[0], names[1], names[2], names[3]);
}

/* raw input_batch_dimension = 0, input_spatial_dimensions = [1, 2], … >: the same with numbers. */
static bool read_raw_conv_dimensions(reader *r, attribute *a)
{
  static const char *const names[3][4] = {
      {"input", "input_batch_dimension", "input_feature_dimension", "input_spatial_dimensions"},
      {"kernel", "kernel_input_feature_dimension", "kernel_output_feature_dimension",
       "kernel_spatial_dimensions"},
      {"output", "output_batch_dimension", "output_feature_dimension",
       "output_spatial_dimensions"}};
  attribute raw = {.kind = ATTRIBUTE_DICT, .offset = reader_offset(r)};
  if (!read_named_list(r, ">", &raw.items, &raw.num_items)) return false;
  a->kind = ATTRIBUTE_DICT;
  a->num_items = 3;
  a->items = pop_arena_alloc(r->arena, 3 * sizeof *a->items);
  for (int i = 0; i < 3; ++i)
    if (!roles_of_numbers(r, &raw, names[i], &a->items[i])) return false;
  return true;
}

/* What follows '<': names with values, an enumerator, or something of another dialect, which is
 * skipped. */
static bool read_structured(reader *r, const char *dialect_name, attribute *a)
{
  if (strcmp(dialect_name, "#stablehlo.conv") == 0 || strcmp(dialect_name, "#mhlo.conv") == 0)
    return reader_take(r, "raw") ? read_raw_conv_dimensions(r, a)
                                 : read_conv_dimensions(r, a) && reader_expect(r, ">");
  bool ours = strncmp(dialect_name, "#stablehlo", 10) == 0 ||
              strncmp(dialect_name, "#mhlo", 5) == 0 || strncmp(dialect_name, "#chlo", 5) == 0;
  if (!ours) {
    a->kind = ATTRIBUTE_WORD;
    a->text = dialect_name;
    return reader_skip_balanced(r);
  }
  if (reader_is(r, ">")) {
    a->kind = ATTRIBUTE_DICT;
    reader_advance(r);
    return true;
  }
  if (r->token.kind == TOKEN_NAME) {
    token next = lexer_next(r->token.start + r->token.length, r->end);
    if (next.length == 1 && *next.start == '=') {
      a->kind = ATTRIBUTE_DICT;
      return read_named_list(r, ">", &a->items, &a->num_items) &&
             read_check_numbers(r, dialect_name, a);
    }
    a->kind = ATTRIBUTE_WORD;
    a->text = reader_text(r);
    reader_advance(r);
    if (r->token.kind == TOKEN_NAME) { /* <comparison_direction EQ> */
      a->text = reader_text(r);
      reader_advance(r);
    }
    if (reader_take(r, ">")) return true;
  }
  a->kind = ATTRIBUTE_WORD;
  if (!a->text) a->text = dialect_name;
  return reader_skip_balanced(r);
}

static bool read_alias(reader *r, attribute *a)
{
  char *name = reader_text(r);
  reader_advance(r);
  if (reader_take(r, "<")) return read_structured(r, name, a);
  const attribute *known = attribute_find(r->aliases, r->num_aliases, name);
  if (known) {
    uint32_t offset = a->offset;
    *a = *known;
    a->offset = offset;
    a->name = NULL;
    return true;
  }
  a->kind = ATTRIBUTE_WORD; /* such as #sdy.…, or a location that follows */
  a->text = name;
  return true;
}

static bool read_name(reader *r, attribute *a)
{
  if (reader_is(r, "true") || reader_is(r, "false")) {
    a->kind = ATTRIBUTE_BOOL;
    a->integer = reader_is(r, "true");
    reader_advance(r);
    return true;
  }
  if (reader_take(r, "dense")) return read_dense(r, a);
  if (reader_take(r, "array")) return read_typed_array(r, a);
  if (reader_take(r, "unit")) return true;
  if (reader_take(r, "dense_resource")) return read_dense_resource(r, a);
  if (reader_is(r, "loc")) return reader_skip_location(r);
  bool upper = true; /* an enumerator of a pretty form */
  for (size_t i = 0; i < r->token.length; ++i)
    if (r->token.start[i] >= 'a' && r->token.start[i] <= 'z') upper = false;
  if (upper) {
    a->kind = ATTRIBUTE_WORD;
    a->text = reader_text(r);
    reader_advance(r);
    return true;
  }
  if (reader_is(r, "affine_map") || reader_is(r, "affine_set") || reader_is(r, "distinct") ||
      reader_is(r, "sparse")) {
    a->kind = ATTRIBUTE_WORD;
    a->text = reader_text(r);
    reader_advance(r);
    while (reader_take(r, "[") ? reader_skip_balanced(r) : false) continue;
    return reader_expect(r, "<") && reader_skip_balanced(r);
  }
  a->kind = ATTRIBUTE_TYPE;
  return read_type(r, &a->type);
}

/* ": (…) -> …" after a string is the operation's type. */
static bool is_before_list(const reader *r)
{
  token next = lexer_next(r->token.start + r->token.length, r->end);
  return next.length == 1 && *next.start == '(';
}

static bool read_attribute_inside(reader *r, attribute *a)
{
  switch (r->token.kind) {
  case TOKEN_STRING:
  case TOKEN_SYMBOL:
    a->kind = r->token.kind == TOKEN_STRING ? ATTRIBUTE_STRING : ATTRIBUTE_SYMBOL;
    a->text = string_text(r);
    reader_advance(r);
    if (a->kind == ATTRIBUTE_SYMBOL)
      while (reader_is(r, ":") && r->token.start + 1 < r->end && r->token.start[1] == ':') {
        reader_advance(r);
        reader_advance(r);
        if (r->token.kind != TOKEN_SYMBOL)
          return reader_fail(r, "a symbol is expected behind '::'");
        reader_advance(r);
      }
    else if (reader_is(r, ":") && !is_before_list(r) && reader_take(r, ":"))
      return read_type(r, &a->type);
    return true;
  case TOKEN_ALIAS:
    return read_alias(r, a);
  case TOKEN_NAME:
    return read_name(r, a);
  case TOKEN_BANG:
    a->kind = ATTRIBUTE_TYPE;
    return read_type(r, &a->type);
  case TOKEN_INTEGER:
  case TOKEN_NUMBER:
    return read_number(r, a);
  default:
    if (reader_take(r, "[")) return read_array(r, a);
    if (reader_is(r, "{")) {
      a->kind = ATTRIBUTE_DICT;
      return read_dictionary(r, &a->items, &a->num_items);
    }
    if (reader_is(r, "-")) return read_number(r, a);
    if (reader_is(r, "(")) { /* a function's type */
      const model_type **types;
      size_t count;
      a->kind = ATTRIBUTE_WORD;
      a->text = "function type";
      return read_type_list(r, &types, &count) && reader_expect(r, "->") &&
             read_type_list(r, &types, &count);
    }
    return reader_fail(r, "an attribute is expected");
  }
}

bool read_attribute(reader *r, attribute *a)
{
  *a = (attribute){.kind = ATTRIBUTE_UNIT, .offset = reader_offset(r)};
  if (!reader_enter(r)) return false;
  bool good = read_attribute_inside(r, a);
  reader_leave(r);
  return good;
}
