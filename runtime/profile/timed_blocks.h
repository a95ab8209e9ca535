/* Lightweight profiling: marks that chosen tiles made, as blocks with a beginning and an end. */
#ifndef PROFILE_TIMED_BLOCKS_H
#define PROFILE_TIMED_BLOCKS_H

#include "base/emitter.h"
#include "executable/executable.h"

/* The guide's block types. X(enumerator, name in profiles) */
#define TIMED_BLOCK_KINDS(X)                                                                       \
  X(TIMED_COMMON, "Common")                                                                        \
  X(TIMED_STREAM_BEGIN, "StreamCopyBegin") /* waits for the others */                              \
  X(TIMED_STREAM_MID, "StreamCopyMid")                                                             \
  X(TIMED_STREAM_END, "StreamCopyEnd") /* until the tile goes on */                                \
  X(TIMED_FLUSH, "BlockFlush")                                                                     \
  X(TIMED_OVERFLOW, "Overflow") /* from the first lost mark to the next flush */                   \
  X(TIMED_UNKNOWN, "Unknown")   /* began in an overflow, ended after it */

typedef enum timed_block_kind {
#define TIMED_BLOCK_ENUMERATOR(id, name) id,
  TIMED_BLOCK_KINDS(TIMED_BLOCK_ENUMERATOR)
#undef TIMED_BLOCK_ENUMERATOR
} timed_block_kind;

typedef struct timed_block {
  timed_block_kind kind;
  uint32_t tile;
  uint32_t index;    /* COMMON: block; STREAM_…: event - 1 */
  uint64_t from, to; /* cycles of the device */
  bool has_end;      /* false: it ended in an overflow, or when the run did */
} timed_block;

/* A beginning that waits for its end. */
typedef struct open_mark {
  uint32_t tile, number;
  uint64_t cycle;
} open_mark;

typedef struct timed_blocks {
  const pop_executable *executable;
  EXECUTABLE_ARRAY(timed_block, blocks);
  EXECUTABLE_ARRAY(open_mark, open); /* of all tiles, innermost last */
  uint64_t num_dropped;              /* for which there was no room */
} timed_blocks;

/* Blocks that are kept of the runs of a profile: more are counted. */
enum { TIMED_BLOCKS_MAX = 1 << 22 };

/* Takes what the buffer of a tile holds in cycle `now`; marks are less than 2^32 cycles old. */
void timed_blocks_take(timed_blocks *t, const executable_measure *buffer, const uint32_t *words,
                       uint64_t now);
/* A run has ended: blocks that are still open have no end. */
void timed_blocks_end_run(timed_blocks *t, uint64_t now);
void timed_blocks_reset(timed_blocks *t);
void timed_blocks_free(timed_blocks *t); /* what it holds */

/* All blocks, by tile, then beginning; outer blocks before inner ones. The caller frees the
 * list. */
timed_block *timed_blocks_sorted(const timed_blocks *t);

const char *timed_block_kind_name(timed_block_kind kind);
/* "" for a block without a name. */
const char *timed_block_name(const pop_executable *e, const timed_block *b);
/* Emits "lightweightProfile": blocks by tile, in order of their beginnings. */
void emit_timed_blocks(const emitter *to, const timed_blocks *t);

#endif
