/* The metadata (format and scale) of quarters, for connections and host handles. */
#ifndef GRAPH_METADATA_H
#define GRAPH_METADATA_H

#include "graph/graph.h"

/* The metadata of quarters as a tensor of one element. Null if there are no elements, after an
 * error, or if the tensor joins quarters of different metadata. That last case is an error if
 * `must`. */
pop_tensor graph_metadata(pop_graph *graph, const char *call, const tensor *quarters, bool must);

#endif
