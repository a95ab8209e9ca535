/* Engines: a compiled graph with its programs on a device.
 *
 *   pop_engine_create (compiles; the graph may be freed or changed afterwards)
 *   -> pop_engine_load_device or pop_engine_load -> pop_engine_run, pop_engine_read_tensor, pop_engine_write_tensor
 *
 * Options are key/value strings; POPLAR_ENGINE_OPTIONS (a JSON object) overrides the call's, and
 * POPLAR_RUNTIME_OPTIONS and POPLAR_SIMULATOR_OPTIONS do so for some keys. A key that does not exist is
 * an error that names the nearest (pop_engine_option_table lists all).
 *
 * Threads: different engines are independent, also on several threads. An engine serves one call at a time:
 * while one is running, a call on another thread or in a stream's callback that loads, runs, reads, writes
 * or connects is a RUNTIME error that does no harm, and one that frees makes a run end in an error and the
 * engine be freed when that call returns. What only asks (cycles, memory, the archive) may not be called then.
 */
#ifndef POPULUS_ENGINE_H
#define POPULUS_ENGINE_H

#include <populus/device.h>
#include <populus/memory.h>
#include <populus/program.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct pop_engine pop_engine;

typedef struct pop_option {
  const char *key, *value;
} pop_option;

/* Compiles `programs` (run by their position) of `graph`. Errors: the graph's own first error; of
 * the checks (GRAPH_CONNECTION, GRAPH_CYCLE, INVALID_TILE_MAPPING, CONTROL_PROGRAM); GRAPH_MEMORY when
 * tiles are too small (how many, and the five fullest with their categories), unless
 * debug.allowOutOfMemory is "true": then only pop_engine_load is refused; or the target is an IPU_MODEL, which
 * runs it in memory that an IPU does not have. Reports of the graph that options ask for are written before the
 * error, which ends in "Profile saved to: ..." if profile.pop is one of them. LINK; INVALID_OPTION;
 * SYSTEM when target.saveArchive cannot be written. */
POP_MUST_CHECK pop_error *pop_engine_create(pop_graph *graph, const pop_program *programs,
                                            size_t num_programs, const pop_option *options,
                                            size_t num_options, pop_engine **engine);
void pop_engine_free(pop_engine *engine); /* NULL is fine */

/* Loads the engine on a device, and starts afresh if it was loaded. The engine keeps the device. Another
 * engine that was loaded there is not loaded any more; nor is this one once the device is detached or
 * reset. Errors: INVALID_ARGUMENT, naming both, if the executable is not for the device's target; RUNTIME
 * if a device of the type IPU is not attached. */
POP_MUST_CHECK pop_error *pop_engine_load_device(pop_engine *engine, pop_device *device);
/* The same on the device that it was loaded on last, or, if there is none, on one of its own that no
 * device manager knows. */
POP_MUST_CHECK pop_error *pop_engine_load(pop_engine *engine);
/* Runs program number `program` to its end. A device fault is RUNTIME, with tile, worker, vertex,
 * compute set, address and source line where there is one; memory can be read after it, and
 * running again needs pop_engine_load. */
POP_MUST_CHECK pop_error *pop_engine_run(pop_engine *engine, size_t program);
/* The same; `run_name` is what profiles call this run. NULL or "" is none: viewers number those, "Engine::run #3". */
POP_MUST_CHECK pop_error *pop_engine_run_as(pop_engine *engine, size_t program,
                                            const char *run_name);
/* Runs the program that was made with this name. INDEX if there is none (with the nearest), or several. */
POP_MUST_CHECK pop_error *pop_engine_run_named(pop_engine *engine, const char *name);
/* Ends the run that goes on, if one does, at the next safe point: within 100 ms, wherever tiles are, also in a loop that
 * never ends. What is finished first: an exchange (its first execution is checked, too: some tenths of a second where tiles
 * exchange hundreds of megabytes), the translation of a function with target.tileEngine=translator, a callback of a stream,
 * on a CPU device a vertex or a copy. pop_engine_run then returns
 * RUNTIME: that it was stopped and where; memory can be read, and running again needs pop_engine_load, as after a fault.
 * From any thread, in a callback, and in a signal handler. NULL is fine. The engine must not be freed meanwhile. */
void pop_engine_stop(pop_engine *engine);

