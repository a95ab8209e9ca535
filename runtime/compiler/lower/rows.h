/* Decides which transfers to a tile go through a buffer there: strided words are sent in contiguous
 * rows, and words that are wanted many times are sent once. */
#ifndef COMPILER_LOWER_ROWS_H
#define COMPILER_LOWER_ROWS_H

#include "compiler/lower/lowering.h"

/* Initialised with `l` and `name`, which is that of the buffers. */
typedef struct row_staging {
  lowering *l;
  const char *name;
  transfer_list transfers;       /* what is to be exchanged, or stays on its tile */
  copy_list copies;              /* from the buffers to where words go, after the exchange */
  transfer_list within, between; /* to the current tile, from its IPU and from others */
  transfer_list rows;            /* scratch: the rows of one of these lists */
  copy_list columns;             /* scratch: … and the copies that it needs */
} row_staging;

/* Takes the next transfer. Transfers to the same tile should follow one another. end_rows comes
 * last. */
void stage_rows(row_staging *s, const transfer *t);
void end_rows(row_staging *s);
void row_staging_free(row_staging *s);

/* Does any tile get so many of the transfers, or the same words so often, that staging is worth
 * it? */
bool has_columns(const lowering *l, const transfer_list *transfers);

#endif
