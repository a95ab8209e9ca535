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
 * nor hold an element twice. */
pop_program pop_program_copy(pop_tensor source, pop_tensor destination, const char *name);
/* Runs `body` `count` times; 0 is legal. */
pop_program pop_program_repeat(pop_graph *graph, uint32_t count, pop_program body,
                               const char *name);
/* Prints the tensor to the engine's print stream (standard error by default; the engine's option
 * and pop_engine_set_print_stream change it) as `title: {1,1.5,2}`; nested braces, one row a line,
 * for higher ranks, as the guide shows it. */
pop_program pop_program_print_tensor(pop_tensor tensor, const char *title);

#ifdef __cplusplus
}
#endif
#endif
