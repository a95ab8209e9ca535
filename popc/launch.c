/* What the processes that compile one source need, made before the fork: command, environment,
 * descriptors. */
#include "compile_internal.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static void keep(popc_launch *l, int fd)
{
  assert(l->num_kept < POPC_MAX_KEPT);
  l->kept[l->num_kept++] = fd;
}

static pop_error *cannot_open(const char *what, const char *path)
{
  if (errno == EMFILE || errno == ENFILE) return popc_no_descriptors(path);
  return pop_error_errno(errno, "cannot %s for '%s'", what, path);
}

static void close_after_fork(popc_launch *l, int fd)
{
  assert(l->num_opened < POPC_MAX_KEPT);
  l->opened[l->num_opened++] = fd;
}

/* A file in memory. The new process writes it, under its own limits on file sizes, before
 * reading it. */
static pop_error *add_text(popc_launch *l, const char *name, const char *path, const void *data,
                           size_t size, int *fd)
{
  *fd = popc_above_standard(memfd_create(name, MFD_CLOEXEC));
  if (*fd < 0) return cannot_open("make a file in memory", path);
  close_after_fork(l, *fd);
  assert(l->num_texts < POPC_MAX_TEXTS);
  l->texts[l->num_texts++] = (popc_written){*fd, data, size};
  return NULL;
}

static pop_error *open_nothing(popc_launch *l, const char *path)
{
  l->input = popc_above_standard(open("/dev/null", O_RDONLY | O_CLOEXEC));
  if (l->input < 0) return cannot_open("open '/dev/null'", path);
  close_after_fork(l, l->input);
  return NULL;
}

static bool sets(const char *entry, const char *name)
{
  size_t length = strlen(name);
  return !strncmp(entry, name, length) && entry[length] == '=';
}

/* An entry is "NAME=value". */
static void set_variable(popc_launch *l, const char *name, const char *entry, bool overwrite)
{
  for (size_t i = 0; i < l->environment.count; ++i) {
    if (!sets(l->environment.items[i], name)) continue;
    if (overwrite) l->environment.items[i] = entry;
    return;
  }
  popc_add_argument(&l->environment, entry);
}

/* A compiler's heap only grows. In large steps and huge pages that takes a tenth less time than in
 * pages of 4 KiB. */
static void make_environment(popc_launch *l)
{
  for (char **entry = environ; *entry; ++entry) popc_add_argument(&l->environment, *entry);
  set_variable(l, "GLIBC_TUNABLES",
               "GLIBC_TUNABLES=glibc.malloc.hugetlb=1:glibc.malloc.top_pad=33554432", false);
}

/* A path that is not mistaken for an option. */
static const char *slashed(const char *path, pop_arena *arena)
{
  return path[0] == '-' ? pop_arena_printf(arena, "./%s", path) : path;
}

/* The command of a job's clang, and the descriptors that are for it alone. */
typedef struct call {
  popc_arguments words;
  int own[POPC_MAX_OWN];
  size_t num_own;
} call;

static int own(call *c, int fd)
{
  assert(c->num_own < POPC_MAX_OWN);
  c->own[c->num_own++] = fd;
  return fd;
}

/* Makes the compiler write dependencies beside the object. */
static void ask_for_dependencies(const job *job, call *c, pop_arena *arena)
{
  if (!job->wanted_dependencies) return;
  bool user = job->wanted_dependencies & POPC_USER_DEPENDENCIES;
  popc_add_argument(&c->words, user ? "-MMD" : "-MD");
  popc_add_argument(&c->words, "-MF");
  popc_add_argument(&c->words,
                    pop_arena_printf(arena, "/proc/self/fd/%d", own(c, job->dependencies)));
  popc_add_argument(&c->words, "-MT");
  popc_add_argument(&c->words, "x");
}

bool popc_is_read_by_name(const popc_source *source)
{
  return !source->is_stream && !source->folder && source->language != POPC_ASSEMBLER &&
         source->language != POPC_LLVM_IR;
}

