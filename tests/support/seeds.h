/* The seeds of a random test. From the environment:
 *
 *   POPULUS_TEST_SEED=s     s alone, as a failure names it
 *   POPULUS_TEST_CASES=n    n seeds, from s or else from the test's own first: more for
 *                           a long search
 *   POPULUS_TEST_PART=k     one k-th of the test's seeds (test.sh --quick)
 *
 * If none is set, AddressSanitizer builds use a fifth of the test's seeds, as the sanitizer is
 * slow. The other seeds find different results in the release build.
 */
#ifndef POPULUS_TEST_SEEDS_H
#define POPULUS_TEST_SEEDS_H

#include <stdint.h>
#include <stdlib.h>

typedef struct seed_range {
  uint64_t first, last;
} seed_range;

#ifdef __SANITIZE_ADDRESS__
enum { SEEDS_PART = 5 };
#else
enum { SEEDS_PART = 1 };
#endif

/* One part-th of [first, last], unless the environment says otherwise. */
static inline seed_range seeds_part(uint64_t first, uint64_t last, uint64_t part)
{
  const char *seed = getenv("POPULUS_TEST_SEED"), *cases = getenv("POPULUS_TEST_CASES");
  if (seed) first = last = strtoull(seed, NULL, 10);
  if (cases) last = first + strtoull(cases, NULL, 10) - 1;
  if (!seed && !cases) {
    const char *given = getenv("POPULUS_TEST_PART");
    if (given) part = strtoull(given, NULL, 10);
    last = first + (last - first) / (part ? part : 1);
  }
  return (seed_range){first, last};
}

static inline seed_range test_seeds(uint64_t first, uint64_t last)
{
  return seeds_part(first, last, SEEDS_PART);
}

/* For tests that take all their seeds under AddressSanitizer, too. */
static inline seed_range test_all_seeds(uint64_t first, uint64_t last)
{
  return seeds_part(first, last, 1);
}

#endif
