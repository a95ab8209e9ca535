/* Operations on tensors, by codelets that come with Populus: element-wise operations,
 * conversions, fills, reductions. Programs know them as popops.
 *
 * Call pop_popops_add_codelets first; element-wise operations and conversions do that by
 * themselves. Each function adds its programs to a sequence (pop_program_sequence). Names may be
 * NULL. Errors are the graph's (populus/graph.h), and the result is then null: TYPE if there is no
 * such operation for elements of a type (populus/expression_ops.h), TENSOR if shapes do not go
 * together, UNKNOWN_VERTEX_TYPE without the codelets, INDEX for a dimension that is not there or is
 * given twice, INVALID_TILE_MAPPING if elements of `out` are on no tile, INVALID_ARGUMENT for other
 * arguments. (Operands must be mapped to tiles before the graph is compiled.)
 *
 * Shapes are broadcast as in numpy: dimensions are compared from the last one, and one that has
 * size 1 or is missing is repeated. A result that is a new variable is mapped like the first
 * operand that has its shape and no constant or repeated elements. If there is none, it is
 * spread over the tiles of `graph`. An element is calculated on its tile; operands come there by
 * exchange. Halves are calculated in single precision. */
#ifndef POPULUS_POPOPS_H
#define POPULUS_POPOPS_H

#include <populus/expression_ops.h>
#include <populus/program.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum pop_unary_op {
#define POP_UNARY_ENUMERATOR(name, types, result) POP_UNARY_##name,
  POP_UNARY_OPS(POP_UNARY_ENUMERATOR)
#undef POP_UNARY_ENUMERATOR
      POP_UNARY_COUNT
} pop_unary_op;
typedef enum pop_binary_op {
#define POP_BINARY_ENUMERATOR(name, types, result) POP_BINARY_##name,
  POP_BINARY_OPS(POP_BINARY_ENUMERATOR)
#undef POP_BINARY_ENUMERATOR
      POP_BINARY_COUNT
} pop_binary_op;
typedef enum pop_ternary_op {
#define POP_TERNARY_ENUMERATOR(name, types, result) POP_TERNARY_##name,
  POP_TERNARY_OPS(POP_TERNARY_ENUMERATOR)
#undef POP_TERNARY_ENUMERATOR
      POP_TERNARY_COUNT
} pop_ternary_op;
typedef enum pop_reduce_op {
#define POP_REDUCE_ENUMERATOR(name, types) POP_REDUCE_##name,
  POP_REDUCE_OPS(POP_REDUCE_ENUMERATOR)
#undef POP_REDUCE_ENUMERATOR
      POP_REDUCE_COUNT
} pop_reduce_op;

/* Adds the codelets for all functions of this header. Calling it more than once for a graph does
 * no harm. It also registers cycle estimates for element-wise vertices: what the chip takes by
 * the published formulae of its libraries (pop_graph_register_perf_estimator; engine option
 * profiler.libraryCycleEstimates). That is for operations and types that have a formula, unless
 * the program has registered another estimator. */
void pop_popops_add_codelets(pop_graph *graph);

/* ---- element-wise operations ---- */

/* An expression in postfix order: operands, then their operation. */
typedef enum pop_expr_kind {
  POP_EXPR_TENSOR, /* number `tensor` of the tensors */
  /* `value`, of the type of what it is combined with, or `type` if all are constants. TYPE for a
   * fraction with an integer type, or a number that neither this nor the unsigned or signed type of
   * the same size can hold. */
  POP_EXPR_CONSTANT,
  POP_EXPR_CAST,   /* of one to `type` */
  POP_EXPR_UNARY,  /* of one by `op`, a pop_unary_op */
  POP_EXPR_BINARY, /* of two by `op`, a pop_binary_op */
  POP_EXPR_TERNARY /* of three by `op`, a pop_ternary_op */
} pop_expr_kind;
typedef struct pop_expr_node {
  pop_expr_kind kind;
  unsigned op;
  size_t tensor;
  double value;
  pop_type type;
} pop_expr_node;

/* Evaluates the expression, with one compute set for each operation. `out` is a tensor for the
 * result, of its type and of its shape (which may differ by dimensions of size 1). It may be one of
 * the tensors; others that share elements with it are copied first. Null ((pop_tensor){0}): a new
 * variable. Returns the result. INVALID_ARGUMENT for nodes that are no expression. */
pop_tensor pop_popops_map(pop_graph *graph, const pop_expr_node *nodes, size_t num_nodes,
                          const pop_tensor *tensors, size_t num_tensors, pop_tensor out,
                          pop_program sequence, const char *name);
/* The same for one operation. */
pop_tensor pop_popops_unary(pop_graph *graph, pop_unary_op op, pop_tensor a, pop_tensor out,
                            pop_program sequence, const char *name);
