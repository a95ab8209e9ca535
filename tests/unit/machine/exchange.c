/* runtime/machine/exchange.c: exchange code, its timing to the cycle, every kind of wrong schedule,
 * and some exchange patterns (X09).
 *
 * With a latency of L = RIG_LATENCY, a word sent in cycle c arrives in cycle c + L, so its
 * receiveMux issues in cycle c + L - 1. */
#include "support/rig.h"

enum { SLOT = 6, L = RIG_LATENCY };

/* The address of a tile's exchange code: word 100 of its code. */
enum { EXCHANGE = RIG_CODE + 4 * 100 };

enum { HERE = RIG_WORD(RIG_DATA), THERE = RIG_WORD(RIG_DATA + 0x800) };

/* Every tile fills 64 words at RIG_DATA with 1000 * (tile + 1) + index, exchanges, reports. Tiles
 * with no exchange code yet only sync. The caller assembles at EXCHANGE. */
static rig start(uint32_t tiles)
{
  rig r = rig_create(tiles, 0);
  for (uint32_t i = 0; i < tiles; i++) {
    assembler *a = &r.code[i];
    asm_li(a, T0, RIG_DATA);
    asm_li(a, T1, 1000 * (i + 1));
    asm_addi(a, T2, T0, 256);
    uint32_t loop = asm_here(a);
    asm_store(a, ASM_SW, T1, T0, 0);
    asm_addi(a, T1, T1, 1);
    asm_addi(a, T0, T0, 4);
    asm_branch(a, ASM_BNE, T0, T2, loop);
    asm_li(a, T0, EXCHANGE);
    asm_tile(a, TILE_EXCHANGE, 0, T0, 0);
    asm_csrr(a, T1, 0xc00);
    asm_li(a, T0, RIG_BEHIND);
    asm_store(a, ASM_SW, T1, T0, 0); /* the cycle after the exchange */
    rig_report(a, 1);
    a->count = 100;
  }
  return r;
}

/* The cycle in which the exchange of all tiles starts. */
enum { STARTED = (5 + 64 * 4 + 3) * SLOT + RIG_SYNC };

static void expect_words(const rig *r, uint32_t tile, uint32_t word, uint32_t first, uint32_t count)
{
  for (uint32_t i = 0; i < count; i++) {
    uint32_t found = rig_word(r, tile, RIG_BASE + 4 * (word + i));
    cr_assert_eq(found, first + i, "tile %u, word %u: %u instead of %u", tile, i, found, first + i);
  }
}

Test(machine_exchange, one_word_from_tile_to_tile)
{
  rig r = start(3);
  asm_send(&r.code[0], HERE + 3, 1);
  asm_end(&r.code[0]);
  asm_receive_address(&r.code[1], THERE); /* cycle 0 */
  asm_delay(&r.code[1], L - 2);           /* 1 */
  asm_receive(&r.code[1], 0, 1);          /* L - 1: arrives in L */
  asm_end(&r.code[1]);                    /* L */
  asm_end(&r.code[2]);
  rig_load(&r);
  rig_run(&r);
  expect_words(&r, 1, THERE, 1003, 1);
  cr_assert_eq(rig_word(&r, 0, RIG_BEHIND), STARTED + 2, "send, end");
  cr_assert_eq(rig_word(&r, 1, RIG_BEHIND), STARTED + L + 1);
  cr_assert_eq(rig_word(&r, 2, RIG_BEHIND), STARTED + 1, "an end only");
  cr_assert_eq(machine_get_counters(r.m).exchanged_bytes, 4);
  cr_assert_eq(machine_get_counters(r.m).cycles, STARTED + L + 1 + 7 * SLOT + RIG_HOST_SYNC);
  rig_free(&r);
}

static void collect(void *context, const machine_trace_event *event)
{
  machine_trace_event *last = context;
  if (event->kind == MACHINE_TRACE_EXCHANGE) last[event->tile] = *event;
  if (event->kind == MACHINE_TRACE_SYNC) last[2] = *event;
}

