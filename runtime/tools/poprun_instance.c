/* One instance of a program: the child of a poprun that mpirun has started on the instance's
 * machine. This process sets the child's environment, passes signals on, and reports an abnormal
 * end. It leaves no orphan: the child dies with this process, and this process ends with mpirun. */
#include "poprun_instance.h"

#include <errno.h>
#include <fcntl.h>
#include <populus/arena.h>
#include <populus/file.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { STATUS_USAGE = 2, NOT_STARTED = 127, SIGNALLED = 128 };

typedef struct instance {
  char kind[16];
  uint32_t index, count, local; /* local: among those on its machine */
  uint32_t num_replicas, ipus_per_replica;
  int only_output, input; /* input: poprun_input */
  char timeout[32];
} instance;

char *poprun_describe(const poprun_options *o, const char *kind)
{
  return pop_xasprintf("%s:%u:%u:%d:%d:%s", kind, o->num_replicas, o->ipus_per_replica,
                       o->only_output, (int)o->input, o->timeout ? o->timeout : "");
}

static bool read_variable(const char *name, uint32_t *number)
{
  const char *text = getenv(name);
  if (text) *number = (uint32_t)strtoul(text, NULL, 10);
  return text != NULL;
}

static bool read_instance(const char *described, instance *of)
{
  of->timeout[0] = '\0';
  if (sscanf(described, "%15[^:]:%u:%u:%d:%d:%31s", of->kind, &of->num_replicas,
             &of->ipus_per_replica, &of->only_output, &of->input, of->timeout) < 5)
    return false;
  if (strcmp(of->kind, "openmpi") == 0)
    return read_variable("OMPI_COMM_WORLD_RANK", &of->index) &&
           read_variable("OMPI_COMM_WORLD_SIZE", &of->count) &&
           read_variable("OMPI_COMM_WORLD_LOCAL_RANK", &of->local);
  if (!read_variable("PMI_RANK", &of->index) || !read_variable("PMI_SIZE", &of->count))
    return false;
  if (!read_variable("MPI_LOCALRANKID", &of->local)) of->local = of->index;
  return true;
}

static void set_number(const char *name, uint32_t number)
{
  char text[16];
  snprintf(text, sizeof text, "%u", number);
  setenv(name, text, 1);
}

static void set_environment(const instance *of)
{
  uint32_t replicas = of->num_replicas / of->count;
  set_number("POPDIST_INSTANCE_INDEX", of->index);
  set_number("POPDIST_NUM_INSTANCES", of->count);
  set_number("POPDIST_NUM_TOTAL_REPLICAS", of->num_replicas);
  set_number("POPDIST_NUM_LOCAL_REPLICAS", replicas);
  set_number("POPDIST_REPLICA_INDEX_OFFSET", of->index * replicas);
  set_number("POPDIST_IPUS_PER_REPLICA", of->ipus_per_replica);
  set_number("POPULUS_DEVICE_SET", of->local + 1);
  setenv("POPULUS_RANKS", of->kind, 1);
  if (*of->timeout) setenv("POPULUS_RANKS_TIMEOUT", of->timeout, 1);
}

static void silence(void)
{
  int nothing = open("/dev/null", O_WRONLY | O_CLOEXEC);
  if (nothing < 0) return;
  dup2(nothing, STDOUT_FILENO);
  dup2(nothing, STDERR_FILENO);
}

/* MPICH would leave instances to which it passes nothing with an input that does not end. */
static void end_input(const instance *of)
{
  if (of->input == INPUT_TO_NAMED || (of->input == INPUT_TO_FIRST && of->index == 0)) return;
  int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (nothing >= 0) dup2(nothing, STDIN_FILENO);
}

/* ---- signals ---- */

static volatile sig_atomic_t child, was_told_to_end;

static void pass_on(int number)
{
  int before = errno;
  if (number != SIGUSR1 && number != SIGUSR2) was_told_to_end = 1;
  if (child > 0) kill((pid_t)child, number);
  errno = before;
}

bool poprun_is_without_hangup(void)
{
  struct sigaction before;
  return sigaction(SIGHUP, NULL, &before) == 0 && before.sa_handler == SIG_IGN;
}

static void pass_on_signals(void)
{
  static const int numbers[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGCONT};
  struct sigaction action = {.sa_handler = pass_on, .sa_flags = SA_RESTART};
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
    if (numbers[i] != SIGHUP || !poprun_is_without_hangup()) sigaction(numbers[i], &action, NULL);
}

/* ---- the child ---- */

_Noreturn static void become(const instance *of, char *const *program, const sigset_t *before,
                             pid_t parent)
{
  int messages = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(NOT_STARTED); /* it is gone already */
  sigprocmask(SIG_SETMASK, before, NULL);
  signal(SIGXFSZ, SIG_DFL); /* which poprun has changed for itself */
  set_environment(of);
  if (of->only_output >= 0 && (uint32_t)of->only_output != of->index) silence();
  end_input(of);
  execvp(program[0], program);
  dprintf(messages, "poprun: instance %u: cannot start '%s': %s\n", of->index, program[0],
          strerror(errno));
  _exit(NOT_STARTED);
}

/* MPICH's launcher ends the other instances by itself only if the failed one had joined them. So it
 * is asked to. */
static void end_others(const instance *of, int status)
{
  enum { SECONDS = 10 };
  const struct timespec while_it_is_read = {0, 300000000}; /* what was said of the end */
  uint32_t file;
  if (strcmp(of->kind, "mpich") != 0 || !read_variable("PMI_FD", &file)) return;
  nanosleep(&while_it_is_read, NULL);
  signal(
      SIGPIPE,
      SIG_IGN); /* it listens no more once the instance has left MPI, which it does when all end */
  bool asked = dprintf((int)file, "cmd=abort exitcode=%d\n", status) > 0;
  if (asked) sleep(SECONDS); /* until it ends this one, too: statuses of several would be mixed */
}

static int say_end(const instance *of, int status)
{
  char host[64] = "?", how[128];
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return 0;
  int result = WIFEXITED(status) ? WEXITSTATUS(status) : SIGNALLED + WTERMSIG(status);
  if (was_told_to_end) return result;
  gethostname(host, sizeof host - 1);
  if (WIFEXITED(status))
    snprintf(how, sizeof how, "has ended with exit status %d", result);
  else
    snprintf(how, sizeof how, "was ended by signal %d (%s)", WTERMSIG(status),
             strsignal(WTERMSIG(status)));
  if (result != NOT_STARTED)
    fprintf(stderr, "poprun: instance %u on %s %s; the others are ended\n", of->index, host, how);
  end_others(of, result);
  return result;
}

int poprun_instance(const char *described, char *const *program)
{
  instance of;
  sigset_t all, before;
  int status;
  if (!read_instance(described, &of) || of.count == 0) {
    fprintf(stderr, "poprun: " POPRUN_INSTANCE " is what mpirun is given by poprun itself\n");
    return STATUS_USAGE;
  }
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, &before);
  pass_on_signals();
  pid_t own = getpid(), made = fork();
  if (made == 0) become(&of, program, &before, own);
  if (made < 0) {
    fprintf(stderr, "poprun: instance %u: cannot start '%s': %s\n", of.index, program[0],
            strerror(errno));
    return NOT_STARTED;
  }
  child = made;
  sigprocmask(SIG_SETMASK, &before, NULL);
  while (waitpid(made, &status, 0) < 0 && errno == EINTR) {
  }
  return say_end(&of, status);
}
