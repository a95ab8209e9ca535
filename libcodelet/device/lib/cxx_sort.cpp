// libc++ declares std::sort of plain arrays of numbers as "extern template" and has the code in its
// compiled library, which Debian ships for the host only. These are the same instantiations for the
// tile (libcxx/src/algorithm.cpp), but without the partition by bit sets. That one pays off where
// mispredicted branches are expensive, and its code is a quarter longer.
#include <algorithm>
#include <functional>

_LIBCPP_BEGIN_NAMESPACE_STD

// The last parameter is always __less<type>. It only names the order: libc++ declares it
// without a call operator.
template <class, class Iterator> void sort_numbers(Iterator first, Iterator last)
{
  less<typename iterator_traits<Iterator>::value_type> compare;
  __introsort<_ClassicAlgPolicy, decltype(compare) &, Iterator, false>(
      first, last, compare, 2 * __log2i(last - first), true);
}

template <class Compare, class Iterator> void __sort(Iterator first, Iterator last, Compare)
{
  sort_numbers<Compare, Iterator>(first, last);
}

#define INSTANTIATE(type)                                                                          \
  template void __sort<__less<type> &, type *>(type *, type *, __less<type> &);

INSTANTIATE(char)
INSTANTIATE(signed char)
INSTANTIATE(unsigned char)
INSTANTIATE(short)
INSTANTIATE(unsigned short)
INSTANTIATE(int)
INSTANTIATE(unsigned)
INSTANTIATE(long)
INSTANTIATE(unsigned long)
INSTANTIATE(long long)
INSTANTIATE(unsigned long long)
INSTANTIATE(float)
INSTANTIATE(double)
INSTANTIATE(long double)

_LIBCPP_END_NAMESPACE_STD
