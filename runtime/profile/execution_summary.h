/* The execution half of the profile summary, in the layout of the user guide's sample. */
#ifndef PROFILE_EXECUTION_SUMMARY_H
#define PROFILE_EXECUTION_SUMMARY_H

#include "profile/execution.h"

void print_execution_summary(FILE *stream, const execution *x, bool steps);

/* All vertices of a type: how many, and their cycles. */
typedef struct type_cost {
  uint32_t type;
  uint64_t instances, cycles;
} type_cost;

/* Are the cycles of single vertices known? */
bool execution_knows_vertices(const pop_executable *executable);
/* Adds the last execution of a compute set to `costs`, by vertex type. */
void add_vertex_costs(const execution *x, uint32_t set, type_cost *costs);
/* By vertex type: on a model, does a vertex take the measured cycles of its code? The caller frees
 * the result. */
bool *find_types_without_estimate(const execution *x);

#endif
