/* An executable: what an engine needs to run a compiled graph, and nothing of the graph or of the
 * compilation.
 *
 *   compilation --compiler/describe/describe.c--> pop_executable --encode.c, note.c--> metadata.elf
 *   archive     --archive.c, note.c, decode.c--> pop_executable --> engine
 *
 * The engine works from this struct wherever it came from. The contents of tile memory are not in
 * it: images are read one by one when they are loaded, from the archive or, before there is one,
 * from the compilation (executable_images).
 *
 * Tables by tile hold numbers of rows; tiles that are alike share a row. So a graph that does the
 * same on 94,208 tiles has few rows, and its metadata are a few bytes per tile.
 */
#ifndef EXECUTABLE_EXECUTABLE_H
#define EXECUTABLE_EXECUTABLE_H

#include "base/object.h"
#include "executable/measures.h"
#include "executable/profile.h"
#include "executable/tile_memory.h"
#include <populus/archive.h>
#include <populus/arena.h>
#include <populus/executable.h>
#include <populus/image.h>
#include <populus/link.h>
#include <populus/memory.h>

#define EXECUTABLE_NONE UINT32_MAX

/* The format that is written and read: changed with every change of the encoding. */
enum { EXECUTABLE_FORMAT = 20 };

#define EXECUTABLE_METADATA_MEMBER "metadata.elf"

/* An option given at compile time that affected the result. */
typedef struct executable_option {
  const char *key, *value;
} executable_option;

/* ---- host ---- */

typedef enum executable_tensor_kind {
  EXECUTABLE_WRITE, /* the host writes it, by its handle */
  EXECUTABLE_READ,
  EXECUTABLE_PRINT,         /* PrintTensor */
  EXECUTABLE_COMPARE,       /* AssumeEqualAcrossReplicas */
  EXECUTABLE_REPLICA_INDEX, /* the replica's number is written there at load time */
  EXECUTABLE_TENSOR_KINDS
} executable_tensor_kind;

typedef struct executable_tensor {
  const char *name; /* handle or title */
  executable_tensor_kind kind;
  pop_type type;
  uint32_t rank;
  const size_t *shape; /* executable_new_shape */
  uint64_t num_elements;
  uint32_t num_replicas; /* number of replicas, its first dimension; 1: no such dimension */
  size_t first_run;      /* in runs */
  size_t num_runs;
} executable_tensor;

/* What the tiles report to the host by its number, which counts from 1. */
typedef enum executable_event_kind {
  EXECUTABLE_EVENT_PRINT,
  EXECUTABLE_EVENT_ABORT,
  EXECUTABLE_EVENT_EXCHANGE,
  EXECUTABLE_EVENT_ASSUME_EQUAL,
  EXECUTABLE_EVENT_BRANCHES, /* the record of branches taken is full (MEASURE_BRANCHES) */
  EXECUTABLE_EVENT_FLUSH,    /* buffers of blocks (MEASURE_BLOCKS) have to be emptied */
  EXECUTABLE_EVENT_KINDS
} executable_event_kind;

#define EXECUTABLE_TRACE "trace"

typedef struct executable_event {
  executable_event_kind kind;
  const char *name; /* of the program */
  /* ABORT: the message. PRINT: how to print (graph/print_format.h); "" as in the guide;
   * EXECUTABLE_TRACE for debug.trace. Otherwise "". */
  const char *message;
  uint32_t tensor;     /* PRINT, ASSUME_EQUAL: in tensors */
  uint32_t tile;       /* ABORT: the tile that holds the predicate; EXECUTABLE_NONE: no predicate */
  size_t first_window; /* EXCHANGE: in windows */
  size_t num_windows;
  size_t first_part; /* EXCHANGE: in exchange_parts, ascending by tile */
  size_t num_parts;
} executable_event;

/* A window: what the host offers in a host exchange. The tiles' host exchange code says what moves
 * where. */
typedef struct executable_window {
  bool remote;           /* rows of a remote buffer; otherwise all or a part of a stream's copy */
  uint32_t object;       /* in remote_buffers, or in streams */
  uint64_t begin, bytes; /* start of the first record in the buffer or copy; size of a record */
  uint64_t records;
} executable_window;

