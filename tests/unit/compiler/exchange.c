/* Exchange plans. Every plan is run by the rules of isa/isa.h (verify_exchange) and compared with
 * its messages. It must not be much longer than necessary. */
#include "compiler/exchange/exchange.h"
#include "support/random.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

enum { WORD = 4, BLOCK_BYTES = 1 << 20 };

/* A compilation with two blocks per tile: one to send from (2 * tile), one to receive in. */
static compilation *new_compilation(uint32_t num_tiles)
{
  compilation *c = pop_xcalloc(1, sizeof *c);
  pop_error *error = pop_target_create("ipu2", 1, &c->target);
  cr_assert_null(error);
  c->target.tiles_per_ipu = num_tiles;
  for (uint32_t i = 0; i < 2 * num_tiles; i++)
    add_block(c, &(block){.tile = i / 2,
                          .size = BLOCK_BYTES,
                          .align = 8,
                          .name = "test",
                          .content = COMPILER_NONE});
  return c;
}

static void add_message(compilation *c, uint32_t source, uint32_t source_word, uint32_t words)
{
  pop_push(c->messages, c->num_messages, c->messages_capacity,
           (message){.source_tile = source,
                     .num_words = words,
                     .source = {2 * source, source_word * WORD},
                     .first_receiver = c->num_receivers});
}

static void add_receiver(compilation *c, uint32_t tile, uint32_t word)
{
  pop_push(c->receivers, c->num_receivers, c->receivers_capacity,
           (receiver){tile, {2 * tile + 1, word * WORD}});
  c->messages[c->num_messages - 1].num_receivers++;
}

static void plan(compilation *c, const char *name)
{
  pop_push(c->exchanges, c->num_exchanges, c->exchanges_capacity,
           (exchange){.name = name, .num_messages = c->num_messages});
  pop_error *error = pass_exchange(c);
  cr_assert_null(error);
  error = verify_exchange(c, &c->exchanges[0]);
  cr_assert_null(error, "%s", pop_error_message(error));
}

/* The cycles of the slowest tile. `bound` gets the words of the tile that sends or receives
 * most. */
static uint64_t longest(const compilation *c, uint64_t *bound)
{
  uint64_t cycles = 0;
  *bound = 0;
  for (size_t i = 0; i < c->num_tile_exchanges; i++) {
    const tile_exchange *t = &c->tile_exchanges[i];
    if (t->cycles > cycles) cycles = t->cycles;
    if (t->bytes_sent / WORD > *bound) *bound = t->bytes_sent / WORD;
    if (t->bytes_received / WORD > *bound) *bound = t->bytes_received / WORD;
  }
  return cycles;
}

/* Without the latency and the instructions around the exchange, which the plan cannot change. */
static double ratio_to_bound(const compilation *c, const char *name)
{
  uint64_t bound, cycles = longest(c, &bound);
  double ratio = (double)(cycles - c->target.exchange_latency_cycles - 4) / (double)bound;
  printf("%-44s %7llu cycles, %7llu words: %.2f\n", name, (unsigned long long)cycles,
         (unsigned long long)bound, ratio);
  return ratio;
}

Test(exchange, one_message_takes_its_words_and_the_latency)
{
  compilation *c = new_compilation(2);
  add_message(c, 0, 3, 1000);
  add_receiver(c, 1, 5);
  plan(c, "one");
  cr_assert_lt(ratio_to_bound(c, "one message of 1000 words"), 1.01);
  cr_assert_eq(c->num_tile_exchanges, 2);
  cr_assert_eq(c->tile_exchanges[0].bytes_sent, 4000);
  cr_assert_eq(c->tile_exchanges[1].bytes_received, 4000);
  compilation_free(c);
}

Test(exchange, all_gather_goes_at_one_word_per_cycle)
{
  enum { TILES = 64 };
  compilation *c = new_compilation(TILES);
  for (uint32_t source = 0; source < TILES; source++) {
    add_message(c, source, 0, 7);
    for (uint32_t tile = 0; tile < TILES; tile++)
      if (tile != source) add_receiver(c, tile, 7 * source);
  }
  plan(c, "all gather");
  cr_assert_lt(ratio_to_bound(c, "every tile to all others, 7 words"), 1.6);
  compilation_free(c);
}

