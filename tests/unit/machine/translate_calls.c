/* The translator against the interpreter: calls with registers as parameters and results, and
 * guarded direct calls through pointers. The functions are too large to be inlined. They write many
 * registers, return in the middle, have instructions that take more than a slot, read counters,
 * call through constants, tables and registers, and recurse more deeply than the host's stack
 * allows. */
#include <criterion/criterion.h>

#include "support/asm.h"
#include "support/compare_engines.h"
#include "support/random.h"
#include "support/rig.h"
#include "support/seeds.h"

enum { NUM_FUNCTIONS = 7, FIRST_POINTED = 3, HIDDEN = NUM_FUNCTIONS - 2, CALLS = 60 };
enum { POINTER = 9, STACK = 18, BUDGET = 19, SUM = A3 }; /* registers: s1, s2, s3, a3 */

/* Registers that statements compute with: a1, a2, a6, a7, s4-s11, t3-t6. */
static const uint8_t values[] = {11, 12, 16, 17, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31};
enum { NUM_VALUES = sizeof values, NUM_FLOATS = 24 };

typedef struct maker {
  assembler *a;
  uint64_t random;
  uint32_t entries[NUM_FUNCTIONS];
  uint32_t
      leaves_at; /* number of the outer call, from the end, in which the interpreter continues */
  bool strays;   /* some store leaves the memory */
} maker;

static uint32_t pick(maker *m, uint32_t count)
{
  return random_below(&m->random, count);
}

static uint32_t pick_value(maker *m)
{
  return values[pick(m, NUM_VALUES)];
}

static void put_integers(maker *m)
{
  static const uint32_t operations[] = {0x33, 0x40000033, 0x4033, 0x02000033,
                                        0x02005033 /* divu */};
  for (uint32_t n = 1 + pick(m, 6); n > 0; n--)
    asm_word(m->a, asm_r(operations[pick(m, 5)], pick_value(m), pick_value(m), pick_value(m)));
  asm_add(m->a, SUM, SUM, pick_value(m));
}

/* fmv.w.x of any bits, often a NaN's; sums and products in both precisions; fdiv.s */
static void put_floats(maker *m)
{
  static const uint32_t operations[] = {0x00000053, 0x10000053, 0x04000053, 0x18000053};
  uint32_t bits = pick_value(m);
  if (pick(m, 3) == 0) {
    asm_word(m->a, 0x7fa00037 | T2 << 7); /* lui */
    asm_word(m->a, asm_r(0x6033, T2, T2, bits));
    bits = T2;
  }
  asm_word(m->a, asm_r(0xf0000053, pick(m, NUM_FLOATS), bits, 0));
  for (uint32_t n = 1 + pick(m, 3); n > 0; n--)
    asm_word(m->a, asm_r(operations[pick(m, 4)], pick(m, NUM_FLOATS), pick(m, NUM_FLOATS),
                         pick(m, NUM_FLOATS)));
}

/* A write to frm, which the interpreter executes. It continues with all registers. */
static void put_leave(maker *m)
{
  asm_addi(m->a, T2, S0, -(int32_t)m->leaves_at);
  size_t skip = asm_hole(m->a);
  asm_word(m->a, 0x00201073); /* csrw frm, zero */
  asm_patch_branch(m->a, skip, ASM_BNE, T2, ZERO);
}

static void put_store(maker *m)
{
  asm_store(m->a, ASM_SW, SUM, A5, 0);
  asm_addi(m->a, A5, A5, m->strays ? 4 : 0);
}

static void put_counter(maker *m)
{
  asm_csrr(m->a, A4, pick(m, 2) ? 0xc00 : 0xc02); /* cycle, instret */
  asm_add(m->a, SUM, SUM, A4);
}

/* A call through a pointer: of a function whose address is in the code, or is not. */
static void put_pointer_call(maker *m)
{
  assembler *a = m->a;
  uint32_t which = pick(m, HIDDEN - FIRST_POINTED), way = pick(m, 4);
  if (way == 0) {
    asm_li(a, T1, m->entries[FIRST_POINTED + which]);
  } else if (way == 1) {
    asm_li(a, T1, RIG_CONST);
    asm_load(a, ASM_LW, T1, T1, (int32_t)(4 * which));
  } else if (way == 2) {
    asm_li(a, T1, RIG_DATA / 2);
    asm_add(a, T1, T1, T1);
    asm_load(a, ASM_LW, T1, T1, 16 + 4 * (int32_t)pick(m, NUM_FUNCTIONS - HIDDEN));
  } else {
    asm_add(a, T1, POINTER, ZERO);
  }
  asm_jalr(a, RA, T1, 0);
  asm_addi(a, SUM, SUM, 7);
}

