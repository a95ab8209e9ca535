/* The estimated cycles of a work, with its vertices scheduled as on the tile. `taken` has, by their
 * number in the row, what vertices without an estimate took, in the same unit. NULL if that is not
 * known. */
#ifndef PROFILE_ESTIMATED_CYCLES_H
#define PROFILE_ESTIMATED_CYCLES_H

#include "executable/executable.h"

/* In cycles of the tile. */
uint64_t estimated_cycles(const pop_executable *e, const executable_work *work,
                          const uint64_t *taken);
/* Cycles of one context during which a vertex runs. */
uint64_t estimated_active_cycles(const pop_executable *e, const executable_work *work,
                                 const uint64_t *taken);

#endif
