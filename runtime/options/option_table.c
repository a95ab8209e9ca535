/* The table of engine options, and the values that they take. */
#include "options/option_table.h"

#include <errno.h>
#include <math.h>
#include <populus/arena.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum {
  MAX_STACK_BYTES = 1 << 20,
  MAX_THREADS = 1024,
  MAX_SECONDS = 1000000000,
  MAX_REPLICA = 1 << 20
};

static const char *const tile_engines[] = {[MACHINE_INTERPRETER] = "interpreter",
                                           [MACHINE_TRANSLATOR] = "translator",
                                           [MACHINE_AUTO] = "auto",
                                           NULL};
static const char *const section_styles[] = {"flat", "byCategory", NULL};
static const char *const sync_methods[] = {"default", "polling", "hybrid", NULL};
static const char *const workers_are[] = {"true", "false", "portable", NULL};
static const char *const exchange_targets[] = {"cycles", "memory", "balanced", NULL};
static const char *const multicast_policies[] = {"balanced", "always", "never", NULL};
static const char *const levels[] = {[INSTRUMENT_TILES - 1] = "tile",
                                     [INSTRUMENT_VERTICES - 1] = "vertex",
                                     [INSTRUMENT_DEVICE - 1] = "device",
                                     [INSTRUMENT_IPUS - 1] = "ipu",
                                     [INSTRUMENTATION_LEVELS - 1] = NULL};
static const char *const report_choices[] = {"autoReport.all", "true", "false", NULL};
static const char *const thread_modes[] = {"singleThread", "collaborative", "dedicated", NULL};
static const char *const profile_modes[] = {[PROFILE_NONE] = "none",
                                            [PROFILE_COMPUTE_SETS] = "compute_sets",
                                            [PROFILE_SINGLE_TILE_COMPUTE_SETS] =
                                                "single_tile_compute_sets",
                                            [PROFILE_VERTICES] = "vertices",
                                            [PROFILE_EXTERNAL_EXCHANGES] = "external_exchanges",
                                            [PROFILE_HOST_EXCHANGES] = "host_exchanges",
                                            NULL};
static const char *const automatic[] = {"auto", NULL}, *const unlimited[] = {"unlimited", NULL};
static const char *const library_cycles[] = {[LIBRARY_CYCLES_OF_CHIP] = "chip",
                                             [LIBRARY_CYCLES_OF_OURS] = "ours",
                                             [LIBRARY_CYCLES_OF_CODE] = "code",
                                             NULL};
static const char *const profile_formats[] = {"v3", NULL};
static const char *const profile_files[] = {[POP_PROFILE_JSON] = "json",
                                            [POP_PROFILE_JSON_PRETTY] = "jsonPretty",
                                            [POP_PROFILE_CBOR] = "cbor",
                                            NULL};
static const char *const prefetch_choices[] = {"auto", "true", "false", NULL};
static const char *const buffer_overlaps[] = {"none", "hostRearrangeOnly", "any", NULL};

#define FIELD(name)                                                                                \
  .field_offset = offsetof(engine_options, name),                                                  \
  .field_bytes = sizeof(((const engine_options *)NULL)->name)
#define REPORT_VALUES "true, false or autoReport.all"
#define REPORT(name) OPTION_CHOICE, FIELD(name), .choices = report_choices
#define STACK .or_zero = true, .least = 64, .greatest = MAX_STACK_BYTES, .multiple = 16

