/* Conversions of integers in all rounding modes, alone and after the conversion to an integer
 * (floor, ceil, trunc and round, as compilers make them), and classes of floats: native code
 * against the interpreter, and against the host if it has the rounding mode. */
#include "support/rig.h"

#include <criterion/criterion.h>
#include <fenv.h>
#include <math.h>
#include <string.h>

enum { X = A0, F = 1, RESULT = 2, NUM_MODES = 5 };

static const uint32_t fmv_w_x = 0xf0000053, fclass_s = 0xe0001053, fclass_h = 0xe4001053;
static const uint32_t from_integers[] = {0xd0000053, 0xd0100053, 0xd4000053,
                                         0xd4100053}; /* fcvt.s.w, s.wu, h.w, h.wu */
static const uint32_t to_integers[] = {0xc0000053, 0xc0100053, 0xc4000053, 0xc4100053};

/* Used as integers, and as floats in the lower half and in all bits. */
static const uint32_t values[] = {
    0,          1,          0xffffffff, 2049,       0xfffff7fe, 65519,      65520,      65521,
    0x00ffffff, 0x01000001, 0x01000002, 0x01000003, 0xfefffffe, 0xfefffffd, 0x7fffff40, 0x7fffffbf,
    0x7fffffc0, 0x7fffffff, 0x80000000, 0x80000040, 0x80000041, 0xffffff80, 0xffffff7f, 0x3f000000,
    0xbf000000, 0x3fc00000, 0xc0200000, 0x4effffff, 0x4f000000, 0xcf000000, 0xcf000001, 0x4f7fffff,
    0x4f800000, 0x7f800000, 0xff800000, 0x7fc00000, 0x7f800001, 0xffa00000, 0x00400000, 0x807fffff,
    0x4b7ffffe, 0x4affffff, 0xcaffffff, 0xffff7c00, 0xfffffc00, 0xffff7c01, 0xffff7e00, 0xffff0001,
    0xffff8000, 0xffff0000, 0xffff8001, 0xffff3c00, 0xffffbe00, 0xffff63ff};

enum { NUM_VALUES = sizeof values / sizeof *values };

typedef void piece(assembler *a);

/* X and F have the value. Stores its results as words from S1 on. */
static void put_results(assembler *a, bool there_and_back)
{
  uint32_t at = 0;
  for (uint32_t i = 0; i < 4; i++)
    for (uint32_t mode = 0; mode < NUM_MODES; mode++) {
      if (there_and_back) {
        asm_word(a, asm_r(to_integers[i] | mode << 12, A1, F, 0));
        asm_store(a, ASM_SW, A1, S1, (int32_t)(4 * at++));
        asm_word(a, asm_r(from_integers[i] | mode << 12, RESULT, A1, 0));
      } else {
        asm_word(a, asm_r(from_integers[i] | mode << 12, RESULT, X, 0));
      }
      asm_store(a, ASM_FSW, RESULT, S1, (int32_t)(4 * at++));
    }
}

static void put_from_integers(assembler *a)
{
  put_results(a, false);
}

static void put_there_and_back(assembler *a)
{
  put_results(a, true);
}

static void put_classes(assembler *a)
{
  asm_word(a, asm_r(fclass_s, A1, F, 0));
  asm_store(a, ASM_SW, A1, S1, 0);
  asm_word(a, asm_r(fclass_h, A1, F, 0));
  asm_store(a, ASM_SW, A1, S1, 4);
}

/* A worker: a loop over the values, with `bytes` of results for each. */
static void put_program(assembler *a, piece *put, uint32_t first, uint32_t count, int32_t bytes)
{
  rig_start_worker(a);
  asm_li(a, S0, RIG_DATA + 4 * first);
  asm_li(a, S1, RIG_DATA + sizeof values);
  asm_li(a, T1, RIG_DATA + 4 * (first + count));
  uint32_t again = asm_here(a);
  asm_load(a, ASM_LW, X, S0, 0);
  asm_word(a, asm_r(fmv_w_x, F, X, 0));
  put(a);
  asm_addi(a, S1, S1, bytes);
  asm_addi(a, S0, S0, 4);
  asm_branch(a, ASM_BNE, S0, T1, again);
  asm_tile(a, TILE_EXIT, 0, 0, 0);
}

