/* Lightweight profiling: which tiles time what.
 *
 *   a block         the chosen tiles (profiler.blocks.tile) of each IPU that has a part in the
 *                   block; all chosen tiles if no IPU has one
 *   a stream copy   of each IPU, the chosen tiles that take part; if there is none, the first tile
 *                   that does, which gets a buffer for it
 */
#ifndef COMPILER_EMIT_BLOCK_TILES_H
#define COMPILER_EMIT_BLOCK_TILES_H

#include "compiler/emit/emit.h"

static inline bool times_blocks(const compilation *c)
{
  return c->options.instrumentation.blocks;
}

static inline bool times_streams(const compilation *c)
{
  return times_blocks(c);
}

/* To be called once the script is built. */
void start_block_tiles(emitter *e);
void free_block_tiles(emitter *e);

/* About the current tile: */
bool has_block_buffer(const emitter *e);
bool times_block(const emitter *e, uint32_t block);
/* The host exchange must be one in which the tile takes part. */
bool times_stream(const emitter *e, uint32_t host_exchange);

#endif
