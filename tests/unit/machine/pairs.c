/* runtime/machine: pairs of instructions that one piece of the interpreter executes (PAIRS of
 * code_pages.h) do what the two do one by one. The end of a page of decoded code splits a pair. So
 * each program runs twice: with the pair at the beginning of a page, and across the end of one. */
#include "support/random.h"
#include "support/rig.h"

#include <machine/code_pages.h>

static const isa_op pairs[][2] = {
#define PAIR_ROW(first, second) {OP_##first, OP_##second},
    PAIRS(PAIR_ROW)};

enum { CASES = 60, SLOT = 6, REGISTERS = 8, WORDS = 2 * REGISTERS + 1 };

static uint64_t seed = 1;

static uint32_t below(uint32_t end)
{
  return random_below(&seed, end);
}

/* x5 … x12 and f0 … f7 are used. x5 and x6 start as addresses, and x13 shows what a branch
 * skips. */
static uint32_t random_instruction(isa_op id)
{
  uint32_t match = isa_rows[id].match, x1 = T0 + below(REGISTERS), x2 = T0 + below(REGISTERS),
           f1 = below(REGISTERS), f2 = below(REGISTERS), address = below(8) ? T0 : T1;
  int32_t offset = 4 * (int32_t)below(8) + (below(16) == 0);
  switch (isa_rows[id].format) {
  case FORMAT_F_I:
    return asm_i(match, f1, address, offset);
  case FORMAT_F_RM: /* frm is 0, or each mode in turn, legal or not */
    return asm_r(match | (below(4) ? 7 : below(8)) << 12, f1, f2, f1 ^ 1);
  case FORMAT_I:
    return (match & 0x7f) == 0x03 ? asm_i(match, x1, address, offset)
                                  : asm_i(match, x1, x2, (int32_t)below(4096) - 2048);
  case FORMAT_R:
    return asm_r(match, x1, x2, T0 + below(REGISTERS));
  case FORMAT_S:
    return asm_s(match, address, id == OP_FSW ? f1 : x1, offset);
  case FORMAT_B: /* over the marker */
    return asm_b(match, x1, below(2) ? x1 : x2, 8);
  default:
    cr_assert_fail("no random operands for this format");
    return 0;
  }
}

static uint32_t random_float(void)
{
  static const uint32_t values[] = {0,          0x80000000, 0x3f800000, 0xbf800000,
                                    0x7f800000, 0xff800000, 0x7fc12345, 0x7f812345,
                                    0x00000001, 0x7f7fffff, 0x40490fdb, 0x33333333};
  return values[below(sizeof values / sizeof values[0])];
}

typedef struct outcome { /* without padding */
  uint64_t cycles;
  uint32_t kind, pc, address; /* of the fault; pc relative to the pair */
  uint32_t words[WORDS], data[REGISTERS];
} outcome;

enum { DUMP = RIG_DATA + 0x400, SETUP = 5 * REGISTERS };

static void assemble(assembler *a, const uint32_t *pair, const uint32_t *x, const uint32_t *f,
                     uint32_t nops)
{
  for (uint32_t i = 0; i < REGISTERS; i++) {
    asm_li(a, T0, f[i]);
    asm_word(a, 0xf0000053 | T0 << 15 | i << 7); /* fmv.w.x */
  }
  for (uint32_t i = 0; i < REGISTERS; i++) asm_li(a, T0 + i, x[i]);
  asm_nops(a, nops);
  asm_word(a, pair[0]);
  asm_word(a, pair[1]);
  asm_addi(a, A3, ZERO, 1); /* a branch skips this */
  asm_li(a, A4, DUMP);
  for (uint32_t i = 0; i <= REGISTERS; i++) asm_store(a, ASM_SW, T0 + i, A4, (int32_t)(4 * i));
  for (uint32_t i = 0; i < REGISTERS; i++)
    asm_store(a, ASM_FSW, i, A4, (int32_t)(4 * (REGISTERS + 1 + i)));
  rig_report(a, 1);
}

static outcome run_pair(const uint32_t *pair, const uint32_t *x, const uint32_t *f, uint32_t nops)
{
  rig r = rig_create_with(1, (machine_options){.engine = MACHINE_INTERPRETER});
  assemble(&r.code[0], pair, x, f, nops);
  rig_load(&r);
  uint32_t event, start = RIG_CODE + 4 * (SETUP + nops);
  outcome o = {0};
  pop_error *error = machine_run(r.m, 0, &event);
  if (error) {
    const machine_fault *fault = machine_get_fault(r.m);
    o.kind = fault->kind;
    o.pc = fault->pc - start;
    o.address = fault->address;
    o.cycles = fault->cycle - (uint64_t)nops * SLOT;
    pop_error_free(error);
  } else {
    o.cycles = machine_get_counters(r.m).cycles - (uint64_t)nops * SLOT;
    for (uint32_t i = 0; i < WORDS; i++) o.words[i] = rig_word(&r, 0, DUMP + 4 * i);
  }
  for (uint32_t i = 0; i < REGISTERS; i++) o.data[i] = rig_word(&r, 0, RIG_DATA + 4 * i);
  rig_free(&r);
  return o;
}

static void compare_ways(const isa_op *ids, bool *faulted)
{
  uint32_t pair[] = {random_instruction(ids[0]), random_instruction(ids[1])};
  uint32_t x[REGISTERS] = {RIG_DATA, RIG_HOLE}, f[REGISTERS];
  for (uint32_t i = 2; i < REGISTERS; i++)
    x[i] = below(2) ? random_next(&seed) << 1 | below(2) : RIG_DATA;
  for (uint32_t i = 0; i < REGISTERS; i++) f[i] = random_float();
  /* The first word is the last one of a page, or the pair is inside of a page. */
  outcome apart = run_pair(pair, x, f, PAGE_WORDS - 1 - SETUP);
  outcome together = run_pair(pair, x, f, 0);
  cr_assert_eq(memcmp(&apart, &together, sizeof apart), 0, "0x%08x 0x%08x: %s at %u, %s at %u",
               pair[0], pair[1], machine_fault_name((machine_fault_kind)apart.kind), apart.pc,
               machine_fault_name((machine_fault_kind)together.kind), together.pc);
  if (together.kind) faulted[together.pc / 4] = true;
}

Test(machine_pairs, a_pair_does_what_its_instructions_do_one_by_one)
{
  bool faulted[2] = {false, false};
  for (size_t p = 0; p < sizeof pairs / sizeof pairs[0]; p++)
    for (int i = 0; i < CASES; i++) compare_ways(pairs[p], faulted);
  cr_assert(faulted[0] && faulted[1], "faults in the first and in the second");
}
