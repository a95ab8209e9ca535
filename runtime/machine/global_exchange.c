/* The exchange between IPUs and between replicas: what isa.h calls global exchange code.
 *
 * Between IPUs there is one machine, the only replica, which receives from itself. Between replicas
 * each is a machine of its own, and a map says which one receives from which. Replicas of this
 * process have the slots 0 … num_own - 1. Slots behind them are for replicas of other ranks from
 * which these receive; they have only what is sent (global_remote.c). Tiles are counted over all
 * slots.
 *
 * First all code is read and checked. This gives a list of packets that are sent and one of packets
 * that are received. Then each received packet is copied from the tile that sends it. No tile
 * receives a word twice, or both sends and receives it (checked), so the order does not matter.
 * Headers are in writable memory. So between IPUs nothing is kept from one time to the next, and
 * between replicas only together with the headers that were read (global_cache.h).
 *
 * Ranks agree twice: when they announce what they send, and when all of it has been checked. Only
 * then are words passed on, from the memory of tiles to that of tiles. */
#include "global_cache.h"

#include "base/divide.h"
#include "state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static machine *machine_of(const reading *r, uint32_t number)
{
  return r->group->own[number / r->tiles_per_replica];
}

static tile *tile_at(const reading *r, uint32_t number)
{
  return &machine_of(r, number)->tiles[number % r->tiles_per_replica];
}

/* The tile's IPU in its replica. */
static uint32_t ipu_of(const reading *r, uint32_t number)
{
  return number % r->tiles_per_replica / r->target->tiles_per_ipu;
}

static bool refuse(const reading *r, uint32_t number, uint32_t pc, machine_fault_kind kind,
                   const char *detail)
{
  machine *m = machine_of(r, number);
  const tile *t = tile_at(r, number);
  machine_fault fault = superstep_supervisor_fault(m, t, kind, pc);
  snprintf(fault.detail, sizeof fault.detail, "global exchange: %s", detail);
  superstep_fault(m, &fault);
  return false;
}

/* ---- reading ---- */

static bool check_words(const reading *r, const packet *p, bool received)
{
  uint64_t bytes = 4 * (uint64_t)p->words;
  if (p->words == 0)
    return refuse(r, p->tile, p->pc, MACHINE_FAULT_EXCHANGE_CONFIG, "a packet of no words");
  if (p->address % 4 == 0 && bytes <= UINT32_MAX &&
      memory_contains(tile_at(r, p->tile), p->address, (uint32_t)bytes, received, false))
    return true;
  char detail[96];
  snprintf(detail, sizeof detail, "%u words at 0x%x are not %s memory of the tile", p->words,
           p->address, received ? "writable" : "used");
  return refuse(r, p->tile, p->pc, MACHINE_FAULT_INVALID_ADDRESS, detail);
}

static bool goes_to(const packet *p, uint32_t ipu)
{
  return ipu >= p->first_ipu && ipu - p->first_ipu < ISA_GLOBAL_IPUS &&
         (p->ipus >> (ipu - p->first_ipu) & 1);
}

static bool check_sent(const reading *r, const packet *p)
{
  uint32_t num_ipus = r->target->num_ipus, own = ipu_of(r, p->tile);
  bool there = p->ipus && p->first_ipu < num_ipus &&
               (uint32_t)__builtin_clz(p->ipus) + num_ipus >= p->first_ipu + ISA_GLOBAL_IPUS;
  if (there && (r->between_replicas || !goes_to(p, own))) return check_words(r, p, false);
  char detail[112];
  snprintf(detail, sizeof detail,
           "a packet to the IPUs 0x%x of %d from %u on: the tile's own is %u of %u", p->ipus,
           ISA_GLOBAL_IPUS, p->first_ipu, own, num_ipus);
  return refuse(r, p->tile, p->pc, MACHINE_FAULT_EXCHANGE_CONFIG, detail);
}

