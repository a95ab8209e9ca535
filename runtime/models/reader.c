/* The reader's access to the text: token by token, with the names that are in scope. */
#include "models/reader.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- tokens ---- */

uint32_t reader_offset(const reader *r)
{
  return (uint32_t)(r->token.start - r->m->text);
}

static bool fail(reader *r, uint32_t offset, const char *format, va_list args)
{
  if (r->error) return false;
  pop_error *error = pop_error_new_v(POP_ERROR_FILE_LOAD, format, args);
  char *place = model_place(r->m, offset);
  r->error = pop_error_prefix(error, "%s", place);
  free(place);
  return false;
}

bool reader_fail(reader *r, const char *format, ...)
{
  va_list args;
  va_start(args, format);
  fail(r, reader_offset(r), format, args);
  va_end(args);
  return false;
}

bool reader_fail_at(reader *r, uint32_t offset, const char *format, ...)
{
  va_list args;
  va_start(args, format);
  fail(r, offset, format, args);
  va_end(args);
  return false;
}

void reader_jump(reader *r, const char *at)
{
  r->token = lexer_next(at, r->end);
}

void reader_advance(reader *r)
{
  reader_jump(r, r->token.start + r->token.length);
}

bool reader_is(const reader *r, const char *text)
{
  return strlen(text) == r->token.length && memcmp(text, r->token.start, r->token.length) == 0;
}

bool reader_take(reader *r, const char *text)
{
  if (!reader_is(r, text)) return false;
  reader_advance(r);
  return true;
}

bool reader_expect(reader *r, const char *text)
{
  if (reader_take(r, text)) return true;
  if (r->token.kind == TOKEN_END)
    return reader_fail(r, "'%s' is expected, and this is the end of the text", text);
  if (r->token.kind == TOKEN_BAD)
    return reader_fail(r, "'%s' is expected, and this is no token (a string without an end?)",
                       text);
  int shown = r->token.length < 40 ? (int)r->token.length : 40;
  return reader_fail(r, "'%s' is expected, not '%.*s'", text, shown, r->token.start);
}

char *reader_text(reader *r)
{
  char *text = pop_arena_alloc(r->arena, r->token.length + 1);
  memcpy(text, r->token.start, r->token.length);
  return text;
}

bool reader_enter(reader *r)
{
  if (r->depth == READER_MAX_DEPTH)
    return reader_fail(r, "regions, attributes or types are more than %d deep", READER_MAX_DEPTH);
  r->depth++;
  return true;
}

void reader_leave(reader *r)
{
  r->depth--;
}

int reader_base(const char *number)
{
  return number[0] == '0' && number[1] == 'x' ? 16 : 10;
}

bool reader_integer(reader *r, int64_t *value)
{
  bool negative = reader_take(r, "-");
  if (r->token.kind != TOKEN_INTEGER) return reader_fail(r, "an integer is expected");
  errno = 0;
  char *text = reader_text(r);
  uint64_t magnitude = strtoull(text, NULL, reader_base(text));
  if (errno || magnitude > INT64_MAX) return reader_fail(r, "%s has more than 63 bits", text);
  *value = negative ? -(int64_t)magnitude : (int64_t)magnitude;
  reader_advance(r);
  return true;
}

bool reader_skip_location(reader *r)
{
  if (!reader_take(r, "loc")) return true;
  if (!reader_expect(r, "(")) return false;
  for (int depth = 1; depth; reader_advance(r)) {
    if (r->token.kind == TOKEN_END) return reader_fail(r, "a location has no end");
    if (r->token.kind == TOKEN_PUNCTUATION && *r->token.start == '(') depth++;
    if (r->token.kind == TOKEN_PUNCTUATION && *r->token.start == ')') depth--;
  }
  return true;
}

/* ---- names of values ---- */

static size_t hash_name(const char *name)
{
  size_t h = 5381;
  for (; *name; ++name) h = h * 33 + (unsigned char)*name;
  return h ^ (h >> 15);
}

/* The slot of the name, or the free one where it belongs. */
static size_t find_slot(const reader *r, const char *name)
{
  size_t slot = hash_name(name) & (r->num_slots - 1);
  while (r->slots[slot] != UINT32_MAX && strcmp(r->bindings[r->slots[slot]].name, name) != 0)
    slot = (slot + 1) & (r->num_slots - 1);
  return slot;
}

static void grow_slots(reader *r)
{
  if (r->num_slots && r->num_bindings * 2 < r->num_slots) return;
  size_t wanted = r->num_slots ? r->num_slots * 2 : 256;
  free(r->slots);
  r->slots = pop_xmalloc(wanted * sizeof *r->slots);
  r->num_slots = wanted;
  memset(r->slots, 0xff, wanted * sizeof *r->slots);
  for (size_t i = 0; i < r->num_bindings; ++i)
    if (r->bindings[i].values) r->slots[find_slot(r, r->bindings[i].name)] = (uint32_t)i;
}

bool reader_define(reader *r, const char *name, uint32_t offset, value **values, size_t count)
{
  grow_slots(r);
  size_t slot = find_slot(r, name);
  if (r->slots[slot] != UINT32_MAX && r->bindings[r->slots[slot]].values)
    return reader_fail_at(r, offset, "%s is defined twice", name);
  binding b = {.name = pop_arena_strdup(r->arena, name), .values = values, .count = count};
  r->slots[slot] = (uint32_t)r->num_bindings;
  pop_push(r->bindings, r->num_bindings, r->bindings_capacity, b);
  for (size_t i = 0; i < count; ++i) values[i]->name = b.name;
  return true;
}

/* Removes names that were defined after `mark`. Their slots stay, without values, because chains of
 * other names pass through them. */
void reader_forget(reader *r, size_t mark)
{
  for (size_t i = mark; i < r->num_bindings; ++i) r->bindings[i].values = NULL;
}

bool reader_use(reader *r, value **v)
{
  if (r->token.kind != TOKEN_VALUE) return reader_fail(r, "a value is expected, such as %%0");
  char *name = reader_text(r);
  uint32_t offset = reader_offset(r);
  const binding *b = NULL;
  if (r->num_slots) {
    size_t slot = find_slot(r, name);
    if (r->slots[slot] != UINT32_MAX) b = &r->bindings[r->slots[slot]];
  }
  if (!b || !b->values) return reader_fail(r, "%s is used, and not defined before that", name);
  reader_advance(r);
  size_t number = 0;
  if (r->token.kind == TOKEN_ALIAS && r->token.start == r->m->text + offset + strlen(name)) {
    char *digits = reader_text(r) + 1, *end;
    number = strtoul(digits, &end, 10);
    if (*end || number >= b->count)
      return reader_fail(r, "%s has %zu results, there is no #%s", name, b->count, digits);
    reader_advance(r);
  } else if (b->count != 1) {
    return reader_fail_at(r, offset, "%s has %zu results: which one is meant, %s#0?", name,
                          b->count, name);
  }
  *v = b->values[number];
  return true;
}
