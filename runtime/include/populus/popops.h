/* Operations on tensors, from codelets that come with Populus: element by element, conversions, filling,
 * reductions. What programs know as popops.
 *
 * First pop_popops_add_codelets; operations on elements and conversions do that by themselves. Each function adds
 * what is to be run to a sequence (pop_program_sequence); names may be NULL. Errors are the graph's
 * (populus/graph.h): TYPE if an operation is not there for elements of a type (populus/expression_ops.h), TENSOR if shapes do not go together.
 *
 * Shapes go together as in numpy: dimensions are compared from the last one; one of size 1, or none, is
 * repeated. A result that is a new variable lies where the first operand does that has its shape and no
 * constant or repeated elements, or else is spread over the tiles of `graph`. What is calculated for an element
 * is calculated on its tile: operands come there by exchange. Half is calculated with in single precision. */
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

/* For all functions of this header; once for a graph, more often is fine. Vertices of element by element operations are then said to
 * take what the chip takes by its libraries' published formulae (pop_graph_register_perf_estimator; an engine's option
 * profiler.libraryCycleEstimates), where there is one for operation and type, unless the program has registered something else. */
void pop_popops_add_codelets(pop_graph *graph);

/* ---- element by element ---- */

/* An expression in postfix order: operands, then what is done with them. */
typedef enum pop_expr_kind {
  POP_EXPR_TENSOR, /* number `tensor` of the tensors */
  POP_EXPR_CONSTANT, /* `value`, of the type of what it is combined with, or `type` if all are constants;
                        one that does not fit an integer type, as signed or unsigned, is refused */
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

/* Evaluates the expression, one compute set for each operation. `out`: a tensor of the result's type and shape, but for
 * dimensions of one element, that gets it; it may be one of the tensors. Null ((pop_tensor){0}): a new variable. Returns the
 * result. */
pop_tensor pop_popops_map(pop_graph *graph, const pop_expr_node *nodes, size_t num_nodes,
                          const pop_tensor *tensors, size_t num_tensors, pop_tensor out,
                          pop_program sequence, const char *name);
/* The same for one operation. */
pop_tensor pop_popops_unary(pop_graph *graph, pop_unary_op op, pop_tensor a, pop_tensor out,
                            pop_program sequence, const char *name);
pop_tensor pop_popops_binary(pop_graph *graph, pop_binary_op op, pop_tensor a, pop_tensor b,
                             pop_tensor out, pop_program sequence, const char *name);
/* a += scale * b, for float and half; of one shape, or b is repeated. */
void pop_popops_scaled_add_to(pop_graph *graph, pop_tensor a, pop_tensor b, double scale,
                              pop_program sequence, const char *name);
/* a += scale * by * b, where `by` is a tensor of one element: a float, or a half where a and b are halves. */
void pop_popops_scaled_add_by(pop_graph *graph, pop_tensor a, pop_tensor b, pop_tensor by,
                              double scale, pop_program sequence, const char *name);
/* Elements of another type, as C converts them. From and to all types but 64-bit integers. Quarters are converted with their
 * metadata (populus/graph.h), by way of float; one that is too large becomes the largest there is, or not a number while
 * POP_FP_NAN_ON_OVERFLOW is set (populus/registers.h; off on the CPU). A new variable of quarters has metadata of its own,
 * which are the usual ones: for others, `out` has them. `out` as above. */
pop_tensor pop_popops_cast(pop_graph *graph, pop_tensor a, pop_type type, pop_tensor out,
                           pop_program sequence, const char *name);
/* All elements get one value: `value` points at one in the tile's format; NULL: zero. */
void pop_popops_fill(pop_graph *graph, pop_tensor tensor, const void *value, pop_program sequence,
                     const char *name);

/* The same as vertices of a compute set that the caller executes, together with whatever else is in it. `tile`: of the vertex
 * that fills, wherever the elements lie; SIZE_MAX: one on each tile that has some. */
pop_tensor pop_popops_unary_in_set(pop_graph *graph, pop_unary_op op, pop_tensor a, pop_tensor out,
                                   pop_compute_set set, const char *name);
pop_tensor pop_popops_cast_in_set(pop_graph *graph, pop_tensor a, pop_type type, pop_tensor out,
                                  pop_compute_set set, const char *name);
void pop_popops_fill_in_set(pop_graph *graph, pop_tensor tensor, const void *value, size_t tile,
                            pop_compute_set set);

/* ---- reductions ---- */

typedef struct pop_reduction {
  pop_reduce_op op;
  bool update; /* combine with what `out` holds, which must be there then */
  /* Null, or a float of one element that the result is multiplied by before it is combined with what `out` holds;
   * for ADD and SQUARE_ADD of float and half. LOG_ADD adds it: both are logarithms. */
  pop_tensor scale;
} pop_reduction;

/* `a` without the `count` dimensions `dimensions`, whose elements are combined into one. `out`: as above, but may be of
 * floats where `a` is of halves, and the other way round: halves are combined in single precision, which is rounded once. Of no
 * dimensions: the elements themselves. Of no elements: what changes nothing that it is combined with (0 for ADD, SQUARE_ADD
 * and LOGICAL_OR, 1 for MUL and LOGICAL_AND, the least value for MAX and LOG_ADD, the greatest for MIN: of floats the infinities). Sums
 * are made in two steps where the result has fewer elements than there are tiles, or where tiles have several elements of each row,
 * which are added where they are; so the order of float additions depends on the tile mapping alone.
 *
 * Instead of a sequence, `compute_sets` may take what is to be executed, in order: up to POP_REDUCE_MAX_SETS, and
 * *num_sets says how many; the sequence is not used then. */
enum { POP_REDUCE_MAX_SETS = 2 };
pop_tensor pop_popops_reduce(pop_graph *graph, pop_tensor a, const size_t *dimensions, size_t count,
                             pop_reduction how, pop_tensor out, pop_program sequence,
                             pop_compute_set *compute_sets, size_t *num_sets, const char *name);

/* How many elements of `in`, float or half, are not less than i of the levels, for i from 0 to their number: unsigned int
 * [levels + 1]. `levels`: of the same type, one dimension, at least one, ascending. `absolute`: of the elements without their
 * signs. A NaN counts as less than all. `out` as above; with `update` the counts are added to what it holds. Errors: TENSOR for
 * other levels, or no elements; TYPE. */
pop_tensor pop_popops_histogram(pop_graph *graph, pop_tensor in, pop_tensor levels, bool absolute,
                                pop_tensor out, bool update, pop_program sequence,
                                const char *name);

#ifdef __cplusplus
}
#endif
#endif
