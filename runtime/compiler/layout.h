/* What allocate, account and the image share. */
#ifndef COMPILER_LAYOUT_H
#define COMPILER_LAYOUT_H

#include "compiler/compilation.h"

/* linked_code.c: relocates each code group once, at the addresses of its first tile. */
POP_MUST_CHECK pop_error *relocate_code_groups(compilation *c);
/* linked_code.c: puts the tile's linked code and data into its image (the byte at memory_base first). */
POP_MUST_CHECK pop_error *write_linked_code(const compilation *c, uint32_t tile, uint8_t *bytes,
                                            uint32_t size);
/* linked_code.c: where the closure's groups are on the tile. */
pop_link_addresses linked_addresses(const compilation *c, uint32_t tile);

/* account.c */
void account_tile(const compilation *c, uint32_t tile, pop_tile_memory *memory);

/* out_of_memory.c: NULL if every tile fits. */
pop_error *out_of_memory_error(const compilation *c);

#endif
