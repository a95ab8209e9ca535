/* Engine options, ready to use.
 *
 *   option_table.h  the keys, and the values that they may have
 *   options.c       where values come from: defaults, an executable, the call, the environment */
#ifndef OPTIONS_OPTIONS_H
#define OPTIONS_OPTIONS_H

#include "executable/executable.h"
#include "machine/machine.h"
#include <populus/engine.h>
#include <populus/profile.h>

/* When an option has its effect. */
typedef enum option_stage {
  ON_COMPILE = 1, /* shapes the executable */
  ON_SAVE = 2,    /* how to make the executable, or where to store it; does not change it */
  ON_RUN = 4,
  ON_ALL_STAGES = 7
} option_stage;

/* debug.executionProfile: the modes of execution profiles, in the order of the table's values. */
typedef enum execution_profile_choice {
  PROFILE_NONE,
  PROFILE_COMPUTE_SETS,
  PROFILE_SINGLE_TILE_COMPUTE_SETS,
  PROFILE_VERTICES,
  PROFILE_EXTERNAL_EXCHANGES,
  PROFILE_HOST_EXCHANGES
} execution_profile_choice;

/* Is a report of autoReport.… wanted? */
typedef enum report_choice { AS_ALL, YES, NO } report_choice;

/* The number for the word auto. */
#define NUMBER_AUTO (UINT32_MAX - 1)

/* streamCallbacks.multiThreadMode, in the order of the table's values. */
typedef enum callback_mode {
  CALLBACKS_SINGLE_THREAD,
  CALLBACKS_COLLABORATIVE, /* on their own threads and on the run's */
  CALLBACKS_DEDICATED      /* on their own threads */
} callback_mode;

/* exchange.enablePrefetch, in the order of the table's values. */
typedef enum prefetch_choice { PREFETCH_AUTO, PREFETCH_YES, PREFETCH_NO } prefetch_choice;

/* exchange.streamBufferOverlap, in the order of the table's values. */
typedef enum buffer_overlap { OVERLAP_NONE, OVERLAP_REARRANGED, OVERLAP_ANY } buffer_overlap;

/* The options about running. */
typedef struct run_options {
  machine_options machine; /* its native_folder is cache_folder, below */
  bool strict_loads;
  bool float_exceptions, nan_on_overflow, stochastic_rounding; /* of workers, when loaded */
  prefetch_choice prefetch;                                    /* call callbacks of streams early */
  buffer_overlap buffer_overlap;
  double
      host_sync_timeout; /* for a callback, or on the CPU until a host sync; seconds, 0: no limit */
  uint64_t max_host_memory;      /* bytes of data of an engine; 0: no limit */
  uint32_t callback_mode;        /* callback_mode */
  uint32_t num_callback_threads; /* 0: the run's thread; NUMBER_AUTO: as many as cores */
  uint32_t max_lookahead;        /* copies of a stream that may be prefetched; 0: no limit */
  uint32_t profiled_replica;
  uint32_t first_replica, num_own_replicas; /* the program's own for its rank, or NUMBER_AUTO */
  char *trace_file; /* output of debug.trace; "": that of PrintTensor. Owned */
  /* Reports: */
  bool report_all, report_page;
  char *report_directory;            /* owned by the options */
  pop_profile_format profile_format; /* of profiles in files */
  report_choice report_execution;
  uint64_t reported_runs;
} run_options;

/* Texts are owned; "" if not set. */
typedef struct engine_options {
  char *save_archive;  /* target.saveArchive */
  char *variable_file; /* debug.loweredVarDumpFile */
  char *program_file;  /* debug.loweredProgsFile */
  char *graph_report;  /* "stdout", "stderr" or a path */
  report_choice report_archive, report_graph, report_variables, report_debug, report_code;
  bool report_source;           /* the code's */
  bool report_serialized_graph; /* not included in autoReport.all */
  bool inherits_report_all;     /* report_all is from the executable */
  char *cache_folder;           /* of compiled executables */
  uint64_t cache_max_bytes;
  bool allow_out_of_memory;
  bool keep_duplicate_code;
  bool allow_host_code; /* target.allowHostCode */
  bool output_all_symbols;
  bool retain_debug_information;
  bool verify;
  bool runtime_verify;
  bool log_stack_sizes;
  bool trace;
  uint32_t worker_stack_bytes;
  uint32_t supervisor_stack_bytes;
  uint32_t num_threads;
  uint32_t execution_profile; /* execution_profile_choice, of older programs */
  uint32_t multicast_policy;  /* multicast_policy */
  uint32_t exchange_target;   /* exchange_target */
  enum {
    LIBRARY_CYCLES_OF_CHIP,
    LIBRARY_CYCLES_OF_OURS,
    LIBRARY_CYCLES_OF_CODE
  } library_cycles; /* of models */
  bool instrument;  /* all three: */
  bool instrument_compute, instrument_control_flow, instrument_external_exchange;
  uint32_t instrumentation_level;                    /* instrumentation_level - 1 */
  char *block_filter, *block_programs, *block_tiles; /* lightweight profiling */
  uint32_t block_buffer_bytes;
  bool block_implicit_flush;
  enum { SECTIONS_FLAT, SECTIONS_BY_CATEGORY } sections; /* of images */
  run_options run;
  /* Options that were given and differ from their defaults, in the order of the table. Values have
   * their canonical spelling ("4096", not "0x1000") and are owned. */
  executable_option *given[2]; /* of ON_COMPILE, of ON_RUN: see options_given */
  size_t num_given[2], given_capacity[2];
} engine_options;

/* The given options of a stage, ON_COMPILE or ON_RUN. */
const executable_option *options_given(const engine_options *options, option_stage stage,
                                       size_t *count);

/* The options about running that affect what programs do, with their values, in the order of the
 * table. How the host simulates, where output goes, and options without an effect are left out.
 * Values live as long as `options`. */
size_t options_of_runs(const engine_options *options, executable_option **list);

/* If several sources have a key, the last of these wins: the default; the options about running
 * that `compiled` was compiled with; the call; a variable for this option alone (some come before
 * the call: option_table.h); POPLAR_ENGINE_OPTIONS; POPLAR_RUNTIME_OPTIONS;
 * POPLAR_SIMULATOR_OPTIONS.
 *
 * `stages` are the stages (bits) of the call. If the call has an option for other stages only: one
 * about running is kept (options_given); one about compiling must have the value with which
 * `compiled`, if any, was compiled. In the environment, which may be for several programs, it is
 * ignored.
 *
 * INVALID_OPTION: an unknown key; a value that the key does not take; a key twice in one source; a
 * variable that is not a JSON object, or has a key that is not allowed in it. */
POP_MUST_CHECK pop_error *engine_options_parse(const pop_option *options, size_t num_options,
                                               unsigned stages, const pop_executable *compiled,
                                               engine_options *parsed);
void engine_options_free(engine_options *options);

#endif