pop_tensor pop_popops_binary(pop_graph *graph, pop_binary_op op, pop_tensor a, pop_tensor b,
                             pop_tensor out, pop_program sequence, const char *name);
/* a += scale * b, for float and half, of one type. b has the shape of a, or is broadcast to it. It
 * is copied first if it shares elements with a, unless it is a. `scale` is rounded to float. */
void pop_popops_scaled_add_to(pop_graph *graph, pop_tensor a, pop_tensor b, double scale,
                              pop_program sequence, const char *name);
/* a += scale * by * b, where `by` is a tensor of one element: a float, or a half where a and b are
 * halves. */
void pop_popops_scaled_add_by(pop_graph *graph, pop_tensor a, pop_tensor b, pop_tensor by,
                              double scale, pop_program sequence, const char *name);
/* Converts elements to another type, as C does. From and to all types but 64-bit integers. Floats
 * beyond the range become the nearest int or unsigned int, NaN the largest; smaller types have the
 * low bits of these.
 * Quarters are converted with their metadata (populus/graph.h), by way of float. A number that
 * is too large for a quarter becomes the largest quarter, or NaN while POP_FP_NAN_ON_OVERFLOW is
 * set (populus/registers.h; off on the CPU). A new variable of quarters has metadata of its own,
 * the default ones; pass an `out` that has other metadata to use those. `out` as above. */
pop_tensor pop_popops_cast(pop_graph *graph, pop_tensor a, pop_type type, pop_tensor out,
                           pop_program sequence, const char *name);
/* Sets all elements to one value. `value` points to one element in the tile's format; NULL:
 * zero. */
void pop_popops_fill(pop_graph *graph, pop_tensor tensor, const void *value, pop_program sequence,
                     const char *name);

/* The same as vertices of a compute set that the caller executes, together with whatever else is
 * in it. `tile` is that of the vertex that fills, wherever the elements lie; SIZE_MAX: a vertex
 * on each tile that has elements. */
pop_tensor pop_popops_unary_in_set(pop_graph *graph, pop_unary_op op, pop_tensor a, pop_tensor out,
                                   pop_compute_set set, const char *name);
pop_tensor pop_popops_cast_in_set(pop_graph *graph, pop_tensor a, pop_type type, pop_tensor out,
                                  pop_compute_set set, const char *name);
void pop_popops_fill_in_set(pop_graph *graph, pop_tensor tensor, const void *value, size_t tile,
                            pop_compute_set set);

/* ---- reductions ---- */

typedef struct pop_reduction {
  pop_reduce_op op;
  bool update; /* combine with the contents of `out`, which must not be null */
  /* Null, or a float of one element by which the result is multiplied before it is combined with
   * the contents of `out`. For ADD and SQUARE_ADD of float and half. LOG_ADD adds it instead:
   * both are logarithms. */
  pop_tensor scale;
} pop_reduction;

enum { POP_REDUCE_MAX_SETS = 2 };

/* Reduces `a` over the `count` dimensions `dimensions`. `out` is as above, but may be of floats if
 * `a` is of halves, and the other way round: halves are combined in single precision, which is
 * rounded once. A reduction over no dimensions gives the elements themselves, with SQUARE_ADD their
 * squares. A reduction of no elements gives the identity element: 0 for ADD, SQUARE_ADD and
 * LOGICAL_OR, 1 for MUL and LOGICAL_AND, the least value for MAX and LOG_ADD, the greatest for MIN
 * (for floats the infinities).
 *
 * Reductions have two steps if the result has fewer elements than there are tiles, or if tiles have
 * several elements of each row, which are then combined where they are. So the order of float
 * additions depends on the tile mapping alone.
 *
 * The sequence first copies `a` if it shares elements with `out`. Compute sets cannot: TENSOR.
 *
 * Instead of the sequence, `compute_sets` may take the compute sets to be executed, in order: up to
 * POP_REDUCE_MAX_SETS. The sequence is not used then. *num_sets is their number in both cases. Both
 * addresses may be NULL. */
pop_tensor pop_popops_reduce(pop_graph *graph, pop_tensor a, const size_t *dimensions, size_t count,
                             pop_reduction how, pop_tensor out, pop_program sequence,
                             pop_compute_set *compute_sets, size_t *num_sets, const char *name);

/* For each i from 0 to the number of levels, counts the elements of `in` (float or half) that
 * are not less than exactly i of the levels: unsigned int [levels + 1]. `levels` has the same
 * type, one dimension, at least one element, and ascends. `absolute`: counts elements without
 * their signs. A NaN counts as less than all levels. `out` as above; with `update` the counts
 * are added to its contents. Errors: TENSOR for other levels, or no elements; TYPE. */
pop_tensor pop_popops_histogram(pop_graph *graph, pop_tensor in, pop_tensor levels, bool absolute,
                                pop_tensor out, bool update, pop_program sequence,
                                const char *name);

#ifdef __cplusplus
}
#endif
#endif
