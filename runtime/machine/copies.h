/* Blocks of bytes to be copied, by all host threads. */
#ifndef MACHINE_COPIES_H
#define MACHINE_COPIES_H

#include "base/thread_pool.h"
#include <stddef.h>
#include <stdint.h>

/* `count` blocks of `bytes`, with a constant step on either side. */
typedef struct copy_run {
  uint8_t *to;
  const uint8_t *from;
  ptrdiff_t to_step, from_step;
  uint32_t bytes, count;
} copy_run;

typedef struct copy_list {
  copy_run *runs;
  size_t num_runs, runs_capacity;
  size_t *chunks; /* chunk i has the runs from chunks[i] up to chunks[i + 1] */
  size_t num_chunks, chunks_capacity;
  uint64_t bytes; /* of all copies */
} copy_list;

void copy_list_add(copy_list *list, copy_run run);
/* Adds a block. It is merged with the last run if it continues it. */
void copy_list_join(copy_list *list, uint8_t *to, const uint8_t *from, uint32_t bytes);
/* No more are added: makes chunks, which a thread takes at a time. Consecutive runs of the same
 * owner stay in order (NULL: no owners). */
void copy_list_finish(copy_list *list, const uint32_t *owners);
/* Makes all copies. With a thread pool their order is not defined, except for those of one owner.
 * So no byte that one of them writes may be written or read by another. */
void copy_list_run(copy_list *list, thread_pool *pool);
void copy_list_free(copy_list *list);

#endif
