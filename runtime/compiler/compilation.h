/* The graph compiler: from a graph with programs to one memory image per tile.
 *
 * compile() (compile.c) runs the passes below in order over one struct. Each pass is a function
 * `pop_error *pass_name(struct compilation *)`; the README says in which file. What a pass adds is
 * listed in the struct, in the order of the passes.
 *
 *   check      every connected element mapped, fields complete, no two writers, no write beside a
 *              read in one compute set                                       (reads the graph only)
 *   place      each variable's elements on a tile become one block there
 *   lower      programs become steps: compute sets with vertex states, transfers between blocks
 *   exchange   transfers between tiles become timed exchange instructions
 *   ---- from here on no block of data is added; sizes of data are final ----
 *   liveness   live ranges of blocks
 *   live_sections  which functions each tile needs (tiles with equal needs share live sections)
 *   stack      how much stack the workers of each tile need
 *   emit       control code, control tables, exchange code as words with open addresses
 *   ---- from here on no block at all is added; all sizes are final ----
 *   allocate   an address for each block; regions; out of memory is found here
 *   account    memory by category and region, per tile
 *
 * Images are made from the result on demand, tile by tile (image/image.c), so that the memory
 * needed does not grow with the number of tiles.
 *
 * A `place` is a symbolic address: a byte offset in a block. Blocks get addresses in `allocate`.
 * Whatever holds an address before that has a fixup (relocation), which says which place's address
 * goes where.
 */
#ifndef COMPILER_COMPILATION_H
#define COMPILER_COMPILATION_H

#include "executable/measures.h"
#include "executable/profile.h"
#include "graph/graph.h"
#include <populus/archive.h>
#include <populus/executable.h>
#include <populus/image.h>
#include <populus/link.h>
#include <populus/memory.h>

#define COMPILER_NONE UINT32_MAX

/* How messages to several tiles are sent: once to all, or to each tile separately. */
typedef enum multicast_policy {
  MULTICAST_BALANCED, /* as exchange_target says */
  MULTICAST_ALWAYS,
  MULTICAST_NEVER
} multicast_policy;
typedef enum exchange_target {
  EXCHANGE_FOR_CYCLES,
  EXCHANGE_FOR_MEMORY,
  EXCHANGE_BALANCED
} exchange_target;

/* Lightweight profiling. Texts are extended regular expressions, "" for none; the struct does not
 * own them. */
typedef struct block_options {
  const char *filter;    /* which blocks are timed */
  const char *programs;  /* which programs are made blocks */
  const uint32_t *tiles; /* tiles of each IPU that time blocks */
  size_t num_tiles;
  uint32_t buffer_bytes; /* at least 64 */
  bool implicit_flush;
} block_options;

typedef struct compile_options {
  bool allow_out_of_memory;
  bool runs_out_of_memory;  /* memory continues past its end, as on a model */
  bool check_equality;      /* check at run time what AssumeEqualAcrossReplicas says */
  bool keep_duplicate_code; /* link all of several equal functions or constants */
  /* Minimum sizes, multiples of 16, also for vertices whose need is unknown; 0: what the code
   * needs. */
  uint32_t worker_stack_bytes; /* per worker */
  uint32_t supervisor_stack_bytes;
  bool sections_by_category; /* of images; otherwise one section, .text */
  bool global_symbols_only;  /* of images */
  bool drop_debug_information;
  bool verify;          /* check the result of each pass: verify.h */
  bool log_stack_sizes; /* log the stack size of each vertex type */
  bool trace;           /* print tensors before and after the steps that access them */
  uint32_t multicast_policy, exchange_target;
  instrumentation instrumentation;
  block_options blocks;
  uint32_t num_threads; /* that make images; 0: one per core */
} compile_options;

/* ---- blocks: contiguous memory on one tile ---- */

typedef struct place {
  uint32_t block;
  uint32_t offset; /* bytes */
} place;

/* How an address is packed: allocate/address_form.c has the bits. */
typedef enum address_form {
  ADDRESS_WORD, /* 32 bits */
  ADDRESS_SHORT_SPAN,
  ADDRESS_DELTANELEMENTS_TABLE,
  ADDRESS_SCALED_PTR32,
  ADDRESS_SCALED_PTR64,
  ADDRESS_SCALED_PTR128,
  ADDRESS_DELTAN_ROW,
  ADDRESS_DELTANELEMENTS_ROW_1, /* by bytes of an element */
  ADDRESS_DELTANELEMENTS_ROW_2,
  ADDRESS_DELTANELEMENTS_ROW_4,
  ADDRESS_DELTANELEMENTS_ROW_8,
  ADDRESS_FORM_COUNT
} address_form;

