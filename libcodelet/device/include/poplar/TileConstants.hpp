/* Constants of the tile, for C++, C and assembly. */
#ifndef POPLAR_TILE_CONSTANTS_HPP
#define POPLAR_TILE_CONSTANTS_HPP

#include <arch/gc_tile_defines.h>

/* std::swap and std::is_unsigned, which codelets that include this header expect to find without
 * asking for them. <poplar/Vertex.hpp>, which all include, is not slowed down by them. */
#ifdef __cplusplus
#include <__type_traits/is_unsigned.h>
#include <__utility/swap.h>
#endif

/* Bits of a stride in a worker's address register. */
#define NUM_STRIDE_BITS 10

/* Before the name of a vertex whose workers' state the chip wants aligned; the tile does not. */
#define WORKER_ALIGN

#endif
