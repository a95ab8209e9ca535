/* Instrumentation: code that reads the cycle counter, and memory for the results. These functions
 * emit nothing for what is not to be instrumented (compile_options.instrumentation). */
#ifndef COMPILER_EMIT_INSTRUMENT_H
#define COMPILER_EMIT_INSTRUMENT_H

#include "compiler/emit/emit.h"

/* Emitted around the code of a compute set, on all tiles. Between put_begin_compute and the first
 * tile.run, the code that starts workers only has an address to set. */
void put_begin_compute(emitter *e, const step *execute);
void put_end_compute(emitter *e, const step *execute);
bool syncs_around_compute(const emitter *e); /* do all tiles sync around every compute set? */

/* An exchange between IPUs or replicas, or with the host. */
typedef struct exchange_at {
  bool with_host;
  uint32_t index; /* in compilation.exchanges, or in host_exchanges */
  uint32_t zone;  /* zone of the tiles that take part */
  bool takes_part;
  uint32_t words_between; /* instructions before the one in which the tile waits */
} exchange_at;
/* Emitted around it, on all tiles. */
void put_begin_exchange(emitter *e, const exchange_at *x);
void put_end_exchange(emitter *e, const exchange_at *x);

static inline bool instruments_vertices(const compilation *c)
{
  return c->options.instrumentation.compute == INSTRUMENT_VERTICES;
}
/* Reserves words for the cycles of `calls` calls of the work's vertices. */
place instrument_vertices(emitter *e, const tile_work *work, uint32_t calls);
/* Emitted around tile.call on the supervisor. The cycles of the called vertex go to `to`. */
void put_begin_call(emitter *e, place to);
void put_end_call(emitter *e, place to);

/* Reserves memory of the tile for results. add_block_buffer also describes it as the buffer of the
 * tile's blocks. */
place add_result_words(emitter *e, uint32_t words);
place add_block_buffer(emitter *e, uint32_t words);

/* Records which way a branch of a program goes. */
void put_branch_taken(emitter *e, uint32_t child);
/* Emitted at the begin of a program: nothing has been recorded yet. */
void put_forget_branches(emitter *e);

void start_instrumentation(emitter *e); /* once the script is built */
void end_instrumentation(emitter *e);   /* at the end of each tile */
void free_instrumentation(emitter *e);

#endif
