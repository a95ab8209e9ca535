// Losses: populus/popnn.h.
#ifndef POPNN_LOSS_HPP
#define POPNN_LOSS_HPP

#include <poplar/detail/Library.hpp>
#include <populus/popnn.h>

namespace popnn
{

enum LossType { SUM_SQUARED_LOSS, CROSS_ENTROPY_LOSS };

// A program that calculates the loss of each row of activations and its gradient, and adds the correct ones to
// numCorrect.
inline poplar::program::Program calcLoss(poplar::Graph &graph, const poplar::Tensor &activations,
                                         const poplar::Tensor &expected, const poplar::Tensor &loss,
                                         const poplar::Tensor &deltas,
                                         const poplar::Tensor &numCorrect, LossType lossType,
                                         const poplar::DebugContext &debugContext = {})
{
  poplar::program::Sequence prog;
  poplar::detail::LibraryCall call(graph, prog, debugContext);
  pop_popnn_loss(graph.c(),
                 lossType == CROSS_ENTROPY_LOSS ? POP_LOSS_CROSS_ENTROPY : POP_LOSS_SUM_SQUARED,
                 poplar::detail::check(activations.c()), expected.c(), loss.c(), deltas.c(),
                 numCorrect.c(), call.program(), call.c());
  call.finish();
  return poplar::program::Program(std::move(prog));
}
inline poplar::program::Program calcLoss(poplar::Graph &graph, const poplar::Tensor &activations,
                                         const poplar::Tensor &expected, const poplar::Tensor &loss,
                                         const poplar::Tensor &deltas, LossType lossType,
                                         const poplar::DebugContext &debugContext = {})
{
  return calcLoss(graph, activations, expected, loss, deltas, poplar::Tensor(), lossType,
                  debugContext);
}

// Of each row of a tensor [rows, columns]: the column of the largest or smallest element, of equal ones the first.
inline poplar::Tensor argMax(poplar::Graph &graph, const poplar::Tensor &input,
                             poplar::program::Sequence &prog,
                             const poplar::DebugContext &debugContext = {})
{
  poplar::detail::LibraryCall call(graph, prog, debugContext);
  return call.finish(pop_popnn_arg_extreme(graph.c(), poplar::detail::check(input.c()), true,
                                           nullptr, call.program(), call.c()));
}
inline poplar::Tensor argMin(poplar::Graph &graph, const poplar::Tensor &input,
                             poplar::program::Sequence &prog,
                             const poplar::DebugContext &debugContext = {})
{
  poplar::detail::LibraryCall call(graph, prog, debugContext);
  return call.finish(pop_popnn_arg_extreme(graph.c(), poplar::detail::check(input.c()), false,
                                           nullptr, call.program(), call.c()));
}
namespace detail
{
// First the elements, then their columns.
inline std::pair<poplar::Tensor, poplar::Tensor> extremeAndArg(
    poplar::Graph &graph, const poplar::Tensor &input, bool largest,
    poplar::program::Sequence &prog, const poplar::DebugContext &debugContext)
{
  poplar::detail::LibraryCall call(graph, prog, debugContext);
  pop_tensor extreme = {};
  poplar::Tensor columns = call.finish(pop_popnn_arg_extreme(
      graph.c(), poplar::detail::check(input.c()), largest, &extreme, call.program(), call.c()));
  return {poplar::Tensor(extreme), columns};
}
} // namespace detail
inline std::pair<poplar::Tensor, poplar::Tensor> maxAndArgMax(
    poplar::Graph &graph, const poplar::Tensor &input, poplar::program::Sequence &prog,
    const poplar::DebugContext &debugContext = {})
{
  return detail::extremeAndArg(graph, input, true, prog, debugContext);
}
inline std::pair<poplar::Tensor, poplar::Tensor> minAndArgMin(
    poplar::Graph &graph, const poplar::Tensor &input, poplar::program::Sequence &prog,
    const poplar::DebugContext &debugContext = {})
{
  return detail::extremeAndArg(graph, input, false, prog, debugContext);
}

} // namespace popnn

#endif
