/* What our code takes for library vertices, where graphs are compiled: an estimator of every vertex type of popops, poplin, popnn,
 * poprand and poplar_rt, in cycles of the tile or, of vertices that one worker runs, of that worker.
 *
 *   families (our_cycles.c)    what the code of a kind of vertex does so often: calls, rounds of its loops, …, worker by worker
 *   table (our_cycles.def)     what one of each takes, by vertex type: fitted to runs of the code on the software IPU
 *
 * build/tests/fit_library_cycles prints the table; tests/unit/poplibs/our_cycles.c compares estimates with other runs, of shapes and
 * data that the table was not fitted to, and walks all types. Data have their packed instructions' alignment, and numbers such a size
 * that functions of them take their usual way. */
#ifndef POPLIBS_HOST_OUR_CYCLES_H
#define POPLIBS_HOST_OUR_CYCLES_H

#include <populus/graph.h>

enum { OUR_CYCLES_MAX_TERMS = 21 };

typedef struct our_cycles {
  const char *type; /* of vertices */
  unsigned lanes;   /* elements that its loop takes at a time; 1 but for packed operations */
  double cycles[OUR_CYCLES_MAX_TERMS];
} our_cycles;

/* NULL: there is none. */
const our_cycles *our_cycles_of_type(const char *vertex_type);

/* How often a worker does what the row's cycles are of: the number of terms, the first of which is 1 (the vertex itself), written to
 * `terms`. 0: no family has such types. */
size_t our_cycles_terms(pop_graph *graph, pop_vertex vertex, const our_cycles *row, uint32_t worker,
                        double *terms);

/* To all vertex types of the graph that came with the libraries and have rows: what the slowest worker takes. */
void our_cycles_add_estimators(pop_graph *graph);

#endif
