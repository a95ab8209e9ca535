/* Lightweight profiling: blocks of programs that chosen tiles time. */
#ifndef COMPILER_EMIT_BLOCKS_H
#define COMPILER_EMIT_BLOCKS_H

#include "compiler/emit/emit.h"

/* To be called once the script is built: decides where buffers are flushed. */
void start_blocks(emitter *e);
void free_blocks(emitter *e);
/* Emits the routine that writes marks into the buffer, on tiles that have one. It comes before any
 * mark of the tile. */
void put_block_routine(emitter *e);
/* Emits the mark of the begin or the end of a timed block. */
void put_block_mark(emitter *e, uint32_t block, bool ends);
/* put_stream_mark: the tile begins to wait for a host exchange in which it takes part.
 * put_exchanged_marks: it has exchanged; `measured` holds the times of begin and end. */
void put_stream_mark(emitter *e, uint32_t host_exchange);
void put_exchanged_marks(emitter *e, uint32_t host_exchange, place measured);
/* Flushes the buffers before the op, if the plan has a flush there. */
void put_block_flush(emitter *e, uint32_t op);

#endif
