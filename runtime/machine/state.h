/* What a machine consists of, and which file does what to it:
 *
 *   images --memory.c--> tile memory, segments, stacks
 *   code words --code_pages.c--> code pages --interpret.c--> one context runs until it needs others
 *   code words --translate*.c--> units --translator/--> native code that does the same, faster
 *   superstep.c runs supervisors and workers of all tiles from sync to sync
 *   control.c runs supervisors that do the same only once
 *   exchange.c turns the exchange code of a superstep into a plan of copies, once
 *   exchange_run.c runs such plans
 *   global_exchange.c moves data between IPUs and between replicas
 *   host_exchange.c moves data between tiles and host in a host sync
 *   float_control.c does floating point where control registers ask for more than IEEE 754
 *   estimate.c watches vertices begin and end: for the trace, and for estimated cycles
 *   machine.c creates machines, and has faults and counters */
#ifndef MACHINE_STATE_H
#define MACHINE_STATE_H

#include "base/thread_pool.h"
#include "code_pages.h"
#include "isa/isa.h"
#include "machine.h"
#include <pthread.h>
#include <stdatomic.h>

enum { NUM_CONTEXTS = ISA_MAX_WORKERS + 1 };

/* A range of tile memory with its place in the host's memory. `start` and `size` are multiples of
 * 4, so an aligned access lies inside if its first byte does. */
typedef struct window {
  uint32_t start, size;
  uint8_t *host; /* of `start` */
} window;

/* Why interpret() returned. */
typedef enum stop {
  STOP_NATIVE, /* native code can go on at context.pc */
  STOP_SLICE,  /* its slice is used up */
  STOP_FAULT,  /* context.fault says which */
  STOP_WAIT,   /* supervisor: tile.wait */
  STOP_EXIT,   /* worker: tile.exit */
  STOP_CALL,   /* only if watches_calls(): after tile.call; the vertex begins at context.pc */
  STOP_RETURN, /* context.pc is context.returns_to */
  STOP_SYNC,
  STOP_ANS, /* tile.sync ISA_SYNC_ANS, while acknowledged syncs are open */
  STOP_HOST_SYNC,
  STOP_EXCHANGE,
  STOP_GLOBAL_EXCHANGE,
  STOP_REPLICA_EXCHANGE
} stop;

/* The stop of a tile.exchange of this zone. */
static inline stop stop_of_exchange(uint32_t zone)
{
  static const stop stops[] = {[ISA_SYNC_INTERNAL] = STOP_EXCHANGE,
                               [ISA_SYNC_EXTERNAL] = STOP_GLOBAL_EXCHANGE,
                               [ISA_SYNC_REPLICAS] = STOP_REPLICA_EXCHANGE};
  return stops[zone];
}

typedef struct context {
  uint32_t x[REGISTER_SINK + 1]; /* x[0] is always 0 */
  uint32_t f[2 * 32]; /* the registers' low words, then their high ones (isa.h: PACKED) */
  uint32_t pc;        /* where to go on */
  uint32_t fflags;    /* without the flags that the host still holds */
  uint32_t frm;
  uint32_t float_control; /* isa.h */
  uint32_t number;        /* worker 0-5, MACHINE_SUPERVISOR */
  uint64_t clock;         /* global cycle in which the next instruction starts */
  uint64_t instructions;  /* executed since the context started */
  uint32_t vertex_state, vertex_entry, run_argument;
  /* Most accesses lie in one of these windows; memory_access decides about the others. */
  window readable, writable, stack;
  /* What the instruction that stopped the context asks for. */
  uint32_t sync_argument; /* sync: the zone; hostsync: the event; exchange: address of the code */
  uint32_t sync_rd;       /* hostsync: where the answer goes */
  uint32_t host_code;     /* hostsync: address of host exchange code, or 0 */
  /* estimate.c: the running vertex has an estimate; or its cycles are noted at tile.noted[note -
   * 1]. */
  bool is_estimated, ends_at_return;
  uint32_t note;
  uint32_t returns_to; /* where the vertex returns to, if its return is watched; otherwise 0 */
  uint64_t called_at, estimated_end;
  machine_fault fault; /* STOP_FAULT; num_faults and superstep are filled in later */
} context;

typedef struct worker_start {
  bool started; /* started by tile.run, and not waited for */
  uint32_t pc, argument;
  uint64_t clock; /* global cycle in which tile.run ended */
} worker_start;

typedef struct tile_entry tile_entry; /* translate.c */
typedef struct translation translation;

typedef enum flag_use { FLAGS_UNKNOWN, FLAGS_IGNORED, FLAGS_READ } flag_use;

