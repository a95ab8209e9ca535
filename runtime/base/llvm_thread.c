#include "base/llvm_thread.h"

#include "base/threads.h"

#include <populus/out_of_memory.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

typedef struct llvm_thread {
  pthread_mutex_t use; /* held by the caller */
  pthread_mutex_t lock;
  pthread_cond_t change;       /* of: */
  void (*body)(void *context); /* NULL: it waits for something to do */
  void *context;
  bool started;
} llvm_thread;

static llvm_thread threads[NUM_LLVM_USERS] = {
    [LLVM_TRANSLATOR] = {.use = PTHREAD_MUTEX_INITIALIZER,
                         .lock = PTHREAD_MUTEX_INITIALIZER,
                         .change = PTHREAD_COND_INITIALIZER},
    [LLVM_HOST_LINKER] = {.use = PTHREAD_MUTEX_INITIALIZER,
                          .lock = PTHREAD_MUTEX_INITIALIZER,
                          .change = PTHREAD_COND_INITIALIZER},
};

/* Set once, `reason` before it, by the first thread that gets `giving_up`. */
static atomic_bool has_failed;
static atomic_flag giving_up = ATOMIC_FLAG_INIT;
static char reason[160];
static atomic_bool without_thread;

/* Initial-exec, as it is read where nothing may be allocated. */
static _Thread_local llvm_thread *this_thread __attribute__((tls_model("initial-exec")));

static void note_failure(const char *why)
{
  if (atomic_flag_test_and_set(&giving_up)) return;
  snprintf(reason, sizeof reason, "%s", why);
  atomic_store(&has_failed, true);
}

const char *llvm_thread_error(void)
{
  if (atomic_load(&has_failed)) return reason;
  return atomic_load(&without_thread)
             ? "there is no memory for a thread for LLVM, or there are as many threads as may be"
             : NULL;
}

bool llvm_thread_is_this(void)
{
  return this_thread != NULL;
}

void llvm_thread_give_up(const char *why)
{
  llvm_thread *t = this_thread;
  if (!t) return;
  note_failure(why);
  pthread_mutex_lock(&t->lock);
  t->started = false;
  pthread_cond_broadcast(&t->change);
  pthread_mutex_unlock(&t->lock);
  for (;;) pause();
}

/* For code in this thread that is not LLVM's. */
static void give_up_without_memory(size_t bytes)
{
  (void)bytes;
  llvm_thread_give_up("there is no memory for LLVM");
}

static void *serve(void *context)
{
  llvm_thread *t = this_thread = context;
  pop_set_thread_out_of_memory_handler(give_up_without_memory);
  pthread_mutex_lock(&t->lock);
  for (;;) {
    while (!t->body) pthread_cond_wait(&t->change, &t->lock);
    pthread_mutex_unlock(&t->lock);
    t->body(t->context);
    pthread_mutex_lock(&t->lock);
    t->body = NULL;
    pthread_cond_broadcast(&t->change);
  }
  return NULL;
}

bool llvm_thread_has_room(void)
{
  /* libLLVM and its dependencies take some 200 MiB of address space; constructors 2 MiB,
   * relocations 10 MiB. */
  static const size_t addresses = (size_t)256 << 20, memory = (size_t)16 << 20;
  void *libraries =
      mmap(NULL, addresses, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  void *volatile constructed = malloc(memory); /* volatile: the compiler must not remove it */
  bool there = libraries != MAP_FAILED && constructed;
  if (libraries != MAP_FAILED) munmap(libraries, addresses);
  free(constructed);
  return there;
}

/* ---- forks ---- */

/* The child has only the thread that called fork. Another thread that was in LLVM has
 * left it inconsistent. */
static void start_in_child(void)
{
  for (int i = 0; i < NUM_LLVM_USERS; ++i) {
    llvm_thread *t = &threads[i];
    if (t->body) note_failure("the process was forked while LLVM was at work");
    t->body = NULL;
    t->started = false;
    pthread_mutex_init(&t->use, NULL);
    pthread_mutex_init(&t->lock, NULL);
    pthread_cond_init(&t->change, NULL);
  }
}

static bool watches_forks;

static void watch_forks(void)
{
  watches_forks = !pthread_atfork(NULL, NULL, start_in_child);
}

/* ---- calls ---- */

/* Under the lock. */
static bool start(llvm_thread *t)
{
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, watch_forks);
  pthread_t thread;
  t->started = watches_forks && thread_start(&thread, serve, t);
  atomic_store(&without_thread, !t->started);
  if (t->started) pthread_detach(thread);
  return t->started;
}

bool llvm_thread_call(llvm_user user, void (*body)(void *context), void *context)
{
  llvm_thread *t = &threads[user];
  pthread_mutex_lock(&t->use);
  pthread_mutex_lock(&t->lock);
  bool done = !atomic_load(&has_failed) && (t->started || start(t));
  if (done) {
    t->body = body;
    t->context = context;
    pthread_cond_broadcast(&t->change);
    while (t->body && t->started) pthread_cond_wait(&t->change, &t->lock);
    done = t->started;
    t->body = NULL;
  }
  pthread_mutex_unlock(&t->lock);
  pthread_mutex_unlock(&t->use);
  return done;
}
