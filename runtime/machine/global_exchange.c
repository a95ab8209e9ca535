/* The exchange between IPUs and between replicas: what isa.h calls global exchange code.
 *
 * Between IPUs there is one machine, the only replica, which receives from itself. Between replicas each is
 * a machine of its own, and a map says which receives from which. Tiles are counted over all replicas here.
 *
 * All code is read and checked first, into a list of packets that are sent and one of packets that are
 * received; then each that is received is copied from the tile that sends it. No tile receives a word
 * twice or both sends and receives it (checked), so that the order does not matter. Headers are in memory
 * that may be written: nothing is kept from one time to the next.
 */
#include "state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NO_REPLICA UINT32_MAX

typedef struct packet {
  uint32_t tile, pc;
  uint32_t address, words;
  uint64_t ipus;           /* sent: a bit for each IPU of the replica that it goes to */
  uint32_t sender, number; /* received: which packet of which tile in the replica that sends */
} packet;

typedef struct packet_list {
  packet *items; /* by tile, in the order of its code */
  size_t count, capacity;
  size_t *first; /* by tile; one more at the end */
} packet_list;

/* Words of a tile that a packet is sent from, or received in. */
typedef struct span {
  uint32_t begin, end; /* addresses */
  bool received;
  const packet *of;
} span;

typedef struct reading {
  machine *const *replicas;
  uint32_t num_replicas;
  const pop_target *target; /* of a replica */
  uint32_t tiles_per_replica;
  bool between_replicas;
  bool knows_map;
  uint32_t *map;     /* by replica: where its packets go, or NO_REPLICA */
  uint32_t *sources; /* by replica: where what it receives comes from, or NO_REPLICA */
  packet_list sent, received;
  span *spans; /* of the current tile */
  size_t num_spans, spans_capacity;
  uint64_t instructions;                   /* of the tile with most of them */
  uint64_t *bytes_from_ipu, *bytes_to_ipu; /* by IPU of all replicas, with headers */
  uint64_t most_words;                     /* that one tile sends or receives */
} reading;

static machine *machine_of(const reading *r, uint32_t number)
{
  return r->replicas[number / r->tiles_per_replica];
}

static tile *tile_at(const reading *r, uint32_t number)
{
  return &machine_of(r, number)->tiles[number % r->tiles_per_replica];
}

/* Its number in the replica. */
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

static bool check_sent(const reading *r, const packet *p)
{
  uint32_t num_ipus = r->target->num_ipus;
  uint64_t own = r->between_replicas ? 0 : (uint64_t)1 << ipu_of(r, p->tile);
  uint64_t all = num_ipus == 64 ? UINT64_MAX : ((uint64_t)1 << num_ipus) - 1;
  if (p->ipus && !(p->ipus & own) && !(p->ipus & ~all)) return check_words(r, p, false);
  char detail[96];
  snprintf(detail, sizeof detail, "a packet to the IPUs 0x%llx: own 0x%llx, all 0x%llx",
           (unsigned long long)p->ipus, (unsigned long long)own, (unsigned long long)all);
  return refuse(r, p->tile, p->pc, MACHINE_FAULT_EXCHANGE_CONFIG, detail);
}

/* Words of the tile's memory that an instruction names. */
static bool read_words(const reading *r, uint32_t number, uint32_t pc, uint32_t word,
                       uint32_t *words, uint32_t count)
{
  machine *m = machine_of(r, number);
  const tile *t = tile_at(r, number);
  uint32_t address = r->target->memory_base + 4 * isa_imm22(word);
  if (!memory_contains(t, address, 4 * count, false, false))
    return refuse(r, number, pc, MACHINE_FAULT_INVALID_ADDRESS,
                  "a packet header outside of used memory");
  for (uint32_t i = 0; i < count; i++) words[i] = memory_word(m, t, address + 4 * i);
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
    p.ipus = words[2] | (uint64_t)words[3] << 32;
    if (!check_sent(r, &p)) return false;
  }
  pop_push(list->items, list->count, list->capacity, p);
  return true;
}

