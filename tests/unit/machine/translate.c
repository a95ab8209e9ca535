/* The translator against the interpreter: random programs, jumps and calls, equal to the bit and
 * cycle (loops: translate_loops.c). */
#include <criterion/criterion.h>

#include "support/compare_engines.h"
#include "support/random_program.h"
#include "support/seeds.h"

static pop_target one_tile(void)
{
  pop_target target;
  expect_ok(pop_target_create("ipu2", 1, &target));
  target.tiles_per_ipu = 1;
  return target;
}

/* The supervisor starts worker 0 at CODE and waits for it. */
static uint32_t add_supervisor(program *p)
{
  uint32_t entry = here(p);
  emit_li(p, 5, CODE);
  emit(p, isa_tile_op_word(TILE_RUN, 0, 5, 0));
  emit(p, isa_tile_op_word(TILE_WAIT, 0, 0, 0));
  emit(p, isa_tile_op_word(TILE_HOST_SYNC, 10, 10, 0));
  return entry;
}

static void compare_program(uint64_t seed, uint64_t max_cycles, uint32_t float_control)
{
  program *p = make_program(seed, (program_options){.worker = true, .max_cases = 24});
  uint32_t entry = add_supervisor(p);
  const pop_image_segment segments[] = {{.start = CODE, .size = 4 * CODE_WORDS, .executable = true},
                                        {.start = POOL, .size = END - POOL, .writable = true}};
  uint8_t *bytes = make_bytes(p);
  pop_image image = {.base = BASE,
                     .size = END - BASE,
                     .bytes = bytes,
                     .entry = entry,
                     .segments = segments,
                     .num_segments = 2};
  pop_target target = one_tile();
  machine_options options = {.max_cycles_per_run = max_cycles, .float_control = float_control};
  char *difference = engines_differ(MACHINE_TRANSLATOR, &target, &image, NULL, options);
  cr_assert_null(difference, "program %llu, float control %x: %s", (unsigned long long)seed,
                 float_control, difference);
  free(bytes);
  free(p);
}

Test(translate, every_instruction_leaves_the_same_registers_and_memory)
{
  seed_range seeds = test_seeds(1, 12);
  for (uint64_t seed = seeds.first; seed <= seeds.last; seed++) compare_program(seed, 1 << 24, 0);
}

/* The operands are often NaNs, infinities and numbers that overflow. With faults on, the programs
 * end early; with NaN on overflow and random rounding they go on. */
Test(translate, every_instruction_does_the_same_under_float_control)
{
  static const uint32_t controls[] = {1 << 20, 1 << 19, 1 << 20 | 1 << 19, 2, 4, 7};
  enum { NUM_CONTROLS = sizeof controls / sizeof *controls };
  seed_range seeds = test_seeds(201, 212);
  for (uint64_t seed = seeds.first; seed <= seeds.last; seed++)
    compare_program(seed, 1 << 24, controls[seed % NUM_CONTROLS]);
}

Test(translate, a_cycle_limit_stops_at_the_same_instruction)
{
  seed_range seeds = test_seeds(101, 104);
  for (uint64_t seed = seeds.first; seed <= seeds.last; seed++)
    compare_program(seed, 300 + 300 * (seed % 7), 0);
}

/* Jump tables, and calls of all kinds: near, far, through a register, tail calls; counters that are
 * read in between, halves. */

enum { TABLE_SIZE = 8 };

typedef struct callees {
  uint32_t leaf, tail, far_tail;
} callees;

static void put_far_jump(assembler *a, uint32_t rd, uint32_t to)
{
  uint32_t here = asm_here(a);
  asm_word(a, 0x17 | T1 << 7); /* auipc t1, 0 */
  asm_jalr(a, rd, T1, (int32_t)(to - here));
}

static callees put_callees(assembler *a)
{
  callees out = {.leaf = asm_here(a)};
  asm_csrr(a, A4, 0xc00); /* cycle */
  asm_add(a, A3, A3, A4);
  asm_jalr(a, ZERO, RA, 0);
  out.tail = asm_here(a);
  asm_addi(a, A3, A3, 3);
  asm_jal(a, ZERO, out.leaf);
  out.far_tail = asm_here(a);
  put_far_jump(a, ZERO, out.leaf);
  return out;
}

static void put_case(assembler *a, unsigned number, const callees *f)
{
  enum { FADD_H = 0x04007053 };
  switch (number) {
  case 0:
    asm_jal(a, RA, f->leaf);
    return;
  case 1:
    asm_jal(a, RA, f->tail);
    return;
  case 2:
    asm_jal(a, RA, f->far_tail);
    return;
  case 3:
    put_far_jump(a, RA, f->leaf);
    return;
  case 4:
    asm_li(a, T1, f->tail);
    asm_jalr(a, RA, T1, 0);
    return;
  case 5:
    asm_csrr(a, A4, 0xc02); /* instret */
    asm_add(a, A3, A3, A4);
    asm_csrr(a, A4, 0xc80); /* cycleh */
    asm_add(a, A3, A3, A4);
    return;
  case 6:
    asm_load(a, ASM_FLH, 1, A5, 0);
    asm_word(a, asm_r(FADD_H, 2, 2, 1));
    asm_store(a, ASM_FSH, 2, A5, 4);
    return;
  default:
    asm_addi(a, A3, A3, 11);
    return;
  }
}

