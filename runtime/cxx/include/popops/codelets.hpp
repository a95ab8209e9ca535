#ifndef POPOPS_CODELETS_HPP
#define POPOPS_CODELETS_HPP

#include <poplar/Graph.hpp>
#include <populus/popops.h>

namespace popops
{

// For all functions of popops.
inline void addCodelets(poplar::Graph &graph)
{
  pop_popops_add_codelets(graph.c());
  poplar::detail::check(graph.c());
}

} // namespace popops

#endif
