/* Allocate: an address for each block.
 *
 *   base                                                 interleaved base        end
 *   | system | stacks, code's data | code, read-only | data … | data …………………… | overflowed
 *            |--- equal on tiles with equal code ----|
 *
 * Stacks and the linked code's own data come before the code: their sizes depend on the code group
 * alone, so that tiles with equal code have it at equal addresses, with equal bytes, and only the
 * tile's control and exchange code, which come last of the code, differ. Stacks are lowest: what
 * overflows runs into the next context's stack or the system's memory, not into data. If code then
 * does not fit region 0 any more, they go behind it.
 *
 * Code must end in region 0. Blocks that must be interleaved start with region 1. All other data
 * takes the lowest addresses that are free; it may lie across the border of the regions, and what
 * does not fit goes on past the end of memory ("overflowed"), so that a tile lacks exactly the bytes
 * by which it is too full.
 *
 * Order of data: first what is always live, by alignment so that it leaves no gaps; then the rest
 * above it, where blocks share addresses if their lives do not overlap. That is dynamic storage
 * allocation, which is NP-hard; placing them largest first (or in the best of three other orders)
 * into the tightest gap stays near the lower bound. Lives fall apart into groups that do not overlap
 * each other at all, often those of one superstep: each group has all the memory to itself, and the
 * search, quadratic in its size, stays short.
 */
#include "compiler/layout.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* A block of the tile in the making. */
typedef struct item {
  uint32_t block;
  uint32_t size, align;
  uint32_t first_step, last_step;
  uint64_t address; /* 64 bits: an overfull tile may end anywhere */
} item;

typedef struct item_array {
  item *items;
  size_t count, capacity;
} item_array;

typedef struct allocator {
  compilation *c;
  uint64_t interleaved_base, memory_end;
  item_array always, always_interleaved, temporary; /* data of the tile */
  item_array placed; /* temporaries of a group and what is in their way, by address */
  uint64_t code_end, end;
} allocator;

static uint64_t align_up(uint64_t address, uint64_t align)
{
  return (address + align - 1) / align * align;
}

static uint64_t item_end(const item *i)
{
  return i->address + i->size;
}

/* Sorts the blocks by tile; within one, by number. */
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
  at = align_up(at, b->align);
  b->address = (uint32_t)at; /* if it does not fit 32 bits, check_ends finds out */
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
  at = put_block(a, code, at);
  at = put_block(a, constants, at);
  for (size_t i = 0; i < layout->num_blocks; i++) {
    uint32_t block = a->c->blocks_by_tile[layout->first_block + i];
    if (block != code && block != constants && is_code(&a->c->blocks[block]))
      at = put_block(a, block, at);
  }
  return at;
}

/* Returns where data may begin. */
static uint64_t put_front(allocator *a, const tile_layout *layout)
{
  uint64_t start = a->c->target.memory_base + a->c->target.system_bytes;
  a->code_end = put_code(a, layout, put_stacks_and_code_data(a, layout, start));
  if (a->code_end <= a->interleaved_base) return a->code_end;
  a->code_end = put_code(a, layout, start);
  return put_stacks_and_code_data(a, layout, a->code_end);
}

/* ---- data ---- */

static void collect_data(allocator *a, const tile_layout *layout)
{
  const compilation *c = a->c;
  a->always.count = a->always_interleaved.count = a->temporary.count = 0;
  for (size_t i = 0; i < layout->num_blocks; i++) {
    uint32_t index = c->blocks_by_tile[layout->first_block + i];
    const block *b = &c->blocks[index];
    if (b->address != COMPILER_NONE) continue; /* in front already */
    item_array *to = !(b->flags & BLOCK_ALWAYS_LIVE) ? &a->temporary
                     : b->flags & BLOCK_INTERLEAVED  ? &a->always_interleaved
                                                     : &a->always;
    pop_push(to->items, to->count, to->capacity,
             (item){index, b->size, b->align, b->first_step, b->last_step, 0});
  }
}

#define COMPARE(x, y) (((x) > (y)) - ((x) < (y)))

/* Large alignments first; of one alignment, what ends aligned before what does not. */
static int compare_always(const void *left, const void *right)
{
  const item *a = left, *b = right;
  if (a->align != b->align) return -COMPARE(a->align, b->align);
  bool a_uneven = a->size % a->align, b_uneven = b->size % b->align;
  if (a_uneven != b_uneven) return a_uneven ? 1 : -1;
  if (a->size != b->size) return -COMPARE(a->size, b->size);
  return COMPARE(a->block, b->block);
}

static int compare_by_first_step(const void *left, const void *right)
{
  const item *a = left, *b = right;
  if (a->first_step != b->first_step) return COMPARE(a->first_step, b->first_step);
  return COMPARE(a->block, b->block);
}

