/* Profiles: what a compiled graph takes and what runs have cost, as values that a program walks through,
 * writes as JSON or CBOR, or prints as a summary.
 *
 * A profile is a value: a map, a vector, or an int, a double, a string, a bool. Keys and meanings are those of
 * the user guide's chapter "Profiling". A pop_profile owns its values; a pop_profile_value is a view
 * of one of them, to be passed by value, and lives as long as the profile. No call changes a profile,
 * so that several threads may read one.
 *
 *   pop_profile *profile;
 *   error = pop_engine_graph_profile(engine, &profile);
 *   pop_profile_value total = pop_profile_find(pop_profile_root(profile), "memory.byTile.total");
 *   for (size_t tile = 0; tile < pop_profile_count(total); ++tile)
 *     use(pop_profile_as_int(pop_profile_at(total, tile)));
 */
#ifndef POPULUS_PROFILE_H
#define POPULUS_PROFILE_H

#include <populus/engine.h>
#include <populus/executable.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- values ---- */

typedef enum pop_profile_kind {
  POP_PROFILE_NONE, /* there is no such value */
  POP_PROFILE_BOOL,
  POP_PROFILE_INT,
  POP_PROFILE_DOUBLE,
  POP_PROFILE_STRING,
  POP_PROFILE_VECTOR,
  POP_PROFILE_MAP
} pop_profile_kind;

typedef struct pop_profile pop_profile;

typedef struct pop_profile_value {
  const struct pop_profile_node *node; /* NULL: NONE */
  size_t item;                         /* for the library */
} pop_profile_value;

pop_profile_value pop_profile_root(const pop_profile *profile);
void pop_profile_free(pop_profile *profile); /* NULL is fine */

pop_profile_kind pop_profile_kind_of(pop_profile_value value);
/* Entries of a map or items of a vector; 0 for others. */
size_t pop_profile_count(pop_profile_value value);
/* Entry or item number `index`, in the order in which they are written; NONE if there is none. */
pop_profile_value pop_profile_at(pop_profile_value value, size_t index);
/* The key of a map's entry; NULL if there is none. */
const char *pop_profile_key(pop_profile_value map, size_t index);
/* The entry with that key; NONE if there is none, or `map` is no map. */
pop_profile_value pop_profile_get(pop_profile_value map, const char *key);
/* The same by keys with dots between them, from map to map. */
pop_profile_value pop_profile_find(pop_profile_value map, const char *path);

/* An int; a double without its fraction, at the nearest end if it has no room; of a bool 0 or 1; 0 for others. */
int64_t pop_profile_as_int(pop_profile_value value);
double pop_profile_as_double(pop_profile_value value);      /* an int or a double; 0 for others */
const char *pop_profile_as_string(pop_profile_value value); /* NULL for what is no string */
bool pop_profile_as_bool(
    pop_profile_value value); /* whether it is a bool that is true, or an int but 0 */

/* ---- writing ---- */

typedef enum pop_profile_format {
  POP_PROFILE_JSON,        /* dense: no spaces, one line */
  POP_PROFILE_JSON_PRETTY, /* a line for each entry; numbers of a vector on one */
  POP_PROFILE_CBOR         /* RFC 8949; maps and vectors of indefinite length */
} pop_profile_format;

/* Bytes of strings that are no UTF-8 become U+FFFD; doubles that are no numbers become null in JSON.
 * SYSTEM if the stream cannot be written. */
POP_MUST_CHECK pop_error *pop_profile_write(pop_profile_value value, pop_profile_format format,
                                            FILE *stream);

/* What pop_profile_write has written as CBOR, as values, the caller's to free. A file is read whole. FILE_LOAD for what is
 * no such file, with the place where it is not. */
POP_MUST_CHECK pop_error *pop_profile_read(const char *path, pop_profile **profile);
/* The same of `size` bytes, which need not live on. */
POP_MUST_CHECK pop_error *pop_profile_read_memory(const void *bytes, size_t size,
                                                  pop_profile **profile);

/* ---- the graph profile ----
 *
 * What the compiled graph takes, known before anything runs: memory by tile, category, compute set and vertex
 * type, liveness, exchanges, the programs. Every number is of the tile images. Of a replicated graph it
 * is one replica's. */

/* As values, the caller's to free. Errors: INVALID_ARGUMENT for the CPU, which has no tiles; FILE_LOAD if the
 * executable is an archive that holds no profile any more, or a damaged one. */
POP_MUST_CHECK pop_error *pop_engine_graph_profile(const pop_engine *engine, pop_profile **profile);
POP_MUST_CHECK pop_error *pop_executable_graph_profile(const pop_executable *executable,
                                                       pop_profile **profile);
