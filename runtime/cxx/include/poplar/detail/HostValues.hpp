// Converts values of the host's types to elements of the device's.
#ifndef POPLAR_DETAIL_HOSTVALUES_HPP
#define POPLAR_DETAIL_HOSTVALUES_HPP

#include <cstring>
#include <poplar/Type.hpp>
#include <poplar/TypeTraits.hpp>
#include <poplar/exceptions.hpp>
#include <vector>

namespace poplar
{
namespace detail
{

using Bytes = std::vector<unsigned char>;

// For overloads that take a std::vector of numbers, from which ArrayRef<T> cannot be deduced.
template <typename T> struct IsVector : std::false_type {
};
template <typename T, typename A> struct IsVector<std::vector<T, A>> : std::is_arithmetic<T> {
};
template <typename V> using EnableIfVector = typename std::enable_if<IsVector<V>::value>::type;

template <typename To, typename From> void putAs(unsigned char *out, From value)
{
  // A char of the host is converted by its value, signed or not.
  To converted = static_cast<To>(value); // NOLINT(bugprone-signed-char-misuse)
  std::memcpy(out, &converted, sizeof converted);
}

// The quarter nearest to a number. The C interface takes a float: of the two next to the number, the
// one whose last bit is 1. That is never half way between two quarters, unless the number is.
inline unsigned char nearestQuarter(double value, unsigned char metadata, bool nanOnOverflow)
{
  float near = static_cast<float>(value);
  if (static_cast<double>(near) != value && value == value) {
    const double beyond = static_cast<double>(near) - value;
    std::uint32_t bits;
    std::memcpy(&bits, &near, sizeof bits);
    if (value > 0 ? beyond > 0 : beyond < 0) --bits; // towards 0
    bits |= 1;
    std::memcpy(&near, &bits, sizeof near);
  }
  return pop_quarter_from_float(near, metadata, nanOnOverflow);
}

// Writes one element, converted as C++ does; a quarter with this format and scale.
template <typename T>
void putElement(unsigned char *out, pop_type type, T value, unsigned char metadata)
{
  switch (type) {
  case POP_BOOL:
    return putAs<unsigned char>(out, value != T());
  case POP_CHAR:
  case POP_SIGNED_CHAR:
    return putAs<signed char>(out, value);
  case POP_UNSIGNED_CHAR:
    return putAs<unsigned char>(out, value);
  case POP_SHORT:
    return putAs<std::int16_t>(out, value);
  case POP_UNSIGNED_SHORT:
    return putAs<std::uint16_t>(out, value);
  case POP_INT:
    return putAs<std::int32_t>(out, value);
  case POP_UNSIGNED_INT:
    return putAs<std::uint32_t>(out, value);
  case POP_LONGLONG:
    return putAs<std::int64_t>(out, value);
  case POP_UNSIGNED_LONGLONG:
    return putAs<std::uint64_t>(out, value);
  case POP_HALF:
    return putAs<std::uint16_t>(out, pop_half_from_double(static_cast<double>(value)));
  case POP_FLOAT:
    return putAs<float>(out, value);
  case POP_QUARTER:
    return putAs<unsigned char>(out, nearestQuarter(static_cast<double>(value), metadata, true));
  case POP_TYPE_COUNT:
    break;
  }
  throw type_error(std::string("values of the host cannot be given for elements of type ") +
                   pop_type_name(type));
}

template <typename From, typename T> T getAs(const unsigned char *bytes)
{
  From value;
  std::memcpy(&value, bytes, sizeof value);
  return static_cast<T>(value);
}

// Reads one element of the device's, converted as C++ does. Throws type_error for quarters.
template <typename T> T fromDevice(pop_type type, const unsigned char *bytes)
{
  switch (type) {
  case POP_BOOL:
  case POP_UNSIGNED_CHAR:
    return getAs<unsigned char, T>(bytes);
  case POP_CHAR:
  case POP_SIGNED_CHAR:
    return getAs<signed char, T>(bytes);
  case POP_SHORT:
    return getAs<std::int16_t, T>(bytes);
  case POP_UNSIGNED_SHORT:
    return getAs<std::uint16_t, T>(bytes);
  case POP_INT:
    return getAs<std::int32_t, T>(bytes);
  case POP_UNSIGNED_INT:
    return getAs<std::uint32_t, T>(bytes);
  case POP_LONGLONG:
    return getAs<std::int64_t, T>(bytes);
  case POP_UNSIGNED_LONGLONG:
    return getAs<std::uint64_t, T>(bytes);
  case POP_HALF:
    return static_cast<T>(pop_half_to_float(getAs<std::uint16_t, std::uint16_t>(bytes)));
  case POP_FLOAT:
    return getAs<float, T>(bytes);
  case POP_QUARTER:
  case POP_TYPE_COUNT:
    break;
  }
  throw type_error(std::string("elements of type ") + pop_type_name(type) +
                   " cannot be taken as values of the host");
}

// Converts `count` elements; `stride` 0 repeats the first. `metadata` is for quarters.
template <typename T>
Bytes toDevice(pop_type type, const T *values, std::size_t count, std::size_t stride = 1,
               unsigned char metadata = POP_QUARTER_USUAL)
{
  std::size_t size = pop_type_bytes(type);
  Bytes bytes(size * count);
  for (std::size_t i = 0; i < count; ++i)
    putElement(bytes.data() + i * size, type, values[i * stride], metadata);
  return bytes;
}

template <typename T>
Bytes toDeviceFrom(pop_type type, const void *values, std::size_t count, bool repeat)
{
  return toDevice(type, static_cast<const T *>(values), count, repeat ? 0 : 1);
}

// The same for values whose host type is known only by its traits.
inline Bytes toDeviceByTraits(pop_type type, const void *values, std::size_t count, bool repeat,
                              const TypeTraits &of)
{
  if (of.isFloat && of.size == 4) return toDeviceFrom<float>(type, values, count, repeat);
  if (of.isFloat && of.size == 8) return toDeviceFrom<double>(type, values, count, repeat);
  if (of.isFloat || !of.isIntegral)
    throw type_error("values of a type of the host with " + std::to_string(of.size) +
                     " bytes that is no integer, float or double cannot be given for elements of "
                     "type " +
                     pop_type_name(type) + "; addConstantHalf takes halves");
  switch (of.size) {
  case 1:
    return of.isSigned ? toDeviceFrom<signed char>(type, values, count, repeat)
                       : toDeviceFrom<unsigned char>(type, values, count, repeat);
  case 2:
    return of.isSigned ? toDeviceFrom<std::int16_t>(type, values, count, repeat)
                       : toDeviceFrom<std::uint16_t>(type, values, count, repeat);
  case 4:
    return of.isSigned ? toDeviceFrom<std::int32_t>(type, values, count, repeat)
                       : toDeviceFrom<std::uint32_t>(type, values, count, repeat);
  default:
    return of.isSigned ? toDeviceFrom<std::int64_t>(type, values, count, repeat)
                       : toDeviceFrom<std::uint64_t>(type, values, count, repeat);
  }
}

// Values that are converted later, when the element type is known.
class HostValues
{
  Bytes raw;
  std::size_t count_ = 0;
  Bytes (*convert)(const Bytes &, std::size_t, pop_type) = nullptr;

  template <typename T> static Bytes convertFrom(const Bytes &raw, std::size_t count, pop_type type)
  {
    std::vector<T> values(count); // aligned
    if (count) std::memcpy(static_cast<void *>(&values[0]), raw.data(), raw.size());
    return toDevice(type, values.data(), count);
  }

public:
  HostValues() = default;
  template <typename T>
  HostValues(const T *values, std::size_t count) : count_(count), convert(convertFrom<T>)
  {
    raw.resize(sizeof(T) * count);
    if (count) std::memcpy(raw.data(), values, raw.size());
  }
  std::size_t count() const { return count_; }
  bool empty() const { return !convert; }
  Bytes as(pop_type type) const { return convert(raw, count_, type); }
};
// std::vector<bool> has no data().
template <>
inline Bytes HostValues::convertFrom<bool>(const Bytes &raw, std::size_t count, pop_type type)
{
  return toDevice(type, raw.data(), count);
}

} // namespace detail
} // namespace poplar

#endif
