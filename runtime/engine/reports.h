/* What options ask to be written when there is an executable. */
#ifndef ENGINE_REPORTS_H
#define ENGINE_REPORTS_H

#include "options/options.h"

/* The archive, the graph profile, … `graph` is NULL if there is none any more. Errors: SYSTEM with the
 * path. */
POP_MUST_CHECK pop_error *write_reports(pop_graph *graph, const pop_executable *executable,
                                        const engine_options *options);

/* A graph for the CPU has none: the log says so if some are asked for. */
void warn_of_no_reports(const engine_options *options);

/* Where the execution profile goes; NULL: nowhere. The caller's to free. */
char *execution_report_folder(const run_options *options);
/* execution.json or, in the engine's format, execution.cbor; execution.txt, execution_trace.json,
 * execution_stacks.folded, profile.pop; anew. */
POP_MUST_CHECK pop_error *write_execution_reports(const pop_engine *engine, const char *folder);

/* Is something asked for that is about the graph and its memory, also if it does not fit? */
bool reports_want_graph(const engine_options *options);
/* Where profile.pop is written to when a graph is compiled; NULL: nowhere. The caller's to free. */
char *reports_profile_path(const engine_options *options);

#endif
