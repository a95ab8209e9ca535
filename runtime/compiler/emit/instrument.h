/* Instrumentation: code that reads the cycle counter, and memory for what it finds. Where something is not to be
 * instrumented (compile_options.instrumentation) these put nothing. */
#ifndef COMPILER_EMIT_INSTRUMENT_H
#define COMPILER_EMIT_INSTRUMENT_H

#include "compiler/emit/emit.h"

/* Around the code of a compute set, on all tiles. Behind the first, the code that starts workers has an address to
 * set before the first tile.run and no more. */
void put_begin_compute(emitter *e, const step *execute);
void put_end_compute(emitter *e, const step *execute);
bool syncs_around_compute(const emitter *e); /* all tiles do, of every compute set */

/* An exchange between IPUs or replicas, or with the host. */
typedef struct exchange_at {
  bool with_host;
  uint32_t index; /* in compilation.exchanges, or in host_exchanges */
  uint32_t zone;  /* of those who take part */
  bool takes_part;
  uint32_t words_between; /* instructions in front of the one in which the tile waits */
} exchange_at;
/* Around it, on all tiles. */
void put_begin_exchange(emitter *e, const exchange_at *x);
void put_end_exchange(emitter *e, const exchange_at *x);

static inline bool instruments_vertices(const compilation *c)
{
  return c->options.instrumentation.compute == INSTRUMENT_VERTICES;
}
/* Words for the cycles of `calls` calls of the work's vertices. */
place instrument_vertices(emitter *e, const tile_work *work, uint32_t calls);
/* Around tile.call on the supervisor: the cycles of what is called go to `to`. */
void put_begin_call(emitter *e, place to);
void put_end_call(emitter *e, place to);

/* Memory of the tile's for what is measured; described as the buffer of its blocks. */
place add_result_words(emitter *e, uint32_t words);
place add_block_buffer(emitter *e, uint32_t words);

/* A branch of a program goes this way. */
void put_branch_taken(emitter *e, uint32_t child);
/* A program begins: nothing has been recorded. */
void put_forget_branches(emitter *e);

void start_instrumentation(emitter *e); /* behind the script */
void end_instrumentation(emitter *e);   /* of a tile */
void free_instrumentation(emitter *e);

#endif
