// The largest or smallest of many: populus/popops_sort.h.
#ifndef POPOPS_TOPK_HPP
#define POPOPS_TOPK_HPP

#include <popops/Encoding.hpp>
#include <popops/SortOrder.hpp>
#include <populus/popops_sort.h>

namespace popops
{

struct TopKParams {
  unsigned k;
  bool largest;
  SortOrder sortOrder; // NONE: the best first
  bool stableSort;     // has no effect: sorting is always stable

  TopKParams(unsigned count, bool takeLargest, SortOrder order, bool stable = false) noexcept
      : k(count), largest(takeLargest), sortOrder(order), stableSort(stable)
  {
  }
};
inline std::ostream &operator<<(std::ostream &os, const TopKParams &p)
{
  return os << "{k=" << p.k << ", largest=" << (p.largest ? "true" : "false")
            << ", sortOrder=" << p.sortOrder << "}";
}

inline poplar::Tensor createTopKInput(poplar::Graph &graph, const poplar::Type &type,
                                      const std::vector<std::size_t> &shape, const TopKParams &,
                                      const poplar::DebugContext &debugContext = {})
{
  return graph.addVariable(type, shape, poplar::VariableMappingMethod::LINEAR, debugContext);
}

namespace detail
{

inline std::pair<poplar::Tensor, poplar::Tensor> topK(poplar::Graph &graph,
                                                      poplar::program::Sequence &prog,
                                                      const poplar::Tensor &keys,
                                                      const poplar::Tensor &values,
                                                      const TopKParams &params,
                                                      const poplar::DebugContext &debugContext)
{
  pop_top_k which = {params.k, params.largest,
                     params.sortOrder == SortOrder::NONE
                         ? !params.largest
                         : params.sortOrder == SortOrder::ASCENDING};
  poplar::detail::LibraryCall call(graph, prog, debugContext);
  pop_tensor top_values;
  pop_tensor top = pop_popops_top_k(graph.c(), poplar::detail::check(keys.c()), values.c(), which,
                                    &top_values, call.program(), call.c());
  call.finish();
  return {poplar::Tensor(top), poplar::Tensor(top_values)};
}

} // namespace detail

// The k largest or smallest elements of each row of the last dimension.
inline poplar::Tensor topK(poplar::Graph &graph, poplar::program::Sequence &prog,
                           const poplar::Tensor &t, const TopKParams &params,
                           const poplar::DebugContext &debugContext = {})
{
  return detail::topK(graph, prog, t, {}, params, debugContext).first;
}
// The keys and their values.
inline std::pair<poplar::Tensor, poplar::Tensor> topKKeyValue(
    poplar::Graph &graph, poplar::program::Sequence &prog, const poplar::Tensor &keys,
    const poplar::Tensor &values, const TopKParams &params,
    const poplar::DebugContext &debugContext = {})
{
  return detail::topK(graph, prog, keys, values, params, debugContext);
}
// The keys and their positions in their rows, as unsigned int.
inline std::pair<poplar::Tensor, poplar::Tensor> topKWithPermutation(
    poplar::Graph &graph, poplar::program::Sequence &prog, const poplar::Tensor &t,
    const TopKParams &params, const poplar::DebugContext &debugContext = {})
{
  poplar::Tensor places = detail::places(graph, poplar::UNSIGNED_INT, t.shape());
  return detail::topK(graph, prog, t, places, params, debugContext);
}

} // namespace popops

#endif
