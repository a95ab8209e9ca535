/* Lightweight profiling: which tiles time what.
 *
 *   a block         the chosen tiles (profiler.blocks.tile) of the IPUs that have a part in what it holds; all chosen
 *                   tiles if no IPU has
 *   a stream copy   of each IPU the chosen tiles that take part; if there is none, the first that does, which gets a
 *                   buffer for it
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

/* Behind the script. */
void start_block_tiles(emitter *e);
void free_block_tiles(emitter *e);

/* Of the current tile: */
bool has_block_buffer(const emitter *e);
bool times_block(const emitter *e, uint32_t block);
/* A host exchange that it takes part in. */
bool times_stream(const emitter *e, uint32_t host_exchange);

#endif
