/* The software IPU: tile images in, host syncs and faults out. It knows images and nothing else: no
 * graph, no compilation.
 *
 *   machine_create -> machine_load (each tile's image) -> machine_run (until the tiles sync with
 *   the host) -> machine_read/machine_write -> machine_run …
 *
 * All tiles start at their entry when the first machine_run comes. isa.h says what the
 * instructions do and what they cost. Everything is deterministic: workers of a tile run in the
 * order of their numbers, tiles in the order of theirs.
 *
 * Protection. A context may read its tile's used memory; write what is in a writable segment of
 * the image; execute what is in an executable one. Reads and writes outside the image's segments
 * are INVALID_ADDRESS (reads only outside tile memory, with lenient_loads), writes to a read-only segment too, and those
 * to a segment of vertex states by any other than the vertex whose state it is; stores by a worker into another
 * context's stack, or below its own, are STACK_OVERFLOW (machine_load is told where the stacks are);
 * unaligned access is MISALIGNED. No fault harms the host or another tile.
 */
#ifndef MACHINE_H
#define MACHINE_H

#include "executable/tile_memory.h"
#include "ranks/ranks.h"
#include <populus/error.h>
#include <populus/image.h>
#include <populus/target.h>
#include <stdbool.h>
#include <stdint.h>

#define MACHINE_FAULTS(X)                                                                          \
  X(MACHINE_FAULT_NONE, "none")                                                                    \
  X(MACHINE_FAULT_TRAP, "TRAP")                                                                    \
  X(MACHINE_FAULT_INVALID_ADDRESS, "INVALID_ADDRESS")                                              \
  X(MACHINE_FAULT_MISALIGNED, "MISALIGNED")                                                        \
  X(MACHINE_FAULT_INVALID_PC, "INVALID_PC")                                                        \
  X(MACHINE_FAULT_INVALID_INSTRUCTION, "INVALID_INSTRUCTION")                                      \
  X(MACHINE_FAULT_INVALID_OPERAND, "INVALID_OPERAND")                                              \
  X(MACHINE_FAULT_STACK_OVERFLOW, "STACK_OVERFLOW")                                                \
  X(MACHINE_FAULT_EXCHANGE_CONFIG, "INVALID_EXCHANGE_CONFIGURATION")                               \
  X(MACHINE_FAULT_EXCHANGE_ERROR, "EXCHANGE_ERROR")                                                \
  X(MACHINE_FAULT_OUT_OF_CYCLES, "OUT_OF_CYCLES")                                                  \
  X(MACHINE_FAULT_STOPPED, "STOPPED") /* machine_stop */                                           \
  X(MACHINE_FAULT_FLOAT_INVALID, "FLOATING_POINT_INVALID_OPERATION")                               \
  X(MACHINE_FAULT_FLOAT_DIVIDE, "FLOATING_POINT_DIVIDE_BY_ZERO")                                   \
  X(MACHINE_FAULT_FLOAT_OVERFLOW, "FLOATING_POINT_OVERFLOW")                                       \
  X(MACHINE_FAULT_INTERNAL, "INTERNAL_FAULT") /* of the machine itself: a bug of ours (guard.h) */

typedef enum machine_fault_kind {
#define MACHINE_FAULT_ENUMERATOR(id, name) id,
  MACHINE_FAULTS(MACHINE_FAULT_ENUMERATOR)
#undef MACHINE_FAULT_ENUMERATOR
} machine_fault_kind;

enum { MACHINE_SUPERVISOR = TILE_SUPERVISOR }; /* the number of its context */

