// Which tiles elements go to.
#ifndef POPUTIL_TILEMAPPING_HPP
#define POPUTIL_TILEMAPPING_HPP

#include <poplar/Graph.hpp>

namespace poputil
{

// Spreads the elements over the tiles of the graph, in order (pop_graph_map_linearly).
inline void mapTensorLinearly(poplar::Graph &graph, const poplar::Tensor &tensor,
                              unsigned minElementsPerTile, unsigned grainSize)
{
  pop_graph_map_linearly(graph.c(), poplar::detail::check(tensor.c()), minElementsPerTile,
                         grainSize);
  poplar::detail::check(graph.c());
}
inline void mapTensorLinearly(poplar::Graph &graph, const poplar::Tensor &tensor)
{
  mapTensorLinearly(graph, tensor, 0, 0);
}

namespace detail
{

inline poplar::Graph::TileToTensorMapping linearMapping(std::size_t tiles, std::size_t elements,
                                                        std::size_t least, std::size_t grain,
                                                        std::size_t offset, bool ascending)
{
  if (offset >= tiles)
    throw poplar::invalid_tile_mapping("poputil: there is no tile " + std::to_string(offset) +
                                       " to begin with; the graph has " + std::to_string(tiles));
  std::size_t each = std::max({(elements + tiles - 1) / tiles, least, std::size_t(1)});
  if (grain > 1) each = (each + grain - 1) / grain * grain;
  poplar::Graph::TileToTensorMapping mapping(tiles);
  for (std::size_t i = 0; i * each < elements; ++i) {
    std::size_t tile = (i + offset) % tiles;
    mapping[ascending ? tile : tiles - 1 - tile].emplace_back(i * each,
                                                              std::min((i + 1) * each, elements));
  }
  return mapping;
}
// Elements of a word, where elements are smaller.
inline unsigned wordGrain(const poplar::Graph &graph, const poplar::Tensor &t)
{
  return static_cast<unsigned>(
      std::max<std::size_t>(4 / graph.getTarget().getTypeSize(t.elementType()), 1));
}
inline std::size_t product(const std::vector<std::size_t> &shape)
{
  std::size_t n = 1;
  for (std::size_t size : shape) n *= size;
  return n;
}

} // namespace detail

// What mapTensorLinearly does, as intervals of the flattened tensor for each tile. The first elements go to tile `offset`
// from the front, or with `ascendingOrder` false from the back, and on from there in that direction, round and round.
inline poplar::Graph::TileToTensorMapping calcLinearTileMapping(
    const poplar::Graph &graph, std::vector<std::size_t> shape, unsigned minElementsPerTile,
    unsigned grainSize, unsigned offset = 0, bool ascendingOrder = true)
{
  return detail::linearMapping(graph.getTarget().getNumTiles(), detail::product(shape),
                               minElementsPerTile, grainSize, offset, ascendingOrder);
}
inline poplar::Graph::TileToTensorMapping calcLinearTileMapping(const poplar::Graph &graph,
                                                                const poplar::Tensor &t,
                                                                unsigned offset = 0,
                                                                bool ascendingOrder = true)
{
  return calcLinearTileMapping(graph, t.shape(), 0, detail::wordGrain(graph, t), offset,
                               ascendingOrder);
}
inline void mapTensorLinearlyWithOffset(poplar::Graph &graph, const poplar::Tensor &t,
                                        unsigned minElementsPerTile, unsigned grainSize,
                                        unsigned offset, bool ascendingOrder = true)
{
  graph.setTileMapping(t, calcLinearTileMapping(graph, t.shape(), minElementsPerTile, grainSize,
                                                offset, ascendingOrder));
}
inline void mapTensorLinearlyWithOffset(poplar::Graph &graph, const poplar::Tensor &t,
                                        unsigned offset, bool ascendingOrder = true)
{
  graph.setTileMapping(t, calcLinearTileMapping(graph, t, offset, ascendingOrder));
}

// How many elements the fullest tile has more than in a mapping that spreads them evenly.
inline unsigned getTileImbalance(const poplar::Graph::TileToTensorMapping &mapping,
                                 unsigned minElementsPerTile = 0, unsigned grainSize = 1)
{
  std::size_t most = 0, all = 0;
  for (const auto &tile : mapping) {
    std::size_t here = 0;
    for (const poplar::Interval &interval : tile) here += interval.size();
    most = std::max(most, here);
    all += here;
  }
  std::size_t tiles = std::max<std::size_t>(mapping.size(), 1);
  std::size_t even = std::max<std::size_t>(
      {(all + tiles - 1) / tiles, std::size_t(minElementsPerTile), std::size_t(grainSize)});
  return most < even ? 0 : static_cast<unsigned>(most - even);
}
inline unsigned getTileImbalance(const poplar::Graph &graph, const poplar::Tensor &t,
                                 unsigned minElementsPerTile = 0, unsigned grainSize = 1)
{
  return getTileImbalance(graph.getTileMapping(t), minElementsPerTile, grainSize);
}

// A variable like t on another IPU: each tile's elements go to the tile of that number there.
inline poplar::Tensor cloneToIpu(
    poplar::Graph &graph, const poplar::Tensor &t, unsigned dstIPU,
    const poplar::DebugContext &debugContext = {},
    poplar::TensorCloneMethod method = poplar::TensorCloneMethod::PRESERVE_ORDER_UNLESS_ALIASES)
{
  poplar::Tensor clone = graph.clone(t, debugContext, method);
  unsigned perIpu = graph.getTarget().getTilesPerIPU();
  auto mapping = graph.getTileMapping(t);
  poplar::Graph::TileToTensorMapping moved(mapping.size());
  for (std::size_t tile = 0; tile < mapping.size(); ++tile) {
    auto &to = moved.at(dstIPU * std::size_t(perIpu) + tile % perIpu);
    to.insert(to.end(), mapping[tile].begin(), mapping[tile].end());
  }
  graph.setTileMapping(clone, moved);
  return clone;
}
inline poplar::Tensor copyToIpu(
    poplar::Graph &graph, const poplar::Tensor &t, poplar::program::Sequence &prog, unsigned dstIPU,
    const poplar::DebugContext &debugContext = {},
    poplar::TensorCloneMethod method = poplar::TensorCloneMethod::PRESERVE_ORDER_UNLESS_ALIASES)
{
  poplar::Tensor clone = cloneToIpu(graph, t, dstIPU, debugContext, method);
  prog.add(poplar::program::Copy(t, clone, false, debugContext));
  return clone;
}

} // namespace poputil

#endif
