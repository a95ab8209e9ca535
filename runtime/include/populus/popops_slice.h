/* Parts of tensors whose places are known on the device only. What programs know as popops/DynamicSlice.hpp and
 * popops/Gather.hpp.
 *
 * First pop_popops_add_codelets. Sequences, names, `out` and errors are as in populus/popops.h; offsets are of type
 * unsigned int. Any element type. A column is all elements of a tensor that differ in the sliced dimension only;
 * work is done on its tile if it is on one, or on its tiles if all columns are cut in the same places, at most 63, as in
 * what pop_popops_create_sliceable makes. Other columns on several tiles are brought to one each, which must have room
 * for them. */
#ifndef POPULUS_POPOPS_SLICE_H
#define POPULUS_POPOPS_SLICE_H

#include <populus/program.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A variable whose elements that differ in the dimensions `dims` only are on one tile, or, if they are more than 16 KiB,
 * cut along the first of `dims` to as many tiles as there are for them, at most 64; the others are spread. */
pop_tensor pop_popops_create_sliceable(pop_graph *graph, pop_type type, const size_t *shape,
                                       size_t rank, const size_t *dims, size_t count,
                                       const char *name);

/* sizes[i] elements of dimension dims[i] of `t`, from offset[i] on, and behind the last one from the first on; the
 * other dimensions whole. `offset` has `count` elements, at least 1. Sizes are at least 1 and at most those of `t`; no
 * dimension is there twice. */
pop_tensor pop_popops_dynamic_slice(pop_graph *graph, pop_tensor t, pop_tensor offset,
                                    const size_t *dims, const size_t *sizes, size_t count,
                                    pop_tensor out, pop_program sequence, const char *name);
/* The other way round: that part of `t` becomes `s`, which has the shape of the slice. */
void pop_popops_dynamic_update(pop_graph *graph, pop_tensor t, pop_tensor s, pop_tensor offset,
                               const size_t *dims, const size_t *sizes, size_t count,
                               pop_program sequence, const char *name);

/* Many slices of `size` elements of one dimension: [number of offsets, the shape of a slice]. Elements that `t` does
 * not have are zero. */
pop_tensor pop_popops_multi_slice(pop_graph *graph, pop_tensor t, pop_tensor offsets, size_t dim,
                                  size_t size, pop_tensor out, pop_program sequence,
                                  const char *name);
typedef enum pop_update_op {
  POP_UPDATE_SET, /* any type; of several slices for an element the last one counts */
  POP_UPDATE_ADD, /* float, half, int, unsigned int; as the two that follow */
  POP_UPDATE_MAX,
  POP_UPDATE_MUL,
  POP_UPDATE_COUNT
} pop_update_op;
/* Many such parts of `t` become, or are combined with, the slices `s`: [number of offsets, the shape of a slice], one
 * behind the other; but many sums for a small table are made in copies of it first, so floats are added in another order.
 * What `t` does not have is left out. `scale`: null, or, for POP_UPDATE_ADD, one element of the type of `t` that the slices
 * are multiplied by. */
void pop_popops_multi_update(pop_graph *graph, pop_update_op op, pop_tensor t, pop_tensor s,
                             pop_tensor offsets, size_t dim, size_t size, pop_tensor scale,
                             pop_program sequence, const char *name);

/* The same of each of several groups: the first dimension of `t`, of the slices and of the offsets is that of the groups, at least
 * one; what is behind it is as above, `dim` too. All groups are worked on at once. */
pop_tensor pop_popops_grouped_multi_slice(pop_graph *graph, pop_tensor t, pop_tensor offsets,
                                          size_t dim, size_t size, pop_program sequence,
                                          const char *name);
void pop_popops_grouped_multi_update(pop_graph *graph, pop_update_op op, pop_tensor t, pop_tensor s,
                                     pop_tensor offsets, size_t dim, size_t size, pop_tensor scale,
                                     pop_program sequence, const char *name);

/* The elements `indices` (of any shape) of dimension `axis`, which is replaced by the dimensions of `indices`. */
pop_tensor pop_popops_gather(pop_graph *graph, pop_tensor t, pop_tensor indices, size_t axis,
                             pop_program sequence, const char *name);

/* Windows: parts of a tensor, the operand, of one size, which begin where vectors of indices say; the indices are of type int or
 * unsigned int. As XLA's gather and scatter have them. */
typedef struct pop_windows {
  size_t
      vector_dim; /* the dimension of the indices along which a vector lies; their rank: each index is a vector */
  /* Index i of a vector is of the operand's dimension operand_dims[i]; in other dimensions windows begin at 0. */
  const size_t *operand_dims;
  size_t num_operand_dims;
  /* Which dimensions of all windows together are those of a window, ascending; the others are those of the indices but for
   * vector_dim, in their order. */
  const size_t *window_dims;
  size_t num_window_dims;
  const size_t *dropped_dims; /* of the operand: windows have one element there, and no dimension */
  size_t num_dropped_dims;
} pop_windows;

/* Windows of sizes[d] elements of each dimension d. One that would begin or end outside is moved in. */
pop_tensor pop_popops_gather_windows(pop_graph *graph, pop_tensor operand, pop_tensor indices,
                                     pop_windows how, const size_t *sizes, pop_program sequence,
                                     const char *name);
/* The operand's windows become, or are combined with, the updates, one window behind the other; one that is not all inside is left
 * out. */
void pop_popops_scatter_windows(pop_graph *graph, pop_update_op op, pop_tensor operand,
                                pop_tensor indices, pop_tensor updates, pop_windows how,
                                pop_program sequence, const char *name);

#ifdef __cplusplus
}
#endif
#endif
