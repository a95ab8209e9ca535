/* Types. */
#include "models/reader.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static bool element_named(const char *name, size_t length, element_type *e)
{
  for (int i = 0; i < ELEMENT_COUNT; ++i) {
    const char *known = element_infos[i].name;
    if (strlen(known) == length && memcmp(known, name, length) == 0) {
      *e = (element_type)i;
      return true;
    }
  }
  return false;
}

/* The text of an element's type: a name, or a name with <…>. */
static bool read_element(reader *r, model_type *t)
{
  uint32_t at = reader_offset(r);
  const char *start = r->token.start;
  if (r->token.kind != TOKEN_NAME && r->token.kind != TOKEN_BANG)
    return reader_fail(r, "an element type is expected, such as f32");
  size_t length = r->token.length;
  reader_advance(r);
  if (reader_is(r, "<")) {
    int depth = 0;
    do {
      if (reader_is(r, "<")) depth++;
      if (reader_is(r, ">")) depth--;
      if (r->token.kind == TOKEN_END || r->token.kind == TOKEN_BAD)
        return reader_fail_at(r, at, "the type has no end: '>' is missing");
      length = (size_t)(r->token.start + r->token.length - start);
      reader_advance(r);
    } while (depth);
  }
  if (!element_named(start, length, &t->element)) {
    t->element = ELEMENT_COUNT;
    char *name = pop_arena_alloc(r->arena, length + 1);
    memcpy(name, start, length);
    t->unsupported = name;
  }
  return true;
}

/* "2x3x" and '?' before the element. Tokens do not fit this, so it is read character by
 * character. */
static bool read_dimensions(reader *r, model_type *t)
{
  int64_t dims[MODEL_MAX_RANK + 1];
  const char *at = r->token.start;
  for (;;) {
    while (at < r->end && isspace((unsigned char)*at)) at++;
    const char *p = at;
    int64_t size = -1;
    if (p < r->end && *p == '?') {
      p++;
      t->dynamic = true;
    } else {
      size = 0;
      for (; p < r->end && isdigit((unsigned char)*p); p++) {
        if (size > (INT64_MAX - 9) / 10)
          return reader_fail_at(r, (uint32_t)(at - r->m->text),
                                "the size of a dimension is larger than 2^63 - 1");
        size = size * 10 + (*p - '0');
      }
      if (p == at) break;
    }
    while (p < r->end && isspace((unsigned char)*p)) p++;
    if (p == r->end || *p != 'x')
      return reader_fail_at(r, (uint32_t)(p - r->m->text), "'x' is expected behind a dimension");
    if (t->rank == MODEL_MAX_RANK)
      return reader_fail_at(r, (uint32_t)(at - r->m->text), "a tensor has at most %d dimensions",
                            MODEL_MAX_RANK);
    dims[t->rank++] = size;
    at = p + 1;
  }
  t->dims = pop_arena_alloc(r->arena, (t->rank + 1) * sizeof *dims);
  memcpy(t->dims, dims, t->rank * sizeof *dims);
  reader_jump(r, at);
  return true;
}

/* Skips encodings and layouts, up to the closing '>' or ')' on this level. */
static bool skip_rest(reader *r)
{
  int depth = 0;
  for (;;) {
    if (r->token.kind == TOKEN_END || r->token.kind == TOKEN_BAD)
      return reader_fail(r, "the type has no end: '>' is missing");
    if (depth == 0 && reader_is(r, ">")) return true;
    if (reader_is(r, "<") || reader_is(r, "[") || reader_is(r, "(")) depth++;
    if (reader_is(r, ">") || reader_is(r, "]") || reader_is(r, ")")) depth--;
    reader_advance(r);
  }
}

static bool read_tensor(reader *r, model_type *t)
{
  t->kind = TYPE_TENSOR;
  if (!reader_expect(r, "<")) return false;
  if (reader_is(r, "*")) return reader_fail(r, "tensors without a rank are not supported");
  if (!read_dimensions(r, t) || !read_element(r, t)) return false;
  if (reader_take(r, ",") && !skip_rest(r)) return false;
  return reader_expect(r, ">");
}

