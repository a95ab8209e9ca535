/* Which programs and compute sets are reachable from some programs. */
#ifndef PROFILE_GRAPH_STEPS_H
#define PROFILE_GRAPH_STEPS_H

#include "graph/graph.h"

typedef struct graph_steps {
  bool *programs;     /* by program of the graph */
  bool *compute_sets; /* by compute set */
} graph_steps;

/* Without programs, all compute sets. Errors: CONTROL_PROGRAM for a program of another graph. */
POP_MUST_CHECK pop_error *graph_steps_find(const char *call, const pop_graph *graph,
                                           const pop_program *programs, size_t num_programs,
                                           graph_steps *steps);
void graph_steps_free(graph_steps *steps);

#endif