/* X(key, values, default, effect, stages, kind, what else option_entry has) */
#define ENGINE_OPTIONS(X)                                                                          \
  X("target.saveArchive", "a path", "",                                                            \
    "writes the archive of tile images when the graph is compiled", ON_SAVE, OPTION_TEXT,          \
    FIELD(save_archive))                                                                           \
  X("target.executableCachePath", "a path", "",                                                    \
    "keeps what is compiled, for tiles and for the host, in this folder and takes it from there "  \
    "the next time; without it, the environment's POPLAR_EXECUTABLE_CACHE_DIR says where",         \
    ON_SAVE | ON_RUN, OPTION_TEXT, FIELD(cache_folder), .variable = "POPLAR_EXECUTABLE_CACHE_DIR") \
  X("target.executableCacheMaxBytes", "a number of bytes, 0 for no limit", "10737418240",          \
    "when executables and native code in the folder are larger together, the least recently "      \
    "used are removed",                                                                            \
    ON_SAVE | ON_RUN, OPTION_NUMBER, FIELD(cache_max_bytes), .greatest = UINT64_MAX)               \
  X("target.allowHostCode", "true or false", "true",                                               \
    "false: a graph cannot be compiled for the CPU, where codelets are code of the host in "       \
    "this process",                                                                                \
    ON_COMPILE, OPTION_BOOL, FIELD(allow_host_code))                                               \
  X("target.archiveSections", "flat or byCategory", "flat",                                        \
    "flat: an image has one section .text; byCategory: it has sections that say what memory "      \
    "is used for, for size -A",                                                                    \
    ON_COMPILE, OPTION_CHOICE, FIELD(sections), .choices = section_styles)                         \
  X("target.tileEngine", "interpreter, translator or auto", "auto",                                \
    "what executes tile code: translator compiles it for the host before it runs; auto does "      \
    "so while the interpreter runs. Results and cycles are the same. The environment's "           \
    "POPULUS_TILE_ENGINE wins over the call",                                                      \
    ON_RUN, OPTION_CHOICE, FIELD(run.machine.engine), .choices = tile_engines, .simulator = true,  \
    .variable = "POPULUS_TILE_ENGINE", .variable_wins = true)                                      \
  X("target.tileEngineThreads",                                                                    \
    "a number of threads up to 1024, 0 for as many as there are cores", "0",                       \
    "threads of the host that tiles run on; results and cycles are the same for any number. The "  \
    "environment's POPULUS_TILE_THREADS wins over the call",                                       \
    ON_RUN, OPTION_NUMBER, FIELD(run.machine.num_threads), .greatest = MAX_THREADS,                \
    .simulator = true, .variable = "POPULUS_TILE_THREADS", .variable_wins = true)                  \
  X("target.hostSyncTimeout", "seconds, 0 for no limit", "300",                                    \
    "a run ends with an error when a callback of a stream has taken longer (the error names "      \
    "the stream), or when a program on the CPU loops longer without a host sync. For tiles: "      \
    "debug.maxCyclesPerRun",                                                                       \
    ON_RUN, OPTION_SECONDS, FIELD(run.host_sync_timeout), .greatest = MAX_SECONDS)                 \
  X("target.maxHostMemory", "a number of bytes, 0 for no limit", "0",                              \
    "loading is an error if the engine needs more of the host's memory for tiles (on the "         \
    "CPU: the graph), remote buffers and buffers of streams; the error says how much",             \
    ON_RUN, OPTION_NUMBER, FIELD(run.max_host_memory), .greatest = UINT64_MAX)                     \
  X("target.syncMethod", "default, polling or hybrid", "default",                                  \
    "none: the tiles run in the host program's process, which has nothing to wait for", ON_RUN,    \
    OPTION_CHOICE, .choices = sync_methods)                                                        \
  X("target.syncPollPeriodUs", "a number of microseconds", "0", "none: nothing is polled", ON_RUN, \
    OPTION_NUMBER, .greatest = UINT32_MAX)                                                         \
  X("target.exceptionPollPeriodUs", "a number of microseconds", "250000",                          \
    "none: a fault of the device ends the run in the cycle in which it happens", ON_RUN,           \
    OPTION_NUMBER, .greatest = UINT32_MAX)                                                         \
  X("target.deterministicWorkers", "true, false or portable", "true",                              \
    "none: which worker runs which vertex is always determined by the graph alone", ON_COMPILE,    \
    OPTION_CHOICE, .choices = workers_are)                                                         \
  X("target.syncReplicasIndependently", "true or false", "false",                                  \
    "none: the host answers all replicas' host syncs as they come; the data are the same",         \
    ON_COMPILE, OPTION_BOOL)                                                                       \
  X("target.firstRuntimeReplica", "a number, or auto", "auto",                                     \
    "the first replica of the graph that this process has. Another number than poprun has "        \
    "given it is an error; auto: as poprun says",                                                  \
    ON_RUN, OPTION_NUMBER, FIELD(run.first_replica), .greatest = MAX_REPLICA,                      \
    .choices = automatic, .word_value = NUMBER_AUTO)                                               \
  X("target.numberRuntimeReplica", "a number, or auto", "auto",                                    \
    "how many replicas of the graph this process has; otherwise the same", ON_RUN, OPTION_NUMBER,  \
    FIELD(run.num_own_replicas), .least = 1, .greatest = MAX_REPLICA, .choices = automatic,        \
    .word_value = NUMBER_AUTO)                                                                     \
  X("target.extendedMemory", "true or false", "false",                                             \
    "none: remote buffers are in the host's memory, and may take all of it", ON_RUN, OPTION_BOOL)  \
  X("target.gatewayMode", "true or false", "true",                                                 \
    "none: there is no gateway between host and tiles", ON_RUN, OPTION_BOOL)                       \
  X("debug.allowOutOfMemory", "true or false", "false",                                            \
    "images and reports are made although tiles are too small, and only loading is refused. "      \
    "On an IPU Model the program runs in any case, in memory that an IPU does not have",           \
    ON_COMPILE, OPTION_BOOL, FIELD(allow_out_of_memory))                                           \
  X("debug.keepDuplicateCode", "true or false", "false",                                           \
    "links every copy of equal functions, constants and strings, instead of one of each",          \
    ON_COMPILE, OPTION_BOOL, FIELD(keep_duplicate_code))                                           \
  X("debug.outputAllSymbols", "true or false", "true",                                             \
    "false: images have symbols of functions and data of codelets only, not of vertices, "         \
    "variables and what the compiler adds",                                                        \
    ON_COMPILE, OPTION_BOOL, FIELD(output_all_symbols))                                            \
  X("debug.retainDebugInformation", "true or false", "true",                                       \
    "false: debug information of codelets is dropped. Faults then name no source lines, and "      \
    "archives are smaller",                                                                        \
    ON_COMPILE, OPTION_BOOL, FIELD(retain_debug_information))                                      \
  X("debug.verify", "true or false", "false",                                                      \
    "checks the result of each pass of the compiler (blocks, live ranges, addresses, "             \
    "exchange plans), and the metadata at the end",                                                \
    ON_SAVE, OPTION_BOOL, FIELD(verify))                                                           \
  X("debug.runtimeVerify", "true or false", "false",                                               \
    "checks that the tensors of pop_program_assume_equal_across_replicas are equal in all "        \
    "replicas. Exchanges, addresses and accesses are always checked while tiles run",              \
    ON_COMPILE, OPTION_BOOL, FIELD(runtime_verify))                                                \
  X("debug.logStackSizeAnalysis", "true or false", "false",                                        \
    "logs at level INFO how much stack each vertex type needs, when the graph is compiled",        \
    ON_SAVE, OPTION_BOOL, FIELD(log_stack_sizes))                                                  \
  X("debug.trace", "true or false", "false",                                                       \
    "prints what each compute set and copy reads, before it, and what it has written, after "      \
    "it, as PrintTensor does",                                                                     \
    ON_COMPILE, OPTION_BOOL, FIELD(trace))                                                         \
  X("debug.traceFile", "a path", "",                                                               \
    "where debug.trace prints, instead of where PrintTensor does", ON_RUN, OPTION_TEXT,            \
    FIELD(run.trace_file))                                                                         \
  X("debug.loweredVarDumpFile", "a path", "",                                                      \
    "writes the contents of each tile's memory as JSON: names, categories, types, addresses, "     \
    "sizes",                                                                                       \
    ON_SAVE, OPTION_TEXT, FIELD(variable_file))                                                    \
  X("debug.loweredProgsFile", "a path", "",                                                        \
    "writes the programs as the tiles run them, as text: a line for each step, indented", ON_SAVE, \
    OPTION_TEXT, FIELD(program_file))                                                              \
  X("debug.graphReportDestination", "stdout, stderr or a path", "",                                \
    "prints the summary of the graph profile when the graph is compiled; without it, the "         \
    "environment's "                                                                               \
    "POPLAR_GRAPH_REPORT_DEST says where",                                                         \
    ON_SAVE, OPTION_TEXT, FIELD(graph_report), .variable = "POPLAR_GRAPH_REPORT_DEST")             \
  X("debug.workerStackSizeInBytes", "0 or a multiple of 16 from 64 to 1048576", "0",               \
    "the least size of each worker's stack; 0: what the compiled code needs, or 2048 if that "     \
    "is unknown",                                                                                  \
    ON_COMPILE, OPTION_NUMBER, FIELD(worker_stack_bytes), STACK)                                   \
  X("debug.supervisorStackSizeInBytes", "0 or a multiple of 16 from 64 to 1048576", "0",           \
    "the least size of the stack of a tile's supervisor; 0: what the compiled code needs",         \
    ON_COMPILE, OPTION_NUMBER, FIELD(supervisor_stack_bytes), STACK)                               \
  X("debug.maxCyclesPerRun", "a number of cycles, 0 for no limit", "1000000000000",                \
    "ends a run in which a tile takes longer, with a fault that names the vertex. The "            \
    "estimate of a vertex counts with at most 2^31 cycles a call",                                 \
    ON_RUN, OPTION_NUMBER, FIELD(run.machine.max_cycles_per_run), .greatest = UINT64_MAX,          \
    .simulator = true)                                                                             \
  X("debug.strictLoads", "true or false", "false",                                                 \
    "a load from tile memory that holds nothing is a fault, which says what variable lies in "     \
    "front of it. Otherwise such a load gives zeros, as programs for the chip expect that "        \
    "read past the end of a vector. The environment's POPULUS_STRICT_LOADS wins over the call",    \
    ON_RUN, OPTION_BOOL, FIELD(run.strict_loads), .simulator = true,                               \
    .variable = "POPULUS_STRICT_LOADS", .variable_wins = true)                                     \
  X("exchange.enablePrefetch", "auto, true or false", "auto",                                      \
    "asks the callbacks of host-to-device streams for the next data as soon as there is "          \
    "room; auto: true unless exchange.streamBufferOverlap is any",                                 \
    ON_RUN, OPTION_CHOICE, FIELD(run.prefetch), .choices = prefetch_choices)                       \
  X("exchange.streamBufferOverlap", "none, hostRearrangeOnly or any", "any",                       \
    "which streams may share a buffer. Here each stream has its own, so this only decides "        \
    "what auto of exchange.enablePrefetch means",                                                  \
    ON_RUN, OPTION_CHOICE, FIELD(run.buffer_overlap), .choices = buffer_overlaps)                  \
  X("exchange.multicastPolicy", "balanced, always or never", "balanced",                           \
    "whether a message for several tiles is sent once to all, or once to each; balanced: "         \
    "whichever costs less, by opt.internalExchangeOptimisationTarget",                             \
    ON_COMPILE, OPTION_CHOICE, FIELD(multicast_policy), .choices = multicast_policies)             \
  X("opt.internalExchangeOptimisationTarget", "cycles, memory or balanced", "cycles",              \
    "what exchange plans save. Small messages for a few tiles are sent to each of them: "          \
    "where that is faster (cycles), for two tiles at most (balanced), or never (memory)",          \
    ON_COMPILE, OPTION_CHOICE, FIELD(exchange_target), .choices = exchange_targets)                \
  X("streamCallbacks.multiThreadMode", "singleThread, collaborative or dedicated", "singleThread", \
    "where callbacks of streams run: on the thread of the run, on it and on others, or on "        \
    "others only. In the latter two, callbacks with different contexts may run at the same "       \
    "time",                                                                                        \
    ON_RUN, OPTION_CHOICE, FIELD(run.callback_mode), .choices = thread_modes)                      \
  X("streamCallbacks.numWorkerThreads", "a number of threads up to 1024, or auto", "0",            \
    "how many such threads there are; 0: all callbacks run on the thread of the run; auto: as "    \
    "many as there are cores",                                                                     \
    ON_RUN, OPTION_NUMBER, FIELD(run.num_callback_threads), .greatest = MAX_THREADS,               \
    .choices = automatic, .word_value = NUMBER_AUTO)                                               \
  X("streamCallbacks.numaAware", "true or false", "false",                                         \
    "none: the host's scheduler says where threads run", ON_RUN, OPTION_BOOL)                      \
  X("streamCallbacks.maxLookahead", "a number of copies, or unlimited", "unlimited",               \
    "with exchange.enablePrefetch: how many copies of a stream may be prefetched, unless the "     \
    "stream's option bufferingDepth allows fewer",                                                 \
    ON_RUN, OPTION_NUMBER, FIELD(run.max_lookahead), .least = 1, .greatest = UINT32_MAX,           \
    .choices = unlimited)                                                                          \
  X("opt.useAutoloader", "true or false", "true",                                                  \
    "none: images are put into tile memory directly, without a loader on the tiles", ON_RUN,       \
    OPTION_BOOL)                                                                                   \
  X("opt.enableMultiAccessCopies", "true or false", "true",                                        \
    "none: no tile instruction makes several accesses at once that copies could use", ON_COMPILE,  \
    OPTION_BOOL)                                                                                   \
  X("opt.maxComputeSetsPerLoweredCopy", "a number, at least 1", "1",                               \
    "none: all that a copy moves within tiles is one compute set", ON_COMPILE, OPTION_NUMBER,      \
    .least = 1, .greatest = UINT32_MAX)                                                            \
  X("opt.enableSkipSyncs", "true or false", "false",                                               \
    "none: a tile that has no part in a step waits in its sync; if it skipped that one, it "       \
    "would wait in the next",                                                                      \
    ON_COMPILE, OPTION_BOOL)                                                                       \
  X("opt.maxCompilationThreads",                                                                   \
    "a number of threads up to 1024, 0 for as many as there are cores", "0",                       \
    "threads that make and write tile images; the bytes are the same for any number of "           \
    "threads",                                                                                     \
    ON_SAVE, OPTION_NUMBER, FIELD(num_threads), .greatest = MAX_THREADS)                           \
  X("debug.floatPointOpException", "true or false", "false",                                       \
    "division by zero, overflow and invalid operations of vertices on workers are faults, until "  \
    "programs say otherwise (populus/registers.h); tiles only",                                    \
    ON_RUN, OPTION_BOOL, FIELD(run.float_exceptions))                                              \
  X("debug.nanOverflowMode", "true or false", "false",                                             \
    "a half that is too large becomes NaN instead of infinity, in the same way; tiles only",       \
    ON_RUN, OPTION_BOOL, FIELD(run.nan_on_overflow))                                               \
  X("prng.enableStochasticRounding", "true or false", "false",                                     \
    "results in half are rounded up or down at random, in the same way; tiles only", ON_RUN,       \
    OPTION_BOOL, FIELD(run.stochastic_rounding))                                                   \
  X("prng.seed", "a number", "0",                                                                  \
    "the seed of each worker's random numbers when the program is loaded, the same in each "       \
    "replica; 0: made of the numbers of tile and worker. Tiles only",                              \
    ON_RUN, OPTION_NUMBER, FIELD(run.machine.random_seed), .greatest = UINT64_MAX)                 \
  X("debug.instrument", "true or false", "false",                                                  \
    "all of debug.instrumentCompute, debug.instrumentControlFlow and "                             \
    "debug.instrumentExternalExchange. Each adds code to the tiles, and memory for its "           \
    "measurements",                                                                                \
    ON_COMPILE, OPTION_BOOL, FIELD(instrument))                                                    \
  X("debug.instrumentCompute", "true or false", "false",                                           \
    "the execution profile has the cycles of each compute set's last execution", ON_COMPILE,       \
    OPTION_BOOL, FIELD(instrument_compute))                                                        \
  X("debug.instrumentControlFlow", "true or false", "false",                                       \
    "the execution profile has the branches that programs took. It has them also with "            \
    "debug.instrumentCompute, and on an IPU Model",                                                \
    ON_COMPILE, OPTION_BOOL, FIELD(instrument_control_flow))                                       \
  X("debug.instrumentExternalExchange", "true or false", "false",                                  \
    "the execution profile has the cycles of the last execution of each exchange between IPUs or " \
    "with the host",                                                                               \
    ON_COMPILE, OPTION_BOOL, FIELD(instrument_external_exchange))                                  \
  X("debug.executionProfile",                                                                      \
    "none, compute_sets, single_tile_compute_sets, vertices, external_exchanges or "               \
    "host_exchanges",                                                                              \
    "none",                                                                                        \
    "an older form: the first three stand for debug.instrumentCompute with the level tile, "       \
    "device and vertex, the last two for debug.instrumentExternalExchange",                        \
    ON_COMPILE, OPTION_CHOICE, FIELD(execution_profile), .choices = profile_modes)                 \
  X("debug.computeInstrumentationLevel", "tile, vertex, device or ipu", "tile",                    \
    "what is measured: the cycles of each tile, of each vertex, of the slowest tile, or of "       \
    "the slowest tile of each IPU. The last two add syncs around compute sets",                    \
    ON_COMPILE, OPTION_CHOICE, FIELD(instrumentation_level), .choices = levels)                    \
  X("autoReport.all", "true or false", "false",                                                    \
    "all reports but the page and the serialized graph, which must be asked for by name",          \
    ON_SAVE | ON_RUN, OPTION_BOOL, FIELD(run.report_all))                                          \
  X("autoReport.directory", "a path", ".",                                                         \
    "the folder of the reports, which is created if it does not exist", ON_SAVE | ON_RUN,          \
    OPTION_TEXT, FIELD(run.report_directory))                                                      \
  X("autoReport.outputArchive", REPORT_VALUES, "autoReport.all", "archive.a: the tile images",     \
    ON_SAVE, REPORT(report_archive))                                                               \
  X("autoReport.profileFormat", "json, jsonPretty or cbor", "json",                                \
    "the format of profiles; files of CBOR have the extension .cbor", ON_SAVE | ON_RUN,            \
    OPTION_CHOICE, FIELD(run.profile_format), .choices = profile_files)                            \
  X("autoReport.outputGraphProfile", REPORT_VALUES, "autoReport.all",                              \
    "graph.json: the graph profile; graph.txt: its summary; profile.pop: a report that "           \
    "pva::openReport reads",                                                                       \
    ON_SAVE | ON_RUN, REPORT(report_graph))                                                        \
  X("autoReport.outputLoweredVars", REPORT_VALUES, "autoReport.all",                               \
    "vars.json: the file of debug.loweredVarDumpFile", ON_SAVE, REPORT(report_variables))          \
  X("autoReport.outputDebugInfo", REPORT_VALUES, "autoReport.all",                                 \
    "debug.json: programs, compute sets and variables of the executable, and its options",         \
    ON_SAVE, REPORT(report_debug))                                                                 \
  X("autoReport.outputCode", REPORT_VALUES, "autoReport.all",                                      \
    "code.json: the instructions of codelets and, if they are compiled with -g, the lines of "     \
    "their sources, as pop_executable_write_code writes it",                                       \
    ON_SAVE, REPORT(report_code))                                                                  \
  X("autoReport.includeSources", "true or false", "true",                                          \
    "code.json, and pages made from it, have the text of the source lines", ON_SAVE, OPTION_BOOL,  \
    FIELD(report_source))                                                                          \
  X("autoReport.outputExecutionProfile", REPORT_VALUES, "autoReport.all",                          \
    "what debug.instrument… has measured, after each run: execution.json, execution.txt "          \
    "(the summary), execution_trace.json (for Perfetto), execution_stacks.folded (for flame "      \
    "graphs), profile.pop (a report with both profiles)",                                          \
    ON_RUN, REPORT(run.report_execution))                                                          \
  X("autoReport.executionProfileProgramRunCount", "a number of runs", "2",                         \
    "after each of this many runs the execution profile is written, and not after later ones",     \
    ON_RUN, OPTION_NUMBER, FIELD(run.reported_runs), .greatest = UINT64_MAX)                       \
  X("autoReport.outputViewer", "true or false", "false",                                           \
    "report.html: a page of the other reports. The reports that it shows are written, too, "       \
    "unless they are set to false",                                                                \
    ON_SAVE | ON_RUN, OPTION_BOOL, FIELD(run.report_page))                                         \
  X("autoReport.outputSerializedGraph", "true or false", "false",                                  \
    "serialized_graph.json: the graph, as pop_graph_serialize writes it", ON_SAVE, OPTION_BOOL,    \
    FIELD(report_serialized_graph))                                                                \
  X("profiler.format", "v3", "v3", "the format of a profile's files: there is only one",           \
    ON_COMPILE, OPTION_CHOICE, .choices = profile_formats)                                         \
  X("profiler.includeFlopEstimates", "true or false", "false",                                     \
    "the graph profile has flopEstimates: the estimated floating-point operations of vertices",    \
    ON_COMPILE, OPTION_BOOL)                                                                       \
  X("profiler.includeCycleEstimates", "true or false", "false",                                    \
    "the graph profile has cycleEstimates even if the target is not an IPU_MODEL", ON_COMPILE,     \
    OPTION_BOOL)                                                                                   \
  X("profiler.libraryCycleEstimates", "chip, ours or code", "chip",                                \
    "the estimated cycles of library vertices, which an IPU_MODEL takes for them. chip: by "       \
    "the formulae that the chip's libraries were published with, where there is one, else "        \
    "ours; ours: what our code takes, within 10 %; code: no estimate, so an IPU_MODEL "            \
    "measures the code while it runs",                                                             \
    ON_COMPILE, OPTION_CHOICE, FIELD(library_cycles), .choices = library_cycles)                   \
  X("profiler.replicaToProfile", "a number", "0", "the replica that the execution profile is of",  \
    ON_RUN, OPTION_NUMBER, FIELD(run.profiled_replica), .greatest = UINT32_MAX)                    \
  X("debug.branchRecordFlush", "true or false", "true",                                            \
    "none: tiles record branches only if profiles need that, and always pass a full record "       \
    "to the host",                                                                                 \
    ON_COMPILE, OPTION_BOOL)                                                                       \
  X("profiler.blocks.filter", "an extended regular expression, empty for none", "",                \
    "the blocks of programs (pop_program_block) that are timed, by their names", ON_COMPILE,       \
    OPTION_TEXT, FIELD(block_filter))                                                              \
  X("profiler.programs.filter", "an extended regular expression, empty for none", "",              \
    "the programs that are made blocks and timed, by their names", ON_COMPILE, OPTION_TEXT,        \
    FIELD(block_programs))                                                                         \
  X("profiler.blocks.tile", "a tile's number, or several with commas between them", "0",           \
    "the tiles of each IPU that time blocks. A stream copy in which none of them takes part "      \
    "is timed by the first tile that does",                                                        \
    ON_COMPILE, OPTION_TEXT, FIELD(block_tiles))                                                   \
  X("profiler.blocks.bufferSize", "a number of bytes, 64 to 65536", "1000",                        \
    "the size of the buffer of each such tile. The beginning of a block takes 8 bytes, and "       \
    "its end 8",                                                                                   \
    ON_COMPILE, OPTION_NUMBER, FIELD(block_buffer_bytes), .least = 64, .greatest = 65536)          \
  X("profiler.blocks.implicitFlush", "true or false", "true",                                      \
    "true: the compiler adds syncs with the host where buffers might overflow; false: they "       \
    "are emptied only where tiles sync with the host anyway, and may overflow",                    \
    ON_COMPILE, OPTION_BOOL, FIELD(block_implicit_flush))

