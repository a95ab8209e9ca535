/* The graph as data: what the calls of <populus/graph.h> fill in and the graph compiler reads.
 *
 * Everything is an array of plain structs, which refer to each other by index. Index 0 of
 * tensors is the null tensor. Variables, compute sets, vertices and programs count from 0. The
 * public handles of compute sets, vertices and programs carry index + 1, so that a zeroed handle
 * is null.
 *
 * VIEWS. A tensor is a shape over a sequence of elements. The sequence is a list of pieces. Each
 * piece is a nest of loops over one variable:
 *
 *     for (i0 < dims[0].count) for (i1 < dims[1].count) …
 *         element base + i0 * dims[0].stride + i1 * dims[1].stride + …
 *
 * The shape only says how to count through the sequence, so reshape never touches pieces.
 * Slices, transposes and broadcasts of a tensor of one piece (or whose pieces are whole rows)
 * rewrite loops. What no nest of loops can express is split into more pieces, by rows, never by
 * elements. Loops are kept canonical: no count 1, neighbours merged where strides allow. A
 * contiguous run is one loop of stride 1; a single element has no loops. */
#ifndef GRAPH_GRAPH_H
#define GRAPH_GRAPH_H

#include "base/log.h"
#include "base/object.h"
#include <populus/arena.h>
#include <populus/gp.h>
#include <populus/graph.h>
#include <populus/names.h>
#include <populus/remote_buffer.h>
#include <populus/stream.h>
#include <stdatomic.h>
#include <sys/types.h> /* pthread_mutex_t; pthread.h itself would clash with names here */

#define GRAPH_NONE UINT32_MAX
enum { GRAPH_MAX_RANK = 16 };

typedef struct view_dim {
  uint64_t count;
  int64_t stride; /* elements; 0 repeats, negative goes back */
} view_dim;

typedef struct view_piece {
  uint32_t variable;
  uint32_t num_dims;
  uint64_t base;    /* element of the variable */
  size_t first_dim; /* in graph->dims, outermost first; pieces share lists */
  uint64_t start;   /* position of its first element in the tensor */
} view_piece;

/* A view has up to 2^63 - 1 elements (a broadcast costs one loop of stride 0), a variable up to
 * 2^32 - 1. A loop counts at least to 2, so a piece has at most 62 loops. */

typedef struct tensor {
  pop_type type;
  uint16_t rank;
  uint16_t replication; /* replicated graph: the elements are those of replica 0; otherwise 0 */
  const size_t *shape;  /* `rank` sizes, in the arena; tensors of one shape share it */
  size_t first_piece;   /* in graph->pieces */
  size_t num_pieces;
  uint64_t num_elements;
} tensor;

typedef struct mapping_interval {
  uint64_t begin, end; /* elements */
  uint32_t tile;
} mapping_interval;

typedef struct variable {
  const char *name; /* never NULL; "" if none was given */
  pop_type type;
  bool constant;
  bool is_replica_index; /* its element is the replica's number, known at load time */
  bool may_rotate;       /* matrix products may move its elements (matmul_rotation.c) */
  uint64_t num_elements;
  uint32_t tensor;  /* all elements, in the shape that it was added with */
  uint8_t *initial; /* num_elements * bytes of type, or NULL for zeroes */
  /* Tile mapping: in call order until graph_mapping() sorts it; then ascending and disjoint. */
  mapping_interval *mapping;
  size_t num_mapping, mapping_capacity;
  bool mapping_sorted;
  uint32_t with_vertex; /* number + 1 of the vertex whose tile it is on; 0: see `mapping` */
  /* Quarters: number + 1 of the variable with their format and scale, and the element of it; 0:
   * none yet. */
  uint32_t metadata;
  uint32_t metadata_of; /* number + 1 of its quarters; unmapped: on their first tile */
  uint64_t metadata_at;
} variable;

/* Who estimates the cycles of a vertex type: the program, or a library. A library may have two
 * estimators (graph_add_library_estimator). */
