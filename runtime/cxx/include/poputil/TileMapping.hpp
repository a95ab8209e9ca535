// Mapping of elements to tiles.
#ifndef POPUTIL_TILEMAPPING_HPP
#define POPUTIL_TILEMAPPING_HPP

#include <poplar/Graph.hpp>

#include <algorithm>
#include <utility>
#include <vector>

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
// The number of elements in a word; 1 if elements are not smaller.
inline unsigned wordGrain(const poplar::Target &target, const poplar::Type &type)
{
  return static_cast<unsigned>(std::max<std::size_t>(4 / target.getTypeSize(type), 1));
}
inline std::size_t product(const std::vector<std::size_t> &shape)
{
  std::size_t n = 1;
  for (std::size_t size : shape) n *= size;
  return n;
}

} // namespace detail

// The intervals of the flattened tensor for each tile in mapTensorLinearly. The first elements
// go to tile `offset`, counted from the front, or, with `ascendingOrder` false, from the back.
// The next ones go to the next tiles in that direction, cyclically.
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
  return calcLinearTileMapping(graph, t.shape(), 0,
                               detail::wordGrain(graph.getTarget(), t.elementType()), offset,
                               ascendingOrder);
}
// The same before there is a graph.
inline poplar::Graph::TileToTensorMapping calcLinearTileMapping(
    const poplar::Target &target, std::vector<std::size_t> shape, unsigned minElementsPerTile,
    unsigned grainSize, unsigned offset = 0, bool ascendingOrder = true)
{
  return detail::linearMapping(target.getNumTiles(), detail::product(shape), minElementsPerTile,
                               grainSize, offset, ascendingOrder);
}
inline poplar::Graph::TileToTensorMapping calcLinearTileMapping(const poplar::Target &target,
                                                                std::vector<std::size_t> shape,
                                                                poplar::Type elementType,
                                                                unsigned offset = 0,
                                                                bool ascendingOrder = true)
{
  return calcLinearTileMapping(target, std::move(shape), 0, detail::wordGrain(target, elementType),
                               offset, ascendingOrder);
}
inline void mapTensorLinearlyWithOffset(poplar::Graph &graph, const poplar::Tensor &t,
                                        unsigned minElementsPerTile, unsigned grainSize,
                                        unsigned offset, bool ascendingOrder = true)
{
  graph.setTileMapping(t, calcLinearTileMapping(graph, t.shape(), minElementsPerTile, grainSize,
                                                offset, ascendingOrder));
}
inline void mapTensorLinearlyWithOffset(poplar::Graph &graph, const poplar::Tensor &t,
                                        unsigned offset = 0, bool ascendingOrder = true)
{
  graph.setTileMapping(t, calcLinearTileMapping(graph, t, offset, ascendingOrder));
}

// The position of a tile in the order of such a mapping, and the inverse.
inline unsigned transformTileIndex(unsigned tile, unsigned numTiles, unsigned offset,
                                   bool ascending)
{
  return ((ascending ? tile : numTiles - 1 - tile) + numTiles - offset % numTiles) % numTiles;
}
inline unsigned invTransformTileIndex(unsigned tile, unsigned numTiles, unsigned offset,
                                      bool ascending)
{
  const unsigned at = (tile + offset % numTiles) % numTiles;
  return ascending ? at : numTiles - 1 - at;
}

namespace detail
{

// The elements that are on another group of `tiles` tiles than the element before them, each with
// that group's number.
inline std::vector<std::pair<std::size_t, std::size_t>> owners(const poplar::Graph &graph,
                                                               const poplar::Tensor &flat,
                                                               std::size_t tiles)
{
  std::vector<std::pair<std::size_t, std::size_t>> all, changes;
  const auto mapping = graph.getTileMapping(flat);
  for (std::size_t tile = 0; tile < mapping.size(); ++tile)
    for (const poplar::Interval &interval : mapping[tile])
      all.emplace_back(interval.begin(), tile / tiles);
  std::sort(all.begin(), all.end());
  for (const auto &each : all)
    if (changes.empty() || changes.back().second != each.second) changes.push_back(each);
  return changes;
}
inline bool dimIsSplit(const poplar::Graph &graph, const poplar::Tensor &t, unsigned dimension,
                       std::size_t tiles)
{
  const std::size_t size = t.dim(dimension);
  if (size < 2) return false;
  const auto first = owners(graph, t.slice(0, 1, dimension).flatten(), tiles);
  for (std::size_t i = 1; i < size; ++i)
    if (owners(graph, t.slice(i, i + 1, dimension).flatten(), tiles) != first) return true;
  return false;
}

} // namespace detail

// Are elements that differ in this dimension alone on several tiles, or IPUs?
inline bool dimIsSplitOverTiles(const poplar::Graph &graph, const poplar::Tensor &t,
                                unsigned dimension)
{
  return detail::dimIsSplit(graph, t, dimension, 1);
}
inline bool dimIsSplitOverIPUs(const poplar::Graph &graph, const poplar::Tensor &t,
                               unsigned dimension)
{
  return detail::dimIsSplit(graph, t, dimension, graph.getTarget().getTilesPerIPU());
}

// How many more elements the fullest tile has than in an even mapping.
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

