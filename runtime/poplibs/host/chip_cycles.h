/* What the chip takes for the operations of populus/expression_ops.h. The formulae were
 * published with its libraries: graphcore/poplibs, lib/popops/popopsCycleEstimators.hpp (slots
 * of the inner loops) and .cpp (what is added to them). They are its authors' estimates, not
 * measurements. An operation on a type without a row has no formula there.
 *
 * X(operation, type, slots, elements): a loop over operands that have all elements.
 * Y(operation, type, slots, elements, slots, elements): the same, then a loop with one operand of one element. */
#ifndef POPLIBS_HOST_CHIP_CYCLES_H
#define POPLIBS_HOST_CHIP_CYCLES_H

#define CHIP_UNARY(X)                                                                              \
  X(ABSOLUTE, FLOAT, 5, 1)                                                                         \
  X(ABSOLUTE, HALF, 5, 1)                                                                          \
  X(ABSOLUTE, INT, 6, 1)                                                                           \
  X(ASIN, FLOAT, 106, 1)                                                                           \
  X(ASIN, HALF, 106, 1)                                                                            \
  X(BITWISE_NOT, INT, 5, 2)                                                                        \
  X(BITWISE_NOT, UNSIGNED_INT, 5, 2)                                                               \
  X(CBRT, FLOAT, 31, 2)                                                                            \
  X(CBRT, HALF, 21, 4)                                                                             \
  X(CEIL, FLOAT, 6, 2)                                                                             \
  X(CEIL, HALF, 6, 4)                                                                              \
  X(COS, FLOAT, 2304, 1)                                                                           \
  X(COS, HALF, 25, 1)                                                                              \
  X(COUNT_LEADING_ZEROS, INT, 5, 1)                                                                \
  X(COUNT_LEADING_ZEROS, UNSIGNED_INT, 5, 1)                                                       \
  X(ERF, FLOAT, 41, 1)                                                                             \
  X(ERF, HALF, 13, 1)                                                                              \
  X(EXPONENT, FLOAT, 6, 2)                                                                         \
  X(EXPONENT, HALF, 4, 4)                                                                          \
  X(EXPONENT2, FLOAT, 6, 2)                                                                        \
  X(EXPONENT2, HALF, 4, 4)                                                                         \
  X(EXPONENT_MINUS_ONE, FLOAT, 8, 1)                                                               \
  X(EXPONENT_MINUS_ONE, HALF, 9, 4)                                                                \
  X(FLOOR, FLOAT, 6, 2)                                                                            \
  X(FLOOR, HALF, 6, 4)                                                                             \
  X(GELU_ERF, FLOAT, 26, 1)                                                                        \
  X(GELU_ERF, HALF, 20, 1)                                                                         \
  X(INVERSE, FLOAT, 6, 2)                                                                          \
  X(INVERSE, HALF, 15, 4)                                                                          \
  X(IS_FINITE, FLOAT, 9, 2)                                                                        \
  X(IS_FINITE, HALF, 9, 4)                                                                         \
  X(IS_INF, FLOAT, 7, 2)                                                                           \
  X(IS_INF, HALF, 9, 4)                                                                            \
  X(IS_NAN, FLOAT, 7, 2)                                                                           \
  X(IS_NAN, HALF, 7, 4)                                                                            \
  X(LOGARITHM, FLOAT, 12, 2)                                                                       \
  X(LOGARITHM, HALF, 4, 4)                                                                         \
  X(LOGARITHM_ONE_PLUS, FLOAT, 22, 2)                                                              \
  X(LOGARITHM_ONE_PLUS, HALF, 22, 4)                                                               \
  X(LOGICAL_NOT, BOOL, 21, 1)                                                                      \
  X(NEARBY_INT, FLOAT, 6, 2)                                                                       \
  X(NEARBY_INT, HALF, 6, 4)                                                                        \
  X(NEGATE, FLOAT, 2, 2)                                                                           \
  X(NEGATE, HALF, 2, 4)                                                                            \
  X(NEGATE, INT, 6, 1)                                                                             \
  X(POPCOUNT, INT, 5, 1)                                                                           \
  X(POPCOUNT, UNSIGNED_INT, 5, 1)                                                                  \
  X(RELU, FLOAT, 3, 2)                                                                             \
  X(RELU, HALF, 3, 4)                                                                              \
  X(ROUND, FLOAT, 6, 2)                                                                            \
  X(ROUND, HALF, 6, 4)                                                                             \
  X(RSQRT, FLOAT, 8, 2)                                                                            \
  X(RSQRT, HALF, 19, 4)                                                                            \
  X(SIGMOID, FLOAT, 12, 2)                                                                         \
  X(SIGMOID, HALF, 6, 4)                                                                           \
  X(SIGNUM, FLOAT, 9, 2)                                                                           \
  X(SIGNUM, HALF, 9, 4)                                                                            \
  X(SIGNUM, INT, 9, 1)                                                                             \
  X(SIN, FLOAT, 2304, 1)                                                                           \
  X(SIN, HALF, 25, 1)                                                                              \
  X(SQRT, FLOAT, 10, 2)                                                                            \
  X(SQRT, HALF, 23, 4)                                                                             \
  X(SQUARE, FLOAT, 2, 2)                                                                           \
  X(SQUARE, HALF, 2, 4)                                                                            \
  X(SQUARE, INT, 5, 2)                                                                             \
  X(SQUARE, UNSIGNED_INT, 5, 2)                                                                    \
  X(TAN, FLOAT, 5100, 1)                                                                           \
  X(TAN, HALF, 5700, 1)                                                                            \
  X(TANH, FLOAT, 12, 2)                                                                            \
  X(TANH, HALF, 4, 4)                                                                              \
  X(TRUNC, FLOAT, 3, 2)                                                                            \
  X(TRUNC, HALF, 11, 4)

