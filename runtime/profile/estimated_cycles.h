/* The cycles that the vertices of a work are said to take, scheduled as they run on the tile. `taken` has what those have taken
 * of which nothing is said, by their numbers in the row, in the same unit; NULL: that is not known. */
#ifndef PROFILE_ESTIMATED_CYCLES_H
#define PROFILE_ESTIMATED_CYCLES_H

#include "executable/executable.h"

/* Of the tile. */
uint64_t estimated_cycles(const pop_executable *e, const executable_work *work,
                          const uint64_t *taken);
/* During which a vertex runs, of one context each. */
uint64_t estimated_active_cycles(const pop_executable *e, const executable_work *work,
                                 const uint64_t *taken);

#endif
