/* Runs a planned exchange by the rules of isa.h, independently of how it was planned.
 *
 * First the code of each tile is run by itself: which words it sends in which cycle, and where it
 * stores words of which tile. Then each stored word is looked up on the sender's bus. The stored
 * words must be exactly those of the messages.
 *
 * In an exchange between IPUs the packet headers say who sends what, and who receives which
 * packet. */
#include "compiler/exchange/exchange.h"

#include "isa/isa.h"
#include <stdlib.h>
#include <string.h>

enum { WORD = 4 };

/* `words` words on the bus from `cycle` on. */
typedef struct sent_run {
  uint64_t cycle;
  uint32_t words;
  place from;
} sent_run;

/* `words` words of `source_tile` that arrive from `cycle` on. */
typedef struct received_run {
  uint64_t cycle;
  uint32_t words;
  uint32_t tile, source_tile;
  place to;
} received_run;

typedef struct moved_word {
  place from, to;
} moved_word;

typedef struct simulation {
  const compilation *c;
  const exchange *x;
  sent_run *sent; /* by tile, then by cycle */
  size_t num_sent, sent_capacity;
  size_t *first_sent; /* by tile exchange; one more at the end */
  received_run *received;
  size_t num_received, received_capacity;
} simulation;

typedef struct tile_state {
  uint64_t cycle, bus_free, input_free; /* the first cycles in which they are free */
  place pointer;
  bool has_pointer;
} tile_state;

static pop_error *broken(const tile_exchange *t, uint64_t cycle, const char *rule)
{
  return pop_error_new(POP_ERROR_INTERNAL, "exchange code of tile %u, cycle %llu: %s", t->tile,
                       (unsigned long long)cycle, rule);
}

static pop_error *run_send(simulation *s, tile_state *state, const tile_exchange *t,
                           const exchange_op *op)
{
  if (op->count < 1 || op->count > ISA_SEND_MAX_WORDS)
    return broken(t, state->cycle, "send of a wrong number of words");
  if (state->cycle < state->bus_free) return broken(t, state->cycle, "send while the bus is busy");
  state->bus_free = state->cycle + op->count;
  pop_push(s->sent, s->num_sent, s->sent_capacity, (sent_run){state->cycle, op->count, op->at});
  return NULL;
}

static pop_error *run_receive(simulation *s, tile_state *state, const tile_exchange *t,
                              const exchange_op *op)
{
  if (op->count < 1 || op->count > ISA_RECEIVE_MAX_WORDS)
    return broken(t, state->cycle, "receive of a wrong number of words");
  if (state->cycle + 1 < state->input_free)
    return broken(t, state->cycle, "receive while another is open");
  if (!state->has_pointer) return broken(t, state->cycle, "receive without an address");
  pop_push(s->received, s->num_received, s->received_capacity,
           (received_run){state->cycle + 1, op->count, t->tile, op->tile, state->pointer});
  state->pointer.offset += op->count * WORD;
  state->input_free = state->cycle + 1 + op->count;
  return NULL;
}

static pop_error *run_op(simulation *s, tile_state *state, const tile_exchange *t,
                         const exchange_op *op)
{
  switch ((exchange_op_kind)op->kind) {
  case EXCHANGE_SEND:
    return run_send(s, state, t, op);
  case EXCHANGE_RECEIVE_MUX:
    return run_receive(s, state, t, op);
  case EXCHANGE_RECEIVE_ADDRESS:
    if (state->cycle + 1 < state->input_free)
      return broken(t, state->cycle, "receive address while a receive is open");
    state->pointer = op->at;
    state->has_pointer = true;
    return NULL;
  case EXCHANGE_DELAY:
    if (op->count < 1 || op->count > ISA_DELAY_MAX_CYCLES)
      return broken(t, state->cycle, "delay of a wrong number of cycles");
    state->cycle += op->count - 1;
    return NULL;
  case EXCHANGE_END:
    break;
  case EXCHANGE_GLOBAL_SEND:
  case EXCHANGE_GLOBAL_RECEIVE:
  case EXCHANGE_REPLICA_MAP:
    return broken(t, state->cycle, "a packet in an exchange within IPUs");
  }
  if (state->cycle < state->bus_free || state->cycle < state->input_free)
    return broken(t, state->cycle, "end before everything has left and arrived");
  return NULL;
}

