/* One source, two objects: a child process for the tile and one for the host, side by side.
 *
 *   parent                          child
 *   fork ------------------------>  limits; libclang reads the source (reflect.c)
 *   read its standard error         clang replaces the process:
 *   wait                              input   the user's path, with the text that was read and the
 *                                             entries behind it put in its place (-remap-file)
 *                                     output  standard output, a file in memory
 *
 * So there are no temporary files, clang shows the user's file and lines as if we were not there,
 * and neither libclang nor clang can take this process down: a header without end, a template that
 * never ends, a crash of the compiler end the child and become a message. A child dies with its
 * parent.
 */
#include "compile_internal.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MAX_DIAGNOSTICS ((size_t)4 << 20)

static const struct {
  const char *extension;
  popc_language language;
} languages[] = {
    {".c", POPC_C}, {".cpp", POPC_CXX}, {".cc", POPC_CXX}, {".cxx", POPC_CXX}, {".C", POPC_CXX},
};

bool popc_language_of(const char *path, popc_language *language)
{
  const char *dot = strrchr(path, '.');
  for (size_t i = 0; dot && i < sizeof languages / sizeof *languages; ++i) {
    if (!strcmp(dot, languages[i].extension)) {
      *language = languages[i].language;
      return true;
    }
  }
  return false;
}

/* POPC_TIME_LIMIT in seconds, POPC_MEMORY_LIMIT in MiB: far above what a codelet needs. */
static rlim_t limit_from(const char *variable, rlim_t otherwise)
{
  const char *text = getenv(variable);
  char *end;
  unsigned long value = text ? strtoul(text, &end, 10) : 0;
  return text && *text && !*end && value > 0 && value < 1u << 30 ? (rlim_t)value : otherwise;
}

static limits get_limits(void)
{
  return (limits){limit_from("POPC_TIME_LIMIT", 600), limit_from("POPC_MEMORY_LIMIT", 4096) * MIB};
}

static pop_error *start(job *job, const popc_source *source, const limits *limits)
{
  int pipe_ends[2];
  job->errors = -1;
  job->object = memfd_create("popc-object", MFD_CLOEXEC);
  if (job->object < 0) return pop_error_errno(errno, "cannot make a file in memory");
  if (pipe2(pipe_ends, O_CLOEXEC) != 0) return pop_error_errno(errno, "cannot make a pipe");
  job->errors = pipe_ends[0];
  pid_t parent = getpid();
  job->pid = fork();
  if (job->pid == 0) popc_run_child(job, source, limits, parent, pipe_ends[1]);
  close(pipe_ends[1]);
  if (job->pid < 0) return pop_error_errno(errno, "cannot start the compiler");
  return NULL;
}

static void drain(job *job)
{
  char buffer[16384];
  ssize_t n = read(job->errors, buffer, sizeof buffer);
  if (n < 0 && (errno == EINTR || errno == EAGAIN)) return;
  if (n <= 0) {
    close(job->errors);
    job->errors = -1;
  } else if (job->diagnostics.size < MAX_DIAGNOSTICS) {
    pop_bytes_append(&job->diagnostics, buffer, (size_t)n);
  } else {
    kill(job->pid, SIGKILL);
  }
}

