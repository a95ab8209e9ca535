/* fmin and fmax with a constant operand in the code give the results of IEEE 754-2019's
 * minimumNumber and maximumNumber on both engines: zeros of either sign, NaNs, infinities, numbers
 * on both sides, and equal ones. */
#include "support/rig.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

static const uint32_t fmin_s = 0x28000053, fmax_s = 0x28001053, fmv_w_x = 0xf0000053;
enum { LIMIT = 1, VALUE, RESULT }; /* floating-point registers */

static const uint32_t values[] = {0,          0x80000000, 0x3f800000, 0xbf800000,
                                  0x7f800000, 0xff800000, 0x7fc00000, 0xffc12345,
                                  1,          0x80000001, 0x42280000, 0xc2280000};
enum { NUM_VALUES = sizeof values / sizeof *values, NUM_WAYS = 4 };

static bool is_nan(uint32_t bits)
{
  return (bits & 0x7fffffff) > 0x7f800000;
}

static float float_of(uint32_t bits)
{
  float x;
  memcpy(&x, &bits, sizeof x);
  return x;
}

static uint32_t expected(uint32_t a, uint32_t b, bool larger)
{
  if (is_nan(a)) return is_nan(b) ? 0x7fc00000 : b;
  if (is_nan(b)) return a;
  if (float_of(a) == float_of(b)) return larger ? a & b : a | b;
  return (float_of(a) > float_of(b)) == larger ? a : b;
}

/* The ways: fmin of value and limit, fmin of limit and value, and the same for fmax. */
static void put_way(assembler *a, unsigned way)
{
  bool limit_first = way & 1;
  asm_word(a, asm_r(way & 2 ? fmax_s : fmin_s, RESULT, limit_first ? LIMIT : VALUE,
                    limit_first ? VALUE : LIMIT));
}

/* A worker: a loop over the values, with the limit loaded before it. */
static void put_program(assembler *a, uint32_t limit)
{
  enum { SUPERVISOR_WORDS = 12 };
  asm_li(a, T0, RIG_CODE + 4 * SUPERVISOR_WORDS);
  asm_tile(a, TILE_RUN, 0, T0, ZERO);
  asm_tile(a, TILE_WAIT, 0, 0, 0);
  rig_report(a, 1);
  asm_nops(a, SUPERVISOR_WORDS - (uint32_t)a->count);
  asm_li(a, T0, limit);
  asm_word(a, asm_r(fmv_w_x, LIMIT, T0, ZERO));
  asm_li(a, S0, RIG_DATA);
  asm_li(a, S1, RIG_DATA + sizeof values);
  asm_li(a, T1, RIG_DATA + sizeof values);
  uint32_t again = asm_here(a);
  asm_load(a, ASM_FLW, VALUE, S0, 0);
  for (unsigned way = 0; way < NUM_WAYS; way++) {
    put_way(a, way);
    asm_store(a, ASM_FSW, RESULT, S1, (int32_t)(4 * way));
  }
  asm_addi(a, S1, S1, 4 * NUM_WAYS);
  asm_addi(a, S0, S0, 4);
  asm_branch(a, ASM_BNE, S0, T1, again);
  asm_tile(a, TILE_EXIT, 0, 0, 0);
}

static void run(machine_engine engine, uint32_t limit, uint32_t results[NUM_VALUES][NUM_WAYS])
{
  rig r = rig_create_with(1, (machine_options){.engine = engine});
  put_program(&r.code[0], limit);
  rig_load(&r);
  expect_ok(machine_write(r.m, 0, RIG_DATA, values, sizeof values));
  uint32_t event;
  expect_ok(machine_run(r.m, 0, &event));
  expect_ok(machine_read(r.m, 0, RIG_DATA + sizeof values, results,
                         NUM_VALUES * NUM_WAYS * sizeof(uint32_t)));
  rig_free(&r);
}

static void expect_right(machine_engine engine)
{
  for (unsigned i = 0; i < NUM_VALUES; i++) {
    uint32_t results[NUM_VALUES][NUM_WAYS];
    run(engine, values[i], results);
    for (unsigned k = 0; k < NUM_VALUES; k++)
      for (unsigned way = 0; way < NUM_WAYS; way++)
        cr_expect_eq(results[k][way], expected(values[k], values[i], way & 2),
                     "%s of %#x and the limit %#x: %#x", way & 2 ? "fmax" : "fmin", values[k],
                     values[i], results[k][way]);
  }
}

Test(translate_picks, interpreter)
{
  expect_right(MACHINE_INTERPRETER);
}

Test(translate_picks, translator)
{
  expect_right(MACHINE_TRANSLATOR);
}
