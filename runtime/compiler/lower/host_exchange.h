/* Host exchanges while they are put together: stream.c and remote.c fill drafts, which become
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
  uint32_t *last_of_tile; /* the tile's last packet, if it is one */
  uint64_t *bytes_of_ipu;
  bool any_to_host;
} host_draft;

/* Empties the draft; the first time of a zeroed one, too. */
void draft_start(host_draft *draft, const compilation *c);
void draft_free(host_draft *draft);
/* Rows that are added now are about this window. */
void draft_add_window(host_draft *draft, const host_window *window);
/* Does the row's IPU move no more than it may, with the row? */
bool draft_has_room(const host_draft *draft, const compilation *c, const segment *row);
/* `host_offset` is in the record; `record` the place of its number on the tile, block COMPILER_NONE: 0. */
void draft_add_row(host_draft *draft, const compilation *c, const segment *row,
                   uint32_t host_offset, place record, bool to_tile);
/* Whether the windows of `more` may be exchanged together with those of the draft, as if they came behind
 * them; draft_take does it. */
bool draft_can_take(const host_draft *draft, const compilation *c, const host_draft *more);
void draft_take(host_draft *draft, const compilation *c, const host_draft *more);
/* Adds the step for the draft, if there is anything in it, and empties it. */
void draft_keep(lowering *l, host_draft *draft, step_list *steps);

#endif
