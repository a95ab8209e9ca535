// Sets all elements to one value: populus/popops.h.
#ifndef POPOPS_FILL_HPP
#define POPOPS_FILL_HPP

#include <poplar/detail/Library.hpp>
#include <populus/popops.h>

namespace popops
{

template <typename T, typename = typename std::enable_if<std::is_arithmetic<T>::value>::type>
void fill(poplar::Graph &graph, const poplar::Tensor &tensor, poplar::program::Sequence &prog,
          T value, const poplar::DebugContext &debugContext = {})
{
  auto bytes = poplar::detail::toDevice(tensor.elementType().c(), &value, 1);
  poplar::detail::LibraryCall call(graph, prog, debugContext);
  pop_popops_fill(graph.c(), poplar::detail::check(tensor.c()), bytes.data(), call.program(),
                  call.c());
  call.finish();
}

// Adds vertices to a compute set that the program executes: one on `tile`, for all elements or
// for these regions of the flattened tensor; or one on each tile of the mapping.
template <typename T, typename = typename std::enable_if<std::is_arithmetic<T>::value>::type>
void fill(poplar::Graph &graph, const poplar::Tensor &tensor, unsigned tile,
          const poplar::ComputeSet &computeSet, T value)
{
  auto bytes = poplar::detail::toDevice(tensor.elementType().c(), &value, 1);
  pop_popops_fill_in_set(graph.c(), poplar::detail::check(tensor.c()), bytes.data(), tile,
                         computeSet.c());
  poplar::detail::check(graph.c());
}
template <typename T, typename = typename std::enable_if<std::is_arithmetic<T>::value>::type>
void fill(poplar::Graph &graph, const poplar::Tensor &tensor,
          const std::vector<poplar::Interval> &tileRegions, unsigned tile,
          const poplar::ComputeSet &computeSet, T value)
{
  if (tileRegions.empty()) return;
  fill(graph, poplar::concat(tensor.flatten().slices(tileRegions)), tile, computeSet, value);
}
template <typename T, typename = typename std::enable_if<std::is_arithmetic<T>::value>::type>
void fill(poplar::Graph &graph, const poplar::Tensor &tensor,
          const poplar::Graph::TileToTensorMapping &mapping, const poplar::ComputeSet &computeSet,
          T value)
{
  for (unsigned tile = 0; tile < mapping.size(); ++tile)
    fill(graph, tensor, mapping[tile], tile, computeSet, value);
}

} // namespace popops

#endif
