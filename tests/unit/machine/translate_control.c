/* Under float control, native code checks many operations at once. If one of them may raise an
 * exception, it undoes its work since the last check. Registers that were computed from their own
 * old value must not be computed twice. Whole loops are tried first: the trial does the same
 * without stores, and only finds out whether an operation may raise an exception. What a round
 * stores for a later one must be there for it. */
#include "support/rig.h"

#include <string.h>

enum { FA = 10, FB, FC, FD, F_WORDS = 8 };

static uint32_t fp(uint32_t funct7, uint32_t rd, uint32_t rs1, uint32_t rs2)
{
  return funct7 << 25 | rs2 << 20 | rs1 << 15 | rd << 7 | 0x53; /* to nearest even */
}

static uint32_t add_single(uint32_t rd, uint32_t a, uint32_t b)
{
  return fp(0, rd, a, b);
}

static uint32_t multiply_single(uint32_t rd, uint32_t a, uint32_t b)
{
  return fp(8, rd, a, b);
}

/* Loads the registers from words of the data, and stores them to the words after those. */
static void put_float_access(assembler *a, bool store)
{
  for (uint32_t i = 0; i < 4; i++) {
    if (store)
      asm_store(a, ASM_FSW, FA + i, S0, (int32_t)(4 * (F_WORDS + i)));
    else
      asm_load(a, ASM_FLW, FA + i, S0, (int32_t)(4 * i));
  }
}

/* One block: FA doubles and A0 counts before and after FB's square, which overflows; then a word of
 * the random state counts. A load after that may be illegal. */
static void put_block(assembler *a)
{
  asm_word(a, add_single(FA, FA, FA));
  asm_addi(a, A0, A0, 1);
  asm_word(a, multiply_single(FB, FB, FB));
  asm_word(a, add_single(FA, FA, FC));
  asm_addi(a, A0, A0, 1);
  asm_csrr(a, A2, CSR_RANDOM);
  asm_addi(a, A2, A2, 1);
  asm_csrrw(a, ZERO, A2, CSR_RANDOM);
  asm_load(a, ASM_LW, A1, T2, 0);
  asm_word(a, multiply_single(FD, FD, FA));
}

typedef struct outcome {
  bool failed;
  machine_fault_kind kind;
  uint32_t pc;
  uint64_t cycle;
  uint32_t data[2 * F_WORDS];
} outcome;

static void put_program(assembler *a)
{
  enum { SUPERVISOR_WORDS = 12 };
  asm_li(a, T0, RIG_CODE + 4 * SUPERVISOR_WORDS);
  asm_tile(a, TILE_RUN, 0, T0, ZERO);
  asm_tile(a, TILE_WAIT, 0, 0, 0);
  rig_report(a, 5);
  asm_nops(a, SUPERVISOR_WORDS - (uint32_t)a->count);
  asm_li(a, S0, RIG_DATA);
  asm_load(a, ASM_LW, T2, S0, 16);
  put_float_access(a, false);
  put_block(a);
  asm_csrr(a, A2, CSR_RANDOM);
  put_float_access(a, true);
  asm_store(a, ASM_SW, A0, S0, 4 * F_WORDS + 16);
  asm_store(a, ASM_SW, A1, S0, 4 * F_WORDS + 20);
  asm_store(a, ASM_SW, A2, S0, 4 * F_WORDS + 24);
  asm_tile(a, TILE_EXIT, 0, 0, 0);
}

static outcome run_with(machine_engine engine, uint32_t control, float squared, uint32_t place)
{
  rig r = rig_create_with(1, (machine_options){.engine = engine, .float_control = control});
  put_program(&r.code[0]);
  rig_load(&r);
  struct {
    float f[4];
    uint32_t place;
  } data = {{1.5f, squared, 0.25f, 3}, place};
  expect_ok(machine_write(r.m, 0, RIG_DATA, &data, sizeof data));
  uint32_t event;
  pop_error *error = machine_run(r.m, 0, &event);
  const machine_fault *fault = machine_get_fault(r.m);
  outcome out = {
      .failed = error != NULL, .kind = fault->kind, .pc = fault->pc, .cycle = fault->cycle};
  expect_ok(machine_read(r.m, 0, RIG_DATA, out.data, sizeof out.data));
  pop_error_free(error);
  rig_free(&r);
  return out;
}

