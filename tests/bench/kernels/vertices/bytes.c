/* Strings of bytes. */
#include "kernel.h"

/* How often c's first 6 bytes are found in a, by Horspool's table. */
KERNEL(string_search, byte, unsigned, byte)
{
  enum { LENGTH = 6 };
  unsigned skip[256], count = 0;
  for (unsigned i = 0; i < 256; i++) skip[i] = LENGTH;
  for (unsigned i = 0; i + 1 < LENGTH; i++) skip[vertex->c.data[i]] = LENGTH - 1 - i;
  for (unsigned at = 0; at + LENGTH <= vertex->n;) {
    unsigned k = LENGTH;
    while (k > 0 && vertex->a.data[at + k - 1] == vertex->c.data[k - 1]) k--;
    count += k == 0;
    at += skip[vertex->a.data[at + LENGTH - 1]];
  }
  vertex->b.data[0] = count;
  return true;
}

KERNEL(base64, byte, byte, byte)
{
  static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  unsigned to = 0;
  for (unsigned i = 0; i + 3 <= vertex->n; i += 3) {
    unsigned three = (unsigned)vertex->a.data[i] << 16 | (unsigned)vertex->a.data[i + 1] << 8 |
                     vertex->a.data[i + 2];
    for (unsigned shift = 24; shift > 0;) {
      shift -= 6;
      vertex->b.data[to++] = (byte)digits[three >> shift & 63];
    }
  }
  return true;
}

/* How many characters of UTF-8, how many bytes that are none. */
KERNEL(utf8, byte, unsigned, unsigned)
{
  unsigned good = 0, bad = 0, n = vertex->n;
  for (unsigned i = 0; i < n;) {
    byte c = vertex->a.data[i];
    unsigned length = c < 0x80 ? 1 : c >> 5 == 6 ? 2 : c >> 4 == 14 ? 3 : c >> 3 == 30 ? 4 : 0;
    bool fits = length > 0 && i + length <= n;
    for (unsigned k = 1; fits && k < length; k++) fits = vertex->a.data[i + k] >> 6 == 2;
    good += fits;
    bad += !fits;
    i += fits ? length : 1;
  }
  vertex->b.data[0] = good;
  vertex->b.data[1] = bad;
  return true;
}

KERNEL(histogram, byte, unsigned, unsigned)
{
  for (unsigned i = 0; i < 256; i++) vertex->b.data[i] = 0;
  for (unsigned i = 0; i < vertex->n; i++) vertex->b.data[vertex->a.data[i]]++;
  return true;
}

/* Letters made small, other bytes kept; and words counted. */
KERNEL(lower_case, byte, byte, unsigned)
{
  unsigned words = 0;
  bool in_word = false;
  for (unsigned i = 0; i < vertex->n; i++) {
    byte c = vertex->a.data[i];
    if (c >= 'A' && c <= 'Z') c += 'a' - 'A';
    bool letter = c >= 'a' && c <= 'z';
    words += letter && !in_word;
    in_word = letter;
    vertex->b.data[i] = c;
  }
  vertex->c.data[0] = words;
  return true;
}

/* The C library's own: lengths, comparisons and copies of strings of up to 32 bytes. */
KERNEL(library_strings, byte, byte, unsigned)
{
  unsigned sum = 0;
  for (unsigned i = 0; i + 64 <= vertex->n; i += 32) {
    char *to = (char *)vertex->b.data + i;
    memcpy(to, vertex->a.data + i, 31);
    to[31] = 0;
    sum += (unsigned)strlen(to);
    sum += memcmp(to, vertex->a.data + i + 32, 8) < 0;
  }
  vertex->c.data[0] = sum;
  return true;
}
