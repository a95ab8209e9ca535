/* runtime/machine: tile instructions, workers, syncs, and the cycles of all of them, which are
 * computed by hand.
 *
 * On the target of these tests (support/rig.h) an instruction costs one slot, except for div (6),
 * fdiv (3) and fsqrt (5). A slot is 6 cycles. */
#include "support/rig.h"

enum { SLOT = 6 };

Test(machine_tile, host_sync_reports_and_answers)
{
  rig r = rig_create(2, 0);
  for (uint32_t i = 0; i < 2; i++) {
    assembler *a = &r.code[i];
    rig_report(a, 7);
    asm_li(a, T0, RIG_DATA);
    asm_store(a, ASM_SW, A0, T0, 0);
    rig_report(a, 8);
  }
  rig_load(&r);
  uint32_t event;
  expect_ok(machine_run(r.m, 1, &event));
  cr_assert_eq(event, 7);
  cr_assert_eq(machine_get_counters(r.m).cycles, 3 * SLOT + RIG_HOST_SYNC);
  expect_ok(machine_run(r.m, 1234, &event));
  cr_assert_eq(event, 8);
  cr_assert_eq(rig_word(&r, 1, RIG_DATA), 1234);
  machine_counters counters = machine_get_counters(r.m);
  cr_assert_eq(counters.cycles, 9 * SLOT + 2 * RIG_HOST_SYNC);
  cr_assert_eq(counters.instructions, 2 * 9);
  cr_assert_eq(counters.supersteps, 2);
  rig_free(&r);
}

/* A worker that stores tile.number and tile.context at a0, runs `extra` nops, and exits. */
static uint32_t assemble_worker(assembler *a, uint32_t extra)
{
  uint32_t entry = asm_here(a);
  asm_tile(a, TILE_NUMBER, T0, 0, 0);
  asm_store(a, ASM_SW, T0, A0, 0);
  asm_tile(a, TILE_CONTEXT, T0, 0, 0);
  asm_store(a, ASM_SW, T0, A0, 4);
  asm_nops(a, extra);
  asm_tile(a, TILE_EXIT, 0, 0, 0);
  return entry;
}

static void note(void *context, const machine_trace_event *event)
{
  machine_trace_event **next = context;
  *(*next)++ = *event;
}

Test(machine_tile, workers_run_in_parallel_from_run_to_wait)
{
  rig r = rig_create(2, 0);
  for (uint32_t tile = 0; tile < 2; tile++) {
    assembler *a = &r.code[tile];
    asm_jal(a, ZERO, RIG_CODE + 4 * 32);
    while (a->count < 32) asm_word(a, 0);
    size_t start = a->count;
    a->count += 2 + 6 * 5 + 1 + 3; /* assembled below, when the worker's address is known */
    uint32_t worker = assemble_worker(a, 10);
    size_t end = a->count;
    a->count = start;
    asm_li(a, T1, worker);
    for (uint32_t w = 6; w-- > 0;) { /* started from 5 to 0, 5 slots each */
      asm_li(a, T2, RIG_DATA + 8 * w);
      asm_tile(a, TILE_RUN, w, T1, T2);
      asm_nops(a, 2);
    }
    asm_tile(a, TILE_WAIT, 0, 0, 0);
    rig_report(a, 1);
    a->count = end;
  }
  machine_trace_event events[8], *next = events;
  machine_set_trace(r.m, note, &next);
  rig_load(&r);
  cr_assert_eq(rig_run(&r), 1);
  for (uint32_t tile = 0; tile < 2; tile++)
    for (uint32_t w = 0; w < 6; w++) {
      cr_assert_eq(rig_word(&r, tile, RIG_DATA + 8 * w), tile);
      cr_assert_eq(rig_word(&r, tile, RIG_DATA + 8 * w + 4), w);
    }
  /* jal, li, then 5 slots for each worker, of which tile.run is the third; worker 0 is the last */
  uint64_t first_start = (1 + 2 + 3) * SLOT, last_start = first_start + 5 * 5 * SLOT;
  uint64_t end = last_start + 15 * SLOT;
  cr_assert_eq(next - events, 3);
  for (uint32_t tile = 0; tile < 2; tile++) {
    cr_assert_eq(events[tile].kind, MACHINE_TRACE_COMPUTE);
    cr_assert_eq(events[tile].tile, tile);
    cr_assert_eq(events[tile].argument, RIG_DATA);
    cr_assert_eq(events[tile].from, first_start);
    cr_assert_eq(events[tile].to, end);
  }
  cr_assert_eq(events[2].kind, MACHINE_TRACE_HOST_SYNC);
  cr_assert_eq(events[2].from, end + 3 * SLOT);
  cr_assert_eq(events[2].to, end + 3 * SLOT + RIG_HOST_SYNC);
  rig_free(&r);
}

