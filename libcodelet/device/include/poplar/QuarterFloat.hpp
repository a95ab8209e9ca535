// Arithmetic on quarters: conversions to and from half and float.
//
// The formats are those of "8-bit Numerical Formats for Deep Neural Networks" (Noune et al., 2022):
//
//          bits    exponent bias   largest     smallest > 0    not a number
//   f152   1 5 2   16              57344       2^-17           0x80
//   f143   1 4 3   8               240         2^-10           0x80
//
// There are no infinities and no negative zero. A conversion to a quarter rounds to
// nearest, ties to even. A number that is too large becomes not a number, or the largest
// number if `nanoo` is false.
#ifndef POPLAR_QUARTER_FLOAT_HPP
#define POPLAR_QUARTER_FLOAT_HPP

#include <poplar/HalfFloat.hpp>
#include <populus/quarter.h>

namespace poplar
{

using quarter = ::quarter;
using quarter_metadata = ::quarter_metadata;

// A format and a scale as graphs hold them: bit 7 is the format, bits 0-5 are the scale, signed.
using MetadataType = unsigned char;

inline quarter_metadata unpackMetadata(MetadataType packed)
{
  return {packed & 0x80 ? quarter_metadata::f143 : quarter_metadata::f152,
          static_cast<signed char>((packed & 0x3f) - ((packed & 0x20) << 1))};
}
inline quarter_metadata unpackMetadata(const MetadataType *packed)
{
  return unpackMetadata(*packed);
}
inline MetadataType packMetadata(quarter_metadata metadata)
{
  return static_cast<MetadataType>((metadata.fmt == quarter_metadata::f143 ? 0x80 : 0) |
                                   (metadata.scale & 0x3f));
}

namespace populus_detail
{

struct QuarterFormat {
  int fractionBits, bias;
};
inline QuarterFormat formatOf(quarter_metadata metadata)
{
  return metadata.fmt == quarter_metadata::f143 ? QuarterFormat{3, 8} : QuarterFormat{2, 16};
}

// 2^exponent, -126 <= exponent <= 127.
inline float power2(int exponent)
{
  return __builtin_bit_cast(float, static_cast<unsigned>(exponent + 127) << 23);
}

inline quarter encode(float value, quarter_metadata metadata, bool nanoo)
{
  constexpr unsigned char notANumber = 0x80, largest = 0x7f;
  QuarterFormat format = formatOf(metadata);
  // The product is exact unless it underflows or overflows a float. Then it is far below half of
  // the smallest quarter, which gives 0, or far too large.
  value *= power2(-metadata.scale);
  unsigned bits = __builtin_bit_cast(unsigned, value), magnitude = bits & 0x7fffffff;
  unsigned char sign = static_cast<unsigned char>(bits >> 24 & 0x80);
  if (magnitude > 0x7f800000) return {notANumber};
  int exponent = static_cast<int>(magnitude >> 23) - 127;
  if (exponent < 1 - format.bias) exponent = 1 - format.bias; // denormals: a fixed step
  if (exponent > 40) return {nanoo ? notANumber : static_cast<unsigned char>(sign | largest)};
  // Adding 1.5 * 2^23 steps rounds to a multiple of the step, ties to even.
  float step = power2(exponent - format.fractionBits), shift = step * 12582912.0f;
  float absolute = __builtin_bit_cast(float, magnitude);
  unsigned steps = static_cast<unsigned>((absolute + shift - shift) / step);
  unsigned code =
      steps + (static_cast<unsigned>(exponent + format.bias - 1) << format.fractionBits);
  if (code > largest) return {nanoo ? notANumber : static_cast<unsigned char>(sign | largest)};
  return {static_cast<unsigned char>(code ? sign | code : 0)};
}

} // namespace populus_detail

inline float toFloat(quarter value, quarter_metadata metadata)
{
  populus_detail::QuarterFormat format = populus_detail::formatOf(metadata);
  if (value.value == 0x80) return __builtin_nanf("");
  int exponent = (value.value & 0x7f) >> format.fractionBits;
  int fraction = value.value & ((1 << format.fractionBits) - 1);
  if (exponent)
    fraction += 1 << format.fractionBits;
  else
    exponent = 1;
  float magnitude = static_cast<float>(fraction) *
                    populus_detail::power2(exponent - format.bias - format.fractionBits) *
                    populus_detail::power2(metadata.scale);
  return value.value & 0x80 ? -magnitude : magnitude;
}

inline half toHalf(quarter value, quarter_metadata metadata)
{
  return static_cast<half>(toFloat(value, metadata));
}

inline quarter toQuarter(float value, quarter_metadata metadata, bool nanoo = true)
{
  return populus_detail::encode(value, metadata, nanoo);
}
inline quarter toQuarter(half value, quarter_metadata metadata, bool nanoo = true)
{
  return populus_detail::encode(static_cast<float>(value), metadata, nanoo);
}
inline quarter toQuarter(quarter value, quarter_metadata from, quarter_metadata to,
                         bool nanoo = true)
{
  return toQuarter(toFloat(value, from), to, nanoo);
}

} // namespace poplar

#endif
