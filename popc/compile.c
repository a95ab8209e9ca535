/* One source, an object for each target: processes side by side.
 *
 *   popc-reflect (reflector.c)           clang, one for each target
 *     libclang reads the source            loads itself
 *     writes text and entries --- pipe ->  input   the user's path, with that text put in its place
 *                                                  (-remap-file)
 *                                          output  standard output, a file in memory
 *   this process reads the standard error of all, and waits.
 *
 * Where a source may have vectors, what a tile's clang makes is bitcode, and more processes follow (packed.c).
 *
 * So there are no temporary files, clang shows the user's file and lines as if we were not there,
 * and neither libclang nor clang can take this process down: a header without end, a template that
 * never ends, a crash of the compiler end a child and become a message. A child dies with its
 * parent. That all start at once matters: half of the time that a small codelet takes is the time
 * that the dynamic linker takes to load clang. It is loaded once, by the first job, which forks the
 * other ones (fork/fork.c).
 */
#include "cache.h"

#include <populus/data_dir.h>
#include <populus/out_of_memory.h>

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
#define FIRST_DIAGNOSTICS ((size_t)32 << 10) /* of those that are too many */

static void close_end(int *fd)
{
  if (*fd >= 0) close(*fd);
  *fd = -1;
}

static pop_error *open_ends(job *job, int *errors, bool reflected, bool is_forked)
{
  int ends[2];
  job->object = memfd_create("popc-object", MFD_CLOEXEC);
  if (job->wanted_dependencies) job->dependencies = memfd_create("popc-dependencies", MFD_CLOEXEC);
  if (job->object < 0 || (job->wanted_dependencies && job->dependencies < 0))
    return pop_error_errno(errno, "cannot make a file in memory");
  if (pipe2(ends, O_CLOEXEC) != 0) return pop_error_errno(errno, "cannot make a pipe");
  job->errors = ends[0];
  *errors = ends[1];
  if (is_forked) {
    if (pipe2(ends, O_CLOEXEC) != 0) return pop_error_errno(errno, "cannot make a pipe");
    job->announced = ends[0];
    job->announce = ends[1];
  }
  if (!reflected) return NULL;
  if (pipe2(ends, O_CLOEXEC) != 0) return pop_error_errno(errno, "cannot make a pipe");
  job->text = ends[0];
  job->text_from = ends[1];
  return NULL;
}

/* Processes that are started together, and what all of them need. */
typedef struct batch {
  job *jobs;
  size_t count;
  size_t forked; /* the first ones, which begin as one process */
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
    if (pid == 0) popc_become(&l, b->limits, parent);
    b->jobs[i].pid = pid;
    if (pid < 0) error = pop_error_errno(errno, "cannot start the compiler");
  }
  popc_launch_free(&l);
  return error;
}

/* The reflector, if there is one, is the job behind the `count` others and starts first: all wait
 * for it. */
static pop_error *start(job *jobs, size_t count, bool reflected, const popc_source *source,
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

/* Waits for clang to be loaded, if this job is one that it forks. 0: there is no process, for that
 * clang has died before. */
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
  } else if (job->diagnostics.size < MAX_DIAGNOSTICS) {
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

static void stop(job *jobs, size_t count)
{
  for (size_t i = 0; i < count; ++i) {
    jobs[i].timed_out = jobs[i].errors >= 0;
    if (jobs[i].errors >= 0) kill_job(&jobs[i]);
  }
}

/* A job that the first one's clang did not come to fork has that one's fate. */
static void collect(job *jobs, size_t count)
{
  for (size_t i = 0; i < count; ++i) {
    pid_t pid = pid_of(&jobs[i]);
    if (pid <= 0) jobs[i].status = jobs[0].status;
    while (pid > 0 && waitpid(pid, &jobs[i].status, 0) < 0 && errno == EINTR) {
    }
  }
}

/* Reads what the children say until all have closed their end, then collects them. */
static void watch(job *jobs, size_t count, const limits *limits)
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
      stop(jobs, count);
      break;
    }
    poll(ends, count, (int)(1000 * (left < 60 ? left : 60)) + 1);
    for (size_t i = 0; i < count; ++i)
      if (jobs[i].errors >= 0 && ends[i].revents) drain(&jobs[i]);
  }
  collect(jobs, count);
}

