/* Cycle estimates of our code for library vertices, for the graph compiler: an estimator for
 * every vertex type of popops, poplin, popnn, poprand and poplar_rt. Cycles are the tile's or,
 * for a vertex that one worker runs, that worker's.
 *
 *   families (our_cycles.c)    how often the code of a kind of vertex does what: calls, loop iterations, …, worker by worker
 *   table (our_cycles.def)     what each of these takes, by vertex type: fitted to runs of the code on the software IPU
 *
 * build/tests/support/fit_library_cycles prints the table. tests/unit/poplibs/our_cycles.c
 * compares estimates with other runs, whose shapes and data the table was not fitted to, and
 * visits all types. Estimates assume the alignment that packed instructions need, and numbers of
 * such a size that functions take their usual path. */
#ifndef POPLIBS_HOST_OUR_CYCLES_H
#define POPLIBS_HOST_OUR_CYCLES_H

#include <populus/graph.h>

enum { OUR_CYCLES_MAX_TERMS = 21 };

typedef struct our_cycles {
  const char *type; /* of vertices */
  unsigned lanes;   /* elements of a loop iteration; 1 without packed operations */
  double cycles[OUR_CYCLES_MAX_TERMS];
} our_cycles;

/* NULL if there is no row. */
const our_cycles *our_cycles_of_type(const char *vertex_type);

/* Writes to `terms` how often a worker does what each of the row's cycles is for, and returns
 * the number of terms. The first term is 1, the vertex itself. 0: no family has the type. */
size_t our_cycles_terms(pop_graph *graph, pop_vertex vertex, const our_cycles *row, uint32_t worker,
                        double *terms);

/* Adds an estimator, the cycles of the slowest worker, to each vertex type of the graph that
 * came with the libraries and has a row. */
void our_cycles_add_estimators(pop_graph *graph);

#endif
