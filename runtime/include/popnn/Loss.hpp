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

} // namespace popnn

#endif
