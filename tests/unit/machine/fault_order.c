/* Many tiles fault in one superstep, each in its own way. With any number of host threads and any
 * engine, the report is of the first fault by (superstep, tile, worker), exact in all its parts,
 * and it has the number of faulted tiles. */
#include "support/random.h"
#include "support/rig.h"
#include "support/seeds.h"

#include <machine/state.h>

enum { TILES = 96, SEEDS = 6, LIMIT = 1 << 18, WORKERS = 6, MAX_STEPS = 4, ROUNDS = 600 };

/* How a worker's vertex ends. */
typedef enum ending {
  STORES_INTO_A_HOLE,
  LOADS_MISALIGNED,
  IS_NO_INSTRUCTION,
  TRAPS,
  JUMPS_TO_DATA,
  OVERFLOWS_ITS_STACK,
  LOOPS_FOREVER,
  NUM_FAULTS,
  RETURNS = NUM_FAULTS
} ending;

static const machine_fault_kind kinds[NUM_FAULTS] = {
    [STORES_INTO_A_HOLE] = MACHINE_FAULT_INVALID_ADDRESS,
    [LOADS_MISALIGNED] = MACHINE_FAULT_MISALIGNED,
    [IS_NO_INSTRUCTION] = MACHINE_FAULT_INVALID_INSTRUCTION,
    [TRAPS] = MACHINE_FAULT_TRAP,
    [JUMPS_TO_DATA] = MACHINE_FAULT_INVALID_PC,
    [OVERFLOWS_ITS_STACK] = MACHINE_FAULT_STACK_OVERFLOW,
    [LOOPS_FOREVER] = MACHINE_FAULT_OUT_OF_CYCLES};

typedef struct plan {
  uint32_t step; /* all faults are in this superstep */
  uint8_t endings[TILES][WORKERS];
} plan;

static plan random_plan(uint64_t seed)
{
  plan p = {.step = random_below(&seed, MAX_STEPS)};
  uint32_t first = random_below(&seed, TILES / 2);
  for (uint32_t tile = 0; tile < TILES; tile++)
    for (uint32_t w = 0; w < WORKERS; w++) {
      bool faults = tile >= first && random_below(&seed, 4) == 0;
      p.endings[tile][w] = (uint8_t)(faults ? random_below(&seed, NUM_FAULTS) : RETURNS);
    }
  return p;
}

static void put_ending(assembler *a, ending how, uint32_t worker)
{
  uint32_t here;
  switch (how) {
  case STORES_INTO_A_HOLE:
    asm_li(a, T2, RIG_HOLE + 4 * worker);
    asm_store(a, ASM_SW, T0, T2, 0);
    break;
  case LOADS_MISALIGNED:
    asm_li(a, T2, RIG_DATA + 2 + 4 * worker);
    asm_load(a, ASM_LW, T0, T2, 0);
    break;
  case IS_NO_INSTRUCTION:
    asm_word(a, 0);
    break;
  case TRAPS:
    asm_tile(a, TILE_TRAP, 0, T1, 0);
    break;
  case JUMPS_TO_DATA:
    asm_li(a, T2, RIG_DATA);
    asm_jalr(a, ZERO, T2, 0);
    break;
  case OVERFLOWS_ITS_STACK:
    asm_li(a, SP, RIG_STACKS + worker * RIG_STACK_BYTES);
    asm_store(a, ASM_SW, T0, SP, -4);
    break;
  case LOOPS_FOREVER:
    here = asm_here(a);
    asm_addi(a, T0, T0, 1);
    asm_jal(a, ZERO, here);
    break;
  default:
    break;
  }
  asm_jalr(a, ZERO, RA, 0);
}

/* The supervisor syncs p->step times, then starts all workers. Each calls its vertex, which adds
 * for some time. */
static void put_program(assembler *a, const plan *p, uint32_t tile)
{
  enum { ENTRY_WORDS = 8, FIRST_ENTRY = 64, VERTEX_WORDS = 24 };
  for (uint32_t i = 0; i < p->step; i++) asm_tile(a, TILE_SYNC, 0, 0, 0);
  for (uint32_t w = WORKERS; w-- > 0;) { /* not in the order of their numbers */
    asm_li(a, T0, RIG_CODE + 4 * (FIRST_ENTRY + ENTRY_WORDS * w));
    asm_li(a, T1, 0x100 + w);
    asm_tile(a, TILE_RUN, w, T0, T1);
  }
  asm_tile(a, TILE_WAIT, 0, 0, 0);
  asm_tile(a, TILE_SYNC, 0, 0, 0);
  rig_report(a, 1);
  for (uint32_t w = 0; w < WORKERS; w++) {
    uint32_t vertex = FIRST_ENTRY + ENTRY_WORDS * WORKERS + VERTEX_WORDS * w;
    asm_nops(a, FIRST_ENTRY + ENTRY_WORDS * w - (uint32_t)a->count);
    asm_li(a, T0, RIG_CODE + 4 * vertex);
    asm_li(a, T1, 0x200 + 16 * tile + w);
    asm_tile(a, TILE_CALL, 0, T0, T1);
    asm_tile(a, TILE_EXIT, 0, 0, 0);
  }
  for (uint32_t w = 0; w < WORKERS; w++) {
    asm_nops(a, FIRST_ENTRY + ENTRY_WORDS * WORKERS + VERTEX_WORDS * w - (uint32_t)a->count);
    asm_li(a, T0, ROUNDS + 10 * (tile % 5));
    asm_li(a, T2, RIG_DATA + 0x100 + 4 * w);
    uint32_t again = asm_here(a);
    asm_add(a, A1, A1, T0);
    asm_store(a, ASM_SW, A1, T2, 0);
    asm_addi(a, T0, T0, -1);
    asm_branch(a, ASM_BNE, T0, ZERO, again);
    put_ending(a, (ending)p->endings[tile][w], w);
  }
}

