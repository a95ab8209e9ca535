/* The exchange: from the code of all tiles to a plan of copies, which is checked once and then run.
 *
 * Exchange code has no branches. So the address of its code determines what a tile sends and
 * receives in which cycle. read_code() lists the sends and receives of one tile with their cycles.
 * match_receive() finds the sends whose words arrive in the cycles of a receive, and makes copies
 * of them:
 *
 *   tile 3:  send 10 words, cycles 4-13        latency L: word sent in c arrives in c + L
 *   tile 8:  receiveMux tile 3, 4 words, issued in cycle 6 + L - 1: words sent in 6-9
 *            => copy 4 words from the third word of the send on
 *
 * No tile receives a word twice, or both sends and receives it (checked). So the copies may run in
 * any order. */
#include "exchange_plan.h"

#include <populus/arena.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NO_PART UINT32_MAX

typedef struct transfer {
  uint64_t cycle; /* send: of the first word; receive: of the first word's arrival */
  uint32_t word;  /* offset in tile memory */
  uint32_t words;
  uint32_t sender; /* receive: the tile */
  uint32_t pc;
} transfer;

typedef struct transfer_list {
  transfer *items;
  size_t count, capacity;
} transfer_list;

/* The transfers of all parts while a plan is made. Part i has items first[i] to first[i + 1] - 1,
 * in the order of their cycles. */
typedef struct schedule {
  machine *m;
  exchange_plan *plan;
  uint32_t *part_of_tile; /* NO_PART: the tile takes no part */
  transfer_list sends, receives;
  size_t *first_send, *first_receive;
  /* by send: the cycle behind its last one; a list of its own, for binary search */
  uint64_t *send_ends;
  transfer_list by_word; /* scratch: transfers of one tile, by word */
} schedule;

/* Faults */

static void report(machine *m, const tile *t, machine_fault_kind kind, uint32_t pc,
                   const char *detail)
{
  machine_fault fault = superstep_supervisor_fault(m, t, kind, pc);
  snprintf(fault.detail, sizeof fault.detail, "%s", detail);
  superstep_fault(m, &fault);
}

/* Reading a tile's code */

typedef struct reader {
  schedule *s;
  tile *t;
  size_t part;
  uint32_t pc;
  uint64_t cycle;        /* in which the instruction at pc issues */
  uint64_t bus_free;     /* first cycle in which the bus is free again */
  uint64_t last_arrival; /* of the last receive */
  uint32_t pointer;      /* word offset where the next word goes */
  bool has_pointer;
  bool ended;
} reader;

static bool refuse(const reader *r, machine_fault_kind kind, const char *detail)
{
  char text[sizeof((machine_fault *)NULL)->detail];
  snprintf(text, sizeof text, "exchange cycle %llu: %s", (unsigned long long)r->cycle, detail);
  report(r->s->m, r->t, kind, r->pc, text);
  return false;
}

static bool refuse_config(const reader *r, const char *detail)
{
  return refuse(r, MACHINE_FAULT_EXCHANGE_CONFIG, detail);
}

static bool check_words(const reader *r, uint32_t word, uint32_t words, bool writable)
{
  uint32_t address = r->s->m->target.memory_base + 4 * word;
  if (memory_contains(r->t, address, 4 * words, writable, false)) return true;
  char detail[96];
  snprintf(detail, sizeof detail, "%u words at 0x%x are not %s memory of the tile", words, address,
           writable ? "writable" : "used");
  return refuse(r, MACHINE_FAULT_INVALID_ADDRESS, detail);
}

static bool read_send(reader *r, uint32_t word)
{
  transfer send = {
      .cycle = r->cycle, .word = word >> 7 & 0x3ffff, .words = (word >> 25) + 1, .pc = r->pc};
  if (r->cycle < r->bus_free) return refuse_config(r, "send while the bus is busy");
  if (!check_words(r, send.word, send.words, false)) return false;
  r->bus_free = r->cycle + send.words;
  transfer_list *list = &r->s->sends;
  pop_push(list->items, list->count, list->capacity, send);
  r->cycle++;
  return true;
}

