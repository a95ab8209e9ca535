/* The process that compiles one source for one target: limits, libclang, then clang instead. */
#include "compile_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

static void limit(int resource, rlim_t value)
{
  struct rlimit now;
  if (getrlimit(resource, &now) != 0) return;
  if (now.rlim_max != RLIM_INFINITY && value > now.rlim_max) value = now.rlim_max;
  now.rlim_cur = value;
  setrlimit(resource, &now);
}

/* Address space that this process has already (a large host program, a sanitizer's shadow). */
static rlim_t mapped_bytes(void)
{
  unsigned long pages = 0;
  FILE *file = fopen("/proc/self/statm", "re");
  if (!file) return 0;
  if (fscanf(file, "%lu", &pages) != 1) pages = 0;
  fclose(file);
  return (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE);
}

static void write_all(int fd, const void *bytes, size_t size)
{
  const char *next = bytes;
  while (size) {
    ssize_t n = write(fd, next, size);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) _exit(STATUS_AT_FAULT);
    next += n;
    size -= (size_t)n;
  }
}

static int text_in_memory(const popc_source *source, const pop_bytes *entries)
{
  int fd = memfd_create("popc-source", 0);
  if (fd < 0) _exit(STATUS_AT_FAULT);
  write_all(fd, source->text, source->size);
  write_all(fd, entries->data, entries->size);
  return fd;
}

/* A name that is not taken for an option. */
static const char *slashed(const char *path, pop_arena *arena)
{
  return path[0] == '-' ? pop_arena_printf(arena, "./%s", path) : path;
}

/* Signals and descriptors of a process of its own. */
static void detach(const job *job, pid_t parent, int errors)
{
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(STATUS_AT_FAULT); /* it died before that */
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, NULL);
  static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGXFSZ};
  for (size_t i = 0; i < sizeof signals / sizeof *signals; ++i) signal(signals[i], SIG_DFL);
  int nothing = open("/dev/null", O_RDONLY);
  if (nothing < 0 || dup2(nothing, STDIN_FILENO) < 0 || dup2(job->object, STDOUT_FILENO) < 0 ||
      dup2(errors, STDERR_FILENO) < 0)
    _exit(STATUS_NO_CLANG);
  close_range(STDERR_FILENO + 1, ~0u, CLOSE_RANGE_CLOEXEC);
}

static void set_limits(const limits *limits)
{
  limit(RLIMIT_CORE, 0);
  limit(RLIMIT_CPU, limits->seconds);
  limit(RLIMIT_FSIZE, MAX_OBJECT_BYTES);
  limit(RLIMIT_AS, mapped_bytes() + limits->memory_bytes);
}

_Noreturn void popc_run_child(const job *job, const popc_source *source, const limits *limits,
                              pid_t parent, int errors)
{
  detach(job, parent, errors);
  set_limits(limits);
  popc_arguments command = {0};
  for (size_t i = 0; i < job->arguments.count; ++i)
    popc_add_argument(&command, job->arguments.items[i]);
  pop_arena *arena = pop_arena_new();
  popc_source named = *source;
  named.path = slashed(source->path, arena);

  pop_bytes entries = {0};
  /* The first argument is the program: libclang takes the others. */
  if (popc_reflect(&named, job->target, command.items + 1, command.count - 1, &entries) ==
      POPC_VERTEX_AT_FAULT) {
    write_all(STDERR_FILENO, entries.data, entries.size);
    _exit(STATUS_AT_FAULT);
  }
  int user = open(named.path, O_RDONLY), text = text_in_memory(source, &entries);
  if (user >= 0) fcntl(user, F_SETFD, 0);
  static const char *const in_memory[] = {"-c", "-o", "-", "-Xclang", "-remap-file", "-Xclang"};
  for (size_t i = 0; i < sizeof in_memory / sizeof *in_memory; ++i)
    popc_add_argument(&command, in_memory[i]);
  popc_add_argument(&command,
                    pop_arena_printf(arena, "/proc/self/fd/%d;/proc/self/fd/%d", user, text));
  popc_add_argument(&command, named.path);
  popc_add_argument(&command, NULL);
  limit(RLIMIT_AS, limits->memory_bytes);
  execve(command.items[0], (char **)command.items, environ);
  _exit(STATUS_NO_CLANG);
}
