// Compares structs member by member: gccs::makeStructHelper(&S::a, &S::b) has lt(x, y) and eq(x,
// y).
#ifndef GCCS_STRUCTHELPER_HPP
#define GCCS_STRUCTHELPER_HPP

#include <cstddef>
#include <tuple>

namespace gccs
{

template <typename S, typename... Members> class StructHelper
{
  std::tuple<Members S::*...> members;

  template <std::size_t I> constexpr bool lessFrom(const S &a, const S &b) const
  {
    if constexpr (I == sizeof...(Members)) {
      return false;
    } else {
      const auto member = std::get<I>(members);
      if (a.*member < b.*member) return true;
      if (b.*member < a.*member) return false;
      return lessFrom<I + 1>(a, b);
    }
  }
  template <std::size_t I> constexpr bool equalFrom(const S &a, const S &b) const
  {
    if constexpr (I == sizeof...(Members)) {
      return true;
    } else {
      const auto member = std::get<I>(members);
      return a.*member == b.*member && equalFrom<I + 1>(a, b);
    }
  }

public:
  constexpr StructHelper(Members S::*...pointers) : members(pointers...) {}

  // The first member that differs decides.
  constexpr bool lt(const S &a, const S &b) const { return lessFrom<0>(a, b); }
  constexpr bool eq(const S &a, const S &b) const { return equalFrom<0>(a, b); }
};

template <typename S, typename... Members>
constexpr StructHelper<S, Members...> makeStructHelper(Members S::*...pointers)
{
  return StructHelper<S, Members...>(pointers...);
}

} // namespace gccs

#endif
