/* A library for LD_PRELOAD that makes allocations of the process fail, as the environment says:
 *
 *   FAIL_MALLOC=N      the N-th
 *   FAIL_MALLOC=N+     the N-th and all after it
 *   FAIL_MALLOC_COUNT=FILE   none fails; the number of allocations is written to FILE at the end
 *   FAIL_MALLOC=serve        a run for each line of descriptor 8, an N or N+: its exit status,
 *                            or 128 + its signal, goes to descriptor 9. Libraries are loaded
 *                            once for all runs.
 *
 * Only the first process counts, as children of a compiler driver are not tested. The count begins
 * with main, as the dynamic linker and constructors of libraries are not ours. Allocations do not
 * fail where the C library itself would end the process: when it registers a destructor of a thread
 * (our code first asks whether there is memory, machine/native_module.c). */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern void *__libc_malloc(size_t size), *__libc_calloc(size_t count, size_t size),
    *__libc_realloc(void *old, size_t size);

static atomic_long calls;
static long first = LONG_MAX, behind = LONG_MAX;
static char count_file[PATH_MAX];

static void choose(const char *which)
{
  char *end;
  first = strtol(which, &end, 10);
  if (*end != '+') behind = first + 1;
}

/* Returns in each child, which goes on to main. */
static void serve(void)
{
  enum { REQUESTS = 8, ANSWERS = 9, SIGNAL_STATUS = 128 };
  FILE *requests = fdopen(REQUESTS, "r");
  char which[32];
  while (requests && fgets(which, sizeof which, requests)) {
    pid_t child = fork();
    if (child == 0) {
      fclose(requests);
      close(ANSWERS);
      choose(which);
      return;
    }
    int status;
    if (child < 0 || waitpid(child, &status, 0) != child) break;
    dprintf(ANSWERS, "%d\n",
            WIFEXITED(status) ? WEXITSTATUS(status) : SIGNAL_STATUS + WTERMSIG(status));
  }
  _exit(0);
}

__attribute__((constructor)) static void start(void)
{
  const char *which = getenv("FAIL_MALLOC"), *file = getenv("FAIL_MALLOC_COUNT");
  if (which && strcmp(which, "serve") == 0)
    serve();
  else if (which)
    choose(which);
  if (file) snprintf(count_file, sizeof count_file, "%s", file);
  unsetenv("LD_PRELOAD");
  unsetenv("FAIL_MALLOC");
  unsetenv("FAIL_MALLOC_COUNT");
  atomic_store(&calls, 0);
}

__attribute__((destructor)) static void end(void)
{
  char text[32];
  int length = snprintf(text, sizeof text, "%ld\n", atomic_load(&calls));
  int file = *count_file ? open(count_file, O_WRONLY | O_CREAT | O_TRUNC, 0666) : -1;
  if (file >= 0 && write(file, text, (size_t)length) != length) abort();
}

static _Thread_local bool spared;

int __cxa_thread_atexit_impl(void (*destroy)(void *), void *object, void *library)
{
  int (*real)(void (*)(void *), void *, void *);
  *(void **)&real = dlsym(RTLD_NEXT, "__cxa_thread_atexit_impl");
  spared = true;
  int status = real(destroy, object, library);
  spared = false;
  return status;
}

static bool fails(void)
{
  if (spared) return false;
  long call = atomic_fetch_add(&calls, 1) + 1;
  if (call < first || call >= behind) return false;
  errno = ENOMEM;
  return true;
}

void *malloc(size_t size)
{
  return fails() ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
  return fails() ? NULL : __libc_calloc(count, size);
}

void *realloc(void *old, size_t size)
{
  return fails() ? NULL : __libc_realloc(old, size);
}
