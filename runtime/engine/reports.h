/* Reports that options ask for, about an executable. */
#ifndef ENGINE_REPORTS_H
#define ENGINE_REPORTS_H

#include "options/options.h"

/* Writes the archive, the graph profile, … `graph` is NULL if it does not exist any more. Errors:
 * SYSTEM with the path. */
POP_MUST_CHECK pop_error *write_reports(pop_graph *graph, const pop_executable *executable,
                                        const engine_options *options);

/* A graph for the CPU has no reports: logs that if options ask for some. */
void warn_of_no_reports(const engine_options *options);

/* The folder of the execution profile; NULL: it is not written. The caller frees it. */
char *execution_report_folder(const run_options *options);
/* Writes anew: execution.json (or execution.cbor, by the engine's format), execution.txt,
 * execution_trace.json, execution_stacks.folded, profile.pop. */
POP_MUST_CHECK pop_error *write_execution_reports(const pop_engine *engine, const char *folder);

/* Do options ask for a report about the graph and its memory, which is written even if the graph
 * does not fit? */
bool reports_want_graph(const engine_options *options);
/* The path of profile.pop at compile time; NULL: it is not written. The caller frees it. */
char *reports_profile_path(const engine_options *options);

#endif