typedef enum estimate_source {
  ESTIMATE_NONE, /* vertices run their code */
  ESTIMATE_PROGRAM,
  ESTIMATE_CHIP, /* the formulae published with the chip's libraries */
  ESTIMATE_OURS, /* estimates of our code */
  NUM_ESTIMATE_SOURCES
} estimate_source;

typedef struct type_estimator {
  pop_perf_estimator *estimate; /* NULL: there is none */
  void *context;
} type_estimator;

typedef struct vertex_type_entry {
  const pop_vertex_type *type;
  const pop_gp *gp;
  type_estimator estimators[NUM_ESTIMATE_SOURCES];
  bool of_library;        /* its codelets came with Populus: graph_add_library_codelets */
  bool program_decides;   /* it has registered an estimator, or that there is none */
  estimate_source source; /* of the estimates that graph_estimate_vertices has set */
} vertex_type_entry;

typedef struct compute_set {
  const char *name;
  size_t num_vertices;
} compute_set;

typedef struct vertex {
  uint32_t type; /* in graph->vertex_types */
  uint32_t compute_set;
  uint32_t tile;           /* GRAPH_NONE until set */
  uint32_t first_edge;     /* chain through edge.next; GRAPH_NONE ends; order of connection */
  uint32_t first_value;    /* chain through field_value.next */
  bool is_own_estimate;    /* set for this vertex; otherwise by its type, when it is compiled */
  uint16_t replication;    /* replica 0's vertex, followed by those of the other replicas; or 0 */
  uint64_t cycle_estimate; /* 0: there is none */
  uint64_t flop_estimate;
} vertex;

typedef struct edge {
  uint32_t field : 31;    /* in the vertex type */
  uint32_t rows_open : 1; /* the number of rows is not fixed: connecting a further row adds it */
  uint32_t tensor;        /* field with rows: index of the first row in graph->row_tensors */
  uint32_t num_rows;      /* GRAPH_NONE: the field has no rows */
  uint32_t next;
} edge;

typedef struct field_value {
  uint32_t field;
  uint32_t next;
  uint8_t bytes[8]; /* scalar: the first pop_type_bytes(field type) count */
  /* vector: `count` elements; zeros if `data` is NULL */
  uint8_t *data;
  uint32_t count;
} field_value;

typedef enum program_kind {
  PROGRAM_SEQUENCE,
  PROGRAM_EXECUTE,
  PROGRAM_COPY,
  PROGRAM_REPEAT,
  PROGRAM_SWITCH,
  PROGRAM_WHILE,
  PROGRAM_CALL,
  PROGRAM_WRITE_UNDEF,
  PROGRAM_NOP,
  PROGRAM_BLOCK,
  PROGRAM_ABORT,
  PROGRAM_SYNC,
  PROGRAM_REPLICA_COPY,
  PROGRAM_ASSUME_EQUAL,
  PROGRAM_STREAM_COPY,
  PROGRAM_REMOTE_COPY,
  PROGRAM_PRINT_TENSOR
} program_kind;

