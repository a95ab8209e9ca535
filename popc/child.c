/* The processes that compile one source: what they are before they become clang or popc-reflect. */
#include "compile_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

/* What a process that cannot begin dies of. */
static _Noreturn void give_up(int status)
{
  _exit(errno == EMFILE || errno == ENFILE ? STATUS_NO_DESCRIPTORS : status);
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

static int text_in_memory(const popc_source *source)
{
  int fd = memfd_create("popc-source", 0);
  if (fd < 0) give_up(STATUS_AT_FAULT);
  write_all(fd, source->text, source->size);
  if (lseek(fd, 0, SEEK_SET) != 0) _exit(STATUS_AT_FAULT);
  return fd;
}

/* A name that is not taken for an option. */
static const char *slashed(const char *path, pop_arena *arena)
{
  return path[0] == '-' ? pop_arena_printf(arena, "./%s", path) : path;
}

/* Signals and descriptors of a process of its own. */
static void detach(const job *job, pid_t parent, int errors)
{
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(STATUS_AT_FAULT); /* it died before that */
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, NULL);
  static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGXFSZ};
  for (size_t i = 0; i < sizeof signals / sizeof *signals; ++i) signal(signals[i], SIG_DFL);
  int nothing = open("/dev/null", O_RDONLY);
  if (nothing < 0 || dup2(nothing, STDIN_FILENO) < 0 || dup2(job->object, STDOUT_FILENO) < 0 ||
      dup2(errors, STDERR_FILENO) < 0)
    give_up(STATUS_NO_CLANG);
  close_range(STDERR_FILENO + 1, ~0u, CLOSE_RANGE_CLOEXEC);
}

static void set_limits(const limits *limits)
{
  popc_limit(RLIMIT_CORE, 0);
  popc_limit(RLIMIT_CPU, limits->seconds);
  popc_limit(RLIMIT_FSIZE, MAX_OBJECT_BYTES);
}

/* A compiler's heap grows and never shrinks: in large steps and huge pages that takes a tenth less
 * time than in 4 KiB. */
static void tune_heap(void)
{
  setenv("GLIBC_TUNABLES", "glibc.malloc.hugetlb=1:glibc.malloc.top_pad=33554432", false);
}

/* The limit of memory comes last: nothing of ours must allocate under it. */
static _Noreturn void become(popc_arguments *command, rlim_t memory_bytes)
{
  tune_heap();
  popc_add_argument(command, NULL);
  popc_limit(RLIMIT_AS, memory_bytes);
  execve(command->items[0], (char **)command->items, environ);
  _exit(STATUS_NO_CLANG);
}

/* How a job's clang is called, and the descriptors that are for it alone. */
typedef struct call {
  popc_arguments words;
  int own[4];
  int num_own;
} call;

static int keep(call *c, int fd)
{
  fcntl(fd, F_SETFD, 0);
  c->own[c->num_own++] = fd;
  return fd;
}

/* What the compiler is to write beside the object. */
static void ask_for_dependencies(const job *job, call *c, pop_arena *arena)
{
  if (!job->wanted_dependencies) return;
  bool user = job->wanted_dependencies & POPC_USER_DEPENDENCIES;
  popc_add_argument(&c->words, user ? "-MMD" : "-MD");
  popc_add_argument(&c->words, "-MF");
  popc_add_argument(&c->words,
                    pop_arena_printf(arena, "/proc/self/fd/%d", keep(c, job->dependencies)));
  popc_add_argument(&c->words, "-MT");
  popc_add_argument(&c->words, "x");
}

bool popc_is_read_by_name(const popc_source *source)
{
  return !source->is_stream && !source->folder && source->language != POPC_ASSEMBLER &&
         source->language != POPC_LLVM_IR;
}

/* A source that is a file keeps its name, with our text in its place; another one is read from
 * standard input, after a line that names it. */
static void give_input(const job *job, const popc_source *source, call *c, pop_arena *arena)
{
  int text = job->text >= 0 ? job->text : text_in_memory(source);
  if (!popc_is_read_by_name(source)) {
    if (dup2(text, STDIN_FILENO) < 0) _exit(STATUS_AT_FAULT);
    popc_add_argument(&c->words, "-");
    return;
  }
  const char *path = slashed(source->path, arena);
  int user = open(path, O_RDONLY);
  if (user < 0 && errno == EMFILE) give_up(STATUS_AT_FAULT);
  if (user >= 0) keep(c, user);
  popc_add_argument(&c->words, "-Xclang");
  popc_add_argument(&c->words, "-remap-file");
  popc_add_argument(&c->words, "-Xclang");
  popc_add_argument(
      &c->words, pop_arena_printf(arena, "/proc/self/fd/%d;/proc/self/fd/%d", user, keep(c, text)));
  popc_add_argument(&c->words, path);
}

