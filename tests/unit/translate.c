/* The translator against the interpreter: random programs and random loops, to the bit and cycle. */
#include <criterion/criterion.h>

#include "support/random_program.h"
#include "support/rig.h"
#include "support/seeds.h"

#include <stdio.h>

/* What a run leaves behind. */
typedef struct outcome {
  machine_fault fault;
  machine_counters counters;
  uint8_t *memory;
  uint32_t bytes;
} outcome;

static void run_image(const pop_target *target, const pop_image *image, const machine_stack *stacks,
                      machine_options options, outcome *out)
{
  machine *m;
  expect_ok(machine_create(target, &options, &m));
  expect_ok(machine_load(m, image, stacks));
  uint32_t event;
  pop_error_free(machine_run(m, 0, &event));
  out->fault = *machine_get_fault(m);
  out->counters = machine_get_counters(m);
  out->bytes = image->size;
  out->memory = pop_xmalloc(image->size);
  expect_ok(machine_read(m, 0, image->base, out->memory, image->size));
  machine_free(m);
}

static void expect_same(const outcome *a, const outcome *b, const char *what, uint64_t seed)
{
  cr_assert_eq(a->fault.kind, b->fault.kind, "%s %llu: fault %s, translated %s at 0x%x", what,
               (unsigned long long)seed, machine_fault_name(a->fault.kind),
               machine_fault_name(b->fault.kind), b->fault.pc);
  cr_assert_eq(a->fault.pc, b->fault.pc, "%s %llu: fault at 0x%x, translated 0x%x", what,
               (unsigned long long)seed, a->fault.pc, b->fault.pc);
  cr_assert_eq(a->fault.address, b->fault.address, "%s %llu", what, (unsigned long long)seed);
  cr_assert_eq(a->fault.cycle, b->fault.cycle, "%s %llu: cycle %llu, translated %llu", what,
               (unsigned long long)seed, (unsigned long long)a->fault.cycle,
               (unsigned long long)b->fault.cycle);
  cr_assert_eq(a->fault.vertex_entry, b->fault.vertex_entry, "%s %llu", what,
               (unsigned long long)seed);
  cr_assert_str_eq(a->fault.detail, b->fault.detail, "%s %llu", what, (unsigned long long)seed);
  cr_assert_eq(a->counters.cycles, b->counters.cycles, "%s %llu: %llu cycles, translated %llu",
               what, (unsigned long long)seed, (unsigned long long)a->counters.cycles,
               (unsigned long long)b->counters.cycles);
  cr_assert_eq(a->counters.instructions, b->counters.instructions,
               "%s %llu: %llu instructions, translated %llu", what, (unsigned long long)seed,
               (unsigned long long)a->counters.instructions,
               (unsigned long long)b->counters.instructions);
  for (uint32_t i = 0; i < a->bytes; i += 4)
    cr_assert(!memcmp(a->memory + i, b->memory + i, 4),
              "%s %llu: word at 0x%x: 0x%08x, translated 0x%08x", what, (unsigned long long)seed,
              RIG_BASE + i, *(uint32_t *)(void *)(a->memory + i),
              *(uint32_t *)(void *)(b->memory + i));
}

static void compare_with(machine_engine engine, const pop_target *target, const pop_image *image,
                         const machine_stack *stacks, uint64_t max_cycles, const char *what,
                         uint64_t seed)
{
  outcome interpreted, translated;
  machine_options options = {.max_cycles_per_run = max_cycles, .engine = MACHINE_INTERPRETER};
  run_image(target, image, stacks, options, &interpreted);
  options.engine = engine;
  run_image(target, image, stacks, options, &translated);
  expect_same(&interpreted, &translated, what, seed);
  free(interpreted.memory);
  free(translated.memory);
}

static void compare_engines(const pop_target *target, const pop_image *image,
                            const machine_stack *stacks, uint64_t max_cycles, const char *what,
                            uint64_t seed)
{
  compare_with(MACHINE_TRANSLATOR, target, image, stacks, max_cycles, what, seed);
}

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

static void compare_program(uint64_t seed, uint64_t max_cycles)
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
  compare_engines(&target, &image, NULL, max_cycles, "program", seed);
  free(bytes);
  free(p);
}

Test(translate, every_instruction_leaves_the_same_registers_and_memory)
{
  seed_range seeds = test_seeds(1, 12);
  for (uint64_t seed = seeds.first; seed <= seeds.last; seed++) compare_program(seed, 1 << 24);
}

Test(translate, a_cycle_limit_stops_at_the_same_instruction)
{
  seed_range seeds = test_seeds(101, 104);
  for (uint64_t seed = seeds.first; seed <= seeds.last; seed++)
    compare_program(seed, 300 + 300 * (seed % 7));
}

/* Random loops: counted in every way, with accesses near the borders of what is legal. */

typedef struct loop_maker {
  uint64_t random;
  assembler *a;
} loop_maker;