#define CHIP_BINARY(Y)                                                                             \
  Y(ADD, FLOAT, 3, 2, 2, 2)                                                                        \
  Y(ADD, HALF, 3, 4, 2, 4)                                                                         \
  Y(ADD, INT, 7, 1, 6, 1)                                                                          \
  Y(ADD, UNSIGNED_INT, 7, 1, 6, 1)                                                                 \
  Y(ATAN2, FLOAT, 272, 2, 272, 2)                                                                  \
  Y(ATAN2, HALF, 578, 4, 578, 4)                                                                   \
  Y(BITWISE_AND, INT, 7, 1, 6, 1)                                                                  \
  Y(BITWISE_AND, UNSIGNED_INT, 7, 1, 6, 1)                                                         \
  Y(BITWISE_OR, INT, 7, 1, 6, 1)                                                                   \
  Y(BITWISE_OR, UNSIGNED_INT, 7, 1, 6, 1)                                                          \
  Y(BITWISE_XOR, INT, 7, 1, 6, 1)                                                                  \
  Y(BITWISE_XOR, UNSIGNED_INT, 7, 1, 6, 1)                                                         \
  Y(BITWISE_XNOR, INT, 7, 1, 6, 1)                                                                 \
  Y(BITWISE_XNOR, UNSIGNED_INT, 7, 1, 6, 1)                                                        \
  Y(DIVIDE, FLOAT, 10, 2, 6, 2)                                                                    \
  Y(DIVIDE, HALF, 21, 4, 8, 2)                                                                     \
  Y(DIVIDE, INT, 277, 1, 277, 1)                                                                   \
  Y(DIVIDE, UNSIGNED_INT, 265, 1, 260, 1)                                                          \
  Y(EQUAL, FLOAT, 14, 4, 12, 4)                                                                    \
  Y(EQUAL, HALF, 9, 4, 8, 4)                                                                       \
  Y(EQUAL, INT, 22, 4, 16, 4)                                                                      \
  Y(EQUAL, UNSIGNED_INT, 22, 4, 16, 4)                                                             \
  Y(EQUAL, BOOL, 6, 4, 14, 4)                                                                      \
  Y(GREATER_THAN, FLOAT, 14, 4, 12, 4)                                                             \
  Y(GREATER_THAN, HALF, 9, 4, 8, 4)                                                                \
  Y(GREATER_THAN, INT, 22, 4, 16, 4)                                                               \
  Y(GREATER_THAN, UNSIGNED_INT, 22, 4, 16, 4)                                                      \
  Y(GREATER_THAN_EQUAL, FLOAT, 14, 4, 12, 4)                                                       \
  Y(GREATER_THAN_EQUAL, HALF, 9, 4, 8, 4)                                                          \
  Y(GREATER_THAN_EQUAL, INT, 26, 4, 20, 4)                                                         \
  Y(GREATER_THAN_EQUAL, UNSIGNED_INT, 26, 4, 20, 4)                                                \
  Y(LESS_THAN, FLOAT, 14, 4, 12, 4)                                                                \
  Y(LESS_THAN, HALF, 9, 4, 8, 4)                                                                   \
  Y(LESS_THAN, INT, 22, 4, 16, 4)                                                                  \
  Y(LESS_THAN, UNSIGNED_INT, 22, 4, 16, 4)                                                         \
  Y(LESS_THAN_EQUAL, FLOAT, 14, 4, 12, 4)                                                          \
  Y(LESS_THAN_EQUAL, HALF, 9, 4, 8, 4)                                                             \
  Y(LESS_THAN_EQUAL, INT, 26, 4, 20, 4)                                                            \
  Y(LESS_THAN_EQUAL, UNSIGNED_INT, 26, 4, 20, 4)                                                   \
  Y(LOGICAL_AND, BOOL, 5, 4, 4, 4)                                                                 \
  Y(LOGICAL_OR, BOOL, 5, 4, 4, 4)                                                                  \
  Y(MAXIMUM, FLOAT, 3, 2, 3, 2)                                                                    \
  Y(MAXIMUM, HALF, 4, 4, 3, 4)                                                                     \
  Y(MAXIMUM, INT, 7, 1, 6, 1)                                                                      \
  Y(MAXIMUM, UNSIGNED_INT, 8, 1, 7, 1)                                                             \
  Y(MINIMUM, FLOAT, 3, 2, 3, 2)                                                                    \
  Y(MINIMUM, HALF, 4, 4, 3, 4)                                                                     \
  Y(MINIMUM, INT, 7, 1, 6, 1)                                                                      \
  Y(MINIMUM, UNSIGNED_INT, 8, 1, 8, 1)                                                             \
  Y(MULTIPLY, FLOAT, 3, 2, 2, 2)                                                                   \
  Y(MULTIPLY, HALF, 3, 4, 2, 4)                                                                    \
  Y(MULTIPLY, INT, 7, 1, 6, 1)                                                                     \
  Y(MULTIPLY, UNSIGNED_INT, 7, 1, 6, 1)                                                            \
  Y(NOT_EQUAL, FLOAT, 20, 4, 18, 4)                                                                \
  Y(NOT_EQUAL, HALF, 11, 4, 10, 4)                                                                 \
  Y(NOT_EQUAL, INT, 22, 4, 16, 4)                                                                  \
  Y(NOT_EQUAL, UNSIGNED_INT, 22, 4, 16, 4)                                                         \
  Y(NOT_EQUAL, BOOL, 5, 4, 4, 4)                                                                   \
  Y(POWER, FLOAT, 312, 1, 312, 1)                                                                  \
  Y(POWER, HALF, 325, 1, 325, 1)                                                                   \
  Y(REMAINDER, FLOAT, 133, 2, 93, 2)                                                               \
  Y(REMAINDER, HALF, 300, 4, 225, 4)                                                               \
  Y(REMAINDER, INT, 292, 1, 280, 1)                                                                \
  Y(REMAINDER, UNSIGNED_INT, 282, 1, 267, 1)                                                       \
  Y(SHIFT_LEFT, INT, 7, 1, 6, 1)                                                                   \
  Y(SHIFT_LEFT, UNSIGNED_INT, 7, 1, 6, 1)                                                          \
  Y(SHIFT_RIGHT, INT, 7, 1, 6, 1)                                                                  \
  Y(SHIFT_RIGHT, UNSIGNED_INT, 7, 1, 6, 1)                                                         \
  Y(SHIFT_RIGHT_SIGN_EXTEND, INT, 7, 1, 6, 1)                                                      \
  Y(SUBTRACT, FLOAT, 3, 2, 2, 2)                                                                   \
  Y(SUBTRACT, HALF, 3, 4, 2, 4)                                                                    \
  Y(SUBTRACT, INT, 7, 1, 6, 1)                                                                     \
  Y(SUBTRACT, UNSIGNED_INT, 7, 1, 6, 1)

#endif