/* Returns the reported fault. `sums` gets what all workers left in memory: on tiles without a fault
 * they have finished. */
static machine_fault run_plan(const plan *p, machine_options options, uint32_t *sums)
{
  bool reversed = options.num_threads == 0;
  options.num_threads += reversed;
  rig r = rig_create_with(TILES, options);
  if (reversed) thread_pool_reverse(r.m->pool);
  for (uint32_t tile = 0; tile < TILES; tile++) put_program(&r.code[tile], p, tile);
  rig_load(&r);
  uint32_t event;
  pop_error *error = machine_run(r.m, 0, &event);
  cr_assert_not_null(error);
  pop_error_free(error);
  machine_fault fault = *machine_get_fault(r.m);
  for (uint32_t tile = 0; tile < TILES; tile++)
    for (uint32_t w = 0; w < WORKERS; w++)
      sums[tile * WORKERS + w] = rig_word(&r, tile, RIG_DATA + 0x100 + 4 * w);
  rig_free(&r);
  return fault;
}

/* Compares the fault with the one that the plan predicts. */
static void expect_planned(const machine_fault *fault, const plan *p, uint64_t seed)
{
  uint32_t tile = TILES, worker = 0, tiles = 0;
  for (uint32_t t = TILES; t-- > 0;) {
    bool faults = false;
    for (uint32_t w = WORKERS; w-- > 0;)
      if (p->endings[t][w] != RETURNS) {
        faults = true;
        tile = t;
        worker = w;
      }
    tiles += faults;
  }
  uint32_t state = 0x200 + 16 * tile + worker;
  cr_assert(fault->tile == tile && fault->context == worker,
            "seed %d: tile %u, worker %u instead of tile %u, worker %u", (int)seed, fault->tile,
            fault->context, tile, worker);
  cr_assert_eq(fault->kind, kinds[p->endings[tile][worker]], "seed %d", (int)seed);
  cr_assert_eq(fault->num_faults, tiles, "seed %d: %u tiles", (int)seed, fault->num_faults);
  cr_assert_eq(fault->superstep, p->step, "seed %d", (int)seed);
  cr_assert(fault->vertex_state == state && fault->run_argument == 0x100 + worker, "seed %d",
            (int)seed);
}

static void expect_equal(const machine_fault *a, const machine_fault *b, const char *who)
{
#define EXPECT_FIELD(field) cr_assert_eq(a->field, b->field, "%s: " #field, who)
  EXPECT_FIELD(kind);
  EXPECT_FIELD(tile);
  EXPECT_FIELD(context);
  EXPECT_FIELD(pc);
  EXPECT_FIELD(word);
  EXPECT_FIELD(address);
  EXPECT_FIELD(vertex_state);
  EXPECT_FIELD(vertex_entry);
  EXPECT_FIELD(run_argument);
  EXPECT_FIELD(cycle);
  EXPECT_FIELD(superstep);
  EXPECT_FIELD(num_faults);
#undef EXPECT_FIELD
  cr_assert_str_eq(a->detail, b->detail, "%s", who);
}

/* On tiles without a fault, the workers' sums are complete. On others, workers after the fault may
 * not have run. */
static void expect_sums(const uint32_t *sums, const plan *p)
{
  for (uint32_t tile = 0; tile < TILES; tile++) {
    bool whole = true;
    for (uint32_t w = 0; w < WORKERS; w++) whole &= p->endings[tile][w] == RETURNS;
    uint32_t rounds = ROUNDS + 10 * (tile % 5), sum = rounds * (rounds + 1) / 2;
    for (uint32_t w = 0; w < WORKERS && whole; w++)
      cr_assert_eq(sums[tile * WORKERS + w], sum, "tile %u, worker %u", tile, w);
  }
}

