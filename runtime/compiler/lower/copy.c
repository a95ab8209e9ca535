/* Copy programs: the elements of source and destination side by side, as transfers.
 *
 * Source and destination may overlap. Then the elements go through buffers beside the destination:
 * all of them are read before any of them is written. */
#include "compiler/lower/copy.h"
#include "base/order.h"
#include "compiler/segments.h"

#include <stdlib.h>

enum { WORD = 4, BUFFER_ALIGN = 8 };

static void take(segment *s, uint32_t bytes)
{
  s->at.offset += bytes;
  s->bytes -= bytes;
}

void pair_up(const compilation *c, const program *copied, transfer_list *out)
{
  segment_walk sources, destinations;
  segment source = {0}, destination = {0};
  segment_walk_start(&sources, c, copied->source);
  segment_walk_start(&destinations, c, copied->destination);
  for (;;) {
    if (source.bytes == 0 && !segment_walk_next(&sources, &source)) return;
    if (destination.bytes == 0 && !segment_walk_next(&destinations, &destination)) return;
    uint32_t bytes = source.bytes < destination.bytes ? source.bytes : destination.bytes;
    bool onto_itself = copied->kind == PROGRAM_COPY && source.at.block == destination.at.block &&
                       source.at.offset == destination.at.offset;
    if (!onto_itself)
      pop_push(out->items, out->count, out->capacity,
               (transfer){source.tile, destination.tile, source.at, destination.at, bytes});
    take(&source, bytes);
    take(&destination, bytes);
  }
}

/* Sorted by where the bytes begin, it is enough to know how far
 * the readers and the writers before have reached. */
bool overlap(const transfer_list *transfers)
{
  size_t count = 2 * transfers->count;
  keyed *ends = pop_xrealloc(NULL, count + 1, sizeof *ends);
  for (size_t i = 0; i < transfers->count; i++) {
    const transfer *t = &transfers->items[i];
    ends[2 * i] = (keyed){(uint64_t)t->source.block << 32 | t->source.offset, (uint32_t)(2 * i)};
    ends[2 * i + 1] = (keyed){(uint64_t)t->destination.block << 32 | t->destination.offset,
                              (uint32_t)(2 * i + 1)};
  }
  sort_keyed(ends, count);
  uint64_t reached[2] = {0, 0}; /* by readers, by writers */
  bool found = false;
  for (size_t i = 0; i < count && !found; i++) {
    bool writes = ends[i].index % 2;
    uint64_t end = ends[i].key + transfers->items[ends[i].index / 2].bytes;
    found = ends[i].key < reached[!writes];
    if (end > reached[writes]) reached[writes] = end;
  }
  free(ends);
  return found;
}

/* Gives each transfer a place in a buffer on the destination's tile, at the same offset within words
 * as the destination, so that words stay words. */
static void split_by_buffers(lowering *l, const transfer_list *transfers, const char *name,
                             transfer_list *in, transfer_list *out)
{
  compilation *c = l->c;
  keyed *order = pop_xrealloc(NULL, transfers->count + 1, sizeof *order);
  for (size_t i = 0; i < transfers->count; i++)
    order[i] = (keyed){transfers->items[i].destination_tile, (uint32_t)i};
  sort_keyed(order, transfers->count);
  uint32_t buffer = COMPILER_NONE, end = 0;
  for (size_t i = 0; i < transfers->count; i++) {
    const transfer *t = &transfers->items[order[i].index];
    if (i == 0 || order[i - 1].key != t->destination_tile) {
      buffer =
          add_buffer(l, t->destination_tile, WORD, BUFFER_ALIGN, POP_MEMORY_REARRANGEMENT, 0, name);
      end = 0;
    }
    end += (t->destination.offset - end) % WORD;
    place between = {buffer, end};
    pop_push(in->items, in->count, in->capacity,
             (transfer){t->source_tile, t->destination_tile, t->source, between, t->bytes});
    pop_push(
        out->items, out->count, out->capacity,
        (transfer){t->destination_tile, t->destination_tile, between, t->destination, t->bytes});
    end += t->bytes;
    c->blocks[buffer].size = (end + WORD - 1) / WORD * WORD;
  }
  free(order);
}

static pop_error *lower_overlapping(lowering *l, const transfer_list *transfers, const char *name,
                                    step_list *steps)
{
  transfer_list in = {0}, out = {0};
  pop_arena *arena = l->c->arena;
  split_by_buffers(l, transfers, name, &in, &out);
  const transfer_names before = {.exchange = pop_arena_printf(arena, "%s/ExchangePre", name),
                                 .copy = pop_arena_printf(arena, "%s/OnTileCopyPre", name)};
  const transfer_names after = {.exchange = name,
                                .copy = pop_arena_printf(arena, "%s/OnTileCopyPost", name)};
  pop_error *error = lower_transfers(l, &in, &before, steps);
  if (!error) error = lower_transfers(l, &out, &after, steps);
  free(in.items);
  free(out.items);
  return error;
}

pop_error *lower_paired(lowering *l, const transfer_list *transfers, bool overlaps,
                        const char *name, step_list *steps)
{
  if (overlaps) return lower_overlapping(l, transfers, name, steps);
  const transfer_names names = {.exchange = pop_arena_printf(l->c->arena, "%s/ExchangePre", name),
                                .copy = pop_arena_printf(l->c->arena, "%s/OnTileCopy", name)};
  return lower_transfers(l, transfers, &names, steps);
}

pop_error *lower_copy_program(lowering *l, const program *copied, step_list *steps)
{
  const char *name = pop_arena_strdup(l->c->arena, copied->name);
  transfer_list transfers = {0};
  pair_up(l->c, copied, &transfers);
  pop_error *error = lower_paired(l, &transfers, overlap(&transfers), name, steps);
  free(transfers.items);
  return error;
}
