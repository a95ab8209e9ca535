/* What runs have cost, as the options debug.instrument… ask for it. Nothing is added to the tiles' code:
 * the software IPU says what it does. Without instrumentation it is not asked. */
#ifndef ENGINE_EXECUTION_PROFILE_H
#define ENGINE_EXECUTION_PROFILE_H

#include "engine/options.h"

typedef struct execution_profile execution_profile;

/* NULL if nothing is to be instrumented. Executable and machine must live as long. */
execution_profile *execution_profile_new(machine *m, const pop_executable *executable,
                                         const run_options *options);
void execution_profile_free(execution_profile *profile); /* NULL is fine */

/* Around a run, and around the host exchange of an event (from 0) in it. `profile` may be NULL. */
void execution_profile_begin_run(execution_profile *profile, size_t program);
void execution_profile_begin_exchange(execution_profile *profile);
void execution_profile_end_exchange(execution_profile *profile, size_t event);
void execution_profile_end_run(execution_profile *profile);
/* Forgets everything: the engine is loaded. */
void execution_profile_reset(execution_profile *profile);

POP_MUST_CHECK pop_error *execution_profile_write(FILE *stream, const void *profile);

#endif
