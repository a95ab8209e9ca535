#include "compiler/exchange/timeline.h"

#include "isa/isa.h"
#include <stdlib.h>

enum { BITS = 64, WORD = 4, ADDRESS_TRIES = 64, GAP_TRIES = 64, LONG_WAIT = 16 };

/* ---- bit sets ---- */

static bool is_set(const bit_set *s, uint64_t bit)
{
  return bit / BITS < s->num_words && (s->words[bit / BITS] >> bit % BITS & 1);
}

static void set(bit_set *s, uint64_t bit)
{
  if (bit / BITS >= s->num_words) {
    pop_reserve(s->words, bit / BITS + 1, s->capacity);
    while (s->num_words <= bit / BITS) s->words[s->num_words++] = 0;
  }
  s->words[bit / BITS] |= (uint64_t)1 << bit % BITS;
}

static void set_range(bit_set *s, uint64_t first, uint64_t count)
{
  set(s, first + count - 1);
  for (uint64_t bit = first; bit < first + count; bit += BITS - bit % BITS) {
    uint64_t left = first + count - bit, mask = ~(uint64_t)0 << bit % BITS;
    if (left < BITS - bit % BITS) mask &= ~(~(uint64_t)0 << (bit % BITS + left));
    s->words[bit / BITS] |= mask;
  }
}

/* The first set bit >= from; the first clear bit if `flip` is all ones. All bits past the end are
 * clear. */
static uint64_t next_bit(const bit_set *s, uint64_t from, uint64_t flip)
{
  size_t word = from / BITS;
  if (word >= s->num_words) return flip ? from : NO_CYCLE;
  uint64_t bits = (s->words[word] ^ flip) >> from % BITS << from % BITS;
  while (bits == 0) {
    if (++word == s->num_words) return flip ? word * BITS : NO_CYCLE;
    bits = s->words[word] ^ flip;
  }
  return word * BITS + (uint64_t)__builtin_ctzll(bits);
}

static uint64_t next_set(const bit_set *s, uint64_t from)
{
  return next_bit(s, from, 0);
}

static uint64_t next_clear(const bit_set *s, uint64_t from)
{
  return next_bit(s, from, ~(uint64_t)0);
}

/* Are the slots of `words` words free: `first`, `first` + `step`, …? */
static bool slots_are_free(const timeline *t, uint64_t first, uint32_t words, uint32_t step)
{
  for (uint64_t done = 0; done < words; done += step)
    if (is_set(&t->slots, first + done)) return false;
  return true;
}

/* ---- send ---- */

__extension__ typedef unsigned __int128 bits128;

/* Bits from … from + 127, inverted: 1 where the set has 0. */
static bits128 clear_bits(const bit_set *s, uint64_t from)
{
  size_t word = from / BITS;
  unsigned shift = from % BITS;
  uint64_t part[3];
  for (size_t i = 0; i < 3; i++)
    part[i] = ~(word + i < s->num_words ? s->words[word + i] : (uint64_t)0);
  bits128 bits = ((bits128)part[1] << BITS | part[0]) >> shift;
  return shift > 0 ? bits | (bits128)part[2] << (2 * BITS - shift) : bits;
}

/* Bit i of the result: bits i … i + length - 1 are set. */
static bits128 runs_of(bits128 bits, uint32_t length)
{
  for (uint32_t have = 1, step; have < length; have += step) {
    step = have < length - have ? have : length - have;
    bits &= bits >> step;
  }
  return bits;
}

uint64_t sends_from(const timeline *t, const send_shape *shape, uint64_t from)
{
  uint64_t possible = (uint64_t)runs_of(clear_bits(&t->bus, from), shape->words);
  bits128 slots = clear_bits(&t->slots, from);
  for (uint64_t left = shape->first_words; left && possible; left &= left - 1)
    possible &= (uint64_t)(slots >> __builtin_ctzll(left));
  return possible;
}

static uint64_t earliest_short_send(const timeline *t, const send_shape *shape, uint64_t from)
{
  for (uint64_t cycle = from;; cycle += BITS) {
    uint64_t possible = sends_from(t, shape, cycle);
    if (possible) return cycle + (uint64_t)__builtin_ctzll(possible);
  }
}

