// A FILE for C functions that writes to a std::ostream.
#ifndef POPLAR_DETAIL_CSTREAM_HPP
#define POPLAR_DETAIL_CSTREAM_HPP

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <ostream>
#include <poplar/exceptions.hpp>
#include <string>
#include <sys/types.h>
#include <unistd.h>
#ifdef __GLIBCXX__
#include <ext/stdio_filebuf.h>
#include <ext/stdio_sync_filebuf.h>
#endif

namespace poplar
{
namespace detail
{

class CStream
{
  FILE *file;

  static ssize_t write(void *stream, const char *bytes, std::size_t size)
  {
    std::ostream &os = *static_cast<std::ostream *>(stream);
    try {
      os.write(bytes, static_cast<std::streamsize>(size));
      if (os) return static_cast<ssize_t>(size);
    } catch (...) { // NOLINT(bugprone-empty-catch): nothing is thrown through functions of C
    }
    errno = EIO;
    return 0;
  }

public:
  // The stream must outlive this.
  explicit CStream(std::ostream &os) : file(nullptr)
  {
    cookie_io_functions_t functions = {};
    functions.write = write;
    file = fopencookie(&os, "w", functions);
    if (!file) throw memory_allocation_error("no memory for a stream");
  }
  CStream(const CStream &) = delete;
  CStream &operator=(const CStream &) = delete;
  ~CStream() { std::fclose(file); }
  operator FILE *() const { return file; }
};

// Is it a terminal that has colours? Through a CStream the C interface cannot see that.
inline bool hasColours(std::ostream &os)
{
  int descriptor = -1;
#ifdef __GLIBCXX__
  using Synchronised =
      __gnu_cxx::stdio_sync_filebuf<char>; // std::cout, until sync_with_stdio(false)
  using OfFile = __gnu_cxx::stdio_filebuf<char>;
  if (auto *buffer = dynamic_cast<Synchronised *>(os.rdbuf()))
    descriptor = fileno(buffer->file());
  else if (auto *file = dynamic_cast<OfFile *>(os.rdbuf()))
    descriptor = file->fd();
#endif
  const char *terminal = std::getenv("TERM");
  return descriptor >= 0 && isatty(descriptor) && terminal && std::string(terminal) != "dumb" &&
         !std::getenv("NO_COLOR");
}

} // namespace detail
} // namespace poplar

#endif
