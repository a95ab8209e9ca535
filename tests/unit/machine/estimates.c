/* runtime/machine: vertices take the cycles that were set for them (machine_set_estimates).
 *
 * The expected cycles are computed by hand, as in tile.c: an instruction takes one slot, and a slot
 * 6 cycles. */
#include "support/rig.h"

enum { SLOT = 6, ESTIMATE = 100000, STATE = RIG_DATA, OTHER_STATE = RIG_DATA + 16 };

static void add_estimate(const rig *r, uint32_t tile)
{
  expect_ok(
      machine_set_estimates(r->m, tile,
                            (const machine_estimate[]){{.vertex_state = 0xfffffff0, .cycles = 1},
                                                       {.vertex_state = STATE, .cycles = ESTIMATE},
                                                       {.vertex_state = 0x10, .cycles = 2}},
                            3));
}

/* A vertex that adds 1 to its state. Returns its address. */
static uint32_t assemble_vertex(assembler *a)
{
  uint32_t entry = asm_here(a);
  asm_load(a, ASM_LW, T0, A0, 0);
  asm_addi(a, T0, T0, 1);
  asm_store(a, ASM_SW, T0, A0, 0);
  asm_jalr(a, ZERO, RA, 0);
  return entry;
}
enum { VERTEX_SLOTS = 4, CALL_SLOTS = 5 /* with the addresses of function and state */ };

static void call(assembler *a, uint32_t entry, uint32_t state)
{
  asm_li(a, T1, entry);
  asm_li(a, T2, state);
  asm_tile(a, TILE_CALL, 0, T1, T2);
}

static const machine_options ways[] = {{.engine = MACHINE_INTERPRETER},
                                       {.engine = MACHINE_INTERPRETER, .plain = true},
                                       {.engine = MACHINE_TRANSLATOR, .num_threads = 2},
                                       {.engine = MACHINE_AUTO, .warm_up = 1}};
enum { NUM_WAYS = sizeof ways / sizeof *ways };

/* Begins the code of a tile with a jump over the code that `assemble` puts first. */
static uint32_t skip(assembler *a)
{
  enum { ROOM = 64 };
  asm_jal(a, ZERO, RIG_CODE + 4 * ROOM);
  return ROOM;
}

static void fill(assembler *a, uint32_t room)
{
  while (a->count < room) asm_nops(a, 1);
}

Test(machine_estimates, supervisor_takes_them_until_the_vertex_returns)
{
  for (size_t way = 0; way < NUM_WAYS; way++) {
    rig r = rig_create_with(1, ways[way]);
    assembler *a = r.code;
    uint32_t room = skip(a), vertex = assemble_vertex(a);
    fill(a, room);
    call(a, vertex, STATE);
    asm_nops(a, 3);
    call(a, vertex, OTHER_STATE);
    rig_report(a, 1);
    rig_load(&r);
    add_estimate(&r, 0);
    cr_assert_eq(rig_run(&r), 1);
    uint64_t slots = 1 + CALL_SLOTS + 3 + CALL_SLOTS + VERTEX_SLOTS + 3;
    cr_assert_eq(machine_get_counters(r.m).cycles, slots * SLOT + ESTIMATE + RIG_HOST_SYNC, "%zu",
                 way);
    cr_assert_eq(rig_word(&r, 0, STATE), 1);
    cr_assert_eq(rig_word(&r, 0, OTHER_STATE), 1);
    rig_free(&r);
  }
}

/* A worker that calls a vertex three times: with an estimate, without, and with one. */
static uint32_t assemble_stub(assembler *a, uint32_t vertex)
{
  uint32_t entry = asm_here(a);
  call(a, vertex, STATE);
  call(a, vertex, OTHER_STATE);
  call(a, vertex, STATE);
  asm_tile(a, TILE_EXIT, 0, 0, 0);
  return entry;
}

