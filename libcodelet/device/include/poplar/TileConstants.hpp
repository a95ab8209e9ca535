/* Constants of the tile, for C++, C and assembly. */
#ifndef POPLAR_TILE_CONSTANTS_HPP
#define POPLAR_TILE_CONSTANTS_HPP

#include <arch/gc_tile_defines.h>

#endif
