// Slices and updates of tensors at offsets that only the device knows: populus/popops_slice.h.
#ifndef POPOPS_DYNAMICSLICE_HPP
#define POPOPS_DYNAMICSLICE_HPP

#include <popops/detail/SliceOptions.hpp>
#include <populus/popops_slice.h>
#include <poputil/Util.hpp>

namespace popops
{

// An empty class: there is nothing to plan, since work is done where the tensor lies.
class SlicePlan
{
public:
  friend std::ostream &operator<<(std::ostream &os, const SlicePlan &) { return os << "SlicePlan"; }
  friend bool operator<(const SlicePlan &, const SlicePlan &) { return false; }
  friend bool operator==(const SlicePlan &, const SlicePlan &) { return true; }
  friend bool operator!=(const SlicePlan &, const SlicePlan &) { return false; }
};

namespace embedding
{

inline SlicePlan plan(const poplar::Graph &, const poplar::Type &type, std::size_t, std::size_t,
                      const std::vector<std::size_t> &, const poplar::OptionFlags &options)
{
  popops::detail::checkSliceOptions("popops::embedding::plan", type, options);
  return {};
}
inline SlicePlan plan(const poplar::Graph &graph, const poplar::Type &type, std::size_t,
                      std::size_t numEntries, std::size_t outputSize,
                      const std::vector<std::size_t> &numLookups,
                      const poplar::OptionFlags &options)
{
  return plan(graph, type, numEntries, outputSize, numLookups, options);
}

// Arguments of plan().
struct SlicePlanningParameters {
  const poplar::Graph &graph;
  const poplar::Type dataType;
  const std::size_t groupSize = 1;
  const std::size_t numEntries;
  const std::size_t outputSize;
  const std::vector<std::size_t> numLookups;
  const poplar::OptionFlags optionFlags;

