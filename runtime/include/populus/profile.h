/* Profiles: what a compiled graph takes, and what runs have cost. A profile consists of values
 * that a program can walk through, write as JSON or CBOR, or print as a summary.
 *
 * A value is a map, a vector, an int, a double, a string or a bool. Keys and meanings are those
 * of the user guide's chapter "Profiling". A pop_profile owns its values. A pop_profile_value is
 * a view of one of them; it is passed by value and lives as long as the profile. So do the strings
 * that calls return. No call changes a profile, so several threads may read one.
 *
 *   pop_profile *profile;
 *   error = pop_engine_graph_profile(engine, &profile);
 *   pop_profile_value total = pop_profile_find(pop_profile_root(profile), "memory.byTile.total");
 *   for (size_t tile = 0; tile < pop_profile_count(total); ++tile)
 *     use(pop_profile_as_int(pop_profile_at(total, tile))); */
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

pop_profile_value pop_profile_root(const pop_profile *profile); /* NONE for NULL */
void pop_profile_free(pop_profile *profile);                    /* NULL is fine */

pop_profile_kind pop_profile_kind_of(pop_profile_value value);
/* The number of entries of a map or items of a vector; 0 for other values. */
size_t pop_profile_count(pop_profile_value value);
/* Entry or item number `index`, in the order of writing; NONE if there is none. */
pop_profile_value pop_profile_at(pop_profile_value value, size_t index);
/* The key of a map's entry; NULL if there is none. */
const char *pop_profile_key(pop_profile_value map, size_t index);
/* The entry with that key; NONE if there is none, or if `map` is not a map. */
pop_profile_value pop_profile_get(pop_profile_value map, const char *key);
/* The same by a path of keys with dots between them, from map to map. A key with a dot in it is
 * found by pop_profile_get only. */
pop_profile_value pop_profile_find(pop_profile_value map, const char *path);

/* An int; a double truncated, and clamped to the range; a bool as 0 or 1; 0 for other values. */
int64_t pop_profile_as_int(pop_profile_value value);
double pop_profile_as_double(pop_profile_value value);      /* int or double; otherwise 0 */
const char *pop_profile_as_string(pop_profile_value value); /* NULL for other values */
/* True for a bool that is true, or an int that is not 0. */
bool pop_profile_as_bool(pop_profile_value value);

/* ---- writing ---- */

typedef enum pop_profile_format {
  POP_PROFILE_JSON,        /* dense: no spaces, one line */
  POP_PROFILE_JSON_PRETTY, /* a line for each entry; the numbers of a vector on one line */
  POP_PROFILE_CBOR         /* RFC 8949; maps and vectors of indefinite length */
} pop_profile_format;

/* Bytes of strings that are not UTF-8 are written as U+FFFD. In JSON, doubles that are not numbers
 * are written as null. The stream is flushed. Errors: INVALID_ARGUMENT for the value NONE; SYSTEM
 * if the stream cannot be written. */
POP_MUST_CHECK pop_error *pop_profile_write(pop_profile_value value, pop_profile_format format,
                                            FILE *stream);

/* Reads the CBOR that pop_profile_write writes, as values; the caller frees them. A file is read
 * whole. FILE_LOAD if it cannot be read, or is not such a file, with the place of the error; SYSTEM
 * or MEMORY as for pop_file_read. */
POP_MUST_CHECK pop_error *pop_profile_read(const char *path, pop_profile **profile);
/* The same for `size` bytes, which may be freed afterwards. */
POP_MUST_CHECK pop_error *pop_profile_read_memory(const void *bytes, size_t size,
                                                  pop_profile **profile);

/* ---- the graph profile ----
 *
 * What the compiled graph takes. It is known before anything runs: memory by tile, category,
 * compute set and vertex type, liveness, exchanges, the programs. All numbers are those of the
 * tile images. For a replicated graph they are one replica's. */

/* The graph profile as values; the caller frees them. Errors: INVALID_ARGUMENT for the CPU,
 * which has no tiles; FILE_LOAD if the executable is an archive without a profile, or with a
 * damaged one. */
POP_MUST_CHECK pop_error *pop_engine_graph_profile(const pop_engine *engine, pop_profile **profile);
POP_MUST_CHECK pop_error *pop_executable_graph_profile(const pop_executable *executable,
                                                       pop_profile **profile);
/* Writes it directly to a stream, without making the values. SYSTEM if that cannot be written. */
POP_MUST_CHECK pop_error *pop_engine_write_graph_profile(const pop_engine *engine,
                                                         pop_profile_format format, FILE *stream);
POP_MUST_CHECK pop_error *pop_executable_write_graph_profile(const pop_executable *executable,
                                                             pop_profile_format format,
                                                             FILE *stream);

