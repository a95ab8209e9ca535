/* The exchange between replicas on different ranks. A rank announces to another one what its
 * replicas send there: the number of packets, and for each its tile, words and receiving IPUs. On
 * the receiving rank these packets are in a slot behind those of its own replicas. When everything
 * has been checked, the words of all packets follow in one message, from tiles to tiles. */
#include "global_exchange.h"

#include "state.h"
#include <assert.h>
#include <stdlib.h>
#include <string.h>

typedef struct remote_header {
  uint32_t replica; /* that sends */
  uint32_t num_packets;
} remote_header;

typedef struct remote_packet {
  uint32_t tile, words; /* the tile's number in the replica */
  uint32_t ipus, first_ipu;
} remote_packet;

static uint32_t rank_of(const reading *r, uint32_t replica)
{
  return replica / r->group->num_own;
}

static bool is_own(const reading *r, uint32_t replica)
{
  return rank_of(r, replica) == ranks_own(r->group->ranks);
}

/* ---- memory ---- */

/* By rank. The memory is kept for the next time, which mostly needs as much. */
typedef struct global_messages {
  ranks_part *sent, *received;
  uint32_t count;
  ranks_part unwanted; /* words that no tile receives */
  ranks_pieces *from, *to;
} global_messages;

static global_messages *messages_of(const reading *r)
{
  machine *keeper = r->group->own[0];
  if (keeper->global_messages) return keeper->global_messages;
  uint32_t count = ranks_count(r->group->ranks);
  global_messages *made = pop_xcalloc(1, sizeof *made);
  *made = (global_messages){.sent = pop_xcalloc(count, sizeof *made->sent),
                            .received = pop_xcalloc(count, sizeof *made->received),
                            .count = count,
                            .from = pop_xcalloc(count, sizeof *made->from),
                            .to = pop_xcalloc(count, sizeof *made->to)};
  return keeper->global_messages = made;
}

void global_remote_forget(machine *m)
{
  global_messages *of = m->global_messages;
  if (!of) return;
  for (uint32_t i = 0; i < of->count; i++) {
    free(of->sent[i].data);
    free(of->received[i].data);
    free(of->from[i].items);
    free(of->to[i].items);
  }
  free(of->from);
  free(of->to);
  free(of->unwanted.data);
  free(of->sent);
  free(of->received);
  free(of);
  m->global_messages = NULL;
}

/* ---- what is announced ---- */

static void append(ranks_part *to, const void *bytes, size_t count)
{
  memcpy(to->data + to->bytes, bytes, count);
  to->bytes += count;
}

typedef struct packet_range {
  const packet *begin, *end;
} packet_range;

static packet_range packets_of(const reading *r, uint32_t slot)
{
  size_t tiles = r->tiles_per_replica;
  return (packet_range){r->sent.items + r->sent.first[slot * tiles],
                        r->sent.items + r->sent.first[(slot + 1) * tiles]};
}

static size_t announced_bytes(const reading *r, uint32_t slot)
{
  packet_range all = packets_of(r, slot);
  return sizeof(remote_header) + (size_t)(all.end - all.begin) * sizeof(remote_packet);
}

/* Appends the replica's packets to the message. */
static void announce_replica(const reading *r, uint32_t slot, ranks_part *to)
{
  packet_range all = packets_of(r, slot);
  remote_header header = {r->group->first + slot, (uint32_t)(all.end - all.begin)};
  append(to, &header, sizeof header);
  for (const packet *p = all.begin; p < all.end; p++) {
    remote_packet written = {p->tile % r->tiles_per_replica, p->words, p->ipus, p->first_ipu};
    append(to, &written, sizeof written);
  }
}

/* The rank that the replica sends to; this one if it sends to none. */
static uint32_t receiver_of(const reading *r, uint32_t slot)
{
  uint32_t to = r->map[r->group->first + slot];
  return to == NO_REPLICA ? ranks_own(r->group->ranks) : rank_of(r, to);
}

