/* Allocate: an address for each block.
 *
 *   base                                                         interleaved base        end
 *   | system | stacks, code's data | read-only, code | own | data … | data …………………… | overflowed
 *            |--- equal on tiles with equal code ----|
 *
 * Stacks and the linked code's own data come before the code. Their sizes depend on the code group
 * alone. So tiles of one code group have the code at equal addresses, with equal bytes. Only the
 * tile's control and exchange code differ, and they come last in the code. Read-only constants come
 * before the code that reads them, because the code contains their addresses. A function whose
 * constants are at the same address as on another tile is then the same code, wherever it is
 * itself, and is translated to native code once (machine/translate_move.c). Stacks are lowest: an
 * overflow runs into the next context's stack or the system's memory, not into data. If this order
 * would push code out of region 0, stacks and the code's data go behind the code.
 *
 * `own` is what no codelet may write: the compiler's tables, then vertex states, of which each
 * vertex may write its own. They are contiguous, as segments of their own, so that data are in one
 * piece. A table or state that a rule is about is placed as data.
 *
 * Code must end in region 0. All other data take the lowest free addresses, because a tile's size
 * is measured from its base to the highest byte used. Data may cross the border between the
 * regions. Data that do not fit continue past the end of memory ("overflowed"), so that the
 * shortage is exactly the bytes by which the tile is too full. The addresses of data are a plan
 * (allocate.h). If exchange instructions or packed addresses do not reach all of it, what they lead
 * to is placed in front of all other data (near.c).
 *
 * Needs:   all blocks with their sizes, and when they are live.
 * Adds:    the address of each block, blocks_by_tile, the relocated code of code groups,
 *          out_of_memory.
 * Then:    the memory of each tile is final.
 */
#include "compiler/allocate/allocate.h"
#include "base/order.h"
#include "compiler/layout.h"

#include <stdlib.h>
#include <string.h>

typedef struct allocator {
  compilation *c;
  identical_tiles *identical;
  near_blocks *near; /* NULL: no block has to be near */
  planner planner;
  uint64_t interleaved_base, memory_end;
  uint64_t code_end; /* of the current tile */
} allocator;

/* Sorts the blocks by tile, then by number. */
static void group_by_tile(compilation *c)
{
  uint32_t num_tiles = pop_target_num_tiles(&c->target);
  for (size_t b = 0; b < c->num_blocks; b++) c->tiles[c->blocks[b].tile].num_blocks++;
  size_t first = 0;
  for (uint32_t t = 0; t < num_tiles; t++) {
    c->tiles[t].first_block = first;
    first += c->tiles[t].num_blocks;
    c->tiles[t].num_blocks = 0;
  }
  c->blocks_by_tile = pop_xcalloc(c->num_blocks + 1, sizeof *c->blocks_by_tile);
  for (uint32_t b = 0; b < c->num_blocks; b++) {
    tile_layout *layout = &c->tiles[c->blocks[b].tile];
    c->blocks_by_tile[layout->first_block + layout->num_blocks++] = b;
  }
}

/* ---- stacks and code ---- */

static uint64_t put_block(allocator *a, uint32_t block, uint64_t at)
{
  if (block == COMPILER_NONE) return at;
  struct block *b = &a->c->blocks[block];
  at = plan_align_up(at, b->align);
  b->address = (uint32_t)at; /* if it does not fit 32 bits, plan_tile finds out */
  return at + b->size;
}

static uint64_t put_stacks_and_code_data(allocator *a, const tile_layout *layout, uint64_t at)
{
  uint32_t num_workers = a->c->target.num_worker_contexts;
  at = put_block(a, layout->stack_blocks[num_workers], at);
  for (uint32_t w = 0; w < num_workers; w++) at = put_block(a, layout->stack_blocks[w], at);
  at = put_block(a, layout->linked_blocks[POP_LINK_TLS], at);
  return put_block(a, layout->linked_blocks[POP_LINK_DATA], at);
}

static bool is_code(const block *b)
{
  return b->flags & (BLOCK_CODE | BLOCK_READ_ONLY);
}

