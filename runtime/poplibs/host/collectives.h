/* What collectives between replicas and those within one have in common: collectives.c. */
#ifndef POPLIBS_HOST_COLLECTIVES_H
#define POPLIBS_HOST_COLLECTIVES_H

#include <populus/collectives.h>

/* False after an error: there is no such operation, or not of the data's type. */
bool collective_check_op(pop_graph *graph, const char *call, pop_tensor data, pop_collective_op op);

/* A mean becomes one of the sum of `by` values; nothing is done for other operations. */
void collective_divide_mean(pop_graph *graph, pop_tensor sum, pop_collective_op op, size_t by,
                            pop_program sequence, const char *name);

#endif