static int compare_by_size(const void *left, const void *right)
{
  const item *a = left, *b = right;
  if (a->size != b->size) return -COMPARE(a->size, b->size);
  return compare_by_first_step(left, right);
}

static uint32_t life(const item *i)
{
  return i->last_step - i->first_step;
}

static int compare_by_life(const void *left, const void *right)
{
  if (life(left) != life(right)) return -COMPARE(life(left), life(right));
  return compare_by_size(left, right);
}

static int compare_by_area(const void *left, const void *right)
{
  const item *a = left, *b = right;
  uint64_t area_a = ((uint64_t)life(a) + 1) * a->size, area_b = ((uint64_t)life(b) + 1) * b->size;
  if (area_a != area_b) return -COMPARE(area_a, area_b);
  return compare_by_size(left, right);
}

static void sort(item_array *array, int (*compare)(const void *, const void *))
{
  if (array->count > 1) qsort(array->items, array->count, sizeof *array->items, compare);
}

static void settle(allocator *a, item *i, uint64_t address)
{
  i->address = address;
  a->c->blocks[i->block].address = (uint32_t)address;
  if (item_end(i) > a->end) a->end = item_end(i);
}

/* Always live, region 1: one behind the other. Returns the end. */
static uint64_t put_always_interleaved(allocator *a, uint64_t start)
{
  sort(&a->always_interleaved, compare_always);
  for (size_t i = 0; i < a->always_interleaved.count; i++) {
    item *x = &a->always_interleaved.items[i];
    settle(a, x, align_up(start, x->align));
    start = item_end(x);
  }
  return start;
}

/* Always live, anywhere: from `start` up to the obstacle, then behind it. Returns the end of the
 * part below the obstacle, and moves the obstacle's end. */
static uint64_t put_always(allocator *a, uint64_t start, item *obstacle)
{
  sort(&a->always, compare_always);
  uint64_t behind = item_end(obstacle);
  for (size_t i = 0; i < a->always.count; i++) {
    item *x = &a->always.items[i];
    uint64_t address = align_up(start, x->align);
    if (obstacle->size == 0 || address + x->size <= obstacle->address) {
      settle(a, x, address);
      start = item_end(x);
    } else {
      settle(a, x, align_up(behind, x->align));
      behind = item_end(x);
    }
  }
  if (obstacle->size) obstacle->size = (uint32_t)(behind - obstacle->address);
  return start;
}

/* ---- blocks that share addresses ---- */

static bool live_together(const item *a, const item *b)
{
  return a->first_step <= b->last_step && b->first_step <= a->last_step;
}

static int (*const temporary_orders[])(const void *, const void *) = {
    compare_by_size, compare_by_area, compare_by_life, compare_by_first_step};
enum { NUM_ORDERS = sizeof temporary_orders / sizeof *temporary_orders };

/* The tightest gap from `floor` on between placed items that live at the same time; if none is
 * wide enough, behind them all. */
static uint64_t find_gap(const item_array *placed, const item *x, uint64_t floor)
{
  uint64_t free_from = align_up(floor, x->align), best = 0, best_bytes = UINT64_MAX;
  for (size_t i = 0; i < placed->count; i++) {
    const item *p = &placed->items[i];
    if (!live_together(p, x) || item_end(p) <= free_from) continue;
    if (p->address >= free_from + x->size && p->address - free_from < best_bytes) {
      best = free_from;
      best_bytes = p->address - free_from;
    }
    free_from = align_up(item_end(p), x->align);
  }
  return best_bytes == UINT64_MAX ? free_from : best;
}

static void add_placed(item_array *placed, const item *x)
{
  pop_push(placed->items, placed->count, placed->capacity, *x);
  size_t i = placed->count - 1;
  for (; i > 0 && placed->items[i - 1].address > x->address; i--)
    placed->items[i] = placed->items[i - 1];
  placed->items[i] = *x;
}

/* Places the items in the given order; returns the end of the highest. */
static uint64_t try_order(allocator *a, item_array *group, int order, uint64_t floor,
                          const item *obstacle)
{
  uint64_t end = floor;
  sort(group, temporary_orders[order]);
  a->placed.count = 0;
  if (obstacle->size) add_placed(&a->placed, obstacle);
  for (size_t i = 0; i < group->count; i++) {
    item *x = &group->items[i];
    uint64_t from = floor;
    if (a->c->blocks[x->block].flags & BLOCK_INTERLEAVED && from < a->interleaved_base)
      from = a->interleaved_base;
    x->address = find_gap(&a->placed, x, from);
    add_placed(&a->placed, x);
    if (item_end(x) > end) end = item_end(x);
  }
  return end;
}