typedef struct fixup {
  uint32_t at;   /* offset of the address in the content that holds it */
  place target;  /* whose address goes there */
  uint32_t form; /* address_form; all but ADDRESS_WORD keep the other bits */
} fixup;

enum {
  BLOCK_ALWAYS_LIVE = 1, /* code, tables, states, variables that keep values between runs */
  BLOCK_CODE = 2,        /* executable and read-only: region 0 */
  BLOCK_READ_ONLY = 4,   /* constants of the linker; not constants of the user */
  BLOCK_INTERLEAVED = 8, /* must be in region 1 */
  /* No codelet may write these, except a vertex its own state. They are placed after the code,
   * unless a rule is about them. */
  BLOCK_TABLE = 16,  /* a table of the compiler: its content never changes */
  BLOCK_STATES = 32, /* of vertices */
  BLOCK_UNIFORM = 64 /* a constant: the same 8 bytes repeated, up to the padding at its end */
};

typedef struct block {
  uint32_t tile;
  uint32_t size;                  /* bytes, > 0 */
  uint32_t align;                 /* power of two, >= 4 */
  uint8_t category;               /* pop_memory_category */
  uint8_t flags;                  /* BLOCK_… */
  const char *name;               /* for the symbol: the variable's, compute set's, …; never NULL */
  uint32_t content;               /* in compilation.contents; COMPILER_NONE: zero bytes at load */
  uint32_t first_step, last_step; /* liveness: the live range, inclusive; unless ALWAYS_LIVE */
  uint32_t address;               /* allocate */
} block;

/* Initial bytes of a block: `size` bytes from compilation.bytes, and the addresses in them
 * (fixups). */
typedef struct content {
  size_t first_byte;
  uint32_t size;
  size_t first_fixup;
  uint32_t num_fixups;
} content;

/* ---- place: where the elements of a variable are ---- */

/* Elements [begin, end) of a variable are at `at`, in order. Intervals are ascending and disjoint
 * for each variable. A variable has one block per tile, with its intervals packed in element order.
 * But all intervals of a constant that wraps are at the pattern of their tile
 * (lower/constants.h). */
typedef struct placed_interval {
  uint64_t begin, end;
  uint32_t tile;
  place at; /* of element `begin` */
} placed_interval;

typedef struct placed_variable {
  const char *name; /* in the compilation's arena */
  pop_type element_type;
  bool constant;
  uint32_t rank;
  const size_t *shape; /* in the compilation's arena */
  size_t first_interval;
  size_t num_intervals;
  uint32_t first_block, num_blocks; /* all blocks of the variable, consecutive */
  const char *type;                 /* element type and shape: "float[300,40]" */
} placed_variable;

/* A pattern: the same eight bytes repeated, in a block on a tile. It serves constants whose
 * elements are all equal (lower/constants.c). */
typedef struct tile_pattern {
  uint64_t value; /* the eight bytes: equal elements */
  uint32_t tile, block;
} tile_pattern;

typedef struct tile_patterns {
  tile_pattern *slots;     /* by hash; block COMPILER_NONE: free */
  size_t count, num_slots; /* a power of two, or none yet */
} tile_patterns;

/* ---- lower: where vertices want their data ---- */

/* Bytes [begin, end) of a block. */
typedef struct block_range {
  uint32_t block, begin, end;
} block_range;

/* A constraint of a vertex type, applied to two ranges on this tile. */
typedef struct placement_rule {
  const pop_vertex_type *type; /* type of the first vertex that asked for it */
  uint32_t constraint;         /* in the type */
  uint32_t tile;
  block_range ranges[2]; /* of its two sides */
} placement_rule;

/* ---- lower: steps ---- */

/* lowered_vertex.worker of a vertex that is not run by a single worker. */
enum { ON_SUPERVISOR = 0x100, ON_ALL_WORKERS = 0x101 };

