#ifndef POPRAND_CODELETS_HPP
#define POPRAND_CODELETS_HPP

#include <poplar/Graph.hpp>
#include <populus/poprand.h>

namespace poprand
{

// For all functions of poprand.
inline void addCodelets(poplar::Graph &graph)
{
  pop_poprand_add_codelets(graph.c());
  poplar::detail::check(graph.c());
}

} // namespace poprand

#endif
