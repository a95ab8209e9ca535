/* Matrix products and convolutions, by codelets that come with Populus. Programs know them as
 * poplin. */
#ifndef POPULUS_POPLIN_H
#define POPULUS_POPLIN_H

#include <populus/program.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Adds the codelets. Calling it more than once for a graph does no harm. pop_popops_add_codelets
 * is needed, too; without either, functions fail with TYPE or UNKNOWN_VERTEX_TYPE. */
void pop_poplin_add_codelets(pop_graph *graph);

typedef struct pop_mat_mul_options {
  /* 0 to 1: the part of a tile's memory that a product may take for received operands and for
   * sums. Half of it is for one block. If that is not enough, the product is made in steps along
   * k. 0: as many steps as possible. */
  double memory_proportion;
  pop_type
      partials;    /* type of sums between tiles and steps: float, or half for products of halves */
  pop_type output; /* type of the result: float or half */
} pop_mat_mul_options;
/* memory_proportion .6, partials float, output `type`. */
pop_mat_mul_options pop_mat_mul_default_options(pop_type type);

/* The product of two matrices, [m, k] and [k, n], of float or half: a new variable [m, n]. Sums
 * of a step are made in single precision, with one rounding for a product and its addition. The
 * result is cut into parts, one for a tile. If there are fewer parts than tiles, k may be cut,
 * too, and the sums of its parts are added. The cut is found by comparing the estimated cycles
 * and the tile memory of all cuts. What a part needs of both matrices comes to its tile by
 * exchange, in one step, or in several steps along k that use the same memory. Errors are the
 * graph's: TENSOR for shapes that do not go together or have no elements, TYPE for other types,
 * INVALID_ARGUMENT for another proportion, and for no options. */
pop_tensor pop_poplin_mat_mul_with(pop_graph *graph, pop_tensor a, pop_tensor b,
                                   const pop_mat_mul_options *options, pop_program sequence,
                                   const char *name);
/* With the default options of the operands' type. */
pop_tensor pop_poplin_mat_mul(pop_graph *graph, pop_tensor a, pop_tensor b, pop_program sequence,
                              const char *name);
/* The products of `groups` pairs of matrices at once, on all tiles: [groups, m, k] and [groups,
 * k, n]. A new variable [groups, m, n]. */
pop_tensor pop_poplin_mat_mul_grouped(pop_graph *graph, pop_tensor a, pop_tensor b,
                                      const pop_mat_mul_options *options, pop_program sequence,
                                      const char *name);

/* Sizes of `groups` products of [m, k] and [k, n]. */
typedef struct pop_mat_mul_sizes {
  size_t groups, m, k, n;
} pop_mat_mul_sizes;
typedef enum pop_mat_mul_side { POP_MAT_MUL_LEFT, POP_MAT_MUL_RIGHT } pop_mat_mul_side;
/* A new variable for an operand of products of these sizes and options: [groups, m, k] or [groups,
 * k, n]. It is mapped as such a product fetches it: each part's elements of a step are on one tile.
 * Operands may have any mapping; but one in many short pieces is copied first, which takes its
 * memory once more. Errors: TENSOR for a size of 0; as above. */
pop_tensor pop_poplin_create_mat_mul_input(pop_graph *graph, pop_type type, pop_mat_mul_side side,
                                           pop_mat_mul_sizes sizes,
                                           const pop_mat_mul_options *options, const char *name);

/* A new variable [groups, m, n] of type options->output, for the result of such a product of
 * operands of `type`. Each part is on the tile that calculates it. Programs store a product in
 * it, or add products to it. */
pop_tensor pop_poplin_create_mat_mul_output(pop_graph *graph, pop_type type,
                                            pop_mat_mul_sizes sizes,
                                            const pop_mat_mul_options *options, const char *name);

/* ---- convolutions ---- */

enum { POP_CONV_MAX_DIMS = 6, POP_CONV_MAX_SIZE = 1 << 30 };
/* One dimension of the field. The input gets input_dilation - 1 zeros between elements. Then
 * padding_lower zeros are added in front and padding_upper at the end; if less than 0, so many
 * elements are cut off. The kernel gets kernel_dilation - 1 zeros between elements. It moves
 * over the input in steps of `stride`. Strides and dilations are at least 1, and these, the sizes
 * of field and kernel and the paddings of either sign at most POP_CONV_MAX_SIZE. */
typedef struct pop_conv_dim {
  size_t stride, input_dilation, kernel_dilation;
  int64_t padding_lower, padding_upper;
  bool flip_kernel; /* the kernel's last element comes first */
} pop_conv_dim;
typedef struct pop_conv_params {
  size_t num_field_dims; /* at most POP_CONV_MAX_DIMS */
  size_t groups;         /* of channels, at least 1 */
  pop_conv_dim field[POP_CONV_MAX_DIMS];
} pop_conv_params;
/* One group, no padding, strides and dilations of 1. */
pop_conv_params pop_conv_default_params(size_t num_field_dims);

/* A convolution of `in` [batch, groups * channels, field…] with `weights` [groups, channels of
 * the result, channels, kernel…], of float or half. A new variable [batch, groups * channels of
 * the result, field of the result…] of type options->output. It is made as a matrix product
 * (pop_poplin_mat_mul_grouped): options are that product's, and sums are made as there. An input
 * with padding or dilation is copied, with its zeros. Errors are the graph's: TENSOR for shapes
 * that do not go together or not with the groups, or a kernel larger than the input; TYPE;
 * INVALID_ARGUMENT for other parameters. */
pop_tensor pop_poplin_convolution(pop_graph *graph, pop_tensor in, pop_tensor weights,
                                  const pop_conv_params *params, const pop_mat_mul_options *options,
                                  pop_program sequence, const char *name);
/* Gradients of such a convolution, from its result's gradient `deltas`, which has the result's
 * shape. They are convolutions, too. This one is with respect to the input. `field` has the
 * sizes of the input's field (params->num_field_dims of them). A new variable of the input's
 * shape. */
pop_tensor pop_poplin_convolution_input_deltas(pop_graph *graph, pop_tensor deltas,
                                               pop_tensor weights, const size_t *field,
                                               const pop_conv_params *params,
                                               const pop_mat_mul_options *options,
                                               pop_program sequence, const char *name);
/* The gradient with respect to the weights. `kernel` has the kernel's sizes. A new variable of
 * the weights' shape. */
pop_tensor pop_poplin_convolution_weight_deltas(pop_graph *graph, pop_tensor deltas, pop_tensor in,
                                                const size_t *kernel, const pop_conv_params *params,
                                                const pop_mat_mul_options *options,
                                                pop_program sequence, const char *name);

#ifdef __cplusplus
}
#endif
#endif
