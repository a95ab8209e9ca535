/* Tiles with equal blocks get equal addresses: of a thousand tiles that do the same, one is
 * planned.
 *
 * Two tiles are equal if they have the same number of blocks, and blocks in equal positions have
 * equal size, alignment, category, flags, live range and part in the layout (code, stack of worker
 * 3, …), and if they have equal rules between blocks in equal positions. Names and contents do not
 * affect addresses. */
#include "compiler/allocate/allocate.h"

#include <stdlib.h>

struct identical_tiles {
  uint8_t *parts;           /* by block: its part in the tile's layout, 0 if it is data */
  uint32_t *rules;          /* numbers in placement_rules, by tile, in their order */
  size_t *first_rule;       /* by tile: in `rules`; one more at the end */
  uint64_t *hashes;         /* by tile */
  uint32_t *slots;          /* hash table: tile + 1, 0 free */
  size_t num_slots, num_in; /* a power of two */
};

enum { FIRST_SLOTS = 256 };

static void mark_parts(identical_tiles *t, const compilation *c, const tile_layout *layout)
{
  uint8_t part = 1;
  for (int i = 0; i < POP_LINK_GROUP_COUNT; i++, part++)
    if (layout->linked_blocks[i] != COMPILER_NONE) t->parts[layout->linked_blocks[i]] = part;
  if (layout->library_code != COMPILER_NONE) t->parts[layout->library_code] = part;
  part++;
  for (uint32_t w = 0; w <= c->target.num_worker_contexts; w++, part++)
    if (layout->stack_blocks[w] != COMPILER_NONE) t->parts[layout->stack_blocks[w]] = part;
}

static void group_rules(identical_tiles *t, const compilation *c, uint32_t num_tiles)
{
  size_t *next = pop_xcalloc(num_tiles + 1, sizeof *next);
  for (size_t i = 0; i < c->num_placement_rules; i++)
    t->first_rule[c->placement_rules[i].tile + 1]++;
  for (uint32_t tile = 0; tile < num_tiles; tile++) {
    t->first_rule[tile + 1] += t->first_rule[tile];
    next[tile] = t->first_rule[tile];
  }
  for (uint32_t i = 0; i < c->num_placement_rules; i++)
    t->rules[next[c->placement_rules[i].tile]++] = i;
  free(next);
}

identical_tiles *identical_tiles_new(const compilation *c)
{
  uint32_t num_tiles = pop_target_num_tiles(&c->target);
  identical_tiles *t = pop_xcalloc(1, sizeof *t);
  t->parts = pop_xcalloc(c->num_blocks + 1, sizeof *t->parts);
  t->rules = pop_xcalloc(c->num_placement_rules + 1, sizeof *t->rules);
  t->first_rule = pop_xcalloc(num_tiles + 1, sizeof *t->first_rule);
  t->hashes = pop_xcalloc(num_tiles, sizeof *t->hashes);
  t->num_slots = FIRST_SLOTS;
  t->slots = pop_xcalloc(t->num_slots, sizeof *t->slots);
  for (uint32_t tile = 0; tile < num_tiles; tile++) mark_parts(t, c, &c->tiles[tile]);
  group_rules(t, c, num_tiles);
  return t;
}

void identical_tiles_free(identical_tiles *t)
{
  free(t->parts);
  free(t->rules);
  free(t->first_rule);
  free(t->hashes);
  free(t->slots);
  free(t);
}

const uint32_t *rules_of_tile(const identical_tiles *t, uint32_t tile, size_t *count)
{
  *count = t->first_rule[tile + 1] - t->first_rule[tile];
  return t->rules + t->first_rule[tile];
}

/* ---- comparing ---- */

static uint64_t mix(uint64_t hash, uint64_t value)
{
  hash = (hash ^ value) * 0x9e3779b97f4a7c15u;
  return hash ^ hash >> 29;
}

