// Shared by the library headers. A C function adds its steps to a sequence of its own, which is
// then added to the program's sequence.
#ifndef POPLAR_DETAIL_LIBRARY_HPP
#define POPLAR_DETAIL_LIBRARY_HPP

#include <poplar/Graph.hpp>
#include <poplar/detail/LibraryOptions.hpp>

namespace poplar
{
namespace detail
{

class LibraryCall
{
  pop_graph *graph;
  program::Sequence &sequence;
  std::string name;
  pop_program steps;

public:
  LibraryCall(Graph &g, program::Sequence &prog, const DebugContext &debugContext)
      : graph(g.c()), sequence(prog), name(debugContext.getPathName()),
        steps(pop_program_sequence(graph, nullptr))
  {
  }
  pop_program program() const { return steps; }
  const char *c() const { return name.c_str(); }
  // Adds the steps to the program. Throws instead if the function failed.
  void finish()
  {
    check(graph);
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
