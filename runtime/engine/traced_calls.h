/* What engines do, to the trace that records it (../events/). Without one these do nothing. */
#ifndef ENGINE_TRACED_CALLS_H
#define ENGINE_TRACED_CALLS_H

#include "engine/engine_private.h"
#include "events/event_trace.h"

/* The engine is loaded; it began then. */
void trace_load(const pop_engine *engine, event_time begun);
/* A run is over, with `error` or NULL: returns that, or what went wrong with the report. */
POP_MUST_CHECK pop_error *trace_run(const pop_engine *engine, size_t program, event_time begun,
                                    pop_error *error);

#endif
