/* The graph as data: what the calls of <populus/graph.h> fill in and the graph compiler reads.
 *
 * Everything is an array of plain structs referred to by index. Index 0 of tensors is the null
 * tensor; variables, compute sets, vertices and programs count from 0 inside, and the public
 * handles carry index + 1 for compute sets, vertices and programs, so that a zeroed handle is null.
 *
 * VIEWS. A tensor is a shape over a sequence of elements. The sequence is a list of pieces; each
 * piece is a nest of loops over one variable:
 *
 *     for (i0 < dims[0].count) for (i1 < dims[1].count) …
 *         element base + i0 * dims[0].stride + i1 * dims[1].stride + …
 *
 * The shape is only a way to count through the sequence, so reshape never touches pieces. Slices,
 * transposes and broadcasts of a tensor that is one piece (or whose pieces are whole rows) rewrite
 * loops; only what no nest of loops can say is split into more pieces, by rows, never by elements.
 * Loops are kept canonical: no count 1, neighbours merged where strides allow; a contiguous run is
 * one loop of stride 1; a single element has no loops.
 */
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
#include <sys/types.h> /* pthread_mutex_t; pthread.h has names that are others here */

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
  uint16_t replication; /* it is a replicated graph's: its elements are those of replica 0; or 0 */
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
  bool is_replica_index; /* its element is the number of the replica, known when it is loaded */
  bool
      may_rotate; /* matrix products may move its elements in place, and back (poplibs/host/matmul_rotation.c) */
  uint64_t num_elements;
  uint32_t tensor;  /* all of it, in the shape that it was added with */
  uint8_t *initial; /* num_elements * bytes of type, or NULL for zeroes */
  /* Tile mapping: in call order until graph_mapping() sorts it; then ascending and disjoint. */
  mapping_interval *mapping;
  size_t num_mapping, mapping_capacity;
  bool mapping_sorted;
  uint32_t
      with_vertex; /* number + 1 of the vertex on whose tile it is; 0: it has its own mapping */
  /* Of quarters: number + 1 of the variable, and its element, that has their format and scale; 0: none yet. */
  uint32_t metadata;
  uint32_t
      metadata_of; /* number + 1 of the quarters that it was made for: it is where their first is, unless it is mapped */
  uint64_t metadata_at;
} variable;

/* Who says what vertices of a type take: the program, or the library, of which there may be both (graph_add_library_estimator). */
typedef enum estimate_source {
  ESTIMATE_NONE, /* their code is run */
  ESTIMATE_PROGRAM,
  ESTIMATE_CHIP, /* formulae that the chip's libraries were published with */
  ESTIMATE_OURS, /* what our code takes */
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
  bool program_decides;   /* it has registered an estimator, which may be none */
  estimate_source source; /* of what graph_estimate_vertices has given its vertices */
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
  bool is_own_estimate;    /* of this vertex; otherwise its type's, made when it is compiled */
  uint16_t replication;    /* it is replica 0's of as many, and the others' come next; or 0 */
  uint64_t cycle_estimate; /* 0: there is none */
  uint64_t flop_estimate;
} vertex;

typedef struct edge {
  uint32_t field : 31; /* in the vertex type */
  uint32_t
      rows_open : 1; /* nobody has said how many rows there are: there are more if one is connected */
  uint32_t tensor;   /* of a field with rows: the first of them in graph->row_tensors */
  uint32_t num_rows; /* GRAPH_NONE: the field has no rows */
  uint32_t next;
} edge;

typedef struct field_value {
  uint32_t field;
  uint32_t next;
  uint8_t bytes[8]; /* scalar: the first pop_type_bytes(field type) count */
  /* vector: `count` elements, zero if there are no bytes */
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
  const char *message; /* ABORT: "" if none; PRINT_TENSOR: how (graph/print_format.h) */
  /* SEQUENCE: programs in order; REPEAT, CALL, BLOCK: one; SWITCH: of the cases, then the default;
   * WHILE: condition, body */
  uint32_t *children;
  size_t num_children, children_capacity;
  uint32_t count;        /* REPEAT; WHILE: 1 while the predicate is true, 0 while it is false;
                          * SYNC: pop_sync_type; SWITCH: 1 if it is an If; ASSUME_EQUAL: replicas in the
                          * tensor, its first dimension; 1: it is as it is in one */
  uint32_t compute_set;  /* EXECUTE */
  uint32_t *case_values; /* SWITCH: of the children but the last; a predicate's false is 0 */
  uint32_t *replica_map; /* REPLICA_COPY: by replica, which one its source goes to; or GRAPH_NONE */
  uint32_t stream;       /* STREAM_COPY; REMOTE_COPY: the remote buffer */
  /* Tensors. COPY: both; STREAM_COPY, REMOTE_COPY: source is the tensor, whatever the direction;
   * REPLICA_COPY: both; REMOTE_COPY: destination has the offsets, 0: there are none; ASSUME_EQUAL, PRINT_TENSOR, WRITE_UNDEF: source; SWITCH, WHILE: source is the control; ABORT: source is the
   * predicate, 0 if there is none. */
  uint32_t source, destination;
  uint32_t
      headers; /* REPLICA_COPY: a tensor with each tile's packet headers (graph/replica.h), or 0 */
  bool to_device;  /* REMOTE_COPY */
  bool has_parent; /* it is in another program */
  uint64_t visit;  /* == graph->program_visit: seen by the search for cycles that runs now */
} program;

