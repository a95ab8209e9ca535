/* Executions in formats of other tools. */
#ifndef PROFILE_EXECUTION_TRACES_H
#define PROFILE_EXECUTION_TRACES_H

#include "profile/execution.h"

/* trace_events.c: for Perfetto and chrome://tracing; `what` is an execution. */
void emit_trace_events(const emitter *to, const void *what);

/* folded_stacks.c: for flame graphs. Each line is a stack: frames separated by semicolons, a space,
 * cycles. Frames are the run's program, blocks, the parts of the step's name, the step's kind. */
void print_folded_stacks(FILE *stream, const execution *x);

/* intervals.c: how many tiles do what over time, as CSV. */
void print_intervals(FILE *stream, const execution *x);

#endif
