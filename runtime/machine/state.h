/* What a machine is made of, and who does what to it:
 *
 *   images --memory.c--> tile memory, segments, stacks
 *   code words --decode.c--> code pages --interpret.c--> one context runs until it needs others
 *   code words --translate*.c--> units --translator/--> native code that does the same, sooner
 *   superstep.c runs supervisors and workers of all tiles from sync to sync; control.c runs those that do
 *   the same once
 *   exchange.c turns the exchange code of a superstep into a plan of copies, once; exchange_run.c runs it
 *   global_exchange.c moves what goes from IPU to IPU
 *   host_exchange.c moves what tiles and host exchange in a host sync
 *   float_control.c does floating point where control registers say more than IEEE 754
 *   estimate.c sees vertices begin and end: for the trace, and where they are said to take so many cycles
 *   machine.c creates, counts, reports
 */
#ifndef MACHINE_STATE_H
#define MACHINE_STATE_H

#include "base/thread_pool.h"
#include "code_pages.h"
#include "isa/isa.h"
#include "machine.h"
#include <pthread.h>
#include <stdatomic.h>

enum { NUM_CONTEXTS = ISA_MAX_WORKERS + 1 };

/* A range of tile memory with its place in the host's. `start` and `size` are multiples of 4, so
 * an aligned access is inside if its first byte is. */
typedef struct window {
  uint32_t start, size;
  uint8_t *host; /* of `start` */
} window;

/* Why interpret() returned. */
typedef enum stop {
  STOP_NATIVE, /* at context.pc native code can go on */
  STOP_SLICE,  /* it has run as long as it should */
  STOP_FAULT,  /* context.fault says which */
  STOP_WAIT,   /* supervisor: tile.wait */
  STOP_EXIT,   /* worker: tile.exit */
  STOP_CALL,   /* where watches_calls: tile.call is done, the vertex begins at context.pc */
  STOP_RETURN, /* context.pc is context.returns_to */
  STOP_SYNC,
  STOP_ANS, /* tile.sync ISA_SYNC_ANS, while syncs are open that it has acknowledged */
  STOP_HOST_SYNC,
  STOP_EXCHANGE,
  STOP_GLOBAL_EXCHANGE,
  STOP_REPLICA_EXCHANGE
} stop;

/* Of a tile.exchange of this zone. */
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
  uint32_t fflags;    /* without what the host still holds */
  uint32_t frm;
  uint32_t float_control; /* isa.h */
  uint32_t number;        /* worker 0-5, MACHINE_SUPERVISOR */
  uint64_t clock;         /* global cycle in which the next instruction starts */
  uint64_t instructions;  /* done since the context started */
  uint32_t vertex_state, vertex_entry, run_argument;
  /* Most accesses fall into one of these; memory_access decides about the others. */
  window readable, writable, stack;
  /* What the instruction that stopped the context asked for. */
  uint32_t sync_argument; /* sync: the zone; hostsync: the event; exchange: address of the code */
  uint32_t sync_rd;       /* hostsync: where the answer goes */
  uint32_t host_code;     /* hostsync: address of host exchange code, or 0 */
  /* estimate.c: the vertex that runs has an estimate, or its cycles are noted at tile.noted[note - 1]. */
  bool is_estimated, ends_at_return;
  uint32_t note;
  uint32_t returns_to; /* where the vertex returns to, if that is watched; otherwise 0 */
  uint64_t called_at, estimated_end;
  machine_fault fault; /* STOP_FAULT; num_faults and superstep are filled in later */
} context;

