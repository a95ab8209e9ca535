/* Lightweight profiling: blocks of programs that chosen tiles time. */
#ifndef COMPILER_EMIT_BLOCKS_H
#define COMPILER_EMIT_BLOCKS_H

#include "compiler/emit/emit.h"

/* Behind the script: where buffers are to be emptied. */
void start_blocks(emitter *e);
void free_blocks(emitter *e);
/* The routine that puts marks into the buffer, where there is one; before any mark of the tile. */
void put_block_routine(emitter *e);
/* A timed block begins or ends here. */
void put_block_mark(emitter *e, uint32_t block, bool ends);
/* A host exchange that the tile takes part in begins to wait; it has exchanged, from one of the two times `measured`
 * to the other. */
void put_stream_mark(emitter *e, uint32_t host_exchange);
void put_exchanged_marks(emitter *e, uint32_t host_exchange, place measured);
/* The buffers are emptied in front of the op, if that is a place for it. */
void put_block_flush(emitter *e, uint32_t op);

#endif
