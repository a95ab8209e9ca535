/* A bundle: words that a receiver gets from one tile, for consecutive addresses. It arrives without
 * a gap, as one message or several. */
#ifndef COMPILER_EXCHANGE_BUNDLES_H
#define COMPILER_EXCHANGE_BUNDLES_H

#include "compiler/exchange/timeline.h"

#define CONTINUES UINT32_MAX /* address_slot of a bundle that continues the chain before it */

/* Small, because there may be millions. */
typedef struct bundle {
  send_shape shape;
  place destination;
  uint32_t source;       /* of its timeline */
  uint32_t first;        /* in bundles.sources: one place for each bit of shape.first_words */
  uint32_t arrival;      /* cycle of the first word: set by schedule_unicasts */
  uint32_t address_slot; /* slot of the receiveAddress, or CONTINUES: likewise */
} bundle;

typedef struct bundles {
  bundle *items; /* by receiver, then by address */
  size_t count, capacity;
  place *sources;      /* where the deliveries come from, in the same order */
  uint32_t *by_source; /* numbers of the bundles, by sending tile */
  /* Indexed by timeline, with one entry more at the end: the first bundle that the tile sends (in
   * by_source), and the first that it receives (in items). */
  size_t *first_sent, *first_received;
} bundles;

struct exchange_plan;
struct delivery;
bundles bundles_of(const struct exchange_plan *plan, const struct delivery *deliveries,
                   size_t count);
/* Lists the instructions of one tile, once all bundles have their cycles. */
void list_bundles(const struct exchange_plan *plan, const bundles *b, size_t timeline,
                  op_list *list);
void bundles_free(bundles *b);

#endif