/* Each replica sends to one and receives from one, or not at all. */
static bool is_good_map(const reading *r, uint32_t *sources, const uint32_t *map)
{
  for (uint32_t i = 0; i < r->num_replicas; i++) sources[i] = NO_REPLICA;
  for (uint32_t i = 0; i < r->num_replicas; i++) {
    if (map[i] == NO_REPLICA) continue;
    if (map[i] >= r->num_replicas || sources[map[i]] != NO_REPLICA) return false;
    sources[map[i]] = i;
  }
  return true;
}

static bool read_map(reading *r, uint32_t number, uint32_t pc, uint32_t word)
{
  uint32_t map[64];
  if (!read_words(r, number, pc, word, map, r->num_replicas)) return false;
  if (!r->knows_map) {
    if (!is_good_map(r, r->sources, map))
      return refuse(r, number, pc, MACHINE_FAULT_EXCHANGE_CONFIG,
                    "a map that sends two replicas to one, or one to none that there is");
    memcpy(r->map, map, r->num_replicas * sizeof *map);
    r->knows_map = true;
  }
  if (memcmp(r->map, map, r->num_replicas * sizeof *map) == 0) return true;
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
  uint32_t pc = m->at.asked[t->number], word = 0;
  for (uint64_t count = 1; word != isa_imm22_word(ISA_FUNCT3_END, 0); pc += 4, count++) {
    if (pc % 4 || !memory_contains(t, pc, 4, false, true))
      return refuse(r, number, pc, MACHINE_FAULT_INVALID_PC,
                    "the code runs out of executable memory");
    word = memory_word(m, t, pc);
    if (count > r->instructions) r->instructions = count;
    if (!read_instruction(r, number, pc, word, &has_map)) return false;
  }
  return true;
}

static uint32_t count_tiles(const reading *r)
{
  return r->num_replicas * r->tiles_per_replica;
}

static bool takes_part(const reading *r, uint32_t number)
{
  stop waiting = (stop)machine_of(r, number)->at.waiting[number % r->tiles_per_replica];
  return waiting == (r->between_replicas ? STOP_REPLICA_EXCHANGE : STOP_GLOBAL_EXCHANGE);
}

static bool read_tiles(reading *r)
{
  bool good = true;
  uint32_t count = count_tiles(r);
  for (uint32_t i = 0; i < count; i++) {
    r->sent.first[i] = r->sent.count;
    r->received.first[i] = r->received.count;
    if (takes_part(r, i)) good = read_code(r, i) && good;
  }
  r->sent.first[count] = r->sent.count;
  r->received.first[count] = r->received.count;
  return good;
}

/* ---- matching ---- */

static uint32_t source_of(const reading *r, const packet *received)
{
  return r->sources[received->tile / r->tiles_per_replica];
}

static const packet *find_sent(const reading *r, const packet *received)
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
  if (sent && (sent->ipus >> ipu & 1) && sent->words == received->words) return true;
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

/* The tile's packets of a list as spans; how many words they are. */
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

/* What is received overlaps nothing else. Sorted by where they begin, spans are compared with the one
 * before that reaches furthest, of all and of those received. */