static bool read_receive(reader *r, uint32_t word)
{
  uint32_t per_ipu = r->s->m->target.tiles_per_ipu, of_ipu = word >> 7 & 0x1ffff;
  transfer receive = {.cycle = r->cycle + 1,
                      .word = r->pointer,
                      .words = (word >> 24) + 1,
                      .sender = r->t->number / per_ipu * per_ipu + of_ipu,
                      .pc = r->pc};
  if (r->cycle < r->last_arrival) return refuse_config(r, "receiveMux while a receive is open");
  if (!r->has_pointer) return refuse_config(r, "receiveMux before any receiveAddress");
  if (of_ipu >= per_ipu) {
    char detail[96];
    snprintf(detail, sizeof detail,
             "receive from tile %u of the tile's IPU, which does not exist: an IPU has %u", of_ipu,
             per_ipu);
    return refuse_config(r, detail);
  }
  if (!check_words(r, receive.word, receive.words, true)) return false;
  r->last_arrival = r->cycle + receive.words;
  r->pointer += receive.words;
  transfer_list *list = &r->s->receives;
  pop_push(list->items, list->count, list->capacity, receive);
  r->cycle++;
  return true;
}

static bool read_receive_address(reader *r, uint32_t word)
{
  if (r->cycle < r->last_arrival) return refuse_config(r, "receiveAddress while a receive is open");
  r->pointer = isa_imm22(word);
  r->has_pointer = true;
  r->cycle++;
  return true;
}

static bool read_delay(reader *r, uint32_t word)
{
  if (isa_imm22(word) == 0) return refuse_config(r, "delay of 0 cycles");
  r->cycle += isa_imm22(word);
  return true;
}

static bool read_end(reader *r)
{
  if (r->cycle + 1 < r->bus_free) return refuse_config(r, "end while words are being sent");
  if (r->cycle < r->last_arrival) return refuse_config(r, "end while a receive is open");
  r->s->plan->parts[r->part].cycles = r->cycle + 1;
  r->ended = true;
  return true;
}

static bool read_instruction(reader *r, uint32_t word)
{
  uint32_t major = word & 0x7f, funct3 = word >> 12 & 7;
  if (major == ISA_CUSTOM_0) return read_send(r, word);
  if (major == ISA_CUSTOM_2) return read_receive(r, word);
  if (major == ISA_CUSTOM_1 && funct3 == ISA_FUNCT3_DELAY) return read_delay(r, word);
  if (major == ISA_CUSTOM_1 && funct3 == ISA_FUNCT3_RECEIVE_ADDRESS)
    return read_receive_address(r, word);
  if (major == ISA_CUSTOM_1 && funct3 == ISA_FUNCT3_END) return read_end(r);
  return refuse(r, MACHINE_FAULT_INVALID_INSTRUCTION, "no exchange instruction");
}

/* Lists the transfers of one part. False, and a fault, if its code is wrong. */
static bool read_code(schedule *s, size_t number)
{
  const exchange_part *p = &s->plan->parts[number];
  tile *t = &s->m->tiles[p->tile];
  reader r = {.s = s, .t = t, .part = number, .pc = p->code};
  for (; !r.ended; r.pc += 4) {
    if (r.pc % 4 || !memory_contains(t, r.pc, 4, false, true))
      return refuse(&r, MACHINE_FAULT_INVALID_PC, "no exchange code here");
    if (!read_instruction(&r, memory_word(s->m, t, r.pc))) return false;
  }
  return true;
}

/* Checking and matching */

static int compare_words(const void *a, const void *b)
{
  const transfer *x = a, *y = b;
  if (x->word != y->word) return x->word < y->word ? -1 : 1;
  return (x->cycle > y->cycle) - (x->cycle < y->cycle);
}

static bool refuse_word(schedule *s, const tile *t, const transfer *at, uint32_t word,
                        const char *what)
{
  char detail[96];
  snprintf(detail, sizeof detail, "the word at 0x%x is %s in one exchange",
           s->m->target.memory_base + 4 * word, what);
  report(s->m, t, MACHINE_FAULT_EXCHANGE_CONFIG, at->pc, detail);
  return false;
}

/* No word may be received twice, or both sent and received. */
static bool check_overlaps(schedule *s, size_t number)
{
  const tile *t = &s->m->tiles[s->plan->parts[number].tile];
  size_t first = s->first_receive[number], count = s->first_receive[number + 1] - first;
  if (count == 0) return true;
  transfer_list *sorted = &s->by_word;
  sorted->count = 0;
  pop_reserve(sorted->items, count, sorted->capacity);
  memcpy(sorted->items, s->receives.items + first, count * sizeof *sorted->items);
  qsort(sorted->items, count, sizeof *sorted->items, compare_words);
  for (size_t i = 1; i < count; i++) {
    const transfer *a = &sorted->items[i - 1], *b = &sorted->items[i];
    if (b->word < a->word + a->words) return refuse_word(s, t, b, b->word, "received twice");
  }
  for (size_t i = s->first_send[number]; i < s->first_send[number + 1]; i++) {
    const transfer *send = &s->sends.items[i];
    size_t low = 0, high = count; /* the first receive that ends behind the send's start */
    while (low < high) {
      size_t middle = (low + high) / 2;
      const transfer *r = &sorted->items[middle];
      if (r->word + r->words <= send->word)
        low = middle + 1;
      else
        high = middle;
    }
    if (low < count && sorted->items[low].word < send->word + send->words)
      return refuse_word(s, t, send, sorted->items[low].word, "both sent and received");
  }
  return true;
}