Test(machine_estimates, worker_takes_them_until_the_next_call_or_its_end)
{
  for (size_t way = 0; way < NUM_WAYS; way++) {
    rig r = rig_create_with(1, ways[way]);
    assembler *a = r.code;
    uint32_t room = skip(a), vertex = assemble_vertex(a), stub = assemble_stub(a, vertex);
    fill(a, room);
    asm_li(a, T0, stub);
    asm_tile(a, TILE_RUN, 2, T0, ZERO);
    asm_tile(a, TILE_WAIT, 0, 0, 0);
    rig_report(a, 1);
    rig_load(&r);
    add_estimate(&r, 0);
    cr_assert_eq(rig_run(&r), 1);
    uint64_t worker = CALL_SLOTS * SLOT + ESTIMATE + (VERTEX_SLOTS + CALL_SLOTS) * SLOT + ESTIMATE;
    uint64_t supervisor = 1 + 2 + 1 + 3; /* it waits while the worker runs */
    cr_assert_eq(machine_get_counters(r.m).cycles, supervisor * SLOT + worker + RIG_HOST_SYNC,
                 "%zu: %llu", way, (unsigned long long)machine_get_counters(r.m).cycles);
    cr_assert_eq(rig_word(&r, 0, STATE), 2);
    cr_assert_eq(rig_word(&r, 0, OTHER_STATE), 1);
    rig_free(&r);
  }
}

Test(machine_estimates, worker_that_measures_takes_them_until_the_vertex_returns)
{
  for (size_t way = 0; way < NUM_WAYS; way++) {
    rig r = rig_create_with(1, ways[way]);
    assembler *a = r.code;
    uint32_t room = skip(a), vertex = assemble_vertex(a), stub = asm_here(a);
    call(a, vertex, STATE);
    asm_nops(a, 4);
    call(a, vertex, OTHER_STATE);
    asm_tile(a, TILE_EXIT, 0, 0, 0);
    fill(a, room);
    asm_li(a, T0, stub);
    asm_tile(a, TILE_RUN, 2, T0, ZERO);
    asm_tile(a, TILE_WAIT, 0, 0, 0);
    rig_report(a, 1);
    rig_load(&r);
    expect_ok(machine_set_estimates(
        r.m, 0,
        &(machine_estimate){.vertex_state = STATE, .cycles = ESTIMATE, .until_return = true}, 1));
    cr_assert_eq(rig_run(&r), 1);
    uint64_t worker = (CALL_SLOTS + 4 + CALL_SLOTS + VERTEX_SLOTS + 1) * SLOT + ESTIMATE;
    uint64_t supervisor = 1 + 2 + 1 + 3;
    cr_assert_eq(machine_get_counters(r.m).cycles, supervisor * SLOT + worker + RIG_HOST_SYNC,
                 "%zu: %llu", way, (unsigned long long)machine_get_counters(r.m).cycles);
    rig_free(&r);
  }
}

/* On two workers, the second of which calls it twice. A measurement lasts to the next call or the
 * end, as for an estimate. The slowest of all workers counts. */
Test(machine_estimates, cycles_of_code_are_noted_where_there_is_no_estimate)
{
  for (size_t way = 0; way < 2 * NUM_WAYS; way++) {
    bool on_all = way % 2;
    rig r = rig_create_with(1, ways[way / 2]);
    assembler *a = r.code;
    uint32_t room = skip(a), vertex = assemble_vertex(a), stub = asm_here(a);
    call(a, vertex, STATE);
    asm_tile(a, TILE_EXIT, 0, 0, 0);
    uint32_t other = asm_here(a);
    call(a, vertex, STATE);
    asm_nops(a, 3);
    asm_tile(a, TILE_EXIT, 0, 0, 0);
    fill(a, room);
    for (uint32_t worker = 0; worker < 3; worker++) {
      asm_li(a, T0, worker == 1 ? other : stub);
      asm_tile(a, TILE_RUN, worker, T0, ZERO);
    }
    asm_tile(a, TILE_WAIT, 0, 0, 0);
    rig_report(a, 1);
    rig_load(&r);
    expect_ok(machine_set_estimates(
        r.m, 0, &(machine_estimate){.vertex_state = STATE, .on_all_workers = on_all}, 1));
    cr_assert_eq(machine_vertex_cycles(r.m, 0, STATE), 0);
    cr_assert_eq(rig_run(&r), 1);
    uint64_t expected = (VERTEX_SLOTS + 1 + (on_all ? 3 : 0)) * SLOT;
    cr_assert_eq(machine_vertex_cycles(r.m, 0, STATE), expected, "%zu: %llu", way,
                 (unsigned long long)machine_vertex_cycles(r.m, 0, STATE));
    cr_assert_eq(machine_vertex_cycles(r.m, 0, OTHER_STATE), 0);
    cr_assert_eq(machine_vertex_cycles(r.m, 1, STATE), 0);
    rig_free(&r);
  }
}

