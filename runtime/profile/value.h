/* The representation of values. Profiles consist mostly of vectors of ints. Such a vector uses as
 * many bytes for each int as the largest needs, and none if all are equal. */
#ifndef PROFILE_VALUE_H
#define PROFILE_VALUE_H

#include "base/emitter.h"
#include <populus/arena.h>

typedef struct pop_profile_node {
  uint8_t kind;      /* pop_profile_kind */
  bool is_packed;    /* VECTOR of ints, in `packed`; if int_bytes is 0 all equal `integer` */
  uint8_t int_bytes; /* 0, or bytes of each: 1, 2, 4, 8 */
  size_t count;
  union {
    int64_t integer; /* INT, BOOL; for a packed vector of equal ints, each of them */
    double number;
    const char *text;
    const struct pop_profile_node *items;
    const void *packed;
  };
  const char *const *keys; /* MAP */
} pop_profile_node;

struct pop_profile {
  pop_arena *arena;
  pop_profile_node root;
};

/* value_read.c: FILE_LOAD, with an offset, if the bytes are not a profile. */
POP_MUST_CHECK pop_error *profile_from_cbor(const void *bytes, size_t size, pop_profile **profile);

#endif
