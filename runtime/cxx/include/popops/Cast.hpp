// Conversion of elements to another type: populus/popops.h.
#ifndef POPOPS_CAST_HPP
#define POPOPS_CAST_HPP

#include <poplar/detail/Library.hpp>
#include <populus/popops.h>

namespace popops
{
namespace detail
{

inline poplar::Tensor quartersLike(poplar::Graph &graph, const poplar::Tensor &source,
                                   const poplar::Type &type, const poplar::Tensor &metadata,
                                   const poplar::DebugContext &debugContext)
{
  if (type != poplar::QUARTER)
    throw poplar::tensor_metadata_error("popops::cast: metadata for elements of type " +
                                        type.toString() + ", which have none");
  return graph.clone(type, metadata, source, debugContext);
}

} // namespace detail

inline poplar::Tensor cast(poplar::Graph &graph, const poplar::Tensor &source,
                           const poplar::Type &type, poplar::program::Sequence &prog,
                           const poplar::DebugContext &debugContext = {})
{
  poplar::detail::LibraryCall call(graph, prog, debugContext);
  return call.finish(pop_popops_cast(graph.c(), poplar::detail::check(source.c()), type.c(),
                                     poplar::Tensor().c(), call.program(), call.c()));
}
inline void castWithOutput(poplar::Graph &graph, const poplar::Tensor &source,
                           const poplar::Tensor &out, poplar::program::Sequence &prog,
                           const poplar::DebugContext &debugContext = {})
{
  poplar::detail::LibraryCall call(graph, prog, debugContext);
  call.finish(pop_popops_cast(graph.c(), poplar::detail::check(source.c()), out.elementType().c(),
                              poplar::detail::check(out.c()), call.program(), call.c()));
}
// Converts to quarters of a format and scale: `type` is QUARTER, `metadata` a tensor of
// poplar/MetadataCreation.hpp. Throws tensor_metadata_error for other types.
inline poplar::Tensor cast(poplar::Graph &graph, const poplar::Tensor &source,
                           const poplar::Type &type, const poplar::Tensor &metadata,
                           poplar::program::Sequence &prog,
                           const poplar::DebugContext &debugContext = {})
{
  poplar::Tensor out = detail::quartersLike(graph, source, type, metadata, debugContext);
  castWithOutput(graph, source, out, prog, debugContext);
  return out;
}
// Adds vertices to a compute set that the program executes, on the tiles of `out`.
inline void cast(poplar::Graph &graph, const poplar::Tensor &source, const poplar::Tensor &out,
                 const poplar::ComputeSet &computeSet)
{
  pop_popops_cast_in_set(graph.c(), poplar::detail::check(source.c()), out.elementType().c(),
                         poplar::detail::check(out.c()), computeSet.c(), nullptr);
  poplar::detail::check(graph.c());
}
inline poplar::Tensor cast(poplar::Graph &graph, const poplar::Tensor &source,
                           const poplar::Type &type, const poplar::ComputeSet &computeSet,
                           const poplar::DebugContext &debugContext = {})
{
  poplar::Tensor out(pop_popops_cast_in_set(graph.c(), poplar::detail::check(source.c()), type.c(),
                                            poplar::Tensor().c(), computeSet.c(),
                                            debugContext.c()));
  poplar::detail::check(graph.c());
  return out;
}
inline poplar::Tensor cast(poplar::Graph &graph, const poplar::Tensor &source,
                           const poplar::Type &type, const poplar::Tensor &metadata,
                           const poplar::ComputeSet &computeSet,
                           const poplar::DebugContext &debugContext = {})
{
  poplar::Tensor out = detail::quartersLike(graph, source, type, metadata, debugContext);
  cast(graph, source, out, computeSet);
  return out;
}
// Returns a program that converts `source` to `out`.
inline poplar::program::Program cast(poplar::Graph &graph, const poplar::Tensor &source,
                                     const poplar::Tensor &out,
                                     const poplar::DebugContext &debugContext = {})
{
  poplar::program::Sequence prog;
  castWithOutput(graph, source, out, prog, debugContext);
  return poplar::program::Program(std::move(prog));
}

} // namespace popops

#endif
