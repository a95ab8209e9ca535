/* Before a counted loop, a guard decides whether the copy of the loop without checks can run. Each
 * test is about one condition of the guard: the loop is right except for one access of its last
 * rounds, one byte of alignment, or one slot of time. In all cases the machine's state must be that
 * of the interpreter. The first addresses are in memory, so that loops with the same code are
 * translated once. */
#include <criterion/criterion.h>

#include "support/compare_engines.h"

/* The worker's registers: the addresses of loads and stores, and the rounds. */
enum {
  FROM = S0,
  TO = S1,
  COUNTER = T0,
  END = T1,
  PARAMETERS = T2,
  ROUNDS = 8,
  WORKER_STACK = RIG_STACKS
};

enum { BLT = 0x4063, BLTU = 0x6063, BGE = 0x5063, BGEU = 0x7063 };

typedef struct places {
  uint32_t from, to;
  uint32_t counter, end; /* of the loop that stores at one address */
} places;

static places places_at(uint32_t from, uint32_t to)
{
  return (places){.from = from, .to = to};
}

static void compare_places(const assembler *code, const pop_target *target, places p,
                           uint64_t limit, const char *what)
{
  rig r = {.num_tiles = 1, .code = (assembler *)code};
  tile_stack stacks[NUM_TILE_STACKS];
  for (uint32_t i = 0; i < NUM_TILE_STACKS; i++)
    stacks[i] = (tile_stack){RIG_STACKS + i * RIG_STACK_BYTES, RIG_STACK_BYTES};
  uint8_t *bytes = pop_xmalloc(RIG_END - RIG_BASE);
  pop_image image = rig_image(&r, 0, bytes);
  for (uint32_t i = RIG_DATA; i < RIG_END; i++) bytes[i - RIG_BASE] = (uint8_t)(i * 37 >> 3);
  memcpy(bytes + (RIG_CONST - RIG_BASE), &p, sizeof p);
  char *name = pop_xasprintf("%s, from 0x%x to 0x%x, %llu cycles", what, (unsigned)p.from,
                             (unsigned)p.to, (unsigned long long)limit);
  compare_engines(target, &image, stacks, limit, name, 0);
  free(name);
  free(bytes);
}

/* ROUNDS rounds that load, add and store, and advance by `step`. */
static void put_loop(assembler *a, uint32_t load, uint32_t store, int32_t step)
{
  rig_start_worker(a);
  asm_li(a, PARAMETERS, RIG_CONST);
  asm_load(a, ASM_LW, FROM, PARAMETERS, offsetof(places, from));
  asm_load(a, ASM_LW, TO, PARAMETERS, offsetof(places, to));
  asm_li(a, COUNTER, 0);
  asm_li(a, END, ROUNDS);
  uint32_t again = asm_here(a);
  asm_load(a, load, A0, FROM, 0);
  asm_add(a, A1, A1, A0);
  asm_store(a, store, A1, TO, 0);
  asm_addi(a, FROM, FROM, step);
  asm_addi(a, TO, TO, step);
  asm_addi(a, COUNTER, COUNTER, 1);
  asm_branch(a, ASM_BNE, COUNTER, END, again);
  asm_tile(a, TILE_EXIT, 0, 0, 0);
}

/* The start for which the last round is `beyond` steps past the end of [first, end) in
 * the loop's direction. */
static uint32_t start_at(uint32_t first, uint32_t end, int32_t step, int32_t beyond)
{
  uint32_t last = step > 0 ? end - (uint32_t)step : first;
  return last - (uint32_t)((ROUNDS - 1 - beyond) * step);
}

static void compare_ends(uint32_t load, uint32_t store, int32_t step)
{
  const struct {
    uint32_t first, end;
  } windows[] = {{RIG_DATA, RIG_END}, {WORKER_STACK, WORKER_STACK + RIG_STACK_BYTES}};
  rig r = rig_create(1, 0);
  put_loop(&r.code[0], load, store, step);
  const uint32_t middle = RIG_DATA + 0x400;
  for (int32_t beyond = -1; beyond <= 2; beyond++) {
    uint32_t from = start_at(RIG_BASE, RIG_END, step, beyond);
    compare_places(&r.code[0], &r.target, places_at(from, middle), 100000, "load");
    for (int w = 0; w < 2; w++) {
      uint32_t to = start_at(windows[w].first, windows[w].end, step, beyond);
      compare_places(&r.code[0], &r.target, places_at(middle, to), 100000, "store");
      compare_places(&r.code[0], &r.target, places_at(from, to), 100000, "both");
    }
  }
  for (uint32_t off = 0; off < 4; off++)
    for (uint32_t other = 0; other < 4; other++) {
      compare_places(&r.code[0], &r.target, places_at(middle + off, middle + 0x100 + other), 100000,
                     "alignment");
      compare_places(&r.code[0], &r.target, places_at(middle + off, WORKER_STACK + 0x40 + other),
                     100000, "alignment");
    }
  rig_free(&r);
}

