/* Some of what a message is made of. */
#ifndef RANKS_PIECE_H
#define RANKS_PIECE_H

#include <stddef.h>
#include <stdint.h>

typedef struct ranks_piece {
  uint8_t *data; /* what is sent is only read */
  size_t bytes;
} ranks_piece;

#endif