typedef struct lowered_vertex {
  uint32_t type;         /* in compilation.vertex_types */
  uint32_t graph_vertex; /* COMPILER_NONE: a copy vertex that the compiler has added */
  uint32_t state_offset; /* in the state block of its work */
  uint32_t worker;       /* 0 … num_worker_contexts - 1, ON_SUPERVISOR, ON_ALL_WORKERS */
  uint64_t cycles;       /* vertex.cycle_estimate of the graph's vertex */
  uint64_t flops;        /* … and its flop_estimate */
} lowered_vertex;

/* What one tile does in a compute set. Its state block (category vertexInstanceState) holds the
 * states of all its vertices. */
typedef struct tile_work {
  uint32_t tile;
  uint32_t state_block;
  /* In compilation.vertices: those on the supervisor, then those on all workers, then the others by
   * worker. Within each part in the graph's order. */
  size_t first_vertex;
  uint32_t num_vertices;
  uint32_t num_uses;
  size_t first_use; /* in compilation.vertex_uses: bytes of its vertices, by type */
} tile_work;

typedef struct lowered_compute_set {
  const char *name;
  const char *all_names;      /* of all copies in it, for profiles; NULL: `name` */
  uint32_t graph_compute_set; /* COMPILER_NONE for copies that the compiler added */
  size_t first_work;          /* in compilation.works, ascending by tile */
  size_t num_works;
} lowered_compute_set;

/* A vertex type that the compilation uses. The .gp that holds it is retained. */
typedef struct used_vertex_type {
  const pop_vertex_type *type;
  uint64_t num_instances;
  estimate_source estimated_by; /* source of the estimate of vertices without one of their own */
  uint32_t stack_bytes;         /* stack: bytes needed, or a default if unknown; a multiple of 16 */
} used_vertex_type;

/* ---- exchange ---- */

/* Words that one tile sends once and one or more tiles receive. In an exchange within IPUs they are
 * on the same IPU and receive in the same cycle. */
typedef struct message {
  uint32_t source_tile;
  uint32_t num_words;
  place source;          /* word aligned */
  size_t first_receiver; /* in compilation.receivers */
  uint32_t num_receivers;
} message;

typedef struct receiver {
  uint32_t tile;
  place destination; /* word aligned */
} receiver;

typedef enum exchange_op_kind {
  EXCHANGE_SEND,            /* place, count = words (1 to 128) */
  EXCHANGE_RECEIVE_ADDRESS, /* place */
  EXCHANGE_RECEIVE_MUX,     /* tile, count = words (1 to 256) */
  EXCHANGE_DELAY,           /* count = cycles */
  EXCHANGE_END,
  EXCHANGE_GLOBAL_SEND,    /* place: of the packet header */
  EXCHANGE_GLOBAL_RECEIVE, /* place: of the packet header */
  EXCHANGE_REPLICA_MAP     /* place: of the map */
} exchange_op_kind;

typedef struct exchange_op {
  uint32_t kind;
  uint32_t count;
  place at;      /* SEND, RECEIVE_ADDRESS, GLOBAL_… */
  uint32_t tile; /* RECEIVE_MUX */
} exchange_op;

typedef struct tile_exchange {
  uint32_t tile;
  size_t first_op; /* in compilation.exchange_ops */
  uint32_t num_ops;
  uint32_t cycles; /* of the tile's code; global: without the time on the way */
  uint64_t bytes_sent, bytes_received;
} tile_exchange;

/* As isa/isa.h numbers them. */
typedef enum exchange_zone {
  EXCHANGE_WITHIN_IPUS,
  EXCHANGE_BETWEEN_IPUS,
  EXCHANGE_BETWEEN_REPLICAS /* sender and receivers are in two replicas */
} exchange_zone;

/* Where a tile has the packet headers of an exchange, if the program has made them. */
typedef struct tile_headers {
  uint32_t tile;
  place at;
} tile_headers;

typedef struct exchange {
  const char *name;            /* "mulCS/ExchangePre", "mulCS/GlobalPre/GlobalExchange" */
  const char *all_names;       /* of all copies in it, for profiles; NULL: `name` */
  uint32_t zone;               /* exchange_zone */
  const uint32_t *replica_map; /* BETWEEN_REPLICAS: receiver of each replica, or NONE */
  const tile_headers *
      headers; /* BETWEEN_REPLICAS: headers that vertices write, of one send and one receive on each
                * tile, ascending by tile; messages then only say which blocks may be meant. NULL:
                * the exchange pass makes the headers */
  size_t num_headers;
  size_t first_message; /* by lower */
  size_t num_messages;
  size_t first_tile; /* by exchange: in compilation.tile_exchanges, ascending by tile */
  size_t num_tiles;
  /* By exchange, not WITHIN_IPUS: see executable_exchange. */
  uint64_t link_bytes, gateway_bytes;
} exchange;

