/* pophlo's command line. */
#ifndef TOOLS_POPHLO_H
#define TOOLS_POPHLO_H

#include <populus/arena.h>
#include <populus/engine.h>
#include <populus/model.h>

typedef enum pophlo_device { DEVICE_IPU, DEVICE_IPU_MODEL, DEVICE_CPU } pophlo_device;

typedef struct pophlo_file {
  const char *name, *file;
} pophlo_file;

typedef struct pophlo_arguments {
  const char **files;
  size_t num_files, files_capacity;
  bool check, run, list, codelets, verbose, quiet, cycles, memory;
  bool json, pretty;             /* of --list */
  bool both_engines, everywhere; /* of --check */
  const char *output, *target;   /* NULL: none, the default one */
  const char *dump;              /* NULL: no dumps */
  pophlo_device device;
  bool device_given;
  char *environment; /* what strings of the environment's variables are parts of */
  uint32_t tiles;    /* 0: as many as the module needs */
  uint32_t replicas; /* 0: one */
  size_t part, jobs;
  size_t copy_limit; /* bytes */
  pophlo_file *ins, *outs;
  size_t num_ins, ins_capacity, num_outs, outs_capacity;
  pop_option *options;
  size_t num_options, options_capacity;
} pophlo_arguments;

/* A module on a device. */
typedef struct pophlo_feeds pophlo_feeds;
typedef struct built {
  pop_model *model;
  pop_graph *graph;
  pop_engine *engine;
  pophlo_feeds *feeds;
} built;

/* pophlo.c: an empty graph for the model. */
POP_MUST_CHECK pop_error *built_add_graph(const pophlo_arguments *a, pophlo_device device,
                                          built *b);
void built_free(built *b);
/* Evaluates the checks of a model that has run. One that does not hold is the input's fault, while
 * RUNTIME is a fault of the device program, with another exit status. */
POP_MUST_CHECK pop_error *built_judge(const built *b);
/* Does the error say that the model does not fit on the tiles that it is worth, and are there more?
 * Then prints so about `what`, and `all` becomes the arguments for all tiles. */
bool built_wants_all_tiles(const pophlo_arguments *a, pophlo_device device, const pop_model *model,
                           const pop_error *error, const char *what, pophlo_arguments *all);

/* pophlo_check.c: --check; the exit status. */
int pophlo_check(const pophlo_arguments *a);

/* *done: help or the version has been printed. */
POP_MUST_CHECK pop_error *pophlo_parse(int argc, char **argv, pophlo_arguments *a, bool *done);
/* pophlo_environment.c: adds what TF_POPLAR_FLAGS and XLA_FLAGS say. */
POP_MUST_CHECK pop_error *pophlo_parse_environment(pophlo_arguments *a);
void pophlo_arguments_free(pophlo_arguments *a);

/* pophlo_list.c: --list. */
POP_MUST_CHECK pop_error *pophlo_list(const pophlo_arguments *a, const pop_model *model);

/* pophlo_feeds.c: streams of a module, and the files of --in and --out that have their names. */
typedef struct pophlo_feed pophlo_feed;
/* Called before the engine runs. Free the result after an error, too, after the engine. */
POP_MUST_CHECK pop_error *pophlo_feeds_connect(const pophlo_arguments *a, const pop_model *model,
                                               pop_engine *engine, pophlo_feeds **result);
POP_MUST_CHECK pop_error *pophlo_feeds_write(const pophlo_feeds *feeds);
void pophlo_feeds_free(pophlo_feeds *feeds);

#endif
