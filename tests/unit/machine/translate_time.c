/* Long native runs. Native code counts the slots that are left and, in the low bits of the same
 * counter (EXTRA_BITS of translator/lift.h), slots minus instructions. In these runs the difference
 * does not fit into those bits. Each round of a loop takes the same time. Two short runs of the
 * interpreter measure it, and the expected counters of the native run follow from it. */
#include "support/rig.h"

enum { CYCLE = 0xc00, INSTRET = 0xc02 };

typedef enum body {
  DIVISIONS, /* more slots than instructions */
  JOINED,    /* fewer slots: these are not in the counter */
  JOINED_IN_PAIRS,
  CALLS
} body;

typedef struct counters {
  uint32_t cycles, instructions, value;
} counters;

static void put_joined(assembler *a)
{
  asm_word(a, asm_r(0x00000053, 1, 1, 2)); /* fadd.s, to nearest even */
}

static void put_body(assembler *a, body b, uint32_t function)
{
  switch (b) {
  case DIVISIONS:
    for (int i = 0; i < 4; i++) asm_word(a, asm_r(0x02005033, A2, A2, A3)); /* divu */
    break;
  case JOINED:
    for (int i = 0; i < 16; i++) put_joined(a);
    break;
  case JOINED_IN_PAIRS:
    for (int i = 0; i < 4; i++) {
      put_joined(a);
      asm_addi(a, A2, A2, 3);
    }
    break;
  case CALLS:
    asm_jal(a, RA, function);
    break;
  }
}

/* A loop of A0 rounds; the number comes from memory. Then the values of the counters. */
static void put_program(assembler *a, body b)
{
  enum { SUPERVISOR_WORDS = 12 };
  asm_li(a, T0, RIG_CODE + 4 * SUPERVISOR_WORDS);
  asm_tile(a, TILE_RUN, 0, T0, ZERO);
  asm_tile(a, TILE_WAIT, 0, 0, 0);
  rig_report(a, 5);
  asm_nops(a, SUPERVISOR_WORDS - (uint32_t)a->count);
  size_t to_main = asm_hole(a);
  uint32_t function = asm_here(a);
  put_body(a, DIVISIONS, 0);
  asm_jalr(a, ZERO, RA, 0);
  asm_patch_branch(a, to_main, ASM_BEQ, ZERO, ZERO);
  asm_li(a, S0, RIG_DATA);
  asm_load(a, ASM_LW, A0, S0, 0);
  asm_li(a, A2, 12345);
  asm_li(a, A3, 1);
  uint32_t again = asm_here(a);
  put_body(a, b, function);
  asm_addi(a, A0, A0, -1);
  asm_branch(a, ASM_BNE, A0, ZERO, again);
  asm_csrr(a, A4, CYCLE);
  asm_csrr(a, A5, INSTRET);
  asm_store(a, ASM_SW, A4, S0, 4);
  asm_store(a, ASM_SW, A5, S0, 8);
  asm_store(a, ASM_SW, A2, S0, 12);
  asm_tile(a, TILE_EXIT, 0, 0, 0);
}

static counters run_for(machine_engine engine, body b, uint32_t rounds)
{
  rig r = rig_create_with(1, (machine_options){.engine = engine});
  put_program(&r.code[0], b);
  rig_load(&r);
  expect_ok(machine_write(r.m, 0, RIG_DATA, &rounds, sizeof rounds));
  uint32_t event;
  expect_ok(machine_run(r.m, 0, &event));
  counters out;
  expect_ok(machine_read(r.m, 0, RIG_DATA + 4, &out, sizeof out));
  rig_free(&r);
  return out;
}

static uint32_t after(uint32_t first, uint32_t second, uint32_t more)
{
  return second + (second - first) * more;
}

static void expect_counters(body b)
{
  enum { SHORT = 1000, SLOTS = 1 << 28, SLOT = 6 };
  counters first = run_for(MACHINE_INTERPRETER, b, SHORT),
           second = run_for(MACHINE_INTERPRETER, b, SHORT + 1);
  uint32_t more = SLOTS * SLOT / (second.cycles - first.cycles);
  counters run = run_for(MACHINE_TRANSLATOR, b, SHORT + 1 + more);
  cr_assert_eq(run.cycles, after(first.cycles, second.cycles, more), "%u cycles", run.cycles);
  cr_assert_eq(run.instructions, after(first.instructions, second.instructions, more),
               "%u instructions, not %u", run.instructions,
               after(first.instructions, second.instructions, more));
  cr_assert_eq(run.value, after(first.value, second.value, more));
}

Test(translate_time, divisions)
{
  expect_counters(DIVISIONS);
}

Test(translate_time, joined_operations)
{
  expect_counters(JOINED);
}

Test(translate_time, joined_operations_in_pairs)
{
  expect_counters(JOINED_IN_PAIRS);
}

Test(translate_time, calls)
{
  expect_counters(CALLS);
}
