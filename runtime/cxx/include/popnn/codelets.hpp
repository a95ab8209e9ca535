#ifndef POPNN_CODELETS_HPP
#define POPNN_CODELETS_HPP

#include <poplar/Graph.hpp>
#include <populus/popnn.h>

namespace popnn
{

// For all functions of popnn.
inline void addCodelets(poplar::Graph &graph)
{
  pop_popnn_add_codelets(graph.c());
  poplar::detail::check(graph.c());
}

} // namespace popnn

#endif
