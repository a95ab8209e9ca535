/* Host exchanges while they are put together: stream.c and remote.c fill drafts, and drafts become
 * steps. */
#ifndef COMPILER_LOWER_HOST_EXCHANGE_H
#define COMPILER_LOWER_HOST_EXCHANGE_H

#include "compiler/lower/lowering.h"
#include "compiler/segments.h"

typedef struct host_draft {
  const char *name;
  host_packet *packets; /* without headers; in the order of windows */
  size_t num_packets, packets_capacity;
  host_window *windows;
  size_t num_windows, windows_capacity;
  uint32_t *last_of_tile; /* number of the tile's last packet; may be stale (host_exchange.c) */
  uint64_t *bytes_of_ipu;
  bool any_to_host;
} host_draft;

/* Empties the draft. Also initialises a zeroed one. */
void draft_start(host_draft *draft, const compilation *c);
void draft_free(host_draft *draft);
/* Adds a window. The rows that are added next belong to it. */
void draft_add_window(host_draft *draft, const host_window *window);
/* With this row, does its IPU still move no more than it may in one exchange? */
bool draft_has_room(const host_draft *draft, const compilation *c, const segment *row);
/* Adds a row. `host_offset` is its offset in the record. `record`: where the tile holds the
 * record's number; block COMPILER_NONE: the number is 0. */
void draft_add_row(host_draft *draft, const compilation *c, const segment *row,
                   uint32_t host_offset, place record, bool to_tile);
/* May the windows of `more` be exchanged together with those of the draft, although they come after
 * them? draft_take then appends them. */
bool draft_can_take(const host_draft *draft, const compilation *c, const host_draft *more);
void draft_take(host_draft *draft, const compilation *c, const host_draft *more);
/* Adds the step of the draft, if it has a window, and empties it. */
void draft_keep(lowering *l, host_draft *draft, step_list *steps);

#endif
