/* How many blocks of a row become a sorted row. Each block is sorted. Then blocks meet in pairs: the one in front gets the
 * elements that come first, the other the rest. Which pairs meet, stage by stage, is Batcher's merge exchange, in the form
 * for any number of blocks (Knuth, The Art of Computer Programming, volume 3, algorithm 5.2.2M): a network that sorts
 * numbers sorts blocks of equal length, too. The last block may be shorter: what it lacks would be elements that come last,
 * and those stay there.
 */
#ifndef POPLIBS_HOST_SORT_NETWORK_H
#define POPLIBS_HOST_SORT_NETWORK_H

#include <stdbool.h>
#include <stddef.h>

/* A stage: blocks i and i + distance meet for all i whose bit `bit` is as `set` says. */
typedef struct sort_stage {
  size_t bit, distance;
  bool set;
} sort_stage;

/* A network for `count` blocks; `stages` has room for sort_num_stages of it. */
size_t sort_num_stages(size_t count);
void sort_make_stages(size_t count, sort_stage *stages);

static inline bool sort_meets(const sort_stage *s, size_t i)
{
  return ((i & s->bit) != 0) == s->set;
}

/* What blocks cost, in cycles of a tile, which has `workers` blocks in hand at a time. */
typedef struct sort_costs {
  size_t workers;
  double sorted;   /* such a block's, for an element, each time its run doubles */
  double merged;   /* for an element of a block that meets another */
  double begun;    /* for a block, each time it is sorted or meets another, beside its elements */
  double received; /* for an element that comes from another tile */
  double stage;    /* what each stage begins with */
  size_t most_vertices; /* of one sort; more take the graph compiler too long */
} sort_costs;

/* Of `num_rows` rows of `n` elements, in blocks of `size`. */
double sort_cycles(const sort_costs *c, size_t tiles, size_t num_rows, size_t n, size_t size);

/* How many elements of a row make a block, so that `num_rows` rows of `n` elements are sorted in the fewest
 * cycles; n where a row is best left whole. */
size_t sort_fastest_block(const sort_costs *c, size_t tiles, size_t num_rows, size_t n);

#endif
