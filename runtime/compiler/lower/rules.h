/* Constraints of vertex types (`elem(*a) != elem(*b)`) while a compute set is lowered: which fields
 * must not share a block, and the rules that allocate has to follow. */
#ifndef COMPILER_LOWER_RULES_H
#define COMPILER_LOWER_RULES_H

#include "compiler/lower/vertex_state.h"

/* Sides of buffers: two fields that are kept apart have different sides (a graph colouring with
 * NUM_SIDES colours). A field for which no side is left gets the last one; allocate then finds its
 * rule broken. */
enum { NUM_SIDES = 8 };

/* `sides` is indexed by field of the type. */
void choose_sides(const pop_vertex_type *type, uint8_t *sides);
/* The field that the constraint keeps apart from `field`, or COMPILER_NONE. */
uint32_t conflicting_field(const pop_constraint *constraint, uint32_t field);

/* A vertex whose fields have their places. */
typedef struct rule_subject {
  const pop_vertex_type *type;
  uint32_t tile;
  const pointer *pointers; /* by field */
  const pointer *all;      /* rows, as in field_writer */
  place state;
} rule_subject;

/* Adds the vertex's rules to c->placement_rules. A rule from `first_rule` on that asks the same of
 * the same blocks is widened instead. */
void add_placement_rules(compilation *c, size_t first_rule, const rule_subject *vertex);

#endif
