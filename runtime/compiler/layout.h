/* What allocate, account and the image share. */
#ifndef COMPILER_LAYOUT_H
#define COMPILER_LAYOUT_H

#include "compiler/compilation.h"

/* linked_code.c: relocates each code group once, at the addresses of its first tile. */
POP_MUST_CHECK pop_error *relocate_code_groups(compilation *c);
/* linked_code.c: puts the tile's linked code and data into its image (the byte at memory_base first). */
POP_MUST_CHECK pop_error *write_linked_code(const compilation *c, uint32_t tile, uint8_t *bytes,
                                            uint32_t size);
/* linked_code.c: where the live sections' groups are on the tile. */
pop_link_addresses linked_addresses(const compilation *c, uint32_t tile);

/* account.c: visits the tile's memory by address, from its base to layout->end, in ranges that lie in
 * one region and that the same blocks use; of a gap there are none. */
typedef void range_visitor(void *context, const uint32_t *blocks, size_t num_blocks, uint32_t from,
                           uint32_t to);
void sweep_tile(const compilation *c, uint32_t tile, range_visitor *visit, void *context);
void account_tile(const compilation *c, uint32_t tile, pop_tile_memory *memory);

/* image/sections.c: one section for each run of memory of one use, into `arena`. */
void make_image_sections(const compilation *c, uint32_t tile, pop_arena *arena, pop_image *image);

/* out_of_memory.c: NULL if every tile fits. */
pop_error *out_of_memory_error(const compilation *c);

#endif
