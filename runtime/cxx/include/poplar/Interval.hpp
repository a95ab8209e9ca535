// Intervals: numbers with begin <= i < end.
#ifndef POPLAR_INTERVAL_HPP
#define POPLAR_INTERVAL_HPP

#include <algorithm> // like <limits>, <map> and <vector>: programs use it without including it
#include <cstddef>
#include <limits>
#include <map>
#include <ostream>
#include <vector>

namespace poplar
{

template <typename T> class GenericInterval
{
  T begin_ = T(), end_ = T();

public:
  GenericInterval() = default;
  GenericInterval(T begin, T end) : begin_(begin), end_(end) {}

  T begin() const { return begin_; }
  T end() const { return end_; }
  T lower() const { return begin_; }
  T upper() const { return end_; }
  T size() const { return end_ - begin_; }
  bool contains(T i) const { return begin_ <= i && i < end_; }

  friend bool operator==(const GenericInterval &a, const GenericInterval &b)
  {
    return a.begin_ == b.begin_ && a.end_ == b.end_;
  }
  friend bool operator!=(const GenericInterval &a, const GenericInterval &b) { return !(a == b); }
  friend bool operator<(const GenericInterval &a, const GenericInterval &b)
  {
    return a.begin_ != b.begin_ ? a.begin_ < b.begin_ : a.end_ < b.end_;
  }
  friend std::ostream &operator<<(std::ostream &os, const GenericInterval &i)
  {
    return os << '[' << i.begin_ << ',' << i.end_ << ')';
  }
};

using Interval = GenericInterval<std::size_t>;

} // namespace poplar

#endif
