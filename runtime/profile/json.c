#include "profile/json.h"

enum { LINES_DOWN_TO = 2 }; /* what is nested deeper goes on one line */

static void put_text(FILE *stream, const char *text);

static void begin_value(json_writer *json, const char *key)
{
  if (!json->is_first && json->depth) putc(',', json->stream);
  if (json->depth && json->depth <= LINES_DOWN_TO) {
    putc('\n', json->stream);
    for (unsigned i = 0; i < json->depth; ++i) putc(' ', json->stream);
  }
  json->is_first = false;
  if (!key) return;
  put_text(json->stream, key);
  putc(':', json->stream);
}

static void begin(json_writer *json, const char *key, char bracket)
{
  begin_value(json, key);
  putc(bracket, json->stream);
  json->depth++;
  json->is_first = true;
}

static void end(json_writer *json, char bracket)
{
  json->depth--;
  json->is_first = false;
  putc(bracket, json->stream);
  if (json->depth == 0) putc('\n', json->stream);
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

/* Bytes of the UTF-8 sequence at `s` (RFC 3629); 0: it is none. */
static int utf8_length(const unsigned char *s)
{
  unsigned second_least = 0x80, second_greatest = 0xbf;
  int length = *s < 0x80 ? 1 : *s < 0xc2 ? 0 : *s < 0xe0 ? 2 : *s < 0xf0 ? 3 : *s < 0xf5 ? 4 : 0;
  if (*s == 0xe0) second_least = 0xa0; /* what would fit fewer bytes */
  if (*s == 0xf0) second_least = 0x90;
  if (*s == 0xed) second_greatest = 0x9f; /* surrogates */
  if (*s == 0xf4) second_greatest = 0x8f; /* above U+10FFFF */
  if (length > 1 && (s[1] < second_least || s[1] > second_greatest)) return 0;
  for (int i = 2; i < length; ++i)
    if (s[i] < 0x80 || s[i] > 0xbf) return 0;
  return length;
}

static void put_text(FILE *stream, const char *text)
{
  putc('"', stream);
  for (const unsigned char *s = (const unsigned char *)text; *s;) {
    int length = utf8_length(s);
    if (length == 0)
      fputs("\\ufffd", stream);
    else if (*s == '"' || *s == '\\')
      fprintf(stream, "\\%c", *s);
    else if (*s < ' ')
      fprintf(stream, "\\u%04x", *s);
    else
      fwrite(s, 1, (size_t)length, stream);
    s += length ? length : 1;
  }
  putc('"', stream);
}

void json_put_string(json_writer *json, const char *key, const char *value)
{
  begin_value(json, key);
  put_text(json->stream, value);
}

void json_put_number(json_writer *json, const char *key, uint64_t value)
{
  begin_value(json, key);
  fprintf(json->stream, "%llu", (unsigned long long)value);
}

void json_put_bool(json_writer *json, const char *key, bool value)
{
  begin_value(json, key);
  fputs(value ? "true" : "false", json->stream);
}
