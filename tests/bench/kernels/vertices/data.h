/* The initial contents of the kernels' fields, the same for all rivals. Freestanding. */
#ifndef POPULUS_BENCH_DATA_H
#define POPULUS_BENCH_DATA_H

#include <stdint.h>

enum { FLOAT, UNSIGNED, INT, BYTE, DWORD, HALF }; /* types of elements */
enum { TEXT = 1, CLOSE = 2, HALVES = 4 };         /* list.h */

static const unsigned char element_bytes[] = {
    [FLOAT] = 4, [UNSIGNED] = 4, [INT] = 4, [BYTE] = 1, [DWORD] = 8, [HALF] = 2};

static inline uint32_t data_random(uint32_t *x)
{
  *x ^= *x << 13;
  *x ^= *x >> 17;
  return *x ^= *x << 5;
}

/* Something like JSON, with all that the parsers know. */
static inline void fill_text(unsigned char *to, uint32_t count, uint32_t x)
{
  static const char *const words[] = {"\"name\": ",
                                      "[",
                                      "]",
                                      "{",
                                      "}",
                                      ", ",
                                      "12.5",
                                      "3 ",
                                      "(1+2)",
                                      "777.25",
                                      "\"The quick fox\"",
                                      "\"a\\\"b\"",
                                      "true",
                                      "word Word ",
                                      "\n",
                                      "9*8 "};
  for (uint32_t at = 0; at < count;) {
    const char *word = words[data_random(&x) >> 28];
    while (*word && at < count) to[at++] = (unsigned char)*word++;
  }
}

static inline void fill_data(void *data, unsigned type, uint32_t count, unsigned how, uint32_t seed)
{
  uint32_t x = seed * 2654435761u | 1;
  if (type == BYTE && how & TEXT) {
    fill_text(data, count, x);
    return;
  }
  for (uint32_t i = 0; i < count; i++) {
    uint32_t random = data_random(&x);
    switch (type) {
    case FLOAT: /* (0, 1] */
      ((float *)data)[i] = (float)((random >> 8) + 1) * (1.0f / 16777216.0f);
      break;
    case HALF: /* 0.5 to 1, either sign */
      ((uint16_t *)data)[i] = (uint16_t)(0x3800 | (random & 0x83ff));
      break;
    case BYTE:
      ((unsigned char *)data)[i] = (unsigned char)(random >> 24);
      break;
    case DWORD:
      ((uint64_t *)data)[i] = (uint64_t)random << 32 | data_random(&x);
      break;
    default:
      ((uint32_t *)data)[i] = random;
    }
  }
}

static inline uint32_t hash_data(uint32_t hash, const unsigned char *bytes, uint32_t count)
{
  for (uint32_t i = 0; i < count; i++) hash = (hash ^ bytes[i]) * 16777619u;
  return hash;
}

#endif