/* ---- steps and the lowered program ---- */

/* What a step does to a block: for liveness. One record per step and block. */
typedef struct block_access {
  uint32_t block;
  bool reads;
  uint32_t bytes_written; /* == block size: all of it */
} block_access;

typedef enum step_kind {
  STEP_SEQUENCE,      /* children in order */
  STEP_REPEAT,        /* one child, count times */
  STEP_SWITCH,        /* one child per case of control `index`, then the default */
  STEP_WHILE,         /* condition, body; while control `index` is false (count 0) or true (1) */
  STEP_EXECUTE,       /* compute set `index` */
  STEP_EXCHANGE,      /* exchange `index` */
  STEP_SYNC,          /* of all tiles; `index` is the zone of tile.sync */
  STEP_WRITE_UNDEF,   /* no code: the contents of the blocks are not needed any more */
  STEP_HOST_EXCHANGE, /* host exchange `index`, in a host sync */
  STEP_HOST_EVENT,    /* host sync that reports event `index` (see host_event) */
  STEP_BLOCK          /* one child, which profiles call block `index` */
} step_kind;

/* A value that decides a branch. Each tile reads it in its own memory: the tile that holds it in
 * place, every other one in a block that an exchange has filled. */
typedef struct control {
  pop_type type; /* an integer of up to 32 bits, or bool */
  uint32_t tile; /* that holds it */
  place source;
  uint32_t first_copy; /* block of the copy on tile 0; those of tiles 1, … follow, without `tile` */
  size_t first_value;  /* SWITCH: in compilation.case_values, one value per case */
} control;

/* Steps form a DAG: a step that is used in several places is emitted once and called. */
typedef struct step {
  step_kind kind;
  const char *name;
  uint32_t index;
  uint32_t count;        /* REPEAT: trip count; WHILE: above; SWITCH: 1 if on false and true */
  bool calls_supervisor; /* EXECUTE: on some tile the supervisor runs a vertex of it */
  uint32_t num_uses;     /* by other steps and by control programs */
  size_t first_child;    /* in compilation.children */
  size_t num_children;
  size_t first_access; /* in compilation.accesses; leaves only */
  size_t num_accesses;
} step;

/* ---- host ---- */

/* As executable_tensor_kind. */
typedef enum host_tensor_kind {
  HOST_WRITE,
  HOST_READ,
  HOST_PRINT,        /* PrintTensor */
  HOST_COMPARE,      /* AssumeEqualAcrossReplicas */
  HOST_REPLICA_INDEX /* the replica's number is written there at load time */
} host_tensor_kind;

/* A tensor that the host reads or writes: its elements in order. */
typedef struct host_run {
  uint32_t tile;
  place at;
  uint32_t bytes;
} host_run;

typedef struct host_tensor {
  const char *name; /* handle, or the title of a PrintTensor */
  host_tensor_kind kind;
  pop_type type;
  uint32_t rank;
  const size_t *shape; /* in the compilation's arena */
  uint64_t num_elements;
  uint32_t num_replicas; /* if all replicas are in the graph: the first dimension; otherwise 1 */
  size_t first_run;      /* in compilation.host_runs */
  size_t num_runs;
} host_tensor;

/* What the tiles report to the host by a number, which counts from 1: 0 is "the program is
 * done". */
typedef enum host_event_kind {
  HOST_EVENT_PRINT,
  HOST_EVENT_TRACE, /* a print for debug.trace */
  HOST_EVENT_ABORT,
  HOST_EVENT_EXCHANGE,
  HOST_EVENT_ASSUME_EQUAL,
  HOST_EVENT_BRANCHES, /* the record of the branches taken is full */
  HOST_EVENT_FLUSH     /* buffers of block marks may be full */
} host_event_kind;
typedef struct host_event {
  host_event_kind kind;
  const char *name;    /* of the program */
  const char *message; /* ABORT, PRINT: as of the program */
  /* PRINT, TRACE, ASSUME_EQUAL: host tensor; ABORT: tile that holds the predicate, or
   * COMPILER_NONE; EXCHANGE: host exchange */
  uint32_t index;
} host_event;

