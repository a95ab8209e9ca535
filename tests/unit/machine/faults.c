/* runtime/machine: codelets with invalid accesses, jumps, instructions and syncs, and how their
 * runs end (faults, or results that the specification defines). The names of the tests have the ids
 * of tests/FAULTS.md: V01-V13 for one context, V16 for several tiles, X10 for syncs. Every case
 * checks that the host and the neighbour tile are as before. */
#include "support/rig.h"

enum { SLOT = 6 };

/* Tile 0 runs `body` on worker 2 (after the vertex call when `as_vertex`), tile 1 does nothing. */
typedef struct bench {
  rig r;
  assembler *worker; /* the worker's code is assembled here, at WORKER_CODE */
} bench;

enum { WORKER = 2, WORKER_CODE = RIG_CODE + 4 * 64, VERTEX_STATE = RIG_DATA + 0x40 };

static bench start(uint64_t max_cycles)
{
  bench b = {.r = rig_create(2, max_cycles)};
  assembler *a = &b.r.code[0];
  asm_li(a, T0, WORKER_CODE);
  asm_li(a, T1, RIG_DATA + 0x20);
  asm_tile(a, TILE_RUN, WORKER, T0, T1);
  asm_tile(a, TILE_WAIT, 0, 0, 0);
  rig_report(a, 1);
  rig_report(&b.r.code[1], 1);
  a->count = 64;
  b.worker = a;
  /* The worker's start: the stack pointer, then the call of the vertex that follows. */
  asm_li(a, SP, RIG_STACKS + (WORKER + 1) * RIG_STACK_BYTES);
  asm_li(a, T0, asm_here(a) + 6 * 4);
  asm_li(a, T1, VERTEX_STATE);
  asm_tile(a, TILE_CALL, 0, T0, T1);
  asm_tile(a, TILE_EXIT, 0, 0, 0);
  asm_nops(a, 4);
  while (asm_here(a) < WORKER_CODE + 4 * 16) asm_nops(a, 1);
  return b;
}

/* All bytes of tile 1, and those of tile 0 outside [from, to), are unchanged. */
static void expect_unharmed(bench *b, const uint8_t *before0, const uint8_t *before1)
{
  static uint8_t now[RIG_END - RIG_BASE];
  expect_ok(machine_read(b->r.m, 1, RIG_BASE, now, sizeof now));
  cr_assert_eq(memcmp(now, before1, sizeof now), 0, "the neighbour tile has changed");
  expect_ok(machine_read(b->r.m, 0, RIG_BASE, now, sizeof now));
  cr_assert_eq(memcmp(now, before0, sizeof now), 0, "the tile itself has changed");
}

/* Loads the machine, fills data with a pattern, and runs into `kind`. Checks the named vertex and
 * returns the fault. */
static machine_fault run_into(bench *b, machine_fault_kind kind, const char *name)
{
  static uint8_t before0[RIG_END - RIG_BASE], before1[RIG_END - RIG_BASE];
  rig_load(&b->r);
  for (uint32_t i = 0; i < RIG_END - RIG_DATA; i++) {
    uint8_t pattern = (uint8_t)(i * 7 + 1);
    expect_ok(machine_write(b->r.m, 0, RIG_DATA + i, &pattern, 1));
    expect_ok(machine_write(b->r.m, 1, RIG_DATA + i, &pattern, 1));
  }
  expect_ok(machine_read(b->r.m, 0, RIG_BASE, before0, sizeof before0));
  expect_ok(machine_read(b->r.m, 1, RIG_BASE, before1, sizeof before1));
  const machine_fault *fault = rig_run_into(&b->r, kind);
  cr_assert_eq(fault->tile, 0, "%s", name);
  cr_assert_eq(fault->context, WORKER, "%s", name);
  cr_assert_eq(fault->vertex_state, VERTEX_STATE, "%s", name);
  cr_assert_eq(fault->vertex_entry, WORKER_CODE + 4 * 8, "%s", name);
  cr_assert_eq(fault->run_argument, RIG_DATA + 0x20, "%s", name);
  cr_assert_eq(fault->num_faults, 1, "%s", name);
  expect_unharmed(b, before0, before1);
  uint32_t event;
  expect_error(machine_run(b->r.m, 0, &event), POP_ERROR_RUNTIME, "load it anew", name);
  return *fault;
}

Test(machine_faults, V01_endless_loop)
{
  for (uint32_t body = 0; body < 5; body++) { /* instructions of the loop */
    bench b = start(10000);
    uint32_t loop = asm_here(b.worker);
    asm_nops(b.worker, body);
    asm_jal(b.worker, ZERO, loop);
    machine_fault fault = run_into(&b, MACHINE_FAULT_OUT_OF_CYCLES, "loop");
    cr_assert_geq(fault.pc, loop);
    cr_assert_leq(fault.pc, loop + 4 * body);
    cr_assert_leq(fault.cycle, 10000);
    cr_assert_gt(fault.cycle, 10000 - (body + 2) * SLOT, "stopped at %lu",
                 (unsigned long)fault.cycle);
    rig_free(&b.r);
  }
}

