// All elements get one value: populus/popops.h.
#ifndef POPOPS_FILL_HPP
#define POPOPS_FILL_HPP

#include <poplar/detail/Library.hpp>
#include <populus/popops.h>

namespace popops
{

template <typename T, typename = typename std::enable_if<std::is_arithmetic<T>::value>::type>
void fill(poplar::Graph &graph, const poplar::Tensor &tensor, poplar::program::Sequence &prog,
          T value, const poplar::DebugContext &debugContext = {})
{
  auto bytes = poplar::detail::toDevice(tensor.elementType().c(), &value, 1);
  poplar::detail::LibraryCall call(graph, prog, debugContext);
  pop_popops_fill(graph.c(), poplar::detail::check(tensor.c()), bytes.data(), call.program(),
                  call.c());
  call.finish();
}

} // namespace popops

#endif
