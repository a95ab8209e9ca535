/* Results, cycles, faults and traces are equal for any number of host threads and either engine. */
#include <criterion/criterion.h>

#include "support/rig.h"

#include <machine/state.h>
#include <stdio.h>

enum { TILES = 40, ROUNDS = 900 };

/* Workers 0 and 3 of each tile add up numbers, as many as the tile's number. If `faulty`, tiles 13,
 * 14 and 31 then store to a forbidden address. */
static void put_program(assembler *a, uint32_t tile, bool faulty)
{
  enum { SUPERVISOR_WORDS = 12 };
  asm_li(a, T0, RIG_CODE + 4 * SUPERVISOR_WORDS);
  asm_li(a, T1, 7 + tile);
  asm_tile(a, TILE_RUN, 0, T0, T1);
  asm_tile(a, TILE_RUN, 3, T0, T0);
  asm_tile(a, TILE_WAIT, 0, 0, 0);
  asm_tile(a, TILE_SYNC, 0, 0, 0);
  rig_report(a, 5);
  asm_nops(a, SUPERVISOR_WORDS - (uint32_t)a->count);
  asm_tile(a, TILE_CONTEXT, T1, 0, 0);
  asm_li(a, T2, RIG_DATA);
  asm_word(a, asm_r(0x20004033, T2, T1, T2)); /* sh2add */
  asm_li(a, T0, ROUNDS + 50 * (tile % 7));
  uint32_t again = asm_here(a);
  asm_add(a, A0, A0, T0);
  asm_store(a, ASM_SW, A0, T2, 0);
  asm_addi(a, T0, T0, -1);
  asm_branch(a, ASM_BNE, T0, ZERO, again);
  if (faulty && (tile == 13 || tile == 14 || tile == 31)) {
    asm_li(a, T2, RIG_HOLE + 4 * tile);
    asm_store(a, ASM_SW, A0, T2, 0);
  }
  asm_tile(a, TILE_EXIT, 0, 0, 0);
}

typedef struct outcome {
  uint32_t sums[TILES][2];
  machine_counters counters;
  machine_fault fault;
  size_t num_events;
  machine_trace_event events[4 * TILES];
} outcome;

static void note(void *context, const machine_trace_event *event)
{
  outcome *out = context;
  cr_assert_lt(out->num_events, sizeof out->events / sizeof *out->events);
  out->events[out->num_events++] = *event;
}

static outcome *run_with(machine_engine engine, uint32_t num_threads, bool faulty)
{
  outcome *out = pop_xcalloc(1, sizeof *out);
  rig r = rig_create_with(TILES, (machine_options){.max_cycles_per_run = 1 << 20,
                                                   .engine = engine,
                                                   .num_threads = num_threads ? num_threads : 1});
  if (num_threads == 0) thread_pool_reverse(r.m->pool);
  for (uint32_t i = 0; i < TILES; i++) put_program(&r.code[i], i, faulty);
  rig_load(&r);
  machine_set_trace(r.m, note, out);
  uint32_t event;
  pop_error_free(machine_run(r.m, 0, &event));
  out->counters = machine_get_counters(r.m);
  out->fault = *machine_get_fault(r.m);
  for (uint32_t i = 0; i < TILES; i++) {
    out->sums[i][0] = rig_word(&r, i, RIG_DATA);
    out->sums[i][1] = rig_word(&r, i, RIG_DATA + 12);
  }
  rig_free(&r);
  return out;
}

static void expect_same(const outcome *a, const outcome *b, unsigned engine, uint32_t threads)
{
  cr_assert(!memcmp(a->sums, b->sums, sizeof a->sums), "engine %u, %u threads", engine, threads);
  cr_assert_eq(a->counters.cycles, b->counters.cycles, "engine %u, %u threads", engine, threads);
  cr_assert_eq(a->counters.instructions, b->counters.instructions, "engine %u, %u threads", engine,
               threads);
  cr_assert_eq(a->fault.tile, b->fault.tile, "engine %u, %u threads", engine, threads);
  cr_assert_eq(a->fault.cycle, b->fault.cycle, "engine %u, %u threads", engine, threads);
  cr_assert_eq(a->fault.num_faults, b->fault.num_faults, "engine %u, %u threads", engine, threads);
  cr_assert_eq(a->num_events, b->num_events, "engine %u, %u threads", engine, threads);
  for (size_t i = 0; i < a->num_events; i++) {
    const machine_trace_event *x = &a->events[i], *y = &b->events[i];
    cr_assert(x->kind == y->kind && x->tile == y->tile && x->from == y->from && x->to == y->to,
              "event %zu, engine %u, %u threads", i, engine, threads);
  }
}

static void expect_same_for_all(bool faulty)
{
  outcome *first = run_with(MACHINE_INTERPRETER, 1, faulty);
  cr_assert_eq(first->fault.kind, faulty ? MACHINE_FAULT_INVALID_ADDRESS : MACHINE_FAULT_NONE);
  if (faulty) {
    cr_assert_eq(first->fault.tile, 13);
    cr_assert_eq(first->fault.num_faults, 3);
  }
  static const uint32_t threads[] = {0, 1, 2, 7}; /* 0: one thread that begins with the last tile */
  for (unsigned engine = MACHINE_INTERPRETER; engine <= MACHINE_AUTO; engine++)
    for (unsigned i = 0; i < 4; i++) {
      outcome *other = run_with((machine_engine)engine, threads[i], faulty);
      expect_same(first, other, engine, threads[i]);
      free(other);
    }
  free(first);
}

Test(machine_threads, results_do_not_depend_on_threads_or_engine)
{
  expect_same_for_all(false);
}

Test(machine_threads, the_first_fault_by_tile_is_reported_whatever_the_threads)
{
  expect_same_for_all(true);
}
