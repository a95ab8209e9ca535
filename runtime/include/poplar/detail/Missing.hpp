// What the documented interface has and Populus has not fails when a program that uses it is compiled, with a sentence.
#ifndef POPLAR_DETAIL_MISSING_HPP
#define POPLAR_DETAIL_MISSING_HPP

#include <type_traits>

namespace poplar
{
namespace detail
{
template <typename...> struct Never : std::false_type {
};
} // namespace detail
} // namespace poplar

// A member function that can be called with anything, and never compiles.
#define POPLAR_MISSING_MEMBER(name, sentence)                                                      \
  template <typename... Arguments> int name(Arguments &&...) const                                 \
  {                                                                                                \
    static_assert(poplar::detail::Never<Arguments...>::value, sentence);                           \
    return 0;                                                                                      \
  }

#define POPLAR_MISSING_FUNCTION(name, sentence)                                                    \
  template <typename... Arguments> int name(Arguments &&...)                                       \
  {                                                                                                \
    static_assert(poplar::detail::Never<Arguments...>::value, sentence);                           \
    return 0;                                                                                      \
  }

#endif
