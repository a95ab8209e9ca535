/* Collectives: what all replicas of a graph, or groups of them, do together with one tensor
 * each. Programs know them as gcl/Collectives.hpp.
 *
 * The codelets of popops (pop_popops_add_codelets) are loaded if they are missing. The graph is
 * replicated (populus/graph.h), in either way; if it is not, each group is one replica. Each
 * function adds its programs to a sequence. Names may be NULL. Errors are the graph's: TENSOR for
 * shapes that do not go together; TYPE for operations that a type does not have; INVALID_ARGUMENT
 * for another operation, or a group that the replicas cannot make up. The tensor that is returned
 * then may be `data`.
 *
 * Algorithm. The replicas of a group form a ring, in which each sends to the next position. The
 * data are cut into as many chunks as there are positions. In every step each replica sends one
 * chunk, so all links carry data all the time. There is one step less than positions. For n
 * bytes and G replicas, a reduce-scatter or all-gather sends n (G - 1) / G bytes from each
 * replica, and an all-reduce twice that. That is the minimum (the ring of Patarasu and Yuan,
 * "Bandwidth optimal all-reduce algorithms for clusters of workstations", 2009). Each step is a
 * copy between replicas. It takes the target's global_latency_cycles, and its bytes at
 * global_bytes_per_cycle, in one process as between ranks.
 *
 * Two levels. A group may be in several link domains (target.link_domain_ipus), with W
 * consecutive positions in each. Then there is a ring of the W positions within each domain, and
 * rings across domains, each of the positions at the same place in their domains. An all-reduce
 * scatters within, reduces each chunk across, and gathers within. A reduce-scatter goes within,
 * then across; an all-gather across, then within. So G / W - 1 steps go through gateways, with a
 * W-th of the bytes, where one ring would have G - 1. With 1,024 replicas in 16 domains an
 * all-reduce takes 2 (63 + 15) steps instead of 2,046.
 *
 * Order. Chunk c of a reduction is combined beginning with the replica at position c + 1, then c
 * + 2, …, and at last c itself, modulo the size of the ring. On two levels that is so within
 * each domain, and then across with the results. So results are bit-identical in all replicas,
 * and for any number of ranks, because domains are the target's.
 *
 * Chunks of an all-reduce are per tile, so that nothing moves between tiles. A tile's elements
 * of the data, in their order, are cut into G chunks of ceil(elements / G), rounded up to whole
 * words. If such chunks had more than 5/4 of ceil(n / G) elements in all before that rounding,
 * as when tiles have few elements each, the data are spread anew, with chunks of all data as in
 * pop_gcl_reduce_scatter.
 *
 * Chunks are sent from where they lie and received where they belong if elements have 32 bits,
 * the ring has up to 16 positions, and each tile has a part of each chunk. Then `out` is the
 * table of chunks; `data` are copied to it if they are another tensor. Other chunks go by way of
 * variables as long as a chunk. */
#ifndef POPULUS_COLLECTIVES_H
#define POPULUS_COLLECTIVES_H

#include <populus/program.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum pop_collective_op {
  POP_COLLECTIVE_ADD,
  POP_COLLECTIVE_MEAN, /* the sum, divided by the size of the group; float and half */
  POP_COLLECTIVE_MUL,
  POP_COLLECTIVE_MIN,
  POP_COLLECTIVE_MAX,
  POP_COLLECTIVE_LOGICAL_AND, /* bool, like the next one */
  POP_COLLECTIVE_LOGICAL_OR,
  POP_COLLECTIVE_SQUARE_ADD, /* the sum of squares */
  POP_COLLECTIVE_LOCAL,      /* nothing is combined: each replica keeps its own */
  POP_COLLECTIVE_COUNT
} pop_collective_op;

