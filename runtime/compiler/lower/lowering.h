/* The state of pass_lower while it works, and what its files do:
 *
 *   lower.c          programs -> steps; calls the others
 *   vertex.c         a compute set -> vertex states, workers, buffers and transfers to fill them
 *   vertex_fields.c  fields of vertices -> pointers to data or to buffers
 *   vertex_state.c   pointers and values -> bytes of vertex states and tables
 *   vertex_bytes.c   what those bytes are for, for profiles
 *   rules.c          constraints of vertex types -> rules about ranges of blocks
 *   copy.c           copy programs -> transfers
 *   copy_group.c     adjacent independent copies -> one exchange; access_sets.c: what they access
 *   replica.c        copies from replica to replica -> exchanges
 *   control.c        values that decide branches -> all tiles
 *   stream.c         copies from and to streams -> drafts of host exchanges
 *   remote.c         copies from and to remote buffers -> drafts of host exchanges
 *   host_exchange.c  drafts -> packets that tiles exchange with the host
 *   host.c           handles and printed tensors -> host tensors
 *   trace.c          what debug.trace prints
 *   transfer.c       transfers between places -> exchange messages and copies
 *   rows.c           strided words from other tiles -> contiguous rows, and strided copies
 *   constants.c      transfers from uniform constants -> copies on the tile
 *   tile_copies.c    copies on tiles -> copy vertices and their descriptors
 *   access.c         what a step reads and writes
 *   unwritten.c      a warning about variables that are only read
 */
#ifndef COMPILER_LOWER_LOWERING_H
#define COMPILER_LOWER_LOWERING_H

#include "compiler/compilation.h"
#include "compiler/reach.h"

/* Bytes that must get from one place to another. */
typedef struct transfer {
  uint32_t source_tile, destination_tile;
  place source, destination;
  uint32_t bytes; /* > 0 */
} transfer;

typedef struct transfer_list {
  transfer *items;
  size_t count, capacity;
} transfer_list;

/* Bytes that a vertex on `tile` copies: once, or `count` times with strides. */
typedef struct copy {
  uint32_t tile;
  place source, destination;
  uint32_t bytes;                            /* of each of the `count` copies */
  uint32_t count;                            /* > 0 */
  int32_t source_stride, destination_stride; /* bytes; count > 1 */
  uint32_t worker;                           /* by tile_copies.c */
} copy;

typedef struct copy_list {
  copy *items;
  size_t count, capacity;
} copy_list;

static inline copy plain_copy(uint32_t tile, place source, place destination, uint32_t bytes)
{
  return (copy){
      .tile = tile, .source = source, .destination = destination, .bytes = bytes, .count = 1};
}

typedef struct step_list {
  uint32_t *items;
  size_t count, capacity;
} step_list;

/* access.c: what is known of a block while steps are recorded. */
typedef struct block_use {
  uint32_t data_bytes; /* bytes of the block that mean something; UINT32_MAX for buffers */
  bool fresh; /* a buffer that no step has written yet: the first write begins its live range */
  uint32_t recording; /* number of the recording that `access` belongs to */
  uint32_t access;    /* in c->accesses */
} block_use;

/* The built-in copy vertices (runtime/poplibs/copy.cpp). */
typedef enum copy_kind { COPY_PLAIN, COPY_STRIDED, COPY_KIND_COUNT } copy_kind;

/* Vertices by compute set. Those of set i, in order of tiles: vertices[first[i]] to
 * vertices[first[i + 1] - 1]. */
typedef struct vertices_by_compute_set {
  uint32_t *vertices;
  size_t *first;
} vertices_by_compute_set;

typedef struct lowering {
  compilation *c;
  reach reach;
  block_use *uses; /* by block */
  size_t num_uses, uses_capacity;
  uint32_t recording;
  uint32_t *used_types; /* by vertex type of the graph: in c->vertex_types, or COMPILER_NONE */
  const pop_vertex_type *copy_types[COPY_KIND_COUNT]; /* NULL: not loaded yet */
  uint32_t used_copy_types[COPY_KIND_COUNT];          /* in c->vertex_types, or COMPILER_NONE */
  vertices_by_compute_set by_compute_set;
} lowering;

/* ---- lower.c ---- */
uint32_t add_step(lowering *l, step_kind kind, const char *name, uint32_t index);