static uint64_t earliest_long_send(const timeline *t, uint32_t words, uint64_t from)
{
  for (uint64_t cycle = from;;) {
    cycle = next_clear(&t->bus, cycle);
    uint64_t taken = next_set(&t->bus, cycle);
    if (taken - cycle < words) {
      cycle = taken;
      continue;
    }
    if (slots_are_free(t, cycle, words, ISA_SEND_MAX_WORDS)) return cycle;
    cycle++;
  }
}

uint64_t earliest_send(const timeline *t, const send_shape *shape, uint64_t from)
{
  if (shape->words <= SEND_SHAPE_MAX_WORDS) return earliest_short_send(t, shape, from);
  return earliest_long_send(t, shape->words, from);
}

void reserve_send(timeline *t, const send_shape *shape, uint64_t cycle)
{
  set_range(&t->bus, cycle, shape->words);
  if (cycle + shape->words > t->bus_end) t->bus_end = cycle + shape->words;
  t->words_sent += shape->words;
  for (uint64_t left = shape->first_words; left; left &= left - 1)
    set(&t->slots, cycle + (uint64_t)__builtin_ctzll(left));
  for (uint32_t done = ISA_SEND_MAX_WORDS; done < shape->words; done += ISA_SEND_MAX_WORDS)
    set(&t->slots, cycle + done);
}

void add_send_ops(op_list *list, place source, uint32_t words, uint64_t cycle)
{
  for (uint32_t done = 0; done < words; done += ISA_SEND_MAX_WORDS) {
    uint32_t count = words - done < ISA_SEND_MAX_WORDS ? words - done : ISA_SEND_MAX_WORDS;
    place at = {source.block, source.offset + done * WORD};
    timed_op sent = {cycle + done, {.kind = EXCHANGE_SEND, .count = count, .at = at}};
    pop_push(list->items, list->count, list->capacity, sent);
  }
}

/* ---- receive ---- */

