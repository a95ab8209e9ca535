/* A sorting network for the blocks of a row. Each block is sorted first. Then pairs of blocks
 * are merged: the front block keeps the elements that come first, the other one the rest. The
 * pairs of each stage are those of Batcher's merge exchange, in the form for any number of
 * blocks (Knuth, The Art of Computer Programming, volume 3, algorithm 5.2.2M). A network that
 * sorts numbers also sorts blocks of equal length. The last block may be shorter: its missing
 * elements would come last, and those never move. */
#ifndef POPLIBS_HOST_SORT_NETWORK_H
#define POPLIBS_HOST_SORT_NETWORK_H

#include <stdbool.h>
#include <stddef.h>

/* A stage: blocks i and i + distance are merged for all i whose bit `bit` is as `set` says. */
typedef struct sort_stage {
  size_t bit, distance;
  bool set;
} sort_stage;

/* The network for `count` blocks. `stages` has room for sort_num_stages(count). */
size_t sort_num_stages(size_t count);
void sort_make_stages(size_t count, sort_stage *stages);

static inline bool sort_meets(const sort_stage *s, size_t i)
{
  return ((i & s->bit) != 0) == s->set;
}

/* What blocks cost, in cycles of a tile, which works on `workers` blocks at a time. */
typedef struct sort_costs {
  size_t workers;
  double sorted;        /* sorting: for an element, each time its run doubles */
  double merged;        /* merging: for an element of a block */
  double begun;         /* for a block, each time it is sorted or merged, without its elements */
  double received;      /* for an element from another tile */
  double stage;         /* fixed cost of a stage */
  size_t most_vertices; /* limit for a sort; more take the graph compiler too long */
} sort_costs;

/* Estimated cycles to sort `num_rows` rows of `n` elements in blocks of `size`. */
double sort_cycles(const sort_costs *c, size_t tiles, size_t num_rows, size_t n, size_t size);

/* The block size that sorts `num_rows` rows of `n` elements in the fewest cycles; n if rows are
 * best left whole. */
size_t sort_fastest_block(const sort_costs *c, size_t tiles, size_t num_rows, size_t n);

#endif