/* Two runs that start `count` workers: by tile.runall, and one by one. */
Test(machine_tile, workers_started_together_start_in_one_cycle)
{
  for (uint32_t count = 1; count <= 6; count++) {
    rig r = rig_create(1, 0);
    assembler *a = &r.code[0];
    asm_li(a, T1, RIG_CODE + 4 * 16);
    asm_li(a, T2, RIG_DATA);
    asm_tile(a, TILE_RUN_ALL, count, T1, T2);
    asm_tile(a, TILE_WAIT, 0, 0, 0);
    rig_report(a, 1);
    while (a->count < 16) asm_word(a, 0);
    assemble_worker(a, 10);
    machine_trace_event events[4], *next = events;
    machine_set_trace(r.m, note, &next);
    rig_load(&r);
    for (uint32_t i = 0; i < 12; i++)
      expect_ok(machine_write(r.m, 0, RIG_DATA + 4 * i, &(uint32_t){99}, 4));
    cr_assert_eq(rig_run(&r), 1);
    for (uint32_t w = 0; w < 6; w++) {
      cr_assert_eq(rig_word(&r, 0, RIG_DATA + 8 * w), w < count ? 0 : 99);
      cr_assert_eq(rig_word(&r, 0, RIG_DATA + 8 * w + 4), w < count ? w : 99);
    }
    uint64_t start = events[0].from;
    cr_assert_eq(start % SLOT, 0);
    cr_assert_leq(start, 5 * SLOT); /* two addresses of at most two instructions, the start */
    cr_assert_eq(events[0].to, start + 15 * SLOT);
    rig_free(&r);
  }
}

Test(machine_tile, wait_without_running_workers_ends_at_once)
{
  rig r = rig_create(1, 0);
  asm_tile(&r.code[0], TILE_WAIT, 0, 0, 0);
  asm_tile(&r.code[0], TILE_WAIT, 0, 0, 0);
  rig_report(&r.code[0], 1);
  rig_load(&r);
  rig_run(&r);
  cr_assert_eq(machine_get_counters(r.m).cycles, 5 * SLOT + RIG_HOST_SYNC);
  rig_free(&r);
}

Test(machine_tile, sync_waits_for_the_slowest_tile)
{
  rig r = rig_create(3, 0);
  for (uint32_t i = 0; i < 3; i++) {
    asm_nops(&r.code[i], 10 * i);
    asm_tile(&r.code[i], TILE_SYNC, 0, 0, 0);
    asm_csrr(&r.code[i], A1, 0xc00); /* cycle */
    asm_csrr(&r.code[i], A2, 0xc02); /* instret */
    asm_li(&r.code[i], T0, RIG_DATA);
    asm_store(&r.code[i], ASM_SW, A1, T0, 0);
    asm_store(&r.code[i], ASM_SW, A2, T0, 4);
    rig_report(&r.code[i], 1);
  }
  rig_load(&r);
  rig_run(&r);
  uint32_t released = 21 * SLOT + RIG_SYNC;
  for (uint32_t i = 0; i < 3; i++) {
    cr_assert_eq(rig_word(&r, i, RIG_DATA), released);
    cr_assert_eq(rig_word(&r, i, RIG_DATA + 4), 10 * i + 2);
  }
  cr_assert_eq(machine_get_counters(r.m).cycles, released + 9 * SLOT + RIG_HOST_SYNC);
  cr_assert_eq(machine_get_counters(r.m).supersteps, 2);
  rig_free(&r);
}

