/* The processes that compile one source, an object for each target, side by side.
 *
 *   popc-reflect (reflector.c)           clang, one for each target
 *     libclang reads the source            loads itself
 *     writes text and entries --- pipe ->  input   the user's path, with that text put in its place
 *                                                  (-remap-file)
 *                                          output  standard output, a file in memory
 *   this process reads the standard error of all, and waits.
 *
 * If a source may have vectors, the tile's clang makes bitcode, and more processes
 * follow (packed.c).
 *
 * So there are no temporary files, and clang shows the user's file and lines as if popc were
 * not there. Neither libclang nor clang can take this process down: an endless header, an
 * endless template or a crash of the compiler ends a child and becomes a message. A child dies
 * with its parent.
 *
 * All processes start at once, because the dynamic linker takes half of the time of a small codelet
 * to load clang. The first job loads clang once and forks the others (fork/fork.c).
 */
#include "compile_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

int popc_above_standard(int fd)
{
  if (fd < 0 || fd > STDERR_FILENO) return fd;
  int above = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1), errnum = errno;
  close(fd);
  errno = errnum;
  return above;
}

/* pipe2, above the standard streams. */
static bool open_pipe(int ends[2])
{
  if (pipe2(ends, O_CLOEXEC) != 0) return false;
  ends[0] = popc_above_standard(ends[0]);
  int errnum = errno;
  ends[1] = popc_above_standard(ends[1]);
  if (ends[0] >= 0 && ends[1] >= 0) return true;
  if (ends[0] < 0) errno = errnum;
  if (ends[0] >= 0) close(ends[0]);
  if (ends[1] >= 0) close(ends[1]);
  return false;
}

static int open_file(const char *name)
{
  return popc_above_standard(memfd_create(name, MFD_CLOEXEC));
}

static void close_end(int *fd)
{
  if (*fd >= 0) close(*fd);
  *fd = -1;
}

static pop_error *open_ends(job *job, int *errors, bool reflected, bool is_forked)
{
  int ends[2];
  job->object = open_file("popc-object");
  if (job->wanted_dependencies) job->dependencies = open_file("popc-dependencies");
  if (job->object < 0 || (job->wanted_dependencies && job->dependencies < 0))
    return pop_error_errno(errno, "cannot make a file in memory");
  if (!open_pipe(ends)) return pop_error_errno(errno, "cannot make a pipe");
  job->errors = ends[0];
  *errors = ends[1];
  if (is_forked) {
    if (!open_pipe(ends)) return pop_error_errno(errno, "cannot make a pipe");
    job->announced = ends[0];
    job->announce = ends[1];
  }
  if (!reflected) return NULL;
  if (!open_pipe(ends)) return pop_error_errno(errno, "cannot make a pipe");
  job->text = ends[0];
  job->text_from = ends[1];
  return NULL;
}

/* Processes that start together, and what all of them need. */
typedef struct batch {
  job *jobs;
  size_t count;
  size_t forked; /* how many of the first jobs begin as one process */
  const popc_source *source;
  const limits *limits;
  int errors[POPC_MAX_JOBS + 1]; /* write ends */
} batch;

static pop_error *prepare_launch(const batch *b, size_t i, pop_arena *arena, popc_launch *l)
{
  if (i == b->count)
    return popc_prepare_reflector(&b->jobs[i], b->jobs, b->count, b->source, b->errors[i], arena,
                                  l);
  if (b->jobs[i].product == POPC_PAIRS)
    return popc_prepare_pairs(&b->jobs[i], b->source, b->errors[i], l);
  return popc_prepare_clang(&b->jobs[i], i ? 1 : b->forked, b->source, b->limits, &b->errors[i],
                            arena, l);
}

static pop_error *start_one(const batch *b, size_t i, pop_arena *arena)
{
  popc_launch l = {0};
  pop_error *error = prepare_launch(b, i, arena, &l);
  if (!error) {
    pid_t parent = getpid(), pid = fork();
    if (pid == 0) popc_exec_child(&l, b->limits, parent);
    b->jobs[i].pid = pid;
    if (pid < 0) error = pop_error_errno(errno, "cannot start the compiler");
  }
  popc_launch_free(&l);
  return error;
}

