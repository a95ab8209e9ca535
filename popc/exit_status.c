/* Turns the abnormal end of a compiler process into an error that says what to do. */
#include "compile_internal.h"

#include <signal.h>
#include <string.h>
#include <sys/wait.h>

static bool diagnostics_contain(const job *job, const char *words)
{
  return job->diagnostics.size &&
         memmem(job->diagnostics.data, job->diagnostics.size, words, strlen(words));
}

/* The limit that popc itself runs under, if it is below the limit that popc sets; else 0. */
static unsigned long long inherited_limit(int resource, unsigned long long otherwise)
{
  struct rlimit limit;
  bool is_less = getrlimit(resource, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
                 limit.rlim_cur < otherwise;
  return is_less ? (unsigned long long)limit.rlim_cur : 0;
}

/* Has it neither compiled the source nor found errors in it? */
static bool is_odd(const job *job)
{
  return WIFSIGNALED(job->status) || WEXITSTATUS(job->status) > STATUS_AT_FAULT;
}

/* A source may mention std::bad_alloc. So may what is said about it. */
static bool ran_out_of_memory(const job *job)
{
  return is_odd(job) && (diagnostics_contain(job, "LLVM ERROR: out of memory") ||
                         diagnostics_contain(job, "instance of 'std::bad_alloc'") ||
                         diagnostics_contain(job, "of type std::bad_alloc"));
}

/* Short of memory, compilers end in many ways, and some cannot even be loaded. */
static pop_error *check_inherited(const job *job, const char *path, const limits *limits)
{
  unsigned long long memory = inherited_limit(RLIMIT_AS, limits->memory_bytes);
  if (!memory || !is_odd(job)) return NULL;
  return pop_error_new(POP_ERROR_SYSTEM,
                       "compiling '%s' needs more than the %llu KiB of memory that processes may "
                       "have here (ulimit -v)",
                       path, memory / 1024);
}

pop_error *popc_check_limits(const job *job, const popc_source *source, const limits *limits)
{
  int number = WIFSIGNALED(job->status) ? WTERMSIG(job->status) : 0;
  const char *path = source->path;
  if (job->is_lost)
    return pop_error_new(POP_ERROR_SYSTEM,
                         "cannot tell whether '%s' compiles: this process ignores SIGCHLD, or "
                         "another part of it has waited for the compiler",
                         path);
  if (job->timed_out || number == SIGXCPU)
    return pop_error_new(POP_ERROR_SYSTEM,
                         "compiling '%s' took longer than %llu s and was stopped (POPC_TIME_LIMIT "
                         "sets the limit)",
                         path, (unsigned long long)limits->seconds);
  if (ran_out_of_memory(job))
    return pop_error_new(POP_ERROR_SYSTEM,
                         "compiling '%s' needs more than %llu MiB of memory (POPC_MEMORY_LIMIT "
                         "sets the limit)",
                         path, (unsigned long long)(limits->memory_bytes / MIB));
  unsigned long long file_bytes = inherited_limit(RLIMIT_FSIZE, MAX_OBJECT_BYTES);
  if (number == SIGXFSZ && file_bytes)
    return pop_error_new(POP_ERROR_SYSTEM,
                         "the object of '%s' is larger than the %llu KiB that files may have here "
                         "(ulimit -f)",
                         path, file_bytes / 1024);
  if (number == SIGXFSZ)
    return pop_error_new(POP_ERROR_SYSTEM, "the object of '%s' is larger than %llu MiB", path,
                         (unsigned long long)(MAX_OBJECT_BYTES / MIB));
  POP_TRY(check_inherited(job, path, limits));
  if (job->diagnostics.size >= POPC_MAX_DIAGNOSTICS)
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

/* The dynamic linker says why a program cannot be loaded. Nobody says why one cannot be started. */
static pop_error *cannot_run(const job *job, const char *path)
{
  const pop_bytes *said = &job->diagnostics;
  const char *end = said->size ? memchr(said->data, '\n', said->size) : NULL;
  int length = end ? (int)(end - (const char *)said->data) : (int)said->size;
  if (WEXITSTATUS(job->status) == STATUS_NO_DESCRIPTORS) return popc_no_descriptors(path);
  return pop_error_new(POP_ERROR_SYSTEM, "cannot run '%s'%s%.*s", job->arguments.items[0],
                       length ? ": " : "", length, length ? (const char *)said->data : "");
}

pop_error *popc_check_exit(const job *job, const popc_source *source, const limits *limits)
{
  POP_TRY(popc_check_limits(job, source, limits));
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
