/* Rings of replicas, for collectives: who is in them, and how chunks of a table (chunks.h) go round. */
#ifndef POPLIBS_HOST_RING_H
#define POPLIBS_HOST_RING_H

#include "poplibs/host/chunks.h"

#include <populus/collectives.h>

/* Groups, resolved, and how all of this is called. */
typedef struct ring {
  pop_graph *graph;
  const char *call, *name;
  uint32_t num_replicas, size, stride; /* from one position to the next */
  pop_program sequence;
  pop_tensor index; /* of the replica: unsigned int [1]; null if the size is 1, and then so is: */
  pop_tensor position; /* its position in the group; by ring_find_position */
} ring;

/* False after an error: the groups are not of one size. */
bool ring_open(ring *r, const char *call, pop_graph *graph, pop_tensor data, pop_comm_group group,
               pop_program sequence, const char *name);
void ring_find_position(ring *r);

/* The ring among those that are linked, and the one among those of the same place in theirs, of size 1 if all are. */
typedef struct ring_levels {
  ring within, across;
} ring_levels;

ring_levels ring_split(const ring *r);

uint32_t ring_position_of(const ring *r, uint32_t replica);
/* The replica of its group that is `shift` positions further. */
uint32_t ring_neighbour(const ring *r, uint32_t replica, uint32_t shift);

/* ---- what is added to the ring's sequence ---- */

void ring_copy(const ring *r, pop_tensor from, pop_tensor to);
/* A copy of all replicas at once, each to the one `shift` positions further. */
void ring_pass_on(const ring *r, pop_tensor from, pop_tensor to, uint32_t shift);
/* unsigned int [1] = (a + by) % size, or (a / by) % size. */
pop_tensor ring_calculate(const ring *r, pop_tensor a, pop_binary_op op, uint32_t by,
                          pop_tensor out);

/* The chunk of the replica's position, of all tables combined. */
pop_tensor ring_scatter(const ring *r, const chunk_table *table, pop_collective_op op);
/* Puts the chunks of all into the table; `row`, the replica's own, is overwritten. */
void ring_gather(const ring *r, pop_tensor row, const chunk_table *table);

/* The same with chunks that stay in the table, where that is possible and worth it: each replica's chunk of its own position becomes that
 * of all tables combined. The state to go on with. */
bool ring_stays_in_table(const ring *r, const chunk_table *table);
pop_tensor ring_scatter_here(const ring *r, const chunk_table *table, pop_collective_op op);
void ring_gather_here(const ring *r, const chunk_table *table, pop_tensor state);

/* ---- variables ---- */

/* Elements of a variable lie where those of `like` do, which are as many. */
void ring_map_like(const ring *r, pop_tensor flat, pop_tensor like);
/* A variable of `like`'s shape and type that lies where it does. */
pop_tensor ring_clone(const ring *r, pop_tensor like);

#endif
