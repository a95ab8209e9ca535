/* ssh for mpirun (poprun_reach.h). If a machine cannot be reached, Open MPI ends without naming it,
 * and MPICH waits for ever. So this runs between them and ssh: it names the machine, and tells
 * poprun, which ends all. */
#include "poprun_reach.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SSH_FAILED = 255, NO_SSH = 127 };

bool poprun_is_reaching(int argc, char *const *argv)
{
  return getenv(POPRUN_REACH) && argc > 2 && strcmp(argv[1], "-x") == 0;
}

/* Standard error here goes through mpirun, which poprun ends at once. So poprun gets
 * the message. */
static void report_unreachable(const char *host, int status)
{
  long poprun = 0;
  int file = -1;
  char path[64];
  if (sscanf(getenv(POPRUN_REACH), "%ld:%d", &poprun, &file) != 2 || poprun <= 1) return;
  snprintf(path, sizeof path, "/proc/%ld/fd/%d", poprun, file);
  int to = open(path, O_WRONLY | O_CLOEXEC);
  dprintf(to >= 0 ? to : STDERR_FILENO,
          "poprun: error: cannot reach '%s', on which instances are to be started: %s; it has to "
          "answer 'ssh %s true' without a password\n",
          host, status == NO_SSH ? "there is no ssh" : "ssh has failed", host);
  if (to >= 0) close(to);
  kill((pid_t)poprun, POPRUN_UNREACHED);
}

/* Without a limit, a machine that accepts the connection and is then silent would be waited
 * for without end. */
static void run_ssh(int argc, char **argv)
{
  char **arguments = calloc((size_t)argc + 3, sizeof *arguments);
  if (!arguments) return;
  arguments[0] = "ssh";
  arguments[1] = "-o";
  arguments[2] = "ConnectTimeout=10";
  memcpy(arguments + 3, argv + 1, ((size_t)argc - 1) * sizeof *arguments);
  execvp("ssh", arguments);
}

int poprun_reach(int argc, char **argv)
{
  int status = 0;
  pid_t made = fork();
  if (made == 0) {
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    run_ssh(argc, argv);
    _exit(NO_SSH);
  }
  prctl(PR_SET_PDEATHSIG, SIGKILL); /* ssh follows */
  while (made > 0 && waitpid(made, &status, 0) < 0 && errno == EINTR) {
  }
  int result = made < 0 ? NO_SSH : WIFEXITED(status) ? WEXITSTATUS(status) : SSH_FAILED;
  if (result == SSH_FAILED || result == NO_SSH) report_unreachable(argv[2], result);
  return result;
}
