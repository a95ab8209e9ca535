// The operations of populus/expression_ops.h on one element, and the types that they exist for.
// Halves are calculated in single precision and rounded once.
#ifndef POPOPS_OPERATIONS_HPP
#define POPOPS_OPERATIONS_HPP

#include <cmath>
#include <poplar/Vertex.hpp>
#include <populus/expression_ops.h>
#include <type_traits>

#define ENUMERATOR(name, ...) name,

namespace popops
{
namespace expr
{
enum class UnaryOpType { POP_UNARY_OPS(ENUMERATOR) };
enum class BinaryOpType { POP_BINARY_OPS(ENUMERATOR) };
enum class TernaryOpType { POP_TERNARY_OPS(ENUMERATOR) };
} // namespace expr
enum class Operation { POP_REDUCE_OPS(ENUMERATOR) };

// The type of calculations: half is float until it is stored.
template <typename T>
using Wide = typename std::conditional<std::is_same<T, half>::value, float, T>::type;

// Instructions on the tile; the host computes what they are defined as.
#ifdef __IPU__
inline float inverseRoot(float x)
{
  return __builtin_ipu_f32oorx(x);
}
inline float logistic(float x)
{
  return __builtin_ipu_sigm(x);
}
template <typename W> W quotient(W a, W b)
{
  return a / b;
}
template <typename W> W remainder(W a, W b)
{
  return a % b;
}
#else
inline float inverseRoot(float x)
{
  return 1 / std::sqrt(x);
}
inline float logistic(float x)
{
  return 1 / (1 + std::exp(-x));
}
// The tile's results where the host's instruction would trap: division by 0, and of the least
// number by -1.
template <typename W> W quotient(W a, W b)
{
  if constexpr (std::is_floating_point<W>::value)
    return a / b;
  else
    return b == 0 ? W(-1) : std::is_signed<W>::value && b == W(-1) ? W(0u - unsigned(a)) : a / b;
}
template <typename W> W remainder(W a, W b)
{
  return b == 0 ? a : std::is_signed<W>::value && b == W(-1) ? W(0) : a % b;
}
#endif

template <expr::UnaryOpType op, typename W> auto apply(W x)
{
  using O = expr::UnaryOpType;
  if constexpr (op == O::ABSOLUTE && std::is_floating_point<W>::value)
    return std::fabs(x); // of -0, too
  else if constexpr (op == O::ABSOLUTE)
    return x < 0 ? -x : x;
  else if constexpr (op == O::ASIN)
    return std::asin(x);
  else if constexpr (op == O::BITWISE_NOT)
    return ~x;
  else if constexpr (op == O::CBRT)
    return std::cbrt(x);
  else if constexpr (op == O::CEIL)
    return std::ceil(x);
  else if constexpr (op == O::COS)
    return std::cos(x);
  else if constexpr (op == O::COUNT_LEADING_ZEROS)
    return x ? __builtin_clz(unsigned(x)) : 32;
  else if constexpr (op == O::ERF)
    return std::erf(x);
  else if constexpr (op == O::EXPONENT)
    return std::exp(x);
  else if constexpr (op == O::EXPONENT2)
    return std::exp2(x);
  else if constexpr (op == O::EXPONENT_MINUS_ONE)
    return std::expm1(x);
  else if constexpr (op == O::FLOOR)
    return std::floor(x);
  else if constexpr (op == O::GELU_ERF)
    return x * ((1 + std::erf(x * 0.70710678f)) / 2); // which is at most 1
  else if constexpr (op == O::INVERSE)
    return 1 / x;
  else if constexpr (op == O::IS_FINITE)
    return x - x == 0;
  else if constexpr (op == O::IS_INF)
    return x == x && x - x != 0;
  else if constexpr (op == O::IS_NAN)
    return x != x;
  else if constexpr (op == O::LOGARITHM)
    return std::log(x);
  else if constexpr (op == O::LOGARITHM_ONE_PLUS)
    return std::log1p(x);
  else if constexpr (op == O::LOGICAL_NOT)
    return !x;
  else if constexpr (op == O::NEARBY_INT)
    return std::nearbyint(x);
  else if constexpr (op == O::NEGATE)
    return -x;
  else if constexpr (op == O::POPCOUNT)
    return __builtin_popcount(unsigned(x));
  else if constexpr (op == O::RELU)
    return x > 0 ? x : W(0);
  else if constexpr (op == O::ROUND)
    return std::round(x);
  else if constexpr (op == O::RSQRT)
    return inverseRoot(x);
  else if constexpr (op == O::SIGMOID)
    return logistic(x);
  else if constexpr (op == O::SIGNUM)
    return W((x > 0) - (x < 0));
  else if constexpr (op == O::SIN)
    return std::sin(x);
  else if constexpr (op == O::SQRT)
    return std::sqrt(x);
  else if constexpr (op == O::SQUARE)
    return x * x;
  else if constexpr (op == O::TAN)
    return std::tan(x);
  else if constexpr (op == O::TANH)
    return std::tanh(x);
  else if constexpr (op == O::TRUNC)
    return std::trunc(x);
}

// Integers as on the tile: shifts use the low five bits, and division by zero has the tile's
// result.
template <expr::BinaryOpType op, typename W> auto apply(W a, W b)
{
  using O = expr::BinaryOpType;
  if constexpr (op == O::ADD)
    return a + b;
  else if constexpr (op == O::ATAN2)
    return std::atan2(a, b);
  else if constexpr (op == O::BITWISE_AND)
    return a & b;
  else if constexpr (op == O::BITWISE_OR)
    return a | b;
  else if constexpr (op == O::BITWISE_XOR)
    return a ^ b;
  else if constexpr (op == O::BITWISE_XNOR)
    return ~(a ^ b);
  else if constexpr (op == O::DIVIDE)
    return quotient(a, b);
  else if constexpr (op == O::EQUAL)
    return a == b;
  else if constexpr (op == O::GREATER_THAN)
    return a > b;
  else if constexpr (op == O::GREATER_THAN_EQUAL)
    return a >= b;
  else if constexpr (op == O::LESS_THAN)
    return a < b;
  else if constexpr (op == O::LESS_THAN_EQUAL)
    return a <= b;
  else if constexpr (op == O::LOGICAL_AND)
    return a && b;
  else if constexpr (op == O::LOGICAL_OR)
    return a || b;
  else if constexpr (op == O::MAXIMUM)
    return a > b ? a : b;
  else if constexpr (op == O::MINIMUM)
    return a < b ? a : b;
  else if constexpr (op == O::MULTIPLY)
    return a * b;
  else if constexpr (op == O::NOT_EQUAL)
    return a != b;
  else if constexpr (op == O::POWER)
    return std::pow(a, b);
  else if constexpr (op == O::REMAINDER && std::is_floating_point<W>::value)
    return std::fmod(a, b);
  else if constexpr (op == O::REMAINDER)
    return remainder(a, b);
  else if constexpr (op == O::SHIFT_LEFT)
    return W(unsigned(a) << (unsigned(b) & 31));
  else if constexpr (op == O::SHIFT_RIGHT)
    return W(unsigned(a) >> (unsigned(b) & 31));
  else if constexpr (op == O::SHIFT_RIGHT_SIGN_EXTEND)
    return W(int(a) >> (unsigned(b) & 31));
  else if constexpr (op == O::SUBTRACT)
    return a - b;
}

// log(exp(a) + exp(b)). The larger one is factored out, so nothing overflows. Equal operands may be
// infinite.
inline float logAdd(float a, float b)
{
  constexpr float log2 = 0.693147181f;
  if (a == b) return a + log2;
  return a < b ? b + std::log1p(std::exp(a - b)) : a + std::log1p(std::exp(b - a));
}

template <Operation op, typename W> W combine(W sum, W x)
{
  if constexpr (op == Operation::ADD)
    return sum + x;
  else if constexpr (op == Operation::SQUARE_ADD)
    return sum + x * x;
  else if constexpr (op == Operation::MUL)
    return sum * x;
  else if constexpr (op == Operation::MIN)
    return x < sum ? x : sum;
  else if constexpr (op == Operation::MAX)
    return x > sum ? x : sum;
  else if constexpr (op == Operation::LOGICAL_AND)
    return sum && x;
  else if constexpr (op == Operation::LOGICAL_OR)
    return sum || x;
  else if constexpr (op == Operation::LOG_ADD)
    return logAdd(sum, x);
}

} // namespace popops

// INSTANTIATE_<types>(Vertex, op): explicit instantiations, by which popc finds the types of a
// template.
#define INSTANTIATE_REAL(V, op)                                                                    \
  template class V<op, float>;                                                                     \
  template class V<op, half>;
#define INSTANTIATE_INTEGER(V, op)                                                                 \
  template class V<op, int>;                                                                       \
  template class V<op, unsigned int>;
#define INSTANTIATE_SIGNED(V, op)                                                                  \
  INSTANTIATE_REAL(V, op)                                                                          \
  template class V<op, int>;
#define INSTANTIATE_NUMBER(V, op) INSTANTIATE_REAL(V, op) INSTANTIATE_INTEGER(V, op)
#define INSTANTIATE_BOOL(V, op) template class V<op, bool>;
#define INSTANTIATE_ANY(V, op) INSTANTIATE_NUMBER(V, op) INSTANTIATE_BOOL(V, op)

#endif