static uint64_t put_code(allocator *a, const tile_layout *layout, uint64_t at)
{
  uint32_t code = layout->linked_blocks[POP_LINK_CODE];
  uint32_t constants = layout->linked_blocks[POP_LINK_RODATA];
  uint32_t library = layout->library_code;
  at = put_block(a, constants, at);
  at = put_block(a, code, at);
  at = put_block(a, library, at);
  for (size_t i = 0; i < layout->num_blocks; i++) {
    uint32_t block = a->c->blocks_by_tile[layout->first_block + i];
    if (block != code && block != library && block != constants && is_code(&a->c->blocks[block]))
      at = put_block(a, block, at);
  }
  return at;
}

/* Places blocks with large alignments first, so that few gaps are left. */
static uint64_t put_own(allocator *a, const tile_layout *layout, uint8_t flag, uint64_t at)
{
  const uint32_t *blocks = a->c->blocks_by_tile + layout->first_block;
  uint32_t aligns = 0;
  for (size_t i = 0; i < layout->num_blocks; i++)
    if (a->c->blocks[blocks[i]].flags & flag) aligns |= a->c->blocks[blocks[i]].align;
  for (uint32_t align = 1u << 31; aligns; align >>= 1) {
    if (!(aligns & align)) continue;
    aligns ^= align;
    for (size_t i = 0; i < layout->num_blocks; i++) {
      const block *b = &a->c->blocks[blocks[i]];
      if (b->flags & flag && b->align == align) at = put_block(a, blocks[i], at);
    }
  }
  return at;
}

/* Returns where data may begin. */
static uint64_t put_front(allocator *a, const tile_layout *layout)
{
  uint64_t start = a->c->target.memory_base + a->c->target.system_bytes, end;
  a->code_end = end = put_code(a, layout, put_stacks_and_code_data(a, layout, start));
  if (a->code_end > a->interleaved_base) {
    a->code_end = put_code(a, layout, start);
    end = put_stacks_and_code_data(a, layout, a->code_end);
  }
  end = put_own(a, layout, BLOCK_STATES, put_own(a, layout, BLOCK_TABLE, end));
  return a->near ? place_near(a->near, a->c, layout, end) : end;
}

/* Blocks with rules become data: their rules decide where they are. */
static void release_ruled_blocks(compilation *c)
{
  for (size_t i = 0; i < c->num_placement_rules; i++)
    for (int side = 0; side < 2; side++)
      c->blocks[c->placement_rules[i].ranges[side].block].flags &=
          (uint8_t)~(BLOCK_TABLE | BLOCK_STATES);
}

/* ---- data ---- */

static void collect_items(allocator *a, const tile_layout *layout)
{
  const compilation *c = a->c;
  plan_problem *problem = &a->planner.problem;
  problem->num_items = 0;
  for (size_t i = 0; i < layout->num_blocks; i++) {
    uint32_t index = c->blocks_by_tile[layout->first_block + i];
    const block *b = &c->blocks[index];
    if (b->address != COMPILER_NONE) continue; /* placed already */
    bool always = b->flags & BLOCK_ALWAYS_LIVE;
    pop_push(problem->items, problem->num_items, problem->items_capacity,
             (plan_item){.block = index,
                         .size = b->size,
                         .align = b->align,
                         .first_step = always ? 0 : b->first_step,
                         .last_step = always ? UINT32_MAX : b->last_step,
                         .interleaved = b->flags & BLOCK_INTERLEAVED});
  }
}

/* Binary search: items are in the order of their blocks. */
static uint32_t item_of(const plan_problem *problem, uint32_t block)
{
  size_t low = 0, high = problem->num_items;
  while (high - low > 1) {
    size_t middle = low + (high - low) / 2;
    if (problem->items[middle].block <= block)
      low = middle;
    else
      high = middle;
  }
  return (uint32_t)low;
}