typedef struct machine_fault {
  machine_fault_kind kind;
  uint32_t tile;
  uint32_t context;      /* worker 0-5 or MACHINE_SUPERVISOR */
  uint32_t pc;           /* of the instruction at fault */
  uint32_t word;         /* the instruction itself, 0 if it could not be fetched */
  uint32_t address;      /* accessed address, trap value, or 0 */
  uint32_t vertex_state; /* argument of the context's last tile.call, 0 if none */
  uint32_t vertex_entry; /* and its function */
  uint32_t run_argument; /* a0 that tile.run gave the worker: its control table */
  uint64_t cycle;        /* global cycle */
  uint64_t superstep;    /* syncs since load */
  uint32_t
      num_faults;   /* tiles that faulted in this superstep; this is the first by (tile, context) */
  char detail[160]; /* what a number cannot say ("receive from tile 7 in cycle 12: …"), or "" */
} machine_fault;

/* What executes tile code. Results, cycles and faults are the same with each.
 *   INTERPRETER  the reference
 *   TRANSLATOR   vertex code is compiled for the host before it runs
 *   AUTO         code that runs long enough is compiled, by a thread of its own, while the interpreter
 *                runs; where nothing can be compiled everything is interpreted */
typedef enum machine_engine {
  MACHINE_INTERPRETER,
  MACHINE_TRANSLATOR,
  MACHINE_AUTO
} machine_engine;

typedef struct machine_options {
  uint64_t max_cycles_per_run; /* of one tile between two host syncs; 0: no limit */
  machine_engine engine;
  uint32_t num_threads;   /* of the host, that tiles run on; 0: as many as the process may use */
  uint32_t float_control; /* what workers start with once the tile is loaded (isa.h) */
  uint64_t random_seed;   /* of all contexts' random numbers then; 0: they are not seeded */
  bool
      lenient_loads; /* from anywhere in the tile's memory, as on the chip: 0 where the image has nothing */
  uint64_t warm_up; /* AUTO: instructions interpreted before anything is compiled; 0: what pays */
  /* Where compiled code is kept for the next process; NULL: nowhere. Not needed after the call. */
  const char *native_folder;
  uint64_t native_folder_max_bytes; /* with what else is in it; 0: no limit */
  /* For tests: every tile executes its own control code, every word is copied by itself. */
  bool plain;
} machine_options;

typedef struct machine machine;

POP_MUST_CHECK pop_error *machine_create(const pop_target *target, const machine_options *options,
                                         machine **out);
void machine_free(machine *m); /* NULL is fine */

/* Loads the image of `image->tile`: its bytes, entry and segments (no symbols). `stacks` has
 * NUM_TILE_STACKS entries, by context; NULL: no stack is known. Each tile of the target must be
 * loaded exactly once before the first run; several threads may do that at once. Errors: FILE_LOAD naming the tile (loaded twice, number
 * past the target, larger than tile memory: "N bytes more than the tile has"). Image and stacks need
 * not live on. */
POP_MUST_CHECK pop_error *machine_load(machine *m, const pop_image *image,
                                       const tile_stack *stacks);
/* Where the states of the tile's vertices begin, in any segment, ascending. In a segment of states a vertex may write from
 * where its own begins (the argument of its tile.call) to where the next one begins, or the segment ends; so do the workers that a
 * vertex on the supervisor starts; control code may write nowhere. Before the tile runs; machine_reset forgets them. The array need not live on. Errors: INDEX, FILE_LOAD if
 * they are not ascending. */
POP_MUST_CHECK pop_error *machine_set_states(machine *m, uint32_t tile, const uint32_t *starts,
                                             size_t count);
/* A vertex that takes so many cycles of the tile, whatever its code does: on the supervisor all of it, on
 * a worker from its tile.call to the next one or to tile.exit, or until it returns: to code that measures it. */
typedef struct machine_estimate {
  uint32_t vertex_state; /* the tile.call's argument */
  uint64_t cycles;       /* 0: as many as its code takes, which are noted */
  bool until_return;     /* on a worker, too */
  bool on_all_workers;   /* of cycles that are noted, the slowest worker's are kept */
} machine_estimate;
/* For a tile, in any order, each state once; they take the place of those that it had. After loading, before
 * the tile runs; machine_reset forgets them. The array need not live on. */