static uint64_t hash_tile(const identical_tiles *t, const compilation *c, uint32_t tile)
{
  const tile_layout *layout = &c->tiles[tile];
  uint64_t hash = mix(layout->num_blocks, t->first_rule[tile + 1] - t->first_rule[tile]);
  for (size_t i = 0; i < layout->num_blocks; i++) {
    uint32_t index = c->blocks_by_tile[layout->first_block + i];
    const block *b = &c->blocks[index];
    hash = mix(hash, (uint64_t)b->size << 32 | b->align);
    hash = mix(hash, (uint64_t)b->category << 16 | (uint64_t)b->flags << 8 | t->parts[index]);
    hash = mix(hash, (uint64_t)b->first_step << 32 | b->last_step);
  }
  return hash;
}

static bool same_blocks(const identical_tiles *t, const compilation *c, uint32_t left,
                        uint32_t right)
{
  const tile_layout *l = &c->tiles[left], *r = &c->tiles[right];
  if (l->num_blocks != r->num_blocks) return false;
  for (size_t i = 0; i < l->num_blocks; i++) {
    uint32_t a = c->blocks_by_tile[l->first_block + i], b = c->blocks_by_tile[r->first_block + i];
    const block *x = &c->blocks[a], *y = &c->blocks[b];
    if (x->size != y->size || x->align != y->align || x->category != y->category ||
        x->flags != y->flags || t->parts[a] != t->parts[b] || x->first_step != y->first_step ||
        x->last_step != y->last_step)
      return false;
  }
  return true;
}

static int compare_numbers(const void *left, const void *right)
{
  uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
  return (a > b) - (a < b);
}

/* The position of the block among the tile's blocks. */
static size_t position_on_tile(const compilation *c, uint32_t tile, uint32_t index)
{
  const uint32_t *blocks = c->blocks_by_tile + c->tiles[tile].first_block;
  const uint32_t *found =
      bsearch(&index, blocks, c->tiles[tile].num_blocks, sizeof *blocks, compare_numbers);
  return (size_t)(found - blocks);
}

static bool same_rule(const compilation *c, const placement_rule *a, const placement_rule *b)
{
  const pop_constraint *x = &a->type->constraints[a->constraint];
  const pop_constraint *y = &b->type->constraints[b->constraint];
  if (x->regions != y->regions || x->equal != y->equal) return false;
  for (int side = 0; side < 2; side++)
    if (a->ranges[side].begin != b->ranges[side].begin ||
        a->ranges[side].end != b->ranges[side].end ||
        position_on_tile(c, a->tile, a->ranges[side].block) !=
            position_on_tile(c, b->tile, b->ranges[side].block))
      return false;
  return true;
}

static bool same_rules(const identical_tiles *t, const compilation *c, uint32_t left,
                       uint32_t right)
{
  size_t count, other_count;
  const uint32_t *l = rules_of_tile(t, left, &count), *r = rules_of_tile(t, right, &other_count);
  if (count != other_count) return false;
  for (size_t i = 0; i < count; i++)
    if (!same_rule(c, &c->placement_rules[l[i]], &c->placement_rules[r[i]])) return false;
  return true;
}

/* ---- the table ---- */

static void grow(identical_tiles *t)
{
  uint32_t *old = t->slots;
  size_t old_slots = t->num_slots;
  t->num_slots *= 2;
  t->slots = pop_xcalloc(t->num_slots, sizeof *t->slots);
  for (size_t i = 0; i < old_slots; i++) {
    if (old[i] == 0) continue;
    size_t at = t->hashes[old[i] - 1];
    while (t->slots[at & (t->num_slots - 1)]) at++;
    t->slots[at & (t->num_slots - 1)] = old[i];
  }
  free(old);
}

uint32_t find_identical_tile(identical_tiles *t, const compilation *c, uint32_t tile)
{
  if (t->num_in * 2 >= t->num_slots) grow(t);
  uint64_t hash = t->hashes[tile] = hash_tile(t, c, tile);
  for (size_t at = hash;; at++) {
    uint32_t *slot = &t->slots[at & (t->num_slots - 1)];
    if (*slot == 0) {
      *slot = tile + 1;
      t->num_in++;
      return COMPILER_NONE;
    }
    uint32_t other = *slot - 1;
    if (t->hashes[other] == hash && same_blocks(t, c, other, tile) && same_rules(t, c, other, tile))
      return other;
  }
}
