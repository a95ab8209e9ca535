/* What sort.c and sort_blocks.c share. */
#ifndef POPLIBS_HOST_SORT_H
#define POPLIBS_HOST_SORT_H

#include <populus/graph.h>
#include <populus/program.h>

/* A row, or a part of one. `values` is null if there are none. */
typedef struct run {
  pop_tensor keys, values;
} run;

typedef struct sorting {
  pop_graph *graph;
  const char *call, *name;
  bool descending;
  pop_program sequence;
} sorting;

/* The vertex type `popops::<name>` for keys and values like those of `r`; `unsigned int` if it
 * has no values. The text is in the graph's arena. */
const char *sort_vertex_type(const sorting *s, const char *name, const run *r);

/* Values as such a vertex takes them: as unsigned integers of their size. */
pop_tensor sort_bits(pop_tensor values);

/* The block size that sorts `num_rows` rows of `n` elements in the fewest cycles; n if one
 * vertex for each row is best. */
size_t sort_block_size(const pop_graph *graph, size_t num_rows, size_t n);

/* Replaces each run, all of one length, by a sorted copy, in blocks of that size. */
void sort_in_blocks(const sorting *s, run *runs, size_t count, size_t block_size);

#endif