POP_MUST_CHECK pop_error *machine_set_estimates(machine *m, uint32_t tile,
                                                const machine_estimate *estimates, size_t count);
/* What a vertex took when it last ran, in cycles of the tile, if its estimate asked for that; otherwise 0, and until then. */
uint64_t machine_vertex_cycles(const machine *m, uint32_t tile, uint32_t vertex_state);
uint32_t machine_loaded_bytes(const machine *m, uint32_t tile); /* bytes put in tile memory */

/* Runs until every tile waits in tile.hostsync; *event is the value that all of them reported (it
 * is an EXCHANGE_ERROR if they differ, or if some tile waits for an internal sync then). `answer` is
 * what the tile.hostsync that they wait in returns (unused in the first run after load). A device
 * fault ends the run with RUNTIME and a short message; machine_get_fault tells more. After a fault
 * memory can be read, and machine_run fails until the machine is loaded anew (machine_reset). */
POP_MUST_CHECK pop_error *machine_run(machine *m, uint32_t answer, uint32_t *event);

/* Ends the run that goes on, and each one from here on until machine_go: every tile that has something to do faults with
 * STOPPED, where it is when it sees that, some milliseconds later. From any thread or signal handler. */
void machine_stop(machine *m);
void machine_go(machine *m);

/* *event where machine_run stops because all tiles wait for the machine's replicas: machines that are
 * loaded with the same images, and run each by machine_run. When all of them have come to this, so that
 * they can go on: */
#define MACHINE_REPLICA_SYNC UINT32_MAX
/* All replicas of a graph: those of this process, one after the other, and how many there are before them and in all.
 * Each rank has as many as the others. */
typedef struct machine_group {
  machine *const *own;
  uint32_t num_own, first, total;
  ranks *ranks;
  uint64_t latest; /* cycle in which the last of all has come to where they wait */
} machine_group;
/* The latest that one of its tiles has come to. */
uint64_t machine_latest_clock(const machine *m);
/* Lets them go on, all in one cycle, and does what their tiles exchange: within this process by copies, with other ranks
 * by messages. *faulted is the machine of this process with the fault when that is the result; num_own: none of them. */
POP_MUST_CHECK pop_error *machine_sync_replicas(const machine_group *group, uint32_t *faulted);
/* An exchange that all ranks have had has a number, the same on all since the machines were loaded. Which one the replicas of this
 * process wait for now; MACHINE_NO_EXCHANGE: none, or another one. */
#define MACHINE_NO_EXCHANGE UINT32_MAX
uint32_t machine_kept_exchange(const machine_group *group);
/* machine_sync_replicas where that is the same number on all ranks: nothing is read or checked, and no rank says anything more. */
POP_MUST_CHECK pop_error *machine_sync_replicas_again(const machine_group *group, uint32_t number);
/* All tiles wait for the host: none goes on before this cycle. */
void machine_wait_until(machine *m, uint64_t cycle);
const machine_fault *machine_get_fault(const machine *m); /* kind NONE if there is none */
const char *machine_fault_name(machine_fault_kind kind);

/* Memory of the host's for tiles to exchange with: records of equal size, one behind the other. */
typedef struct machine_window {
  uint8_t *memory;
  uint64_t record_bytes, num_records; /* their product fits in size_t */
  const char *name;                   /* for messages: "remote buffer 'weights'"; NULL: none */
} machine_window;

/* Runs the host exchange code that tiles gave with the tile.hostsync in which they wait (isa.h), with
 * these windows: between two machine_runs. Nothing is moved if any of it is wrong: then the result is
 * RUNTIME, and the fault INVALID_EXCHANGE_CONFIGURATION, INVALID_ADDRESS, or INVALID_OPERAND for a
 * number of a record that there is not (`address` is the number).
 * What tiles read from the host must be there before; what they write is there afterwards. Tiles'
 * clocks move by what it takes. */
