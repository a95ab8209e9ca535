/* Control programs: what the tiles do, in which order. Programs belong to a graph and die with it;
 * a program may be used in several places. Errors are the graph's (populus/graph.h). */
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

/* An empty sequence; pop_sequence_add appends. Adding a sequence to itself, also by way of others,
 * is an error. */
pop_program pop_program_sequence(pop_graph *graph, const char *name);
void pop_sequence_add(pop_program sequence, pop_program program);
/* Runs all vertices of a compute set in parallel. */
pop_program pop_program_execute(pop_graph *graph, pop_compute_set compute_set, const char *name);
/* Copies elements: same type, same number of elements (shapes may differ: row-major order). Source
 * and destination may overlap: as if through a temporary. The destination must not be a constant
 * nor hold an element twice. Quarters take their metadata with them (populus/graph.h), if the source has the same for all and
 * the destination's are no constant. */
pop_program pop_program_copy(pop_tensor source, pop_tensor destination, const char *name);
/* Runs `body` `count` times; 0 is legal. */
pop_program pop_program_repeat(pop_graph *graph, uint32_t count, pop_program body,
                               const char *name);
/* Predicates and the controls of switches are tensors of one element on any tile. A predicate has the
 * type POP_BOOL or an integer type of up to 32 bits and is true unless it is 0. The tile that holds
 * the element tells all others by an exchange, each time it is asked for. */

/* Runs `then_body` if the predicate is true, otherwise `else_body`. A branch without an effect may be
 * null: (pop_program){0}. */
pop_program pop_program_if(pop_tensor predicate, pop_program then_body, pop_program else_body,
                           const char *name);

typedef struct pop_switch_case {
  int64_t value; /* that the control's type can hold; each value once */
  pop_program body;
} pop_switch_case;
/* Runs the case whose value `control` has, or, if there is none, `default_body` (null: nothing). The
 * control has an integer type of up to 32 bits. */
pop_program pop_program_switch(pop_tensor control, const pop_switch_case *cases, size_t num_cases,
                               pop_program default_body, const char *name);

/* Runs `condition` (null: nothing), then looks at the predicate; if it is true (false), runs `body`
 * and begins again, otherwise it is done. */
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

/* Says that what the tensor holds is not needed any more: until it is written again, its memory may
 * serve others, and what is read of it is anything. No code. */
pop_program pop_program_write_undef(pop_tensor tensor, const char *name);

/* Whom tiles wait for in a Sync, and what that costs. Programs need none for their own sake: exchanges
 * and copies between host and device synchronise by themselves. */
typedef enum pop_sync_type {
  POP_SYNC_INTERNAL, /* the tiles of their IPU: target.sync_cycles */
  POP_SYNC_EXTERNAL, /* those of all IPUs: target.host_sync_cycles */
  POP_SYNC_GLOBAL    /* those of all IPUs and replicas: as POP_SYNC_EXTERNAL */
} pop_sync_type;
pop_program pop_program_sync(pop_graph *graph, pop_sync_type type, const char *name);
/* Does nothing and costs nothing. */
pop_program pop_program_nop(pop_graph *graph, const char *name);
/* Runs `body`, and marks what it consists of as a block with this name (not empty) for profiles. That
 * costs nothing: where the block's control code begins and ends is in the tiles' images, as the
 * symbol `block.<number>.<name>`; stream copies inside are not merged with some outside. With the engine's
 * option profiler.blocks.filter tiles time the blocks that it matches: lightweight profiling. */
pop_program pop_program_block(pop_graph *graph, pop_program body, const char *name);

/* Ends the run: pop_engine_run fails with a RUNTIME error that has `message` (NULL: none), the program's
 * name, and where the predicate is. Nothing that comes behind it is done; memory can be read, and
 * running again needs pop_engine_load. Costs a sync with the host when it happens. */
pop_program pop_program_abort(pop_graph *graph, const char *message, const char *name);
/* The same if the predicate is true; costs what an If does. */
pop_program pop_program_abort_on_condition(pop_tensor predicate, const char *message,
                                           const char *name);

/* ---- replicas (pop_graph_create_replicated, pop_graph_create_replicated_graph) ---- */

typedef struct pop_replica_pair {
  uint32_t from, to;
} pop_replica_pair;
/* Copies `source` of each replica map[i].from to `destination` of replica map[i].to, as
 * pop_program_copy does within one. A replica sends at most once and receives at most once; in one that
 * does not receive, the destination stays as it is. All replicas wait for each other. */
pop_program pop_program_cross_replica_copy(pop_tensor source, pop_tensor destination,
                                           const pop_replica_pair *map, size_t count,
                                           const char *name);
/* Says that the tensor holds the same in all replicas. With the engine's option debug.runtimeVerify
 * that is checked, and the run ends with an error if it is not so; otherwise it costs nothing. */
pop_program pop_program_assume_equal_across_replicas(pop_tensor tensor, const char *name);

/* Prints the tensor to the engine's print stream (standard error by default; the engine's option
 * and pop_engine_set_print_stream change it) as `title: {1,1.5,2}`; nested braces, one row a line,
 * for higher ranks, as the guide shows it. Of a replicated graph each replica's, `title (replica 0)`. */
pop_program pop_program_print_tensor(pop_tensor tensor, const char *title);

/* How floating-point numbers are printed: with the same number of digits behind the point; with exponents; as one
 * of these, whichever shows `digits` digits of all of them in less room; each as short as it can be. Of others than
 * the last all have the same width. */
typedef enum pop_float_format {
  POP_FLOAT_AUTO,
  POP_FLOAT_FIXED,
  POP_FLOAT_SCIENTIFIC,
  POP_FLOAT_NONE
} pop_float_format;
/* As numpy prints arrays: `title: [1.0000000 1.5000000]`, rows of the last dimension one below the other. */
typedef struct pop_print_format {
  uint32_t summarise_threshold; /* of more elements only some are printed: */
  uint32_t edge_items;          /* so many at both ends of each dimension */
  uint32_t max_line_width;      /* a line is broken before it has more characters; 0: never */
  uint32_t digits;              /* significant ones, 1 to 17 */
  pop_float_format float_format;
  char separator, open_bracket, close_bracket; /* printable characters or blanks */
} pop_print_format;
/* Those of the documented PrintTensorFmt(): 1000 elements, 3 items, lines of 75, 8 digits, AUTO, ' ', '[', ']'. */
pop_print_format pop_print_format_default(void);
/* INVALID_ARGUMENT: a digit number or character that cannot be. */
pop_program pop_program_print_tensor_formatted(pop_tensor tensor, const char *title,
                                               const pop_print_format *format);

/* ---- quarters ---- */

/* A new variable of shape {1} on tile 0, which the sequence makes metadata of: of this format (the highest bit: f143) and of a
 * scale, one element of type POP_SIGNED_CHAR, that is known when it runs: -32 to 31, of others the lowest 6 bits. */
pop_tensor pop_graph_pack_metadata(pop_graph *graph, pop_program sequence, uint8_t format,
                                   pop_tensor scale);

#ifdef __cplusplus
}
#endif
#endif
