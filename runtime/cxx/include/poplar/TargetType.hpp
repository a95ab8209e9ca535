#ifndef POPLAR_TARGETTYPE_HPP
#define POPLAR_TARGETTYPE_HPP

#include <ostream>
#include <string>

namespace poplar
{

enum class TargetType { IPU, IPU_MODEL, CPU };

inline std::string toString(TargetType type)
{
  return type == TargetType::IPU ? "IPU" : type == TargetType::CPU ? "CPU" : "IPU_MODEL";
}
inline std::ostream &operator<<(std::ostream &os, TargetType type)
{
  return os << toString(type);
}

} // namespace poplar

#endif