/* Reads words of the tile's memory that an instruction names. */
static bool read_words(reading *r, uint32_t number, uint32_t pc, uint32_t word, uint32_t *words,
                       uint32_t count)
{
  const tile *t = tile_at(r, number);
  uint32_t address = r->target->memory_base + 4 * isa_imm22(word);
  if (!memory_contains(t, address, 4 * count, false, false))
    return refuse(r, number, pc, MACHINE_FAULT_INVALID_ADDRESS,
                  "a packet header outside of used memory");
  memcpy(words, t->memory + (address - r->target->memory_base), 4 * (size_t)count);
  if (r->between_replicas)
    global_cache_note_read(&r->reads, t, r->target->memory_base, address, 4 * count);
  return true;
}

static bool read_packet(reading *r, uint32_t number, uint32_t pc, uint32_t word, bool received)
{
  uint32_t words[ISA_GLOBAL_HEADER_WORDS];
  if (!read_words(r, number, pc, word, words, ISA_GLOBAL_HEADER_WORDS)) return false;
  packet p = {.tile = number, .pc = pc, .address = words[0], .words = words[1]};
  packet_list *list = received ? &r->received : &r->sent;
  if (received) {
    p.sender = words[2];
    p.number = words[3];
    if (!check_words(r, &p, true)) return false;
  } else {
    p.ipus = words[2];
    p.first_ipu = words[3] < UINT32_MAX / ISA_GLOBAL_IPUS ? ISA_GLOBAL_IPUS * words[3] : UINT32_MAX;
    if (!check_sent(r, &p)) return false;
  }
  pop_push(list->items, list->count, list->capacity, p);
  return true;
}

/* Each replica must send to at most one and receive from at most one. */
static bool is_good_map(const reading *r)
{
  uint32_t total = r->group->total, first = r->group->first;
  bool *receives = pop_xcalloc(total, sizeof *receives), good = true;
  for (uint32_t i = 0; i < total && good; i++) {
    uint32_t to = r->map[i];
    if (to == NO_REPLICA) continue;
    good = to < total && !receives[to];
    if (good) receives[to] = true;
    if (good && to >= first && to - first < r->group->num_own) r->from[to - first] = i;
  }
  free(receives);
  return good;
}

static bool read_map(reading *r, uint32_t number, uint32_t pc, uint32_t word)
{
  uint32_t *map = r->knows_map ? r->other_map : r->map, total = r->group->total;
  if (!read_words(r, number, pc, word, map, total)) return false;
  if (!r->knows_map && !is_good_map(r))
    return refuse(r, number, pc, MACHINE_FAULT_EXCHANGE_CONFIG,
                  "a map that sends two replicas to one, or one to none that there is");
  if (!r->knows_map || memcmp(r->map, map, total * sizeof *map) == 0) return r->knows_map = true;
  return refuse(r, number, pc, MACHINE_FAULT_EXCHANGE_CONFIG, "tiles have different replica maps");
}

static bool read_instruction(reading *r, uint32_t number, uint32_t pc, uint32_t word, bool *has_map)
{
  uint32_t funct3 = word >> 12 & 7;
  bool is_packet = funct3 == ISA_FUNCT3_GLOBAL_SEND || funct3 == ISA_FUNCT3_GLOBAL_RECEIVE;
  bool is_map = r->between_replicas && funct3 == ISA_FUNCT3_REPLICA_MAP;
  if ((word & 0x7f) != ISA_CUSTOM_1 || !(is_packet || is_map || funct3 == ISA_FUNCT3_END))
    return refuse(r, number, pc, MACHINE_FAULT_INVALID_INSTRUCTION,
                  "no global exchange instruction");
  if (is_map) *has_map = true;
  if (is_map) return read_map(r, number, pc, word);
  if (is_packet && !*has_map)
    return refuse(r, number, pc, MACHINE_FAULT_EXCHANGE_CONFIG, "a packet before any replica map");
  return !is_packet || read_packet(r, number, pc, word, funct3 == ISA_FUNCT3_GLOBAL_RECEIVE);
}

