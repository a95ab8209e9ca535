/* Exchanges between IPUs, and between replicas. Each message is a packet, sent once and received by
 * all tiles that want it. A message to many IPUs is several packets.
 *
 * No cycles are planned here: packets find their way by themselves. A tile's code sends its packets
 * in the order of the messages. Then it names the packets that it receives, by sending tile and
 * number. A packet header (isa/isa.h) says which words are sent, or where received words go. The
 * headers of a tile are in one block that the compiler makes, or in a variable of the program whose
 * vertices write them. */
#include "compiler/exchange/exchange.h"

#include "base/order.h"
#include "isa/isa.h"
#include <assert.h>
#include <stdlib.h>

enum { WORD = 4, HEADER_BYTES = WORD * ISA_GLOBAL_HEADER_WORDS, RECEIVES = 1 };
enum { MOST_GROUPS = (POP_TARGET_MAX_IPUS + ISA_GLOBAL_IPUS - 1) / ISA_GLOBAL_IPUS };

/* One end of a message, on one tile. */
typedef struct packet_end {
  uint32_t tile;
  uint32_t kind; /* EXCHANGE_GLOBAL_SEND, EXCHANGE_GLOBAL_RECEIVE */
  place at;
  uint32_t words;
  uint32_t more[2]; /* the header's last two words */
} packet_end;

typedef struct packet_ends {
  packet_end *items;
  size_t count, capacity;
} packet_ends;

static uint32_t ipu_of(const compilation *c, const receiver *r)
{
  return r->tile / c->target.tiles_per_ipu;
}

/* Adds the sent packets of a message: one for each group of ISA_GLOBAL_IPUS IPUs that has a
 * receiver. numbers[i]: number of the packet for group i. */
static void add_packets(const compilation *c, const message *m, uint32_t *num_sent,
                        uint32_t *numbers, packet_ends *ends)
{
  uint32_t ipus[MOST_GROUPS] = {0};
  for (uint32_t i = 0; i < m->num_receivers; i++) {
    uint32_t ipu = ipu_of(c, &c->receivers[m->first_receiver + i]);
    ipus[ipu / ISA_GLOBAL_IPUS] |= (uint32_t)1 << ipu % ISA_GLOBAL_IPUS;
  }
  for (uint32_t group = 0; group < MOST_GROUPS; group++) {
    if (!ipus[group]) continue;
    packet_end sent = {
        m->source_tile, EXCHANGE_GLOBAL_SEND, m->source, m->num_words, {ipus[group], group}};
    numbers[group] = num_sent[m->source_tile]++;
    pop_push(ends->items, ends->count, ends->capacity, sent);
  }
}

/* Both ends of all messages. `num_sent`: the number of packets that each tile sends. */
static void collect_ends(const compilation *c, const exchange *x, uint32_t *num_sent,
                         packet_ends *ends)
{
  uint32_t numbers[MOST_GROUPS];
  for (size_t i = 0; i < x->num_messages; i++) {
    const message *m = &c->messages[x->first_message + i];
    add_packets(c, m, num_sent, numbers, ends);
    for (uint32_t j = 0; j < m->num_receivers; j++) {
      const receiver *r = &c->receivers[m->first_receiver + j];
      uint32_t number = numbers[ipu_of(c, r) / ISA_GLOBAL_IPUS];
      packet_end received = {
          r->tile, EXCHANGE_GLOBAL_RECEIVE, r->destination, m->num_words, {m->source_tile, number}};
      pop_push(ends->items, ends->count, ends->capacity, received);
    }
  }
}

static void store_word(uint8_t *at, uint32_t word)
{
  for (int i = 0; i < WORD; i++) at[i] = (uint8_t)(word >> (8 * i));
}

static uint32_t add_headers(compilation *c, const packet_ends *ends, const keyed *order,
                            size_t count, const char *name)
{
  uint32_t size = (uint32_t)count * HEADER_BYTES;
  block b = {.tile = ends->items[order[0].index].tile,
             .size = size,
             .align = WORD,
             .category = POP_MEMORY_GLOBAL_EXCHANGE_PACKET_HEADER,
             .flags = BLOCK_ALWAYS_LIVE | BLOCK_TABLE,
             .name = name,
             .content = begin_content(c, size)};
  uint8_t *bytes = c->bytes + c->contents[b.content].first_byte;
  for (size_t i = 0; i < count; i++, bytes += HEADER_BYTES) {
    const packet_end *end = &ends->items[order[i].index];
    store_word(bytes + WORD, end->words);
    store_word(bytes + 2 * WORD, end->more[0]);
    store_word(bytes + 3 * WORD, end->more[1]);
  }
  for (size_t i = 0; i < count; i++)
    add_fixup(c, b.content, (uint32_t)i * HEADER_BYTES, ends->items[order[i].index].at);
  return add_block(c, &b);
}

