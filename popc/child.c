/* The process that compiles one source for one target: limits, libclang, then clang instead. */
#include "compile_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

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
    _exit(STATUS_NO_CLANG);
  close_range(STDERR_FILENO + 1, ~0u, CLOSE_RANGE_CLOEXEC);
}

static void set_limits(const limits *limits)
{
  limit(RLIMIT_CORE, 0);
  limit(RLIMIT_CPU, limits->seconds);
  limit(RLIMIT_FSIZE, MAX_OBJECT_BYTES);
  limit(RLIMIT_AS, mapped_bytes() + limits->memory_bytes);
}

/* Says what is wrong with a vertex, and ends; or gives the text to append to the source. */
static void reflect(const job *job, const popc_source *source, const popc_arguments *command,
                    pop_bytes *entries)
{
  if (!popc_is_codelet_language(source->language) || job->product == POPC_PREPROCESSED) return;
  /* The first argument is the program: libclang takes the others. */
  if (popc_reflect(source, job->target, command->items + 1, command->count - 1, entries) !=
      POPC_VERTEX_AT_FAULT)
    return;
  write_all(STDERR_FILENO, entries->data, entries->size);
  _exit(STATUS_AT_FAULT);
}

/* What the compiler is to write beside the object. */
static void ask_for_dependencies(const job *job, popc_arguments *command, pop_arena *arena)
{
  if (!job->wanted_dependencies) return;
  fcntl(job->dependencies, F_SETFD, 0);
  bool user = job->wanted_dependencies & POPC_USER_DEPENDENCIES;
  popc_add_argument(command, user ? "-MMD" : "-MD");
  popc_add_argument(command, "-MF");
  popc_add_argument(command, pop_arena_printf(arena, "/proc/self/fd/%d", job->dependencies));
  popc_add_argument(command, "-MT");
  popc_add_argument(command, "x");
}

/* A source that is a file keeps its name, with our text in its place; another one is read from
 * standard input, after a line that names it. */
static void give_input(const popc_source *source, const pop_bytes *entries, popc_arguments *command,
                       pop_arena *arena)
{
  bool by_name =
      !source->is_stream && source->language != POPC_ASSEMBLER && source->language != POPC_LLVM_IR;
  int text = text_in_memory(source, entries);
  if (!by_name) {
    if (lseek(text, 0, SEEK_SET) != 0 || dup2(text, STDIN_FILENO) < 0) _exit(STATUS_AT_FAULT);
    popc_add_argument(command, "-");
    return;
  }
  int user = open(source->path, O_RDONLY);
  if (user >= 0) fcntl(user, F_SETFD, 0);
  popc_add_argument(command, "-Xclang");
  popc_add_argument(command, "-remap-file");
  popc_add_argument(command, "-Xclang");
  popc_add_argument(command,
                    pop_arena_printf(arena, "/proc/self/fd/%d;/proc/self/fd/%d", user, text));
  popc_add_argument(command, source->path);
}

_Noreturn void popc_run_child(const job *job, const popc_source *source, const limits *limits,
                              pid_t parent, int errors)
{
  detach(job, parent, errors);
  set_limits(limits);
  popc_arguments command = {0};
  for (size_t i = 0; i < job->arguments.count; ++i)
    popc_add_argument(&command, job->arguments.items[i]);
  pop_arena *arena = pop_arena_new();
  popc_source named = *source;
  named.path = slashed(source->path, arena);

  pop_bytes entries = {0};
  reflect(job, &named, &command, &entries);
  for (const char *const *word = popc_product_arguments(job->product); *word; ++word)
    popc_add_argument(&command, *word);
  ask_for_dependencies(job, &command, arena);
  popc_add_argument(&command, "-o");
  popc_add_argument(&command, "-");
  give_input(&named, &entries, &command, arena);
  popc_add_argument(&command, NULL);
  limit(RLIMIT_AS, limits->memory_bytes);
  execve(command.items[0], (char **)command.items, environ);
  _exit(STATUS_NO_CLANG);
}
