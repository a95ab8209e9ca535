#include "base/threads.h"

#include <signal.h>
#include <stdatomic.h>

bool thread_start(pthread_t *thread, void *(*run)(void *), void *context)
{
  static const int own[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS};
  sigset_t blocked, before;
  sigfillset(&blocked);
  for (unsigned i = 0; i < sizeof own / sizeof *own; i++) sigdelset(&blocked, own[i]);
  pthread_sigmask(SIG_BLOCK, &blocked, &before);
  bool started = !pthread_create(thread, NULL, run, context);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  return started;
}

static atomic_uint generation;

static void count_fork(void)
{
  atomic_fetch_add_explicit(&generation, 1, memory_order_relaxed);
}

static void watch_forks(void)
{
  pthread_atfork(NULL, NULL, count_fork);
}

unsigned threads_generation(void)
{
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, watch_forks);
  return atomic_load_explicit(&generation, memory_order_relaxed);
}
