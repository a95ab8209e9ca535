/* Reads CBOR, one item of libcbor's stream at a time. */
#include "executable/metadata.h"

#include <cbor.h>
#include <populus/names.h>
#include <stdio.h>
#include <string.h>

typedef enum item_kind {
  ITEM_OTHER, /* not used in metadata: negative, tagged, indefinite, … */
  ITEM_UINT,
  ITEM_BYTES,
  ITEM_TEXT,
  ITEM_ARRAY,
  ITEM_MAP,
  ITEM_BOOL,
  ITEM_NULL,
  ITEM_DOUBLE
} item_kind;

static const char *const kind_names[] = {
    "something else", "an unsigned integer", "a byte string", "a text", "an array",
    "a map",          "a boolean",           "null",          "a float"};

typedef struct item {
  item_kind kind;
  uint64_t number; /* of a UINT, BOOL; items of an ARRAY, pairs of a MAP */
  double real;
  const uint8_t *bytes; /* BYTES, TEXT */
  size_t size;
} item;

/* ---- libcbor's callbacks ---- */

static void on_number(void *context, uint64_t number)
{
  *(item *)context = (item){.kind = ITEM_UINT, .number = number};
}

static void on_uint8(void *context, uint8_t number)
{
  on_number(context, number);
}

static void on_uint16(void *context, uint16_t number)
{
  on_number(context, number);
}

static void on_uint32(void *context, uint32_t number)
{
  on_number(context, number);
}

static void on_other(void *context)
{
  *(item *)context = (item){.kind = ITEM_OTHER};
}

static void on_other8(void *context, uint8_t value)
{
  (void)value;
  on_other(context);
}

static void on_other16(void *context, uint16_t value)
{
  (void)value;
  on_other(context);
}

static void on_other32(void *context, uint32_t value)
{
  (void)value;
  on_other(context);
}

static void on_other64(void *context, uint64_t value)
{
  (void)value;
  on_other(context);
}

static void on_other_float(void *context, float value)
{
  (void)value;
  on_other(context);
}

static void on_bytes(void *context, cbor_data bytes, size_t size)
{
  *(item *)context = (item){.kind = ITEM_BYTES, .bytes = bytes, .size = size};
}

static void on_text(void *context, cbor_data bytes, size_t size)
{
  *(item *)context = (item){.kind = ITEM_TEXT, .bytes = bytes, .size = size};
}

static void on_array(void *context, size_t count)
{
  *(item *)context = (item){.kind = ITEM_ARRAY, .number = count};
}

static void on_map(void *context, size_t count)
{
  *(item *)context = (item){.kind = ITEM_MAP, .number = count};
}

static void on_double(void *context, double real)
{
  *(item *)context = (item){.kind = ITEM_DOUBLE, .real = real};
}

static void on_null(void *context)
{
  *(item *)context = (item){.kind = ITEM_NULL};
}

static void on_bool(void *context, bool value)
{
  *(item *)context = (item){.kind = ITEM_BOOL, .number = value};
}

static const struct cbor_callbacks callbacks = {
    .uint8 = on_uint8,
    .uint16 = on_uint16,
    .uint32 = on_uint32,
    .uint64 = on_number,
    .negint64 = on_other64,
    .negint32 = on_other32,
    .negint16 = on_other16,
    .negint8 = on_other8,
    .byte_string_start = on_other,
    .byte_string = on_bytes,
    .string = on_text,
    .string_start = on_other,
    .indef_array_start = on_other,
    .array_start = on_array,
    .indef_map_start = on_other,
    .map_start = on_map,
    .tag = on_other64,
    .float2 = on_other_float,
    .float4 = on_other_float,
    .float8 = on_double,
    .undefined = on_other,
    .null = on_null,
    .boolean = on_bool,
    .indef_break = on_other,
};

/* ---- the next item ---- */

pop_error *metadata_error(const metadata_reader *r, const char *format, ...)
{
  va_list args;
  va_start(args, format);
  pop_error *error = pop_error_new_v(POP_ERROR_FILE_LOAD, format, args);
  va_end(args);
  if (r->keys[1]) error = pop_error_prefix(error, "key '%s'", r->keys[1]);
  if (r->entry != SIZE_MAX) error = pop_error_prefix(error, "entry %zu", r->entry);
  if (r->keys[0]) error = pop_error_prefix(error, "key '%s'", r->keys[0]);
  return error;
}

static pop_error *next(metadata_reader *r, item *found)
{
  *found = (item){0};
  struct cbor_decoder_result result =
      cbor_stream_decode(r->bytes + r->at, r->size - r->at, &callbacks, found);
  if (result.status == CBOR_DECODER_NEDATA || r->at == r->size)
    return metadata_error(r, "truncated: there are only %zu bytes", r->size);
  if (result.status != CBOR_DECODER_FINISHED)
    return metadata_error(r, "what stands at byte %zu is no CBOR", r->at);
  r->at += result.read;
  return NULL;
}

static pop_error *next_of_kind(metadata_reader *r, item_kind kind, item *found)
{
  POP_TRY(next(r, found));
  if (found->kind == kind) return NULL;
  return metadata_error(r, "%s where %s is expected", kind_names[found->kind], kind_names[kind]);
}

/* Fast path: tables are numbers, most of which fit into three bytes. (Those of tutorial 7 have
 * 900,000: 6 ms by libcbor's callbacks, 1 ms this way.) */
