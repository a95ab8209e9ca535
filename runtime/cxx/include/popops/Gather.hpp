// Elements of a tensor at indices: populus/popops_slice.h.
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

// ---- windows at vectors of indices ----

namespace detail
{

// The parameters as pop_windows, which points into this object.
struct Windows {
  std::vector<std::size_t> operandDims, windowDims, droppedDims;
  pop_windows how;

  template <typename A, typename B, typename C>
  Windows(std::size_t vectorDim, const A &operand, const B &window, const C &dropped)
      : operandDims(operand.begin(), operand.end()), windowDims(window.begin(), window.end()),
        droppedDims(dropped.begin(), dropped.end()), how()
  {
    how.vector_dim = vectorDim;
    how.operand_dims = operandDims.data();
    how.num_operand_dims = operandDims.size();
    how.window_dims = windowDims.data();
    how.num_window_dims = windowDims.size();
    how.dropped_dims = droppedDims.data();
    how.num_dropped_dims = droppedDims.size();
  }
  Windows(const Windows &) = delete;
  Windows &operator=(const Windows &) = delete;
};

} // namespace detail

inline poplar::Tensor createGatherInput(poplar::Graph &graph, const poplar::Type &type,
                                        const std::vector<std::size_t> &inputShape,
                                        const std::vector<std::size_t> &sliceSizes,
                                        std::vector<unsigned> startIndexMap,
                                        const poplar::DebugContext &debugContext = {})
{
  if (sliceSizes.size() != inputShape.size())
    throw poplar::tensor_creation_error(
        "popops::createGatherInput: " + std::to_string(sliceSizes.size()) +
        " sizes of slices for " + std::to_string(inputShape.size()) + " dimensions");
  std::vector<std::size_t> dims(startIndexMap.begin(), startIndexMap.end()), ones(dims.size(), 1);
  return createSliceableTensor(graph, type, inputShape, dims, ones, 0, debugContext);
}
// Slices that begin or end outside of the tensor are moved inside.
inline poplar::Tensor gather(
    poplar::Graph &graph, const poplar::Tensor &input, const poplar::Tensor &indices,
    std::size_t indexVectorDim, const std::vector<std::size_t> &offsetDims,
    const std::vector<std::size_t> &sliceSizes, const std::vector<std::size_t> &collapsedSliceDims,
    const std::vector<unsigned> &startIndexMap, poplar::program::Sequence &prog,
    const poplar::DebugContext &debugContext = {}, const poplar::OptionFlags &options = {})
{
  poplar::detail::refuseOptions("popops::gather", options);
  if (sliceSizes.size() != input.rank())
    throw poplar::tensor_creation_error("popops::gather: " + std::to_string(sliceSizes.size()) +
                                        " sizes of slices for a tensor of rank " +
                                        std::to_string(input.rank()));
  detail::Windows windows(indexVectorDim, startIndexMap, offsetDims, collapsedSliceDims);
  poplar::detail::LibraryCall call(graph, prog, debugContext);
  return call.finish(pop_popops_gather_windows(graph.c(), poplar::detail::check(input.c()),
                                               poplar::detail::check(indices.c()), windows.how,
                                               sliceSizes.data(), call.program(), call.c()));
}

} // namespace popops

#endif
