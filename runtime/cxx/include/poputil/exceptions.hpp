#ifndef POPUTIL_EXCEPTIONS_HPP
#define POPUTIL_EXCEPTIONS_HPP

#include <poplar/exceptions.hpp>

namespace poputil
{

struct poplibs_error : poplar::poplar_error {
  explicit poplibs_error(const std::string &sentence) : poplar_error(sentence) {}
};

} // namespace poputil

#endif
