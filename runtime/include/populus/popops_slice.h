/* Slices and updates at offsets that only the device knows. Programs know them as
 * popops/DynamicSlice.hpp and popops/Gather.hpp.
 *
 * Call pop_popops_add_codelets first. Sequences, names, `out` and errors are as in
 * populus/popops.h. Offsets are of type unsigned int. Any element type. A column is all elements
 * of a tensor that differ in the sliced dimension only. Work is done on the column's tile if it
 * is on one. It is done on the column's tiles if all columns are cut in the same places, at most
 * 63, as in tensors of pop_popops_create_sliceable. Other columns on several tiles are each
 * brought to one tile, which must have room for them. */
#ifndef POPULUS_POPOPS_SLICE_H
#define POPULUS_POPOPS_SLICE_H

#include <populus/program.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A variable mapped for slices of the dimensions `dims`. Elements that differ in these
 * dimensions only are on one tile. If they are more than 16 KiB, they are cut along the first of
 * `dims`, to as many tiles as there are for them, at most 64. The others are spread. */
pop_tensor pop_popops_create_sliceable(pop_graph *graph, pop_type type, const size_t *shape,
                                       size_t rank, const size_t *dims, size_t count,
                                       const char *name);

/* A slice: sizes[i] elements of dimension dims[i] of `t`, from offset[i] on. After the last element
 * it wraps around to the first. Other dimensions are whole. `offset` has `count` elements, at least
 * 1 (TENSOR). Sizes are at least 1 and at most those of `t`, and no dimension is given twice
 * (INDEX). */
pop_tensor pop_popops_dynamic_slice(pop_graph *graph, pop_tensor t, pop_tensor offset,
                                    const size_t *dims, const size_t *sizes, size_t count,
                                    pop_tensor out, pop_program sequence, const char *name);
/* The inverse: overwrites that slice of `t` with `s`, which has the slice's shape. */
void pop_popops_dynamic_update(pop_graph *graph, pop_tensor t, pop_tensor s, pop_tensor offset,
                               const size_t *dims, const size_t *sizes, size_t count,
                               pop_program sequence, const char *name);

/* Many slices of `size` elements of one dimension: [number of offsets, the shape of a slice].
 * Elements out of the range of `t` are zero. */
pop_tensor pop_popops_multi_slice(pop_graph *graph, pop_tensor t, pop_tensor offsets, size_t dim,
                                  size_t size, pop_tensor out, pop_program sequence,
                                  const char *name);
typedef enum pop_update_op {
  POP_UPDATE_SET, /* any type; if several slices have an element, the last one counts */
  POP_UPDATE_ADD, /* float, half, int, unsigned int; like the next two */
  POP_UPDATE_MAX,
  POP_UPDATE_MUL,
  POP_UPDATE_COUNT
} pop_update_op;
/* Overwrites many such slices of `t` with, or combines them with, the slices `s`, [number of
 * offsets, the shape of a slice], one after the other. But many sums for a small table are made
 * in copies of it first, so floats are added in another order. Elements out of the range of `t`
 * are ignored. `scale`: null, or, for POP_UPDATE_ADD, one element of the type of `t` by which
 * slices are multiplied. */
void pop_popops_multi_update(pop_graph *graph, pop_update_op op, pop_tensor t, pop_tensor s,
                             pop_tensor offsets, size_t dim, size_t size, pop_tensor scale,
                             pop_program sequence, const char *name);

/* The same for several groups at once. The first dimension of `t`, of the slices and of the
 * offsets is the groups, at least one. The other dimensions are as above; `dim` does not count
 * the groups. */
pop_tensor pop_popops_grouped_multi_slice(pop_graph *graph, pop_tensor t, pop_tensor offsets,
                                          size_t dim, size_t size, pop_program sequence,
                                          const char *name);
void pop_popops_grouped_multi_update(pop_graph *graph, pop_update_op op, pop_tensor t, pop_tensor s,
                                     pop_tensor offsets, size_t dim, size_t size, pop_tensor scale,
                                     pop_program sequence, const char *name);

/* The elements `indices` (of any shape) of dimension `axis`. The dimensions of `indices` replace
 * that dimension. */
pop_tensor pop_popops_gather(pop_graph *graph, pop_tensor t, pop_tensor indices, size_t axis,
                             pop_program sequence, const char *name);

/* Windows are parts of a tensor, the operand. All have one size, and begin at vectors of
 * indices. Indices are of type int or unsigned int. Semantics are those of XLA's gather and
 * scatter. */
typedef struct pop_windows {
  size_t vector_dim; /* of the indices, that of a vector; their rank: each index is a vector */
  /* Index i of a vector is for the operand's dimension operand_dims[i]. In other dimensions
   * windows begin at 0. */
  const size_t *operand_dims;
  size_t num_operand_dims;
  /* The dimensions of a window among those of all windows together, ascending. The others are
   * the dimensions of the indices but vector_dim, in their order. */
  const size_t *window_dims;
  size_t num_window_dims;
  const size_t *dropped_dims; /* of the operand: windows have size 1 and no dimension there */
  size_t num_dropped_dims;
} pop_windows;

/* Windows of sizes[d] elements in each dimension d. A window that would begin or end outside is
 * moved inside. */
pop_tensor pop_popops_gather_windows(pop_graph *graph, pop_tensor operand, pop_tensor indices,
                                     pop_windows how, const size_t *sizes, pop_program sequence,
                                     const char *name);
/* Overwrites the operand's windows with, or combines them with, the updates, one window after
 * the other. A window that is not completely inside is ignored. */
void pop_popops_scatter_windows(pop_graph *graph, pop_update_op op, pop_tensor operand,
                                pop_tensor indices, pop_tensor updates, pop_windows how,
                                pop_program sequence, const char *name);

#ifdef __cplusplus
}
#endif
#endif
