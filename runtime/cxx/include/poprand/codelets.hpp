#ifndef POPRAND_CODELETS_HPP
#define POPRAND_CODELETS_HPP

#include <poplar/Graph.hpp>
#include <populus/poprand.h>

namespace poprand
{

// Adds the codelets for all functions of poprand. Calling it again does no harm.
inline void addCodelets(poplar::Graph &graph)
{
  pop_poprand_add_codelets(graph.c());
  poplar::detail::check(graph.c());
}

} // namespace poprand

#endif
