/* Work over host threads.
 *
 * Threads take items from a shared counter when they are done with their last ones: the cost of a
 * tile is not known beforehand, and neighbours often cost the same. The calling thread begins
 * alone. It wakes the others only when it has done more work than waking them costs. So a step with
 * little work, as most steps of control code are, stays on one thread.
 *
 * Helpers are started when they are first wanted, and sleep between steps. A child of fork has none
 * of its parent's helpers and starts its own: a callback of a stream may fork and continue the run
 * in the child. */
#include "base/thread_pool.h"
#include "base/threads.h"

#include <fenv.h>
#include <populus/arena.h>
#include <populus/out_of_memory.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

enum { WAKE_INSTRUCTIONS = 50000, MAX_HELPERS = 1023 };

struct thread_pool {
  uint32_t num_helpers; /* wanted */
  uint32_t num_started;
  pthread_t *helpers;
  unsigned generation; /* of the process that started them */
  pthread_mutex_t lock;
  pthread_cond_t begin, done;
  uint64_t step; /* counts the steps for which helpers were woken; under `lock` */
  uint32_t busy; /* helpers in the current one; under `lock` */
  bool stop;
  bool reversed;
  /* The step */
  thread_pool_work work;
  atomic_uint next; /* item */
};

uint32_t thread_pool_processors(void)
{
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set)) return 1;
  return (uint32_t)CPU_COUNT(&set);
}

thread_pool *thread_pool_new(uint32_t num_threads)
{
  thread_pool *pool = pop_xcalloc(1, sizeof *pool);
  if (!num_threads) num_threads = thread_pool_processors();
  pool->num_helpers = num_threads - 1 < MAX_HELPERS ? num_threads - 1 : MAX_HELPERS;
  pthread_mutex_init(&pool->lock, NULL);
  pthread_cond_init(&pool->begin, NULL);
  pthread_cond_init(&pool->done, NULL);
  return pool;
}

void thread_pool_reverse(thread_pool *pool)
{
  pool->reversed = true;
}

/* Called in a child of the process that had the helpers. */
static void forget_helpers(thread_pool *pool)
{
  if (!pool->helpers || pool->generation == threads_generation()) return;
  free(pool->helpers);
  pool->helpers = NULL;
  pool->num_started = pool->busy = 0;
  pthread_mutex_init(&pool->lock, NULL);
  pthread_cond_init(&pool->begin, NULL);
  pthread_cond_init(&pool->done, NULL);
}

void thread_pool_free(thread_pool *pool)
{
  if (!pool) return;
  forget_helpers(pool);
  pthread_mutex_lock(&pool->lock);
  pool->stop = true;
  pthread_cond_broadcast(&pool->begin);
  pthread_mutex_unlock(&pool->lock);
  for (uint32_t i = 0; i < pool->num_started; i++) pthread_join(pool->helpers[i], NULL);
  pthread_cond_destroy(&pool->done);
  pthread_cond_destroy(&pool->begin);
  pthread_mutex_destroy(&pool->lock);
  free(pool->helpers);
  free(pool);
}

/* Runs the next items; false if none are left. */
static bool run_items(thread_pool *pool, uint64_t *instructions)
{
  const thread_pool_work *w = &pool->work;
  uint32_t first = atomic_fetch_add(&pool->next, w->take);
  for (uint32_t i = first; i < first + w->take && i < w->num_items; i++)
    *instructions += w->run(w->context, pool->reversed ? w->num_items - 1 - i : i);
  return first + w->take < w->num_items;
}

static void run_to_end(thread_pool *pool)
{
  uint64_t instructions = 0;
  while (run_items(pool, &instructions)) continue;
}

static void *help(void *argument)
{
  thread_pool *pool = argument;
  fesetenv(FE_DFL_ENV); /* what float.h relies on */
  pthread_mutex_lock(&pool->lock);
  for (uint64_t seen = 0;;) {
    while (!pool->stop && pool->step == seen) pthread_cond_wait(&pool->begin, &pool->lock);
    if (pool->stop) break;
    seen = pool->step;
    pthread_mutex_unlock(&pool->lock);
    run_to_end(pool);
    pthread_mutex_lock(&pool->lock);
    if (--pool->busy == 0) pthread_cond_signal(&pool->done);
  }
  pthread_mutex_unlock(&pool->lock);
  return NULL;
}

/* Goes on without a helper that cannot be started. Called under `lock`, before the first step. */
static void start_helpers(thread_pool *pool)
{
  pool->helpers = pop_xcalloc(pool->num_helpers, sizeof *pool->helpers);
  pool->generation = threads_generation();
  while (pool->num_started < pool->num_helpers &&
         thread_start(&pool->helpers[pool->num_started], help, pool))
    pool->num_started++;
  pool->num_helpers = pool->num_started;
}

static void wake_helpers(thread_pool *pool)
{
  pthread_mutex_lock(&pool->lock);
  if (!pool->helpers) start_helpers(pool);
  pool->busy = pool->num_started;
  pool->step++;
  pthread_cond_broadcast(&pool->begin);
  pthread_mutex_unlock(&pool->lock);
}

static void wait_for_helpers(thread_pool *pool)
{
  pthread_mutex_lock(&pool->lock);
  while (pool->busy) pthread_cond_wait(&pool->done, &pool->lock);
  pthread_mutex_unlock(&pool->lock);
}

void thread_pool_run(thread_pool *pool, const thread_pool_work *work)
{
  thread_pool_run_known(pool, work, 0);
}

void thread_pool_run_known(thread_pool *pool, const thread_pool_work *work, uint64_t expected)
{
  uint64_t instructions = 0;
  bool awake = false;
  forget_helpers(pool);
  pool->work = *work;
  atomic_store(&pool->next, 0);
  if (pool->num_helpers && work->num_items > work->take && expected >= WAKE_INSTRUCTIONS) {
    wake_helpers(pool);
    awake = true;
  }
  pop_memory_hold(); /* helpers use the caller's data */
  while (run_items(pool, &instructions))
    if (!awake && pool->num_helpers && instructions >= WAKE_INSTRUCTIONS) {
      wake_helpers(pool);
      awake = true;
    }
  if (awake) wait_for_helpers(pool);
  pop_memory_release();
}
