// A program before its graph is known: `program::Sequence prog;` names no graph. A node becomes a
// program of the C interface when an engine, a function or a report needs it. A node does not
// change once another node shares it, so a program that is added to another one is added as it
// is then.
#ifndef POPLAR_DETAIL_PROGRAMNODE_HPP
#define POPLAR_DETAIL_PROGRAMNODE_HPP

#include <cstdint>
#include <poplar/Tensor.hpp>
#include <poplar/detail/CArray.hpp>
#include <poplar/detail/Shared.hpp>
#include <populus/program.h>
#include <string>
#include <utility>
#include <vector>

namespace poplar
{
namespace detail
{

class ProgramBuilder;

struct ProgramNode {
  virtual ~ProgramNode() = default;
  virtual pop_program build(ProgramBuilder &builder) const = 0;
};
// Child nodes with no other owner are freed after the node, not by it: programs may be nested
// more deeply than the stack allows.
inline void releaseNode(const ProgramNode *node)
{
  static thread_local std::vector<const ProgramNode *> *waiting = nullptr;
  if (waiting) {
    waiting->push_back(node);
    return;
  }
  std::vector<const ProgramNode *> nodes{node};
  waiting = &nodes;
  while (!nodes.empty()) {
    const ProgramNode *last = nodes.back();
    nodes.pop_back();
    delete last;
  }
  waiting = nullptr;
}
using ProgramNodePtr = Shared<const ProgramNode, releaseNode>;

// Builds programs of one graph. A node that is in several places becomes one program.
class ProgramBuilder
{
  struct Built {
    const ProgramNode *node;
    pop_program program;
  };
  // A hash table by the node's address, at most half full. std::map would take every file that
  // includes this 50 ms to compile.
  CArray<Built> table{64};
  std::size_t count = 0, depth = 0;

  Built &find(const ProgramNode *node)
  {
    std::size_t i = reinterpret_cast<std::uintptr_t>(node) / alignof(ProgramNode);
    while (true) {
      Built &at = table.data()[i++ * 11 % table.size()];
      if (!at.node || at.node == node) return at;
    }
  }
  void keep(const ProgramNode *node, pop_program program)
  {
    if (2 * ++count > table.size()) {
      CArray<Built> old(2 * table.size());
      std::swap(old, table);
      for (const Built &b : old)
        if (b.node) find(b.node) = b;
    }
    find(node) = {node, program};
  }

  enum : std::size_t { MAX_DEPTH = 20000 };

public:
  pop_graph *const graph;

  explicit ProgramBuilder(pop_graph *g) : graph(g) {}
  // An empty program is an empty sequence.
  pop_program build(const ProgramNodePtr &node)
  {
    if (!node) return pop_program_sequence(graph, nullptr);
    const Built &known = find(node.get());
    if (known.node) return known.program;
    // Functions that walk through programs recurse once for each level.
    if (depth == MAX_DEPTH)
      throw control_program_error("a program has more than " + std::to_string(MAX_DEPTH) +
                                  " levels of programs in programs: add to one Sequence, not "
                                  "Sequences to Sequences");
    ++depth;
    pop_program program = node->build(*this);
    --depth;
    check(graph);
    keep(node.get(), program);
    return program;
  }
};

// A program that the C interface has made already.
struct MadeProgram final : ProgramNode {
  pop_program program;
  explicit MadeProgram(pop_program p) : program(p) {}
  pop_program build(ProgramBuilder &) const override { return program; }
};

struct SequenceNode final : ProgramNode {
  std::string name;
  std::vector<ProgramNodePtr> children;
  pop_program build(ProgramBuilder &b) const override
  {
    pop_program sequence = pop_program_sequence(b.graph, name.c_str());
    for (const auto &child : children) pop_sequence_add(sequence, b.build(child));
    return sequence;
  }
};

struct RepeatNode final : ProgramNode {
  std::string name;
  unsigned count;
  ProgramNodePtr body;
  RepeatNode(std::string n, unsigned c, ProgramNodePtr p)
      : name(std::move(n)), count(c), body(std::move(p))
  {
  }
  pop_program build(ProgramBuilder &b) const override
  {
    return pop_program_repeat(b.graph, count, b.build(body), name.c_str());
  }
};

struct WhileNode final : ProgramNode {
  std::string name;
  bool whileTrue;
  pop_tensor predicate;
  ProgramNodePtr condition, body;
  WhileNode(std::string n, bool w, pop_tensor t, ProgramNodePtr c, ProgramNodePtr p)
      : name(std::move(n)), whileTrue(w), predicate(t), condition(std::move(c)), body(std::move(p))
  {
  }
  pop_program build(ProgramBuilder &b) const override
  {
    auto make = whileTrue ? pop_program_repeat_while_true : pop_program_repeat_while_false;
    pop_program first = condition ? b.build(condition) : pop_program{b.graph, 0};
    return make(first, predicate, b.build(body), name.c_str());
  }
};

struct IfNode final : ProgramNode {
  std::string name;
  pop_tensor predicate;
  ProgramNodePtr thenBody, elseBody;
  IfNode(std::string n, pop_tensor t, ProgramNodePtr a, ProgramNodePtr b)
      : name(std::move(n)), predicate(t), thenBody(std::move(a)), elseBody(std::move(b))
  {
  }
  pop_program build(ProgramBuilder &b) const override
  {
    pop_program thenProgram = b.build(thenBody);
    return pop_program_if(predicate, thenProgram, b.build(elseBody), name.c_str());
  }
};

struct SwitchNode final : ProgramNode {
  std::string name;
  pop_tensor control = {nullptr, 0};
  ProgramNodePtr defaultBody;
  std::vector<ProgramNodePtr> cases;
  std::vector<unsigned> values; // of the cases, as int32_t
  pop_program build(ProgramBuilder &b) const override
  {
    std::size_t i = 0;
    CArray<pop_switch_case> list(cases, [&](const ProgramNodePtr &body) {
      return pop_switch_case{static_cast<std::int32_t>(values[i++]), b.build(body)};
    });
    return pop_program_switch(control, list.data(), list.size(), b.build(defaultBody),
                              name.c_str());
  }
};

struct BlockNode final : ProgramNode {
  std::string name;
  ProgramNodePtr body;
  BlockNode(std::string n, ProgramNodePtr p) : name(std::move(n)), body(std::move(p)) {}
  pop_program build(ProgramBuilder &b) const override
  {
    return pop_program_block(b.graph, b.build(body), name.c_str());
  }
};

struct SyncNode final : ProgramNode {
  std::string name;
  pop_sync_type type;
  SyncNode(std::string n, pop_sync_type t) : name(std::move(n)), type(t) {}
  pop_program build(ProgramBuilder &b) const override
  {
    return pop_program_sync(b.graph, type, name.c_str());
  }
};

struct AbortNode final : ProgramNode {
  std::string name, message;
  AbortNode(std::string n, std::string m) : name(std::move(n)), message(std::move(m)) {}
  pop_program build(ProgramBuilder &b) const override
  {
    return pop_program_abort(b.graph, message.c_str(), name.c_str());
  }
};

} // namespace detail
} // namespace poplar

#endif