static const pop_option_info infos[] = {
#define OPTION_INFO(key, values, preset, effect, ...) {key, values, preset, effect},
    ENGINE_OPTIONS(OPTION_INFO)
#undef OPTION_INFO
};

static const option_entry entries[] = {
#define OPTION_ENTRY(name, words, preset, what, when, ...)                                         \
  {.info = {name, words, preset, what}, .stages = (when), .kind = __VA_ARGS__},
    ENGINE_OPTIONS(OPTION_ENTRY)
#undef OPTION_ENTRY
};

enum { NUM_ENTRIES = sizeof entries / sizeof *entries };

const pop_option_info *pop_engine_option_table(size_t *count)
{
  size_t ignored;
  if (!count) count = &ignored;
  *count = NUM_ENTRIES;
  return infos;
}

const option_entry *option_table(size_t *count)
{
  *count = NUM_ENTRIES;
  return entries;
}

/* ---- values ---- */

static pop_error *invalid_value(const option_entry *entry, const char *value)
{
  return pop_error_new(POP_ERROR_INVALID_OPTION, "option '%s' cannot be '%s': it takes %s",
                       entry->info.key, value, entry->info.values);
}

/* A parsed value; the member depends on the kind. */
typedef struct option_value {
  bool yes;
  uint64_t number;
  double seconds;
} option_value;

