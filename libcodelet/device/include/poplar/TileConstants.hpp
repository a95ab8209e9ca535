/* Constants of the tile, for C++, C and assembly. */
#ifndef POPLAR_TILE_CONSTANTS_HPP
#define POPLAR_TILE_CONSTANTS_HPP

#include <arch/gc_tile_defines.h>

/* std::swap and std::is_unsigned, which codelets that include this header use without including
 * theirs. They are not in <poplar/Vertex.hpp>, which all codelets include, to keep that fast. */
#ifdef __cplusplus
#include <__type_traits/is_unsigned.h>
#include <__utility/swap.h>
#endif

/* Bits of a stride in a worker's address register. */
#define NUM_STRIDE_BITS 10

/* Stands before the name of a vertex whose workers' state the chip wants aligned. The
 * tile does not. */
#define WORKER_ALIGN

#endif