static bool says(const job *job, const char *words)
{
  return job->diagnostics.size &&
         memmem(job->diagnostics.data, job->diagnostics.size, words, strlen(words));
}

/* The limit that popc itself was started with, if that is less than what it would allow; 0: no. */
static unsigned long long inherited(int resource, unsigned long long otherwise)
{
  struct rlimit limit;
  bool is_less = getrlimit(resource, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
                 limit.rlim_cur < otherwise;
  return is_less ? (unsigned long long)limit.rlim_cur : 0;
}

/* Where memory is short, compilers end in many ways, and some cannot be loaded at all. */
static pop_error *check_inherited(const job *job, const char *path, const limits *limits)
{
  unsigned long long memory = inherited(RLIMIT_AS, limits->memory_bytes);
  bool is_odd = WIFSIGNALED(job->status) || WEXITSTATUS(job->status) > STATUS_AT_FAULT;
  if (!memory || !is_odd) return NULL;
  return pop_error_new(POP_ERROR_SYSTEM,
                       "compiling '%s' needs more than the %llu KiB of memory that processes may "
                       "have here (ulimit -v)",
                       path, memory / 1024);
}

static pop_error *check_limits(const job *job, const popc_source *source, const limits *limits)
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
  unsigned long long file_bytes = inherited(RLIMIT_FSIZE, MAX_OBJECT_BYTES);
  if (number == SIGXFSZ && file_bytes)
    return pop_error_new(POP_ERROR_SYSTEM,
                         "the object of '%s' is larger than the %llu KiB that files may have here "
                         "(ulimit -f)",
                         path, file_bytes / 1024);
  if (number == SIGXFSZ)
    return pop_error_new(POP_ERROR_SYSTEM, "the object of '%s' is larger than %llu MiB", path,
                         (unsigned long long)(MAX_OBJECT_BYTES / MIB));
  POP_TRY(check_inherited(job, path, limits));
  if (job->diagnostics.size >= MAX_DIAGNOSTICS)
    return pop_error_new(POP_ERROR_CODELET_COMPILE, "'%s' has more diagnostics than anybody reads",
                         path);
  return NULL;
}

pop_error *popc_no_descriptors(const char *path)
{
  return pop_error_new(POP_ERROR_SYSTEM,
                       "cannot compile '%s': too many open files, or too few are allowed here "
                       "(ulimit -n)",
                       path);
}

/* A program that cannot be loaded says why; what cannot even be begun has nobody to say it. */
static pop_error *cannot_run(const job *job, const char *path)
{
  const pop_bytes *said = &job->diagnostics;
  const char *end = said->size ? memchr(said->data, '\n', said->size) : NULL;
  int length = end ? (int)(end - (const char *)said->data) : (int)said->size;
  if (WEXITSTATUS(job->status) == STATUS_NO_DESCRIPTORS) return popc_no_descriptors(path);
  return pop_error_new(POP_ERROR_SYSTEM, "cannot run '%s'%s%.*s", job->arguments.items[0],
                       length ? ": " : "", length, length ? (const char *)said->data : "");
}

