// Options of one run, which Populus does not have: options are given to the Engine.
#ifndef POPLAR_RUNTIMEOPTIONS_HPP
#define POPLAR_RUNTIMEOPTIONS_HPP

#include <poplar/detail/Missing.hpp>

namespace poplar
{

POPLAR_MISSING_CLASS(RuntimeOptions,
                     "poplar::RuntimeOptions: give options about running to the Engine")

} // namespace poplar

#endif
