/* Constants. Their contents are known, so they need neither be on the tile that they are mapped to
 * nor be sent. */
#ifndef COMPILER_LOWER_CONSTANTS_H
#define COMPILER_LOWER_CONSTANTS_H

#include "compiler/lower/lowering.h"

/* Of a BLOCK_UNIFORM: length of the repeated bytes. */
enum { UNIFORM_VALUE_BYTES = 8 };

/* ---- for place ---- */

#define CONSTANT_ANYWHERE (UINT32_MAX - 1) /* as a home: the tile that it is mapped to */

typedef struct constant_use {
  uint32_t home;         /* small: the tile whose vertices alone read it, whole; or
                          * CONSTANT_ANYWHERE */
  bool is_uniform;       /* its elements are all the same, and it is large enough to matter */
  bool is_read_in_place; /* a vertex on one of its tiles reads much of it there */
} constant_use;

/* Of the vertices that programs run. Indexed by variable; the caller frees it. */
constant_use *find_constant_uses(pop_graph *graph, const reach *r);

/* Is the constant stored as the pattern of each of its tiles, which its elements share (wrap
 * around)? */
static inline bool constant_wraps(const constant_use *use)
{
  return use->is_uniform && !use->is_read_in_place && use->home >= CONSTANT_ANYWHERE;
}

/* Adds the intervals of elements that wrap. */
void wrap_interval(compilation *c, uint32_t variable, const mapping_interval *mapped);

/* ---- for lower ---- */

/* Does the transfer take a uniform constant to a tile that does not have it? */
bool is_of_uniform(const compilation *c, const transfer *t);

/* Appends the transfer to `out`. A transfer from a uniform constant becomes one or more transfers
 * within its destination's tile. */
void add_localized(compilation *c, const transfer *t, transfer_list *out);

#endif
