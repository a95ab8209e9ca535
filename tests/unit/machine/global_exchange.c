/* runtime/machine/global_exchange.c: packets between IPUs, their cycles computed by hand, and their
 * faults; internal syncs of several IPUs. */
#include "support/rig.h"

#include <stdlib.h>

enum {
  SLOT = 6,
  CODE_WORD = 200,
  EXCHANGE = RIG_CODE + 4 * CODE_WORD,
  HEADERS = RIG_DATA + 0x1000
};
enum { LATENCY = 300, LINK = 8 };

typedef struct header {
  uint32_t address, words, third, fourth;
} header;

static rig create(uint32_t ipus, uint32_t tiles_per_ipu)
{
  rig r = rig_create(ipus * tiles_per_ipu, 0);
  machine_free(r.m);
  r.target.num_ipus = ipus;
  r.target.tiles_per_ipu = tiles_per_ipu;
  r.target.global_latency_cycles = LATENCY;
  r.target.global_bytes_per_cycle = LINK;
  machine_options options = {0};
  expect_ok(machine_create(&r.target, &options, &r.m));
  return r;
}

/* The tile waits for the host, exchanges, or only syncs if it has no packets, notes its cycle at
 * RIG_BEHIND and reports 2. */
static void assemble(rig *r, uint32_t tile, const char *packets)
{
  assembler *a = &r->code[tile];
  rig_report(a, 1);
  asm_li(a, T0, EXCHANGE);
  if (packets)
    asm_tile(a, TILE_EXCHANGE, ISA_SYNC_EXTERNAL, T0, 0);
  else
    asm_tile(a, TILE_SYNC, ISA_SYNC_EXTERNAL, 0, 0);
  asm_csrr(a, T1, 0xc00);
  asm_li(a, T0, RIG_BEHIND);
  asm_store(a, ASM_SW, T1, T0, 0);
  rig_report(a, 2);
  while (a->count < CODE_WORD) asm_word(a, 0);
  for (uint32_t i = 0; packets && packets[i]; i++)
    asm_word(a, isa_imm22_word(packets[i] == 's'   ? ISA_FUNCT3_GLOBAL_SEND
                               : packets[i] == 'r' ? ISA_FUNCT3_GLOBAL_RECEIVE
                                                   : ISA_FUNCT3_DELAY,
                               RIG_WORD(HEADERS + sizeof(header) * i)));
  if (packets) asm_end(a);
}

static void put_headers(const rig *r, uint32_t tile, const header *headers, size_t count)
{
  expect_ok(machine_write(r->m, tile, HEADERS, headers, (uint32_t)(count * sizeof *headers)));
}

static void fill(const rig *r, uint32_t tile)
{
  for (uint32_t i = 0; i < 64; i++) {
    uint32_t value = 1000 * (tile + 1) + i;
    expect_ok(machine_write(r->m, tile, RIG_DATA + 4 * i, &value, 4));
  }
}

static void collect(void *context, const machine_trace_event *event)
{
  machine_trace_event *last = context;
  if (event->kind == MACHINE_TRACE_GLOBAL_EXCHANGE) last[event->tile] = *event;
  if (event->kind == MACHINE_TRACE_SYNC) last[7] = *event;
}

/* Tile 1 sends 20 words to two IPUs, where three tiles receive them, and 2 words to one IPU. Tile 5
 * sends 3 words back. Tile 0 only syncs. */
