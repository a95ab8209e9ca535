/* What is between the library and a module with an MPI inside (mpi/module.c): messages from point to point, which go on by
 * themselves while the caller does something else. A message is made of pieces of memory, so that words of tiles need not be
 * copied to one place first: MPI does that in the course of sending, through its caches.
 *
 * There is a module for each MPI that was there when Populus was built, as their binary interfaces differ:
 * populus-mpi-openmpi.so, populus-mpi-mpich.so. */
#ifndef RANKS_MODULE_H
#define RANKS_MODULE_H

#include "ranks/piece.h"
#include <stdbool.h>

enum { RANKS_WHY = 512, RANKS_MESSAGE_BYTES = 1 << 30 };

/* A message that is under way. */
typedef struct ranks_request ranks_request;

/* Calls are made by one thread at a time. Where one fails, `why` is the reason. */
typedef struct ranks_module {
  const char *contract; /* RANKS_CONTRACT of the module's build */
  /* Joins the others. A process that has initialised MPI itself also ends it itself. */
  bool (*open)(uint32_t *own, uint32_t *count, char why[RANKS_WHY]);
  /* Begins a message of up to RANKS_MESSAGE_BYTES in all, which need not be in the same pieces on both sides; messages between two
   * ranks with the same tag keep their order. The bytes stay where they are until it is done, the list of pieces need not.
   * NULL: it failed. */
  ranks_request *(*send)(uint32_t to, int tag, const ranks_piece *pieces, size_t count,
                         char why[RANKS_WHY]);
  ranks_request *(*receive)(uint32_t from, int tag, const ranks_piece *pieces, size_t count,
                            char why[RANKS_WHY]);
  /* 1: it is done, and the request is gone; 0: not yet; -1: it failed, and the request is gone. */
  int (*test)(ranks_request *request, char why[RANKS_WHY]);
  /* Has a message with the tag come that nobody receives yet, and from whom? */
  bool (*peek)(int tag, uint32_t *from);
  void (*close)(void);
} ranks_module;

#define RANKS_CONTRACT "ranks 3"

#endif
