// Sorting: populus/popops_sort.h.
#ifndef POPOPS_SORT_HPP
#define POPOPS_SORT_HPP

#include <poplar/detail/Library.hpp>
#include <populus/popops_sort.h>

namespace popops
{

// Sorts along a dimension, smallest first.
inline poplar::Tensor sort(poplar::Graph &graph, const poplar::Tensor &t, unsigned dim,
                           poplar::program::Sequence &prog,
                           const poplar::DebugContext &debugContext = {})
{
  poplar::detail::LibraryCall call(graph, prog, debugContext);
  return call.finish(pop_popops_sort(graph.c(), poplar::detail::check(t.c()), poplar::Tensor().c(),
                                     dim, nullptr, call.program(), call.c()));
}
inline void sortInPlace(poplar::Graph &graph, const poplar::Tensor &t, unsigned dim,
                        poplar::program::Sequence &prog,
                        const poplar::DebugContext &debugContext = {})
{
  prog.add(poplar::program::Copy(sort(graph, t, dim, prog, debugContext), t, false, debugContext));
}

namespace detail
{

inline std::pair<poplar::Tensor, poplar::Tensor> sortBoth(poplar::Graph &graph,
                                                          const poplar::Tensor &k,
                                                          const poplar::Tensor &v, unsigned dim,
                                                          poplar::program::Sequence &prog,
                                                          const poplar::DebugContext &debugContext)
{
  poplar::detail::LibraryCall call(graph, prog, debugContext);
  pop_tensor values;
  pop_tensor keys =
      pop_popops_sort(graph.c(), poplar::detail::check(k.c()), poplar::detail::check(v.c()), dim,
                      &values, call.program(), call.c());
  call.finish();
  return {poplar::Tensor(keys), poplar::Tensor(values)};
}

} // namespace detail

// Returns the values in the order of their keys.
inline poplar::Tensor sortKeyValue(poplar::Graph &graph, const poplar::Tensor &k,
                                   const poplar::Tensor &v, unsigned dim,
                                   poplar::program::Sequence &prog,
                                   const poplar::DebugContext &debugContext = {})
{
  return detail::sortBoth(graph, k, v, dim, prog, debugContext).second;
}
inline void sortKeyValueInPlace(poplar::Graph &graph, const poplar::Tensor &k,
                                const poplar::Tensor &v, unsigned dim,
                                poplar::program::Sequence &prog,
                                const poplar::DebugContext &debugContext = {})
{
  auto sorted = detail::sortBoth(graph, k, v, dim, prog, debugContext);
  prog.add(poplar::program::Copy(sorted.first, k, false, debugContext));
  prog.add(poplar::program::Copy(sorted.second, v, false, debugContext));
}

} // namespace popops

#endif
