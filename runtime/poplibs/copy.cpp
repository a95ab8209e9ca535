// The vertices with which the graph compiler copies data within a tile
// (runtime/compiler/lower/tile_copies.c writes their descriptors). Each goes through a list of
// descriptors, which are words:
//
//     Memcpy         source, destination, bytes
//     StridedCopy    source, destination, bytes, count, source stride, destination stride (in bytes)
//
// These are the descriptors of the tile's block copies, one instruction each (runtime/isa/isa.h).
// On the host the vertices do nothing: it has one memory, and its copies are not vertices.
#include <poplar/Vertex.hpp>

namespace
{

enum { MEMCPY_WORDS = 3, STRIDED_COPY_WORDS = 6 }; // of a descriptor

// Copies what a descriptor says; `d` advances to the next one.
#ifdef __IPU__
#define COPY(number, d)                                                                            \
  __asm__ volatile(".insn r 0x2b, 0, " #number ", %0, %1, x0" : "=r"(d) : "r"(d) : "memory")
#else
#define COPY(number, d) (d) = end
#endif

// Unrolled by four, because a branch takes as long as copying 4 bytes.
#define COPY_ALL(number, words)                                                                    \
  const unsigned *d = descriptors.begin(), *end = d + descriptors.size();                          \
  for (const unsigned *last = end - 4 * (words); d <= last;) {                                     \
    COPY(number, d);                                                                               \
    COPY(number, d);                                                                               \
    COPY(number, d);                                                                               \
    COPY(number, d);                                                                               \
  }                                                                                                \
  while (d != end) COPY(number, d)

} // namespace

namespace poplar_rt
{

class Memcpy : public poplar::Vertex
{
public:
  poplar::Input<poplar::Vector<unsigned>> descriptors;

  bool compute()
  {
    COPY_ALL(11, MEMCPY_WORDS); // tile.copy
    return true;
  }
};

class StridedCopy : public poplar::Vertex
{
public:
  poplar::Input<poplar::Vector<unsigned>> descriptors;

  bool compute()
  {
    COPY_ALL(12, STRIDED_COPY_WORDS); // tile.copyrows
    return true;
  }
};

} // namespace poplar_rt
