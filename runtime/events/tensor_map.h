/* Which tiles have what of the tensors that programs touch, and what matrix products are for: as JSON. */
#ifndef EVENTS_TENSOR_MAP_H
#define EVENTS_TENSOR_MAP_H

#include "graph/graph.h"

typedef struct traced_graph {
  pop_graph *graph; /* no view of another */
  const pop_program *programs;
  size_t num_programs;
} traced_graph;

/* What pop_trace_event.tensor_map says; `context` is a traced_graph. CONTROL_PROGRAM for a program of another graph;
 * SYSTEM if the stream cannot be written. */
POP_MUST_CHECK pop_error *write_tensor_map(FILE *stream, const void *context);
/* pop_trace_event.instruction_info, in the same way. */
POP_MUST_CHECK pop_error *write_instruction_info(FILE *stream, const void *context);

#endif