/* ---- access.c ---- */
/* Adds a buffer of the compiler's. Its live range begins at the first step that writes it. */
uint32_t add_buffer(lowering *l, uint32_t tile, uint32_t size, uint32_t align,
                    pop_memory_category category, uint8_t flags, const char *name);
void record_variable_blocks(lowering *l);
/* Accesses recorded between begin_accesses and end_accesses belong to the step. */
void begin_accesses(lowering *l, uint32_t step);
void record_read(lowering *l, uint32_t block);
void record_write(lowering *l, uint32_t block, uint32_t bytes);
void end_accesses(lowering *l, uint32_t step);

/* ---- unwritten.c ---- */
/* Once all accesses are recorded. */
void warn_of_unwritten(const compilation *c);

/* ---- tile_copies.c ---- */
/* Appends a copy to the list. If it continues the last copy, or repeats it at the stride that it
 * has, it is merged into that copy. */
void append_copy(copy_list *list, copy next);
/* Adds to `steps` a step that does the copies, in parallel; none if there are no copies.
 * `all_names`: as in lowered_compute_set. */
POP_MUST_CHECK pop_error *lower_copies(lowering *l, const copy_list *copies, const char *name,
                                       const char *all_names, step_list *steps);

/* ---- transfer.c ---- */
/* Names of the steps of transfers. `all`: the names of all copies that have a part in each step, or
 * NULL if there is only one copy. */
typedef struct transfer_names {
  const char *exchange, *copy;
  struct {
    const char *exchange;
    const char *exchange_of_all; /* if transfers within a tile are sent, too */
    const char *global_exchange;
    const char *copy;
  } all;
} transfer_names;

/* Adds the steps for transfers that may happen in any order: exchanges and a compute set, each only
 * if needed. */
POP_MUST_CHECK pop_error *lower_transfers(lowering *l, const transfer_list *transfers,
                                          const transfer_names *names, step_list *steps);

/* The same for transfers that rows.c has staged already, followed by the given copies on tiles. */
POP_MUST_CHECK pop_error *lower_staged_transfers(lowering *l, const transfer_list *transfers,
                                                 copy_list *copies, const transfer_names *names,
                                                 step_list *steps);

/* Adds an exchange between replicas. Transfers are of whole words, and no destination is also a
 * source. `map` is indexed by replica, in the compilation's arena.
 *
 * `headers`, also in the arena: packet headers that the program writes, one for each transfer.
 * There is then one transfer on each tile, and it only says which blocks the words may be in. NULL:
 * the transfers are exactly as given. */
void lower_replica_transfers(lowering *l, const transfer_list *transfers, const uint32_t *map,
                             const tile_headers *headers, const char *name, step_list *steps);

/* ---- replica.c ---- */
POP_MUST_CHECK pop_error *lower_replica_copy(lowering *l, const program *copied, step_list *steps);

/* ---- vertex.c ---- */
vertices_by_compute_set group_by_compute_set(const pop_graph *graph, uint32_t num_tiles);
/* Adds the steps of a compute set: bring the inputs, execute, take the outputs away. */
POP_MUST_CHECK pop_error *lower_compute_set(lowering *l, uint32_t compute_set, step_list *steps);
uint32_t use_vertex_type(compilation *c, const pop_vertex_type *type);

/* ---- control.c ---- */
/* Adds the steps that bring the control of a Switch or While to all tiles. *out: its number. */
POP_MUST_CHECK pop_error *lower_control(lowering *l, const program *decides, const char *name,
                                        step_list *steps, uint32_t *out);
/* A SWITCH or WHILE step reads its control. */
void record_control_reads(lowering *l, uint32_t step);

/* ---- host.c ---- */
void lower_handles(compilation *c);
uint32_t add_host_event(lowering *l, const host_event *event); /* returns its step */
/* The step of a PrintTensor or AssumeEqualAcrossReplicas. */
uint32_t lower_host_view(lowering *l, const program *viewed);
/* The step of a print that debug.trace has asked for. */
uint32_t lower_traced_tensor(lowering *l, uint32_t tensor, const char *title);

/* ---- trace.c ---- */
/* Adds steps that print what a compute set reads, before it, or what it has written, after it. */
void lower_traced_set(lowering *l, uint32_t compute_set, bool after, step_list *steps);
/* The same for a copy. */
void lower_traced_copy(lowering *l, const program *copy, bool after, step_list *steps);

#endif
