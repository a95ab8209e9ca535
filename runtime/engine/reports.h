/* What options ask to be written when there is an executable. */
#ifndef ENGINE_REPORTS_H
#define ENGINE_REPORTS_H

#include "engine/options.h"

/* The archive, the memory summary, … Errors: SYSTEM with the path. */
POP_MUST_CHECK pop_error *write_reports(const pop_executable *executable,
                                        const engine_options *options);

/* The memory part of the profile summary. */
void print_memory_report(FILE *stream, const pop_executable *executable);

#endif
