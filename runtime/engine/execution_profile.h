/* What runs cost, as the instrumented tiles of one replica count it: read from them after each run. */
#ifndef ENGINE_EXECUTION_PROFILE_H
#define ENGINE_EXECUTION_PROFILE_H

#include "options/options.h"
#include "profile/execution.h"

typedef struct execution_profile execution_profile;

/* NULL if the executable's images measure nothing. Machine and executable have to live on. Of several ranks, the one with
 * the number `owner` has the machine, the others NULL: all have the same profile, and make the same calls. `others` may be
 * NULL if there are none. */
execution_profile *execution_profile_new(machine *m, ranks *others, uint32_t owner,
                                         const pop_executable *executable);
void execution_profile_free(execution_profile *profile); /* NULL is fine, also below */

/* What all runs go by. Copied. */
void execution_profile_set_parameters(execution_profile *profile,
                                      const executable_option *parameters, size_t count);
/* Around a run. Nothing is read while the profile is disabled. */
POP_MUST_CHECK pop_error *execution_profile_begin_run(execution_profile *profile, size_t program,
                                                      const char *run_name);
POP_MUST_CHECK pop_error *execution_profile_end_run(execution_profile *profile);
/* Of one that ended in an error, whose message is given: what its tiles have measured up to there, and where it was. Of several
 * ranks, who cannot all know of it, nothing is noted. */
POP_MUST_CHECK pop_error *execution_profile_end_faulted_run(execution_profile *profile,
                                                            const char *message);
/* All tiles synced with the host for what is no step of the program. */
void execution_profile_note_sync(execution_profile *profile);
/* The tiles' record of branches is full. */
POP_MUST_CHECK pop_error *execution_profile_note_branches(execution_profile *profile);

/* All tiles sync with the host: buffers of blocks are emptied. */
POP_MUST_CHECK pop_error *execution_profile_empty_blocks(execution_profile *profile);

void execution_profile_enable(execution_profile *profile, bool enable);
/* Forgets all; tiles forget, too, if there is something loaded. */
POP_MUST_CHECK pop_error *execution_profile_reset(execution_profile *profile, bool loaded);
const execution *execution_profile_get(const execution_profile *profile);

#endif
