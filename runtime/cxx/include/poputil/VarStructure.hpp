// The layout of elements in memory.
#ifndef POPUTIL_VARSTRUCTURE_HPP
#define POPUTIL_VARSTRUCTURE_HPP

#include <algorithm>
#include <functional>
#include <poplar/Graph.hpp>
#include <poputil/exceptions.hpp>

namespace poputil
{

// The group size of the last dimension: how many of its elements are always adjacent, in order,
// in one variable and on one tile. It divides the dimension's size; 1 if there are no groups.
inline unsigned detectInnermostGrouping(const poplar::Graph &graph, const poplar::Tensor &t)
{
  if (t.rank() == 0)
    throw poplibs_error("poputil::detectInnermostGrouping: a tensor of rank 0 has no dimension");
  std::size_t size = t.shape().back(), group = size;
  if (size == 0) return 1;
  auto divide = [&](std::size_t at) { // a boundary before element `at`
    for (std::size_t rest = at % size; rest;) {
      std::size_t next = group % rest;
      group = rest;
      rest = next;
    }
  };
  poplar::Tensor flat = t.flatten();
  std::size_t at = 0;
  for (const poplar::Interval &region : flat.getContiguousRegions()) {
    divide(region.begin());
    at = region.end();
  }
  divide(at);
  for (const auto &tile : graph.getTileMapping(flat, false))
    for (const poplar::Interval &region : tile) divide(region.begin());
  return group ? static_cast<unsigned>(group) : 1;
}

using GroupingInfo = std::pair<unsigned, unsigned>; // dimension, elements

// The grouped dimensions from the innermost group outwards. For each further one, the groups
// found so far count as one element.
inline std::vector<GroupingInfo> detectDimGroupings(const poplar::Graph &graph,
                                                    const poplar::Tensor &t)
{
  if (t.rank() == 0)
    throw poplibs_error("poputil::detectDimGroupings: a tensor of rank 0 has no dimension");
  std::vector<GroupingInfo> groupings;
  std::size_t together = 1; // elements that the groups found so far make up
  poplar::Tensor groups =
      t.expand({t.rank()}); // [the dimensions that are left, elements of a group]
  for (bool found = true; found;) {
    found = false;
    for (unsigned d = 0; d < t.rank() && !found; ++d) {
      if (groups.dim(d) == 1) continue;
      poplar::Tensor rolled = groups.dimRoll(d, t.rank() - 1).flatten(t.rank() - 1, t.rank() + 1);
      unsigned grouping = detectInnermostGrouping(graph, rolled);
      if (grouping % together != 0 || grouping / together < 2) continue;
      unsigned count = grouping / static_cast<unsigned>(together);
      groupings.emplace_back(d, count);
      groups = groups.reshapePartial(d, d + 1, {groups.dim(d) / count, count})
                   .dimRoll(d + 1, t.rank())
                   .flatten(t.rank(), t.rank() + 2);
      together *= count;
      found = true;
    }
  }
  return groupings;
}

// ---- tensors in parts ----

namespace detail
{

inline void checkPartitions(const char *function, const std::vector<std::size_t> &shape,
                            const std::vector<std::size_t> &nPartitions)
{
  if (shape.size() != nPartitions.size())
    throw poplibs_error(std::string(function) + ": " + std::to_string(shape.size()) +
                        " dimensions, and numbers of parts of " +
                        std::to_string(nPartitions.size()));
  for (std::size_t parts : nPartitions)
    if (parts == 0) throw poplibs_error(std::string(function) + ": a dimension has 0 parts");
}

// The interval of a part. Parts have the same size, rounded up; the last ones may be smaller or
// empty.
inline poplar::Interval partition(std::size_t size, std::size_t parts, std::size_t part)
{
  const std::size_t each = (size + parts - 1) / parts;
  return {std::min(part * each, size), std::min((part + 1) * each, size)};
}

// Parts of the remaining dimensions, recursively: `sizes` are a part's sizes in the dimensions
// before this one. Elements are taken from `from` of the row on.
inline poplar::Tensor arrangeParts(const poplar::Tensor &row, std::size_t &from,
                                   const std::vector<std::size_t> &shape,
                                   const std::vector<std::size_t> &nPartitions,
                                   const std::vector<std::size_t> &sizes)
{
  const std::size_t dim = sizes.size();
  if (dim == shape.size()) {
    const std::size_t begin = from;
    std::size_t count = 1;
    for (std::size_t size : sizes) count *= size;
    from += count;
    return row.slice(begin, from).reshape(sizes);
  }
  std::vector<poplar::Tensor> parts;
  for (std::size_t p = 0; p < nPartitions[dim]; ++p) {
    std::vector<std::size_t> more = sizes;
    more.push_back(partition(shape[dim], nPartitions[dim], p).size());
    if (more.back()) parts.push_back(arrangeParts(row, from, shape, nPartitions, more));
  }
  return poplar::concat(parts, static_cast<unsigned>(dim));
}

} // namespace detail

// A variable in parts, nPartitions[d] of them in dimension d. Each part is one region. The
// variable is not mapped to tiles.
inline poplar::Tensor createPartitionableTensor(poplar::Graph &graph, const poplar::Type &type,
                                                const std::vector<std::size_t> &shape,
                                                const std::vector<std::size_t> &nPartitions,
                                                const poplar::DebugContext &debugContext = {})
{
  detail::checkPartitions("poputil::createPartitionableTensor", shape, nPartitions);
  std::size_t count = 1, from = 0;
  for (std::size_t size : shape) count *= size;
  if (count == 0) return graph.addVariable(type, shape, debugContext);
  poplar::Tensor row = graph.addVariable(type, {count}, debugContext);
  return detail::arrangeParts(row, from, shape, nPartitions, {});
}

// Calls f(indices of the part, the part) for all such parts; the last dimension varies fastest.
// If there are more parts than elements, the last ones are empty.
inline void iterateTensorPartitions(
    const poplar::Tensor &t, const std::vector<std::size_t> &nPartitions,
    const std::function<void(const std::vector<std::size_t> &i, const poplar::Tensor &s)> &f)
{
  const std::vector<std::size_t> shape = t.shape();
  detail::checkPartitions("poputil::iterateTensorPartitions", shape, nPartitions);
  std::vector<std::size_t> at(shape.size(), 0);
  for (bool more = true; more;) {
    poplar::Tensor part = t;
    for (std::size_t d = 0; d < at.size(); ++d)
      part =
          part.slice(detail::partition(shape[d], nPartitions[d], at[d]), static_cast<unsigned>(d));
    f(at, part);
    more = false;
    for (std::size_t d = at.size(); d-- > 0 && !more; more = at[d] != 0)
      at[d] = (at[d] + 1) % nPartitions[d];
  }
}

} // namespace poputil

#endif
