// Versions: of the documented interface and of Populus.
#ifndef POPLAR_VERSION_HPP
#define POPLAR_VERSION_HPP

#include <populus/populus.h>
#include <string>

// The version of the documented interface that these headers follow.
#define POPLAR_VERSION_MAJOR 3
#define POPLAR_VERSION_MINOR 4
#define POPLAR_VERSION_POINT 0
#define POPLAR_VERSION_STRING "3.4.0"

namespace poplar
{

// "3.4.0 (Populus 0.1.0)"
inline std::string versionString()
{
  return POPLAR_VERSION_STRING " (Populus " POPULUS_VERSION ")";
}

} // namespace poplar

#endif
