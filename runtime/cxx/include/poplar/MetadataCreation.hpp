// Formats of quarters as tensors of a graph, on its first tile.
#ifndef POPLAR_METADATACREATION_HPP
#define POPLAR_METADATACREATION_HPP

#include <poplar/Graph.hpp>
#include <poplar/Program.hpp>
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

// With a scale that the program knows only when it runs. Quarters of a graph have one format and scale here: there is none.
inline Tensor createVariableMetadataTensor(Graph &, QuarterMetadata::Format, const Tensor &,
                                           program::Sequence &)
{
  throw tensor_metadata_error("createVariableMetadataTensor: quarters of a graph have one format "
                              "and scale; a scale that is a tensor is not in Populus");
}

} // namespace poplar

#endif
