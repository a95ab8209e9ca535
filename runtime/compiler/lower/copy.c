/* Copy programs: pairs the elements of source and destination, as transfers.
 *
 * Source and destination may overlap. Then the elements go through buffers on the destination's
 * tiles, so that all of them are read before any is written. */
#include "compiler/lower/copy.h"
#include "base/order.h"
#include "compiler/lower/constants.h"
#include "compiler/lower/rows.h"
#include "compiler/segments.h"

#include <stdlib.h>

enum { WORD = 4, BUFFER_ALIGN = 8 };

static void take(segment *s, uint32_t bytes)
{
  s->at.offset += bytes;
  s->bytes -= bytes;
}

/* Walks over source and destination in step. */
typedef struct pairing {
  segment_walk sources, destinations;
  segment source, destination; /* rest of the current segments */
  bool is_copy;
} pairing;

static void pairing_start(pairing *p, const compilation *c, const program *copied)
{
  *p = (pairing){.is_copy = copied->kind == PROGRAM_COPY};
  segment_walk_start(&p->sources, c, copied->source);
  segment_walk_start(&p->destinations, c, copied->destination);
}

static bool pairing_next(pairing *p, transfer *out)
{
  segment *source = &p->source, *destination = &p->destination;
  for (;;) {
    if (source->bytes == 0 && !segment_walk_next(&p->sources, source)) return false;
    if (destination->bytes == 0 && !segment_walk_next(&p->destinations, destination)) return false;
    uint32_t bytes = source->bytes < destination->bytes ? source->bytes : destination->bytes;
    bool onto_itself = p->is_copy && source->at.block == destination->at.block &&
                       source->at.offset == destination->at.offset;
    *out = (transfer){source->tile, destination->tile, source->at, destination->at, bytes};
    take(source, bytes);
    take(destination, bytes);
    if (!onto_itself) return true;
  }
}

void pair_up(const compilation *c, const program *copied, transfer_list *out)
{
  pairing p;
  transfer next;
  pairing_start(&p, c, copied);
  while (pairing_next(&p, &next)) pop_push(out->items, out->count, out->capacity, next);
}

enum { READ = 1, WRITTEN = 2 };

/* By block: is it read, is it written? */
static uint8_t *uses_of_blocks(const transfer_list *transfers)
{
  uint32_t last = 0;
  for (size_t i = 0; i < transfers->count; i++) {
    const transfer *t = &transfers->items[i];
    if (t->source.block > last) last = t->source.block;
    if (t->destination.block > last) last = t->destination.block;
  }
  uint8_t *uses = pop_xcalloc((size_t)last + 1, sizeof *uses);
  for (size_t i = 0; i < transfers->count; i++) {
    uses[transfers->items[i].source.block] |= READ;
    uses[transfers->items[i].destination.block] |= WRITTEN;
  }
  return uses;
}

typedef struct end_list {
  keyed *items;
  size_t count, capacity;
} end_list;

/* Ends of transfers in blocks that are both read and written; most copies have none. */
static end_list ends_in_shared_blocks(const transfer_list *transfers)
{
  uint8_t *uses = uses_of_blocks(transfers);
  end_list ends = {0};
  for (size_t i = 0; i < transfers->count; i++) {
    place source = transfers->items[i].source, destination = transfers->items[i].destination;
    if (uses[source.block] == (READ | WRITTEN))
      pop_push(ends.items, ends.count, ends.capacity,
               (keyed){(uint64_t)source.block << 32 | source.offset, (uint32_t)(2 * i)});
    if (uses[destination.block] == (READ | WRITTEN))
      pop_push(
          ends.items, ends.count, ends.capacity,
          (keyed){(uint64_t)destination.block << 32 | destination.offset, (uint32_t)(2 * i + 1)});
  }
  free(uses);
  return ends;
}

/* Sweep over the ends, sorted by address: it is enough to know how far earlier readers and writers
 * have reached. */
