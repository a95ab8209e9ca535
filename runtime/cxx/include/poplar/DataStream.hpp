// Data from and to the host while a program runs: populus/stream.h.
#ifndef POPLAR_DATASTREAM_HPP
#define POPLAR_DATASTREAM_HPP

#include <poplar/ReplicatedStreamMode.hpp>
#include <poplar/StringRef.hpp>
#include <poplar/Type.hpp>
#include <populus/stream.h>
#include <string>

namespace poplar
{

enum class DataStreamType {
  HostToDeviceFIFO,
  DeviceToHostFIFO,
  HostToDeviceBuffer, // these two are of remote buffers; no DataStream here has them
  DeviceToHostBuffer
};
inline bool isHostToDevice(DataStreamType type)
{
  return type == DataStreamType::HostToDeviceFIFO || type == DataStreamType::HostToDeviceBuffer;
}
inline bool isDeviceToHost(DataStreamType type)
{
  return !isHostToDevice(type);
}
inline bool isRemoteBuffer(DataStreamType type)
{
  return type == DataStreamType::HostToDeviceBuffer || type == DataStreamType::DeviceToHostBuffer;
}

class DataStream
{
  pop_stream stream = {nullptr, 0};
  std::string name;
  std::size_t elements = 0;
  Type element;
  DataStreamType direction = DataStreamType::HostToDeviceFIFO;
  ReplicatedStreamMode mode = ReplicatedStreamMode::REPLICATE;
  unsigned replicas = 1;

public:
  DataStream() = default;
  DataStream(pop_stream s, StringRef handle, const Type &elementType, std::size_t numElements,
             DataStreamType type, ReplicatedStreamMode replicatedMode, unsigned replicationFactor)
      : stream(s), name(handle), elements(numElements), element(elementType), direction(type),
        mode(replicatedMode), replicas(replicationFactor)
  {
  }
  pop_stream c() const { return stream; }
  const std::string &handle() const { return name; }
  std::size_t numElements() const { return elements; }
  Type elementType() const { return element; }
  DataStreamType type() const { return direction; }
  ReplicatedStreamMode replicatedMode() const { return mode; }
  unsigned replicationFactor() const { return replicas; }
};

} // namespace poplar

#endif
