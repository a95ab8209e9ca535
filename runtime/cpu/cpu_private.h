/* The CPU device: a graph on the host's memory and threads, with the host objects of its codelets.
 *
 *   graph --compile.c--> cpu_program --describe.c--> pop_executable (what the host can ask)
 *                             |
 *                        cpu_new, cpu_load (memory.c, link.c)
 *                             v
 *                            cpu --execute.c--> events for the engine, as the machine has them
 *
 * All data of a program lie in one MEMORY, a reservation whose size is known when the graph is
 * compiled. It has the variables, and then for each vertex its state in the host's layout, its
 * vectors, its tables of rows and its buffers. A place is an offset in it. Loading clears it,
 * copies initial contents, and writes pointers.
 *
 * A VIEW is a tensor as it is in the graph: pieces, each a nest of loops, here in bytes. A field
 * points straight at the data if it is connected to one run of bytes with the alignment that the
 * codelet asks for. Otherwise the vertex has a buffer, which is filled before the call and emptied
 * afterwards.
 *
 * A small interpreter with a stack of its own runs the steps. It returns for everything that the
 * host has to do, and reports the same events as tiles do (executable.h). So the engine need not
 * know which of the two it talks to. */
#ifndef CPU_CPU_PRIVATE_H
#define CPU_CPU_PRIVATE_H

#include "base/thread_pool.h"
#include "compiler/reach.h"
#include "cpu/cpu.h"
#include "graph/graph.h"
#include <stdatomic.h>

#define CPU_NONE UINT32_MAX

/* ---- views ---- */

/* for (i < count) at += stride */
typedef struct cpu_dim {
  uint64_t count;
  int64_t stride; /* bytes */
} cpu_dim;

/* A nest of loops around runs of bytes. */
typedef struct cpu_piece {
  uint64_t at;        /* of the first run */
  uint64_t run_bytes; /* of each run */
  uint64_t num_runs;
  size_t first_dim; /* outermost first */
  uint32_t num_dims;
} cpu_piece;

typedef struct cpu_view {
  size_t first_piece, num_pieces;
  uint64_t bytes;     /* of all pieces */
  uint64_t low, high; /* all bytes are between these two places */
} cpu_view;

/* ---- vertices ---- */

typedef struct cpu_edge {
  uint32_t view;
  uint64_t buffer; /* the place */
  bool writes;     /* the vertex writes it */
} cpu_edge;

typedef struct cpu_vertex {
  uint32_t entry; /* in cpu_program.entries */
  uint32_t calls; /* how often it is called: once for each worker number */
  uint64_t state;
  size_t first_edge; /* edges with a buffer of this vertex alone */
  uint32_t num_edges;
  uint32_t work; /* estimated time, in instructions */
} cpu_vertex;

typedef struct cpu_compute_set {
  size_t first_vertex, num_vertices;
  size_t first_edge, num_edges; /* inputs whose buffers several vertices share: filled first */
  uint64_t work;                /* of all vertices */
} cpu_compute_set;

/* ---- steps ---- */

typedef enum cpu_step_kind {
  CPU_SEQUENCE,
  CPU_REPEAT,        /* child `count` times */
  CPU_SWITCH,        /* a child for each value, then the default */
  CPU_WHILE,         /* condition, body; while the control is (count 1) or is not (count 0) true */
  CPU_EXECUTE,       /* compute set `index` */
  CPU_COPY,          /* view `index` to view `other` */
  CPU_EVENT,         /* reports event `index` */
  CPU_EVENT_IF,      /* reports event `index` if the control is not 0 */
  CPU_HOST_EXCHANGE, /* reports event `index`; moves view `other` */
  CPU_REPLICA_COPY,  /* waits for other replicas; view `index` to `other` of those in `values` */
} cpu_step_kind;

typedef struct cpu_step {
  cpu_step_kind kind;
  uint32_t index, other;
  uint32_t count;
  bool to_device;     /* HOST_EXCHANGE */
  uint32_t rows;      /* HOST_EXCHANGE: the view with the row numbers; CPU_NONE: in order */
  uint64_t control;   /* the place of SWITCH, WHILE, EVENT_IF */
  pop_type type;      /* of the control */
  size_t first_child; /* in children */
  size_t num_children;
  /* in values. SWITCH: of cases; REPLICA_COPY: by replica the receiver, or CPU_NONE */
  size_t first_value;
} cpu_step;

/* ---- what a graph becomes ---- */

typedef struct cpu_content {
  uint64_t at, size;
  size_t first; /* offset in cpu_program.bytes */
} cpu_content;

typedef struct cpu_pointer {
  uint64_t at, target; /* places */
} cpu_pointer;

/* A tensor that the host reads, writes or prints. */
typedef struct cpu_host_tensor {
  const char *name;
  executable_tensor_kind kind;
  pop_type type;
  uint32_t rank;
  const size_t *shape;
  uint64_t num_elements;
  uint32_t num_replicas; /* as executable_tensor */
  uint32_t view;
} cpu_host_tensor;

#define CPU_ARRAY(type, name)                                                                      \
  type *name;                                                                                      \
  size_t num_##name, name##_capacity

