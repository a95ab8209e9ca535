/* Copies from replica to replica.
 *
 * The exchange moves whole words, and a tile that takes part both sends and receives. If elements
 * are not whole words, or source and destination overlap, they go through buffers:
 *
 *     source --copy--> buffer beside it --exchange--> buffer --copy--> destination beside it
 *
 * The last copy also runs in a replica to which nobody sends. There the second buffer must hold
 * what the destination holds, so that is copied to it first.
 *
 * The packet headers may be the program's own (graph/replica.h). Then they are a tensor like any
 * other, which the exchange reads. */
#include "graph/replica.h"
#include "base/order.h"
#include "compiler/lower/copy.h"
#include "compiler/segments.h"
#include "isa/isa.h"

#include <stdlib.h>
#include <string.h>

enum { WORD = 4, BUFFER_ALIGN = 8 };

static bool are_words(const transfer_list *transfers)
{
  for (size_t i = 0; i < transfers->count; i++) {
    const transfer *t = &transfers->items[i];
    if ((t->source.offset | t->destination.offset | t->bytes) % WORD) return false;
  }
  return true;
}

/* Gives each transfer a place in a buffer, one buffer for each tile, consecutively: on the source's
 * or on the destination's tile. */
static place *make_buffers(lowering *l, const transfer_list *transfers, bool of_sources,
                           const char *name)
{
  compilation *c = l->c;
  place *places = pop_xrealloc(NULL, transfers->count + 1, sizeof *places);
  keyed *order = pop_xrealloc(NULL, transfers->count + 1, sizeof *order);
  for (size_t i = 0; i < transfers->count; i++) {
    const transfer *t = &transfers->items[i];
    order[i] = (keyed){of_sources ? t->source_tile : t->destination_tile, (uint32_t)i};
  }
  sort_keyed(order, transfers->count);
  uint32_t buffer = COMPILER_NONE, end = 0;
  for (size_t i = 0; i < transfers->count; i++) {
    if (i == 0 || order[i - 1].key != order[i].key) {
      buffer = add_buffer(l, (uint32_t)order[i].key, WORD, BUFFER_ALIGN, POP_MEMORY_GLOBAL_MESSAGE,
                          0, name);
      end = 0;
    }
    places[order[i].index] = (place){buffer, end};
    end += (transfers->items[order[i].index].bytes + WORD - 1) / WORD * WORD;
    c->blocks[buffer].size = end;
  }
  free(order);
  return places;
}

static pop_error *lower_by_buffers(lowering *l, const transfer_list *transfers, const uint32_t *map,
                                   bool all_receive, const char *name, step_list *steps)
{
  pop_arena *arena = l->c->arena;
  place *from = make_buffers(l, transfers, true, name);
  place *to = make_buffers(l, transfers, false, name);
  copy_list before = {0}, after = {0};
  transfer_list between = {0};
  for (size_t i = 0; i < transfers->count; i++) {
    const transfer *t = &transfers->items[i];
    uint32_t words = (t->bytes + WORD - 1) / WORD * WORD;
    pop_push(before.items, before.count, before.capacity,
             plain_copy(t->source_tile, t->source, from[i], t->bytes));
    if (!all_receive)
      pop_push(before.items, before.count, before.capacity,
               plain_copy(t->destination_tile, t->destination, to[i], t->bytes));
    pop_push(between.items, between.count, between.capacity,
             (transfer){t->source_tile, t->destination_tile, from[i], to[i], words});
    pop_push(after.items, after.count, after.capacity,
             plain_copy(t->destination_tile, to[i], t->destination, t->bytes));
  }
  pop_error *error =
      lower_copies(l, &before, pop_arena_printf(arena, "%s/OnTileCopyPre", name), NULL, steps);
  if (!error) {
    lower_replica_transfers(l, &between, map, NULL,
                            pop_arena_printf(arena, "%s/GlobalExchange", name), steps);
    error =
        lower_copies(l, &after, pop_arena_printf(arena, "%s/OnTileCopyPost", name), NULL, steps);
  }
  free(from);
  free(to);
  free(before.items);
  free(after.items);
  free(between.items);
  return error;
}

_Static_assert((int)REPLICA_HEADER_WORDS == 2 * (int)ISA_GLOBAL_HEADER_WORDS, "one each way");

/* Finds the headers of all tiles, one run on each. NULL: they are not on the tiles of what is
 * copied. */
static tile_headers *find_headers(const compilation *c, uint32_t tensor,
                                  const transfer_list *transfers)
{
  tile_headers *found = pop_arena_alloc(c->arena, (transfers->count + 1) * sizeof *found);
  segment_walk walk;
  segment s;
  size_t count = 0;
  segment_walk_start(&walk, c, tensor);
  for (; segment_walk_next(&walk, &s); count++) {
    if (count == transfers->count) return NULL;
    const transfer *t = &transfers->items[count];
    bool ascends = count == 0 || s.tile > found[count - 1].tile;
    if (s.tile != t->source_tile || s.tile != t->destination_tile || !ascends ||
        s.bytes != WORD * REPLICA_HEADER_WORDS)
      return NULL;
    found[count] = (tile_headers){s.tile, s.at};
  }
  return count == transfers->count ? found : NULL;
}

static pop_error *lower_headed(lowering *l, const program *copied, const transfer_list *transfers,
                               const uint32_t *map, const char *name, step_list *steps)
{
  const tile_headers *headers = find_headers(l->c, copied->headers, transfers);
  if (!headers || !are_words(transfers))
    return pop_error_new(POP_ERROR_INTERNAL,
                         "copy between replicas '%s': its headers are not on the tiles of what is "
                         "copied, or that is no run of words on each",
                         name);
  lower_replica_transfers(l, transfers, map, headers,
                          pop_arena_printf(l->c->arena, "%s/GlobalExchange", name), steps);
  return NULL;
}

pop_error *lower_replica_copy(lowering *l, const program *copied, step_list *steps)
{
  compilation *c = l->c;
  const char *name = pop_arena_strdup(c->arena, copied->name);
  size_t map_bytes = c->num_replicas * sizeof *copied->replica_map;
  uint32_t *map = memcpy(pop_arena_alloc(c->arena, map_bytes), copied->replica_map, map_bytes);
  bool all_receive = true;
  for (uint32_t i = 0; i < c->num_replicas; i++) all_receive &= map[i] != COMPILER_NONE;
  transfer_list transfers = {0};
  pair_up(c, copied, &transfers);
  pop_error *error = NULL;
  if (copied->headers)
    error = lower_headed(l, copied, &transfers, map, name, steps);
  else if (are_words(&transfers) && !overlap(&transfers))
    lower_replica_transfers(l, &transfers, map, NULL,
                            pop_arena_printf(c->arena, "%s/GlobalExchange", name), steps);
  else
    error = lower_by_buffers(l, &transfers, map, all_receive, name, steps);
  free(transfers.items);
  return error;
}
