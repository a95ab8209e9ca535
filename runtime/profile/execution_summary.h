/* The execution half of the profile summary, in the layout of the user guide's sample. */
#ifndef PROFILE_EXECUTION_SUMMARY_H
#define PROFILE_EXECUTION_SUMMARY_H

#include "profile/execution.h"

void print_execution_summary(FILE *stream, const execution *x, bool steps);

/* What the vertices of a type have taken together. */
typedef struct type_cost {
  uint32_t type;
  uint64_t instances, cycles;
} type_cost;

/* Is it known what single vertices take? */
bool execution_knows_vertices(const pop_executable *executable);
/* Adds the vertices of a compute set's last execution, by type: as many `costs` as there are types. */
void add_vertex_costs(const execution *x, uint32_t set, type_cost *costs);
/* By type: on a model, has it vertices that take what their code takes? The caller's to free. */
bool *find_types_without_estimate(const execution *x);

#endif