typedef struct program {
  program_kind kind;
  const char *name;    /* "" if none; PRINT_TENSOR: the title */
  const char *message; /* ABORT: "" if none; PRINT_TENSOR: its format (graph/print_format.h) */
  /* SEQUENCE: programs in order. REPEAT, CALL, BLOCK: one. SWITCH: the cases, then the default.
   * WHILE: condition, body. */
  uint32_t *children;
  size_t num_children, children_capacity;
  uint32_t count;        /* REPEAT: trip count. WHILE: 1 to run while the predicate is true, 0
                          * while it is false. SYNC: pop_sync_type. SWITCH: 1 if it is an If.
                          * ASSUME_EQUAL: replicas in the tensor, its first dimension; 1: the
                          * tensor of one replica. */
  uint32_t compute_set;  /* EXECUTE */
  uint32_t *case_values; /* SWITCH: of the children but the last; a predicate's false is 0 */
  uint32_t *replica_map; /* REPLICA_COPY: where each replica sends, or GRAPH_NONE */
  uint32_t stream;       /* STREAM_COPY: the stream; REMOTE_COPY: the remote buffer */
  /* Tensors. COPY, REPLICA_COPY: both. STREAM_COPY, REMOTE_COPY: source is the tensor, in both
   * directions. REMOTE_COPY: destination has the offsets, or is 0. ASSUME_EQUAL, PRINT_TENSOR,
   * WRITE_UNDEF: source. SWITCH, WHILE: source is the control. ABORT: source is the predicate,
   * or 0. */
  uint32_t source, destination;
  uint32_t headers; /* REPLICA_COPY: tensor of packet headers (graph/replica.h), or 0 */
  bool to_device;   /* REMOTE_COPY */
  bool has_parent;  /* it is inside another program: `parent`, and perhaps others */
  bool has_others;
  uint32_t parent;
  uint64_t visit; /* == graph->program_visit: the current search for cycles has seen it */
} program;

typedef struct host_handle {
  const char *name;
  uint32_t tensor;       /* of all replicas */
  uint32_t num_replicas; /* outer dimension of the tensor; 1: not replicated */
  bool read;             /* otherwise write */
} host_handle;

typedef struct host_stream {
  const char *name;
  pop_type type;
  bool to_device;
  uint64_t num_elements;
  uint64_t split_bytes; /* a larger copy is split into several host exchanges; 0: never */
  uint32_t depth;       /* how many copies may be prefetched */
  uint32_t replica,
      num_replicas; /* its replica in a replicated graph, and how many there are; or 0 of 1 */
  uint32_t replication;
  pop_replicated_stream_mode mode;
} host_stream;

typedef struct remote_buffer {
  const char *name;
  pop_type type;
  uint64_t num_elements;                       /* of a row */
  uint64_t repeats;                            /* rows */
  uint32_t replica, num_replicas, replication; /* as in host_stream */
} remote_buffer;

/* A replication: replicas of (a part of) a graph that is not replicated itself, made by
 * pop_graph_create_replicated_graph. What is added to such a graph is added once for each
 * replica. Variables, vertices, streams and remote buffers of the replicas are consecutive,
 * replica 0's first. Handles are those of replica 0. A tensor or vertex that stands for all
 * replicas has the number of the replication. The graph compiler does not see replications. */
typedef struct replication {
  uint32_t num_replicas;
} replication;

enum { MAX_REPLICATIONS = UINT16_MAX };

#define GRAPH_ARRAY(type, name)                                                                    \
  type *name;                                                                                      \
  size_t num_##name, name##_capacity

/* use.c: a thread, as the address of something thread-local; 0: none. */
typedef _Atomic uintptr_t graph_compiler;

struct pop_graph {
  object base;
  /* A virtual graph is a view of another graph's tiles. It uses only the next members and
   * `target`. */
  pop_graph *top;    /* top-level graph that it is a view of; other graphs: themselves */
  pop_graph *parent; /* NULL: not a virtual graph */
  uint32_t num_tiles;
  const uint32_t *tiles; /* VIEW: tile numbers in the top-level graph, replica by replica */
  uint32_t *numbers; /* the inverse of `tiles`, made on first use; GRAPH_NONE: not in this view */
  uint32_t replication;  /* VIEW: its replication; 0: not replicated */
  uint32_t num_replicas; /* VIEW: of the replication; top-level graph: loaded replicas; or 1 */
  pop_graph *next; /* list of views of a top-level graph, which begins in the graph's own `next` */

