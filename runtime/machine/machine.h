/* The software IPU: tile images in, host syncs and faults out. It knows images and nothing else: no
 * graph, no compilation.
 *
 *   machine_create -> machine_load (each tile's image) -> machine_run (until the tiles sync with
 *   the host) -> machine_read/machine_write -> machine_run …
 *
 * All tiles start at their entry with the first machine_run. isa.h says what the instructions do
 * and cost. Everything is deterministic: workers of a tile run in the order of their numbers, tiles
 * in the order of theirs.
 *
 * Protection. A context may read its tile's used memory, write to writable segments of the image,
 * and execute executable ones. Faults:
 *
 *   INVALID_ADDRESS  a read or write outside the image's segments (with lenient_loads: a read
 *                    outside tile memory); a write to a read-only segment; a write to a segment
 *                    of vertex states by any other vertex than the one whose state it is
 *   STACK_OVERFLOW   a store by a worker into another context's stack, or below its own
 *                    (machine_load is told where the stacks are)
 *   MISALIGNED       an unaligned access
 *
 * No fault harms the host or another tile. */
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
  X(MACHINE_FAULT_INTERNAL, "INTERNAL_FAULT") /* a bug of the machine itself (guard.h) */

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
  /* tiles that faulted in this superstep; this fault is the first by (tile, context) */
  uint32_t num_faults;
  char detail[160]; /* more as text ("receive from tile 7 in cycle 12: …"), or "" */
} machine_fault;

/* What executes tile code. Results, cycles and faults are the same with each engine.
 *
 *   INTERPRETER  the reference
 *   TRANSLATOR   vertex code is compiled for the host before it runs
 *   AUTO         a thread of its own compiles code that runs long enough, while the interpreter
 *                runs; if nothing can be compiled, everything is interpreted */
typedef enum machine_engine {
  MACHINE_INTERPRETER,
  MACHINE_TRANSLATOR,
  MACHINE_AUTO
} machine_engine;

typedef struct machine_options {
  uint64_t max_cycles_per_run; /* of one tile between two host syncs; 0: no limit */
  machine_engine engine;
  uint32_t num_threads;   /* of the host, for tiles; 0: as many as the process may use */
  uint32_t float_control; /* what workers start with once the tile is loaded (isa.h) */
  uint64_t random_seed;   /* for the random numbers of all contexts at load; 0: none */
  /* as on the chip: loads from anywhere in tile memory; 0 where the image has nothing */
  bool lenient_loads;
  uint64_t warm_up; /* AUTO: instructions to interpret before compiling; 0: a default that pays */
  /* Where compiled code is kept for the next process; NULL: nowhere. Not needed after the call. */
  const char *native_folder;
  uint64_t native_folder_max_bytes; /* all its files together; 0: no limit */
  /* For tests: every tile executes its own control code, and every word is copied by itself. */
  bool plain;
} machine_options;

typedef struct machine machine;

POP_MUST_CHECK pop_error *machine_create(const pop_target *target, const machine_options *options,
                                         machine **out);
void machine_free(machine *m); /* NULL is fine */

/* Loads the image of `image->tile`: its bytes, entry and segments (no symbols). `stacks` has
 * NUM_TILE_STACKS entries, by context; NULL: no stack is known. Each tile of the target must be
 * loaded exactly once before the first run; several threads may do that at once. Errors: FILE_LOAD
 * naming the tile (loaded twice, number past the target, larger than tile memory: "N bytes more
 * than the tile has"). Image and stacks need not live on. */
POP_MUST_CHECK pop_error *machine_load(machine *m, const pop_image *image,
                                       const tile_stack *stacks);
/* Sets the starts of the states of the tile's vertices, in any segment, ascending. In a segment of
 * states a vertex may write from the start of its own state (the argument of its tile.call) to the
 * start of the next one, or to the segment's end. So may the workers that a vertex on the
 * supervisor starts. Control code may write nowhere there. To be called before the tile runs;
 * machine_reset forgets the states. The array need not live on. Errors: INDEX; FILE_LOAD if they
 * are not ascending. */
POP_MUST_CHECK pop_error *machine_set_states(machine *m, uint32_t tile, const uint32_t *starts,
                                             size_t count);
