/* A process that compiles, between its fork and its exec. It makes only system calls: another
 * thread of the host, which the fork did not copy, may hold a lock of the allocator or of a
 * sanitizer. launch.c has prepared everything else. */
#include "compile_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

/* Ends a process that cannot begin. */
static _Noreturn void give_up(int status)
{
  _exit(errno == EMFILE || errno == ENFILE ? STATUS_NO_DESCRIPTORS : status);
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

static void write_texts(const popc_launch *l)
{
  for (size_t i = 0; i < l->num_texts; ++i) {
    write_all(l->texts[i].fd, l->texts[i].data, l->texts[i].size);
    if (lseek(l->texts[i].fd, 0, SEEK_SET) != 0) _exit(STATUS_AT_FAULT);
  }
}

/* Gives the process signals and descriptors of its own. */
static void detach(const popc_launch *l, pid_t parent)
{
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(STATUS_AT_FAULT); /* it died before that */
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, NULL);
  static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGXFSZ};
  for (size_t i = 0; i < sizeof signals / sizeof *signals; ++i) signal(signals[i], SIG_DFL);
  if (dup2(l->input, STDIN_FILENO) < 0 || dup2(l->output, STDOUT_FILENO) < 0 ||
      dup2(l->errors, STDERR_FILENO) < 0)
    give_up(STATUS_NO_CLANG);
  close_range(STDERR_FILENO + 1, ~0u, CLOSE_RANGE_CLOEXEC);
  for (size_t i = 0; i < l->num_kept; ++i) fcntl(l->kept[i], F_SETFD, 0);
}

static void set_limits(const limits *limits)
{
  popc_limit(RLIMIT_CORE, 0);
  popc_limit(RLIMIT_CPU, limits->seconds);
  popc_limit(RLIMIT_FSIZE, MAX_OBJECT_BYTES);
}

_Noreturn void popc_exec_child(const popc_launch *l, const limits *limits, pid_t parent)
{
  detach(l, parent);
  set_limits(limits);
  write_texts(l);
  popc_limit(RLIMIT_AS, l->memory_bytes);
  execve(l->command.items[0], (char **)l->command.items, (char **)l->environment.items);
  _exit(STATUS_NO_CLANG);
}
