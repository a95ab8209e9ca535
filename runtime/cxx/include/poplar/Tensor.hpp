// Views of variables' elements: populus/tensor.h.
#ifndef POPLAR_TENSOR_HPP
#define POPLAR_TENSOR_HPP

#include <ostream>
#include <poplar/ArrayRef.hpp>
#include <poplar/Interval.hpp>
#include <poplar/TensorCloneMethod.hpp>
#include <poplar/Type.hpp>
#include <poplar/detail/CArray.hpp>
#include <poplar/detail/HostValues.hpp>
#include <poplar/detail/Missing.hpp>
#include <poplar/exceptions.hpp>
#include <populus/graph.h>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace poplar
{
namespace detail
{

// Throws the error that the graph has, if any. The graph continues as if the call that failed had
// not been made.
inline void check(pop_graph *graph)
{
  if (graph && pop_graph_error(graph)) check(pop_graph_take_error(graph));
}

inline pop_tensor check(pop_tensor t)
{
  if (t.index) return t;
  check(t.graph);
  throw tensor_creation_error("the tensor is null: nothing can be done with it");
}

inline CArray<std::size_t> sizes(ArrayRef<unsigned> numbers)
{
  return CArray<std::size_t>(numbers, [](unsigned n) { return n; });
}

} // namespace detail

struct VariableInterval {
  std::size_t var; // the variable's number in the graph
  Interval interval;

  friend bool operator==(const VariableInterval &a, const VariableInterval &b)
  {
    return a.var == b.var && a.interval == b.interval;
  }
  friend bool operator!=(const VariableInterval &a, const VariableInterval &b) { return !(a == b); }
  friend bool operator<(const VariableInterval &a, const VariableInterval &b)
  {
    return a.var != b.var ? a.var < b.var : a.interval < b.interval;
  }
};
using VariableRef = std::size_t;

// Repeats each element several times in a row.
enum class UpsampleMethod { REPEAT };

// A tensor keeps its graph alive: it may be used when the Graph is gone.
class Tensor
{
  pop_tensor t = {nullptr, 0};

  static std::string text(std::size_t (*print)(pop_tensor, char *, std::size_t), pop_tensor tensor)
  {
    std::string result(print(tensor, nullptr, 0) + 1, '\0');
    print(tensor, &result[0], result.size());
    result.pop_back();
    return result;
  }

public:
  Tensor() = default;
  explicit Tensor(pop_tensor tensor) : t(tensor)
  {
    if (t.graph) pop_graph_retain(t.graph);
  }
  Tensor(const Tensor &other) : Tensor(other.t) {}
  Tensor(Tensor &&other) noexcept : t(other.t) { other.t = {nullptr, 0}; }
  Tensor &operator=(Tensor other) noexcept
  {
    std::swap(t, other.t);
    return *this;
  }
  ~Tensor() { pop_graph_release(t.graph); }
  pop_tensor c() const { return t; }

  // ---- queries ----

  bool valid() const { return pop_tensor_valid(t); }
  Type elementType() const { return Type(pop_tensor_element_type(t)); }
  unsigned rank() const { return static_cast<unsigned>(pop_tensor_rank(t)); }
  std::size_t dim(unsigned i) const
  {
    if (i >= rank())
      throw index_error("Tensor::dim(" + std::to_string(i) + "): the tensor's rank is " +
                        std::to_string(rank()));
    return pop_tensor_dim(t, i);
  }
  std::vector<std::size_t> shape() const
  {
    const std::size_t *sizes = pop_tensor_shape(t);
    return std::vector<std::size_t>(sizes, sizes + rank());
  }
  std::size_t numElements() const { return pop_tensor_num_elements(t); }
  std::size_t numBytes() const { return numElements() * pop_type_bytes(elementType().c()); }
  bool isContiguous() const { return pop_tensor_is_contiguous(t); }
  bool containsAliases() const { return pop_tensor_contains_aliases(t); }
  bool containsConstant() const { return pop_tensor_contains_constant(t); }
  bool isParallelWriteable() const { return pop_tensor_is_parallel_writeable(t); }
  bool intersectsWith(const Tensor &other) const { return pop_tensor_intersects_with(t, other.t); }
  std::string shapeToString() const { return text(pop_tensor_shape_string, t); }
  std::string getDebugStr() const { return text(pop_tensor_debug_string, t); }
  std::string getVarStr() const { return getDebugStr(); }
  void dump() const { pop_tensor_dump(t, stderr); }
  void dumpRegions() const { dump(); }
  void outputRegions(std::ostream &os) const { os << getDebugStr(); }
  friend bool operator==(const Tensor &a, const Tensor &b) { return pop_tensor_equal(a.t, b.t); }
  friend bool operator!=(const Tensor &a, const Tensor &b) { return !(a == b); }
  friend std::ostream &operator<<(std::ostream &os, const Tensor &tensor)
  {
    return os << tensor.getDebugStr();
  }

  // ---- parts ----

  Tensor operator[](std::size_t i) const { return Tensor(detail::check(pop_tensor_index(t, i))); }
  Tensor index(ArrayRef<std::size_t> indices) const
  {
    Tensor result = *this;
    for (std::size_t i : indices) result = result[i];
    return result;
  }
  Tensor slice(std::size_t begin, std::size_t end, unsigned dimension = 0) const
  {
    return Tensor(detail::check(pop_tensor_slice(t, begin, end, dimension)));
  }
  Tensor slice(const Interval &region, unsigned dimension = 0) const
  {
    return slice(region.begin(), region.end(), dimension);
  }
  Tensor slice(ArrayRef<std::size_t> begin, ArrayRef<std::size_t> end) const
  {
    if (begin.size() != end.size())
      throw index_error("Tensor::slice: " + std::to_string(begin.size()) + " begins and " +
                        std::to_string(end.size()) + " ends: there must be as many");
    return Tensor(detail::check(pop_tensor_slice_nd(t, begin.data(), end.data(), begin.size())));
  }
  // In a dimension of size 1, intervals are cut off at 1. So libraries can take the same regions of
  // an operand and of a single element that is broadcast to it.
  std::vector<Tensor> slices(ArrayRef<Interval> intervals, unsigned dimension = 0) const
  {
    std::vector<Tensor> result(intervals.size());
    const bool one = dimension < rank() && dim(dimension) == 1;
    for (std::size_t i = 0; i < result.size(); ++i)
      result[i] = one ? slice(intervals[i].begin() > 0, intervals[i].end() > 0, dimension)
                      : slice(intervals[i], dimension);
    return result;
  }
  std::vector<Tensor> slices(const std::vector<std::vector<Interval>> &intervals,
                             unsigned dimension = 0) const;
  // A slice at each of these indices, of size 1 in the dimension.
  std::vector<Tensor> slices(ArrayRef<unsigned> indices, unsigned dimension = 0) const
  {
    std::vector<Tensor> result(indices.size());
    for (std::size_t i = 0; i < result.size(); ++i)
      result[i] = slice(indices[i], std::size_t(indices[i]) + 1, dimension);
    return result;
  }
  Tensor subSample(unsigned stride, unsigned dimension) const
  {
    return Tensor(detail::check(pop_tensor_sub_sample(t, stride, dimension)));
  }

  // ---- order ----

  Tensor reverse(unsigned dimension) const
  {
    return Tensor(detail::check(pop_tensor_reverse(t, dimension)));
  }
  Tensor transpose() const { return Tensor(detail::check(pop_tensor_transpose(t))); }
  Tensor dimShuffle(ArrayRef<unsigned> permutation) const
  {
    auto p = detail::sizes(permutation);
    return Tensor(detail::check(pop_tensor_dim_shuffle(t, p.data(), p.size())));
  }
  Tensor dimShufflePartial(ArrayRef<unsigned> source, ArrayRef<unsigned> destination) const
  {
    if (source.size() != destination.size())
      throw index_error("Tensor::dimShufflePartial: as many destinations as sources are needed");
    auto from = detail::sizes(source), to = detail::sizes(destination);
    return Tensor(
        detail::check(pop_tensor_dim_shuffle_partial(t, from.data(), to.data(), from.size())));
  }
  Tensor dimRoll(unsigned dimension, unsigned to = 0) const
  {
    return Tensor(detail::check(pop_tensor_dim_roll(t, dimension, to)));
  }

  // ---- shape and type ----

  Tensor reshape(ArrayRef<std::size_t> shape) const
  {
    return Tensor(detail::check(pop_tensor_reshape(t, shape.data(), shape.size())));
  }
  Tensor reshapePartial(unsigned begin, unsigned end, ArrayRef<std::size_t> shape) const
  {
    return Tensor(
        detail::check(pop_tensor_reshape_partial(t, begin, end, shape.data(), shape.size())));
  }
  Tensor flatten() const { return Tensor(detail::check(pop_tensor_flatten(t))); }
  Tensor flatten(unsigned begin, unsigned end) const
  {
    return Tensor(detail::check(pop_tensor_flatten_partial(t, begin, end)));
  }
  // Adds a dimension of size 1 before each of these dimensions.
  Tensor expand(ArrayRef<std::size_t> dimensions) const
  {
    return Tensor(detail::check(pop_tensor_expand_dims(t, dimensions.data(), dimensions.size())));
  }
  Tensor squeeze() const { return Tensor(detail::check(pop_tensor_squeeze(t))); }
  Tensor squeeze(ArrayRef<std::size_t> dimensions) const
  {
    return Tensor(detail::check(pop_tensor_squeeze_dims(t, dimensions.data(), dimensions.size())));
  }
  Tensor reinterpret(const Type &type) const
  {
    return Tensor(detail::check(pop_tensor_reinterpret(t, type.c())));
  }

  // ---- more than one ----

  Tensor broadcast(unsigned n, unsigned dimension) const
  {
    return Tensor(detail::check(pop_tensor_broadcast(t, n, dimension)));
  }
  Tensor upsample(unsigned n, unsigned dimension, UpsampleMethod = UpsampleMethod::REPEAT) const
  {
    return Tensor(detail::check(pop_tensor_upsample(t, n, dimension)));
  }

  // ---- where elements are in memory ----

  std::vector<VariableInterval> getVarRegions() const
  {
    std::vector<VariableInterval> regions;
    pop_tensor_visit_var_regions(
        t,
        [](void *context, std::size_t variable, std::size_t begin, std::size_t end) {
          static_cast<std::vector<VariableInterval> *>(context)->push_back(
              {variable, Interval(begin, end)});
        },
        &regions);
    return regions;
  }
  std::vector<Interval> getContiguousRegions() const
  {
    std::vector<Interval> regions;
    pop_tensor_visit_contiguous_regions(
        t,
        [](void *context, std::size_t begin, std::size_t end) {
          static_cast<std::vector<Interval> *>(context)->push_back(Interval(begin, end));
        },
        &regions);
    return regions;
  }

  // *value gets the value of a tensor of one constant element. False for other tensors, and for a
  // quarter whose metadata are not constant.
  template <typename T> bool getConstantValue(T *value) const
  {
    unsigned char bytes[8] = {0};
    if (numElements() != 1 || pop_tensor_constant_values(t, bytes, 1) != 1) return false;
    if (elementType() != QUARTER) {
      *value = detail::fromDevice<T>(elementType().c(), bytes);
      return true;
    }
    unsigned char packed = 0;
    if (!getMetadata().getConstantValue(&packed)) return false;
    *value = static_cast<T>(pop_quarter_to_float(bytes[0], packed));
    return true;
  }

  POPLAR_MISSING_MEMBER(padding, "poplar::Tensor::padding: there is none in Populus")
  // Format and scale of quarters: a tensor of one element of type QUARTER_METADATA, which a program
  // may write unless it is constant. Tensor() for other types, and for tensors without elements.
  // Quarters that were added without metadata have their own, F143 with scale 0.
  Tensor getMetadata() const
  {
    if (!hasMetadata()) return Tensor();
    return Tensor(detail::check(pop_graph_get_metadata(t.graph, t)));
  }
  bool hasMetadata() const { return elementType() == QUARTER && numElements() > 0; }
};

namespace detail
{
template <typename T>
using EnableIfTensor = typename std::enable_if<std::is_same<T, Tensor>::value>::type;

template <typename Shape>
using EnableIfShape =
    typename std::enable_if<std::is_convertible<const Shape &, ArrayRef<std::size_t>>::value &&
                            !std::is_arithmetic<Shape>::value>::type;
// A number, or a pointer to numbers that are not text.
template <typename T>
using EnableIfValues = typename std::enable_if<
    std::is_arithmetic<T>::value ||
    (std::is_arithmetic<typename std::remove_pointer<T>::type>::value &&
     !std::is_same<const typename std::remove_pointer<T>::type, const char>::value)>::type;

template <typename T> const T *firstOf(const T &value)
{
  return &value;
}
template <typename T> const T *firstOf(T *const &values)
{
  return values;
}

inline CArray<pop_tensor> tensors(ArrayRef<Tensor> list)
{
  return CArray<pop_tensor>(list, [](const Tensor &tensor) { return tensor.c(); });
}
} // namespace detail

inline Tensor concat(ArrayRef<Tensor> tensors, unsigned dimension = 0)
{
  if (tensors.empty()) throw tensor_creation_error("concat: there are no tensors to join");
  auto list = detail::tensors(tensors);
  return Tensor(detail::check(pop_concat(list.data(), list.size(), dimension)));
}
inline Tensor concat(const Tensor &a, const Tensor &b, unsigned dimension = 0)
{
  return concat(ArrayRef<Tensor>({a, b}), dimension);
}
// Joins to a tensor another one that has one dimension less.
inline Tensor append(const Tensor &a, const Tensor &b, unsigned dimension = 0)
{
  return concat(a, b.expand({dimension}), dimension);
}

inline std::vector<Tensor> Tensor::slices(const std::vector<std::vector<Interval>> &intervals,
                                          unsigned dimension) const
{
  std::vector<Tensor> result(intervals.size());
  for (std::size_t i = 0; i < result.size(); ++i)
    result[i] = concat(slices(intervals[i], dimension), dimension);
  return result;
}

} // namespace poplar

#endif