Test(machine_faults, V01_limit_is_of_one_run_and_holds_for_supervisors)
{
  rig r = rig_create(1, 5000);
  uint32_t loop = asm_here(&r.code[0]);
  rig_report(&r.code[0], 1);
  asm_branch(&r.code[0], ASM_BEQ, A0, ZERO, loop);
  uint32_t endless = asm_here(&r.code[0]);
  asm_tile(&r.code[0], TILE_SYNC, 0, 0, 0);
  asm_jal(&r.code[0], ZERO, endless);
  rig_load(&r);
  for (int i = 0; i < 20; i++) rig_run(&r);
  uint32_t event;
  expect_error(machine_run(r.m, 1, &event), POP_ERROR_RUNTIME, "OUT_OF_CYCLES", "sync loop");
  cr_assert_eq(machine_get_fault(r.m)->context, MACHINE_SUPERVISOR);
  rig_free(&r);
}

typedef struct access_case {
  const char *name;
  uint32_t kind, address; /* of the access */
  machine_fault_kind fault;
} access_case;

/* The faulty address is `behind` bytes after the access's address. */
static void expect_access_faults(const access_case *cases, size_t count, uint32_t behind)
{
  for (size_t i = 0; i < count; i++)
    for (int32_t offset = -4; offset <= 4; offset += 4) { /* split into base and offset */
      const access_case *c = &cases[i];
      bench b = start(0);
      asm_li(b.worker, T0, c->address - (uint32_t)offset);
      asm_li(b.worker, T1, 0x5a5a5a5a);
      uint32_t pc = asm_here(b.worker);
      bool store = (c->kind & 0x7f) == 0x23 || (c->kind & 0x7f) == 0x27;
      if (store)
        asm_store(b.worker, c->kind, T1, T0, offset);
      else
        asm_load(b.worker, c->kind, T1, T0, offset);
      asm_nops(b.worker, 3);
      machine_fault fault = run_into(&b, c->fault, c->name);
      cr_assert_eq(fault.pc, pc, "%s", c->name);
      cr_assert_eq(fault.address, c->address + behind, "%s: 0x%x", c->name, fault.address);
      cr_assert_eq(fault.word, b.worker->words[(pc - RIG_CODE) / 4], "%s", c->name);
      /* supervisor: 2 li, run; worker: 3 li, call; vertex: 8 nops, 2 li */
      cr_assert_eq(fault.cycle, (5 + 7 + 8 + 4) * SLOT, "%s: cycle %lu", c->name,
                   (unsigned long)fault.cycle);
      rig_free(&b.r);
    }
}

#define EXPECT_ACCESS_FAULTS(cases) expect_access_faults(cases, sizeof(cases) / sizeof *(cases), 0)
#define OUTSIDE MACHINE_FAULT_INVALID_ADDRESS

Test(machine_faults, V02_store_outside_the_tile)
{
  static const access_case cases[] = {
      {"byte below", ASM_SB, RIG_BASE - 1, OUTSIDE},
      {"word below", ASM_SW, RIG_BASE - 4, OUTSIDE},
      {"byte above the image", ASM_SB, RIG_END, OUTSIDE},
      {"word above the image", ASM_SW, RIG_END, OUTSIDE},
      {"float above the image", ASM_FSW, RIG_END, OUTSIDE},
      {"half above the image", ASM_FSH, RIG_END, OUTSIDE},
      {"byte above the tile", ASM_SB, RIG_BASE + 624 * 1024, OUTSIDE},
      {"neighbour's data", ASM_SW, RIG_DATA + 624 * 1024, OUTSIDE},
      {"far away", ASM_SW, 0x7ffffffc, OUTSIDE},
      {"last byte of all", ASM_SB, 0xffffffff, OUTSIDE},
      {"last word of all", ASM_SW, 0xfffffffc, OUTSIDE},
      {"word at 2^32-1", ASM_SW, 0xffffffff, MACHINE_FAULT_MISALIGNED}};
  EXPECT_ACCESS_FAULTS(cases);
}

Test(machine_faults, V03_store_over_code_constants_and_other_stacks)
{
  static const access_case cases[] = {
      {"first word of code", ASM_SW, RIG_CODE, OUTSIDE},
      {"own code", ASM_SW, WORKER_CODE, OUTSIDE},
      {"last byte of code", ASM_SB, RIG_CONST - 1, OUTSIDE},
      {"constant", ASM_SH, RIG_CONST + 8, OUTSIDE},
      {"stack of worker 0", ASM_SW, RIG_STACKS, MACHINE_FAULT_STACK_OVERFLOW},
      {"top of the stack below", ASM_SB, RIG_STACKS + WORKER * RIG_STACK_BYTES - 1,
       MACHINE_FAULT_STACK_OVERFLOW},
      {"bottom of the stack above", ASM_FSW, RIG_STACKS + (WORKER + 1) * RIG_STACK_BYTES,
       MACHINE_FAULT_STACK_OVERFLOW},
      {"supervisor's stack", ASM_SH, RIG_BEHIND - 2, MACHINE_FAULT_STACK_OVERFLOW}};
  EXPECT_ACCESS_FAULTS(cases);
}

Test(machine_faults, V04_load_from_null_and_holes)
{
  static const access_case cases[] = {{"null", ASM_LW, 0, OUTSIDE},
                                      {"byte at null", ASM_LBU, 0, OUTSIDE},
                                      {"hole", ASM_LW, RIG_HOLE, OUTSIDE},
                                      {"last byte of the hole", ASM_LB, RIG_DATA - 1, OUTSIDE},
                                      {"float in the hole", ASM_FLW, RIG_HOLE + 16, OUTSIDE},
                                      {"half in the hole", ASM_FLH, RIG_HOLE + 16, OUTSIDE},
                                      {"below", ASM_LHU, RIG_BASE - 2, OUTSIDE},
                                      {"above the image", ASM_LH, RIG_END, OUTSIDE}};
  EXPECT_ACCESS_FAULTS(cases);
}