/* A data stream of the graph. */
typedef struct stream_info {
  const char *name;
  pop_type type;
  bool to_device;
  uint64_t num_elements;
  uint64_t split_bytes; /* a copy of more is several host exchanges; 0: never */
  uint32_t depth;       /* number of copies that may be prefetched */
  pop_replicated_stream_mode mode;
  uint32_t replica, num_replicas; /* as in host_stream */
  bool is_used;                   /* by a control program */
} stream_info;

/* A remote buffer of the graph. */
typedef struct remote_info {
  const char *name;
  pop_type type;
  uint64_t num_elements, repeats;
  uint32_t replica, num_replicas;
  bool is_used;
} remote_info;

/* A window: what the host offers in a host exchange. It is a stream's copy or a part of one, or
 * rows of a remote buffer. */
typedef struct host_window {
  bool remote;
  uint32_t object;       /* in streams, or in remote_buffers */
  uint64_t begin, bytes; /* start of the first record in the copy or buffer; size of a record */
  uint64_t records;
} host_window;

/* A packet: rows of equal size, with equal strides on the tile and in a record of a window. */
typedef struct host_packet {
  uint32_t tile;
  place at;
  uint32_t row_bytes, rows, stride;
  uint32_t host_offset, host_stride;
  place header;
  bool to_tile;
  uint32_t window; /* number among the exchange's windows */
  place record;    /* place of the record's number; block COMPILER_NONE: 0 */
} host_packet;

/* What is exchanged in one host sync. */
typedef struct host_exchange {
  const char *name;
  uint32_t event;      /* its number */
  size_t first_window; /* in compilation.host_windows */
  size_t num_windows;
  size_t first_packet; /* in compilation.host_packets, ascending by tile, then window */
  size_t num_packets;
} host_exchange;

/* ---- live_sections, emit ---- */

/* Tiles with the same set of entry symbols share live sections. They also share the bytes if they
 * have the code at the same addresses, which allocate aims for. */
typedef struct code_group {
  pop_live_sections *live;
  pop_link_addresses addresses; /* allocate: of its first tile; `bytes` is for them */
  uint8_t *bytes;               /* allocate: groups CODE, RODATA, DATA from `first_address` on */
  uint8_t *tls_bytes;           /* initial content of one context's thread-local data */
  uint32_t first_address, num_bytes;
} code_group;

/* An address inside instructions of control or exchange code (a relocation). */
typedef enum code_patch_kind {
  PATCH_LUI_ADDI, /* two words: lui rd, %hi; addi rd, rd, %lo */
  PATCH_SEND,     /* word offset from the base of tile memory: isa.h */
  PATCH_IMM22     /* likewise */
} code_patch_kind;

typedef struct code_patch {
  uint32_t kind;
  place at; /* the instruction */
  place target;
} code_patch;

/* Bytes [begin, end) of a tile's control code that belong to a block of the programs
 * (STEP_BLOCK). */
typedef struct block_mark {
  uint32_t block; /* in compilation.profile_blocks */
  uint32_t begin, end;
} block_mark;

/* A row of exchanges of one zone, from script op `first` to op `last`, in which some neighbouring
 * tiles have no part and nothing to do in between. Their control code acknowledges all of them at
 * once (tile.sans). */
typedef struct acknowledged_row {
  uint32_t first, last, first_tile, num_tiles;
} acknowledged_row;

/* What a tile measures: executable/measures.h. */
typedef struct tile_measure {
  uint32_t kind, index, tile; /* VERTICES: in compilation.works */
  place at;
  uint32_t words, overhead;
} tile_measure;

typedef struct tile_layout {
  uint32_t code_group;                          /* COMPILER_NONE: the tile has no vertex */
  uint32_t linked_blocks[POP_LINK_GROUP_COUNT]; /* blocks of the live sections' groups, or NONE */
  uint32_t library_code;       /* block right after that of CODE: the rest of its group, or NONE */
  uint32_t control_code;       /* block of the supervisor's code; its first word is the entry */
  uint32_t worker_stack_bytes; /* stack: of each worker; 0: no vertices */
  uint32_t
      supervisor_vertex_stack_bytes; /* stack: for the supervisor's vertices, if there are any */
  uint32_t stack_blocks[8]; /* workers 0-5, then the supervisor (index num_worker_contexts) */
  size_t first_block;       /* in compilation.blocks_by_tile (allocate) */
  size_t num_blocks;
  uint32_t end;      /* address after the highest byte used (allocate) */
  uint32_t shortage; /* bytes missing, 0 if the tile fits (allocate) */
  uint32_t same_as;  /* an earlier tile with equal blocks, or COMPILER_NONE (allocate) */
  /* Lower bounds, without the system's bytes (allocate; allocate/bound.c). */
  uint32_t most_live_bytes; /* at one step */
  uint32_t least_bytes;     /* up to `end` */
  size_t first_patch;       /* in compilation.code_patches (emit) */
  size_t num_patches;
  size_t first_mark; /* in compilation.block_marks (emit) */
  size_t num_marks;
} tile_layout;

