/* Tensors: views of variables' elements. Nothing is copied.
 *
 * Rank 0 to 16, up to 2^63 - 1 elements (a broadcast shows elements many times). A tensor without
 * elements is valid everywhere. A null tensor has rank 0, no elements, type POP_TYPE_COUNT and
 * shape NULL.
 *
 * Errors are the graph's (populus/graph.h); a tensor is then null. INDEX for a dimension, index
 * or range that the tensor does not have; TENSOR for shapes that do not fit; TYPE for types that
 * do not; INVALID_ARGUMENT for more dimensions or elements than a tensor can have, for NULL, for
 * null tensors and for those of different graphs or replicated graphs. Views are freed with the
 * graph. */
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

/* ---- queries ---- */

bool pop_tensor_valid(pop_tensor t);
pop_type pop_tensor_element_type(pop_tensor t);
size_t pop_tensor_rank(pop_tensor t);
size_t pop_tensor_dim(pop_tensor t, size_t dimension); /* 0 and INDEX if it is not there */
const size_t *pop_tensor_shape(pop_tensor t); /* `rank` sizes; lives as long as the graph */
size_t pop_tensor_num_elements(pop_tensor t);
bool pop_tensor_is_contiguous(pop_tensor t); /* one run of one variable, in order */
bool pop_tensor_contains_constant(pop_tensor t);
bool pop_tensor_contains_aliases(pop_tensor t); /* an element is there twice */
/* No aliases and no constants: vertices may write each element independently. */
bool pop_tensor_is_parallel_writeable(pop_tensor t);
/* Do they share an element? False for tensors of different graphs. */
bool pop_tensor_intersects_with(pop_tensor a, pop_tensor b);
/* Have they the same elements in the same order and shape? Null tensors are equal to null
 * tensors only. */
bool pop_tensor_equal(pop_tensor a, pop_tensor b);

/* Text as by snprintf: writes up to `size` bytes with the NUL, and returns the length of the
 * whole text without it. `text` may be NULL if `size` is 0. */
size_t pop_tensor_shape_string(pop_tensor t, char *text, size_t size); /* "{4,3}" */
/* Type, shape and elements: "float {2,3} = weights[0:3] bias[7]", with at most 8 runs of
 * elements of variables, in order, then "…". A variable without a name is "variable 12". */
size_t pop_tensor_debug_string(pop_tensor t, char *text, size_t size);
/* The same with all runs, and a newline, to a stream. Nothing if that is NULL. */
void pop_tensor_dump(pop_tensor t, FILE *stream);

/* ---- parts ---- */

/* Element i of the first dimension: t[i], of rank - 1. i < the size of that dimension. */
pop_tensor pop_tensor_index(pop_tensor t, size_t i);
/* Elements begin <= i < end of one dimension; begin <= end <= its size. */
pop_tensor pop_tensor_slice(pop_tensor t, size_t begin, size_t end, size_t dimension);
/* The same for the first `count` dimensions: begin[d] <= i < end[d]. */
pop_tensor pop_tensor_slice_nd(pop_tensor t, const size_t *begin, const size_t *end, size_t count);
/* Every `stride`-th element of a dimension, from the first. INVALID_ARGUMENT for a stride of 0. */
pop_tensor pop_tensor_sub_sample(pop_tensor t, size_t stride, size_t dimension);

/* ---- order ---- */

pop_tensor pop_tensor_reverse(pop_tensor t, size_t dimension);
/* All dimensions reversed. */
pop_tensor pop_tensor_transpose(pop_tensor t);
/* Dimension i of the result is dimension permutation[i] of t; `count` must be the rank.
 * INVALID_ARGUMENT if it is not a permutation. */
pop_tensor pop_tensor_dim_shuffle(pop_tensor t, const size_t *permutation, size_t count);
/* Dimension source[i] of t becomes dimension destination[i] of the result. The others keep their
 * order in the remaining places. INVALID_ARGUMENT if a dimension is not there, or is named
 * twice. */
pop_tensor pop_tensor_dim_shuffle_partial(pop_tensor t, const size_t *source,
                                          const size_t *destination, size_t count);
/* Dimension `dimension` becomes dimension `to`. The others keep their order. Errors as above. */
pop_tensor pop_tensor_dim_roll(pop_tensor t, size_t dimension, size_t to);

/* ---- shape and type ---- */

/* The same elements in the same order, with another shape of as many elements. */
pop_tensor pop_tensor_reshape(pop_tensor t, const size_t *shape, size_t rank);
pop_tensor pop_tensor_flatten(pop_tensor t);
/* Replaces dimensions begin <= d < end by another shape of as many elements. begin == end
 * inserts sizes of 1 before dimension `begin`. */
pop_tensor pop_tensor_reshape_partial(pop_tensor t, size_t begin, size_t end, const size_t *shape,
                                      size_t rank);
