// Control programs: what the tiles do, in which order (populus/program.h). Programs are values:
// adding a program to another one adds it as it is then.
#ifndef POPLAR_PROGRAM_HPP
#define POPLAR_PROGRAM_HPP

#include <cstdint>
#include <initializer_list>
#include <map>
#include <ostream>
#include <poplar/DataStream.hpp>
#include <poplar/DebugContext.hpp>
#include <poplar/GraphElements.hpp>
#include <poplar/PrintTensor.hpp>
#include <poplar/RemoteBuffer.hpp>
#include <poplar/SyncType.hpp>
#include <poplar/detail/ProgramNode.hpp>
#include <utility>

namespace poplar
{
class Graph; // declarations with a Graph need only this header

namespace program
{

class Program
{
protected:
  detail::ProgramNodePtr node;

  explicit Program(const detail::ProgramNode *n) : node(n) {}

public:
  Program() = default;
  // Wraps a program of the C interface.
  explicit Program(pop_program made) : node(new detail::MadeProgram(made))
  {
    if (made.index) return;
    detail::check(made.graph);
    throw control_program_error(
        "a program of nothing: the compute set or function is null; use one "
        "that a call on the graph returned");
  }
  bool isEmpty() const { return !node; }
  const detail::ProgramNodePtr &getNode() const { return node; }
};

class Sequence : public Program
{
  // The node, for changes: a copy if others share it.
  detail::SequenceNode &own()
  {
    auto *mine = static_cast<const detail::SequenceNode *>(node.get());
    if (!mine) node.reset(mine = new detail::SequenceNode); // it was moved to a Program
    if (node.use_count() > 1) node.reset(mine = new detail::SequenceNode(*mine));
    return const_cast<detail::SequenceNode &>(*mine); // it was made without const, below or above
  }

public:
  Sequence() : Program(new detail::SequenceNode) {}
  explicit Sequence(const DebugContext &debugContext) : Sequence()
  {
    own().name = debugContext.getPathName();
  }
  Sequence(std::initializer_list<Program> programs, const DebugContext &debugContext = {})
      : Sequence(debugContext)
  {
    for (const Program &program : programs) add(program);
  }
  explicit Sequence(const std::vector<Program> &programs, const DebugContext &debugContext = {})
      : Sequence(debugContext)
  {
    for (const Program &program : programs) add(program);
  }
  template <typename First, typename Second, typename... More,
            typename = typename std::enable_if<std::is_base_of<Program, First>::value &&
                                               std::is_base_of<Program, Second>::value>::type>
  Sequence(const First &first, const Second &second, const More &...more)
      : Sequence({first, second, more...})
  {
  }
  // A sequence of one program that is not a sequence: `Sequence steps = Repeat(…)`.
  template <typename Other,
            typename = typename std::enable_if<std::is_base_of<Program, Other>::value &&
                                               !std::is_same<Program, Other>::value &&
                                               !std::is_base_of<Sequence, Other>::value>::type>
  Sequence(const Other &program) : Sequence({program})
  {
  }
  Sequence(const Sequence &) = default;
  Sequence &operator=(const Sequence &) = default;
  Sequence(Sequence &&other) : Sequence() { std::swap(node, other.node); }
  Sequence &operator=(Sequence &&other)
  {
    std::swap(node, other.node);
    return *this;
  }