/* The name in profiles. */
static inline const char *profiled_exchange_name(const exchange *x)
{
  return x->all_names ? x->all_names : x->name;
}

static inline const char *profiled_set_name(const lowered_compute_set *set)
{
  return set->all_names ? set->all_names : set->name;
}

#define COMPILATION_ARRAY(type, name)                                                              \
  type *name;                                                                                      \
  size_t num_##name, name##_capacity

typedef struct compilation {
  pop_graph *graph;      /* NULL after compile(): nothing of it may be used then */
  pop_target target;     /* of one replica */
  uint32_t num_replicas; /* that are loaded; 1: the graph is not replicated */
  compile_options options;
  pop_arena *arena; /* names and shapes */
  /* Retained: those of the graph (by compile()), then the built-in ones (by lower, when it uses
   * them). */
  COMPILATION_ARRAY(pop_gp *, codelets);
  pop_link_set *link_set;

  COMPILATION_ARRAY(uint8_t, bytes);
  COMPILATION_ARRAY(fixup, fixups);
  COMPILATION_ARRAY(content, contents);
  COMPILATION_ARRAY(block, blocks);

  /* place */
  COMPILATION_ARRAY(placed_variable, variables); /* by graph variable */
  COMPILATION_ARRAY(placed_interval, intervals);
  tile_patterns patterns; /* lower adds some, too */

  /* lower */
  COMPILATION_ARRAY(used_vertex_type, vertex_types);
  COMPILATION_ARRAY(lowered_vertex, vertices);
  COMPILATION_ARRAY(tile_work, works);
  COMPILATION_ARRAY(profile_vertex_use, vertex_uses); /* by work */
  uint64_t num_edges;                                 /* number of tensors connected to vertices */
  COMPILATION_ARRAY(lowered_compute_set, compute_sets);
  COMPILATION_ARRAY(message, messages);
  COMPILATION_ARRAY(receiver, receivers);
  COMPILATION_ARRAY(exchange, exchanges);
  COMPILATION_ARRAY(step, steps);
  COMPILATION_ARRAY(uint32_t, children);
  COMPILATION_ARRAY(control, controls);
  COMPILATION_ARRAY(uint32_t, case_values);
  COMPILATION_ARRAY(block_access, accesses);
  COMPILATION_ARRAY(placement_rule, placement_rules);
  /* Indexed by program number of the engine. compile() puts programs of the graph here, lower
   * replaces each by its step. */
  COMPILATION_ARRAY(uint32_t, control_programs);
  COMPILATION_ARRAY(const char *, program_names); /* by the same numbers */
  COMPILATION_ARRAY(host_tensor, host_tensors);   /* handles, then PrintTensors */
  COMPILATION_ARRAY(host_run, host_runs);
  COMPILATION_ARRAY(stream_info, streams);        /* as in the graph */
  COMPILATION_ARRAY(remote_info, remote_buffers); /* as in the graph */
  COMPILATION_ARRAY(host_exchange, host_exchanges);
  COMPILATION_ARRAY(host_window, host_windows);
  COMPILATION_ARRAY(host_packet, host_packets);
  COMPILATION_ARRAY(host_event, host_events);      /* by event number - 1 */
  COMPILATION_ARRAY(const char *, profile_blocks); /* names of the programs' blocks */
  COMPILATION_ARRAY(bool, block_is_timed);         /* by block */

  /* exchange */
  COMPILATION_ARRAY(tile_exchange, tile_exchanges);
  COMPILATION_ARRAY(exchange_op, exchange_ops);

  /* live_sections, emit, allocate */
  COMPILATION_ARRAY(code_group, code_groups);
  COMPILATION_ARRAY(code_patch, code_patches); /* by tile */
  COMPILATION_ARRAY(block_mark, block_marks);  /* by tile */
  COMPILATION_ARRAY(tile_measure, measures);   /* by tile */
  COMPILATION_ARRAY(acknowledged_row, acknowledged);
  tile_layout *tiles;       /* by tile */
  uint32_t *blocks_by_tile; /* block numbers sorted by tile, then address */

  /* account */
  pop_tile_memory *memory; /* by tile */

  COMPILATION_ARRAY(pop_phase_time, phase_times);
  /* The out-of-memory error that options.allow_out_of_memory has let pass, or NULL. */
  pop_error *out_of_memory;
} compilation;

