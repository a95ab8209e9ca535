/* What every example needs: stop with the library's own sentence when something failed. */
#ifndef EXAMPLES_EXAMPLE_H
#define EXAMPLES_EXAMPLE_H

#include <populus/populus.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Ends the program with the error's message and exit status, if there is an error. */
static inline void example_check(pop_error *error)
{
  if (!error) return;
  fprintf(stderr, "error: %s\n", pop_error_message(error));
  int status = pop_error_exit_status(error);
  pop_error_free(error);
  exit(status);
}

/* The same for the first error of a graph. pop_engine_create reports it too: this is for programs that
 * calculate with what the graph says (after an error its tensors have no elements). */
static inline void example_check_graph(const pop_graph *graph)
{
  const pop_error *error = pop_graph_error(graph);
  if (!error) return;
  fprintf(stderr, "error: %s\n", pop_error_message(error));
  exit(pop_error_exit_status(error));
}

/* Like malloc, for host buffers; ends the program when there is no memory. */
static inline void *example_alloc(size_t count, size_t bytes)
{
  void *memory = calloc(count ? count : 1, bytes);
  if (!memory) {
    fprintf(stderr, "error: no memory for %zu host elements\n", count);
    exit(4);
  }
  return memory;
}

#endif
