/* The translator against the interpreter: one check covers accesses on both sides of joins, loops
 * and calls, if nothing between them changes their base. Bases are near the end of writable memory.
 * They move on one path and not on the other, in some rounds, in functions that are inlined and in
 * some that are called. */
#include <criterion/criterion.h>

#include "support/compare_engines.h"
#include "support/random.h"
#include "support/seeds.h"

/* Base registers, the condition of the branch, the sum. */
enum {
  FIRST_BASE = S0,
  SECOND_BASE = S1,
  DECIDES = A2,
  SUM = A3,
  RETURN = 1,
  ROUNDS = A6,
  MAX_LEVEL = 3
};
enum { LARGE_FUNCTION = 170 }; /* operations: too many for inlining */

typedef struct maker {
  uint64_t random;
  assembler *a;
  uint32_t functions[2];
} maker;

static uint32_t pick(maker *m, uint32_t below)
{
  return random_below(&m->random, below);
}

static uint32_t pick_base(maker *m)
{
  return pick(m, 3) ? FIRST_BASE : SECOND_BASE;
}

static void put_access(maker *m)
{
  int32_t offset = 4 * (int32_t)pick(m, 8) - 8;
  if (pick(m, 2)) {
    asm_load(m->a, ASM_LW, A0, pick_base(m), offset);
    asm_add(m->a, SUM, SUM, A0);
  } else {
    asm_store(m->a, ASM_SW, SUM, pick_base(m), offset);
  }
}

static void put_move(maker *m)
{
  uint32_t base = pick_base(m);
  asm_addi(m->a, base, base, 4 * (int32_t)pick(m, 5) - 8);
}

/* Sets A1, which decides a branch: to another bit of DECIDES each time. */
static void put_decision(maker *m)
{
  asm_word(m->a, asm_i(0x60005013, DECIDES, DECIDES, 1)); /* rori */
  asm_word(m->a, asm_i(0x00007013, A1, DECIDES, 1));      /* andi */
}

static void put_statements(maker *m, int level);

static void put_if(maker *m, int level)
{
  put_decision(m);
  size_t skip = asm_hole(m->a);
  put_statements(m, level + 1);
  if (pick(m, 2)) {
    size_t end = asm_hole(m->a);
    asm_patch_branch(m->a, skip, ASM_BEQ, A1, ZERO);
    put_statements(m, level + 1);
    asm_patch_branch(m->a, end, ASM_BEQ, ZERO, ZERO);
  } else {
    asm_patch_branch(m->a, skip, ASM_BEQ, A1, ZERO);
  }
}

/* A counted loop, if it is innermost. It may be left in the middle. */
static void put_loop(maker *m, int level)
{
  uint32_t counter = ROUNDS + (uint32_t)level % 2;
  asm_li(m->a, counter, 1 + pick(m, 8));
  uint32_t again = asm_here(m->a);
  put_statements(m, level + 1);
  bool leaves = pick(m, 3) == 0;
  if (leaves) put_decision(m);
  size_t out = leaves ? asm_hole(m->a) : 0;
  asm_addi(m->a, counter, counter, -1);
  asm_branch(m->a, ASM_BNE, counter, ZERO, again);
  if (leaves) asm_patch_branch(m->a, out, ASM_BNE, A1, ZERO);
}

static void put_statements(maker *m, int level)
{
  for (uint32_t n = 1 + pick(m, 3); n > 0; n--) {
    uint32_t kind = pick(m, level < MAX_LEVEL ? 12 : 7);
    if (kind < 5)
      put_access(m);
    else if (kind == 5)
      put_move(m);
    else if (kind == 6 && m->functions[1])
      asm_jal(m->a, RETURN, m->functions[pick(m, 2)]);
    else if (kind < 10)
      put_if(m, level);
    else if (kind < 12 && level < 2)
      put_loop(m, level);
  }
}

