/* Turns the constraints of vertex types into rules: which bytes of which blocks they are about.
 *
 * A rule is about two ranges. All ranges of one field in one block are merged, from the first byte
 * to the last: for example the rows of one variable, or the slices of it that six vertices of the
 * tile have. So a thousand vertices make one rule, and what lies between the ranges is data of the
 * same kind anyway. */
#include "compiler/lower/rules.h"

#include <stdlib.h>

uint32_t conflicting_field(const pop_constraint *constraint, uint32_t field)
{
  if (constraint->equal) return COMPILER_NONE;
  if (constraint->fields[0] == field) return constraint->fields[1];
  return constraint->fields[1] == field ? constraint->fields[0] : COMPILER_NONE;
}

/* Greedy colouring: each field gets the least side that no earlier field has from which it is kept
 * apart. */
void choose_sides(const pop_vertex_type *type, uint8_t *sides)
{
  for (uint32_t field = 0; field < type->num_fields; field++) {
    uint32_t used = 0;
    for (size_t i = 0; i < type->num_constraints; i++) {
      uint32_t other = conflicting_field(&type->constraints[i], field);
      if (other < field) used |= 1u << sides[other];
    }
    uint8_t side = 0;
    while (side < NUM_SIDES - 1 && used & 1u << side) side++;
    sides[field] = side;
  }
}

enum { RULES_LOOKED_BACK = 16 }; /* vertices of a tile mostly ask the same of the same blocks */

static bool is_same_constraint(const placement_rule *a, const placement_rule *b)
{
  const pop_constraint *x = &a->type->constraints[a->constraint];
  const pop_constraint *y = &b->type->constraints[b->constraint];
  return x->regions == y->regions && x->equal == y->equal &&
         a->ranges[0].block == b->ranges[0].block && a->ranges[1].block == b->ranges[1].block;
}

static void include_range(block_range *to, const block_range *range)
{
  if (range->begin < to->begin) to->begin = range->begin;
  if (range->end > to->end) to->end = range->end;
}

/* Widens a rule of the tile that asks the same of the same blocks, or adds one. */
static void add_rule(compilation *c, size_t first, const placement_rule *rule)
{
  if (c->num_placement_rules > first + RULES_LOOKED_BACK)
    first = c->num_placement_rules - RULES_LOOKED_BACK;
  for (size_t i = first; i < c->num_placement_rules; i++) {
    placement_rule *known = &c->placement_rules[i];
    if (!is_same_constraint(known, rule)) continue;
    for (int side = 0; side < 2; side++) include_range(&known->ranges[side], &rule->ranges[side]);
    return;
  }
  pop_push(c->placement_rules, c->num_placement_rules, c->placement_rules_capacity, *rule);
}

typedef struct range_list {
  block_range *items;
  size_t count, capacity;
} range_list;

/* Adds to the range of the block, from the first byte that is meant to the last. */
static void add_range(range_list *list, place at, uint32_t bytes)
{
  if (at.block == COMPILER_NONE || bytes == 0) return;
  block_range range = {at.block, at.offset, at.offset + bytes};
  for (size_t i = 0; i < list->count; i++)
    if (list->items[i].block == range.block) {
      include_range(&list->items[i], &range);
      return;
    }
  pop_push(list->items, list->count, list->capacity, range);
}

/* Finds the ranges that `*field` (depth 1) or `**field` (depth 2) means for the vertex. */
static void find_ranges(const rule_subject *v, uint32_t number, uint32_t depth, range_list *list)
{
  const pop_field *field = &v->type->fields[number];
  const pointer *p = &v->pointers[number];
  uint32_t element_bytes = pop_type_bytes(field->type);
  list->count = 0;
  if (!field->has_rows) {
    add_range(list, p->at, p->elements * element_bytes);
  } else if (depth == 2) {
    for (uint32_t i = 0; i < p->elements; i++) {
      const pointer *row = &v->all[p->first_row + i];
      add_range(list, row->at, row->elements * element_bytes);
    }
  } else if (field->layout == POP_LAYOUT_ARRAY) {
    add_range(list, (place){v->state.block, v->state.offset + field->offset}, field->size);
  } else {
    add_range(list, p->at, p->elements * pop_field_row_bytes(field));
  }
}

void add_placement_rules(compilation *c, size_t first_rule, const rule_subject *v)
{
  range_list sides[2] = {{0}};
  for (uint32_t i = 0; i < v->type->num_constraints; i++) {
    const pop_constraint *constraint = &v->type->constraints[i];
    for (int side = 0; side < 2; side++)
      find_ranges(v, constraint->fields[side], constraint->depths[side], &sides[side]);
    for (size_t a = 0; a < sides[0].count; a++)
      for (size_t b = 0; b < sides[1].count; b++)
        add_rule(c, first_rule,
                 &(placement_rule){.type = v->type,
                                   .constraint = i,
                                   .tile = v->tile,
                                   .ranges = {sides[0].items[a], sides[1].items[b]}});
  }
  free(sides[0].items);
  free(sides[1].items);
}
