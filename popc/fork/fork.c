/* Loads clang once for all targets.
 *
 * Half of clang's time for a small source is the dynamic linker's: 17 ms of relocations. So popc
 * starts one clang with this library in LD_PRELOAD. When all is loaded, and before main(), the
 * process forks once for each further job.
 *
 *   popc ---- exec ---> clang, loaded ---> main() of job 0
 *                             | clone
 *                             +----------> main() of job 1, ...
 *
 * The new processes are popc's own children (CLONE_PARENT), as if popc had started them. The
 * environment variable POPC_FORK names the descriptor of a file that describes the jobs (launch.c
 * writes it). Each job is a row of words, each ended by a zero byte:
 *
 *   announce output errors   descriptors: where its process id goes, standard output and error
 *   count own...             descriptors that only this job may keep
 *   count arguments...
 *
 * Job 0 comes first; only its own descriptors count.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { MAX_JOBS = 64, MAX_OWN = 8, FAILED = 127 };

typedef struct job {
  int announce, output, errors;
  int num_own, own[MAX_OWN];
  int num_arguments;
  char **arguments;
} job;

typedef int main_function(int argc, char **argv, char **environment);
typedef int start_function(main_function *entry, int argc, char **argv, void (*init)(void),
                           void (*fini)(void), void (*rtld_fini)(void), void *stack_end);

start_function __libc_start_main;

static char *read_file(int fd, size_t *size)
{
  struct stat status;
  if (fstat(fd, &status) != 0) _exit(FAILED);
  *size = (size_t)status.st_size;
  char *text = malloc(*size + 1);
  if (!text || pread(fd, text, *size, 0) != (ssize_t)*size) _exit(FAILED);
  close(fd);
  return text;
}

static char *take_word(char **next)
{
  char *word = *next;
  *next += strlen(word) + 1;
  return word;
}

static int take_number(char **next)
{
  return atoi(take_word(next));
}

static void take_job(char **next, job *j)
{
  j->announce = take_number(next);
  j->output = take_number(next);
  j->errors = take_number(next);
  j->num_own = take_number(next);
  if (j->num_own > MAX_OWN) _exit(FAILED);
  for (int i = 0; i < j->num_own; ++i) j->own[i] = take_number(next);
  j->num_arguments = take_number(next);
  j->arguments = calloc((size_t)j->num_arguments + 1, sizeof *j->arguments);
  if (!j->arguments) _exit(FAILED);
  for (int i = 0; i < j->num_arguments; ++i) j->arguments[i] = take_word(next);
}

static int take_jobs(int fd, job jobs[MAX_JOBS])
{
  size_t size;
  char *text = read_file(fd, &size), *next = text;
  int count = 0;
  while (next < text + size && count < MAX_JOBS) take_job(&next, &jobs[count++]);
  return count;
}

static void give_up(const job *j)
{
  for (int i = 0; i < j->num_own; ++i) close(j->own[i]);
  if (j->output >= 0) close(j->output);
  if (j->errors >= 0) close(j->errors);
  if (j->announce >= 0) close(j->announce);
}

/* Forks a child of our parent. As after fork(), the C library must learn the new process id. */
static pid_t fork_sibling(void)
{
  int *number = NULL;
  unsigned long flags = CLONE_PARENT | SIGCHLD;
  if (prctl(PR_GET_TID_ADDRESS, &number) == 0 && number)
    flags |= CLONE_CHILD_SETTID | CLONE_CHILD_CLEARTID;
  else
    number = NULL;
#ifdef __x86_64__
  return (pid_t)syscall(SYS_clone, flags, NULL, NULL, number, NULL);
#else
  return (pid_t)syscall(SYS_clone, flags, NULL, NULL, NULL, number);
#endif
}

/* Runs in the new process, which dies with popc as the first one does. */
static void become(const job *j, pid_t parent)
{
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(FAILED);
  if (dup2(j->output, STDOUT_FILENO) < 0 || dup2(j->errors, STDERR_FILENO) < 0) _exit(FAILED);
  close(j->output);
  close(j->errors);
  close(j->announce);
}

/* Returns the number of the job that this process is to do. */
static int fork_jobs(const job *jobs, int count)
{
  pid_t parent = getppid();
  for (int i = 1; i < count; ++i) {
    pid_t pid = fork_sibling();
    if (pid == 0) {
      for (int other = 0; other < count; ++other)
        if (other > i || other == 0) give_up(&jobs[other]);
      become(&jobs[i], parent);
      return i;
    }
    if (pid < 0 || write(jobs[i].announce, &pid, sizeof pid) != sizeof pid) _exit(FAILED);
    give_up(&jobs[i]);
  }
  return 0;
}

int __libc_start_main(main_function *entry, int argc, char **argv, void (*init)(void),
                      void (*fini)(void), void (*rtld_fini)(void), void *stack_end)
{
  static job jobs[MAX_JOBS];
  const char *file = secure_getenv("POPC_FORK");
  if (file) {
    int count = take_jobs(atoi(file), jobs);
    unsetenv("POPC_FORK");
    unsetenv("LD_PRELOAD");
    int mine = fork_jobs(jobs, count);
    if (mine) {
      argc = jobs[mine].num_arguments;
      argv = jobs[mine].arguments;
    }
  }
  start_function *start;
  *(void **)&start = dlsym(RTLD_NEXT, "__libc_start_main");
  if (!start) _exit(FAILED);
  return start(entry, argc, argv, init, fini, rtld_fini, stack_end);
}
