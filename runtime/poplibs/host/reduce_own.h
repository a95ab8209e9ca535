/* Which parts of a matrix's rows lie on one tile, for reductions of each row to one element. */
#ifndef POPLIBS_HOST_REDUCE_OWN_H
#define POPLIBS_HOST_REDUCE_OWN_H

#include <populus/graph.h>

/* Elements [begin, end) of rows [row, end_row), which a tile reduces to its piece `piece` of
 * each row. */
typedef struct reduce_block {
  size_t tile, piece, row, end_row, begin, end;
} reduce_block;

typedef struct reduce_blocks {
  reduce_block *blocks; /* to be freed */
  size_t count, capacity;
  size_t pieces; /* pieces of each row */
} reduce_blocks;

/* The blocks that lie on one tile. There are some only if all rows have the same number of
 * pieces, pieces have several elements on average, and all elements are mapped; otherwise
 * `pieces` is 0. *most: the elements of the tile that has most. */
reduce_blocks reduce_find_own(pop_graph *graph, pop_tensor matrix, size_t *most);

#endif
