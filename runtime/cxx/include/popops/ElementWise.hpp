// Operations element by element: populus/popops.h.
#ifndef POPOPS_ELEMENTWISE_HPP
#define POPOPS_ELEMENTWISE_HPP

#include <poplar/detail/Library.hpp>
#include <popops/Expr.hpp>

namespace popops
{
namespace detail
{

using poplar::DebugContext;
using poplar::Graph;
using poplar::OptionFlags;
using poplar::Tensor;
using poplar::program::Sequence;

inline Tensor map(Graph &graph, const expr::Expr &expression, const std::vector<Tensor> &tensors,
                  const Tensor &out, Sequence &prog, const DebugContext &debugContext,
                  const OptionFlags &options)
{
  // These options have no effect: an expression is one compute set for each operation, and small
  // operands are broadcast.
  using poplar::detail::OptionValue;
  poplar::detail::checkOptions("popops::map", options,
                               {{"enableGenerateCodelet", OptionValue::TRUTH},
                                {"forceGenerateCodelet", OptionValue::TRUTH},
                                {"enableVectorBroadcastOptimisations", OptionValue::TRUTH}});
  std::vector<pop_tensor> list;
  for (const Tensor &t : tensors) list.push_back(poplar::detail::check(t.c()));
  const auto &nodes = expression.getNodes();
  poplar::detail::LibraryCall call(graph, prog, debugContext);
  return call.finish(pop_popops_map(graph.c(), nodes.data(), nodes.size(), list.data(), list.size(),
                                    out.c(), call.program(), call.c()));
}

} // namespace detail

inline poplar::Tensor map(poplar::Graph &graph, const expr::Expr &expression,
                          const std::vector<poplar::Tensor> &ts, poplar::program::Sequence &prog,
                          const poplar::DebugContext &debugContext = {},
                          const poplar::OptionFlags &options = {})
{
  return detail::map(graph, expression, ts, {}, prog, debugContext, options);
}
// The result replaces the contents of the first tensor.
inline void mapInPlace(poplar::Graph &graph, const expr::Expr &expression,
                       const std::vector<poplar::Tensor> &ts, poplar::program::Sequence &prog,
                       const poplar::DebugContext &debugContext = {},
                       const poplar::OptionFlags &options = {})
{
  if (ts.empty())
    throw poplar::poplar_error("popops::mapInPlace: there is no tensor whose contents to replace");
  detail::map(graph, expression, ts, ts[0], prog, debugContext, options);
}
inline void mapWithOutput(poplar::Graph &graph, const expr::Expr &expression,
                          const std::vector<poplar::Tensor> &ts, const poplar::Tensor &out,
                          poplar::program::Sequence &prog,
                          const poplar::DebugContext &debugContext = {},
                          const poplar::OptionFlags &options = {})
{
  poplar::detail::check(out.c());
  detail::map(graph, expression, ts, out, prog, debugContext, options);
}
// Several expressions of the same tensors. mapInPlace writes the results to the first tensors, one
// for each expression, after all have been calculated.
inline std::vector<poplar::Tensor> map(poplar::Graph &graph,
                                       const std::vector<expr::Any> &expressions,
                                       const std::vector<poplar::Tensor> &ts,
                                       poplar::program::Sequence &prog,
                                       const poplar::DebugContext &debugContext = {},
                                       const poplar::OptionFlags &options = {})
{
  std::vector<poplar::Tensor> results;
  for (const expr::Any &expression : expressions)
    results.push_back(map(graph, expression, ts, prog, debugContext, options));
  return results;
}
inline void mapWithOutput(poplar::Graph &graph, const std::vector<expr::Any> &expressions,
                          const std::vector<poplar::Tensor> &ts,
                          const std::vector<poplar::Tensor> &outs, poplar::program::Sequence &prog,
                          const poplar::DebugContext &debugContext = {},
                          const poplar::OptionFlags &options = {})
{
  if (outs.size() < expressions.size())
    throw poplar::poplar_error("popops::mapWithOutput: " + std::to_string(expressions.size()) +
                               " expressions and " + std::to_string(outs.size()) +
                               " tensors for their results; as many are needed");
  std::vector<poplar::Tensor> results; // with the outputs' shapes, to which constants are repeated
  for (std::size_t i = 0; i < expressions.size(); ++i) {
    results.push_back(graph.clone(outs[i], debugContext));
    mapWithOutput(graph, expressions[i], ts, results[i], prog, debugContext, options);
  }
  for (std::size_t i = 0; i < results.size(); ++i)
    prog.add(poplar::program::Copy(results[i], outs[i], false, debugContext));
}
inline void mapInPlace(poplar::Graph &graph, const std::vector<expr::Any> &expressions,
                       const std::vector<poplar::Tensor> &ts, poplar::program::Sequence &prog,
                       const poplar::DebugContext &debugContext = {},
                       const poplar::OptionFlags &options = {})
{
  mapWithOutput(graph, expressions, ts, ts, prog, debugContext, options);
}
inline poplar::Tensor map(poplar::Graph &graph, expr::UnaryOpType op, const poplar::Tensor &t,
                          poplar::program::Sequence &prog,
                          const poplar::DebugContext &debugContext = {},
                          const poplar::OptionFlags &options = {})
{
  return map(graph, expr::UnaryOp(op, expr::_1), {t}, prog, debugContext, options);
}
inline void mapInPlace(poplar::Graph &graph, expr::UnaryOpType op, const poplar::Tensor &t,
                       poplar::program::Sequence &prog,
                       const poplar::DebugContext &debugContext = {},
                       const poplar::OptionFlags &options = {})
{
  mapInPlace(graph, expr::UnaryOp(op, expr::_1), {t}, prog, debugContext, options);
}
inline poplar::Tensor map(poplar::Graph &graph, expr::BinaryOpType op, const poplar::Tensor &a,
                          const poplar::Tensor &b, poplar::program::Sequence &prog,
                          const poplar::DebugContext &debugContext = {},
                          const poplar::OptionFlags &options = {})
{
  return map(graph, expr::BinaryOp(op, expr::_1, expr::_2), {a, b}, prog, debugContext, options);
}
inline void mapInPlace(poplar::Graph &graph, expr::BinaryOpType op, const poplar::Tensor &a,
                       const poplar::Tensor &b, poplar::program::Sequence &prog,
                       const poplar::DebugContext &debugContext = {},
                       const poplar::OptionFlags &options = {})
{
  mapInPlace(graph, expr::BinaryOp(op, expr::_1, expr::_2), {a, b}, prog, debugContext, options);
}
inline poplar::Tensor map(poplar::Graph &graph, expr::TernaryOpType op, const poplar::Tensor &a,
                          const poplar::Tensor &b, const poplar::Tensor &c,
                          poplar::program::Sequence &prog,
                          const poplar::DebugContext &debugContext = {},
                          const poplar::OptionFlags &options = {})
{
  return map(graph, expr::TernaryOp(op, expr::_1, expr::_2, expr::_3), {a, b, c}, prog,
             debugContext, options);
}

inline void mapInPlace(poplar::Graph &graph, expr::TernaryOpType op, const poplar::Tensor &a,
                       const poplar::Tensor &b, const poplar::Tensor &c,
                       poplar::program::Sequence &prog,
                       const poplar::DebugContext &debugContext = {},
                       const poplar::OptionFlags &options = {})
{
  mapInPlace(graph, expr::TernaryOp(op, expr::_1, expr::_2, expr::_3), {a, b, c}, prog,
             debugContext, options);
}
inline void mapWithOutput(poplar::Graph &graph, expr::UnaryOpType op, const poplar::Tensor &t,
                          const poplar::Tensor &out, poplar::program::Sequence &prog,
                          const poplar::DebugContext &debugContext = {},
                          const poplar::OptionFlags &options = {})
{
  mapWithOutput(graph, expr::UnaryOp(op, expr::_1), {t}, out, prog, debugContext, options);
}
inline void mapWithOutput(poplar::Graph &graph, expr::BinaryOpType op, const poplar::Tensor &a,
                          const poplar::Tensor &b, const poplar::Tensor &out,
                          poplar::program::Sequence &prog,
                          const poplar::DebugContext &debugContext = {},
                          const poplar::OptionFlags &options = {})
{
  mapWithOutput(graph, expr::BinaryOp(op, expr::_1, expr::_2), {a, b}, out, prog, debugContext,
                options);
}
inline void mapWithOutput(poplar::Graph &graph, expr::TernaryOpType op, const poplar::Tensor &a,
                          const poplar::Tensor &b, const poplar::Tensor &c,
                          const poplar::Tensor &out, poplar::program::Sequence &prog,
                          const poplar::DebugContext &debugContext = {},
                          const poplar::OptionFlags &options = {})
{
  mapWithOutput(graph, expr::TernaryOp(op, expr::_1, expr::_2, expr::_3), {a, b, c}, out, prog,
                debugContext, options);
}

// Defines name, nameInPlace and nameWithOutput, for tensors and, with two operands, for a tensor
// and a number.
#define POPOPS_UNARY(name, op)                                                                     \
  inline poplar::Tensor name(                                                                      \
      poplar::Graph &graph, const poplar::Tensor &a, poplar::program::Sequence &prog,              \
      const poplar::DebugContext &debugContext = {}, const poplar::OptionFlags &options = {})      \
  {                                                                                                \
    return map(graph, expr::UnaryOpType::op, a, prog, debugContext, options);                      \
  }                                                                                                \
  inline void name##InPlace(                                                                       \
      poplar::Graph &graph, const poplar::Tensor &a, poplar::program::Sequence &prog,              \
      const poplar::DebugContext &debugContext = {}, const poplar::OptionFlags &options = {})      \
  {                                                                                                \
    mapInPlace(graph, expr::UnaryOpType::op, a, prog, debugContext, options);                      \
  }                                                                                                \
  inline void name##WithOutput(poplar::Graph &graph, const poplar::Tensor &a,                      \
                               const poplar::Tensor &out, poplar::program::Sequence &prog,         \
                               const poplar::DebugContext &debugContext = {},                      \
                               const poplar::OptionFlags &options = {})                            \
  {                                                                                                \
    mapWithOutput(graph, expr::UnaryOp(expr::UnaryOpType::op, expr::_1), {a}, out, prog,           \
                  debugContext, options);                                                          \
  }