Test(machine_faults, V05_misaligned)
{
  static const access_case cases[] = {{"lh", ASM_LH, RIG_DATA + 1, MACHINE_FAULT_MISALIGNED},
                                      {"lhu", ASM_LHU, RIG_CONST + 3, MACHINE_FAULT_MISALIGNED},
                                      {"lw 1", ASM_LW, RIG_DATA + 1, MACHINE_FAULT_MISALIGNED},
                                      {"lw 2", ASM_LW, RIG_DATA + 2, MACHINE_FAULT_MISALIGNED},
                                      {"flw", ASM_FLW, RIG_DATA + 3, MACHINE_FAULT_MISALIGNED},
                                      {"flh", ASM_FLH, RIG_DATA + 1, MACHINE_FAULT_MISALIGNED},
                                      {"sh", ASM_SH, RIG_DATA + 5, MACHINE_FAULT_MISALIGNED},
                                      {"sw", ASM_SW, RIG_DATA + 6, MACHINE_FAULT_MISALIGNED},
                                      {"fsw", ASM_FSW, RIG_DATA + 2, MACHINE_FAULT_MISALIGNED},
                                      {"fsh", ASM_FSH, RIG_DATA + 3, MACHINE_FAULT_MISALIGNED},
                                      {"sw in the own stack", ASM_SW,
                                       RIG_STACKS + WORKER * RIG_STACK_BYTES + 2,
                                       MACHINE_FAULT_MISALIGNED}};
  EXPECT_ACCESS_FAULTS(cases);
}

/* Accesses of 64 bits need both words. The fault names the first forbidden word, and a store writes
 * neither. */
Test(machine_faults, V02_V05_first_of_two_words)
{
  static const access_case cases[] = {{"fsd below the data", ASM_FSD, RIG_DATA - 4, OUTSIDE},
                                      {"fsd of the last word of all", ASM_FSD, 0xfffffffc, OUTSIDE},
                                      {"fsd over constants", ASM_FSD, RIG_CONST + 8, OUTSIDE},
                                      {"fsd in the stack below", ASM_FSD,
                                       RIG_STACKS + WORKER * RIG_STACK_BYTES - 4,
                                       MACHINE_FAULT_STACK_OVERFLOW},
                                      {"fsd 2", ASM_FSD, RIG_DATA + 2, MACHINE_FAULT_MISALIGNED},
                                      {"fsd 5", ASM_FSD, RIG_DATA + 5, MACHINE_FAULT_MISALIGNED},
                                      {"fld below the data", ASM_FLD, RIG_DATA - 4, OUTSIDE},
                                      {"fld at null", ASM_FLD, 0, OUTSIDE},
                                      {"fld of the last word of all", ASM_FLD, 0xfffffffc, OUTSIDE},
                                      {"fld 1", ASM_FLD, RIG_CONST + 1, MACHINE_FAULT_MISALIGNED},
                                      {"fld 6", ASM_FLD, RIG_DATA + 6, MACHINE_FAULT_MISALIGNED}};
  EXPECT_ACCESS_FAULTS(cases);
}

Test(machine_faults, V02_V03_V04_second_of_two_words)
{
  static const access_case cases[] = {
      {"fsd above the image", ASM_FSD, RIG_END - 4, OUTSIDE},
      {"fsd in the first stack", ASM_FSD, RIG_STACKS - 4, MACHINE_FAULT_STACK_OVERFLOW},
      {"fsd in the stack above", ASM_FSD, RIG_STACKS + (WORKER + 1) * RIG_STACK_BYTES - 4,
       MACHINE_FAULT_STACK_OVERFLOW},
      {"fld above the image", ASM_FLD, RIG_END - 4, OUTSIDE},
      {"fld in the hole", ASM_FLD, RIG_HOLE - 4, OUTSIDE}};
  expect_access_faults(cases, sizeof cases / sizeof *cases, 4);
}

Test(machine_faults, legal_accesses_of_64_bits_are_no_faults)
{
  static const struct {
    uint32_t from, to;
  } cases[] = {{RIG_DATA + 4, RIG_DATA + 0x104},
               {RIG_CONST - 4, RIG_DATA},
               {RIG_HOLE - 8, RIG_STACKS - 8},
               {RIG_STACKS - 4, RIG_STACKS + WORKER * RIG_STACK_BYTES},
               {RIG_BEHIND - 4, RIG_STACKS + (WORKER + 1) * RIG_STACK_BYTES - 8},
               {RIG_END - 8, RIG_BEHIND},
               {RIG_DATA, RIG_END - 8}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    bench b = start(0);
    asm_li(b.worker, T0, cases[i].from);
    asm_li(b.worker, T1, cases[i].to);
    asm_load(b.worker, ASM_FLD, T2, T0, 0);
    asm_store(b.worker, ASM_FSD, T2, T1, 0);
    asm_jalr(b.worker, ZERO, RA, 0);
    rig_load(&b.r);
    uint32_t words[2] = {0x89abcdef, 0x01234567};
    expect_ok(machine_write(b.r.m, 0, cases[i].from, words, sizeof words));
    cr_assert_eq(rig_run(&b.r), 1);
    for (uint32_t k = 0; k < 2; k++)
      cr_assert_eq(rig_word(&b.r, 0, cases[i].to + 4 * k), words[k], "case %zu, word %u", i, k);
    rig_free(&b.r);
  }
}