Test(translate_guards, accesses_end_where_their_windows_do)
{
  const struct {
    uint32_t load, store;
    int32_t step;
  } loops[] = {{ASM_LW, ASM_SW, 4},   {ASM_LW, ASM_SW, -4}, {ASM_LHU, ASM_SH, 2},
               {ASM_LHU, ASM_SH, -2}, {ASM_LBU, ASM_SB, 1}, {ASM_LBU, ASM_SB, -1},
               {ASM_LBU, ASM_SW, 4},  {ASM_LW, ASM_SB, -4}};
  for (size_t i = 0; i < sizeof loops / sizeof *loops; i++)
    compare_ends(loops[i].load, loops[i].store, loops[i].step);
}

/* The cycle limit falls into each of the last rounds, and just after them. */
Test(translate_guards, there_is_time_for_all_rounds_or_not)
{
  rig r = rig_create(1, 0);
  put_loop(&r.code[0], ASM_LW, ASM_SW, 4);
  places p = places_at(RIG_DATA + 0x400, RIG_DATA + 0x600);
  for (uint64_t limit = 200; limit < 600; limit += 6)
    compare_places(&r.code[0], &r.target, p, limit, "limit");
  rig_free(&r);
}

/* A loop that stores at one address while a counter goes to its end. */
static void compare_counter(uint32_t branch, uint32_t counter, uint32_t bound, int32_t step,
                            uint64_t limit)
{
  rig r = rig_create(1, 0);
  assembler *a = &r.code[0];
  rig_start_worker(a);
  asm_li(a, PARAMETERS, RIG_CONST);
  asm_load(a, ASM_LW, COUNTER, PARAMETERS, offsetof(places, counter));
  asm_load(a, ASM_LW, END, PARAMETERS, offsetof(places, end));
  asm_load(a, ASM_LW, TO, PARAMETERS, offsetof(places, to));
  uint32_t again = asm_here(a);
  asm_add(a, A1, A1, COUNTER);
  asm_store(a, ASM_SW, A1, TO, 0);
  asm_addi(a, COUNTER, COUNTER, step);
  asm_branch(a, branch, step > 0 ? COUNTER : END, step > 0 ? END : COUNTER, again);
  asm_store(a, ASM_SW, COUNTER, TO, 4);
  asm_tile(a, TILE_EXIT, 0, 0, 0);
  places p = {.to = RIG_DATA, .counter = counter, .end = bound};
  compare_places(a, &r.target, p, limit, "counter");
  rig_free(&r);
}

/* The limit allows 2^32 / step rounds. */
static void compare_passed(uint32_t branch, uint32_t counter, uint32_t bound, int32_t step)
{
  compare_counter(branch, counter, bound, step, UINT64_C(1) << 50);
}

Test(translate_guards, a_counter_may_have_passed_its_end_at_once)
{
  const uint32_t branches[] = {BLT, BLTU};
  for (int i = 0; i < 2; i++) {
    compare_passed(branches[i], 100, 3, 1);
    compare_passed(branches[i], 100, 3, 4);
    compare_passed(branches[i], 0x7ffffff0, 3, 3);
    compare_passed(branches[i], 3, 100, -1);
    compare_passed(branches[i], 3, 100, -6);
    compare_passed(branches[i], 30000, 3, 2047);
    compare_passed(branches[i], 3, 30000, -2048);
    compare_passed(branches[i], 3, 100, 7);
    compare_passed(branches[i], 100, 3, -7);
  }
  compare_passed(BGE, 3, 100, 1);
  compare_passed(BGEU, 3, 100, 5);
}

/* The counter steps over its end and wraps around. The loop goes on to the cycle limit. */
Test(translate_guards, a_counter_may_wrap_around_before_its_end)
{
  enum { LIMIT = 5000 };
  compare_counter(BLT, 0x7fffffd5, 0x7ffffffe, 4, LIMIT);
  compare_counter(BLT, 0x8000002a, 0x80000001, -4, LIMIT);
  compare_counter(BLTU, 0xffffffd5, 0xfffffffe, 4, LIMIT);
  compare_counter(BLTU, 0x2a, 1, -4, LIMIT);
}