pop_error *popc_start_jobs(job *jobs, size_t count, bool reflected, const popc_source *source,
                           const limits *limits, pop_arena *arena)
{
  batch b = {jobs, count, count > 1 && jobs[0].fork_library ? count : 1, source, limits, {0}};
  size_t all = count + reflected;
  for (size_t i = 0; i < all; ++i) b.errors[i] = -1;
  pop_error *error = NULL;
  for (size_t i = 0; i < all && !error; ++i)
    error = open_ends(&jobs[i], &b.errors[i], reflected && i < count, i > 0 && i < b.forked);
  for (size_t i = all; i-- > 0 && !error;)
    if (i == 0 || i >= b.forked) error = start_one(&b, i, arena);
  for (size_t i = 0; i < all; ++i) {
    close_end(&b.errors[i]);
    close_end(&jobs[i].announce);
    close_end(&jobs[i].text);
    close_end(&jobs[i].text_from);
  }
  return error;
}

/* The job's process id. Waits for clang to be loaded if the job is forked by the first one's clang.
 * 0: there is no process, as clang died before it forked. */
static pid_t pid_of(job *job)
{
  if (job->announced >= 0) {
    pid_t pid;
    ssize_t n;
    do n = read(job->announced, &pid, sizeof pid);
    while (n < 0 && errno == EINTR);
    if (n == sizeof pid) job->pid = pid;
    close_end(&job->announced);
  }
  return job->pid;
}

static void kill_job(job *job)
{
  if (pid_of(job) > 0) kill(job->pid, SIGKILL);
}

static void drain(job *job)
{
  char buffer[16384];
  ssize_t n = read(job->errors, buffer, sizeof buffer);
  if (n < 0 && (errno == EINTR || errno == EAGAIN)) return;
  if (n <= 0) {
    close(job->errors);
    job->errors = -1;
  } else if (job->diagnostics.size < POPC_MAX_DIAGNOSTICS) {
    pop_bytes_append(&job->diagnostics, buffer, (size_t)n);
  } else {
    kill_job(job);
  }
}

static double now_seconds(void)
{
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

void popc_stop_jobs(job *jobs, size_t count)
{
  for (size_t i = 0; i < count; ++i) {
    jobs[i].timed_out = jobs[i].errors >= 0;
    if (jobs[i].errors >= 0) kill_job(&jobs[i]);
  }
}

/* In a host that ignores SIGCHLD, or that waits for any child, the status may be gone. */
static void wait_for(job *job)
{
  int waited;
  do waited = waitpid(job->pid, &job->status, 0);
  while (waited < 0 && errno == EINTR);
  job->is_lost = waited < 0;
}

/* A job that was never forked gets the status of the first one. */
static void collect(job *jobs, size_t count)
{
  for (size_t i = 0; i < count; ++i) {
    if (pid_of(&jobs[i]) > 0)
      wait_for(&jobs[i]);
    else
      jobs[i].status = jobs[0].status;
  }
}

void popc_watch_jobs(job *jobs, size_t count, const limits *limits)
{
  double end = now_seconds() + (double)limits->seconds;
  for (;;) {
    struct pollfd ends[POPC_MAX_JOBS + 1];
    nfds_t open_ends = 0;
    for (size_t i = 0; i < count; ++i) {
      ends[i] = (struct pollfd){.fd = jobs[i].errors, .events = POLLIN};
      open_ends += jobs[i].errors >= 0;
    }
    if (!open_ends) break;
    double left = end - now_seconds();
    if (left <= 0) {
      popc_stop_jobs(jobs, count);
      break;
    }
    poll(ends, count, (int)(1000 * (left < 60 ? left : 60)) + 1);
    for (size_t i = 0; i < count; ++i)
      if (jobs[i].errors >= 0 && ends[i].revents) drain(&jobs[i]);
  }
  collect(jobs, count);
}

void popc_release_job(job *job)
{
  if (job->errors >= 0) close(job->errors);
  if (job->announced >= 0) close(job->announced);
  if (job->object >= 0) close(job->object);
  if (job->dependencies >= 0) close(job->dependencies);
  pop_bytes_free(&job->diagnostics);
  free(job->arguments.items);
}

job popc_new_job(popc_product product)
{
  return (job){.product = product,
               .errors = -1,
               .announced = -1,
               .announce = -1,
               .object = -1,
               .dependencies = -1,
               .text = -1,
               .text_from = -1};
}
