// Puts the elements of tensors into another order, and back.
#ifndef POPLAR_TENSORREARRANGER_HPP
#define POPLAR_TENSORREARRANGER_HPP

#include <cstdlib>
#include <poplar/Tensor.hpp>

namespace poplar
{

// Made by Graph::getSimplifyingRearranger. Tensors become flat.
class TensorRearranger
{
  std::vector<Interval> order, inverse; // of elements before, and after rearrangement
  std::size_t elements = 0;
  bool made = false;

  Tensor in(const std::vector<Interval> &intervals, const Tensor &tensor) const
  {
    if (!valid() || tensor.numElements() != elements)
      throw tensor_creation_error("TensorRearranger: it is for " + std::to_string(elements) +
                                  " elements, and the tensor has " +
                                  std::to_string(tensor.numElements()));
    if (intervals.empty()) return tensor.flatten();
    return concat(tensor.flatten().slices(ArrayRef<Interval>(intervals)));
  }

public:
  TensorRearranger() = default;
  // `intervals` hold each of `numElements` elements once.
  TensorRearranger(std::vector<Interval> intervals, std::size_t numElements)
      : order(std::move(intervals)), elements(numElements), made(true)
  {
    struct Back {
      std::size_t before, behind, size; // positions of the elements before and after
    };
    std::size_t at = 0;
    detail::CArray<Back> back(order, [&](const Interval &i) {
      at += i.size();
      return Back{i.begin(), at - i.size(), i.size()};
    });
    // std::sort would take every program that includes this longer to compile.
    std::qsort(back.data(), back.size(), sizeof(Back), [](const void *a, const void *b) {
      std::size_t x = static_cast<const Back *>(a)->before;
      std::size_t y = static_cast<const Back *>(b)->before;
      return (x > y) - (x < y);
    });
    for (const Back &b : back) inverse.push_back(Interval(b.behind, b.behind + b.size));
  }
  bool valid() const { return made; }
  Tensor rearrange(const Tensor &tensor) const { return in(order, tensor); }
  Tensor undoRearrangement(const Tensor &tensor) const { return in(inverse, tensor); }
};

} // namespace poplar

#endif