Test(exchange, broadcast_from_many_tiles_to_the_others_needs_one_address_each)
{
  enum { SOURCES = 100, TILES = 164 };
  compilation *c = new_compilation(TILES);
  for (uint32_t source = 0; source < SOURCES; source++) {
    add_message(c, source, source, 1);
    for (uint32_t tile = SOURCES; tile < TILES; tile++) add_receiver(c, tile, source);
  }
  plan(c, "broadcast");
  cr_assert_lt(ratio_to_bound(c, "100 tiles to 64 others, 1 word"), 1.01);
  for (size_t i = 0; i < c->num_tile_exchanges; i++) {
    const tile_exchange *t = &c->tile_exchanges[i];
    size_t addresses = 0;
    for (size_t j = 0; j < t->num_ops; j++)
      addresses += c->exchange_ops[t->first_op + j].kind == EXCHANGE_RECEIVE_ADDRESS;
    cr_assert_eq(addresses, t->tile >= SOURCES ? 1 : 0);
  }
  compilation_free(c);
}

Test(exchange, groups_that_share_tiles_fill_the_gaps_of_each_other)
{
  /* Five segments of a vector. Each tile needs one, and every tenth tile also needs the next
   * one. */
  enum { SEGMENTS = 5, WORDS = 100, PER_SEGMENT = 20 };
  enum { SOURCES = SEGMENTS * WORDS, TILES = SOURCES + SEGMENTS * PER_SEGMENT };
  compilation *c = new_compilation(TILES);
  for (uint32_t segment = 0; segment < SEGMENTS; segment++)
    for (uint32_t word = 0; word < WORDS; word++) {
      add_message(c, segment * WORDS + word, 0, 1);
      for (uint32_t i = 0; i < PER_SEGMENT; i++)
        add_receiver(c, SOURCES + segment * PER_SEGMENT + i, word);
      if (segment + 1 < SEGMENTS)
        add_receiver(c, SOURCES + (segment + 1) * PER_SEGMENT, WORDS + word);
    }
  plan(c, "segments");
  cr_assert_lt(ratio_to_bound(c, "five overlapping segments"), 1.05);
  compilation_free(c);
}

/* The same with senders that need the segment themselves, as in a matrix-vector product. A tile
 * that sends a word cannot begin to receive one in that cycle. The next segment's words fit into
 * the cycles in which it waits. */
Test(exchange, groups_of_tiles_that_send_to_each_other_take_turns)
{
  enum { SEGMENTS = 5, WORDS = 100, PER_SEGMENT = 150 };
  compilation *c = new_compilation(SEGMENTS * PER_SEGMENT);
  for (uint32_t segment = 0; segment < SEGMENTS; segment++)
    for (uint32_t word = 0; word < WORDS; word++) {
      uint32_t source = segment * PER_SEGMENT + word;
      add_message(c, source, 0, 1);
      for (uint32_t tile = segment * PER_SEGMENT; tile < (segment + 1) * PER_SEGMENT; tile++)
        if (tile != source) add_receiver(c, tile, word);
      if (segment + 1 < SEGMENTS) add_receiver(c, (segment + 1) * PER_SEGMENT, WORDS + word);
    }
  plan(c, "groups of senders");
  cr_assert_lt(ratio_to_bound(c, "five overlapping segments, senders inside"), 1.5);
  compilation_free(c);
}

Test(exchange, all_to_one_and_one_to_all)
{
  enum { TILES = 500, WORDS = 3 };
  compilation *c = new_compilation(TILES);
  for (uint32_t tile = 1; tile < TILES; tile++) {
    add_message(c, tile, 0, WORDS);
    add_receiver(c, 0, (tile - 1) * WORDS);
    add_message(c, 0, tile * WORDS, WORDS);
    add_receiver(c, tile, 0);
  }
  plan(c, "gather and scatter");
  cr_assert_lt(ratio_to_bound(c, "all to one and one to all, 3 words"), 1.1);
  compilation_free(c);
}

