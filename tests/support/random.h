/* Random numbers of tests and benchmarks: the same on every machine, from a seed that a failure can name. */
#ifndef POPULUS_TEST_RANDOM_H
#define POPULUS_TEST_RANDOM_H

#include <stdint.h>

/* 31 bits of a linear congruential generator (Knuth, MMIX). */
static inline uint32_t random_next(uint64_t *state)
{
  *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (uint32_t)(*state >> 33);
}

/* 0 <= result < limit; limit > 0 */
static inline uint32_t random_below(uint64_t *state, uint32_t limit)
{
  return random_next(state) % limit;
}

static inline uint32_t random_of(uint64_t *state, const uint32_t *values, uint32_t count)
{
  return values[random_below(state, count)];
}
/* One of the values. */
#define RANDOM_OF(state, ...)                                                                      \
  random_of(state, (const uint32_t[]){__VA_ARGS__}, sizeof((const uint32_t[]){__VA_ARGS__}) / 4)

#endif
