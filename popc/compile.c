/* One source, an object for each target: a child process for each, side by side.
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
  if (job->wanted_dependencies) job->dependencies = memfd_create("popc-dependencies", MFD_CLOEXEC);
  if (job->object < 0 || (job->wanted_dependencies && job->dependencies < 0))
    return pop_error_errno(errno, "cannot make a file in memory");
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

static void stop(job *jobs, size_t count)
{
  for (size_t i = 0; i < count; ++i) {
    jobs[i].timed_out = jobs[i].errors >= 0;
    if (jobs[i].pid > 0 && jobs[i].errors >= 0) kill(jobs[i].pid, SIGKILL);
  }
}

/* Reads what the children say until all have closed their end, then collects them. */
static void watch(job *jobs, size_t count, const limits *limits)
{
  double end = now_seconds() + (double)limits->seconds;
  for (;;) {
    struct pollfd ends[POPC_MAX_JOBS];
    nfds_t open_ends = 0;
    for (size_t i = 0; i < count; ++i) {
      ends[i] = (struct pollfd){.fd = jobs[i].errors, .events = POLLIN};
      open_ends += jobs[i].errors >= 0;
    }
    if (!open_ends) break;
    double left = end - now_seconds();
    if (left <= 0) {
      stop(jobs, count);
      break;
    }
    poll(ends, count, (int)(1000 * (left < 60 ? left : 60)) + 1);
    for (size_t i = 0; i < count; ++i)
      if (jobs[i].errors >= 0 && ends[i].revents) drain(&jobs[i]);
  }
  for (size_t i = 0; i < count; ++i)
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

static pop_error *take_file(int file, uint8_t **bytes, size_t *size)
{
  struct stat status;
  if (fstat(file, &status) != 0) return pop_error_errno(errno, "cannot read an object");
  *size = (size_t)status.st_size;
  *bytes = malloc(*size + 1);
  if (!*bytes)
    return pop_error_new(POP_ERROR_MEMORY, "no memory for an object of %zu bytes", *size);
  for (size_t done = 0; done < *size;) {
    ssize_t n = pread(file, *bytes + done, *size - done, (off_t)done);
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

/* All compilations see the same mistakes: each text is shown once, and behind one that failed no
 * other. */
static void collect_diagnostics(const job *jobs, size_t count, pop_bytes *out)
{
  for (size_t i = 0; i < count; ++i) {
    const pop_bytes *text = &jobs[i].diagnostics;
    bool shown = false;
    for (size_t j = 0; j < i && !shown; ++j) shown = same_text(&jobs[j].diagnostics, text);
    if (text->size && !shown) pop_bytes_append(out, text->data, text->size);
    if (jobs[i].status) return;
  }
}

static pop_error *take_result(const job *job, popc_result *result)
{
  POP_TRY(take_file(job->object, &result->bytes, &result->size));
  if (job->dependencies < 0) return NULL;
  POP_TRY(take_file(job->dependencies, &result->dependencies.data, &result->dependencies.size));
  result->dependencies.capacity = result->dependencies.size;
  return NULL;
}

static pop_error *finish(const job *jobs, size_t count, const popc_source *source,
                         const limits *limits, popc_result *results, pop_bytes *diagnostics)
{
  for (size_t i = 0; i < count; ++i) POP_TRY(check_ended_well(&jobs[i], source, limits));
  collect_diagnostics(jobs, count, diagnostics);
  for (size_t i = 0; i < count; ++i)
    if (jobs[i].status)
      return pop_error_new(POP_ERROR_CODELET_COMPILE, "'%s' does not compile", source->path);
  for (size_t i = 0; i < count; ++i) POP_TRY(take_result(&jobs[i], &results[i]));
  return NULL;
}

/* As a shell reads it. */
static void show_word(const char *word)
{
  fputs(" '", stderr);
  for (; *word; ++word) {
    if (*word == '\'')
      fputs("'\\''", stderr);
    else
      fputc(*word, stderr);
  }
  fputs("'", stderr);
}

/* What clang is told for each product. */
const char *const *popc_product_arguments(popc_product product)
{
  static const char *const products[][3] = {
      [POPC_GP] = {"-c", NULL},
      [POPC_PREPROCESSED] = {"-E", NULL},
      [POPC_ASSEMBLY] = {"-S", NULL},
      [POPC_IR] = {"-S", "-emit-llvm", NULL},
      [POPC_BITCODE] = {"-c", "-emit-llvm", NULL},
      [POPC_VERTEX_LIST] = {"-c", NULL},
  };
  return products[product];
}

static void show(const job *job, const popc_source *source)
{
  for (size_t i = 0; i < job->arguments.count; ++i) show_word(job->arguments.items[i]);
  for (const char *const *word = popc_product_arguments(job->product); *word; ++word)
    show_word(*word);
  show_word(source->path);
  fputc('\n', stderr);
}

static void prepare(popc_settings *settings, const popc_source *source, const char *clang,
                    const popc_variant *variant, job *job)
{
  job->target = variant->target;
  job->wanted_dependencies = settings->dependencies;
  popc_add_argument(&job->arguments, clang);
  const char *resources = popc_resource_folder(settings->arena, clang);
  if (resources) {
    popc_add_argument(&job->arguments, "-resource-dir");
    popc_add_argument(&job->arguments, resources);
  }
  popc_make_arguments(settings, source->language, variant, settings->arena, &job->arguments);
  popc_add_argument(&job->arguments,
                    settings->colour ? "-fcolor-diagnostics" : "-fno-color-diagnostics");
  popc_add_argument(&job->arguments, "-fno-crash-diagnostics");
  if (settings->verbose) show(job, source);
}

static void release(job *job)
{
  if (job->errors >= 0) close(job->errors);
  if (job->object >= 0) close(job->object);
  if (job->dependencies >= 0) close(job->dependencies);
  pop_bytes_free(&job->diagnostics);
  free(job->arguments.items);
}

pop_error *popc_compile_source(popc_settings *settings, const popc_source *source,
                               popc_product product, const popc_variant *const *variants,
                               size_t count, popc_result *results, pop_bytes *diagnostics)
{
  const char *clang;
  POP_TRY(popc_find_clang(settings->arena, &clang));
  limits limits = get_limits();
  job jobs[POPC_MAX_JOBS];
  for (size_t i = 0; i < count; ++i) {
    jobs[i] = (job){.product = product, .errors = -1, .object = -1, .dependencies = -1};
    prepare(settings, source, clang, variants[i], &jobs[i]);
  }

  pop_error *error = NULL;
  if (!settings->dry_run) {
    for (size_t i = 0; i < count && !error; ++i) error = start(&jobs[i], source, &limits);
    if (error) stop(jobs, count);
    watch(jobs, count, &limits);
    if (!error) error = finish(jobs, count, source, &limits, results, diagnostics);
  }
  for (size_t i = 0; i < count; ++i) release(&jobs[i]);
  return error;
}

void popc_results_free(popc_result *results, size_t count)
{
  for (size_t i = 0; i < count; ++i) {
    free(results[i].bytes);
    pop_bytes_free(&results[i].dependencies);
  }
}