Test(exchange, all_to_all)
{
  enum { TILES = 100, WORDS = 4 };
  compilation *c = new_compilation(TILES);
  for (uint32_t source = 0; source < TILES; source++)
    for (uint32_t tile = 0; tile < TILES; tile++) {
      if (tile == source) continue;
      add_message(c, source, tile * WORDS, WORDS);
      add_receiver(c, tile, source * WORDS);
    }
  plan(c, "all to all");
  cr_assert_lt(ratio_to_bound(c, "all to all, 4 words"), 1.3);
  compilation_free(c);
}

/* Three single words from different tiles are received together: a cycle for each send, one for the
 * receive. */
Test(exchange, words_from_several_places_that_go_side_by_side_are_received_together)
{
  enum { TILES = 60, ROWS = 3 };
  compilation *c = new_compilation(TILES);
  for (uint32_t source = 0; source < TILES; source++)
    for (uint32_t tile = 0; tile < TILES; tile++)
      for (uint32_t row = 0; row < ROWS && tile != source; row++) {
        add_message(c, source, row * TILES + tile, 1);
        add_receiver(c, tile, source * ROWS + row);
      }
  plan(c, "transpose");
  cr_assert_lt(ratio_to_bound(c, "transpose of 60 x 3 by 60, 1 word"), 2.5);
  for (size_t i = 0; i < c->num_tile_exchanges; i++) {
    const tile_exchange *t = &c->tile_exchanges[i];
    size_t receives = 0;
    for (size_t j = 0; j < t->num_ops; j++)
      receives += c->exchange_ops[t->first_op + j].kind == EXCHANGE_RECEIVE_MUX;
    cr_assert_leq(receives, TILES - 1);
  }
  compilation_free(c);
}

/* Each tile sends two words to each of two other tiles, in no order, as vertices with any inputs
 * do. */
Test(exchange, short_messages_to_two_tiles_keep_no_one_waiting)
{
  enum { TILES = 200, PER_TILE = 100 };
  compilation *c = new_compilation(TILES);
  for (uint32_t source = 0; source < TILES; source++)
    for (uint32_t i = 0; i < PER_TILE; i++) {
      add_message(c, source, 2 * i, 2);
      add_receiver(c, (source + 1 + i) % TILES, 2 * i);
      add_receiver(c, (source + 102 + 37 * i) % TILES, 2 * (PER_TILE + i));
    }
  plan(c, "two readers");
  cr_assert_lt(ratio_to_bound(c, "2 words to two tiles each"), 1.9);
  compilation_free(c);
}

/* Random messages of up to `max_words` words to up to `max_receivers` receivers. Each tile's words
 * arrive one after the other, in random order if `scattered`. */
static void add_random_messages(compilation *c, uint32_t tiles, uint32_t count, uint32_t max_words,
                                uint32_t max_receivers, bool scattered, uint64_t seed)
{
  uint32_t *used = pop_xcalloc(tiles, sizeof *used), *sent = pop_xcalloc(tiles, sizeof *sent);
  for (uint32_t i = 0; i < count; i++) {
    uint32_t source = random_next(&seed) % tiles, words = 1 + random_next(&seed) % max_words;
    uint32_t receivers = 1 + random_next(&seed) % max_receivers;
    add_message(c, source, sent[source], words);
    sent[source] += words + random_next(&seed) % 2;
    for (uint32_t tile = random_next(&seed) % tiles, n = 0; n < receivers; n++, tile++) {
      if (tile % tiles == source) continue;
      add_receiver(c, tile % tiles, used[tile % tiles]);
      used[tile % tiles] += words + (scattered ? 1 : 0);
    }
    if (c->messages[c->num_messages - 1].num_receivers == 0) c->num_messages--;
  }
  free(used);
  free(sent);
}

