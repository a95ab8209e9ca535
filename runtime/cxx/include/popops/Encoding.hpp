// Consecutive numbers, and one-hot encoding.
#ifndef POPOPS_ENCODING_HPP
#define POPOPS_ENCODING_HPP

#include <cstdint>
#include <numeric>
#include <popops/Cast.hpp>
#include <popops/ElementWise.hpp>

namespace popops
{
namespace detail
{

// A constant whose elements are their positions in the last dimension, plus `first`.
inline poplar::Tensor places(poplar::Graph &graph, const poplar::Type &type,
                             const std::vector<std::size_t> &shape, std::int64_t first = 0)
{
  std::vector<std::int64_t> numbers(shape.empty() ? 1 : shape.back());
  std::iota(numbers.begin(), numbers.end(), first);
  poplar::Tensor row = graph.addConstant(type, {numbers.size()}, numbers, "places");
  poplar::detail::check((pop_graph_map_linearly(graph.c(), row.c(), 0, 0), graph.c()));
  std::size_t rows = 1;
  for (std::size_t d = 0; d + 1 < shape.size(); ++d) rows *= shape[d];
  return row.expand({0}).broadcast(static_cast<unsigned>(rows), 0).reshape(shape);
}

} // namespace detail

namespace detail
{

inline void iota(poplar::Graph &graph, const poplar::Tensor &t, std::int64_t first,
                 poplar::program::Sequence &prog, const poplar::DebugContext &debugContext)
{
  if (t.rank() != 1)
    throw poplar::tensor_creation_error("popops::iota: a tensor of rank 1 is needed, not " +
                                        t.shapeToString());
  prog.add(poplar::program::Copy(places(graph, t.elementType(), t.shape(), first), t, false,
                                 debugContext));
}

} // namespace detail

// Sets a tensor of rank 1 to first, first + 1, ….
inline void iota(poplar::Graph &graph, const poplar::Tensor &t, unsigned first,
                 poplar::program::Sequence &prog, const poplar::DebugContext &debugContext = {})
{
  detail::iota(graph, t, first, prog, debugContext);
}
inline void iota(poplar::Graph &graph, const poplar::Tensor &t, int first,
                 poplar::program::Sequence &prog, const poplar::DebugContext &debugContext = {})
{
  detail::iota(graph, t, first, prog, debugContext);
}

// Sets row i of `encoded`, [n, classes], to `on` at indices[i] and to `off` elsewhere. `on` and
// `off` are scalars of its type. Indices may have any rank; `encoded` has one dimension more.
inline void encodeOneHot(poplar::Graph &graph, const poplar::Tensor &indices,
                         const poplar::Tensor &encoded, poplar::program::Sequence &prog,
                         const poplar::Tensor &on, const poplar::Tensor &off,
                         const poplar::DebugContext &debugContext = {})
{
  if (encoded.rank() != indices.rank() + 1)
    throw poplar::tensor_creation_error(
        "popops::encodeOneHot: indices of shape " + indices.shapeToString() +
        " need a result of one more dimension, not " + encoded.shapeToString());
  poplar::Tensor numbers = detail::places(graph, indices.elementType(), {encoded.shape().back()});
  poplar::Tensor is = eq(graph, indices.expand({indices.rank()}), numbers, prog, debugContext);
  mapWithOutput(graph, expr::Select(expr::_1, expr::_2, expr::_3), {on, off, is}, encoded, prog,
                debugContext);
}
// The same with 1 and 0.

inline void encodeOneHot(poplar::Graph &graph, const poplar::Tensor &indices,
                         const poplar::Tensor &encoded, poplar::program::Sequence &prog,
                         const poplar::DebugContext &debugContext = {})
{
  poplar::Tensor values =
      graph.addConstant(encoded.elementType(), {2}, std::vector<unsigned>{1, 0}, debugContext);
  graph.setTileMapping(values, 0);
  encodeOneHot(graph, indices, encoded, prog, values[0], values[1], debugContext);
}

} // namespace popops

#endif