/* There are two kinds of replicas. Either the same images are loaded pop_executable.num_replicas
 * times. Or all replicas are in one graph: then each has a stream (remote buffer) of the same name,
 * in consecutive entries. Both kinds never occur together. */

/* A data stream. */
typedef struct executable_stream {
  const char *name;
  pop_type type;
  bool to_device;
  bool is_used;   /* by a program */
  bool broadcast; /* all replicas get the same data */
  uint64_t num_elements;
  uint32_t depth;                 /* number of copies that may be prefetched, at least 1 */
  uint32_t replica, num_replicas; /* its replica, if all are in one graph; otherwise 0 of 1 */
} executable_stream;

typedef struct executable_remote_buffer {
  const char *name;
  pop_type type;
  bool is_used;
  uint64_t num_elements; /* of a row */
  uint64_t repeats;      /* rows */
  uint32_t replica, num_replicas;
} executable_remote_buffer;

/* ---- variables ---- */

/* Elements [begin, end) are on the tile, from `address` on. */
typedef struct executable_interval {
  uint64_t begin, end;
  uint32_t tile, address;
} executable_interval;

typedef struct executable_variable {
  const char *name;
  pop_type type;
  bool constant;
  uint32_t rank;
  const size_t *shape;
  size_t first_interval; /* in intervals: ascending, disjoint */
  size_t num_intervals;
} executable_variable;

/* ---- vertices: which one has its state at this address? ---- */

/* executable_vertex.worker of a vertex that is not run by a single worker. */
enum { EXECUTABLE_ON_SUPERVISOR = 0x100, EXECUTABLE_ON_ALL_WORKERS = 0x101 };

typedef struct executable_vertex {
  uint32_t type;         /* in vertex_types */
  uint32_t state_offset; /* from executable_work.state_address */
  uint32_t worker;
  uint32_t number; /* in the graph, minus executable_work.first_number; or EXECUTABLE_NONE */
  /* Estimates, 0: none. Cycles of its worker, or of the tile if no single worker runs it;
   * floating-point operations. */
  uint64_t cycles, flops;
} executable_vertex;

/* A run of items in another array. */
typedef struct executable_row {
  size_t first;
  uint32_t count;
} executable_row;

/* The work of a tile in a compute set. */
typedef struct executable_work {
  uint32_t tile;
  uint32_t state_address;
  uint32_t first_number;
  uint32_t row; /* in vertex_rows */
} executable_work;

typedef struct executable_compute_set {
  const char *name;
  size_t first_work; /* in works, ascending by tile */
  size_t num_works;
} executable_compute_set;

/* ---- programs: what runs, in which order ---- */

/* The part of a tile in an exchange. */
typedef struct executable_exchange_part {
  uint32_t tile;
  /* Cycles of the tile's exchange code. Between tiles of an IPU they are all of the exchange;
   * otherwise only the instructions, without the time that data are on the way. */
  uint32_t cycles;
  uint64_t bytes_sent, bytes_received;
} executable_exchange_part;

/* An exchange between tiles. */
typedef struct executable_exchange {
  const char *name;
  uint32_t zone;     /* of tile.exchange: ISA_SYNC_… */
  size_t first_part; /* in exchange_parts, ascending by tile */
  size_t num_parts;
  /* link_bytes: the most bytes that one IPU of any replica sends or receives, with packet headers;
   * a packet counts once for each IPU that it goes to. gateway_bytes: the same for what comes from
   * or goes to another link domain. 0 within IPUs, and if no replica sends. */
  uint64_t link_bytes, gateway_bytes;
} executable_exchange;

/* X(enumerator, tag in profiles). Order of children: If: the branch for false first. Switch: the
 * cases, then the default. Repeat…: the condition, then the body. */
