// Connections of a vertex's field: {"in", tensor}, {"rows", {t1, t2}}, {"factor", 0.5}.
#ifndef POPLAR_DETAIL_CONNECTION_HPP
#define POPLAR_DETAIL_CONNECTION_HPP

#include <poplar/GraphElements.hpp>
#include <poplar/detail/HostValues.hpp>
#include <populus/introspection.h>

namespace poplar
{
namespace detail
{

inline void connect(pop_graph *graph, const FieldRef &field, pop_tensor tensor)
{
  if (field.isIndexed())
    pop_graph_connect_element(graph, field.c(), field.getName().c_str(), field.getIndex(), tensor);
  else
    pop_graph_connect(graph, field.c(), field.getName().c_str(), tensor);
  check(graph);
}

inline void connect(pop_graph *graph, const FieldRef &field, CArray<pop_tensor> tensors)
{
  pop_graph_connect_array(graph, field.c(), field.getName().c_str(), tensors.data(),
                          tensors.size());
  check(graph);
}

inline pop_field_info fieldInfo(const FieldRef &field)
{
  if (!field.c().graph)
    throw poplar_error("field '" + field.getName() + "' is of a vertex that is null");
  pop_field_info info;
  check(pop_graph_field_info(field.c(), field.getName().c_str(), &info));
  return info;
}

// Sets one row of an edge, or one element of a plain vector.
inline void setIndexed(pop_graph *graph, const FieldRef &field, const pop_field_info &info,
                       const Bytes &bytes, std::size_t count)
{
  const char *name = field.getName().c_str();
  if (info.is_edge)
    pop_graph_connect_element_value(graph, field.c(), name, field.getIndex(), info.type,
                                    bytes.data(), count);
  else if (info.is_vector && count == 1)
    pop_graph_set_field_element(graph, field.c(), name, field.getIndex(), info.type, bytes.data());
  else
    throw graph_connection_error(
        "field '" + field.getName() + "[" + std::to_string(field.getIndex()) + "]': " +
        (info.is_vector ? "it is one value, and " + std::to_string(count) + " are given"
                        : "the field is one value, which has no elements"));
  check(graph);
}

// An edge gets a constant, a plain member its value.
inline void setValues(pop_graph *graph, const FieldRef &field, const HostValues &values)
{
  const char *name = field.getName().c_str();
  pop_field_info info = fieldInfo(field);
  Bytes bytes = values.as(Type(info.type).c());
  if (field.isIndexed()) return setIndexed(graph, field, info, bytes, values.count());
  if (info.is_edge)
    pop_graph_connect_value(graph, field.c(), name, info.type, bytes.data(), values.count());
  else if (info.is_vector)
    pop_graph_set_field_array(graph, field.c(), name, info.type, bytes.data(), values.count());
  else if (values.count() == 1)
    pop_graph_set_field(graph, field.c(), name, info.type, bytes.data());
  else
    throw graph_connection_error("field '" + field.getName() + "' is one value, and " +
                                 std::to_string(values.count()) + " are given");
  check(graph);
}

// A value that does not fit the field is an error, not another value.
template <typename T> void setValue(pop_graph *graph, const FieldRef &field, T value)
{
  const char *name = field.getName().c_str();
  pop_field_info info = fieldInfo(field);
  if (field.isIndexed() || info.is_edge || info.is_vector || info.type == POP_UNSIGNED_LONGLONG)
    setValues(graph, field, HostValues(&value, 1));
  else if (info.type == POP_BOOL) // as C++ has it
    pop_graph_set_field_int(graph, field.c(), name, value != T(0));
  else if (std::is_floating_point<T>::value)
    pop_graph_set_field_float(graph, field.c(), name, static_cast<double>(value));
  else
    pop_graph_set_field_int(graph, field.c(), name, static_cast<std::int64_t>(value));
  check(graph);
}

} // namespace detail

class ConnectionDesc
{
  std::string field;
  pop_tensor tensor = {nullptr, 0};
  std::vector<Tensor> tensors;
  detail::HostValues values;
  enum { ONE, ROWS, VALUES } kind;

public:
  ConnectionDesc(StringRef name, const Tensor &t) : field(name), tensor(t.c()), kind(ONE) {}
  ConnectionDesc(StringRef name, ArrayRef<Tensor> ts)
      : field(name), tensors(ts.begin(), ts.end()), kind(ROWS)
  {
  }
  template <typename T, typename = typename std::enable_if<std::is_arithmetic<T>::value>::type>
  ConnectionDesc(StringRef name, T value) : field(name), values(&value, 1), kind(VALUES)
  {
  }
  template <typename T, typename = typename std::enable_if<std::is_arithmetic<T>::value>::type>
  ConnectionDesc(StringRef name, ArrayRef<T> list)
      : field(name), values(list.data(), list.size()), kind(VALUES)
  {
  }
  template <typename T, typename = typename std::enable_if<std::is_arithmetic<T>::value>::type>
  ConnectionDesc(StringRef name, const std::vector<T> &list)
      : field(name), values(list.data(), list.size()), kind(VALUES)
  {
  }

  void connect(pop_graph *graph, pop_vertex vertex) const
  {
    FieldRef to(vertex, field);
    switch (kind) {
    case ONE:
      return detail::connect(graph, to, tensor);
    case ROWS:
      return detail::connect(graph, to, detail::tensors(tensors));
    case VALUES:
      return detail::setValues(graph, to, values);
    }
  }
};

} // namespace poplar

#endif
