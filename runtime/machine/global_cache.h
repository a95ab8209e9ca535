/* A cache of exchanges between replicas, because loops do the same exchange many times. What was
 * read and checked is kept. The next time it is only compared with the tiles' writable memory, and
 * the words are passed on at once.
 *
 * All ranks keep their parts of the same exchanges under the same numbers, because each is kept
 * when all have agreed on it. Each rank finds the number that its replicas want. If the numbers are
 * equal on all ranks, the ranks need not say anything else. */
#ifndef MACHINE_GLOBAL_CACHE_H
#define MACHINE_GLOBAL_CACHE_H

#include "global_exchange.h"
#include "state.h"

/* Notes that these bytes of the tile have been read. */
void global_cache_note_read(read_list *reads, const tile *t, uint32_t base, uint32_t address,
                            uint32_t bytes);
void global_cache_free_reads(read_list *reads);

/* Keeps the exchange that has just been done in this many cycles. Takes r->reads. */
void global_cache_add(reading *r, uint64_t cycles);

#endif
