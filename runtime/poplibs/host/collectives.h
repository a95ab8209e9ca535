/* What collectives between replicas (collectives.c) and within one (collectives_within.c) share. */
#ifndef POPLIBS_HOST_COLLECTIVES_H
#define POPLIBS_HOST_COLLECTIVES_H

#include <populus/collectives.h>

/* False after an error: there is no such operation, or none for the data's type. */
bool collective_check_op(pop_graph *graph, const char *call, pop_tensor data, pop_collective_op op);

/* POP_COLLECTIVE_MEAN: divides the sum by `by`. Other operations: does nothing. */
void collective_divide_mean(pop_graph *graph, pop_tensor sum, pop_collective_op op, size_t by,
                            pop_program sequence, const char *name);

#endif
