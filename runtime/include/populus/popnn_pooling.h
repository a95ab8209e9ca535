/* Pooling over fields, and its gradient. Programs know it as popnn/Pooling.hpp.
 *
 * Call pop_popnn_add_codelets and pop_popops_add_codelets first. Tensors are of float or half,
 * [batch, channels, field...], with a field of 1 to POP_POOLING_MAX_DIMS dimensions and any tile
 * mapping. Errors are the graph's: TENSOR for shapes that do not go together or are empty, TYPE for
 * other types, INVALID_ARGUMENT for parameters that give no window. */
#ifndef POPULUS_POPNN_POOLING_H
#define POPULUS_POPNN_POOLING_H

#include <populus/program.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { POP_POOLING_MAX_DIMS = 3, POP_POOLING_MAX_SIZE = 1 << 20 };

typedef enum pop_pooling_kind {
  POP_POOLING_MAX,     /* the largest element of a window */
  POP_POOLING_AVERAGE, /* the mean of a window's elements without padding */
  POP_POOLING_SUM
} pop_pooling_kind;

/* One dimension of the field. The input gets padding of `padding_lower` elements in front and
 * `padding_upper` at the end (less than 0: so many elements are cut off). Windows of `kernel`
 * elements begin `stride` elements apart. Kernel and stride are at least 1, and everything is at
 * most POP_POOLING_MAX_SIZE. */
typedef struct pop_pooling_dim {
  size_t input, kernel, stride;
  int64_t padding_lower, padding_upper;
} pop_pooling_dim;

typedef struct pop_pooling {
  pop_pooling_kind kind;
  size_t num_dims;
  pop_pooling_dim dims[POP_POOLING_MAX_DIMS];
} pop_pooling;

/* How many windows a dimension has; 0 if not even one fits, or if a size is out of range. */
size_t pop_pooling_output_size(const pop_pooling_dim *dim);

/* A new variable [batch, channels, output...], on all tiles. Sums are made in single precision.
 * A window of nothing but padding gives 0. */
pop_tensor pop_popnn_pool(pop_graph *graph, const pop_pooling *pooling, pop_tensor in,
                          pop_program sequence, const char *name);

/* The gradient of the input, a new variable, from the gradient of the result, [batch, channels,
 * output...]. An element of the input gets the sum over its windows: for sums the window's
 * gradient, for averages its share of that. For maxima, each element that equals the maximum
 * gets all of the gradient, or, if `shared`, an equal part. `in` and `pooled` are used for
 * maxima only, and may be null otherwise. */
pop_tensor pop_popnn_pool_gradient(pop_graph *graph, const pop_pooling *pooling, pop_tensor in,
                                   pop_tensor pooled, pop_tensor gradient, bool shared,
                                   pop_program sequence, const char *name);

#ifdef __cplusplus
}
#endif
#endif
