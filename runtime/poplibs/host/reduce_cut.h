/* How a reduction of a matrix's rows is cut: [outs, length] -> [outs, pieces] -> [outs]. */
#ifndef POPLIBS_HOST_REDUCE_CUT_H
#define POPLIBS_HOST_REDUCE_CUT_H

#include <stddef.h>

typedef struct reduce_cut {
  size_t outs, pieces; /* 1 piece: there is no second step */
} reduce_cut;

/* The cut, into at most `most` parts, whose busiest part takes the fewest elements in sequence.
 * A second step costs as much as `second_step` further elements. Pieces have a least size, so
 * that each is worth a vertex. */
reduce_cut reduce_find_cut(size_t outs, size_t length, size_t most, size_t second_step);

#endif
