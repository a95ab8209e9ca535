#ifndef POPNN_CODELETS_HPP
#define POPNN_CODELETS_HPP

#include <poplar/Graph.hpp>
#include <populus/popnn.h>

namespace popnn
{

// Adds the codelets of popnn. Its functions need popops::addCodelets, too. Calling it again does no
// harm.
inline void addCodelets(poplar::Graph &graph)
{
  pop_popnn_add_codelets(graph.c());
  poplar::detail::check(graph.c());
}

} // namespace popnn

#endif
