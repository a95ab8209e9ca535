/* Standard streams that were closed at the start, output that does not arrive, and signals that
 * were ignored at the start. */
#include <populus/standard_streams.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

pop_error *pop_standard_streams_open(void)
{
  signal(SIGXFSZ, SIG_IGN);
  signal(SIGCHLD, SIG_DFL);
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; ++fd) {
    if (fcntl(fd, F_GETFD) >= 0) continue;
    int opened = open("/dev/null",
                      fd == STDERR_FILENO ? O_WRONLY : O_RDONLY); /* the lowest that is free: fd */
    if (opened < 0)
      return pop_error_errno(errno, "cannot open /dev/null in place of a standard stream");
  }
  return NULL;
}

pop_error *pop_standard_output_flush(void)
{
  errno = 0; /* of what failed before, nobody knows the reason any more */
  if (fflush(stdout) == 0 && !ferror(stdout)) return NULL;
  if (!errno) return pop_error_new(POP_ERROR_SYSTEM, "cannot write to standard output");
  return pop_error_errno(errno, "cannot write to standard output");
}