/* Tile 1 takes no part in three syncs of tiles 0 and 2. It computes while they wait for each
 * other. */
static uint32_t clock_behind_acknowledged(bool plain, uint32_t nops, uint32_t *supersteps)
{
  rig r = rig_create_with(3, (machine_options){.plain = plain});
  for (uint32_t i = 0; i < 3; i++) {
    assembler *a = &r.code[i];
    if (i == 1) {
      asm_word(a, isa_sans_word(ISA_SYNC_INTERNAL, 3));
      asm_nops(a, nops);
      asm_tile(a, TILE_SYNC, ISA_SYNC_ANS, 0, 0);
      asm_tile(a, TILE_SYNC, ISA_SYNC_ANS, 0, 0); /* there is nothing to wait for */
    }
    for (uint32_t n = 0; i != 1 && n < 3; n++) {
      asm_nops(a, 4 * i);
      asm_tile(a, TILE_SYNC, 0, 0, 0);
    }
    asm_csrr(a, A1, 0xc00); /* cycle */
    asm_li(a, T0, RIG_DATA);
    asm_store(a, ASM_SW, A1, T0, 0);
    rig_report(a, 1);
  }
  rig_load(&r);
  rig_run(&r);
  uint32_t others = rig_word(&r, 0, RIG_DATA), clock = rig_word(&r, 1, RIG_DATA);
  cr_assert_eq(others, 3 * (9 * SLOT + RIG_SYNC));
  *supersteps = (uint32_t)machine_get_counters(r.m).supersteps;
  rig_free(&r);
  return clock;
}

Test(machine_tile, who_acknowledges_syncs_goes_on_and_waits_for_them_later)
{
  const uint32_t last = 3 * (9 * SLOT + RIG_SYNC); /* the last of the three syncs */
  uint32_t supersteps;
  for (int plain = 0; plain < 2; plain++) {
    cr_assert_eq(clock_behind_acknowledged(plain, 0, &supersteps), last + SLOT);
    cr_assert_eq(supersteps, 4);
    cr_assert_eq(clock_behind_acknowledged(plain, 50, &supersteps), last + SLOT);
    cr_assert_eq(clock_behind_acknowledged(plain, 500, &supersteps), 503 * SLOT);
  }
}

/* A tile that reaches tile.sans late delays the first sync, and no other. */
Test(machine_tile, acknowledging_asks_for_the_first_sync_when_it_is_executed)
{
  rig r = rig_create(2, 0);
  asm_nops(&r.code[0], 99);
  asm_word(&r.code[0], isa_sans_word(ISA_SYNC_EXTERNAL, 2));
  asm_tile(&r.code[0], TILE_SYNC, ISA_SYNC_ANS, 0, 0);
  asm_tile(&r.code[1], TILE_SYNC, ISA_SYNC_EXTERNAL, 0, 0);
  asm_tile(&r.code[1], TILE_SYNC, ISA_SYNC_EXTERNAL, 0, 0);
  for (uint32_t i = 0; i < 2; i++) rig_report(&r.code[i], 1);
  machine_trace_event events[4], *next = events;
  machine_set_trace(r.m, note, &next);
  rig_load(&r);
  rig_run(&r);
  cr_assert_eq(events[0].argument, ISA_SYNC_EXTERNAL);
  cr_assert_eq(events[0].from, 100 * SLOT);
  cr_assert_eq(events[1].from, 100 * SLOT + RIG_HOST_SYNC + SLOT);
  cr_assert_eq(machine_get_counters(r.m).cycles, 104 * SLOT + 3 * RIG_HOST_SYNC);
  rig_free(&r);
}