#define POPOPS_BINARY(name, op)                                                                    \
  inline poplar::Tensor name(poplar::Graph &graph, const poplar::Tensor &a,                        \
                             const poplar::Tensor &b, poplar::program::Sequence &prog,             \
                             const poplar::DebugContext &debugContext = {},                        \
                             const poplar::OptionFlags &options = {})                              \
  {                                                                                                \
    return map(graph, expr::BinaryOpType::op, a, b, prog, debugContext, options);                  \
  }                                                                                                \
  inline void name##InPlace(poplar::Graph &graph, const poplar::Tensor &a,                         \
                            const poplar::Tensor &b, poplar::program::Sequence &prog,              \
                            const poplar::DebugContext &debugContext = {},                         \
                            const poplar::OptionFlags &options = {})                               \
  {                                                                                                \
    mapInPlace(graph, expr::BinaryOpType::op, a, b, prog, debugContext, options);                  \
  }                                                                                                \
  inline void name##WithOutput(                                                                    \
      poplar::Graph &graph, const poplar::Tensor &a, const poplar::Tensor &b,                      \
      const poplar::Tensor &out, poplar::program::Sequence &prog,                                  \
      const poplar::DebugContext &debugContext = {}, const poplar::OptionFlags &options = {})      \
  {                                                                                                \
    mapWithOutput(graph, expr::BinaryOp(expr::BinaryOpType::op, expr::_1, expr::_2), {a, b}, out,  \
                  prog, debugContext, options);                                                    \
  }                                                                                                \
  template <typename T, typename = typename std::enable_if<std::is_arithmetic<T>::value>::type>    \
  poplar::Tensor name(                                                                             \
      poplar::Graph &graph, const poplar::Tensor &a, T b, poplar::program::Sequence &prog,         \
      const poplar::DebugContext &debugContext = {}, const poplar::OptionFlags &options = {})      \
  {                                                                                                \
    return map(graph, expr::BinaryOp(expr::BinaryOpType::op, expr::_1, expr::Const(b)), {a}, prog, \
               debugContext, options);                                                             \
  }                                                                                                \
  template <typename T, typename = typename std::enable_if<std::is_arithmetic<T>::value>::type>    \
  poplar::Tensor name(                                                                             \
      poplar::Graph &graph, T a, const poplar::Tensor &b, poplar::program::Sequence &prog,         \
      const poplar::DebugContext &debugContext = {}, const poplar::OptionFlags &options = {})      \
  {                                                                                                \
    return map(graph, expr::BinaryOp(expr::BinaryOpType::op, expr::Const(a), expr::_1), {b}, prog, \
               debugContext, options);                                                             \
  }                                                                                                \
  template <typename T, typename = typename std::enable_if<std::is_arithmetic<T>::value>::type>    \
  void name##WithOutput(poplar::Graph &graph, const poplar::Tensor &a, T b,                        \
                        const poplar::Tensor &out, poplar::program::Sequence &prog,                \
                        const poplar::DebugContext &debugContext = {},                             \
                        const poplar::OptionFlags &options = {})                                   \
  {                                                                                                \
    mapWithOutput(graph, expr::BinaryOp(expr::BinaryOpType::op, expr::_1, expr::Const(b)), {a},    \
                  out, prog, debugContext, options);                                               \
  }                                                                                                \
  template <typename T, typename = typename std::enable_if<std::is_arithmetic<T>::value>::type>    \
  void name##WithOutput(poplar::Graph &graph, T a, const poplar::Tensor &b,                        \
                        const poplar::Tensor &out, poplar::program::Sequence &prog,                \
                        const poplar::DebugContext &debugContext = {},                             \
                        const poplar::OptionFlags &options = {})                                   \
  {                                                                                                \
    mapWithOutput(graph, expr::BinaryOp(expr::BinaryOpType::op, expr::Const(a), expr::_1), {b},    \
                  out, prog, debugContext, options);                                               \
  }                                                                                                \
  template <typename T, typename = typename std::enable_if<std::is_arithmetic<T>::value>::type>    \
  void name##InPlace(                                                                              \
      poplar::Graph &graph, const poplar::Tensor &a, T b, poplar::program::Sequence &prog,         \
      const poplar::DebugContext &debugContext = {}, const poplar::OptionFlags &options = {})      \
  {                                                                                                \
    mapInPlace(graph, expr::BinaryOp(expr::BinaryOpType::op, expr::_1, expr::Const(b)), {a}, prog, \
               debugContext, options);                                                             \
  }
