/* Engines: a compiled graph with its programs on a device.
 *
 *   1. pop_engine_create compiles. Afterwards the graph may be freed or changed.
 *   2. pop_engine_load_device or pop_engine_load puts the images on a device.
 *   3. pop_engine_run runs a program; pop_engine_read_tensor and pop_engine_write_tensor access
 *      tensors.
 *
 * Options are key/value strings. POPLAR_ENGINE_OPTIONS (a JSON object) overrides what the call
 * passes; POPLAR_RUNTIME_OPTIONS and POPLAR_SIMULATOR_OPTIONS do the same for some keys. An unknown
 * key is an error that names the nearest one. pop_engine_option_table lists all keys.
 *
 * Threads: different engines are independent and may be used on different threads. One engine
 * serves one call at a time. While a run goes on, another thread or a stream's callback may call
 * the same engine, with this effect:
 *   - a call that loads, runs, reads, writes or connects fails with RUNTIME and changes nothing;
 *   - pop_engine_free ends the run with an error; the engine is freed when that run has returned;
 *   - pop_engine_stop and pop_engine_cycles_passed work as documented below;
 *   - any other query (cycles, memory, the archive) is not allowed. */
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

/* Compiles `graph` with `programs`, at least one, which are later run by their position in this
 * array. Options may be NULL if there are none. The caller owns *engine (pop_engine_free); after an
 * error it is NULL.
 *
 * Errors: the graph's own first error; what the checks find (GRAPH_CONNECTION, GRAPH_CYCLE,
 * INVALID_TILE_MAPPING, CONTROL_PROGRAM); GRAPH_MEMORY when tiles are too small; LINK;
 * INVALID_OPTION; SYSTEM when target.saveArchive or a report cannot be written; RUNTIME when the
 * graph is being compiled already; MEMORY.
 *
 * GRAPH_MEMORY says how many tiles are too small, and lists the five fullest with their categories.
 * The graph reports that options ask for are written first; if profile.pop is among them, the
 * message ends in "Profile saved to: ...". There are two cases without this error. With
 * debug.allowOutOfMemory, the engine is created and only loading fails. On an IPU_MODEL, the
 * program runs, in overflow memory that an IPU does not have. */
POP_MUST_CHECK pop_error *pop_engine_create(pop_graph *graph, const pop_program *programs,
                                            size_t num_programs, const pop_option *options,
                                            size_t num_options, pop_engine **engine);
void pop_engine_free(pop_engine *engine); /* NULL is fine */

/* Loads the engine on a device. An engine that was loaded before starts afresh. The engine keeps
 * the device alive. A device holds one engine: loading another one, detaching the device and
 * resetting it all unload this engine. Errors: INVALID_ARGUMENT if the executable was made for
 * another target than the device's (the message names both); RUNTIME if a device of type IPU is not
 * attached; GRAPH_MEMORY as above; MEMORY, also for target.maxHostMemory; FILE_LOAD if images of an
 * archive are damaged, or are not those of its metadata. */
POP_MUST_CHECK pop_error *pop_engine_load_device(pop_engine *engine, pop_device *device);
/* The same on the device that the engine was loaded on last. If there is none, the engine makes a
 * device of its own, which no device manager lists. */
POP_MUST_CHECK pop_error *pop_engine_load(pop_engine *engine);
/* Runs program number `program` to its end. A device fault is a RUNTIME error that names tile,
 * worker, vertex, compute set, address and, if known, the source line. After any error of a run
 * that has begun, tensors can still be read; running again needs pop_engine_load. Other errors:
 * INDEX: there is no such program; RUNTIME: the engine is not loaded, or the last run has failed;
 * STREAM_CONNECTION: a stream that the program comes to is not connected; SYSTEM: a report, or what
 * the program prints, cannot be written. */
POP_MUST_CHECK pop_error *pop_engine_run(pop_engine *engine, size_t program);
/* The same. Profiles call this run `run_name`; viewers number runs without a name (NULL or ""):
 * "Engine::run #3". */
