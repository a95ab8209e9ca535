// a += scale * b: populus/popops.h.
#ifndef POPOPS_SCALEDADD_HPP
#define POPOPS_SCALEDADD_HPP

#include <poplar/detail/Library.hpp>
#include <populus/popops.h>

namespace popops
{

inline void scaledAddTo(poplar::Graph &graph, const poplar::Tensor &a, const poplar::Tensor &b,
                        float scale, poplar::program::Sequence &prog,
                        const poplar::DebugContext &debugContext = {},
                        const poplar::OptionFlags &options = {})
{
  poplar::detail::refuseOptions("popops::scaledAddTo", options);
  poplar::detail::LibraryCall call(graph, prog, debugContext);
  pop_popops_scaled_add_to(graph.c(), poplar::detail::check(a.c()), poplar::detail::check(b.c()),
                           static_cast<double>(scale), call.program(), call.c());
  call.finish();
}
inline void scaledSubtractFrom(poplar::Graph &graph, const poplar::Tensor &a,
                               const poplar::Tensor &b, float scale,
                               poplar::program::Sequence &prog,
                               const poplar::DebugContext &debugContext = {},
                               const poplar::OptionFlags &options = {})
{
  scaledAddTo(graph, a, b, -scale, prog, debugContext, options);
}

} // namespace popops

#endif