Test(machine_global, packets_go_once_to_each_ipu)
{
  rig r = create(3, 2);
  machine_trace_event events[8] = {{0}};
  assemble(&r, 0, NULL);
  assemble(&r, 1, "ssr");
  assemble(&r, 2, "r");
  assemble(&r, 3, "rr");
  assemble(&r, 4, NULL);
  assemble(&r, 5, "sr");
  rig_load(&r);
  machine_set_trace(r.m, collect, events);
  cr_assert_eq(rig_run(&r), 1);
  for (uint32_t i = 0; i < 6; i++) fill(&r, i);
  enum { TO = RIG_DATA + 0x800 };
  put_headers(&r, 1, (header[]){{RIG_DATA, 20, 6, 0}, {RIG_DATA + 100, 2, 2, 0}, {TO + 4, 3, 5, 0}},
              3);
  put_headers(&r, 2, (header[]){{TO, 20, 1, 0}}, 1);
  put_headers(&r, 3, (header[]){{TO, 2, 1, 1}, {TO + 8, 20, 1, 0}}, 2);
  put_headers(&r, 5, (header[]){{RIG_DATA + 40, 3, 1, 0}, {TO, 20, 1, 0}}, 2);
  uint64_t start = machine_get_counters(r.m).cycles;
  cr_assert_eq(rig_run(&r), 2);
  cr_assert_eq(rig_word(&r, 1, TO + 4), 6010);
  cr_assert_eq(rig_word(&r, 1, TO + 12), 6012);
  cr_assert_eq(rig_word(&r, 1, TO + 16), 0);
  for (uint32_t i = 0; i < 20; i++) {
    cr_assert_eq(rig_word(&r, 2, TO + 4 * i), 2000 + i);
    cr_assert_eq(rig_word(&r, 3, TO + 8 + 4 * i), 2000 + i);
    cr_assert_eq(rig_word(&r, 5, TO + 4 * i), 2000 + i);
  }
  cr_assert_eq(rig_word(&r, 3, TO), 2025);
  cr_assert_eq(rig_word(&r, 2, TO - 4), 0);
  /* li, li, exchange; external sync; four instructions; IPU 0 sends (20 + 4) words twice, and (2 +
   * 4) once. */
  uint64_t asked = start + 3 * SLOT, released = asked + RIG_HOST_SYNC;
  uint64_t took = 4 + LATENCY + ((24 + 24 + 6) * 4 + LINK - 1) / LINK;
  cr_assert_eq(events[7].argument, ISA_SYNC_EXTERNAL);
  cr_assert_eq(events[7].from, asked);
  cr_assert_eq(events[7].to, released);
  for (uint32_t i = 1; i < 6; i++) {
    if (i == 4) continue;
    cr_assert_eq(events[i].from, released);
    cr_assert_eq(events[i].to, released + took, "tile %u: %llu", i,
                 (unsigned long long)(events[i].to - released));
    cr_assert_eq(rig_word(&r, i, RIG_BEHIND), released + took);
  }
  cr_assert_eq(events[3].bytes, 88);
  cr_assert_eq(rig_word(&r, 0, RIG_BEHIND), released, "who takes no part goes on");
  machine_counters counters = machine_get_counters(r.m);
  cr_assert_eq(counters.global_bytes, 4 * (20 + 20 + 2 + 3));
  cr_assert_eq(counters.exchanged_bytes, 4 * (3 + 20 + 22 + 20));
  rig_free(&r);
}

/* A tile sends and receives at most as fast as in other exchanges. */
Test(machine_global, a_tile_is_no_faster_than_its_exchange)
{
  rig r = create(2, 1);
  machine_free(r.m);
  r.target.global_bytes_per_cycle = 4096;
  machine_options options = {0};
  expect_ok(machine_create(&r.target, &options, &r.m));
  assemble(&r, 0, "s");
  assemble(&r, 1, "r");
  rig_load(&r);
  rig_run(&r);
  put_headers(&r, 0, (header[]){{RIG_DATA, 500, 2, 0}}, 1);
  put_headers(&r, 1, (header[]){{RIG_DATA, 500, 0, 0}}, 1);
  uint64_t start = machine_get_counters(r.m).cycles;
  rig_run(&r);
  cr_assert_eq(rig_word(&r, 0, RIG_BEHIND), start + 3 * SLOT + RIG_HOST_SYNC + 2 + LATENCY + 500);
  rig_free(&r);
}