  SlicePlanningParameters(const poplar::Graph &ofGraph, const poplar::Type &type,
                          std::size_t groups, std::size_t entries, std::size_t output,
                          const std::vector<std::size_t> &lookups,
                          const poplar::OptionFlags &options)
      : graph(ofGraph), dataType(type), groupSize(groups), numEntries(entries), outputSize(output),
        numLookups(lookups), optionFlags(options)
  {
  }
  SlicePlanningParameters(const poplar::Graph &ofGraph, const poplar::Type &type,
                          std::size_t entries, std::size_t output,
                          const std::vector<std::size_t> &lookups,
                          const poplar::OptionFlags &options)
      : SlicePlanningParameters(ofGraph, type, 1, entries, output, lookups, options)
  {
  }
};
inline std::vector<SlicePlan> planMultiple(const std::vector<SlicePlanningParameters> &all)
{
  std::vector<SlicePlan> plans;
  for (const SlicePlanningParameters &p : all)
    plans.push_back(plan(p.graph, p.dataType, p.groupSize, p.numEntries, p.outputSize, p.numLookups,
                         p.optionFlags));
  return plans;
}

} // namespace embedding

namespace detail
{

inline void checkSizes(const char *function, const std::vector<std::size_t> &dims,
                       const std::vector<std::size_t> &sizes)
{
  if (dims.size() != sizes.size())
    throw poplar::tensor_creation_error(std::string(function) + ": " + std::to_string(dims.size()) +
                                        " dimensions and " + std::to_string(sizes.size()) +
                                        " sizes; as many are needed");
}
inline void checkOne(const char *function, const std::vector<std::size_t> &dims,
                     const std::vector<std::size_t> &sizes)
{
  checkSizes(function, dims, sizes);
  if (dims.size() != 1)
    throw poplar::tensor_creation_error(std::string(function) +
                                        ": many slices are of one dimension, not of " +
                                        std::to_string(dims.size()));
}
// Offsets are [n] or [n, 1], behind the dimension of the groups if there is one. Those of other
// shapes, such as [n, 2] for two dimensions, would be taken for more slices.
inline void checkOffsets(const char *function, std::size_t groups, const poplar::Tensor &offsets)
{
  const std::size_t rank = offsets.rank();
  if (rank > groups + 2 || (rank == groups + 2 && offsets.shape().back() != 1))
    throw poplar::tensor_creation_error(std::string(function) + ": offsets of shape " +
                                        offsets.shapeToString() +
                                        "; one for each slice is needed, in one column");
}
inline poplar::Tensor constantOffsets(poplar::Graph &graph, poplar::ArrayRef<unsigned> offsets)
{
  poplar::Tensor t = graph.addConstant(poplar::UNSIGNED_INT, {offsets.size()}, offsets, "offsets");
  graph.setTileMapping(t, 0);
  return t;
}
inline std::size_t rowsOf(const poplar::Tensor &t, std::size_t dim)
{
  return dim < t.rank() ? t.shape()[dim] : 0; // the call that follows reports the error
}
// `groups` is 1 if the first dimension of the tensors is the groups, otherwise 0. `dims` do not
// count that dimension.
inline poplar::Tensor multiSlice(poplar::Graph &graph, std::size_t groups, const poplar::Tensor &t,
                                 const poplar::Tensor &offsets,
                                 const std::vector<std::size_t> &dims,
                                 const std::vector<std::size_t> &sizes,
                                 poplar::program::Sequence &prog,
                                 const poplar::OptionFlags &options,
                                 const poplar::DebugContext &debugContext)
{
  checkOne("popops::multiSlice", dims, sizes);
  checkOffsets("popops::multiSlice", groups, offsets);
  checkSliceOptions("popops::multiSlice", t.elementType(), options);
  poplar::Tensor at =
      remapped(graph, offsets, rowsOf(t, dims[0] + groups), prog, debugContext, options);
  poplar::detail::LibraryCall call(graph, prog, debugContext);
  const pop_tensor of = poplar::detail::check(t.c());
  return call.finish(groups ? pop_popops_grouped_multi_slice(graph.c(), of, at.c(), dims[0],
                                                             sizes[0], call.program(), call.c())
                            : pop_popops_multi_slice(graph.c(), of, poplar::detail::check(at.c()),
                                                     dims[0], sizes[0], poplar::Tensor().c(),
                                                     call.program(), call.c()));
}
inline void multiUpdate(poplar::Graph &graph, std::size_t groups, pop_update_op op,
                        const poplar::Tensor &t, const poplar::Tensor &s,
                        const poplar::Tensor &offsets, const poplar::Tensor &scale,
                        const std::vector<std::size_t> &dims, const std::vector<std::size_t> &sizes,
                        poplar::program::Sequence &prog, const poplar::OptionFlags &options,
                        const poplar::DebugContext &debugContext)
{
  checkOne("popops::multiUpdate", dims, sizes);
  checkOffsets("popops::multiUpdate", groups, offsets);
  checkSliceOptions("popops::multiUpdate", t.elementType(), options);
  poplar::Tensor at =
      remapped(graph, offsets, rowsOf(t, dims[0] + groups), prog, debugContext, options);
  poplar::detail::LibraryCall call(graph, prog, debugContext);
  auto update = groups ? pop_popops_grouped_multi_update : pop_popops_multi_update;
  update(graph.c(), op, poplar::detail::check(t.c()), poplar::detail::check(s.c()),
         poplar::detail::check(at.c()), dims[0], sizes[0], scale.c(), call.program(), call.c());
  call.finish();
}

} // namespace detail

// ---- tensors for slices ----

inline poplar::Tensor createSliceableTensor(poplar::Graph &graph, const poplar::Type &type,
                                            const std::vector<std::size_t> &shape,
                                            const std::vector<std::size_t> &dims,
                                            const std::vector<std::size_t> &sizes,
                                            std::size_t /*minGrainSize*/ = 0,
                                            const poplar::DebugContext &debugContext = {})
{
  detail::checkSizes("popops::createSliceableTensor", dims, sizes);
  poplar::Tensor t(pop_popops_create_sliceable(graph.c(), type.c(), shape.data(), shape.size(),
                                               dims.data(), dims.size(), debugContext.c()));
  poplar::detail::check(graph.c());
  return t;
}
inline poplar::Tensor createSliceableTensor(poplar::Graph &graph, const poplar::Type &type,
                                            const std::vector<std::size_t> &shape,
                                            const std::vector<std::size_t> &dims,
                                            const std::vector<std::size_t> &sizes,
                                            const SlicePlan &, const poplar::OptionFlags &options,
                                            const poplar::DebugContext &debugContext = {})
{
  detail::checkSliceOptions("popops::createSliceableTensor", type, options);
  return createSliceableTensor(graph, type, shape, dims, sizes, 0, debugContext);
}
// [numIndices, the shape of a slice]
inline poplar::Tensor createSliceTensor(poplar::Graph &graph, const poplar::Type &type,
                                        const std::vector<std::size_t> &shape,
                                        const std::vector<std::size_t> &dims,
                                        const std::vector<std::size_t> &sizes,
                                        std::size_t numIndices, const SlicePlan &,
                                        const poplar::OptionFlags &options,
                                        const poplar::DebugContext &debugContext = {})
{
  detail::checkSizes("popops::createSliceTensor", dims, sizes);
  detail::checkSliceOptions("popops::createSliceTensor", type, options);
  std::vector<std::size_t> all = {numIndices}, first = {0};
  all.insert(all.end(), shape.begin(), shape.end());
  for (std::size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] >= shape.size())
      throw poplar::index_error("popops::createSliceTensor: dimension " + std::to_string(dims[i]) +
                                " of a tensor of rank " + std::to_string(shape.size()));
    all[dims[i] + 1] = sizes[i];
    first.push_back(dims[i] + 1);
  }
  return createSliceableTensor(graph, type, all, first, std::vector<std::size_t>(first.size(), 1),
                               0, debugContext);
}
inline poplar::Tensor createSliceTensor(poplar::Graph &graph, const poplar::Tensor &t,
                                        const std::vector<std::size_t> &dims,
                                        const std::vector<std::size_t> &sizes,
                                        std::size_t numIndices,
                                        const poplar::DebugContext &debugContext = {})
{
  return createSliceTensor(graph, t.elementType(), t.shape(), dims, sizes, numIndices, {}, {},
                           debugContext);
}
inline poplar::Tensor createIndicesTensor(poplar::Graph &graph,
                                          const std::vector<std::size_t> &dims,
                                          std::size_t numIndices, const SlicePlan &,
                                          const poplar::OptionFlags &options,
                                          const poplar::DebugContext &debugContext = {})
{
  detail::checkSliceOptions("popops::createIndicesTensor", options);
  return graph.addVariable(poplar::UNSIGNED_INT, {numIndices, dims.size()},
                           poplar::VariableMappingMethod::LINEAR, debugContext);
}

