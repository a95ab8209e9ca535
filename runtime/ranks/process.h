/* This process as a rank: it joins the others, and passes messages of any size and waits for them.
 * ranks.c makes collective calls of these. */
#ifndef RANKS_PROCESS_H
#define RANKS_PROCESS_H

#include "ranks/module.h"
#include "ranks/ranks.h"

/* Valid once it has joined; a process alone is rank 0 of 1. */
uint32_t process_own(void);
uint32_t process_count(void);

/* Joins once; the process is alone unless the environment says otherwise. At exit it tells the
 * other ranks, waits until they exit, too, and finalises MPI; if the program finalises MPI itself,
 * it does so before that. */
POP_MUST_CHECK pop_error *process_join(void);
/* Afterwards nothing can be sent: messages that nobody has waited for may still arrive. */
void process_break(void);
bool process_is_broken(void);
/* Has the program ended MPI itself? */
bool process_has_left(void);

/* Seconds to wait for other ranks; 0: no limit. */
double process_timeout(void);

/* The bytes for or from one rank, in order. */
typedef struct message {
  bool sends;
  uint32_t with; /* which rank */
  const ranks_piece *pieces;
  size_t num_pieces;
} message;

/* The first tag for callers; this process needs those before it. There are at least 32,767. */
enum { RANKS_FIRST_TAG = 3 };
/* Passes all messages and returns when all are done. On failure *late is a rank whose message did
 * not come in time, or that exits instead (*left is true then); or process_count if the reason is
 * another one. `no_timeout`: no limit. */
POP_MUST_CHECK pop_error *process_pass(int tag, bool no_timeout, const message *messages,
                                       size_t count, uint32_t *late, bool *left);

#endif
