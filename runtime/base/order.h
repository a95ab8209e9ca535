/* Sorting by integer keys. The compiler sorts by numbers (tile, block, offset), sometimes
 * millions of items. */
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
