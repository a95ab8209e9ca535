/* The host threads that run tiles and copies. */
#ifndef BASE_THREAD_POOL_H
#define BASE_THREAD_POOL_H

#include <stdint.h>

typedef struct thread_pool thread_pool;

/* How many processors this process may use, at least 1. */
uint32_t thread_pool_processors(void);

/* Of `num_threads` threads with the one that calls thread_pool_run; 0: as many as the process may use. */
thread_pool *thread_pool_new(uint32_t num_threads);
/* From now on items are handed out from the last to the first. It must not matter: tests see to it, with one
 * thread, so that the order is certain. */
void thread_pool_reverse(thread_pool *pool);
void thread_pool_free(thread_pool *pool); /* NULL is fine */

/* Items 0 to num_items - 1, which are independent of each other; a thread takes `take` at a time. */
typedef struct thread_pool_work {
  uint64_t (*run)(void *context, uint32_t item); /* answers how much that was, in instructions */
  void *context;
  uint32_t num_items, take;
} thread_pool_work;

/* Does all items, in any order, and returns when all are done. */
void thread_pool_run(thread_pool *pool, const thread_pool_work *work);
/* The same, if it is known beforehand to be `instructions`: then much of it does not wait to be seen. */
void thread_pool_run_known(thread_pool *pool, const thread_pool_work *work, uint64_t instructions);

#endif
