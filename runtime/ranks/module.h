/* The interface between the library and a module that contains an MPI (mpi/module.c): non-blocking
 * point-to-point messages. A message consists of pieces of memory, so the words of tiles need not
 * be copied to one place first: MPI does that while it sends, in the cache.
 *
 * There is a module for each MPI that was installed when Populus was built, because their binary
 * interfaces differ: populus-mpi-openmpi.so, populus-mpi-mpich.so. */
#ifndef RANKS_MODULE_H
#define RANKS_MODULE_H

#include "ranks/piece.h"
#include <stdbool.h>

enum { RANKS_WHY = 512, RANKS_MESSAGE_BYTES = 1 << 30 };

/* A message that has begun. */
typedef struct ranks_request ranks_request;

/* One thread at a time makes calls. If a call fails, `why` is the reason. */
typedef struct ranks_module {
  const char *contract; /* RANKS_CONTRACT of the module's build */
  /* Joins the other ranks. A process that has initialised MPI itself must also finalise it. `leave`
   * is called then, while messages are still possible. */
  bool (*open)(uint32_t *own, uint32_t *count, void (*leave)(void), char why[RANKS_WHY]);
  /* Begins a message of at most RANKS_MESSAGE_BYTES. Both sides may have different pieces. Messages
   * between two ranks with the same tag keep their order. The bytes must stay in place until the
   * message is done; the list of pieces need not. NULL: it failed. */
  ranks_request *(*send)(uint32_t to, int tag, const ranks_piece *pieces, size_t count,
                         char why[RANKS_WHY]);
  ranks_request *(*receive)(uint32_t from, int tag, const ranks_piece *pieces, size_t count,
                            char why[RANKS_WHY]);
  /* 1: done; 0: not yet; -1: failed. The request is freed unless the result is 0. */
  int (*test)(ranks_request *request, char why[RANKS_WHY]);
  /* Is there a message with the tag that nobody has begun to receive? *from is its sender. */
  bool (*peek)(int tag, uint32_t *from);
  void (*close)(void);
} ranks_module;

#define RANKS_CONTRACT "ranks 4"

#endif