static pop_error *run_tile(simulation *s, const tile_exchange *t)
{
  tile_state state = {0};
  const exchange_op *ops = s->c->exchange_ops + t->first_op;
  for (uint32_t i = 0; i < t->num_ops; i++) {
    if ((ops[i].kind == EXCHANGE_END) != (i + 1 == t->num_ops))
      return broken(t, state.cycle, "end is not the last instruction");
    POP_TRY(run_op(s, &state, t, &ops[i]));
    state.cycle++;
  }
  if (state.cycle != t->cycles) return broken(t, state.cycle, "not as long as it says");
  return NULL;
}

/* ---- what has moved ---- */

static const tile_exchange *find_tile(const simulation *s, uint32_t tile, size_t *index)
{
  size_t low = 0, high = s->x->num_tiles;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (s->c->tile_exchanges[s->x->first_tile + middle].tile < tile)
      low = middle + 1;
    else
      high = middle;
  }
  *index = low;
  const tile_exchange *found = &s->c->tile_exchanges[s->x->first_tile + low];
  return low < s->x->num_tiles && found->tile == tile ? found : NULL;
}

/* The word that is on the tile's bus in a cycle. */
static bool word_on_bus(const simulation *s, uint32_t tile, uint64_t cycle, place *word)
{
  size_t index;
  if (!find_tile(s, tile, &index)) return false;
  size_t low = s->first_sent[index], high = s->first_sent[index + 1];
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (s->sent[middle].cycle + s->sent[middle].words <= cycle)
      low = middle + 1;
    else
      high = middle;
  }
  if (low == s->first_sent[index + 1] || s->sent[low].cycle > cycle) return false;
  *word = s->sent[low].from;
  word->offset += (uint32_t)(cycle - s->sent[low].cycle) * WORD;
  return true;
}

static pop_error *collect_arrived(const simulation *s, moved_word *words, size_t capacity,
                                  size_t *count)
{
  uint32_t latency = s->c->target.exchange_latency_cycles;
  *count = 0;
  for (size_t i = 0; i < s->num_received; i++) {
    const received_run *r = &s->received[i];
    for (uint32_t j = 0; j < r->words; j++) {
      uint64_t cycle = r->cycle + j;
      moved_word moved = {.to = {r->to.block, r->to.offset + j * WORD}};
      if (cycle < latency || !word_on_bus(s, r->source_tile, cycle - latency, &moved.from))
        return pop_error_new(POP_ERROR_INTERNAL,
                             "tile %u expects a word of tile %u in cycle %llu: none arrives",
                             r->tile, r->source_tile, (unsigned long long)cycle);
      if (*count == capacity)
        return pop_error_new(POP_ERROR_INTERNAL, "more words arrive than were to be sent");
      words[(*count)++] = moved;
    }
  }
  return NULL;
}

/* ---- packets ---- */

typedef struct header {
  place at;
  uint32_t words[ISA_GLOBAL_HEADER_WORDS]; /* the first one is for the address */
} header;

static pop_error *read_header(const compilation *c, const exchange_op *op, header *out)
{
  const block *b = &c->blocks[op->at.block];
  const content *in = &c->contents[b->content];
  const uint8_t *bytes = c->bytes + in->first_byte + op->at.offset;
  if (b->category != POP_MEMORY_GLOBAL_EXCHANGE_PACKET_HEADER ||
      op->at.offset + sizeof out->words > in->size)
    return pop_error_new(POP_ERROR_INTERNAL, "a packet's header is not among the headers");
  for (size_t i = 0; i < sizeof out->words; i++)
    out->words[i / WORD] = out->words[i / WORD] >> 8 | (uint32_t)bytes[i] << 24;
  for (uint32_t i = 0; i < in->num_fixups; i++) {
    const fixup *f = &c->fixups[in->first_fixup + i];
    if (f->at != op->at.offset) continue;
    out->at = f->target;
    return NULL;
  }
  return pop_error_new(POP_ERROR_INTERNAL, "a packet's header has no address");
}

/* The packet `number` that the tile sends. */
static const exchange_op *find_packet(const simulation *s, uint32_t tile, uint32_t number)
{
  size_t index;
  const tile_exchange *t = find_tile(s, tile, &index);
  for (uint32_t i = 0; t && i < t->num_ops; i++) {
    const exchange_op *op = &s->c->exchange_ops[t->first_op + i];
    if (op->kind == EXCHANGE_GLOBAL_SEND && number-- == 0) return op;
  }
  return NULL;
}

