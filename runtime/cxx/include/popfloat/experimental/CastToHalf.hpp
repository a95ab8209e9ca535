// Halves on the host: populus/types.h.
#ifndef POPFLOAT_EXPERIMENTAL_CASTTOHALF_HPP
#define POPFLOAT_EXPERIMENTAL_CASTTOHALF_HPP

#include <cmath>
#include <cstdint>
#include <populus/types.h>

namespace popfloat
{
namespace experimental
{

// The bits of the nearest half. A number that is too large, or infinite, becomes the largest half
// of its sign, or NaN if `nanOnOverflow`.
inline std::uint16_t singleToHalf(float value, bool nanOnOverflow = false)
{
  constexpr std::uint16_t INFINITE = 0x7c00, LARGEST = 0x7bff, NAN_BITS = 0x7e00;
  std::uint16_t half = pop_half_from_float(value);
  if ((half & 0x7fff) != INFINITE) return half;
  if (nanOnOverflow) return NAN_BITS;
  return static_cast<std::uint16_t>((half & 0x8000) | LARGEST);
}
inline float halfToSingle(std::uint16_t bits)
{
  return pop_half_to_float(bits);
}

} // namespace experimental
} // namespace popfloat

#endif
