// Options of one run. Engines take theirs when they are made.
#ifndef POPLAR_RUNTIMEOPTIONS_HPP
#define POPLAR_RUNTIMEOPTIONS_HPP

#include <poplar/detail/Missing.hpp>

namespace poplar
{

POPLAR_MISSING_CLASS(RuntimeOptions,
                     "poplar::RuntimeOptions: give options about running to the Engine")

} // namespace poplar

#endif
