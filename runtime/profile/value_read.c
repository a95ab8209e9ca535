/* Reads values from the CBOR that emit_cbor.c writes (RFC 8949), and from other CBOR that profiles
 * can represent: no byte strings, no tags, only texts as keys. Files are not trusted: reading
 * beyond their end, or nesting deeper than in any profile, is an error with its offset. */
#include "profile/value.h"

#include "base/object.h"

#include <populus/file.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_DEPTH = 64, INDEFINITE = 31 };

typedef enum major_type {
  MAJOR_UINT,
  MAJOR_NEGATIVE,
  MAJOR_BYTES,
  MAJOR_TEXT,
  MAJOR_ARRAY,
  MAJOR_MAP,
  MAJOR_TAG,
  MAJOR_OTHER /* floats, false, true, null; the end of an indefinite length */
} major_type;

enum { SIMPLE_FALSE = 20, SIMPLE_TRUE = 21, SIMPLE_NULL = 22, FLOAT_32 = 26, FLOAT_64 = 27 };

typedef struct head {
  major_type major;
  uint32_t info; /* of its first byte */
  uint64_t value;
} head;

typedef struct reader {
  const uint8_t *bytes;
  size_t size, at;
  const emitter *to;
  char *key, *text; /* of the current item */
  size_t key_capacity, text_capacity;
  pop_error *error; /* the first one; reading stops there */
} reader;

static bool fail(reader *r, const char *what)
{
  if (!r->error)
    r->error = pop_error_new(POP_ERROR_FILE_LOAD, "no profile: %s at byte %zu", what, r->at);
  return false;
}

static bool is_break(const reader *r)
{
  return r->at < r->size && r->bytes[r->at] == 0xff;
}

static bool read_head(reader *r, head *h)
{
  if (r->at == r->size) return fail(r, "it ends too early");
  *h = (head){.major = r->bytes[r->at] >> 5, .info = r->bytes[r->at] & 31};
  uint32_t following = h->info >= 24 && h->info <= 27 ? 1u << (h->info - 24) : 0;
  if (h->info > 27 && h->info < INDEFINITE) return fail(r, "an initial byte of no meaning");
  if (following > r->size - r->at - 1) return fail(r, "it ends too early");
  r->at++;
  h->value = following || h->info == INDEFINITE ? 0 : h->info;
  for (uint32_t i = 0; i < following; i++) h->value = h->value << 8 | r->bytes[r->at++];
  return true;
}

/* A text of known length, terminated by NUL. If it has a NUL inside, the rest is left out, as in
 * all names. */
static bool read_text(reader *r, const head *h, char **text, size_t *capacity)
{
  if (h->major != MAJOR_TEXT || h->info == INDEFINITE)
    return fail(r, "something else where a text should be");
  if (h->value > r->size - r->at) return fail(r, "a text ends too late");
  pop_reserve(*text, (size_t)h->value + 1, *capacity);
  memcpy(*text, r->bytes + r->at, h->value);
  (*text)[h->value] = '\0';
  r->at += h->value;
  return true;
}

static bool read_int(reader *r, const head *h, const char *key)
{
  if (h->value > INT64_MAX) return fail(r, "a number of more than 64 bits");
  int64_t number = (int64_t)h->value;
  emit_int(r->to, key, h->major == MAJOR_NEGATIVE ? -1 - number : number);
  return true;
}

static bool read_other(reader *r, const head *h, const char *key)
{
  double number;
  float single;
  uint32_t bits = (uint32_t)h->value;
  switch (h->info) {
  case SIMPLE_FALSE:
  case SIMPLE_TRUE:
    emit_bool(r->to, key, h->info == SIMPLE_TRUE);
    return true;
  case FLOAT_32:
    memcpy(&single, &bits, sizeof single);
    emit_double(r->to, key, single);
    return true;
  case FLOAT_64:
    memcpy(&number, &h->value, sizeof number);
    emit_double(r->to, key, number);
    return true;
  default:
    return fail(r, "a value of a kind that profiles have not");
  }
}

static bool read_value(reader *r, const char *key, uint32_t depth);

static bool read_items(reader *r, const head *h, uint32_t depth)
{
  for (uint64_t i = 0; h->info == INDEFINITE ? !is_break(r) : i < h->value; i++) {
    head of_key = {0};
    if (h->major == MAJOR_MAP &&
        (!read_head(r, &of_key) || !read_text(r, &of_key, &r->key, &r->key_capacity)))
      return false;
    if (!read_value(r, h->major == MAJOR_MAP ? r->key : NULL, depth + 1)) return false;
  }
  r->at += h->info == INDEFINITE;
  return true;
}

/* At most MAX_DEPTH levels. A container is also ended after an error, because emitters require
 * it. */
static bool read_container(reader *r, const head *h, const char *key, uint32_t depth)
{
  if (depth == MAX_DEPTH) return fail(r, "more levels than any profile has");
  bool is_map = h->major == MAJOR_MAP;
  if (is_map)
    emit_begin_map(r->to, key);
  else
    emit_begin_vector(r->to, key);
  bool good = read_items(r, h, depth);
  if (is_map)
    emit_end_map(r->to);
  else
    emit_end_vector(r->to);
  return good;
}

static bool read_value(reader *r, const char *key, uint32_t depth)
{
  head h;
  if (!read_head(r, &h)) return false;
  switch (h.major) {
  case MAJOR_UINT:
  case MAJOR_NEGATIVE:
    return h.info == INDEFINITE ? fail(r, "a number without an end") : read_int(r, &h, key);
  case MAJOR_TEXT:
    if (!read_text(r, &h, &r->text, &r->text_capacity)) return false;
    emit_string(r->to, key, r->text);
    return true;
  case MAJOR_ARRAY:
  case MAJOR_MAP:
    return read_container(r, &h, key, depth);
  case MAJOR_OTHER:
    return read_other(r, &h, key);
  case MAJOR_BYTES:
  case MAJOR_TAG:
    break;
  }
  return fail(r, "a value of a kind that profiles have not");
}

static void read_all(const emitter *to, const void *what)
{
  reader *r = *(reader *const *)what;
  r->to = to;
  if (read_value(r, NULL, 0) && r->at != r->size) fail(r, "something behind the end");
}

pop_error *profile_from_cbor(const void *bytes, size_t size, pop_profile **profile)
{
  reader r = {.bytes = bytes, .size = size};
  reader *const what = &r;
  *profile = emit_to_values(read_all, &what);
  free(r.key);
  free(r.text);
  if (r.error) {
    pop_profile_free(*profile);
    *profile = NULL;
  }
  return r.error;
}

pop_error *pop_profile_read_memory(const void *bytes, size_t size, pop_profile **profile)
{
  POP_TRY(object_check_argument(profile, "the profile to make", __func__));
  *profile = NULL;
  POP_TRY(object_check_list(bytes, size, "bytes", __func__));
  return profile_from_cbor(bytes, size, profile);
}

pop_error *pop_profile_read(const char *path, pop_profile **profile)
{
  POP_TRY(object_check_argument(profile, "the profile to make", __func__));
  *profile = NULL;
  POP_TRY(object_check_argument(path, "the path", __func__));
  uint8_t *bytes;
  size_t size;
  *profile = NULL;
  POP_TRY(pop_file_read(path, SIZE_MAX, &bytes, &size));
  pop_error *error = profile_from_cbor(bytes, size, profile);
  free(bytes);
  return error ? pop_error_prefix(error, "'%s'", path) : NULL;
}
