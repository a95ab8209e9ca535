/* popexec's command line. */
#ifndef TOOLS_ARGUMENTS_H
#define TOOLS_ARGUMENTS_H

#include <populus/arena.h>
#include <populus/engine.h>
#include <populus/error.h>

/* The data that a replica's stream has delivered. */
typedef struct collector {
  pop_bytes data;
  size_t bytes; /* of one copy */
} collector;

/* HANDLE=FILE or STREAM=FILE, or those of one replica, HANDLE@2=FILE */
typedef struct transfer {
  const char *handle, *file;
  pop_bytes data;        /* of a stream to the device */
  collector *collectors; /* of a stream to the host, by replica */
  uint32_t num_collectors;
} transfer;

typedef struct transfers {
  transfer *list;
  size_t count, capacity;
} transfers;

typedef struct arguments {
  const char *program; /* how it was called, without the folder */
  bool linked;         /* the archive is in the program: there is no argument for it */
  const char *archive;
  bool json, pretty; /* of list */
  bool list, memory, cycles, quiet;
  const char *profile; /* folder; NULL: none */
  transfers writes, reads, ins, outs;
  pop_option *options; /* of the engine */
  size_t num_options, options_capacity;
  const char **runs;
  size_t num_runs, runs_capacity;
  uint64_t repeat;
} arguments;

/* Reads the command line into `a`, whose `program` and `linked` are set. The strings are argv's,
 * which is cut up. *done: help or version has been printed. Errors: USAGE. */
POP_MUST_CHECK pop_error *arguments_parse(int argc, char **argv, arguments *a, bool *done);
void arguments_free(arguments *a);

#endif
