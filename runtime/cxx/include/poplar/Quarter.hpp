// Metadata of quarters, the 8-bit floating-point numbers, on the host: one of two formats, and a
// scale by powers of two.
#ifndef POPLAR_QUARTER_HPP
#define POPLAR_QUARTER_HPP

#include <ostream>
#include <poplar/exceptions.hpp>
#include <string>
#include <type_traits>

namespace poplar
{

// A quarter stands for its number times 2 to the scale. An object of this class has the device's
// representation, so a tensor of QUARTER_METADATA is read as an array of such objects.
class QuarterMetadata
{
public:
  // F143: 4 bits of exponent, 3 of fraction; F152: 5 and 2.
  enum class Format { F143, F152 };

  QuarterMetadata() = default;
  // -32 <= scale < 32
  QuarterMetadata(Format f, int scale)
      : packed(static_cast<unsigned char>((f == Format::F143 ? 0x80 : 0) | (scale & 0x3f)))
  {
    if (scale < -32 || scale > 31)
      throw poplar_error("QuarterMetadata: a scale of " + std::to_string(scale) +
                         ": it must be -32 to 31");
  }
  Format getFormat() const { return packed & 0x80 ? Format::F143 : Format::F152; }
  int getScale() const { return (packed & 0x1f) - (packed & 0x20); }
  // The format in the highest bit, the scale in the lowest six.
  unsigned char getBinary() const { return packed; }
  std::string toString() const;
  friend bool operator==(const QuarterMetadata &a, const QuarterMetadata &b)
  {
    return a.packed == b.packed;
  }
  friend bool operator!=(const QuarterMetadata &a, const QuarterMetadata &b) { return !(a == b); }

private:
  unsigned char packed = 0x80; // F143, scale 0
};

inline std::string toString(QuarterMetadata::Format format)
{
  return format == QuarterMetadata::Format::F143 ? "F143" : "F152";
}
// A template, so that a program's own operator for formats is preferred.
template <typename F>
typename std::enable_if<std::is_same<F, QuarterMetadata::Format>::value, std::ostream &>::type
operator<<(std::ostream &os, F format)
{
  return os << toString(format);
}
inline std::string QuarterMetadata::toString() const
{
  return "{" + poplar::toString(getFormat()) + ", scale " + std::to_string(getScale()) + "}";
}
inline std::ostream &operator<<(std::ostream &os, const QuarterMetadata &metadata)
{
  return os << metadata.toString();
}

} // namespace poplar

#endif
