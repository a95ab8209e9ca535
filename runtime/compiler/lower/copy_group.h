/* Groups adjacent copies that are independent of each other: one exchange and one compute set
 * instead of one for each. */
#ifndef COMPILER_LOWER_COPY_GROUP_H
#define COMPILER_LOWER_COPY_GROUP_H

#include "compiler/lower/access_sets.h"
#include "compiler/lower/lowering.h"

/* What a copy consists of, as bits. */
enum {
  COPY_WITHIN_IPU = 1, /* elements go from tile to tile */
  COPY_BETWEEN_IPUS = 2,
  COPY_ON_TILE = 4,  /* elements stay on their tile */
  COPY_UNALIGNED = 8 /* what changes tiles is not all whole words, so it is also copied on tiles */
};

/* A copy of the group. */
typedef struct grouped_copy {
  const char *name;
  uint32_t parts; /* COPY_… */
} grouped_copy;

/* Begins as {0}. */
typedef struct copy_group {
  transfer_list transfers; /* of all copies */
  access_sets access_sets; /* the bytes they read and write */
  uint64_t *tile_bytes;    /* by tile: number of bytes that they read and write there */
  grouped_copy *copies;
  size_t num_copies, copies_capacity;
} copy_group;

/* Adds the copy to the group if it may join. Otherwise the group's steps go to `steps`; then the
 * copy begins a new group, or its own steps follow. */
POP_MUST_CHECK pop_error *copy_group_add(copy_group *group, lowering *l, const program *copied,
                                         step_list *steps);
/* Ends the group: something that is no copy follows. */
POP_MUST_CHECK pop_error *copy_group_end(copy_group *group, lowering *l, step_list *steps);
void copy_group_free(copy_group *group);

#endif
