// Size, alignment and kind of an element type, as values.
#ifndef POPLAR_TYPE_TRAITS_HPP
#define POPLAR_TYPE_TRAITS_HPP

#include <cstddef>
#include <type_traits>

namespace poplar
{

struct TypeTraits {
  std::size_t size, align;
  bool isFloat, isIntegral, isSigned;

  template <typename T> static constexpr TypeTraits make()
  {
    constexpr bool isHalf = std::is_same<T, _Float16>::value;
    return {sizeof(T), alignof(T), isHalf || std::is_floating_point<T>::value,
            std::is_integral<T>::value, isHalf || std::is_signed<T>::value};
  }

  template <typename T> static constexpr bool isSimpleType()
  {
    return std::is_arithmetic<T>::value || std::is_same<T, _Float16>::value;
  }
};

} // namespace poplar

#endif
