/* Rows of exchanges that tiles acknowledge in advance (tile.sans), during the simulation of a
 * program trace: when each tile begins to wait, and when it continues. */
#ifndef PROFILE_SYNC_ANS_H
#define PROFILE_SYNC_ANS_H

#include "profile/execution.h"

/* A row of exchanges, from one position of the program to another, and the tiles that acknowledge
 * them. */
typedef struct ans_row {
  uint32_t first, last;                  /* positions of steps */
  uint32_t syncs;                        /* that are acknowledged */
  const executable_acknowledged *ranges; /* of tiles, ascending */
  size_t num_ranges;
  size_t first_begin; /* in ans_rows.begins */
} ans_row;

typedef struct ans_rows {
  ans_row *rows; /* ascending by `first`; profiles number them in this order */
  size_t num_rows, rows_capacity;
  uint32_t *by_last; /* numbers of rows, ascending by `last` */
  uint64_t *begins;  /* by row and tile: when it began to wait */
} ans_rows;

ans_rows ans_rows_new(const pop_executable *e);
void ans_rows_free(ans_rows *r);
/* Call before the sync of the exchange at this position. Tiles of rows that begin there begin to
 * wait. */
void ans_ask(ans_rows *r, uint32_t position, const uint64_t *clocks);
/* The next row that ends with the exchange at this position. Begin with *at = 0. False if there are
 * no more. */
bool ans_next_ended(const ans_rows *r, uint32_t position, size_t *at, uint32_t *row);
/* How long the row's tiles waited, now that they continue at their clocks. Returns the number of
 * tiles. */
size_t ans_costs(const ans_rows *r, uint32_t row, const uint64_t *clocks, tile_cost *costs,
                 uint64_t *begins);

#endif