/* At most MAX_TYPES members in all. With aliases, a short text could otherwise describe a tuple too
 * large to process. */
static bool read_tuple(reader *r, model_type *t)
{
  enum { MAX_TYPES = 1 << 16 };
  const model_type **members = NULL;
  size_t count = 0, capacity = 0;
  bool good = reader_expect(r, "<");
  t->kind = TYPE_TUPLE;
  if (good && !reader_is(r, ">")) do {
      const model_type *member;
      good = read_type(r, &member);
      if (good) pop_push(members, count, capacity, member);
    } while (good && reader_take(r, ","));
  t->members = pop_arena_alloc(r->arena, (count + 1) * sizeof *members);
  if (count) memcpy(t->members, members, count * sizeof *members);
  t->num_members = (uint32_t)count;
  for (size_t i = 0; i < count && good; ++i) {
    t->num_inside += 1 + members[i]->num_inside;
    if (t->num_inside > MAX_TYPES)
      good = reader_fail_at(r, t->offset, "a tuple has more than %d types in it", MAX_TYPES);
  }
  free(members);
  return good && reader_expect(r, ">");
}

/* !name of a type */
static bool read_type_name(reader *r, model_type *t)
{
  if (r->token.kind != TOKEN_BANG) return false;
  for (size_t i = r->num_aliases; i-- > 0;)
    if (r->aliases[i].kind == ATTRIBUTE_TYPE && reader_is(r, r->aliases[i].name)) {
      uint32_t offset = t->offset;
      *t = *r->aliases[i].type;
      t->offset = offset;
      reader_advance(r);
      return true;
    }
  return false;
}

static bool read_type_inside(reader *r, model_type *t)
{
  if (read_type_name(r, t)) return true;
  if (reader_take(r, "tensor")) return read_tensor(r, t);
  if (reader_take(r, "tuple")) return read_tuple(r, t);
  if (reader_take(r, "!stablehlo.token") || reader_take(r, "!mhlo.token")) {
    t->kind = TYPE_TOKEN;
    return true;
  }
  if (r->token.kind != TOKEN_NAME && r->token.kind != TOKEN_BANG)
    return reader_fail(r, "a type is expected, such as tensor<2x3xf32>");
  /* A scalar type, in attributes. An unknown one is reported where it is used. */
  model_type element = {0};
  if (!read_element(r, &element)) return false;
  t->kind = element.unsupported ? TYPE_OTHER : TYPE_TENSOR;
  t->element = element.element;
  t->unsupported = element.unsupported;
  t->dims = pop_arena_alloc(r->arena, sizeof *t->dims);
  return true;
}

bool read_type(reader *r, const model_type **type)
{
  model_type *t = pop_arena_alloc(r->arena, sizeof *t);
  *type = t;
  t->offset = reader_offset(r);
  if (!reader_enter(r)) return false;
  bool good = read_type_inside(r, t);
  reader_leave(r);
  return good;
}

bool read_type_list(reader *r, const model_type ***types, size_t *count)
{
  const model_type **list = NULL;
  size_t capacity = 0;
  bool parentheses = reader_take(r, "("), good = true;
  *count = 0;
  if (!parentheses || !reader_is(r, ")")) do {
      const model_type *type;
      good = read_type(r, &type);
      /* Attributes of a function's result. */
      attribute *ignored = NULL;
      size_t num_ignored = 0;
      if (good && parentheses && reader_is(r, "{"))
        good = read_dictionary(r, &ignored, &num_ignored);
      if (good) pop_push(list, *count, capacity, type);
    } while (good && parentheses && reader_take(r, ","));
  *types = pop_arena_alloc(r->arena, (*count + 1) * sizeof *list);
  if (*count) memcpy(*types, list, *count * sizeof *list);
  free(list);
  return good && (!parentheses || reader_expect(r, ")"));
}
