/* This process among the ranks: joining them, and messages of any size, waited for. ranks.c makes collective calls of them. */
#ifndef RANKS_PROCESS_H
#define RANKS_PROCESS_H

#include "ranks/module.h"
#include "ranks/ranks.h"

/* As far as it has joined; alone: rank 0 of 1. */
uint32_t process_own(void);
uint32_t process_count(void);

/* Joins, once; alone if nothing in the environment says otherwise. When the process exits it tells the others so, waits
 * until they exit, too, and leaves MPI. */
POP_MUST_CHECK pop_error *process_join(void);
/* Nothing can be sent any more: messages that nobody has waited for are under way. */
void process_break(void);
bool process_is_broken(void);

/* Seconds to wait for others; 0: any number. */
double process_timeout(void);

/* What goes from or to one rank, in this order. */
typedef struct message {
  bool sends;
  uint32_t with; /* which rank */
  const ranks_piece *pieces;
  size_t num_pieces;
} message;

/* All at once; returns when all are done. *late is a rank that a message did not come from in time, or that exits instead:
 * *left is true then; or nobody's number (process_count) if that is not why it failed. `patient`: it waits for any time.
 * Tags are 1 at least. */
POP_MUST_CHECK pop_error *process_pass(int tag, bool patient, const message *messages, size_t count,
                                       uint32_t *late, bool *left);

#endif