/* A source that is a file keeps its name; our text replaces its content. */
static pop_error *name_input(const popc_source *source, popc_launch *l, int text, call *c,
                             pop_arena *arena)
{
  const char *path = slashed(source->path, arena);
  int user = popc_above_standard(open(path, O_RDONLY | O_CLOEXEC));
  if (user < 0 && (errno == EMFILE || errno == ENFILE)) return popc_no_descriptors(source->path);
  if (user >= 0) close_after_fork(l, own(c, user));
  popc_add_argument(&c->words, "-Xclang");
  popc_add_argument(&c->words, "-remap-file");
  popc_add_argument(&c->words, "-Xclang");
  popc_add_argument(
      &c->words, pop_arena_printf(arena, "/proc/self/fd/%d;/proc/self/fd/%d", user, own(c, text)));
  popc_add_argument(&c->words, path);
  return NULL;
}

/* Any other source is read from standard input, after a line that names it. */
static pop_error *give_input(const job *job, const popc_source *source, popc_launch *l, call *c,
                             pop_arena *arena)
{
  int text = job->text;
  if (text < 0)
    POP_TRY(add_text(l, "popc-source", source->path, source->text, source->size, &text));
  if (popc_is_read_by_name(source)) return name_input(source, l, text, c, arena);
  l->input = text;
  popc_add_argument(&c->words, "-");
  return NULL;
}

static pop_error *make_call(const job *job, const popc_source *source, popc_launch *l,
                            pop_arena *arena, call *c)
{
  for (size_t i = 0; i < job->arguments.count; ++i)
    popc_add_argument(&c->words, job->arguments.items[i]);
  for (const char *const *word = popc_product_arguments(job->product); *word; ++word)
    popc_add_argument(&c->words, *word);
  ask_for_dependencies(job, c, arena);
  popc_add_argument(&c->words, "-o");
  popc_add_argument(&c->words, "-");
  POP_TRY(give_input(job, source, l, c, arena));
  for (size_t i = 0; i < c->num_own; ++i) keep(l, c->own[i]);
  return NULL;
}

static void put_word(pop_bytes *out, const char *word)
{
  pop_bytes_append(out, word, strlen(word) + 1);
}

static void put_number(pop_bytes *out, int number)
{
  char text[16];
  snprintf(text, sizeof text, "%d", number);
  put_word(out, text);
}

/* Writes a job in the form that fork/fork.c reads. */
static void put_job(pop_bytes *out, const call *c, int announce, int output, int errors)
{
  put_number(out, announce);
  put_number(out, output);
  put_number(out, errors);
  put_number(out, (int)c->num_own);
  for (size_t i = 0; i < c->num_own; ++i) put_number(out, c->own[i]);
  put_number(out, (int)c->words.count);
  for (size_t i = 0; i < c->words.count; ++i) put_word(out, c->words.items[i]);
}

static pop_error *put_other(popc_launch *l, const job *job, int errors, const popc_source *source,
                            pop_arena *arena)
{
  call c = {0};
  pop_error *error = make_call(job, source, l, arena, &c);
  if (!error) {
    keep(l, job->announce);
    keep(l, job->object);
    keep(l, errors);
    put_job(&l->jobs, &c, job->announce, job->object, errors);
  }
  free(c.words.items);
  return error;
}

/* The first job's clang will fork the others when it is loaded. */
static pop_error *ask_to_fork(popc_launch *l, const job *jobs, size_t count, const call *first,
                              const popc_source *source, const int *errors, pop_arena *arena)
{
  put_job(&l->jobs, first, -1, -1, -1);
  for (size_t i = 1; i < count; ++i) POP_TRY(put_other(l, &jobs[i], errors[i], source, arena));
  int file;
  POP_TRY(add_text(l, "popc-jobs", source->path, l->jobs.data, l->jobs.size, &file));
  keep(l, file);
  const char *preload = secure_getenv("LD_PRELOAD");
  set_variable(l, "LD_PRELOAD",
               pop_arena_printf(arena, "LD_PRELOAD=%s%s%s", jobs[0].fork_library,
                                preload ? ":" : "", preload ? preload : ""),
               true);
  set_variable(l, "POPC_FORK", pop_arena_printf(arena, "POPC_FORK=%d", file), true);
  return NULL;
}