  pop_arena *arena; /* names, constants, children, mappings: freed with the graph */
  pop_target target;
  pop_error *error; /* the first one */
  GRAPH_ARRAY(variable, variables);
  GRAPH_ARRAY(tensor, tensors);
  GRAPH_ARRAY(view_piece, pieces);
  GRAPH_ARRAY(view_dim, dims);
  GRAPH_ARRAY(pop_gp *, codelets); /* owned */
  GRAPH_ARRAY(pop_gp *, merged);   /* owned: they are in one of `codelets`, but callers have names
                                    * from them */
  GRAPH_ARRAY(vertex_type_entry, vertex_types);
  GRAPH_ARRAY(compute_set, compute_sets);
  GRAPH_ARRAY(vertex, vertices);
  GRAPH_ARRAY(edge, edges);
  GRAPH_ARRAY(uint32_t, row_tensors); /* by edge and row; 0: not connected */
  GRAPH_ARRAY(field_value, field_values);
  GRAPH_ARRAY(program, programs);
  GRAPH_ARRAY(host_handle, handles);
  GRAPH_ARRAY(host_stream, streams);
  GRAPH_ARRAY(remote_buffer, remote_buffers);
  GRAPH_ARRAY(replication, replications); /* number 1 is the first */
  pop_name_table vertex_type_names;       /* name -> index in vertex_types */
  pop_name_table handle_names[2];         /* for writing, for reading */
  pop_name_table stream_names, remote_buffer_names;
  struct view_scratch *scratch; /* view.c: scratch memory of the view that is being made */
  uint64_t program_visit;       /* number of searches for cycles so far */
  void (*progress)(void *context, unsigned done,
                   unsigned total); /* pop_graph_set_progress; or NULL */
  void *progress_context;
  log_phase construction; /* from creation to the first compilation */
  bool is_constructed;
  graph_compiler compiler; /* the thread that compiles the graph; no other may use it meanwhile */
  pthread_mutex_t turn;    /* recursive lock of calls on the graph; unused in a virtual graph */
};

/* use.c: waits until no other thread is in a call on the graph (or on either of two), and locks
 * it. A graph that does not live has no lock. */
typedef struct graph_turn {
  pop_graph *graphs[2];
} graph_turn;
graph_turn graph_begin_turn(const pop_graph *graph, const pop_graph *other);
void graph_end_turn(const graph_turn *turn);

/* First line of each public call on graphs: holds the lock until the function returns. */
#define GRAPH_TURNS(graph, other)                                                                  \
  __attribute__((cleanup(graph_end_turn), unused)) const graph_turn own_turn =                     \
      graph_begin_turn(graph, other)
#define GRAPH_TURN(graph) GRAPH_TURNS(graph, NULL)

/* NULL for a single element: it has no loops, and graph->dims may be NULL. */
static inline const view_dim *piece_dims(const pop_graph *graph, const view_piece *piece)
{
  return piece->num_dims ? graph->dims + piece->first_dim : NULL;
}

static inline bool graph_is_for_host(const pop_graph *graph)
{
  return graph->target.type == POP_TARGET_CPU;
}

/* Valid tile numbers are below this. On the host they mean nothing: any number that a tile can
 * have is valid. */
static inline uint32_t graph_tile_limit(const pop_graph *view)
{
  return graph_is_for_host(view) ? POP_TARGET_MAX_TILES : view->num_tiles;
}

/* invalid_graph.c: keeps the error of a call on a graph that is NULL or was freed. pop_graph_error
 * returns it. */
void graph_note_invalid(const pop_graph *graph, const char *call);

/* The kept error; if there is none, an error about asking for it. */
const pop_error *graph_invalid_error(const pop_graph *graph);
pop_error *graph_take_invalid_error(const pop_graph *graph);

static inline bool graph_lives(const pop_graph *graph, const char *call)
{
  if (object_lives(graph, OBJECT_GRAPH)) return true;
  graph_note_invalid(graph, call);
  return false;
}

/* graph.c */
void graph_report_progress(const pop_graph *graph, unsigned done, unsigned total);

/* estimate.c: calls the estimators of vertex types for vertices without an estimate of their
 * own. Of library estimators it calls the one of `from`, or else the next one; ESTIMATE_NONE:
 * none. */
