/* Collectives: what all replicas of a graph, or groups of them, do together with one tensor each. What programs know as
 * gcl/Collectives.hpp.
 *
 * popops' codelets (pop_popops_add_codelets) are loaded if they are not there. The graph is a replicated one
 * (populus/graph.h), in either way; of a graph that is not, each group is one replica. Each function adds what is to be run
 * to a sequence; names may be NULL. Errors are the graph's: TENSOR, TYPE, INVALID_ARGUMENT.
 *
 * How: data go round a ring in the group, from each position to the next, in as many steps as there are positions but one.
 * What goes is chunk after chunk of the data, cut into as many chunks as positions: in every step each replica sends one,
 * so that all links carry data all the time. For n bytes and G replicas a reduce-scatter or all-gather sends n (G - 1) / G
 * bytes from each replica, an all-reduce twice that, which is the least that there is (the ring of Patarasu and Yuan,
 * "Bandwidth optimal all-reduce algorithms for clusters of workstations", 2009). Each step is a copy between replicas: it
 * takes the target's global_latency_cycles and its bytes through global_bytes_per_cycle, in one process as between ranks.
 *
 * Two levels: where a group's replicas are in several link domains (target.link_domain_ipus), with the same number W of positions in
 * each, one after the other, there are rings of the W in each domain, and rings across domains, of those at the same place in theirs.
 * An all-reduce scatters within, reduces what each has got across, and gathers within; a reduce-scatter goes within and then
 * across, an all-gather across and then within: (G / W - 1) steps through gateways where one ring would have G - 1, with a W-th of
 * the bytes. With 1,024 replicas in 16 domains an all-reduce takes 2 (63 + 15) steps instead of 2,046.
 *
 * Order: chunk c of a reduction is combined beginning with the replica at position c + 1, then c + 2, … and at last c
 * itself, modulo the size of the ring; on two levels so within each domain, and what comes of that in the same way across. So
 * results are the same to the bit in all replicas, and for any number of ranks: domains are the target's.
 *
 * Chunks of an all-reduce are those of each tile, so that nothing moves between tiles: the elements that a tile has of the
 * data, in their order, are cut into G chunks of ceil(elements / G), and then as many more as make whole words. If such
 * chunks had more than 5/4 of ceil(n / G) elements in all, before that, as where tiles have few elements each, the data are
 * spread anew, and chunks are of all: as of pop_gcl_reduce_scatter. Of elements of 32 bits, in rings of up to 16 and where each tile has a
 * part of each chunk, chunks are sent from where they lie and received where they belong: `out` is the table, which `data` are copied to
 * if they are another tensor. Others go by way of rows, as long as a chunk. */
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
  POP_COLLECTIVE_LOGICAL_AND, /* bool, as the next one */
  POP_COLLECTIVE_LOGICAL_OR,
  POP_COLLECTIVE_SQUARE_ADD, /* the sum of squares */
  POP_COLLECTIVE_LOCAL,      /* nothing is combined: each replica's own */
  POP_COLLECTIVE_COUNT
} pop_collective_op;

typedef enum pop_comm_group_type {
  POP_COMM_ALL,         /* one group */
  POP_COMM_CONSECUTIVE, /* 0 … size - 1, size … 2 size - 1, … */
  POP_COMM_ORTHOGONAL /* those that are num_replicas / size apart: with 4 replicas and size 2, 0 and 2, 1 and 3 */
} pop_comm_group_type;
/* `size` is a divisor of the number of replicas; 0: all of them. */
typedef struct pop_comm_group {
  pop_comm_group_type type;
  uint32_t size;
} pop_comm_group;

/* All replicas of a group get the combination of their `data`. `out`: a tensor of the same shape and type that gets it,
 * which may be `data`; null ((pop_tensor){0}): a new variable. Returns it. */
pop_tensor pop_gcl_all_reduce(pop_graph *graph, pop_tensor data, pop_collective_op op,
                              pop_comm_group group, pop_tensor out, pop_program sequence,
                              const char *name);
/* The replica at position p of its group gets chunk p of the combination: the data, flattened, are cut into as many chunks of
 * ceil(elements / size) elements; what the last one has more than there are elements is undefined. */
pop_tensor pop_gcl_reduce_scatter(pop_graph *graph, pop_tensor data, pop_collective_op op,
                                  pop_comm_group group, pop_program sequence, const char *name);
/* [size of the group, shape of `data`]: the data of all, in the order of positions. */
pop_tensor pop_gcl_all_gather(pop_graph *graph, pop_tensor data, pop_comm_group group,
                              pop_program sequence, const char *name);
/* data[i], of as many as the group's size, goes to position i; the result's [i] comes from there. */
pop_tensor pop_gcl_all_to_all(pop_graph *graph, pop_tensor data, pop_comm_group group,
                              pop_program sequence, const char *name);
/* All get the data of the replica at position `root`: from those that have them to as many others in each step. */
pop_tensor pop_gcl_broadcast(pop_graph *graph, pop_tensor data, pop_comm_group group, uint32_t root,
                             pop_program sequence, const char *name);

/* Within each replica: `data` are [parts, …], parts on different IPUs, say; each part of the result, which lies where that
 * of `data` does, is the combination of all. `out`: as of pop_gcl_all_reduce. */
pop_tensor pop_gcl_all_reduce_within(pop_graph *graph, pop_tensor data, pop_collective_op op,
                                     pop_tensor out, pop_program sequence, const char *name);

/* The combination of all parts, flattened: of `elements` in a part, chunk c, [c k, (c + 1) k) with k = ceil(elements / parts), lies where
 * these elements of part c do; the last chunks may be shorter, or have none. */
pop_tensor pop_gcl_reduce_scatter_within(pop_graph *graph, pop_tensor data, pop_collective_op op,
                                         pop_program sequence, const char *name);
/* [parts, elements], from such chunks: each part has all, on the tiles on which its chunk is. TENSOR: a part has no chunk. */
pop_tensor pop_gcl_all_gather_within(pop_graph *graph, pop_tensor chunks, size_t parts,
                                     pop_program sequence, const char *name);
/* Of data [parts, parts, …]: result[i][j], on the tiles of data[i][j], is data[j][i]. TENSOR: other dimensions. */
pop_tensor pop_gcl_all_to_all_within(pop_graph *graph, pop_tensor data, pop_program sequence,
                                     const char *name);
/* Each part of the result, which lies where that of `data` does, is data[root]. INVALID_ARGUMENT: there is no such part. */
pop_tensor pop_gcl_broadcast_within(pop_graph *graph, pop_tensor data, size_t root,
                                    pop_program sequence, const char *name);

#ifdef __cplusplus
}
#endif
#endif
