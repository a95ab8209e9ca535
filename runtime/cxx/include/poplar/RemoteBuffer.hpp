// Memory outside of the IPU: populus/remote_buffer.h.
#ifndef POPLAR_REMOTEBUFFER_HPP
#define POPLAR_REMOTEBUFFER_HPP

#include <poplar/StringRef.hpp>
#include <poplar/Type.hpp>
#include <poplar/detail/Missing.hpp>
#include <populus/remote_buffer.h>
#include <string>

namespace poplar
{

class RemoteBuffer
{
  pop_remote_buffer buffer = {nullptr, 0};
  std::string name;
  std::size_t elements = 0, rows = 0;
  Type type;

public:
  RemoteBuffer() = default;
  RemoteBuffer(pop_remote_buffer b, StringRef handle, const Type &elementType,
               std::size_t numElements, std::size_t repeats)
      : buffer(b), name(handle), elements(numElements), rows(repeats), type(elementType)
  {
  }
  pop_remote_buffer c() const { return buffer; }
  const std::string &handle() const { return name; }
  std::size_t numElements() const { return elements; } // of a row
  std::size_t getRepeats() const { return rows; }
  Type elementType() const { return type; }
  // Rows on the host are always in the tensor's order, whatever Graph::addRemoteBuffer was told.
  bool isRearrangeOnHost() const { return false; }
  bool isOptimisedForMemory() const { return false; }
  POPLAR_MISSING_MEMBER(getIpuToHostStream, "poplar::RemoteBuffer::getIpuToHostStream: it has none")
  POPLAR_MISSING_MEMBER(getHostToIpuStream, "poplar::RemoteBuffer::getHostToIpuStream: it has none")
};

} // namespace poplar

#endif
