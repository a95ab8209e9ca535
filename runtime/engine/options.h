/* Engine options: one table (options.c) for parsing, defaults, the documentation and near matches. */
#ifndef ENGINE_OPTIONS_H
#define ENGINE_OPTIONS_H

#include <populus/engine.h>

typedef struct engine_options {
  char *save_archive; /* target.saveArchive; NULL: do not; owned */
  bool allow_out_of_memory;
  bool keep_duplicate_code;
  uint32_t worker_stack_bytes;
  uint32_t supervisor_stack_bytes;
  uint64_t max_cycles_per_run;
  uint32_t num_threads;
} engine_options;

/* Defaults, then the call's options, then POPLAR_ENGINE_OPTIONS. A key given twice in one of the
 * two, an unknown key or a value outside its range is INVALID_OPTION. */
POP_MUST_CHECK pop_error *engine_options_parse(const pop_option *options, size_t num_options,
                                               engine_options *parsed);
void engine_options_free(engine_options *options);

#endif
