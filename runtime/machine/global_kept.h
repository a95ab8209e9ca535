/* Exchanges between replicas that are done again: loops do the same one many times. What was read and found to be good is kept, so
 * that the next time it is only compared with what tiles have in memory that may be written, and their words go at once.
 *
 * All ranks keep their parts of the same exchanges under the same numbers, as each is kept where all have agreed on it. Each
 * finds out for itself which one its replicas want; if that is the same number everywhere, nothing more need be said. */
#ifndef MACHINE_GLOBAL_KEPT_H
#define MACHINE_GLOBAL_KEPT_H

#include "global_exchange.h"
#include "state.h"

/* Notes that so many bytes of the tile have been read. */
void global_kept_see(seen_list *seen, const tile *t, uint32_t base, uint32_t address,
                     uint32_t bytes);
void global_kept_free_seen(seen_list *seen);

/* Keeps what has just been done, in so many cycles. r->seen becomes its. */
void global_kept_add(reading *r, uint64_t cycles);

#endif
