/* Into how many parts a matrix is cut whose rows become an element each: [outs, length] -> [outs, pieces] -> [outs]. */
#ifndef POPLIBS_HOST_REDUCE_CUT_H
#define POPLIBS_HOST_REDUCE_CUT_H

#include <stddef.h>

typedef struct reduce_cut {
  size_t outs, pieces; /* of 1 piece: there is no second step */
} reduce_cut;

/* The one for which the busiest takes the fewest elements one after the other, if there are at most `most` parts. A second step
 * takes as long as `second_step` elements more, and pieces have to be worth a vertex. */
reduce_cut reduce_find_cut(size_t outs, size_t length, size_t most, size_t second_step);

#endif
