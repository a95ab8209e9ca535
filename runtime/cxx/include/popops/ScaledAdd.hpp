// a += scale * b: populus/popops.h.
#ifndef POPOPS_SCALEDADD_HPP
#define POPOPS_SCALEDADD_HPP

#include <poplar/detail/Library.hpp>
#include <populus/popops.h>

namespace popops
{

namespace detail
{

// There is one vertex for it, which calculates in single precision: that is fast and tolerates nothing.
inline void checkScaledAddOptions(const char *function, const poplar::OptionFlags &options)
{
  using poplar::detail::OptionValue;
  poplar::detail::checkOptions(function, options,
                               {{"optimizeForSpeed", OptionValue::TRUTH},
                                {"scaleFloatToHalfTolerance", OptionValue::NUMBER}});
}
inline void scaledAddBy(poplar::Graph &graph, const poplar::Tensor &a, const poplar::Tensor &b,
                        const poplar::Tensor &by, double scale, poplar::program::Sequence &prog,
                        const poplar::DebugContext &debugContext)
{
  poplar::detail::LibraryCall call(graph, prog, debugContext);
  pop_popops_scaled_add_by(graph.c(), poplar::detail::check(a.c()), poplar::detail::check(b.c()),
                           poplar::detail::check(by.c()), scale, call.program(), call.c());
  call.finish();
}

} // namespace detail

inline void scaledAddTo(poplar::Graph &graph, const poplar::Tensor &a, const poplar::Tensor &b,
                        float scale, poplar::program::Sequence &prog,
                        const poplar::DebugContext &debugContext = {},
                        const poplar::OptionFlags &options = {})
{
  detail::checkScaledAddOptions("popops::scaledAddTo", options);
  poplar::detail::LibraryCall call(graph, prog, debugContext);
  pop_popops_scaled_add_to(graph.c(), poplar::detail::check(a.c()), poplar::detail::check(b.c()),
                           static_cast<double>(scale), call.program(), call.c());
  call.finish();
}
// A scale that the device knows, of one element.
inline void scaledAddTo(poplar::Graph &graph, const poplar::Tensor &a, const poplar::Tensor &b,
                        const poplar::Tensor &scale, poplar::program::Sequence &prog,
                        const poplar::DebugContext &debugContext = {},
                        const poplar::OptionFlags &options = {})
{
  detail::checkScaledAddOptions("popops::scaledAddTo", options);
  detail::scaledAddBy(graph, a, b, scale, 1, prog, debugContext);
}
inline void scaledSubtractFrom(poplar::Graph &graph, const poplar::Tensor &a,
                               const poplar::Tensor &b, float scale,
                               poplar::program::Sequence &prog,
                               const poplar::DebugContext &debugContext = {},
                               const poplar::OptionFlags &options = {})
{
  detail::checkScaledAddOptions("popops::scaledSubtractFrom", options);
  scaledAddTo(graph, a, b, -scale, prog, debugContext);
}
inline void scaledSubtractFrom(poplar::Graph &graph, const poplar::Tensor &a,
                               const poplar::Tensor &b, const poplar::Tensor &scale,
                               poplar::program::Sequence &prog,
                               const poplar::DebugContext &debugContext = {},
                               const poplar::OptionFlags &options = {})
{
  detail::checkScaledAddOptions("popops::scaledSubtractFrom", options);
  detail::scaledAddBy(graph, a, b, scale, -1, prog, debugContext);
}

} // namespace popops

#endif
