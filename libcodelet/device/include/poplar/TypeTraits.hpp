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
    constexpr bool isHalf = std::is_same_v<T, _Float16>;
    return {sizeof(T), alignof(T), isHalf || std::is_floating_point_v<T>, std::is_integral_v<T>,
            isHalf || std::is_signed_v<T>};
  }

  template <typename T> static constexpr bool isSimpleType()
  {
    return std::is_arithmetic_v<T> || std::is_same_v<T, _Float16>;
  }
};

} // namespace poplar

#endif
