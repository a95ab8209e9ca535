/* Pooling over fields, forward and back. What programs know as popnn/Pooling.hpp.
 *
 * First pop_popnn_add_codelets and pop_popops_add_codelets. Tensors are of float or half, [batch, channels, field...], with a
 * field of 1 to POP_POOLING_MAX_DIMS dimensions; they may lie anywhere. Errors are the graph's: TENSOR for shapes that do not
 * go together, TYPE for other types, INVALID_ARGUMENT for parameters that make no window. */
#ifndef POPULUS_POPNN_POOLING_H
#define POPULUS_POPNN_POOLING_H

#include <populus/program.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { POP_POOLING_MAX_DIMS = 3, POP_POOLING_MAX_SIZE = 1 << 20 };

typedef enum pop_pooling_kind {
  POP_POOLING_MAX,     /* the largest element of a window */
  POP_POOLING_AVERAGE, /* of the elements of a window; padding is not counted */
  POP_POOLING_SUM
} pop_pooling_kind;

/* Of one dimension of the field: the input has `padding_lower` places without elements in front and `padding_upper` behind
 * (less than 0: so many elements are cut off); windows of `kernel` places begin `stride` places apart. Kernel and stride are
 * at least 1, and everything at most POP_POOLING_MAX_SIZE. */
typedef struct pop_pooling_dim {
  size_t input, kernel, stride;
  int64_t padding_lower, padding_upper;
} pop_pooling_dim;

typedef struct pop_pooling {
  pop_pooling_kind kind;
  size_t num_dims;
  pop_pooling_dim dims[POP_POOLING_MAX_DIMS];
} pop_pooling;

/* How many windows a dimension has; 0 where not one has room, or a size is out of range. */
size_t pop_pooling_output_size(const pop_pooling_dim *dim);

/* A new variable [batch, channels, output...], on all tiles; sums are made in single precision. What has nothing but padding
 * in its window is 0. */
pop_tensor pop_popnn_pool(pop_graph *graph, const pop_pooling *pooling, pop_tensor in,
                          pop_program sequence, const char *name);

/* What flows back: of the gradient of what was pooled, [batch, channels, output...], that of the input, a new variable. An
 * element of the input gets the sum over the windows that it is in: of a sum the gradient, of an average its share of it. Of a
 * maximum each element that is as large gets all of it, or, if `shared`, an equal part; `in` and `pooled` are
 * looked at for maxima only, and may be null otherwise. */
pop_tensor pop_popnn_pool_gradient(pop_graph *graph, const pop_pooling *pooling, pop_tensor in,
                                   pop_tensor pooled, pop_tensor gradient, bool shared,
                                   pop_program sequence, const char *name);

#ifdef __cplusplus
}
#endif
#endif
