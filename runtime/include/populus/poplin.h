/* Matrix products, from codelets that come with Populus. What programs know as poplin. */
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
 * single precision. The result is cut into blocks, one for a tile; where there are fewer blocks than tiles, k is cut, too,
 * and the parts are added. What a block needs of both matrices comes to its tile by exchange, in as many steps as its
 * memory needs. Errors are the graph's: TENSOR for shapes that do not go together, TYPE for other types,
 * INVALID_ARGUMENT for another proportion. */
pop_tensor pop_poplin_mat_mul_with(pop_graph *graph, pop_tensor a, pop_tensor b,
                                   const pop_mat_mul_options *options, pop_program sequence,
                                   const char *name);
/* With the default options of the operands' type. */
pop_tensor pop_poplin_mat_mul(pop_graph *graph, pop_tensor a, pop_tensor b, pop_program sequence,
                              const char *name);

#ifdef __cplusplus
}
#endif
#endif
