/* The cycles that the vertices of a work are said to take, scheduled as they run on the tile. */
#ifndef PROFILE_ESTIMATED_CYCLES_H
#define PROFILE_ESTIMATED_CYCLES_H

#include "executable/executable.h"

/* Of the tile. */
uint64_t estimated_cycles(const pop_executable *e, const executable_work *work);
/* During which a vertex runs, of one context each. */
uint64_t estimated_active_cycles(const pop_executable *e, const executable_work *work);

#endif
