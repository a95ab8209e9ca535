/* Records what engines do in the event trace (../events/). These functions do nothing without a
 * trace. */
#ifndef ENGINE_TRACED_CALLS_H
#define ENGINE_TRACED_CALLS_H

#include "engine/engine_private.h"
#include "events/event_trace.h"

/* The engine has been loaded; loading began at `begun`. */
void trace_load(const pop_engine *engine, event_time begun);
/* A run has ended, with `error` or NULL. Returns that, or an error of the report. */
POP_MUST_CHECK pop_error *trace_run(const pop_engine *engine, size_t program, event_time begun,
                                    pop_error *error);

#endif