static bool check_overlaps(reading *r, uint32_t number)
{
  uint32_t replica = number / r->tiles_per_replica;
  r->num_spans = 0;
  uint64_t sent = add_spans(r, &r->sent, number, false);
  uint64_t received = add_spans(r, &r->received, number, true);
  if (r->map[replica] != NO_REPLICA && sent > r->most_words) r->most_words = sent;
  if (r->sources[replica] != NO_REPLICA && received > r->most_words) r->most_words = received;
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

static void move_packets(const reading *r)
{
  uint32_t base = r->target->memory_base;
  for (size_t i = 0; i < r->received.count; i++) {
    const packet *to = &r->received.items[i];
    if (source_of(r, to) == NO_REPLICA) continue;
    const packet *from = find_sent(r, to);
    memcpy(tile_at(r, to->tile)->memory + (to->address - base),
           tile_at(r, from->tile)->memory + (from->address - base), 4 * (size_t)to->words);
  }
}

/* What goes through the links; how many packets. */
static size_t count_links(reading *r)
{
  size_t count = 0;
  for (size_t i = 0; i < r->sent.count; i++) {
    const packet *p = &r->sent.items[i];
    uint32_t replica = p->tile / r->tiles_per_replica, to = r->map[replica];
    if (to == NO_REPLICA) continue;
    uint64_t bytes = 4 * ((uint64_t)p->words + ISA_GLOBAL_HEADER_WORDS);
    for (uint64_t left = p->ipus; left; left &= left - 1) {
      uint32_t ipu = (uint32_t)__builtin_ctzll(left);
      r->bytes_from_ipu[p->tile / r->target->tiles_per_ipu] += bytes;
      r->bytes_to_ipu[to * r->target->num_ipus + ipu] += bytes;
      r->replicas[replica]->global_bytes += 4 * (uint64_t)p->words;
    }
    count++;
  }
  return count;
}

static uint64_t divide_up(uint64_t bytes, uint32_t per_cycle)
{
  return (bytes + per_cycle - 1) / per_cycle;
}

static uint64_t duration(const reading *r, size_t num_packets)
{
  const pop_target *target = r->target;
  if (num_packets == 0) return r->instructions;
  uint64_t longest = divide_up(4 * r->most_words, target->exchange_bytes_per_cycle);
  for (uint32_t i = 0; i < r->num_replicas * target->num_ipus; i++) {
    uint64_t out = divide_up(r->bytes_from_ipu[i], target->global_bytes_per_cycle);
    uint64_t in = divide_up(r->bytes_to_ipu[i], target->global_bytes_per_cycle);
    if (out > longest) longest = out;
    if (in > longest) longest = in;
  }
  return r->instructions + target->global_latency_cycles + longest;
}

static uint64_t received_bytes(const reading *r, uint32_t number)
{
  uint64_t bytes = 0;
  if (r->sources[number / r->tiles_per_replica] == NO_REPLICA) return 0;
  for (size_t j = r->received.first[number]; j < r->received.first[number + 1]; j++)
    bytes += 4 * (uint64_t)r->received.items[j].words;
  return bytes;
}

static void take_time(const reading *r, uint64_t cycles)
{
  for (uint32_t i = 0; i < count_tiles(r); i++) {
    if (!takes_part(r, i)) continue;
    machine *m = machine_of(r, i);
    uint32_t number = i % r->tiles_per_replica;
    uint64_t from = m->at.clocks[number], bytes = received_bytes(r, i);
    m->at.clocks[number] = from + cycles;
    m->exchanged_bytes += bytes;
    superstep_trace(m, MACHINE_TRACE_GLOBAL_EXCHANGE, number, m->at.asked[number], from,
                    from + cycles, bytes);
  }
}

static void run(machine *const *replicas, uint32_t count, bool between_replicas)
{
  const pop_target *target = &replicas[0]->target;
  size_t tiles = (size_t)count * replicas[0]->num_tiles, ipus = (size_t)count * target->num_ipus;
  reading r = {.replicas = replicas,
               .num_replicas = count,
               .target = target,
               .tiles_per_replica = replicas[0]->num_tiles,
               .between_replicas = between_replicas,
               .map = pop_xcalloc(count, sizeof *r.map), /* alone: 0 to 0 */
               .sources = pop_xcalloc(count, sizeof *r.sources),
               .sent.first = pop_xcalloc(tiles + 1, sizeof *r.sent.first),
               .received.first = pop_xcalloc(tiles + 1, sizeof *r.received.first),
               .bytes_from_ipu = pop_xcalloc(ipus, sizeof *r.bytes_from_ipu),
               .bytes_to_ipu = pop_xcalloc(ipus, sizeof *r.bytes_to_ipu)};
  if (read_tiles(&r) && check_all(&r)) {
    move_packets(&r);
    take_time(&r, duration(&r, count_links(&r)));
  }
  void *const arrays[] = {r.map,         r.sources,        r.sent.items, r.received.items,
                          r.sent.first,  r.received.first, r.spans,      r.bytes_from_ipu,
                          r.bytes_to_ipu};
  for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) free(arrays[i]);
}

void global_exchange_run(machine *m)
{
  run(&m, 1, false);
}

pop_error *machine_sync_replicas(machine *const *replicas, uint32_t count, uint32_t *faulted)
{
  superstep_release_replicas(replicas, count);
  run(replicas, count, true);
  for (*faulted = 0; *faulted < count; ++*faulted)
    if (replicas[*faulted]->fault.kind != MACHINE_FAULT_NONE)
      return superstep_error(replicas[*faulted]);
  *faulted = 0;
  return NULL;
}