/* Straight to a stream, without the values. */
POP_MUST_CHECK pop_error *pop_engine_write_graph_profile(const pop_engine *engine,
                                                         pop_profile_format format, FILE *stream);
POP_MUST_CHECK pop_error *pop_executable_write_graph_profile(const pop_executable *executable,
                                                             pop_profile_format format,
                                                             FILE *stream);

/* The code of its vertices, as JSON, from the images of the first tiles that have them:
 *
 *   functions: [{name, tile, address, bytes, instructions: [text…], cycles: [of each, when it is executed],
 *                lines: [how many instructions, file or -1, line, …], calls: [instruction, function, …]}…]
 *   vertexTypes: [{name, tile, function}…]       without `function` if the images have lost their symbols
 *   files: [{name, parts: [[number of the first line, line…]…] or missing: "why"}…]
 *
 * Functions are those that vertices begin with and what these refer to. Lines are known of codelets that are compiled with -g; with
 * `with_source` the text of these lines, and of some around them, is read from the sources as they are now: no more than 2 MiB. Of more than
 * 262,144 instructions, or 16,384 of a function, the rest is left out. Errors: INVALID_ARGUMENT for the CPU; FILE_LOAD for a
 * damaged archive. */
POP_MUST_CHECK pop_error *pop_executable_write_code(const pop_executable *executable,
                                                    bool with_source, FILE *stream);

/* The guide's summary of a graph profile: target, graph, memory by region, data type and vertex type, a histogram of
 * tiles, and if tiles are out of memory what fills the five fullest. Options, each "true" or "false": colours (by
 * default where the stream is a terminal that has them; CLICOLOR=0 in the environment turns them off
 * and CLICOLOR_FORCE=1 on, whatever the option says), showVarStorage, showOptimizations,
 * showExchangeInstructionBreakdown, showPerIpuMemoryUsage; showExecutionSteps is for the execution.
 * INVALID_OPTION for others; INVALID_ARGUMENT if the value is no graph profile. */
POP_MUST_CHECK pop_error *pop_profile_print_graph_summary(pop_profile_value graph_profile,
                                                          const pop_option *options,
                                                          size_t num_options, FILE *stream);
/* The execution half, of the values of an execution profile and of its graph's: as pop_engine_print_execution_summary; option
 * showExecutionSteps. INVALID_ARGUMENT if they are no such values. */
POP_MUST_CHECK pop_error *pop_profile_print_execution_summary(pop_profile_value graph_profile,
                                                              pop_profile_value execution_profile,
                                                              const pop_option *options,
                                                              size_t num_options, FILE *stream);
/* Both; the graph's alone if the execution profile is no value ({0}). */
POP_MUST_CHECK pop_error *pop_profile_print_summary(pop_profile_value graph_profile,
                                                    pop_profile_value execution_profile,
                                                    const pop_option *options, size_t num_options,
                                                    FILE *stream);
/* The graph's summary, and behind it that of the execution if the engine measures one. */
POP_MUST_CHECK pop_error *pop_engine_print_profile_summary(const pop_engine *engine,
                                                           const pop_option *options,
                                                           size_t num_options, FILE *stream);

/* ---- what runs have cost ----
 *
 * The engine options debug.instrument… put code into the tiles that counts cycles; after each run the engine
 * reads what the tiles of the replica profiler.replicaToProfile have counted. A profile is about the runs since
 * load, or since it was reset; its numbers are those of the last execution of each compute set, vertex or
 * exchange. Besides the guide's keys there are `runs` (program, name, runName if the run was given one, cycles of the device, instructions,
 * supersteps; of one that ended in an error `fault`: its message, cycle and superstep, of a device fault also kind and tile, and computeSet if it was in a
 * vertex. The trace ends in the fault's step, which has the tile's cycles up to there: faultedTile, faultedTileCycles), `runParameters` (the engine options about running that they went by), of the simulation `runs` (cyclesFrom, cyclesTo, firstStep, numSteps of each), cyclesFrom and cyclesTo of syncs, and
 * stream copies as StreamCopyBegin, StreamCopy and StreamCopyEnd (tiles wait for all others, move data, wait until all have),
 * SyncAns (tiles that have acknowledged so many `syncs` in advance, because they have no part in them, wait until the last has
 * happened: activeTiles, cycles of the one that waits longest, and `syncAns`, its number in `costs.syncAns`, which has the tiles),
 * `costs`: for each compute set and exchange the tiles that took part (ranges: first, how many) and the cycles of each, and
 * where vertices are measured or estimated, for each compute set its vertex types with how many there are and what they took
 * together; on an IPU Model `measuredVertexTypes`, which have no estimate and take what their code takes, and
 * `libraryEstimateVertexTypes` and `ourEstimateVertexTypes`, which take what the chip's formulae or our estimators say (profiler.libraryCycleEstimates); and
 * `programTraceComplete`: false if a program branched and nothing noted which way (debug.instrumentControlFlow and
 * debug.instrumentCompute do, and an IPU Model), a compute set with a fault ran several times between two syncs, the trace was longer than 8,388,608 steps, or there were more than 65,536 runs. programTrace has the numbers of the graph profile's
 * programs. threadBalance and activeCompute are there where each vertex was measured or is estimated. On an IPU Model runs are profiled also without instrumentation, by what vertices are said to take
 * (profilerMode IPU_MODEL). */

