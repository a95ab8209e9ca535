// The states of the workers' random number generators: populus/registers.h.
#ifndef POPLAR_RANDOMSEED_HPP
#define POPLAR_RANDOMSEED_HPP

#include <poplar/detail/Registers.hpp>

namespace poplar
{

// The states, of UNSIGNED_INT [tiles, workers, 4]. setHwSeeds takes such a tensor.
inline Tensor getHwSeeds(Graph &graph, program::Sequence &prog,
                         const DebugContext &debugContext = {})
{
  detail::RegisterCall call(graph, prog, debugContext, false);
  return call.finish(pop_graph_get_hw_seeds(graph.c(), call.program(), call.c()));
}
inline void setHwSeeds(Graph &graph, const Tensor &seeds, program::Sequence &prog,
                       const DebugContext &debugContext = {})
{
  detail::RegisterCall call(graph, prog, debugContext, false);
  pop_graph_set_hw_seeds(graph.c(), call.program(), detail::check(seeds.c()), call.c());
  call.finish();
}

} // namespace poplar

#endif
