/* A hash of 128 bits of a graph and its programs, for caches of compiled executables. */
#ifndef GRAPH_FINGERPRINT_H
#define GRAPH_FINGERPRINT_H

#include "graph/graph.h"

/* Hashes everything in the graph that the compiler reads, and the programs (by their indices in
 * the graph). Graphs built by the same calls have the same fingerprint. An equal graph built by
 * other calls may have another. */
typedef struct fingerprint {
  uint64_t low, high;
} fingerprint;
fingerprint graph_fingerprint(pop_graph *graph, const uint32_t *programs, size_t num_programs);

#endif