static pop_error *write_messages(const reading *r, ranks_part *messages)
{
  uint32_t count = ranks_count(r->group->ranks), own = ranks_own(r->group->ranks);
  size_t *bytes = pop_xcalloc(count, sizeof *bytes);
  bool fits = true;
  for (uint32_t slot = 0; slot < r->group->num_own; slot++)
    bytes[receiver_of(r, slot)] += announced_bytes(r, slot);
  bytes[own] = 0;
  for (uint32_t i = 0; i < count; i++) {
    fits = fits && ranks_reserve(&messages[i], bytes[i]);
    messages[i].bytes = 0;
  }
  free(bytes);
  if (!fits)
    return pop_error_new(POP_ERROR_MEMORY, "no memory for what replicas send to other instances");
  for (uint32_t slot = 0; slot < r->group->num_own; slot++)
    if (receiver_of(r, slot) != own) announce_replica(r, slot, &messages[receiver_of(r, slot)]);
  return NULL;
}

/* ---- what is received ---- */

static bool take(ranks_part *left, void *bytes, size_t count)
{
  if (count > left->bytes) return false;
  memcpy(bytes, left->data, count);
  left->data += count;
  left->bytes -= count;
  return true;
}

/* Packets come in the order of tiles. */
static bool read_packets(reading *r, uint32_t slot, uint32_t count, ranks_part *left)
{
  size_t tile = slot * (size_t)r->tiles_per_replica;
  size_t end = tile + r->tiles_per_replica;
  for (uint32_t i = 0; i < count; i++) {
    remote_packet read;
    if (!take(left, &read, sizeof read) || read.tile >= r->tiles_per_replica) return false;
    packet p = {.tile = slot * r->tiles_per_replica + read.tile,
                .words = read.words,
                .ipus = read.ipus,
                .first_ipu = read.first_ipu};
    while (tile <= p.tile) r->sent.first[tile++] = r->sent.count;
    pop_push(r->sent.items, r->sent.count, r->sent.capacity, p);
  }
  while (tile <= end) r->sent.first[tile++] = r->sent.count;
  return true;
}

/* Appends the packets of a replica, in a new slot. */
static bool read_replica(reading *r, ranks_part *left)
{
  remote_header header;
  if (!take(left, &header, sizeof header)) return false;
  uint32_t at = 0, slot = r->group->num_own + r->num_remote;
  while (at < r->group->num_own && r->from[at] != header.replica) at++;
  if (at == r->group->num_own || r->sources[at] != NO_REPLICA) return false;
  r->num_remote++;
  r->sources[at] = slot;
  return read_packets(r, slot, header.num_packets, left);
}

static bool is_complete(const reading *r)
{
  for (uint32_t i = 0; i < r->group->num_own; i++)
    if (r->from[i] != NO_REPLICA && r->sources[i] == NO_REPLICA) return false;
  return true;
}

pop_error *global_remote_read(reading *r)
{
  bool good = true;
  for (uint32_t i = 0; i < r->group->num_own; i++)
    if (r->from[i] != NO_REPLICA && is_own(r, r->from[i]))
      r->sources[i] = r->from[i] - r->group->first;
  for (uint32_t i = 0; i < ranks_count(r->group->ranks); i++) {
    ranks_part left = messages_of(r)->received[i];
    while (left.bytes && good) good = read_replica(r, &left);
  }
  if (good && is_complete(r)) return NULL;
  return pop_error_new(POP_ERROR_RUNTIME,
                       "what another instance sends for a copy between replicas is not what this "
                       "one expects: their tiles have different replica maps");
}

pop_error *global_remote_announce(reading *r, pop_error *own)
{
  global_messages *messages = messages_of(r);
  if (!own) own = write_messages(r, messages->sent);
  return ranks_exchange(r->group->ranks, "a copy between replicas", own, messages->sent,
                        messages->received);
}

