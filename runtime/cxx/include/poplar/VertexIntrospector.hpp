// Vertices as cycle estimators see them (Graph::registerPerfEstimator): the sizes and plain
// values of their fields.
#ifndef POPLAR_VERTEXINTROSPECTOR_HPP
#define POPLAR_VERTEXINTROSPECTOR_HPP

#include <exception>
#include <functional>
#include <poplar/Target.hpp>
#include <poplar/Tensor.hpp>
#include <poplar/VectorLayout.hpp>
#include <poplar/detail/CArray.hpp>
#include <populus/graph.h>
#include <populus/introspection.h>
#include <string>
#include <vector>

namespace poplar
{

struct VertexPerfEstimate {
  std::uint64_t cycles = 0, flops = 0;

  VertexPerfEstimate() = default;
  VertexPerfEstimate(std::uint64_t cyclesOfVertex, std::uint64_t flopsOfVertex = 0)
      : cycles(cyclesOfVertex), flops(flopsOfVertex)
  {
  }
};

// A field of a vertex.
class FieldData
{
  pop_graph *graph;
  pop_vertex vertex;
  std::string field;
  pop_field_info info = {};
  std::size_t count = 0;
  std::vector<std::size_t> rows; // sizes, of a field with rows

  template <typename T>
  std::vector<T> converted(const unsigned char *bytes, std::size_t found, std::size_t n) const
  {
    if (found == SIZE_MAX)
      throw type_error("FieldData: field '" + field +
                       "' is connected to what may change, and has no initial values");
    const std::size_t size = pop_type_bytes(info.type);
    std::vector<T> list;
    list.reserve(n);
    for (std::size_t i = 0; i < n; ++i)
      list.push_back(detail::fromDevice<T>(info.type, bytes + i * size));
    return list;
  }
  // getInitialValues<T> and, for a field with rows, getInitialValues<std::vector<T>>.
  template <typename T> std::vector<T> values(const T *) const
  {
    detail::CArray<unsigned char> bytes(count * pop_type_bytes(info.type));
    const std::size_t found =
        pop_graph_vertex_field_values(graph, vertex, field.c_str(), bytes.data(), count);
    return converted<T>(bytes.data(), found, count);
  }
  template <typename T> std::vector<std::vector<T>> values(const std::vector<T> *) const
  {
    std::vector<std::vector<T>> list;
    for (std::size_t row = 0; row < rows.size(); ++row) {
      detail::CArray<unsigned char> bytes(rows[row] * pop_type_bytes(info.type));
      const std::size_t found =
          pop_graph_vertex_row_values(graph, vertex, field.c_str(), row, bytes.data(), rows[row]);
      list.push_back(converted<T>(bytes.data(), found, rows[row]));
    }
    return list;
  }

public:
  class SizeT
  {
    std::size_t elements;

  public:
    explicit SizeT(std::size_t n) : elements(n) {}
    std::size_t size() const { return elements; }
  };

  FieldData(pop_graph *g, pop_vertex v, StringRef fieldName) : graph(g), vertex(v), field(fieldName)
  {
    detail::check(pop_graph_field_info(vertex, field.c_str(), &info));
    count = pop_graph_vertex_field_size(graph, vertex, field.c_str());
    if (!info.has_rows) return;
    rows.resize(count);
    detail::check(pop_graph_visit_vertex_fields(
        graph, vertex.index - 1,
        [](void *context, const char *name, std::size_t row, pop_tensor tensor) {
          FieldData &self = *static_cast<FieldData *>(context);
          if (self.field == name && row < self.rows.size() && tensor.index)
            self.rows[row] = pop_tensor_num_elements(tensor);
        },
        this));
  }

  const std::string &name() const { return field; }
  // 0: one value; 1: a vector; 2: a vector of vectors.
  unsigned rank() const { return info.has_rows ? 2 : info.is_vector ? 1 : 0; }
  // The number of elements or, for a field with rows, of rows; 1 for one value.
  std::size_t size() const { return count; }
  // The size of a row; 1 for an element of a field without rows.
  std::size_t getSizeAtIndex(std::size_t row) const
  {
    if (row >= count)
      throw index_error(
          "FieldData: field '" + field + "' has " + std::to_string(count) +
          (info.has_rows ? " rows: there is no row " : " elements: there is no element ") +
          std::to_string(row));
    return info.has_rows ? rows[row] : 1;
  }
  SizeT operator[](std::size_t row) const { return SizeT(getSizeAtIndex(row)); }

