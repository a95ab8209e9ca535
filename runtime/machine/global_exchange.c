/* The exchange between IPUs: what isa.h calls global exchange code.
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

typedef struct packet {
  uint32_t tile, pc;
  uint32_t address, words;
  uint64_t ipus;           /* sent: a bit for each IPU that it goes to */
  uint32_t sender, number; /* received: which of the sender's packets */
} packet;

typedef struct packet_list {
  packet *items; /* by tile, in the order of its code */
  size_t count, capacity;
} packet_list;

/* Words of a tile that a packet is sent from, or received in. */
typedef struct span {
  uint32_t begin, end; /* addresses */
  bool received;
  const packet *of;
} span;

typedef struct reading {
  machine *m;
  packet_list sent, received;
  size_t *first_sent, *first_received; /* by tile; one more at the end */
  span *spans;                         /* of the tile at hand */
  size_t num_spans, spans_capacity;
  uint64_t instructions;                   /* of the tile with most of them */
  uint64_t *bytes_from_ipu, *bytes_to_ipu; /* by IPU, with headers */
  uint64_t most_words;                     /* that one tile sends or receives */
  uint64_t bytes;                          /* from IPU to IPU, without headers */
} reading;

static bool refuse(const reading *r, uint32_t tile_number, uint32_t pc, machine_fault_kind kind,
                   const char *detail)
{
  const tile *t = &r->m->tiles[tile_number];
  machine_fault fault = {.kind = kind,
                         .tile = tile_number,
                         .context = MACHINE_SUPERVISOR,
                         .pc = pc,
                         .word = memory_word(r->m, t, pc),
                         .cycle = r->m->at.clocks[tile_number]};
  snprintf(fault.detail, sizeof fault.detail, "global exchange: %s", detail);
  superstep_fault(r->m, &fault);
  return false;
}

static uint32_t ipu_of(const reading *r, uint32_t tile_number)
{
  return tile_number / r->m->target.tiles_per_ipu;
}

/* ---- reading ---- */

static bool check_words(const reading *r, const packet *p, bool received)
{
  const tile *t = &r->m->tiles[p->tile];
  uint64_t bytes = 4 * (uint64_t)p->words;
  if (p->words == 0)
    return refuse(r, p->tile, p->pc, MACHINE_FAULT_EXCHANGE_CONFIG, "a packet of no words");
  if (p->address % 4 == 0 && bytes <= UINT32_MAX &&
      memory_contains(t, p->address, (uint32_t)bytes, received, false))
    return true;
  char detail[96];
  snprintf(detail, sizeof detail, "%u words at 0x%x are not %s memory of the tile", p->words,
           p->address, received ? "writable" : "used");
  return refuse(r, p->tile, p->pc, MACHINE_FAULT_INVALID_ADDRESS, detail);
}

static bool check_sent(const reading *r, const packet *p)
{
  uint32_t num_ipus = r->m->target.num_ipus;
  uint64_t own = (uint64_t)1 << ipu_of(r, p->tile);
  uint64_t all = num_ipus == 64 ? UINT64_MAX : ((uint64_t)1 << num_ipus) - 1;
  if (p->ipus && !(p->ipus & own) && !(p->ipus & ~all)) return check_words(r, p, false);
  char detail[96];
  snprintf(detail, sizeof detail, "a packet to the IPUs 0x%llx: own 0x%llx, all 0x%llx",
           (unsigned long long)p->ipus, (unsigned long long)own, (unsigned long long)all);
  return refuse(r, p->tile, p->pc, MACHINE_FAULT_EXCHANGE_CONFIG, detail);
}

