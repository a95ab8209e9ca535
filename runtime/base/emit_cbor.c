/* A CBOR back end. Maps and vectors have indefinite length, since nobody knows in advance how long
 * they become. The context is the stream itself. */
#include "base/emitter.h"

#include <cbor.h>
#include <populus/arena.h>
#include <populus/names.h>
#include <stdlib.h>
#include <string.h>

enum { HEAD_BYTES = 9 }; /* the longest: an initial byte and 64 bits */

static const char replacement[] = "\xef\xbf\xbd"; /* U+FFFD */

static void put_text(FILE *stream, const char *text)
{
  uint8_t head[HEAD_BYTES];
  size_t bytes = 0;
  for (const char *p = text; *p;) {
    size_t length = pop_utf8_length((const unsigned char *)p);
    bytes += length ? length : sizeof replacement - 1;
    p += length ? length : 1;
  }
  fwrite(head, 1, cbor_encode_string_start(bytes, head, sizeof head), stream);
  for (const char *p = text; *p;) {
    size_t length = pop_utf8_length((const unsigned char *)p);
    fwrite(length ? p : replacement, 1, length ? length : sizeof replacement - 1, stream);
    p += length ? length : 1;
  }
}

static void put_key(FILE *stream, const char *key)
{
  if (key) put_text(stream, key);
}

static void begin_map(void *stream, const char *key)
{
  uint8_t head[HEAD_BYTES];
  put_key(stream, key);
  fwrite(head, 1, cbor_encode_indef_map_start(head, sizeof head), stream);
}

static void begin_vector(void *stream, const char *key)
{
  uint8_t head[HEAD_BYTES];
  put_key(stream, key);
  fwrite(head, 1, cbor_encode_indef_array_start(head, sizeof head), stream);
}

static void end(void *stream)
{
  uint8_t head[HEAD_BYTES];
  fwrite(head, 1, cbor_encode_break(head, sizeof head), stream);
}

static void put_int(void *stream, const char *key, int64_t value)
{
  uint8_t head[HEAD_BYTES];
  put_key(stream, key);
  size_t size = value < 0 ? cbor_encode_negint((uint64_t)(-1 - value), head, sizeof head)
                          : cbor_encode_uint((uint64_t)value, head, sizeof head);
  fwrite(head, 1, size, stream);
}

static void put_double(void *stream, const char *key, double value)
{
  uint8_t head[HEAD_BYTES];
  put_key(stream, key);
  fwrite(head, 1, cbor_encode_double(value, head, sizeof head), stream);
}

static void put_string(void *stream, const char *key, const char *value)
{
  put_key(stream, key);
  put_text(stream, value);
}

static void put_bool(void *stream, const char *key, bool value)
{
  uint8_t head[HEAD_BYTES];
  put_key(stream, key);
  fwrite(head, 1, cbor_encode_bool(value, head, sizeof head), stream);
}

emitter cbor_emitter(FILE *stream)
{
  static const emitter_back_end back_end = {begin_map, end,        begin_vector, end,
                                            put_int,   put_double, put_string,   put_bool};
  return (emitter){&back_end, stream};
}
