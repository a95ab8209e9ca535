#ifndef POPLIN_CODELETS_HPP
#define POPLIN_CODELETS_HPP

#include <poplar/Graph.hpp>
#include <populus/poplin.h>

namespace poplin
{

// Adds the codelets of poplin. Its functions need popops::addCodelets, too. Calling it again does
// no harm.
inline void addCodelets(poplar::Graph &graph)
{
  pop_poplin_add_codelets(graph.c());
  poplar::detail::check(graph.c());
}

} // namespace poplin

#endif
