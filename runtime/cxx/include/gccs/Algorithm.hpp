// Integer arithmetic for planners.
#ifndef GCCS_ALGORITHM_HPP
#define GCCS_ALGORITHM_HPP

#include <gccs/ArrayRef.hpp>
#include <type_traits>
#include <utility>

namespace gccs
{

namespace detail
{
template <typename A, typename B> using Common = typename std::common_type<A, B>::type;
}

// a / b, rounded up: 0 <= a, 0 < b.
template <typename A, typename B> constexpr detail::Common<A, B> ceildiv(A a, B b)
{
  using T = detail::Common<A, B>;
  return T(T(a) / T(b)) + T(T(a) % T(b) != T(0));
}

// The same; 0 if b is 0.
template <typename A, typename B> constexpr detail::Common<A, B> ceildiv0(A a, B b)
{
  return b == B(0) ? detail::Common<A, B>(0) : ceildiv(a, b);
}

// a / b, rounded down: 0 <= a, 0 < b.
template <typename A, typename B> constexpr detail::Common<A, B> floordiv(A a, B b)
{
  using T = detail::Common<A, B>;
  return T(T(a) / T(b));
}

// The least multiple of `grain` that is not below x.
template <typename A, typename B> constexpr detail::Common<A, B> alignNext(A x, B grain)
{
  return ceildiv(x, grain) * detail::Common<A, B>(grain);
}

// The largest multiple of `grain` that is not above x.
template <typename A, typename B> constexpr detail::Common<A, B> alignPrev(A x, B grain)
{
  return floordiv(x, grain) * detail::Common<A, B>(grain);
}

// The least n with x <= 2 to the n: 0 < x.
template <typename T> constexpr unsigned ceilLog2(T x)
{
  unsigned n = 0;
  while (n < 64 && static_cast<unsigned long long>(x) > 1ull << n) ++n;
  return n;
}

// 1 + 2 + ... + n
template <typename T> constexpr T nthTriangular(T n)
{
  return n * (n + 1) / 2;
}

// Distributes `n` items over `parts` places as evenly as possible: {places with ceildiv(n,
// parts), places with floordiv(n, parts)}.
template <typename A, typename B>
constexpr std::pair<detail::Common<A, B>, detail::Common<A, B>> balancedPartition(A n, B parts)
{
  using T = detail::Common<A, B>;
  return {T(n) % T(parts), T(parts) - T(n) % T(parts)};
}

} // namespace gccs

#endif
