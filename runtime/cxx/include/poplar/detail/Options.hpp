// Options as the C interface takes them.
#ifndef POPLAR_DETAIL_OPTIONS_HPP
#define POPLAR_DETAIL_OPTIONS_HPP

#include <poplar/OptionFlags.hpp>
#include <poplar/detail/CArray.hpp>
#include <populus/engine.h>

namespace poplar
{
namespace detail
{

// The results point into the flags.
inline CArray<pop_option> options(const OptionFlags &flags)
{
  return CArray<pop_option>(flags, [](const std::pair<std::string, std::string> &flag) {
    return pop_option{flag.first.c_str(), flag.second.c_str()};
  });
}

} // namespace detail
} // namespace poplar

#endif
