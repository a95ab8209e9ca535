// All elements become zero: populus/popops.h.
#ifndef POPOPS_ZERO_HPP
#define POPOPS_ZERO_HPP

#include <poplar/detail/Library.hpp>
#include <populus/popops.h>

namespace popops
{

inline void zero(poplar::Graph &graph, const poplar::Tensor &tensor,
                 poplar::program::Sequence &prog, const poplar::DebugContext &debugContext = {})
{
  poplar::detail::LibraryCall call(graph, prog, debugContext);
  pop_popops_fill(graph.c(), poplar::detail::check(tensor.c()), nullptr, call.program(), call.c());
  call.finish();
}

} // namespace popops

#endif
