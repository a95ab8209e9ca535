// Names of vertices that are made of templates.
#ifndef POPUTIL_VERTEXTEMPLATES_HPP
#define POPUTIL_VERTEXTEMPLATES_HPP

#include <poplar/Type.hpp>
#include <string>
#include <type_traits>

namespace poputil
{
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
inline std::string argument(bool value)
{
  return value ? "true" : "false";
}
template <typename T>
typename std::enable_if<std::is_integral<T>::value && !std::is_same<T, bool>::value,
                        std::string>::type
argument(T value)
{
  return std::to_string(value);
}
inline std::string argument(const char *text)
{
  return text;
}

inline std::string arguments()
{
  return "";
}
template <typename First, typename... More>
std::string arguments(const First &first, const More &...more)
{
  return argument(first) + (sizeof...(More) ? "," : "") + arguments(more...);
}

} // namespace detail

// templateVertex("Add", FLOAT, true): "Add<float,true>"
template <typename... Arguments>
std::string templateVertex(const std::string &name, const Arguments &...list)
{
  return name + "<" + detail::arguments(list...) + ">";
}

} // namespace poputil

#endif
