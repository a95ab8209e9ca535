// Alignment of addresses, for codelets that step through memory in words.
#ifndef POPLAR_ALIGNMENT_HPP
#define POPLAR_ALIGNMENT_HPP

#include <cstddef>
#include <cstdint>

namespace poplar
{

template <std::size_t ALIGNMENT, typename T> inline bool isAligned(const T *pointer)
{
  return reinterpret_cast<std::uintptr_t>(pointer) % ALIGNMENT == 0;
}

template <std::size_t ALIGNMENT> constexpr std::size_t alignUp(std::size_t bytes)
{
  return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

} // namespace poplar

#endif
