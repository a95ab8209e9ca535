/* Shared by the parent (compile.c, jobs.c), what it prepares (launch.c), the forked process
 * (child.c) and one of the programs that this may become (reflector.c). */
#ifndef POPC_COMPILE_INTERNAL_H
#define POPC_COMPILE_INTERNAL_H

#include "popc_internal.h"

#include <sys/resource.h>
#include <sys/types.h>

#define MIB ((rlim_t)1 << 20)
#define MAX_OBJECT_BYTES (512 * MIB)

/* Exit statuses of the child. */
enum {
  STATUS_AT_FAULT = 1,         /* clang's and ours: the source does not compile */
  STATUS_NOT_PARSED = 3,       /* popc-reflect: libclang found errors; clang will say which */
  STATUS_NO_DESCRIPTORS = 126, /* too few of them */
  STATUS_NO_CLANG = 127        /* it could not become clang or popc-reflect */
};

/* Begins a job among the arguments of popc-reflect. */
#define POPC_JOB_WORD "--job"
/* For readers of field annotations (populus/fields.h): popc-reflect, and -E, whose output may
 * come back. */
#define POPC_REFLECTS "-DPOPULUS_REFLECTS"

typedef struct limits {
  rlim_t seconds, memory_bytes;
} limits;

/* limits.c */
limits popc_get_limits(void);
/* The variable's value, 1 to 2^30 - 1; `otherwise` if it is not set or anything else. */
rlim_t popc_limit_from(const char *variable, rlim_t otherwise);
void popc_limit(int resource, rlim_t value); /* of this process */
/* Address space that this process has mapped already (a sanitizer's shadow). */
rlim_t popc_mapped_bytes(void);

typedef struct job {
  popc_target target;
  popc_product product;
  popc_arguments arguments;     /* of the compiler; the command without input and output */
  const char *resources;        /* folder of clang's own headers; NULL: it will know */
  unsigned wanted_dependencies; /* POPC_DEPENDENCIES, … */
  const char *fork_library;     /* of the first job: it forks the others (fork/fork.c); or NULL */
  pid_t pid;                    /* 0: not known yet, or not started */
  int announced;                /* read end of the pipe that tells the pid of a forked job */
  int announce;                 /* write end of it, until it is started */
  int text;         /* read end of the pipe from popc-reflect; -1: the source goes in as it is */
  int text_from;    /* write end of it, until popc-reflect has it */
  int errors;       /* read end of the child's standard error; -1 at its end */
  int object;       /* file in memory */
  int dependencies; /* the same; -1 if nobody wants to know them */
  int status;       /* of waitpid */
  bool is_lost;     /* the status is not known */
  bool timed_out;
  bool promotions_are_errors; /* warning_filter.c */
  pop_bytes diagnostics;
} job;

/* The arguments by which clang makes the product; ends with NULL. */
const char *const *popc_product_arguments(popc_product product);

/* A compiler that writes more diagnostics than this is stopped. */
#define POPC_MAX_DIAGNOSTICS ((size_t)4 << 20)

/* jobs.c */
/* Moves the descriptor above those of the standard streams, which are the children's: a host may
 * have closed its own. It, or -1 with errno. */
int popc_above_standard(int fd);
job popc_new_job(popc_product product);
/* The reflector, if there is one, is the job after the `count` others. It starts first, as all
 * others wait for it. */
POP_MUST_CHECK pop_error *popc_start_jobs(job *jobs, size_t count, bool reflected,
                                          const popc_source *source, const limits *limits,
                                          pop_arena *arena);
/* Stops those that have not ended. */
void popc_stop_jobs(job *jobs, size_t count);
/* Reads what the children say until all have closed their end, then collects them. */
void popc_watch_jobs(job *jobs, size_t count, const limits *limits);
void popc_release_job(job *job);

/* exit_status.c: the first checks time and memory, the second every other cause. */
POP_MUST_CHECK pop_error *popc_check_limits(const job *job, const popc_source *source,
                                            const limits *limits);
POP_MUST_CHECK pop_error *popc_check_exit(const job *job, const popc_source *source,
                                          const limits *limits);

/* Is the source a file that clang reads by its name? */
bool popc_is_read_by_name(const popc_source *source);
/* The error for a compilation that runs out of descriptors. */
pop_error *popc_no_descriptors(const char *path);

enum {
  POPC_MAX_OWN = 3, /* descriptors of one job: dependencies, the user's file, our text */
  POPC_MAX_KEPT = POPC_MAX_JOBS * (POPC_MAX_OWN + 3) + 2,
  POPC_MAX_TEXTS = POPC_MAX_JOBS + 1
};

typedef struct popc_written {
  int fd;
  const void *data;
  size_t size;
} popc_written;

/* All that a process needs to become clang or popc-reflect. */
typedef struct popc_launch {
  popc_arguments command, environment; /* end with NULL */
  int input, output, errors;           /* become descriptors 0, 1 and 2 */
  int kept[POPC_MAX_KEPT];             /* what else the program gets */
  size_t num_kept;
  int opened[POPC_MAX_KEPT]; /* by us, for the process alone */
  size_t num_opened;
  popc_written texts[POPC_MAX_TEXTS]; /* files in memory, to be written */
  size_t num_texts;
  pop_bytes jobs; /* for fork/fork.c, one of the texts */
  rlim_t memory_bytes;
} popc_launch;

/* launch.c: call these before the fork; free in the parent behind it, or after an error. */

/* The first job's clang, which forks the others. `errors`, the write ends of their diagnostics, is
 * parallel to the jobs. */
pop_error *popc_prepare_clang(const job *jobs, size_t count, const popc_source *source,
                              const limits *limits, const int *errors, pop_arena *arena,
                              popc_launch *l);
/* popc-reflect, for the `count` jobs that have a pipe for its text. */
pop_error *popc_prepare_reflector(const job *reflector, const job *jobs, size_t count,
                                  const popc_source *source, int errors, pop_arena *arena,
                                  popc_launch *l);
void popc_launch_free(popc_launch *l);

/* popc-pairs; `source` is bitcode. With this argument it only looks for 64-bit quotients. */
#define POPC_PAIRS_DIVISIONS "divisions"
pop_error *popc_prepare_pairs(const job *job, const popc_source *source, int errors,
                              popc_launch *l);

/* packed.c: vectors of 64 bits on tiles. Does clang make bitcode, which popc_pack_vectors turns
 * into the product? */
bool popc_goes_through_pairs(const popc_settings *settings, const popc_source *source,
                             popc_product product, const popc_variant *variant);
/* clang has made the product directly: should it have made bitcode instead, and for which of
 * popc-pairs' work? POPC_NEVER: no. */
popc_when popc_missed_pairs(const popc_settings *settings, popc_product product,
                            const popc_variant *variant, const popc_result *result);
/* Bitcode becomes the product. Errors: as popc_compile_source. */
POP_MUST_CHECK pop_error *popc_pack_vectors(const popc_settings *settings,
                                            const popc_source *source, popc_product product,
                                            const popc_variant *variant, popc_result *result,
                                            pop_bytes *diagnostics);
/* compile.c: popc-pairs reads bitcode and writes it. */
POP_MUST_CHECK pop_error *popc_run_pairs(const popc_settings *settings, const popc_source *bitcode,
                                         popc_result *result);

/* child.c: what the forked process does. */
_Noreturn void popc_exec_child(const popc_launch *l, const limits *limits, pid_t parent);

#endif
