/* Control programs: what the tiles do, in which order. Programs belong to a graph and are freed
 * with it. A program may be used in several places. Names may be NULL. Errors are the graph's
 * (populus/graph.h): TYPE and TENSOR for tensors that do not fit, CONTROL_PROGRAM for programs
 * that cannot be, INVALID_ARGUMENT for null handles and for those of another graph or replicated
 * graph. */
#ifndef POPULUS_PROGRAM_H
#define POPULUS_PROGRAM_H

#include <populus/graph.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct pop_program {
  pop_graph *graph;
  uint32_t index;
} pop_program;

/* An empty sequence; pop_sequence_add appends to it. CONTROL_PROGRAM: adding a sequence to itself,
 * directly or through others, or adding to a program that is not a sequence. */
pop_program pop_program_sequence(pop_graph *graph, const char *name);
void pop_sequence_add(pop_program sequence, pop_program program);
/* Runs all vertices of a compute set in parallel. */
pop_program pop_program_execute(pop_graph *graph, pop_compute_set compute_set, const char *name);
/* Copies elements. Source and destination have the same type and number of elements; shapes may
 * differ (row-major order). They may overlap: the copy works as if through a temporary. The
 * destination must not be a constant nor hold an element twice. The metadata of quarters
 * (populus/graph.h) are copied, too, if all of the source have the same, all of the destination
 * have the same, and those are not constant. */
pop_program pop_program_copy(pop_tensor source, pop_tensor destination, const char *name);
/* Runs `body` `count` times; 0 is legal. */
pop_program pop_program_repeat(pop_graph *graph, uint32_t count, pop_program body,
                               const char *name);
/* Predicates, and the controls of switches, are tensors of one element on any tile. A predicate has
 * the type POP_BOOL or an integer type of up to 32 bits; it is true unless it is 0. The element's
 * tile sends it to all others by an exchange, each time that it is needed. Except for
 * pop_program_abort_on_condition it must not be of a graph of pop_graph_create_replicated_graph,
 * whose replicas run in step: CONTROL_PROGRAM. */

/* Runs `then_body` if the predicate is true, otherwise `else_body`. An empty branch may be null:
 * (pop_program){0}. */
pop_program pop_program_if(pop_tensor predicate, pop_program then_body, pop_program else_body,
                           const char *name);

typedef struct pop_switch_case {
  int64_t value; /* one that the control's type can hold; each value once */
  pop_program body;
} pop_switch_case;
/* Runs the case with the value of `control`; if there is none, runs `default_body` (null: nothing).
 * The control has an integer type of up to 32 bits. CONTROL_PROGRAM for a value that it cannot
 * have, or that two cases have. A case's body may be null, too. */
pop_program pop_program_switch(pop_tensor control, const pop_switch_case *cases, size_t num_cases,
                               pop_program default_body, const char *name);

/* Loop: runs `condition` (null: nothing), then reads the predicate. While that is true (false),
 * runs `body` (null: nothing) and begins again. */
pop_program pop_program_repeat_while_true(pop_program condition, pop_tensor predicate,
                                          pop_program body, const char *name);
pop_program pop_program_repeat_while_false(pop_program condition, pop_tensor predicate,
                                           pop_program body, const char *name);

/* A function: a program whose code is in each tile once, however often it is called. */
typedef struct pop_function {
  pop_graph *graph;
  uint32_t index;
} pop_function;
pop_function pop_graph_add_function(pop_graph *graph, pop_program body);
pop_program pop_program_call(pop_function function, const char *name);

/* Says that the tensor's contents are not needed any more. Until it is written again, its memory
 * may be used for others, and reads of it give undefined values. Takes no code. TENSOR for
 * constants. */
pop_program pop_program_write_undef(pop_tensor tensor, const char *name);

/* For whom tiles wait in a Sync, and what that costs. Programs do not need Syncs for
 * correctness: exchanges and copies between host and device synchronise by themselves. */
typedef enum pop_sync_type {
  POP_SYNC_INTERNAL, /* the tiles of the same IPU: target.sync_cycles */
  POP_SYNC_EXTERNAL, /* the tiles of all IPUs: target.host_sync_cycles */
  POP_SYNC_GLOBAL    /* the tiles of all IPUs and replicas: as POP_SYNC_EXTERNAL */
} pop_sync_type;
pop_program pop_program_sync(pop_graph *graph, pop_sync_type type, const char *name);
/* Does nothing and costs nothing. */
pop_program pop_program_nop(pop_graph *graph, const char *name);
/* Runs `body`, and marks it as a block with this name (INVALID_ARGUMENT if NULL or empty) for
 * profiles. That costs nothing: the begin and end of the block's control code are in the tiles'
 * images, as the symbol `block.<number>.<name>`. Stream copies inside the block are not merged with
 * copies outside. With the engine option profiler.blocks.filter, tiles time the blocks that it
 * matches: lightweight profiling. */
