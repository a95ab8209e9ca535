// Copies of tensors.
#ifndef POPUTIL_UTIL_HPP
#define POPUTIL_UTIL_HPP

#include <poplar/Graph.hpp>
#include <poplar/Program.hpp>

namespace poputil
{

// A clone that gets what the tensor holds.
inline poplar::Tensor duplicate(
    poplar::Graph &graph, const poplar::Tensor &in, poplar::program::Sequence &prog,
    const poplar::DebugContext &debugContext = {},
    poplar::TensorCloneMethod method = poplar::TensorCloneMethod::PRESERVE_ORDER_UNLESS_ALIASES)
{
  poplar::Tensor out = graph.clone(in, debugContext, method);
  prog.add(poplar::program::Copy(in, out, false, debugContext));
  return out;
}

} // namespace poputil

#endif