/* Every order is the best one for some groups, and trying all of them costs little. */
static void put_group(allocator *a, item *items, size_t count, uint64_t floor, const item *obstacle)
{
  item_array group = {items, count, count};
  uint64_t ends[NUM_ORDERS];
  int best = 0;
  for (int order = 0; order < NUM_ORDERS && count > 1; order++) {
    ends[order] = try_order(a, &group, order, floor, obstacle);
    if (ends[order] < ends[best]) best = order;
  }
  try_order(a, &group, best, floor, obstacle);
  for (size_t i = 0; i < count; i++) settle(a, &items[i], items[i].address);
}

/* Cuts the temporaries where no life goes on. */
static void put_temporaries(allocator *a, uint64_t floor, const item *obstacle)
{
  item_array *all = &a->temporary;
  sort(all, compare_by_first_step);
  for (size_t begin = 0, end; begin < all->count; begin = end) {
    uint32_t last = all->items[begin].last_step;
    for (end = begin + 1; end < all->count && all->items[end].first_step <= last; end++)
      if (all->items[end].last_step > last) last = all->items[end].last_step;
    put_group(a, all->items + begin, end - begin, floor, obstacle);
  }
}

static void put_data(allocator *a, uint64_t floor)
{
  uint64_t start = floor > a->interleaved_base ? floor : a->interleaved_base;
  uint64_t end = put_always_interleaved(a, start);
  item obstacle = {.address = start, .size = (uint32_t)(end - start), .last_step = UINT32_MAX};
  floor = put_always(a, floor, &obstacle);
  put_temporaries(a, floor, &obstacle);
}

/* ---- the pass ---- */

static int compare_addresses(const void *left, const void *right, void *context)
{
  const block *blocks = context;
  uint32_t l = *(const uint32_t *)left, r = *(const uint32_t *)right;
  if (blocks[l].address != blocks[r].address) return COMPARE(blocks[l].address, blocks[r].address);
  return COMPARE(l, r);
}

static pop_error *allocate_tile(allocator *a, uint32_t tile)
{
  compilation *c = a->c;
  tile_layout *layout = &c->tiles[tile];
  for (size_t i = 0; i < layout->num_blocks; i++)
    c->blocks[c->blocks_by_tile[layout->first_block + i]].address = COMPILER_NONE;
  uint64_t floor = put_front(a, layout);
  a->end = floor;
  collect_data(a, layout);
  put_data(a, floor);
  if (a->end > UINT32_MAX)
    return pop_error_new(POP_ERROR_GRAPH_MEMORY,
                         "tile %u needs %llu bytes: it has %u, and 32-bit addresses end before",
                         tile, (unsigned long long)(a->end - c->target.memory_base),
                         c->target.memory_bytes);
  qsort_r(c->blocks_by_tile + layout->first_block, layout->num_blocks, sizeof *c->blocks_by_tile,
          compare_addresses, c->blocks);
  layout->end = (uint32_t)a->end;
  uint64_t past_end = a->end > a->memory_end ? a->end - a->memory_end : 0;
  uint64_t code_past = a->code_end > a->interleaved_base ? a->code_end - a->interleaved_base : 0;
  layout->shortage = (uint32_t)(past_end > code_past ? past_end : code_past);
  return NULL;
}

/* Exchange instructions hold word offsets of 18 bits: data that is exchanged must lie in the first
 * MiB of a tile. Larger memories are for experiments only. */
static pop_error *check_exchange_reach(const compilation *c)
{
  const uint32_t reach_bytes = 4u << 18;
  for (size_t i = 0; i < c->num_code_patches; i++) {
    const code_patch *p = &c->code_patches[i];
    const block *b = &c->blocks[p->target.block];
    uint32_t address = b->address + p->target.offset;
    if (p->kind == PATCH_LUI_ADDI || address >= pop_target_memory_end(&c->target) ||
        address - c->target.memory_base < reach_bytes)
      continue;
    return pop_error_new(POP_ERROR_GRAPH_MEMORY,
                         "'%s' on tile %u is exchanged with other tiles but lies at byte %u of the "
                         "tile's memory: exchange instructions reach the first %u bytes",
                         b->name, b->tile, address - c->target.memory_base, reach_bytes);
  }
  return NULL;
}

pop_error *pass_allocate(compilation *c)
{
  allocator a = {.c = c,
                 .interleaved_base = c->target.interleaved_base,
                 .memory_end = pop_target_memory_end(&c->target)};
  group_by_tile(c);
  pop_error *error = NULL;
  uint32_t num_tiles = pop_target_num_tiles(&c->target);
  for (uint32_t t = 0; t < num_tiles && !error; t++) error = allocate_tile(&a, t);
  free(a.always.items);
  free(a.always_interleaved.items);
  free(a.temporary.items);
  free(a.placed.items);
  POP_TRY(error);
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
