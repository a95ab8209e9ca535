/* runtime/base/thread_pool.c: every item is done once, by any free thread, and thread_pool_run
 * returns when all are done. */
#include <criterion/criterion.h>

#include <base/thread_pool.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MAX_ITEMS = 1000, MUCH = 1 << 30 };

/* Not atomic: other threads may read in the next step what one writes in this step.
 * ThreadSanitizer checks that. */
typedef struct counts {
  uint32_t done[MAX_ITEMS], seen[MAX_ITEMS], num_items;
} counts;

static uint64_t count_item(void *context, uint32_t item)
{
  counts *c = context;
  c->done[item]++;
  return 1000;
}

/* Reads what another item wrote. */
static uint64_t look_at_item(void *context, uint32_t item)
{
  counts *c = context;
  c->seen[item] += c->done[c->num_items - 1 - item];
  return 1000;
}

static void expect_each_once(uint32_t num_threads, uint32_t num_items, uint32_t take, bool reversed)
{
  counts c = {.num_items = num_items};
  thread_pool *pool = thread_pool_new(num_threads);
  if (reversed) thread_pool_reverse(pool);
  for (uint32_t round = 1; round <= 4; round++) {
    thread_pool_run(pool, &(thread_pool_work){count_item, &c, num_items, take});
    thread_pool_run_known(pool, &(thread_pool_work){look_at_item, &c, num_items, take}, MUCH);
    uint32_t sum = round * (round + 1) / 2;
    for (uint32_t i = 0; i < num_items; i++)
      cr_assert(c.done[i] == round && c.seen[i] == sum, "%u threads, item %u of %u by %u",
                num_threads, i, num_items, take);
  }
  thread_pool_free(pool);
}

Test(thread_pool, each_item_is_done_once)
{
  static const uint32_t threads[] = {1, 2, 7}, items[] = {0, 1, 2, 15, 16, 17, MAX_ITEMS};
  for (unsigned t = 0; t < 3; t++)
    for (unsigned i = 0; i < sizeof items / sizeof items[0]; i++)
      for (uint32_t take = 1; take <= 16; take *= 4) {
        expect_each_once(threads[t], items[i], take, false);
        expect_each_once(threads[t], items[i], take, true);
      }
}

/* Each thread gets an item. The caller finishes its item at once, the other threads do not. */
typedef struct late {
  pthread_t caller;
  atomic_uint arrived, done;
} late;

enum { LATE_THREADS = 4 };

static uint64_t end_late(void *context, uint32_t item)
{
  late *l = context;
  (void)item;
  atomic_fetch_add(&l->arrived, 1);
  while (atomic_load(&l->arrived) < LATE_THREADS)
    nanosleep(&(struct timespec){.tv_nsec = 1000}, NULL);
  if (!pthread_equal(pthread_self(), l->caller))
    nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL);
  atomic_fetch_add(&l->done, 1);
  return 1;
}

Test(thread_pool, nobody_goes_on_before_the_last_is_done)
{
  late l = {.caller = pthread_self()};
  thread_pool *pool = thread_pool_new(LATE_THREADS);
  for (int round = 0; round < 3; round++) {
    atomic_store(&l.arrived, 0);
    atomic_store(&l.done, 0);
    thread_pool_run_known(pool, &(thread_pool_work){end_late, &l, LATE_THREADS, 1}, MUCH);
    cr_assert_eq(atomic_load(&l.done), LATE_THREADS);
  }
  thread_pool_free(pool);
}

static uint64_t note_order(void *context, uint32_t item)
{
  uint32_t **next = context;
  *(*next)++ = item;
  return 1;
}

Test(thread_pool, one_thread_takes_items_in_order_or_from_the_last_on)
{
  uint32_t order[20], *next = order;
  thread_pool *pool = thread_pool_new(1);
  thread_pool_run(pool, &(thread_pool_work){note_order, &next, 10, 4});
  thread_pool_reverse(pool);
  thread_pool_run(pool, &(thread_pool_work){note_order, &next, 10, 4});
  for (uint32_t i = 0; i < 10; i++) cr_assert(order[i] == i && order[10 + i] == 9 - i);
  thread_pool_free(pool);
}

/* ---- forks and signals ---- */

/* A child has no helper threads; they wait in the parent. Under ThreadSanitizer a child can start
 * none. */
static int run_in_child(thread_pool *pool)
{
#if !defined(__SANITIZE_THREAD__)
  counts c = {.num_items = MAX_ITEMS};
  alarm(60);
  for (int round = 0; round < 3; round++)
    thread_pool_run_known(pool, &(thread_pool_work){count_item, &c, MAX_ITEMS, 1}, MUCH);
  for (uint32_t i = 0; i < MAX_ITEMS; i++)
    if (c.done[i] != 3) return 1;
#endif
  thread_pool_free(pool);
  return 0;
}

Test(thread_pool, T04_a_child_of_fork_has_helpers_of_its_own)
{
  thread_pool *pool = thread_pool_new(3), *unused = thread_pool_new(3);
  counts c = {.num_items = MAX_ITEMS};
  thread_pool_run_known(pool, &(thread_pool_work){count_item, &c, MAX_ITEMS, 1}, MUCH);
  pid_t child = fork();
  if (child == 0) {
    thread_pool_free(unused);
    _exit(run_in_child(pool));
  }
  int status = -1;
  cr_assert_eq(waitpid(child, &status, 0), child);
  cr_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0, "status 0x%x", (unsigned)status);
  thread_pool_run_known(pool, &(thread_pool_work){count_item, &c, MAX_ITEMS, 1}, MUCH);
  thread_pool_free(pool);
  thread_pool_free(unused);
}

static pthread_t program;
static atomic_uint handled, handled_elsewhere;

static void note_signal(int signal)
{
  (void)signal;
  atomic_fetch_add(pthread_equal(pthread_self(), program) ? &handled : &handled_elsewhere, 1);
}

/* Each thread sends signals to the process. */
static uint64_t send_signals(void *context, uint32_t item)
{
  late *l = context;
  (void)item;
  atomic_fetch_add(&l->arrived, 1);
  while (atomic_load(&l->arrived) < LATE_THREADS)
    nanosleep(&(struct timespec){.tv_nsec = 1000}, NULL);
  for (int i = 0; i < 100; i++) kill(getpid(), SIGUSR1);
  return 1;
}

Test(thread_pool, T04_signals_are_for_the_threads_of_the_program)
{
  struct sigaction action = {.sa_handler = note_signal};
  late l = {.caller = pthread_self()};
  program = pthread_self();
  sigaction(SIGUSR1, &action, NULL);
  thread_pool *pool = thread_pool_new(LATE_THREADS);
  thread_pool_run_known(pool, &(thread_pool_work){end_late, &l, LATE_THREADS, 1}, MUCH);
  atomic_store(&l.arrived, 0);
  sigset_t one, before;
  sigemptyset(&one);
  sigaddset(&one, SIGUSR1);
  pthread_sigmask(SIG_BLOCK, &one, &before); /* from here on other threads would get them */
  thread_pool_run_known(pool, &(thread_pool_work){send_signals, &l, LATE_THREADS, 1}, MUCH);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  thread_pool_free(pool);
  cr_assert_eq(atomic_load(&handled_elsewhere), 0);
  cr_assert_gt(atomic_load(&handled), 0);
}