typedef enum pop_comm_group_type {
  POP_COMM_ALL,         /* one group */
  POP_COMM_CONSECUTIVE, /* 0 … size - 1, size … 2 size - 1, … */
  /* Those that are num_replicas / size apart: with 4 replicas and size 2, 0 and 2, 1 and 3. */
  POP_COMM_ORTHOGONAL
} pop_comm_group_type;
/* `size` is a divisor of the number of replicas; 0: all of them. With POP_COMM_ALL it is 0 or all
 * of them. */
typedef struct pop_comm_group {
  pop_comm_group_type type;
  uint32_t size;
} pop_comm_group;

/* All-reduce: all replicas of a group get the combination of their `data`. `out` is a tensor of
 * the same shape and type for it, which may be `data`; null ((pop_tensor){0}): a new variable.
 * Returns it. */
pop_tensor pop_gcl_all_reduce(pop_graph *graph, pop_tensor data, pop_collective_op op,
                              pop_comm_group group, pop_tensor out, pop_program sequence,
                              const char *name);
/* Reduce-scatter: the replica at position p of its group gets chunk p of the combination. The
 * data, flattened, are cut into chunks of ceil(elements / size) elements, one for each position.
 * If the last chunk is longer than its elements, the rest of it is undefined. */
pop_tensor pop_gcl_reduce_scatter(pop_graph *graph, pop_tensor data, pop_collective_op op,
                                  pop_comm_group group, pop_program sequence, const char *name);
/* All-gather: the data of all replicas of a group, in the order of positions: [size of the
 * group, shape of `data`]. */
pop_tensor pop_gcl_all_gather(pop_graph *graph, pop_tensor data, pop_comm_group group,
                              pop_program sequence, const char *name);
/* All-to-all: data[i] goes to position i, and the result's [i] comes from there. The first
 * dimension of `data` is the size of the group; otherwise TENSOR. */
pop_tensor pop_gcl_all_to_all(pop_graph *graph, pop_tensor data, pop_comm_group group,
                              pop_program sequence, const char *name);
/* Broadcast: all replicas of a group get the data of the replica at position `root`. In each step,
 * the replicas that have the data send them to as many others. INVALID_ARGUMENT: there is no such
 * position. */
pop_tensor pop_gcl_broadcast(pop_graph *graph, pop_tensor data, pop_comm_group group, uint32_t root,
                             pop_program sequence, const char *name);

/* All-reduce within each replica. `data` are [parts, …]; parts may be on different IPUs. Each
 * part of the result is the combination of all, and is mapped like that part of `data`. `out`:
 * as in pop_gcl_all_reduce. */
pop_tensor pop_gcl_all_reduce_within(pop_graph *graph, pop_tensor data, pop_collective_op op,
                                     pop_tensor out, pop_program sequence, const char *name);

/* Reduce-scatter within each replica: the combination of all parts, flattened. A part has
 * `elements` elements. Chunk c of the result is [c k, (c + 1) k) with k = ceil(elements /
 * parts); it is mapped like these elements of part c. The last chunks may be shorter, or empty. */
pop_tensor pop_gcl_reduce_scatter_within(pop_graph *graph, pop_tensor data, pop_collective_op op,
                                         pop_program sequence, const char *name);
/* All-gather within each replica, from such chunks: [parts, elements]. Each part has all
 * elements, on the tiles of its chunk. TENSOR: a part has no chunk. */
pop_tensor pop_gcl_all_gather_within(pop_graph *graph, pop_tensor chunks, size_t parts,
                                     pop_program sequence, const char *name);
/* All-to-all within each replica, of data [parts, parts, …]: result[i][j] is data[j][i], on the
 * tiles of data[i][j]. TENSOR: other dimensions. */
pop_tensor pop_gcl_all_to_all_within(pop_graph *graph, pop_tensor data, pop_program sequence,
                                     const char *name);
/* Broadcast within each replica: each part of the result is data[root], mapped like that part of
 * `data`. INVALID_ARGUMENT: there is no such part. */
pop_tensor pop_gcl_broadcast_within(pop_graph *graph, pop_tensor data, size_t root,
                                    pop_program sequence, const char *name);

#ifdef __cplusplus
}
#endif
#endif