static pop_error *collect_packet(const simulation *s, const tile_exchange *t, const exchange_op *op,
                                 moved_word *words, size_t capacity, size_t *count)
{
  uint32_t ipu = t->tile / s->c->target.tiles_per_ipu;
  header to = {0}, from = {0};
  POP_TRY(read_header(s->c, op, &to));
  const exchange_op *sent = find_packet(s, to.words[2], to.words[3]);
  if (!sent) return pop_error_new(POP_ERROR_INTERNAL, "tile %u: nobody sends a packet", t->tile);
  POP_TRY(read_header(s->c, sent, &from));
  if (from.words[1] != to.words[1] || from.words[3] != ipu / ISA_GLOBAL_IPUS ||
      !(from.words[2] >> ipu % ISA_GLOBAL_IPUS & 1) ||
      (s->x->zone == EXCHANGE_BETWEEN_IPUS && to.words[2] / s->c->target.tiles_per_ipu == ipu))
    return pop_error_new(POP_ERROR_INTERNAL, "tile %u receives a packet that is not for it",
                         t->tile);
  for (uint32_t i = 0; i < to.words[1]; i++) {
    if (*count == capacity)
      return pop_error_new(POP_ERROR_INTERNAL, "more words arrive than were to be sent");
    words[(*count)++] = (moved_word){{from.at.block, from.at.offset + i * WORD},
                                     {to.at.block, to.at.offset + i * WORD}};
  }
  return NULL;
}

static pop_error *collect_packets(const simulation *s, moved_word *words, size_t capacity,
                                  size_t *count)
{
  *count = 0;
  for (size_t i = 0; i < s->x->num_tiles; i++) {
    const tile_exchange *t = &s->c->tile_exchanges[s->x->first_tile + i];
    for (uint32_t j = 0; j < t->num_ops; j++) {
      const exchange_op *op = &s->c->exchange_ops[t->first_op + j];
      if (op->kind == EXCHANGE_GLOBAL_RECEIVE)
        POP_TRY(collect_packet(s, t, op, words, capacity, count));
      else if ((op->kind == EXCHANGE_END) != (j + 1 == t->num_ops))
        return broken(t, j, "end is not the last instruction");
    }
  }
  return NULL;
}

static size_t count_expected(const simulation *s)
{
  size_t count = 0;
  for (size_t i = 0; i < s->x->num_messages; i++) {
    const message *m = &s->c->messages[s->x->first_message + i];
    count += (size_t)m->num_words * m->num_receivers;
  }
  return count;
}

static void collect_expected(const simulation *s, moved_word *words)
{
  size_t count = 0;
  for (size_t i = 0; i < s->x->num_messages; i++) {
    const message *m = &s->c->messages[s->x->first_message + i];
    for (uint32_t j = 0; j < m->num_receivers; j++) {
      place to = s->c->receivers[m->first_receiver + j].destination;
      for (uint32_t k = 0; k < m->num_words; k++)
        words[count++] = (moved_word){{m->source.block, m->source.offset + k * WORD},
                                      {to.block, to.offset + k * WORD}};
    }
  }
}

static int compare_words(const void *a, const void *b)
{
  return memcmp(a, b, sizeof(moved_word)); /* any order will do; there is no padding */
}

static pop_error *compare_moved(const simulation *s)
{
  size_t expected_count = count_expected(s), count;
  moved_word *expected = pop_xrealloc(NULL, expected_count + 1, sizeof *expected);
  moved_word *arrived = pop_xrealloc(NULL, expected_count + 1, sizeof *arrived);
  pop_error *error = s->x->zone != EXCHANGE_WITHIN_IPUS
                         ? collect_packets(s, arrived, expected_count, &count)
                         : collect_arrived(s, arrived, expected_count, &count);
  collect_expected(s, expected);
  qsort(expected, expected_count, sizeof *expected, compare_words);
  if (!error) qsort(arrived, count, sizeof *arrived, compare_words);
  if (!error &&
      (count != expected_count || memcmp(arrived, expected, count * sizeof *arrived) != 0))
    error = pop_error_new(POP_ERROR_INTERNAL, "other words arrive than were to be sent");
  free(expected);
  free(arrived);
  return error;
}

pop_error *verify_exchange(const compilation *c, const exchange *x)
{
  simulation s = {
      .c = c, .x = x, .first_sent = pop_xcalloc(x->num_tiles + 1, sizeof *s.first_sent)};
  pop_error *error = NULL;
  for (size_t i = 0; i < x->num_tiles && x->zone == EXCHANGE_WITHIN_IPUS && !error; i++) {
    s.first_sent[i] = s.num_sent;
    error = run_tile(&s, &c->tile_exchanges[x->first_tile + i]);
  }
  s.first_sent[x->num_tiles] = s.num_sent;
  if (!error && !x->headers)
    error = compare_moved(&s); /* the contents of the program's own headers are not known */
  free(s.sent);
  free(s.received);
  free(s.first_sent);
  return error ? pop_error_prefix(error, "exchange '%s'", x->name) : NULL;
}
