/* Rings of replicas, for collectives: which replicas form a ring, and how a table's chunks
 * (chunks.h) go round. */
#ifndef POPLIBS_HOST_RING_H
#define POPLIBS_HOST_RING_H

#include "poplibs/host/chunks.h"

#include <populus/collectives.h>

/* A communication group, and the call that it is for. */
typedef struct ring {
  pop_graph *graph;
  const char *call, *name;
  uint32_t num_replicas, size, stride; /* stride: from one position to the next */
  pop_program sequence;
  pop_tensor index;    /* replica index: unsigned int [1]; null if the size is 1, as is: */
  pop_tensor position; /* position in the group; set by ring_find_position */
} ring;

/* False after an error: the group size does not divide the replicas. */
bool ring_open(ring *r, const char *call, pop_graph *graph, pop_tensor data, pop_comm_group group,
               pop_program sequence, const char *name);
void ring_find_position(ring *r);

/* Two levels of a ring. `within` has the positions in one link domain, `across` those of the
 * same place in all domains. If all positions are in one domain, `across` has size 1. */
typedef struct ring_levels {
  ring within, across;
} ring_levels;

ring_levels ring_split(const ring *r);

uint32_t ring_position_of(const ring *r, uint32_t replica);
/* The replica of the same group that is `shift` positions further. */
uint32_t ring_neighbour(const ring *r, uint32_t replica, uint32_t shift);

/* ---- what is added to the ring's sequence ---- */

void ring_copy(const ring *r, pop_tensor from, pop_tensor to);
/* One copy in which each replica sends to the one `shift` positions further. */
void ring_shift(const ring *r, pop_tensor from, pop_tensor to, uint32_t shift);
/* unsigned int [1] = (a + by) % size, or (a / by) % size. */
pop_tensor ring_calculate(const ring *r, pop_tensor a, pop_binary_op op, uint32_t by,
                          pop_tensor out);

/* Reduce-scatter: the chunk of the replica's own position, combined over all tables of the ring. */
pop_tensor ring_scatter(const ring *r, const chunk_table *table, pop_collective_op op);
/* All-gather: puts the chunks of all replicas into the table. `row`, the replica's own chunk, is
 * overwritten. */
void ring_gather(const ring *r, pop_tensor row, const chunk_table *table);

/* The same with chunks that stay in the table, where that is possible and worth it. The scatter
 * combines the chunk of the replica's own position in place, and returns the state for the
 * gather. */
bool ring_works_in_table(const ring *r, const chunk_table *table);
pop_tensor ring_scatter_here(const ring *r, const chunk_table *table, pop_collective_op op);
void ring_gather_here(const ring *r, const chunk_table *table, pop_tensor state);

/* ---- variables ---- */

/* Maps `flat` like `like`, which has as many elements. */
void ring_map_like(const ring *r, pop_tensor flat, pop_tensor like);
/* A variable of `like`'s shape, type and tile mapping. */
pop_tensor ring_clone(const ring *r, pop_tensor like);

#endif
