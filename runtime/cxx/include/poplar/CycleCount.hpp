// The cycles of a program, measured on a tile: populus/registers.h.
#ifndef POPLAR_CYCLECOUNT_HPP
#define POPLAR_CYCLECOUNT_HPP

#include <poplar/detail/Registers.hpp>
#include <vector>

namespace poplar
{

// Measures the cycles that the present contents of the sequence take on the tile, each time they
// run, with two syncs. Returns two elements of UNSIGNED_INT, the low 32 bits first.
inline Tensor cycleCount(Graph &graph, program::Sequence &prog, unsigned tile, SyncType syncType,
                         const DebugContext &debugContext = {})
{
  detail::RegisterCall call(graph, prog, debugContext, true);
  return call.finish(
      pop_graph_cycle_count(graph.c(), call.program(), tile, detail::c(syncType), call.c()));
}
// The form of SDK 1 and 2: the tile syncs with the others of its IPU.
inline Tensor cycleCount(Graph &graph, program::Sequence &prog, unsigned tile,
                         const DebugContext &debugContext = {})
{
  return cycleCount(graph, prog, tile, SyncType::INTERNAL, debugContext);
}
// The tile's cycle counter after a sync, in the same form.
inline Tensor cycleStamp(Graph &graph, program::Sequence &prog, unsigned tile, SyncType syncType,
                         const DebugContext &debugContext = {})
{
  detail::RegisterCall call(graph, prog, debugContext, false);
  return call.finish(
      pop_graph_cycle_stamp(graph.c(), call.program(), tile, detail::c(syncType), call.c()));
}
// The same for several tiles after one sync: a tensor for each, in their order.
inline std::vector<Tensor> cycleStamp(Graph &graph, program::Sequence &prog,
                                      const std::vector<unsigned> &tiles, SyncType syncType,
                                      const DebugContext &debugContext = {})
{
  detail::RegisterCall call(graph, prog, debugContext, false);
  const std::vector<std::size_t> numbers(tiles.begin(), tiles.end());
  const Tensor all = call.finish(pop_graph_cycle_stamps(
      graph.c(), call.program(), numbers.data(), numbers.size(), detail::c(syncType), call.c()));
  std::vector<Tensor> stamps;
  for (std::size_t i = 0; i < numbers.size(); ++i) stamps.push_back(all[i]);
  return stamps;
}

} // namespace poplar

#endif