#define EXECUTABLE_STEPS(X)                                                                        \
  X(EXECUTABLE_STEP_SEQUENCE, "Sequence")                                                          \
  X(EXECUTABLE_STEP_REPEAT, "Repeat")                                                              \
  X(EXECUTABLE_STEP_WHILE_TRUE, "RepeatWhileTrue")                                                 \
  X(EXECUTABLE_STEP_WHILE_FALSE, "RepeatWhileFalse")                                               \
  X(EXECUTABLE_STEP_IF, "IfElse")                                                                  \
  X(EXECUTABLE_STEP_SWITCH, "Switch")                                                              \
  X(EXECUTABLE_STEP_CALL, "Call")                      /* of function `index` */                   \
  X(EXECUTABLE_STEP_BLOCK, "Block")                    /* number `index` */                        \
  X(EXECUTABLE_STEP_EXECUTE, "OnTileExecute")          /* of compute set `index` */                \
  X(EXECUTABLE_STEP_EXCHANGE, "DoExchange")            /* exchange `index`, of zone 0 */           \
  X(EXECUTABLE_STEP_GLOBAL_EXCHANGE, "GlobalExchange") /* exchange `index`, of another zone */     \
  X(EXECUTABLE_STEP_SYNC, "Sync")                      /* of zone `index` */                       \
  X(EXECUTABLE_STEP_STREAM_COPY, "StreamCopy")         /* event number `index` + 1 */              \
  X(EXECUTABLE_STEP_ABORT, "Abort")                    /* event number `index` + 1 */              \
  X(EXECUTABLE_STEP_SET_CONSENSUS, "SetLocalConsensusFromVar") /* what the If behind it goes by */ \
  X(EXECUTABLE_STEP_WRITE_UNDEF, "WriteUndef")

typedef enum executable_step_kind {
#define EXECUTABLE_STEP_ENUMERATOR(id, tag) id,
  EXECUTABLE_STEPS(EXECUTABLE_STEP_ENUMERATOR)
#undef EXECUTABLE_STEP_ENUMERATOR
      EXECUTABLE_STEP_KINDS
} executable_step_kind;

/* A program as profiles number it. Each step has one parent, with a lower number, or is a root. A
 * root is the step of a control program, or of a function: a step that is called from several
 * places. */
typedef struct executable_step {
  executable_step_kind kind;
  const char *name;   /* "" if none */
  uint32_t index;     /* in what: EXECUTABLE_STEPS; otherwise 0 */
  uint32_t count;     /* REPEAT: trip count; otherwise 0 */
  uint32_t position;  /* in the script of all programs: the unit of profile_live */
  size_t first_child; /* in step_children */
  uint32_t num_children;
} executable_step;

/* A row of exchanges of one zone, at positions `first` to `last`. Some neighbouring tiles have no
 * part in them and acknowledge them in advance (tile.sans). */
typedef struct executable_acknowledged {
  uint32_t first, last;
  uint32_t first_tile, num_tiles;
} executable_acknowledged;

/* ---- tiles ---- */

/* By context. Symbols have them too, until the image is stripped. */
typedef struct executable_stacks {
  tile_stack of[NUM_TILE_STACKS];
} executable_stacks;

typedef struct executable_tile {
  uint32_t memory; /* in memory_rows */
  uint32_t stacks; /* in stack_rows */
} executable_tile;

/* Defined by the owner of the images. */
typedef struct executable_lines executable_lines;

/* Where the images are. */
typedef struct executable_images {
  /* As executable_image. Several threads may call it at the same time. */
  pop_error *(*read)(const pop_executable *executable, uint32_t tile, unsigned parts,
                     pop_bytes *elf, pop_arena *arena, pop_image *image);
  pop_error *(*save)(void *context, const pop_executable *executable, pop_archive_writer *writer);
  /* Opens source information of the tile's code, for find_line; NULL: there is none. `executable`
   * outlives it. */
  executable_lines *(*open_lines)(const pop_executable *executable, uint32_t tile);
  bool (*find_line)(executable_lines *lines, uint32_t pc, pop_arena *arena,
                    pop_source_place *place);
  void (*close_lines)(executable_lines *lines);
  /* Fills an empty profile. */
  pop_error *(*profile)(const pop_executable *executable, executable_profile *profile);
  void (*free)(void *context);
  void *context;
} executable_images;

