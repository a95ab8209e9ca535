// How elements lie in memory.
#ifndef POPUTIL_VARSTRUCTURE_HPP
#define POPUTIL_VARSTRUCTURE_HPP

#include <poplar/Graph.hpp>
#include <poputil/exceptions.hpp>

namespace poputil
{

// How many elements of the last dimension always lie together, in order, in one variable and on one tile: a divisor of
// its size; 1 if none do.
inline unsigned detectInnermostGrouping(const poplar::Graph &graph, const poplar::Tensor &t)
{
  if (t.rank() == 0)
    throw poplibs_error("poputil::detectInnermostGrouping: a tensor of rank 0 has no dimension");
  std::size_t size = t.shape().back(), group = size;
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

// From the innermost one on: which dimensions have such groups if groups further in count as one element.
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

} // namespace poputil

#endif