Test(exchange, random_messages_arrive)
{
  static const struct {
    const char *name;
    uint32_t tiles, count, max_words, max_receivers;
    bool scattered;
    double limit; /* of the ratio: far below it the plans are fine, above it something is wrong */
  } cases[] = {
      {"2 tiles, single words", 2, 50, 1, 1, true, 3.5},
      {"16 tiles, single words, scattered", 16, 2000, 1, 1, true, 4},
      {"16 tiles, single words, contiguous", 16, 2000, 1, 1, false, 3.5},
      {"16 tiles, 1 to 40 words", 16, 1000, 40, 1, true, 1.6},
      {"16 tiles, 1 to 700 words", 16, 200, 700, 1, true, 1.5},
      {"16 tiles, 1 to 40 words to 1 to 8 tiles", 16, 300, 40, 8, true, 2.5},
      {"300 tiles, 1 to 9 words", 300, 9000, 9, 1, false, 2.2},
      {"300 tiles, 1 to 300 words to 1 to 3 tiles", 300, 3000, 300, 3, true, 2},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    for (uint64_t seed = 1; seed <= 3; seed++) {
      compilation *c = new_compilation(cases[i].tiles);
      add_random_messages(c, cases[i].tiles, cases[i].count, cases[i].max_words,
                          cases[i].max_receivers, cases[i].scattered, seed);
      plan(c, cases[i].name);
      double ratio = ratio_to_bound(c, cases[i].name);
      cr_assert_lt(ratio, cases[i].limit, "%s, seed %u", cases[i].name, (unsigned)seed);
      compilation_free(c);
    }
}

/* Sending and receiving share the slots of a tile. Where few are left, the slot that a send would
 * take may be the only one for the receiveAddress of the same words. */
Test(exchange, a_tile_sends_to_itself_when_it_has_slots_for_both_ends)
{
  enum { LATENCY = 6, CYCLES = 200, CASES = 2000 };
  const receiver self = {0, {1, 0}};
  const transmission t = {.shape = {1, 1}, .receivers = &self, .num_receivers = 1};
  uint64_t numbers = 1;
  for (int i = 0; i < CASES; i++) {
    uint32_t index = 0;
    timeline line = {0};
    exchange_plan plan = {
        .latency = LATENCY, .timelines = &line, .num_timelines = 1, .index_of_tile = &index};
    for (uint32_t cycle = 0; cycle < CYCLES; cycle++)
      if (random_next(&numbers) % 4) reserve_send(&line, &t.shape, cycle);
    uint64_t arrival = earliest_arrival(&plan, &t, 0);
    reserve_send(&line, &t.shape, arrival - LATENCY);
    cr_assert_eq(earliest_receive(&line, self.destination, 1, arrival), arrival, "case %d", i);
    timeline_free(&line);
  }
}

Test(exchange, plans_are_the_same_every_time)
{
  compilation *plans[2];
  for (size_t i = 0; i < 2; i++) {
    plans[i] = new_compilation(16);
    add_random_messages(plans[i], 16, 300, 20, 3, true, 7);
    plan(plans[i], "twice");
  }
  cr_assert_eq(plans[0]->num_exchange_ops, plans[1]->num_exchange_ops);
  for (size_t i = 0; i < plans[0]->num_exchange_ops; i++) {
    const exchange_op *a = &plans[0]->exchange_ops[i], *b = &plans[1]->exchange_ops[i];
    cr_assert(a->kind == b->kind && a->count == b->count && a->tile == b->tile &&
              a->at.block == b->at.block && a->at.offset == b->at.offset);
  }
  compilation_free(plans[0]);
  compilation_free(plans[1]);
}

/* The verifier must find wrong plans. */
Test(exchange, verifier_sees_a_plan_that_is_wrong)
{
  static const exchange_op_kind kinds[] = {EXCHANGE_SEND, EXCHANGE_RECEIVE_ADDRESS,
                                           EXCHANGE_RECEIVE_MUX, EXCHANGE_DELAY, EXCHANGE_END};
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
    compilation *c = new_compilation(3);
    add_message(c, 0, 0, 10);
    add_receiver(c, 1, 0);
    add_receiver(c, 2, 4);
    plan(c, "right");
    for (size_t j = 0; j < c->num_exchange_ops; j++) {
      exchange_op *op = &c->exchange_ops[j];
      if (op->kind != kinds[i]) continue;
      op->count++;
      op->at.offset += WORD;
      if (op->kind == EXCHANGE_END) op->kind = EXCHANGE_RECEIVE_ADDRESS;
      break;
    }
    pop_error *error = verify_exchange(c, &c->exchanges[0]);
    cr_assert_not_null(error, "change of an op of kind %d", (int)kinds[i]);
    pop_error_free(error);
    compilation_free(c);
  }
}

