/* Words that lie in columns come in rows, and those that are wanted many times once: which transfers to a tile are better made
 * by way of a buffer there. */
#ifndef COMPILER_LOWER_ROWS_H
#define COMPILER_LOWER_ROWS_H

#include "compiler/lower/lowering.h"

/* Begins with `l` and `name`, the buffers'. */
typedef struct row_staging {
  lowering *l;
  const char *name;
  transfer_list transfers;       /* what is to be exchanged, or stays on its tile */
  copy_list copies;              /* out of the buffers, afterwards */
  transfer_list within, between; /* of the current tile, from tiles of its IPU and of others */
  transfer_list rows;            /* scratch: of one of these lists */
  copy_list columns;             /* scratch: … and the copies that they take */
} row_staging;

/* The next transfer; those to a tile should follow one another. Once all are there, `end`. */
void stage_rows(row_staging *s, const transfer *t);
void end_rows(row_staging *s);
void row_staging_free(row_staging *s);

/* Does a tile get so many of the transfers, or so often the same words, that it is worth staging them? */
bool has_columns(const lowering *l, const transfer_list *transfers);

#endif