  // The value of a plain member, or of an edge to constants, as T; halves as the numbers that they
  // stand for. With T = std::vector<U>: a row of U. getInitialValues has all values, or rows. Both
  // throw type_error for an edge to variables; the first also unless there is one value.
  template <typename T> T getInitialValue(const Target &) const
  {
    std::vector<T> list = values(static_cast<const T *>(nullptr));
    if (list.size() != 1)
      throw type_error("FieldData: field '" + field + "' has " + std::to_string(list.size()) +
                       " values, not one");
    return list[0];
  }
  template <typename T> std::vector<T> getInitialValues(const Target &) const
  {
    return values(static_cast<const T *>(nullptr));
  }
  // The layout of the field in the vertex (level 0), or of each of its rows (level 1). Lists of
  // vectors have a layout of their own.
  layout::Vector getProfilerVectorLayout(std::size_t level) const
  {
    switch (level == 0 ? info.layout : info.row_layout) {
    case POP_LAYOUT_SPAN:
      return layout::Vector::Span;
    case POP_LAYOUT_ONE_PTR:
      return layout::Vector::OnePtr;
    case POP_LAYOUT_SHORT_SPAN:
      return layout::Vector::ShortSpan;
    case POP_LAYOUT_SCALED_PTR32:
      return layout::Vector::ScaledPtr32;
    case POP_LAYOUT_SCALED_PTR64:
      return layout::Vector::ScaledPtr64;
    case POP_LAYOUT_SCALED_PTR128:
      return layout::Vector::ScaledPtr128;
    default:
      return layout::Vector::NotAVector;
    }
  }
  layout::VectorList getProfilerVectorListLayout() const
  {
    return info.layout == POP_LAYOUT_DELTAN           ? layout::VectorList::DeltaN
           : info.layout == POP_LAYOUT_DELTANELEMENTS ? layout::VectorList::DeltaNElements
                                                      : layout::VectorList::NotAVector;
  }
};

class VertexIntrospector
{
  pop_graph *graph;
  pop_vertex vertex;

public:
  VertexIntrospector(pop_graph *g, pop_vertex v) : graph(g), vertex(v) {}
  FieldData getFieldInfo(StringRef field) const { return FieldData(graph, vertex, field); }
  // As in "SumVertex".

  std::string getTypeName() const
  {
    pop_vertex_info info;
    detail::check(pop_graph_vertex_info(graph, vertex.index - 1, &info));
    return info.vertex_type;
  }
};

using PerfEstimateFunc =
    std::function<VertexPerfEstimate(const VertexIntrospector &, const Target &)>;

namespace detail
{

// The estimators of a graph by vertex type, as functions for the C interface. The first exception
// is kept for rethrow(), and ends the calls.
class Estimators
{
  struct Entry {
    PerfEstimateFunc function;
    Estimators *all;
    Entry *next;
  };
  Entry *entries = nullptr;
  std::exception_ptr thrown;

  static pop_perf_estimate call(void *context, pop_graph *graph, pop_vertex vertex)
  {
    Entry &entry = *static_cast<Entry *>(context);
    if (entry.all->thrown) return {0, 0};
    try {
      VertexPerfEstimate estimate =
          entry.function(VertexIntrospector(graph, vertex), Target(*pop_graph_get_target(graph)));
      return {estimate.cycles, estimate.flops};
    } catch (...) {
      entry.all->thrown = std::current_exception();
    }
    return {0, 0};
  }

public:
  Estimators() = default;
  Estimators(const Estimators &) = delete;
  Estimators &operator=(const Estimators &) = delete;
  ~Estimators()
  {
    while (Entry *entry = entries) {
      entries = entry->next;
      delete entry;
    }
  }
  void add(pop_graph *graph, const std::string &vertexType, PerfEstimateFunc function)
  {
    entries = new Entry{std::move(function), this, entries};
    pop_graph_register_perf_estimator(graph, vertexType.c_str(), call, entries);
  }
  void rethrow()
  {
    if (!thrown) return;
    std::exception_ptr e = thrown;
    thrown = nullptr;
    std::rethrow_exception(e);
  }
};

} // namespace detail
} // namespace poplar

#endif
