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
/* Counts an execution: whether there is to be a report about it. */
bool traced_module_count_execution(traced_module *module);

/* What `write` writes of `context`: into the text, or into the file `name` of the module's folder, whose path is the
 * text then. Left out, with a warning, if it is larger than reports may be. Errors: those of `write`; SYSTEM. */
POP_MUST_CHECK pop_error *traced_module_report(traced_module *module, const char *name,
                                               pop_error *(*write)(FILE *stream,
                                                                   const void *context),
                                               const void *context, pop_trace_text *text);
/* The same for what is no report: always into the text, and without regard to max_report_size. */
POP_MUST_CHECK pop_error *traced_module_text(const traced_module *module, const char *name,
                                             pop_error *(*write)(FILE *stream, const void *context),
                                             const void *context, pop_trace_text *text);

#endif