typedef struct host_handle {
  const char *name;
  uint32_t tensor;       /* of all replicas */
  uint32_t num_replicas; /* the outer dimension of the tensor; 1: it is not replicated */
  bool read;             /* otherwise write */
} host_handle;

typedef struct host_stream {
  const char *name;
  pop_type type;
  bool to_device;
  uint64_t num_elements;
  uint64_t split_bytes; /* a copy of more is several host exchanges; 0: never */
  uint32_t depth;       /* of copies that may be prefetched */
  uint32_t replica,
      num_replicas; /* whose it is of how many replicas of a replicated graph; or 0 of 1 */
  uint32_t replication;
  pop_replicated_stream_mode mode;
} host_stream;

typedef struct remote_buffer {
  const char *name;
  pop_type type;
  uint64_t num_elements;                       /* of a row */
  uint64_t repeats;                            /* rows */
  uint32_t replica, num_replicas, replication; /* as of streams */
} remote_buffer;

/* Replicas of (a part of) a graph that is no replicated one itself, made by pop_graph_create_replicated_graph.
 * What is added to such a graph is added once for each replica: variables, vertices, streams and remote
 * buffers in a row, that of replica 0 first. Its handles are those of replica 0's; a tensor or vertex that
 * stands for all of them has the number of the replication. Compilers see nothing of that. */
typedef struct replication {
  uint32_t num_replicas;
} replication;

enum { MAX_REPLICATIONS = UINT16_MAX };

#define GRAPH_ARRAY(type, name)                                                                    \
  type *name;                                                                                      \
  size_t num_##name, name##_capacity

/* use.c: a thread, by the address of something that is its own; 0: nobody. */
typedef _Atomic uintptr_t graph_compiler;

struct pop_graph {
  object base;
  /* A virtual graph is a view of another one's tiles, and has nothing but these and `target`. */
  pop_graph *top;    /* the graph that it is a view of in the end; of others, themselves */
  pop_graph *parent; /* NULL: it is no view */
  uint32_t num_tiles;
  const uint32_t *tiles; /* VIEW: their numbers in the top-level graph, replica by replica */
  uint32_t *numbers; /* the other way round, made when it is first wanted; GRAPH_NONE: not here */
  uint32_t replication; /* VIEW: of whose replicas it is a view; 0: it is not replicated */
  uint32_t
      num_replicas; /* VIEW: of the replication; of a top-level graph: that are loaded of it; or 1 */
  pop_graph *next;  /* view of the same top-level graph, first of all the graph's own `next` */

  pop_arena *arena; /* names, constants, children, mappings: all that dies with the graph */
  pop_target target;
  pop_error *error; /* the first one */
  GRAPH_ARRAY(variable, variables);
  GRAPH_ARRAY(tensor, tensors);
  GRAPH_ARRAY(view_piece, pieces);
  GRAPH_ARRAY(view_dim, dims);
  GRAPH_ARRAY(pop_gp *, codelets); /* owned */
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
  pop_name_table handle_names[2];         /* of what is written, of what is read */
  pop_name_table stream_names, remote_buffer_names;
  struct view_scratch *scratch; /* view.c: what the view that is being made needs */
  uint64_t program_visit;       /* number of searches for cycles so far */
  void (*progress)(void *context, unsigned done,
                   unsigned total); /* pop_graph_set_progress; or NULL */
  void *progress_context;
  log_phase construction; /* from its creation to when it is first compiled */
  bool is_constructed;
  graph_compiler compiler; /* who compiles the graph: nobody else may use it meanwhile */
  pthread_mutex_t turn; /* whose call on the graph it is, recursive; of a virtual graph not used */
};

/* use.c: waits until no other thread is in a call on the graph, or on two. Graphs that do not live have no turns. */
typedef struct graph_turn {
  pop_graph *graphs[2];
} graph_turn;
graph_turn graph_begin_turn(const pop_graph *graph, const pop_graph *other);
void graph_end_turn(const graph_turn *turn);

/* The first line of each call that a program can make on graphs: until the function returns. */
#define GRAPH_TURNS(graph, other)                                                                  \
  __attribute__((cleanup(graph_end_turn), unused)) const graph_turn own_turn =                     \
      graph_begin_turn(graph, other)
#define GRAPH_TURN(graph) GRAPH_TURNS(graph, NULL)

