/* As JSON: on which tiles the tensors lie that programs touch, and what matrix products are for. */
#ifndef EVENTS_TENSOR_MAP_H
#define EVENTS_TENSOR_MAP_H

#include "graph/graph.h"

typedef struct traced_graph {
  pop_graph *graph; /* no view of another */
  const pop_program *programs;
  size_t num_programs;
} traced_graph;

/* Writes pop_trace_event.tensor_map; `context` is a traced_graph. CONTROL_PROGRAM for a program of
 * another graph; SYSTEM if the stream cannot be written. */
POP_MUST_CHECK pop_error *write_tensor_map(FILE *stream, const void *context);
/* Writes pop_trace_event.instruction_info; the same context and errors. */
POP_MUST_CHECK pop_error *write_instruction_info(FILE *stream, const void *context);

#endif