static void compare(uint64_t seed, machine_engine engine)
{
  static const uint32_t threads[] = {0, 1, 2, 7}; /* 0: one thread that begins with the last tile */
  static uint32_t sums[2][TILES * WORKERS];
  plan p = random_plan(seed);
  machine_fault first = run_plan(
      &p, (machine_options){.max_cycles_per_run = LIMIT, .plain = true, .num_threads = 1}, sums[0]);
  expect_planned(&first, &p, seed);
  expect_sums(sums[0], &p);
  for (unsigned i = 0; i < 4; i++) {
    machine_fault other = run_plan(
        &p,
        (machine_options){
            .max_cycles_per_run = LIMIT, .engine = engine, .warm_up = 1, .num_threads = threads[i]},
        sums[1]);
    char who[64];
    snprintf(who, sizeof who, "seed %d, engine %d, %u threads", (int)seed, (int)engine, threads[i]);
    expect_equal(&first, &other, who);
    cr_assert_eq(memcmp(sums[0], sums[1], sizeof sums[0]), 0, "%s: memory", who);
  }
}

static void compare_seeds(machine_engine engine)
{
  seed_range seeds = test_seeds(1, SEEDS);
  for (uint64_t seed = seeds.first; seed <= seeds.last; seed++) compare(seed, engine);
}

Test(machine_fault_order, V16_the_interpreter_reports_the_first)
{
  compare_seeds(MACHINE_INTERPRETER);
}

Test(machine_fault_order, V16_the_translator_reports_the_same)
{
  compare_seeds(MACHINE_TRANSLATOR);
}

Test(machine_fault_order, V16_while_code_becomes_native_too)
{
  compare_seeds(MACHINE_AUTO);
}

/* ---- endless loops ---- */

typedef enum runaway { IN_A_VERTEX, IN_CALLS, IN_THE_SUPERVISOR, IN_SYNCS, NUM_RUNAWAYS } runaway;

static void put_runaway(assembler *a, runaway where, uint32_t nops)
{
  enum { WORKER = 32 };
  if (where == IN_THE_SUPERVISOR || where == IN_SYNCS) {
    uint32_t loop = asm_here(a);
    asm_nops(a, nops);
    if (where == IN_SYNCS) asm_tile(a, TILE_SYNC, 0, 0, 0);
    asm_jal(a, ZERO, loop);
    return;
  }
  asm_li(a, T0, RIG_CODE + 4 * WORKER);
  asm_tile(a, TILE_RUN, 2, T0, ZERO);
  asm_tile(a, TILE_WAIT, 0, 0, 0);
  rig_report(a, 1);
  asm_nops(a, WORKER - (uint32_t)a->count);
  asm_li(a, T0, RIG_CODE + 4 * (WORKER + 4));
  asm_tile(a, TILE_CALL, 0, T0, T0);
  asm_tile(a, TILE_EXIT, 0, 0, 0);
  uint32_t loop = asm_here(a);
  asm_nops(a, nops);
  asm_addi(a, T1, T1, 1);
  if (where == IN_CALLS) { /* of a function that returns at once */
    asm_jal(a, RA, asm_here(a) + 8);
    asm_jal(a, ZERO, loop);
    asm_jalr(a, ZERO, RA, 0);
  } else {
    asm_jal(a, ZERO, loop);
  }
}

static machine_fault run_away(runaway where, uint32_t nops, machine_engine engine, uint32_t threads)
{
  enum { FEW = 9 };
  rig r = rig_create_with(FEW, (machine_options){.max_cycles_per_run = 1000000 + 7 * nops,
                                                 .engine = engine,
                                                 .warm_up = 1,
                                                 .num_threads = threads});
  for (uint32_t tile = 0; tile < FEW; tile++) put_runaway(&r.code[tile], where, nops);
  rig_load(&r);
  machine_fault fault = *rig_run_into(&r, MACHINE_FAULT_OUT_OF_CYCLES);
  rig_free(&r);
  return fault;
}

Test(machine_fault_order, V01_runaway_loops_end_in_the_same_cycle)
{
  for (runaway where = IN_A_VERTEX; where < NUM_RUNAWAYS; where++)
    for (uint32_t nops = 0; nops < 4; nops++) {
      machine_fault first = run_away(where, nops, MACHINE_INTERPRETER, 1);
      cr_assert_eq(first.tile, 0);
      cr_assert_eq(first.context,
                   where == IN_A_VERTEX || where == IN_CALLS ? 2 : MACHINE_SUPERVISOR);
      cr_assert_eq(first.num_faults, 9);
      for (machine_engine engine = MACHINE_INTERPRETER; engine <= MACHINE_AUTO; engine++)
        for (uint32_t threads = 1; threads <= 7; threads += 6) {
          machine_fault other = run_away(where, nops, engine, threads);
          char who[64];
          snprintf(who, sizeof who, "loop %d, %u nops, engine %d, %u threads", (int)where, nops,
                   (int)engine, threads);
          expect_equal(&first, &other, who);
        }
    }
}
