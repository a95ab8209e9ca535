/* Recursion depths of functions of the C and C++ libraries, which their sources show but
 * their code does not.
 *
 * Their arguments lie in a tile's memory. Exchange code can address 2^20 bytes of it
 * (runtime/isa/isa.h), so there are fewer elements than that. A function that calls itself for the
 * smaller part of its input does so at most log2 of that many times. Introsort counts its levels
 * down and changes over to heapsort.
 *
 *
 * Source: libc++ 19, __algorithm/sort.h and inplace_merge.h; picolibc 1.8, libc/search/qsort.c.
 */
#include "stack_usage.h"
#include <string.h>

#define MAX_LOG2_ELEMENTS 19u

static const struct {
  const char *prefix; /* of the symbol, up to the template's arguments */
  uint32_t levels;
} known[] = {
    /* std::sort: `if (depth == 0) { heap sort; return; } --depth;`, depth = 2 * log2(elements) at
     * first, in __introsort; the call of itself is for the left part, the right one is a loop. */
    {"_ZNSt3__111__introsortI", 2 * MAX_LOG2_ELEMENTS + 1},
    /* std::inplace_merge: the call of itself is for the part that is smaller, the other is a loop. */
    {"_ZNSt3__115__inplace_mergeI", MAX_LOG2_ELEMENTS + 1},
};

static const struct {
  const char *symbol;
  uint32_t levels;
} known_in_c[] = {
    /* The call of itself is for the smaller part, the larger one is a loop. */
    {"qsort", MAX_LOG2_ELEMENTS + 1},
    {"qsort_r", MAX_LOG2_ELEMENTS + 1},
};

uint32_t stack_known_levels(const char *symbol)
{
  for (size_t i = 0; i < sizeof known / sizeof *known; ++i)
    if (!strncmp(symbol, known[i].prefix, strlen(known[i].prefix))) return known[i].levels;
  for (size_t i = 0; i < sizeof known_in_c / sizeof *known_in_c; ++i)
    if (!strcmp(symbol, known_in_c[i].symbol)) return known_in_c[i].levels;
  return 0;
}
