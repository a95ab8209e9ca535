/* Host exchanges: what tiles and host exchange in one host sync.
 *
 * A draft collects rows. A row is bytes that are contiguous on a tile and in a window of the host.
 * Rows of a tile with equal lengths and equal strides, on the tile and in the window, are one
 * packet. When the draft is kept, it becomes a step, and each tile gets the headers of its packets
 * in one block (isa/isa.h has the fields). */
#include "compiler/lower/host_exchange.h"
#include "base/order.h"
#include "isa/isa.h"
#include <populus/stream.h>

#include <stdlib.h>

enum { HEADER_BYTES = 4 * ISA_PACKET_HEADER_WORDS, MAX_NAMES = 4 };

void draft_start(host_draft *draft, const compilation *c)
{
  if (!draft->last_of_tile) {
    draft->last_of_tile = pop_xcalloc(pop_target_num_tiles(&c->target), sizeof(uint32_t));
    draft->bytes_of_ipu = pop_xcalloc(c->target.num_ipus, sizeof(uint64_t));
  }
  for (uint32_t i = 0; i < c->target.num_ipus; i++) draft->bytes_of_ipu[i] = 0;
  draft->num_packets = draft->num_windows = 0;
  draft->any_to_host = false;
  draft->name = "";
}

void draft_free(host_draft *draft)
{
  free(draft->packets);
  free(draft->windows);
  free(draft->last_of_tile);
  free(draft->bytes_of_ipu);
  *draft = (host_draft){0};
}

void draft_add_window(host_draft *draft, const host_window *window)
{
  pop_push(draft->windows, draft->num_windows, draft->windows_capacity, *window);
}

/* The next row may be of another record with the same number. Then its offset may be below that of
 * the last row, which no stride can express. Packets to the host must not overlap, either. */
static bool may_follow(const host_packet *packet, uint32_t host_offset)
{
  uint32_t bytes = packet->to_tile ? 0 : packet->row_bytes;
  return host_offset >= (uint64_t)packet->host_offset + bytes;
}

/* Adds the row to the packet, if it continues the packet's strides. */
static bool append_row(host_packet *packet, const segment *row, uint32_t host_offset)
{
  if (packet->at.block != row->at.block || packet->row_bytes != row->bytes ||
      row->at.offset < packet->at.offset || !may_follow(packet, host_offset))
    return false;
  if (packet->rows == 1) {
    packet->stride = row->at.offset - packet->at.offset;
    packet->host_stride = host_offset - packet->host_offset;
  } else if (row->at.offset != packet->at.offset + (uint64_t)packet->rows * packet->stride ||
             host_offset != packet->host_offset + (uint64_t)packet->rows * packet->host_stride) {
    return false;
  }
  packet->rows++;
  return true;
}

static bool same_place(place a, place b)
{
  return a.block == b.block && a.offset == b.offset;
}

/* The last packet of the tile, if it is of this window, record and direction. `last_of_tile` may be
 * stale: then it is the number of some other packet. */
static host_packet *last_packet(const host_draft *draft, const segment *row, place record,
                                bool to_tile)
{
  uint32_t number = draft->last_of_tile[row->tile];
  if (number >= draft->num_packets) return NULL;
  host_packet *last = &draft->packets[number];
  bool good = last->tile == row->tile && last->window + 1 == draft->num_windows &&
              last->to_tile == to_tile && same_place(last->record, record);
  return good ? last : NULL;
}

bool draft_has_room(const host_draft *draft, const compilation *c, const segment *row)
{
  return draft->bytes_of_ipu[row->tile / c->target.tiles_per_ipu] + row->bytes <=
         POP_STREAM_COPY_MAX_BYTES;
}

