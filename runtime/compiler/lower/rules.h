/* Constraints of vertex types (`elem(*a) != elem(*b)`) while a compute set is lowered: which fields
 * must not share a block, and what allocate is to do with the blocks. */
#ifndef COMPILER_LOWER_RULES_H
#define COMPILER_LOWER_RULES_H

#include "compiler/lower/vertex_state.h"

/* Sides of buffers: of two fields that are kept apart one has another side than the other. One that
 * is kept apart from so many that there are no more gets the last; allocate then finds its rule
 * broken. */
enum { NUM_SIDES = 8 };

/* By field of the type. */
void choose_sides(const pop_vertex_type *type, uint8_t *sides);
/* The field that the constraint keeps apart from `field`, or COMPILER_NONE. */
uint32_t field_kept_apart(const pop_constraint *constraint, uint32_t field);

/* A vertex whose fields have their places. */
typedef struct rule_subject {
  const pop_vertex_type *type;
  uint32_t tile;
  const pointer *pointers; /* by field */
  const pointer *all;      /* rows, as in field_writer */
  place state;
} rule_subject;

/* Adds the vertex's rules to c->placement_rules, or widens those from `first_rule` on that ask the
 * same of the same blocks. */
void add_placement_rules(compilation *c, size_t first_rule, const rule_subject *vertex);

#endif