/* How many chains have ended by `cycle`. */
static size_t chains_ended(const timeline *t, uint64_t cycle)
{
  size_t low = 0, high = t->num_chains;
  if (high > 0 && t->chains[high - 1].end <= cycle) return high;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (t->chains[middle].end <= cycle)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

static bool chain_ends_at(const timeline *t, size_t before, place destination)
{
  if (before == 0) return false;
  place next = t->chains[before - 1].next;
  return next.block == destination.block && next.offset == destination.offset;
}

/* A slot for the receiveAddress of words that arrive from `cycle` on. It lies after the last word
 * of the chain before and before the receiveMux, as late as possible. */
static uint64_t address_slot(const timeline *t, size_t before, uint64_t cycle)
{
  uint64_t low = before > 0 ? t->chains[before - 1].end - 1 : 0;
  if (cycle < 2) return NO_CYCLE;
  for (uint64_t slot = cycle - 2, tries = 0; tries < ADDRESS_TRIES; slot--, tries++) {
    if (slot < low) return NO_CYCLE;
    if (!is_set(&t->slots, slot)) return slot;
    if (slot == 0) return NO_CYCLE;
  }
  return NO_CYCLE;
}

uint64_t earliest_receive(const timeline *t, place destination, uint32_t words, uint64_t from)
{
  size_t before = chains_ended(t, from);
  if (before + GAP_TRIES < t->num_chains) before = t->num_chains - GAP_TRIES; /* enough tried */
  for (uint64_t cycle = from;; cycle = t->chains[before++].end) {
    if (before > 0 && cycle < t->chains[before - 1].end) cycle = t->chains[before - 1].end;
    if (cycle < 1) cycle = 1;
    uint64_t limit = before < t->num_chains ? t->chains[before].begin : NO_CYCLE;
    bool follows = chain_ends_at(t, before, destination);
    for (;; cycle++) {
      cycle = next_clear(&t->slots, cycle - 1) + 1;
      if (cycle > limit || limit - cycle < words) break;
      if (slots_are_free(t, cycle - 1, words, ISA_RECEIVE_MAX_WORDS) &&
          (follows || address_slot(t, before, cycle) != NO_CYCLE))
        return cycle;
    }
  }
}

/* Bit i of `free`: slot end + i - 1, that of the receiveMux, is free. The receiveAddress needs a
 * free slot before that one, so the lowest set bit is dropped unless the chain continues. */
uint64_t receives_at_end(const timeline *t, bool follows)
{
  uint64_t end = end_of_receives(t);
  uint64_t free =
      end > 0 ? (uint64_t)clear_bits(&t->slots, end - 1) : (uint64_t)clear_bits(&t->slots, 0) << 1;
  return follows ? free : free & (free - 1);
}

bool can_send_and_receive(timeline *t, const send_shape *shape, uint64_t sent, place destination,
                          uint64_t arrival)
{
  for (uint64_t left = shape->first_words; left; left &= left - 1)
    set(&t->slots, sent + (uint64_t)__builtin_ctzll(left));
  bool fits = earliest_receive(t, destination, shape->words, arrival) == arrival;
  for (uint64_t left = shape->first_words; left; left &= left - 1) {
    uint64_t bit = sent + (uint64_t)__builtin_ctzll(left);
    t->slots.words[bit / BITS] &= ~((uint64_t)1 << bit % BITS);
  }
  return fits;
}

static void insert_chain(timeline *t, size_t at, chain added)
{
  pop_push(t->chains, t->num_chains, t->chains_capacity, added);
  for (size_t i = t->num_chains - 1; i > at; i--) t->chains[i] = t->chains[i - 1];
  t->chains[at] = added;
}

uint64_t reserve_receive(timeline *t, place destination, uint32_t words, uint64_t cycle)
{
  size_t before = chains_ended(t, cycle);
  uint64_t slot = address_slot(t, before, cycle);
  bool follows = chain_ends_at(t, before, destination);
  bool waits_long = follows && cycle - t->chains[before - 1].end >= LONG_WAIT;
  if (follows && !(waits_long && slot != NO_CYCLE)) {
    slot = NO_CYCLE;
  } else {
    set(&t->slots, slot);
    insert_chain(t, before++, (chain){.begin = slot + 1});
  }
  chain *open = &t->chains[before - 1];
  open->end = cycle + words;
  open->next = (place){destination.block, destination.offset + words * WORD};
  t->words_received += words;
  for (uint32_t done = 0; done < words; done += ISA_RECEIVE_MAX_WORDS)
    set(&t->slots, cycle - 1 + done);
  return slot;
}

void add_receive_ops(op_list *list, uint32_t source_tile, place destination, uint32_t words,
                     uint64_t cycle, uint64_t address_slot)
{
  if (address_slot != NO_CYCLE)
    pop_push(list->items, list->count, list->capacity,
             (timed_op){address_slot, {.kind = EXCHANGE_RECEIVE_ADDRESS, .at = destination}});
  for (uint32_t done = 0; done < words; done += ISA_RECEIVE_MAX_WORDS) {
    uint32_t count = words - done < ISA_RECEIVE_MAX_WORDS ? words - done : ISA_RECEIVE_MAX_WORDS;
    timed_op received = {cycle - 1 + done,
                         {.kind = EXCHANGE_RECEIVE_MUX, .count = count, .tile = source_tile}};
    pop_push(list->items, list->count, list->capacity, received);
  }
}

uint64_t end_of_receives(const timeline *t)
{
  return t->num_chains > 0 ? t->chains[t->num_chains - 1].end : 0;
}

bool continues_chain(const timeline *t, place destination)
{
  return chain_ends_at(t, t->num_chains, destination);
}

void timeline_prefetch(const timeline *t, uint64_t cycle)
{
  size_t word = cycle / BITS;
  if (word < t->bus.num_words) __builtin_prefetch(&t->bus.words[word]);
  if (word < t->slots.num_words) __builtin_prefetch(&t->slots.words[word]);
}

void timeline_free(timeline *t)
{
  free(t->slots.words);
  free(t->bus.words);
  free(t->chains);
  free(t->listed.items);
}