POP_MUST_CHECK pop_error *pop_engine_run_as(pop_engine *engine, size_t program,
                                            const char *run_name);
/* Runs the program that was made with this name. INDEX if there is no such program (the message
 * names the nearest), or more than one. */
POP_MUST_CHECK pop_error *pop_engine_run_named(pop_engine *engine, const char *name);
/* Stops the current run, if there is one, at the next safe point. Tile code stops within 100 ms,
 * even in an endless loop. These are finished first and may take longer: an exchange (checking one
 * for the first time takes some tenths of a second per hundreds of megabytes), the translation of a
 * function with target.tileEngine=translator, a stream's callback and, on a CPU device, a vertex or
 * a copy.
 *
 * pop_engine_run then returns a RUNTIME error that says where it was stopped. As after a fault,
 * tensors can be read, and running again needs pop_engine_load. May be called from any thread, from
 * a callback and from a signal handler, as long as nobody frees the engine meanwhile. NULL does
 * nothing. */
void pop_engine_stop(pop_engine *engine);

/* ---- replicas ----
 *
 * A graph is replicated by pop_graph_create_replicated or pop_graph_create_replicated_graph. A host
 * program reads, writes and connects in the same way for both.
 *
 * A graph of pop_graph_create_replicated is loaded once for each replica, and a program runs in all
 * replicas. All must reach the same host exchanges (stream copies, PrintTensors, aborts) and copies
 * between replicas in the same order. Otherwise the run ends with an error that says where each of
 * them was. */

/* Host access by handle. `data` holds the tensor's elements in row-major order, in the tile's
 * representation; `bytes` is its size and must be exactly the tensor's. Of a replicated graph,
 * `data` holds the tensors of all replicas, replica 0's first. pop_engine_write_tensor also takes
 * the size of one tensor then, and writes it to all replicas. Errors: UNKNOWN_HANDLE, naming the
 * nearest handle; INVALID_ARGUMENT for another size; RUNTIME if the engine is not loaded. */
POP_MUST_CHECK pop_error *pop_engine_read_tensor(pop_engine *engine, const char *handle, void *data,
                                                 size_t bytes);
POP_MUST_CHECK pop_error *pop_engine_write_tensor(pop_engine *engine, const char *handle,
                                                  const void *data, size_t bytes);
/* The same for one replica: `bytes` is the size of one tensor. INDEX if there is no such
 * replica. */
POP_MUST_CHECK pop_error *pop_engine_read_replica_tensor(pop_engine *engine, const char *handle,
                                                         uint32_t replica, void *data,
                                                         size_t bytes);
POP_MUST_CHECK pop_error *pop_engine_write_replica_tensor(pop_engine *engine, const char *handle,
                                                          uint32_t replica, const void *data,
                                                          size_t bytes);
/* Has PrintTensor and printf of codelets print to `stream`, or to standard error if it is NULL. The
 * engine never closes it. A run ends with SYSTEM when `stream` cannot be written to. */
void pop_engine_set_print_stream(pop_engine *engine, FILE *stream);

/* ---- streams (populus/stream.h) ---- */

/* Connects a stream to the memory from `begin` up to `end`. This memory must live until the stream
 * is connected anew or the engine is freed. The first copy takes (or fills) the elements at
 * `begin`, each further copy the next ones. At `end` the next copy starts at `begin` again. So the
 * memory's size must be a multiple of the bytes of one copy, and not 0 unless these are. Elements
 * are in the tile's representation. Errors: STREAM_CONNECTION for another size, and if there is no
 * such stream (the message names the nearest). */
POP_MUST_CHECK pop_error *pop_engine_connect_stream(pop_engine *engine, const char *handle,
                                                    void *begin, void *end);
/* In a replicated graph each replica has its own stream. The call above connects all of them to one
 * buffer: each copy takes the elements of all replicas, replica 0's first. This call connects the
 * stream of one replica to a buffer of its own. INDEX if there is no such replica. A broadcast
 * stream (POP_STREAM_BROADCAST) is replica 0's for all: a copy has one replica's elements, and only
 * replica 0 can be connected by itself (otherwise STREAM_CONNECTION). */