/* One receive takes parts of two sends, another one starts in the middle of a send. Both tiles do
 * both. */
Test(machine_exchange, receives_need_not_match_sends_one_to_one)
{
  rig r = start(2);
  assembler *a = &r.code[0], *b = &r.code[1];
  asm_send(a, HERE, 10);              /* cycles 0-9 on the bus */
  asm_delay(a, 9);                    /* 1-9 */
  asm_send(a, HERE + 20, 5);          /* cycles 10-14 */
  asm_delay(a, 3);                    /* 11-13 */
  asm_end(a);                         /* 14 */
  asm_receive_address(b, THERE);      /* 0 */
  asm_delay(b, L - 1 + 6 - 1);        /* 1 … L + 4 */
  asm_receive(b, 0, 8);               /* L + 5: words 6-9 of the first, 0-3 of the second */
  asm_delay(b, 7);                    /* … L + 12 */
  asm_receive_address(b, THERE + 32); /* L + 13: the cycle of the last arrival */
  asm_end(b);                         /* L + 14 */
  machine_trace_event events[3] = {{0}};
  machine_set_trace(r.m, collect, events);
  rig_load(&r);
  rig_run(&r);
  expect_words(&r, 1, THERE, 1006, 4);
  expect_words(&r, 1, THERE + 4, 1020, 4);
  expect_words(&r, 1, THERE + 8, 0, 1);
  cr_assert_eq(events[0].from, STARTED);
  cr_assert_eq(events[0].to, STARTED + 15);
  cr_assert_eq(events[0].bytes, 0);
  cr_assert_eq(events[1].to, STARTED + L + 15);
  cr_assert_eq(events[1].bytes, 32);
  cr_assert_eq(events[1].argument, EXCHANGE);
  cr_assert_eq(events[2].from, STARTED - RIG_SYNC);
  cr_assert_eq(events[2].to, STARTED);
  rig_free(&r);
}

/* The pointer advances from receive to receive. Longest send and receive; words that a tile sends
 * to itself. */
Test(machine_exchange, back_to_back_receives_move_on)
{
  rig r = start(2);
  assembler *a = &r.code[0], *b = &r.code[1];
  for (uint32_t i = 0; i < 2; i++) { /* two bursts of 128 words, of which only 64 are set */
    asm_send(a, HERE + 128 * i, 128);
    asm_delay(a, 127);
  }
  asm_end(a);
  asm_receive_address(b, RIG_WORD(RIG_DATA) + 512);
  asm_delay(b, L - 2);
  asm_receive(b, 0, 256);
  asm_delay(b, 255);
  asm_end(b);
  rig_load(&r);
  rig_run(&r);
  expect_words(&r, 1, RIG_WORD(RIG_DATA) + 512, 1000, 64);
  cr_assert_eq(machine_get_counters(r.m).exchanged_bytes, 1024);
  rig_free(&r);
}

Test(machine_exchange, a_tile_may_receive_what_it_sends)
{
  rig r = start(1);
  assembler *a = &r.code[0];
  asm_receive_address(a, THERE);
  asm_send(a, HERE, 4); /* cycle 1 */
  asm_delay(a, L - 2);
  asm_receive(a, 0, 2); /* L: arrivals L + 1, L + 2 */
  asm_delay(a, 1);
  asm_receive(a, 0, 2); /* L + 2: the cycle of the last arrival */
  asm_delay(a, 1);
  asm_end(a);
  rig_load(&r);
  rig_run(&r);
  expect_words(&r, 0, THERE, 1000, 4);
  rig_free(&r);
}

/* Swap between two tiles: every tile sends and receives at the same time. Exchanged three times:
 * the plan is found again. */