/* Stores of all widths that are legal in every part of the memory, so that the faults above are
 * not for the wrong reason. */
Test(machine_faults, legal_stores_and_loads_are_no_faults)
{
  static const uint32_t places[] = {RIG_DATA,
                                    RIG_STACKS - 4,
                                    RIG_STACKS + WORKER * RIG_STACK_BYTES,
                                    RIG_STACKS + (WORKER + 1) * RIG_STACK_BYTES - 4,
                                    RIG_BEHIND,
                                    RIG_END - 4};
  for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
    bench b = start(0);
    asm_li(b.worker, T0, places[i]);
    asm_li(b.worker, T1, 0x12345678);
    asm_store(b.worker, ASM_SW, T1, T0, 0);
    asm_store(b.worker, ASM_SH, T0, T0, 2);
    asm_load(b.worker, ASM_LW, T2, T0, 0);
    asm_addi(b.worker, SP, T0, 0);
    asm_store(b.worker, ASM_SB, ZERO, T0, 1);
    asm_jalr(b.worker, ZERO, RA, 0);
    rig_load(&b.r);
    cr_assert_eq(rig_run(&b.r), 1);
    cr_assert_eq(rig_word(&b.r, 0, places[i]), places[i] << 16 | 0x0078, "place %zu", i);
    rig_free(&b.r);
  }
}

/* Recursion that pushes a frame each time, through sp; a big frame that jumps over the neighbour's
 * stack; an array on the stack that is written through another register. */
Test(machine_faults, V06_stack_overflow)
{
  static const struct {
    const char *name;
    int32_t frame;
    bool through_sp, recursive;
  } cases[] = {{"recursion", 16, true, true},
               {"frame over all stacks", 2000, true, false},
               {"array in the frame", 700, false, false}};
  uint32_t own = RIG_STACKS + WORKER * RIG_STACK_BYTES;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    bench b = start(0);
    uint32_t enter = asm_here(b.worker);
    asm_addi(b.worker, SP, SP, -cases[i].frame);
    asm_addi(b.worker, T0, SP, 0);
    asm_store(b.worker, ASM_SW, ZERO, cases[i].through_sp ? SP : T0, 4);
    asm_jal(b.worker, RA, cases[i].recursive ? enter : asm_here(&b.r.code[0]) + 4);
    rig_load(&b.r);
    const machine_fault *fault = rig_run_into(&b.r, MACHINE_FAULT_STACK_OVERFLOW);
    cr_assert_eq(fault->context, WORKER, "%s", cases[i].name);
    cr_assert_eq(fault->vertex_state, VERTEX_STATE, "%s", cases[i].name);
    cr_assert_lt(fault->address, own, "%s", cases[i].name);
    char needed[16]; /* from the top of the stack to the store */
    snprintf(needed, sizeof needed, "needs %u", own + RIG_STACK_BYTES - fault->address);
    cr_assert_not_null(strstr(fault->detail, needed), "%s: '%s' in '%s'", cases[i].name, needed,
                       fault->detail);
    cr_assert_not_null(strstr(fault->detail, "has 256 bytes"), "%s", fault->detail);
    rig_free(&b.r);
  }
}

Test(machine_faults, V07_jump_to_what_is_no_code)
{
  static const struct {
    const char *name;
    uint32_t target, pc;
  } cases[] = {{"null", 0, 0},
               {"data", RIG_DATA, RIG_DATA},
               {"constants", RIG_CONST, RIG_CONST},
               {"odd: the lowest bit is not used", WORKER_CODE + 3, WORKER_CODE + 2},
               {"half way", WORKER_CODE + 2, WORKER_CODE + 2},
               {"below", RIG_BASE - 4, RIG_BASE - 4},
               {"above", 0xfffffffc, 0xfffffffc}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    bench b = start(0);
    asm_li(b.worker, T0, cases[i].target);
    asm_jalr(b.worker, ZERO, T0, 0);
    machine_fault fault = run_into(&b, MACHINE_FAULT_INVALID_PC, cases[i].name);
    cr_assert_eq(fault.pc, cases[i].pc, "%s", cases[i].name);
    rig_free(&b.r);
  }
}

Test(machine_faults, V07_off_the_end_of_code)
{
  bench b = start(0);
  asm_li(b.worker, T0, RIG_CONST - 8);
  asm_jalr(b.worker, ZERO, T0, 0);
  b.worker->count = ASM_MAX_WORDS - 2;
  asm_nops(b.worker, 2);
  machine_fault fault = run_into(&b, MACHINE_FAULT_INVALID_PC, "end");
  cr_assert_eq(fault.pc, RIG_CONST);
  rig_free(&b.r);
}