/* An overflow is a fault (all exceptions), or not (invalid operations only): then the result is
 * infinite and the run continues. */
Test(translate_control, what_was_done_since_is_given_back)
{
  enum { ALL = 7, INVALID = 1, OUTSIDE = 4 };
  static const struct {
    uint32_t control;
    float squared;
    uint32_t place;
    bool fails;
  } cases[] = {{ALL, 2, RIG_DATA, false},         {ALL, 1e30f, RIG_DATA, true},
               {INVALID, 1e30f, RIG_DATA, false}, {INVALID, 2, OUTSIDE, true},
               {INVALID, 1e30f, OUTSIDE, true},   {ALL, 1e30f, OUTSIDE, true}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    outcome interpreted =
        run_with(MACHINE_INTERPRETER, cases[i].control, cases[i].squared, cases[i].place);
    outcome translated =
        run_with(MACHINE_TRANSLATOR, cases[i].control, cases[i].squared, cases[i].place);
    cr_assert_eq(interpreted.failed, cases[i].fails, "case %zu: %s", i,
                 machine_fault_name(interpreted.kind));
    cr_assert_eq(translated.failed, interpreted.failed, "case %zu", i);
    cr_assert(translated.kind == interpreted.kind && translated.pc == interpreted.pc &&
                  translated.cycle == interpreted.cycle,
              "case %zu: %s at 0x%x, not %s at 0x%x", i, machine_fault_name(translated.kind),
              translated.pc, machine_fault_name(interpreted.kind), interpreted.pc);
    cr_assert_eq(memcmp(translated.data, interpreted.data, sizeof translated.data), 0, "case %zu",
                 i);
    if (cases[i].fails) continue;
    cr_assert_eq(interpreted.data[F_WORDS + 4], 2, "case %zu", i);
    cr_assert_eq(interpreted.data[F_WORDS + 6], 1, "case %zu", i);
  }
}

/* ---- loops ---- */

enum { ALL_FAULTS = 7, INVALID_ONLY = 1, LOOP_BYTES = 1024, X_AT = 256 };

typedef struct loop_case {
  int32_t distance; /* from x to y, in words */
  uint32_t rounds;
  int32_t large; /* the element of x whose square overflows; -1: none */
  uint32_t control;
  bool hides, one_pointer;
} loop_case;

/* y[i] = x[i] * x[i] + y[i], or 1 / x[i] and the smaller of both, which hides infinities. */
static void put_round(assembler *a, const loop_case *it)
{
  uint32_t y = it->one_pointer ? A2 : A3;
  int32_t offset = it->one_pointer ? 4 * it->distance : 0;
  asm_load(a, ASM_FLW, FA, A2, 0);
  asm_load(a, ASM_FLW, FB, y, offset);
  asm_word(a, multiply_single(FC, FA, FA));
  if (it->hides) {
    asm_word(a, fp(12, FD, FB, FC)); /* fdiv */
    asm_word(a, fp(20, FC, FC, FB)); /* fmin */
    asm_word(a, add_single(FC, FC, FD));
  } else {
    asm_word(a, add_single(FC, FC, FB));
  }
  asm_store(a, ASM_FSW, FC, y, offset);
}

