/* Writes CBOR: libcbor's encoders, into a growing buffer. */
#include "executable/metadata.h"

#include <cbor.h>
#include <populus/names.h>
#include <string.h>

enum { HEAD_BYTES = 9 }; /* the longest: an initial byte and 64 bits */

void metadata_put_uint(pop_bytes *out, uint64_t value)
{
  uint8_t head[HEAD_BYTES];
  pop_bytes_append(out, head, cbor_encode_uint(value, head, sizeof head));
}

void metadata_put_bool(pop_bytes *out, bool value)
{
  uint8_t head[HEAD_BYTES];
  pop_bytes_append(out, head, cbor_encode_bool(value, head, sizeof head));
}

void metadata_put_double(pop_bytes *out, double value)
{
  uint8_t head[HEAD_BYTES];
  pop_bytes_append(out, head, cbor_encode_double(value, head, sizeof head));
}

void metadata_put_null(pop_bytes *out)
{
  uint8_t head[HEAD_BYTES];
  pop_bytes_append(out, head, cbor_encode_null(head, sizeof head));
}

void metadata_put_array(pop_bytes *out, size_t count)
{
  uint8_t head[HEAD_BYTES];
  pop_bytes_append(out, head, cbor_encode_array_start(count, head, sizeof head));
}

void metadata_put_map(pop_bytes *out, size_t count)
{
  uint8_t head[HEAD_BYTES];
  pop_bytes_append(out, head, cbor_encode_map_start(count, head, sizeof head));
}

void metadata_put_bytes(pop_bytes *out, const void *bytes, size_t size)
{
  uint8_t head[HEAD_BYTES];
  pop_bytes_append(out, head, cbor_encode_bytestring_start(size, head, sizeof head));
  pop_bytes_append(out, bytes, size);
}

static bool is_utf8(const char *text)
{
  for (const unsigned char *p = (const unsigned char *)text; *p;) {
    size_t length = pop_utf8_length(p);
    if (!length) return false;
    p += length;
  }
  return true;
}

void metadata_put_text(pop_bytes *out, const char *text)
{
  uint8_t head[HEAD_BYTES];
  size_t size = strlen(text);
  if (!is_utf8(text)) {
    metadata_put_bytes(out, text, size);
    return;
  }
  pop_bytes_append(out, head, cbor_encode_string_start(size, head, sizeof head));
  pop_bytes_append(out, text, size);
}
