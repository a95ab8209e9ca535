/* Constants: what they hold is known, so they need not lie where they are mapped to, nor be sent. */
#ifndef COMPILER_LOWER_CONSTANTS_H
#define COMPILER_LOWER_CONSTANTS_H

#include "compiler/lower/lowering.h"

/* Of a BLOCK_UNIFORM: the bytes that repeat. */
enum { UNIFORM_VALUE_BYTES = 8 };

/* ---- for place ---- */

#define CONSTANT_ANYWHERE (UINT32_MAX - 1) /* as a home: where it is mapped to */

typedef struct constant_use {
  uint32_t
      home; /* of a small one: the one tile on which vertices read it, as a whole; or CONSTANT_ANYWHERE */
  bool is_uniform;       /* its elements are all the same, and enough of them that it matters */
  bool is_read_in_place; /* much of it, by a vertex on one of its tiles */
} constant_use;

/* By variable; the caller frees it. */
constant_use *find_constant_uses(pop_graph *graph);

/* Whether each of its elements is one of the few that the pattern of its tile has. */
static inline bool constant_wraps(const constant_use *use)
{
  return use->is_uniform && !use->is_read_in_place && use->home >= CONSTANT_ANYWHERE;
}

/* Adds the intervals of elements that wrap. */
void wrap_interval(compilation *c, uint32_t variable, const mapping_interval *mapped);

/* ---- for lower ---- */

/* Whether the transfer takes a uniform constant to a tile where it is not. */
bool is_of_uniform(const compilation *c, const transfer *t);

/* Puts the transfer at the end of `out`; if it is of a uniform constant, as one or more on its destination's tile. */
void add_localized(compilation *c, const transfer *t, transfer_list *out);

#endif
