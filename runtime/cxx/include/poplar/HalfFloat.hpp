// Half-precision numbers: the compiler's type in codelets, a class on the host.
#ifdef __POPC__
#include_next <poplar/HalfFloat.hpp>
#else
#ifndef POPLAR_HALFFLOAT_HPP
#define POPLAR_HALFFLOAT_HPP

#include <cstdint>
#include <poplar/Type.hpp>
#include <populus/types.h>

namespace poplar
{

// IEEE binary16. Calculations are in float; stored values are rounded to nearest even.
class IeeeHalf
{
  std::uint16_t bits_ = 0;

public:
  IeeeHalf() = default;
  IeeeHalf(float value) : bits_(pop_half_from_float(value)) {}
  operator float() const { return pop_half_to_float(bits_); }
  static IeeeHalf fromBits(std::uint16_t bits)
  {
    IeeeHalf half;
    half.bits_ = bits;
    return half;
  }
  std::uint16_t bits() const { return bits_; }
  IeeeHalf &operator+=(float value) { return *this = float(*this) + value; }
  IeeeHalf &operator-=(float value) { return *this = float(*this) - value; }
  IeeeHalf &operator*=(float value) { return *this = float(*this) * value; }
  IeeeHalf &operator/=(float value) { return *this = float(*this) / value; }
};
using half = IeeeHalf;

template <> struct equivalent_device_type<IeeeHalf> : detail::DeviceType<POP_HALF> {
};

} // namespace poplar

#endif
#endif