static void put_loop(assembler *a, const loop_case *it)
{
  enum { SUPERVISOR_WORDS = 12 };
  asm_li(a, T0, RIG_CODE + 4 * SUPERVISOR_WORDS);
  asm_tile(a, TILE_RUN, 0, T0, ZERO);
  asm_tile(a, TILE_WAIT, 0, 0, 0);
  rig_report(a, 5);
  asm_nops(a, SUPERVISOR_WORDS - (uint32_t)a->count);
  asm_li(a, S0, RIG_DATA);
  asm_load(a, ASM_LW, A2, S0, 0); /* constants would tell the translator too much */
  asm_load(a, ASM_LW, A3, S0, 4);
  asm_load(a, ASM_LW, T2, S0, 8);
  asm_li(a, A4, 0);
  uint32_t start = asm_here(a);
  put_round(a, it);
  asm_addi(a, A2, A2, 4);
  asm_addi(a, A3, A3, 4);
  asm_addi(a, A4, A4, 1);
  asm_branch(a, ASM_BNE, A4, T2, start);
  asm_store(a, ASM_FSW, FA, S0, 16);
  asm_store(a, ASM_FSW, FC, S0, 20);
  asm_store(a, ASM_SW, A3, S0, 24);
  asm_store(a, ASM_SW, A4, S0, 28);
  asm_tile(a, TILE_EXIT, 0, 0, 0);
}

static bool run_loop(machine_engine engine, const loop_case *it, uint8_t data[LOOP_BYTES],
                     machine_fault *fault)
{
  rig r = rig_create_with(1, (machine_options){.engine = engine, .float_control = it->control});
  put_loop(&r.code[0], it);
  rig_load(&r);
  uint32_t words[LOOP_BYTES / 4] = {RIG_DATA + X_AT, RIG_DATA + X_AT + (uint32_t)(4 * it->distance),
                                    it->rounds};
  for (uint32_t i = X_AT / 8; i < LOOP_BYTES / 4; i++) {
    float value = 1 + (float)(i % 7) / 8;
    if ((int32_t)i == X_AT / 4 + it->large) value = 1e30f;
    memcpy(&words[i], &value, sizeof value);
  }
  expect_ok(machine_write(r.m, 0, RIG_DATA, words, sizeof words));
  uint32_t event;
  pop_error *error = machine_run(r.m, 0, &event);
  *fault = *machine_get_fault(r.m);
  expect_ok(machine_read(r.m, 0, RIG_DATA, data, LOOP_BYTES));
  bool failed = error != NULL;
  pop_error_free(error);
  rig_free(&r);
  return failed;
}

static void compare_loop(const loop_case *it)
{
  uint8_t interpreted[LOOP_BYTES], translated[LOOP_BYTES];
  machine_fault expected, found;
  bool failed = run_loop(MACHINE_INTERPRETER, it, interpreted, &expected);
  cr_assert_eq(run_loop(MACHINE_TRANSLATOR, it, translated, &found), failed,
               "y is %d words behind x, %u rounds, large at %d, control %u", it->distance,
               it->rounds, it->large, it->control);
  cr_assert(
      found.kind == expected.kind && found.pc == expected.pc && found.cycle == expected.cycle,
      "y is %d words behind x, %u rounds, large at %d, control %u: %s at 0x%x, not %s at 0x%x",
      it->distance, it->rounds, it->large, it->control, machine_fault_name(found.kind), found.pc,
      machine_fault_name(expected.kind), expected.pc);
  cr_assert_eq(memcmp(translated, interpreted, LOOP_BYTES), 0,
               "y is %d words behind x, %u rounds, large at %d, control %u: other results",
               it->distance, it->rounds, it->large, it->control);
}

Test(translate_control, loops_that_are_tried_first_do_the_same)
{
  static const int32_t distances[] = {0, 1, -1, 2, 8, -8, 9, 64, -40};
  static const int32_t large[] = {-1, 0, 1, 17, 37, 38, 39};
  static const uint32_t rounds[] = {3, 39, 40};
  for (size_t d = 0; d < sizeof distances / sizeof *distances; d++)
    for (size_t n = 0; n < sizeof large / sizeof *large; n++)
      for (size_t r = 0; r < sizeof rounds / sizeof *rounds; r++)
        for (unsigned how = 0; how < 8; how++)
          compare_loop(&(loop_case){.distance = distances[d],
                                    .rounds = rounds[r],
                                    .large = large[n],
                                    .control = how & 1 ? ALL_FAULTS : INVALID_ONLY,
                                    .hides = how & 2,
                                    .one_pointer = how & 4});
}
