// Replaces libc++'s headers of streams. They need locales, and on a tile fail with a hundred errors
// as soon as they are included. Codelets and headers that are shared with host programs may include
// these. The first use of a stream is an error at its line.
#ifndef POPULUS_NO_STREAMS_HPP
#define POPULUS_NO_STREAMS_HPP

#include <__config>
#include <iosfwd>
#include <string>

#define POPULUS_NO_STREAM                                                                          \
  __attribute__((                                                                                  \
      unavailable("a tile has no streams: printf, of <cstdio>, writes to the host's log")))

_LIBCPP_BEGIN_NAMESPACE_STD

class populus_no_stream
{
public:
  template <typename __T> const populus_no_stream &operator<<(const __T &) const { return *this; }
  template <typename __T> const populus_no_stream &operator>>(__T &) const { return *this; }
};
extern const populus_no_stream cin POPULUS_NO_STREAM, cout POPULUS_NO_STREAM,
    cerr POPULUS_NO_STREAM, clog POPULUS_NO_STREAM;
enum populus_manipulator { endl, ends, flush };

_LIBCPP_END_NAMESPACE_STD

#undef POPULUS_NO_STREAM

#endif
