// Handles of a graph's parts, besides tensors.
#ifndef POPLAR_GRAPHELEMENTS_HPP
#define POPLAR_GRAPHELEMENTS_HPP

#include <poplar/StringRef.hpp>
#include <poplar/Tensor.hpp>
#include <populus/graph.h>
#include <populus/host_function.h>
#include <populus/program.h>
#include <string>

namespace poplar
{

class ComputeSet
{
  pop_compute_set set = {nullptr, 0};

public:
  ComputeSet() = default;
  explicit ComputeSet(pop_compute_set computeSet) : set(computeSet) {}
  pop_compute_set c() const { return set; }
  unsigned getId() const { return set.index - 1; }
};

// A field of a vertex: v["in"], or one row of it: v["in"][3].
class FieldRef
{
  pop_vertex vertex = {nullptr, 0};
  std::string name;
  bool hasRow = false;
  std::size_t row = 0;

public:
  FieldRef() = default;
  FieldRef(pop_vertex v, StringRef field) : vertex(v), name(field) {}
  FieldRef operator[](std::size_t i) const
  {
    FieldRef result = *this;
    result.hasRow = true;
    result.row = i;
    return result;
  }
  pop_vertex c() const { return vertex; }
  const std::string &getName() const { return name; }
  bool isIndexed() const { return hasRow; }
  std::size_t getIndex() const { return row; }
};

class VertexRef
{
  pop_vertex vertex = {nullptr, 0};

public:
  VertexRef() = default;
  explicit VertexRef(pop_vertex v) : vertex(v) {}
  pop_vertex c() const { return vertex; }
  unsigned getId() const { return vertex.index - 1; }
  bool isNull() const { return vertex.index == 0; }
  FieldRef operator[](StringRef field) const { return FieldRef(vertex, field); }
  FieldRef getFieldByName(StringRef field) const { return FieldRef(vertex, field); }
};

class Function
{
  pop_function function = {nullptr, 0};

public:
  Function() = default;
  explicit Function(pop_function f) : function(f) {}
  pop_function c() const { return function; }
  unsigned getId() const { return function.index - 1; }
};

// A host function that programs call (program::Call). Engine::connectHostFunction connects its
// callback.
class HostFunction
{
  pop_host_function function = {nullptr, nullptr, 0, 0};

public:
  HostFunction() = default;
  explicit HostFunction(pop_host_function f) : function(f) {}
  pop_host_function c() const { return function; }
};
struct HostFunctionArgument {
  Type type;
  std::size_t numElements;
};

} // namespace poplar

#endif