typedef struct heard {
  machine_trace_event events[8];
  size_t count;
} heard;

static void hear(void *context, const machine_trace_event *event)
{
  heard *h = context;
  if (event->kind != MACHINE_TRACE_VERTEX && event->kind != MACHINE_TRACE_COMPUTE) return;
  cr_assert_lt(h->count, 8);
  h->events[h->count++] = *event;
}

static void expect_vertex(const machine_trace_event *event, uint32_t context, uint32_t state,
                          uint64_t from, uint64_t cycles)
{
  cr_assert_eq(event->kind, MACHINE_TRACE_VERTEX);
  cr_assert_eq(event->context, context);
  cr_assert_eq(event->argument, state);
  cr_assert_eq(event->from, from);
  cr_assert_eq(event->to - event->from, cycles, "%llu",
               (unsigned long long)(event->to - event->from));
}

/* A vertex of the supervisor, then three of a worker, one of them without an estimate. */
Test(machine_estimates, trace_has_each_vertex_from_its_call_to_its_return)
{
  for (size_t way = 0; way < NUM_WAYS; way++) {
    rig r = rig_create_with(1, ways[way]);
    heard h = {0};
    assembler *a = r.code;
    uint32_t room = skip(a), vertex = assemble_vertex(a), stub = assemble_stub(a, vertex);
    fill(a, room);
    call(a, vertex, OTHER_STATE);
    asm_li(a, T0, stub);
    asm_tile(a, TILE_RUN, 2, T0, ZERO);
    asm_tile(a, TILE_WAIT, 0, 0, 0);
    rig_report(a, 1);
    machine_set_trace(r.m, hear, &h);
    machine_trace_vertices(r.m);
    rig_load(&r);
    add_estimate(&r, 0);
    cr_assert_eq(rig_run(&r), 1);
    cr_assert_eq(h.count, 5, "%zu: %zu", way, h.count);
    uint64_t at = (1 + CALL_SLOTS) * SLOT;
    expect_vertex(&h.events[0], MACHINE_SUPERVISOR, OTHER_STATE, at, VERTEX_SLOTS * SLOT);
    uint64_t started = at + (VERTEX_SLOTS + 2 + 1) * SLOT;
    at = started + CALL_SLOTS * SLOT;
    expect_vertex(&h.events[1], 2, STATE, at, ESTIMATE);
    at += ESTIMATE;
    expect_vertex(&h.events[2], 2, OTHER_STATE, at, VERTEX_SLOTS * SLOT);
    at += (VERTEX_SLOTS + CALL_SLOTS) * SLOT;
    expect_vertex(&h.events[3], 2, STATE, at, ESTIMATE);
    cr_assert_eq(h.events[4].kind, MACHINE_TRACE_COMPUTE);
    cr_assert_eq(h.events[4].from, started);
    cr_assert_eq(h.events[4].to, at + ESTIMATE);
    rig_free(&r);
  }
}

