/* Packed addresses do not reach all of a tile's memory. Neither they nor exchange instructions
 * reach all of what is past its end, where a model continues.
 *
 * A tile with something out of reach is planned again. What such addresses lead to is placed first,
 * each block at addresses of its own, in ascending order of reach. Data with rules and data in
 * region 1 stay where the plan puts them. If they are out of reach, that is an error
 * (check_address_forms, check_exchange_reach). */
#include "compiler/allocate/allocate.h"

#include <stdlib.h>

struct near_blocks {
  uint64_t *reach; /* by block: first address that what leads to it does not reach; UINT64_MAX */
  bool *is_far;    /* by tile: something is out of reach */
  bool *has_rules; /* by block */
};

/* Notes that something which reaches only addresses below `reach` leads to the place. */
static void reached_from(near_blocks *n, const compilation *c, place at, uint64_t reach)
{
  const block *b = &c->blocks[at.block];
  if (reach < n->reach[at.block]) n->reach[at.block] = reach;
  uint64_t address = (uint64_t)b->address + at.offset;
  if (address >= reach && address_is_used(c, (uint32_t)address)) n->is_far[b->tile] = true;
}

near_blocks *near_blocks_new(const compilation *c)
{
  near_blocks *n = pop_xcalloc(1, sizeof *n);
  n->reach = pop_xcalloc(c->num_blocks + 1, sizeof *n->reach);
  n->has_rules = pop_xcalloc(c->num_blocks + 1, sizeof *n->has_rules);
  n->is_far = pop_xcalloc(pop_target_num_tiles(&c->target) + 1, sizeof *n->is_far);
  for (size_t i = 0; i < c->num_blocks; i++) n->reach[i] = UINT64_MAX;
  for (size_t i = 0; i < c->num_placement_rules; i++)
    for (int side = 0; side < 2; side++)
      n->has_rules[c->placement_rules[i].ranges[side].block] = true;
  for (size_t i = 0; i < c->num_contents; i++)
    for (uint32_t j = 0; j < c->contents[i].num_fixups; j++) {
      const fixup *f = &c->fixups[c->contents[i].first_fixup + j];
      if (f->form != ADDRESS_WORD) reached_from(n, c, f->target, address_form_reach(c, f));
    }
  for (size_t i = 0; i < c->num_code_patches; i++) {
    const code_patch *p = &c->code_patches[i];
    if (p->kind != PATCH_LUI_ADDI)
      reached_from(n, c, p->target, (uint64_t)c->target.memory_base + EXCHANGE_REACH_BYTES);
  }
  return n;
}

void near_blocks_free(near_blocks *n)
{
  free(n->reach);
  free(n->has_rules);
  free(n->is_far);
  free(n);
}

bool tile_is_far(const near_blocks *n, uint32_t tile)
{
  return n->is_far[tile];
}

uint64_t place_near(const near_blocks *n, compilation *c, const tile_layout *layout, uint64_t at)
{
  keyed *order = pop_xcalloc(layout->num_blocks + 1, sizeof *order);
  size_t count = 0;
  for (size_t i = 0; i < layout->num_blocks; i++) {
    uint32_t index = c->blocks_by_tile[layout->first_block + i];
    const block *b = &c->blocks[index];
    if (b->address != COMPILER_NONE || n->reach[index] == UINT64_MAX || n->has_rules[index] ||
        b->flags & BLOCK_INTERLEAVED)
      continue;
    order[count++] = (keyed){n->reach[index] << 32 | b->size, index};
  }
  sort_keyed(order, count);
  for (size_t i = 0; i < count; i++) {
    block *b = &c->blocks[order[i].index];
    at = plan_align_up(at, b->align);
    b->address = (uint32_t)at; /* if it does not fit 32 bits, plan_tile finds out */
    at += b->size;
  }
  free(order);
  return at;
}