namespace detail
{

inline poplar::Tensor firstSlice(const poplar::Tensor &t, const std::vector<std::size_t> &dims,
                                 const std::vector<std::size_t> &sizes)
{
  poplar::Tensor slice = t;
  for (std::size_t i = 0; i < dims.size(); ++i)
    slice = slice.slice(0, sizes[i], static_cast<unsigned>(dims[i]));
  return slice;
}

} // namespace detail

// The tile mapping of the first slice of these sizes.
inline poplar::Graph::TileToTensorMapping getSliceMapping(poplar::Graph &graph,
                                                          const poplar::Tensor &t,
                                                          const std::vector<std::size_t> &dims,
                                                          const std::vector<std::size_t> &sizes)
{
  detail::checkSizes("popops::getSliceMapping", dims, sizes);
  return graph.getTileMapping(detail::firstSlice(t, dims, sizes));
}
// The output for dynamicSliceWithOutput, mapped like the first slice. `offset` has a number for
// each of `dims`.
inline poplar::Tensor createDynamicSliceOutput(poplar::Graph &graph, const poplar::Tensor &t,
                                               const poplar::Tensor &offset,
                                               const std::vector<std::size_t> &dims,
                                               const std::vector<std::size_t> &sizes,
                                               const poplar::DebugContext &debugContext = {},
                                               const poplar::OptionFlags &options = {})
{
  poplar::detail::refuseOptions("popops::createDynamicSliceOutput", options);
  detail::checkSizes("popops::createDynamicSliceOutput", dims, sizes);
  if (offset.numElements() != dims.size())
    throw poplar::tensor_creation_error(
        "popops::createDynamicSliceOutput: " + std::to_string(offset.numElements()) +
        " offsets for " + std::to_string(dims.size()) + " dimensions");
  return graph.clone(detail::firstSlice(t, dims, sizes), debugContext);
}

