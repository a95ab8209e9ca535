// Is any element no number?
#ifndef POPOPS_NAN_HPP
#define POPOPS_NAN_HPP

#include <popops/AllTrue.hpp>
#include <popops/ElementWise.hpp>

namespace popops
{

// A bool without dimensions, of floats or halves.
inline poplar::Tensor hasNaN(poplar::Graph &graph, const poplar::Tensor &src,
                             poplar::program::Sequence &prog,
                             const poplar::DebugContext &debugContext = {})
{
  return reduce(graph, isNaN(graph, src.flatten(), prog, debugContext), {0}, Operation::LOGICAL_OR,
                prog, debugContext);
}
inline poplar::Tensor hasNaNOrInf(poplar::Graph &graph, const poplar::Tensor &src,
                                  poplar::program::Sequence &prog,
                                  const poplar::DebugContext &debugContext = {})
{
  poplar::Tensor finite =
      allTrue(graph, isFinite(graph, src.flatten(), prog, debugContext), prog, debugContext);
  return logicalNot(graph, finite, prog, debugContext);
}

} // namespace popops

#endif
