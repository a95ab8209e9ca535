/* What receivers get from one tile for addresses that follow one another: a bundle arrives as a whole, by one receive,
 * whether it is one message or several. */
#ifndef COMPILER_EXCHANGE_BUNDLES_H
#define COMPILER_EXCHANGE_BUNDLES_H

#include "compiler/exchange/timeline.h"

#define CONTINUES UINT32_MAX /* address_slot of what goes on from the one before */

/* Small: there may be millions. */
typedef struct bundle {
  send_shape shape;
  place destination;
  uint32_t source;       /* number of the timeline */
  uint32_t first;        /* in bundles.sources: one for each bit of shape.first_words */
  uint32_t arrival;      /* the cycle: by schedule_unicasts */
  uint32_t address_slot; /* … and that of the address, or CONTINUES */
} bundle;

typedef struct bundles {
  bundle *items; /* by receiver, then by address */
  size_t count, capacity;
  place *sources;      /* of the deliveries in that order */
  uint32_t *by_source; /* numbers of the bundles by the tile that sends them */
  /* By number of the timeline, and one more: where those begin that the tile sends, in by_source, and that it
   * receives, in items. */
  size_t *first_sent, *first_received;
} bundles;

struct exchange_plan;
struct delivery;
bundles bundles_of(const struct exchange_plan *plan, const struct delivery *deliveries,
                   size_t count);
/* Once they have their cycles: the instructions of a tile. */
void list_bundles(const struct exchange_plan *plan, const bundles *b, size_t timeline,
                  op_list *list);
void bundles_free(bundles *b);

#endif
