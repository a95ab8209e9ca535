/* Matrix products, from codelets that come with Populus. What programs know as poplin. */
#ifndef POPULUS_POPLIN_H
#define POPULUS_POPLIN_H

#include <populus/program.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Needs pop_popops_add_codelets, too. Once for a graph, more often is fine. */
void pop_poplin_add_codelets(pop_graph *graph);

/* The product of two matrices, [m, k] and [k, n], of float or half: a new variable [m, n] of their type. Sums are made
 * in single precision; half is rounded once. The result is cut into blocks, one for a tile; where there are fewer
 * blocks than tiles, k is cut, too, and the parts are added. What a block needs of both matrices comes to its tile by
 * exchange: a tile holds it, and there is no serial part, so very large products do not fit.
 * Errors are the graph's: TENSOR for shapes that do not go together, TYPE for other types. */
pop_tensor pop_poplin_mat_mul(pop_graph *graph, pop_tensor a, pop_tensor b, pop_program sequence,
                              const char *name);

#ifdef __cplusplus
}
#endif
#endif
