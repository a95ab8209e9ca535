// Adds elements around a tensor, or removes some. Results are views: nothing is copied.
#ifndef POPOPS_PAD_HPP
#define POPOPS_PAD_HPP

#include <poplar/Graph.hpp>

namespace popops
{
namespace padding
{

enum class Type {
  EDGE,   // the first and last elements again
  REFLECT // the elements next to these, in reverse
};
enum class MappingMethod {
  NONE, // padding is on no tile until the program maps it
  ZERO, // on tile 0
  EDGE  // on the tile of the nearest element; those on none are on tile 0
};

} // namespace padding

namespace detail
{

// Removes -n elements where a number n is negative.
inline poplar::Tensor cut(const poplar::Tensor &t, std::ptrdiff_t lower, std::ptrdiff_t upper,
                          unsigned dim)
{
  std::ptrdiff_t size = static_cast<std::ptrdiff_t>(t.dim(dim));
  std::ptrdiff_t begin = std::min(std::max<std::ptrdiff_t>(-lower, 0), size);
  std::ptrdiff_t end = std::max(size - std::max<std::ptrdiff_t>(-upper, 0), begin);
  return t.slice(static_cast<std::size_t>(begin), static_cast<std::size_t>(end), dim);
}
template <typename Padder>
poplar::Tensor padAll(poplar::Tensor t, const std::vector<std::ptrdiff_t> &lower,
                      const std::vector<std::ptrdiff_t> &upper, Padder pad)
{
  if (lower.size() != t.rank() || upper.size() != t.rank())
    throw poplar::tensor_creation_error(
        "popops::pad: a tensor of shape " + t.shapeToString() + " needs " +
        std::to_string(t.rank()) + " sizes before and behind, not " + std::to_string(lower.size()) +
        " and " + std::to_string(upper.size()));
  for (unsigned d = 0; d < t.rank(); ++d) t = pad(t, lower[d], upper[d], d);
  return t;
}

// `value` has one element of the tensor's type.
inline poplar::Tensor padWith(const poplar::Tensor &t, std::ptrdiff_t lower, std::ptrdiff_t upper,
                              unsigned dim, const poplar::Tensor &value)
{
  const poplar::Tensor middle = cut(t, lower, upper, dim); // throws if there is no such dimension
  auto block = [&](std::ptrdiff_t size) {
    std::vector<std::size_t> shape = t.shape();
    shape[dim] = static_cast<std::size_t>(std::max<std::ptrdiff_t>(size, 0));
    std::size_t count = 1;
    for (std::size_t s : shape) count *= s;
    return value.reshape({1}).broadcast(static_cast<unsigned>(count), 0).reshape(shape);
  };
  return poplar::concat({block(lower), middle, block(upper)}, dim);
}
// Constants for padding beside `edge`, which has one element in `dim`: `size` times as large,
// each on the tile of its nearest element.
template <typename T>
poplar::Tensor constantsBeside(poplar::Graph &graph, const poplar::Tensor &edge,
                               std::ptrdiff_t size, unsigned dim, T value)
{
  std::vector<poplar::Tensor> layers;
  for (std::ptrdiff_t i = 0; i < size; ++i) {
    poplar::Tensor layer = graph.addConstant(edge.elementType(), edge.shape(), value, "padding");
    graph.setTileMapping(layer, 0);
    graph.setTileMapping(layer, graph.getTileMapping(edge, false));
    layers.push_back(layer);
  }
  return poplar::concat(layers, dim);
}
template <typename T>
poplar::Tensor padWithConstant(poplar::Graph &graph, const poplar::Tensor &t, std::ptrdiff_t lower,
                               std::ptrdiff_t upper, unsigned dim, T value,
                               padding::MappingMethod method)
{
  poplar::Tensor middle = cut(t, lower, upper, dim);
  if (method != padding::MappingMethod::EDGE || middle.numElements() == 0) {
    poplar::Tensor constant = graph.addConstant(t.elementType(), {}, value, "padding");
    if (method != padding::MappingMethod::NONE) graph.setTileMapping(constant, 0);
    return padWith(t, lower, upper, dim, constant);
  }
  std::vector<poplar::Tensor> parts = {middle};
  std::size_t size = middle.dim(dim);
  if (lower > 0)
    parts.insert(parts.begin(), constantsBeside(graph, middle.slice(0, 1, dim), lower, dim, value));
  if (upper > 0)
    parts.push_back(constantsBeside(graph, middle.slice(size - 1, size, dim), upper, dim, value));
  return poplar::concat(parts, dim);
}
template <typename T>
poplar::Tensor padAllWithConstant(poplar::Graph &graph, const poplar::Tensor &t,
                                  const std::vector<std::ptrdiff_t> &lower,
                                  const std::vector<std::ptrdiff_t> &upper, T value,
                                  padding::MappingMethod method)
{
  return padAll(t, lower, upper,
                [&](const poplar::Tensor &x, std::ptrdiff_t l, std::ptrdiff_t u, unsigned d) {
                  return padWithConstant(graph, x, l, u, d, value, method);
                });
}

} // namespace detail

// Adds lower[d] elements before and upper[d] elements after dimension d; negative numbers remove
// elements. `val` is a number, or a tensor of rank 0 of the tensor's type. In the second case the
// MappingMethod has no effect: padding is where `val` is.
inline poplar::Tensor pad(poplar::Graph &, const poplar::Tensor &t,
                          const std::vector<std::ptrdiff_t> &lower,
                          const std::vector<std::ptrdiff_t> &upper, const poplar::Tensor &val,
                          padding::MappingMethod = padding::MappingMethod::ZERO)
{
  return detail::padAll(t, lower, upper,
                        [&](const poplar::Tensor &x, std::ptrdiff_t l, std::ptrdiff_t u,
                            unsigned d) { return detail::padWith(x, l, u, d, val); });
}
inline poplar::Tensor pad(poplar::Graph &graph, const poplar::Tensor &t,
                          const std::vector<std::ptrdiff_t> &lower,
                          const std::vector<std::ptrdiff_t> &upper, float val = 0,
                          padding::MappingMethod method = padding::MappingMethod::ZERO)
{
  return detail::padAllWithConstant(graph, t, lower, upper, val, method);
}
inline poplar::Tensor pad(poplar::Graph &graph, const poplar::Tensor &t,
                          const std::vector<std::ptrdiff_t> &lower,
                          const std::vector<std::ptrdiff_t> &upper, int val,
                          padding::MappingMethod method = padding::MappingMethod::ZERO)
{
  return detail::padAllWithConstant(graph, t, lower, upper, val, method);
}
// The same for one dimension.

inline poplar::Tensor pad(poplar::Graph &, const poplar::Tensor &t, std::ptrdiff_t lower,
                          std::ptrdiff_t upper, unsigned dim, const poplar::Tensor &val,
                          padding::MappingMethod = padding::MappingMethod::ZERO)
{
  return detail::padWith(t, lower, upper, dim, val);
}
inline poplar::Tensor pad(poplar::Graph &graph, const poplar::Tensor &t, std::ptrdiff_t lower,
                          std::ptrdiff_t upper, unsigned dim, float val = 0,
                          padding::MappingMethod method = padding::MappingMethod::ZERO)
{
  return detail::padWithConstant(graph, t, lower, upper, dim, val, method);
}
inline poplar::Tensor pad(poplar::Graph &graph, const poplar::Tensor &t, std::ptrdiff_t lower,
                          std::ptrdiff_t upper, unsigned dim, int val,
                          padding::MappingMethod method = padding::MappingMethod::ZERO)
{
  return detail::padWithConstant(graph, t, lower, upper, dim, val, method);
}

// Pads with the tensor's own elements. Throws tensor_creation_error if it has too few.
inline poplar::Tensor pad(const poplar::Tensor &t, std::ptrdiff_t lower, std::ptrdiff_t upper,
                          unsigned dim, padding::Type type)
{
  poplar::Tensor middle = detail::cut(t, lower, upper, dim);
  std::size_t size = middle.dim(dim);
  std::size_t before = static_cast<std::size_t>(std::max<std::ptrdiff_t>(lower, 0)),
              behind = static_cast<std::size_t>(std::max<std::ptrdiff_t>(upper, 0));
  std::size_t most = type == padding::Type::REFLECT ? std::max(before, behind) : 0;
  if (size == 0 || most >= size)
    throw poplar::tensor_creation_error("popops::pad: dimension " + std::to_string(dim) + " has " +
                                        std::to_string(size) + " elements, too few to pad with");
  if (type == padding::Type::EDGE)
    return poplar::concat(
        {middle.slice(0, 1, dim).broadcast(static_cast<unsigned>(before), dim), middle,
         middle.slice(size - 1, size, dim).broadcast(static_cast<unsigned>(behind), dim)},
        dim);
  return poplar::concat({middle.slice(1, before + 1, dim).reverse(dim), middle,
                         middle.slice(size - 1 - behind, size - 1, dim).reverse(dim)},
                        dim);
}
inline poplar::Tensor pad(const poplar::Tensor &t, const std::vector<std::ptrdiff_t> &lower,
                          const std::vector<std::ptrdiff_t> &upper, padding::Type type)
{
  return detail::padAll(t, lower, upper,
                        [&](const poplar::Tensor &x, std::ptrdiff_t l, std::ptrdiff_t u,
                            unsigned d) { return pad(x, l, u, d, type); });
}

} // namespace popops

#endif