static uint32_t pick(loop_maker *l, uint32_t below)
{
  l->random = l->random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (uint32_t)(l->random >> 33) % below;
}

static uint32_t pick_of(loop_maker *l, const uint32_t *values, uint32_t count)
{
  return values[pick(l, count)];
}
#define PICK(l, ...)                                                                               \
  pick_of(l, (const uint32_t[]){__VA_ARGS__}, sizeof((const uint32_t[]){__VA_ARGS__}) / 4)

/* s0, s1, a4, a5 point somewhere, a0-a3 are values, t0 counts, t1 is the bound. */
static uint32_t pick_pointer(loop_maker *l)
{
  return PICK(l, S0, S1, A4, A5);
}

static uint32_t pick_value(loop_maker *l)
{
  return PICK(l, A0, A1, A2, A3);
}

static uint32_t pick_place(loop_maker *l)
{
  uint32_t near = 4 * pick(l, 64) - 128;
  if (pick(l, 16) == 0) near += pick(l, 4);
  return near + PICK(l, RIG_DATA + 512, RIG_DATA + 512, RIG_DATA + 2048, RIG_STACKS - 64,
                     RIG_STACKS, RIG_STACKS + 64, RIG_STACKS + RIG_STACK_BYTES, RIG_CONST + 128,
                     RIG_HOLE, RIG_BEHIND + 64, RIG_END);
}

static void put_body_op(loop_maker *l)
{
  assembler *a = l->a;
  uint32_t p = pick_pointer(l), v = pick_value(l), w = pick_value(l);
  int32_t offset = (int32_t)(4 * pick(l, 5)) - 4;
  switch (pick(l, 16)) {
  case 0:
  case 1:
    asm_load(a, ASM_LW, v, p, offset);
    return;
  case 13: /* two bounded values make a third: xor, or, and, minu, maxu */
    asm_word(a, asm_i(0x00007013, v, w, (int32_t)PICK(l, 7, 15, 63, 255)));
    asm_load(a, ASM_LBU, A5, p, offset);
    asm_word(a, asm_r(PICK(l, 0x4033, 0x6033, 0x7033, 0x0a005033, 0x0a007033), v, v, A5));
    asm_word(a, asm_i(PICK(l, 0x4013, 0x6013), v, v, (int32_t)pick(l, 64))); /* xori, ori */
    asm_word(a, asm_r(0x20004033, A5, v, pick_pointer(l)));
    asm_load(a, ASM_LW, v, A5, offset);
    return;
  case 2:
    asm_load(a, PICK(l, ASM_LB, ASM_LBU, ASM_LH, ASM_LHU), v, p, offset);
    return;
  case 3:
  case 4:
    asm_store(a, ASM_SW, v, p, offset);
    return;
  case 5:
    asm_store(a, PICK(l, ASM_SB, ASM_SH), v, pick(l, 8) ? p : (uint32_t)SP, offset);
    return;
  case 6:
    asm_add(a, v, v, w);
    return;
  case 7:
    asm_addi(a, p, p, (int32_t)PICK(l, 4, 4, 4, 8, 1, (uint32_t)-4, 12));
    return;
  case 8: /* another address: sh2add, of a counter or of a value */
    asm_word(a, asm_r(0x20004033, A5, pick(l, 3) ? (uint32_t)T0 : v, S0));
    return;
  case 11: /* a table: the index is bounded */
    asm_word(a, asm_i(0x00007013, v, w, (int32_t)PICK(l, 7, 15, 63, 255)));
    asm_word(a, asm_r(0x20004033, A5, v, pick_pointer(l)));
    asm_load(a, ASM_LW, v, A5, offset);
    return;
  case 12: /* the same, and back; bytes without a mask */
    if (pick(l, 2))
      asm_load(a, PICK(l, ASM_LBU, ASM_LHU), v, p, offset);
    else
      asm_word(a, asm_i(0x00005013, v, w, 20 + (int32_t)pick(l, 12))); /* srli */
    asm_word(a, asm_r(PICK(l, 0x20002033, 0x20004033, 0x33), A5, v, SP));
    asm_store(a, PICK(l, ASM_SB, ASM_SW), w, A5, offset - 256);
    return;
  case 9:
    asm_load(a, ASM_FLW, pick(l, 4), p, offset);
    asm_word(a, asm_r(PICK(l, 0x00007053, 0x10007053, 0x28001053), pick(l, 4), pick(l, 4), 1));
    return;
  case 10:
    asm_store(a, ASM_FSW, pick(l, 4), p, offset);
    return;
  default: { /* sometimes not */
    size_t hole = asm_hole(a);
    asm_add(a, v, v, T0);
    if (pick(l, 2)) asm_store(a, ASM_SW, v, p, offset);
    asm_patch_branch(a, hole, PICK(l, ASM_BEQ, ASM_BLT, ASM_BGE), v, w);
  }
  }
}

