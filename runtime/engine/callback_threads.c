/* Threads for callbacks. Callbacks are the user's and may wait for anything. So the aim is that
 * they wait at the same time, not that cores are busy (as in ../base/thread_pool.h). The threads
 * live as long as the engine. */
#include "engine/callback_threads.h"
#include "base/threads.h"

#include <populus/arena.h>
#include <populus/out_of_memory.h>
#include <stdlib.h>

struct callback_threads {
  uint32_t wanted, started;
  unsigned generation; /* of the process that started them */
  bool with_caller;
  pthread_t *threads;
  pthread_mutex_t lock;
  pthread_cond_t begin, done;
  /* Under the lock: */
  bool stop;
  void (*run)(void *context, size_t item);
  void *context;
  size_t num_items, next, finished;
};

callback_threads *callback_threads_new(uint32_t count, bool with_caller)
{
  callback_threads *t = pop_xcalloc(1, sizeof *t);
  t->wanted = count;
  t->with_caller = with_caller;
  t->threads = pop_xcalloc(count, sizeof *t->threads);
  pthread_mutex_init(&t->lock, NULL);
  pthread_cond_init(&t->begin, NULL);
  pthread_cond_init(&t->done, NULL);
  return t;
}

/* After fork: the child process has no threads of its parent. */
static void forget_threads(callback_threads *t)
{
  if (!t->started || t->generation == threads_generation()) return;
  t->wanted = t->started;
  t->started = 0;
  pthread_mutex_init(&t->lock, NULL);
  pthread_cond_init(&t->begin, NULL);
  pthread_cond_init(&t->done, NULL);
}

void callback_threads_free(callback_threads *t)
{
  if (!t) return;
  forget_threads(t);
  pthread_mutex_lock(&t->lock);
  t->stop = true;
  pthread_cond_broadcast(&t->begin);
  pthread_mutex_unlock(&t->lock);
  for (uint32_t i = 0; i < t->started; i++) pthread_join(t->threads[i], NULL);
  pthread_cond_destroy(&t->done);
  pthread_cond_destroy(&t->begin);
  pthread_mutex_destroy(&t->lock);
  free(t->threads);
  free(t);
}

/* Called with the lock held; releases it while an item runs. */
static void run_items(callback_threads *t)
{
  while (t->next < t->num_items) {
    size_t item = t->next++;
    pthread_mutex_unlock(&t->lock);
    t->run(t->context, item);
    pthread_mutex_lock(&t->lock);
    if (++t->finished == t->num_items) pthread_cond_signal(&t->done);
  }
}

static void *serve(void *context)
{
  callback_threads *t = context;
  pthread_mutex_lock(&t->lock);
  while (!t->stop) {
    run_items(t);
    if (!t->stop) pthread_cond_wait(&t->begin, &t->lock);
  }
  pthread_mutex_unlock(&t->lock);
  return NULL;
}

static void start(callback_threads *t)
{
  t->generation = threads_generation();
  while (t->started < t->wanted && thread_start(&t->threads[t->started], serve, t)) t->started++;
  t->wanted = t->started; /* the system has no more threads */
}

void callback_threads_run(callback_threads *t, void (*run)(void *context, size_t item),
                          void *context, size_t num_items)
{
  if (num_items == 0) return;
  forget_threads(t);
  if (t->started < t->wanted) start(t);
  pop_memory_hold();
  pthread_mutex_lock(&t->lock);
  t->run = run;
  t->context = context;
  t->num_items = num_items;
  t->next = t->finished = 0;
  pthread_cond_broadcast(&t->begin);
  if (t->with_caller || t->started == 0) run_items(t);
  while (t->finished < num_items) pthread_cond_wait(&t->done, &t->lock);
  t->num_items = 0;
  pthread_mutex_unlock(&t->lock);
  pop_memory_release();
}