/* The work of workers that a supervisor vertex starts is part of that vertex. */
Test(machine_estimates, supervisor_vertex_may_wait_for_workers)
{
  for (size_t way = 0; way < NUM_WAYS; way++) {
    rig r = rig_create_with(1, ways[way]);
    assembler *a = r.code;
    uint32_t room = skip(a), worker = asm_here(a);
    asm_nops(a, 7);
    asm_tile(a, TILE_EXIT, 0, 0, 0);
    uint32_t vertex = asm_here(a);
    asm_li(a, T0, worker);
    asm_tile(a, TILE_RUN, 0, T0, ZERO);
    asm_tile(a, TILE_WAIT, 0, 0, 0);
    asm_jalr(a, ZERO, RA, 0);
    fill(a, room);
    call(a, vertex, STATE);
    rig_report(a, 1);
    rig_load(&r);
    add_estimate(&r, 0);
    cr_assert_eq(rig_run(&r), 1);
    cr_assert_eq(machine_get_counters(r.m).cycles,
                 (1 + CALL_SLOTS + 3) * SLOT + ESTIMATE + RIG_HOST_SYNC, "%zu", way);
    rig_free(&r);
  }
}

Test(machine_estimates, tiles_have_their_own_and_lose_them_with_the_images)
{
  rig r = rig_create(2, 0);
  for (uint32_t tile = 0; tile < 2; tile++) {
    assembler *a = &r.code[tile];
    uint32_t room = skip(a), vertex = assemble_vertex(a);
    fill(a, room);
    call(a, vertex, STATE);
    rig_report(a, 1);
  }
  uint64_t plain = (1 + CALL_SLOTS + VERTEX_SLOTS + 3) * SLOT + RIG_HOST_SYNC;
  for (int i = 0; i < 2; i++) {
    rig_load(&r);
    if (i == 0) add_estimate(&r, 1);
    cr_assert_eq(rig_run(&r), 1);
    uint64_t expected = i == 0 ? plain - VERTEX_SLOTS * SLOT + ESTIMATE : plain;
    cr_assert_eq(machine_get_counters(r.m).cycles, expected);
    machine_reset(r.m);
  }
  expect_error(machine_set_estimates(r.m, 2, NULL, 0), POP_ERROR_INDEX,
               "estimates for tile 2: the target has tiles 0 to 1", "no such tile");
  rig_free(&r);
}

/* Faults have the cycle of the code, and the limit of cycles counts the code's cycles. */
Test(machine_estimates, code_with_an_estimate_may_fault_and_run_away)
{
  for (size_t way = 0; way < NUM_WAYS; way++) {
    machine_options options = ways[way];
    options.max_cycles_per_run = 50 * SLOT;
    for (int endless = 0; endless < 2; endless++) {
      rig r = rig_create_with(1, options);
      assembler *a = r.code;
      uint32_t room = skip(a), vertex = asm_here(a);
      if (endless)
        asm_jal(a, ZERO, vertex);
      else
        asm_tile(a, TILE_TRAP, 0, A0, 0);
      fill(a, room);
      call(a, vertex, STATE);
      rig_report(a, 1);
      rig_load(&r);
      add_estimate(&r, 0);
      const machine_fault *fault =
          rig_run_into(&r, endless ? MACHINE_FAULT_OUT_OF_CYCLES : MACHINE_FAULT_TRAP);
      cr_assert_eq(fault->vertex_state, (uint32_t)STATE);
      cr_assert_eq(fault->cycle, endless ? 50 * SLOT : (1 + CALL_SLOTS) * SLOT, "%zu: %llu", way,
                   (unsigned long long)fault->cycle);
      rig_free(&r);
    }
  }
}

/* Nor does an estimator that counts below zero in 64 bits turn clocks back. */
Test(machine_estimates, clocks_do_not_overflow)
{
  for (size_t way = 0; way < NUM_WAYS; way++) {
    rig r = rig_create_with(2, ways[way]);
    for (uint32_t t = 0; t < 2; t++) {
      assembler *a = &r.code[t];
      uint32_t room = skip(a), vertex = assemble_vertex(a);
      fill(a, room);
      for (int n = 0; n < 6; n++) {
        call(a, vertex, STATE);
        asm_tile(a, TILE_SYNC, 0, 0, 0);
      }
      rig_report(a, 1);
    }
    rig_load(&r);
    expect_ok(machine_set_estimates(
        r.m, 0, &(machine_estimate){.vertex_state = STATE, .cycles = UINT64_MAX - 9}, 1));
    cr_assert_eq(rig_run(&r), 1);
    uint64_t cycles = machine_get_counters(r.m).cycles;
    cr_assert(cycles > UINT64_C(1) << 62 && cycles < UINT64_C(1) << 63, "%zu: %llu", way,
              (unsigned long long)cycles);
    rig_free(&r);
  }
}

