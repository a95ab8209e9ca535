/* A part of a message: some bytes in memory. */
#ifndef RANKS_PIECE_H
#define RANKS_PIECE_H

#include <stddef.h>
#include <stdint.h>

typedef struct ranks_piece {
  uint8_t *data; /* only read when it is sent */
  size_t bytes;
} ranks_piece;

#endif