/* Both lists end with NULL. */
static void end_lists(popc_launch *l)
{
  popc_add_argument(&l->command, NULL);
  popc_add_argument(&l->environment, NULL);
}

pop_error *popc_prepare_clang(const job *jobs, size_t count, const popc_source *source,
                              const limits *limits, const int *errors, pop_arena *arena,
                              popc_launch *l)
{
  *l = (popc_launch){
      .output = jobs[0].object, .errors = errors[0], .memory_bytes = limits->memory_bytes};
  POP_TRY(open_nothing(l, source->path));
  make_environment(l);
  call c = {0};
  pop_error *error = make_call(&jobs[0], source, l, arena, &c);
  l->command = c.words;
  POP_TRY(error);
  if (count > 1) POP_TRY(ask_to_fork(l, jobs, count, &c, source, errors, arena));
  end_lists(l);
  return NULL;
}

pop_error *popc_prepare_pairs(const job *job, const popc_source *source, int errors, popc_launch *l)
{
  /* popc-pairs sets its own memory limit, as the reflector does. */
  *l = (popc_launch){.output = job->object, .errors = errors, .memory_bytes = RLIM_INFINITY};
  POP_TRY(add_text(l, "popc-bitcode", source->path, source->text, source->size, &l->input));
  make_environment(l);
  for (size_t i = 0; i < job->arguments.count; ++i)
    popc_add_argument(&l->command, job->arguments.items[i]);
  end_lists(l);
  return NULL;
}

/* clang's arguments, without the program. For some targets libclang ignores -resource-dir and looks
 * for clang's own headers in its default folder. */
static void add_for_libclang(const job *job, popc_arguments *command, pop_arena *arena)
{
  for (size_t i = 1; i < job->arguments.count; ++i)
    popc_add_argument(command, job->arguments.items[i]);
  popc_add_argument(command, POPC_REFLECTS);
  if (!job->resources) return;
  popc_add_argument(command, "-Xclang");
  popc_add_argument(command, "-internal-isystem");
  popc_add_argument(command, "-Xclang");
  popc_add_argument(command, pop_arena_printf(arena, "%s/include", job->resources));
}

pop_error *popc_prepare_reflector(const job *reflector, const job *jobs, size_t count,
                                  const popc_source *source, int errors, pop_arena *arena,
                                  popc_launch *l)
{
  /* It sets its own memory limit, as it knows what is mapped at the start. */
  *l = (popc_launch){.output = reflector->object, .errors = errors, .memory_bytes = RLIM_INFINITY};
  POP_TRY(add_text(l, "popc-source", source->path, source->text, source->size, &l->input));
  make_environment(l);
  popc_add_argument(&l->command, reflector->arguments.items[0]);
  /* A stream with another name says so in its text; a folder may have that name. */
  popc_add_argument(&l->command, source->is_stream ? "<stdin>" : slashed(source->path, arena));
  for (size_t i = 0; i < count; ++i) {
    keep(l, jobs[i].text_from);
    popc_add_argument(&l->command, POPC_JOB_WORD);
    popc_add_argument(&l->command, pop_arena_printf(arena, "%d", (int)jobs[i].target));
    popc_add_argument(&l->command, pop_arena_printf(arena, "%d", jobs[i].text_from));
    add_for_libclang(&jobs[i], &l->command, arena);
  }
  end_lists(l);
  return NULL;
}

void popc_launch_free(popc_launch *l)
{
  for (size_t i = 0; i < l->num_opened; ++i) close(l->opened[i]);
  free(l->command.items);
  free(l->environment.items);
  pop_bytes_free(&l->jobs);
  *l = (popc_launch){0};
}
