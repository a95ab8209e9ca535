/* The sets of bytes of blocks that have been read and written. Ranges are added to them. */
#ifndef COMPILER_LOWER_ACCESS_SETS_H
#define COMPILER_LOWER_ACCESS_SETS_H

#include "compiler/compilation.h"

/* 64 bytes of a block, one bit each. */
typedef struct access_sets_part {
  uint64_t key; /* see access_sets.c; the entry is free if its generation is not the current one */
  uint64_t read, written;
  uint32_t generation;
} access_sets_part;

/* A hash table with linear probing. Begins as {0}. */
typedef struct access_sets {
  access_sets_part *parts;
  size_t num_parts, num_slots; /* a power of two */
  uint32_t generation;
} access_sets;

/* Has any of these bytes been written before? If they are to be written: or read? */
bool access_sets_conflict(const access_sets *t, place at, uint32_t bytes, bool to_write);
void access_sets_add(access_sets *t, place at, uint32_t bytes, bool write);
void access_sets_clear(access_sets *t); /* keeps the memory */
void access_sets_free(access_sets *t);

#endif
