/* The checks of pass_check, by subject. They only read the graph. */
#ifndef COMPILER_CHECK_CHECK_H
#define COMPILER_CHECK_CHECK_H

#include "compiler/compilation.h"

/* The variables that are mapped completely, from the first to the last element. */
typedef struct mapped_variables {
  pop_graph *graph;
  bool *completely; /* by variable */
} mapped_variables;

/* Vertices grouped by compute set. Those of set i, in order: vertices[first[i]] to vertices[first[i
 * + 1] - 1]. */
typedef struct vertex_groups {
  uint32_t *vertices;
  size_t *first;
} vertex_groups;

/* Returns "vertex 12 (Stencil) of compute set 'sweep'"; the caller frees it. */
char *describe_vertex(const pop_graph *graph, uint32_t vertex);

/* mapping.c: does each element of [begin, end) have a tile? */
POP_MUST_CHECK pop_error *check_mapped(const mapped_variables *mapped, uint32_t variable,
                                       uint64_t begin, uint64_t end);
POP_MUST_CHECK pop_error *check_tensor_mapped(const mapped_variables *mapped, uint32_t tensor);
/* The same; and is the tensor not too large for the host (a broadcast may be)? */
POP_MUST_CHECK pop_error *check_host_tensor(const mapped_variables *mapped, uint32_t tensor);

/* vertex.c: is the vertex on a tile with the workers that it is made for, with all fields
 * connected? */
POP_MUST_CHECK pop_error *check_one_vertex(const pop_graph *graph, uint32_t vertex);

/* race.c: are all elements mapped, and is none written twice, or written and read, in the compute
 * set? */
POP_MUST_CHECK pop_error *check_races(const mapped_variables *mapped, const uint32_t *vertices,
                                      size_t num_vertices);

#endif
