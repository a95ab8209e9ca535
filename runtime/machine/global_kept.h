/* Keeps exchanges between replicas, because loops do the same exchange many times. What was read
 * and checked is kept. The next time it is only compared with the tiles' writable memory, and the
 * words are passed on at once.
 *
 * All ranks keep their parts of the same exchanges under the same numbers, because each is kept
 * when all have agreed on it. Each rank finds the number that its replicas want. If the numbers are
 * equal on all ranks, the ranks need not say anything else. */
#ifndef MACHINE_GLOBAL_KEPT_H
#define MACHINE_GLOBAL_KEPT_H

#include "global_exchange.h"
#include "state.h"

/* Notes that these bytes of the tile have been read. */
void global_kept_see(seen_list *seen, const tile *t, uint32_t base, uint32_t address,
                     uint32_t bytes);
void global_kept_free_seen(seen_list *seen);

/* Keeps the exchange that has just been done in this many cycles. Takes r->seen. */
void global_kept_add(reading *r, uint64_t cycles);

#endif
