/* Ranks: the processes that run a replicated graph together, each with its share of the replicas.
 *
 * poprun starts them and says in the environment which MPI carries their messages; a process that nobody has started
 * so is rank 0 of 1, and all that is done here is then a copy within it. The transport is a module that is loaded when
 * the first engine wants it (module.h); this room knows no MPI.
 *
 * Calls are collective: all ranks make the same ones in the same order, each with a label. Every call begins with a
 * header from each rank to each other one, which has the label and whether the rank has failed; so ranks that have come
 * to different places, or of which one has an error, all hear of it at once, and nobody waits for one that will not come.
 *
 * The environment, as poprun sets it:
 *
 *     POPULUS_RANKS          openmpi or mpich: the module to load
 *     POPULUS_RANKS_TIMEOUT  seconds that a rank waits for another one; 0: any number; preset RANKS_TIMEOUT
 */
#ifndef RANKS_RANKS_H
#define RANKS_RANKS_H

#include "ranks/piece.h"
#include <populus/error.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { RANKS_TIMEOUT = 3600 };

/* All ranks of this process, or one communicator of them: messages of different ones do not mix. Ranks number their
 * communicators in the order in which they open them, which has to be the same on all. */
typedef struct ranks ranks;

/* Joins the others, if the process has not yet. The caller's to close. Errors: SYSTEM: no module, no MPI; RUNTIME: other
 * ranks are of another build of Populus, or do not come. */
POP_MUST_CHECK pop_error *ranks_open(ranks **opened);
void ranks_close(ranks *r); /* NULL is fine */

/* While it is patient it waits for others for any time, as where one of them compiles. */
void ranks_set_patient(ranks *r, bool patient);
uint32_t ranks_count(const ranks *r);
uint32_t ranks_own(const ranks *r); /* this process's number, below the count */
/* "instance 2 on node17" */
void ranks_say(const ranks *r, uint32_t rank, char *text, size_t size);

/* What goes from or to one rank. */
typedef struct ranks_part {
  uint8_t *data; /* what is sent is only read */
  size_t bytes;
  size_t capacity; /* of memory that ranks_reserve has given; 0: somebody else's */
} ranks_part;

/* Room for so many bytes, which become those of the part; what was in it may be lost. It is the caller's to free, or to use again:
 * memory that is new for every message would be cleared by the system each time. False: there is no memory. */
bool ranks_reserve(ranks_part *part, size_t bytes);

/* A collective call in which every rank sends to every other one: sent[i] to rank i, received[i] from it. What is received has
 * somebody's memory already, of the size that is sent; or it has none (data NULL), or some of ranks_reserve, and gets as
 * much as it needs. The part from and to oneself is copied. `label` is what messages call the place; up to 87 characters.
 *
 * `own` is an error that this rank has (it is taken), NULL if it has none. If any rank has one, nothing is exchanged, and
 * all ranks return an error: their own, or one that names the first rank that has failed and says why. Further errors:
 * RUNTIME: ranks have come to different places, or have not come in time; they are named. After those two nothing can be
 * exchanged any more. */
POP_MUST_CHECK pop_error *ranks_exchange(ranks *r, const char *label, pop_error *own,
                                         const ranks_part *sent, ranks_part *received);
/* What goes from or to one rank, piece after piece. */
typedef struct ranks_pieces {
  ranks_piece *items;
  size_t count, capacity;
} ranks_pieces;

/* After a collective call that all have left without an error, in which each has heard how many bytes it gets from whom: those, straight
 * from where they are to where they belong. Both by rank; what is for oneself is not looked at. Errors: RUNTIME: one has not come
 * in time; some of `received` may then have been written, and nothing can be exchanged any more. */
POP_MUST_CHECK pop_error *ranks_pass(ranks *r, const char *label, const ranks_pieces *sent,
                                     const ranks_pieces *received);
/* The same bytes from each, to all: `all` in the order of ranks. */
POP_MUST_CHECK pop_error *ranks_gather(ranks *r, const char *label, pop_error *own,
                                       const void *mine, size_t bytes, void *all);
/* From one rank to all. */
POP_MUST_CHECK pop_error *ranks_broadcast(ranks *r, const char *label, pop_error *own,
                                          uint32_t from, void *data, size_t bytes);

#endif
