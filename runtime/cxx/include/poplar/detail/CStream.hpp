// std::ostream for C functions that write to a FILE.
#ifndef POPLAR_DETAIL_CSTREAM_HPP
#define POPLAR_DETAIL_CSTREAM_HPP

#include <cstdio>
#include <ostream>
#include <poplar/exceptions.hpp>
#include <sys/types.h>

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
    os.write(bytes, static_cast<std::streamsize>(size));
    return os ? static_cast<ssize_t>(size) : 0;
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

} // namespace detail
} // namespace poplar

#endif
