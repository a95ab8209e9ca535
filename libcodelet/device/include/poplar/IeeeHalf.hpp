// A half as its 16 bits: for codelets that compute with the bits of a format.
#ifndef POPLAR_IEEE_HALF_HPP
#define POPLAR_IEEE_HALF_HPP

#include <cstdint>

namespace poplar
{

class IeeeHalf
{
public:
  IeeeHalf() = default;
  IeeeHalf(float value) : value(static_cast<_Float16>(value)) {}
  static IeeeHalf fromBits(std::uint16_t bits)
  {
    IeeeHalf half;
    half.value = __builtin_bit_cast(_Float16, bits);
    return half;
  }

  std::uint16_t bit16() const { return __builtin_bit_cast(std::uint16_t, value); }
  operator float() const { return static_cast<float>(value); }

private:
  _Float16 value;
};

} // namespace poplar

#endif
