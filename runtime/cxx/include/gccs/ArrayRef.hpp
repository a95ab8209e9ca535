// A view of consecutive elements that somebody else owns and that may be written: ArrayRef<T> of
// a vector, ArrayRef<const T> of a constant one.
#ifndef GCCS_ARRAYREF_HPP
#define GCCS_ARRAYREF_HPP

#include <cstddef>
#include <poplar/ArrayRef.hpp>
#include <type_traits>
#include <vector>

namespace gccs
{

template <typename T> class ArrayRef
{
  using Value = typename std::remove_const<T>::type;
  T *data_ = nullptr;
  std::size_t size_ = 0;

public:
  using value_type = T;

  ArrayRef() = default;
  ArrayRef(T *data, std::size_t size) : data_(data), size_(size) {}
  ArrayRef(std::vector<Value> &elements) : data_(elements.data()), size_(elements.size()) {}
  template <typename U = T, typename = typename std::enable_if<std::is_const<U>::value>::type>
  ArrayRef(const std::vector<Value> &elements) : data_(elements.data()), size_(elements.size())
  {
  }

  T *data() const { return data_; }
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T *begin() const { return data_; }
  T *end() const { return data_ + size_; }
  T &operator[](std::size_t i) const { return data_[i]; }
  operator poplar::ArrayRef<Value>() const { return poplar::ArrayRef<Value>(data_, size_); }
};

#if __cplusplus >= 201703L
template <typename T> ArrayRef(T *, std::size_t) -> ArrayRef<T>;
template <typename T> ArrayRef(std::vector<T> &) -> ArrayRef<T>;
template <typename T> ArrayRef(const std::vector<T> &) -> ArrayRef<const T>;
#endif

} // namespace gccs

#endif
