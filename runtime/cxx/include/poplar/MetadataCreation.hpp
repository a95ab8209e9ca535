// Formats of quarters as tensors of a graph, on its first tile.
#ifndef POPLAR_METADATACREATION_HPP
#define POPLAR_METADATACREATION_HPP

#include <poplar/Graph.hpp>
#include <poplar/Quarter.hpp>

namespace poplar
{

inline Tensor createConstantMetadataTensor(Graph &graph, QuarterMetadata::Format format, int scale)
{
  Tensor t = graph.addConstant(QUARTER_METADATA, {1}, QuarterMetadata(format, scale).getBinary());
  graph.setTileMapping(t, 0);
  return t;
}
inline Tensor createVariableMetadataTensor(Graph &graph, QuarterMetadata::Format format, int scale)
{
  Tensor t = graph.addVariable(QUARTER_METADATA, {1});
  graph.setTileMapping(t, 0);
  graph.setInitialValue(t, QuarterMetadata(format, scale).getBinary());
  return t;
}

} // namespace poplar

#endif
