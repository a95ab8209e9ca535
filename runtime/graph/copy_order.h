/* Of copies between tensors. */
#ifndef GRAPH_COPY_ORDER_H
#define GRAPH_COPY_ORDER_H

#include <populus/tensor.h>

/* Replaces both tensors, of as many elements, by views of the same elements in another order if they lie in longer runs then on
 * both sides. */
void order_copy(pop_graph *graph, pop_tensor *source, pop_tensor *destination);

#endif
