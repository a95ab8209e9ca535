/* The host threads that run tiles and copies. */
#ifndef BASE_THREAD_POOL_H
#define BASE_THREAD_POOL_H

#include <stdint.h>

typedef struct crew crew;

/* Of `num_threads` threads with the one that calls crew_run; 0: as many as the process may use. */
crew *crew_new(uint32_t num_threads);
/* From now on items are handed out from the last to the first. It must not matter: tests see to it, with one
 * thread, so that the order is certain. */
void crew_reverse(crew *c);
void crew_free(crew *c); /* NULL is fine */

/* Items 0 to num_items - 1, which are independent of each other; a thread takes `take` at a time. */
typedef struct crew_work {
  uint64_t (*run)(void *context, uint32_t item); /* answers how much that was, in instructions */
  void *context;
  uint32_t num_items, take;
} crew_work;

/* Does all items, in any order, and returns when all are done. */
void crew_run(crew *c, const crew_work *work);
/* The same, if it is known beforehand to be `instructions`: then much of it does not wait to be seen. */
void crew_run_known(crew *c, const crew_work *work, uint64_t instructions);

#endif
