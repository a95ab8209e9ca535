// Writes and reads enumerators, by a table of their names in order.
#ifndef POPLAR_DETAIL_ENUMTEXT_HPP
#define POPLAR_DETAIL_ENUMTEXT_HPP

#include <cstddef>
#include <istream>
#include <ostream>
#include <poplar/exceptions.hpp>
#include <string>

namespace poplar
{
namespace detail
{

template <typename E, std::size_t N>
std::ostream &putEnum(std::ostream &os, E value, const char *const (&names)[N])
{
  const std::size_t i = static_cast<std::size_t>(value);
  return os << (i < N ? names[i] : "?");
}

// Reads a word and sets `value` to its enumerator. If there is none, throws poplar_error with the
// words that there are; `type` is for that message.
template <typename E, std::size_t N>
std::istream &getEnum(std::istream &is, E &value, const char *const (&names)[N], const char *type)
{
  std::string word, all;
  if (!(is >> word)) return is;
  for (std::size_t i = 0; i < N; ++i) {
    if (word == names[i]) {
      value = static_cast<E>(i);
      return is;
    }
    all += (i ? ", " : "") + std::string(names[i]);
  }
  throw poplar_error("there is no " + std::string(type) + " '" + word + "': " + all);
}

} // namespace detail
} // namespace poplar

#endif