static void put_call(maker *m, unsigned number)
{
  if (number + 1 == NUM_FUNCTIONS) return;
  uint32_t to = number + 1 + pick(m, NUM_FUNCTIONS - number - 1);
  if (number < FIRST_POINTED && pick(m, 3) == 0) {
    put_pointer_call(m);
    return;
  }
  asm_jal(m->a, RA, m->entries[to]);
  asm_addi(m->a, SUM, SUM, 7);
}

static void put_recursion(maker *m, unsigned number)
{
  asm_addi(m->a, BUDGET, BUDGET, -1);
  size_t skip = asm_hole(m->a);
  asm_jal(m->a, RA, m->entries[number]);
  asm_patch_branch(m->a, skip, ASM_BLT, BUDGET, ZERO);
}

static void put_statement(maker *m, unsigned number)
{
  switch (pick(m, 9)) {
  case 0:
    put_recursion(m, number);
    return;
  case 1:
    put_counter(m);
    return;
  case 2:
    put_store(m);
    return;
  case 3:
    put_leave(m);
    return;
  case 4:
  case 5:
    put_call(m, number);
    return;
  case 6:
    put_floats(m);
    return;
  default:
    put_integers(m);
  }
}

static void put_function(maker *m, unsigned number)
{
  assembler *a = m->a;
  m->entries[number] = asm_here(a);
  asm_store(a, ASM_SW, RA, STACK, 0);
  asm_addi(a, STACK, STACK, 4);
  for (uint32_t n = 2 + pick(m, 4); n > 0; n--) put_statement(m, number);
  if (pick(m, 2)) { /* too large for inlining */
    size_t over = asm_hole(a);
    asm_nops(a, 170);
    asm_patch_branch(a, over, ASM_BEQ, ZERO, ZERO);
  }
  asm_addi(a, STACK, STACK, -4);
  asm_load(a, ASM_LW, RA, STACK, 0);
  if (pick(m, 8) == 0) asm_addi(a, RA, RA, 4); /* not the place of the call */
  asm_jalr(a, ZERO, RA, 0);
}

/* Stores all registers that statements use. */
static void put_end(assembler *a)
{
  asm_li(a, A0, RIG_DATA + 1024);
  for (uint32_t i = 0; i < NUM_VALUES; i++) asm_store(a, ASM_SW, values[i], A0, (int32_t)(4 * i));
  for (uint32_t i = 0; i < NUM_FLOATS; i++)
    asm_word(a, asm_s(0x2027, A0, i, (int32_t)(64 + 4 * i))); /* fsw */
  asm_store(a, ASM_SW, SUM, A0, 192);
  asm_tile(a, TILE_EXIT, 0, 0, 0);
}

/* Worker 0 runs the code that follows. */
static void put_start(assembler *a)
{
  rig_start_worker(a);
}

static void compare_calls(uint64_t seed, uint64_t max_cycles)
{
  rig r = rig_create(1, 0);
  maker m = {.a = &r.code[0], .random = seed};
  assembler *a = m.a;
  m.leaves_at = 1 + pick(&m, 2 * CALLS);
  m.strays = pick(&m, 4) == 0;
  put_start(a);
  asm_li(a, STACK, RIG_DATA + 2048);
  asm_li(a, A5, RIG_DATA + 4096);
  asm_li(a, S0, CALLS);
  for (uint32_t i = 0; i < NUM_VALUES; i++) asm_li(a, values[i], pick(&m, UINT32_MAX));
  size_t to_start = asm_hole(a);
  asm_nops(a, 1);
  for (unsigned i = NUM_FUNCTIONS; i-- > 0;) put_function(&m, i);
  size_t start = asm_here(a);
  a->words[to_start] = asm_j(ZERO, (int32_t)(start - (RIG_CODE + 4 * (uint32_t)to_start)));
  uint32_t again = asm_here(a);
  asm_li(a, BUDGET, 9);
  asm_li(a, POINTER, m.entries[pick(&m, HIDDEN - FIRST_POINTED) + FIRST_POINTED]);
  for (unsigned i = 0; i < 2; i++) asm_jal(a, RA, m.entries[i]);
  asm_addi(a, S0, S0, -1);
  asm_branch(a, ASM_BNE, S0, ZERO, again);
  put_end(a);
  uint8_t *bytes = pop_xmalloc(RIG_END - RIG_BASE);
  pop_image image = rig_image(&r, 0, bytes);
  memcpy(bytes + (RIG_CONST - RIG_BASE), m.entries + FIRST_POINTED,
         (HIDDEN - FIRST_POINTED) * sizeof *m.entries);
  memcpy(bytes + (RIG_DATA + 16 - RIG_BASE), m.entries + HIDDEN,
         (NUM_FUNCTIONS - HIDDEN) * sizeof *m.entries);
  compare_engines(&r.target, &image, NULL, max_cycles, "calls", seed);
  free(bytes);
  rig_free(&r);
}

