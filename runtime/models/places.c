/* On which tile a tensor begins. If all tensors began on the first tile, the first tiles would be
 * full of the beginnings of arguments and the last ones empty. So arguments of @main are placed one
 * after the other. Tensors that are connected by operations element by element begin on the same
 * tile. So a weight, its gradient and the new weight need no exchange:
 *
 *   %w2 = subtract %w, %s     %w, %s and %w2 are related
 *
 * Constants and broadcasts connect nothing, because many weights may be multiplied by the same
 * learning rate. Constants are placed one after the other, like arguments. */
#include "models/lowering.h"

#include <stdlib.h>

static const uint32_t not_yet = UINT32_MAX;

static uint32_t root_of(lowering *l, uint32_t number)
{
  while (l->placement_sets[number].parent != number) {
    l->placement_sets[number].parent = l->placement_sets[l->placement_sets[number].parent].parent;
    number = l->placement_sets[number].parent;
  }
  return number;
}

/* Union of the sets of two values, if they have as many elements. */
static void connect(lowering *l, const value *a, const value *b)
{
  if (a->type->kind != TYPE_TENSOR || b->type->kind != TYPE_TENSOR ||
      type_elements(a->type) != type_elements(b->type))
    return;
  uint32_t x = root_of(l, a->number), y = root_of(l, b->number);
  l->placement_sets[y].parent = x;
  l->placement_sets[x].of_argument |= l->placement_sets[y].of_argument;
}

/* Is the operand a tensor with a place of its own? */
static bool has_place(const value *v)
{
  return !v->op || op_infos[v->op->code].how != HOW_INDEX || v->op->code == OP_RESHAPE ||
         v->op->code == OP_DOT_GENERAL || v->op->code == OP_CONVOLUTION;
}

static void connect_block(lowering *l, const block *b)
{
  for (const operation *op = b->first; op; op = op->next) {
    bool by_element = op_infos[op->code].how == HOW_ELEMENT || op->code == OP_RESHAPE;
    for (size_t i = 0; i < op->num_operands && by_element; ++i)
      if (has_place(op->operands[i])) connect(l, op->results[0], op->operands[i]);
    if (op->code == OP_WHILE || op->code == OP_OPTIMIZATION_BARRIER)
      for (size_t i = 0; i < op->num_results; ++i) connect(l, op->results[i], op->operands[i]);
    for (size_t r = 0; r < op->num_regions; ++r) {
      const block *inside = &op->regions[r];
      for (size_t i = 0; i < inside->num_arguments && op->code == OP_WHILE; ++i)
        connect(l, op->results[i], inside->arguments[i]);
      connect_block(l, inside);
    }
  }
}

void places_find(lowering *l)
{
  l->placement_sets = pop_xcalloc(l->f->num_values + 1, sizeof *l->placement_sets);
  for (uint32_t i = 0; i < l->f->num_values; ++i)
    l->placement_sets[i] = (placement_set){i, not_yet, false};
  for (size_t i = 0; i < l->f->body.num_arguments; ++i)
    l->placement_sets[l->f->body.arguments[i]->number].of_argument = true;
  connect_block(l, &l->f->body);
}

static uint64_t tiles_of(const spread_plan *p)
{
  return (p->num_vertices + p->on_tile - 1) / p->on_tile;
}

/* False for small tensors, which are placed round-robin, and for those that need all tiles. */
static bool has_choice(const lowering *l, const spread_plan *p)
{
  return p->num_vertices >= l->num_workers && tiles_of(p) < l->num_tiles;
}

void place_next(lowering *l, spread_plan *p)
{
  if (!has_choice(l, p)) return;
  p->first_tile = l->next_place;
  l->next_place = (l->next_place + tiles_of(p)) % l->num_tiles;
}

void place_value(lowering *l, spread_plan *p, const value *v)
{
  placement_set *placement_sets = &l->placement_sets[root_of(l, v->number)];
  if (!has_choice(l, p) || !placement_sets->of_argument) return;
  if (placement_sets->first_tile == not_yet) {
    place_next(l, p);
    placement_sets->first_tile = (uint32_t)p->first_tile;
  }
  p->first_tile = placement_sets->first_tile;
}
