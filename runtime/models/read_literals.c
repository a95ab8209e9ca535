/* dense<…>: elements as nested lists, one element for all, or bytes in hexadecimal. */
#include "models/reader.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The elements are read twice, because their type follows them in the text. */
typedef struct literal {
  const model_type *type;
  uint8_t *data;
  uint64_t count, wanted;
  size_t shape[MODEL_MAX_RANK];
} literal;

int reader_hex_digit(char c)
{
  if (c >= '0' && c <= '9') return c - '0';
  c = (char)tolower((unsigned char)c);
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* ---- one element ---- */

static bool read_integer_element(reader *r, element_type e, bool negative, uint8_t *at)
{
  char *text = reader_text(r), *end;
  errno = 0;
  uint64_t magnitude = strtoull(text, &end, reader_base(text));
  if (r->token.kind != TOKEN_INTEGER || *end)
    return reader_fail(r, "an integer is expected for %s", element_infos[e].name);
  unsigned bits = element_bits(e);
  bool hexadecimal = text[0] == '0' && text[1] == 'x';
  uint64_t most = bits == 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
  if (element_is_signed(e) && !hexadecimal) most = most / 2 + (negative ? 1 : 0);
  if (!element_is_signed(e) && negative && e != ELEMENT_I1) most = 0;
  if (errno || magnitude > most)
    return reader_fail(r, "%s%s is outside the range of %s", negative ? "-" : "", text,
                       element_infos[e].name);
  element_from_int(e, negative ? 0 - magnitude : magnitude, at);
  return true;
}

/* Hexadecimal digits are the bits. `real` is the type of the number: for a complex number that of a
 * part. */
static bool read_float_element(reader *r, element_type real, bool negative, uint8_t *at)
{
  char *text = reader_text(r), *end;
  if (r->token.kind == TOKEN_INTEGER && text[0] == '0' && text[1] == 'x') {
    errno = 0;
    uint64_t bits = strtoull(text, &end, 16);
    if (errno || negative || (real != ELEMENT_F64 && bits >> (8 * element_bytes(real))))
      return reader_fail(r, "%s has more bits than %s", text, element_infos[real].name);
    memcpy(at, &bits, element_bytes(real));
    return true;
  }
  if (r->token.kind != TOKEN_INTEGER && r->token.kind != TOKEN_NUMBER)
    return reader_fail(r, "a number is expected for %s", element_infos[real].name);
  double number = strtod(text, &end);
  if (real == ELEMENT_F32) { /* not through double, which would round twice */
    float f = strtof(text, &end);
    if (negative) f = -f;
    memcpy(at, &f, 4);
    return true;
  }
  element_from_double(real, negative ? -number : number, at);
  return true;
}

static bool read_element(reader *r, element_type e, uint8_t *at)
{
  if (e == ELEMENT_C64) {
    if (!reader_take(r, "(")) return reader_fail(r, "a complex number is expected, as (1.0, 2.0)");
    for (int part = 0; part < 2; ++part) {
      bool negative = reader_take(r, "-");
      if (!read_float_element(r, ELEMENT_F32, negative, at + 4 * part)) return false;
      reader_advance(r);
      if (!reader_expect(r, part ? ")" : ",")) return false;
    }
    return true;
  }
  if (e == ELEMENT_I1 && (reader_is(r, "true") || reader_is(r, "false"))) {
    *at = reader_is(r, "true");
    reader_advance(r);
    return true;
  }
  bool negative = reader_take(r, "-");
  bool good = element_is_float(e) ? read_float_element(r, e, negative, at)
                                  : read_integer_element(r, e, negative, at);
  if (good) reader_advance(r);
  return good;
}

/* ---- lists ---- */

static bool read_list(reader *r, literal *l, uint32_t dimension)
{
  if (dimension == l->type->rank) {
    if (l->count == l->wanted) return reader_fail(r, "there are more elements than the type has");
    size_t bytes = element_bytes(l->type->element);
    return read_element(r, l->type->element, l->data + bytes * l->count++);
  }
  if (!reader_is(r, "["))
    return reader_fail(r, "'[' is expected: the type has %u dimensions", l->type->rank);
  reader_advance(r);
  int64_t n = 0;
  if (!reader_is(r, "]")) do {
      if (n == l->type->dims[dimension])
        return reader_fail(r, "there are more than %lld elements in dimension %u, as the type says",
                           (long long)n, dimension);
      if (!read_list(r, l, dimension + 1)) return false;
      n++;
    } while (reader_take(r, ","));
  if (n != l->type->dims[dimension])
    return reader_fail(r, "there are %lld elements in dimension %u; the type says %lld",
                       (long long)n, dimension, (long long)l->type->dims[dimension]);
  return reader_expect(r, "]");
}

/* "0x…": bytes as they lie in memory. Elements of i1 are a byte each, or packed eight to a byte. */
static bool read_bytes(reader *r, literal *l, attribute *a, const char *digits, size_t length)
{
  if (length < 2 || digits[0] != '0' || digits[1] != 'x' || length % 2)
    return reader_fail(r, "bytes are expected as \"0x…\", two digits each");
  digits += 2;
  size_t size = length / 2 - 1, bytes = element_bytes(l->type->element);
  bool packed = l->type->element == ELEMENT_I1 && size == (l->wanted + 7) / 8;
  if (!packed && size != l->wanted * bytes) {
    if (size != bytes)
      return reader_fail(r, "there are %zu bytes; the type has %llu", size,
                         (unsigned long long)l->wanted * bytes);
    a->splat = true;
  }
  for (size_t i = 0; i < size; ++i) {
    int high = reader_hex_digit(digits[2 * i]), low = reader_hex_digit(digits[2 * i + 1]);
    if (high < 0 || low < 0) return reader_fail(r, "bytes have a digit that is not hexadecimal");
    unsigned byte = (unsigned)(high * 16 + low);
    if (!packed) {
      l->data[i] = (uint8_t)(l->type->element == ELEMENT_I1 ? byte != 0 : byte);
      continue;
    }
    for (size_t bit = 0; bit < 8 && 8 * i + bit < l->wanted; ++bit)
      l->data[8 * i + bit] = (byte >> bit) & 1;
  }
  return true;
}

/* Skips to the '>' of dense<…> on this level. Strings are single tokens. */
static bool skip_elements(reader *r)
{
  while (!reader_is(r, ">")) {
    if (r->token.kind == TOKEN_END || r->token.kind == TOKEN_BAD)
      return reader_fail(r, "dense<…> has no end");
    reader_advance(r);
  }
  return true;
}

static bool read_elements(reader *r, literal *l, attribute *a)
{
  if (reader_is(r, ">")) {
    if (l->wanted) return reader_fail(r, "elements are missing");
    return true;
  }
  if (r->token.kind == TOKEN_STRING) {
    if (!read_bytes(r, l, a, r->token.start + 1, r->token.length - 2)) return false;
    reader_advance(r);
    return true;
  }
  if (l->type->rank && !reader_is(r, "[")) {
    a->splat = true;
    return read_element(r, l->type->element, l->data);
  }
  return read_list(r, l, 0);
}

bool read_dense(reader *r, attribute *a)
{
  a->kind = ATTRIBUTE_DENSE;
  if (!reader_expect(r, "<")) return false;
  const char *begin = r->token.start;
  if (!skip_elements(r)) return false;
  const char *end = r->token.start;
  reader_advance(r);
  if (!reader_expect(r, ":") || !read_type(r, &a->type)) return false;
  const char *behind = r->token.start;
  if (a->type->kind != TYPE_TENSOR)
    return reader_fail_at(r, a->type->offset, "the type of a constant is a tensor");
  /* The verifier reports it with all else that is not supported. */
  if (a->type->element == ELEMENT_COUNT || a->type->dynamic) return true;
  literal l = {.type = a->type, .wanted = type_elements(a->type)};
  if (l.wanted == UINT64_MAX)
    return reader_fail_at(r, a->type->offset, "a tensor has at most 2^32 - 1 elements");
  /* A splat has one element. Otherwise the text has at least one character for each element. */
  uint64_t room = l.wanted < (uint64_t)(end - begin) + 1 ? l.wanted : (uint64_t)(end - begin) + 1;
  if (begin < end && *begin == '"' && a->type->element == ELEMENT_I1)
    room = l.wanted < 8 * (uint64_t)(end - begin) ? l.wanted : 8 * (uint64_t)(end - begin);
  l.data = pop_arena_alloc(r->arena, (size_t)(room + 1) * element_bytes(a->type->element));
  a->data = l.data;
  reader_jump(r, begin);
  if (!read_elements(r, &l, a)) return false;
  if (!reader_is(r, ">")) return reader_fail(r, "'>' is expected behind the elements");
  reader_jump(r, behind);
  return true;
}

/* ---- resources ---- */

/* dense_resource<name> : type. The bytes begin with their alignment, which takes 4 bytes. */
bool read_dense_resource(reader *r, attribute *a)
{
  enum { ALIGNMENT_DIGITS = 8 };
  a->kind = ATTRIBUTE_DENSE;
  if (!reader_expect(r, "<")) return false;
  char *name = reader_text(r);
  const attribute *from = attribute_find(r->resources, r->num_resources, name);
  if (!from)
    return reader_fail(
        r, "the text has no bytes of dense_resource<%s> ({-# dialect_resources … #-})", name);
  reader_advance(r);
  if (!reader_expect(r, ">") || !reader_expect(r, ":") || !read_type(r, &a->type)) return false;
  if (a->type->kind != TYPE_TENSOR)
    return reader_fail_at(r, a->type->offset, "the type of a constant is a tensor");
  if (a->type->element == ELEMENT_COUNT || a->type->dynamic) return true;
  literal l = {.type = a->type, .wanted = type_elements(a->type)};
  size_t length = (size_t)from->integer;
  if (length < 2 + ALIGNMENT_DIGITS || l.wanted > length)
    return reader_fail_at(r, a->type->offset,
                          "dense_resource<%s> has %zu bytes, less than the type", name, length / 2);
  /* A copy without the alignment. */
  char *digits = pop_arena_alloc(r->arena, length + 1);
  digits[0] = '0';
  digits[1] = 'x';
  memcpy(digits + 2, from->text + 2 + ALIGNMENT_DIGITS, length - 2 - ALIGNMENT_DIGITS);
  uint64_t room = element_bytes(a->type->element) * (l.wanted + 1);
  l.data = pop_arena_alloc(r->arena, room < length ? length : (size_t)room);
  a->data = l.data;
  return read_bytes(r, &l, a, digits, length - ALIGNMENT_DIGITS);
}

/* {-# dialect_resources: { builtin: { name: "0x…", … } } #-}. It comes after everything that uses
 * it, so it is found and read first. */
bool read_resources(reader *r)
{
  const token first = r->token;
  const char *at = NULL, *begin = r->token.start;
  for (const char *p = r->end; p - begin >= 3 && !at;) {
    p = memrchr(begin, '{', (size_t)(p - begin));
    if (!p) break;
    if (r->end - p >= 3 && p[1] == '-' && p[2] == '#') at = p;
  }
  if (!at) return true;
  const char *end = r->end;
  for (reader_jump(r, at); r->token.kind != TOKEN_END;
       reader_jump(r, r->token.start + r->token.length)) {
    if (r->token.kind == TOKEN_BAD && r->token.start[0] != '#') break;
    if (r->token.kind != TOKEN_NAME && r->token.kind != TOKEN_STRING) continue;
    token name = r->token, colon = lexer_next(name.start + name.length, end);
    token bytes = lexer_next(colon.start + colon.length, end);
    if (*colon.start != ':' || bytes.kind != TOKEN_STRING) continue;
    attribute a = {
        .name = reader_text(r), .text = bytes.start + 1, .integer = (int64_t)bytes.length - 2};
    pop_push(r->resources, r->num_resources, r->resources_capacity, a);
    r->token = bytes;
  }
  r->end = at;
  r->token = first;
  return true;
}
