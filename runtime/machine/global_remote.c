/* The exchange between replicas that are on different ranks: what a replica sends to one of another rank goes there in
 * one message: how many packets; for each tile, words, and IPUs that it goes to; then the words of all. There it
 * stands in a slot behind those of the rank's own replicas. */
#include "global_exchange.h"

#include "state.h"
#include <stdlib.h>
#include <string.h>

typedef struct remote_header {
  uint32_t replica; /* that sends */
  uint32_t num_packets;
} remote_header;

typedef struct remote_packet {
  uint32_t tile, words; /* the tile's number in the replica */
  uint64_t ipus;
} remote_packet;

static uint32_t rank_of(const reading *r, uint32_t replica)
{
  return replica / r->group->num_own;
}

static bool is_own(const reading *r, uint32_t replica)
{
  return rank_of(r, replica) == ranks_own(r->group->ranks);
}

/* ---- what is sent ---- */

static void append(ranks_part *to, const void *bytes, size_t count)
{
  memcpy(to->data + to->bytes, bytes, count);
  to->bytes += count;
}

/* The replica's packets, behind what the message has already. */
static void write_replica(const reading *r, uint32_t slot, ranks_part *to)
{
  const machine *m = r->group->own[slot];
  size_t tiles = r->tiles_per_replica, begin = r->sent.first[slot * tiles];
  size_t end = r->sent.first[(slot + 1) * tiles], bytes = sizeof(remote_header);
  for (size_t i = begin; i < end; i++)
    bytes += sizeof(remote_packet) + 4 * (size_t)r->sent.items[i].words;
  to->data = pop_xrealloc(to->data, to->bytes + bytes, 1);
  remote_header header = {r->group->first + slot, (uint32_t)(end - begin)};
  append(to, &header, sizeof header);
  for (size_t i = begin; i < end; i++) {
    const packet *p = &r->sent.items[i];
    remote_packet written = {p->tile % r->tiles_per_replica, p->words, p->ipus};
    append(to, &written, sizeof written);
  }
  for (size_t i = begin; i < end; i++) {
    const packet *p = &r->sent.items[i];
    const tile *t = &m->tiles[p->tile % r->tiles_per_replica];
    append(to, t->memory + (p->address - r->target->memory_base), 4 * (size_t)p->words);
  }
}

static void write_messages(const reading *r, ranks_part *messages)
{
  for (uint32_t slot = 0; slot < r->group->num_own; slot++) {
    uint32_t to = r->map[r->group->first + slot];
    if (to != NO_REPLICA && !is_own(r, to)) write_replica(r, slot, &messages[rank_of(r, to)]);
  }
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
  size_t first = r->sent.count, tile = slot * (size_t)r->tiles_per_replica;
  size_t end = tile + r->tiles_per_replica;
  for (uint32_t i = 0; i < count; i++) {
    remote_packet read;
    if (!take(left, &read, sizeof read) || read.tile >= r->tiles_per_replica) return false;
    packet p = {
        .tile = slot * r->tiles_per_replica + read.tile, .words = read.words, .ipus = read.ipus};
    while (tile <= p.tile) r->sent.first[tile++] = r->sent.count;
    pop_push(r->sent.items, r->sent.count, r->sent.capacity, p);
  }
  while (tile <= end) r->sent.first[tile++] = r->sent.count;
  for (size_t i = first; i < r->sent.count; i++) {
    packet *p = &r->sent.items[i];
    size_t bytes = 4 * (size_t)p->words;
    if (bytes > left->bytes) return false;
    p->data = left->data;
    left->data += bytes;
    left->bytes -= bytes;
  }
  return true;
}

/* Its packets are behind those of the slots before. */
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
    ranks_part left = r->messages[i];
    while (left.bytes && good) good = read_replica(r, &left);
  }
  if (good && is_complete(r)) return NULL;
  return pop_error_new(POP_ERROR_RUNTIME,
                       "what another instance sends for a copy between replicas is not what this "
                       "one expects: their tiles have different replica maps");
}

void global_remote_free(reading *r)
{
  for (uint32_t i = 0; r->messages && i < ranks_count(r->group->ranks); i++)
    free(r->messages[i].data);
  free(r->messages);
}

pop_error *global_remote_send(reading *r, pop_error *own)
{
  uint32_t count = ranks_count(r->group->ranks);
  ranks_part *sent = pop_xcalloc(count, sizeof *sent);
  r->messages = pop_xcalloc(count, sizeof *r->messages);
  if (!own) write_messages(r, sent);
  pop_error *error =
      ranks_exchange(r->group->ranks, "a copy between replicas", own, sent, r->messages);
  for (uint32_t i = 0; i < count; i++) free(sent[i].data);
  free(sent);
  return error;
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
    r->sum.packets |= all[i].packets;
  }
  free(all);
  return error;
}
