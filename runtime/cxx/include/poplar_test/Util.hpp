// Shared by tests of libraries: tensors that the host writes and reads by streams, and conversion
// of the host's numbers.
#ifndef POPLAR_TEST_UTIL_HPP
#define POPLAR_TEST_UTIL_HPP

#include <cstddef>
#include <cstring>
#include <memory>
#include <poplar/Engine.hpp>
#include <poplar/Graph.hpp>
#include <poplar/Program.hpp>
#include <poplar/Quarter.hpp>
#include <poplar/TypeConversion.hpp>
#include <string>
#include <utility>
#include <vector>
#if __has_include(<boost/multi_array.hpp>)
#include <boost/multi_array.hpp>
#endif
#if __has_include(<boost/optional.hpp>)
#include <boost/optional.hpp>
#endif

namespace poplar_test
{

// A view of bytes that somebody else owns: the memory of a stream.
class HostMemory
{
  char *data_;
  std::size_t bytes_;

public:
  HostMemory(char *data, std::size_t bytes) : data_(data), bytes_(bytes) {}
  char *data() const { return data_; }
  char *begin() const { return data_; }
  char *end() const { return data_ + bytes_; }
  std::size_t size() const { return bytes_; }
};
using StreamMap = std::vector<std::pair<std::string, HostMemory>>;

// Host memory for a tensor's elements, zeroed, for each of `replicas`. For quarters, default
// metadata follow the elements.
inline std::unique_ptr<char[]> allocateHostMemoryForTensor(const poplar::Target &target,
                                                           const poplar::Tensor &tensor,
                                                           unsigned replicas = 1)
{
  const std::size_t bytes =
      tensor.numElements() * target.getTypeSize(tensor.elementType()) * replicas;
  std::unique_ptr<char[]> memory(new char[bytes + replicas]());
  std::memset(memory.get() + bytes, POP_QUARTER_USUAL, replicas);
  return memory;
}
// The same; `bytes` gets the size of the elements.
inline std::unique_ptr<char[]> allocateHostMemoryForTensor(const poplar::Target &target,
                                                           const poplar::Tensor &tensor,
                                                           unsigned replicas, std::size_t &bytes)
{
  bytes = tensor.numElements() * target.getTypeSize(tensor.elementType()) * replicas;
  return allocateHostMemoryForTensor(target, tensor, replicas);
}

namespace detail
{
// Copies metadata, like the elements, in both directions; constant ones only to the host.
inline void addMetadataStreams(const poplar::Tensor &metadata, const std::string &name,
                               poplar::Graph &graph, poplar::program::Sequence *uploadProg,
                               poplar::program::Sequence *downloadProg, char *memory,
                               StreamMap &map)
{
  if (uploadProg && !metadata.containsConstant()) {
    map.emplace_back(name + "-metadata-write", HostMemory(memory, 1));
    auto stream = graph.addHostToDeviceFIFO(name + "-metadata-write", metadata.elementType(), 1,
                                            poplar::ReplicatedStreamMode::BROADCAST);
    uploadProg->add(poplar::program::Copy(stream, metadata));
  }
  if (downloadProg) {
    map.emplace_back(name + "-metadata-read", HostMemory(memory, graph.getReplicationFactor()));
    auto stream = graph.addDeviceToHostFIFO(name + "-metadata-read", metadata.elementType(), 1);
    downloadProg->add(poplar::program::Copy(metadata, stream));
  }
}

inline std::unique_ptr<char[]> addStreams(const poplar::Tensor &tensor, const std::string &name,
                                          poplar::Graph &graph,
                                          poplar::program::Sequence *uploadProg,
                                          poplar::program::Sequence *downloadProg, StreamMap &map)
{
  const unsigned replicas = graph.getReplicationFactor();
  const std::size_t elements = tensor.numElements();
  const std::size_t bytes =
      elements * graph.getTarget().getTypeSize(tensor.elementType()) * replicas;
  auto memory = allocateHostMemoryForTensor(graph.getTarget(), tensor, replicas);
  if (uploadProg) {
    map.emplace_back(name + "-write", HostMemory(memory.get(), bytes));
    uploadProg->add(poplar::program::Copy(
        graph.addHostToDeviceFIFO(name + "-write", tensor.elementType(), elements), tensor));
  }
  if (downloadProg) {
    map.emplace_back(name + "-read", HostMemory(memory.get(), bytes));
    downloadProg->add(poplar::program::Copy(
        tensor, graph.addDeviceToHostFIFO(name + "-read", tensor.elementType(), elements)));
  }
  if (tensor.hasMetadata())
    addMetadataStreams(tensor.getMetadata(), name, graph, uploadProg, downloadProg,
                       memory.get() + bytes, map);
  return memory;
}
} // namespace detail

// The same with streams of that name in both directions. The programs copy them, and `map` lists
// them for attachStreams.
inline std::unique_ptr<char[]> allocateHostMemoryForTensor(
    const poplar::Tensor &tensor, const std::string &name, poplar::Graph &graph,
    poplar::program::Sequence &uploadProg, poplar::program::Sequence &downloadProg, StreamMap &map)
{
  return detail::addStreams(tensor, name, graph, &uploadProg, &downloadProg, map);
}
#if __has_include(<boost/optional.hpp>)
// The same, without streams in a direction that has no program.
inline std::unique_ptr<char[]> allocateHostMemoryForTensor(
    const poplar::Tensor &tensor, const std::string &name, poplar::Graph &graph,
    boost::optional<poplar::program::Sequence &> uploadProg,
    boost::optional<poplar::program::Sequence &> downloadProg, StreamMap &map)
{
  return detail::addStreams(tensor, name, graph, uploadProg ? &*uploadProg : nullptr,
                            downloadProg ? &*downloadProg : nullptr, map);
}
#endif

inline void attachStreams(poplar::Engine &engine, const StreamMap &map)
{
  for (const auto &entry : map)
    engine.connectStream(entry.first, entry.second.begin(), entry.second.end());
}

// ---- numbers of the host to elements of the device, and back ----

namespace detail
{
template <typename T> struct Elements {
  T *first;
  std::size_t count;
  T *data() const { return first; }
  std::size_t size() const { return count; }
};
} // namespace detail

template <typename T>
void copy(const poplar::Target &, const T *source, std::size_t count, const poplar::Type &type,
          void *destination)
{
  poplar::convertToDeviceType(type, detail::Elements<const T>{source, count}, destination);
}
template <typename T>
void copy(const poplar::Target &, const poplar::Type &type, const void *source, T *destination,
          std::size_t count)
{
  poplar::convertFromDeviceType(type, source, detail::Elements<T>{destination, count});
}
template <typename T>
void copy(const poplar::Target &, const T *source, std::size_t count, const poplar::Type &type,
          const poplar::QuarterMetadata &metadata, void *destination)
{
  poplar::convertToDeviceType(type, metadata, detail::Elements<const T>{source, count},
                              destination);
}
template <typename T>
void copy(const poplar::Target &, const poplar::Type &type, const poplar::QuarterMetadata &metadata,
          const void *source, T *destination, std::size_t count)
{
  poplar::convertFromDeviceType(type, metadata, source, detail::Elements<T>{destination, count});
}

template <typename T>
void copy(const poplar::Target &target, const std::vector<T> &source, const poplar::Type &type,
          void *destination)
{
  copy(target, source.data(), source.size(), type, destination);
}
template <typename T>
void copy(const poplar::Target &target, const poplar::Type &type, const void *source,
          std::vector<T> &destination)
{
  copy(target, type, source, destination.data(), destination.size());
}

// Copies quarters of one replica to and from memory of allocateHostMemoryForTensor, whose metadata
// follow the elements. Other types have no metadata, and `metadata` is not looked at.
namespace detail
{
template <typename T>
void copyWithMetadata(const poplar::Target &target, const T *source, std::size_t count,
                      const poplar::Type &type, const poplar::QuarterMetadata &metadata,
                      void *destination)
{
  copy(target, source, count, type, metadata, destination);
  if (type == poplar::QUARTER)
    static_cast<unsigned char *>(destination)[count] = metadata.getBinary();
}
template <typename T>
void copyWithMetadata(const poplar::Target &target, const poplar::Type &type,
                      poplar::QuarterMetadata &metadata, const void *source, T *destination,
                      std::size_t count)
{
  if (type == poplar::QUARTER)
    std::memcpy(&metadata, static_cast<const char *>(source) + count, sizeof metadata);
  copy(target, type, metadata, source, destination, count);
}
} // namespace detail

template <typename T>
void copy(const poplar::Target &target, const std::vector<T> &source, const poplar::Type &type,
          const poplar::QuarterMetadata &metadata, void *destination)
{
  detail::copyWithMetadata(target, source.data(), source.size(), type, metadata, destination);
}
template <typename T>
void copy(const poplar::Target &target, const poplar::Type &type, poplar::QuarterMetadata &metadata,
          const void *source, std::vector<T> &destination)
{
  detail::copyWithMetadata(target, type, metadata, source, destination.data(), destination.size());
}

#if __has_include(<boost/multi_array.hpp>)
template <typename T, std::size_t N>
void copy(const poplar::Target &target, const boost::multi_array<T, N> &source,
          const poplar::Type &type, void *destination)
{
  copy(target, source.data(), source.num_elements(), type, destination);
}
template <typename T, std::size_t N>
void copy(const poplar::Target &target, const poplar::Type &type, const void *source,
          boost::multi_array<T, N> &destination)
{
  copy(target, type, source, destination.data(), destination.num_elements());
}
template <typename T, std::size_t N>
void copy(const poplar::Target &target, const boost::multi_array<T, N> &source,
          const poplar::Type &type, const poplar::QuarterMetadata &metadata, void *destination)
{
  detail::copyWithMetadata(target, source.data(), source.num_elements(), type, metadata,
                           destination);
}
template <typename T, std::size_t N>
void copy(const poplar::Target &target, const poplar::Type &type, poplar::QuarterMetadata &metadata,
          const void *source, boost::multi_array<T, N> &destination)
{
  detail::copyWithMetadata(target, type, metadata, source, destination.data(),
                           destination.num_elements());
}
// One array for each memory.
template <typename T, std::size_t N>
void copy(const poplar::Target &target, const poplar::Type &type,
          const std::vector<boost::multi_array<T, N>> &source,
          std::vector<std::unique_ptr<char[]>> &destination)
{
  for (std::size_t i = 0; i < source.size(); ++i)
    copy(target, source[i], type, destination[i].get());
}
template <typename T, std::size_t N>
void copy(const poplar::Target &target, const poplar::Type &type,
          const std::vector<std::unique_ptr<char[]>> &source,
          std::vector<boost::multi_array<T, N>> &destination)
{
  for (std::size_t i = 0; i < source.size(); ++i)
    copy(target, type, source[i].get(), destination[i]);
}
#endif

} // namespace poplar_test

#endif