static bool read_code(reading *r, uint32_t number)
{
  machine *m = machine_of(r, number);
  const tile *t = tile_at(r, number);
  bool has_map = !r->between_replicas;
  uint32_t pc = m->at.stop_argument[t->number], word = 0;
  for (uint64_t count = 1; word != isa_imm22_word(ISA_FUNCT3_END, 0); pc += 4, count++) {
    if (pc % 4 || !memory_contains(t, pc, 4, false, true))
      return refuse(r, number, pc, MACHINE_FAULT_INVALID_PC,
                    "the code runs out of executable memory");
    word = memory_word(m, t, pc);
    if (r->between_replicas) global_cache_note_read(&r->reads, t, r->target->memory_base, pc, 4);
    if (count > r->sum.instructions) r->sum.instructions = count;
    if (!read_instruction(r, number, pc, word, &has_map)) return false;
  }
  return true;
}

/* The tiles of this process. */
static uint32_t count_tiles(const reading *r)
{
  return r->group->num_own * r->tiles_per_replica;
}

static bool takes_part(const reading *r, uint32_t number)
{
  stop waiting = (stop)machine_of(r, number)->at.waiting[number % r->tiles_per_replica];
  return waiting == (r->between_replicas ? STOP_REPLICA_EXCHANGE : STOP_GLOBAL_EXCHANGE);
}

/* Prefetches a tile's code, which is on a page of its own, while others are read. */
static void expect_code(const reading *r, uint32_t number)
{
  const machine *m = machine_of(r, number);
  uint32_t at = m->at.stop_argument[number % r->tiles_per_replica] - r->target->memory_base;
  if (at < r->target->memory_bytes) __builtin_prefetch(tile_at(r, number)->memory + at);
}

static bool read_tiles(reading *r)
{
  enum { AHEAD = 8 };
  bool good = true;
  uint32_t count = count_tiles(r);
  for (uint32_t i = 0; i < count; i++) {
    if (i + AHEAD < count) expect_code(r, i + AHEAD);
    r->sent.first[i] = r->sent.count;
    r->received.first[i] = r->received.count;
    if (takes_part(r, i)) good = read_code(r, i) && good;
  }
  r->sent.first[count] = r->sent.count;
  r->received.first[count] = r->received.count;
  return good;
}

/* ---- matching ---- */

/* The slot from which the packet comes. */
static uint32_t source_of(const reading *r, const packet *received)
{
  return r->sources[received->tile / r->tiles_per_replica];
}

static packet *find_sent(const reading *r, const packet *received)
{
  if (received->sender >= r->tiles_per_replica) return NULL;
  uint32_t sender = source_of(r, received) * r->tiles_per_replica + received->sender;
  size_t first = r->sent.first[sender], end = r->sent.first[sender + 1];
  return received->number < end - first ? &r->sent.items[first + received->number] : NULL;
}

static bool match(const reading *r, const packet *received)
{
  if (source_of(r, received) == NO_REPLICA) return true;
  const packet *sent = find_sent(r, received);
  uint32_t ipu = ipu_of(r, received->tile);
  if (sent && goes_to(sent, ipu) && sent->words == received->words) return true;
  char detail[128];
  if (!sent)
    snprintf(detail, sizeof detail, "receive of packet %u of tile %u, which does not send it",
             received->number, received->sender);
  else if (sent->words != received->words)
    snprintf(detail, sizeof detail, "receive of %u words of packet %u of tile %u, which has %u",
             received->words, received->number, received->sender, sent->words);
  else
    snprintf(detail, sizeof detail, "receive of packet %u of tile %u, which does not go to IPU %u",
             received->number, received->sender, ipu);
  return refuse(r, received->tile, received->pc, MACHINE_FAULT_EXCHANGE_ERROR, detail);
}

static int compare_spans(const void *a, const void *b)
{
  const span *x = a, *y = b;
  return (x->begin > y->begin) - (x->begin < y->begin);
}

/* Adds the tile's packets of a list as spans. Returns their words. */
static uint64_t add_spans(reading *r, const packet_list *list, uint32_t number, bool received)
{
  uint64_t words = 0;
  for (size_t i = list->first[number]; i < list->first[number + 1]; i++) {
    const packet *p = &list->items[i];
    pop_push(r->spans, r->num_spans, r->spans_capacity,
             (span){p->address, p->address + 4 * p->words, received, p});
    words += p->words;
  }
  return words;
}

