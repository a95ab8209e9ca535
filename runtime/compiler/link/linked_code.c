/* Linked code in tile images. Most tiles of a code group have it at the same addresses: it is
 * relocated once for them, and their images get copies. A tile with another layout (allocate moves
 * stacks after the code if region 0 is short of room) is relocated separately. */
#include "compiler/layout.h"

#include <stdlib.h>
#include <string.h>

/* Blocks whose bytes are in the image as they are. TLS is different: the image has a copy for each
 * worker and the supervisor. */
enum { NUM_LOADED = 4 };

static uint32_t loaded_block(const tile_layout *layout, int number)
{
  const uint32_t blocks[NUM_LOADED] = {layout->linked_blocks[POP_LINK_CODE], layout->library_code,
                                       layout->linked_blocks[POP_LINK_RODATA],
                                       layout->linked_blocks[POP_LINK_DATA]};
  return blocks[number];
}

pop_link_addresses linked_addresses(const compilation *c, uint32_t tile)
{
  pop_link_addresses addresses = {{0}};
  for (int group = 0; group < POP_LINK_GROUP_COUNT; group++) {
    uint32_t block = c->tiles[tile].linked_blocks[group];
    addresses.start[group] =
        block == COMPILER_NONE ? c->target.memory_base : c->blocks[block].address;
  }
  return addresses;
}

static pop_error *no_memory(uint32_t bytes)
{
  return pop_error_new(POP_ERROR_MEMORY, "no memory for %u bytes of tile code", bytes);
}

/* The range of addresses of the loaded groups on a tile. */
static void find_span(const compilation *c, uint32_t tile, uint32_t *first, uint32_t *end)
{
  *first = UINT32_MAX;
  *end = 0;
  for (int i = 0; i < NUM_LOADED; i++) {
    uint32_t index = loaded_block(&c->tiles[tile], i);
    if (index == COMPILER_NONE) continue;
    const block *b = &c->blocks[index];
    if (b->address < *first) *first = b->address;
    if (b->address + b->size > *end) *end = b->address + b->size;
  }
}

static pop_error *relocate_group(const compilation *c, uint32_t tile, code_group *group)
{
  uint32_t end;
  find_span(c, tile, &group->first_address, &end);
  group->num_bytes = end - group->first_address;
  group->addresses = linked_addresses(c, tile);
  uint32_t tls_bytes = pop_live_sections_group_bytes(group->live, POP_LINK_TLS);
  group->bytes = calloc(1, group->num_bytes);
  group->tls_bytes = calloc(1, tls_bytes + 1);
  if (!group->bytes || !group->tls_bytes) return no_memory(group->num_bytes);
  return pop_live_sections_relocate(group->live, &group->addresses, group->bytes,
                                    group->first_address, group->num_bytes, group->tls_bytes);
}

pop_error *relocate_code_groups(compilation *c)
{
  uint32_t num_tiles = pop_target_num_tiles(&c->target);
  for (uint32_t tile = 0; tile < num_tiles; tile++) {
    uint32_t index = c->tiles[tile].code_group;
    if (index == COMPILER_NONE || c->code_groups[index].bytes) continue;
    pop_error *error = relocate_group(c, tile, &c->code_groups[index]);
    if (error) return pop_error_prefix(error, "linking the code of tile %u", tile);
  }
  return NULL;
}

static void copy_groups(const compilation *c, uint32_t tile, uint8_t *bytes)
{
  const tile_layout *layout = &c->tiles[tile];
  const code_group *group = &c->code_groups[layout->code_group];
  for (int i = 0; i < NUM_LOADED; i++) {
    uint32_t index = loaded_block(layout, i);
    if (index == COMPILER_NONE) continue;
    const block *b = &c->blocks[index];
    memcpy(bytes + (b->address - c->target.memory_base),
           group->bytes + (b->address - group->first_address), b->size);
  }
}

/* Writes the initial content of thread-local data once for each context: the workers, then the
 * supervisor. The block has one stride for each. */
static void copy_tls(const compilation *c, uint32_t tile, uint8_t *bytes)
{
  const tile_layout *layout = &c->tiles[tile];
  const code_group *group = &c->code_groups[layout->code_group];
  uint32_t index = layout->linked_blocks[POP_LINK_TLS];
  if (index == COMPILER_NONE) return;
  const block *b = &c->blocks[index];
  uint32_t num_contexts = c->target.num_worker_contexts + 1, stride = b->size / num_contexts;
  for (uint32_t w = 0; w < num_contexts; w++)
    memcpy(bytes + (b->address - c->target.memory_base) + w * stride, group->tls_bytes,
           pop_live_sections_group_bytes(group->live, POP_LINK_TLS));
}

pop_error *write_linked_code(const compilation *c, uint32_t tile, uint8_t *bytes, uint32_t size)
{
  uint32_t index = c->tiles[tile].code_group;
  if (index == COMPILER_NONE) return NULL;
  const code_group *group = &c->code_groups[index];
  pop_link_addresses addresses = linked_addresses(c, tile);
  copy_tls(c, tile, bytes);
  if (memcmp(&addresses, &group->addresses, sizeof addresses) == 0) {
    copy_groups(c, tile, bytes);
    return NULL;
  }
  uint8_t *tls_bytes = calloc(1, pop_live_sections_group_bytes(group->live, POP_LINK_TLS) + 1);
  if (!tls_bytes) return no_memory(size);
  pop_error *error = pop_live_sections_relocate(group->live, &addresses, bytes,
                                                c->target.memory_base, size, tls_bytes);
  free(tls_bytes);
  return error;
}
