/* Tensors: views of variables' elements. Nothing is copied.
 *
 * Rank 0 to 16, up to 2^63 - 1 elements (a broadcast shows elements many times). Without elements
 * is legal everywhere. Of null tensors the rank and the number of elements are 0, the type is
 * POP_TYPE_COUNT and the shape is NULL.
 *
 * Errors are the graph's (populus/graph.h), with which the views die.
 */
#ifndef POPULUS_TENSOR_H
#define POPULUS_TENSOR_H

#include <populus/handles.h>
#include <populus/types.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- questions ---- */

bool pop_tensor_valid(pop_tensor t);
pop_type pop_tensor_element_type(pop_tensor t);
size_t pop_tensor_rank(pop_tensor t);
size_t pop_tensor_dim(pop_tensor t, size_t dimension);
const size_t *pop_tensor_shape(pop_tensor t); /* `rank` sizes; lives as long as the graph */
size_t pop_tensor_num_elements(pop_tensor t);
bool pop_tensor_is_contiguous(pop_tensor t); /* one run of one variable, in order */
bool pop_tensor_contains_constant(pop_tensor t);
bool pop_tensor_contains_aliases(pop_tensor t); /* some element twice */
/* No element twice and no constant: vertices may write each element by itself. */
bool pop_tensor_is_parallel_writeable(pop_tensor t);
/* Have they an element in common? */
bool pop_tensor_intersects_with(pop_tensor a, pop_tensor b);
/* The same elements in the same order and shape? Null tensors are equal to null tensors only. */
bool pop_tensor_equal(pop_tensor a, pop_tensor b);

/* Text as snprintf makes it: up to `size` bytes with the NUL, and the answer is how many bytes without it
 * the whole text has. `text` may be NULL if `size` is 0. */
size_t pop_tensor_shape_string(pop_tensor t, char *text, size_t size); /* "{4,3}" */
/* What it is and where it comes from: "float {2,3} = weights[0:3] bias[7]" with at most 8 runs of
 * elements of variables, in order, then "…". A variable without a name is "variable 12". */
size_t pop_tensor_debug_string(pop_tensor t, char *text, size_t size);
/* The same with all runs, and a newline. */
void pop_tensor_dump(pop_tensor t, FILE *stream);

/* ---- parts ---- */

/* t[i] for the first dimension: rank - 1. */
pop_tensor pop_tensor_index(pop_tensor t, size_t i);
/* Elements begin <= i < end of one dimension. */
pop_tensor pop_tensor_slice(pop_tensor t, size_t begin, size_t end, size_t dimension);
/* begin[d] <= i < end[d] for the first `count` dimensions. */
pop_tensor pop_tensor_slice_nd(pop_tensor t, const size_t *begin, const size_t *end, size_t count);
/* Every `stride`-th element of a dimension, from the first. */
pop_tensor pop_tensor_sub_sample(pop_tensor t, size_t stride, size_t dimension);

/* ---- order ---- */

pop_tensor pop_tensor_reverse(pop_tensor t, size_t dimension);
/* All dimensions reversed. */
pop_tensor pop_tensor_transpose(pop_tensor t);
/* Dimension i of the result is dimension permutation[i] of t; `count` must be the rank. */
pop_tensor pop_tensor_dim_shuffle(pop_tensor t, const size_t *permutation, size_t count);
/* Dimension source[i] of t becomes dimension destination[i] of the result; the others keep their order in
 * the places that are left. */
pop_tensor pop_tensor_dim_shuffle_partial(pop_tensor t, const size_t *source,
                                          const size_t *destination, size_t count);
/* The dimension `dimension` becomes dimension `to`; the others keep their order. */
pop_tensor pop_tensor_dim_roll(pop_tensor t, size_t dimension, size_t to);

/* ---- shape and type ---- */

/* Same elements in the same order under another shape of as many elements. */
pop_tensor pop_tensor_reshape(pop_tensor t, const size_t *shape, size_t rank);
pop_tensor pop_tensor_flatten(pop_tensor t);
/* The dimensions begin <= d < end under another shape of as many elements: begin == end puts sizes of 1
 * before dimension `begin`. */
pop_tensor pop_tensor_reshape_partial(pop_tensor t, size_t begin, size_t end, const size_t *shape,
                                      size_t rank);