Test(machine_exchange, swap_repeats_with_the_same_plan)
{
  rig r = rig_create(2, 0);
  for (uint32_t i = 0; i < 2; i++) {
    assembler *a = &r.code[i];
    asm_li(a, T0, EXCHANGE);
    uint32_t loop = asm_here(a);
    asm_tile(a, TILE_EXCHANGE, 0, T0, 0);
    asm_li(a, T1, RIG_DATA);
    asm_load(a, ASM_LW, T2, T1, 4);
    asm_addi(a, T2, T2, 1);
    asm_store(a, ASM_SW, T2, T1, 0);
    rig_report(a, 1);
    asm_jal(a, ZERO, loop);
    a->count = 100;
    asm_send(a, HERE, 1);
    asm_receive_address(a, HERE + 1);
    asm_delay(a, L - 3);
    asm_receive(a, 1 - i, 1);
    asm_end(a);
  }
  rig_load(&r);
  for (uint32_t round = 1; round <= 3; round++) {
    rig_run(&r);
    for (uint32_t i = 0; i < 2; i++) expect_words(&r, i, HERE, round, 1);
  }
  cr_assert_eq(machine_get_counters(r.m).exchanged_bytes, 24);
  rig_free(&r);
}

/* Tiles that exchange and tiles that only sync take part in the same sync. */
Test(machine_exchange, other_tiles_may_only_sync)
{
  rig r = start(3);
  for (uint32_t i = 0; i < 2; i++) asm_end(&r.code[i]);
  assembler *a = &r.code[2];
  a->count = 0;
  asm_tile(a, TILE_SYNC, 0, 0, 0);
  asm_csrr(a, T1, 0xc00);
  asm_li(a, T0, RIG_BEHIND);
  asm_store(a, ASM_SW, T1, T0, 0);
  rig_report(a, 1);
  rig_load(&r);
  rig_run(&r);
  cr_assert_eq(rig_word(&r, 2, RIG_BEHIND), STARTED);
  cr_assert_eq(rig_word(&r, 1, RIG_BEHIND), STARTED + 1);
  rig_free(&r);
}

/* Wrong schedules: tile 0 sends 8 words from HERE in cycles 0-7. Each case has its own code for
 * tile 1. */
typedef struct wrong {
  const char *name;
  uint32_t words[8]; /* exchange code of tile 1, ended by a 0 */
  machine_fault_kind kind;
  uint32_t at; /* index of the faulty word */
  const char *detail;
} wrong;

#define SEND(offset, words) isa_send_word((offset), (words))
#define MUX(tile, words) isa_receive_mux_word((tile), (words))
#define ADDRESS(offset) isa_imm22_word(ISA_FUNCT3_RECEIVE_ADDRESS, (offset))
#define DELAY(cycles) isa_imm22_word(ISA_FUNCT3_DELAY, (cycles))
#define FINISH isa_imm22_word(ISA_FUNCT3_END, 0)
#define CONFIG MACHINE_FAULT_EXCHANGE_CONFIG
#define MISMATCH MACHINE_FAULT_EXCHANGE_ERROR

