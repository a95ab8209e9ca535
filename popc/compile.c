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
#include "popc_internal.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

#define MIB ((rlim_t)1 << 20)
#define MAX_DIAGNOSTICS ((size_t)4 << 20)
#define MAX_OBJECT_BYTES (512 * MIB)
#define STATUS_AT_FAULT 1 /* as clang's */
#define STATUS_NO_CLANG 127

typedef struct limits {
  rlim_t seconds, memory_bytes;
} limits;

typedef struct job {
  popc_target target;
  popc_arguments arguments; /* of the compiler; the command without input and output */
  pid_t pid;
  int errors; /* read end of the child's standard error; -1 at its end */
  int object; /* file in memory */
  int status; /* of waitpid */
  bool timed_out;
  pop_bytes diagnostics;
} job;

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

/* The child. */

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

/* Only what clang needs stays open across exec: it must not hold others' pipes. */
static void keep_open(int fd)
{
  fcntl(fd, F_SETFD, 0);
}

static const char *slashed(const char *path, pop_arena *arena)
{
  return path[0] == '-' ? pop_arena_printf(arena, "./%s", path) : path;
}

static void add(popc_arguments *arguments, const char *text)
{
  pop_push(arguments->items, arguments->count, arguments->capacity, text);
}

static void run_child(const job *job, const popc_source *source, const limits *limits, int errors)
{
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, NULL);
  signal(SIGXFSZ, SIG_DFL);
  signal(SIGPIPE, SIG_DFL);
  int nothing = open("/dev/null", O_RDONLY);
  dup2(nothing, STDIN_FILENO);
  dup2(job->object, STDOUT_FILENO);
  dup2(errors, STDERR_FILENO);
  close_range(STDERR_FILENO + 1, ~0u, CLOSE_RANGE_CLOEXEC);

  limit(RLIMIT_CORE, 0);
  limit(RLIMIT_CPU, limits->seconds);
  limit(RLIMIT_FSIZE, MAX_OBJECT_BYTES);
  limit(RLIMIT_AS, mapped_bytes() + limits->memory_bytes);

  pop_bytes entries = {0};
  popc_arguments command = {0};
  for (size_t i = 0; i < job->arguments.count; ++i) add(&command, job->arguments.items[i]);
  pop_arena *arena = pop_arena_new();
  popc_source named = *source;
  named.path = slashed(source->path, arena);
  /* Its first argument is the program: libclang takes the others. */
  popc_reflection result =
      popc_reflect(&named, job->target, command.items + 1, command.count - 1, &entries);
  if (result == POPC_VERTEX_AT_FAULT) {
    write_all(STDERR_FILENO, entries.data, entries.size);
    _exit(STATUS_AT_FAULT);
  }
  int user = open(named.path, O_RDONLY), text = text_in_memory(source, &entries);
  keep_open(user);
  add(&command, "-Xclang");
  add(&command, "-remap-file");
  add(&command, "-Xclang");
  add(&command, pop_arena_printf(arena, "/proc/self/fd/%d;/proc/self/fd/%d", user, text));
  add(&command, "-c");
  add(&command, "-o");
  add(&command, "-");
  add(&command, named.path);
  add(&command, NULL);
  limit(RLIMIT_AS, limits->memory_bytes);
  execve(command.items[0], (char **)command.items, environ);
  _exit(STATUS_NO_CLANG);
}

/* The parent. */

static pop_error *start(job *job, const popc_source *source, const limits *limits)
{
  int pipe_ends[2];
  job->errors = -1;
  job->object = memfd_create("popc-object", MFD_CLOEXEC);
  if (job->object < 0) return pop_error_errno(errno, "cannot make a file in memory");
  if (pipe2(pipe_ends, O_CLOEXEC) != 0) return pop_error_errno(errno, "cannot make a pipe");
  job->errors = pipe_ends[0];
  job->pid = fork();
  if (job->pid == 0) run_child(job, source, limits, pipe_ends[1]);
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
  add(&job->arguments, clang);
  popc_make_arguments(settings, source->language, target, settings->arena, &job->arguments);
  add(&job->arguments, settings->colour ? "-fcolor-diagnostics" : "-fno-color-diagnostics");
  add(&job->arguments, "-fno-crash-diagnostics");
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
