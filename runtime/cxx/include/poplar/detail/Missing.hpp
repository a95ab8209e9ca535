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

// A data member that cannot be set or read.
#define POPLAR_MISSING_FIELD(name, sentence)                                                       \
  struct name##_is_missing {                                                                       \
    template <typename T> name##_is_missing &operator=(const T &)                                  \
    {                                                                                              \
      static_assert(poplar::detail::Never<T>::value, sentence);                                    \
      return *this;                                                                                \
    }                                                                                              \
    template <typename T> operator T() const                                                       \
    {                                                                                              \
      static_assert(poplar::detail::Never<T>::value, sentence);                                    \
      return T();                                                                                  \
    }                                                                                              \
  } name;

// A class of which no object can be made.
#define POPLAR_MISSING_CLASS(name, sentence)                                                       \
  class name                                                                                       \
  {                                                                                                \
  public:                                                                                          \
    template <typename... Arguments> explicit name(Arguments &&...)                                \
    {                                                                                              \
      static_assert(poplar::detail::Never<Arguments...>::value, sentence);                         \
    }                                                                                              \
  };

// A constant that cannot be used as what it would be.
#define POPLAR_MISSING_CONSTANT(name, sentence)                                                    \
  struct name##_is_missing {                                                                       \
    template <typename T> operator T() const                                                       \
    {                                                                                              \
      static_assert(poplar::detail::Never<T>::value, sentence);                                    \
      return T();                                                                                  \
    }                                                                                              \
  };                                                                                               \
  constexpr name##_is_missing name{};

#define POPLAR_MISSING_FUNCTION(name, sentence)                                                    \
  template <typename... Arguments> int name(Arguments &&...)                                       \
  {                                                                                                \
    static_assert(poplar::detail::Never<Arguments...>::value, sentence);                           \
    return 0;                                                                                      \
  }

#endif