static void collect_rules(allocator *a, uint32_t tile)
{
  plan_problem *problem = &a->planner.problem;
  size_t count;
  const uint32_t *numbers = rules_of_tile(a->identical, tile, &count);
  problem->num_rules = 0;
  for (size_t i = 0; i < count; i++) {
    const placement_rule *from = &a->c->placement_rules[numbers[i]];
    const pop_constraint *constraint = &from->type->constraints[from->constraint];
    plan_rule rule = {.regions = constraint->regions, .equal = constraint->equal};
    for (int side = 0; side < 2; side++) {
      rule.items[side] = item_of(problem, from->ranges[side].block);
      rule.begin[side] = from->ranges[side].begin;
      rule.end[side] = from->ranges[side].end;
      problem->items[rule.items[side]].has_rules = true;
    }
    pop_push(problem->rules, problem->num_rules, problem->rules_capacity, rule);
  }
}

/* ---- the pass ---- */

static uint64_t data_start(const compilation *c)
{
  return (uint64_t)c->target.memory_base + c->target.system_bytes;
}

static uint32_t saturate(uint64_t bytes)
{
  return bytes < UINT32_MAX ? (uint32_t)bytes : UINT32_MAX;
}

/* Counts the tile's stacks and code as well; the bound ignores gaps for alignment. */
static void find_bound(const allocator *a, tile_layout *layout)
{
  const compilation *c = a->c;
  const plan_problem *problem = &a->planner.problem;
  uint64_t base = data_start(c), front = 0;
  for (size_t i = 0; i < layout->num_blocks; i++)
    front += c->blocks[c->blocks_by_tile[layout->first_block + i]].size;
  for (size_t i = 0; i < problem->num_items; i++) front -= problem->items[i].size;
  uint64_t live = most_live_bytes(problem->items, problem->num_items, false);
  layout->most_live_bytes = saturate(front + live);
  layout->least_bytes = saturate(least_end(problem, base + front, live) - base);
}

static pop_error *plan_tile(allocator *a, uint32_t tile)
{
  compilation *c = a->c;
  tile_layout *layout = &c->tiles[tile];
  plan_problem *problem = &a->planner.problem;
  for (size_t i = 0; i < layout->num_blocks; i++)
    c->blocks[c->blocks_by_tile[layout->first_block + i]].address = COMPILER_NONE;
  problem->target = &c->target;
  problem->start = put_front(a, layout);
  collect_items(a, layout);
  collect_rules(a, tile);
  uint64_t end = problem->start;
  if (problem->num_items) end = plan_data(&a->planner);
  if (end < problem->start) end = problem->start;
  if (end > UINT32_MAX)
    return pop_error_new(POP_ERROR_GRAPH_MEMORY,
                         "tile %u needs %llu bytes: it has %u, and 32-bit addresses end before",
                         tile, (unsigned long long)(end - c->target.memory_base),
                         c->target.memory_bytes);
  for (size_t i = 0; i < problem->num_items; i++)
    c->blocks[problem->items[i].block].address = (uint32_t)problem->items[i].address;
  find_bound(a, layout);
  layout->end = (uint32_t)end;
  uint64_t past_end = end > a->memory_end ? end - a->memory_end : 0;
  uint64_t code_past = a->code_end > a->interleaved_base ? a->code_end - a->interleaved_base : 0;
  layout->shortage = (uint32_t)(past_end > code_past ? past_end : code_past);
  return NULL;
}

static void copy_layout(compilation *c, uint32_t tile, uint32_t same_as)
{
  tile_layout *to = &c->tiles[tile];
  const tile_layout *from = &c->tiles[same_as];
  for (size_t i = 0; i < to->num_blocks; i++)
    c->blocks[c->blocks_by_tile[to->first_block + i]].address =
        c->blocks[c->blocks_by_tile[from->first_block + i]].address;
  to->end = from->end;
  to->shortage = from->shortage;
  to->most_live_bytes = from->most_live_bytes;
  to->least_bytes = from->least_bytes;
}

static pop_error *allocate_tile(allocator *a, uint32_t tile)
{
  uint32_t same_as = a->c->tiles[tile].same_as = find_identical_tile(a->identical, a->c, tile);
  if (same_as == COMPILER_NONE) return plan_tile(a, tile);
  copy_layout(a->c, tile, same_as);
  return NULL;
}

