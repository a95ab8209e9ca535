/* Work over host threads.
 *
 * Items are handed out from a counter, to whoever is done with the last ones: the cost of a tile is not
 * known beforehand, and neighbours often do the same. The calling thread begins alone; only when it has
 * done more than waking the others costs does it wake them. So a step in which little happens, as most
 * steps of control code are, stays on one thread.
 *
 * Helpers are started when they are wanted first, and sleep between steps. */
#include "base/thread_pool.h"

#include <fenv.h>
#include <populus/arena.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

enum { WAKE_INSTRUCTIONS = 50000, MAX_HELPERS = 1023 };

struct crew {
  uint32_t num_helpers; /* wanted */
  uint32_t num_started;
  pthread_t *helpers;
  pthread_mutex_t lock;
  pthread_cond_t begin, done;
  uint64_t step; /* counts the steps for which helpers were woken; under `lock` */
  uint32_t busy; /* helpers in the current one; under `lock` */
  bool stop;
  bool reversed;
  /* The step */
  crew_work work;
  atomic_uint next; /* item */
};

static uint32_t available_threads(void)
{
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set)) return 1;
  return (uint32_t)CPU_COUNT(&set);
}

crew *crew_new(uint32_t num_threads)
{
  crew *c = pop_xcalloc(1, sizeof *c);
  if (!num_threads) num_threads = available_threads();
  c->num_helpers = num_threads - 1 < MAX_HELPERS ? num_threads - 1 : MAX_HELPERS;
  pthread_mutex_init(&c->lock, NULL);
  pthread_cond_init(&c->begin, NULL);
  pthread_cond_init(&c->done, NULL);
  return c;
}

void crew_reverse(crew *c)
{
  c->reversed = true;
}

void crew_free(crew *c)
{
  if (!c) return;
  pthread_mutex_lock(&c->lock);
  c->stop = true;
  pthread_cond_broadcast(&c->begin);
  pthread_mutex_unlock(&c->lock);
  for (uint32_t i = 0; i < c->num_started; i++) pthread_join(c->helpers[i], NULL);
  pthread_cond_destroy(&c->done);
  pthread_cond_destroy(&c->begin);
  pthread_mutex_destroy(&c->lock);
  free(c->helpers);
  free(c);
}

/* The next items; false if there are none behind them. */
static bool run_items(crew *c, uint64_t *instructions)
{
  const crew_work *w = &c->work;
  uint32_t first = atomic_fetch_add(&c->next, w->take);
  for (uint32_t i = first; i < first + w->take && i < w->num_items; i++)
    *instructions += w->run(w->context, c->reversed ? w->num_items - 1 - i : i);
  return first + w->take < w->num_items;
}

static void run_to_end(crew *c)
{
  uint64_t instructions = 0;
  while (run_items(c, &instructions)) continue;
}

static void *help(void *argument)
{
  crew *c = argument;
  fesetenv(FE_DFL_ENV); /* what float.h relies on */
  pthread_mutex_lock(&c->lock);
  for (uint64_t seen = 0;;) {
    while (!c->stop && c->step == seen) pthread_cond_wait(&c->begin, &c->lock);
    if (c->stop) break;
    seen = c->step;
    pthread_mutex_unlock(&c->lock);
    run_to_end(c);
    pthread_mutex_lock(&c->lock);
    if (--c->busy == 0) pthread_cond_signal(&c->done);
  }
  pthread_mutex_unlock(&c->lock);
  return NULL;
}

/* A helper that cannot be started is done without. Under `lock`, before the first step. */
static void start_helpers(crew *c)
{
  c->helpers = pop_xcalloc(c->num_helpers, sizeof *c->helpers);
  while (c->num_started < c->num_helpers &&
         !pthread_create(&c->helpers[c->num_started], NULL, help, c))
    c->num_started++;
  c->num_helpers = c->num_started;
}

static void wake_helpers(crew *c)
{
  pthread_mutex_lock(&c->lock);
  if (!c->helpers) start_helpers(c);
  c->busy = c->num_started;
  c->step++;
  pthread_cond_broadcast(&c->begin);
  pthread_mutex_unlock(&c->lock);
}

static void wait_for_helpers(crew *c)
{
  pthread_mutex_lock(&c->lock);
  while (c->busy) pthread_cond_wait(&c->done, &c->lock);
  pthread_mutex_unlock(&c->lock);
}

void crew_run(crew *c, const crew_work *work)
{
  crew_run_known(c, work, 0);
}

void crew_run_known(crew *c, const crew_work *work, uint64_t expected)
{
  uint64_t instructions = 0;
  bool awake = false;
  c->work = *work;
  atomic_store(&c->next, 0);
  if (c->num_helpers && work->num_items > work->take && expected >= WAKE_INSTRUCTIONS) {
    wake_helpers(c);
    awake = true;
  }
  while (run_items(c, &instructions))
    if (!awake && c->num_helpers && instructions >= WAKE_INSTRUCTIONS) {
      wake_helpers(c);
      awake = true;
    }
  if (awake) wait_for_helpers(c);
}