/* A vertex that takes this many cycles of the tile, whatever its code does. On the supervisor they
 * cover its whole run. On a worker they cover its tile.call to the next one or to tile.exit; or,
 * for code that measures it, to its return. */
typedef struct machine_estimate {
  uint32_t vertex_state; /* the tile.call's argument */
  uint64_t cycles;       /* 0: none; the cycles of its code are noted */
  bool until_return;     /* on a worker, too */
  bool on_all_workers;   /* of noted cycles the slowest worker's are kept */
} machine_estimate;
/* Sets the tile's estimates, in any order, each state once; they replace the earlier ones. To be
 * called after loading, before the tile runs; machine_reset forgets them. The array need not live
 * on. */
POP_MUST_CHECK pop_error *machine_set_estimates(machine *m, uint32_t tile,
                                                const machine_estimate *estimates, size_t count);
/* The cycles of the tile that the vertex took in its last run, if its estimate asked for them;
 * otherwise, and before its first run, 0. */
uint64_t machine_vertex_cycles(const machine *m, uint32_t tile, uint32_t vertex_state);
uint32_t machine_loaded_bytes(const machine *m, uint32_t tile); /* bytes put in tile memory */

/* Runs until every tile waits in tile.hostsync. *event is the value that all of them reported; if
 * they differ, or if some tile then waits for an internal sync, that is an EXCHANGE_ERROR. `answer`
 * is the result of the tile.hostsync in which the tiles wait (unused in the first run after load).
 * A device fault ends the run with RUNTIME and a short message; machine_get_fault tells more. After
 * a fault memory can be read, and machine_run fails until machine_reset and a new load. */
POP_MUST_CHECK pop_error *machine_run(machine *m, uint32_t answer, uint32_t *event);

/* Ends the current run, and each later one until machine_clear_stop. Every tile that has something
 * to do faults with STOPPED, at the place where it notices, some milliseconds later. From any
 * thread or signal handler. */
void machine_stop(machine *m);
void machine_clear_stop(machine *m);

/* *event if machine_run stops because all tiles wait for the machine's replicas. Replicas are
 * machines that are loaded with the same images; each is run by machine_run. When all of them have
 * stopped so, they can go on by: */
#define MACHINE_REPLICA_SYNC UINT32_MAX
/* All replicas of a graph. Those of this process are consecutive; `first` is the number before
 * them, `total` the number of all. Each rank has as many as the others. */
typedef struct machine_group {
  machine *const *own;
  uint32_t num_own, first, total;
  ranks *ranks;
  uint64_t latest; /* cycle in which the last of all replicas began to wait */
} machine_group;
/* The latest clock of its tiles. */
uint64_t machine_latest_clock(const machine *m);
/* Lets them go on, all in one cycle, and does their tiles' exchange: within this process by copies,
 * with other ranks by messages. If the result is a fault, *faulted is the machine of this process
 * that has it; num_own: none of them. */
POP_MUST_CHECK pop_error *machine_sync_replicas(const machine_group *group, uint32_t *faulted);
/* Exchanges that all ranks have done have numbers, the same on all ranks since the machines were
 * loaded. Returns the number of the one for which the replicas of this process wait;
 * MACHINE_NO_EXCHANGE: it is new, or they wait for none. */
#define MACHINE_NO_EXCHANGE UINT32_MAX
uint32_t machine_cached_exchange(const machine_group *group);
/* machine_sync_replicas if that number is the same on all ranks. Nothing is read or checked, and no
 * rank sends anything but the data. */
POP_MUST_CHECK pop_error *machine_replay_exchange(const machine_group *group, uint32_t number);
/* For tiles that all wait for the host: none goes on before this cycle. */
void machine_wait_until(machine *m, uint64_t cycle);
const machine_fault *machine_get_fault(const machine *m); /* kind NONE if there is none */
const char *machine_fault_name(machine_fault_kind kind);

/* Memory of the host for exchanges with tiles: consecutive records of equal size. */
typedef struct machine_window {
  uint8_t *memory;
  uint64_t record_bytes, num_records; /* their product fits in size_t */
  const char *name;                   /* for messages: "remote buffer 'weights'"; NULL: none */
} machine_window;