/* Received words must overlap nothing else. The spans are sorted by their start. Each is compared
 * with the furthest end of the spans before it: of all of them if it is received, else of the
 * received ones. */
static bool check_overlaps(reading *r, uint32_t number)
{
  uint32_t replica = number / r->tiles_per_replica;
  r->num_spans = 0;
  uint64_t sent = add_spans(r, &r->sent, number, false);
  uint64_t received = add_spans(r, &r->received, number, true);
  if (r->map[r->group->first + replica] != NO_REPLICA && sent > r->sum.words) r->sum.words = sent;
  if (r->sources[replica] != NO_REPLICA && received > r->sum.words) r->sum.words = received;
  if (received == 0) return true;
  qsort(r->spans, r->num_spans, sizeof *r->spans, compare_spans);
  uint32_t reached = 0, reached_received = 0;
  for (size_t i = 0; i < r->num_spans; i++) {
    const span *s = &r->spans[i];
    if (s->begin < (s->received ? reached : reached_received)) {
      char detail[96];
      snprintf(detail, sizeof detail, "the word at 0x%x is received and sent, or received twice",
               s->begin);
      return refuse(r, number, s->of->pc, MACHINE_FAULT_EXCHANGE_CONFIG, detail);
    }
    if (s->end > reached) reached = s->end;
    if (s->received && s->end > reached_received) reached_received = s->end;
  }
  return true;
}

static bool match_tile(const reading *r, uint32_t number)
{
  for (size_t j = r->received.first[number]; j < r->received.first[number + 1]; j++)
    if (!match(r, &r->received.items[j])) return false;
  return true;
}

static bool check_all(reading *r)
{
  bool good = true;
  for (uint32_t i = 0; i < count_tiles(r); i++) {
    good = match_tile(r, i) && good;
    good = check_overlaps(r, i) && good;
  }
  return good;
}

/* ---- running ---- */

static const uint8_t *data_of(const reading *r, const packet *sent)
{
  if (sent->data) return sent->data;
  return tile_at(r, sent->tile)->memory + (sent->address - r->target->memory_base);
}

static uint8_t *place_of(const reading *r, const packet *received)
{
  return tile_at(r, received->tile)->memory + (received->address - r->target->memory_base);
}

/* A packet of another rank goes to the first tile that receives it. */
static pop_error *place_remote(reading *r)
{
  for (size_t i = 0; i < r->received.count; i++) {
    const packet *to = &r->received.items[i];
    uint32_t slot = source_of(r, to);
    if (slot == NO_REPLICA || slot < r->group->num_own) continue;
    packet *from = find_sent(r, to);
    if (!from->data) from->data = place_of(r, to);
  }
  return global_remote_place(r);
}

bool global_exchange_get_move(reading *r, size_t received, uint8_t **to, const uint8_t **from,
                              size_t *bytes)
{
  const packet *p = &r->received.items[received];
  if (source_of(r, p) == NO_REPLICA) return false;
  *to = place_of(r, p);
  *from = data_of(r, find_sent(r, p));
  *bytes = 4 * (size_t)p->words;
  return true;
}

static void move_packets(reading *r)
{
  uint8_t *to;
  const uint8_t *from;
  size_t bytes;
  for (size_t i = 0; i < r->received.count; i++)
    if (global_exchange_get_move(r, i, &to, &from, &bytes) && to != from) memcpy(to, from, bytes);
}

static uint64_t packet_bytes(const packet *p)
{
  return 4 * ((uint64_t)p->words + ISA_GLOBAL_HEADER_WORDS);
}

/* The link domain of an IPU: IPUs that are linked without gateways, counted over all replicas. */
static uint32_t domain_of(const reading *r, uint32_t replica, uint32_t ipu)
{
  return (replica * r->target->num_ipus + ipu) / r->target->link_domain_ipus;
}

/* Counts a packet that an IPU of the replica `from` sends to IPUs of `to`: by IPU the bytes that
 * leave it, or that come to each. */
