// Programs of a report.
#ifndef PVA_DETAIL_PROGRAMS_HPP
#define PVA_DETAIL_PROGRAMS_HPP

#include <algorithm>
#include <pva/detail/MemoryReport.hpp>

namespace pva
{

// What is in the memory of all tiles under one name, and is live at the same time.
class LoweredVariable
{
  detail::Part liveness;
  std::size_t number;

public:
  LoweredVariable(const detail::Part &p, std::size_t i) : liveness(p), number(i) {}
  std::size_t _id() const { return number; }
  std::string name() const { return liveness.find("variables.names")[number].text(); }
  std::uint64_t bytes() const { return liveness.find("variables.bytes")[number].number(); }
  bool alwaysLive() const
  {
    detail::Part all = liveness.find("alwaysLive.variables");
    std::size_t i =
        detail::firstNotBelow(all.size(), number, [&](std::size_t at) { return all[at].number(); });
    return i < all.size() && all[i].number() == number;
  }
};

#define PVA_PROGRAMS(P)                                                                            \
  P(Sequence)                                                                                      \
  P(Repeat)                                                                                        \
  P(RepeatWhileTrue)                                                                               \
  P(RepeatWhileFalse)                                                                              \
  P(If)                                                                                            \
  P(IfElse)                                                                                        \
  P(Switch)                                                                                        \
  P(Call)                                                                                          \
  P(Block)                                                                                         \
  P(OnTileExecute)                                                                                 \
  P(DoExchange)                                                                                    \
  P(GlobalExchange)                                                                                \
  P(StreamCopy)                                                                                    \
  P(StreamCopyBegin) /* of blocks: the three phases of a StreamCopy; of steps: around it */        \
  P(StreamCopyMid)                                                                                 \
  P(StreamCopyEnd)                                                                                 \
  P(Sync)                                                                                          \
  P(Abort)                                                                                         \
  P(WriteUndef)                                                                                    \
  P(SetLocalConsensusFromVar)                                                                      \
  P(SyncAns) /* of steps: tiles that have acknowledged syncs wait until the last has happened */

class ProgramVisitor;

// A program as the tiles run it. A program that the user wrote may be several of these, or none.
class Program
{
public:
  enum class Type {
#define PVA_TYPE(type) type,
    PVA_PROGRAMS(PVA_TYPE)
#undef PVA_TYPE
        Unknown // a Block without a known name
  };

  Program(Type t, const std::string &n) : kind(t), label(n), number(~std::size_t(0)) {}
  Program(const detail::Part &of, std::size_t i) : graph(of), number(i)
  {
    kind = typeOf(self().text("type"));
    label = self().text("name");
  }

  Type type() const { return kind; }
  std::string name() const { return label; }
  std::size_t _id() const { return number; }
  std::vector<std::shared_ptr<Program>> children() const
  {
    std::vector<std::shared_ptr<Program>> list;
    for (std::uint64_t child : self().find("children").numbers())
      list.push_back(std::make_shared<Program>(graph, static_cast<std::size_t>(child)));
    return list;
  }
  // The variables that the program reads or writes by itself, without its children.
  std::vector<LoweredVariable> vars() const
  {
    std::vector<LoweredVariable> list;
    detail::Part liveness = graph.find("memory.liveness"), all = liveness.find("programs");
    std::size_t i = detail::firstNotBelow(
        all.size(), number, [&](std::size_t at) { return all[at].number("program"); });
    if (i < all.size() && all[i].number("program") == number)
      for (std::uint64_t variable : all[i].find("uses").numbers())
        list.emplace_back(liveness, static_cast<std::size_t>(variable));
    return list;
  }
  // Calls the visitor's function for the program's type; none if that is Unknown.
  void accept(ProgramVisitor &visitor) const;

protected:
  detail::Part graph;
  // Does not exist for a program that a step only names.
  detail::Part self() const
  {
    return graph.exists() ? graph.find("programs")[number] : detail::Part();
  }

private:
  Type kind;
  std::string label;
  std::size_t number;

  static Type typeOf(const std::string &tag)
  {
    static const char *const tags[] = {
#define PVA_TAG(type) #type,
        PVA_PROGRAMS(PVA_TAG)
#undef PVA_TAG
    };
    auto found = std::find(std::begin(tags), std::end(tags), tag);
    return static_cast<Type>(found - std::begin(tags));
  }
  friend class Block;
  friend class ExecutionStep;
};

// The vertices of one type in a compute set.
class VertexInstances
{
  VertexType of;
  std::uint64_t number;

public:
  VertexInstances(const VertexType &type, std::uint64_t n) : of(type), number(n) {}
  VertexType type() const { return of; }
  std::uint64_t count() const { return number; }
};

class ComputeSet
{
  detail::Part graph;
  std::size_t number;

public:
  ComputeSet(const detail::Part &p, std::size_t i) : graph(p), number(i) {}
  std::size_t id() const { return number; }
  std::string name() const { return graph.find("computeSets.names")[number].text(); }
  std::vector<VertexInstances> vertices() const
  {
    std::vector<VertexInstances> list;
    detail::Part types = graph.find("computeSets.vertexTypes")[number];
    detail::Part counts = graph.find("computeSets.vertexCounts")[number];
    detail::Part names = graph.find("vertexTypes.names");
    for (std::size_t i = 0; i < types.size(); ++i)
      list.emplace_back(VertexType(names, static_cast<std::size_t>(types[i].number())),
                        counts[i].number());
    return list;
  }
};

// The classes of programs for visitors: SequenceProgram, DoExchangeProgram, …
template <Program::Type> class ProgramOf : public Program
{
public:
  explicit ProgramOf(const Program &program) : Program(program) {}
};
template <> class ProgramOf<Program::Type::OnTileExecute> : public Program
{
public:
  explicit ProgramOf(const Program &program) : Program(program) {}
  ComputeSet computeset() const
  {
    return {graph, static_cast<std::size_t>(self().number("computeSet"))};
  }
};
#define PVA_PROGRAM(type) using type##Program = ProgramOf<Program::Type::type>;
PVA_PROGRAMS(PVA_PROGRAM)
#undef PVA_PROGRAM

// For Program::accept. Functions that are not overridden do nothing.
class ProgramVisitor
{
public:
  virtual ~ProgramVisitor() = default;
#define PVA_VISIT(type)                                                                            \
  virtual void visit##type(const type##Program &) {}
  PVA_PROGRAMS(PVA_VISIT)
#undef PVA_VISIT
};

inline void Program::accept(ProgramVisitor &visitor) const
{
  switch (kind) {
#define PVA_ACCEPT(type)                                                                           \
  case Type::type:                                                                                 \
    visitor.visit##type(type##Program(*this));                                                     \
    break;
    PVA_PROGRAMS(PVA_ACCEPT)
#undef PVA_ACCEPT
  case Type::Unknown:
    break;
  }
}
#undef PVA_PROGRAMS

} // namespace pva

#endif