struct pop_executable {
  object base;
  pop_arena *arena;       /* names and shapes */
  char *file;             /* for messages: the archive it was loaded from; NULL: compiled here */
  uint8_t *owned_archive; /* the archive it was loaded from, if in memory and owned; or NULL */
  const char *version;    /* of the Populus that compiled it */
  uint64_t source[2];     /* of a cache entry: hash of what it was compiled from; otherwise 0 */
  pop_target target;      /* of one replica */
  uint32_t num_replicas;  /* loaded with the same images; 1: the graph is not replicated */
  EXECUTABLE_ARRAY(executable_option, options);
  /* Options about running that were given to pop_compile_graph: the engine's defaults. Not in the
   * archive. */
  EXECUTABLE_ARRAY(executable_option, run_options);
  const char *reported_to;   /* autoReport.directory at compile time. Not in the archive */
  const char *out_of_memory; /* why the tiles are too small; NULL: it can be loaded */
  EXECUTABLE_ARRAY(const char *, needs);    /* of tiles: POP_GP_NEEDS_… (populus/gp.h) */
  EXECUTABLE_ARRAY(const char *, programs); /* their names */
  EXECUTABLE_ARRAY(executable_tensor, tensors);
  EXECUTABLE_ARRAY(memory_range, runs);
  EXECUTABLE_ARRAY(executable_event, events); /* by event number - 1 */
  EXECUTABLE_ARRAY(const char *, blocks);     /* names of the programs' blocks, by number */
  EXECUTABLE_ARRAY(executable_stream, streams);
  EXECUTABLE_ARRAY(executable_remote_buffer, remote_buffers);
  EXECUTABLE_ARRAY(executable_window, windows);
  EXECUTABLE_ARRAY(executable_variable, variables);
  EXECUTABLE_ARRAY(executable_interval, intervals);
  EXECUTABLE_ARRAY(const char *, vertex_types);
  EXECUTABLE_ARRAY(uint32_t, chip_estimates); /* ascending: see metadata.h */
  EXECUTABLE_ARRAY(uint32_t, our_estimates);
  EXECUTABLE_ARRAY(executable_row, vertex_rows);
  EXECUTABLE_ARRAY(executable_vertex, vertices);
  EXECUTABLE_ARRAY(executable_compute_set, compute_sets);
  EXECUTABLE_ARRAY(executable_work, works);
  EXECUTABLE_ARRAY(executable_exchange, exchanges);
  EXECUTABLE_ARRAY(executable_exchange_part, exchange_parts);
  EXECUTABLE_ARRAY(executable_step, steps);
  EXECUTABLE_ARRAY(uint32_t, step_children);               /* steps */
  EXECUTABLE_ARRAY(uint32_t, functions);                   /* steps; callees before callers */
  EXECUTABLE_ARRAY(uint32_t, control_steps);               /* steps, by program; none for the CPU */
  EXECUTABLE_ARRAY(executable_acknowledged, acknowledged); /* ascending by first, last, tile */
  instrumentation instrumentation;                         /* of the images */
  EXECUTABLE_ARRAY(executable_measure, measures);          /* ascending by tile */
  EXECUTABLE_ARRAY(pop_tile_memory, memory_rows);
  EXECUTABLE_ARRAY(executable_stacks, stack_rows);
  executable_tile *tiles; /* by tile */
  uint64_t *digests;      /* of the images, by tile; NULL: compiled here, no file yet */
  EXECUTABLE_ARRAY(pop_phase_time, phase_times); /* of the compilation; not in the archive */
  executable_images images;
  bool images_checked; /* all were compared with their digests */
  const struct cpu_program
      *cpu; /* for the CPU device: runs instead of images, which own it; or NULL */
  struct traced_module *traced; /* record of what its engines do; owned; NULL: none */
  void (*free_traced)(void *traced);
};

/* Bytes of the tensor in what is loaded once: of one replica, or of all replicas in the graph. */
static inline size_t executable_tensor_bytes(const executable_tensor *tensor)
{
  return (size_t)tensor->num_elements * pop_type_bytes(tensor->type);
}

/* executable.c */
const char *executable_tensor_kind_name(executable_tensor_kind kind);
const char *executable_event_kind_name(executable_event_kind kind);
const char *executable_step_tag(executable_step_kind kind);
/* "Host", "RemoteBuffer" or "Mixed": the kind of memory of an event's windows. */
const char *executable_event_category(const pop_executable *executable, uint32_t event);
pop_executable *executable_new(void); /* empty, without images */
/* Allocates a shape in the executable's arena. Before it, at [-1], is the number of replicas, so
 * that shape - 1 is the shape of the elements of all replicas. */