static double now_seconds(void)
{
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void stop(job *jobs)
{
  for (int i = 0; i < POPC_TARGET_COUNT; ++i) {
    jobs[i].timed_out = jobs[i].errors >= 0;
    if (jobs[i].pid > 0 && jobs[i].errors >= 0) kill(jobs[i].pid, SIGKILL);
  }
}

/* Reads what the children say until both have closed their end, then collects them. */
static void watch(job *jobs, const limits *limits)
{
  double end = now_seconds() + (double)limits->seconds;
  for (;;) {
    struct pollfd ends[POPC_TARGET_COUNT];
    nfds_t open_ends = 0;
    for (int i = 0; i < POPC_TARGET_COUNT; ++i) {
      ends[i] = (struct pollfd){.fd = jobs[i].errors, .events = POLLIN};
      open_ends += jobs[i].errors >= 0;
    }
    if (!open_ends) break;
    double left = end - now_seconds();
    if (left <= 0) {
      stop(jobs);
      break;
    }
    poll(ends, POPC_TARGET_COUNT, (int)(1000 * (left < 60 ? left : 60)) + 1);
    for (int i = 0; i < POPC_TARGET_COUNT; ++i)
      if (jobs[i].errors >= 0 && ends[i].revents) drain(&jobs[i]);
  }
  for (int i = 0; i < POPC_TARGET_COUNT; ++i)
    while (jobs[i].pid > 0 && waitpid(jobs[i].pid, &jobs[i].status, 0) < 0 && errno == EINTR) {
    }
}

static bool says(const job *job, const char *words)
{
  return job->diagnostics.size &&
         memmem(job->diagnostics.data, job->diagnostics.size, words, strlen(words));
}

/* What ended the compiler, if it was not its own decision. */
static pop_error *check_ended_well(const job *job, const popc_source *source, const limits *limits)
{
  int number = WIFSIGNALED(job->status) ? WTERMSIG(job->status) : 0;
  const char *path = source->path;
  if (job->timed_out || number == SIGXCPU)
    return pop_error_new(POP_ERROR_SYSTEM,
                         "compiling '%s' took longer than %llu s and was stopped (POPC_TIME_LIMIT "
                         "sets the limit)",
                         path, (unsigned long long)limits->seconds);
  if (says(job, "LLVM ERROR: out of memory") || says(job, "bad_alloc"))
    return pop_error_new(POP_ERROR_SYSTEM,
                         "compiling '%s' needs more than %llu MiB of memory (POPC_MEMORY_LIMIT "
                         "sets the limit)",
                         path, (unsigned long long)(limits->memory_bytes / MIB));
  if (number == SIGXFSZ)
    return pop_error_new(POP_ERROR_SYSTEM, "the object of '%s' is larger than %llu MiB", path,
                         (unsigned long long)(MAX_OBJECT_BYTES / MIB));
  if (job->diagnostics.size >= MAX_DIAGNOSTICS)
    return pop_error_new(POP_ERROR_CODELET_COMPILE, "'%s' has more diagnostics than anybody reads",
                         path);
  if (number)
    return pop_error_new(POP_ERROR_INTERNAL, "the compiler was ended by signal %d (%s) at '%s'",
                         number, strsignal(number), path);
  if (WEXITSTATUS(job->status) == STATUS_NO_CLANG)
    return pop_error_new(POP_ERROR_SYSTEM, "cannot run '%s'", job->arguments.items[0]);
  if (WEXITSTATUS(job->status) > STATUS_AT_FAULT)
    return pop_error_new(POP_ERROR_INTERNAL, "the compiler crashed at '%s' (exit status %d)", path,
                         WEXITSTATUS(job->status));
  return NULL;
}

static pop_error *take_object(job *job, uint8_t **bytes, size_t *size)
{
  struct stat status;
  if (fstat(job->object, &status) != 0) return pop_error_errno(errno, "cannot read an object");
  *size = (size_t)status.st_size;
  *bytes = malloc(*size + 1);
  if (!*bytes)
    return pop_error_new(POP_ERROR_MEMORY, "no memory for an object of %zu bytes", *size);
  for (size_t done = 0; done < *size;) {
    ssize_t n = pread(job->object, *bytes + done, *size - done, (off_t)done);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return pop_error_errno(errno, "cannot read an object");
    done += (size_t)n;
  }
  return NULL;
}

/* Equal, but for line numbers in clang's own list of macros, which is longer for one target. */
static bool same_text(const pop_bytes *a, const pop_bytes *b)
{
  static const char builtin[] = "<built-in>:";
  size_t i = 0, j = 0, length = sizeof builtin - 1;
  while (i < a->size && j < b->size && a->data[i] == b->data[j]) {
    bool skip = i + 1 >= length && !memcmp(a->data + i + 1 - length, builtin, length);
    ++i;
    ++j;
    while (skip && i < a->size && isdigit(a->data[i])) ++i;
    while (skip && j < b->size && isdigit(b->data[j])) ++j;
  }
  return i == a->size && j == b->size;
}

/* Both compilations see the same mistakes: each text is shown once. */
static void collect_diagnostics(const job *jobs, pop_bytes *out)
{
  const pop_bytes *a = &jobs[POPC_TILE].diagnostics, *b = &jobs[POPC_HOST].diagnostics;
  if (a->size) pop_bytes_append(out, a->data, a->size);
  bool tile_failed = jobs[POPC_TILE].status != 0;
  if (b->size && !tile_failed && !same_text(a, b)) pop_bytes_append(out, b->data, b->size);
}

static pop_error *finish(job *jobs, const popc_source *source, const limits *limits,
                         popc_objects *objects)
{
  for (int i = 0; i < POPC_TARGET_COUNT; ++i) POP_TRY(check_ended_well(&jobs[i], source, limits));
  collect_diagnostics(jobs, &objects->diagnostics);
  if (jobs[POPC_TILE].status || jobs[POPC_HOST].status)
    return pop_error_new(POP_ERROR_CODELET_COMPILE, "'%s' does not compile", source->path);
  for (int i = 0; i < POPC_TARGET_COUNT; ++i)
    POP_TRY(take_object(&jobs[i], &objects->bytes[i], &objects->size[i]));
  return NULL;
}

static void show(const popc_arguments *arguments, const popc_source *source)
{
  for (size_t i = 0; i < arguments->count; ++i) fprintf(stderr, " '%s'", arguments->items[i]);
  fprintf(stderr, " '-c' '%s'\n", source->path);
}

static void prepare(popc_settings *settings, const popc_source *source, const char *clang,
                    popc_target target, job *job)
{
  *job = (struct job){.target = target, .errors = -1, .object = -1};
  popc_add_argument(&job->arguments, clang);
  const char *resources = popc_resource_folder(settings->arena, clang);
  if (resources) {
    popc_add_argument(&job->arguments, "-resource-dir");
    popc_add_argument(&job->arguments, resources);
  }
  popc_make_arguments(settings, source->language, target, settings->arena, &job->arguments);
  popc_add_argument(&job->arguments,
                    settings->colour ? "-fcolor-diagnostics" : "-fno-color-diagnostics");
  popc_add_argument(&job->arguments, "-fno-crash-diagnostics");
  if (settings->verbose) show(&job->arguments, source);
}

pop_error *popc_compile_source(popc_settings *settings, const popc_source *source,
                               popc_objects *objects)
{
  const char *clang;
  POP_TRY(popc_find_clang(settings->arena, &clang));
  limits limits = get_limits();
  job jobs[POPC_TARGET_COUNT];
  for (int i = 0; i < POPC_TARGET_COUNT; ++i)
    prepare(settings, source, clang, (popc_target)i, &jobs[i]);

  pop_error *error = NULL;
  for (int i = 0; i < POPC_TARGET_COUNT && !error; ++i) error = start(&jobs[i], source, &limits);
  if (error) stop(jobs);
  watch(jobs, &limits);
  if (!error) error = finish(jobs, source, &limits, objects);

  for (int i = 0; i < POPC_TARGET_COUNT; ++i) {
    if (jobs[i].errors >= 0) close(jobs[i].errors);
    if (jobs[i].object >= 0) close(jobs[i].object);
    pop_bytes_free(&jobs[i].diagnostics);
    free(jobs[i].arguments.items);
  }
  return error;
}

void popc_objects_free(popc_objects *objects)
{
  for (int i = 0; i < POPC_TARGET_COUNT; ++i) free(objects->bytes[i]);
  pop_bytes_free(&objects->diagnostics);
}