static void run(machine_engine engine, piece *put, uint32_t first, uint32_t count,
                uint32_t num_results, uint32_t *results)
{
  rig r = rig_create_with(1, (machine_options){.engine = engine});
  put_program(&r.code[0], put, first, count, (int32_t)(4 * num_results));
  rig_load(&r);
  expect_ok(machine_write(r.m, 0, RIG_DATA, values, sizeof values));
  rig_run(&r);
  expect_ok(
      machine_read(r.m, 0, RIG_DATA + sizeof values, results, 4 * (size_t)count * num_results));
  rig_free(&r);
}

enum { MOST_RESULTS = 40 };

/* The results of native code for all values, which must equal the interpreter's. */
static void run_both(const char *what, piece *put, uint32_t num_results, uint32_t *results)
{
  enum { AT_ONCE = 26 };
  for (uint32_t first = 0; first < NUM_VALUES; first += AT_ONCE) {
    static uint32_t interpreted[AT_ONCE * MOST_RESULTS];
    uint32_t count = first + AT_ONCE < NUM_VALUES ? AT_ONCE : NUM_VALUES - first;
    uint32_t *translated = results + first * num_results;
    run(MACHINE_INTERPRETER, put, first, count, num_results, interpreted);
    run(MACHINE_TRANSLATOR, put, first, count, num_results, translated);
    for (uint32_t i = 0; i < count * num_results; i++)
      cr_assert_eq(translated[i], interpreted[i], "%s of 0x%x, result %u: 0x%x instead of 0x%x",
                   what, values[first + i / num_results], i % num_results, translated[i],
                   interpreted[i]);
  }
}

static uint32_t bits_of(float x)
{
  uint32_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}

/* Rounds to nearest; if two are equally near, away from zero. */
static float nearest_away(double x)
{
  float nearest = (float)x;
  float next = nextafterf(nearest, x < 0 ? -INFINITY : INFINITY);
  return fabs((double)next) - fabs(x) == fabs(x) - fabs((double)nearest) ? next : nearest;
}

static float rounded(double x, uint32_t mode)
{
  static const int modes[] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD};
  if (mode == 4) return nearest_away(x);
  volatile double from = x;
  fesetround(modes[mode]);
  volatile float to = (float)from;
  fesetround(FE_TONEAREST);
  return to;
}

Test(translate_rounding, integers_become_floats_in_every_mode)
{
  enum { NUM_RESULTS = 4 * NUM_MODES };
  static uint32_t results[NUM_VALUES * NUM_RESULTS];
  run_both("float", put_from_integers, NUM_RESULTS, results);
  for (uint32_t i = 0; i < NUM_VALUES; i++)
    for (uint32_t mode = 0; mode < NUM_MODES; mode++) {
      const uint32_t *got = &results[i * NUM_RESULTS + mode];
      cr_assert_eq(got[0], bits_of(rounded((int32_t)values[i], mode)), "0x%x, mode %u", values[i],
                   mode);
      cr_assert_eq(got[NUM_MODES], bits_of(rounded(values[i], mode)), "0x%x, mode %u", values[i],
                   mode);
    }
}

Test(translate_rounding, floats_are_rounded_to_integral_ones)
{
  enum { NUM_RESULTS = 8 * NUM_MODES };
  static uint32_t results[NUM_VALUES * NUM_RESULTS];
  _Static_assert((int)NUM_RESULTS <= (int)MOST_RESULTS, "more than run_both has room for");
  run_both("integral float", put_there_and_back, NUM_RESULTS, results);
  for (uint32_t i = 0; i < NUM_VALUES; i++)
    for (uint32_t mode = 0; mode < NUM_MODES; mode++) {
      const uint32_t *got = &results[i * NUM_RESULTS + 2 * mode];
      cr_assert_eq(got[1], bits_of(rounded((int32_t)got[0], mode)), "0x%x, mode %u", values[i],
                   mode);
    }
}

Test(translate_rounding, classes_of_singles_and_halves)
{
  static uint32_t results[NUM_VALUES * 2];
  run_both("class", put_classes, 2, results);
  uint32_t seen[2] = {0};
  for (uint32_t i = 0; i < NUM_VALUES * 2; i++) seen[i % 2] |= results[i];
  cr_expect_eq(seen[0], 0x3ff, "the values have no single of class 0x%x", seen[0] ^ 0x3ff);
  cr_expect_eq(seen[1], 0x3ff, "the values have no half of class 0x%x", seen[1] ^ 0x3ff);
}