Test(machine_faults, V07_illegal_instructions)
{
  static const struct {
    const char *name;
    uint32_t word;
  } cases[] = {{"zero", 0},
               {"ones", 0xffffffff},
               {"compressed nop", 0x00000001},
               {"ld", 0x0002b303},
               {"fadd.d", 0x02000053},
               {"fadd.d", 0x02c58553},
               {"unimp", 0xc0001073},
               {"lr.w", 0x1002a32f},
               {"mret", 0x30200073},
               {"write to cycle", 0xc0029073},
               {"unknown csr", 0x30002573},
               {"static rounding 5", 0x00c5d553},
               {"static rounding 6", 0x00c5e553},
               {"slli by 32", 0x02029293},
               {"supervisor's: tile.sync", 0x0000002b},
               {"supervisor's: tile.hostsync", 0x0200002b},
               {"supervisor's: tile.run", 0x0462802b},
               {"supervisor's: tile.wait", 0x0600002b},
               {"supervisor's: tile.exchange", 0x0e02802b},
               {"exchange: send", 0x0000000b},
               {"exchange: receiveMux", 0x0000005b},
               {"exchange: delay", 0x000090ab},
               {"exchange: receiveAddress", 0x0000202b},
               {"exchange: end", 0x0000302b},
               {"tile.number with operands", 0x1002852b},
               {"tile.copy with a second operand", 0x1625052b},
               {"no tile instruction", 0x1a00002b}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    bench b = start(0);
    asm_nops(b.worker, 2);
    uint32_t pc = asm_here(b.worker);
    asm_word(b.worker, cases[i].word);
    machine_fault fault = run_into(&b, MACHINE_FAULT_INVALID_INSTRUCTION, cases[i].name);
    cr_assert_eq(fault.pc, pc, "%s", cases[i].name);
    cr_assert_eq(fault.word, cases[i].word, "%s", cases[i].name);
    rig_free(&b.r);
  }
}

Test(machine_faults, V07_dynamic_rounding_with_a_reserved_mode)
{
  for (uint32_t mode = 0; mode < 8; mode++) {
    bench b = start(0);
    asm_word(b.worker, asm_i(0x5073, ZERO, mode, 2)); /* csrrwi frm */
    asm_word(b.worker, 0x00c5f553);                   /* fadd.s, dynamic */
    asm_jalr(b.worker, ZERO, RA, 0);
    if (mode > 4) {
      run_into(&b, MACHINE_FAULT_INVALID_INSTRUCTION, "frm");
    } else {
      rig_load(&b.r);
      cr_assert_eq(rig_run(&b.r), 1, "mode %u", mode);
    }
    rig_free(&b.r);
  }
}

Test(machine_faults, V07_worker_instructions_in_the_supervisor)
{
  rig r = rig_create(1, 0);
  asm_tile(&r.code[0], TILE_EXIT, 0, 0, 0);
  rig_load(&r);
  cr_assert_eq(rig_run_into(&r, MACHINE_FAULT_INVALID_INSTRUCTION)->context, MACHINE_SUPERVISOR);
  rig_free(&r);
}

/* tile.run of a worker that runs, or that does not exist. */
Test(machine_faults, run_of_a_worker_that_is_not_free)
{
  for (uint32_t second = 1; second < 8; second++) {
    if (second >= 2 && second < 6) continue; /* other workers: legal */
    rig r = rig_create(1, 0);
    asm_li(&r.code[0], T0, RIG_CODE + 40);
    asm_tile(&r.code[0], TILE_RUN, 1, T0, ZERO);
    uint32_t pc = asm_here(&r.code[0]);
    asm_tile(&r.code[0], TILE_RUN, second, T0, ZERO);
    r.code[0].count = 10;
    asm_tile(&r.code[0], TILE_EXIT, 0, 0, 0);
    rig_load(&r);
    const machine_fault *fault = rig_run_into(&r, MACHINE_FAULT_INVALID_OPERAND);
    cr_assert_eq(fault->pc, pc);
    cr_assert_not_null(strstr(fault->detail, second == 1 ? "worker 1 has been" : "no worker"));
    rig_free(&r);
  }
}