typedef struct worker_start {
  bool started; /* by tile.run, and not waited for */
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
  window readable, writable;       /* the largest of the kind; `writable` leaves out the stacks */
  window stacks[NUM_CONTEXTS];     /* size 0: not known; [num_workers] … are unused but the last */
  uint32_t code_start, code_bytes; /* around all executable segments, whole pages */
  const code_page **pages;         /* of that range; NULL until run */
  const code_page **controlled_pages; /* for contexts with float control; NULL until there is one */
  uint32_t float_initial;             /* isa.h: what workers start with */
  uint32_t random[NUM_CONTEXTS][NUM_RANDOM_WORDS];
  tile_entry *entries; /* where native code starts: hash table of translate.c */
  uint32_t num_entries, num_entry_slots;
  flag_use reads_flags;        /* can its code read fflags? */
  machine_estimate *estimates; /* ascending by state */
  uint64_t *noted;             /* by number of the estimate: cycles that were noted last */
  size_t num_estimates;
  uint32_t *states; /* where those of vertices begin, ascending */
  size_t num_states;
  worker_start workers[ISA_MAX_WORKERS];
  context supervisor; /* while it runs; between its runs what others ask for is in tile_stops */
  uint64_t instructions;
  bool writes_states;          /* has native code met a vertex that does? */
  uint64_t native_questions;   /* accesses that native code has asked memory_access about */
  machine_trace_event *events; /* of this superstep, where they are traced: COMPUTE, VERTEX */
  size_t num_events, events_capacity;
} tile;

/* Syncs that a tile has acknowledged (tile.sans). It runs on to STOP_ANS before the first of them is resolved. */
typedef struct tile_acks {
  uint32_t open; /* that have not happened; 0: the rest means nothing */
  uint32_t zone;
  uint64_t clock; /* when it asked for the first */
} tile_acks;