static void count_packet(const reading *r, const packet *p, uint32_t from, uint32_t to,
                         bool received, ipu_bytes *of)
{
  uint32_t sender = p->tile / r->target->tiles_per_ipu % r->target->num_ipus;
  for (uint32_t left = p->ipus; left; left &= left - 1) {
    uint32_t receiver = p->first_ipu + (uint32_t)__builtin_ctz(left);
    ipu_bytes *counted = &of[received ? receiver : sender];
    counted->all += packet_bytes(p);
    if (domain_of(r, from, sender) != domain_of(r, to, receiver))
      counted->gateway += packet_bytes(p);
  }
}

typedef struct packet_range {
  size_t begin, end;
} packet_range;

/* The packets that a replica of this process sends. */
static packet_range sent_by(const reading *r, uint32_t slot)
{
  size_t first = slot * (size_t)r->tiles_per_replica, end = first + r->tiles_per_replica;
  if (r->map[r->group->first + slot] == NO_REPLICA) return (packet_range){0, 0};
  return (packet_range){r->sent.first[first], r->sent.first[end]};
}

uint64_t global_exchange_count_sent(const reading *r, uint32_t slot)
{
  uint64_t bytes = 0;
  packet_range all = sent_by(r, slot);
  for (size_t i = all.begin; i < all.end; i++) {
    const packet *p = &r->sent.items[i];
    bytes += (uint64_t)__builtin_popcount(p->ipus) * 4 * p->words;
  }
  return bytes;
}

/* Counts what the replica in the slot sends through the links of its IPUs. */
static void count_sent(reading *r, uint32_t slot)
{
  uint32_t replica = r->group->first + slot;
  packet_range all = sent_by(r, slot);
  for (size_t i = all.begin; i < all.end; i++) {
    count_packet(r, &r->sent.items[i], replica, r->map[replica], false,
                 &r->from_ipu[slot * r->target->num_ipus]);
    r->sum.packets = true;
  }
  r->group->own[slot]->global_bytes += global_exchange_count_sent(r, slot);
}

/* Counts what the replica in the slot receives. */
static void count_received(reading *r, uint32_t slot)
{
  if (r->sources[slot] == NO_REPLICA) return;
  size_t first = r->sources[slot] * (size_t)r->tiles_per_replica;
  for (size_t i = r->sent.first[first]; i < r->sent.first[first + r->tiles_per_replica]; i++)
    count_packet(r, &r->sent.items[i], r->from[slot], r->group->first + slot, true,
                 &r->to_ipu[slot * r->target->num_ipus]);
}

static void count_most(reading *r, const ipu_bytes *of)
{
  if (of->all > r->sum.link_bytes) r->sum.link_bytes = of->all;
  if (of->gateway > r->sum.gateway_bytes) r->sum.gateway_bytes = of->gateway;
}

static void count_links(reading *r)
{
  for (uint32_t slot = 0; slot < r->group->num_own; slot++) {
    count_sent(r, slot);
    count_received(r, slot);
  }
  for (uint32_t i = 0; i < r->group->num_own * r->target->num_ipus; i++) {
    count_most(r, &r->from_ipu[i]);
    count_most(r, &r->to_ipu[i]);
  }
}

static uint64_t duration(const reading *r)
{
  const pop_target *target = r->target;
  if (!r->sum.packets) return r->sum.instructions;
  uint64_t longest = divide_up(4 * r->sum.words, target->exchange_bytes_per_cycle);
  uint64_t links = divide_up(r->sum.link_bytes, target->global_bytes_per_cycle);
  uint64_t gateways = divide_up(r->sum.gateway_bytes, target->gateway_bytes_per_cycle);
  if (links > longest) longest = links;
  if (gateways > longest) longest = gateways;
  return r->sum.instructions + longest +
         (gateways ? target->gateway_latency_cycles : target->global_latency_cycles);
}

static uint64_t received_bytes(const reading *r, uint32_t number)
{
  uint64_t bytes = 0;
  if (r->sources[number / r->tiles_per_replica] == NO_REPLICA) return 0;
  for (size_t j = r->received.first[number]; j < r->received.first[number + 1]; j++)
    bytes += 4 * (uint64_t)r->received.items[j].words;
  return bytes;
}