Test(machine_global, wrong_packets_are_faults_and_nothing_moves)
{
  enum { SENDS, RECEIVES };
  static const struct {
    header header;
    const char *packets; /* for the wrong tile; the last packet has the header */
    machine_fault_kind kind;
    const char *detail;
  } cases[] = {
      {{RIG_DATA, 0, 2, 0}, "ss", MACHINE_FAULT_EXCHANGE_CONFIG, "no words"},
      {{RIG_DATA, 4, 0, 0}, "ss", MACHINE_FAULT_EXCHANGE_CONFIG, "IPUs 0x0"},
      {{RIG_DATA, 4, 3, 0},
       "ss",
       MACHINE_FAULT_EXCHANGE_CONFIG,
       "0x3 of 32 from 0 on: the tile's own is 0 of 3"},
      {{RIG_DATA, 4, 8, 0}, "ss", MACHINE_FAULT_EXCHANGE_CONFIG, "0x8 of 32 from 0 on"},
      {{RIG_DATA, 4, 1u << 31, 0}, "ss", MACHINE_FAULT_EXCHANGE_CONFIG, "0x80000000 of 32"},
      {{RIG_DATA, 4, 2, 1}, "ss", MACHINE_FAULT_EXCHANGE_CONFIG, "0x2 of 32 from 32 on"},
      {{RIG_DATA, 4, 2, 0x8000000}, "ss", MACHINE_FAULT_EXCHANGE_CONFIG, "0x2 of 32 from"},
      {{RIG_END - 4, 2, 2, 0}, "ss", MACHINE_FAULT_INVALID_ADDRESS, "2 words"},
      {{RIG_DATA, 0x40000001, 2, 0}, "ss", MACHINE_FAULT_INVALID_ADDRESS, "words at"},
      {{RIG_DATA + 2, 1, 2, 0}, "ss", MACHINE_FAULT_INVALID_ADDRESS, "words at"},
      {{RIG_CONST, 1, 1, 0}, "sr", MACHINE_FAULT_INVALID_ADDRESS, "not writable"},
      {{RIG_DATA, 4, 3, 0}, "sr", MACHINE_FAULT_EXCHANGE_ERROR, "packet 0 of tile 3"},
      {{RIG_DATA, 4, 99, 0}, "sr", MACHINE_FAULT_EXCHANGE_ERROR, "of tile 99"},
      {{RIG_DATA, 4, 2, 0},
       "sr",
       MACHINE_FAULT_EXCHANGE_ERROR,
       "4 words of packet 0 of tile 2, which has 5"},
      {{RIG_DATA, 5, 2, 0}, "sr", MACHINE_FAULT_EXCHANGE_ERROR, "does not go to IPU 0"},
      {{RIG_DATA + 4, 5, 2, 1}, "sr", MACHINE_FAULT_EXCHANGE_CONFIG, "received and sent"},
      {{0}, "sx", MACHINE_FAULT_INVALID_INSTRUCTION, "no global exchange"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    rig r = create(3, 2);
    assemble(&r, 0, cases[i].packets);
    assemble(&r, 1, NULL);
    assemble(&r, 2, "ss");
    assemble(&r, 3, "r");
    assemble(&r, 4, "r");
    assemble(&r, 5, NULL);
    rig_load(&r);
    rig_run(&r);
    for (uint32_t t = 0; t < 6; t++) fill(&r, t);
    enum { TO = RIG_DATA + 0x800 };
    put_headers(&r, 0, (header[]){{RIG_DATA, 3, 2, 0}, cases[i].header}, 2);
    put_headers(&r, 2, (header[]){{RIG_DATA, 5, 4, 0}, {RIG_DATA, 5, 1, 0}}, 2);
    put_headers(&r, 3, (header[]){{TO, 3, 0, 0}}, 1);
    put_headers(&r, 4, (header[]){{TO, 5, 2, 0}}, 1);
    const machine_fault *fault = rig_run_into(&r, cases[i].kind);
    cr_assert_not_null(strstr(fault->detail, cases[i].detail), "case %zu: %s", i, fault->detail);
    cr_assert_eq(fault->tile, 0, "case %zu", i);
    cr_assert_eq(fault->pc, EXCHANGE + 4, "case %zu: pc 0x%x", i, fault->pc);
    cr_assert_eq(rig_word(&r, 4, TO), 0, "case %zu: something moved", i);
    rig_free(&r);
  }
}

/* A word that is received twice is a fault. A word that two packets send is not. */
Test(machine_global, no_word_is_received_twice)
{
  for (uint32_t apart = 0; apart < 2; apart++) {
    rig r = create(2, 1);
    assemble(&r, 0, "ss");
    assemble(&r, 1, "rr");
    rig_load(&r);
    rig_run(&r);
    put_headers(&r, 0, (header[]){{RIG_DATA, 5, 2, 0}, {RIG_DATA + 4, 5, 2, 0}}, 2);
    put_headers(&r, 1, (header[]){{RIG_DATA + 16 + 4 * apart, 5, 0, 1}, {RIG_DATA, 5, 0, 0}}, 2);
    if (apart)
      rig_run(&r);
    else
      rig_run_into(&r, MACHINE_FAULT_EXCHANGE_CONFIG);
    rig_free(&r);
  }
}

/* Internal syncs align the tiles of one IPU only. The host's sync aligns all tiles. */
Test(machine_global, ipus_sync_by_themselves)
{
  rig r = create(2, 2);
  for (uint32_t i = 0; i < 4; i++) {
    assembler *a = &r.code[i];
    asm_nops(a, 10 * (i + 1));
    asm_tile(a, TILE_SYNC, ISA_SYNC_INTERNAL, 0, 0);
    asm_csrr(a, T1, 0xc00);
    asm_li(a, T0, RIG_BEHIND);
    asm_store(a, ASM_SW, T1, T0, 0);
    rig_report(a, 1);
  }
  rig_load(&r);
  rig_run(&r);
  for (uint32_t i = 0; i < 4; i++)
    cr_assert_eq(rig_word(&r, i, RIG_BEHIND), (i < 2 ? 21 : 41) * SLOT + RIG_SYNC);
  cr_assert_eq(machine_get_counters(r.m).cycles, (41 + 7) * SLOT + RIG_SYNC + RIG_HOST_SYNC);
  rig_free(&r);
}

Test(machine_global, tiles_must_ask_for_one_zone)
{
  rig r = create(2, 1);
  asm_tile(&r.code[0], TILE_SYNC, ISA_SYNC_INTERNAL, 0, 0);
  asm_nops(&r.code[1], 1);
  asm_tile(&r.code[1], TILE_SYNC, ISA_SYNC_EXTERNAL, 0, 0);
  rig_load(&r);
  const machine_fault *fault = rig_run_into(&r, MACHINE_FAULT_EXCHANGE_ERROR);
  cr_assert_eq(fault->tile, 1);
  cr_assert_not_null(strstr(fault->detail, "external sync"), "%s", fault->detail);
  rig_free(&r);
}

/* Two IPUs of two tiles: tile 0 sends, tile 3 receives from tile `sender` of its own IPU. */
static rig receive_within(uint32_t sender)
{
  rig r = create(2, 2);
  for (uint32_t i = 0; i < 4; i++) {
    asm_li(&r.code[i], T0, RIG_CODE + 40);
    asm_tile(&r.code[i], TILE_EXCHANGE, ISA_SYNC_INTERNAL, T0, 0);
    while (r.code[i].count < 10) asm_word(&r.code[i], 0);
    if (i == 0 || i == 2) asm_send(&r.code[i], RIG_WORD(RIG_DATA), 1);
    if (i == 3) {
      asm_receive_address(&r.code[i], RIG_WORD(RIG_DATA));
      asm_delay(&r.code[i], RIG_LATENCY - 2);
      asm_receive(&r.code[i], sender, 1);
    }
    asm_end(&r.code[i]);
  }
  rig_load(&r);
  return r;
}

/* During an exchange between IPUs, a tile receives only from tiles of its own IPU. */
Test(machine_global, internal_exchange_ends_at_the_ipu)
{
  static const char *const details[] = {"tile 3", "tile 2 of the tile's IPU, which does not exist"};
  for (uint32_t i = 0; i < 2; i++) {
    rig r = receive_within(1 + i);
    const machine_fault *fault =
        rig_run_into(&r, i ? MACHINE_FAULT_EXCHANGE_CONFIG : MACHINE_FAULT_EXCHANGE_ERROR);
    cr_assert_not_null(strstr(fault->detail, details[i]), "%s", fault->detail);
    cr_assert_eq(fault->tile, 3);
    rig_free(&r);
  }
}
