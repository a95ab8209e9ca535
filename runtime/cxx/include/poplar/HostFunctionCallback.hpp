// What a host function does (populus/host_function.h): called with the inputs' and outputs' elements, in the device's
// format, while the run waits.
#ifndef POPLAR_HOSTFUNCTIONCALLBACK_HPP
#define POPLAR_HOSTFUNCTIONCALLBACK_HPP

#include <functional>
#include <poplar/ArrayRef.hpp>

namespace poplar
{

using HostFunctionCallback = std::function<void(ArrayRef<const void *>, ArrayRef<void *>)>;

} // namespace poplar

#endif