/* The dimensions begin <= d < end as one. */
pop_tensor pop_tensor_flatten_partial(pop_tensor t, size_t begin, size_t end);
/* A new dimension of size 1 before `dimension` (0 … rank). */
pop_tensor pop_tensor_expand(pop_tensor t, size_t dimension);
/* Without the dimensions of size 1. */
pop_tensor pop_tensor_squeeze(pop_tensor t);
/* New dimensions of size 1 before each of these dimensions of t (0 … rank), in ascending order; one that
 * is there several times has as many before it. */
pop_tensor pop_tensor_expand_dims(pop_tensor t, const size_t *dimensions, size_t count);
/* Without these dimensions, which must have size 1. */
pop_tensor pop_tensor_squeeze_dims(pop_tensor t, const size_t *dimensions, size_t count);
/* The same bits as elements of another type of the same size. */
pop_tensor pop_tensor_reinterpret(pop_tensor t, pop_type type);

/* ---- more than one ---- */

/* The dimension repeated n times, end to end: shape[dimension] * n. */
pop_tensor pop_tensor_broadcast(pop_tensor t, size_t n, size_t dimension);
/* Each element of the dimension n times, one after the other: shape[dimension] * n. */
pop_tensor pop_tensor_upsample(pop_tensor t, size_t n, size_t dimension);
/* Joined along a dimension; types and other dimensions must agree; count >= 1. */
pop_tensor pop_concat(const pop_tensor *tensors, size_t count, size_t dimension);

/* ---- where elements are in memory ----
 *
 * Positions count the elements of the flattened view. The functions that are called must not change the
 * graph. */

typedef struct pop_interval {
  size_t begin, end; /* begin <= i < end */
} pop_interval;

/* Runs of elements that follow each other in a variable, in the view's order; `variable` is a number
 * (populus/introspection.h), [begin, end) are elements of it. */
void pop_tensor_visit_var_regions(pop_tensor t,
                                  void (*visit)(void *context, size_t variable, size_t begin,
                                                size_t end),
                                  void *context);
/* The same by positions: each run is contiguous in a variable. */
void pop_tensor_visit_contiguous_regions(pop_tensor t,
                                         void (*visit)(void *context, size_t begin, size_t end),
                                         void *context);
/* Of the positions in `regions` (NULL: all), the lists of those that together are contiguous in a
 * variable, each in the order of the elements there; lists are in the order of variables and elements.
 * With `remove_aliases` an element that is there twice is in a list once. INDEX: a region that the view
 * does not have. */
void pop_tensor_visit_sorted_contiguous_regions(
    pop_tensor t, const pop_interval *regions, size_t num_regions, bool remove_aliases,
    void (*visit)(void *context, const pop_interval *list, size_t count), void *context);

/* The same without removing any: elements that are there twice are shown where they are first, and again, as positions of their
 * own with `originals` saying which: of each interval of the list, where the first positions with the same elements begin; its own
 * begin if it is these. Intervals are as short as that needs. */
void pop_tensor_visit_sorted_regions_with_aliases(
    pop_tensor t, const pop_interval *regions, size_t num_regions,
    void (*visit)(void *context, const pop_interval *list, const size_t *originals, size_t count),
    void *context);
/* Copies up to `max` elements of a view of constants, in the tile's format, and answers how many there are. SIZE_MAX: some are not
 * known now: of variables, or of the number of a replica. */
size_t pop_tensor_constant_values(pop_tensor t, void *values, size_t max);

/* ---- clones ---- */

typedef enum pop_clone_method {
  /* As the elements of `t` lie in their variables, those that are twice in `t` once: the clone has the
   * same aliases. */
  POP_CLONE_PRESERVE_ORDER_AND_ALIASES,
  POP_CLONE_CREATE_NEW_ORDER,              /* in the order of the view; no element twice */
  POP_CLONE_PRESERVE_ORDER_UNLESS_ALIASES, /* the first if there are no aliases, else the second */
  /* As the first, but all elements of a tile follow each other in the new variable, in the order of the first; tiles
   * ascending, what is on no tile last. */
  POP_CLONE_GATHER_AND_PRESERVE_TILE_ORDER_AND_ALIASES
} pop_clone_method;
/* A new variable for a tensor of the shape and the tile mapping of `t`, with elements of `type`. Of what
 * is not mapped the clone is not mapped either. A clone of a constant is a variable; contents are not
 * cloned. */
pop_tensor pop_graph_clone(pop_graph *graph, pop_type type, pop_tensor t, const char *name,
                           pop_clone_method method);

#ifdef __cplusplus
}
#endif
#endif
