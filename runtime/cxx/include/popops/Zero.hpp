// Sets all elements to zero: populus/popops.h.
#ifndef POPOPS_ZERO_HPP
#define POPOPS_ZERO_HPP

#include <popops/Fill.hpp>

namespace popops
{

inline void zero(poplar::Graph &graph, const poplar::Tensor &tensor,
                 poplar::program::Sequence &prog, const poplar::DebugContext &debugContext = {})
{
  poplar::detail::LibraryCall call(graph, prog, debugContext);
  pop_popops_fill(graph.c(), poplar::detail::check(tensor.c()), nullptr, call.program(), call.c());
  call.finish();
}

// The same with compute sets, as fill() has them.
inline void zero(poplar::Graph &graph, const poplar::Tensor &tensor, unsigned tile,
                 const poplar::ComputeSet &computeSet)
{
  fill(graph, tensor, tile, computeSet, 0);
}
inline void zero(poplar::Graph &graph, const poplar::Tensor &tensor,
                 const std::vector<poplar::Interval> &tileRegions, unsigned tile,
                 const poplar::ComputeSet &computeSet)
{
  fill(graph, tensor, tileRegions, tile, computeSet, 0);
}
inline void zero(poplar::Graph &graph, const poplar::Tensor &tensor,
                 const poplar::Graph::TileToTensorMapping &mapping,
                 const poplar::ComputeSet &computeSet)
{
  fill(graph, tensor, mapping, computeSet, 0);
}

} // namespace popops

#endif
