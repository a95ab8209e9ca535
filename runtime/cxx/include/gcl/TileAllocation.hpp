// Which tiles of each IPU are for one purpose, as tiles for collectives and host I/O are kept apart in programs that overlap
// them with compute. Here any tile can do either; the numbers are what such programs expect.
#ifndef GCL_TILEALLOCATION_HPP
#define GCL_TILEALLOCATION_HPP

#include <poplar/Graph.hpp>
#include <string>
#include <vector>

namespace gcl
{

// The least that the documented library takes: 32 of each IPU, or all of one that has fewer.
inline unsigned getMinIoTiles(const poplar::Graph &graph)
{
  unsigned tiles = graph.getTarget().getTilesPerIPU();
  return tiles < 32 ? tiles : 32;
}

// Tiles [offset, offset + count) of each IPU, in ascending order; for Graph::createVirtualGraph of a graph of one IPU, or of one
// of each IPU's. They come in pairs either way.
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