Test(machine_tile, external_sync_takes_as_long_as_one_with_the_host)
{
  rig r = rig_create(2, 0);
  for (uint32_t i = 0; i < 2; i++) {
    asm_tile(&r.code[i], TILE_SYNC, ISA_SYNC_EXTERNAL, 0, 0);
    rig_report(&r.code[i], 1);
  }
  machine_trace_event events[4], *next = events;
  machine_set_trace(r.m, note, &next);
  rig_load(&r);
  rig_run(&r);
  cr_assert_eq(events[0].kind, MACHINE_TRACE_SYNC);
  cr_assert_eq(events[0].argument, ISA_SYNC_EXTERNAL);
  cr_assert_eq(events[0].to - events[0].from, RIG_HOST_SYNC);
  cr_assert_eq(machine_get_counters(r.m).cycles, 4 * SLOT + 2 * RIG_HOST_SYNC);
  rig_free(&r);
}

/* tile.call sets ra and a0 and jumps. The machine remembers the vertex for the fault that
 * follows. */
Test(machine_tile, call_enters_a_vertex)
{
  rig r = rig_create(1, 0);
  assembler *a = &r.code[0];
  asm_li(a, T0, RIG_CODE + 4 * 20);
  asm_li(a, T1, RIG_DATA + 16);
  asm_tile(a, TILE_CALL, 0, T0, T1);
  uint32_t back = asm_here(a);
  asm_li(a, T2, 77);
  asm_tile(a, TILE_TRAP, 0, T2, 0);
  while (a->count < 20) asm_word(a, 0);
  asm_store(a, ASM_SW, RA, A0, 0);
  asm_store(a, ASM_SW, A0, A0, 4);
  asm_jalr(a, ZERO, RA, 0);
  rig_load(&r);
  const machine_fault *fault = rig_run_into(&r, MACHINE_FAULT_TRAP);
  cr_assert_eq(rig_word(&r, 0, RIG_DATA + 16), back);
  cr_assert_eq(rig_word(&r, 0, RIG_DATA + 20), RIG_DATA + 16);
  cr_assert_eq(fault->address, 77);
  cr_assert_eq(fault->pc, back + 8);
  cr_assert_eq(fault->vertex_state, RIG_DATA + 16);
  cr_assert_eq(fault->vertex_entry, RIG_CODE + 4 * 20);
  cr_assert_eq(fault->context, MACHINE_SUPERVISOR);
  cr_assert_eq(fault->cycle, 10 * SLOT, "5 to the call, 3 in it, 2 behind it");
  rig_free(&r);
}

/* Functions of pairs are two instructions on the chip. */
static uint64_t issues_of(const char *name)
{
  return strncmp(name, "f32v2", 5) == 0 || strncmp(name, "f16v4", 5) == 0 ? 2 : 1;
}

