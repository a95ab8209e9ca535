/* Sorting and top k. Programs know them as popops/Sort.hpp and popops/TopK.hpp.
 *
 * Call pop_popops_add_codelets first. Sequences, names and errors are as in populus/popops.h.
 * Keys are of type float, half, int or unsigned int; NaN is behind all numbers. Values move
 * with their keys. They are of any type of 2 or 4 bytes; the null tensor stands for none.
 * Sorting is stable: equal keys keep their order. A row is all elements that differ in one
 * dimension only.
 *
 * pop_popops_sort sorts a row on as many tiles as make that faster. These then need room three
 * times for their part of keys, positions (4 bytes an element) and values. pop_popops_top_k
 * sorts a row, or a piece of one, on one tile, which needs room for it twice. */
#ifndef POPULUS_POPOPS_SORT_H
#define POPULUS_POPOPS_SORT_H

#include <populus/program.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Sorts the rows along `dim`, smallest key first: a new variable of the shape of `keys`, which are
 * not empty. `values` have that shape, too, or are null. *sorted_values is a new variable, or null
 * without values; the address may be NULL. Errors: INDEX for another dimension; TENSOR for no keys,
 * or values of another shape; TYPE. */
pop_tensor pop_popops_sort(pop_graph *graph, pop_tensor keys, pop_tensor values, size_t dim,
                           pop_tensor *sorted_values, pop_program sequence, const char *name);

typedef struct pop_top_k {
  size_t k;     /* at least 1, at most as many as a row has */
  bool largest; /* otherwise the smallest */
  bool ascending;
} pop_top_k;
/* The k largest or smallest keys of each row of the last dimension: new variables, of k elements in
 * that dimension. Long rows are first cut into pieces on several tiles. Of equal keys the first
 * ones are taken; they keep their order, be it ascending or not. `top_values` may be NULL. Errors:
 * as above; INVALID_ARGUMENT for another k. */
pop_tensor pop_popops_top_k(pop_graph *graph, pop_tensor keys, pop_tensor values, pop_top_k which,
                            pop_tensor *top_values, pop_program sequence, const char *name);

#ifdef __cplusplus
}
#endif
#endif