static pop_error *read_bool(const option_entry *entry, const char *text, option_value *value)
{
  value->yes = strcmp(text, "true") == 0;
  return value->yes || strcmp(text, "false") == 0 ? NULL : invalid_value(entry, text);
}

static bool is_word(const option_entry *entry, const char *text)
{
  return entry->choices && strcmp(text, entry->choices[0]) == 0;
}

static pop_error *read_number(const option_entry *entry, const char *text, option_value *value)
{
  if (is_word(entry, text)) {
    value->number = entry->word_value;
    return NULL;
  }
  if (*text < '0' || *text > '9') return invalid_value(entry, text);
  bool is_hexadecimal = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
  char *end;
  errno = 0;
  uint64_t number = value->number = strtoull(text, &end, is_hexadecimal ? 16 : 10);
  bool fits = number <= entry->greatest &&
              (number >= entry->least || (number == 0 && entry->or_zero)) &&
              (!entry->multiple || number % entry->multiple == 0);
  return errno || *end || !fits ? invalid_value(entry, text) : NULL;
}

/* In decimal notation, whatever the program's locale: values from JSON always are. */
static pop_error *read_seconds(const option_entry *entry, const char *text, option_value *value)
{
  double scale = 1;
  bool digits = false, point = false;
  for (const char *p = text; *p; p++) {
    if (*p == '.' && !point) {
      point = true;
      continue;
    }
    if (*p < '0' || *p > '9') return invalid_value(entry, text);
    digits = true;
    value->seconds = value->seconds * 10 + (*p - '0');
    if (point) scale *= 10;
  }
  value->seconds /= scale;
  return digits && isfinite(value->seconds) && value->seconds <= (double)entry->greatest
             ? NULL
             : invalid_value(entry, text);
}

