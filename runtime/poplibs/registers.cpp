// Vertices that read and write the tiles' control registers (runtime/graph/registers.c adds them to
// graphs). The host has no such registers: reads give 0.
#include "registers.hpp"

#include <poplar/Vertex.hpp>

namespace
{

enum { NUM_SEED_WORDS = 4 };

} // namespace

namespace poplar_rt
{

class CycleStamp : public poplar::SupervisorVertex
{
public:
  poplar::Output<poplar::Vector<unsigned, poplar::VectorLayout::ONE_PTR>> out;
  bool compute()
  {
    unsigned low, high, after;
    do {
      READ_REGISTER(cycleh, high);
      READ_REGISTER(cycle, low);
      READ_REGISTER(cycleh, after);
    } while (after != high);
    out[0] = low;
    out[1] = high;
    return true;
  }
};

class CycleDifference : public poplar::SupervisorVertex
{
public:
  poplar::Input<poplar::Vector<unsigned, poplar::VectorLayout::ONE_PTR>> start;
  poplar::InOut<poplar::Vector<unsigned, poplar::VectorLayout::ONE_PTR>> end;
  bool compute()
  {
    unsigned borrow = end[0] < start[0];
    end[0] = end[0] - start[0];
    end[1] = end[1] - start[1] - borrow;
    return true;
  }
};

// Changes the register for workers that start afterwards. The supervisor's own arithmetic stays as
// it is.
class FloatControl : public poplar::SupervisorVertex
{
public:
  poplar::Input<unsigned> keep; // bits of the register that stay
  poplar::Input<unsigned> set;
  poplar::Output<unsigned> before;
  bool compute()
  {
    unsigned control;
    READ_REGISTER(0x801, control);
    *before = control;
    unsigned changed = (control & *keep) | *set;
    WRITE_REGISTER(0x801, changed);
    return true;
  }
};

class GetSeeds : public poplar::MultiVertex
{
public:
  poplar::Output<poplar::Vector<unsigned, poplar::VectorLayout::ONE_PTR>> seeds;
  bool compute(unsigned worker)
  {
    unsigned *words = &seeds[worker * NUM_SEED_WORDS];
    READ_REGISTER(0x802, words[0]);
    READ_REGISTER(0x803, words[1]);
    READ_REGISTER(0x804, words[2]);
    READ_REGISTER(0x805, words[3]);
    return true;
  }
};

class SetSeeds : public poplar::MultiVertex
{
public:
  poplar::Input<poplar::Vector<unsigned, poplar::VectorLayout::ONE_PTR>> seeds;
  bool compute(unsigned worker)
  {
    const unsigned *words = &seeds[worker * NUM_SEED_WORDS];
    WRITE_REGISTER(0x802, words[0]);
    WRITE_REGISTER(0x803, words[1]);
    WRITE_REGISTER(0x804, words[2]);
    WRITE_REGISTER(0x805, words[3]);
    return true;
  }
};

// Packs the format and scale of quarters (populus/types.h).
class PackMetadata : public poplar::SupervisorVertex
{
public:
  poplar::Input<signed char> scale;
  poplar::Output<unsigned char> metadata;
  unsigned char format;
  bool compute()
  {
    *metadata = format | (*scale & 0x3f);
    return true;
  }
};

} // namespace poplar_rt