POPOPS_UNARY(abs, ABSOLUTE)
POPOPS_UNARY(asin, ASIN)
POPOPS_UNARY(bitwiseNot, BITWISE_NOT)
POPOPS_UNARY(cbrt, CBRT)
POPOPS_UNARY(ceil, CEIL)
POPOPS_UNARY(cos, COS)
POPOPS_UNARY(countLeadingZeros, COUNT_LEADING_ZEROS)
POPOPS_UNARY(erf, ERF)
POPOPS_UNARY(exp, EXPONENT)
POPOPS_UNARY(exp2, EXPONENT2)
POPOPS_UNARY(expm1, EXPONENT_MINUS_ONE)
POPOPS_UNARY(floor, FLOOR)
POPOPS_UNARY(geluErf, GELU_ERF)
POPOPS_UNARY(inv, INVERSE)
POPOPS_UNARY(isFinite, IS_FINITE)
POPOPS_UNARY(isInf, IS_INF)
POPOPS_UNARY(isNaN, IS_NAN)
POPOPS_UNARY(log, LOGARITHM)
POPOPS_UNARY(log1p, LOGARITHM_ONE_PLUS)
POPOPS_UNARY(logicalNot, LOGICAL_NOT)
POPOPS_UNARY(nearbyint, NEARBY_INT)
POPOPS_UNARY(neg, NEGATE)
POPOPS_UNARY(popcount, POPCOUNT)
POPOPS_UNARY(relu, RELU)
POPOPS_UNARY(round, ROUND)
POPOPS_UNARY(rsqrt, RSQRT)
POPOPS_UNARY(sigmoid, SIGMOID)
POPOPS_UNARY(signum, SIGNUM)
POPOPS_UNARY(sin, SIN)
POPOPS_UNARY(sqrt, SQRT)
POPOPS_UNARY(square, SQUARE)
POPOPS_UNARY(tan, TAN)
POPOPS_UNARY(tanh, TANH)
POPOPS_UNARY(trunc, TRUNC)
POPOPS_BINARY(add, ADD)
POPOPS_BINARY(atan2, ATAN2)
POPOPS_BINARY(bitwiseAnd, BITWISE_AND)
POPOPS_BINARY(bitwiseOr, BITWISE_OR)
POPOPS_BINARY(bitwiseXor, BITWISE_XOR)
POPOPS_BINARY(bitwiseXnor, BITWISE_XNOR)
POPOPS_BINARY(div, DIVIDE)
POPOPS_BINARY(eq, EQUAL)
POPOPS_BINARY(gt, GREATER_THAN)
POPOPS_BINARY(gteq, GREATER_THAN_EQUAL)
POPOPS_BINARY(lt, LESS_THAN)
POPOPS_BINARY(lteq, LESS_THAN_EQUAL)
POPOPS_BINARY(logicalAnd, LOGICAL_AND)
POPOPS_BINARY(logicalOr, LOGICAL_OR)
POPOPS_BINARY(max, MAXIMUM)
POPOPS_BINARY(min, MINIMUM)
POPOPS_BINARY(mul, MULTIPLY)
POPOPS_BINARY(neq, NOT_EQUAL)
POPOPS_BINARY(pow, POWER)
POPOPS_BINARY(rem, REMAINDER)
POPOPS_BINARY(shiftLeft, SHIFT_LEFT)
POPOPS_BINARY(shiftRight, SHIFT_RIGHT)
POPOPS_BINARY(shiftRightSignExtend, SHIFT_RIGHT_SIGN_EXTEND)
POPOPS_BINARY(sub, SUBTRACT)
#undef POPOPS_UNARY
#undef POPOPS_BINARY

