/* Engine options: one table (options.c) for parsing, defaults, the documentation and near matches. */
#ifndef ENGINE_OPTIONS_H
#define ENGINE_OPTIONS_H

#include "machine/machine.h"
#include <populus/engine.h>

/* When an option has its effect. */
typedef enum option_stage {
  ON_COMPILE = 1, /* it shapes the executable */
  ON_SAVE = 2,    /* it says how to make it, or where to put it: it has no part in it */
  ON_RUN = 4
} option_stage;

/* An option that was given, with the value that counts. */
typedef struct given_option {
  const char *key; /* of the table */
  char *value;     /* owned */
} given_option;

/* What an engine is told about running. */
typedef struct run_options {
  machine_options machine;
  bool prefetch; /* ask callbacks of streams early */
} run_options;

typedef struct engine_options {
  char *save_archive; /* target.saveArchive; NULL: do not; owned */
  char *cache_folder; /* of compiled executables; NULL: none; owned */
  uint64_t cache_max_bytes;
  bool allow_out_of_memory;
  bool keep_duplicate_code;
  uint32_t worker_stack_bytes;
  uint32_t supervisor_stack_bytes;
  uint32_t num_threads;
  run_options run;
  /* Those of stage ON_COMPILE that were given. */
  given_option *given;
  size_t num_given, given_capacity;
  bool sections_by_category;
} engine_options;

/* Defaults, then the call's options, then variables for one option (POPULUS_TILE_ENGINE,
 * POPULUS_TILE_THREADS), then POPLAR_ENGINE_OPTIONS. A key given twice in one of the
 * two, an unknown key or a value outside its range is INVALID_OPTION. So is, in the call, an option of
 * a stage that is not in `stages` (bits of option_stage); in the environment it is left out. */
POP_MUST_CHECK pop_error *engine_options_parse(const pop_option *options, size_t num_options,
                                               unsigned stages, engine_options *parsed);
void engine_options_free(engine_options *options);

#endif
