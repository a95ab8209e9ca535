// Are all elements true?
#ifndef POPOPS_ALLTRUE_HPP
#define POPOPS_ALLTRUE_HPP

#include <popops/Reduce.hpp>

namespace popops
{

// The result is a bool without dimensions, as predicates of programs are.
inline poplar::Tensor allTrue(poplar::Graph &graph, poplar::Tensor a,
                              poplar::program::Sequence &prog,
                              const poplar::DebugContext &debugContext = {})
{
  return reduce(graph, a.flatten(), {0}, Operation::LOGICAL_AND, prog, debugContext);
}

} // namespace popops

#endif