typedef struct tile {
  uint32_t number;
  bool loaded;
  uint32_t loaded_bytes;
  uint8_t *memory; /* of memory_base */
  pop_image_segment *segments;
  size_t num_segments;
  window readable, writable;   /* the largest of their kind; `writable` without stacks */
  window stacks[NUM_CONTEXTS]; /* size 0: not known; from num_workers on only the last is used */
  uint32_t code_start, code_bytes;    /* around all executable segments, whole pages */
  const code_page **pages;            /* of that range; NULL until code on it runs */
  const code_page **controlled_pages; /* for contexts with float control; NULL until there is one */
  uint32_t float_initial;             /* float control of workers at their start (isa.h) */
  uint32_t random[NUM_CONTEXTS][NUM_RANDOM_WORDS];
  tile_entry *entries; /* entries of native code: hash table of translate.c */
  uint32_t num_entries, num_entry_slots;
  flag_use reads_flags;        /* can its code read fflags? */
  machine_estimate *estimates; /* ascending by state */
  uint64_t *noted;             /* by number of the estimate: cycles noted last */
  size_t num_estimates;
  uint32_t *states; /* starts of the vertices' states, ascending */
  size_t num_states;
  worker_start workers[ISA_MAX_WORKERS];
  context supervisor; /* while it runs; between its runs tile_stops has what it asked for */
  uint64_t instructions;
  bool writes_states;          /* has a vertex in native code written its own state? */
  uint64_t native_questions;   /* calls of translated_access */
  machine_trace_event *events; /* of this superstep, if traced: COMPUTE, VERTEX */
  size_t num_events, events_capacity;
  /* estimate.c: cycles by which the run's limit is later here, in this superstep. */
  uint64_t limit_extension;
} tile;

/* Syncs that a tile has acknowledged (tile.sans). The tile runs on to STOP_ANS before the first of
 * them is resolved. */
typedef struct tile_acks {
  uint32_t open; /* how many have not happened; 0: the other fields have no meaning */
  uint32_t zone;
  uint64_t clock; /* when the tile acknowledged them */
} tile_acks;

/* Where supervisors wait between their runs. Arrays by tile, so that a loop over all tiles is
 * fast. */
typedef struct tile_stops {
  uint64_t *clocks;        /* global cycle in which the supervisor goes on */
  uint8_t *waiting;        /* stop */
  uint32_t *stop_argument; /* SYNC, ANS: zone; …EXCHANGE: code address; HOST_SYNC: the event */
  uint32_t *host_codes;    /* HOST_SYNC: address of host exchange code, or 0 */
  tile_acks *acks;
} tile_stops;

typedef struct exchange_plans exchange_plans;
typedef struct control control; /* control.c */

struct machine {
  pop_target target;
  machine_options options;
  uint32_t num_tiles;
  atomic_uint num_loaded;
  tile *tiles;
  tile_stops at;
  uint8_t *memory; /* address space for all tiles, and the guard regions around them */
  size_t reserved_bytes;
  thread_pool *pool;
  pthread_mutex_t code_lock; /* of `code` */
  code_cache code;
  translation *translation; /* NULL: everything is interpreted */
  exchange_plans *plans;
  struct host_plans *host_plans;           /* host_exchange.c */
  struct global_messages *global_messages; /* global_remote.c; in the first machine of a rank */
  struct global_cache *global_cache;       /* global_cache.c; likewise */
  control *control;                        /* NULL: every tile is alone */
  bool started;                            /* all tiles wait in tile.hostsync */
  /* Cycle at which the current run ends. machine_stop sets it to 0; every thread that runs tiles
   * reads it now and then. */
  _Atomic uint64_t limit;
  atomic_bool extends_limit; /* in this superstep: a tile has a limit_extension */
  atomic_bool stopped;       /* machine_stop */
  _Atomic uint64_t passed;   /* machine_cycles_passed */
  uint64_t supersteps;
  uint64_t exchanged_bytes, host_bytes, global_bytes;
  uint64_t control_instructions; /* that supervisors of groups have executed */
  machine_fault fault;
  bool traces_vertices;
  machine_trace_callback trace;
  void *trace_context;
  machine_print_callback print;
  void *print_context;
};

/* The limit for a tile. 0: the run has been stopped. */
static inline uint64_t cycle_limit(const machine *m, const tile *t)
{
  uint64_t limit = atomic_load_explicit(&m->limit, memory_order_relaxed), later;
  if (!limit || !t->limit_extension) return limit;
  return __builtin_add_overflow(limit, t->limit_extension, &later) ? UINT64_MAX : later;
}

/* Do contexts of the tile stop at each tile.call (estimate.c)? */
static inline bool watches_calls(const machine *m, const tile *t)
{
  return t->num_estimates || m->traces_vertices;
}

