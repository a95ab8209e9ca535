// The vertices with which the graph compiler copies data within a tile (runtime/compiler/lower/tile_copies.c writes their
// descriptors). Each goes through a list of descriptors, which are words:
//
//     Memcpy         source, destination, bytes
//     StridedCopy    source, destination, bytes, count, source stride, destination stride (in bytes)
//
// Tiles fault on misaligned access: a descriptor is copied in the largest units that all its numbers are multiples of.
#include <poplar/Vertex.hpp>

namespace
{

template <typename T> T *pointer(unsigned address)
{
  return reinterpret_cast<T *>(static_cast<std::uintptr_t>(address));
}

template <typename T> void copy(unsigned source, unsigned destination, unsigned bytes)
{
  const T *from = pointer<const T>(source);
  T *to = pointer<T>(destination);
  for (const T *end = from + bytes / sizeof(T); from != end; ++from, ++to) *to = *from;
}

__attribute__((noinline)) void copyRun(unsigned source, unsigned destination, unsigned bytes)
{
  unsigned all = source | destination | bytes;
  if (all % 4 == 0)
    copy<std::uint32_t>(source, destination, bytes);
  else if (all % 2 == 0)
    copy<std::uint16_t>(source, destination, bytes);
  else
    copy<std::uint8_t>(source, destination, bytes);
}

template <typename T> void copyElements(const unsigned *d)
{
  unsigned source = d[0], destination = d[1];
  for (unsigned i = 0; i < d[3]; ++i) {
    *pointer<T>(destination) = *pointer<const T>(source);
    source += d[4];
    destination += d[5];
  }
}

void copyRuns(const unsigned *d)
{
  unsigned source = d[0], destination = d[1];
  for (unsigned i = 0; i < d[3]; ++i) {
    copyRun(source, destination, d[2]);
    source += d[4];
    destination += d[5];
  }
}

} // namespace

namespace poplar_rt
{

class Memcpy : public poplar::Vertex
{
public:
  poplar::Input<poplar::Vector<unsigned>> descriptors;

  bool compute()
  {
    for (unsigned i = 0; i < descriptors.size(); i += 3)
      copyRun(descriptors[i], descriptors[i + 1], descriptors[i + 2]);
    return true;
  }
};

class StridedCopy : public poplar::Vertex
{
public:
  poplar::Input<poplar::Vector<unsigned>> descriptors;

  bool compute()
  {
    for (unsigned i = 0; i < descriptors.size(); i += 6) {
      const unsigned *d = &descriptors[i];
      unsigned all = d[0] | d[1] | d[4] | d[5];
      if (d[2] == 4 && all % 4 == 0)
        copyElements<std::uint32_t>(d);
      else if (d[2] == 2 && all % 2 == 0)
        copyElements<std::uint16_t>(d);
      else
        copyRuns(d);
    }
    return true;
  }
};

} // namespace poplar_rt
