// Copies of tensors, and regions split into parts.
#ifndef POPUTIL_UTIL_HPP
#define POPUTIL_UTIL_HPP

#include <climits>
#include <poplar/Graph.hpp>
#include <poplar/Program.hpp>
#include <poputil/exceptions.hpp>
#include <string>

namespace poputil
{

// A clone, to which `prog` copies the tensor.
inline poplar::Tensor duplicate(
    poplar::Graph &graph, const poplar::Tensor &in, poplar::program::Sequence &prog,
    const poplar::DebugContext &debugContext = {},
    poplar::TensorCloneMethod method = poplar::TensorCloneMethod::PRESERVE_ORDER_UNLESS_ALIASES)
{
  poplar::Tensor out = graph.clone(in, debugContext, method);
  prog.add(poplar::program::Copy(in, out, false, debugContext));
  return out;
}
// `n` clones, with a further dimension in front.
inline poplar::Tensor cloneN(
    poplar::Graph &graph, const poplar::Tensor &t, unsigned n,
    const poplar::DebugContext &debugContext = {},
    poplar::TensorCloneMethod method = poplar::TensorCloneMethod::PRESERVE_ORDER_UNLESS_ALIASES)
{
  std::vector<poplar::Tensor> clones;
  for (unsigned i = 0; i < n; ++i)
    clones.push_back(graph.clone(t, debugContext, method).expand({0}));
  return poplar::concat(clones);
}

// ---- dimensions ----

// Splits dimensions from `startDim` on, [n, m, …], to [n/a, m/b, …, a, b, …] for factors {a, b,
// …}, which must divide them; and the inverse.
inline poplar::Tensor factorDims(const poplar::Tensor &t, const std::vector<std::size_t> &factors,
                                 unsigned startDim = 0)
{
  std::vector<std::size_t> split;
  std::vector<unsigned> from, to;
  const unsigned count = static_cast<unsigned>(factors.size());
  for (unsigned i = 0; i < count; ++i) {
    const std::size_t size = t.dim(startDim + i);
    if (factors[i] == 0 || size % factors[i])
      throw poplar::tensor_creation_error(
          "poputil::factorDims: dimension " + std::to_string(startDim + i) + " of " +
          std::to_string(size) + " elements is no multiple of " + std::to_string(factors[i]));
    split.push_back(size / factors[i]);
    split.push_back(factors[i]);
    from.push_back(startDim + 2 * i);
    to.push_back(startDim + i);
  }
  return t.reshapePartial(startDim, startDim + count, split).dimShufflePartial(from, to);
}
inline poplar::Tensor unfactorDims(const poplar::Tensor &t, unsigned numDims, unsigned startDim = 0)
{
  std::vector<std::size_t> joined;
  std::vector<unsigned> from, to;
  for (unsigned i = 0; i < numDims; ++i) {
    joined.push_back(t.dim(startDim + i) * t.dim(startDim + numDims + i));
    from.push_back(startDim + i);
    to.push_back(startDim + 2 * i);
  }
  return t.dimShufflePartial(from, to).reshapePartial(startDim, startDim + 2 * numDims, joined);
}

// The number, rounded to a half of the device.
inline double castToDeviceHalfValue(const poplar::Target &, double input)
{
  return static_cast<double>(pop_half_to_float(pop_half_from_double(input)));
}

// ---- indices ----

// The coordinates of an element of a row-major array, and back.
template <class T> std::vector<T> unflattenIndex(const std::vector<T> &shape, std::size_t index)
{
  std::vector<T> coordinates(shape.size());
  for (std::size_t d = shape.size(); d-- > 0;) {
    if (shape[d] == 0)
      throw poplibs_error("poputil::unflattenIndex: dimension " + std::to_string(d) +
                          " has no element");
    coordinates[d] = static_cast<T>(index % shape[d]);
    index /= shape[d];
  }
  return coordinates;
}
template <class T>
std::size_t flattenIndex(const std::vector<T> &shape, const std::vector<T> &coordinates)
{
  if (coordinates.size() != shape.size())
    throw poplibs_error("poputil::flattenIndex: " + std::to_string(coordinates.size()) +
                        " coordinates for rank " + std::to_string(shape.size()));
  std::size_t index = 0;
  for (std::size_t d = 0; d < shape.size(); ++d) index = index * shape[d] + coordinates[d];
  return index;
}

// ---- regions ----

using Regions = std::vector<poplar::Interval>;

// Sorts the regions, drops empty ones, and joins those that touch.
inline void mergeAdjacentRegions(Regions &regions)
{
  std::sort(regions.begin(), regions.end());
  Regions merged;
  for (const poplar::Interval &region : regions) {
    if (region.size() == 0) continue;
    if (!merged.empty() && merged.back().end() == region.begin())
      merged.back() = poplar::Interval(merged.back().begin(), region.end());
    else
      merged.push_back(region);
  }
  regions = std::move(merged);
}
inline void mergeAdjacentRegions(std::vector<Regions> &mapping)
{
  for (Regions &regions : mapping) mergeAdjacentRegions(regions);
}
inline Regions flattenIntervals(const std::vector<Regions> &sequence)
{
  Regions all;
  for (const Regions &regions : sequence) all.insert(all.end(), regions.begin(), regions.end());
  return all;
}
inline std::size_t intervalSequenceNumElements(const std::vector<Regions> &sequence)
{
  std::size_t n = 0;
  for (const Regions &regions : sequence)
    for (const poplar::Interval &region : regions) n += region.size();
  return n;
}

namespace detail
{

// The number of elements of each part: a multiple of the grain, at least `least`, and at most
// `most` if that is a grain or more.
inline std::size_t partSize(std::size_t elements, std::size_t grain, std::size_t maxPartitions,
                            std::size_t least, std::size_t most)
{
  grain = std::max<std::size_t>(grain, 1);
  std::size_t each = (elements + maxPartitions - 1) / std::max<std::size_t>(maxPartitions, 1);
  each = std::max(each, least);
  each = std::max(grain, (each + grain - 1) / grain * grain);
  return each > most ? std::max(grain, most / grain * grain) : each;
}
inline void checkPartitions(unsigned maxPartitions)
{
  if (maxPartitions == 0)
    throw poplar::poplar_error("poputil::splitRegions: at least one part is needed");
}

} // namespace detail

// Splits the regions, in their order, into at most `maxPartitions` parts of whole grains; the last
// part has the rest. There are more parts if one would exceed `maxElementsPerPartition`. No region
// is longer than `maxElementsPerRegion`. Throws poplar_error if `maxPartitions` is 0.
inline std::vector<Regions> splitRegions(const Regions &regions, unsigned grainSize,
                                         unsigned maxPartitions,
                                         unsigned minElementsPerPartition = 0,
                                         unsigned maxElementsPerPartition = UINT_MAX,
                                         unsigned maxElementsPerRegion = UINT_MAX)
{
  detail::checkPartitions(maxPartitions);
  std::size_t each =
      detail::partSize(intervalSequenceNumElements({regions}), grainSize, maxPartitions,
                       minElementsPerPartition, maxElementsPerPartition);
  std::vector<Regions> parts;
  std::size_t room = 0; // in the last part
  for (const poplar::Interval &region : regions)
    for (std::size_t at = region.begin(); at < region.end();) {
      if (room == 0) {
        parts.emplace_back();
        room = each;
      }
      std::size_t count =
          std::min({region.end() - at, room, std::size_t(std::max(maxElementsPerRegion, 1u))});
      parts.back().emplace_back(at, at + count);
      at += count;
      room -= count;
    }
  return parts;
}
// The same for sequences of regions. A part has a sequence for each one that it has elements of, or
// several: here `maxElementsPerRegion` limits a sequence.
inline std::vector<std::vector<Regions>> splitRegions(const std::vector<Regions> &sequences,
                                                      unsigned grainSize, unsigned maxPartitions,
                                                      unsigned minElementsPerPartition = 0,
                                                      unsigned maxElementsPerPartition = UINT_MAX,
                                                      unsigned maxElementsPerRegion = UINT_MAX)
{
  detail::checkPartitions(maxPartitions);
  std::size_t each =
      detail::partSize(intervalSequenceNumElements(sequences), grainSize, maxPartitions,
                       minElementsPerPartition, maxElementsPerPartition);
  std::vector<std::vector<Regions>> parts;
  std::size_t room = 0;
  for (const Regions &regions : sequences) {
    std::size_t inRegion = 0; // of `maxElementsPerRegion`, which is of a sequence here
    bool begins = true;
    for (const poplar::Interval &region : regions)
      for (std::size_t at = region.begin(); at < region.end();) {
        if (room == 0) {
          parts.emplace_back();
          room = each;
          begins = true;
        }
        if (begins || inRegion == 0) {
          parts.back().emplace_back();
          inRegion = std::max(maxElementsPerRegion, 1u);
          begins = false;
        }
        std::size_t count = std::min({region.end() - at, room, inRegion});
        parts.back().back().emplace_back(at, at + count);
        at += count;
        room -= count;
        inRegion -= count;
      }
  }
  return parts;
}
// At most as many parts as a tile has workers, unless a part would exceed
// `maxElementsPerPartition`.
template <typename Which>
auto splitRegionsBetweenWorkers(const poplar::Target &target, const std::vector<Which> &regions,
                                unsigned grainSize, unsigned minElementsPerPartition = 0,
                                unsigned maxElementsPerPartition = UINT_MAX,
                                unsigned maxElementsPerRegion = UINT_MAX)
    -> decltype(splitRegions(regions, grainSize, 1))
{
  return splitRegions(regions, grainSize, target.getNumWorkerContexts(), minElementsPerPartition,
                      maxElementsPerPartition, maxElementsPerRegion);
}

} // namespace poputil

#endif
