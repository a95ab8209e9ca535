// Shared by the headers about control registers. A C function appends to a sequence of its own, or
// works on one that holds the program's present contents.
#ifndef POPLAR_DETAIL_REGISTERS_HPP
#define POPLAR_DETAIL_REGISTERS_HPP

#include <poplar/Graph.hpp>
#include <poplar/Program.hpp>
#include <populus/registers.h>

namespace poplar
{
namespace detail
{

inline pop_sync_type c(SyncType type)
{
  return type == SyncType::INTERNAL   ? POP_SYNC_INTERNAL
         : type == SyncType::EXTERNAL ? POP_SYNC_EXTERNAL
                                      : POP_SYNC_GLOBAL;
}

class RegisterCall
{
  pop_graph *graph;
  program::Sequence &sequence;
  std::string name;
  bool around; // the steps hold the sequence's contents, and replace them
  pop_program steps;

public:
  RegisterCall(Graph &g, program::Sequence &prog, const DebugContext &debugContext,
               bool holdsProgram)
      : graph(g.c()), sequence(prog), name(debugContext.getPathName()), around(holdsProgram),
        steps(pop_program_sequence(graph, nullptr))
  {
    if (around) pop_sequence_add(steps, g.build(prog));
  }
  pop_program program() const { return steps; }
  const char *c() const { return name.c_str(); }
  void finish()
  {
    check(graph);
    if (around) sequence = program::Sequence();
    sequence.add(program::Program(steps));
  }
  Tensor finish(pop_tensor result)
  {
    finish();
    return Tensor(result);
  }
};

} // namespace detail
} // namespace poplar

#endif
