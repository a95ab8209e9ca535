/* What a graph and its programs are, as a number of 128 bits: for caches of what was compiled from them. */
#ifndef GRAPH_FINGERPRINT_H
#define GRAPH_FINGERPRINT_H

#include "graph/graph.h"

/* Hash of everything in the graph that the compiler reads, and of the programs (by their
 * indices in the graph). Graphs that were built by the same calls have the same; one that says the
 * same by other calls may have another. */
typedef struct fingerprint {
  uint64_t low, high;
} fingerprint;
fingerprint graph_fingerprint(pop_graph *graph, const uint32_t *programs, size_t num_programs);

#endif