/* Adds the map from each replica to the one that it sends to, for a tile's code. */
static uint32_t add_replica_map(compilation *c, uint32_t tile, const exchange *x)
{
  uint32_t size = c->num_replicas * WORD;
  block b = {.tile = tile,
             .size = size,
             .align = WORD,
             .category = POP_MEMORY_GLOBAL_EXCHANGE_PACKET_HEADER,
             .flags = BLOCK_ALWAYS_LIVE | BLOCK_TABLE,
             .name = x->name,
             .content = begin_content(c, size)};
  uint8_t *bytes = c->bytes + c->contents[b.content].first_byte;
  for (uint32_t i = 0; i < c->num_replicas; i++) store_word(bytes + i * WORD, x->replica_map[i]);
  return add_block(c, &b);
}

/* The program's own headers on a tile. The tile must have some. */
static place find_headers(const exchange *x, uint32_t tile)
{
  size_t low = 0, high = x->num_headers;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (x->headers[middle].tile < tile)
      low = middle + 1;
    else
      high = middle;
  }
  assert(low < x->num_headers && x->headers[low].tile == tile);
  return x->headers[low].at;
}

static void push_op(compilation *c, exchange_op op)
{
  pop_push(c->exchange_ops, c->num_exchange_ops, c->exchange_ops_capacity, op);
}

/* Writes the code of one tile. Its packet ends are order[0 … count - 1]. */
static void write_tile(compilation *c, const packet_ends *ends, const keyed *order, size_t count,
                       const exchange *x)
{
  uint32_t tile = ends->items[order[0].index].tile;
  assert(!x->headers || count == 2); /* one packet sent, one received */
  place headers =
      x->headers ? find_headers(x, tile) : (place){add_headers(c, ends, order, count, x->name), 0};
  tile_exchange written = {.tile = tile, .first_op = c->num_exchange_ops};
  if (x->zone == EXCHANGE_BETWEEN_REPLICAS) {
    place map = {add_replica_map(c, written.tile, x), 0};
    push_op(c, (exchange_op){.kind = EXCHANGE_REPLICA_MAP, .at = map});
  }
  for (size_t i = 0; i < count; i++) {
    const packet_end *end = &ends->items[order[i].index];
    push_op(c, (exchange_op){.kind = end->kind,
                             .at = {headers.block, headers.offset + (uint32_t)i * HEADER_BYTES}});
    if (end->kind == EXCHANGE_GLOBAL_SEND)
      written.bytes_sent += (uint64_t)end->words * WORD;
    else
      written.bytes_received += (uint64_t)end->words * WORD;
  }
  push_op(c, (exchange_op){.kind = EXCHANGE_END});
  written.num_ops = written.cycles = (uint32_t)(c->num_exchange_ops - written.first_op);
  pop_push(c->tile_exchanges, c->num_tile_exchanges, c->tile_exchanges_capacity, written);
}

/* ---- links and gateways ---- */

/* Bytes, with headers, that an IPU sends to an IPU of the receiving replica. */
typedef struct ipu_traffic {
  uint32_t from, to;
  uint64_t bytes;
} ipu_traffic;

typedef struct traffic_list {
  ipu_traffic *items;
  size_t count, capacity;
} traffic_list;