Test(translate_calls, registers_time_and_memory_are_those_of_the_interpreter)
{
  seed_range seeds = test_seeds(1, 12);
  for (uint64_t seed = seeds.first; seed <= seeds.last; seed++) compare_calls(seed, 1 << 24);
}

Test(translate_calls, a_cycle_limit_stops_in_calls_at_the_same_instruction)
{
  seed_range seeds = test_seeds(101, 104);
  for (uint64_t seed = seeds.first; seed <= seeds.last; seed++)
    compare_calls(seed, 5000 + 997 * (seed % 11));
}

/* f(n) calls f(n - 1), and the worker ends at the bottom: a million calls that never return. */
Test(translate_calls, endless_recursion_leaves_the_hosts_stack_alone)
{
  rig r = rig_create(1, 0);
  assembler *a = &r.code[0];
  put_start(a);
  asm_li(a, S0, 1000000);
  uint32_t self = asm_here(a);
  for (int i = 0; i < 70; i++) asm_addi(a, SUM, SUM, 1); /* too large to be inlined into itself */
  asm_addi(a, S0, S0, -1);
  size_t bottom = asm_hole(a);
  asm_jal(a, RA, self);
  asm_jalr(a, ZERO, RA, 0);
  asm_patch_branch(a, bottom, ASM_BEQ, S0, ZERO);
  put_end(a);
  uint8_t *bytes = pop_xmalloc(RIG_END - RIG_BASE);
  pop_image image = rig_image(&r, 0, bytes);
  compare_engines(&r.target, &image, NULL, UINT64_C(1) << 40, "recursion", 0);
  free(bytes);
  rig_free(&r);
}

/* A function, too large for inlining, that reads some registers. */
static uint32_t put_reader(assembler *a, const uint8_t *read, uint32_t count, uint32_t callee)
{
  uint32_t entry = asm_here(a);
  for (uint32_t round = 0; round < 40; round++)
    for (uint32_t i = 0; i < count; i++) {
      asm_word(a, asm_r(round % 2 ? 0x02000033 : 0x4033 /* mul, xor */, T2, T2, read[i]));
      asm_add(a, SUM, SUM, T2);
    }
  if (callee) {
    asm_store(a, ASM_SW, RA, STACK, 0);
    asm_jal(a, RA, callee);
    asm_load(a, ASM_LW, RA, STACK, 0);
  }
  asm_jalr(a, ZERO, RA, 0);
  return entry;
}

/* to += from, with 64 bits in two registers: a pattern that the translator recognizes. */
static void put_long_sum(assembler *a, uint32_t to, uint32_t from)
{
  asm_add(a, T2, to, from);
  asm_word(a, asm_r(0x3033 /* sltu */, A4, T2, from));
  asm_add(a, to + 1, to + 1, from + 1);
  asm_add(a, to + 1, to + 1, A4);
  asm_add(a, to, T2, ZERO);
}

/* 64-bit integers in registers are the same before and after a call, if the callee only reads the
 * registers. As 32-bit parameters they were lost in LLVM 19's regcall. */
Test(translate_calls, long_integers_outlive_calls_that_read_their_halves)
{
  static const uint8_t lower[] = {16, 20, 22, 24}; /* a6 and a7, s4 and s5, … */
  rig r = rig_create(1, 0);
  assembler *a = &r.code[0];
  put_start(a);
  asm_li(a, S0, CALLS);
  asm_li(a, STACK, RIG_DATA + 2048);
  for (uint32_t i = 0; i < NUM_VALUES; i++) asm_li(a, values[i], 0x9e3779b9u * (i + 1));
  size_t to_start = asm_hole(a);
  asm_nops(a, 1);
  uint32_t inner = put_reader(a, lower + 1, 3, 0), reader = put_reader(a, lower, 4, inner);
  size_t start = asm_here(a);
  a->words[to_start] = asm_j(ZERO, (int32_t)(start - (RIG_CODE + 4 * (uint32_t)to_start)));
  uint32_t again = asm_here(a);
  for (uint32_t i = 0; i < 4; i++) put_long_sum(a, lower[i], lower[(i + 1) % 4]);
  asm_jal(a, RA, reader);
  for (uint32_t i = 0; i < 4; i++) put_long_sum(a, lower[i], lower[(i + 3) % 4]);
  asm_addi(a, S0, S0, -1);
  asm_branch(a, ASM_BNE, S0, ZERO, again);
  put_end(a);
  uint8_t *bytes = pop_xmalloc(RIG_END - RIG_BASE);
  pop_image image = rig_image(&r, 0, bytes);
  compare_engines(&r.target, &image, NULL, 1 << 24, "long integers", 0);
  free(bytes);
  rig_free(&r);
}
