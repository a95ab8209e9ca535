/* Account: memory by category and region, per tile, from the addresses of blocks alone.
 *
 * These are the guide's terms, made exact. The blocks of a tile are ranges of addresses:
 *
 *   total                   addresses that some block uses, each counted once
 *   by_region               the same, split by where the address is
 *   … including gaps        from the region's start to the last used address in it; for the tile,
 *                           from the base of its memory, which is what `.text` of its image holds
 *   notOverlapped           addresses of a block that no other block uses at any time
 *   overlapped              the other addresses, counted for each block that uses them, since none
 *                           of these can be called the owner
 *
 * Needs:   the addresses.
 * Adds:    memory, by tile.
 * Then:    the compilation is final.
 */
#include "compiler/layout.h"

#include "base/log.h"
#include <stdlib.h>
#include <string.h>

static uint32_t region_end(const pop_target *target, pop_memory_region region)
{
  switch (region) {
  case POP_REGION_NON_INTERLEAVED:
    return target->interleaved_base;
  case POP_REGION_INTERLEAVED:
    return pop_target_memory_end(target);
  default:
    return UINT32_MAX;
  }
}

static uint32_t region_start(const pop_target *target, pop_memory_region region)
{
  switch (region) {
  case POP_REGION_NON_INTERLEAVED:
    return target->memory_base;
  case POP_REGION_INTERLEAVED:
    return target->interleaved_base;
  default:
    return pop_target_memory_end(target);
  }
}

/* Blocks in use at the current point of the sweep. */
typedef struct active_blocks {
  uint32_t *blocks;
  size_t count;
} active_blocks;

static uint32_t block_end(const compilation *c, uint32_t block)
{
  return c->blocks[block].address + c->blocks[block].size;
}

static void drop_ended(const compilation *c, active_blocks *active, uint32_t address)
{
  size_t kept = 0;
  for (size_t i = 0; i < active->count; i++)
    if (block_end(c, active->blocks[i]) > address) active->blocks[kept++] = active->blocks[i];
  active->count = kept;
}

static uint32_t nearest_end(const compilation *c, const active_blocks *active, uint32_t limit)
{
  for (size_t i = 0; i < active->count; i++)
    if (block_end(c, active->blocks[i]) < limit) limit = block_end(c, active->blocks[i]);
  return limit;
}

/* Visits each range between two neighbouring begins, ends or region borders. */
void sweep_tile(const compilation *c, uint32_t tile, range_visitor *visit, void *context)
{
  const tile_layout *layout = &c->tiles[tile];
  const uint32_t *blocks = c->blocks_by_tile + layout->first_block;
  active_blocks active = {.blocks = pop_xcalloc(layout->num_blocks + 1, sizeof *active.blocks)};
  size_t next = 0;
  for (uint32_t from = c->target.memory_base, to; from < layout->end; from = to) {
    drop_ended(c, &active, from);
    while (next < layout->num_blocks && c->blocks[blocks[next]].address == from)
      active.blocks[active.count++] = blocks[next++];
    to = region_end(&c->target, pop_memory_region_of(&c->target, from));
    if (to > layout->end) to = layout->end;
    to = nearest_end(c, &active, to);
    if (next < layout->num_blocks && c->blocks[blocks[next]].address < to)
      to = c->blocks[blocks[next]].address;
    visit(context, active.blocks, active.count, from, to);
  }
  free(active.blocks);
}

typedef struct account {
  const compilation *c;
  pop_tile_memory *memory;
} account;

static void count_range(void *context, const uint32_t *active, size_t num_active, uint32_t from,
                        uint32_t to)
{
  const compilation *c = ((account *)context)->c;
  pop_tile_memory *memory = ((account *)context)->memory;
  pop_memory_region region = pop_memory_region_of(&c->target, from);
  uint32_t bytes = to - from;
  if (!num_active) return;
  memory->total += bytes;
  memory->by_region[region] += bytes;
  memory->by_region_including_gaps[region] = to - region_start(&c->target, region);
  for (size_t i = 0; i < num_active; i++) {
    uint8_t category = c->blocks[active[i]].category;
    if (num_active == 1)
      memory->not_overlapped[category][region] += bytes;
    else
      memory->overlapped[category][region] += bytes;
  }
}

void account_tile(const compilation *c, uint32_t tile, pop_tile_memory *memory)
{
  memset(memory, 0, sizeof *memory);
  sweep_tile(c, tile, count_range, &(account){c, memory});
  const tile_layout *layout = &c->tiles[tile];
  memory->total_including_gaps = layout->end - c->target.memory_base;
  memory->most_live = layout->most_live_bytes;
  memory->least_including_gaps = c->target.system_bytes + layout->least_bytes;
}

pop_error *pass_account(compilation *c)
{
  uint32_t num_tiles = pop_target_num_tiles(&c->target);
  c->memory = pop_xcalloc(num_tiles, sizeof *c->memory);
  for (uint32_t t = 0; t < num_tiles; t++) {
    if (c->tiles[t].same_as == COMPILER_NONE)
      account_tile(c, t, &c->memory[t]);
    else
      c->memory[t] = c->memory[c->tiles[t].same_as];
    log_write(LOG_TRACE, "COMPILER", "tile %u: %u bytes of memory, %u with gaps, most live %u", t,
              c->memory[t].total, c->memory[t].total_including_gaps, c->memory[t].most_live);
  }
  return NULL;
}
