/* The types of the tile: half, quarter, vectors, the repeat count. */
#ifndef POPULUS_IPUDEF_H
#define POPULUS_IPUDEF_H

#ifndef __ASSEMBLER__

#include <populus/quarter.h>
#include <populus/vector_types.h>

#ifdef __cplusplus
#include <limits>
#include <poplar/Loops.hpp>

/* 0.5_h is a half. */
constexpr half operator""_h(long double value)
{
  return static_cast<half>(value);
}
#endif

#endif
#endif