void draft_add_row(host_draft *draft, const compilation *c, const segment *row,
                   uint32_t host_offset, place record, bool to_tile)
{
  draft->bytes_of_ipu[row->tile / c->target.tiles_per_ipu] += row->bytes;
  draft->any_to_host |= !to_tile;
  host_packet *last = last_packet(draft, row, record, to_tile);
  if (last && append_row(last, row, host_offset)) return;
  draft->last_of_tile[row->tile] = (uint32_t)draft->num_packets;
  pop_push(draft->packets, draft->num_packets, draft->packets_capacity,
           (host_packet){.tile = row->tile,
                         .at = row->at,
                         .row_bytes = row->bytes,
                         .rows = 1,
                         .host_offset = host_offset,
                         .to_tile = to_tile,
                         .window = (uint32_t)draft->num_windows - 1,
                         .record = record});
}

/* ---- merging ---- */

static uint64_t first_byte(const host_packet *p)
{
  return (uint64_t)p->at.block << 32 | p->at.offset;
}

static uint64_t behind_last_byte(const host_packet *p)
{
  return first_byte(p) + (uint64_t)(p->rows - 1) * p->stride + p->row_bytes;
}

/* Does one draft write what the other reads or writes? Packets count from first to last byte,
 * including what is between their rows. */
static bool drafts_overlap(const host_draft *a, const host_draft *b)
{
  size_t count = a->num_packets + b->num_packets;
  keyed *order = pop_xrealloc(NULL, count + 1, sizeof *order);
  for (size_t i = 0; i < count; i++) {
    const host_packet *p = i < a->num_packets ? &a->packets[i] : &b->packets[i - a->num_packets];
    order[i] = (keyed){first_byte(p), (uint32_t)i};
  }
  sort_keyed(order, count);
  uint64_t touched[2] = {0, 0}, written[2] = {0, 0}; /* end addresses so far, by draft */
  bool found = false;
  for (size_t i = 0; i < count && !found; i++) {
    bool of_b = order[i].index >= a->num_packets;
    const host_packet *p =
        of_b ? &b->packets[order[i].index - a->num_packets] : &a->packets[order[i].index];
    uint64_t end = behind_last_byte(p);
    found = order[i].key < (p->to_tile ? touched : written)[!of_b];
    if (end > touched[of_b]) touched[of_b] = end;
    if (p->to_tile && end > written[of_b]) written[of_b] = end;
  }
  free(order);
  return found;
}

static bool any_to_device(const host_draft *draft)
{
  for (size_t i = 0; i < draft->num_packets; i++)
    if (draft->packets[i].to_tile) return true;
  return false;
}

bool draft_can_take(const host_draft *draft, const compilation *c, const host_draft *more)
{
  if (draft->num_windows + more->num_windows > ISA_HOST_MAX_WINDOWS) return false;
  for (uint32_t i = 0; i < c->target.num_ipus; i++)
    if (draft->bytes_of_ipu[i] + more->bytes_of_ipu[i] > POP_STREAM_COPY_MAX_BYTES) return false;
  if (draft->any_to_host && any_to_device(more)) return false;
  return !drafts_overlap(draft, more);
}

void draft_take(host_draft *draft, const compilation *c, const host_draft *more)
{
  uint32_t first_window = (uint32_t)draft->num_windows;
  for (uint32_t i = 0; i < c->target.num_ipus; i++) draft->bytes_of_ipu[i] += more->bytes_of_ipu[i];
  for (size_t i = 0; i < more->num_windows; i++) draft_add_window(draft, &more->windows[i]);
  for (size_t i = 0; i < more->num_packets; i++) {
    pop_push(draft->packets, draft->num_packets, draft->packets_capacity, more->packets[i]);
    draft->packets[draft->num_packets - 1].window += first_window;
  }
  draft->any_to_host |= more->any_to_host;
  if (first_window == 0)
    draft->name = more->name;
  else if (first_window < MAX_NAMES)
    draft->name = pop_arena_printf(c->arena, "%s+%s", draft->name, more->name);
  else if (first_window == MAX_NAMES)
    draft->name = pop_arena_printf(c->arena, "%s+…", draft->name);
}

/* ---- headers ---- */

static void store_words(uint8_t *at, const uint32_t *words, size_t count)
{
  for (size_t i = 0; i < 4 * count; i++) at[i] = (uint8_t)(words[i / 4] >> (8 * (i % 4)));
}

