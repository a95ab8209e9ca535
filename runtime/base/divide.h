#ifndef BASE_DIVIDE_H
#define BASE_DIVIDE_H

#include <stdint.h>

/* The quotient, rounded up. The sum of both is less than 2^64; `b` is not 0. */
static inline uint64_t divide_up(uint64_t a, uint64_t b)
{
  return (a + b - 1) / b;
}

#endif