/* memory.c: tile memory, its protection, a tile's decoded code. */
pop_error *memory_reserve(machine *m);
void memory_clear(machine *m); /* back to all zero */
void memory_release(machine *m);
bool memory_is_reserved(const machine *m, const void *place); /* of a tile, or between tiles */
void memory_unload(tile *t);                                  /* frees what machine_load made */

/* Is an access of `bytes` (1, 2 or 4) at `address` legal? Returns its place in the host's memory;
 * or NULL, and sets c->fault (kind, address, detail). `by_sp`: a store relative to sp. */
uint8_t *memory_access(machine *m, const tile *t, context *c, uint32_t address, uint32_t bytes,
                       bool store, bool by_sp);
/* May a context load these bytes? */
bool memory_may_load(const machine *m, const tile *t, uint32_t address, uint32_t bytes);
/* Do these bytes (at least 1) lie within segments: only writable ones (`writable`), only executable
 * ones (`executable`)? */
bool memory_contains(const tile *t, uint32_t address, uint32_t bytes, bool writable,
                     bool executable);
/* Are they within one writable segment, outside of stacks and of states of vertices? */
bool memory_is_plain(const tile *t, uint32_t address, uint32_t bytes);
/* The part of the own vertex's state, in whole words, to which memory_access allows all stores of
 * the context, whatever sp is. Size 0: none. */
window memory_own_state(const machine *m, const tile *t, const context *c);
/* Whole words around `address`, in no stack and no state, to which memory_access allows all stores
 * of the context, whatever sp is. Size 0: none. */
window memory_data_around(const machine *m, const tile *t, const context *c, uint32_t address);
/* Is there such data outside of the tile's writable window? */
bool memory_has_data_apart(const tile *t);
/* The code page of `pc`; NULL if there is no code or `pc` is not a multiple of 4. */
const code_page *memory_code_page(machine *m, tile *t, uint32_t pc, bool controlled);
uint32_t memory_word(const machine *m, const tile *t, uint32_t address);

/* interpret.c: runs `c`, one of t's contexts, until it stops. On a machine that translates, it also
 * stops at native code, and after about `slice` issue slots. */
stop interpret(machine *m, tile *t, context *c, uint64_t slice);
/* By id: the address of the code that executes the operation. Decoding puts it into pages. */
const void *const *interpret_pieces(void);

/* csr.c: executes a CSR instruction. `cycle` and `instructions`: values of the counters. False:
 * there is no such CSR, or it may not be written. */
bool csr_execute(tile *t, context *c, const operation *op, uint64_t cycle, uint64_t instructions);

/* translate.c: native code for code that runs often. */
pop_error *translate_start(machine *m); /* as m->options.engine says */
void translate_end(machine *m);
void translate_open(machine *m); /* machine_run begins */
void translate_close(machine *m);
void translate_forget_tile(tile *t);
/* Asks for native code at `pc`. */
void translate_request(machine *m, tile *t, uint32_t pc);
bool translate_has(const tile *t, const context *c, uint32_t pc);
/* Like interpret(), on native code where there is any. */
stop translate_run(machine *m, tile *t, context *c);

/* estimate.c: runs a context of a tile whose calls are watched. `run` is interpret() or
 * translate_run(). */
stop estimate_run(machine *m, tile *t, context *c, stop (*run)(machine *, tile *, context *));
void estimate_forget(tile *t);
/* At the end of a superstep: extends the run's limit by what vertices are said to take. */
void estimate_extend_limit(machine *m);

/* superstep.c */
/* Zone 2: all tiles of all replicas go on. */
void superstep_release_replicas(const machine_group *group);
void superstep_start_supervisor(machine *m, tile *t, uint32_t entry);
/* Notes the fault of a tile. Called in tile order: the first fault is kept, the others are
 * counted. */
void superstep_fault(machine *m, const machine_fault *fault);
/* A fault of a tile's supervisor at `pc`, in the cycle that its clock shows. */
machine_fault superstep_supervisor_fault(const machine *m, const tile *t, machine_fault_kind kind,
                                         uint32_t pc);
pop_error *superstep_error(const machine *m); /* the fault as an error */
void superstep_trace(machine *m, machine_trace_kind kind, uint32_t tile, uint32_t argument,
                     uint64_t from, uint64_t to, uint64_t bytes);

/* exchange_run.c: runs the exchange code of every tile that waits for STOP_EXCHANGE, from the cycle
 * on that its clock shows, and advances these clocks. Faults go to superstep_fault. */
void exchange_run(machine *m);
void exchange_forget(machine *m);      /* all plans */
void host_exchange_forget(machine *m); /* all plans */
void global_remote_forget(machine *m); /* memory of messages */
void global_cache_free(machine *m);    /* all exchanges */

/* global_exchange.c: the same for STOP_GLOBAL_EXCHANGE and global exchange code. */
void global_exchange_run(machine *m);

#endif
