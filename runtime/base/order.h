/* Sorting by integer keys: what the compiler sorts, it sorts by numbers (tile, block, offset), and
 * there may be millions of them. */
#ifndef BASE_ORDER_H
#define BASE_ORDER_H

#include <stddef.h>
#include <stdint.h>

typedef struct keyed {
  uint64_t key;
  uint32_t index; /* of whatever is sorted */
} keyed;

/* Ascending by key; equal keys keep their order. */
void sort_keyed(keyed *items, size_t count);

#endif
