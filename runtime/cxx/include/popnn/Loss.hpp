// Losses: populus/popnn.h.
#ifndef POPNN_LOSS_HPP
#define POPNN_LOSS_HPP

#include <poplar/detail/Library.hpp>
#include <popops/Cast.hpp>
#include <popops/ElementWise.hpp>
#include <popops/EncodingConstants.hpp>
#include <popops/TopK.hpp>
#include <populus/popnn.h>

namespace popnn
{

enum LossType { SUM_SQUARED_LOSS, CROSS_ENTROPY_LOSS };

namespace detail
{

// The loss in float. Halves are converted before and after it.
inline void lossOfSingles(poplar::Graph &graph, const poplar::Tensor &activations,
                          const poplar::Tensor &expected, const poplar::Tensor &loss,
                          const poplar::Tensor &deltas, const poplar::Tensor &numCorrect,
                          LossType lossType, poplar::program::Sequence &prog,
                          const poplar::DebugContext &debugContext)
{
  poplar::detail::LibraryCall call(graph, prog, debugContext);
  pop_popnn_loss(graph.c(),
                 lossType == CROSS_ENTROPY_LOSS ? POP_LOSS_CROSS_ENTROPY : POP_LOSS_SUM_SQUARED,
                 poplar::detail::check(activations.c()), expected.c(), loss.c(), deltas.c(),
                 numCorrect.c(), call.program(), call.c());
  call.finish();
}

inline poplar::Tensor asSingles(poplar::Graph &graph, const poplar::Tensor &t,
                                poplar::program::Sequence &prog,
                                const poplar::DebugContext &debugContext)
{
  return t.elementType() == poplar::HALF ? popops::cast(graph, t, poplar::FLOAT, prog, debugContext)
                                         : t;
}

// A scale, which is one number.
inline poplar::Tensor scaleOfLoss(poplar::Graph &graph, const char *what,
                                  const poplar::Tensor &scale, poplar::program::Sequence &prog,
                                  const poplar::DebugContext &debugContext)
{
  if (scale.numElements() != 1)
    throw poplar::tensor_creation_error(std::string("popnn::calcLoss: the ") + what +
                                        " has one element, not the shape " + scale.shapeToString());
  return asSingles(graph, scale.reshape({}), prog, debugContext);
}

// Scales may be invalid tensors, which stand for 1.
inline poplar::program::Program loss(poplar::Graph &graph, const poplar::Tensor &outputs,
                                     const poplar::Tensor &expected, const poplar::Tensor &loss,
                                     const poplar::Tensor &deltas,
                                     const poplar::Tensor &deltasScale,
                                     const poplar::Tensor &outputScaling,
                                     const poplar::Tensor &numCorrect, LossType lossType,
                                     const poplar::DebugContext &debugContext)
{
  poplar::program::Sequence prog;
  bool scaled = lossType == CROSS_ENTROPY_LOSS, halves = outputs.elementType() == poplar::HALF;
  poplar::Tensor x = asSingles(graph, outputs, prog, debugContext), l = loss, d = deltas;
  if (scaled && outputScaling.valid())
    x = popops::div(graph, x,
                    scaleOfLoss(graph, "scaling of outputs", outputScaling, prog, debugContext),
                    prog, debugContext);
  if (halves) {
    l = graph.clone(poplar::FLOAT, loss, debugContext);
    d = graph.clone(poplar::FLOAT, deltas, debugContext);
  }
  lossOfSingles(graph, x, expected, l, d, numCorrect, lossType, prog, debugContext);
  if (scaled && deltasScale.valid())
    popops::mulInPlace(graph, d,
                       scaleOfLoss(graph, "scale of deltas", deltasScale, prog, debugContext), prog,
                       debugContext);
  if (halves) {
    popops::castWithOutput(graph, l, loss, prog, debugContext);
    popops::castWithOutput(graph, d, deltas, prog, debugContext);
  }
  return poplar::program::Program(std::move(prog));
}

} // namespace detail

// A program that calculates the loss of each row of outputs and its gradient, and adds the number
// of correct rows to numCorrect. Outputs are float or half. A row whose expected label is
// MASKED_LABEL_CODE (popops/EncodingConstants.hpp) has loss and gradient 0, and is never correct.
// For cross entropy only, outputs are divided by modelOutputScaling first (SOFTMAX_SCALED has one),
// and deltas are multiplied by deltasScale; both are tensors of one element.
inline poplar::program::Program calcLoss(poplar::Graph &graph, const poplar::Tensor &modelOutputs,
                                         const poplar::Tensor &expected, const poplar::Tensor &loss,
                                         const poplar::Tensor &deltas,
                                         const poplar::Tensor &deltasScale,
                                         const poplar::Tensor &modelOutputScaling,
                                         const poplar::Tensor &numCorrect, LossType lossType,
                                         const poplar::DebugContext &debugContext = {})
{
  return detail::loss(graph, modelOutputs, expected, loss, deltas, deltasScale, modelOutputScaling,
                      numCorrect, lossType, debugContext);
}
inline poplar::program::Program calcLoss(poplar::Graph &graph, const poplar::Tensor &modelOutputs,
                                         const poplar::Tensor &expected, const poplar::Tensor &loss,
                                         const poplar::Tensor &deltas,
                                         const poplar::Tensor &deltasScale,
                                         const poplar::Tensor &modelOutputScaling,
                                         LossType lossType,
                                         const poplar::DebugContext &debugContext = {})
{
  return detail::loss(graph, modelOutputs, expected, loss, deltas, deltasScale, modelOutputScaling,
                      {}, lossType, debugContext);
}
inline poplar::program::Program calcLoss(poplar::Graph &graph, const poplar::Tensor &modelOutputs,
                                         const poplar::Tensor &expected, const poplar::Tensor &loss,
                                         const poplar::Tensor &deltas,
                                         const poplar::Tensor &numCorrect, LossType lossType,
                                         const poplar::DebugContext &debugContext = {})
{
  return detail::loss(graph, modelOutputs, expected, loss, deltas, {}, {}, numCorrect, lossType,
                      debugContext);
}
inline poplar::program::Program calcLoss(poplar::Graph &graph, const poplar::Tensor &modelOutputs,
                                         const poplar::Tensor &expected, const poplar::Tensor &loss,
                                         const poplar::Tensor &deltas, LossType lossType,
                                         const poplar::DebugContext &debugContext = {})
{
  return detail::loss(graph, modelOutputs, expected, loss, deltas, {}, {}, {}, lossType,
                      debugContext);
}

// A program that adds to numCorrect the number of rows of outputs whose largest element is at
// their label.
inline poplar::program::Program calcAccuracy(poplar::Graph &graph,
                                             const poplar::Tensor &modelOutputs,
                                             const poplar::Tensor &expected,
                                             const poplar::Tensor &numCorrect,
                                             const poplar::DebugContext &debugContext = {})
{
  poplar::program::Sequence prog;
  poplar::Tensor x = detail::asSingles(graph, modelOutputs, prog, debugContext);
  poplar::detail::LibraryCall call(graph, prog, debugContext);
  pop_popnn_accuracy(graph.c(), poplar::detail::check(x.c()), expected.c(), numCorrect.c(),
                     call.program(), call.c());
  call.finish();
  return poplar::program::Program(std::move(prog));
}

// The K largest elements of each row; `indices` becomes their columns. They are in descending
// order, whether or not `sort` asks for it.
inline poplar::Tensor topK(poplar::Graph &graph, const poplar::Tensor &input,
                           poplar::Tensor &indices, unsigned K, bool sort,
                           poplar::program::Sequence &prog,
                           const poplar::DebugContext &debugContext = {})
{
  auto order = sort ? popops::SortOrder::DESCENDING : popops::SortOrder::NONE;
  auto found = popops::topKWithPermutation(graph, prog, input, popops::TopKParams(K, true, order),
                                           debugContext);
  indices = found.second;
  return found.first;
}

// Argmax or argmin: for each row of a tensor [rows, columns], the column of the largest or
// smallest element; of equal ones the first.
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
// The elements and their columns.
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