pop_program pop_program_block(pop_graph *graph, pop_program body, const char *name);

/* Ends the run. pop_engine_run fails with a RUNTIME error that has `message` (NULL: none), the
 * program's name, and where the predicate is. Nothing after it is executed. Memory can be read;
 * running again needs pop_engine_load. Costs a sync with the host when it happens. */
pop_program pop_program_abort(pop_graph *graph, const char *message, const char *name);
/* The same if the predicate is true. Costs what an If costs. */
pop_program pop_program_abort_on_condition(pop_tensor predicate, const char *message,
                                           const char *name);

/* ---- replicas (pop_graph_create_replicated, pop_graph_create_replicated_graph) ---- */

typedef struct pop_replica_pair {
  uint32_t from, to;
} pop_replica_pair;
/* Copies `source` of each replica map[i].from to `destination` of replica map[i].to, as
 * pop_program_copy does within one replica. A replica sends at most once and receives at most once,
 * otherwise CONTROL_PROGRAM. Where it does not receive, the destination is unchanged. All replicas
 * wait for each other. Without replicas there is only replica 0. */
pop_program pop_program_cross_replica_copy(pop_tensor source, pop_tensor destination,
                                           const pop_replica_pair *map, size_t count,
                                           const char *name);
/* Says that the tensor holds the same in all replicas. With the engine option
 * debug.runtimeVerify that is checked, and the run ends with an error if it is not so. Otherwise
 * it costs nothing. */
pop_program pop_program_assume_equal_across_replicas(pop_tensor tensor, const char *name);

/* Prints the tensor to the engine's print stream as `title: {1,1.5,2}`; higher ranks have nested
 * braces, one row a line, as in the guide. The stream is standard error, unless
 * pop_engine_set_print_stream sets another one. In a replicated graph each replica's tensor is
 * printed, as `title (replica 0)`. */
pop_program pop_program_print_tensor(pop_tensor tensor, const char *title);

/* How floating-point numbers are printed. FIXED: with the same number of digits after the point.
 * SCIENTIFIC: with exponents. AUTO: as FIXED if the largest number has at most `digits` digits
 * before the point and no number but 0 is below 1e-4, otherwise as SCIENTIFIC. NONE: each number as
 * short as possible. In all but NONE all numbers have the same width. */
typedef enum pop_float_format {
  POP_FLOAT_AUTO,
  POP_FLOAT_FIXED,
  POP_FLOAT_SCIENTIFIC,
  POP_FLOAT_NONE
} pop_float_format;
/* Formats as numpy does: `title: [1.0000000 1.5000000]`, with the rows of the last dimension one
 * below the other. */
typedef struct pop_print_format {
  uint32_t summarise_threshold; /* if there are more elements, only some are printed: */
  uint32_t edge_items;          /* as many at both ends of each dimension */
  uint32_t max_line_width;      /* in characters; longer lines are broken; 0: never */
  uint32_t digits;              /* significant digits, 1 to 17 */
  pop_float_format float_format;
  char separator, open_bracket, close_bracket; /* printable characters or blanks */
} pop_print_format;
/* The defaults of the documented PrintTensorFmt(): 1000 elements, 3 items, lines of 75, 8
 * digits, AUTO, ' ', '[', ']'. */
pop_print_format pop_print_format_default(void);
/* INVALID_ARGUMENT: the format is NULL, or its digits, float format or one of its characters are
 * not valid. */
pop_program pop_program_print_tensor_formatted(pop_tensor tensor, const char *title,
                                               const pop_print_format *format);

/* ---- quarters ---- */

/* A new variable of shape {1} on tile 0. The sequence writes metadata to it, made of `format` (the
 * highest bit: f143; the lowest six are 0) and of a scale that is known at run time. `scale` is one
 * element of type POP_SIGNED_CHAR, -32 to 31; of other values the lowest 6 bits are taken. TYPE:
 * another `scale`. */
pop_tensor pop_graph_pack_metadata(pop_graph *graph, pop_program sequence, uint8_t format,
                                   pop_tensor scale);

#ifdef __cplusplus
}
#endif
#endif