static bool next_is_short(metadata_reader *r, uint64_t *number)
{
  enum { MOST_IN_HEAD = 23, UINT8_FOLLOWS = 24, UINT16_FOLLOWS = 25 };
  const uint8_t *p = r->bytes + r->at;
  size_t left = r->size - r->at;
  if (left >= 1 && p[0] <= MOST_IN_HEAD) {
    *number = p[0];
    r->at += 1;
  } else if (left >= 2 && p[0] == UINT8_FOLLOWS) {
    *number = p[1];
    r->at += 2;
  } else if (left >= 3 && p[0] == UINT16_FOLLOWS) {
    *number = (uint64_t)p[1] << 8 | p[2];
    r->at += 3;
  } else {
    return false;
  }
  return true;
}

pop_error *metadata_read_uint(metadata_reader *r, uint64_t most, uint64_t *value)
{
  item found;
  if (!next_is_short(r, &found.number)) POP_TRY(next_of_kind(r, ITEM_UINT, &found));
  if (found.number > most)
    return metadata_error(r, "%llu, but %llu is the greatest that is possible",
                          (unsigned long long)found.number, (unsigned long long)most);
  *value = found.number;
  return NULL;
}

pop_error *metadata_read_u32(metadata_reader *r, uint32_t most, uint32_t *value)
{
  uint64_t number = 0;
  POP_TRY(metadata_read_uint(r, most, &number));
  *value = (uint32_t)number;
  return NULL;
}

pop_error *metadata_read_bool(metadata_reader *r, bool *value)
{
  item found;
  POP_TRY(next_of_kind(r, ITEM_BOOL, &found));
  *value = found.number;
  return NULL;
}

pop_error *metadata_read_double(metadata_reader *r, double *value)
{
  item found;
  POP_TRY(next_of_kind(r, ITEM_DOUBLE, &found));
  *value = found.real;
  return NULL;
}

static bool is_utf8(const char *text, size_t size)
{
  for (size_t at = 0, length; at < size; at += length) {
    length = pop_utf8_length((const unsigned char *)text + at);
    if (!length) return false;
  }
  return true;
}

static pop_error *take_text(const metadata_reader *r, const item *found, const char **text)
{
  if (found->kind != ITEM_TEXT && found->kind != ITEM_BYTES)
    return metadata_error(r, "%s where a text is expected", kind_names[found->kind]);
  if (found->size && memchr(found->bytes, 0, found->size))
    return metadata_error(r, "a NUL in a name");
  char *copy = pop_arena_alloc(r->arena, found->size + 1);
  if (found->size) memcpy(copy, found->bytes, found->size);
  if (found->kind == ITEM_TEXT && !is_utf8(copy, found->size))
    return metadata_error(r, "a text that is no UTF-8");
  *text = copy;
  return NULL;
}

pop_error *metadata_read_text(metadata_reader *r, const char **text)
{
  item found;
  POP_TRY(next(r, &found));
  return take_text(r, &found, text);
}

pop_error *metadata_read_text_or_null(metadata_reader *r, const char **text)
{
  item found;
  *text = NULL;
  POP_TRY(next(r, &found));
  return found.kind == ITEM_NULL ? NULL : take_text(r, &found, text);
}

pop_error *metadata_read_bytes(metadata_reader *r, const uint8_t **bytes, size_t *size)
{
  item found;
  POP_TRY(next_of_kind(r, ITEM_BYTES, &found));
  *bytes = found.bytes;
  *size = found.size;
  return NULL;
}

/* Each item takes at least one byte. */
static pop_error *check_count(const metadata_reader *r, uint64_t count, size_t items_each)
{
  if (count <= (r->size - r->at) / items_each) return NULL;
  return metadata_error(r, "%llu entries in the %zu bytes that are left", (unsigned long long)count,
                        r->size - r->at);
}

pop_error *metadata_read_array(metadata_reader *r, size_t group, size_t *count)
{
  item found;
  POP_TRY(next_of_kind(r, ITEM_ARRAY, &found));
  POP_TRY(check_count(r, found.number, 1));
  if (found.number % group)
    return metadata_error(r, "%llu entries, which is no multiple of %zu",
                          (unsigned long long)found.number, group);
  *count = (size_t)found.number;
  return NULL;
}

pop_error *metadata_read_map(metadata_reader *r, size_t *count)
{
  item found;
  POP_TRY(next_of_kind(r, ITEM_MAP, &found));
  POP_TRY(check_count(r, found.number, 2));
  *count = (size_t)found.number;
  return NULL;
}

pop_error *metadata_read_map_of(metadata_reader *r, size_t count)
{
  size_t found = 0;
  POP_TRY(metadata_read_map(r, &found));
  if (found == count) return NULL;
  return metadata_error(r, "a map of %zu keys where %zu are expected", found, count);
}

pop_error *metadata_read_key(metadata_reader *r, unsigned level, const char *key)
{
  const char *found = "";
  r->keys[level] = key;
  if (level == 0) {
    r->keys[1] = NULL;
    r->entry = SIZE_MAX;
  }
  POP_TRY(metadata_read_text(r, &found));
  return strcmp(found, key) == 0 ? NULL : metadata_error(r, "it is missing: there is '%s'", found);
}
