// Names of vertices that are instances of templates.
#ifndef POPUTIL_VERTEXTEMPLATES_HPP
#define POPUTIL_VERTEXTEMPLATES_HPP

#include <poplar/StringRef.hpp>
#include <poplar/Type.hpp>
#include <string>

namespace poputil
{

// The text of an argument of this type. Programs specialise it for their own enumerations.
template <typename T> struct VertexTemplateToString {
  static std::string to_string(const T &value) { return std::to_string(value); }
};
template <> struct VertexTemplateToString<poplar::StringRef> {
  static std::string to_string(const poplar::StringRef &text) { return text.cloneAsString(); }
};

namespace detail
{

inline std::string argument(const poplar::Type &type)
{
  return type.toString();
}
inline std::string argument(const std::string &text)
{
  return text;
}
inline std::string argument(const char *text)
{
  return text;
}
inline std::string argument(bool value)
{
  return value ? "true" : "false";
}
template <typename T> std::string argument(const T &value)
{
  return VertexTemplateToString<T>::to_string(value);
}

inline std::string arguments(bool isFirst)
{
  return isFirst ? "" : ">";
}
template <typename First, typename... More>
std::string arguments(bool isFirst, const First &first, const More &...more)
{
  return (isFirst ? "<" : ",") + argument(first) + arguments(false, more...);
}

} // namespace detail

// templateVertex("Add", FLOAT, true) is "Add<float,true>"; without arguments the name alone.
template <typename... Arguments>
std::string templateVertex(const std::string &name, const Arguments &...list)
{
  return name + detail::arguments(true, list...);
}

} // namespace poputil

#endif
