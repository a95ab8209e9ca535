// Another order of a tensor's elements, and back.
#ifndef POPLAR_TENSORREARRANGER_HPP
#define POPLAR_TENSORREARRANGER_HPP

#include <algorithm>
#include <poplar/Tensor.hpp>

namespace poplar
{

// Made by Graph::getSimplifyingRearranger. Tensors become flat.
class TensorRearranger
{
  std::vector<Interval> order, inverse; // of elements before, of elements behind
  std::size_t elements = 0;

  Tensor in(const std::vector<Interval> &intervals, const Tensor &tensor) const
  {
    if (!valid() || tensor.numElements() != elements)
      throw tensor_creation_error("TensorRearranger: it is for " + std::to_string(elements) +
                                  " elements, and the tensor has " +
                                  std::to_string(tensor.numElements()));
    return concat(tensor.flatten().slices(ArrayRef<Interval>(intervals)));
  }

public:
  TensorRearranger() = default;
  // `intervals` hold each of `numElements` elements once.
  TensorRearranger(std::vector<Interval> intervals, std::size_t numElements)
      : order(std::move(intervals)), elements(numElements)
  {
    std::vector<std::pair<std::size_t, Interval>> back; // first element before, place behind
    std::size_t at = 0;
    for (const Interval &i : order) {
      back.emplace_back(i.begin(), Interval(at, at + i.size()));
      at += i.size();
    }
    std::sort(back.begin(), back.end());
    for (const auto &b : back) inverse.push_back(b.second);
  }
  bool valid() const { return !order.empty(); }
  Tensor rearrange(const Tensor &tensor) const { return in(order, tensor); }
  Tensor undoRearrangement(const Tensor &tensor) const { return in(inverse, tensor); }
};

} // namespace poplar

#endif
