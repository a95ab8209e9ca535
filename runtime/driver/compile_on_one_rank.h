/* One compilation for all ranks: the first rank compiles, or finds the executable in the cache, and
 * sends its archive to the others. */
#ifndef DRIVER_COMPILE_ON_ONE_RANK_H
#define DRIVER_COMPILE_ON_ONE_RANK_H

#include "executable/executable.h"
#include "ranks/ranks.h"

typedef pop_error *(*compile_call)(void *context, pop_executable **executable);

/* All ranks call this, with the hash of what they would compile (executable_cache.h). A single rank
 * just calls `compile`. Errors, on all ranks: RUNTIME, naming two ranks, if their hashes differ;
 * the first rank's error from `compile`. */
POP_MUST_CHECK pop_error *compile_on_one_rank(ranks *r, const uint64_t source[2],
                                              compile_call compile, void *context,
                                              pop_executable **executable);

#endif
