/* Repeated exchanges between replicas (runtime/machine/global_cache.c): two machines in one
 * process. */
#include "support/rig.h"

#include <ranks/ranks.h>
#include <stdlib.h>

enum {
  REPLICAS = 2,
  ROUNDS = 4,
  CODE_WORD = 200,
  EXCHANGE = RIG_CODE + 4 * CODE_WORD,
  MAP = RIG_DATA + 0x1000,
  HEADERS = MAP + 0x40,
  FROM = RIG_DATA,
  TO = RIG_DATA + 0x400
};

typedef struct header {
  uint32_t address, words, third, fourth;
} header;

typedef struct pair {
  rig rigs[REPLICAS];
  machine *machines[REPLICAS];
  ranks *ranks;
} pair;

/* One tile, which reports 1 to the host and exchanges ROUNDS times: one packet sent, one
 * received. */
static rig new_replica(void)
{
  rig r = rig_create(1, 0);
  assembler *a = &r.code[0];
  for (int i = 0; i < ROUNDS; i++) {
    rig_report(a, 1);
    asm_li(a, T0, EXCHANGE);
    asm_tile(a, TILE_EXCHANGE, ISA_SYNC_REPLICAS, T0, 0);
  }
  rig_report(a, 2);
  while (a->count < CODE_WORD) asm_word(a, 0);
  asm_word(a, isa_imm22_word(ISA_FUNCT3_REPLICA_MAP, RIG_WORD(MAP)));
  asm_word(a, isa_imm22_word(ISA_FUNCT3_GLOBAL_SEND, RIG_WORD(HEADERS)));
  asm_word(a, isa_imm22_word(ISA_FUNCT3_GLOBAL_RECEIVE, RIG_WORD(HEADERS + sizeof(header))));
  asm_end(a);
  rig_load(&r);
  cr_assert_eq(rig_run(&r), 1);
  return r;
}

static void put(const pair *p, uint32_t replica, uint32_t address, const void *bytes, size_t count)
{
  expect_ok(machine_write(p->machines[replica], 0, address, bytes, (uint32_t)count));
}

static void put_packets(const pair *p, uint32_t to, uint32_t words)
{
  const uint32_t map[REPLICAS] = {1, 0};
  const header headers[] = {{FROM, words, 1, 0}, {to, words, 0, 0}};
  for (uint32_t i = 0; i < REPLICAS; i++) {
    put(p, i, MAP, map, sizeof map);
    put(p, i, HEADERS, headers, sizeof headers);
  }
}

static pair new_pair(void)
{
  pair p;
  for (uint32_t i = 0; i < REPLICAS; i++) {
    p.rigs[i] = new_replica();
    p.machines[i] = p.rigs[i].m;
  }
  expect_ok(ranks_open(&p.ranks));
  put_packets(&p, TO, 3);
  return p;
}

static void free_pair(pair *p)
{
  for (uint32_t i = 0; i < REPLICAS; i++) rig_free(&p->rigs[i]);
  ranks_close(p->ranks);
}

/* Runs to the exchange of the replicas. Each has its own words to send. */
static machine_group run_to_exchange(pair *p, uint32_t first_word)
{
  uint64_t latest = 0;
  for (uint32_t i = 0; i < REPLICAS; i++) {
    uint32_t event, words[8];
    for (uint32_t w = 0; w < 8; w++) words[w] = first_word + 100 * i + w;
    put(p, i, FROM, words, sizeof words);
    expect_ok(machine_run(p->machines[i], 0, &event));
    cr_assert_eq(event, MACHINE_REPLICA_SYNC);
    if (machine_latest_clock(p->machines[i]) > latest)
      latest = machine_latest_clock(p->machines[i]);
  }
  return (machine_group){.own = p->machines,
                         .num_own = REPLICAS,
                         .total = REPLICAS,
                         .ranks = p->ranks,
                         .latest = latest};
}