POP_MUST_CHECK pop_error *pop_engine_connect_replica_stream(pop_engine *engine, const char *handle,
                                                            uint32_t replica, void *begin,
                                                            void *end);

/* A host program's side of a stream. pop_engine_run calls these functions on its own thread. `data`
 * is a buffer of the bytes of one copy.
 *
 * The run waits until a callback returns. If that took longer than target.hostSyncTimeout, the run
 * then ends with an error.
 *
 * With the option streamCallbacks.multiThreadMode, callbacks also run on other threads. If copies
 * follow each other in the program, the callbacks of streams (or replicas) with different contexts
 * may then run at the same time. Callbacks with the same context run one after another, in the
 * order of the copies. NULL is a context of its own for each stream and replica.
 *
 * On the thread of the run, a callback may call exit and fork; the run may go on in the child as
 * well. A callback that leaves by longjmp ends the run: the next call on the engine from that
 * thread notices it, tensors can be read, and running again needs pop_engine_load. On other threads
 * a callback must neither fork nor longjmp. No callback may throw a C++ exception (the C++
 * interface catches those of its own). */
typedef struct pop_stream_callback {
  /* Host to device: fill `data` now, as the device waits. Device to host: `data` has what the
   * device sent. Returns 0; any other value ends the run with an error that shows the value. */
  int (*fetch)(void *context, void *data);
  /* Host to device, may be NULL: fill `data` before the device asks for it, and return true; or
   * return false if there is nothing yet. Called if the engine's option exchange.enablePrefetch is
   * set, at most as many copies ahead as the stream's option bufferingDepth and the engine's
   * streamCallbacks.maxLookahead allow. */
  bool (*prefetch)(void *context, void *data);
  /* May be NULL: no copy will take what prefetch has filled, because the engine was loaded or
   * freed, or the stream was connected anew. */
  void (*invalidate_prefetched)(void *context);
  /* May be NULL: the data have been taken. Comes before the next fetch, also where the compiler has
   * made one exchange of several copies, or the callback is all replicas'. */
  void (*complete)(void *context);
  void *context;
} pop_stream_callback;
/* The struct is copied. In a replicated graph the callback is called for each replica, in order;
 * that of a broadcast stream once. INVALID_ARGUMENT if it is NULL or has no `fetch`; others as
 * above. */
POP_MUST_CHECK pop_error *pop_engine_connect_stream_callback(pop_engine *engine, const char *handle,
                                                             const pop_stream_callback *callback);
POP_MUST_CHECK pop_error *pop_engine_connect_replica_stream_callback(
    pop_engine *engine, const char *handle, uint32_t replica, const pop_stream_callback *callback);

/* ---- remote buffers (populus/remote_buffer.h) ---- */

/* Host access to row number `row` of a remote buffer, between runs of a loaded engine. `bytes` is
 * the size of `data` and must be exactly the row's. Each replica has rows of its own; without
 * replication `replica` is 0. Errors: UNKNOWN_HANDLE, naming the nearest handle; INDEX: there is no
 * such row or replica; INVALID_ARGUMENT for another size; RUNTIME if the engine is not loaded. */
POP_MUST_CHECK pop_error *pop_engine_copy_to_remote_buffer(pop_engine *engine, const char *handle,
                                                           size_t row, uint32_t replica,
                                                           const void *data, size_t bytes);
POP_MUST_CHECK pop_error *pop_engine_copy_from_remote_buffer(pop_engine *engine, const char *handle,
                                                             size_t row, uint32_t replica,
                                                             void *data, size_t bytes);

/* Cycles of the device in all runs since load, syncs and host syncs included. A CPU device counts
 * neither cycles nor instructions: 0. */
uint64_t pop_engine_cycles(const pop_engine *engine);
/* The cycle of the last sync that the device has passed, for those who show progress. May be called
 * from another thread while a run goes on. 0 on a CPU device. */
uint64_t pop_engine_cycles_passed(const pop_engine *engine);
/* Instructions that the tiles of all replicas have executed since load. */
uint64_t pop_engine_instructions(const pop_engine *engine);