/* ---- replicas ----
 *
 * Replicas are those of pop_graph_create_replicated, or of pop_graph_create_replicated_graph: what a host program
 * reads, writes and connects is the same.
 *
 * A graph of pop_graph_create_replicated is loaded once for each replica; a program runs in all of them.
 * They must come to the same host exchanges (stream copies, PrintTensors, aborts) and copies between
 * replicas in the same order: else the run ends with an error that says where which of them was. */

/* Host access by handle. `bytes` is the size of the buffer and must be the tensor's size exactly, or of a
 * replicated graph that times the replicas, their elements one replica behind the other; or, written, the
 * size of one: then all replicas get the same;
 * elements in row-major order, tile representation. */
POP_MUST_CHECK pop_error *pop_engine_read_tensor(pop_engine *engine, const char *handle, void *data,
                                                 size_t bytes);
POP_MUST_CHECK pop_error *pop_engine_write_tensor(pop_engine *engine, const char *handle,
                                                  const void *data, size_t bytes);
/* The elements of one replica alone, in `bytes` of one tensor. INDEX if there is no such replica. */
POP_MUST_CHECK pop_error *pop_engine_read_replica_tensor(pop_engine *engine, const char *handle,
                                                         uint32_t replica, void *data,
                                                         size_t bytes);
POP_MUST_CHECK pop_error *pop_engine_write_replica_tensor(pop_engine *engine, const char *handle,
                                                          uint32_t replica, const void *data,
                                                          size_t bytes);
/* Where PrintTensor prints; NULL: standard error. The stream is not closed. */
void pop_engine_set_print_stream(pop_engine *engine, FILE *stream);

/* ---- streams (populus/stream.h) ---- */

/* Connects a stream to the memory from `begin` to `end`, which must live until the stream is connected
 * anew or the engine freed. Each copy takes (or fills) the next elements, the first one those at `begin`,
 * and goes on at `begin` when it has come to `end`: so end - begin is a multiple of the bytes of one
 * copy, at least one. Connecting starts again at `begin`. Elements are in the tile's representation.
 * Errors: STREAM naming the stream. */
POP_MUST_CHECK pop_error *pop_engine_connect_stream(pop_engine *engine, const char *handle,
                                                    void *begin, void *end);
/* Of a replicated graph each replica has a stream of its own. The call above connects all of them to one
 * buffer: each copy takes the elements of all replicas, replica 0's first. This one connects one to a buffer
 * of its own. INDEX if there is no such replica. */
POP_MUST_CHECK pop_error *pop_engine_connect_replica_stream(pop_engine *engine, const char *handle,
                                                            uint32_t replica, void *begin,
                                                            void *end);

/* A host program's side of a stream. All are called by pop_engine_run, on its thread; `data` is a buffer
 * of the bytes of one copy. A callback must return: the run waits for it, and cannot take its thread away; one
 * that took longer than target.hostSyncTimeout says ends the run with an error once it is back. With the option
 * streamCallbacks.multiThreadMode they are called on other threads, too, and those of streams (or replicas) with different contexts at the same time, if their copies follow each other in the
 * program. Those with one context are called one after another, in the order of the copies.
 *
 * A callback that runs on the thread of the run may call exit, and fork: the run may go on in the child as well. One
 * that leaves by longjmp ends the run: the next call on the engine from that thread finds out, memory can be
 * read, and running again is an error until pop_engine_load. With threads for callbacks neither
 * fork nor longjmp is for callbacks, and nowhere an exception of C++ (the C++ interface catches them). */
typedef struct pop_stream_callback {
  /* Host to device: fill `data` now, the device waits. Device to host: `data` has what came. Returns 0;
   * any other value ends the run with an error that has the number. */
  int (*fetch)(void *context, void *data);
  /* Host to device, may be NULL: fill `data` before the device asks, if that can be done now. Called
   * as the engine's option exchange.enablePrefetch says, up to as many copies ahead as the stream's
   * option bufferingDepth says. Returns whether it has. */
  bool (*prefetch)(void *context, void *data);
  /* May be NULL: what prefetch has filled and no copy has taken will not be used (the engine is loaded,
   * the stream connected anew, the engine freed). */
  void (*invalidate_prefetched)(void *context);
  /* May be NULL: the device has taken the data. */
  void (*complete)(void *context);
  void *context;
} pop_stream_callback;
/* In a replicated graph it is called for each replica, in their order. */
POP_MUST_CHECK pop_error *pop_engine_connect_stream_callback(pop_engine *engine, const char *handle,
                                                             const pop_stream_callback *callback);
