// Data from and to the host while a program runs: populus/stream.h.
#ifndef POPLAR_DATASTREAM_HPP
#define POPLAR_DATASTREAM_HPP

#include <poplar/StringRef.hpp>
#include <poplar/Type.hpp>
#include <populus/stream.h>
#include <string>

namespace poplar
{

class DataStream
{
  pop_stream stream = {nullptr, 0};
  std::string name;
  std::size_t elements = 0;
  Type type;

public:
  DataStream() = default;
  DataStream(pop_stream s, StringRef handle, const Type &elementType, std::size_t numElements)
      : stream(s), name(handle), elements(numElements), type(elementType)
  {
  }
  pop_stream c() const { return stream; }
  const std::string &handle() const { return name; }
  std::size_t numElements() const { return elements; }
  Type elementType() const { return type; }
};

} // namespace poplar

#endif
