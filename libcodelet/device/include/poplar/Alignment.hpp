// Alignment of addresses, for codelets that step through memory in words.
#ifndef POPLAR_ALIGNMENT_HPP
#define POPLAR_ALIGNMENT_HPP

#include <cstddef>
#include <cstdint>

namespace poplar
{

template <std::size_t __ALIGNMENT, typename __T> inline bool isAligned(const __T *pointer)
{
  return reinterpret_cast<std::uintptr_t>(pointer) % __ALIGNMENT == 0;
}

template <std::size_t __ALIGNMENT> constexpr std::size_t alignUp(std::size_t bytes)
{
  return (bytes + __ALIGNMENT - 1) / __ALIGNMENT * __ALIGNMENT;
}

} // namespace poplar

#endif