// a where `which` is true, else b.
inline poplar::Tensor select(poplar::Graph &graph, const poplar::Tensor &a, const poplar::Tensor &b,
                             const poplar::Tensor &which, poplar::program::Sequence &prog,
                             const poplar::DebugContext &debugContext = {},
                             const poplar::OptionFlags &options = {})
{
  return map(graph, expr::TernaryOpType::SELECT, a, b, which, prog, debugContext, options);
}
inline void selectInPlace(poplar::Graph &graph, const poplar::Tensor &a, const poplar::Tensor &b,
                          const poplar::Tensor &which, poplar::program::Sequence &prog,
                          const poplar::DebugContext &debugContext = {},
                          const poplar::OptionFlags &options = {})
{
  mapInPlace(graph, expr::TernaryOpType::SELECT, a, b, which, prog, debugContext, options);
}
inline void selectWithOutput(poplar::Graph &graph, const poplar::Tensor &a, const poplar::Tensor &b,
                             const poplar::Tensor &which, const poplar::Tensor &out,
                             poplar::program::Sequence &prog,
                             const poplar::DebugContext &debugContext = {},
                             const poplar::OptionFlags &options = {})
{
  mapWithOutput(graph, expr::TernaryOp(expr::TernaryOpType::SELECT, expr::_1, expr::_2, expr::_3),
                {a, b, which}, out, prog, debugContext, options);
}
inline poplar::Tensor clamp(poplar::Graph &graph, const poplar::Tensor &value,
                            const poplar::Tensor &lowest, const poplar::Tensor &highest,
                            poplar::program::Sequence &prog,
                            const poplar::DebugContext &debugContext = {},
                            const poplar::OptionFlags &options = {})
{
  return map(graph, expr::TernaryOpType::CLAMP, value, lowest, highest, prog, debugContext,
             options);
}
inline void clampInPlace(poplar::Graph &graph, const poplar::Tensor &value,
                         const poplar::Tensor &lowest, const poplar::Tensor &highest,
                         poplar::program::Sequence &prog,
                         const poplar::DebugContext &debugContext = {},
                         const poplar::OptionFlags &options = {})
{
  mapInPlace(graph, expr::TernaryOpType::CLAMP, value, lowest, highest, prog, debugContext,
             options);
}
inline void clampWithOutput(poplar::Graph &graph, const poplar::Tensor &value,
                            const poplar::Tensor &lowest, const poplar::Tensor &highest,
                            const poplar::Tensor &out, poplar::program::Sequence &prog,
                            const poplar::DebugContext &debugContext = {},
                            const poplar::OptionFlags &options = {})
{
  mapWithOutput(graph, expr::TernaryOp(expr::TernaryOpType::CLAMP, expr::_1, expr::_2, expr::_3),
                {value, lowest, highest}, out, prog, debugContext, options);
}

