// An array for a call of the C interface. A std::vector would do. But a compiler takes 15 ms for
// each of a dozen element types in every file that includes these headers.
#ifndef POPLAR_DETAIL_CARRAY_HPP
#define POPLAR_DETAIL_CARRAY_HPP

#include <cstddef>
#include <utility>

namespace poplar
{
namespace detail
{

template <typename T> class CArray
{
  T *items;
  std::size_t count;

public:
  explicit CArray(std::size_t n) : items(new T[n]()), count(n) {}
  // The results of `convert` for each element of a list.
  template <typename List, typename Convert>
  CArray(const List &list, Convert convert) : CArray(list.size())
  {
    std::size_t i = 0;
    for (const auto &element : list) items[i++] = convert(element);
  }
  CArray(CArray &&other) : items(other.items), count(other.count) { other.items = nullptr; }
  CArray &operator=(CArray &&other)
  {
    std::swap(items, other.items);
    std::swap(count, other.count);
    return *this;
  }
  ~CArray() { delete[] items; }

  T *data() { return items; }
  std::size_t size() const { return count; }
  T *begin() { return items; }
  T *end() { return items + count; }
};

} // namespace detail
} // namespace poplar

#endif
