/* What allocate, account and the image share. */
#ifndef COMPILER_LAYOUT_H
#define COMPILER_LAYOUT_H

#include "compiler/compilation.h"

/* link/linked_code.c: relocates each code group once, for the addresses on its first tile. */
POP_MUST_CHECK pop_error *relocate_code_groups(compilation *c);
/* link/linked_code.c: writes the tile's linked code and data into its image; bytes[0] is at
 * memory_base. */
POP_MUST_CHECK pop_error *write_linked_code(const compilation *c, uint32_t tile, uint8_t *bytes,
                                            uint32_t size);
/* link/linked_code.c: the addresses of the live sections' groups on the tile. */
pop_link_addresses linked_addresses(const compilation *c, uint32_t tile);

/* allocate/account.c: visits the tile's memory by address, from its base to layout->end, in ranges
 * that are in one region and used by the same blocks. A gap is a range without blocks. */
typedef void range_visitor(void *context, const uint32_t *blocks, size_t num_blocks, uint32_t from,
                           uint32_t to);
void sweep_tile(const compilation *c, uint32_t tile, range_visitor *visit, void *context);
void account_tile(const compilation *c, uint32_t tile, pop_tile_memory *memory);

/* image/sections.c: one section for each run of memory with one use, in `arena`. */
void make_image_sections(const compilation *c, uint32_t tile, pop_arena *arena, pop_image *image);

/* allocate/out_of_memory.c: NULL if every tile fits. */
pop_error *out_of_memory_error(const compilation *c);

#endif