Test(machine_exchange, V14_wrong_schedules)
{
  const wrong cases[] = {
      {"one cycle early",
       {ADDRESS(THERE), DELAY(L - 3), MUX(0, 1), FINISH},
       MISMATCH,
       2,
       "receive from tile 0 in cycle 4: nothing arrives"},
      {"one word too many",
       {ADDRESS(THERE), DELAY(L - 2), MUX(0, 9), DELAY(9), FINISH},
       MISMATCH,
       2,
       "receive from tile 0 in cycle 13: nothing arrives"},
      {"too late",
       {ADDRESS(THERE), DELAY(L + 6), MUX(0, 1), FINISH},
       MISMATCH,
       2,
       "in cycle 13: nothing arrives"},
      {"from a silent tile",
       {ADDRESS(THERE), DELAY(L), MUX(2, 1), FINISH},
       MISMATCH,
       2,
       "receive from tile 2"},
      {"from no tile",
       {ADDRESS(THERE), MUX(3, 1), FINISH},
       CONFIG,
       1,
       "tile 3 of the tile's IPU, which does not"},
      {"send while the bus is busy",
       {SEND(HERE, 2), SEND(HERE, 1), DELAY(9), FINISH},
       CONFIG,
       1,
       "exchange cycle 1: send while the bus is busy"},
      {"end while sending", {SEND(HERE, 3), FINISH}, CONFIG, 1, "end while words are being sent"},
      {"receive while one is open",
       {ADDRESS(THERE), DELAY(L - 2), MUX(0, 2), MUX(0, 1), FINISH},
       CONFIG,
       3,
       "receiveMux while a receive is open"},
      {"address while a receive is open",
       {ADDRESS(THERE), DELAY(L - 2), MUX(0, 2), ADDRESS(HERE), FINISH},
       CONFIG,
       3,
       "receiveAddress while a receive is open"},
      {"end while a receive is open",
       {ADDRESS(THERE), DELAY(L - 2), MUX(0, 2), FINISH},
       CONFIG,
       3,
       "end while a receive is open"},
      {"no receive address", {DELAY(L - 1), MUX(0, 1), FINISH}, CONFIG, 1, "before any"},
      {"delay of 0", {DELAY(0), FINISH}, CONFIG, 0, "delay of 0 cycles"},
      {"a word received twice",
       {ADDRESS(THERE), DELAY(L - 2), MUX(0, 1), ADDRESS(THERE), MUX(0, 1), FINISH},
       CONFIG,
       4,
       "received twice"},
      {"a word sent and received",
       {SEND(THERE, 2), ADDRESS(THERE + 1), DELAY(L - 3), MUX(0, 1), FINISH},
       CONFIG,
       0,
       "both sent and received"},
      {"receive into code",
       {ADDRESS(RIG_WORD(RIG_CODE)), DELAY(L - 2), MUX(0, 1), FINISH},
       MACHINE_FAULT_INVALID_ADDRESS,
       2,
       "0x4c000 are not writable memory"},
      {"receive into constants",
       {ADDRESS(RIG_WORD(RIG_CONST)), DELAY(L - 2), MUX(0, 1), FINISH},
       MACHINE_FAULT_INVALID_ADDRESS,
       2,
       "not writable"},
      {"receive over the end",
       {ADDRESS(RIG_WORD(RIG_END) - 1), DELAY(L - 2), MUX(0, 2), FINISH},
       MACHINE_FAULT_INVALID_ADDRESS,
       2,
       "2 words"},
      {"send from a hole",
       {SEND(RIG_WORD(RIG_HOLE), 1), FINISH},
       MACHINE_FAULT_INVALID_ADDRESS,
       0,
       "not used memory"},
      {"send over the end",
       {SEND(RIG_WORD(RIG_END) - 1, 2), FINISH},
       MACHINE_FAULT_INVALID_ADDRESS,
       0,
       "2 words"},
      {"send from far away",
       {SEND(ISA_MAX_WORD_OFFSET - 1, 128), FINISH},
       MACHINE_FAULT_INVALID_ADDRESS,
       0,
       "128 words"},
      {"no exchange instruction", {0x00000013, FINISH}, MACHINE_FAULT_INVALID_INSTRUCTION, 0, ""},
      {"a tile instruction", {0x0000002b, FINISH}, MACHINE_FAULT_INVALID_INSTRUCTION, 0, ""}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const wrong *c = &cases[i];
    rig r = start(3);
    asm_send(&r.code[0], HERE, 8);
    asm_delay(&r.code[0], 7);
    asm_end(&r.code[0]);
    for (int w = 0; c->words[w]; w++) asm_word(&r.code[1], c->words[w]);
    asm_end(&r.code[2]);
    rig_load(&r);
    const machine_fault *fault = rig_run_into(&r, c->kind);
    cr_assert_eq(fault->tile, 1, "%s", c->name);
    cr_assert_eq(fault->context, MACHINE_SUPERVISOR, "%s", c->name);
    cr_assert_eq(fault->pc, EXCHANGE + 4 * c->at, "%s: pc of word %u", c->name,
                 (fault->pc - EXCHANGE) / 4);
    cr_assert_eq(fault->word, c->words[c->at], "%s", c->name);
    cr_assert_not_null(strstr(fault->detail, c->detail), "%s: '%s'", c->name, fault->detail);
    cr_assert_eq(fault->num_faults, 1, "%s", c->name);
    expect_words(&r, 1, THERE, 0, 1); /* nothing was copied */
    rig_free(&r);
  }
}