bool overlap(const transfer_list *transfers)
{
  end_list ends = ends_in_shared_blocks(transfers);
  sort_keyed(ends.items, ends.count);
  uint64_t reached[2] = {0, 0}; /* by readers, by writers */
  bool found = false;
  for (size_t i = 0; i < ends.count && !found; i++) {
    const keyed *at = &ends.items[i];
    bool writes = at->index % 2;
    uint64_t end = at->key + transfers->items[at->index / 2].bytes;
    found = at->key < reached[!writes];
    if (end > reached[writes]) reached[writes] = end;
  }
  free(ends.items);
  return found;
}

/* Gives each transfer a place in a buffer on the destination's tile. Its offset within a word is
 * that of the destination, so that whole words stay whole words. */
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

static transfer_names names_of(const lowering *l, const char *name)
{
  return (transfer_names){.exchange = pop_arena_printf(l->c->arena, "%s/ExchangePre", name),
                          .copy = pop_arena_printf(l->c->arena, "%s/OnTileCopy", name)};
}

pop_error *lower_paired(lowering *l, const transfer_list *transfers, bool overlaps,
                        const char *name, step_list *steps)
{
  if (overlaps) return lower_overlapping(l, transfers, name, steps);
  const transfer_names names = names_of(l, name);
  return lower_transfers(l, transfers, &names, steps);
}

/* ---- large copies ---- */

static bool have_common_variable(const pop_graph *graph, uint32_t a, uint32_t b)
{
  const tensor *first = &graph->tensors[a], *second = &graph->tensors[b];
  bool *is_of_first = pop_xcalloc(graph->num_variables + 1, sizeof *is_of_first), found = false;
  for (size_t i = 0; i < first->num_pieces; i++)
    is_of_first[graph->pieces[first->first_piece + i].variable] = true;
  for (size_t i = 0; i < second->num_pieces; i++)
    found |= is_of_first[graph->pieces[second->first_piece + i].variable];
  free(is_of_first);
  return found;
}

bool copy_is_large(const compilation *c, const program *copied)
{
  const tensor *t = &c->graph->tensors[copied->destination];
  uint64_t bytes = t->num_elements * pop_type_bytes(t->type);
  return bytes > (uint64_t)LARGE_TILE_BYTES * pop_target_num_tiles(&c->target) &&
         !have_common_variable(c->graph, copied->source, copied->destination);
}

/* Does the tensor repeat its elements, like a scalar that is broadcast? Tiles then want the same
 * words many times, which only shows where all transfers to a tile are together. */
static bool repeats_elements(const pop_graph *graph, uint32_t number)
{
  enum { TIMES = 8 };
  const tensor *t = &graph->tensors[number];
  if (t->num_pieces != 1) return false;
  const view_piece *piece = &graph->pieces[t->first_piece];
  uint64_t times = 1;
  for (uint32_t d = 0; d < piece->num_dims && times < TIMES; d++)
    if (graph->dims[piece->first_dim + d].stride == 0)
      times *= graph->dims[piece->first_dim + d].count;
  return times >= TIMES;
}

/* Streams the transfers of a large copy, so that they are never all in memory: each element may be
 * one. */
static pop_error *lower_large(lowering *l, const program *copied, const char *name,
                              step_list *steps)
{
  const transfer_names names = names_of(l, name);
  row_staging s = {.l = l, .name = names.exchange};
  pairing p;
  transfer next;
  transfer_list parts = {0};
  pairing_start(&p, l->c, copied);
  while (pairing_next(&p, &next)) {
    parts.count = 0;
    add_localized(l->c, &next, &parts);
    for (size_t i = 0; i < parts.count; i++) stage_rows(&s, &parts.items[i]);
  }
  free(parts.items);
  end_rows(&s);
  pop_error *error = lower_staged_transfers(l, &s.transfers, &s.copies, &names, steps);
  row_staging_free(&s);
  return error;
}

pop_error *lower_copy_program(lowering *l, const program *copied, step_list *steps)
{
  const char *name = pop_arena_strdup(l->c->arena, copied->name);
  bool is_large = copy_is_large(l->c, copied);
  if (is_large && !repeats_elements(l->c->graph, copied->source))
    return lower_large(l, copied, name, steps);
  transfer_list transfers = {0};
  pair_up(l->c, copied, &transfers);
  bool overlaps = !is_large && overlap(&transfers);
  pop_error *error = lower_paired(l, &transfers, overlaps, name, steps);
  free(transfers.items);
  return error;
}