/* Writes the code of the vertices as JSON, from the images of the first tiles that have them:
 *
 *   functions: [{name, tile, address, bytes, instructions: [text…],
 *                cycles: [of each, when it is executed],
 *                lines: [how many instructions, file or -1, line, …],
 *                calls: [instruction, function, …]}…]
 *   vertexTypes: [{name, tile, function}…]    without `function` if images have lost their symbols
 *   files: [{name, parts: [[number of the first line, line…]…] or missing: "why"}…]
 *
 * Functions are the entry functions of vertices, and what these refer to. Lines are known for
 * codelets that are compiled with -g. With `with_source`, the text of these lines, and of some
 * around them, is read from the sources as they are now, up to 2 MiB. Limits are 262,144
 * instructions, and 16,384 of a function; the rest is left out. Errors: INVALID_ARGUMENT for the
 * CPU; FILE_LOAD for a damaged archive; SYSTEM if the stream cannot be written. */
POP_MUST_CHECK pop_error *pop_executable_write_code(const pop_executable *executable,
                                                    bool with_source, FILE *stream);

/* Prints the guide's summary of a graph profile: target, graph, memory by region, data type and
 * vertex type, and a histogram of tiles. If tiles are out of memory, it also says what fills the
 * five fullest. Options, each "true" or "false": colours, showVarStorage, showOptimizations,
 * showExchangeInstructionBreakdown, showPerIpuMemoryUsage; showExecutionSteps is for the
 * execution. The default of colours is true if the stream is a terminal that has them and the
 * environment has no NO_COLOR. There, CLICOLOR=0 turns them off and CLICOLOR_FORCE=1 on, whatever
 * the option says.
 * INVALID_OPTION for other options; INVALID_ARGUMENT if the value is not a graph profile; SYSTEM if
 * the stream cannot be written. */
POP_MUST_CHECK pop_error *pop_profile_print_graph_summary(pop_profile_value graph_profile,
                                                          const pop_option *options,
                                                          size_t num_options, FILE *stream);
/* Prints the execution part, from an execution profile and its graph's profile, as
 * pop_engine_print_execution_summary does. Option: showExecutionSteps. INVALID_ARGUMENT if they
 * are not such profiles; SYSTEM if the stream cannot be written. */
POP_MUST_CHECK pop_error *pop_profile_print_execution_summary(pop_profile_value graph_profile,
                                                              pop_profile_value execution_profile,
                                                              const pop_option *options,
                                                              size_t num_options, FILE *stream);
/* Prints both; only the graph's if the execution profile is null ({0}). */
POP_MUST_CHECK pop_error *pop_profile_print_summary(pop_profile_value graph_profile,
                                                    pop_profile_value execution_profile,
                                                    const pop_option *options, size_t num_options,
                                                    FILE *stream);
/* Prints the graph's summary, then the execution's if the engine measures one. */
POP_MUST_CHECK pop_error *pop_engine_print_profile_summary(const pop_engine *engine,
                                                           const pop_option *options,
                                                           size_t num_options, FILE *stream);

/* ---- the execution profile: what runs have cost ----
 *
 * The engine options debug.instrument… add code to the tiles that counts cycles. After each run
 * the engine reads the counters of the replica profiler.replicaToProfile. A profile is about the
 * runs since load, or since it was reset. Its numbers are those of the last execution of each
 * compute set, vertex or exchange. On an IPU Model, runs are profiled also without
 * instrumentation, by the estimates of vertices (profilerMode IPU_MODEL).
 *
 * Keys in addition to the guide's:
 *
 * `runs`                  program, name, runName (if the run was given one), cycles of the
 *                         device, instructions, supersteps. A run that ended in an error has
 *                         `fault`: its message, cycle and superstep; a device fault also has
 *                         kind and tile, and computeSet if it was in a vertex. The trace ends
 *                         in the fault's step, which has the tile's cycles up to there:
 *                         faultedTile, faultedTileCycles.
 * `runParameters`         the engine options about running that the runs used
 * simulation: `runs`      cyclesFrom, cyclesTo, firstStep, numSteps of each run
 * syncs                   cyclesFrom, cyclesTo
 * stream copies           StreamCopyBegin, StreamCopy, StreamCopyEnd: tiles wait for all
 *                         others, move data, wait until all have
 * SyncAns                 tiles that have acknowledged as many `syncs` in advance, because
 *                         they have no part in them, wait until the last one has happened:
 *                         activeTiles, cycles of the one that waits longest, and `syncAns`,
 *                         the number in `costs.syncAns`, which has the tiles
 * simulation: `costs`     for each compute set and exchange, the tiles that took part (ranges:
 *                         first, how many) and the cycles of each; where vertices are measured
 *                         or estimated, for each compute set its vertex types, with how many
 *                         there are and what they took together
 * `measuredVertexTypes`   IPU Model: types without an estimate, which take what their code
 *                         takes
 * `libraryEstimateVertexTypes`, `ourEstimateVertexTypes`
 *                         IPU Model: types that take what the chip's formulae or our
 *                         estimators say (profiler.libraryCycleEstimates)
 * `programTraceComplete`  false if: a program branched and nothing recorded which way
 *                         (debug.instrumentControlFlow, debug.instrumentCompute and an IPU
 *                         Model do); a compute set with a fault ran several times between two
 *                         syncs; the trace was longer than 8,388,608 steps; or there were more
 *                         than 65,536 runs
 *
 * programTrace has the numbers of the graph profile's programs. threadBalance and activeCompute
 * exist where each vertex was measured or is estimated. */

