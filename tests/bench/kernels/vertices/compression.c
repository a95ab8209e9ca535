/* Compression of n bytes. */
#include "kernel.h"

enum { WINDOW_BITS = 8 };

/* To tokens (0, byte) and (length, distance): matches by a hash of three bytes. c is the table. */
KERNEL(lz_compress, byte, byte, unsigned)
{
  const byte *in = vertex->a.data;
  unsigned n = vertex->n, to = 0;
  for (unsigned i = 0; i < 1u << WINDOW_BITS; i++) vertex->c.data[i] = 0;
  for (unsigned at = 0; at < n;) {
    unsigned length = 0, distance = 0;
    if (at + 3 < n) {
      unsigned three = in[at] | (unsigned)in[at + 1] << 8 | (unsigned)in[at + 2] << 16;
      unsigned slot = (three * 2654435761u) >> (32 - WINDOW_BITS);
      unsigned before = vertex->c.data[slot];
      vertex->c.data[slot] = at + 1;
      if (before && at + 1 - before < 256) {
        distance = at + 1 - before;
        while (length < 255 && at + length < n && in[at + length] == in[before - 1 + length])
          length++;
      }
    }
    if (length < 3) {
      vertex->b.data[to++] = 0;
      vertex->b.data[to++] = in[at++];
    } else {
      vertex->b.data[to++] = (byte)length;
      vertex->b.data[to++] = (byte)distance;
      at += length;
    }
  }
  while (to < 2 * n) vertex->b.data[to++] = 0;
  return true;
}

/* From tokens like these, made of any bytes: n bytes. */
KERNEL(lz_expand, byte, byte, byte)
{
  byte *out = vertex->b.data;
  unsigned to = 0;
  for (unsigned i = 0; to < vertex->n; i = i + 2 < vertex->a.size ? i + 2 : 0) {
    unsigned length = vertex->a.data[i] & 15, distance = vertex->a.data[i + 1];
    if (length < 3 || distance == 0 || distance > to) {
      out[to++] = vertex->a.data[i + 1];
      continue;
    }
    for (; length > 0 && to < vertex->n; length--, to++) out[to] = out[to - distance];
  }
  return true;
}

KERNEL(run_length, byte, byte, byte)
{
  unsigned to = 0;
  for (unsigned at = 0; at < vertex->n;) {
    byte value = vertex->a.data[at] & 3;
    unsigned length = 1;
    while (length < 255 && at + length < vertex->n && (vertex->a.data[at + length] & 3) == value)
      length++;
    vertex->b.data[to++] = (byte)length;
    vertex->b.data[to++] = value;
    at += length;
  }
  return true;
}

/* Variable-length codes of nibbles, put together to words: Elias gamma. */
KERNEL(bit_writer, byte, unsigned, unsigned)
{
  dword bits = 0;
  unsigned count = 0, to = 0;
  for (unsigned i = 0; i < vertex->n; i++) {
    unsigned value = (vertex->a.data[i] & 63) + 1, width = 0;
    while (value >> (width + 1)) width++;
    bits = bits << (2 * width + 1) | value;
    count += 2 * width + 1;
    if (count >= 32) {
      count -= 32;
      vertex->b.data[to++] = (unsigned)(bits >> count);
    }
  }
  vertex->b.data[to] = count;
  return true;
}

/* Differences of samples with as many bits as a block of 32 needs, as audio and columns are stored. */
KERNEL(delta_pack, unsigned, unsigned, unsigned)
{
  unsigned to = 0;
  for (unsigned block = 0; block + 32 <= vertex->n; block += 32) {
    unsigned delta[32], all = 0, before = block ? vertex->a.data[block - 1] >> 16 : 0;
    for (unsigned i = 0; i < 32; i++) {
      unsigned value = vertex->a.data[block + i] >> 16, way = value - before;
      all |= delta[i] = way << 1 ^ (unsigned)((int)way >> 31);
      before = value;
    }
    unsigned width = 0;
    while (width < 32 && all >> width) width++;
    vertex->b.data[to++] = width;
    unsigned word = 0, used = 0;
    for (unsigned i = 0; i < 32; i++) {
      word |= delta[i] << used;
      used += width;
      if (used < 32) continue;
      vertex->b.data[to++] = word;
      used -= 32;
      word = used ? delta[i] >> (width - used) : 0;
    }
  }
  return true;
}