/* Plans the tile again with what must be near in front. If the tile had room before and now has
 * not, the first plan is restored. */
static pop_error *plan_far_tile(allocator *a, near_blocks *near, uint32_t tile)
{
  tile_layout *layout = &a->c->tiles[tile];
  bool had_room = layout->shortage == 0;
  a->near = near;
  pop_error *error = plan_tile(a, tile);
  a->near = NULL;
  return error || !had_room || layout->shortage == 0 ? error : plan_tile(a, tile);
}

/* Plans tiles again where something is out of reach. Tiles that share the plan of such a tile keep
 * their addresses unless they are out of reach themselves. */
static pop_error *plan_far_tiles(allocator *a, uint32_t num_tiles)
{
  pop_error *error = NULL;
  near_blocks *near = near_blocks_new(a->c);
  for (uint32_t t = 0; t < num_tiles; t++) {
    tile_layout *layout = &a->c->tiles[t];
    bool is_far = tile_is_far(near, t);
    if (is_far || (layout->same_as != COMPILER_NONE && tile_is_far(near, layout->same_as)))
      layout->same_as = COMPILER_NONE;
    if (is_far && !error) error = plan_far_tile(a, near, t);
  }
  near_blocks_free(near);
  return error;
}

/* Sorts each tile's part of blocks_by_tile by address. */
static void sort_by_address(compilation *c, uint32_t num_tiles)
{
  keyed *keys = NULL;
  size_t keys_capacity = 0;
  for (uint32_t t = 0; t < num_tiles; t++) {
    uint32_t *blocks = c->blocks_by_tile + c->tiles[t].first_block;
    size_t count = c->tiles[t].num_blocks;
    pop_reserve(keys, count, keys_capacity);
    for (size_t i = 0; i < count; i++) keys[i] = (keyed){c->blocks[blocks[i]].address, blocks[i]};
    sort_keyed(keys, count);
    for (size_t i = 0; i < count; i++) blocks[i] = keys[i].index;
  }
  free(keys);
}

/* Exchange instructions hold word offsets of 18 bits: data that is exchanged must lie in the first
 * MiB of a tile. Larger memories are for experiments and models only. */
static pop_error *check_exchange_reach(const compilation *c)
{
  for (size_t i = 0; i < c->num_code_patches; i++) {
    const code_patch *p = &c->code_patches[i];
    const block *b = &c->blocks[p->target.block];
    uint32_t address = b->address + p->target.offset;
    if (p->kind == PATCH_LUI_ADDI || !address_is_used(c, address) ||
        address - c->target.memory_base < EXCHANGE_REACH_BYTES)
      continue;
    return pop_error_new(POP_ERROR_GRAPH_MEMORY,
                         "'%s' on tile %u is exchanged with other tiles but lies at byte %u of the "
                         "tile's memory: exchange instructions reach the first %u bytes",
                         b->name, b->tile, address - c->target.memory_base,
                         (unsigned)EXCHANGE_REACH_BYTES);
  }
  return NULL;
}

pop_error *pass_allocate(compilation *c)
{
  group_by_tile(c);
  release_ruled_blocks(c);
  allocator a = {.c = c,
                 .identical = identical_tiles_new(c),
                 .planner = {.budget = PLAN_BUDGET},
                 .interleaved_base = c->target.interleaved_base,
                 .memory_end = pop_target_memory_end(&c->target)};
  pop_error *error = NULL;
  uint32_t num_tiles = pop_target_num_tiles(&c->target);
  for (uint32_t t = 0; t < num_tiles && !error; t++) error = allocate_tile(&a, t);
  if (!error) error = plan_far_tiles(&a, num_tiles);
  planner_free(&a.planner);
  identical_tiles_free(a.identical);
  POP_TRY(error);
  sort_by_address(c, num_tiles);
  c->out_of_memory = out_of_memory_error(c);
  if (c->out_of_memory && !c->options.allow_out_of_memory) {
    error = c->out_of_memory;
    c->out_of_memory = NULL;
    return error;
  }
  POP_TRY(check_exchange_reach(c));
  POP_TRY(check_address_forms(c));
  return relocate_code_groups(c);
}