static bool read_packet(reading *r, const tile *t, uint32_t pc, uint32_t word, bool received)
{
  uint32_t header = r->m->target.memory_base + 4 * isa_imm22(word);
  if (!memory_contains(t, header, 4 * ISA_GLOBAL_HEADER_WORDS, false, false))
    return refuse(r, t->number, pc, MACHINE_FAULT_INVALID_ADDRESS,
                  "a packet header outside of used memory");
  uint32_t words[ISA_GLOBAL_HEADER_WORDS];
  for (uint32_t i = 0; i < ISA_GLOBAL_HEADER_WORDS; i++)
    words[i] = memory_word(r->m, t, header + 4 * i);
  packet p = {.tile = t->number, .pc = pc, .address = words[0], .words = words[1]};
  if (received) {
    p.sender = words[2];
    p.number = words[3];
    if (!check_words(r, &p, true)) return false;
    pop_push(r->received.items, r->received.count, r->received.capacity, p);
  } else {
    p.ipus = words[2] | (uint64_t)words[3] << 32;
    if (!check_sent(r, &p)) return false;
    pop_push(r->sent.items, r->sent.count, r->sent.capacity, p);
  }
  return true;
}

static bool read_code(reading *r, const tile *t)
{
  uint32_t pc = r->m->at.asked[t->number];
  for (uint64_t count = 1;; pc += 4, count++) {
    if (pc % 4 || !memory_contains(t, pc, 4, false, true))
      return refuse(r, t->number, pc, MACHINE_FAULT_INVALID_PC,
                    "the code runs out of executable memory");
    uint32_t word = memory_word(r->m, t, pc), funct3 = word >> 12 & 7;
    bool is_packet = funct3 == ISA_FUNCT3_GLOBAL_SEND || funct3 == ISA_FUNCT3_GLOBAL_RECEIVE;
    if ((word & 0x7f) != ISA_CUSTOM_1 || !(is_packet || funct3 == ISA_FUNCT3_END))
      return refuse(r, t->number, pc, MACHINE_FAULT_INVALID_INSTRUCTION,
                    "no global exchange instruction");
    if (count > r->instructions) r->instructions = count;
    if (funct3 == ISA_FUNCT3_END) return true;
    if (!read_packet(r, t, pc, word, funct3 == ISA_FUNCT3_GLOBAL_RECEIVE)) return false;
  }
}

static bool read_tiles(reading *r)
{
  bool good = true;
  for (uint32_t i = 0; i < r->m->num_tiles; i++) {
    r->first_sent[i] = r->sent.count;
    r->first_received[i] = r->received.count;
    if (r->m->at.waiting[i] == STOP_GLOBAL_EXCHANGE) good = read_code(r, &r->m->tiles[i]) && good;
  }
  r->first_sent[r->m->num_tiles] = r->sent.count;
  r->first_received[r->m->num_tiles] = r->received.count;
  return good;
}

/* ---- matching ---- */

static const packet *find_sent(const reading *r, const packet *received)
{
  if (received->sender >= r->m->num_tiles) return NULL;
  size_t first = r->first_sent[received->sender], end = r->first_sent[received->sender + 1];
  return received->number < end - first ? &r->sent.items[first + received->number] : NULL;
}

