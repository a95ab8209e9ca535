/* The host threads that run tiles and copies. */
#ifndef BASE_THREAD_POOL_H
#define BASE_THREAD_POOL_H

#include <stdint.h>

typedef struct thread_pool thread_pool;

/* How many processors this process may use, at least 1. */
uint32_t thread_pool_processors(void);

/* A pool of `num_threads` threads, including the one that calls thread_pool_run; 0: as many as the
 * process may use. */
thread_pool *thread_pool_new(uint32_t num_threads);
/* From now on items are handed out from the last to the first. The order must not matter. Tests
 * check that with one thread, so that the order is certain. */
void thread_pool_reverse(thread_pool *pool);
void thread_pool_free(thread_pool *pool); /* NULL is fine */

/* Items 0 to num_items - 1, which are independent of each other; a thread takes `take` at a time. */
typedef struct thread_pool_work {
  uint64_t (*run)(void *context, uint32_t item); /* returns the work done, in instructions */
  void *context;
  uint32_t num_items, take;
} thread_pool_work;

/* Does all items, in any order, and returns when all are done. */
void thread_pool_run(thread_pool *pool, const thread_pool_work *work);
/* The same if the work is known to be `instructions`: if it is much, helpers are woken at once. */
void thread_pool_run_known(thread_pool *pool, const thread_pool_work *work, uint64_t instructions);

#endif
