/* What sorting on one tile and on many share. */
#ifndef POPLIBS_HOST_SORT_H
#define POPLIBS_HOST_SORT_H

#include <populus/graph.h>
#include <populus/program.h>

/* A row, or a part of one; no values: null. */
typedef struct run {
  pop_tensor keys, values;
} run;

typedef struct sorting {
  pop_graph *graph;
  const char *call, *name;
  bool descending;
  pop_program sequence;
} sorting;

/* The type of a vertex `popops::<name>` for keys and values like those of `r`, which are `unsigned int` where there are
 * none. In the graph's arena. */
const char *sort_vertex_type(const sorting *s, const char *name, const run *r);

/* Values as what such a vertex takes them for: unsigned integers of their size. */
pop_tensor sort_bits(pop_tensor values);

/* How many elements of a row go to one tile at a time, so that `num_rows` rows of `n` elements are sorted in the fewest
 * cycles; n where one vertex a row is best. */
size_t sort_block_size(const pop_graph *graph, size_t num_rows, size_t n);

/* Each run, all of one length, becomes a sorted copy, in blocks of that size. */
void sort_in_blocks(const sorting *s, run *runs, size_t count, size_t block_size);

#endif
