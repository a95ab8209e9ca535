#ifndef POPOPS_CODELETS_HPP
#define POPOPS_CODELETS_HPP

#include <poplar/Graph.hpp>
#include <populus/popops.h>

namespace popops
{

// Adds the codelets for all functions of popops. Element-wise functions, conversions and
// collectives add them by themselves. Calling it again does no harm.
inline void addCodelets(poplar::Graph &graph)
{
  pop_popops_add_codelets(graph.c());
  poplar::detail::check(graph.c());
}

} // namespace popops

#endif