/* A point in time, by the host's clock (with an arbitrary zero) and by the device's. */
typedef struct pop_time_stamp {
  double host_seconds;
  uint64_t device_cycles; /* pop_engine_cycles */
} pop_time_stamp;
pop_time_stamp pop_engine_time_stamp(const pop_engine *engine);
/* Prints a line with the time between two time stamps: "name: 0.001200 s on the host, 5602 cycles
 * (3.501 us at 1600 MHz) on the device". The second half is left out on a CPU device. The engine
 * must not have been loaded between the two. */
void pop_engine_report_timing(const pop_engine *engine, FILE *stream, const char *name,
                              pop_time_stamp start, pop_time_stamp end);

/* ---- memory: the same bytes as in the images ---- */

typedef struct pop_tile_memory {
  uint32_t total;                /* without gaps */
  uint32_t total_including_gaps; /* == `.text` of the tile's image == bytes loaded */
  /* The largest number of bytes that are live at one step: what is always live, and what that step
   * needs. No gaps. */
  uint32_t most_live;
  /* A lower bound for total_including_gaps of any plan: the system's bytes and most_live. It is
   * larger where vertex fields want data in interleaved memory or in different memory elements. It
   * ignores alignment. */
  uint32_t least_including_gaps;
  uint32_t by_region[POP_REGION_COUNT];
  uint32_t by_region_including_gaps[POP_REGION_COUNT];
  /* [category][region]: bytes that only this category uses, and bytes that it shares with others at
   * other times. Shared bytes are counted in full for each category. */
  uint32_t not_overlapped[POP_MEMORY_CATEGORY_COUNT][POP_REGION_COUNT];
  uint32_t overlapped[POP_MEMORY_CATEGORY_COUNT][POP_REGION_COUNT];
} pop_tile_memory;
/* INDEX: there is no such tile in a replica; INVALID_ARGUMENT: the CPU has no memory plan. */
POP_MUST_CHECK pop_error *pop_engine_tile_memory(const pop_engine *engine, uint32_t tile,
                                                 pop_tile_memory *memory);
/* Bytes that load put in the tile's memory (0 before load). */
uint32_t pop_engine_loaded_bytes(const pop_engine *engine, uint32_t tile);
/* Prints the "Memory Usage" part of the profile summary: totals, categories, a histogram of tiles,
 * maxima, and how far the worst plan is above its bound. Errors: INVALID_ARGUMENT for the CPU;
 * FILE_LOAD for an archive without a profile; SYSTEM. */
POP_MUST_CHECK pop_error *pop_engine_print_memory(const pop_engine *engine, FILE *stream);

/* Writes the archive of tile images now, as target.saveArchive does. Errors: those of
 * pop_executable_save. */
POP_MUST_CHECK pop_error *pop_engine_save_archive(const pop_engine *engine, const char *path);

/* ---- compile phases ---- */

typedef struct pop_phase_time {
  const char *name; /* "check", "lower", …, in order */
  double seconds;
} pop_phase_time;
/* Lives as long as the engine. `count` may be NULL. */
const pop_phase_time *pop_engine_phase_times(const pop_engine *engine, size_t *count);

/* ---- options ---- */

typedef struct pop_option_info {
  const char *key, *values, *default_value, *effect;
} pop_option_info;
/* All options; constants. */
const pop_option_info *pop_engine_option_table(size_t *count);

/* The members of a JSON object as options, in their order: strings as they are, numbers and
 * booleans as JSON writes them. Which keys there are is checked by what takes the options. `text`
 * has `length` bytes, at most 1 MiB. The options and their strings are one allocation: free it by
 * free(). Errors: INVALID_OPTION if the text is no JSON object (the message says where), or if a
 * value is null, an array or an object; USAGE if an argument is NULL. */
POP_MUST_CHECK pop_error *pop_options_read_json(const char *text, size_t length,
                                                pop_option **options, size_t *num_options);

#ifdef __cplusplus
}
#endif
#endif