/* The send of `sender` whose words are on the bus in `cycle`; NULL if there is none. */
static const transfer *find_send(const schedule *s, uint32_t sender, uint64_t cycle)
{
  uint32_t number = s->part_of_tile[sender];
  if (number == NO_PART) return NULL;
  size_t low = s->first_send[number], high = s->first_send[number + 1], end = high;
  while (low < high) { /* the first one that ends behind `cycle` */
    size_t middle = (low + high) / 2;
    if (s->send_ends[middle] <= cycle)
      low = middle + 1;
    else
      high = middle;
  }
  return low < end && s->sends.items[low].cycle <= cycle ? &s->sends.items[low] : NULL;
}

static bool match_receive(schedule *s, size_t number, const transfer *r)
{
  const tile *t = &s->m->tiles[s->plan->parts[number].tile];
  uint32_t latency = s->m->target.exchange_latency_cycles;
  for (uint32_t done = 0; done < r->words;) {
    uint64_t arrival = r->cycle + done, cycle = arrival - latency;
    const transfer *send = arrival >= latency ? find_send(s, r->sender, cycle) : NULL;
    if (!send) {
      char detail[96];
      snprintf(detail, sizeof detail, "receive from tile %u in cycle %llu: nothing arrives",
               r->sender, (unsigned long long)arrival);
      report(s->m, t, MACHINE_FAULT_EXCHANGE_ERROR, r->pc, detail);
      return false;
    }
    uint32_t skip = (uint32_t)(cycle - send->cycle), words = send->words - skip;
    if (words > r->words - done) words = r->words - done;
    exchange_plan_add(s->plan, t->memory + 4 * (r->word + done),
                      s->m->tiles[r->sender].memory + 4 * (send->word + skip), 4 * words);
    done += words;
  }
  s->plan->parts[number].received += 4 * r->words;
  return true;
}

static bool match_part(schedule *s, size_t number)
{
  if (!check_overlaps(s, number)) return false;
  for (size_t i = s->first_receive[number]; i < s->first_receive[number + 1]; i++)
    if (!match_receive(s, number, &s->receives.items[i])) return false;
  return true;
}

/* True if every tile's code is right and every receive has its words. */
static bool make_schedule(schedule *s)
{
  const exchange_plan *plan = s->plan;
  bool ok = true;
  for (size_t i = 0; i < plan->num_parts; i++) {
    s->part_of_tile[plan->parts[i].tile] = (uint32_t)i;
    s->first_send[i] = s->sends.count;
    s->first_receive[i] = s->receives.count;
    ok = read_code(s, i) && ok;
  }
  s->first_send[plan->num_parts] = s->sends.count;
  s->first_receive[plan->num_parts] = s->receives.count;
  if (!ok || s->receives.count == 0) return ok;
  s->send_ends = pop_xcalloc(s->sends.count + 1, sizeof *s->send_ends);
  for (size_t i = 0; i < s->sends.count; i++)
    s->send_ends[i] = s->sends.items[i].cycle + s->sends.items[i].words;
  for (size_t i = 0; i < plan->num_parts; i++) ok = match_part(s, i) && ok;
  return ok;
}

bool exchange_verify(machine *m, exchange_plan *plan)
{
  size_t num_parts = plan->num_parts;
  schedule s = {.m = m, .plan = plan};
  s.first_send = pop_xcalloc(num_parts + 1, sizeof *s.first_send);
  s.first_receive = pop_xcalloc(num_parts + 1, sizeof *s.first_receive);
  s.part_of_tile = pop_xcalloc(m->num_tiles, sizeof *s.part_of_tile);
  for (uint32_t i = 0; i < m->num_tiles; i++) s.part_of_tile[i] = NO_PART;
  bool ok = make_schedule(&s);
  free(s.first_send);
  free(s.first_receive);
  free(s.part_of_tile);
  free(s.send_ends);
  free(s.sends.items);
  free(s.receives.items);
  free(s.by_word.items);
  return ok;
}