/* The number of steps that it reports (pop_graph_set_progress). */
unsigned compile_num_steps(void);
/* Compiles. On success *out does not refer to the graph any more. */
POP_MUST_CHECK pop_error *compile(pop_graph *graph, const uint32_t *programs, size_t num_programs,
                                  const compile_options *options, compilation **out);
void compilation_free(compilation *c); /* NULL is fine */
/* Are the results of passes verified: debug.verify, or POPULUS_VERIFY in the environment? */
bool compilation_is_verified(const compilation *c);

/* Makes the image of one tile. Its arrays and bytes are in `arena`. Thread-safe for a finished
 * compilation with one arena per thread. */
POP_MUST_CHECK pop_error *compilation_tile_image(const compilation *c, uint32_t tile,
                                                 pop_arena *arena, pop_image *image);
/* describe/describe.c: fills an empty executable with what an engine needs to know: all but images,
 * options and digests. */
void compilation_describe(const compilation *c, pop_executable *executable);
/* describe/profile.c: fills an empty profile. */
POP_MUST_CHECK pop_error *compilation_describe_profile(const compilation *c,
                                                       executable_profile *profile);
/* image/save.c: writes the members of the archive: the images of all tiles, and the metadata of
 * `executable`, which must describe `c`. The bytes do not depend on the number of threads. */
POP_MUST_CHECK pop_error *compilation_save_members(const compilation *c,
                                                   const pop_executable *executable,
                                                   pop_archive_writer *writer);

/* ---- passes, in order ---- */
POP_MUST_CHECK pop_error *pass_check(compilation *c);
POP_MUST_CHECK pop_error *pass_place(compilation *c);
POP_MUST_CHECK pop_error *pass_lower(compilation *c);
POP_MUST_CHECK pop_error *pass_exchange(compilation *c);
POP_MUST_CHECK pop_error *pass_liveness(compilation *c);
POP_MUST_CHECK pop_error *pass_live_sections(compilation *c);
POP_MUST_CHECK pop_error *pass_stack(compilation *c);
POP_MUST_CHECK pop_error *pass_emit(compilation *c);
POP_MUST_CHECK pop_error *pass_allocate(compilation *c);
POP_MUST_CHECK pop_error *pass_account(compilation *c);

/* The place at which `tile` reads a control. */
static inline place control_place(const control *ctl, uint32_t tile)
{
  if (tile == ctl->tile) return ctl->source;
  return (place){ctl->first_copy + tile - (tile > ctl->tile), ctl->source.offset % 4};
}

/* The address of a place, once `allocate` has run. */
static inline uint32_t place_address(const compilation *c, place p)
{
  return c->blocks[p.block].address + p.offset;
}

/* ---- for passes ---- */

uint32_t add_block(compilation *c, const block *b);
/* Adds a content of `size` zero bytes. Its bytes are at c->bytes + contents[i].first_byte until the
 * next call. All fixups of a content must be added before the next content is begun. */
uint32_t begin_content(compilation *c, uint32_t size);
void add_fixup(compilation *c, uint32_t content, uint32_t at, place target);
void add_packed_fixup(compilation *c, uint32_t content, uint32_t at, place target,
                      address_form form);
/* allocate/early.c: before exchanges are planned: can their data fit at all? */
POP_MUST_CHECK pop_error *check_data_fits(const compilation *c);
/* allocate/address_form.c: store_address puts an address into the bytes of an image;
 * check_address_forms finds out whether all of them fit. */
void store_address(const compilation *c, const fixup *f, uint8_t *at);
POP_MUST_CHECK pop_error *check_address_forms(const compilation *c);
/* The first address that the fixup's form cannot express. */
uint64_t address_form_reach(const compilation *c, const fixup *f);
/* Will the address be used? Past the end of memory only if the program runs out of memory on
 * purpose. */
bool address_is_used(const compilation *c, uint32_t address);

#endif
