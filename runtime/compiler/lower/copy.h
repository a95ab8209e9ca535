#ifndef COMPILER_LOWER_COPY_H
#define COMPILER_LOWER_COPY_H

#include "compiler/lower/lowering.h"

/* Copies of more bytes than that for each tile there is have exchanges of their own. */
enum { LARGE_TILE_BYTES = 8 << 10 };

/* Is it so large, and from one set of variables to another? Then it is worked through tile by tile. */
bool copy_is_large(const compilation *c, const program *copied);
/* The steps of a copy program. */
POP_MUST_CHECK pop_error *lower_copy_program(lowering *l, const program *copied, step_list *steps);

/* The elements of source and destination side by side. What a PROGRAM_COPY copies onto itself is left out. */
void pair_up(const compilation *c, const program *copied, transfer_list *out);
/* Does a transfer read what one writes? */
bool overlap(const transfer_list *transfers);

/* The steps of transfers of a copy that is called so. */
POP_MUST_CHECK pop_error *lower_paired(lowering *l, const transfer_list *transfers, bool overlaps,
                                       const char *name, step_list *steps);

#endif
