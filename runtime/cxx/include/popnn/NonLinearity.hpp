// Non-linearities between layers: populus/popnn.h.
#ifndef POPNN_NONLINEARITY_HPP
#define POPNN_NONLINEARITY_HPP

#include <poplar/detail/Library.hpp>
#include <popnn/NonLinearityDef.hpp>
#include <popnn/detail/NonLinearityGradient.hpp>
#include <popops/ElementWise.hpp>
#include <populus/popnn.h>

namespace popnn
{

// The factor of the results of SOFTMAX_SCALED, as in the documented library.
#define SOFTMAX_SCALING (16384.0f)

namespace detail
{

// x (1 + inner) / 2
inline popops::expr::Any half_of_sum(const popops::expr::Any &inner)
{
  namespace pe = popops::expr;
  return pe::Mul(pe::Mul(pe::_1, pe::Const(0.5f)), pe::Add(pe::Const(1.f), inner));
}

inline popops::expr::Any gelu()
{
  namespace pe = popops::expr;
  return half_of_sum(pe::Tanh(
      pe::Mul(pe::Mul(pe::_1, pe::Const(0.7978845608f)),
              pe::Add(pe::Const(1.f), pe::Mul(pe::Const(0.044715f), pe::Square(pe::_1))))));
}

inline popops::expr::Any hard_sigmoid()
{
  namespace pe = popops::expr;
  return pe::Max(pe::Const(0.f), pe::Min(pe::Const(1.f), pe::Add(pe::Mul(pe::_1, pe::Const(0.2f)),
                                                                 pe::Const(0.5f))));
}

inline pop_unary_op oneOperation(NonLinearityType type)
{
  switch (type) {
  case NonLinearityType::SIGMOID:
    return POP_UNARY_SIGMOID;
  case NonLinearityType::RELU:
    return POP_UNARY_RELU;
  case NonLinearityType::TANH:
    return POP_UNARY_TANH;
  case NonLinearityType::GELU_ERF:
    return POP_UNARY_GELU_ERF;
  default:
    throw poplar::poplar_error(
        "popnn::nonLinearityInPlace: this function takes more than one compute set; the form with "
        "a "
        "compute set has SIGMOID, RELU, TANH and GELU_ERF, the one with a Sequence has all");
  }
}

inline poplar::Tensor softmax(poplar::Graph &graph, const poplar::Tensor &t,
                              poplar::program::Sequence &prog,
                              const poplar::DebugContext &debugContext)
{
  poplar::detail::LibraryCall call(graph, prog, debugContext);
  return call.finish(
      pop_popnn_softmax(graph.c(), poplar::detail::check(t.c()), call.program(), call.c()));
}

} // namespace detail

inline poplar::Tensor nonLinearity(poplar::Graph &graph, NonLinearityType type,
                                   const poplar::Tensor &t, poplar::program::Sequence &prog,
                                   const poplar::DebugContext &debugContext = {})
{
  namespace pe = popops::expr;
  switch (type) {
  case NonLinearityType::SIGMOID:
    return popops::sigmoid(graph, t, prog, debugContext);
  case NonLinearityType::HARD_SIGMOID:
    return popops::map(graph, detail::hard_sigmoid(), {t}, prog, debugContext);
  case NonLinearityType::RELU:
    return popops::relu(graph, t, prog, debugContext);
  case NonLinearityType::TANH:
    return popops::tanh(graph, t, prog, debugContext);
  case NonLinearityType::GELU:
    return popops::map(graph, detail::gelu(), {t}, prog, debugContext);
  case NonLinearityType::GELU_ERF:
    return popops::geluErf(graph, t, prog, debugContext);
  case NonLinearityType::SWISH:
    return popops::map(graph, pe::Mul(pe::_1, pe::Sigmoid(pe::_1)), {t}, prog, debugContext);
  case NonLinearityType::SOFTMAX_SCALED:
    return popops::map(graph, pe::Mul(pe::_1, pe::Const(SOFTMAX_SCALING)),
                       {detail::softmax(graph, t, prog, debugContext)}, prog, debugContext);
  case NonLinearityType::SOFTMAX:
  case NonLinearityType::SOFTMAX_STABLE:
    break;
  }
  return detail::softmax(graph, t, prog, debugContext);
}
inline void nonLinearityInPlace(poplar::Graph &graph, NonLinearityType type,
                                const poplar::Tensor &t, poplar::program::Sequence &prog,
                                const poplar::DebugContext &debugContext = {})
{
  prog.add(poplar::program::Copy(nonLinearity(graph, type, t, prog, debugContext), t, false,
                                 debugContext));
}

// As vertices of a compute set. Throws poplar_error for functions that are not one operation.
inline void nonLinearityInPlace(poplar::Graph &graph, NonLinearityType type,
                                const poplar::Tensor &t, poplar::ComputeSet &computeSet,
                                const poplar::DebugContext &debugContext = {})
{
  pop_popops_unary_in_set(graph.c(), detail::oneOperation(type), poplar::detail::check(t.c()),
                          t.c(), computeSet.c(), debugContext.c());
  poplar::detail::check(graph.c());
}
inline void nonLinearityInPlace(poplar::Graph &graph, NonLinearityType type,
                                const poplar::Tensor &t, float &scaling,
                                poplar::ComputeSet &computeSet,
                                const poplar::DebugContext &debugContext = {})
{
  scaling = 1.0f; // for all functions that are one operation
  nonLinearityInPlace(graph, type, t, computeSet, debugContext);
}

// The same. `scaling` becomes the factor in the results: SOFTMAX_SCALING for SOFTMAX_SCALED,
// otherwise 1.
inline poplar::Tensor nonLinearity(poplar::Graph &graph, NonLinearityType type,
                                   const poplar::Tensor &t, float &scaling,
                                   poplar::program::Sequence &prog,
                                   const poplar::DebugContext &debugContext = {})
{
  scaling = type == NonLinearityType::SOFTMAX_SCALED ? SOFTMAX_SCALING : 1.0f;
  return nonLinearity(graph, type, t, prog, debugContext);
}
inline void nonLinearityInPlace(poplar::Graph &graph, NonLinearityType type,
                                const poplar::Tensor &t, float &scaling,
                                poplar::program::Sequence &prog,
                                const poplar::DebugContext &debugContext = {})
{
  scaling = type == NonLinearityType::SOFTMAX_SCALED ? SOFTMAX_SCALING : 1.0f;
  nonLinearityInPlace(graph, type, t, prog, debugContext);
}

// The gradient of the function's input. `act` is the function's output, without a scaling; for
// GELU, GELU_ERF, SWISH and HARD_SIGMOID it is the input, as in the documented library.
// `outGradient` is the gradient of the output, of act's shape.
inline poplar::Tensor nonLinearityInputGradient(poplar::Graph &graph, NonLinearityType type,
                                                const poplar::Tensor &act,
                                                const poplar::Tensor &outGradient,
                                                poplar::program::Sequence &prog,
                                                const poplar::DebugContext &debugContext = {})
{
  if (act.shape() != outGradient.shape())
    throw poplar::tensor_creation_error(
        "popnn::nonLinearityInputGradient: the gradient has the shape " +
        outGradient.shapeToString() + ", the activations have " + act.shapeToString());
  switch (type) {
  case NonLinearityType::SOFTMAX:
  case NonLinearityType::SOFTMAX_STABLE:
  case NonLinearityType::SOFTMAX_SCALED:
    return detail::softmax_gradient(graph, act, outGradient, prog, debugContext);
  default:
    return popops::map(graph, detail::gradient_of(type), {act, outGradient}, prog, debugContext);
  }
}

#define POPNN_NONLINEARITY(NAME, TYPE)                                                             \
  inline poplar::Tensor NAME(poplar::Graph &graph, const poplar::Tensor &t,                        \
                             poplar::program::Sequence &prog,                                      \
                             const poplar::DebugContext &debugContext = {})                        \
  {                                                                                                \
    return nonLinearity(graph, NonLinearityType::TYPE, t, prog, debugContext);                     \
  }                                                                                                \
  inline poplar::Tensor NAME(poplar::Graph &graph, const poplar::Tensor &t, float &scaling,        \
                             poplar::program::Sequence &prog,                                      \
                             const poplar::DebugContext &debugContext = {})                        \
  {                                                                                                \
    return nonLinearity(graph, NonLinearityType::TYPE, t, scaling, prog, debugContext);            \
  }                                                                                                \
  inline void NAME##InPlace(poplar::Graph &graph, const poplar::Tensor &t,                         \
                            poplar::program::Sequence &prog,                                       \
                            const poplar::DebugContext &debugContext = {})                         \
  {                                                                                                \
    nonLinearityInPlace(graph, NonLinearityType::TYPE, t, prog, debugContext);                     \
  }                                                                                                \
  inline void NAME##InPlace(poplar::Graph &graph, const poplar::Tensor &t, float &scaling,         \
                            poplar::program::Sequence &prog,                                       \
                            const poplar::DebugContext &debugContext = {})                         \
  {                                                                                                \
    nonLinearityInPlace(graph, NonLinearityType::TYPE, t, scaling, prog, debugContext);            \
  }

POPNN_NONLINEARITY(sigmoid, SIGMOID)
POPNN_NONLINEARITY(relu, RELU)
POPNN_NONLINEARITY(tanh, TANH)
POPNN_NONLINEARITY(gelu, GELU)
POPNN_NONLINEARITY(geluErf, GELU_ERF)
POPNN_NONLINEARITY(swish, SWISH)
POPNN_NONLINEARITY(softmax, SOFTMAX)
POPNN_NONLINEARITY(softmaxStable, SOFTMAX_STABLE)
POPNN_NONLINEARITY(scaledSoftmaxStable, SOFTMAX_SCALED)

#undef POPNN_NONLINEARITY

} // namespace popnn

#endif
