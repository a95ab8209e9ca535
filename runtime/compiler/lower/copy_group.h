/* Copies that stand side by side and have nothing to do with each other are made together: one exchange and one compute
 * set instead of one for each. */
#ifndef COMPILER_LOWER_COPY_GROUP_H
#define COMPILER_LOWER_COPY_GROUP_H

#include "compiler/lower/lowering.h"
#include "compiler/lower/touched.h"

/* What a copy takes, as bits. */
enum {
  COPY_WITHIN_IPU = 1, /* elements go from tile to tile */
  COPY_BETWEEN_IPUS = 2,
  COPY_ON_TILE = 4, /* elements stay on their tile */
  COPY_ODD = 8      /* what changes tiles is not all words: it is also copied on tiles */
};

/* A copy of the group. */
typedef struct grouped_copy {
  const char *name;
  uint32_t parts; /* COPY_… */
} grouped_copy;

/* Begins as {0}. */
typedef struct copy_group {
  transfer_list transfers; /* of all copies */
  touched touched;         /* by them */
  uint64_t *tile_bytes;    /* by tile: that they read and write there */
  grouped_copy *copies;
  size_t num_copies, copies_capacity;
} copy_group;

/* The copy joins the group, if it can; otherwise the group's steps, and then perhaps its own, go to `steps`. */
POP_MUST_CHECK pop_error *copy_group_add(copy_group *group, lowering *l, const program *copied,
                                         step_list *steps);
/* Something else follows. */
POP_MUST_CHECK pop_error *copy_group_end(copy_group *group, lowering *l, step_list *steps);
void copy_group_free(copy_group *group);

#endif