void graph_estimate_vertices(pop_graph *graph, estimate_source from);
/* codelets.c: adds the codelets of `<name>.gp` in the data folder of Populus. */
void graph_add_library_codelets(pop_graph *graph, const char *name);
/* Adds a library's estimator, as ESTIMATE_CHIP or ESTIMATE_OURS. Does nothing if there is no
 * such vertex type. */
void graph_add_library_estimator(pop_graph *graph, const char *vertex_type, estimate_source source,
                                 pop_perf_estimator *estimate, void *context);

/* The tensors of an edge: one, or its rows. */
static inline const uint32_t *edge_tensors(const pop_graph *graph, const edge *e, uint32_t *count)
{
  *count = e->num_rows == GRAPH_NONE ? 1 : e->num_rows;
  return e->num_rows == GRAPH_NONE ? &e->tensor : graph->row_tensors + e->tensor;
}

/* virtual.c: the number in the top-level graph of a view's tile in one replica. The inverse
 * gives the number in replica 0, or GRAPH_NONE. */
uint32_t graph_tile_of_top(const pop_graph *view, uint32_t replica, uint32_t tile);
uint32_t graph_tile_of_view(pop_graph *view, uint32_t tile_of_top);

/* use.c: the calling thread compiles the graph from now on. An error if another one does. */
POP_MUST_CHECK pop_error *graph_begin_compilation(pop_graph *graph);
void graph_end_compilation(pop_graph *graph);
/* Fails the graph if another thread compiles it. */
bool graph_check_turn(pop_graph *graph);

/* Ends the construction phase: the graph is compiled, or taken from the cache. */
void graph_end_construction(pop_graph *graph);
/* Logs once how long the construction took. Only called for a graph that is compiled. A graph
 * that is taken from the cache was constructed just to look it up, and must not look like a
 * recompilation in the log. */
void graph_say_construction(pop_graph *graph);

/* Keeps `error` if it is the first (frees it otherwise). */
void graph_fail(pop_graph *graph, pop_error *error);

/* Adds a variable for each replica of a replication (one for 0), and returns a view of all of
 * the first. `initial` is the contents of each, which makes them constants, or NULL; the
 * function takes it. The shape is checked already. */
pop_tensor graph_add_variable(pop_graph *graph, uint32_t replication, const char *call,
                              pop_type type, const size_t *shape, size_t rank, const char *name,
                              uint8_t *initial);

/* The tile mapping of a variable: sorted, disjoint, neighbours on one tile merged. */
const mapping_interval *graph_mapping(pop_graph *graph, uint32_t variable, size_t *count);

/* The first interval that ends after the element. */
size_t graph_find_mapping(const mapping_interval *mapping, size_t count, uint64_t element);
/* Maps elements [begin, end) of a variable. `tile` is the top-level graph's number. */
void graph_map_elements(pop_graph *graph, uint32_t variable, uint64_t begin, uint64_t end,
                        uint32_t tile);

/* Walks a view in order as runs of consecutive elements (stride 1). */
typedef struct view_run {
  uint32_t variable;
  uint64_t begin, count; /* elements */
} view_run;

typedef struct view_walk {
  const pop_graph *graph;
  const tensor *tensor;
  size_t piece;
  uint64_t index[GRAPH_MAX_RANK * 4]; /* loop counters of the current piece */
  bool started;
  uint64_t element;  /* element at the current piece's counters */
  bool skip_repeats; /* set after view_walk_start: loops of stride 0 run once */
} view_walk;
/* `graph` must not get new tensors during a walk. */
void view_walk_start(view_walk *walk, const pop_graph *graph, uint32_t tensor);
bool view_walk_next(view_walk *walk, view_run *run); /* neighbouring runs are merged */
/* Average length of the first 256 runs. */
double view_run_length(pop_tensor t);
/* Advances by as many elements, or by fewer: to the begin of the run that has that element.
 * Returns the number. Not with skip_repeats. */
uint64_t view_walk_skip(view_walk *walk, uint64_t elements);

#endif
