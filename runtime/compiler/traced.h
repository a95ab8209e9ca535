/* What debug.trace prints: tensors around compute sets and copies, on tiles and on the CPU
 * device. */
#ifndef COMPILER_TRACED_H
#define COMPILER_TRACED_H

#include "graph/graph.h"

/* Prints a tensor of at least one element. The title is valid only during the call. */
typedef void traced_tensor(void *context, uint32_t tensor, const char *title);

/* Calls `print` for what the vertices of one compute set read, or (`after`) have written. */
void trace_compute_set(const pop_graph *graph, const uint32_t *vertices, size_t num_vertices,
                       bool after, traced_tensor *print, void *context);
/* The same for the source, or the destination, of a copy. */
void trace_copy(const pop_graph *graph, const program *copy, bool after, traced_tensor *print,
                void *context);

#endif
