/* Ranks: the processes that run a replicated graph together, each with its share of the replicas.
 *
 * poprun starts them and names in the environment the MPI that carries their messages. A process
 * that was started otherwise is rank 0 of 1, and all calls here only copy within it. The transport
 * is a module that is loaded when the first engine needs it (module.h); this folder does not know
 * MPI.
 *
 * Calls are collective: all ranks make the same calls in the same order, each with a label. Every
 * call begins with a header from each rank to each other one. It has the label, and whether the
 * rank has failed. So if ranks are in different places, or one has an error, all learn of it at
 * once, and none waits for a rank that will not come.
 *
 * The environment, as poprun sets it:
 *
 *     POPULUS_RANKS          openmpi or mpich: the module to load
 *     POPULUS_RANKS_TIMEOUT  seconds to wait for another rank; 0: no limit; default RANKS_TIMEOUT
 */
#ifndef RANKS_RANKS_H
#define RANKS_RANKS_H

#include "ranks/piece.h"
#include <populus/error.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { RANKS_TIMEOUT = 3600 };

/* A communicator of all ranks. Messages of different communicators do not mix. Ranks number them in
 * the order in which they are opened, so that order must be the same on all ranks. */
typedef struct ranks ranks;

/* Joins the other ranks, unless the process has already. The caller closes *opened. Errors: SYSTEM:
 * no module, no MPI; RUNTIME: other ranks have another build of Populus, or do not come. */
POP_MUST_CHECK pop_error *ranks_open(ranks **opened);
void ranks_close(ranks *r); /* NULL is fine */

/* With `no_timeout` waiting has no limit: another rank may be compiling, for example. */
void ranks_set_no_timeout(ranks *r, bool no_timeout);
uint32_t ranks_count(const ranks *r);
uint32_t ranks_own(const ranks *r); /* this process's rank, below the count */
/* "instance 2 on node17" */
void ranks_say(const ranks *r, uint32_t rank, char *text, size_t size);

/* The bytes for or from one rank. */
typedef struct ranks_part {
  uint8_t *data; /* only read when it is sent */
  size_t bytes;
  size_t capacity; /* if ranks_reserve allocated the memory; otherwise 0 */
} ranks_part;

/* Makes the part hold `bytes` bytes; its old contents may be lost. The caller frees the memory, or
 * reserves it again. Reuse is faster: the system clears new memory each time. False if there is no
 * memory. */
bool ranks_reserve(ranks_part *part, size_t bytes);

/* A collective call in which every rank sends to every other one: sent[i] to rank i, received[i]
 * from it. A received part has memory of the size that is sent; or its data is NULL or from
 * ranks_reserve, and it gets as much as it needs. The part from a rank to itself is copied. `label`
 * is the name of the call in messages, up to 87 characters.
 *
 * `own` is this rank's error (the call takes it), or NULL. If any rank has one, nothing is
 * exchanged, and all ranks return an error: their own, or one that names the first rank that
 * failed, and its reason. Further errors: RUNTIME: ranks are in different places, or did not come
 * in time; they are named. MEMORY: for a part that has none. After these nothing can be exchanged
 * any more. */
POP_MUST_CHECK pop_error *ranks_exchange(ranks *r, const char *label, pop_error *own,
                                         const ranks_part *sent, ranks_part *received);
/* The bytes for or from one rank, piece by piece. */
typedef struct ranks_pieces {
  ranks_piece *items;
  size_t count, capacity;
} ranks_pieces;

/* Passes bytes directly from where they are to where they belong. Call it after a collective call
 * that succeeded on all ranks and told each how many bytes it gets from whom. Both lists are by
 * rank; the rank's own entry is ignored. Errors: RUNTIME: a rank did not come in time; then some of
 * `received` may have been written, and nothing can be exchanged any more. */
POP_MUST_CHECK pop_error *ranks_pass(ranks *r, const char *label, const ranks_pieces *sent,
                                     const ranks_pieces *received);
/* Each rank sends the same bytes to all. `all` is in the order of ranks. */
POP_MUST_CHECK pop_error *ranks_gather(ranks *r, const char *label, pop_error *own,
                                       const void *mine, size_t bytes, void *all);
/* From one rank to all. */
POP_MUST_CHECK pop_error *ranks_broadcast(ranks *r, const char *label, pop_error *own,
                                          uint32_t from, void *data, size_t bytes);

#endif
