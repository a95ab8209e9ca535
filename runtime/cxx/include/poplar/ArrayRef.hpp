// A view of consecutive elements that somebody else owns: of a vector, an array, a braced list
// or one element.
#ifndef POPLAR_ARRAYREF_HPP
#define POPLAR_ARRAYREF_HPP

#include <array>
#include <cstddef>
#include <initializer_list>
#include <ostream>
#include <stdexcept>
#include <type_traits>
#include <vector>

namespace poplar
{

template <typename T> class ArrayRef
{
  using Value = typename std::remove_const<T>::type; // of an ArrayRef<const T>, too
  const T *data_ = nullptr;
  std::size_t size_ = 0;

public:
  using value_type = T;
  using const_reference = const T &;
  using const_iterator = const T *;
  using iterator = const_iterator;
  using size_type = std::size_t;

  ArrayRef() = default;
  ArrayRef(const T &element) : data_(&element), size_(1) {}
  ArrayRef(const T *data, std::size_t size) : data_(data), size_(size) {}
  template <typename Allocator>
  ArrayRef(const std::vector<Value, Allocator> &elements)
      : data_(elements.data()), size_(elements.size())
  {
  }
  template <std::size_t N>
  ArrayRef(const std::array<Value, N> &elements) : data_(elements.data()), size_(N)
  {
  }
  template <std::size_t N> ArrayRef(const T (&elements)[N]) : data_(elements), size_(N) {}
  // Only for arguments of a call: the list lives as long as the call.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Winit-list-lifetime"
#endif
  ArrayRef(std::initializer_list<T> list) : data_(list.begin()), size_(list.size()) {}
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif

  const T *data() const { return data_; }
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  const_iterator begin() const { return data_; }
  const_iterator end() const { return data_ + size_; }
  const T &operator[](std::size_t i) const { return data_[i]; }
  const T &front() const { return data_[0]; }
  const T &back() const { return data_[size_ - 1]; }
  const T &at(std::size_t i) const
  {
    if (i >= size_) throw std::out_of_range("poplar::ArrayRef::at");
    return data_[i];
  }
  std::vector<Value> cloneAsVector() const { return std::vector<Value>(begin(), end()); }
  operator std::vector<Value>() const { return cloneAsVector(); }

  friend bool operator==(ArrayRef a, ArrayRef b)
  {
    if (a.size_ != b.size_) return false;
    for (std::size_t i = 0; i < a.size_; ++i)
      if (!(a.data_[i] == b.data_[i])) return false;
    return true;
  }
  friend bool operator!=(ArrayRef a, ArrayRef b) { return !(a == b); }
  // Prints [1,2,3], as lists are written in JSON options.
  friend std::ostream &operator<<(std::ostream &os, ArrayRef a)
  {
    os << "[";
    for (std::size_t i = 0; i < a.size_; ++i) os << (i ? "," : "") << a.data_[i];
    return os << "]";
  }
};

} // namespace poplar

#endif
