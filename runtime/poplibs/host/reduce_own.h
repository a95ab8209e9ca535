/* What tiles have of the rows of a matrix that become an element each. */
#ifndef POPLIBS_HOST_REDUCE_OWN_H
#define POPLIBS_HOST_REDUCE_OWN_H

#include <populus/graph.h>

/* Elements [begin, end) of rows [row, end_row), to be reduced on a tile to its piece `piece` of each row. */
typedef struct reduce_block {
  size_t tile, piece, row, end_row, begin, end;
} reduce_block;

typedef struct reduce_blocks {
  reduce_block *blocks; /* to be freed */
  size_t count, capacity;
  size_t pieces; /* of each row */
} reduce_blocks;

/* Blocks of what lies on one tile, if all rows consist of as many, of several elements in the mean, and they are all mapped; else
 * none, of 0 pieces. *most: elements of the tile that has most of them. */
reduce_blocks reduce_find_own(pop_graph *graph, pop_tensor matrix, size_t *most);

#endif
