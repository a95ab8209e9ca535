/* Values are kept as CBOR (RFC 8949), which the library converts to JSON. */
#include "values.h"

#include <errno.h>
#include <populus/names.h>
#include <populus/profile.h>
#include <stdio.h>
#include <string.h>

enum { MAJOR_COUNT = 0, MAJOR_TEXT = 3, EIGHT_BYTES = 27 };

static void put_byte(values *v, unsigned byte)
{
  uint8_t one = (uint8_t)byte;
  pop_bytes_append(v, &one, 1);
}

static void put_head(values *v, unsigned major, uint64_t number)
{
  put_byte(v, major << 5 | EIGHT_BYTES);
  for (int shift = 56; shift >= 0; shift -= 8) put_byte(v, number >> shift & 0xff);
}

/* Bytes that are not UTF-8 become U+FFFD. */
static void put_text(values *v, const char *text)
{
  static const char replacement[] = "\xef\xbf\xbd";
  pop_bytes valid = {0};
  for (const unsigned char *p = (const unsigned char *)text; *p;) {
    size_t length = pop_utf8_length(p);
    if (length)
      pop_bytes_append(&valid, p, length);
    else
      pop_bytes_append(&valid, replacement, sizeof replacement - 1);
    p += length ? length : 1;
  }
  put_head(v, MAJOR_TEXT, valid.size);
  pop_bytes_append(v, valid.data, valid.size);
  pop_bytes_free(&valid);
}

static void put_key(values *v, const char *key)
{
  if (key) put_text(v, key);
}

void values_begin_map(values *v, const char *key)
{
  put_key(v, key);
  put_byte(v, 0xbf);
}

void values_begin_list(values *v, const char *key)
{
  put_key(v, key);
  put_byte(v, 0x9f);
}

void values_end(values *v)
{
  put_byte(v, 0xff);
}

void values_put_text(values *v, const char *key, const char *text)
{
  put_key(v, key);
  put_text(v, text);
}

void values_put_count(values *v, const char *key, uint64_t count)
{
  put_key(v, key);
  put_head(v, MAJOR_COUNT, count);
}

void values_put_bool(values *v, const char *key, bool is)
{
  put_key(v, key);
  put_byte(v, is ? 0xf5 : 0xf4);
}

pop_error *values_write(values *v, bool pretty, FILE *stream)
{
  pop_profile *profile;
  pop_error *error = pop_profile_read_memory(v->data, v->size, &profile);
  pop_bytes_free(v);
  if (error) return error;
  error = pop_profile_write(pop_profile_root(profile),
                            pretty ? POP_PROFILE_JSON_PRETTY : POP_PROFILE_JSON, stream);
  int failure = errno;
  pop_profile_free(profile);
  errno = failure;
  return error;
}

pop_error *values_print(values *v, bool pretty)
{
  pop_error *error = values_write(v, pretty, stdout);
  int failure = errno;
  if (!error || !ferror(stdout)) return error;
  pop_error_free(error);
  return pop_error_errno(failure, "cannot write to standard output");
}
