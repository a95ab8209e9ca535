/* Text that anybody may have made. UTF-8 as the Unicode standard defines it (table 3-7): no overlong forms, no surrogates. */
#include <populus/names.h>
#include <stdbool.h>
#include <string.h>

size_t pop_utf8_length(const unsigned char *p)
{
  if (p[0] < 0x80) return 1;
  size_t length = p[0] >= 0xf0 ? 4 : p[0] >= 0xe0 ? 3 : 2;
  if (p[0] < 0xc2 || p[0] > 0xf4) return 0;
  for (size_t i = 1; i < length; ++i)
    if ((p[i] & 0xc0) != 0x80) return 0;
  bool overlong = (p[0] == 0xe0 && p[1] < 0xa0) || (p[0] == 0xf0 && p[1] < 0x90);
  bool beyond = (p[0] == 0xed && p[1] > 0x9f) || (p[0] == 0xf4 && p[1] > 0x8f);
  return overlong || beyond ? 0 : length;
}

size_t pop_printable_length(const char *text, size_t size)
{
  unsigned char start[4] = {0};
  memcpy(start, text, size < sizeof start ? size : sizeof start);
  if (start[0] == '\n' || start[0] == '\t') return 1;
  bool is_c0 = start[0] < 0x20 || start[0] == 0x7f;
  bool is_c1 = start[0] == 0xc2 && start[1] < 0xa0; /* U+0080 to U+009F */
  return is_c0 || is_c1 ? 0 : pop_utf8_length(start);
}

/* Completes the sequence: one of two second bytes is valid after any first byte. */
size_t pop_utf8_begun(const char *text, size_t size)
{
  static const unsigned char made_up[] = {0x80, 0xa0};
  for (size_t i = 0; i < sizeof made_up && size < 4; ++i) {
    unsigned char whole[4] = {0x80, 0x80, 0x80, 0x80};
    memcpy(whole, text, size);
    whole[size] = made_up[i];
    if (pop_utf8_length(whole) > size) return size;
  }
  return 0;
}

void pop_write_printable(const char *text, size_t size, FILE *stream)
{
  for (size_t at = 0, length; at < size; at += length ? length : 1) {
    length = pop_printable_length(text + at, size - at);
    if (length)
      fwrite(text + at, 1, length, stream);
    else
      fprintf(stream, "\\x%02x", (unsigned char)text[at]);
  }
}

size_t pop_write_name(const char *name, FILE *stream)
{
  size_t bytes = 0;
  for (size_t size = strlen(name), at = 0, length; at < size; at += length ? length : 1) {
    bool is_layout = name[at] == '\n' || name[at] == '\t';
    length = is_layout ? 0 : pop_printable_length(name + at, size - at);
    bytes += length ? length : strlen("\\x1b");
    if (stream && length) fwrite(name + at, 1, length, stream);
    if (stream && !length) fprintf(stream, "\\x%02x", (unsigned char)name[at]);
  }
  return bytes;
}

void pop_write_name_in_column(const char *name, size_t width, FILE *stream)
{
  size_t bytes = pop_write_name(name, stream);
  fprintf(stream, "%*s", bytes < width ? (int)(width - bytes) : 0, "");
}