// ---- variances and standard deviations, of one type to another ----

namespace detail
{

// In single precision: 1 / sqrt(variance + epsilon), or the inverse, 1 / deviation^2 - epsilon.
enum class Deviation { FROM_VARIANCE, TO_VARIANCE };
inline expr::Any deviation(Deviation way, const expr::Expr &value, const expr::Expr &epsilon,
                           const poplar::Type &type)
{
  const expr::Cast x(value, poplar::FLOAT), e(epsilon, poplar::FLOAT);
  if (way == Deviation::FROM_VARIANCE) return expr::Cast(expr::Rsqrt(expr::Add(x, e)), type);
  return expr::Cast(expr::Sub(expr::Inv(expr::Square(x)), e), type);
}

} // namespace detail

// Takes `value` and `epsilon`, one of which may be a number. The result's type is `type`, which is
// HALF for varianceToInvStdDev and FLOAT for invStdDevToVariance if it is not given. With a
// debugContext in its place, and if `value` is a number, it is the type of the first tensor.
// WithOutput has the type of `out`.
#define POPOPS_DEVIATION(name, way, otherwise)                                                     \
  inline poplar::Tensor name(poplar::Graph &graph, const poplar::Tensor &value,                    \
                             const poplar::Tensor &epsilon, poplar::program::Sequence &prog,       \
                             const poplar::Type &type = otherwise,                                 \
                             const poplar::DebugContext &debugContext = {})                        \
  {                                                                                                \
    return map(graph, detail::deviation(way, expr::_1, expr::_2, type),                            \
               {value, epsilon.numElements() == 1 ? epsilon.reshape({}) : epsilon}, prog,          \
               debugContext);                                                                      \
  }                                                                                                \
  inline poplar::Tensor name(poplar::Graph &graph, const poplar::Tensor &value, float epsilon,     \
                             poplar::program::Sequence &prog,                                      \
                             const poplar::Type &type = otherwise,                                 \
                             const poplar::DebugContext &debugContext = {})                        \
  {                                                                                                \
    return map(graph, detail::deviation(way, expr::_1, expr::Const(epsilon), type), {value}, prog, \
               debugContext);                                                                      \
  }                                                                                                \
  inline poplar::Tensor name(poplar::Graph &graph, const poplar::Tensor &value,                    \
                             const poplar::Tensor &epsilon, poplar::program::Sequence &prog,       \
                             const poplar::DebugContext &debugContext,                             \
                             const poplar::OptionFlags &options = {})                              \
  {                                                                                                \
    return map(graph, detail::deviation(way, expr::_1, expr::_2, value.elementType()),             \
               {value, epsilon}, prog, debugContext, options);                                     \
  }                                                                                                \
  template <typename T, typename = typename std::enable_if<std::is_arithmetic<T>::value>::type>    \
  poplar::Tensor name(poplar::Graph &graph, const poplar::Tensor &value, T epsilon,                \
                      poplar::program::Sequence &prog, const poplar::DebugContext &debugContext,   \
                      const poplar::OptionFlags &options = {})                                     \
  {                                                                                                \
    return map(graph, detail::deviation(way, expr::_1, expr::Const(epsilon), value.elementType()), \
               {value}, prog, debugContext, options);                                              \
  }                                                                                                \
  template <typename T, typename = typename std::enable_if<std::is_arithmetic<T>::value>::type>    \
  poplar::Tensor name(poplar::Graph &graph, T value, const poplar::Tensor &epsilon,                \
                      poplar::program::Sequence &prog,                                             \
                      const poplar::DebugContext &debugContext = {},                               \
                      const poplar::OptionFlags &options = {})                                     \
  {                                                                                                \
    return map(graph, detail::deviation(way, expr::Const(value), expr::_1, epsilon.elementType()), \
               {epsilon}, prog, debugContext, options);                                            \
  }                                                                                                \
  inline void name##InPlace(poplar::Graph &graph, const poplar::Tensor &value,                     \
                            const poplar::Tensor &epsilon, poplar::program::Sequence &prog,        \
                            const poplar::DebugContext &debugContext = {},                         \
                            const poplar::OptionFlags &options = {})                               \
  {                                                                                                \
    mapInPlace(graph, detail::deviation(way, expr::_1, expr::_2, value.elementType()),             \
               {value, epsilon}, prog, debugContext, options);                                     \
  }                                                                                                \
  template <typename T, typename = typename std::enable_if<std::is_arithmetic<T>::value>::type>    \
  void name##InPlace(poplar::Graph &graph, const poplar::Tensor &value, T epsilon,                 \
                     poplar::program::Sequence &prog,                                              \
                     const poplar::DebugContext &debugContext = {},                                \
                     const poplar::OptionFlags &options = {})                                      \
  {                                                                                                \
    mapInPlace(graph, detail::deviation(way, expr::_1, expr::Const(epsilon), value.elementType()), \
               {value}, prog, debugContext, options);                                              \
  }                                                                                                \
  inline void name##WithOutput(                                                                    \
      poplar::Graph &graph, const poplar::Tensor &value, const poplar::Tensor &epsilon,            \
      const poplar::Tensor &out, poplar::program::Sequence &prog,                                  \
      const poplar::DebugContext &debugContext = {}, const poplar::OptionFlags &options = {})      \
  {                                                                                                \
    mapWithOutput(graph, detail::deviation(way, expr::_1, expr::_2, out.elementType()),            \
                  {value, epsilon}, out, prog, debugContext, options);                             \
  }                                                                                                \
  template <typename T, typename = typename std::enable_if<std::is_arithmetic<T>::value>::type>    \
  void name##WithOutput(poplar::Graph &graph, const poplar::Tensor &value, T epsilon,              \
                        const poplar::Tensor &out, poplar::program::Sequence &prog,                \
                        const poplar::DebugContext &debugContext = {},                             \
                        const poplar::OptionFlags &options = {})                                   \
  {                                                                                                \
    mapWithOutput(graph,                                                                           \
                  detail::deviation(way, expr::_1, expr::Const(epsilon), out.elementType()),       \
                  {value}, out, prog, debugContext, options);                                      \
  }                                                                                                \
  template <typename T, typename = typename std::enable_if<std::is_arithmetic<T>::value>::type>    \
  void name##WithOutput(poplar::Graph &graph, T value, const poplar::Tensor &epsilon,              \
                        const poplar::Tensor &out, poplar::program::Sequence &prog,                \
                        const poplar::DebugContext &debugContext = {},                             \
                        const poplar::OptionFlags &options = {})                                   \
  {                                                                                                \
    mapWithOutput(graph, detail::deviation(way, expr::Const(value), expr::_1, out.elementType()),  \
                  {epsilon}, out, prog, debugContext, options);                                    \
  }
POPOPS_DEVIATION(varianceToInvStdDev, detail::Deviation::FROM_VARIANCE, poplar::HALF)
POPOPS_DEVIATION(invStdDevToVariance, detail::Deviation::TO_VARIANCE, poplar::FLOAT)
#undef POPOPS_DEVIATION

} // namespace popops

#endif
