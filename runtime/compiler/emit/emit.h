/* What the files of the emit pass share.
 *
 *   emit.c           per tile: stacks, worker stubs, control tables; then control code, as a block
 *   control.c        the script as supervisor code
 *   flow.c           loops, branches and the marks of blocks in it
 *   exchange_code.c  exchange code
 *   acknowledge.c    rows of syncs in which the tile has no part
 *   instrument.c     code that measures the other code
 *   blocks.c         lightweight profiling: code that times blocks; block_tiles.c: on which tiles
 */
/* In what order a tile runs its vertices of a compute set:
 *
 *   1. The supervisor's vertices, one after the other. The supervisor calls them itself, on its own
 *      stack, with a0 = state, a1 = address of a stub for workers. No worker runs then, so such a
 *      vertex may start workers (and must wait for them before it returns).
 *   2. Every worker goes through its list: the multi vertices, which all workers run, then its own.
 *      There is no barrier between the vertices: what one worker does in a multi vertex is
 *      independent of what the others do, like vertices of a compute set.
 *
 * So multi vertices need no sync of their own: a worker that has done its part of one goes on with
 * the next.
 */
#ifndef COMPILER_EMIT_EMIT_H
#define COMPILER_EMIT_EMIT_H

#include "compiler/emit/assembler.h"
#include "compiler/script.h"

/* Where the tile measures something, by its number. An entry is valid for the tile whose number + 1
 * is the stamp. */
typedef struct instrumented {
  uint32_t *offset, *stamp;
} instrumented;

/* The state of the emitter on one tile. Tiles come in ascending order, so that each compute set's
 * works and each exchange's tiles are traversed once, with a cursor. */
typedef struct emitter {
  compilation *c;
  script script;
  uint32_t tile;
  assembler code; /* control code of the tile */
  /* Blocks; COMPILER_NONE: none. */
  uint32_t stub;      /* worker.stub, on tiles that run vertices */
  uint32_t list_stub; /* worker.list_stub, once a vertex has needed it */

  size_t *next_work;       /* by compute set: first work not before the tile */
  size_t *next_exchange;   /* by exchange: first tile_exchange not before the tile */
  uint32_t *control_table; /* by compute set: block; valid for the tile of the stamp */
  uint32_t *exchange_code; /* by exchange: likewise */
  uint32_t *table_stamp, *exchange_stamp; /* tile + 1 */
  size_t *next_packet;                    /* by host exchange: first packet not before the tile */
  uint32_t *host_code; /* by host exchange: block; valid for the tile of the stamp */
  uint32_t *host_stamp;

  const char **table_names; /* by compute set */
  uint32_t *entry_offsets;  /* by vertex type: in the code block of code group `entries_of` */
  uint32_t entries_of;

  /* instrument.c: */
  uint32_t results; /* block of the results; COMPILER_NONE: nothing yet */
  uint32_t num_result_words;
  instrumented instrumented[MEASURE_KINDS];
  uint32_t branch_event;          /* number of the event that reports the branches taken; 0: none */
  uint32_t branches, branches_of; /* where branches are recorded, on tile branches_of - 1 */
  /* blocks.c: */
  uint32_t *flush_every; /* by op: flush before it: 0: never, 1: each time, n: every n-th time */
  uint32_t flush_event;  /* number; 0: none */
  size_t mark_routine;   /* position of the routine, on tiles with a buffer */
  /* block_tiles.c: */
  bool *block_ipus;      /* by block, then by IPU: the IPU has a part in the block */
  uint32_t *stream_tile; /* by host exchange, then IPU: a tile that times it, or COMPILER_NONE */
  bool *times_streams;   /* by tile: is it in stream_tile? */

  uint32_t supervisor_stack_bytes;
  size_t *shared_at; /* by script op: position of the shared step's code; SIZE_MAX: none */
  size_t *last_row;  /* by script op: 1 + index of its last row in acknowledged; 0: none */
} emitter;

enum { MAX_WORKER_CONTEXTS = 6 };

/* The number of vertices of a work on the supervisor, on all workers, and on each worker alone. */
typedef struct work_shares {
  uint32_t num_supervisor, num_all, num_own[MAX_WORKER_CONTEXTS];
  bool measured; /* each list begins with the address for the cycles of its vertices */
} work_shares;
work_shares share_work(const compilation *c, const tile_work *work);
/* The number of workers that have vertices: they are the first ones. */
uint32_t num_started(const work_shares *shares);

/* The number of vertices that a worker calls. */
static inline uint32_t list_calls(const work_shares *shares, uint32_t worker)
{
  return shares->num_all + shares->num_own[worker];
}

/* Bytes of a started worker's list in the control table. */
static inline uint32_t list_bytes(const work_shares *shares, uint32_t worker)
{
  return list_calls(shares, worker) * 8 + 4 + 4 * shares->measured;
}

typedef struct vertex_call {
  place entry, state;
} vertex_call;
vertex_call emitter_call(emitter *e, const tile_work *work, uint32_t position);

/* The tile's work in a compute set, or NULL. */
const tile_work *emitter_find_work(emitter *e, uint32_t compute_set);
/* Where the cycles of its vertices go, if they are measured: one word for each call, in the order
 * of executable_num_calls. */
place emitter_vertex_cycles(emitter *e, uint32_t compute_set, const tile_work *work);
/* The block of the stub for workers that vertices start; added at the first request. */
uint32_t emitter_list_stub(emitter *e);
/* The block of its control table; added at the first request. */
uint32_t emitter_control_table(emitter *e, uint32_t compute_set, const tile_work *work);

/* exchange_code.c: the block of the tile's code for an exchange, added at the first request;
 * COMPILER_NONE if the tile takes no part. */
uint32_t emitter_exchange_code(emitter *e, uint32_t exchange);

bool emitter_takes_part(emitter *e, uint32_t exchange);

/* acknowledge.c: for an exchange in which the tile has no part. If more of them follow in a row,
 * emits the acknowledgement of all of them and returns the op of the last. Otherwise emits nothing
 * and returns `op`. `end` is the end of the body's ops. */
uint32_t put_acknowledged_row(emitter *e, uint32_t op, uint32_t end);

/* Does an instruction before the packet's say which record it is about? `before` is the tile's
 * previous packet, or NULL. */
bool packet_begins_record(const host_packet *before, const host_packet *packet);

/* Like emitter_exchange_code, for a host exchange. */
uint32_t emitter_host_exchange_code(emitter *e, uint32_t exchange);

/* control.c: fills e->code. */
POP_MUST_CHECK pop_error *emit_control_code(emitter *e);

/* Adds finished code as a block of the tile, with its patches; empties the assembler. */
uint32_t emitter_add_code(emitter *e, assembler *code, pop_memory_category category,
                          const char *name);

/* link/live_sections.c: distance in bytes between the thread-local data of one worker and the
 * next. */
uint32_t tls_stride_bytes(const pop_live_sections *live);

#endif