// A tensor of which `s` is a slice: along each of `dims`, as many slices as numSlices says, each
// mapped like `s`.
inline poplar::Tensor createSliceableTensorFromSlice(poplar::Graph &graph, const poplar::Tensor &s,
                                                     const std::vector<std::size_t> &dims,
                                                     const std::vector<std::size_t> &numSlices,
                                                     const poplar::DebugContext &debugContext = {})
{
  detail::checkSizes("popops::createSliceableTensorFromSlice", dims, numSlices);
  std::size_t all = 1;
  for (std::size_t count : numSlices) all *= count;
  poplar::Tensor t = poputil::cloneN(graph, s, static_cast<unsigned>(all), debugContext);
  t = t.reshapePartial(0, 1, numSlices);
  for (std::size_t i = dims.size();
       i-- > 0;) { // numbers of slices go to the dimensions they are of
    unsigned at = static_cast<unsigned>(i + dims[i]);
    t = t.dimRoll(static_cast<unsigned>(i), at).flatten(at, at + 2);
  }
  return t;
}
// ---- one slice ----

inline poplar::Tensor dynamicSlice(poplar::Graph &graph, const poplar::Tensor &t,
                                   const poplar::Tensor &offset,
                                   const std::vector<std::size_t> &dims,
                                   const std::vector<std::size_t> &sizes,
                                   poplar::program::Sequence &prog,
                                   const poplar::DebugContext &debugContext = {},
                                   const poplar::OptionFlags &options = {})
{
  poplar::detail::refuseOptions("popops::dynamicSlice", options);
  detail::checkSizes("popops::dynamicSlice", dims, sizes);
  poplar::detail::LibraryCall call(graph, prog, debugContext);
  return call.finish(pop_popops_dynamic_slice(
      graph.c(), poplar::detail::check(t.c()), poplar::detail::check(offset.c()), dims.data(),
      sizes.data(), dims.size(), poplar::Tensor().c(), call.program(), call.c()));
}
inline void dynamicSliceWithOutput(poplar::Graph &graph, const poplar::Tensor &output,
                                   const poplar::Tensor &t, const poplar::Tensor &offset,
                                   const std::vector<std::size_t> &dims,
                                   const std::vector<std::size_t> &sizes,
                                   poplar::program::Sequence &prog,
                                   const poplar::DebugContext &debugContext = {},
                                   const poplar::OptionFlags &options = {})
{
  poplar::detail::refuseOptions("popops::dynamicSliceWithOutput", options);
  detail::checkSizes("popops::dynamicSliceWithOutput", dims, sizes);
  poplar::detail::LibraryCall call(graph, prog, debugContext);
  pop_popops_dynamic_slice(
      graph.c(), poplar::detail::check(t.c()), poplar::detail::check(offset.c()), dims.data(),
      sizes.data(), dims.size(), poplar::detail::check(output.c()), call.program(), call.c());
  call.finish();
}
inline void dynamicUpdate(poplar::Graph &graph, const poplar::Tensor &t, const poplar::Tensor &s,
                          const poplar::Tensor &offset, const std::vector<std::size_t> &dims,
                          const std::vector<std::size_t> &sizes, poplar::program::Sequence &prog,
                          const poplar::DebugContext &debugContext = {},
                          const poplar::OptionFlags &options = {})
{
  poplar::detail::refuseOptions("popops::dynamicUpdate", options);
  detail::checkSizes("popops::dynamicUpdate", dims, sizes);
  poplar::detail::LibraryCall call(graph, prog, debugContext);
  pop_popops_dynamic_update(graph.c(), poplar::detail::check(t.c()), poplar::detail::check(s.c()),
                            poplar::detail::check(offset.c()), dims.data(), sizes.data(),
                            dims.size(), call.program(), call.c());
  call.finish();
}

// ---- the same for groups: they are the first dimension, which `dims` do not count ----