/* What ended the compiler, if it was not its own decision. */
static pop_error *check_ended_well(const job *job, const popc_source *source, const limits *limits)
{
  POP_TRY(check_limits(job, source, limits));
  int number = WIFSIGNALED(job->status) ? WTERMSIG(job->status) : 0;
  const char *path = source->path;
  if (number)
    return pop_error_new(POP_ERROR_INTERNAL, "the compiler was ended by signal %d (%s) at '%s'",
                         number, strsignal(number), path);
  if (WEXITSTATUS(job->status) == STATUS_NO_CLANG ||
      WEXITSTATUS(job->status) == STATUS_NO_DESCRIPTORS)
    return cannot_run(job, path);
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

/* A job with warnings that are errors to us has failed. */
static pop_error *judge(job *job, const popc_source *source)
{
  popc_evidence evidence = {job->target, job->promotions_are_errors, NULL, 0};
  uint8_t *product = NULL;
  if (!job->status && job->target == POPC_TILE)
    POP_TRY(take_file(job->object, &product, &evidence.size));
  evidence.product = product;
  if (popc_judge_warnings(source, &evidence, &job->diagnostics) && !job->status)
    job->status = W_EXITCODE(STATUS_AT_FAULT, 0);
  free(product);
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

/* Of too many diagnostics the first whole lines. */
static void collect_first_diagnostics(const job *job, const popc_source *source, pop_bytes *out)
{
  if (job->diagnostics.size < MAX_DIAGNOSTICS) return;
  const uint8_t *text = job->diagnostics.data;
  const uint8_t *last = memrchr(text, '\n', FIRST_DIAGNOSTICS);
  if (last) pop_bytes_append(out, text, (size_t)(last + 1 - text));
  char *note =
      pop_xasprintf("popc: note: '%s' has more diagnostics than anybody reads\n", source->path);
  pop_bytes_append(out, note, strlen(note));
  free(note);
}

static pop_error *take_result(const job *job, popc_result *result)
{
  POP_TRY(take_file(job->object, &result->bytes, &result->size));
  if (job->dependencies < 0) return NULL;
  POP_TRY(take_file(job->dependencies, &result->dependencies.data, &result->dependencies.size));
  result->dependencies.capacity = result->dependencies.size;
  return NULL;
}

/* What popc-reflect found. If libclang found errors, clang, which got the source as it is, says
 * them; what clang accepts, libclang must accept too. */
static pop_error *check_reflection(const job *reflector, bool compiled, const popc_source *source,
                                   const limits *limits, pop_bytes *diagnostics)
{
  const pop_bytes *said = &reflector->diagnostics;
  POP_TRY(check_limits(reflector, source, limits));
  if (WIFEXITED(reflector->status) && WEXITSTATUS(reflector->status) == STATUS_NOT_PARSED) {
    if (!compiled) return NULL;
    return pop_error_new(POP_ERROR_INTERNAL,
                         "libclang does not read '%s', which clang compiles:\n%.*s", source->path,
                         (int)said->size, (const char *)said->data);
  }
  POP_TRY(check_ended_well(reflector, source, limits));
  if (!reflector->status) return NULL;
  if (said->size) pop_bytes_append(diagnostics, said->data, said->size);
  return pop_error_new(POP_ERROR_CODELET_COMPILE, "'%s' does not compile", source->path);
}

static pop_error *finish(const job *jobs, size_t count, bool reflected, const popc_source *source,
                         const limits *limits, popc_result *results, pop_bytes *diagnostics)
{
  bool compiled = true;
  for (size_t i = 0; i < count; ++i) compiled &= jobs[i].status == 0;
  if (reflected) POP_TRY(check_reflection(&jobs[count], compiled, source, limits, diagnostics));
  for (size_t i = 0; i < count; ++i) {
    collect_first_diagnostics(&jobs[i], source, diagnostics);
    POP_TRY(check_ended_well(&jobs[i], source, limits));
  }
  collect_diagnostics(jobs, count, diagnostics);
  if (!compiled)
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
      [POPC_PREPROCESSED] = {"-E", POPC_REFLECTS, NULL},
      [POPC_ASSEMBLY] = {"-S", NULL},
      [POPC_IR] = {"-S", "-emit-llvm", NULL},
      [POPC_BITCODE] = {"-c", "-emit-llvm", NULL},
      [POPC_VERTEX_LIST] = {"-c", NULL},
      [POPC_RULE] = {"-M", NULL},
      [POPC_USER_RULE] = {"-MM", NULL},
      [POPC_NOTHING] = {"-c", NULL},
      [POPC_PAIRS] = {NULL},
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
  job->wanted_dependencies =
      settings->dependencies & POPC_DEPENDENCIES ? settings->dependencies : 0;
  popc_add_argument(&job->arguments, clang);
  job->resources = popc_resource_folder(settings->arena, clang);
  if (job->resources) {
    popc_add_argument(&job->arguments, "-resource-dir");
    popc_add_argument(&job->arguments, job->resources);
  }
  if (source->folder) {
    const char *slash = strrchr(source->path, '/');
    popc_add_argument(&job->arguments, "-iquote");
    popc_add_argument(&job->arguments, source->folder);
    popc_add_argument(&job->arguments, "-Xclang");
    popc_add_argument(&job->arguments, "-main-file-name");
    popc_add_argument(&job->arguments, "-Xclang");
    popc_add_argument(&job->arguments, slash ? slash + 1 : source->path);
  }
  popc_make_arguments(settings, source->language, variant, settings->arena, &job->arguments);
  job->promotions_are_errors = popc_tame_warnings(&job->arguments, variant->target);
  popc_add_argument(&job->arguments,
                    settings->colour ? "-fcolor-diagnostics" : "-fno-color-diagnostics");
  popc_add_argument(&job->arguments, "-fno-crash-diagnostics");
  if (settings->dependencies & POPC_MISSING_DEPENDENCIES) popc_add_argument(&job->arguments, "-MG");
  if (settings->verbose) show(job, source);
}

static void prepare_reflector(popc_settings *settings, job *job)
{
  popc_add_argument(&job->arguments,
                    pop_arena_printf(settings->arena, "%s/popc-reflect", pop_data_dir()));
}

static void release(job *job)
{
  if (job->errors >= 0) close(job->errors);
  if (job->announced >= 0) close(job->announced);
  if (job->object >= 0) close(job->object);
  if (job->dependencies >= 0) close(job->dependencies);
  pop_bytes_free(&job->diagnostics);
  free(job->arguments.items);
}

static job new_job(popc_product product)
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

static pop_error *take_pairs(job *job, const popc_source *bitcode, const limits *limits,
                             popc_result *result)
{
  POP_TRY(check_ended_well(job, bitcode, limits));
  if (!job->status) return take_result(job, result);
  return pop_error_new(POP_ERROR_INTERNAL, "'%s' does not compile: %.*s", bitcode->path,
                       (int)job->diagnostics.size, (const char *)job->diagnostics.data);
}

pop_error *popc_run_pairs(const popc_settings *settings, const popc_source *bitcode,
                          popc_result *result)
{
  limits limits = popc_get_limits();
  job job = new_job(POPC_PAIRS);
  popc_add_argument(&job.arguments,
                    pop_arena_printf(settings->arena, "%s/popc-pairs", pop_data_dir()));
  if (settings->verbose) show(&job, bitcode);
  pop_error *error = start(&job, 1, false, bitcode, &limits, settings->arena);
  if (error) stop(&job, 1);
  watch(&job, 1, &limits);
  if (!error) error = take_pairs(&job, bitcode, &limits, result);
  release(&job);
  return error;
}

/* What it would be if its first clang had been told to make bitcode. */
static pop_error *compile_for_pairs(const popc_settings *settings, const popc_source *source,
                                    popc_product product, const popc_variant *variant,
                                    popc_result *result)
{
  popc_settings own = *settings;
  own.vectors = POPC_ALWAYS;
  own.no_cache = true;
  own.dependencies = 0;
  popc_result packed = {0};
  pop_bytes said_already = {0};
  pop_error *error =
      popc_compile_source(&own, source, product, &variant, 1, &packed, &said_already);
  if (!error) {
    free(result->bytes);
    result->bytes = packed.bytes;
    result->size = packed.size;
    packed.bytes = NULL;
  }
  popc_results_free(&packed, 1);
  pop_bytes_free(&said_already);
  return error;
}

/* From what clang made to what was asked for; nothing is left of it after an error. `refused`: clang did not take the code
 * that it had made. */
static pop_error *complete(const popc_settings *settings, const popc_source *source,
                           popc_product product, const popc_variant *const *variants,
                           const job *jobs, size_t count, popc_result *results, bool *refused,
                           pop_bytes *diagnostics)
{
  pop_error *error = NULL;
  for (size_t i = 0; i < count && !error; ++i) {
    if (jobs[i].product != product) {
      error = popc_pack_vectors(settings, source, product, variants[i], &results[i], diagnostics);
      *refused = error && pop_error_get_code(error) == POP_ERROR_CODELET_COMPILE;
    } else if (popc_missed_vectors(settings, product, variants[i], &results[i])) {
      error = compile_for_pairs(settings, source, product, variants[i], &results[i]);
    }
  }
  if (!error) return NULL;
  popc_results_free(results, count);
  memset(results, 0, count * sizeof *results);
  return error;
}

static pop_error *compile_once(popc_settings *settings, const popc_source *source,
                               popc_product product, const popc_variant *const *variants,
                               size_t count, popc_result *results, bool *refused,
                               pop_bytes *diagnostics)
{
  const char *clang;
  POP_TRY(popc_find_clang(settings->arena, &clang));
  limits limits = popc_get_limits();
  if (settings->dependencies & POPC_DEPENDENCIES && !popc_descriptors_have_names())
    return pop_error_new(POP_ERROR_SYSTEM,
                         "-MD and -MMD need /proc, which is not mounted: use -M or -MM");
  bool reflected = popc_is_codelet_language(source->language) && product != POPC_PREPROCESSED &&
                   !popc_makes_rule(product);
  job jobs[POPC_MAX_JOBS + 1];
  size_t all = count + reflected;
  for (size_t i = 0; i < all; ++i) {
    bool packs = i < count && popc_goes_through_pairs(settings, source, product, variants[i]);
    jobs[i] = new_job(packs ? POPC_BITCODE : product);
  }
  for (size_t i = 0; i < count; ++i) prepare(settings, source, clang, variants[i], &jobs[i]);
  if (reflected) prepare_reflector(settings, &jobs[count]);
  if (count > 1 && popc_is_read_by_name(source))
    jobs[0].fork_library = popc_fork_library(settings->arena, clang);

  popc_cache cache = popc_cache_open(settings, source, product, clang, jobs, count);
  bool found = popc_cache_find(&cache, results, diagnostics);
  size_t before = diagnostics->size;
  pop_error *error = NULL;
  if (!settings->dry_run && !found) {
    for (size_t i = 0; i < count && cache.path; ++i)
      jobs[i].wanted_dependencies |= POPC_DEPENDENCIES;
    error = start(jobs, count, reflected, source, &limits, settings->arena);
    if (error) stop(jobs, all);
    watch(jobs, all, &limits);
    for (size_t i = 0; i < count && !error; ++i) error = judge(&jobs[i], source);
    if (!error) error = finish(jobs, count, reflected, source, &limits, results, diagnostics);
    if (!error)
      error =
          complete(settings, source, product, variants, jobs, count, results, refused, diagnostics);
    if (!error) popc_cache_put(&cache, results, diagnostics, before);
  }
  const popc_variant *crashed = variants[0];
  for (size_t i = count; i-- > 0;)
    if (jobs[i].status) crashed = variants[i];
  for (size_t i = 0; i < all; ++i) release(&jobs[i]);
  bool compiles = product != POPC_PREPROCESSED && !popc_makes_rule(product);
  if (compiles && error && pop_error_get_code(error) == POP_ERROR_INTERNAL)
    error = popc_add_reproducer(settings, source, crashed, error);
  return error;
}

void popc_results_free(popc_result *results, size_t count)
{
  for (size_t i = 0; i < count; ++i) {
    free(results[i].bytes);
    pop_bytes_free(&results[i].dependencies);
  }
}

/* It is not the source's fault, as without vectors it compiles. */
static void warn_of_refusal(const popc_settings *settings, const popc_source *source,
                            pop_bytes *diagnostics)
{
  if (popc_no_warnings(settings)) return;
  popc_print_diagnostic(
      diagnostics, settings->colour, POPC_WARNING, &(popc_place){.path = source->path},
      "clang does not take what popc-pairs made of its vectors: they are computed "
      "one element after another");
}

static pop_error *compile_source(popc_settings *settings, const popc_source *source,
                                 popc_product product, const popc_variant *const *variants,
                                 size_t count, popc_result *results, pop_bytes *diagnostics)
{
  bool refused = false;
  size_t before = diagnostics->size;
  pop_error *error =
      compile_once(settings, source, product, variants, count, results, &refused, diagnostics);
  if (!refused) return error;
  pop_error_free(error);
  diagnostics->size = before;
  popc_settings own = *settings;
  own.vectors = POPC_NEVER;
  error = compile_once(&own, source, product, variants, count, results, &refused, diagnostics);
  if (!error) warn_of_refusal(settings, source, diagnostics);
  return error;
}

/* Processes and pipes are in local variables. */
pop_error *popc_compile_source(popc_settings *settings, const popc_source *source,
                               popc_product product, const popc_variant *const *variants,
                               size_t count, popc_result *results, pop_bytes *diagnostics)
{
  pop_memory_hold();
  pop_error *error =
      compile_source(settings, source, product, variants, count, results, diagnostics);
  pop_memory_release();
  return error;
}