/* The switch. `decoy` is the number of cases that the translator will find. */
static void put_switch(assembler *a, uint32_t decoy, size_t *to_default)
{
  asm_word(a, asm_r(0x02000033, S1, S1, T2)); /* mul */
  asm_addi(a, S1, S1, 123);
  asm_word(a, asm_i(0x00005013, A0, S1, 28)); /* srli: 0 to 15 */
  asm_li(a, A1, TABLE_SIZE - 1);
  *to_default = asm_hole(a);
  asm_li(a, A1, decoy);
  asm_branch(a, 0x6063, A1, A0, asm_here(a) + 4); /* bltu */
  asm_li(a, A2, RIG_CONST);
  asm_word(a, asm_r(0x20004033, A2, A0, A2)); /* sh2add */
  asm_load(a, ASM_LW, A2, A2, 0);
  asm_jalr(a, ZERO, A2, 0);
}

static void put_switching_worker(assembler *a, uint32_t decoy, uint32_t table[TABLE_SIZE])
{
  asm_li(a, S0, 2000);
  asm_li(a, T2, 1103515245);
  asm_li(a, A5, RIG_DATA + 64);
  size_t to_start = asm_hole(a), to_end, to_default;
  callees f = put_callees(a);
  uint32_t join = asm_here(a);
  asm_addi(a, S0, S0, -1);
  to_end = asm_hole(a);
  asm_patch_branch(a, to_start, ASM_BEQ, ZERO, ZERO);
  put_switch(a, decoy, &to_default);
  for (unsigned i = 0; i < TABLE_SIZE; i++) {
    table[i] = asm_here(a);
    put_case(a, i, &f);
    asm_jal(a, ZERO, join);
  }
  asm_patch_branch(a, to_default, 0x6063, A1, A0);
  asm_jal(a, ZERO, join);
  asm_patch_branch(a, to_end, ASM_BEQ, S0, ZERO);
  asm_store(a, ASM_SW, A3, A5, 0);
  asm_store(a, ASM_SW, S1, A5, 8);
  asm_tile(a, TILE_EXIT, 0, 0, 0);
}

static void compare_switch(uint32_t decoy, uint64_t max_cycles)
{
  rig r = rig_create(1, 0);
  assembler *a = &r.code[0];
  uint32_t table[TABLE_SIZE];
  rig_start_worker(a);
  put_switching_worker(a, decoy, table);
  uint8_t *bytes = pop_xmalloc(RIG_END - RIG_BASE);
  pop_image image = rig_image(&r, 0, bytes);
  memcpy(bytes + (RIG_CONST - RIG_BASE), table, sizeof table);
  bytes[RIG_DATA + 64 - RIG_BASE] = 0x01; /* a half, 1.001 */
  bytes[RIG_DATA + 65 - RIG_BASE] = 0x3c;
  compare_engines(&r.target, &image, NULL, max_cycles, "switch", decoy);
  free(bytes);
  rig_free(&r);
}

Test(translate, jump_tables_and_calls_of_all_kinds_lead_to_the_same)
{
  compare_switch(TABLE_SIZE - 1, 0);
  compare_switch(3, 0); /* some cases are not known beforehand */
  for (uint64_t limit = 20000; limit < 20100; limit += 13) compare_switch(TABLE_SIZE - 1, limit);
}

/* Long enough to be worth compiling while it runs: one loop in two nested ones, whose last round
 * faults. */
Test(translate, auto_goes_over_to_native_code_while_a_vertex_runs)
{
  enum { OUTER = 3000, INNER = 20000 };
  rig r = rig_create(1, 0);
  assembler *a = &r.code[0];
  asm_li(a, T0, RIG_CODE + 4 * 6);
  asm_tile(a, TILE_RUN, 0, T0, ZERO);
  asm_tile(a, TILE_WAIT, 0, 0, 0);
  asm_nops(a, 2); /* not reached: the worker faults */
  asm_li(a, T1, OUTER);
  asm_li(a, A4, RIG_DATA);
  uint32_t outer = asm_here(a);
  asm_li(a, T0, INNER);
  uint32_t inner = asm_here(a);
  asm_load(a, ASM_LW, A0, A4, 4);
  asm_add(a, A0, A0, T0);
  asm_store(a, ASM_SW, A0, A4, 4);
  asm_addi(a, T0, T0, -1);
  asm_branch(a, ASM_BNE, T0, ZERO, inner);
  asm_addi(a, T1, T1, -1);
  asm_branch(a, ASM_BNE, T1, ZERO, outer);
  asm_store(a, ASM_SW, A0, ZERO, 0);
  uint8_t *bytes = pop_xmalloc(RIG_END - RIG_BASE);
  pop_image image = rig_image(&r, 0, bytes);
  compare_with(MACHINE_AUTO, &r.target, &image, NULL, 0, "auto", 0);
  free(bytes);
  rig_free(&r);
}