/* With profiler.blocks.filter or profiler.programs.filter there is `lightweightProfile`: droppedBlocks, and for each
 * tile that times blocks (profiler.blocks.tile) its blocks (type: Common, StreamCopyBegin, StreamCopyMid, StreamCopyEnd,
 * BlockFlush, Overflow or Unknown; name; cyclesFrom, cyclesTo, of the device since load; endUnknown if it ended in an overflow).
 * `tiles` of a StreamCopyMid are all that took part at that time. */

/* The execution profile as values, the caller's to free. Without instrumentation its profilerMode is NONE (on
 * the CPU: CPU), and there is nothing else, but on an IPU Model. */
POP_MUST_CHECK pop_error *pop_engine_execution_profile(const pop_engine *engine,
                                                       pop_profile **profile);
/* The same, written as it comes into being. SYSTEM if the stream cannot be written. */
POP_MUST_CHECK pop_error *pop_engine_write_execution_profile(const pop_engine *engine,
                                                             pop_profile_format format,
                                                             FILE *stream);
/* The execution half of the guide's profile summary; with `steps` (showExecutionSteps) also each step. Cycles by
 * vertex type are there if vertices were measured, or estimated on an IPU Model. Nothing but "Execution:" and zeros without instrumentation. */
POP_MUST_CHECK pop_error *pop_engine_print_execution_summary(const pop_engine *engine, bool steps,
                                                             FILE *stream);
/* How many tiles compute, exchange (with each other, other IPUs or the host) and wait, as CSV: "begin,end,compute,exchange,sync",
 * then a row for each interval of simulated cycles in which none of that changes. SYSTEM if the stream cannot be written. */
POP_MUST_CHECK pop_error *pop_engine_write_intervals(const pop_engine *engine, FILE *stream);
/* The simulated steps as trace events (JSON), which Perfetto and chrome://tracing open: runs and blocks, and each
 * IPU with its steps, its tiles and, if vertices were measured, the tiles' workers. */
POP_MUST_CHECK pop_error *pop_engine_write_trace_events(const pop_engine *engine, FILE *stream);
/* The same as folded stacks, for flame graphs: a line for each stack, "main;forward;conv;OnTileExecute 1200", with
 * the cycles that nothing before overlaps. */
POP_MUST_CHECK pop_error *pop_engine_write_folded_stacks(const pop_engine *engine, FILE *stream);
/* Forgets all runs. Nothing is measured of runs while profiling is disabled; the code in the tiles stays and
 * takes its time. An engine starts with it enabled. */
POP_MUST_CHECK pop_error *pop_engine_reset_execution_profile(pop_engine *engine);
void pop_engine_enable_execution_profiling(pop_engine *engine);
void pop_engine_disable_execution_profiling(pop_engine *engine);

/* ---- reports ----
 *
 * All that there is to know of an engine in one file, for programs that look at it later: with autoReport.all,
 * autoReport.outputGraphProfile or autoReport.outputExecutionProfile it is profile.pop in
 * autoReport.directory, as CBOR. It is a map: format ("Populus report"), version (of Populus), graph (the graph profile)
 * and execution (the execution profile, of a report that knows of runs). */

/* A report as values, the caller's to free, which need the engine no longer; without `execution` only of the
 * graph. Errors: those of pop_engine_graph_profile. */
POP_MUST_CHECK pop_error *pop_engine_report(const pop_engine *engine, bool execution,
                                            pop_profile **report);
/* The same, written as it comes into being. */
POP_MUST_CHECK pop_error *pop_engine_write_report(const pop_engine *engine, bool execution,
                                                  pop_profile_format format, FILE *stream);
/* A report from a file. Errors: those of pop_profile_read; FILE_LOAD if it is another profile. */
POP_MUST_CHECK pop_error *pop_report_read(const char *path, pop_profile **report);

#ifdef __cplusplus
}
#endif
#endif
