// Formats of quarters, the 8-bit floating point numbers, on the host: which of the two, and a scale by powers of two.
#ifndef POPLAR_QUARTER_HPP
#define POPLAR_QUARTER_HPP

#include <ostream>
#include <poplar/exceptions.hpp>
#include <string>
#include <type_traits>

namespace poplar
{

// A quarter stands for its number times 2 to the scale.
class QuarterMetadata
{
public:
  // F143: 4 bits of exponent, 3 of fraction; F152: 5 and 2.
  enum class Format { F143, F152 };

  QuarterMetadata() = default;
  // -32 <= scale < 32
  QuarterMetadata(Format f, int s) : format(f), scale(s)
  {
    if (s < -32 || s > 31)
      throw poplar_error("QuarterMetadata: a scale of " + std::to_string(s) +
                         ": it must be -32 to 31");
  }
  Format getFormat() const { return format; }
  int getScale() const { return scale; }
  // As the device has it: the format in the highest bit, the scale in the lowest six.
  unsigned char getBinary() const
  {
    return static_cast<unsigned char>((format == Format::F143 ? 0x80 : 0) | (scale & 0x3f));
  }
  friend bool operator==(const QuarterMetadata &a, const QuarterMetadata &b)
  {
    return a.format == b.format && a.scale == b.scale;
  }
  friend bool operator!=(const QuarterMetadata &a, const QuarterMetadata &b) { return !(a == b); }

private:
  Format format = Format::F143;
  int scale = 0;
};

inline std::string toString(QuarterMetadata::Format format)
{
  return format == QuarterMetadata::Format::F143 ? "F143" : "F152";
}
// A template, so that a program's own way to print formats comes first.
template <typename F>
typename std::enable_if<std::is_same<F, QuarterMetadata::Format>::value, std::ostream &>::type
operator<<(std::ostream &os, F format)
{
  return os << toString(format);
}
inline std::ostream &operator<<(std::ostream &os, const QuarterMetadata &metadata)
{
  return os << '{' << metadata.getFormat() << ", scale " << metadata.getScale() << '}';
}

} // namespace poplar

#endif
