/* A call in one of LLVM's threads can be given up, and the process continues without it (D04). */
#include "base/llvm_thread.h"

#include <criterion/criterion.h>
#include <populus/arena.h>
#include <pthread.h>
#include <stdint.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void add_one(void *context)
{
  cr_assert(llvm_thread_is_this());
  ++*(int *)context;
}

static void give_up(void *context)
{
  ++*(int *)context;
  llvm_thread_give_up("the test wants it");
  *(int *)context += 100; /* never */
}

Test(llvm_thread, calls_are_done_when_they_return)
{
  int calls = 0;
  for (int i = 0; i < 1000; ++i) cr_assert(llvm_thread_call(i % NUM_LLVM_USERS, add_one, &calls));
  cr_assert_eq(calls, 1000);
  cr_assert_null(llvm_thread_error());
  cr_assert_not(llvm_thread_is_this());
}

Test(llvm_thread, who_waits_is_told_and_nobody_gets_in_any_more)
{
  int calls = 0;
  cr_assert_not(llvm_thread_call(LLVM_TRANSLATOR, give_up, &calls));
  cr_assert_str_eq(llvm_thread_error(), "the test wants it");
  for (int user = 0; user < NUM_LLVM_USERS; ++user)
    cr_assert_not(llvm_thread_call(user, add_one, &calls));
  usleep(10000);
  cr_assert_eq(calls, 1);
  cr_assert_str_eq(llvm_thread_error(), "the test wants it");
}

/* A call of the other module. It runs while the first call is given up, and finishes. */
static int stage; /* 1: the second thread is inside; 2: the first is lost */
static void wait_for_the_loss(void *context)
{
  __atomic_store_n(&stage, 1, __ATOMIC_SEQ_CST);
  while (__atomic_load_n(&stage, __ATOMIC_SEQ_CST) != 2) usleep(1000);
  ++*(int *)context;
}

static void *call_linker(void *context)
{
  return llvm_thread_call(LLVM_HOST_LINKER, wait_for_the_loss, context) ? context : NULL;
}

Test(llvm_thread, what_is_at_work_elsewhere_finishes)
{
  int finished = 0, calls = 0;
  pthread_t other;
  void *done;
  cr_assert_eq(pthread_create(&other, NULL, call_linker, &finished), 0);
  while (__atomic_load_n(&stage, __ATOMIC_SEQ_CST) != 1) usleep(1000);
  cr_assert_not(llvm_thread_call(LLVM_TRANSLATOR, give_up, &calls));
  __atomic_store_n(&stage, 2, __ATOMIC_SEQ_CST);
  pthread_join(other, &done);
  cr_assert_eq(done, &finished);
  cr_assert_eq(finished, 1);
}

/* The handlers of LLVM's threads do not end other threads that have no memory. */
Test(llvm_thread, other_threads_are_not_given_up)
{
  llvm_thread_give_up("not one of them");
  cr_assert_null(llvm_thread_error());
}

/* The sanitizers end the process when they have no memory. */
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
/* More memory than the reserve (arena.h): only the thread ends, not the process. */
static void ask_for_too_much(void *context)
{
  *(void **)context = pop_xmalloc(SIZE_MAX / 2);
}

Test(llvm_thread, memory_that_is_not_there_is_the_end_of_the_thread_only)
{
  void *memory = NULL;
  cr_assert_not(llvm_thread_call(LLVM_TRANSLATOR, ask_for_too_much, &memory));
  cr_assert_not_null(strstr(llvm_thread_error(), "memory"), "%s", llvm_thread_error());
}

#endif

static int exit_status_of_child(int (*run)(void))
{
  int status;
  pid_t child = fork();
  if (child == 0) _exit(run());
  cr_assert_eq(waitpid(child, &status, 0), child);
  cr_assert(WIFEXITED(status));
  return WEXITSTATUS(status);
}

static int calls_work(void)
{
  int calls = 0;
  return llvm_thread_call(LLVM_TRANSLATOR, add_one, &calls) && calls == 1 ? 0 : 1;
}

static int calls_are_refused(void)
{
  int calls = 0;
  bool called = llvm_thread_call(LLVM_HOST_LINKER, add_one, &calls);
  return !called && strstr(llvm_thread_error(), "forked") ? 0 : 1;
}

Test(llvm_thread, a_child_has_a_thread_of_its_own)
{
  cr_assert_eq(calls_work(), 0);
  cr_assert_eq(exit_status_of_child(calls_work), 0);
}

/* In the child, LLVM stays as its thread left it, in the middle of a call. */
Test(llvm_thread, a_child_that_was_made_meanwhile_does_without)
{
  int finished = 0;
  pthread_t other;
  cr_assert_eq(pthread_create(&other, NULL, call_linker, &finished), 0);
  while (__atomic_load_n(&stage, __ATOMIC_SEQ_CST) != 1) usleep(1000);
  cr_assert_eq(exit_status_of_child(calls_are_refused), 0);
  __atomic_store_n(&stage, 2, __ATOMIC_SEQ_CST);
  pthread_join(other, NULL);
  cr_assert_eq(calls_work(), 0);
}
