/* An executable whose compilation, loading and runs are recorded. */
#ifndef EVENTS_TRACED_MODULE_H
#define EVENTS_TRACED_MODULE_H

#include "events/event_trace.h"

typedef struct traced_module traced_module;

/* Retains the trace. */
traced_module *traced_module_new(pop_event_trace *trace, const char *name);
void traced_module_free(traced_module *module); /* NULL is fine */

pop_event_trace *traced_module_trace(const traced_module *module);
const char *traced_module_name(const traced_module *module);
/* Counts an execution. Returns whether it gets a report. */
bool traced_module_count_execution(traced_module *module);

/* Calls `write` with `context`. The output goes into `text`; or into the file `name` in the
 * module's folder, and its path into `text`. If it is larger than reports may be, it is left out
 * with a warning. Errors: those of `write`; SYSTEM. */
POP_MUST_CHECK pop_error *traced_module_report(traced_module *module, const char *name,
                                               pop_error *(*write)(FILE *stream,
                                                                   const void *context),
                                               const void *context, pop_trace_text *text);
/* The same for texts that are not reports: always into `text`, and without max_report_size. */
POP_MUST_CHECK pop_error *traced_module_text(const traced_module *module, const char *name,
                                             pop_error *(*write)(FILE *stream, const void *context),
                                             const void *context, pop_trace_text *text);

#endif