static pop_error *read_choice(const option_entry *entry, const char *text, option_value *value)
{
  for (size_t i = 0; entry->choices[i]; i++)
    if (strcmp(text, entry->choices[i]) == 0) {
      value->number = i;
      return NULL;
    }
  return invalid_value(entry, text);
}

static pop_error *read_value(const option_entry *entry, const char *text, option_value *value)
{
  switch (entry->kind) {
  case OPTION_BOOL:
    return read_bool(entry, text, value);
  case OPTION_NUMBER:
    return read_number(entry, text, value);
  case OPTION_SECONDS:
    return read_seconds(entry, text, value);
  case OPTION_CHOICE:
    return read_choice(entry, text, value);
  case OPTION_TEXT:
    break;
  }
  return NULL;
}

static char *spell(const option_entry *entry, const char *text, const option_value *value)
{
  if (entry->kind == OPTION_NUMBER && !is_word(entry, text))
    return pop_xasprintf("%llu", (unsigned long long)value->number);
  return pop_xstrdup(text);
}

static void store(const option_entry *entry, const char *text, const option_value *value,
                  engine_options *options)
{
  void *field = (char *)options + entry->field_offset;
  uint32_t narrow = (uint32_t)value->number;
  switch (entry->kind) {
  case OPTION_BOOL:
    memcpy(field, &value->yes, sizeof value->yes);
    return;
  case OPTION_SECONDS:
    memcpy(field, &value->seconds, sizeof value->seconds);
    return;
  case OPTION_CHOICE:
  case OPTION_NUMBER:
    if (entry->field_bytes == sizeof narrow)
      memcpy(field, &narrow, sizeof narrow);
    else
      memcpy(field, &value->number, sizeof value->number);
    return;
  case OPTION_TEXT:
    free(*(char **)field);
    *(char **)field = pop_xstrdup(text);
    return;
  }
}

pop_error *option_set(const option_entry *entry, const char *text, engine_options *options,
                      char **spelt)
{
  option_value value = {0};
  POP_TRY(read_value(entry, text, &value));
  if (options && entry->field_bytes) store(entry, text, &value, options);
  if (spelt) *spelt = spell(entry, text, &value);
  return NULL;
}

void engine_options_free(engine_options *options)
{
  for (size_t i = 0; i < NUM_ENTRIES; ++i)
    if (entries[i].kind == OPTION_TEXT && entries[i].field_bytes)
      free(*(char **)(void *)((char *)options + entries[i].field_offset));
  for (int i = 0; i < 2; i++) {
    for (size_t j = 0; j < options->num_given[i]; ++j) free((char *)options->given[i][j].value);
    free(options->given[i]);
  }
  *options = (engine_options){0};
}
