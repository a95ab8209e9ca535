/* pophlo's command line. */
#ifndef TOOLS_POPHLO_H
#define TOOLS_POPHLO_H

#include <populus/arena.h>
#include <populus/engine.h>

typedef enum pophlo_device { DEVICE_IPU, DEVICE_IPU_MODEL, DEVICE_CPU } pophlo_device;

typedef struct pophlo_file {
  const char *name, *file;
} pophlo_file;

typedef struct pophlo_arguments {
  const char **files;
  size_t num_files, files_capacity;
  bool check, run, list, codelets, verbose, quiet, cycles, memory;
  bool both_engines;           /* of --check */
  const char *output, *target; /* NULL: none, the default one */
  const char *dump;            /* NULL: no dumps */
  pophlo_device device;
  bool device_given;
  char *environment; /* what strings of the environment's variables are parts of */
  uint32_t tiles;    /* 0: as many as the module needs */
  size_t part, jobs;
  pophlo_file *ins, *outs;
  size_t num_ins, ins_capacity, num_outs, outs_capacity;
  pop_option *options;
  size_t num_options, options_capacity;
} pophlo_arguments;

/* *done: help or the version has been printed. */
POP_MUST_CHECK pop_error *pophlo_parse(int argc, char **argv, pophlo_arguments *a, bool *done);
/* pophlo_environment.c: what TF_POPLAR_FLAGS and XLA_FLAGS add to that. */
POP_MUST_CHECK pop_error *pophlo_parse_environment(pophlo_arguments *a);
void pophlo_arguments_free(pophlo_arguments *a);

#endif
