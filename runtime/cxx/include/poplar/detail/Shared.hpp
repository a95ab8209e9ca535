// Shared ownership: the last owner frees the object. One instantiation of std::shared_ptr serves
// all types, because each takes a compiler 20 ms in every file that includes these headers.
#ifndef POPLAR_DETAIL_SHARED_HPP
#define POPLAR_DETAIL_SHARED_HPP

#include <memory>
#include <type_traits>

namespace poplar
{
namespace detail
{

template <typename T> void destroy(T *object)
{
  delete object;
}

// `release` frees the object; for objects of the C interface it is pop_..._free.
template <typename T, void (*release)(T *) = destroy<T>> class Shared
{
  std::shared_ptr<void> owner;

  static void free(void *object) { release(static_cast<T *>(object)); }

public:
  Shared() = default;
  // Takes over the object.
  explicit Shared(T *object)
      : owner(static_cast<void *>(const_cast<typename std::remove_const<T>::type *>(object)), free)
  {
  }
  T *get() const { return static_cast<T *>(owner.get()); }
  T *operator->() const { return get(); }
  explicit operator bool() const { return owner.get() != nullptr; }
  long use_count() const { return owner.use_count(); }
  void reset(T *object) { *this = Shared(object); }
};

} // namespace detail
} // namespace poplar

#endif
