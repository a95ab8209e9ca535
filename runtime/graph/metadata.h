/* What connects quarters, or gives them to the host, wants of their format and scale. */
#ifndef GRAPH_METADATA_H
#define GRAPH_METADATA_H

#include "graph/graph.h"

/* The metadata of quarters as a tensor of one element; null if there are no elements, after an error, and if the tensor joins
 * quarters of different metadata, which is an error if there must be one. */
pop_tensor graph_metadata(pop_graph *graph, const char *call, const tensor *quarters, bool must);

#endif
