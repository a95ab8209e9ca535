// Parts of the documented interface that Populus does not have. A program that mentions one
// compiles; when it reaches it, an exception says so.
#ifndef POPLAR_DETAIL_MISSING_HPP
#define POPLAR_DETAIL_MISSING_HPP

#include <type_traits>

namespace poplar
{
namespace detail
{
template <typename...> struct Never : std::false_type {
};

// Defined below, where exceptions.hpp has been included, which has the class that it throws.
[[noreturn]] void throwMissing(const char *sentence);

// The return type of functions that never return: it converts to anything.
struct Anything {
  template <typename T> operator T() const { throwMissing("what is missing has no value"); }
};
} // namespace detail
} // namespace poplar

// A member function that can be called with anything, and throws.
#define POPLAR_MISSING_MEMBER(name, sentence)                                                      \
  template <typename... Arguments> poplar::detail::Anything name(Arguments &&...) const            \
  {                                                                                                \
    poplar::detail::throwMissing(sentence);                                                        \
  }
// The same for a static member function.
#define POPLAR_MISSING_STATIC(name, sentence)                                                      \
  template <typename... Arguments> static poplar::detail::Anything name(Arguments &&...)           \
  {                                                                                                \
    poplar::detail::throwMissing(sentence);                                                        \
  }

// A data member that cannot be set or read.
#define POPLAR_MISSING_FIELD(name, sentence)                                                       \
  struct name##_is_missing {                                                                       \
    template <typename T> name##_is_missing &operator=(const T &)                                  \
    {                                                                                              \
      poplar::detail::throwMissing(sentence);                                                      \
    }                                                                                              \
    template <typename T> operator T() const                                                       \
    {                                                                                              \
      poplar::detail::throwMissing(sentence);                                                      \
    }                                                                                              \
  } name;

// A class of which no object can be made.
#define POPLAR_MISSING_CLASS(name, sentence)                                                       \
  class name                                                                                       \
  {                                                                                                \
  public:                                                                                          \
    template <typename... Arguments> explicit name(Arguments &&...)                                \
    {                                                                                              \
      poplar::detail::throwMissing(sentence);                                                      \
    }                                                                                              \
  };

// A constant that throws when it is converted to a value.
#define POPLAR_MISSING_CONSTANT(name, sentence)                                                    \
  struct name##_is_missing {                                                                       \
    template <typename T> operator T() const                                                       \
    {                                                                                              \
      poplar::detail::throwMissing(sentence);                                                      \
    }                                                                                              \
  };                                                                                               \
  constexpr name##_is_missing name{};

#define POPLAR_MISSING_FUNCTION(name, sentence)                                                    \
  template <typename... Arguments> poplar::detail::Anything name(Arguments &&...)                  \
  {                                                                                                \
    poplar::detail::throwMissing(sentence);                                                        \
  }

#include <poplar/exceptions.hpp>

namespace poplar
{
namespace detail
{
inline void throwMissing(const char *sentence)
{
  throw poplar_error(sentence);
}
} // namespace detail
} // namespace poplar

#endif
