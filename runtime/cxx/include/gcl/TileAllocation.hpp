// Tiles of each IPU for one purpose: programs that overlap collectives and host I/O with compute
// keep tiles for these apart. Here any tile can do either; the numbers are what such programs
// expect.
#ifndef GCL_TILEALLOCATION_HPP
#define GCL_TILEALLOCATION_HPP

#include <poplar/Graph.hpp>
#include <string>
#include <vector>

namespace gcl
{

// The minimum of the documented library: 32 tiles of each IPU, or all if it has fewer.
inline unsigned getMinIoTiles(const poplar::Graph &graph)
{
  unsigned tiles = graph.getTarget().getTilesPerIPU();
  return tiles < 32 ? tiles : 32;
}

// The tiles [offset, offset + count) of an IPU, in ascending order, for Graph::createVirtualGraph,
// which takes these tiles of every IPU. This order is sorted and has pairs of tiles together,
// whatever the last two arguments are. Throws poplar_error if the IPU has no such tiles.
inline std::vector<unsigned> perIPUTiles(const poplar::Graph &graph, unsigned offset,
                                         unsigned count, bool /*sorted*/ = true,
                                         bool /*tilePairs*/ = true)
{
  unsigned tiles = graph.getTarget().getTilesPerIPU();
  if (offset > tiles || count > tiles - offset)
    throw poplar::poplar_error("gcl::perIPUTiles: tiles " + std::to_string(offset) + " to " +
                               std::to_string(static_cast<unsigned long long>(offset) + count) +
                               " of an IPU that has " + std::to_string(tiles));
  std::vector<unsigned> result(count);
  for (unsigned i = 0; i < count; ++i) result[i] = offset + i;
  return result;
}

} // namespace gcl

#endif
