/* The order of copies between tensors. */
#ifndef GRAPH_COPY_ORDER_H
#define GRAPH_COPY_ORDER_H

#include <populus/tensor.h>

/* Replaces both tensors, which have as many elements, by views in another order, if that makes
 * longer runs on both sides. */
void order_copy(pop_graph *graph, pop_tensor *source, pop_tensor *destination);

#endif
