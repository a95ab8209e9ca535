// Metadata of quarters (format and scale) as tensors of a graph, on its first tile.
#ifndef POPLAR_METADATACREATION_HPP
#define POPLAR_METADATACREATION_HPP

#include <poplar/Graph.hpp>
#include <poplar/Program.hpp>
#include <poplar/Quarter.hpp>
#include <poplar/detail/Registers.hpp>

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

// The scale, a SIGNED_CHAR, is known only when the program runs; `prog` packs it with the
// format.
inline Tensor createVariableMetadataTensor(Graph &graph, QuarterMetadata::Format format,
                                           const Tensor &scale, program::Sequence &prog)
{
  const unsigned char usual = QuarterMetadata(format, 0).getBinary();
  detail::RegisterCall call(graph, prog, {}, false);
  return call.finish(
      pop_graph_pack_metadata(graph.c(), call.program(), usual, detail::check(scale.c())));
}

} // namespace poplar

#endif