static void add_headers(compilation *c, host_packet *packets, size_t count, const char *name)
{
  uint32_t size = (uint32_t)count * HEADER_BYTES;
  block b = {.tile = packets[0].tile,
             .size = size,
             .align = 4,
             .category = POP_MEMORY_HOST_EXCHANGE_PACKET_HEADER,
             .flags = BLOCK_ALWAYS_LIVE | BLOCK_TABLE,
             .name = name,
             .content = begin_content(c, size)};
  uint8_t *bytes = c->bytes + c->contents[b.content].first_byte;
  for (size_t i = 0; i < count; i++) {
    const host_packet *p = &packets[i];
    const uint32_t words[ISA_PACKET_HEADER_WORDS] = {0,         p->row_bytes,   p->rows,
                                                     p->stride, p->host_offset, p->host_stride};
    store_words(bytes + i * HEADER_BYTES, words, ISA_PACKET_HEADER_WORDS);
  }
  for (size_t i = 0; i < count; i++)
    add_fixup(c, b.content, (uint32_t)i * HEADER_BYTES, packets[i].at);
  uint32_t index = add_block(c, &b);
  for (size_t i = 0; i < count; i++) packets[i].header = (place){index, (uint32_t)i * HEADER_BYTES};
}

/* Moves the packets to the compilation, sorted by tile and then window, and adds their headers. */
static void keep_packets(compilation *c, const host_draft *draft)
{
  keyed *order = pop_xrealloc(NULL, draft->num_packets + 1, sizeof *order);
  for (size_t i = 0; i < draft->num_packets; i++)
    order[i] = (keyed){draft->packets[i].tile, (uint32_t)i};
  sort_keyed(order, draft->num_packets);
  size_t first = c->num_host_packets;
  for (size_t i = 0; i < draft->num_packets; i++)
    pop_push(c->host_packets, c->num_host_packets, c->host_packets_capacity,
             draft->packets[order[i].index]);
  free(order);
  for (size_t begin = first, end; begin < c->num_host_packets; begin = end) {
    end = begin + 1;
    while (end < c->num_host_packets && c->host_packets[end].tile == c->host_packets[begin].tile)
      end++;
    add_headers(c, c->host_packets + begin, end - begin, draft->name);
  }
}

static void record_packets(lowering *l, const host_draft *draft, uint32_t step)
{
  begin_accesses(l, step);
  for (size_t i = 0; i < draft->num_packets; i++) {
    const host_packet *p = &draft->packets[i];
    if (p->record.block != COMPILER_NONE) record_read(l, p->record.block);
    if (p->to_tile)
      record_write(l, p->at.block, p->row_bytes * p->rows);
    else
      record_read(l, p->at.block);
  }
  end_accesses(l, step);
}

void draft_keep(lowering *l, host_draft *draft, step_list *steps)
{
  compilation *c = l->c;
  if (draft->num_windows == 0) return;
  uint32_t exchange_number = (uint32_t)c->num_host_exchanges;
  pop_push(c->host_events, c->num_host_events, c->host_events_capacity,
           (host_event){HOST_EVENT_EXCHANGE, draft->name, "", exchange_number});
  host_exchange added = {.name = draft->name,
                         .event = (uint32_t)c->num_host_events,
                         .first_window = c->num_host_windows,
                         .num_windows = draft->num_windows,
                         .first_packet = c->num_host_packets,
                         .num_packets = draft->num_packets};
  pop_push(c->host_exchanges, c->num_host_exchanges, c->host_exchanges_capacity, added);
  for (size_t i = 0; i < draft->num_windows; i++)
    pop_push(c->host_windows, c->num_host_windows, c->host_windows_capacity, draft->windows[i]);
  uint32_t step = add_step(l, STEP_HOST_EXCHANGE, draft->name, exchange_number);
  record_packets(l, draft, step);
  keep_packets(c, draft);
  pop_push(steps->items, steps->count, steps->capacity, step);
  draft_start(draft, c);
}
