/* The execution half of the profile summary, in the layout of the user guide's sample. */
#ifndef PROFILE_EXECUTION_SUMMARY_H
#define PROFILE_EXECUTION_SUMMARY_H

#include "profile/execution.h"

/* "Execution:" with totals and, if vertices were measured, "Cycles by vertex type"; with `steps` also "Steps". */
void print_execution_summary(FILE *stream, const execution *x, bool steps);

#endif
