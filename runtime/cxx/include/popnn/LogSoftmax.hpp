// The logarithm of a softmax: populus/popnn.h.
#ifndef POPNN_LOGSOFTMAX_HPP
#define POPNN_LOGSOFTMAX_HPP

#include <poplar/detail/Library.hpp>
#include <populus/popnn.h>

namespace popnn
{

// The logarithm of the softmax along the last dimension: a new variable, or in place.
inline poplar::Tensor logSoftmax(poplar::Graph &graph, const poplar::Tensor &t,
                                 poplar::program::Sequence &prog,
                                 const poplar::DebugContext &debugContext = {})
{
  poplar::detail::LibraryCall call(graph, prog, debugContext);
  return call.finish(
      pop_popnn_log_softmax(graph.c(), poplar::detail::check(t.c()), call.program(), call.c()));
}
inline void logSoftmaxInPlace(poplar::Graph &graph, const poplar::Tensor &t,
                              poplar::program::Sequence &prog,
                              const poplar::DebugContext &debugContext = {})
{
  prog.add(poplar::program::Copy(logSoftmax(graph, t, prog, debugContext), t, false, debugContext));
}

} // namespace popnn

#endif