/* Exchanges as an engine does, and returns the cycles. *again: the kept exchange was used. */
static uint64_t exchange(pair *p, uint32_t first_word, bool *again)
{
  uint32_t faulted;
  uint64_t before = machine_get_counters(p->machines[0]).cycles;
  machine_group group = run_to_exchange(p, first_word);
  uint32_t number = machine_cached_exchange(&group);
  *again = number != MACHINE_NO_EXCHANGE;
  expect_ok(*again ? machine_replay_exchange(&group, number)
                   : machine_sync_replicas(&group, &faulted));
  for (uint32_t i = 0; i < REPLICAS; i++) {
    uint32_t event = rig_run(&p->rigs[i]);
    cr_assert(event == 1 || event == 2);
  }
  return machine_get_counters(p->machines[0]).cycles - before;
}

static void expect_words(pair *p, uint32_t to, uint32_t first_word, uint32_t count)
{
  for (uint32_t i = 0; i < REPLICAS; i++)
    for (uint32_t w = 0; w < count; w++)
      cr_assert_eq(rig_word(&p->rigs[i], 0, to + 4 * w), first_word + 100 * (1 - i) + w);
}

Test(replica_exchange, what_is_done_again_is_found_and_takes_as_long)
{
  pair p = new_pair();
  uint64_t cycles[ROUNDS];
  for (uint32_t i = 0; i < ROUNDS; i++) {
    bool again;
    cycles[i] = exchange(&p, 1000 * i, &again);
    cr_assert_eq(again, i > 0);
    cr_assert_eq(cycles[i], cycles[0]);
    expect_words(&p, TO, 1000 * i, 3);
  }
  machine_counters counters = machine_get_counters(p.machines[1]);
  cr_assert_eq(counters.global_bytes, ROUNDS * 4 * 3);
  cr_assert_eq(counters.exchanged_bytes, ROUNDS * 4 * 3);
  free_pair(&p);
}

/* Headers and maps are in memory that programs may write. */
Test(replica_exchange, other_packets_are_read_again)
{
  pair p = new_pair();
  bool again;
  uint64_t three = exchange(&p, 0, &again);
  put_packets(&p, TO + 64, 5);
  cr_assert_eq(exchange(&p, 10, &again), three + 2, "two more words");
  cr_assert_not(again);
  expect_words(&p, TO + 64, 10, 5);
  expect_words(&p, TO, 0, 3);
  put_packets(&p, TO, 3);
  cr_assert_eq(exchange(&p, 20, &again), three);
  cr_assert(again, "the first one, which is still known");
  expect_words(&p, TO, 20, 3);
  const uint32_t nowhere[REPLICAS] = {UINT32_MAX, 0};
  for (uint32_t i = 0; i < REPLICAS; i++) put(&p, i, MAP, nowhere, sizeof nowhere);
  exchange(&p, 30, &again);
  cr_assert_not(again);
  cr_assert_eq(rig_word(&p.rigs[1], 0, TO), 20, "nobody sends to it");
  cr_assert_eq(rig_word(&p.rigs[0], 0, TO), 130);
  free_pair(&p);
}

/* A wrong packet is found, also if the same code was right before. */
Test(replica_exchange, wrong_packets_are_no_kept_ones)
{
  pair p = new_pair();
  bool again;
  uint32_t faulted;
  exchange(&p, 0, &again);
  const header wrong = {TO, 4, 0, 0};
  put(&p, 1, HEADERS + sizeof wrong, &wrong, sizeof wrong);
  machine_group group = run_to_exchange(&p, 10);
  cr_assert_eq(machine_cached_exchange(&group), MACHINE_NO_EXCHANGE);
  expect_error(machine_sync_replicas(&group, &faulted), POP_ERROR_RUNTIME, "EXCHANGE_ERROR",
               "wrong");
  cr_assert_eq(faulted, 1);
  free_pair(&p);
}

Test(replica_exchange, loading_forgets_them)
{
  pair p = new_pair();
  bool again;
  exchange(&p, 0, &again);
  for (uint32_t i = 0; i < REPLICAS; i++) {
    machine_reset(p.machines[i]);
    rig_load(&p.rigs[i]);
    cr_assert_eq(rig_run(&p.rigs[i]), 1);
  }
  put_packets(&p, TO, 3);
  exchange(&p, 50, &again);
  cr_assert_not(again);
  expect_words(&p, TO, 50, 3);
  free_pair(&p);
}
