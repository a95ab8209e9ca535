/* Operands of 64-bit divisions that are near where methods go wrong. */
#ifndef POPULUS_TEST_DIVISION_OPERANDS_H
#define POPULUS_TEST_DIVISION_OPERANDS_H

#include "support/random.h"

/* A number of any length, or near a power of two or 2^64, or a multiple of the other one. */
static inline uint64_t pick_operand(uint64_t *random, uint64_t other)
{
  uint64_t low = random_next(random), any = low << 32 ^ random_next(random);
  uint64_t power = UINT64_C(1) << random_below(random, 64);
  switch (random_below(random, 5)) {
  case 0:
    return power - 2 + random_below(random, 5);
  case 1:
    return other * (1 + (any & (power - 1))) - 1 + random_below(random, 3);
  case 2:
    return 0 - (any >> random_below(random, 64));
  default:
    return any >> random_below(random, 64);
  }
}

#endif