/* One entry for each pair of sender and receiver, in ascending order. */
static void collect_traffic(const compilation *c, const packet_ends *ends, traffic_list *traffic)
{
  struct {
    keyed *items;
    size_t count, capacity;
  } order = {0};
  for (size_t i = 0; i < ends->count; i++) {
    const packet_end *end = &ends->items[i];
    if (end->kind != EXCHANGE_GLOBAL_SEND) continue;
    uint64_t from = end->tile / c->target.tiles_per_ipu;
    for (uint32_t left = end->more[0]; left; left &= left - 1) {
      uint32_t to = end->more[1] * ISA_GLOBAL_IPUS + (uint32_t)__builtin_ctz(left);
      keyed next = {from << 32 | to, (uint32_t)i};
      pop_push(order.items, order.count, order.capacity, next);
    }
  }
  sort_keyed(order.items, order.count);
  for (size_t i = 0; i < order.count; i++) {
    uint64_t key = order.items[i].key;
    ipu_traffic next = {(uint32_t)(key >> 32), (uint32_t)key, 0};
    if (i == 0 || key != order.items[i - 1].key)
      pop_push(traffic->items, traffic->count, traffic->capacity, next);
    traffic->items[traffic->count - 1].bytes +=
        WORD * ((uint64_t)ends->items[order.items[i].index].words + ISA_GLOBAL_HEADER_WORDS);
  }
  free(order.items);
}

/* The same as in machine/global_exchange.c. */
static uint32_t domain_of(const compilation *c, uint32_t replica, uint32_t ipu)
{
  return (replica * c->target.num_ipus + ipu) / c->target.link_domain_ipus;
}

/* Replica `from` sends to replica `to`: the most bytes that one IPU sends or receives. `gateways`:
 * only what goes through gateways. */
static uint64_t most_of_an_ipu(const compilation *c, const traffic_list *traffic, uint32_t from,
                               uint32_t to, bool gateways)
{
  uint64_t sent[POP_TARGET_MAX_IPUS], received[POP_TARGET_MAX_IPUS], most = 0;
  for (uint32_t i = 0; i < c->target.num_ipus; i++) sent[i] = received[i] = 0;
  for (size_t i = 0; i < traffic->count; i++) {
    const ipu_traffic *t = &traffic->items[i];
    if (gateways && domain_of(c, from, t->from) == domain_of(c, to, t->to)) continue;
    sent[t->from] += t->bytes;
    received[t->to] += t->bytes;
    if (sent[t->from] > most) most = sent[t->from];
    if (received[t->to] > most) most = received[t->to];
  }
  return most;
}

/* Link traffic is the same for all replicas. Gateway traffic depends on where a replica is
 * placed. */
static void count_links(const compilation *c, exchange *x, const packet_ends *ends)
{
  static const uint32_t alone[] = {0}; /* a replica's IPUs, to themselves */
  bool between_replicas = x->zone == EXCHANGE_BETWEEN_REPLICAS;
  const uint32_t *map = between_replicas ? x->replica_map : alone;
  uint32_t num_replicas = between_replicas ? c->num_replicas : 1;
  traffic_list traffic = {0};
  collect_traffic(c, ends, &traffic);
  for (uint32_t from = 0; from < num_replicas; from++) {
    if (map[from] == COMPILER_NONE) continue;
    if (!x->link_bytes) x->link_bytes = most_of_an_ipu(c, &traffic, from, map[from], false);
    uint64_t bytes = most_of_an_ipu(c, &traffic, from, map[from], true);
    if (bytes > x->gateway_bytes) x->gateway_bytes = bytes;
  }
  free(traffic.items);
}

void plan_global_exchange(compilation *c, exchange *x)
{
  packet_ends ends = {0};
  uint32_t *num_sent = pop_xcalloc(pop_target_num_tiles(&c->target), sizeof *num_sent);
  collect_ends(c, x, num_sent, &ends);
  free(num_sent);
  count_links(c, x, &ends);
  keyed *order = pop_xrealloc(NULL, ends.count + 1, sizeof *order);
  for (size_t i = 0; i < ends.count; i++) {
    uint64_t tile = ends.items[i].tile;
    bool receives = ends.items[i].kind == EXCHANGE_GLOBAL_RECEIVE;
    order[i] = (keyed){tile << RECEIVES | receives, (uint32_t)i};
  }
  sort_keyed(order, ends.count);
  x->first_tile = c->num_tile_exchanges;
  for (size_t first = 0, end; first < ends.count; first = end) {
    uint64_t tile = order[first].key >> RECEIVES;
    for (end = first; end < ends.count && order[end].key >> RECEIVES == tile;) end++;
    write_tile(c, &ends, order + first, end - first, x);
  }
  x->num_tiles = c->num_tile_exchanges - x->first_tile;
  free(order);
  free(ends.items);
}
