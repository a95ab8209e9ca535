// Elements of a dimension by number: populus/popops_slice.h.
#ifndef POPOPS_GATHER_HPP
#define POPOPS_GATHER_HPP

#include <popops/DynamicSlice.hpp>

namespace popops
{

struct GatherParams {
  std::size_t maxElementsPerTile = 65535; // has no effect: work is done where the tensor lies

  GatherParams() = default;
  GatherParams(std::size_t elements) : maxElementsPerTile(elements) {}
};

inline poplar::Tensor createGatherInput(poplar::Graph &graph, const poplar::Type &type,
                                        const std::vector<std::size_t> &shape, unsigned axis,
                                        GatherParams = {},
                                        const poplar::DebugContext &debugContext = {})
{
  return createSliceableTensor(graph, type, shape, {axis}, {1}, 0, debugContext);
}
inline poplar::Tensor gather(poplar::Graph &graph, const poplar::Tensor &input,
                             const poplar::Tensor &indices, unsigned axis,
                             poplar::program::Sequence &prog, GatherParams = {},
                             const poplar::DebugContext &debugContext = {},
                             const poplar::OptionFlags &options = {})
{
  poplar::detail::refuseOptions("popops::gather", options);
  poplar::detail::LibraryCall call(graph, prog, debugContext);
  return call.finish(pop_popops_gather(graph.c(), poplar::detail::check(input.c()),
                                       poplar::detail::check(indices.c()), axis, call.program(),
                                       call.c()));
}

} // namespace popops

#endif