inline poplar::Tensor createGroupedSliceableTensor(
    poplar::Graph &graph, const poplar::Type &type, std::size_t groupSize,
    const std::vector<std::size_t> &shape, const std::vector<std::size_t> &dims,
    const std::vector<std::size_t> &sizes, const SlicePlan &, const poplar::OptionFlags &options,
    const poplar::DebugContext &debugContext = {})
{
  detail::checkSizes("popops::createGroupedSliceableTensor", dims, sizes);
  detail::checkSliceOptions("popops::createGroupedSliceableTensor", type, options);
  std::vector<std::size_t> all = {groupSize}, sliced;
  all.insert(all.end(), shape.begin(), shape.end());
  for (std::size_t d : dims) sliced.push_back(d + 1);
  return createSliceableTensor(graph, type, all, sliced, sizes, 0, debugContext);
}
// [groupSize, numIndices, the shape of a slice]
inline poplar::Tensor createGroupedSliceTensor(
    poplar::Graph &graph, const poplar::Type &type, std::size_t groupSize,
    const std::vector<std::size_t> &shape, const std::vector<std::size_t> &dims,
    const std::vector<std::size_t> &sizes, std::size_t numIndices, const SlicePlan &plan,
    const poplar::OptionFlags &options, const poplar::DebugContext &debugContext = {})
{
  std::vector<poplar::Tensor> groups;
  for (std::size_t i = 0; i < groupSize; ++i)
    groups.push_back(
        createSliceTensor(graph, type, shape, dims, sizes, numIndices, plan, options, debugContext)
            .expand({0}));
  return poplar::concat(groups);
}
inline poplar::Tensor createGroupedIndicesTensor(poplar::Graph &graph, std::size_t groupSize,
                                                 const std::vector<std::size_t> &dims,
                                                 std::size_t numIndices, const SlicePlan &,
                                                 const poplar::OptionFlags &options,
                                                 const poplar::DebugContext &debugContext = {})
{
  detail::checkSliceOptions("popops::createGroupedIndicesTensor", options);
  return graph.addVariable(poplar::UNSIGNED_INT, {groupSize, numIndices, dims.size()},
                           poplar::VariableMappingMethod::LINEAR, debugContext);
}
inline poplar::Tensor groupedMultiSlice(poplar::Graph &graph, const poplar::Tensor &t,
                                        const poplar::Tensor &offsets,
                                        const std::vector<std::size_t> &dims,
                                        const std::vector<std::size_t> &sizes,
                                        poplar::program::Sequence &prog, const SlicePlan &,
                                        const poplar::OptionFlags &options,
                                        const poplar::DebugContext &debugContext = {})
{
  return detail::multiSlice(graph, 1, t, offsets, dims, sizes, prog, options, debugContext);
}
inline void groupedMultiUpdate(poplar::Graph &graph, const poplar::Tensor &t,
                               const poplar::Tensor &s, const poplar::Tensor &offsets,
                               const std::vector<std::size_t> &dims,
                               const std::vector<std::size_t> &sizes,
                               poplar::program::Sequence &prog, const SlicePlan &,
                               const poplar::OptionFlags &options,
                               const poplar::DebugContext &debugContext = {})
{
  detail::multiUpdate(graph, 1, POP_UPDATE_SET, t, s, offsets, {}, dims, sizes, prog, options,
                      debugContext);
}
inline void groupedMultiUpdateAdd(poplar::Graph &graph, const poplar::Tensor &t,
                                  const poplar::Tensor &s, const poplar::Tensor &offsets,
                                  const poplar::Tensor &scale, const std::vector<std::size_t> &dims,
                                  const std::vector<std::size_t> &sizes,
                                  poplar::program::Sequence &prog, const SlicePlan &,
                                  const poplar::OptionFlags &options,
                                  const poplar::DebugContext &debugContext = {})
{
  detail::multiUpdate(graph, 1, POP_UPDATE_ADD, t, s, offsets, scale, dims, sizes, prog, options,
                      debugContext);
}
inline void groupedMultiUpdateMax(poplar::Graph &graph, const poplar::Tensor &t,
                                  const poplar::Tensor &s, const poplar::Tensor &offsets,
                                  const std::vector<std::size_t> &dims,
                                  const std::vector<std::size_t> &sizes,
                                  poplar::program::Sequence &prog, const SlicePlan &,
                                  const poplar::OptionFlags &options,
                                  const poplar::DebugContext &debugContext = {})
{
  detail::multiUpdate(graph, 1, POP_UPDATE_MAX, t, s, offsets, {}, dims, sizes, prog, options,
                      debugContext);
}
inline void groupedMultiUpdateMul(poplar::Graph &graph, const poplar::Tensor &t,
                                  const poplar::Tensor &s, const poplar::Tensor &offsets,
                                  const std::vector<std::size_t> &dims,
                                  const std::vector<std::size_t> &sizes,
                                  poplar::program::Sequence &prog, const SlicePlan &,
                                  const poplar::OptionFlags &options,
                                  const poplar::DebugContext &debugContext = {})
{
  detail::multiUpdate(graph, 1, POP_UPDATE_MUL, t, s, offsets, {}, dims, sizes, prog, options,
                      debugContext);
}