POP_MUST_CHECK pop_error *machine_host_exchange(machine *m, const machine_window *windows,
                                                size_t num_windows);

/* Forgets images, fault and cycles: as new. */
void machine_reset(machine *m);

/* The host's view of tile memory, between runs; address range checked (INDEX). */
POP_MUST_CHECK pop_error *machine_read(const machine *m, uint32_t tile, uint32_t address,
                                       void *bytes, uint32_t size);
POP_MUST_CHECK pop_error *machine_write(machine *m, uint32_t tile, uint32_t address,
                                        const void *bytes, uint32_t size);

/* The same for many ranges, whose bytes are one behind the other at `bytes`; of ranges that overlap it is
 * not said which is written last. */
POP_MUST_CHECK pop_error *machine_read_ranges(const machine *m, const memory_range *ranges,
                                              size_t count, void *bytes);
POP_MUST_CHECK pop_error *machine_write_ranges(machine *m, const memory_range *ranges, size_t count,
                                               const void *bytes);

typedef struct machine_counters {
  uint64_t cycles;       /* global: of the slowest tile, syncs included, since load */
  uint64_t instructions; /* executed by all contexts of all tiles */
  uint64_t supersteps;
  uint64_t exchanged_bytes; /* received by all tiles, from tiles of any IPU */
  uint64_t global_bytes;    /* that went to another IPU or replica; to several IPUs: once each */
  uint64_t host_bytes;      /* moved between tiles and host by host exchange code */
} machine_counters;
machine_counters machine_get_counters(const machine *m);
/* The global cycle of the last sync, since load. From any thread, while the machine runs. */
uint64_t machine_cycles_passed(const machine *m);

/* One event of a run, for profilers and tests; called by machine_run in order when set. */
typedef enum machine_trace_kind {
  MACHINE_TRACE_COMPUTE, /* a tile's workers from tile.run to tile.wait */
  MACHINE_TRACE_VERTEX, /* machine_trace_vertices: from the end of tile.call to that of the return */
  MACHINE_TRACE_EXCHANGE,
  MACHINE_TRACE_SYNC,
  MACHINE_TRACE_HOST_SYNC,
  MACHINE_TRACE_HOST_EXCHANGE,
  MACHINE_TRACE_GLOBAL_EXCHANGE
} machine_trace_kind;
typedef struct machine_trace_event {
  machine_trace_kind kind;
  uint32_t tile;     /* SYNC: internal: the IPU's first tile; external, HOST_SYNC: 0 */
  uint32_t argument; /* COMPUTE: control table of the first worker; VERTEX: address of its state;
                        exchanges: code address; syncs: zone, 0 internal, 1 external, 2 of all replicas */
  uint32_t context;  /* VERTEX: the worker's number, or the supervisor's; otherwise 0 */
  uint64_t from, to; /* global cycles, half-open */
  uint64_t bytes;    /* EXCHANGE, GLOBAL_EXCHANGE: received; HOST_EXCHANGE: moved */
} machine_trace_event;
typedef void (*machine_trace_callback)(void *context, const machine_trace_event *event);
void machine_set_trace(machine *m, machine_trace_callback callback, void *context);
/* From now on the trace has the vertices, too: those of workers in front of their COMPUTE event, worker by worker.
 * Before the first run: what is native code by then is not watched. It changes no cycles. */
void machine_trace_vertices(machine *m);

/* tile.print: called while the tile runs, on the thread that runs it; requests of one tile come in
 * order. `format` and `arguments` are addresses, to be read with machine_read. Answers the bytes of
 * text. Without a callback nothing is printed. */
typedef struct machine_print {
  uint32_t tile, context;
  uint32_t vertex_state; /* as in machine_fault */
  uint32_t format, arguments;
  uint64_t superstep;
} machine_print;
typedef uint32_t (*machine_print_callback)(void *context, const machine_print *request);
void machine_set_print(machine *m, machine_print_callback callback, void *context);

#endif