POP_MUST_CHECK pop_error *pop_engine_connect_replica_stream_callback(
    pop_engine *engine, const char *handle, uint32_t replica, const pop_stream_callback *callback);

/* ---- remote buffers (populus/remote_buffer.h) ---- */

/* The host's access to row number `row` of a remote buffer, between runs, once the engine is loaded.
 * `bytes` is the size of `data` and must be the row's exactly. `replica` is 0 unless the graph is
 * replicated: each replica has rows of its own. Errors: UNKNOWN_HANDLE with the nearest name, INDEX,
 * INVALID_ARGUMENT. */
POP_MUST_CHECK pop_error *pop_engine_copy_to_remote_buffer(pop_engine *engine, const char *handle,
                                                           size_t row, uint32_t replica,
                                                           const void *data, size_t bytes);
POP_MUST_CHECK pop_error *pop_engine_copy_from_remote_buffer(pop_engine *engine, const char *handle,
                                                             size_t row, uint32_t replica,
                                                             void *data, size_t bytes);

/* Cycles of the device since load (all runs; syncs and host syncs included); 0 on a CPU device, which
 * counts neither cycles nor instructions. */
uint64_t pop_engine_cycles(const pop_engine *engine);
/* The cycle of the last sync that the device has passed; from another thread, too, while a run of the loaded engine
 * goes on: for those who show how far it is. 0 on a CPU device. */
uint64_t pop_engine_cycles_passed(const pop_engine *engine);
uint64_t pop_engine_instructions(const pop_engine *engine);

/* A point in time, by the host's clock (whose zero means nothing) and the device's. */
typedef struct pop_time_stamp {
  double host_seconds;
  uint64_t device_cycles; /* pop_engine_cycles */
} pop_time_stamp;
pop_time_stamp pop_engine_time_stamp(const pop_engine *engine);
/* Prints a line with what lies between two of them: "name: 0.001200 s on the host, 5602 cycles (3.501 us at 1600
 * MHz) on the device"; of a CPU device without the latter. Between them the engine must not have been loaded. */
void pop_engine_report_timing(const pop_engine *engine, FILE *stream, const char *name,
                              pop_time_stamp start, pop_time_stamp end);

/* ---- memory: the same bytes as in the images ---- */

typedef struct pop_tile_memory {
  uint32_t total;                /* without gaps */
  uint32_t total_including_gaps; /* == `.text` of the tile's image == bytes loaded */
  /* Most bytes that are live at one step: what is always live and what is needed then, no gaps. */
  uint32_t most_live;
  /* No plan could have a smaller total_including_gaps: the system's bytes and most_live, or more where
   * vertex fields want data in interleaved memory or in different memory elements. Alignment is not
   * counted. */
  uint32_t least_including_gaps;
  uint32_t by_region[POP_REGION_COUNT];
  uint32_t by_region_including_gaps[POP_REGION_COUNT];
  /* [category][region]: bytes that only this category uses, and bytes that overlap in time with
   * others (counted in full for each). */
  uint32_t not_overlapped[POP_MEMORY_CATEGORY_COUNT][POP_REGION_COUNT];
  uint32_t overlapped[POP_MEMORY_CATEGORY_COUNT][POP_REGION_COUNT];
} pop_tile_memory;
POP_MUST_CHECK pop_error *pop_engine_tile_memory(const pop_engine *engine, uint32_t tile,
                                                 pop_tile_memory *memory);
/* Bytes that load put in the tile's memory (0 before load). */
uint32_t pop_engine_loaded_bytes(const pop_engine *engine, uint32_t tile);
/* The "Memory Usage" part of the profile summary: totals, categories, histogram of tiles, maxima,
 * and how far the worst plan is above its bound. */
POP_MUST_CHECK pop_error *pop_engine_print_memory(const pop_engine *engine, FILE *stream);

/* Writes the archive of tile images now, as target.saveArchive does. */
POP_MUST_CHECK pop_error *pop_engine_save_archive(const pop_engine *engine, const char *path);

/* ---- compile phases ---- */

typedef struct pop_phase_time {
  const char *name; /* "check", "lower", …, in order */
  double seconds;
} pop_phase_time;
const pop_phase_time *pop_engine_phase_times(const pop_engine *engine, size_t *count);

/* ---- options ---- */

typedef struct pop_option_info {
  const char *key, *values, *default_value, *effect;
} pop_option_info;
const pop_option_info *pop_engine_option_table(size_t *count);

#ifdef __cplusplus
}
#endif
#endif
