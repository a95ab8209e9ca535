// Facts about types of the host.
#ifdef __POPC__
#include_next <poplar/TypeTraits.hpp> // the device's header, for codelets
#else
#ifndef POPLAR_TYPETRAITS_HPP
#define POPLAR_TYPETRAITS_HPP

#include <cstddef>
#include <type_traits>

namespace poplar
{

struct TypeTraits {
  std::size_t size, align;
  bool isIntegral, isFloat, isSigned;

  template <typename T> static constexpr bool isSimpleType()
  {
    return std::is_arithmetic<T>::value;
  }
  template <typename T> static constexpr bool requiresMetadata() { return false; }
  template <typename T> static TypeTraits make()
  {
    return {sizeof(T), alignof(T), std::is_integral<T>::value, std::is_floating_point<T>::value,
            std::is_signed<T>::value};
  }
};

} // namespace poplar

#endif
#endif
