/* poprun's command line: what it asks for. */
#ifndef POPRUN_OPTIONS_H
#define POPRUN_OPTIONS_H

#include <populus/error.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { POPRUN_ALL = -1 };

/* The instances that can read poprun's standard input: the first, unless the input is at its end,
 * or those that an option of mpirun's names. */
typedef enum poprun_input { INPUT_TO_FIRST, INPUT_TO_NONE, INPUT_TO_NAMED } poprun_input;

typedef struct poprun_options {
  uint32_t num_instances, num_replicas, ipus_per_replica;
  uint32_t num_ilds;   /* domains of linked IPUs that instances are spread over */
  int32_t only_output; /* an instance, or POPRUN_ALL */
  bool numa, topology; /* instances stay in a NUMA domain; only print who is where */
  bool partition;      /* something was said about partitions */
  bool quiet;          /* no notes */
  int verbose;         /* how many v */
  poprun_input input;
  const char *mpi;     /* openmpi, mpich, or NULL: the first that is there */
  const char *cache;   /* folder, or NULL */
  const char *timeout; /* seconds, or NULL */
  const char **hosts;  /* names or addresses, without repetition */
  size_t num_hosts;
  const char **mpi_args; /* for mpirun, one by one: global ones, then local ones */
  size_t num_mpi_args;
  char *const *program; /* with its arguments, NULL at the end */
} poprun_options;

/* Everything lives until the process ends. Errors: USAGE. *done: --help or --version
 * has been printed. */
POP_MUST_CHECK pop_error *poprun_parse(int argc, char **argv, poprun_options *options, bool *done);

/* Where an instance is: hosts get as many each, in their order. */
typedef struct poprun_place {
  const char *host; /* NULL: here */
  uint32_t ild, first_replica, num_replicas;
} poprun_place;
poprun_place poprun_place_of(const poprun_options *options, uint32_t instance);

#endif