struct cpu_program {
  pop_arena *arena; /* names and shapes */
  pop_target target;
  uint32_t num_replicas; /* each has a memory */
  uint64_t memory_bytes;
  CPU_ARRAY(pop_gp *, codelets);    /* retained: for their host objects */
  CPU_ARRAY(const char *, entries); /* symbols of vertices */
  CPU_ARRAY(uint8_t, bytes);
  CPU_ARRAY(cpu_content, contents);
  CPU_ARRAY(cpu_pointer, pointers);
  CPU_ARRAY(cpu_dim, dims);
  CPU_ARRAY(cpu_piece, pieces);
  CPU_ARRAY(cpu_view, views);
  CPU_ARRAY(cpu_edge, edges);
  CPU_ARRAY(cpu_vertex, vertices);
  CPU_ARRAY(cpu_compute_set, compute_sets);
  CPU_ARRAY(cpu_step, steps);
  CPU_ARRAY(uint32_t, children);
  CPU_ARRAY(uint32_t, values);
  CPU_ARRAY(cpu_host_tensor, host_tensors); /* handles, replica indices, then of events */
  CPU_ARRAY(executable_event, events);      /* by event number - 1 */
  CPU_ARRAY(executable_stream, streams);
  CPU_ARRAY(executable_remote_buffer, remote_buffers);
  CPU_ARRAY(executable_window, windows); /* one for each event EXCHANGE */
  CPU_ARRAY(uint32_t, programs);         /* steps */
  CPU_ARRAY(const char *, program_names);
};

/* ---- the parts of compile.c ---- */

typedef struct cpu_compilation {
  cpu_program *p;
  pop_graph *graph;
  cpu_compile_options options;
  reach reach;
  /* Vertices by compute set, in the order in which they were added; those of set i begin at
   * first_vertex[i]. */
  uint32_t *vertices;
  size_t *first_vertex;
  uint64_t *variables;    /* their places */
  uint32_t *views;        /* by tensor of the graph; CPU_NONE: not yet */
  uint32_t *compute_sets; /* by compute set of the graph; CPU_NONE: no program runs it */
  uint32_t *entries;      /* by vertex type of the graph; CPU_NONE: not yet */
} cpu_compilation;

/* Reserves room in the memory; returns its place. */
uint64_t cpu_reserve(cpu_program *p, uint64_t bytes, uint64_t align);
/* Bytes to be copied there when the program is loaded. */
void cpu_put(cpu_program *p, uint64_t at, const void *bytes, uint64_t size);

/* views.c */
uint32_t cpu_add_view(cpu_compilation *c, uint32_t tensor);
/* The place of a view that is one run of bytes; UINT64_MAX: it is not. */
uint64_t cpu_view_place(const cpu_program *p, uint32_t view);
/* Copies the bytes of a view, in order, to or from host memory. */
void cpu_gather(const cpu_program *p, const cpu_view *view, const uint8_t *memory, uint8_t *to);
void cpu_scatter(const cpu_program *p, const cpu_view *view, uint8_t *memory, const uint8_t *from);
/* Copies a view to another one, as if through a temporary. */
void cpu_copy(const cpu_program *p, const cpu_view *from, const cpu_view *to, uint8_t *memory);

/* vertices.c */
void cpu_lower_compute_set(cpu_compilation *c, uint32_t compute_set, const uint32_t *vertices,
                           size_t num_vertices);

/* steps.c: lowers the programs in use; each comes behind all that it contains. */
POP_MUST_CHECK pop_error *cpu_lower_programs(cpu_compilation *c, const uint32_t *programs,
                                             size_t num_programs);
void cpu_lower_handles(cpu_compilation *c);
uint32_t cpu_add_step(cpu_compilation *c, const cpu_step *step);
/* A step that prints a tensor; `message` as executable_event's. */
cpu_step cpu_print_step(cpu_compilation *c, const char *name, const char *message, uint32_t tensor);

/* trace.c: for an Execute or a Copy, its step with the prints of debug.trace around it; for any
 * other program, its step. */
uint32_t cpu_trace_step(cpu_compilation *c, const program *from, uint32_t step);

/* ---- running ---- */

typedef struct host_code host_code;
typedef union cpu_entry {
  uintptr_t address;
  bool (*multi)(void *state, unsigned worker);
  bool (*supervisor)(void *state, void *stub);
} cpu_entry;

/* A step that is being run. `position`: the next child, or the number of rounds. */
typedef struct cpu_frame {
  uint32_t step;
  uint64_t position;
} cpu_frame;

struct cpu {
  const cpu_program *program;
  thread_pool *pool;
  atomic_bool stopped; /* cpu_stop */
  bool shares_pool;    /* with the first replica, which owns it */
  uint8_t *memory;     /* NULL: not loaded */
  host_code *code;
  cpu_entry *entries;
  FILE *print_stream;      /* where codelets print */
  atomic_bool has_printed; /* in this run */
  cpu_frame *stack;
  size_t depth, stack_capacity;
  uint32_t waiting; /* the step that waits for the host or for other replicas, or CPU_NONE */
};

/* memory.c */
POP_MUST_CHECK pop_error *cpu_make_memory(cpu *c);
void cpu_free_memory(cpu *c);

/* link.c: links the codelets and sets `entries`. */
POP_MUST_CHECK pop_error *cpu_link(cpu *c);
void cpu_unlink(cpu *c);

/* library.c: the address of a function that codelets call and that the process does not have, or
 * has otherwise; 0: none. */
uintptr_t cpu_library_find(const char *name);
/* Sets where codelets on this thread print. To be ended behind each codelet: a character that one
 * has begun must not be continued by another one. Returns whether it has printed anything. */
void cpu_library_set_print(FILE *stream);
bool cpu_library_end_print(void);

#endif