void global_exchange_take_time(machine *m, uint32_t number, uint64_t cycles,
                               uint64_t received_bytes)
{
  uint64_t from = m->at.clocks[number];
  m->at.clocks[number] = from + cycles;
  m->exchanged_bytes += received_bytes;
  superstep_trace(m, MACHINE_TRACE_GLOBAL_EXCHANGE, number, m->at.stop_argument[number], from,
                  from + cycles, received_bytes);
}

static void take_time(const reading *r, uint64_t cycles)
{
  for (uint32_t i = 0; i < count_tiles(r); i++)
    if (takes_part(r, i))
      global_exchange_take_time(machine_of(r, i), i % r->tiles_per_replica, cycles,
                                received_bytes(r, i));
}

static reading begin_reading(const machine_group *group)
{
  const machine *first = group->own[0];
  const pop_target *target = &first->target;
  size_t slots = 2 * (size_t)group->num_own; /* each may have a source on another rank */
  size_t ipus = (size_t)group->num_own * target->num_ipus, tiles = slots * first->num_tiles;
  reading r = {.group = group,
               .target = target,
               .tiles_per_replica = first->num_tiles,
               .between_replicas = group->ranks != NULL,
               .map = pop_xcalloc(group->total, sizeof *r.map), /* alone: 0 to 0 */
               .other_map = pop_xcalloc(group->total, sizeof *r.other_map),
               .from = pop_xcalloc(group->num_own, sizeof *r.from),
               .sources = pop_xcalloc(group->num_own, sizeof *r.sources),
               .sent.first = pop_xcalloc(tiles + 1, sizeof *r.sent.first),
               .received.first = pop_xcalloc(tiles + 1, sizeof *r.received.first),
               .from_ipu = pop_xcalloc(ipus, sizeof *r.from_ipu),
               .to_ipu = pop_xcalloc(ipus, sizeof *r.to_ipu)};
  if (!r.between_replicas) return r;
  for (uint32_t i = 0; i < group->total; i++) r.map[i] = NO_REPLICA;
  for (uint32_t i = 0; i < group->num_own; i++) r.from[i] = r.sources[i] = NO_REPLICA;
  return r;
}

static void end_reading(reading *r)
{
  void *const arrays[] = {
      r->map,        r->other_map, r->sources,        r->from,     r->sent.items, r->received.items,
      r->sent.first, r->spans,     r->received.first, r->from_ipu, r->to_ipu};
  for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) free(arrays[i]);
  global_cache_free_reads(&r->reads);
}

/* One machine alone: no ranks have to agree. */
void global_exchange_run(machine *m)
{
  const machine_group alone = {.own = &m, .num_own = 1, .total = 1};
  reading r = begin_reading(&alone);
  if (read_tiles(&r) && check_all(&r)) {
    count_links(&r);
    move_packets(&r);
    take_time(&r, duration(&r));
  }
  end_reading(&r);
}

/* The first fault of this process as an error. */
static pop_error *find_fault(const machine_group *group, uint32_t *faulted)
{
  for (*faulted = 0; *faulted < group->num_own; ++*faulted)
    if (group->own[*faulted]->fault.kind != MACHINE_FAULT_NONE)
      return superstep_error(group->own[*faulted]);
  return NULL;
}

static pop_error *exchange(reading *r, uint32_t *faulted)
{
  read_tiles(r);
  POP_TRY(global_remote_announce(r, find_fault(r->group, faulted)));
  pop_error *error = global_remote_read(r);
  if (!error && check_all(r)) {
    count_links(r);
    error = place_remote(r);
  }
  POP_TRY(global_remote_agree(r, error ? error : find_fault(r->group, faulted)));
  POP_TRY(global_remote_pass(r));
  move_packets(r);
  take_time(r, duration(r));
  global_cache_add(r, duration(r));
  return NULL;
}

pop_error *machine_sync_replicas(const machine_group *group, uint32_t *faulted)
{
  superstep_release_replicas(group);
  reading r = begin_reading(group);
  pop_error *error = exchange(&r, faulted);
  end_reading(&r);
  return error;
}
