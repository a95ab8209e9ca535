/* Most of the output is brackets and a few digits. Taking the stream's lock for each took more than
 * half of the time. One thread writes a document, so nothing here takes the lock. */
#include "base/json.h"

#include "base/c_locale.h"
#include <inttypes.h>
#include <math.h>
#include <populus/names.h>

enum { OUTER_LEVELS = 2, PRETTY_INDENT = 2 };

static void put_text(FILE *stream, const char *text);

static void put_line(const json_writer *json)
{
  unsigned indent = json->layout == JSON_PRETTY ? PRETTY_INDENT * json->depth : json->depth;
  putc_unlocked('\n', json->stream);
  for (unsigned i = 0; i < indent; ++i) putc_unlocked(' ', json->stream);
}

static bool gets_own_line(const json_writer *json, const char *key, bool is_scalar)
{
  if (json->layout == JSON_PRETTY) return json->depth && (key || !is_scalar);
  return json->layout == JSON_OUTER_LINES && json->depth && json->depth <= OUTER_LEVELS;
}

static void begin_value(json_writer *json, const char *key, bool is_scalar)
{
  if (!json->is_first && json->depth) putc_unlocked(',', json->stream);
  json->on_own_line = gets_own_line(json, key, is_scalar);
  if (json->on_own_line)
    put_line(json);
  else if (json->layout == JSON_PRETTY && json->depth && !json->is_first)
    putc_unlocked(' ', json->stream);
  json->is_first = false;
  if (!key) return;
  put_text(json->stream, key);
  putc_unlocked(':', json->stream);
  if (json->layout == JSON_PRETTY) putc_unlocked(' ', json->stream);
}

static void begin(json_writer *json, const char *key, char bracket)
{
  begin_value(json, key, false);
  putc_unlocked(bracket, json->stream);
  json->depth++;
  json->is_first = true;
  json->on_own_line = false;
}

static void end(json_writer *json, char bracket)
{
  json->depth--;
  if (json->layout == JSON_PRETTY && json->on_own_line) put_line(json);
  json->is_first = false;
  json->on_own_line = true;
  putc_unlocked(bracket, json->stream);
  if (json->depth == 0) putc_unlocked('\n', json->stream);
}

void json_begin_object(json_writer *json, const char *key)
{
  begin(json, key, '{');
}

void json_end_object(json_writer *json)
{
  end(json, '}');
}

void json_begin_list(json_writer *json, const char *key)
{
  begin(json, key, '[');
}

void json_end_list(json_writer *json)
{
  end(json, ']');
}

static void put_text(FILE *stream, const char *text)
{
  const unsigned char *s = (const unsigned char *)text, *plain = s;
  putc_unlocked('"', stream);
  while (*s) {
    size_t length = pop_utf8_length(s);
    if (length && *s >= ' ' && *s != '"' && *s != '\\') {
      s += length;
      continue;
    }
    fwrite_unlocked(plain, 1, (size_t)(s - plain), stream);
    if (length == 0)
      fputs_unlocked("\\ufffd", stream);
    else if (*s < ' ')
      fprintf(stream, "\\u%04x", *s);
    else
      fprintf(stream, "\\%c", *s);
    plain = ++s;
  }
  fwrite_unlocked(plain, 1, (size_t)(s - plain), stream);
  putc_unlocked('"', stream);
}

void json_put_string(json_writer *json, const char *key, const char *value)
{
  begin_value(json, key, true);
  put_text(json->stream, value);
}

/* Profiles are mostly small numbers. */
static void put_digits(FILE *stream, uint64_t value)
{
  char digits[20], *at = digits + sizeof digits;
  do *--at = (char)('0' + value % 10);
  while (value /= 10);
  fwrite_unlocked(at, 1, (size_t)(digits + sizeof digits - at), stream);
}

void json_put_number(json_writer *json, const char *key, uint64_t value)
{
  begin_value(json, key, true);
  put_digits(json->stream, value);
}

void json_put_integer(json_writer *json, const char *key, int64_t value)
{
  begin_value(json, key, true);
  if (value < 0) putc_unlocked('-', json->stream);
  put_digits(json->stream, value < 0 ? -(uint64_t)value : (uint64_t)value);
}

/* Times in nanoseconds, and shares, are mostly whole thousandths. These digits are read back as the
 * same number, and printf takes ten times as long. False if the number is another one. */
static bool put_thousandths(FILE *stream, double value)
{
  if (signbit(value) || !(value < 1e12)) return false;
  uint64_t thousandths = (uint64_t)(value * 1000 + 0.5);
  if ((double)thousandths / 1000 != value) return false;
  put_digits(stream, thousandths / 1000);
  unsigned rest = (unsigned)(thousandths % 1000);
  if (!rest) return true;
  putc_unlocked('.', stream);
  for (unsigned place = 100; rest; place /= 10) {
    putc_unlocked((int)('0' + rest / place), stream);
    rest %= place;
  }
  return true;
}

void json_put_double(json_writer *json, const char *key, double value)
{
  C_LOCALE;
  begin_value(json, key, true);
  if (put_thousandths(json->stream, value)) return;
  if (isfinite(value))
    fprintf(json->stream, "%.17g", value);
  else
    fputs_unlocked("null", json->stream);
}

void json_put_bool(json_writer *json, const char *key, bool value)
{
  begin_value(json, key, true);
  fputs_unlocked(value ? "true" : "false", json->stream);
}

/* ---- as the back end of an emitter ---- */

static void begin_map(void *json, const char *key)
{
  json_begin_object(json, key);
}

static void end_map(void *json)
{
  json_end_object(json);
}

static void begin_vector(void *json, const char *key)
{
  json_begin_list(json, key);
}

static void end_vector(void *json)
{
  json_end_list(json);
}

static void put_int(void *json, const char *key, int64_t value)
{
  json_put_integer(json, key, value);
}

static void put_double(void *json, const char *key, double value)
{
  json_put_double(json, key, value);
}

static void put_string(void *json, const char *key, const char *value)
{
  json_put_string(json, key, value);
}

static void put_bool(void *json, const char *key, bool value)
{
  json_put_bool(json, key, value);
}

emitter json_emitter(json_writer *json)
{
  static const emitter_back_end back_end = {begin_map, end_map,    begin_vector, end_vector,
                                            put_int,   put_double, put_string,   put_bool};
  return (emitter){&back_end, json};
}
