// Is any element a NaN (or infinite)?
#ifndef POPOPS_NAN_HPP
#define POPOPS_NAN_HPP

#include <popops/AllTrue.hpp>
#include <popops/ElementWise.hpp>

namespace popops
{

// `src` is of float or half. The result is a bool without dimensions.
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
