/* Sums of many updates of a small table: slice_copies.c. */
#ifndef POPLIBS_SLICE_COPIES_H
#define POPLIBS_SLICE_COPIES_H

#include <populus/popops_slice.h>

/* Does pop_popops_multi_update with POP_UPDATE_ADD for the first updates, and returns how many.
 * Arguments are checked already. 0: the table is too large, or the updates are too few. */
size_t slice_add_in_copies(pop_graph *graph, pop_tensor t, pop_tensor s, pop_tensor offsets,
                           size_t dim, size_t size, pop_tensor scale, pop_program sequence,
                           const char *name);

#endif
