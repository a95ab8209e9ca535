/* LLVM and the C++ library have handlers for fatal errors. They belong to the process, so those of
 * this file first let `handler` check whose thread it is. C has no headers for them: the names are
 * the C++ compiler's. */
#include "base/llvm/fatal_handlers.h"

#include <llvm-c/ErrorHandling.h>
#include <populus/out_of_memory.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

typedef void (*new_handler)(void);
/* std::set_new_handler; std::__throw_bad_alloc, which `new` calls without a handler;
 * llvm/Support/ErrorHandling.h */
extern new_handler set_new_handler(new_handler handler) __asm__("_ZSt15set_new_handlerPFvvE");
extern void *cxa_get_globals(void) __asm__("__cxa_get_globals");
extern _Noreturn void throw_bad_alloc(void) __asm__("_ZSt17__throw_bad_allocv");
extern void install_bad_alloc_handler(
    void (*handler)(void *, const char *, bool),
    void *data) __asm__("_ZN4llvm31install_bad_alloc_error_handlerEPFvPvPKcbES0_");

static void ignore_failure(const char *why)
{
  (void)why;
}

static _Atomic(llvm_fatal_handler) current_handler = ignore_failure;

static void call_handler(const char *why)
{
  llvm_fatal_handler handler = atomic_load(&current_handler);
  handler(why);
}
static new_handler before;

static const char no_memory[] = "LLVM has no memory";

static void when_new_fails(void)
{
  call_handler(no_memory);
  if (!before) throw_bad_alloc();
  before();
}

/* In other threads LLVM prints the reason itself if there is no handler. */
static void say(const char *why)
{
  static const char name[] = "LLVM ERROR: ";
  bool said = write(STDERR_FILENO, name, sizeof name - 1) >= 0;
  for (const char *c = why; said && *c; ++c) said = write(STDERR_FILENO, c, 1) == 1;
  if (said && write(STDERR_FILENO, "\n", 1) != 1) return;
}

static void when_malloc_fails(void *data, const char *why, bool crash)
{
  (void)data;
  (void)crash;
  call_handler(no_memory);
  say(why);
  abort();
}

static void when_fatal(const char *why)
{
  call_handler(why);
  say(why);
}

static void when_arena_fails(size_t bytes)
{
  (void)bytes;
  call_handler(no_memory);
}

static void install(void)
{
  before = set_new_handler(when_new_fails);
  install_bad_alloc_handler(when_malloc_fails, NULL);
  LLVMInstallFatalErrorHandler(when_fatal);
}

void llvm_set_fatal_handler(llvm_fatal_handler handler)
{
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, install);
  atomic_store(&current_handler, handler);
  pop_set_thread_out_of_memory_handler(when_arena_fails);
}

void llvm_prepare_thread(void)
{
  (void)cxa_get_globals();
}
