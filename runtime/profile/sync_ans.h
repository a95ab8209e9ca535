/* Rows of exchanges that tiles acknowledge in advance (tile.sans), while a program trace is simulated: when each tile has
 * begun to wait, and where it goes on. */
#ifndef PROFILE_SYNC_ANS_H
#define PROFILE_SYNC_ANS_H

#include "profile/execution.h"

/* The tiles that acknowledge the exchanges from one position of the program to another. */
typedef struct ans_row {
  uint32_t first, last;                  /* positions of steps */
  uint32_t syncs;                        /* that are acknowledged */
  const executable_acknowledged *ranges; /* of tiles, ascending */
  size_t num_ranges;
  size_t first_begin; /* in ans_rows.begins */
} ans_row;

typedef struct ans_rows {
  ans_row *rows; /* ascending by first; profiles number them so */
  size_t num_rows, rows_capacity;
  uint32_t *by_last; /* numbers of rows, ascending by `last` */
  uint64_t *begins;  /* by row and tile: when it began to wait */
} ans_rows;

ans_rows ans_rows_new(const pop_executable *e);
void ans_rows_free(ans_rows *r);
/* The exchange at this position is going to be asked for. */
void ans_ask(ans_rows *r, uint32_t position, const uint64_t *clocks);
/* The number of the next row that ends with it, from *at = 0 on; false: there are no more. */
bool ans_next_ended(const ans_rows *r, uint32_t position, size_t *at, uint32_t *row);
/* What its tiles have waited, now that they go on at their clocks; answers how many there are. */
size_t ans_costs(const ans_rows *r, uint32_t row, const uint64_t *clocks, tile_cost *costs,
                 uint64_t *begins);

#endif
