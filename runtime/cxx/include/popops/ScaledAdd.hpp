// Sums of tensors with scales, in place: populus/popops.h.
#ifndef POPOPS_SCALEDADD_HPP
#define POPOPS_SCALEDADD_HPP

#include <popops/Cast.hpp>
#include <popops/ElementWise.hpp>
#include <populus/popops.h>

namespace popops
{

namespace detail
{

// These options have no effect: all is calculated in single precision, in one way, and the
// tolerance does not matter.
inline void checkScaledAddOptions(const char *function, const poplar::OptionFlags &options)
{
  using poplar::detail::OptionValue;
  poplar::detail::checkOptions(function, options,
                               {{"optimizeForSpeed", OptionValue::TRUTH},
                                {"scaleFloatToHalfTolerance", OptionValue::NUMBER}});
}
// Converts what is added to the type of what it is added to.
inline poplar::Tensor ofType(poplar::Graph &graph, const poplar::Tensor &t,
                             const poplar::Type &type, poplar::program::Sequence &prog,
                             const poplar::DebugContext &debugContext)
{
  return t.elementType() == type ? t : cast(graph, t, type, prog, debugContext);
}
inline void scaledAddBy(poplar::Graph &graph, const poplar::Tensor &a, const poplar::Tensor &b,
                        const poplar::Tensor &by, double scale, poplar::program::Sequence &prog,
                        const poplar::DebugContext &debugContext)
{
  const poplar::Tensor added = ofType(graph, b, a.elementType(), prog, debugContext);
  const poplar::Tensor factor = by.elementType() == poplar::FLOAT
                                    ? by
                                    : ofType(graph, by, a.elementType(), prog, debugContext);
  poplar::detail::LibraryCall call(graph, prog, debugContext);
  pop_popops_scaled_add_by(graph.c(), poplar::detail::check(a.c()),
                           poplar::detail::check(added.c()), poplar::detail::check(factor.c()),
                           scale, call.program(), call.c());
  call.finish();
}

} // namespace detail

inline void scaledAddTo(poplar::Graph &graph, const poplar::Tensor &a, const poplar::Tensor &b,
                        float scale, poplar::program::Sequence &prog,
                        const poplar::DebugContext &debugContext = {},
                        const poplar::OptionFlags &options = {})
{
  detail::checkScaledAddOptions("popops::scaledAddTo", options);
  const poplar::Tensor added = detail::ofType(graph, b, a.elementType(), prog, debugContext);
  poplar::detail::LibraryCall call(graph, prog, debugContext);
  pop_popops_scaled_add_to(graph.c(), poplar::detail::check(a.c()),
                           poplar::detail::check(added.c()), static_cast<double>(scale),
                           call.program(), call.c());
  call.finish();
}
// The same with a scale that only the device knows, a tensor of one element.
inline void scaledAddTo(poplar::Graph &graph, const poplar::Tensor &a, const poplar::Tensor &b,
                        const poplar::Tensor &scale, poplar::program::Sequence &prog,
                        const poplar::DebugContext &debugContext = {},
                        const poplar::OptionFlags &options = {})
{
  detail::checkScaledAddOptions("popops::scaledAddTo", options);
  detail::scaledAddBy(graph, a, b, scale, 1, prog, debugContext);
}
inline void scaledSubtractFrom(poplar::Graph &graph, const poplar::Tensor &a,
                               const poplar::Tensor &b, float scale,
                               poplar::program::Sequence &prog,
                               const poplar::DebugContext &debugContext = {},
                               const poplar::OptionFlags &options = {})
{
  detail::checkScaledAddOptions("popops::scaledSubtractFrom", options);
  scaledAddTo(graph, a, b, -scale, prog, debugContext);
}
inline void scaledSubtractFrom(poplar::Graph &graph, const poplar::Tensor &a,
                               const poplar::Tensor &b, const poplar::Tensor &scale,
                               poplar::program::Sequence &prog,
                               const poplar::DebugContext &debugContext = {},
                               const poplar::OptionFlags &options = {})
{
  detail::checkScaledAddOptions("popops::scaledSubtractFrom", options);
  detail::scaledAddBy(graph, a, b, scale, -1, prog, debugContext);
}

// ---- a = scaleA * a + scaleB * b ----

enum class ScaledAddSpecialisation {
  DEFAULT,
  X_MINUS_AX_PLUS_BY // a = a - scaleA * a + scaleB * b
};

namespace detail
{

// An element-wise expression, with a compute set for each operation. Halves are calculated in
// single precision and rounded once. Scales of integers are integers: others are refused.
inline void scaleBoth(poplar::Graph &graph, const expr::Expr &scaleA, const expr::Expr &scaleB,
                      expr::BinaryOpType op, bool fromOne, const std::vector<poplar::Tensor> &ts,
                      poplar::program::Sequence &prog, const poplar::DebugContext &debugContext)
{
  const poplar::Type type = ts[0].elementType();
  const poplar::Type inner = type == poplar::HALF ? poplar::FLOAT : type;
  using expr::BinaryOp;
  using expr::BinaryOpType;
  using expr::Cast;
  const Cast a(expr::_1, inner), b(expr::_2, inner);
  const auto factor = [&](const expr::Expr &scale) {
    return inner == poplar::FLOAT ? expr::Any(Cast(scale, inner)) : expr::Any(scale);
  };
  const BinaryOp scaledA(BinaryOpType::MULTIPLY, a, factor(scaleA));
  const BinaryOp scaledB(BinaryOpType::MULTIPLY, b, factor(scaleB));
  const BinaryOp sum(op, fromOne ? BinaryOp(BinaryOpType::SUBTRACT, a, scaledA) : scaledA, scaledB);
  mapInPlace(graph, Cast(sum, type), ts, prog, debugContext);
}
inline poplar::Tensor scalar(const char *function, const poplar::Tensor &scale)
{
  if (scale.numElements() != 1)
    throw poplar::poplar_error(std::string(function) + ": a scale has one element, not " +
                               std::to_string(scale.numElements()));
  return scale.reshape({});
}

} // namespace detail

inline void scaledAddTo(poplar::Graph &graph, const poplar::Tensor &a, const poplar::Tensor &scaleA,
                        const poplar::Tensor &b, const poplar::Tensor &scaleB,
                        poplar::program::Sequence &prog, ScaledAddSpecialisation speciality,
                        const poplar::DebugContext &debugContext = {},
                        const poplar::OptionFlags &options = {})
{
  detail::checkScaledAddOptions("popops::scaledAddTo", options);
  detail::scaleBoth(graph, expr::_3, expr::_4, expr::BinaryOpType::ADD,
                    speciality == ScaledAddSpecialisation::X_MINUS_AX_PLUS_BY,
                    {a, b, detail::scalar("popops::scaledAddTo", scaleA),
                     detail::scalar("popops::scaledAddTo", scaleB)},
                    prog, debugContext);
}
inline void scaledAddTo(poplar::Graph &graph, const poplar::Tensor &a, const poplar::Tensor &scaleA,
                        const poplar::Tensor &b, const poplar::Tensor &scaleB,
                        poplar::program::Sequence &prog,
                        const poplar::DebugContext &debugContext = {},
                        const poplar::OptionFlags &options = {})
{
  scaledAddTo(graph, a, scaleA, b, scaleB, prog, ScaledAddSpecialisation::DEFAULT, debugContext,
              options);
}
inline void scaledAddTo(poplar::Graph &graph, const poplar::Tensor &a, float scaleA,
                        const poplar::Tensor &b, float scaleB, poplar::program::Sequence &prog,
                        ScaledAddSpecialisation speciality,
                        const poplar::DebugContext &debugContext = {},
                        const poplar::OptionFlags &options = {})
{
  detail::checkScaledAddOptions("popops::scaledAddTo", options);
  detail::scaleBoth(graph, expr::Const(scaleA), expr::Const(scaleB), expr::BinaryOpType::ADD,
                    speciality == ScaledAddSpecialisation::X_MINUS_AX_PLUS_BY, {a, b}, prog,
                    debugContext);
}
inline void scaledAddTo(poplar::Graph &graph, const poplar::Tensor &a, float scaleA,
                        const poplar::Tensor &b, float scaleB, poplar::program::Sequence &prog,
                        const poplar::DebugContext &debugContext = {},
                        const poplar::OptionFlags &options = {})
{
  scaledAddTo(graph, a, scaleA, b, scaleB, prog, ScaledAddSpecialisation::DEFAULT, debugContext,
              options);
}
// a = scaleA * a - scaleB * b
inline void scaledSubtractFrom(poplar::Graph &graph, const poplar::Tensor &a,
                               const poplar::Tensor &scaleA, const poplar::Tensor &b,
                               const poplar::Tensor &scaleB, poplar::program::Sequence &prog,
                               const poplar::DebugContext &debugContext = {},
                               const poplar::OptionFlags &options = {})
{
  const char *const function = "popops::scaledSubtractFrom";
  detail::checkScaledAddOptions(function, options);
  detail::scaleBoth(graph, expr::_3, expr::_4, expr::BinaryOpType::SUBTRACT, false,
                    {a, b, detail::scalar(function, scaleA), detail::scalar(function, scaleB)},
                    prog, debugContext);
}
inline void scaledSubtractFrom(poplar::Graph &graph, const poplar::Tensor &a, float scaleA,
                               const poplar::Tensor &b, float scaleB,
                               poplar::program::Sequence &prog,
                               const poplar::DebugContext &debugContext = {},
                               const poplar::OptionFlags &options = {})
{
  detail::checkScaledAddOptions("popops::scaledSubtractFrom", options);
  detail::scaleBoth(graph, expr::Const(scaleA), expr::Const(scaleB), expr::BinaryOpType::SUBTRACT,
                    false, {a, b}, prog, debugContext);
}

} // namespace popops

#endif
