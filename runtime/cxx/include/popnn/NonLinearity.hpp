// Functions between layers: populus/popnn.h.
#ifndef POPNN_NONLINEARITY_HPP
#define POPNN_NONLINEARITY_HPP

#include <poplar/detail/Library.hpp>
#include <popops/ElementWise.hpp>
#include <populus/popnn.h>

namespace popnn
{

// SOFTMAX and SOFTMAX_STABLE are one: the largest element is always subtracted first.
enum class NonLinearityType { SIGMOID, RELU, TANH, SOFTMAX, SOFTMAX_STABLE };

inline poplar::Tensor nonLinearity(poplar::Graph &graph, NonLinearityType type,
                                   const poplar::Tensor &t, poplar::program::Sequence &prog,
                                   const poplar::DebugContext &debugContext = {})
{
  switch (type) {
  case NonLinearityType::SIGMOID:
    return popops::sigmoid(graph, t, prog, debugContext);
  case NonLinearityType::RELU:
    return popops::relu(graph, t, prog, debugContext);
  case NonLinearityType::TANH:
    return popops::tanh(graph, t, prog, debugContext);
  case NonLinearityType::SOFTMAX:
  case NonLinearityType::SOFTMAX_STABLE:
    break;
  }
  poplar::detail::LibraryCall call(graph, prog, debugContext);
  return call.finish(
      pop_popnn_softmax(graph.c(), poplar::detail::check(t.c()), call.program(), call.c()));
}
inline void nonLinearityInPlace(poplar::Graph &graph, NonLinearityType type,
                                const poplar::Tensor &t, poplar::program::Sequence &prog,
                                const poplar::DebugContext &debugContext = {})
{
  prog.add(poplar::program::Copy(nonLinearity(graph, type, t, prog, debugContext), t, false,
                                 debugContext));
}

} // namespace popnn

#endif