/* Where supervisors are between their runs: arrays by tile, so that going over all tiles is quick. */
typedef struct tile_stops {
  uint64_t *clocks;     /* global cycle in which the supervisor goes on */
  uint8_t *waiting;     /* stop */
  uint32_t *asked;      /* SYNC, ANS: zone; …EXCHANGE: address of the code; HOST_SYNC: the event */
  uint32_t *host_codes; /* HOST_SYNC: address of host exchange code, or 0 */
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
  uint8_t *memory; /* address space for all tiles and what lies around them */
  size_t reserved_bytes;
  thread_pool *pool;
  pthread_mutex_t code_lock; /* of `code` */
  code_cache code;
  translation *translation; /* NULL: everything is interpreted */
  exchange_plans *plans;
  struct host_plans *host_plans;           /* host_exchange.c */
  struct global_messages *global_messages; /* global_remote.c; in the first machine of a rank */
  struct global_kept *global_kept;         /* global_kept.c; likewise */
  control *control;                        /* NULL: every tile is alone */
  bool started;                            /* all tiles wait in tile.hostsync */
  /* Cycle at which the current run ends. To stop it is to set it to 0: whoever runs looks at it now and then. */
  _Atomic uint64_t limit;
  atomic_bool stopped;     /* machine_stop */
  _Atomic uint64_t passed; /* machine_cycles_passed */
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

static inline uint64_t cycle_limit(const machine *m)
{
  return atomic_load_explicit(&m->limit, memory_order_relaxed);
}

/* Do contexts of the tile stop at each tile.call (estimate.c)? */
static inline bool watches_calls(const machine *m, const tile *t)
{
  return t->num_estimates || m->traces_vertices;
}

/* memory.c: tile memory, its protection, decoded code of a tile. */
pop_error *memory_reserve(machine *m);
void memory_clear(machine *m); /* back to all zero */
void memory_release(machine *m);
bool memory_is_reserved(const machine *m, const void *place); /* a tile's or between tiles */
void memory_unload(tile *t);                                  /* frees what machine_load made */

/* Is an access of `bytes` (1, 2 or 4) at `address` legal? Returns its place in the host's memory,
 * or NULL and c->fault (kind, address, detail). `by_sp` for a store relative to sp. */
uint8_t *memory_access(machine *m, const tile *t, context *c, uint32_t address, uint32_t bytes,
                       bool store, bool by_sp);
/* Are the `bytes` (at least 1) at `address` within segments (writable ones, executable ones)? */
/* May a context load that? */
bool memory_may_load(const machine *m, const tile *t, uint32_t address, uint32_t bytes);
bool memory_contains(const tile *t, uint32_t address, uint32_t bytes, bool writable,
                     bool executable);
/* Are they within one writable segment, and nothing of a stack or of states of vertices? */
bool memory_is_plain(const tile *t, uint32_t address, uint32_t bytes);
/* Of the state of the context's own vertex: whole words of it to which memory_access allows all stores, whatever sp is.
 * Size 0: none. */
window memory_own_state(const machine *m, const tile *t, const context *c);
/* Whole words around `address` that are neither a stack's nor a state's, to which memory_access allows the context all stores,
 * whatever sp is. Size 0: none. */
window memory_data_around(const machine *m, const tile *t, const context *c, uint32_t address);
/* Is there such data outside of the tile's window of stores? */
bool memory_has_data_apart(const tile *t);
/* The code page of `pc`; NULL if there is no code or `pc` is not a multiple of 4. */
const code_page *memory_code_page(machine *m, tile *t, uint32_t pc, bool controlled);
uint32_t memory_word(const machine *m, const tile *t, uint32_t address);

/* interpret.c: runs `c`, one of t's contexts, until it stops; on a machine that translates, also
 * until it comes to native code or has used about `slice` issue slots. */
stop interpret(machine *m, tile *t, context *c, uint64_t slice);
/* Where the code of each operation is, by id: what decoding puts into pages. */
const void *const *interpret_pieces(void);

/* csr.c: a CSR instruction; `cycle` and `instructions` are what counters show. False: there is no such CSR,
 * or it may not be written. */
bool csr_execute(tile *t, context *c, const operation *op, uint64_t cycle, uint64_t instructions);

/* translate.c: native code for what runs often. */
pop_error *translate_start(machine *m); /* as m->options.engine says */
void translate_end(machine *m);
void translate_open(machine *m); /* machine_run begins */
void translate_close(machine *m);
void translate_forget_tile(tile *t);
/* The code at `pc` is worth it. */
void translate_want(machine *m, tile *t, uint32_t pc);
bool translate_has(const tile *t, const context *c, uint32_t pc);
/* As interpret(), on native code where there is some. */
stop translate_run(machine *m, tile *t, context *c);

/* estimate.c: runs a context of a tile with estimates by `run`, which is interpret() or translate_run(). */
stop estimate_run(machine *m, tile *t, context *c, stop (*run)(machine *, tile *, context *));
void estimate_forget(tile *t);

/* superstep.c */
/* Zone 2: all tiles of all replicas go on. */
void superstep_release_replicas(const machine_group *group);
void superstep_start_supervisor(machine *m, tile *t, uint32_t entry);
/* Notes the fault of a tile (called in tile order: the first one stays, the others are counted). */
void superstep_fault(machine *m, const machine_fault *fault);
/* A fault of a tile's supervisor at `pc`, in the cycle that its clock shows. */
machine_fault superstep_supervisor_fault(const machine *m, const tile *t, machine_fault_kind kind,
                                         uint32_t pc);
pop_error *superstep_error(const machine *m); /* the fault as an error */
void superstep_trace(machine *m, machine_trace_kind kind, uint32_t tile, uint32_t argument,
                     uint64_t from, uint64_t to, uint64_t bytes);

/* exchange_run.c: runs the exchange code of every tile that waits for STOP_EXCHANGE from the cycle on that
 * its clock shows, and moves these clocks. Faults go to superstep_fault. */
void exchange_run(machine *m);
void exchange_forget(machine *m);      /* all plans */
void host_exchange_forget(machine *m); /* all plans */
void global_remote_forget(machine *m); /* memory of messages */
void global_kept_forget(machine *m);   /* all exchanges */

/* global_exchange.c: the same for STOP_GLOBAL_EXCHANGE and global exchange code. */
void global_exchange_run(machine *m);

#endif