pop_error *global_remote_agree(reading *r, pop_error *own)
{
  ranks *with = r->group->ranks;
  exchange_sum *all = pop_xcalloc(ranks_count(with), sizeof *all);
  pop_error *error =
      ranks_gather(with, "a copy between replicas, checked", own, &r->sum, sizeof r->sum, all);
  for (uint32_t i = 0; i < ranks_count(with) && !error; i++) {
    if (all[i].instructions > r->sum.instructions) r->sum.instructions = all[i].instructions;
    if (all[i].words > r->sum.words) r->sum.words = all[i].words;
    if (all[i].link_bytes > r->sum.link_bytes) r->sum.link_bytes = all[i].link_bytes;
    if (all[i].gateway_bytes > r->sum.gateway_bytes) r->sum.gateway_bytes = all[i].gateway_bytes;
    r->sum.packets |= all[i].packets;
  }
  free(all);
  return error;
}

/* ---- words ---- */

static packet_range remote_packets(const reading *r)
{
  uint32_t first = r->group->num_own;
  if (r->num_remote == 0) return (packet_range){r->sent.items, r->sent.items};
  return (packet_range){packets_of(r, first).begin, packets_of(r, first + r->num_remote - 1).end};
}

pop_error *global_remote_place(reading *r)
{
  ranks_part *unwanted = &messages_of(r)->unwanted;
  size_t bytes = 0, used = 0;
  packet_range all = remote_packets(r);
  for (const packet *p = all.begin; p < all.end; p++) bytes += p->data ? 0 : 4 * (size_t)p->words;
  if (bytes && !ranks_reserve(unwanted, bytes))
    return pop_error_new(POP_ERROR_MEMORY,
                         "no memory for %zu bytes that other instances send and no tile receives",
                         bytes);
  r->has_unwanted = bytes > 0;
  if (!bytes) return NULL;
  for (packet *p = r->sent.items + (all.begin - r->sent.items); p < all.end; p++) {
    if (p->data) continue;
    p->data = unwanted->data + used;
    used += 4 * (size_t)p->words;
  }
  return NULL;
}

static void add_piece(ranks_pieces *to, uint8_t *data, uint32_t words)
{
  pop_push(to->items, to->count, to->capacity, (ranks_piece){data, 4 * (size_t)words});
}

static void list_sent(const reading *r, uint32_t slot, ranks_pieces *to)
{
  packet_range all = packets_of(r, slot);
  for (const packet *p = all.begin; p < all.end; p++) {
    const tile *t = &r->group->own[slot]->tiles[p->tile % r->tiles_per_replica];
    add_piece(to, t->memory + (p->address - r->target->memory_base), p->words);
  }
}

/* The rank that sends the slot's packets. */
static uint32_t sender_of(const reading *r, uint32_t slot)
{
  uint32_t receiver = 0;
  while (r->sources[receiver] != slot) receiver++;
  return rank_of(r, r->from[receiver]);
}

/* In the order of the announcements. */
static void list_received(const reading *r, uint32_t slot, ranks_pieces *from)
{
  packet_range all = packets_of(r, slot);
  for (const packet *p = all.begin; p < all.end; p++) add_piece(from, p->data, p->words);
}

pop_error *global_remote_pass(reading *r)
{
  global_messages *messages = messages_of(r);
  r->pieces_to = messages->to;
  r->pieces_from = messages->from;
  uint32_t own = ranks_own(r->group->ranks), num_own = r->group->num_own;
  assert(num_own > 0);
  for (uint32_t i = 0; i < messages->count; i++)
    messages->to[i].count = messages->from[i].count = 0;
  for (uint32_t slot = 0; slot < num_own; slot++)
    if (receiver_of(r, slot) != own) list_sent(r, slot, &messages->to[receiver_of(r, slot)]);
  for (uint32_t slot = num_own; slot < num_own + r->num_remote; slot++)
    list_received(r, slot, &messages->from[sender_of(r, slot)]);
  return ranks_pass(r->group->ranks, "a copy between replicas", messages->to, messages->from);
}
