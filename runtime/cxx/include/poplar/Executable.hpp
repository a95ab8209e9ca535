// Compiled graphs: populus/executable.h.
#ifndef POPLAR_EXECUTABLE_HPP
#define POPLAR_EXECUTABLE_HPP

#include <exception>
#include <functional>
#include <istream>
#include <iterator>
#include <poplar/Graph.hpp>
#include <poplar/detail/Options.hpp>
#include <poplar/detail/Shared.hpp>
#include <populus/executable.h>
#include <string>

namespace poplar
{
namespace detail
{

// Has the archive that the executable was read from, if any: it must live as long.
struct ExecutableState {
  std::string archive;
  pop_executable *executable = nullptr;

  ExecutableState() = default;
  ExecutableState(const ExecutableState &) = delete;
  ExecutableState &operator=(const ExecutableState &) = delete;
  ~ExecutableState() { pop_executable_free(executable); }
};

} // namespace detail

// Copies share one executable.
class Executable
{
  detail::Shared<detail::ExecutableState> state;

public:
  Executable() = default;
  explicit Executable(detail::Shared<detail::ExecutableState> s) : state(std::move(s)) {}

  const detail::Shared<detail::ExecutableState> &getState() const
  {
    if (!state)
      throw poplar_error(
          "poplar::Executable: there is none: it was made by Executable() or moved from");
    return state;
  }
  pop_executable *c() const { return getState()->executable; }

  Target getTarget() const { return Target(*pop_executable_target(c())); }
  // Writes the archive of tile images, as target.saveArchive does.
  void serialize(std::ostream &os) const
  {
    detail::check(pop_executable_write(c(), detail::CStream(os)));
    if (!os) throw system_runtime_error("Executable::serialize: the stream cannot be written to");
  }
  static Executable deserialize(std::istream &is)
  {
    if (!is) throw file_load_error("Executable::deserialize: the stream cannot be read");
    detail::Shared<detail::ExecutableState> state(new detail::ExecutableState);
    state->archive.assign(std::istreambuf_iterator<char>(is), std::istreambuf_iterator<char>());
    detail::check(pop_executable_load_memory(state->archive.data(), state->archive.size(),
                                             "a stream", &state->executable));
    return Executable(state);
  }
};

// Called during compilation with the number of steps done and of all steps. In the last call both
// are equal, unless the compilation fails.
using ProgressFunc = std::function<void(int, int)>;

namespace detail
{

// Has the function called by compilations during the object's life. Its first exception is kept for
// rethrow(), and ends the calls.
class Progress
{
  pop_graph *graph;
  const ProgressFunc &function;
  std::exception_ptr thrown;

public:
  Progress(pop_graph *g, const ProgressFunc &f) : graph(g), function(f)
  {
    if (!function) return;
    pop_graph_set_progress(
        graph,
        [](void *context, unsigned done, unsigned total) {
          Progress &self = *static_cast<Progress *>(context);
          if (self.thrown) return;
          try {
            self.function(static_cast<int>(done), static_cast<int>(total));
          } catch (...) {
            self.thrown = std::current_exception();
          }
        },
        this);
  }
  Progress(const Progress &) = delete;
  Progress &operator=(const Progress &) = delete;
  ~Progress() { pop_graph_set_progress(graph, nullptr, nullptr); }
  void rethrow() const
  {
    if (thrown) std::rethrow_exception(thrown);
  }
};

} // namespace detail

// `debugContext` has no effect: a compilation has the names of its programs.
inline Executable compileGraph(const Graph &graph, ArrayRef<program::Program> programs,
                               const OptionFlags &options = {}, const ProgressFunc &progress = {},
                               const DebugContext & /*debugContext*/ = {})
{
  detail::Progress reported(graph.c(), progress);
  auto list = graph.build(programs);
  auto flags = detail::options(options);
  detail::Shared<detail::ExecutableState> state(new detail::ExecutableState);
  pop_error *error = pop_compile_graph(graph.c(), list.data(), list.size(), flags.data(),
                                       flags.size(), &state->executable);
  Executable result(state);
  try {
    graph.rethrowFromEstimators();
    reported.rethrow();
  } catch (...) {
    pop_error_free(error);
    throw;
  }
  detail::check(error);
  return result;
}

} // namespace poplar

#endif
