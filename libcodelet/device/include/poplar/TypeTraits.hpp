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

  template <typename __T> static constexpr TypeTraits make()
  {
    constexpr bool isHalf = std::is_same<__T, _Float16>::value;
    return {sizeof(__T), alignof(__T), isHalf || std::is_floating_point<__T>::value,
            std::is_integral<__T>::value, isHalf || std::is_signed<__T>::value};
  }

  template <typename __T> static constexpr bool isSimpleType()
  {
    return std::is_arithmetic<__T>::value || std::is_same<__T, _Float16>::value;
  }
};

} // namespace poplar

#endif
