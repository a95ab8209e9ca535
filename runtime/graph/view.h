/* Making views: pieces (graph.h) are collected in the graph's scratch memory and become a tensor
 * at the end.
 *
 *   view_begin, then view_add_run or view_gather as often as needed, then view_end
 *
 * Check the result's number of elements (view_count_elements) before gathering anything: it
 * bounds all positions and loops here. */
#ifndef GRAPH_VIEW_H
#define GRAPH_VIEW_H

#include "graph/graph.h"

struct view_scratch *view_scratch_new(void);
void view_scratch_free(struct view_scratch *scratch);

/* Number of elements of a shape; false if it is above 2^63 - 1. Any size 0 makes it 0. */
bool view_count_elements(const size_t *shape, size_t rank, uint64_t *num_elements);

/* `replication` is that of the result, and of everything that is gathered. */
void view_begin(pop_graph *graph, uint32_t replication);
/* Elements base … base + count - 1 of a variable. */
void view_add_run(pop_graph *graph, uint32_t variable, uint64_t base, uint64_t count);
/* Elements of `t` at the positions (in its row-major order) base + i0 * loops[0].stride + …, in the
 * order of the nest; loops[0] is the outermost. At most GRAPH_MAX_RANK + 2 loops. False when the
 * view has too many pieces: view_end will fail. */
bool view_gather(pop_graph *graph, const tensor *t, uint64_t base, const view_dim *loops,
                 size_t num_loops);
/* The tensor of what was collected. `call` is for messages. */
pop_tensor view_end(pop_graph *graph, const char *call, pop_type type, const size_t *shape,
                    size_t rank);

/* The elements of `t` under another shape of as many elements. */
pop_tensor view_reshaped(pop_graph *graph, const char *call, const tensor *t, const size_t *shape,
                         size_t rank);

#endif