/* tile.runall of no worker, of too many workers, of a worker that runs. */
Test(machine_faults, run_of_workers_that_are_not_all_free)
{
  static const struct {
    uint32_t count;
    const char *detail;
  } cases[] = {{0, "no worker"}, {2, "worker 1 has been"}, {6, "worker 1 has been"}, {7, "worker"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    rig r = rig_create(1, 0);
    asm_li(&r.code[0], T0, RIG_CODE + 40);
    asm_tile(&r.code[0], TILE_RUN, 1, T0, ZERO);
    uint32_t pc = asm_here(&r.code[0]);
    asm_tile(&r.code[0], TILE_RUN_ALL, cases[i].count, T0, ZERO);
    r.code[0].count = 10;
    asm_tile(&r.code[0], TILE_EXIT, 0, 0, 0);
    rig_load(&r);
    const machine_fault *fault = rig_run_into(&r, MACHINE_FAULT_INVALID_OPERAND);
    cr_assert_eq(fault->pc, pc);
    cr_assert_not_null(strstr(fault->detail, cases[i].detail), "%s", fault->detail);
    rig_free(&r);
  }
}

Test(machine_faults, runall_in_a_worker)
{
  rig r = rig_create(1, 0);
  asm_li(&r.code[0], T0, RIG_CODE + 40);
  asm_tile(&r.code[0], TILE_RUN, 1, T0, ZERO);
  asm_tile(&r.code[0], TILE_WAIT, 0, 0, 0);
  r.code[0].count = 10;
  asm_tile(&r.code[0], TILE_RUN_ALL, 1, T0, ZERO);
  rig_load(&r);
  cr_assert_eq(rig_run_into(&r, MACHINE_FAULT_INVALID_INSTRUCTION)->context, 1);
  rig_free(&r);
}

/* No fault: the results that the specification defines. */
Test(machine_faults, V08_division_shift_and_conversion_at_their_limits)
{
  static const struct {
    const char *name;
    uint32_t word, a, b, result; /* rd = a0, rs1 = a1, rs2 = a2; floats in fa1, fa2 too */
  } cases[] = {{"div by 0", 0x02c5c533, 5, 0, 0xffffffff},
               {"divu by 0", 0x02c5d533, 5, 0, 0xffffffff},
               {"rem by 0", 0x02c5e533, 5, 0, 5},
               {"remu by 0", 0x02c5f533, 5, 0, 5},
               {"div overflow", 0x02c5c533, 0x80000000, 0xffffffff, 0x80000000},
               {"rem overflow", 0x02c5e533, 0x80000000, 0xffffffff, 0},
               {"sll by 33", 0x00c59533, 3, 33, 6},
               {"srl by 32", 0x00c5d533, 3, 32, 3},
               {"sra by -1", 0x40c5d533, 0x80000000, 0xffffffff, 0xffffffff},
               {"fcvt.w.s NaN", 0xc0059553, 0x7fc00000, 0, 0x7fffffff},
               {"fcvt.w.s 1e30", 0xc0059553, 0x7149f2ca, 0, 0x7fffffff},
               {"fcvt.w.s -1e30", 0xc0059553, 0xf149f2ca, 0, 0x80000000},
               {"fcvt.wu.s -1", 0xc0159553, 0xbf800000, 0, 0},
               {"fcvt.wu.s NaN", 0xc0159553, 0xffc00000, 0, 0xffffffff}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    bench b = start(0);
    asm_li(b.worker, A1, cases[i].a);
    asm_li(b.worker, A2, cases[i].b);
    asm_word(b.worker, 0xf00585d3); /* fmv.w.x fa1, a1 */
    asm_word(b.worker, cases[i].word);
    asm_li(b.worker, T0, RIG_DATA);
    asm_store(b.worker, ASM_SW, A0, T0, 0);
    asm_jalr(b.worker, ZERO, RA, 0);
    rig_load(&b.r);
    cr_assert_eq(rig_run(&b.r), 1, "%s", cases[i].name);
    cr_assert_eq(rig_word(&b.r, 0, RIG_DATA), cases[i].result, "%s: 0x%x", cases[i].name,
                 rig_word(&b.r, 0, RIG_DATA));
    rig_free(&b.r);
  }
}

/* NaN, infinity, subnormals and half overflow give IEEE results and flags, and never a fault. */
Test(machine_faults, V09_float_exceptions_set_flags)
{
  static const struct {
    const char *name;
    uint32_t word, a, b, result, flags; /* rd = fa0, rs1 = fa1, rs2 = fa2 */
  } cases[] = {{"inf - inf", 0x08c5f553, 0x7f800000, 0x7f800000, 0x7fc00000, 16},
               {"NaN payload", 0x00c5f553, 0x7fc12345, 0x3f800000, 0x7fc00000, 0},
               {"signalling NaN", 0x00c5f553, 0x7f812345, 0x3f800000, 0x7fc00000, 16},
               {"1 / 0", 0x18c5f553, 0x3f800000, 0x80000000, 0xff800000, 8},
               {"overflow", 0x10c5f553, 0x7f7fffff, 0x40000000, 0x7f800000, 5},
               {"denormal, exact", 0x10c5f553, 0x00800000, 0x3f000000, 0x00400000, 0},
               {"denormal, inexact", 0x10c5f553, 0x00800001, 0x3f000000, 0x00400000, 3},
               {"sqrt(-1)", 0x5805f553, 0xbf800000, 0, 0x7fc00000, 16},
               {"half overflow", 0x14c5f553, 0xffff7bff, 0xffff4000, 0xffff7c00, 5},
               {"half of a single", 0x14c5f553, 0x3f800000, 0xffff3c00, 0xffff7e00, 0},
               {"half denormal", 0x14c5f553, 0xffff0401, 0xffff3800, 0xffff0200, 3}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    bench b = start(0);
    asm_li(b.worker, A1, cases[i].a);
    asm_li(b.worker, A2, cases[i].b);
    asm_word(b.worker, 0xf00585d3); /* fmv.w.x fa1, a1 */
    asm_word(b.worker, 0xf0060653); /* fmv.w.x fa2, a2 */
    asm_word(b.worker, cases[i].word);
    asm_csrr(b.worker, A3, 1); /* fflags */
    asm_li(b.worker, T0, RIG_DATA);
    asm_store(b.worker, ASM_FSW, A0, T0, 0); /* f10 = fa0 */
    asm_store(b.worker, ASM_SW, A3, T0, 4);
    asm_jalr(b.worker, ZERO, RA, 0);
    rig_load(&b.r);
    cr_assert_eq(rig_run(&b.r), 1, "%s", cases[i].name);
    cr_assert_eq(rig_word(&b.r, 0, RIG_DATA), cases[i].result, "%s: 0x%x", cases[i].name,
                 rig_word(&b.r, 0, RIG_DATA));
    cr_assert_eq(rig_word(&b.r, 0, RIG_DATA + 4), cases[i].flags, "%s: flags", cases[i].name);
    rig_free(&b.r);
  }
}

/* Workers 0-5 write their number into one word. They are started in another order. */
Test(machine_faults, V10_the_last_worker_wins_a_race)
{
  rig r = rig_create(1, 0);
  assembler *a = &r.code[0];
  asm_li(a, T0, RIG_CODE + 4 * 40);
  for (uint32_t n = 0; n < 6; n++) asm_tile(a, TILE_RUN, (n + 3) % 6, T0, ZERO);
  asm_tile(a, TILE_WAIT, 0, 0, 0);
  rig_report(a, 1);
  a->count = 40;
  asm_tile(a, TILE_CONTEXT, A0, 0, 0);
  asm_li(a, T0, RIG_DATA);
  asm_store(a, ASM_SW, A0, T0, 0);
  asm_tile(a, TILE_EXIT, 0, 0, 0);
  rig_load(&r);
  rig_run(&r);
  cr_assert_eq(rig_word(&r, 0, RIG_DATA), 5);
  rig_free(&r);
}

Test(machine_faults, V11_self_modifying_code)
{
  bench b = start(0);
  asm_li(b.worker, T0, asm_here(b.worker) + 4 * 5);
  asm_li(b.worker, T1, 0x00000013);
  asm_store(b.worker, ASM_SW, T1, T0, 0);
  asm_nops(b.worker, 2);
  run_into(&b, MACHINE_FAULT_INVALID_ADDRESS, "store to code");
  rig_free(&b.r);
}

/* A vertex with a vector length of 2^32 - 1 stops at the first element after the memory. */
Test(machine_faults, V13_wild_vector_length)
{
  bench b = start(0);
  asm_li(b.worker, T0, RIG_BEHIND);
  asm_li(b.worker, T1, 0xffffffff);
  uint32_t loop = asm_here(b.worker);
  asm_load(b.worker, ASM_LW, T2, T0, 0);
  asm_addi(b.worker, T0, T0, 4);
  asm_addi(b.worker, T1, T1, -1);
  asm_branch(b.worker, ASM_BNE, T1, ZERO, loop);
  machine_fault fault = run_into(&b, MACHINE_FAULT_INVALID_ADDRESS, "vector");
  cr_assert_eq(fault.address, RIG_END);
  cr_assert_eq(fault.pc, loop);
  rig_free(&b.r);
}

/* Tiles 1, 3 and 4 fault, and tile 2 continues. The first fault by (tile, context) is reported. */
Test(machine_faults, V16_several_tiles_in_one_superstep)
{
  enum { TILES = 5 };
  rig r = rig_create(TILES, 0);
  for (uint32_t i = 0; i < TILES; i++) {
    assembler *a = &r.code[i];
    asm_tile(a, TILE_SYNC, 0, 0, 0);
    asm_li(a, T0, RIG_CODE + 4 * 40);
    for (uint32_t w = 6; w-- > 0;) asm_tile(a, TILE_RUN, w, T0, ZERO);
    asm_tile(a, TILE_WAIT, 0, 0, 0);
    asm_li(a, T0, RIG_DATA);
    asm_store(a, ASM_SW, T0, T0, 0);
    rig_report(a, 1);
    a->count = 40; /* on tiles 1, 3 and 4, workers 3 and up trap with 100 * tile + worker */
    asm_tile(a, TILE_CONTEXT, T1, 0, 0);
    asm_addi(a, T2, ZERO, 3);
    size_t done = asm_hole(a);
    asm_addi(a, T1, T1, (int32_t)(100 * i));
    asm_tile(a, i == 0 || i == 2 ? TILE_EXIT : TILE_TRAP, 0, i == 0 || i == 2 ? 0 : T1, 0);
    asm_patch_branch(a, done, ASM_BLT, T1, T2);
    asm_tile(a, TILE_EXIT, 0, 0, 0);
  }
  rig_load(&r);
  const machine_fault *fault = rig_run_into(&r, MACHINE_FAULT_TRAP);
  cr_assert_eq(fault->tile, 1);
  cr_assert_eq(fault->context, 3);
  cr_assert_eq(fault->address, 103);
  cr_assert_eq(fault->num_faults, 3);
  cr_assert_eq(fault->superstep, 1);
  cr_assert_eq(rig_word(&r, 2, RIG_DATA), RIG_DATA, "tile 2 did not finish the superstep");
  cr_assert_eq(rig_word(&r, 3, RIG_DATA), 0);
  rig_free(&r);
}

Test(machine_faults, traps_carry_their_value)
{
  static const struct {
    const char *name;
    uint32_t word;
  } cases[] = {{"ecall", 0x00000073}, {"ebreak", 0x00100073}, {"tile.trap a0", 0x1205002b}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    bench b = start(0);
    asm_li(b.worker, A0, 4711);
    asm_word(b.worker, cases[i].word);
    cr_assert_eq(run_into(&b, MACHINE_FAULT_TRAP, cases[i].name).address, 4711, "%s",
                 cases[i].name);
    rig_free(&b.r);
  }
}

/* Some tiles wait for an internal sync, the others for the host. */
Test(machine_faults, X10_sync_that_never_comes)
{
  rig r = rig_create(6, 0);
  for (uint32_t i = 0; i < 6; i++) {
    if (i == 2 || i == 4 || i == 5) asm_tile(&r.code[i], TILE_SYNC, 0, 0, 0);
    rig_report(&r.code[i], 1);
  }
  rig_load(&r);
  const machine_fault *fault = rig_run_into(&r, MACHINE_FAULT_EXCHANGE_ERROR);
  cr_assert_eq(fault->tile, 2);
  cr_assert_eq(fault->pc, RIG_CODE);
  cr_assert_str_eq(fault->detail, "tiles 2, 4-5 wait for a sync, tiles 0-1, 3 for the host");
  rig_free(&r);
}

/* Requests that a supervisor must not make while acknowledged syncs are open, and syncs
 * that it cannot acknowledge. */
Test(machine_faults, X10_acknowledged_syncs_are_waited_for_first)
{
  const uint32_t two = isa_sans_word(ISA_SYNC_INTERNAL, 2);
  const struct {
    const char *name, *detail;
    uint32_t before, word;
  } cases[] = {
      {"sync", "2 syncs that were acknowledged have not been waited for", two, 0x0000002b},
      {"exchange", "2 syncs that were acknowledged have not been waited for", two, 0x0e02802b},
      {"host", "2 syncs that were acknowledged have not been waited for", two, 0x0200002b},
      {"sans", "2 syncs that were acknowledged have not been waited for", two, two},
      {"none", "acknowledges 0 syncs of zone 0", 0x00000013, isa_sans_word(0, 0)},
      {"zone", "acknowledges 5 syncs of zone 3", 0x00000013, isa_sans_word(ISA_SYNC_ANS, 5)}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    for (int plain = 0; plain < 2; plain++) {
      rig r = rig_create_with(2, (machine_options){.plain = plain});
      for (uint32_t tile = 0; tile < 2; tile++) {
        asm_word(&r.code[tile], cases[i].before);
        asm_word(&r.code[tile], cases[i].word);
        rig_report(&r.code[tile], 1);
      }
      rig_load(&r);
      const machine_fault *fault = rig_run_into(&r, MACHINE_FAULT_INVALID_OPERAND);
      cr_assert_eq(fault->pc, RIG_CODE + 4, "%s", cases[i].name);
      cr_assert_str_eq(fault->detail, cases[i].detail, "%s", cases[i].name);
      cr_assert_eq(fault->num_faults, 2);
      rig_free(&r);
    }
}

/* The host waits for a tile that waits for syncs which no tile requests. */
Test(machine_faults, X10_acknowledged_syncs_that_never_come)
{
  rig r = rig_create(3, 0);
  asm_word(&r.code[1], isa_sans_word(ISA_SYNC_INTERNAL, 2));
  asm_tile(&r.code[1], TILE_SYNC, ISA_SYNC_ANS, 0, 0);
  for (uint32_t i = 0; i < 3; i++) {
    if (i != 1) asm_tile(&r.code[i], TILE_SYNC, 0, 0, 0);
    rig_report(&r.code[i], 1);
  }
  rig_load(&r);
  const machine_fault *fault = rig_run_into(&r, MACHINE_FAULT_EXCHANGE_ERROR);
  cr_assert_eq(fault->tile, 1);
  cr_assert_eq(fault->superstep, 1);
  cr_assert_str_eq(fault->detail, "tiles 1 wait for a sync, tiles 0, 2 for the host");
  rig_free(&r);
}

/* One tile asks for an external sync where the others ask for an internal one. */
Test(machine_faults, X10_syncs_of_different_zones)
{
  rig r = rig_create(3, 0);
  for (uint32_t i = 0; i < 3; i++) {
    asm_tile(&r.code[i], TILE_SYNC, i == 1 ? ISA_SYNC_EXTERNAL : ISA_SYNC_INTERNAL, 0, 0);
    rig_report(&r.code[i], 1);
  }
  rig_load(&r);
  const machine_fault *fault = rig_run_into(&r, MACHINE_FAULT_EXCHANGE_ERROR);
  cr_assert_eq(fault->tile, 1);
  cr_assert_eq(fault->pc, RIG_CODE);
  cr_assert_str_eq(fault->detail, "waits for an external sync, other tiles do not");
  rig_free(&r);
}

Test(machine_faults, X10_long_list_of_tiles_is_cut)
{
  enum { TILES = 400 };
  rig r = rig_create(TILES, 0);
  for (uint32_t i = 0; i < TILES; i++) {
    if (i % 2) asm_tile(&r.code[i], TILE_SYNC, 0, 0, 0);
    rig_report(&r.code[i], 1);
  }
  rig_load(&r);
  const machine_fault *fault = rig_run_into(&r, MACHINE_FAULT_EXCHANGE_ERROR);
  unsigned more[2], listed[2] = {0, 0};
  const char *rest[2] = {fault->detail, strstr(fault->detail, "sync, ")};
  for (int i = 0; i < 2; i++) {
    const char *end = strstr(rest[i], " and ");
    cr_assert_not_null(end, "%s", fault->detail);
    for (const char *c = rest[i] + (i ? 6 : 0); c < end; c++) listed[i] += *c == ',';
    cr_assert_eq(sscanf(end, " and %u more", &more[i]), 1);
    cr_assert_eq(more[i] + listed[i] + 1, TILES / 2, "%s", fault->detail);
  }
  rig_free(&r);
}

Test(machine_faults, tiles_report_different_events)
{
  rig r = rig_create(3, 0);
  for (uint32_t i = 0; i < 3; i++) rig_report(&r.code[i], i == 1 ? 9 : 8);
  rig_load(&r);
  const machine_fault *fault = rig_run_into(&r, MACHINE_FAULT_EXCHANGE_ERROR);
  cr_assert_eq(fault->tile, 1);
  cr_assert_str_eq(fault->detail, "reports 9 to the host where tile 0 reports 8");
  rig_free(&r);
}