static void put_functions(maker *m)
{
  for (int i = 0; i < 2; i++) {
    uint32_t start = asm_here(m->a);
    put_statements(m, MAX_LEVEL);
    if (i) put_move(m);
    for (uint32_t n = 0; i && n < LARGE_FUNCTION; n++) asm_addi(m->a, SUM, SUM, 1);
    asm_jalr(m->a, ZERO, RETURN, 0);
    m->functions[i] = start;
  }
}

static void compare_joins(uint64_t seed)
{
  rig r = rig_create(1, 0);
  maker m = {.random = seed * 77777, .a = &r.code[0]};
  assembler *a = m.a;
  rig_start_worker(a);
  size_t to_main = asm_hole(a);
  put_functions(&m);
  asm_patch_branch(a, to_main, ASM_BEQ, ZERO, ZERO);
  asm_li(a, FIRST_BASE, RIG_END - 4 * (1 + pick(&m, 24)));
  asm_li(a, SECOND_BASE,
         pick(&m, 2) ? RIG_DATA + 4 * pick(&m, 16) : RIG_END - 4 * (1 + pick(&m, 40)));
  asm_li(a, DECIDES, (uint32_t)random_next(&m.random));
  for (int i = 0; i < 3; i++) put_statements(&m, 0);
  asm_li(a, T2, RIG_DATA + 512);
  asm_store(a, ASM_SW, SUM, T2, 0);
  asm_tile(a, TILE_EXIT, 0, 0, 0);
  uint8_t *bytes = pop_xmalloc(RIG_END - RIG_BASE);
  pop_image image = rig_image(&r, 0, bytes);
  for (uint32_t i = RIG_DATA; i < RIG_END; i++) bytes[i - RIG_BASE] = (uint8_t)pick(&m, 256);
  compare_engines(&r.target, &image, NULL, 100000, "joins", seed);
  free(bytes);
  rig_free(&r);
}

Test(translate_joins, a_test_holds_behind_joins_as_long_as_the_base_stays)
{
  seed_range seeds = test_seeds(1, 150);
  for (uint64_t seed = seeds.first; seed <= seeds.last; seed++) compare_joins(seed);
}

/* A counted loop, whose accesses are checked before it starts. After it come a load and a store
 * `offset` bytes from the place where the loop ended: within the checked range or one word beyond
 * it. */
static void compare_behind_loop(uint32_t rounds, int32_t offset)
{
  rig r = rig_create(1, 0);
  assembler *a = &r.code[0];
  rig_start_worker(a);
  asm_li(a, FIRST_BASE, RIG_END - 4 * (rounds + 2));
  asm_li(a, ROUNDS, rounds);
  uint32_t again = asm_here(a);
  asm_load(a, ASM_LW, A0, FIRST_BASE, 0);
  asm_word(a, asm_r(0x02000033, A0, A0, ROUNDS)); /* mul */
  asm_addi(a, FIRST_BASE, FIRST_BASE, 4);
  asm_store(a, ASM_SW, A0, FIRST_BASE, 0);
  asm_store(a, ASM_SW, A0, FIRST_BASE, 4);
  asm_addi(a, ROUNDS, ROUNDS, -1);
  asm_branch(a, ASM_BNE, ROUNDS, ZERO, again);
  asm_load(a, ASM_LW, A1, FIRST_BASE, offset);
  asm_addi(a, A1, A1, 77);
  asm_store(a, ASM_SW, A1, FIRST_BASE, offset);
  asm_tile(a, TILE_EXIT, 0, 0, 0);
  uint8_t *bytes = pop_xmalloc(RIG_END - RIG_BASE);
  pop_image image = rig_image(&r, 0, bytes);
  for (uint32_t i = RIG_DATA; i < RIG_END; i++) bytes[i - RIG_BASE] = (uint8_t)i;
  compare_engines(&r.target, &image, NULL, 100000, "behind a loop", rounds);
  free(bytes);
  rig_free(&r);
}

Test(translate_joins, what_a_loop_has_tested_is_tested_behind_it)
{
  for (uint32_t rounds = 1; rounds < 40; rounds += 6)
    for (int32_t offset = -4; offset <= 8; offset += 4) compare_behind_loop(rounds, offset);
}
