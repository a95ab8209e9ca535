/* Which seeds a random test takes. From the environment:
 *
 *   POPULUS_TEST_SEED=s     s alone, as a failure names it
 *   POPULUS_TEST_CASES=n    n seeds, from s or else from the test's own first: more for a long search, fewer where
 *                           a sanitizer makes everything slow
 */
#ifndef POPULUS_TEST_SEEDS_H
#define POPULUS_TEST_SEEDS_H

#include <stdint.h>
#include <stdlib.h>

typedef struct seed_range {
  uint64_t first, last;
} seed_range;

static inline seed_range test_seeds(uint64_t first, uint64_t last)
{
  const char *seed = getenv("POPULUS_TEST_SEED"), *cases = getenv("POPULUS_TEST_CASES");
  if (seed) first = last = strtoull(seed, NULL, 10);
  if (cases) last = first + strtoull(cases, NULL, 10) - 1;
  return (seed_range){first, last};
}

#endif
