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

} // namespace poputil

#endif
