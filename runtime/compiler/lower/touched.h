/* The sets of bytes of blocks that have been read and written. Ranges are added to them. */
#ifndef COMPILER_LOWER_TOUCHED_H
#define COMPILER_LOWER_TOUCHED_H

#include "compiler/compilation.h"

/* 64 bytes of a block, one bit each. */
typedef struct touched_part {
  uint64_t key; /* see touched.c; the entry is free if its round is not the current one */
  uint64_t read, written;
  uint32_t round;
} touched_part;

/* A hash table with linear probing. Begins as {0}. */
typedef struct touched {
  touched_part *parts;
  size_t num_parts, num_slots; /* a power of two */
  uint32_t round;
} touched;

/* Has any of these bytes been written before? If they are to be written: or read? */
bool touched_before(const touched *t, place at, uint32_t bytes, bool to_write);
void touch(touched *t, place at, uint32_t bytes, bool write);
void touched_clear(touched *t); /* keeps the memory */
void touched_free(touched *t);

#endif
