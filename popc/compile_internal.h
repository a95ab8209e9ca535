/* Shared by compile.c, the parent, and child.c, what it starts. */
#ifndef POPC_COMPILE_INTERNAL_H
#define POPC_COMPILE_INTERNAL_H

#include "popc_internal.h"

#include <sys/resource.h>
#include <sys/types.h>

#define MIB ((rlim_t)1 << 20)
#define MAX_OBJECT_BYTES (512 * MIB)

/* Exit statuses of the child. */
enum {
  STATUS_AT_FAULT = 1,  /* clang's and ours: the source does not compile */
  STATUS_NO_CLANG = 127 /* it could not become clang */
};

typedef struct limits {
  rlim_t seconds, memory_bytes;
} limits;

typedef struct job {
  popc_target target;
  popc_product product;
  popc_arguments arguments;     /* of the compiler; the command without input and output */
  unsigned wanted_dependencies; /* POPC_DEPENDENCIES, … */
  pid_t pid;
  int errors;       /* read end of the child's standard error; -1 at its end */
  int object;       /* file in memory */
  int dependencies; /* the same; -1 if nobody wants to know them */
  int status;       /* of waitpid */
  bool timed_out;
  pop_bytes diagnostics;
} job;

/* What clang is told to make; ends with NULL. */
const char *const *popc_product_arguments(popc_product product);

/* Does the job's work in the process that was forked for it; `errors` becomes standard error.
 * Does not return. */
_Noreturn void popc_run_child(const job *job, const popc_source *source, const limits *limits,
                              pid_t parent, int errors);

#endif