/* Each cost class costs what the target says, also in a long block and at the end of a page. */
Test(machine_tile, cycles_follow_the_cost_table)
{
  static const struct {
    const char *name;
    uint32_t word;
    pop_cost_class cost;
  } cases[] = {{"add", 0x00c58533, POP_COST_ALU},
               {"step", 0x0045051b, POP_COST_STEP},
               {"count", 0xfff5251b, POP_COST_STEP},
               {"lw", 0x0002a503, POP_COST_LOAD},
               {"sw", 0x00a2a023, POP_COST_STORE},
               {"joined lw", 0x0002e503, POP_COST_JOINED},
               {"joined flw", 0x0002e507, POP_COST_JOINED},
               {"joined fld", 0x0002f507, POP_COST_JOINED},
               {"joined sw", 0x00a2e023, POP_COST_JOINED},
               {"joined fsw", 0x00a2e027, POP_COST_JOINED},
               {"joined fsd", 0x00a2f027, POP_COST_JOINED},
               {"sh", 0x00a29023, POP_COST_STORE_HALF},
               {"fsh", 0x00a29027, POP_COST_STORE_HALF},
               {"sb", 0x00a28023, POP_COST_STORE_BYTE},
               {"beq not taken", 0x00500463, POP_COST_BRANCH},
               {"blt not taken", 0x0002c463, POP_COST_BRANCH},
               {"bgeu to next", 0x00a57263, POP_COST_COMPARE_BRANCH},
               {"beq to next", 0x00000263, POP_COST_BRANCH},
               {"jal to next", 0x0040006f, POP_COST_JUMP},
               {"mul", 0x02c58533, POP_COST_MUL},
               {"div", 0x02c5c533, POP_COST_DIV},
               {"remu", 0x02c5f533, POP_COST_DIV},
               {"fadd.s", 0x00c5f553, POP_COST_FLOAT},
               {"fmadd.h", 0x0cc58543, POP_COST_FLOAT},
               {"joined fadd.s", 0x00c58553, POP_COST_JOINED},
               {"fcvt.s.h", 0x40258553, POP_COST_FLOAT},
               {"joined fmin.s", 0x28c58557, POP_COST_JOINED},
               {"joined f16v4mul", 0x04c5f577, POP_COST_JOINED},
               {"fcvt.s.wu", 0xd0150553, POP_COST_FLOAT_OF_INT},
               {"fcvt.h.w", 0xd4050553, POP_COST_FLOAT_OF_INT},
               {"fcvt.w.s", 0xc0051553, POP_COST_INT_OF_FLOAT},
               {"flt.h", 0xa4b51553, POP_COST_FLOAT_COMPARE},
               {"tile.pair", 0x00c5a577, POP_COST_WORD_MOVE},
               {"tile.low", 0x0605a577, POP_COST_WORD_MOVE},
               {"fdiv.s", 0x18c58553, POP_COST_FLOAT_DIV},
               {"fsqrt.h", 0x5c050553, POP_COST_FLOAT_SQRT},
               {"f32exp2", 0x02053577, POP_COST_FLOAT_EXP},
               {"f32log2", 0x06053577, POP_COST_FLOAT_LOG},
               {"f32oorx", 0x0c053577, POP_COST_FLOAT_RSQRT},
               {"f32v2tanh", 0x08054577, POP_COST_FLOAT_TANH},
               {"f16v4exp", 0x00055577, POP_COST_HALF_EXP},
               {"f16v4tanh", 0x08055577, POP_COST_HALF_TANH},
               {"frflags", 0x00102573, POP_COST_CSR},
               {"tile.number", 0x1000052b, POP_COST_TILE}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    rig r = rig_create(1, 0);
    machine_free(r.m);
    for (unsigned c = 0; c < POP_COST_CLASS_COUNT; c++) r.target.cost[c] = (uint8_t)(3 + 2 * c);
    expect_ok(machine_create(&r.target, NULL, &r.m));
    assembler *a = &r.code[0];
    asm_li(a, T0, RIG_DATA);
    for (int n = 0; n < 600; n++) asm_word(a, cases[i].word);
    rig_report(a, 1);
    rig_load(&r);
    rig_run(&r);
    uint64_t slots = 4 * r.target.cost[POP_COST_ALU] + r.target.cost[POP_COST_TILE] +
                     600 * (uint64_t)r.target.cost[cases[i].cost] * issues_of(cases[i].name);
    cr_assert_eq(machine_get_counters(r.m).cycles, slots * SLOT + RIG_HOST_SYNC, "%s",
                 cases[i].name);
    cr_assert_eq(machine_get_counters(r.m).instructions, 605, "%s", cases[i].name);
    rig_free(&r);
  }
}
