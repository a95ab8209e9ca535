/* Engine options, ready to be used.
 *
 *   option_table.h  which keys there are, and what their values may be
 *   options.c       where values come from: defaults, an executable, the call, the environment */
#ifndef OPTIONS_OPTIONS_H
#define OPTIONS_OPTIONS_H

#include "executable/executable.h"
#include "machine/machine.h"
#include <populus/engine.h>
#include <populus/profile.h>

/* When an option has its effect. */
typedef enum option_stage {
  ON_COMPILE = 1, /* it shapes the executable */
  ON_SAVE = 2,    /* it says how to make it, or where to put it: it has no part in it */
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

/* Whether a report of autoReport.… is wanted. */
typedef enum report_choice { AS_ALL, YES, NO } report_choice;

/* The number behind the word auto. */
#define NUMBER_AUTO (UINT32_MAX - 1)

/* streamCallbacks.multiThreadMode, in the order of the table's values. */
typedef enum callback_mode {
  CALLBACKS_SINGLE_THREAD,
  CALLBACKS_COLLABORATIVE, /* on threads of their own and that of the run */
  CALLBACKS_DEDICATED      /* on threads of their own */
} callback_mode;

/* exchange.enablePrefetch, in the order of the table's values. */
typedef enum prefetch_choice { PREFETCH_AUTO, PREFETCH_YES, PREFETCH_NO } prefetch_choice;

/* exchange.streamBufferOverlap, likewise. */
typedef enum buffer_overlap { OVERLAP_NONE, OVERLAP_REARRANGED, OVERLAP_ANY } buffer_overlap;

/* What an engine is told about running. */
typedef struct run_options {
  machine_options machine; /* native_folder is cache_folder, below */
  bool strict_loads;
  bool float_exceptions, nan_on_overflow, stochastic_rounding; /* of workers, when loaded */
  prefetch_choice prefetch;                                    /* ask callbacks of streams early */
  buffer_overlap buffer_overlap;
  double
      host_sync_timeout; /* seconds that a callback may take, or the CPU to a host sync; 0: no limit */
  uint64_t max_host_memory;      /* bytes that an engine may take for data; 0: no limit */
  uint32_t callback_mode;        /* callback_mode */
  uint32_t num_callback_threads; /* 0: the thread of the run; NUMBER_AUTO: as there are cores */
  uint32_t max_lookahead;        /* copies of a stream that may be prefetched; 0: any number */
  uint32_t profiled_replica;
  uint32_t first_replica, num_own_replicas; /* what the program says of its rank, or NUMBER_AUTO */
  char *trace_file; /* where debug.trace prints; "": where PrintTensor does. Owned by the options */
  /* Reports: */
  bool report_all, report_page;
  char *report_directory;            /* owned by the options */
  pop_profile_format profile_format; /* of what profiles are written to files */
  report_choice report_execution;
  uint64_t reported_runs;
} run_options;

/* Texts are owned; "" where nothing was said. */
typedef struct engine_options {
  char *save_archive;  /* target.saveArchive */
  char *variable_file; /* debug.loweredVarDumpFile */
  char *program_file;  /* debug.loweredProgsFile */
  char *graph_report;  /* "stdout", "stderr" or a path */
  report_choice report_archive, report_graph, report_variables, report_debug, report_code;
  bool report_source;           /* the code's */
  bool report_serialized_graph; /* autoReport.all does not mean it */
  bool inherits_report_all;     /* of who compiled the executable */
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
  /* Those that were given and are not what they would be anyway, in the order of the table. Values are
   * spelt in one way ("4096", not "0x1000"), and owned. */
  executable_option *given[2]; /* those of ON_COMPILE, those of ON_RUN: see options_given */
  size_t num_given[2], given_capacity[2];
} engine_options;

/* Of the stage ON_COMPILE or ON_RUN. */
const executable_option *options_given(const engine_options *options, option_stage stage,
                                       size_t *count);

/* What runs go by: the options about running that say what programs do, each with its value, in the order of the table. How the
 * host simulates, where it writes to and what has no effect are left out. Values live as long as `options`. */
size_t options_of_runs(const engine_options *options, executable_option **list);

/* Of several sources for a key the last one counts: its default, the options about running that
 * `compiled` was compiled with, the call, a variable for this option alone (some stand before the call:
 * option_table.h), POPLAR_ENGINE_OPTIONS, POPLAR_RUNTIME_OPTIONS, POPLAR_SIMULATOR_OPTIONS.
 *
 * `stages` has the stages (bits) that the call is for. An option in the call that is not for any of them:
 * one about running is kept (options_given); one about compiling must be what `compiled`, if there is one,
 * was compiled with. In the environment, which may be for several programs, it is left out.
 *
 * INVALID_OPTION: an unknown key, a value that the key does not take, a key given twice in one source, a
 * variable that is no JSON object or has a key that is not for it. */
POP_MUST_CHECK pop_error *engine_options_parse(const pop_option *options, size_t num_options,
                                               unsigned stages, const pop_executable *compiled,
                                               engine_options *parsed);
void engine_options_free(engine_options *options);

#endif