size_t *executable_new_shape(pop_executable *executable, size_t rank);
/* For objects that refer to the executable, not for programs of users. */
pop_executable *executable_retain(pop_executable *executable);
void executable_release(pop_executable *executable); /* NULL is fine */
/* Finds the vertex of `tile` with its state at this address that `context` may run; false if there
 * is none. */
typedef struct executable_found_vertex {
  const char *type, *compute_set;
  uint32_t set;    /* the compute set's number */
  uint32_t number; /* in the graph; EXECUTABLE_NONE: a copy vertex that the compiler added */
} executable_found_vertex;
bool executable_find_vertex(const pop_executable *executable, uint32_t tile, uint32_t context,
                            uint32_t vertex_state, executable_found_vertex *found);

/* The number of calls of vertices in a work. A vertex that all workers run is called once by each.
 * The calls are in this order: those on the supervisor, by number in the row; then for each worker
 * those of vertices that all workers run, and of its own. */
uint32_t executable_num_calls(const pop_executable *executable, const executable_work *work);
/* The number of things that the index of a measure of this kind counts. */
size_t executable_num_measurable(const pop_executable *executable, measure_kind kind);

/* image.c: reads the wanted parts of the tile's image (POP_IMAGE_… bits) and compares its memory
 * with the digest. The image is in `elf`, whose content is replaced, and in `arena`. Errors:
 * FILE_LOAD. */
POP_MUST_CHECK pop_error *executable_image(const pop_executable *executable, uint32_t tile,
                                           unsigned parts, pop_bytes *elf, pop_arena *arena,
                                           pop_image *image);
/* Visits all images with their memory, in any order and on several threads at once (0: as many as
 * the process may use). The result is the first error, by tile, of the visitor or of reading. After
 * an error other tiles may be left out. */
typedef pop_error *executable_image_visitor(void *context, const pop_image *image);
POP_MUST_CHECK pop_error *executable_visit_images(const pop_executable *executable,
                                                  uint32_t num_threads,
                                                  executable_image_visitor *visitor, void *context);
/* Compares the memory of all images with the digests in the metadata. If they match, later calls do
 * nothing. */
POP_MUST_CHECK pop_error *executable_check_images(pop_executable *executable, uint32_t num_threads);

/* lines.c: writes the source line of the code at `pc`, for messages, into `text`: "file:line", or
 * "". */
void executable_find_line(const pop_executable *executable, uint32_t tile, uint32_t pc, char *text,
                          size_t size);
/* The same for many lines. NULL if nothing is known: it has no line. */
executable_lines *executable_open_lines(const pop_executable *executable, uint32_t tile);
bool executable_line(const pop_executable *executable, executable_lines *lines, uint32_t pc,
                     pop_arena *arena, pop_source_place *place);
void executable_close_lines(const pop_executable *executable, executable_lines *lines);

/* encode.c, decode.c: the metadata as CBOR. The caller provides the array of digests, by tile. */
void executable_encode(const pop_executable *executable, const uint64_t *digests, pop_bytes *cbor);
/* Fills an empty executable. Does not trust the input. Errors: FILE_LOAD with the key. */
POP_MUST_CHECK pop_error *executable_decode(const uint8_t *cbor, size_t size,
                                            pop_executable *executable);

/* verify.c: is the executable the same after it has been written and read back? INTERNAL if not,
 * since it was made here. */
POP_MUST_CHECK pop_error *executable_verify(const pop_executable *executable);

/* executable.c: pop_executable_save, as an entry of a cache. */
POP_MUST_CHECK pop_error *executable_save_entry(const pop_executable *executable, const char *path);
/* note.c: the metadata member, an ELF file with the metadata in a note. */
POP_MUST_CHECK pop_error *executable_save_metadata(const pop_executable *executable,
                                                   const uint64_t *digests,
                                                   pop_archive_writer *writer);
POP_MUST_CHECK pop_error *executable_read_metadata(const uint8_t *elf, size_t size,
                                                   pop_executable *executable);

#endif
