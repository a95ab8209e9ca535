/* Stream copies become packets: what each tile exchanges with the host in one host sync.
 *
 * The tensor's elements lie in the stream's buffer in row-major order. Each run of them on a tile is a
 * row; rows of a tile that are equally long and equally far apart, on the tile and in the buffer, are
 * one packet. Each tile has the headers of its packets in one block (machine/isa.h says what they
 * hold). */
#include "compiler/lowering.h"
#include "compiler/order.h"
#include "compiler/segments.h"
#include "machine/isa.h"
#include <populus/stream.h>

#include <stdlib.h>

enum { HEADER_BYTES = 4 * ISA_PACKET_HEADER_WORDS };

void lower_streams(compilation *c)
{
  const pop_graph *graph = c->graph;
  for (size_t i = 0; i < graph->num_streams; i++) {
    const host_stream *s = &graph->streams[i];
    pop_push(c->streams, c->num_streams, c->streams_capacity,
             (stream_info){.name = pop_arena_strdup(c->arena, s->name),
                           .type = s->type,
                           .to_device = s->to_device,
                           .num_elements = s->num_elements});
  }
}

/* ---- packets ---- */

typedef struct packet_list {
  host_packet *items;
  size_t count, capacity;
  uint32_t *last_of_tile; /* COMPILER_NONE: none yet */
  uint64_t *bytes_of_ipu;
} packet_list;

/* Makes the row another one of the tile's last packet, if it goes on as regularly. */
static bool append_row(host_packet *last, const segment *row, uint32_t host_offset)
{
  if (last->at.block != row->at.block || last->row_bytes != row->bytes ||
      row->at.offset < last->at.offset)
    return false;
  if (last->rows == 1) {
    last->stride = row->at.offset - last->at.offset;
    last->host_stride = host_offset - last->host_offset;
  } else if (row->at.offset != last->at.offset + (uint64_t)last->rows * last->stride ||
             host_offset != last->host_offset + (uint64_t)last->rows * last->host_stride) {
    return false;
  }
  last->rows++;
  return true;
}

static void add_row(packet_list *list, const segment *row, uint32_t host_offset)
{
  uint32_t *last = &list->last_of_tile[row->tile];
  if (*last != COMPILER_NONE && append_row(&list->items[*last], row, host_offset)) return;
  *last = (uint32_t)list->count;
  pop_push(list->items, list->count, list->capacity,
           (host_packet){.tile = row->tile,
                         .at = row->at,
                         .row_bytes = row->bytes,
                         .rows = 1,
                         .host_offset = host_offset});
}

static pop_error *too_much(const compilation *c, const program *copied, uint32_t ipu)
{
  const stream_info *s = &c->streams[copied->stream];
  return pop_error_new(
      POP_ERROR_CONTROL_PROGRAM,
      "stream copy '%s': stream '%s' moves more than %llu MiB from or to IPU %u in "
      "one copy: make the stream smaller and use several copies, of slices of the "
      "tensor",
      copied->name, s->name, (unsigned long long)(POP_STREAM_COPY_MAX_BYTES >> 20), ipu);
}

static pop_error *collect(lowering *l, const program *copied, packet_list *list)
{
  const compilation *c = l->c;
  bool to_device = c->streams[copied->stream].to_device;
  segment_walk walk;
  segment row;
  uint64_t host_offset = 0;
  segment_walk_start(&walk, c, copied->source);
  while (segment_walk_next(&walk, &row)) {
    uint32_t ipu = row.tile / c->target.tiles_per_ipu;
    list->bytes_of_ipu[ipu] += row.bytes;
    if (list->bytes_of_ipu[ipu] > POP_STREAM_COPY_MAX_BYTES || host_offset + row.bytes > UINT32_MAX)
      return too_much(c, copied, ipu);
    add_row(list, &row, (uint32_t)host_offset);
    host_offset += row.bytes;
    if (to_device)
      record_write(l, row.at.block, row.bytes);
    else
      record_read(l, row.at.block);
  }
  return NULL;
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
             .flags = BLOCK_ALWAYS_LIVE,
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

/* Takes the packets over, tile by tile, and gives them headers. */
static void keep_packets(compilation *c, const packet_list *list, const char *name)
{
  keyed *order = pop_xrealloc(NULL, list->count + 1, sizeof *order);
  for (size_t i = 0; i < list->count; i++) order[i] = (keyed){list->items[i].tile, (uint32_t)i};
  sort_keyed(order, list->count);
  size_t first = c->num_host_packets;
  for (size_t i = 0; i < list->count; i++)
    pop_push(c->host_packets, c->num_host_packets, c->host_packets_capacity,
             list->items[order[i].index]);
  free(order);
  for (size_t begin = first, end; begin < c->num_host_packets; begin = end) {
    end = begin + 1;
    while (end < c->num_host_packets && c->host_packets[end].tile == c->host_packets[begin].tile)
      end++;
    add_headers(c, c->host_packets + begin, end - begin, name);
  }
}

pop_error *lower_stream_copy(lowering *l, const program *copied, uint32_t *step)
{
  compilation *c = l->c;
  uint32_t num_tiles = pop_target_num_tiles(&c->target);
  packet_list list = {
      .last_of_tile = pop_xrealloc(NULL, num_tiles, sizeof *list.last_of_tile),
      .bytes_of_ipu = pop_xcalloc(c->target.num_ipus, sizeof *list.bytes_of_ipu),
  };
  for (uint32_t t = 0; t < num_tiles; t++) list.last_of_tile[t] = COMPILER_NONE;
  const char *name = pop_arena_strdup(c->arena, copied->name);
  if (!*name) name = c->streams[copied->stream].name;
  *step = add_step(l, STEP_STREAM_COPY, name, (uint32_t)c->num_stream_copies);
  begin_accesses(l, *step);
  pop_error *error = collect(l, copied, &list);
  end_accesses(l, *step);
  if (!error) {
    stream_copy added = {name, copied->stream, c->num_host_packets, list.count};
    keep_packets(c, &list, name);
    pop_push(c->stream_copies, c->num_stream_copies, c->stream_copies_capacity, added);
    c->streams[copied->stream].is_used = true;
  }
  free(list.items);
  free(list.last_of_tile);
  free(list.bytes_of_ipu);
  return error;
}