/* With profiler.blocks.filter or profiler.programs.filter there is `lightweightProfile`. It has
 * droppedBlocks, and for each tile that times blocks (profiler.blocks.tile) its blocks. A block
 * has a type (Common, StreamCopyBegin, StreamCopyMid, StreamCopyEnd, BlockFlush, Overflow or
 * Unknown), a name, cyclesFrom and cyclesTo (of the device since load), and endUnknown if it
 * ended in an overflow. `tiles` of a StreamCopyMid are all that took part at that time. */

/* The execution profile as values; the caller frees them. Without instrumentation its
 * profilerMode is NONE (on the CPU: CPU) and it has nothing else, except on an IPU Model. */
POP_MUST_CHECK pop_error *pop_engine_execution_profile(const pop_engine *engine,
                                                       pop_profile **profile);
/* The same, written while it is made. SYSTEM if the stream cannot be written. */
POP_MUST_CHECK pop_error *pop_engine_write_execution_profile(const pop_engine *engine,
                                                             pop_profile_format format,
                                                             FILE *stream);
/* Prints the execution part of the guide's profile summary; with `steps` (showExecutionSteps)
 * also each step. It has cycles by vertex type if vertices were measured, or estimated on an IPU
 * Model. Without instrumentation it is only "Execution:" and zeros. */
POP_MUST_CHECK pop_error *pop_engine_print_execution_summary(const pop_engine *engine, bool steps,
                                                             FILE *stream);
/* Writes how many tiles compute, exchange (with each other, other IPUs or the host) and wait, as
 * CSV: "begin,end,compute,exchange,sync", then a row for each interval of simulated cycles in
 * which these numbers are constant. SYSTEM if the stream cannot be written. */
POP_MUST_CHECK pop_error *pop_engine_write_intervals(const pop_engine *engine, FILE *stream);
/* Writes the simulated steps as trace events (JSON), which Perfetto and chrome://tracing open:
 * runs and blocks, and each IPU with its steps, its tiles and, if vertices were measured, the
 * tiles' workers. */
POP_MUST_CHECK pop_error *pop_engine_write_trace_events(const pop_engine *engine, FILE *stream);
/* The same as folded stacks, for flame graphs: a line for each stack,
 * "main;forward;conv;OnTileExecute 1200", with the cycles that nothing earlier overlaps. */
POP_MUST_CHECK pop_error *pop_engine_write_folded_stacks(const pop_engine *engine, FILE *stream);
/* Writes the reports of the runs so far, as autoReport.outputExecutionProfile does after a run, to
 * the same files: for a program that sets autoReport.executionProfileProgramRunCount to 0, since it
 * makes many runs and wants their reports once. Does nothing if no run was measured, or if the
 * option is not set. SYSTEM if a report cannot be written; RUNTIME if the engine is in use. */
POP_MUST_CHECK pop_error *pop_engine_write_execution_reports(pop_engine *engine);
/* Forgets all runs. While profiling is disabled, runs are not measured, but the code in the
 * tiles stays and takes its time. Profiling is enabled in a new engine. */
POP_MUST_CHECK pop_error *pop_engine_reset_execution_profile(pop_engine *engine);
void pop_engine_enable_execution_profiling(pop_engine *engine);
void pop_engine_disable_execution_profiling(pop_engine *engine);

/* ---- reports ----
 *
 * All profiles of an engine in one file, for programs that look at it later. With
 * autoReport.all, autoReport.outputGraphProfile or autoReport.outputExecutionProfile, it is
 * profile.pop in autoReport.directory, as CBOR. It is a map: format ("Populus report"), version
 * (of Populus), graph (the graph profile), and execution (the execution profile, if the report
 * has runs). */

/* A report as values, which do not need the engine any more; the caller frees them. Without
 * `execution`, it has only the graph profile. Errors: those of pop_engine_graph_profile. */
POP_MUST_CHECK pop_error *pop_engine_report(const pop_engine *engine, bool execution,
                                            pop_profile **report);
/* The same, written while it is made. */
POP_MUST_CHECK pop_error *pop_engine_write_report(const pop_engine *engine, bool execution,
                                                  pop_profile_format format, FILE *stream);
/* Reads a report from a file. Errors: those of pop_profile_read; FILE_LOAD if it is another
 * profile. */
POP_MUST_CHECK pop_error *pop_report_read(const char *path, pop_profile **report);

#ifdef __cplusplus
}
#endif
#endif