/* Tile 1 sends SENT words from `sent` on. It receives as many words of tile 0 to `first`, and then
 * to `second`. */
enum { SENT = 3, RECEIVED = 2 };

static rig start_buffers(uint32_t sent, uint32_t first, uint32_t second)
{
  rig r = start(2);
  assembler *a = &r.code[0], *b = &r.code[1];
  asm_send(a, HERE, 8);
  asm_delay(a, 7);
  asm_end(a);
  asm_send(b, sent, SENT);
  asm_receive_address(b, first);
  asm_delay(b, L - 3);
  asm_receive(b, 0, RECEIVED); /* L - 1 */
  asm_delay(b, RECEIVED - 1);
  asm_receive_address(b, second); /* one word passes in between */
  asm_receive(b, 0, RECEIVED);
  asm_delay(b, 9);
  asm_end(b);
  rig_load(&r);
  return r;
}

static bool overlap(uint32_t a, uint32_t a_words, uint32_t b, uint32_t b_words)
{
  return a < b + b_words && b < a + a_words;
}

/* Words that are being sent or received must not be received into. A buffer near another one faults
 * exactly when the two share a word. */
Test(machine_exchange, V14_buffers_in_use_are_not_written)
{
  enum { REACH = 4, FAR = 32 };
  for (uint32_t shift = 0; shift <= 2 * REACH; shift++)
    for (int which = 0; which < 3; which++) {
      const uint32_t near = THERE + shift - REACH, sent = which == 2 ? THERE + FAR : THERE,
                     first = which == 1   ? THERE + FAR
                             : which == 2 ? THERE
                                          : near,
                     second = which == 0 ? THERE + FAR : near;
      bool with_send =
          overlap(sent, SENT, first, RECEIVED) || overlap(sent, SENT, second, RECEIVED);
      bool twice = overlap(first, RECEIVED, second, RECEIVED);
      rig r = start_buffers(sent, first, second);
      if (with_send || twice) {
        const machine_fault *fault = rig_run_into(&r, CONFIG);
        cr_assert_eq(fault->tile, 1);
        cr_assert(strstr(fault->detail, twice ? "received twice" : "both sent and received"), "%s",
                  fault->detail);
        for (uint32_t i = 0; i < RECEIVED; i++) { /* nothing was copied */
          expect_words(&r, 1, first + i, 0, 1);
          expect_words(&r, 1, second + i, 0, 1);
        }
      } else {
        rig_run(&r);
        expect_words(&r, 1, first, 1000, RECEIVED);
        expect_words(&r, 1, second, 1000 + RECEIVED + 1, RECEIVED);
      }
      rig_free(&r);
    }
}

Test(machine_exchange, code_at_no_code)
{
  static const uint32_t addresses[] = {0, RIG_DATA, RIG_CODE + 2, RIG_CONST};
  for (size_t i = 0; i < sizeof addresses / sizeof *addresses; i++) {
    rig r = rig_create(1, 0);
    asm_li(&r.code[0], T0, addresses[i]);
    asm_tile(&r.code[0], TILE_EXCHANGE, 0, T0, 0);
    rig_load(&r);
    cr_assert_eq(rig_run_into(&r, MACHINE_FAULT_INVALID_PC)->pc, addresses[i]);
    rig_free(&r);
  }
}