/* An estimator whose result is below zero gives some 2^32 cycles. The run continues, and endless
 * code still ends it. */
Test(machine_estimates, what_no_vertex_takes_is_no_loop_without_end)
{
  enum { LIMIT = 1000 * SLOT };
  const uint64_t said = UINT64_C(684) << 32;
  for (size_t way = 0; way < NUM_WAYS; way++)
    for (int endless = 0; endless < 2; endless++) {
      machine_options options = ways[way];
      options.max_cycles_per_run = LIMIT;
      rig r = rig_create_with(1, options);
      assembler *a = r.code;
      uint32_t room = skip(a), vertex = assemble_vertex(a);
      fill(a, room);
      call(a, vertex, STATE);
      call(a, vertex, STATE);
      if (endless) asm_jal(a, ZERO, asm_here(a));
      rig_report(a, 1);
      rig_load(&r);
      expect_ok(machine_set_estimates(
          r.m, 0, &(machine_estimate){.vertex_state = STATE, .cycles = said}, 1));
      uint64_t spent = 0;
      if (endless) {
        spent = rig_run_into(&r, MACHINE_FAULT_OUT_OF_CYCLES)->cycle;
        cr_assert(spent > 2 * said && spent <= 2 * said + LIMIT, "%zu: %llu", way,
                  (unsigned long long)spent);
      } else {
        cr_assert_eq(rig_run(&r), 1);
        spent = machine_get_counters(r.m).cycles;
        cr_assert_eq(spent, 2 * said + (1 + 2 * CALL_SLOTS + 3) * SLOT + RIG_HOST_SYNC);
      }
      rig_free(&r);
    }
}

/* A limit that no run reaches is none, in any run. */
Test(machine_estimates, the_largest_limit_holds_for_later_runs)
{
  for (size_t way = 0; way < NUM_WAYS; way++) {
    machine_options options = ways[way];
    options.max_cycles_per_run = UINT64_MAX;
    rig r = rig_create_with(1, options);
    rig_report(r.code, 1);
    rig_report(r.code, 2);
    rig_load(&r);
    cr_assert_eq(rig_run(&r), 1);
    cr_assert_eq(rig_run(&r), 2, "%zu", way);
    rig_free(&r);
  }
}

/* What a vertex of one tile is said to take gives an endless loop of another one no more time,
 * whichever tile runs first. */
Test(machine_estimates, the_limit_of_other_tiles_is_not_extended)
{
  enum { LIMIT = 1000 * SLOT };
  for (size_t way = 0; way < NUM_WAYS; way++) {
    machine_options options = ways[way];
    uint64_t ends[2];
    options.max_cycles_per_run = LIMIT;
    for (uint32_t endless = 0; endless < 2; endless++) {
      rig r = rig_create_with(2, options);
      for (uint32_t t = 0; t < 2; t++) {
        assembler *a = &r.code[t];
        uint32_t room = skip(a), vertex = assemble_vertex(a);
        fill(a, room);
        if (t != endless) call(a, vertex, STATE);
        if (t == endless) asm_jal(a, ZERO, asm_here(a));
        rig_report(a, 1);
      }
      rig_load(&r);
      expect_ok(machine_set_estimates(
          r.m, 1 - endless, &(machine_estimate){.vertex_state = STATE, .cycles = UINT64_C(3) << 30},
          1));
      ends[endless] = rig_run_into(&r, MACHINE_FAULT_OUT_OF_CYCLES)->cycle;
      rig_free(&r);
    }
    cr_assert(ends[0] <= LIMIT && ends[1] == ends[0], "%zu: %llu and %llu", way,
              (unsigned long long)ends[0], (unsigned long long)ends[1]);
  }
}