/* Runs the host exchange code that tiles gave with the tile.hostsync in which they wait (isa.h),
 * with these windows. To be called between two machine_runs. Nothing is moved if any of it is
 * wrong. Then the result is RUNTIME, and the fault is INVALID_EXCHANGE_CONFIGURATION,
 * INVALID_ADDRESS, or INVALID_OPERAND for a record number that does not exist (`address` is the
 * number). What tiles read must be in the windows before; what they write is there afterwards. The
 * tiles' clocks advance by the time that it takes. */
POP_MUST_CHECK pop_error *machine_host_exchange(machine *m, const machine_window *windows,
                                                size_t num_windows);

/* Forgets images, fault and cycles. */
void machine_reset(machine *m);

/* The host's view of tile memory, between runs; address range checked (INDEX). */
POP_MUST_CHECK pop_error *machine_read(const machine *m, uint32_t tile, uint32_t address,
                                       void *bytes, uint32_t size);
POP_MUST_CHECK pop_error *machine_write(machine *m, uint32_t tile, uint32_t address,
                                        const void *bytes, uint32_t size);

/* The same for many ranges, whose bytes are consecutive at `bytes`. If ranges overlap, their order
 * is not defined. */
POP_MUST_CHECK pop_error *machine_read_ranges(const machine *m, const memory_range *ranges,
                                              size_t count, void *bytes);
POP_MUST_CHECK pop_error *machine_write_ranges(machine *m, const memory_range *ranges, size_t count,
                                               const void *bytes);

typedef struct machine_counters {
  uint64_t cycles;       /* global cycle of the slowest tile since load, syncs included */
  uint64_t instructions; /* executed by all contexts of all tiles */
  uint64_t supersteps;
  uint64_t exchanged_bytes; /* received by all tiles, from tiles of any IPU */
  uint64_t global_bytes;    /* sent to another IPU or replica; once for each receiving IPU */
  uint64_t host_bytes;      /* moved between tiles and host by host exchange code */
} machine_counters;
machine_counters machine_get_counters(const machine *m);
/* The global cycle of the last sync, since load. From any thread, while the machine runs. */
uint64_t machine_cycles_passed(const machine *m);

/* One event of a run, for profilers and tests. machine_run calls the callback in the order of
 * events. */
typedef enum machine_trace_kind {
  MACHINE_TRACE_COMPUTE, /* a tile's workers from tile.run to tile.wait */
  /* if machine_trace_vertices: from the end of tile.call to that of the return */
  MACHINE_TRACE_VERTEX,
  MACHINE_TRACE_EXCHANGE,
  MACHINE_TRACE_SYNC,
  MACHINE_TRACE_HOST_SYNC,
  MACHINE_TRACE_HOST_EXCHANGE,
  MACHINE_TRACE_GLOBAL_EXCHANGE
} machine_trace_kind;
typedef struct machine_trace_event {
  machine_trace_kind kind;
  uint32_t tile; /* SYNC: internal: the IPU's first tile; external, HOST_SYNC: 0 */
  /* COMPUTE: control table of the first worker; VERTEX: address of its state; exchanges: code
   * address; syncs: zone, 0 internal, 1 external, 2 of all replicas */
  uint32_t argument;
  uint32_t context;  /* VERTEX: the worker's number, or the supervisor's; otherwise 0 */
  uint64_t from, to; /* global cycles, half-open */
  uint64_t bytes;    /* EXCHANGE, GLOBAL_EXCHANGE: received; HOST_EXCHANGE: moved */
} machine_trace_event;
typedef void (*machine_trace_callback)(void *context, const machine_trace_event *event);
void machine_set_trace(machine *m, machine_trace_callback callback, void *context);
/* From now on the trace has vertices, too: those of workers in front of their COMPUTE event, worker
 * by worker. To be called before the first run, because existing native code is not watched. It
 * changes no cycles. */
void machine_trace_vertices(machine *m);

/* tile.print. Called while the tile runs, on the thread that runs it; requests of one tile come in
 * order. `format` and `arguments` are addresses, to be read with machine_read. Returns the bytes of
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
