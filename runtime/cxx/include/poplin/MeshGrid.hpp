// Values at equal distances, and grids of them.
#ifndef POPLIN_MESHGRID_HPP
#define POPLIN_MESHGRID_HPP

#include <poplar/detail/Library.hpp>
#include <poputil/TileMapping.hpp>

namespace poplin
{

// A constant of `count` values from `left` to `right`, both included; one value is `left`.
inline poplar::Tensor linspace(poplar::Graph &graph, const poplar::Type &type, float left,
                               float right, std::size_t count,
                               const poplar::DebugContext &debugContext = {})
{
  if (type != poplar::FLOAT && type != poplar::HALF)
    throw poplar::poplar_error("poplin::linspace: values of type " + type.toString() +
                               "; they can be of FLOAT or HALF");
  std::vector<float> values(count, left);
  const double range = static_cast<double>(right) - static_cast<double>(left);
  for (std::size_t i = 1; i + 1 < count; i++)
    values[i] = static_cast<float>(static_cast<double>(left) +
                                   range * static_cast<double>(i) / static_cast<double>(count - 1));
  if (count > 1) values.back() = right;
  poplar::Tensor t = graph.addConstant<float>(type, {count}, values, debugContext);
  poputil::mapTensorLinearly(graph, t);
  return t;
}

// Two views of shape [elements of y, elements of x]: the values of `x` along rows, and those of `y`
// along columns.
inline std::vector<poplar::Tensor> meshgrid2d(poplar::Graph &, poplar::Tensor x, poplar::Tensor y)
{
  if (x.rank() != 1 || y.rank() != 1)
    throw poplar::poplar_error("poplin::meshgrid2d: tensors of shapes " + x.shapeToString() +
                               " and " + y.shapeToString() + "; both must have one dimension");
  if (x.elementType() != y.elementType())
    throw poplar::poplar_error("poplin::meshgrid2d: elements of type " +
                               x.elementType().toString() + " and " + y.elementType().toString() +
                               "; they must be of one type");
  return {x.expand({0}).broadcast(static_cast<unsigned>(y.dim(0)), 0),
          y.expand({1}).broadcast(static_cast<unsigned>(x.dim(0)), 1)};
}

} // namespace poplin

#endif
