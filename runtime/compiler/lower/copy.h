#ifndef COMPILER_LOWER_COPY_H
#define COMPILER_LOWER_COPY_H

#include "compiler/lower/lowering.h"

/* Copies of more bytes than this times the number of tiles have exchanges of their own. */
enum { LARGE_TILE_BYTES = 8 << 10 };

/* Is the copy that large, with no variable in both source and destination? It is then worked
 * through tile by tile. */
bool copy_is_large(const compilation *c, const program *copied);
/* The steps of a copy program. */
POP_MUST_CHECK pop_error *lower_copy_program(lowering *l, const program *copied, step_list *steps);

/* Pairs the elements of source and destination, as transfers. A PROGRAM_COPY of elements onto
 * themselves is left out. */
void pair_up(const compilation *c, const program *copied, transfer_list *out);
/* Does any transfer read what another one writes? */
bool overlap(const transfer_list *transfers);

/* Adds the steps of the transfers of a copy with this name. */
POP_MUST_CHECK pop_error *lower_paired(lowering *l, const transfer_list *transfers, bool overlaps,
                                       const char *name, step_list *steps);

#endif