  // Adds the program as it is now. A sequence may be added to itself.
  void add(const Program &program)
  {
    detail::ProgramNodePtr added = program.getNode();
    own().children.push_back(std::move(added));
  }
  std::size_t size() const
  {
    return node ? static_cast<const detail::SequenceNode *>(node.get())->children.size() : 0;
  }
};

class Execute : public Program
{
public:
  explicit Execute(const ComputeSet &computeSet, const DebugContext &debugContext = {})
      : Program(pop_program_execute(computeSet.c().graph, computeSet.c(), debugContext.c()))
  {
  }
  template <typename T, typename = typename std::enable_if<std::is_same<T, Tensor>::value>::type>
  Execute(const ComputeSet &, const T &, const DebugContext & = {})
  {
    detail::throwMissing("poplar::program::Execute: exit codes of vertices are not kept: let a "
                         "vertex write a tensor");
  }
};

// `dontOutline` and `optimiseMemory` have no effect: nothing is outlined here.
class Copy : public Program
{
public:
  Copy(const Tensor &source, const Tensor &destination, bool /*dontOutline*/ = false,
       const DebugContext &debugContext = {})
      : Program(pop_program_copy(detail::check(source.c()), detail::check(destination.c()),
                                 debugContext.c()))
  {
  }
  Copy(const DataStream &stream, const Tensor &destination, bool /*optimiseMemory*/ = false,
       const DebugContext &debugContext = {})
      : Program(pop_program_copy_from_stream(stream.c(), detail::check(destination.c()),
                                             debugContext.c()))
  {
  }
  Copy(const Tensor &source, const DataStream &stream, bool /*optimiseMemory*/ = false,
       const DebugContext &debugContext = {})
      : Program(pop_program_copy_to_stream(detail::check(source.c()), stream.c(), debugContext.c()))
  {
  }
  Copy(const RemoteBuffer &buffer, const Tensor &destination, const DebugContext &debugContext = {})
      : Copy(buffer, destination, Tensor(), debugContext)
  {
  }
  Copy(const RemoteBuffer &buffer, const Tensor &destination, const Tensor &offset,
       const DebugContext &debugContext = {})
      : Program(pop_program_copy_from_remote_buffer(buffer.c(), detail::check(destination.c()),
                                                    offset.c(), debugContext.c()))
  {
  }
  Copy(const Tensor &source, const RemoteBuffer &buffer, const DebugContext &debugContext = {})
      : Copy(source, buffer, Tensor(), debugContext)
  {
  }
  Copy(const Tensor &source, const RemoteBuffer &buffer, const Tensor &offset,
       const DebugContext &debugContext = {})
      : Program(pop_program_copy_to_remote_buffer(detail::check(source.c()), buffer.c(), offset.c(),
                                                  debugContext.c()))
  {
  }
};

class Repeat : public Program
{
public:
  Repeat(unsigned count, const Program &body, const DebugContext &debugContext = {})
      : Program(new detail::RepeatNode(debugContext.getPathName(), count, body.getNode()))
  {
  }
};

class RepeatWhileTrue : public Program
{
public:
  RepeatWhileTrue(const Program &condition, const Tensor &predicate, const Program &body,
                  const DebugContext &debugContext = {})
      : Program(new detail::WhileNode(debugContext.getPathName(), true,
                                      detail::check(predicate.c()), condition.getNode(),
                                      body.getNode()))
  {
  }
};

class RepeatWhileFalse : public Program
{
public:
  RepeatWhileFalse(const Program &condition, const Tensor &predicate, const Program &body,
                   const DebugContext &debugContext = {})
      : Program(new detail::WhileNode(debugContext.getPathName(), false,
                                      detail::check(predicate.c()), condition.getNode(),
                                      body.getNode()))
  {
  }
};

class If : public Program
{
public:
  If(const Tensor &predicate, const Program &trueBody, const Program &falseBody,
     const DebugContext &debugContext = {})
      : Program(new detail::IfNode(debugContext.getPathName(), detail::check(predicate.c()),
                                   trueBody.getNode(), falseBody.getNode()))
  {
  }
};

class Switch : public Program
{
  detail::SwitchNode &own()
  {
    auto *mine = static_cast<const detail::SwitchNode *>(node.get());
    if (!mine) throw control_program_error("program::Switch: there is none: it was moved from");
    if (node.use_count() > 1) node.reset(mine = new detail::SwitchNode(*mine));
    return const_cast<detail::SwitchNode &>(*mine);
  }

public:
  using Case = std::pair<std::int32_t, Program>;

