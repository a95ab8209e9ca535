/* The costs of runs, as the instrumented tiles of one replica measure them: read from the tiles
 * after each run. */
#ifndef ENGINE_EXECUTION_PROFILE_H
#define ENGINE_EXECUTION_PROFILE_H

#include "options/options.h"
#include "profile/execution.h"

typedef struct execution_profile execution_profile;

/* NULL if the executable's images measure nothing. Machine and executable must outlive the profile.
 * Of several ranks only the one with number `owner` has the machine; the others pass NULL. All
 * ranks have the same profile and must make the same calls. `others` may be NULL if there is only
 * one rank. */
execution_profile *execution_profile_new(machine *m, ranks *others, uint32_t owner,
                                         const pop_executable *executable);
void execution_profile_free(execution_profile *profile); /* NULL is fine, also below */

/* The parameters of all runs. Copied. */
void execution_profile_set_parameters(execution_profile *profile,
                                      const executable_option *parameters, size_t count);
/* Called around a run. Nothing is read while the profile is disabled. */
POP_MUST_CHECK pop_error *execution_profile_begin_run(execution_profile *profile, size_t program,
                                                      const char *run_name);
POP_MUST_CHECK pop_error *execution_profile_end_run(execution_profile *profile);
/* Ends a run that failed with the given message: notes what its tiles have measured so far, and
 * where it was. With several ranks nothing is noted, because not all of them know of the error. */
POP_MUST_CHECK pop_error *execution_profile_end_faulted_run(execution_profile *profile,
                                                            const char *message);
/* Notes a sync of all tiles with the host that is no step of the program. */
void execution_profile_note_sync(execution_profile *profile);
/* The tiles' record of branches is full. */
POP_MUST_CHECK pop_error *execution_profile_note_branches(execution_profile *profile);

/* Empties the buffers of blocks, while all tiles sync with the host. */
POP_MUST_CHECK pop_error *execution_profile_empty_blocks(execution_profile *profile);

void execution_profile_enable(execution_profile *profile, bool enable);
/* Forgets all measurements, on the tiles too if something is loaded. */
POP_MUST_CHECK pop_error *execution_profile_reset(execution_profile *profile, bool loaded);
const execution *execution_profile_get(const execution_profile *profile);

#endif