static bool match(const reading *r, const packet *received)
{
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

static void add_span(reading *r, const packet *p, bool received)
{
  pop_push(r->spans, r->num_spans, r->spans_capacity,
           (span){p->address, p->address + 4 * p->words, received, p});
}

/* What is received overlaps nothing else. Sorted by where they begin, spans are compared with the one
 * before that reaches furthest, of all and of those received. */
static bool check_overlaps(reading *r, uint32_t tile_number)
{
  r->num_spans = 0;
  uint64_t sent = 0, received = 0;
  for (size_t i = r->first_sent[tile_number]; i < r->first_sent[tile_number + 1]; i++) {
    add_span(r, &r->sent.items[i], false);
    sent += r->sent.items[i].words;
  }
  for (size_t i = r->first_received[tile_number]; i < r->first_received[tile_number + 1]; i++) {
    add_span(r, &r->received.items[i], true);
    received += r->received.items[i].words;
  }
  if (sent > r->most_words) r->most_words = sent;
  if (received > r->most_words) r->most_words = received;
  if (received == 0) return true;
  qsort(r->spans, r->num_spans, sizeof *r->spans, compare_spans);
  uint32_t reached = 0, reached_received = 0;
  for (size_t i = 0; i < r->num_spans; i++) {
    const span *s = &r->spans[i];
    if (s->begin < (s->received ? reached : reached_received)) {
      char detail[96];
      snprintf(detail, sizeof detail, "the word at 0x%x is received and sent, or received twice",
               s->begin);
      return refuse(r, tile_number, s->of->pc, MACHINE_FAULT_EXCHANGE_CONFIG, detail);
    }
    if (s->end > reached) reached = s->end;
    if (s->received && s->end > reached_received) reached_received = s->end;
  }
  return true;
}

static bool check_all(reading *r)
{
  bool good = true;
  for (uint32_t i = 0; i < r->m->num_tiles; i++) {
    for (size_t j = r->first_received[i]; j < r->first_received[i + 1]; j++)
      if (!match(r, &r->received.items[j])) {
        good = false;
        break;
      }
    good = check_overlaps(r, i) && good;
  }
  return good;
}

/* ---- running ---- */

static void move_packets(const reading *r)
{
  const machine *m = r->m;
  for (size_t i = 0; i < r->received.count; i++) {
    const packet *to = &r->received.items[i], *from = find_sent(r, to);
    memcpy(m->tiles[to->tile].memory + (to->address - m->target.memory_base),
           m->tiles[from->tile].memory + (from->address - m->target.memory_base), 4 * to->words);
  }
}

static void count_links(reading *r)
{
  for (size_t i = 0; i < r->sent.count; i++) {
    const packet *p = &r->sent.items[i];
    uint64_t bytes = 4 * ((uint64_t)p->words + ISA_GLOBAL_HEADER_WORDS);
    for (uint64_t left = p->ipus; left; left &= left - 1) {
      r->bytes_from_ipu[ipu_of(r, p->tile)] += bytes;
      r->bytes_to_ipu[__builtin_ctzll(left)] += bytes;
      r->bytes += 4 * (uint64_t)p->words;
    }
  }
}

static uint64_t divide_up(uint64_t bytes, uint32_t per_cycle)
{
  return (bytes + per_cycle - 1) / per_cycle;
}

static uint64_t duration(const reading *r)
{
  const pop_target *target = &r->m->target;
  if (r->sent.count == 0) return r->instructions;
  uint64_t longest = divide_up(4 * r->most_words, target->exchange_bytes_per_cycle);
  for (uint32_t i = 0; i < target->num_ipus; i++) {
    uint64_t out = divide_up(r->bytes_from_ipu[i], target->global_bytes_per_cycle);
    uint64_t in = divide_up(r->bytes_to_ipu[i], target->global_bytes_per_cycle);
    if (out > longest) longest = out;
    if (in > longest) longest = in;
  }
  return r->instructions + target->global_latency_cycles + longest;
}

static void take_time(const reading *r)
{
  machine *m = r->m;
  uint64_t cycles = duration(r);
  for (uint32_t i = 0; i < m->num_tiles; i++) {
    if (m->at.waiting[i] != STOP_GLOBAL_EXCHANGE) continue;
    uint64_t from = m->at.clocks[i], received = 0;
    const packet *packets = r->received.items;
    for (size_t j = r->first_received[i]; packets && j < r->first_received[i + 1]; j++)
      received += 4 * (uint64_t)packets[j].words;
    m->at.clocks[i] = from + cycles;
    m->exchanged_bytes += received;
    superstep_trace(m, MACHINE_TRACE_GLOBAL_EXCHANGE, i, m->at.asked[i], from, from + cycles,
                    received);
  }
}

void global_exchange_run(machine *m)
{
  reading r = {.m = m,
               .first_sent = pop_xcalloc(m->num_tiles + 1, sizeof *r.first_sent),
               .first_received = pop_xcalloc(m->num_tiles + 1, sizeof *r.first_received),
               .bytes_from_ipu = pop_xcalloc(m->target.num_ipus, sizeof *r.bytes_from_ipu),
               .bytes_to_ipu = pop_xcalloc(m->target.num_ipus, sizeof *r.bytes_to_ipu)};
  if (read_tiles(&r) && check_all(&r)) {
    move_packets(&r);
    count_links(&r);
    take_time(&r);
    m->global_bytes += r.bytes;
  }
  free(r.sent.items);
  free(r.received.items);
  free(r.first_sent);
  free(r.first_received);
  free(r.spans);
  free(r.bytes_from_ipu);
  free(r.bytes_to_ipu);
}
