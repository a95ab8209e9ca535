/* The translator against the interpreter: random functions that call each other and are inlined
 * into one another. They have calls in calls, recursion, returns to another place than after the
 * call, and jumps into the middle of code. */
#include <criterion/criterion.h>

#include "support/asm.h"
#include "support/compare_engines.h"
#include "support/random.h"
#include "support/rig.h"
#include "support/seeds.h"

enum { NUM_FUNCTIONS = 4, CALLS = 400 };
enum { STACK = 18, BUDGET = 19, SUM = A3 }; /* registers: s2, s3, a3 */

typedef struct maker {
  assembler *a;
  uint64_t random;
  uint32_t entries[NUM_FUNCTIONS];
} maker;

static uint32_t pick(maker *m, uint32_t count)
{
  return random_below(&m->random, count);
}

/* A call of the function at `to`, followed by code that a callee may skip. */
static void put_call(maker *m, uint32_t to)
{
  assembler *a = m->a;
  if (pick(m, 4) == 0) { /* far */
    uint32_t here = asm_here(a);
    asm_word(a, 0x17 | T1 << 7); /* auipc t1, 0 */
    asm_jalr(a, RA, T1, (int32_t)(to - here));
  } else if (pick(m, 4) == 0) {
    asm_li(a, T1, to);
    asm_jalr(a, RA, T1, 0);
  } else {
    asm_jal(a, RA, to);
  }
  asm_addi(a, SUM, SUM, 7);
}

/* Calls itself while there is budget. */
static void put_recursion(maker *m, uint32_t self)
{
  assembler *a = m->a;
  asm_addi(a, BUDGET, BUDGET, -1);
  size_t skip = asm_hole(a);
  put_call(m, self);
  asm_patch_branch(a, skip, ASM_BLT, BUDGET, ZERO);
}

/* auipc t0, 0; add a0, a0, t0; jr 12(a0); then eight words */
static void put_computed_jump(maker *m)
{
  enum { PLACES = 8 };
  assembler *a = m->a;
  asm_word(a, asm_i(0x7013, A0, SUM, PLACES - 1)); /* andi */
  asm_word(a, asm_i(0x1013, A0, A0, 2));           /* slli */
  asm_word(a, 0x17 | T0 << 7);
  asm_add(a, A0, A0, T0);
  asm_jalr(a, ZERO, A0, 12);
  for (int i = 0; i < PLACES; i++) asm_addi(a, SUM, SUM, 1 + i);
}

static void put_piece(maker *m, unsigned number, uint32_t self)
{
  assembler *a = m->a;
  switch (pick(m, 6)) {
  case 0:
    put_recursion(m, self);
    return;
  case 1:
    asm_csrr(a, A4, 0xc00); /* cycle */
    asm_add(a, SUM, SUM, A4);
    return;
  case 2:
    put_computed_jump(m);
    return;
  default:
    if (number + 1 < NUM_FUNCTIONS)
      put_call(m, m->entries[number + 1 + pick(m, NUM_FUNCTIONS - number - 1)]);
    else
      asm_word(a, asm_r(0x02000033, SUM, SUM, S0)); /* mul */
  }
}

static void put_function(maker *m, unsigned number)
{
  assembler *a = m->a;
  m->entries[number] = asm_here(a);
  bool leaf = number + 1 == NUM_FUNCTIONS && pick(m, 2);
  if (!leaf) {
    asm_store(a, ASM_SW, RA, STACK, 0);
    asm_addi(a, STACK, STACK, 4);
  }
  asm_addi(a, SUM, SUM, (int32_t)number);
  for (unsigned i = 0; i < 2 && !leaf; i++) put_piece(m, number, m->entries[number]);
  if (!leaf) {
    asm_addi(a, STACK, STACK, -4);
    asm_load(a, ASM_LW, RA, STACK, 0);
  }
  if (pick(m, 4) == 0) asm_addi(a, RA, RA, 4); /* not the place of the call */
  asm_jalr(a, ZERO, RA, 0);
}

static void compare_calls(uint64_t seed, uint64_t max_cycles)
{
  rig r = rig_create(1, 0);
  maker m = {.a = &r.code[0], .random = seed};
  assembler *a = m.a;
  rig_start_worker(a);
  asm_li(a, STACK, RIG_DATA + 64);
  asm_li(a, S0, CALLS);
  size_t to_start = asm_hole(a);
  for (unsigned i = NUM_FUNCTIONS; i-- > 0;) put_function(&m, i);
  asm_patch_branch(a, to_start, ASM_BEQ, ZERO, ZERO);
  uint32_t again = asm_here(a);
  asm_li(a, BUDGET, 9);
  put_call(&m, m.entries[pick(&m, 3)]);
  asm_addi(a, S0, S0, -1);
  asm_branch(a, ASM_BNE, S0, ZERO, again);
  asm_li(a, A5, RIG_DATA);
  asm_store(a, ASM_SW, SUM, A5, 0);
  asm_tile(a, TILE_EXIT, 0, 0, 0);
  uint8_t *bytes = pop_xmalloc(RIG_END - RIG_BASE);
  pop_image image = rig_image(&r, 0, bytes);
  compare_engines(&r.target, &image, NULL, max_cycles, "calls", seed);
  free(bytes);
  rig_free(&r);
}

Test(translate_inline, calls_returns_and_recursion_are_those_of_the_interpreter)
{
  seed_range seeds = test_seeds(1, 8);
  for (uint64_t seed = seeds.first; seed <= seeds.last; seed++) compare_calls(seed, 1 << 22);
}

Test(translate_inline, a_cycle_limit_stops_inside_of_calls_at_the_same_instruction)
{
  seed_range seeds = test_seeds(101, 103);
  for (uint64_t seed = seeds.first; seed <= seeds.last; seed++)
    compare_calls(seed, 2000 + 997 * (seed % 11));
}
