// Element types.
#ifndef POPLAR_TYPE_HPP
#define POPLAR_TYPE_HPP

#include <cassert>
#include <functional>
#include <ostream>
#include <poplar/StringRef.hpp>
#include <populus/types.h>
#include <string>

// <cassert> is for programs that use it without including it.
namespace poplar
{

// Unused ones give no warning.
class __attribute__((unused)) Type
{
  pop_type type_ = POP_TYPE_COUNT; // none

public:
  constexpr Type() = default;
  constexpr explicit Type(pop_type type) : type_(type) {}

  constexpr pop_type c() const { return type_; }
  std::string toString() const { return pop_type_name(type_); }
  std::size_t hash() const { return static_cast<std::size_t>(type_); }
  bool isFloatingPoint() const
  {
    return type_ == POP_FLOAT || type_ == POP_HALF || type_ == POP_QUARTER;
  }
  // Quarters have a format and a scale: Tensor::getMetadata.
  bool requiresMetadata() const { return type_ == POP_QUARTER; }

  friend constexpr bool operator==(const Type &a, const Type &b) { return a.type_ == b.type_; }
  friend constexpr bool operator!=(const Type &a, const Type &b) { return a.type_ != b.type_; }
  friend constexpr bool operator<(const Type &a, const Type &b) { return a.type_ < b.type_; }
  friend std::ostream &operator<<(std::ostream &os, const Type &type)
  {
    return os << type.toString();
  }
};

constexpr Type BOOL{POP_BOOL};
constexpr Type CHAR{POP_CHAR};
constexpr Type SIGNED_CHAR{POP_SIGNED_CHAR};
constexpr Type UNSIGNED_CHAR{POP_UNSIGNED_CHAR};
constexpr Type SHORT{POP_SHORT};
constexpr Type UNSIGNED_SHORT{POP_UNSIGNED_SHORT};
constexpr Type INT{POP_INT};
constexpr Type UNSIGNED_INT{POP_UNSIGNED_INT};
constexpr Type LONGLONG{POP_LONGLONG};
constexpr Type UNSIGNED_LONGLONG{POP_UNSIGNED_LONGLONG};
constexpr Type HALF{POP_HALF};
constexpr Type FLOAT{POP_FLOAT};
constexpr Type QUARTER{POP_QUARTER};
// Format and scale of quarters (Quarter.hpp), in the device's representation.
constexpr Type QUARTER_METADATA = UNSIGNED_CHAR;
// A long of the device has 32 bits.
constexpr Type LONG = INT;
constexpr Type UNSIGNED_LONG = UNSIGNED_INT;

namespace detail
{
template <pop_type T> struct DeviceType {
  static constexpr Type value{T};
};
#if __cplusplus < 201703L // from then on, the declaration defines it
template <pop_type T> constexpr Type DeviceType<T>::value;
#endif
} // namespace detail

// The device's type for a type of the host: equivalent_device_type<float>().value is FLOAT. There
// is none for double: the device has no 64-bit floating point. Its long has 32 bits.
template <typename T> struct equivalent_device_type;
template <> struct equivalent_device_type<bool> : detail::DeviceType<POP_BOOL> {
};
template <> struct equivalent_device_type<char> : detail::DeviceType<POP_CHAR> {
};
template <> struct equivalent_device_type<signed char> : detail::DeviceType<POP_SIGNED_CHAR> {
};
template <> struct equivalent_device_type<unsigned char> : detail::DeviceType<POP_UNSIGNED_CHAR> {
};
template <> struct equivalent_device_type<short> : detail::DeviceType<POP_SHORT> {
};
template <> struct equivalent_device_type<unsigned short> : detail::DeviceType<POP_UNSIGNED_SHORT> {
};
template <> struct equivalent_device_type<int> : detail::DeviceType<POP_INT> {
};
template <> struct equivalent_device_type<unsigned> : detail::DeviceType<POP_UNSIGNED_INT> {
};
template <> struct equivalent_device_type<long> : detail::DeviceType<POP_INT> {
};
template <> struct equivalent_device_type<unsigned long> : detail::DeviceType<POP_UNSIGNED_INT> {
};
template <> struct equivalent_device_type<long long> : detail::DeviceType<POP_LONGLONG> {
};
template <>
struct equivalent_device_type<unsigned long long> : detail::DeviceType<POP_UNSIGNED_LONGLONG> {
};
template <> struct equivalent_device_type<float> : detail::DeviceType<POP_FLOAT> {
};

} // namespace poplar

namespace std
{
template <> struct hash<poplar::Type> {
  size_t operator()(const poplar::Type &type) const { return type.hash(); }
};
} // namespace std

#endif
