/* Places in tile memory, in executables and in requests to a machine. */
#ifndef EXECUTABLE_TILE_MEMORY_H
#define EXECUTABLE_TILE_MEMORY_H

#include <stdint.h>

/* Contiguous bytes on a tile. */
typedef struct memory_range {
  uint32_t tile, address, bytes;
} memory_range;

/* The stack of a context; size 0: none, or unknown. */
typedef struct tile_stack {
  uint32_t start, size;
} tile_stack;

/* Contexts of a tile: workers 0-5, then the supervisor. Each has a stack. */
enum { TILE_SUPERVISOR = 6, NUM_TILE_STACKS };

#endif
