/* A report: everything about an engine in one file, profile.pop.
 *
 *   {format: "Populus report", version, graph: the graph profile,
 *    execution: the execution profile, if there is one} */
#ifndef PROFILE_COMBINED_PROFILE_H
#define PROFILE_COMBINED_PROFILE_H

#include "profile/execution.h"
#include "profile/graph_profile.h"

#define REPORT_FILE_NAME "profile.pop"

/* `execution` may be NULL. Errors: those of graph_profile_open. */
POP_MUST_CHECK pop_error *report_to_values(const pop_executable *e, const execution *execution,
                                           pop_profile **report);
POP_MUST_CHECK pop_error *report_to_stream(const pop_executable *e, const execution *execution,
                                           pop_profile_format format, FILE *stream);

#endif
