/* What the files of the emit pass share.
 *
 *   emit.c           per tile: stacks, worker stub, control tables, then control code; the blocks of it
 *   control.c   the script as supervisor code
 *   exchange_code.c  exchange code
 *   acknowledge.c    rows of syncs in which the tile has no part
 *   instrument.c  code that measures the others
 */
/* When the vertices of a tile run in a compute set:
 *
 *   1. those of the supervisor, one after the other: it calls them itself, on its own stack, with
 *      a0 = state, a1 = address of a stub for workers. No worker runs then: such a vertex may start
 *      workers (and has to wait for them before it returns).
 *   2. every worker goes through its list: the vertices of all workers, then its own. Workers do not
 *      wait for each other in between: what one worker does in a vertex of all of them is
 *      independent of what the others do, as it is for vertices.
 *
 * So the vertices of all workers need no sync of their own, and a worker that has done its part of
 * one goes on with the next.
 */
#ifndef COMPILER_EMIT_EMIT_H
#define COMPILER_EMIT_EMIT_H

#include "compiler/emit/assembler.h"
#include "compiler/script.h"

/* Where the tile measures something, by its number; of the tile that the stamp says (tile + 1). */
typedef struct instrumented {
  uint32_t *offset, *stamp;
} instrumented;

/* The emitter at work on one tile. Tiles come in ascending order, so that each compute set's works
 * and each exchange's tiles are gone through once, with a cursor. */
typedef struct emitter {
  compilation *c;
  script script;
  uint32_t tile;
  assembler code; /* control code of the tile */
  /* Blocks, COMPILER_NONE: not there. */
  uint32_t stub;      /* worker.stub, on tiles that have work */
  uint32_t list_stub; /* worker.list_stub, when it was asked for */

  size_t *next_work;       /* by compute set: first work not before the tile */
  size_t *next_exchange;   /* by exchange: first tile_exchange not before the tile */
  uint32_t *control_table; /* by compute set: block, of the tile that the stamp says */
  uint32_t *exchange_code; /* by exchange: likewise */
  uint32_t *table_stamp, *exchange_stamp; /* tile + 1 */
  size_t *next_packet;                    /* by host exchange: first packet not before the tile */
  uint32_t *host_code; /* by host exchange: block, of the tile that the stamp says */
  uint32_t *host_stamp;

  const char **table_names; /* by compute set */
  uint32_t *entry_offsets;  /* by vertex type: in the code block of code group `entries_of` */
  uint32_t entries_of;

  /* instrument.c: */
  uint32_t results; /* block of what is measured; COMPILER_NONE: nothing yet */
  uint32_t num_result_words;
  instrumented instrumented[MEASURE_KINDS];
  uint32_t branch_event; /* number of the event that tells which way branches went; 0: none */
  uint32_t branches, branches_of; /* where that is recorded, on tile branches_of - 1 */
  /* blocks.c: */
  uint32_t *
      flush_every; /* by op: 1: buffers are emptied in front of it; more: each so many times; 0: not */
  uint32_t flush_event; /* number; 0: none */
  size_t mark_routine;  /* position, on tiles with a buffer */
  /* block_tiles.c: */
  bool *block_ipus; /* by block, then by IPU: it has a part in the block */
  uint32_t *
      stream_tile; /* by host exchange, then IPU: a tile that times it; COMPILER_NONE: none takes part */
  bool *times_streams; /* by tile: it is one of them */

  uint32_t supervisor_stack_bytes;
  size_t *shared_at; /* by script op: position of the shared step's code; SIZE_MAX: none */
  size_t *
      last_row; /* by script op: behind the row of compilation.acknowledged that was begun there last; 0: none */
} emitter;

enum { MAX_WORKER_CONTEXTS = 6 };

/* How many vertices of a work the supervisor has, all workers, and each worker by itself. */
typedef struct work_shares {
  uint32_t num_supervisor, num_all, num_own[MAX_WORKER_CONTEXTS];
  bool measured; /* lists begin with where cycles of vertices are stored */
} work_shares;
work_shares share_work(const compilation *c, const tile_work *work);
/* Workers that have vertices: 0 to one less than the answer. */
uint32_t num_started(const work_shares *shares);

/* How many vertices a worker calls. */
static inline uint32_t list_calls(const work_shares *shares, uint32_t worker)
{
  return shares->num_all + shares->num_own[worker];
}

/* Bytes of the list in the control table of a worker that is started. */
static inline uint32_t list_bytes(const work_shares *shares, uint32_t worker)
{
  return list_calls(shares, worker) * 8 + 4 + 4 * shares->measured;
}

typedef struct vertex_call {
  place entry, state;
} vertex_call;
vertex_call emitter_call(emitter *e, const tile_work *work, uint32_t position);

/* What the tile does in a compute set, or NULL. */
const tile_work *emitter_find_work(emitter *e, uint32_t compute_set);
/* Where the cycles of its vertices go, where they are measured: one word for each call, in the order of
 * executable_num_calls. */
place emitter_vertex_cycles(emitter *e, uint32_t compute_set, const tile_work *work);
/* The block of the stub for workers that vertices start; made when it is first asked for. */
uint32_t emitter_list_stub(emitter *e);
/* The block of its control table; made when it is first asked for. */
uint32_t emitter_control_table(emitter *e, uint32_t compute_set, const tile_work *work);

/* exchange_code.c: the block of the tile's code for an exchange, or COMPILER_NONE if it takes no
 * part; made when it is first asked for. */
uint32_t emitter_exchange_code(emitter *e, uint32_t exchange);

bool emitter_takes_part(emitter *e, uint32_t exchange);

/* acknowledge.c: at an exchange in which the tile has no part: emits the acknowledgement of it and of those behind it, if
 * there are any in a row, and answers the op of the last; otherwise emits nothing, and answers `op`. `end` is behind the
 * ops of the body. */
uint32_t put_acknowledged_row(emitter *e, uint32_t op, uint32_t end);

/* Is there an instruction in front of the packet's that says what record it is about? `before` is the
 * tile's packet before it, or NULL. */
bool packet_begins_record(const host_packet *before, const host_packet *packet);

/* The same as emitter_exchange_code for a host exchange. */
uint32_t emitter_host_exchange_code(emitter *e, uint32_t exchange);

/* control.c: fills e->code. */
POP_MUST_CHECK pop_error *emit_control_code(emitter *e);

/* Makes a block of the tile of finished code and notes its patches; empties the assembler. */
uint32_t emitter_add_code(emitter *e, assembler *code, pop_memory_category category,
                          const char *name);

/* link/live_sections.c: bytes from one worker's thread-local data to the next one's. */
uint32_t tls_stride_bytes(const pop_live_sections *live);

#endif