Test(machine_exchange, V16_several_wrong_schedules)
{
  rig r = start(4);
  for (uint32_t i = 0; i < 4; i++) {
    if (i % 2) asm_delay(&r.code[i], 0);
    asm_end(&r.code[i]);
  }
  rig_load(&r);
  const machine_fault *fault = rig_run_into(&r, CONFIG);
  cr_assert_eq(fault->tile, 1);
  cr_assert_eq(fault->num_faults, 2);
  rig_free(&r);
}

Test(machine_exchange, X09_all_tiles_to_one)
{
  enum { TILES = 100 };
  rig r = start(TILES);
  for (uint32_t i = 1; i < TILES; i++) { /* tile i sends in cycle i */
    asm_delay(&r.code[i], i);
    asm_send(&r.code[i], HERE, 1);
    asm_end(&r.code[i]);
  }
  asm_receive_address(&r.code[0], THERE);
  asm_delay(&r.code[0], L - 1);
  for (uint32_t i = 1; i < TILES; i++) asm_receive(&r.code[0], i, 1); /* cycle i + L - 1 */
  asm_end(&r.code[0]);
  rig_load(&r);
  rig_run(&r);
  for (uint32_t i = 1; i < TILES; i++) expect_words(&r, 0, THERE + i - 1, 1000 * (i + 1), 1);
  cr_assert_eq(rig_word(&r, 0, RIG_BEHIND), STARTED + L + TILES);
  rig_free(&r);
}

Test(machine_exchange, X09_one_tile_to_all)
{
  enum { TILES = 100 };
  rig r = start(TILES);
  asm_send(&r.code[0], HERE, 64);
  asm_delay(&r.code[0], 63);
  asm_end(&r.code[0]);
  for (uint32_t i = 1; i < TILES; i++) {
    asm_receive_address(&r.code[i], THERE);
    asm_delay(&r.code[i], L - 2);
    asm_receive(&r.code[i], 0, 64);
    asm_delay(&r.code[i], 63);
    asm_end(&r.code[i]);
  }
  rig_load(&r);
  rig_run(&r);
  for (uint32_t i = 1; i < TILES; i++) expect_words(&r, i, THERE, 1000, 64);
  cr_assert_eq(machine_get_counters(r.m).exchanged_bytes, 4 * 64 * (TILES - 1));
  rig_free(&r);
}

/* Word j of tile i becomes word i of tile j. Tile i sends all its words from cycle i on, so that
 * its word j is on the bus in cycle i + j, and tile j listens to one tile after the other. */
Test(machine_exchange, X09_all_to_all)
{
  enum { TILES = 60 };
  rig r = start(TILES);
  for (uint32_t i = 0; i < TILES; i++) {
    assembler *a = &r.code[i];
    if (i) asm_delay(a, i);
    asm_send(a, HERE, TILES);      /* cycle i */
    asm_receive_address(a, THERE); /* i + 1 */
    asm_delay(a, L - 3);
    for (uint32_t from = 0; from < TILES; from++) asm_receive(a, from, 1); /* i + L - 1 + from */
    asm_end(a);
  }
  rig_load(&r);
  rig_run(&r);
  for (uint32_t i = 0; i < TILES; i++)
    for (uint32_t from = 0; from < TILES; from++)
      expect_words(&r, i, THERE + from, 1000 * (from + 1) + i, 1);
  cr_assert_eq(machine_get_counters(r.m).exchanged_bytes, 4 * TILES * TILES);
  cr_assert_eq(rig_word(&r, TILES - 1, RIG_BEHIND), STARTED + TILES - 1 + L - 1 + TILES + 1);
  rig_free(&r);
}
