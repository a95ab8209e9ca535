/* Counter-based random bits, for codelets that runtime/models/ generates (hlo.h): Threefry-2x32
 * with 20 rounds and Philox-4x32 with 10 (Salmon et al., "Parallel random numbers: as easy as 1, 2,
 * 3", 2011), and the elements that XLA makes of their words. A state is the key, then the counter
 * of 64 bits (Threefry) or 128. */
#ifndef POPULUS_HLO_RANDOM_H
#define POPULUS_HLO_RANDOM_H

#include <populus/hlo_values.h>

HLO uint32_t hlo_rotate(uint32_t a, int by)
{
  return a << by | a >> (32 - by);
}

/* Both words for a counter; the first one is the low word. */
HLO_LARGE uint64_t hlo_threefry(uint64_t key, uint64_t counter)
{
  static const uint8_t by[2][4] = {{13, 15, 26, 6}, {17, 29, 16, 24}};
  const uint32_t k0 = (uint32_t)key, k1 = (uint32_t)(key >> 32);
  const uint32_t keys[3] = {k0, k1, 0x1bd11bda ^ k0 ^ k1};
  uint32_t x0 = (uint32_t)counter + k0, x1 = (uint32_t)(counter >> 32) + k1;
  for (uint32_t group = 1; group <= 5; ++group) {
    for (int i = 0; i < 4; ++i) {
      x0 += x1;
      x1 = hlo_rotate(x1, by[(group - 1) & 1][i]) ^ x0;
    }
    x0 += keys[group % 3];
    x1 += keys[(group + 1) % 3] + group;
  }
  return (uint64_t)x1 << 32 | x0;
}

typedef struct hlo_words {
  uint32_t word[4];
} hlo_words;

/* Four words for a counter. */
HLO_LARGE hlo_words hlo_philox(uint64_t key, uint64_t low, uint64_t high)
{
  uint32_t k0 = (uint32_t)key, k1 = (uint32_t)(key >> 32);
  hlo_words x = {{(uint32_t)low, (uint32_t)(low >> 32), (uint32_t)high, (uint32_t)(high >> 32)}};
  for (int round = 0; round < 10; ++round) {
    const uint64_t a = (uint64_t)0xd2511f53 * x.word[0], b = (uint64_t)0xcd9e8d57 * x.word[2];
    x = (hlo_words){{(uint32_t)(b >> 32) ^ x.word[1] ^ k0, (uint32_t)b,
                     (uint32_t)(a >> 32) ^ x.word[3] ^ k1, (uint32_t)a}};
    k0 += 0x9e3779b9;
    k1 += 0xbb67ae85;
  }
  return x;
}

/* ---- elements of a result ----
 *
 * Threefry makes one element of 64 bits from each counter, or two of 32 bits and less. Those two
 * are neighbours in one dimension of the result, which is `size` elements long; its elements are
 * `inner` apart. (A result of one element has no such dimension: 1, 1.) */
HLO uint64_t hlo_threefry_64(const unsigned long long *state, uint32_t i)
{
  return hlo_threefry(state[0], state[1] + i);
}
HLO uint32_t hlo_threefry_32(const unsigned long long *state, uint32_t i, uint32_t size,
                             uint32_t inner)
{
  const uint32_t along = i / inner % size, outer = i / inner / size;
  const uint32_t counter = (outer * ((size + 1) / 2) + along / 2) * inner + i % inner;
  return (uint32_t)(hlo_threefry(state[0], state[1] + counter) >> (along & 1 ? 32 : 0));
}

/* Philox makes four elements of 32 bits, or two of 64. In a state of two words the key is also the
 * upper half of the counter. */
HLO hlo_words hlo_philox_at(const unsigned long long *state, uint32_t words, uint32_t i)
{
  const uint64_t low = state[1] + i;
  return hlo_philox(state[0], low, state[words < 3 ? 0 : 2] + (low < i));
}
HLO uint64_t hlo_philox_64(const unsigned long long *state, uint32_t words, uint32_t i)
{
  const hlo_words x = hlo_philox_at(state, words, i / 2);
  const uint32_t *at = x.word + 2 * (i & 1);
  return (uint64_t)at[1] << 32 | at[0];
}
HLO uint32_t hlo_philox_32(const unsigned long long *state, uint32_t words, uint32_t i)
{
  return hlo_philox_at(state, words, i / 4).word[i & 3];
}

/* The state after `counters` counters have been used. */
HLO void hlo_advance(const unsigned long long *state, unsigned long long *next, uint32_t words,
                     uint32_t counters)
{
  next[0] = state[0];
  next[1] = state[1] + counters;
  if (words == 3) next[2] = state[2] + (next[1] < counters);
}

#endif