static void put_loop(loop_maker *l)
{
  assembler *a = l->a;
  uint32_t rounds = pick(l, 4) ? pick(l, 40) : pick(l, 400), start = PICK(l, 0, 1, 7, 0x7ffffff0);
  int32_t step = (int32_t)PICK(l, 1, 1, 2, 4, 3, (uint32_t)-1, (uint32_t)-4);
  asm_li(a, T0, start);
  asm_li(a, T1, start + rounds * (uint32_t)step + (pick(l, 6) ? 0 : 1));
  uint32_t again = asm_here(a);
  size_t early = 0; /* where the loop may end early */
  for (uint32_t n = 1 + pick(l, 6); n > 0; n--) {
    put_body_op(l);
    if (!early && pick(l, 8) == 0) early = asm_hole(a);
  }
  asm_addi(a, T0, T0, step);
  uint32_t kind = PICK(l, ASM_BNE, ASM_BNE, ASM_BLT, ASM_BGE, 0x6063, 0x7063);
  if (pick(l, 2))
    asm_branch(a, kind, T0, T1, again);
  else
    asm_branch(a, kind, T1, T0, again);
  if (early)
    asm_patch_branch(a, early, PICK(l, ASM_BEQ, ASM_BLT, ASM_BGE), pick_value(l), pick_value(l));
}

static void put_worker(loop_maker *l)
{
  assembler *a = l->a;
  static const uint8_t pointers[] = {S0, S1, A4, A5}, values[] = {A0, A1, A2, A3};
  asm_li(a, SP, RIG_STACKS + RIG_STACK_BYTES - 4 * pick(l, 20));
  for (unsigned i = 0; i < 4; i++) asm_li(a, pointers[i], pick_place(l));
  for (unsigned i = 0; i < 4; i++)
    asm_li(a, values[i], pick(l, 3) ? pick(l, 100) : pick(l, 1u << 31));
  asm_li(a, T2, 1 + pick(l, 3));
  uint32_t outer = asm_here(a);
  for (uint32_t n = 1 + pick(l, 2); n > 0; n--) put_loop(l);
  for (unsigned i = 0; i < 4; i++)
    if (pick(l, 2)) asm_li(a, pointers[i], pick_place(l));
  asm_addi(a, T2, T2, -1);
  asm_branch(a, ASM_BNE, T2, ZERO, outer);
  asm_li(a, T2, RIG_DATA);
  for (uint32_t r = S0; r <= A7; r++) asm_store(a, ASM_SW, r, T2, (int32_t)(4 * r));
  for (uint32_t r = 0; r < 4; r++) asm_store(a, ASM_FSW, r, T2, 128 + 4 * (int32_t)r);
  asm_tile(a, TILE_EXIT, 0, 0, 0);
}

static void compare_loops(uint64_t seed)
{
  rig r = rig_create(1, 0);
  loop_maker l = {.random = seed * 77777, .a = &r.code[0]};
  asm_li(l.a, T0, RIG_CODE + 4 * 6);
  asm_tile(l.a, TILE_RUN, 0, T0, ZERO);
  asm_tile(l.a, TILE_WAIT, 0, 0, 0);
  asm_tile(l.a, TILE_HOST_SYNC, A0, A0, 0);
  asm_nops(l.a, 1);
  put_worker(&l);
  uint8_t *bytes = pop_xmalloc(RIG_END - RIG_BASE);
  pop_image image = rig_image(&r, 0, bytes);
  for (uint32_t i = RIG_DATA; i < RIG_END; i++) bytes[i - RIG_BASE] = (uint8_t)pick(&l, 256);
  machine_stack stacks[MACHINE_NUM_STACKS];
  for (uint32_t i = 0; i < MACHINE_NUM_STACKS; i++)
    stacks[i] = (machine_stack){RIG_STACKS + i * RIG_STACK_BYTES, RIG_STACK_BYTES};
  uint64_t limit = pick(&l, 4) ? 1000000 : 3000 + pick(&l, 20000);
  compare_engines(&r.target, &image, stacks, limit, "loops", seed);
  free(bytes);
  rig_free(&r);
}

Test(translate, loops_touch_what_they_may_and_fault_where_they_must)
{
  seed_range seeds = test_seeds(1, 100);
  for (uint64_t seed = seeds.first; seed <= seeds.last; seed++) compare_loops(seed);
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

/* The switch, where `decoy` says how many cases the translator will find. */
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
  asm_li(a, T0, RIG_CODE + 4 * 6);
  asm_tile(a, TILE_RUN, 0, T0, ZERO);
  asm_tile(a, TILE_WAIT, 0, 0, 0);
  asm_tile(a, TILE_HOST_SYNC, A0, A0, 0);
  asm_nops(a, 1);
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
  asm_nops(a, 2); /* the worker faults: nobody comes here */
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
