/* Element-wise operations: one list for the C interface (populus/popops.h), the C++ interface
 * and the codelets.
 *
 * X(name as documented, types, result): `types` are
 *   REAL     float, half                     INTEGER  int, unsigned int
 *   SIGNED   float, half, int                NUMBER   float, half, int, unsigned int
 *   BOOL     bool                            ANY      NUMBER and bool
 * and the result has the type of the operands (SAME) or is a bool (TRUTH). */
#ifndef POPULUS_EXPRESSION_OPS_H
#define POPULUS_EXPRESSION_OPS_H

#define POP_UNARY_OPS(X)                                                                           \
  X(ABSOLUTE, SIGNED, SAME)                                                                        \
  X(ASIN, REAL, SAME)                                                                              \
  X(BITWISE_NOT, INTEGER, SAME)                                                                    \
  X(CBRT, REAL, SAME)                                                                              \
  X(CEIL, REAL, SAME)                                                                              \
  X(COS, REAL, SAME)                                                                               \
  X(COUNT_LEADING_ZEROS, INTEGER, SAME)                                                            \
  X(ERF, REAL, SAME)                                                                               \
  X(EXPONENT, REAL, SAME)                                                                          \
  X(EXPONENT2, REAL, SAME)                                                                         \
  X(EXPONENT_MINUS_ONE, REAL, SAME)                                                                \
  X(FLOOR, REAL, SAME)                                                                             \
  X(GELU_ERF, REAL, SAME)                                                                          \
  X(INVERSE, REAL, SAME)                                                                           \
  X(IS_FINITE, REAL, TRUTH)                                                                        \
  X(IS_INF, REAL, TRUTH)                                                                           \
  X(IS_NAN, REAL, TRUTH)                                                                           \
  X(LOGARITHM, REAL, SAME)                                                                         \
  X(LOGARITHM_ONE_PLUS, REAL, SAME)                                                                \
  X(LOGICAL_NOT, BOOL, SAME)                                                                       \
  X(NEARBY_INT, REAL, SAME)                                                                        \
  X(NEGATE, SIGNED, SAME)                                                                          \
  X(POPCOUNT, INTEGER, SAME)                                                                       \
  X(RELU, REAL, SAME)                                                                              \
  X(ROUND, REAL, SAME)                                                                             \
  X(RSQRT, REAL, SAME)                                                                             \
  X(SIGMOID, REAL, SAME)                                                                           \
  X(SIGNUM, SIGNED, SAME)                                                                          \
  X(SIN, REAL, SAME)                                                                               \
  X(SQRT, REAL, SAME)                                                                              \
  X(SQUARE, NUMBER, SAME)                                                                          \
  X(TAN, REAL, SAME)                                                                               \
  X(TANH, REAL, SAME)                                                                              \
  X(TRUNC, REAL, SAME)

#define POP_BINARY_OPS(X)                                                                          \
  X(ADD, NUMBER, SAME)                                                                             \
  X(ATAN2, REAL, SAME)                                                                             \
  X(BITWISE_AND, INTEGER, SAME)                                                                    \
  X(BITWISE_OR, INTEGER, SAME)                                                                     \
  X(BITWISE_XOR, INTEGER, SAME)                                                                    \
  X(BITWISE_XNOR, INTEGER, SAME)                                                                   \
  X(DIVIDE, NUMBER, SAME)                                                                          \
  X(EQUAL, ANY, TRUTH)                                                                             \
  X(GREATER_THAN, NUMBER, TRUTH)                                                                   \
  X(GREATER_THAN_EQUAL, NUMBER, TRUTH)                                                             \
  X(LESS_THAN, NUMBER, TRUTH)                                                                      \
  X(LESS_THAN_EQUAL, NUMBER, TRUTH)                                                                \
  X(LOGICAL_AND, BOOL, SAME)                                                                       \
  X(LOGICAL_OR, BOOL, SAME)                                                                        \
  X(MAXIMUM, NUMBER, SAME)                                                                         \
  X(MINIMUM, NUMBER, SAME)                                                                         \
  X(MULTIPLY, NUMBER, SAME)                                                                        \
  X(NOT_EQUAL, ANY, TRUTH)                                                                         \
  X(POWER, REAL, SAME)                                                                             \
  X(REMAINDER, NUMBER, SAME)                                                                       \
  X(SHIFT_LEFT, INTEGER, SAME)                                                                     \
  X(SHIFT_RIGHT, INTEGER, SAME)                                                                    \
  X(SHIFT_RIGHT_SIGN_EXTEND, INTEGER, SAME)                                                        \
  X(SUBTRACT, NUMBER, SAME)

/* CLAMP(value, lowest, highest): the smaller of `highest` and the larger of the other two, so
 * `highest` where it is below `lowest`. SELECT(a, b, which): a where the bool `which` is true,
 * otherwise b. */
#define POP_TERNARY_OPS(X)                                                                         \
  X(CLAMP, NUMBER, SAME)                                                                           \
  X(SELECT, ANY, SAME)

/* X(name, types): reductions. SQUARE_ADD is the sum of squares. LOG_ADD adds numbers that are
 * given as logarithms: log(exp(a) + exp(b)). */
#define POP_REDUCE_OPS(X)                                                                          \
  X(ADD, NUMBER)                                                                                   \
  X(SQUARE_ADD, NUMBER)                                                                            \
  X(MUL, NUMBER)                                                                                   \
  X(MIN, NUMBER)                                                                                   \
  X(MAX, NUMBER)                                                                                   \
  X(LOGICAL_AND, BOOL)                                                                             \
  X(LOGICAL_OR, BOOL)                                                                              \
  X(LOG_ADD, REAL)

#endif