  // A value without a case ends the run with an error.
  static Switch switchWithBoundsChecking(const Tensor &control, const std::vector<Case> &cases,
                                         const DebugContext &debugContext = {});
  // A value without a case does nothing. In the documented interface it may do anything.
  static Switch switchWithUnreachableDefault(const Tensor &control,
                                             const DebugContext &debugContext = {})
  {
    return Switch(control, debugContext);
  }
  explicit Switch(const Tensor &control, const DebugContext &debugContext = {})
      : Switch(control, Program(), debugContext)
  {
  }
  Switch(const Tensor &control, const Program &defaultCaseBody,
         const DebugContext &debugContext = {})
      : Program(new detail::SwitchNode)
  {
    own().control = detail::check(control.c());
    own().defaultBody = defaultCaseBody.getNode();
    own().name = debugContext.getPathName();
  }
  Switch(const Tensor &control, const std::vector<Case> &cases, const Program &defaultCaseBody,
         const DebugContext &debugContext = {})
      : Switch(control, defaultCaseBody, debugContext)
  {
    for (const Case &c : cases) add(c.first, c.second);
  }
  Switch(const Tensor &control, const std::vector<Case> &cases,
         const DebugContext &debugContext = {})
      : Switch(control, cases, Program(), debugContext)
  {
  }
  Switch &add(std::int32_t value, const Program &body)
  {
    detail::ProgramNodePtr added = body.getNode(); // as it is now, be it this one
    own().cases.push_back(std::move(added));
    own().values.push_back(static_cast<unsigned>(value));
    return *this;
  }
};

class Call : public Program
{
  static pop_program make(pop_host_function function, ArrayRef<Tensor> inputs,
                          ArrayRef<Tensor> outputs, const char *name)
  {
    if (inputs.size() != function.num_inputs || outputs.size() != function.num_outputs)
      throw control_program_error("program::Call: host function '" +
                                  std::string(function.handle ? function.handle : "") + "' has " +
                                  std::to_string(function.num_inputs) + " inputs and " +
                                  std::to_string(function.num_outputs) + " outputs");
    auto checked = [](const Tensor &tensor) { return detail::check(tensor.c()); };
    detail::CArray<pop_tensor> in(inputs, checked), out(outputs, checked);
    return pop_program_call_host_function(function, in.data(), out.data(), name);
  }

public:
  explicit Call(const Function &function, const DebugContext &debugContext = {})
      : Program(pop_program_call(function.c(), debugContext.c()))
  {
  }
  // Calls a function of the host.
  Call(const HostFunction &function, ArrayRef<Tensor> inputs, ArrayRef<Tensor> outputs,
       const DebugContext &debugContext = {})
      : Program(make(function.c(), inputs, outputs, debugContext.c()))
  {
  }
};

// Names its body for profiles.
class Block : public Program
{
public:
  Block(const Program &body, const DebugContext &debugContext)
      : Program(new detail::BlockNode(debugContext.getPathName(), body.getNode()))
  {
  }
};

class Sync : public Program
{
  static pop_sync_type c(SyncType type)
  {
    return type == SyncType::INTERNAL   ? POP_SYNC_INTERNAL
           : type == SyncType::EXTERNAL ? POP_SYNC_EXTERNAL
                                        : POP_SYNC_GLOBAL;
  }

public:
  explicit Sync(SyncType type, const DebugContext &debugContext = {})
      : Program(new detail::SyncNode(debugContext.getPathName(), c(type)))
  {
  }
};

class WriteUndef : public Program
{
public:
  explicit WriteUndef(const Tensor &tensor, const DebugContext &debugContext = {})
      : Program(pop_program_write_undef(detail::check(tensor.c()), debugContext.c()))
  {
  }
};

// Prints to standard error, or where Engine::setPrintStream says.
class PrintTensor : public Program
{
public:
  explicit PrintTensor(const Tensor &tensor, const DebugContext &debugContext = {})
      : PrintTensor(debugContext.getPathName().empty() ? tensor.getDebugStr()
                                                       : debugContext.getPathName(),
                    tensor)
  {
  }
  PrintTensor(const Tensor &tensor, const PrintTensorFmt &format,
              const DebugContext &debugContext = {})
      : PrintTensor(debugContext.getPathName().empty() ? tensor.getDebugStr()
                                                       : debugContext.getPathName(),
                    tensor, format)
  {
  }
  PrintTensor(StringRef title, const Tensor &tensor, const PrintTensorFmt &format,
              const DebugContext & = {})
      : Program(pop_program_print_tensor_formatted(detail::check(tensor.c()),
                                                   title.cloneAsString().c_str(), &format.c()))
  {
  }
  PrintTensor(StringRef title, const Tensor &tensor, const DebugContext & = {})
      : Program(pop_program_print_tensor(detail::check(tensor.c()), title.cloneAsString().c_str()))
  {
  }
};

// Ends the run with an error.
class Abort : public Program
{
public:
  explicit Abort(const std::string &message = "", const DebugContext &debugContext = {})
      : Program(new detail::AbortNode(debugContext.getPathName(), message))
  {
  }
};

inline Switch Switch::switchWithBoundsChecking(const Tensor &control,
                                               const std::vector<Case> &cases,
                                               const DebugContext &debugContext)
{
  return Switch(control, cases,
                Abort("Switch '" + debugContext.getPathName() + "': no case has the value of " +
                      control.getDebugStr()),
                debugContext);
}

class AbortOnCondition : public Program
{
public:
  explicit AbortOnCondition(const Tensor &predicate, const std::string &message = "",
                            const DebugContext &debugContext = {})
      : Program(pop_program_abort_on_condition(detail::check(predicate.c()), message.c_str(),
                                               debugContext.c()))
  {
  }
  AbortOnCondition(const Tensor &predicate, const char *message,
                   const DebugContext &debugContext = {})
      : AbortOnCondition(predicate, std::string(message), debugContext)
  {
  }
  AbortOnCondition(const Tensor &predicate, const DebugContext &debugContext)
      : AbortOnCondition(predicate, std::string(), debugContext)
  {
  }
};

// Prints the tensor and ends the run.
class ErrorProgram : public Program
{
public:
  ErrorProgram(StringRef message, const Tensor &tensor, const DebugContext &debugContext = {})
      : Program(
            Sequence({PrintTensor(message, tensor), Abort(message, debugContext)}, debugContext))
  {
  }
};

class CrossReplicaCopy : public Program
{
  static pop_program make(const Tensor &source, const Tensor &destination,
                          const std::map<unsigned, unsigned> &replicas, const char *name)
  {
    detail::CArray<pop_replica_pair> pairs(replicas,
                                           [](const std::pair<const unsigned, unsigned> &pair) {
                                             return pop_replica_pair{pair.first, pair.second};
                                           });
    return pop_program_cross_replica_copy(detail::check(source.c()), detail::check(destination.c()),
                                          pairs.data(), pairs.size(), name);
  }

public:
  // `replicas`: from the source's replica to the destination's.
  CrossReplicaCopy(const Tensor &source, const Tensor &destination,
                   const std::map<unsigned, unsigned> &replicas,
                   const DebugContext &debugContext = {})
      : Program(make(source, destination, replicas, debugContext.c()))
  {
  }
};

class AssumeEqualAcrossReplicas : public Program
{
public:
  explicit AssumeEqualAcrossReplicas(const Tensor &tensor, const DebugContext &debugContext = {})
      : Program(
            pop_program_assume_equal_across_replicas(detail::check(tensor.c()), debugContext.c()))
  {
  }
};

POPLAR_MISSING_CLASS(Loop, "poplar::program::Loop: a run has to end: use RepeatWhileTrue")

// Writes JSON: the list of all programs that `program` runs, itself first (pop_program_serialize).
void dumpProgram(const Graph &graph, const Program &program, std::ostream &out);

} // namespace program
} // namespace poplar

#endif
