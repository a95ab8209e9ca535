/* Places in the memory of tiles: what executables say of them, and what a machine is asked for. */
#ifndef EXECUTABLE_TILE_MEMORY_H
#define EXECUTABLE_TILE_MEMORY_H

#include <stdint.h>

/* Bytes that are together on a tile. */
typedef struct memory_range {
  uint32_t tile, address, bytes;
} memory_range;

/* The stack of a context; size 0: it has none, or nobody knows where. */
typedef struct tile_stack {
  uint32_t start, size;
} tile_stack;

/* Contexts of a tile: workers 0-5, then the supervisor. Each has a stack. */
enum { TILE_SUPERVISOR = 6, NUM_TILE_STACKS };

#endif
