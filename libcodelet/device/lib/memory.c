/*
 * memset, memcpy and memcmp. They replace picolibc's. Its memset jumps into a row of byte stores,
 * once or twice for each call that is not aligned to 16 bytes. That takes 30 slots and more, and
 * translated code has to look up the target of the jump. Its memcmp searches for the byte in which
 * words differ. Codelets mostly set, copy and compare a few words.
 */
#include <stddef.h>
#include <stdint.h>

typedef uint32_t __attribute__((may_alias)) word;

enum { WORD = sizeof(word), ROW = 4 * WORD };

static size_t bytes_to_word(const unsigned char *at)
{
  return -(uintptr_t)at % WORD;
}

__attribute__((no_builtin)) void *memset(void *to, int value, size_t size)
{
  unsigned char *at = to;
  size_t head = bytes_to_word(at);
  if (head > size) head = size;
  for (size -= head; head; head--) *at++ = (unsigned char)value;
  word all = (unsigned char)value * 0x01010101u, *words = (word *)at;
  for (; size >= ROW; size -= ROW, words += 4) {
    words[0] = all;
    words[1] = all;
    words[2] = all;
    words[3] = all;
  }
  for (; size >= WORD; size -= WORD) *words++ = all;
  for (at = (unsigned char *)words; size; size--) *at++ = (unsigned char)value;
  return to;
}

__attribute__((no_builtin)) void *memcpy(void *restrict to, const void *restrict from, size_t size)
{
  unsigned char *at = to;
  const unsigned char *source = from;
  if (((uintptr_t)at - (uintptr_t)source) % WORD == 0) {
    size_t head = bytes_to_word(at);
    if (head > size) head = size;
    for (size -= head; head; head--) *at++ = *source++;
    word *words = (word *)at;
    const word *source_words = (const word *)source;
    for (; size >= ROW; size -= ROW, words += 4, source_words += 4) {
      word a = source_words[0], b = source_words[1], c = source_words[2], d = source_words[3];
      words[0] = a;
      words[1] = b;
      words[2] = c;
      words[3] = d;
    }
    for (; size >= WORD; size -= WORD) *words++ = *source_words++;
    at = (unsigned char *)words;
    source = (const unsigned char *)source_words;
  }
  for (; size; size--) *at++ = *source++;
  return to;
}

__attribute__((no_builtin)) int memcmp(const void *left, const void *right, size_t size)
{
  const unsigned char *a = left, *b = right;
  if (((uintptr_t)a | (uintptr_t)b) % WORD == 0)
    for (; size >= WORD; size -= WORD, a += WORD, b += WORD) {
      word x = *(const word *)a, y = *(const word *)b;
      if (x != y) return __builtin_bswap32(x) < __builtin_bswap32(y) ? -1 : 1;
    }
  for (; size; size--, a++, b++)
    if (*a != *b) return *a < *b ? -1 : 1;
  return 0;
}
