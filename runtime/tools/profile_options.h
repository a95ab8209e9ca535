/* The engine options of popexec --profile: profiles are the engine's reports. */
#ifndef TOOLS_PROFILE_OPTIONS_H
#define TOOLS_PROFILE_OPTIONS_H

#include "arguments.h"

/* Those of the command line, and with --profile those that write profiles to its folder; the caller
 * frees the list. Removes a folder of reports from the options in the environment, which would
 * override it. Errors: USAGE if the command line names two folders. */
POP_MUST_CHECK pop_error *profile_options(const arguments *a, pop_option **options, size_t *count);

#endif
