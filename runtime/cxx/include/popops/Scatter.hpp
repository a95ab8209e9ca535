// Scatter: overwrites windows of a tensor, at vectors of indices, with updates, or combines them:
// populus/popops_slice.h.
#ifndef POPOPS_SCATTER_HPP
#define POPOPS_SCATTER_HPP

#include <functional>
#include <popops/Gather.hpp>
#include <popops/Loop.hpp>

namespace popops
{

// Overwrites one window after the other. A window that is not completely inside is ignored.
inline void scatter(poplar::Graph &graph, const poplar::Tensor &operand,
                    const poplar::Tensor &indices, const poplar::Tensor &updates,
                    std::size_t indexVectorDim, std::vector<unsigned> updateWindowDims,
                    std::vector<std::size_t> insertWindowDims,
                    std::vector<unsigned> scatterDimsToOperandDims, poplar::program::Sequence &prog,
                    const poplar::DebugContext &debugContext = {},
                    const poplar::OptionFlags &optionFlags = {})
{
  poplar::detail::refuseOptions("popops::scatter", optionFlags);
  detail::Windows windows(indexVectorDim, scatterDimsToOperandDims, updateWindowDims,
                          insertWindowDims);
  poplar::detail::LibraryCall call(graph, prog, debugContext);
  pop_popops_scatter_windows(graph.c(), POP_UPDATE_SET, poplar::detail::check(operand.c()),
                             poplar::detail::check(indices.c()), poplar::detail::check(updates.c()),
                             windows.how, call.program(), call.c());
  call.finish();
}

// Returns the new contents of a window, from its contents and the update, in this order.
using UpdateComputationFunc = std::function<poplar::Tensor(
    poplar::Graph &, poplar::Tensor &, poplar::Tensor &, poplar::program::Sequence &)>;

namespace detail
{

// The dimensions `first`, then the others in ascending order.
inline std::vector<unsigned> othersBehind(const std::vector<unsigned> &first, std::size_t rank)
{
  std::vector<unsigned> order = first;
  for (unsigned d = 0; d < rank; ++d)
    if (std::find(first.begin(), first.end(), d) == first.end()) order.push_back(d);
  return order;
}
// The indices as [vectors, indices of a vector].
inline poplar::Tensor vectorsOf(const poplar::Tensor &indices, std::size_t indexVectorDim)
{
  if (indexVectorDim > indices.rank())
    throw poplar::tensor_creation_error("popops::scatter: indexVectorDim is " +
                                        std::to_string(indexVectorDim) + ", the indices' rank " +
                                        std::to_string(indices.rank()));
  if (indexVectorDim == indices.rank()) return indices.flatten().expand({1});
  poplar::Tensor last = indices.dimRoll(static_cast<unsigned>(indexVectorDim),
                                        static_cast<unsigned>(indices.rank() - 1));
  std::size_t length = indices.dim(static_cast<unsigned>(indexVectorDim));
  return last.reshape({length ? last.numElements() / length : 0, length});
}
// The updates as [vectors, the shape of a window].
inline poplar::Tensor windowsOf(const poplar::Tensor &updates,
                                const std::vector<unsigned> &windowDims, std::size_t vectors)
{
  for (unsigned d : windowDims)
    if (d >= updates.rank())
      throw poplar::tensor_creation_error("popops::scatter: updateWindowDims has " +
                                          std::to_string(d) + ", the updates' rank is " +
                                          std::to_string(updates.rank()));
  auto order = othersBehind(windowDims, updates.rank());
  std::rotate(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(windowDims.size()),
              order.end());
  std::vector<std::size_t> shape = {vectors};
  for (unsigned d : windowDims) shape.push_back(updates.dim(d));
  return updates.dimShuffle(order).reshape(shape);
}

} // namespace detail

// Combines window by window, in a loop. `updateComputation` is called once, now, for the loop's
// body.
inline void scatter(poplar::Graph &graph, const poplar::Tensor &operand,
                    const poplar::Tensor &indices, const poplar::Tensor &updates,
                    std::size_t indexVectorDim, std::vector<unsigned> updateWindowDims,
                    std::vector<std::size_t> insertWindowDims,
                    std::vector<unsigned> scatterDimsToOperandDims,
                    UpdateComputationFunc &updateComputation, poplar::program::Sequence &prog,
                    const poplar::DebugContext &debugContext = {},
                    const poplar::OptionFlags &optionFlags = {})
{
  poplar::detail::refuseOptions("popops::scatter", optionFlags);
  poplar::Tensor vectors = detail::vectorsOf(indices, indexVectorDim);
  poplar::Tensor windows = detail::windowsOf(updates, updateWindowDims, vectors.dim(0));
  if (vectors.dim(0) == 0) return;
  // The shape of one window. It has no other dimensions, and they are in the operand's order.
  std::vector<std::size_t> sizes(operand.rank(), 1), dims;
  std::size_t next = 1;
  for (std::size_t d = 0; d < operand.rank(); ++d)
    if (std::find(insertWindowDims.begin(), insertWindowDims.end(), d) == insertWindowDims.end()) {
      if (next == windows.rank())
        throw poplar::tensor_creation_error("popops::scatter: updateWindowDims has " +
                                            std::to_string(windows.rank() - 1) +
                                            " dimensions; windows have more");
      dims.push_back(dims.size());
      sizes[d] = windows.dim(static_cast<unsigned>(next++));
    }
  std::vector<unsigned> own(dims.begin(), dims.end());
  prog.add(countedLoop(
      graph, vectors.dim(0),
      [&](const poplar::Tensor &i) {
        poplar::program::Sequence body;
        poplar::Tensor at = dynamicSlice(graph, vectors, i, {0}, {1}, body, debugContext)[0];
        poplar::Tensor by = dynamicSlice(graph, windows, i, {0}, {1}, body, debugContext)[0];
        poplar::Tensor is = gather(graph, operand, at, 0, dims, sizes, insertWindowDims,
                                   scatterDimsToOperandDims, body, debugContext);
        poplar::Tensor becomes = updateComputation(graph, is, by, body);
        scatter(graph, operand, at, becomes, 0, own, insertWindowDims, scatterDimsToOperandDims,
                body, debugContext);
        return body;
      },
      debugContext));
}

} // namespace popops

#endif