/* ---- between IPUs ---- */

static compilation *new_compilation_of_ipus(uint32_t num_ipus, uint32_t tiles_per_ipu)
{
  compilation *c = new_compilation(num_ipus * tiles_per_ipu);
  c->target.num_ipus = num_ipus;
  c->target.tiles_per_ipu = tiles_per_ipu;
  return c;
}

static pop_error *plan_global(compilation *c)
{
  pop_push(
      c->exchanges, c->num_exchanges, c->exchanges_capacity,
      (exchange){.name = "global", .zone = EXCHANGE_BETWEEN_IPUS, .num_messages = c->num_messages});
  pop_error *error = pass_exchange(c);
  cr_assert_null(error);
  return verify_exchange(c, &c->exchanges[0]);
}

Test(exchange, random_packets_between_ipus_arrive)
{
  for (uint32_t seed = 1; seed <= 100; seed++) {
    uint32_t random = seed;
#define RANDOM(limit) ((random = random * 1103515245 + 12345) >> 8) % (limit)
    uint32_t ipus = 2 + RANDOM(4), tiles = 1 + RANDOM(4), num_tiles = ipus * tiles;
    compilation *c = new_compilation_of_ipus(ipus, tiles);
    uint32_t *filled = pop_xcalloc(num_tiles, sizeof *filled); /* words of the receiving block */
    for (uint32_t count = 1 + RANDOM(60); count > 0; count--) {
      uint32_t source = RANDOM(num_tiles), words = 1 + RANDOM(400);
      add_message(c, source, RANDOM(1000), words);
      for (uint32_t tile = 0; tile < num_tiles; tile++) {
        if (tile / tiles == source / tiles || RANDOM(3) == 0) continue;
        add_receiver(c, tile, filled[tile]);
        filled[tile] += words;
      }
      if (c->messages[c->num_messages - 1].num_receivers == 0) c->num_messages--;
    }
#undef RANDOM
    pop_error *error = plan_global(c);
    cr_assert_null(error, "seed %u: %s", seed, error ? pop_error_message(error) : "");
    uint64_t sent = 0, received = 0, expected = 0;
    for (size_t i = 0; i < c->num_tile_exchanges; i++) {
      sent += c->tile_exchanges[i].bytes_sent;
      received += c->tile_exchanges[i].bytes_received;
      cr_assert_eq(c->tile_exchanges[i].cycles, c->tile_exchanges[i].num_ops);
    }
    for (size_t i = 0; i < c->num_messages; i++) expected += c->messages[i].num_words * WORD;
    cr_assert_eq(sent, expected, "seed %u: a packet is sent once", seed);
    cr_assert_geq(received, sent);
    free(filled);
    compilation_free(c);
  }
}

/* verify_exchange must find a single wrong number in a plan. Otherwise the tests above would show
 * nothing. */
Test(exchange, wrong_headers_are_found)
{
  for (uint32_t word = 1; word < 4; word++)
    for (uint32_t packet = 0; packet < 2; packet++) {
      compilation *c = new_compilation_of_ipus(2, 1);
      add_message(c, 0, 8, 5);
      add_receiver(c, 1, 3);
      cr_assert_null(plan_global(c));
      uint32_t block = c->exchange_ops[c->tile_exchanges[packet].first_op].at.block;
      uint8_t *header = c->bytes + c->contents[c->blocks[block].content].first_byte;
      header[4 * word] ^= 2;
      pop_error *error = verify_exchange(c, &c->exchanges[0]);
      if (packet == 0 && word == 2) { /* right for another IPU too, if a tile receives it */
        pop_error_free(error);
        header[4 * word] = 1;
        error = verify_exchange(c, &c->exchanges[0]);
      }
      cr_assert_not_null(error, "packet %u, word %u", packet, word);
      pop_error_free(error);
      compilation_free(c);
    }
}