// ---- many slices ----

// [number of offsets, the shape of a slice]
inline poplar::Tensor multiSlice(poplar::Graph &graph, const poplar::Tensor &t,
                                 const poplar::Tensor &offsets,
                                 const std::vector<std::size_t> &dims,
                                 const std::vector<std::size_t> &sizes,
                                 poplar::program::Sequence &prog, const SlicePlan &,
                                 const poplar::OptionFlags &options,
                                 const poplar::DebugContext &debugContext = {})
{
  return detail::multiSlice(graph, 0, t, offsets, dims, sizes, prog, options, debugContext);
}
inline poplar::Tensor multiSlice(poplar::Graph &graph, const poplar::Tensor &t,
                                 poplar::ArrayRef<unsigned> offsets, std::size_t dim,
                                 poplar::program::Sequence &prog,
                                 const poplar::DebugContext &debugContext = {},
                                 const poplar::OptionFlags &options = {})
{
  return multiSlice(graph, t, detail::constantOffsets(graph, offsets), {dim}, {1}, prog, {},
                    options, debugContext);
}
inline void multiUpdate(poplar::Graph &graph, const poplar::Tensor &t, const poplar::Tensor &s,
                        const poplar::Tensor &offsets, const std::vector<std::size_t> &dims,
                        const std::vector<std::size_t> &sizes, poplar::program::Sequence &prog,
                        const SlicePlan &, const poplar::OptionFlags &options,
                        const poplar::DebugContext &debugContext = {})
{
  detail::multiUpdate(graph, 0, POP_UPDATE_SET, t, s, offsets, {}, dims, sizes, prog, options,
                      debugContext);
}
// t += scale * s
inline void multiUpdateAdd(poplar::Graph &graph, const poplar::Tensor &t, const poplar::Tensor &s,
                           const poplar::Tensor &offsets, const poplar::Tensor &scale,
                           const std::vector<std::size_t> &dims,
                           const std::vector<std::size_t> &sizes, poplar::program::Sequence &prog,
                           const SlicePlan &, const poplar::OptionFlags &options,
                           const poplar::DebugContext &debugContext = {})
{
  detail::multiUpdate(graph, 0, POP_UPDATE_ADD, t, s, offsets, scale, dims, sizes, prog, options,
                      debugContext);
}
inline void multiUpdateAdd(poplar::Graph &graph, const poplar::Tensor &t, const poplar::Tensor &s,
                           poplar::ArrayRef<unsigned> offsets, const poplar::Tensor &scale,
                           std::size_t dim, poplar::program::Sequence &prog,
                           const poplar::DebugContext &debugContext = {},
                           const poplar::OptionFlags &options = {})
{
  multiUpdateAdd(graph, t, s, detail::constantOffsets(graph, offsets), scale, {dim}, {1}, prog, {},
                 options, debugContext);
}
inline void multiUpdateMax(poplar::Graph &graph, const poplar::Tensor &t, const poplar::Tensor &s,
                           const poplar::Tensor &offsets, const std::vector<std::size_t> &dims,
                           const std::vector<std::size_t> &sizes, poplar::program::Sequence &prog,
                           const SlicePlan &, const poplar::OptionFlags &options,
                           const poplar::DebugContext &debugContext = {})
{
  detail::multiUpdate(graph, 0, POP_UPDATE_MAX, t, s, offsets, {}, dims, sizes, prog, options,
                      debugContext);
}
inline void multiUpdateMul(poplar::Graph &graph, const poplar::Tensor &t, const poplar::Tensor &s,
                           const poplar::Tensor &offsets, const std::vector<std::size_t> &dims,
                           const std::vector<std::size_t> &sizes, poplar::program::Sequence &prog,
                           const SlicePlan &, const poplar::OptionFlags &options,
                           const poplar::DebugContext &debugContext = {})
{
  detail::multiUpdate(graph, 0, POP_UPDATE_MUL, t, s, offsets, {}, dims, sizes, prog, options,
                      debugContext);
}

} // namespace popops

#endif