/* Merges dimensions begin <= d < end to one. */
pop_tensor pop_tensor_flatten_partial(pop_tensor t, size_t begin, size_t end);
/* Inserts a dimension of size 1 before `dimension` (0 … rank). */
pop_tensor pop_tensor_expand(pop_tensor t, size_t dimension);
/* Removes the dimensions of size 1. */
pop_tensor pop_tensor_squeeze(pop_tensor t);
/* Inserts a dimension of size 1 before each of these dimensions of t (0 … rank), which ascend
 * (INDEX). One that is listed several times gets as many. */
pop_tensor pop_tensor_expand_dims(pop_tensor t, const size_t *dimensions, size_t count);
/* Removes these dimensions, which must have size 1 (INDEX). */
pop_tensor pop_tensor_squeeze_dims(pop_tensor t, const size_t *dimensions, size_t count);
/* The same bits as elements of another type of the same size. TYPE for another size. */
pop_tensor pop_tensor_reinterpret(pop_tensor t, pop_type type);

/* ---- more than one ---- */

/* Repeats the dimension n times, end to end: shape[dimension] * n. 0 times: no elements. */
pop_tensor pop_tensor_broadcast(pop_tensor t, size_t n, size_t dimension);
/* Repeats each element of the dimension n times: shape[dimension] * n. */
pop_tensor pop_tensor_upsample(pop_tensor t, size_t n, size_t dimension);
/* Joins tensors along a dimension. Types and other dimensions must agree; count >= 1. */
pop_tensor pop_concat(const pop_tensor *tensors, size_t count, size_t dimension);

/* ---- where elements are in variables ----
 *
 * Positions count the elements of the flattened view. The callbacks must not change the graph. */

typedef struct pop_interval {
  size_t begin, end; /* begin <= i < end */
} pop_interval;

/* Visits runs of consecutive elements of a variable, in the view's order. `variable` is a number
 * (populus/introspection.h); [begin, end) are elements of it. */
void pop_tensor_visit_var_regions(pop_tensor t,
                                  void (*visit)(void *context, size_t variable, size_t begin,
                                                size_t end),
                                  void *context);
/* The same by positions in the view: each run is contiguous in a variable. */
void pop_tensor_visit_contiguous_regions(pop_tensor t,
                                         void (*visit)(void *context, size_t begin, size_t end),
                                         void *context);
/* Visits lists of the positions in `regions` (NULL: all; then `num_regions` is ignored). The
 * positions of a list together are contiguous in a variable, and are in the order of its elements.
 * Lists are in the order of variables and elements. With `remove_aliases`, an element that is there
 * twice is in one list only, once. INDEX: a region that the view does not have. */
void pop_tensor_visit_sorted_contiguous_regions(
    pop_tensor t, const pop_interval *regions, size_t num_regions, bool remove_aliases,
    void (*visit)(void *context, const pop_interval *list, size_t count), void *context);

/* The same without removing aliases. An element that is there twice is shown where it is first,
 * and again as a position of its own. For each interval of the list, `originals` has the begin
 * of the first positions with the same elements; that is the interval's own begin if it has the
 * first positions. Intervals are cut as that requires. */
void pop_tensor_visit_sorted_regions_with_aliases(
    pop_tensor t, const pop_interval *regions, size_t num_regions,
    void (*visit)(void *context, const pop_interval *list, const size_t *originals, size_t count),
    void *context);
/* Copies up to `max` elements of a view of constants, in the tile's format, and returns how many
 * there are. `values` may be NULL if `max` is 0. SIZE_MAX: some are not known now, because they are
 * of variables or of a replica index; or the tensor is null. */
size_t pop_tensor_constant_values(pop_tensor t, void *values, size_t max);

/* ---- clones ---- */

typedef enum pop_clone_method {
  /* In the order of variables; an element that is twice in `t` is once in the clone, which has
   * the same aliases. */
  POP_CLONE_PRESERVE_ORDER_AND_ALIASES,
  POP_CLONE_CREATE_NEW_ORDER,              /* in the order of the view; no element twice */
  POP_CLONE_PRESERVE_ORDER_UNLESS_ALIASES, /* the first without aliases, otherwise the second */
  /* As the first, but sorted by tile: the elements of a tile follow each other in the new
   * variable, in the order of the first. Tiles ascend; elements on no tile come last. */
  POP_CLONE_GATHER_AND_PRESERVE_TILE_ORDER_AND_ALIASES
} pop_clone_method;
/* A new variable for a tensor of the shape and tile mapping of `t`, with elements of `type`.
 * Where `t` is not mapped, the clone is not either. A clone of a constant is a variable.
 * Contents are not cloned. `graph` is `t`'s; for a tensor of a replicated graph it is that one.
 * `name` may be NULL. */
pop_tensor pop_graph_clone(pop_graph *graph, pop_type type, pop_tensor t, const char *name,
                           pop_clone_method method);

#ifdef __cplusplus
}
#endif
#endif