/* NULL for a single element: it has none, and the graph perhaps neither. */
static inline const view_dim *piece_dims(const pop_graph *graph, const view_piece *piece)
{
  return piece->num_dims ? graph->dims + piece->first_dim : NULL;
}

static inline bool graph_is_for_host(const pop_graph *graph)
{
  return graph->target.type == POP_TARGET_CPU;
}

/* Numbers of tiles that may be given. On the host they mean nothing: any that a tile can have. */
static inline uint32_t graph_tile_limit(const pop_graph *view)
{
  enum { MAX_TILES = 1000000 };
  return graph_is_for_host(view) ? MAX_TILES : view->num_tiles;
}

/* lost_calls.c: keeps the error of a call on a graph that is NULL or was freed; pop_graph_error gives it out. */
void graph_lose_call(const pop_graph *graph, const char *call);

/* What is kept; if that is nothing, an error about asking for it. */
const pop_error *graph_lost_call(const pop_graph *graph);
pop_error *graph_take_lost_call(const pop_graph *graph);

static inline bool graph_lives(const pop_graph *graph, const char *call)
{
  if (object_lives(graph, OBJECT_GRAPH)) return true;
  graph_lose_call(graph, call);
  return false;
}

/* graph.c */
void graph_report_progress(const pop_graph *graph, unsigned done, unsigned total);

/* estimate.c: asks the estimators of vertex types about vertices without estimates of their own; of those
 * that came with libraries `from` and, where there is none, the next one; ESTIMATE_NONE: none of them. */
void graph_estimate_vertices(pop_graph *graph, estimate_source from);
/* codelets.c: adds those of `<name>.gp` in the data folder, which Populus comes with. */
void graph_add_library_codelets(pop_graph *graph, const char *name);
/* An estimator that comes with a library, of ESTIMATE_CHIP or ESTIMATE_OURS. Nothing happens if there is no such type. */
void graph_add_library_estimator(pop_graph *graph, const char *vertex_type, estimate_source source,
                                 pop_perf_estimator *estimate, void *context);

/* The tensors of an edge: one, or its rows. */
static inline const uint32_t *edge_tensors(const pop_graph *graph, const edge *e, uint32_t *count)
{
  *count = e->num_rows == GRAPH_NONE ? 1 : e->num_rows;
  return e->num_rows == GRAPH_NONE ? &e->tensor : graph->row_tensors + e->tensor;
}

/* virtual.c: the number of a view's tile in the top-level graph, in one of its replicas; and back (replica
 * 0's), or GRAPH_NONE. */
uint32_t graph_tile_of_top(const pop_graph *view, uint32_t replica, uint32_t tile);
uint32_t graph_tile_of_view(pop_graph *view, uint32_t tile_of_top);

/* use.c: the calling thread compiles the graph from here on, if nobody does. */
POP_MUST_CHECK pop_error *graph_begin_compilation(pop_graph *graph);
void graph_end_compilation(pop_graph *graph);
/* Fails the graph if another thread compiles it. */
bool graph_check_turn(pop_graph *graph);

/* The graph is compiled, or taken from the cache: its construction is over. */
void graph_end_construction(pop_graph *graph);
/* It is compiled: the log says how long its construction took, once. What is taken from the cache was constructed only to be
 * looked up, and who looks into the log for recompilations must not find it. */
void graph_say_construction(pop_graph *graph);

/* Keeps `error` if it is the first (frees it otherwise). */
void graph_fail(pop_graph *graph, pop_error *error);

/* A variable for each replica of a replication, or one for 0, and the view of all of the first; each with what is at
 * `initial`, which is taken and makes it a constant, or NULL. The shape is a good one. */
pop_tensor graph_add_variable(pop_graph *graph, uint32_t replication, const char *call,
                              pop_type type, const size_t *shape, size_t rank, const char *name,
                              uint8_t *initial);

/* The mapping of a variable, sorted and disjoint, neighbours on one tile merged. */
const mapping_interval *graph_mapping(pop_graph *graph, uint32_t variable, size_t *count);

/* The first interval that ends behind the element. */
size_t graph_find_mapping(const mapping_interval *mapping, size_t count, uint64_t element);
/* Maps elements [begin, end) of a variable; tiles are the top-level graph's. */
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
  uint64_t element;  /* where the current piece's counters stand */
  bool skip_repeats; /* set after view_walk_start: run loops of stride 0 once */
} view_walk;
/* `graph` must not get new tensors while a walk goes on. */
void view_walk_start(view_walk *walk, const pop_graph *graph, uint32_t tensor);
bool view_walk_next(view_walk *walk, view_run *run); /* neighbouring runs are merged */
/* Elements of a run, in the mean of the first 256 runs. */
double view_run_length(pop_tensor t);
/* Goes on by as many elements, or by fewer: to the begin of the run of a piece that the next one is in. Returns by how many. Not with
 * skip_repeats. */
uint64_t view_walk_skip(view_walk *walk, uint64_t elements);

#endif