static call make_call(const job *job, const popc_source *source, pop_arena *arena)
{
  call c = {0};
  for (size_t i = 0; i < job->arguments.count; ++i)
    popc_add_argument(&c.words, job->arguments.items[i]);
  for (const char *const *word = popc_product_arguments(job->product); *word; ++word)
    popc_add_argument(&c.words, *word);
  ask_for_dependencies(job, &c, arena);
  popc_add_argument(&c.words, "-o");
  popc_add_argument(&c.words, "-");
  give_input(job, source, &c, arena);
  return c;
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

/* A job as fork/fork.c reads it. */
static void put_job(pop_bytes *out, const call *c, int announce, int output, int errors)
{
  put_number(out, announce);
  put_number(out, output);
  put_number(out, errors);
  put_number(out, c->num_own);
  for (int i = 0; i < c->num_own; ++i) put_number(out, c->own[i]);
  put_number(out, (int)c->words.count);
  for (size_t i = 0; i < c->words.count; ++i) put_word(out, c->words.items[i]);
}

/* The first job's clang will fork the others when it is loaded. */
static void ask_to_fork(const job *jobs, size_t count, const call *first, const popc_source *source,
                        const int *errors, pop_arena *arena)
{
  pop_bytes text = {0};
  put_job(&text, first, -1, -1, -1);
  for (size_t i = 1; i < count; ++i) {
    call c = make_call(&jobs[i], source, arena);
    fcntl(jobs[i].announce, F_SETFD, 0);
    fcntl(jobs[i].object, F_SETFD, 0);
    fcntl(errors[i], F_SETFD, 0);
    put_job(&text, &c, jobs[i].announce, jobs[i].object, errors[i]);
  }
  int file = memfd_create("popc-jobs", 0);
  if (file < 0) give_up(STATUS_AT_FAULT);
  write_all(file, text.data, text.size);
  const char *preload = secure_getenv("LD_PRELOAD"), *library = jobs[0].fork_library;
  if (preload) library = pop_arena_printf(arena, "%s:%s", library, preload);
  setenv("LD_PRELOAD", library, true);
  setenv("POPC_FORK", pop_arena_printf(arena, "%d", file), true);
}

_Noreturn void popc_become_clang(const job *jobs, size_t count, const popc_source *source,
                                 const limits *limits, pid_t parent, const int *errors)
{
  detach(&jobs[0], parent, errors[0]);
  set_limits(limits);
  pop_arena *arena = pop_arena_new();
  call c = make_call(&jobs[0], source, arena);
  if (count > 1) ask_to_fork(jobs, count, &c, source, errors, arena);
  become(&c.words, limits->memory_bytes);
}

/* What clang is told, without the program. For some targets libclang looks for clang's own headers
 * where it thinks that they are, whatever -resource-dir says. */
static void add_for_libclang(const job *job, popc_arguments *command, pop_arena *arena)
{
  for (size_t i = 1; i < job->arguments.count; ++i)
    popc_add_argument(command, job->arguments.items[i]);
  if (!job->resources) return;
  popc_add_argument(command, "-Xclang");
  popc_add_argument(command, "-internal-isystem");
  popc_add_argument(command, "-Xclang");
  popc_add_argument(command, pop_arena_printf(arena, "%s/include", job->resources));
}

_Noreturn void popc_become_reflector(const job *reflector, const job *jobs, size_t count,
                                     const popc_source *source, const limits *limits, pid_t parent,
                                     int errors)
{
  detach(reflector, parent, errors);
  set_limits(limits); /* that of memory is its own, which knows what is mapped at the start */
  if (dup2(text_in_memory(source), STDIN_FILENO) < 0) _exit(STATUS_AT_FAULT);
  pop_arena *arena = pop_arena_new();
  popc_arguments command = {0};
  popc_add_argument(&command, reflector->arguments.items[0]);
  /* A stream that has another name says so itself; there may be a folder of that name. */
  popc_add_argument(&command, source->is_stream ? "<stdin>" : slashed(source->path, arena));
  for (size_t i = 0; i < count; ++i) {
    fcntl(jobs[i].text_from, F_SETFD, 0);
    popc_add_argument(&command, POPC_JOB_WORD);
    popc_add_argument(&command, pop_arena_printf(arena, "%d", (int)jobs[i].target));
    popc_add_argument(&command, pop_arena_printf(arena, "%d", jobs[i].text_from));
    add_for_libclang(&jobs[i], &command, arena);
  }
  become(&command, RLIM_INFINITY);
}
