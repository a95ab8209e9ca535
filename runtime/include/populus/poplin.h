/* Matrix products and convolutions, from codelets that come with Populus. What programs know as poplin. */
#ifndef POPULUS_POPLIN_H
#define POPULUS_POPLIN_H

#include <populus/program.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Needs pop_popops_add_codelets, too. Once for a graph, more often is fine. */
void pop_poplin_add_codelets(pop_graph *graph);

typedef struct pop_mat_mul_options {
  /* 0 to 1: of a tile's memory, what a product may take for operands that come to the tile and for sums. Half of it is for
   * one block; if that is not enough, the product is made in steps along k. 0: as many steps as there can be. */
  double memory_proportion;
  pop_type
      partials; /* float, or half for products of halves: what sums are stored as between tiles and steps */
  pop_type output; /* float or half: of the result */
} pop_mat_mul_options;
/* .6; float; `type`. */
pop_mat_mul_options pop_mat_mul_default_options(pop_type type);

/* The product of two matrices, [m, k] and [k, n], of float or half: a new variable [m, n]. Sums of a step are made in
 * single precision with one rounding for a product and its addition. The result is cut into parts, one for a tile; where there
 * are fewer parts than tiles, k may be cut, too, and what comes of its parts is added. How is found by comparing the estimated
 * cycles of all cuts, and what they take of tile memory. What a part needs of both matrices comes to its tile by exchange, in one
 * step or in several along k that use the same memory. Errors are the graph's: TENSOR for shapes that do not go together, TYPE
 * for other types, INVALID_ARGUMENT for another proportion. */
pop_tensor pop_poplin_mat_mul_with(pop_graph *graph, pop_tensor a, pop_tensor b,
                                   const pop_mat_mul_options *options, pop_program sequence,
                                   const char *name);
/* With the default options of the operands' type. */
pop_tensor pop_poplin_mat_mul(pop_graph *graph, pop_tensor a, pop_tensor b, pop_program sequence,
                              const char *name);
/* The products of `groups` pairs of matrices at once, [groups, m, k] and [groups, k, n], on all tiles: a new variable
 * [groups, m, n]. */
pop_tensor pop_poplin_mat_mul_grouped(pop_graph *graph, pop_tensor a, pop_tensor b,
                                      const pop_mat_mul_options *options, pop_program sequence,
                                      const char *name);

/* Of `groups` products of [m, k] and [k, n]. */
typedef struct pop_mat_mul_sizes {
  size_t groups, m, k, n;
} pop_mat_mul_sizes;
typedef enum pop_mat_mul_side { POP_MAT_MUL_LEFT, POP_MAT_MUL_RIGHT } pop_mat_mul_side;
/* A new variable for an operand of products of these sizes (none is 0) and options, mapped to tiles as such a
 * product fetches it: each part's elements of a step on one tile. [groups, m, k], or [groups, k, n]. Operands may lie anywhere;
 * but those in many short pieces are copied first, which takes their memory once more. */
pop_tensor pop_poplin_create_mat_mul_input(pop_graph *graph, pop_type type, pop_mat_mul_side side,
                                           pop_mat_mul_sizes sizes,
                                           const pop_mat_mul_options *options, const char *name);

/* A new variable [groups, m, n], of options->output, each part of it on the tile that makes it in such a product of
 * operands of `type`: what a program keeps a product in, or adds products to. */
pop_tensor pop_poplin_create_mat_mul_output(pop_graph *graph, pop_type type,
                                            pop_mat_mul_sizes sizes,
                                            const pop_mat_mul_options *options, const char *name);

/* ---- convolutions ---- */

enum { POP_CONV_MAX_DIMS = 6 };
/* Of one dimension of the field. The input gets input_dilation - 1 zeros between elements, then padding_lower zeros in front and
 * padding_upper behind (less than 0: so many places are cut off); so does the kernel, kernel_dilation - 1. It goes over that in
 * steps of `stride`. Strides and dilations are at least 1. */
typedef struct pop_conv_dim {
  size_t stride, input_dilation, kernel_dilation;
  int64_t padding_lower, padding_upper;
  bool flip_kernel; /* its last place comes first */
} pop_conv_dim;
typedef struct pop_conv_params {
  size_t num_field_dims; /* at most POP_CONV_MAX_DIMS */
  size_t groups;         /* of channels, at least 1 */
  pop_conv_dim field[POP_CONV_MAX_DIMS];
} pop_conv_params;
/* One group, no padding, strides and dilations of 1. */
pop_conv_params pop_conv_default_params(size_t num_field_dims);

/* in [batch, groups * channels, field…], weights [groups, channels of the result, channels, kernel…], of float or half:
 * a new variable [batch, groups * channels of the result, field of the result…], of options->output. Made as a
 * product of matrices (pop_poplin_mat_mul_grouped): options are its options, sums are made as there. An input with padding or
 * dilation is copied, with its zeros.
 * Errors are the graph's: TENSOR for shapes that do not go together, or a kernel larger than the input; TYPE;
 * INVALID_ARGUMENT for other parameters. */
pop_tensor pop_poplin_convolution(pop_graph *graph, pop_tensor in, pop_tensor weights,
                                  const pop_conv_params *params, const pop_mat_mul_options *options,
                                  pop_program sequence, const char *name);
/* Gradients of such a convolution, from that of its result (`deltas`, of the result's shape): convolutions, too.
 * With respect to the input, whose field has these sizes (params->num_field_dims of them): a new variable of its shape. */
pop_tensor pop_poplin_convolution_input_deltas(pop_graph *graph, pop_tensor deltas,
                                               pop_tensor weights, const size_t *field,
                                               const pop_conv_params *params,
                                               const pop_mat_mul_options *options,
                                               pop_program sequence, const char *name);
/* With respect to the weights, whose kernels have these sizes: a new variable of their shape. */
pop_tensor pop_poplin_convolution_weight_deltas(pop_graph *graph, pop_tensor deltas, pop_tensor in,
                                                const size_t *kernel, const pop_conv_params *params,
                                                const pop_mat_mul_options *options,
                                                pop_program sequence, const char *name);

#ifdef __cplusplus
}
#endif
#endif