// A variable like t on another IPU: elements keep their tile's number within the IPU.
inline poplar::Tensor cloneToIpu(
    poplar::Graph &graph, const poplar::Tensor &t, unsigned dstIPU,
    const poplar::DebugContext &debugContext = {},
    poplar::TensorCloneMethod method = poplar::TensorCloneMethod::PRESERVE_ORDER_UNLESS_ALIASES)
{
  const unsigned ipus = graph.getTarget().getNumIPUs();
  if (dstIPU >= ipus)
    throw poplar::invalid_tile_mapping("poputil::cloneToIpu: there is no IPU " +
                                       std::to_string(dstIPU) + "; the graph has " +
                                       std::to_string(ipus));
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

// Like cloneToIpu, for a copy of copySrc to copyDst that the caller makes. With
// PRESERVE_ORDER_AND_ALIASES these have each element of `t` and of the result once. With other
// methods they are `t` and the result.
inline poplar::Tensor createIpuCopy(
    poplar::Graph &graph, const poplar::Tensor &t, unsigned dstIpu, poplar::Tensor &copySrc,
    poplar::Tensor &copyDst, const poplar::DebugContext &debugContext = {},
    poplar::TensorCloneMethod method = poplar::TensorCloneMethod::PRESERVE_ORDER_UNLESS_ALIASES)
{
  poplar::Tensor clone = cloneToIpu(graph, t, dstIpu, debugContext, method);
  copySrc = t;
  copyDst = clone;
  if (method != poplar::TensorCloneMethod::PRESERVE_ORDER_AND_ALIASES) return clone;
  poplar::Tensor from = t.flatten(), to = clone.flatten();
  std::vector<poplar::Tensor> froms, tos;
  for (const auto &region : graph.getSortedContiguousRegions(from, {{0, from.numElements()}}, true))
    for (const poplar::Interval &interval : region) {
      froms.push_back(from.slice(interval));
      tos.push_back(to.slice(interval));
    }
  if (froms.empty()) return clone;
  copySrc = poplar::concat(froms);
  copyDst = poplar::concat(tos);
  return clone;
}

// A variable like t on another graph of the same program: elements keep their tile's number
// within their graph.
inline poplar::Tensor cloneToGraph(
    poplar::Graph &srcGraph, poplar::Graph &dstGraph, const poplar::Tensor &t,
    const poplar::DebugContext &debugContext = {},
    poplar::TensorCloneMethod method = poplar::TensorCloneMethod::PRESERVE_ORDER_UNLESS_ALIASES)
{
  auto mapping = srcGraph.getTileMapping(t);
  std::size_t tiles = dstGraph.getTarget().getNumTiles();
  for (std::size_t tile = tiles; tile < mapping.size(); ++tile)
    if (!mapping[tile].empty())
      throw poplar::invalid_tile_mapping(
          "poputil::cloneToGraph: elements of the tensor are on tile " + std::to_string(tile) +
          "; the other graph has " + std::to_string(tiles) + " tiles");
  mapping.resize(tiles);
  poplar::Tensor clone = srcGraph.clone(t, debugContext, method);
  dstGraph.setTileMapping(clone, mapping);
  return clone;
}

// A variable of one dimension, to be combined with `fullTensor` along its dimension `dim`. Each
// element is on the tile of one of the elements that it is combined with; from the first to the
// last element these are spread over `fullTensor`. With `ditherMapping`, the tiles are shifted by a
// number that depends on the shape, so that several such variables are not on the same tiles.
inline poplar::Tensor createBroadcastOperand(poplar::Graph &graph, const poplar::Tensor &fullTensor,
                                             const poplar::Type &type, unsigned dim,
                                             bool ditherMapping = false,
                                             const poplar::DebugContext &debugContext = {})
{
  if (dim >= fullTensor.rank())
    throw poplar::tensor_creation_error("poputil::createBroadcastOperand: there is no dimension " +
                                        std::to_string(dim) + " of shape " +
                                        fullTensor.shapeToString());
  std::size_t count = fullTensor.dim(dim), tiles = graph.getTarget().getNumTiles();
  poplar::Tensor operand = graph.addVariable(type, {count}, debugContext);
  std::size_t others = count ? fullTensor.numElements() / count : 0;
  if (others == 0) {
    mapTensorLinearly(graph, operand);
    return operand;
  }
  std::vector<std::pair<std::size_t, std::size_t>> ends; // of intervals, and their tiles
  auto mapping = graph.getTileMapping(fullTensor.dimRoll(dim, fullTensor.rank() - 1).flatten());
  for (std::size_t tile = 0; tile < mapping.size(); ++tile)
    for (const poplar::Interval &interval : mapping[tile]) ends.emplace_back(interval.end(), tile);
  std::sort(ends.begin(), ends.end());
  std::size_t further = ditherMapping ? (others * 31 + count) % tiles : 0;
  poplar::Graph::TileToTensorMapping own(tiles);
  for (std::size_t i = 0; i < count; ++i) {
    std::size_t at =
        i * others / count * count + i; // from the first of its elements to the last, as i grows
    auto found = std::upper_bound(ends.begin(), ends.end(), std::make_pair(at, tiles));
    std::size_t tile = found == ends.end() ? 0 : found->second;
    own[(tile + further) % tiles].emplace_back(i, i + 1);
  }
  graph.setTileMapping(operand, own);
  return operand;
}

} // namespace poputil

#endif
