// Conversions of values between the host's types and the device's, in the host's memory.
#ifndef POPLAR_TYPECONVERSION_HPP
#define POPLAR_TYPECONVERSION_HPP

#include <gccs/ArrayRef.hpp>
#include <poplar/Quarter.hpp>
#include <poplar/Type.hpp>
#include <poplar/detail/HostValues.hpp>

namespace poplar
{
namespace detail
{

// The element type of a list: of an ArrayRef, or of anything with data() and size().
template <typename List>
using ElementOf = typename std::remove_const<
    typename std::remove_pointer<decltype(std::declval<List &>().data())>::type>::type;

} // namespace detail

// Converts values to elements of `type`, as C++ does. Floats and doubles are rounded once, to nearest
// even. `destination` has room for them. Throws tensor_metadata_error for QUARTER.
template <typename List>
void convertToDeviceType(const Type &type, const List &values, void *destination)
{
  if (type == QUARTER)
    throw tensor_metadata_error("convertToDeviceType: what a quarter stands for is only known with "
                                "its metadata, which this call has not");
  const std::size_t size = pop_type_bytes(type.c());
  unsigned char *out = static_cast<unsigned char *>(destination);
  for (std::size_t i = 0; i < values.size(); ++i)
    detail::putElement(out + i * size, type.c(), values.data()[i], POP_QUARTER_USUAL);
}
// The other way: fills the list, whose size is the number of elements.
template <typename List>
void convertFromDeviceType(const Type &type, const void *source, List &&values)
{
  const std::size_t size = pop_type_bytes(type.c());
  const unsigned char *in = static_cast<const unsigned char *>(source);
  for (std::size_t i = 0; i < values.size(); ++i)
    values.data()[i] = detail::fromDevice<detail::ElementOf<List>>(type.c(), in + i * size);
}

// The same for quarters with this format and scale, which other types ignore. A number that is
// too large becomes NaN, or the largest quarter if `nanoo` is false.
template <typename List>
void convertToDeviceType(const Type &type, const QuarterMetadata &metadata, const List &values,
                         void *destination, bool nanoo = true)
{
  if (type != QUARTER) return convertToDeviceType(type, values, destination);
  unsigned char *out = static_cast<unsigned char *>(destination);
  for (std::size_t i = 0; i < values.size(); ++i)
    out[i] =
        detail::nearestQuarter(static_cast<double>(values.data()[i]), metadata.getBinary(), nanoo);
}
template <typename List>
void convertFromDeviceType(const Type &type, const QuarterMetadata &metadata, const void *source,
                           List &&values)
{
  if (type != QUARTER) return convertFromDeviceType(type, source, values);
  const unsigned char *in = static_cast<const unsigned char *>(source);
  for (std::size_t i = 0; i < values.size(); ++i)
    values.data()[i] =
        static_cast<detail::ElementOf<List>>(pop_quarter_to_float(in[i], metadata.getBinary()));
}

} // namespace poplar

#endif
