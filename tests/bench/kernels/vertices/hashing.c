/* Hashes and ciphers, over n words or bytes. */
#include "kernel.h"

static unsigned rotate(unsigned x, unsigned count)
{
  return x << count | x >> (32 - count);
}

/* The compression function of SHA-256 over blocks of 16 words; c has its 64 constants (any will do). */
KERNEL(sha256, unsigned, unsigned, unsigned)
{
  unsigned h[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                   0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  for (unsigned block = 0; block + 16 <= vertex->n; block += 16) {
    unsigned w[64];
    for (unsigned i = 0; i < 16; i++) w[i] = vertex->a.data[block + i];
    for (unsigned i = 16; i < 64; i++) {
      unsigned x = w[i - 15], y = w[i - 2];
      w[i] = w[i - 16] + (rotate(x, 25) ^ rotate(x, 14) ^ x >> 3) + w[i - 7] +
             (rotate(y, 15) ^ rotate(y, 13) ^ y >> 10);
    }
    unsigned s[8];
    for (unsigned i = 0; i < 8; i++) s[i] = h[i];
    for (unsigned i = 0; i < 64; i++) {
      unsigned one = s[7] + (rotate(s[4], 26) ^ rotate(s[4], 21) ^ rotate(s[4], 7)) +
                     ((s[4] & s[5]) ^ (~s[4] & s[6])) + vertex->c.data[i] + w[i];
      unsigned two = (rotate(s[0], 30) ^ rotate(s[0], 19) ^ rotate(s[0], 10)) +
                     ((s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]));
      for (unsigned j = 7; j > 0; j--) s[j] = s[j - 1];
      s[4] += one;
      s[0] = one + two;
    }
    for (unsigned i = 0; i < 8; i++) h[i] += s[i];
  }
  for (unsigned i = 0; i < 8; i++) vertex->b.data[i] = h[i];
  return true;
}

#define QUARTER(a, b, c, d)                                                                        \
  (x[a] += x[b], x[d] = rotate(x[d] ^ x[a], 16), x[c] += x[d], x[b] = rotate(x[b] ^ x[c], 12),     \
   x[a] += x[b], x[d] = rotate(x[d] ^ x[a], 8), x[c] += x[d], x[b] = rotate(x[b] ^ x[c], 7))

KERNEL(chacha20, unsigned, unsigned, unsigned)
{
  for (unsigned block = 0; block + 16 <= vertex->n; block += 16) {
    unsigned x[16], start[16];
    for (unsigned i = 0; i < 16; i++) x[i] = start[i] = i == 12 ? block : vertex->c.data[i];
    for (unsigned round = 0; round < 10; round++) {
      QUARTER(0, 4, 8, 12);
      QUARTER(1, 5, 9, 13);
      QUARTER(2, 6, 10, 14);
      QUARTER(3, 7, 11, 15);
      QUARTER(0, 5, 10, 15);
      QUARTER(1, 6, 11, 12);
      QUARTER(2, 7, 8, 13);
      QUARTER(3, 4, 9, 14);
    }
    for (unsigned i = 0; i < 16; i++)
      vertex->b.data[block + i] = vertex->a.data[block + i] ^ (x[i] + start[i]);
  }
  return true;
}

static dword rotate64(dword x, unsigned count)
{
  return x << count | x >> (64 - count);
}

/* SipHash-1-3's rounds over 64-bit words. */
KERNEL(siphash, dword, dword, dword)
{
  dword v0 = 0x736f6d6570736575, v1 = 0x646f72616e646f6d, v2 = 0x6c7967656e657261,
        v3 = 0x7465646279746573;
  for (unsigned i = 0; i < vertex->n; i++) {
    v3 ^= vertex->a.data[i];
    v0 += v1;
    v1 = rotate64(v1, 13) ^ v0;
    v0 = rotate64(v0, 32);
    v2 += v3;
    v3 = rotate64(v3, 16) ^ v2;
    v0 += v3;
    v3 = rotate64(v3, 21) ^ v0;
    v2 += v1;
    v1 = rotate64(v1, 17) ^ v2;
    v2 = rotate64(v2, 32);
    v0 ^= vertex->a.data[i];
  }
  vertex->b.data[0] = v0 ^ v1;
  vertex->b.data[1] = v2 ^ v3;
  return true;
}

/* FNV-1a of strings of 16 bytes. */
KERNEL(fnv, byte, unsigned, unsigned)
{
  for (unsigned i = 0; i < vertex->n; i++) {
    unsigned hash = 2166136261u;
    for (unsigned j = 0; j < 16; j++) hash = (hash ^ vertex->a.data[16 * i + j]) * 16777619u;
    vertex->b.data[i] = hash;
  }
  return true;
}

/* Substitution by a table of 256 bytes and a mix of columns, as ciphers do; the table is in c. */
KERNEL(substitute, byte, byte, byte)
{
  for (unsigned i = 0; i + 16 <= vertex->n; i += 16) {
    byte s[16];
    for (unsigned j = 0; j < 16; j++) s[j] = vertex->a.data[i + j];
    for (unsigned round = 0; round < 4; round++)
      for (unsigned column = 0; column < 16; column += 4) {
        byte x[4];
        for (unsigned j = 0; j < 4; j++) x[j] = vertex->c.data[s[(column + 5 * j) & 15]];
        byte all = x[0] ^ x[1] ^ x[2] ^ x[3];
        for (unsigned j = 0; j < 4; j++) {
          byte pair = x[j] ^ x[(j + 1) & 3];
          s[column + j] = (byte)(x[j] ^ all ^ (byte)(pair << 1) ^ (pair & 0x80 ? 0x1b : 0));
        }
      }
    for (unsigned j = 0; j < 16; j++) vertex->b.data[i + j] = s[j];
  }
  return true;
}

/* Words counted in a table with open addressing, 2 n entries of key and count in c. */
KERNEL(hash_table, unsigned, unsigned, unsigned)
{
  unsigned entries = 2 * vertex->n, *table = vertex->c.data, found = 0;
  for (unsigned i = 0; i < 2 * entries; i++) table[i] = 0;
  for (unsigned i = 0; i < vertex->n; i++) {
    unsigned key = vertex->a.data[i] % (vertex->n / 2) + 1;
    unsigned at = (key * 2654435761u) % entries;
    while (table[2 * at] && table[2 * at] != key) at = at + 1 < entries ? at + 1 : 0;
    table[2 * at] = key;
    found += table[2 * at + 1]++ != 0;
  }
  vertex->b.data[0] = found;
  return true;
}
