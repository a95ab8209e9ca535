/* Floating point under control registers: the fast path (float_control_fast.h) against the exact
 * one, which uses integers only. Operations that the fast path completes by itself must have the
 * exact one's result and flags, and no fault. */
#include "isa/functions.h"
#include "machine/float_control_fast.h"
#include "support/random.h"

#include <criterion/criterion.h>
#include <math.h>

enum { RD = 5, RS1 = 6, RS2 = 7, RS3 = 8, HIGH = 32, ALL_FAULTS = 7 };

static const uint32_t values[] = {
    0,          0x80000000, 1,          0x80000001, 0x007fffff, 0x00800000, 0x80800000, 0x3f800000,
    0xbf800000, 0x3f000001, 0x4b800001, 0x4effffff, 0x4f000000, 0xcf000000, 0xcf000001, 0x4f7fffff,
    0x4f800000, 0x7f7fffff, 0xff7fffff, 0x7f800000, 0xff800000, 0x7fc00000, 0x7f800001, 0xffc12345,
    0xffff3c00, 0xffff7bff, 0xffff7c00, 0xffff7e01, 0xffff7c01, 0xffff0001, 0x5f7fffff, 0x1f800000};
enum { NUM_VALUES = sizeof values / sizeof *values };

static uint32_t draw(uint64_t *seed)
{
  uint32_t random = random_next(seed);
  return random_next(seed) % 3 ? values[random % NUM_VALUES] : random;
}

static bool is_fused(uint8_t id)
{
  return id == OP_FMADD_S || id == OP_FMSUB_S || id == OP_FNMSUB_S || id == OP_FNMADD_S;
}

/* The rounding mode that the decoder gives the operation: to nearest even, or to zero if the result
 * is an integer. */
static rounding_mode mode_of(uint8_t id)
{
  return id == OP_FCVT_W_S || id == OP_FCVT_WU_S ? ROUND_TO_ZERO : ROUND_NEAREST_EVEN;
}

/* Returns the number of cases that the fast path handled. */
static size_t compare(uint8_t id, size_t cases, uint64_t seed)
{
  size_t done = 0;
  operation op = {.id = id, .rd = RD, .rs1 = RS1, .rs2 = RS2};
  if (is_fused(id)) op.imm = RS3 << 8;
  for (size_t i = 0; i < cases; i++) {
    tile t = {0};
    context fast = {.float_control = ALL_FAULTS};
    for (uint32_t r = RD; r <= RS3; r++) {
      fast.x[r] = fast.f[r] = draw(&seed);
      fast.f[HIGH + r] = draw(&seed);
    }
    context exact = fast;
    float_clear_host_flags();
    bool is_done = float_operate_fast(&fast, &op);
    fast.fflags |= float_host_flags();
    float_clear_host_flags();
    if (!is_done) {
      cr_assert(fast.x[RD] == exact.x[RD] && fast.f[RD] == exact.f[RD] &&
                    fast.f[HIGH + RD] == exact.f[HIGH + RD],
                "op %u wrote", id);
      continue;
    }
    done++;
    machine_fault_kind kind = float_operate_controlled(&t, &exact, &op, mode_of(id));
    cr_assert_eq(kind, MACHINE_FAULT_NONE, "op %u of %08x, %08x, %08x is a fault", id, exact.f[RS1],
                 exact.f[RS2], exact.f[RS3]);
    cr_assert(fast.x[RD] == exact.x[RD] && fast.f[RD] == exact.f[RD] && fast.fflags == exact.fflags,
              "op %u of %08x, %08x, %08x: %08x %08x flags %x, exactly %08x %08x flags %x", id,
              exact.f[RS1], exact.f[RS2], exact.f[RS3], fast.x[RD], fast.f[RD], fast.fflags,
              exact.x[RD], exact.f[RD], exact.fflags);
    cr_assert_eq(fast.f[HIGH + RD], exact.f[HIGH + RD], "op %u of %08x, %08x above: %08x, not %08x",
                 id, exact.f[HIGH + RS1], exact.f[HIGH + RS2], fast.f[HIGH + RD],
                 exact.f[HIGH + RD]);
  }
  return done;
}

Test(float_control, the_short_way_does_what_the_exact_one_does)
{
  static const uint8_t ids[] = {
      OP_FADD_S,   OP_FSUB_S,    OP_FMUL_S,    OP_FDIV_S,    OP_FSQRT_S,   OP_FMADD_S,
      OP_FMSUB_S,  OP_FNMSUB_S,  OP_FNMADD_S,  OP_FCVT_S_W,  OP_FCVT_S_WU, OP_FCVT_S_H,
      OP_FCVT_W_S, OP_FCVT_WU_S, OP_FMIN_S,    OP_FMAX_S,    OP_FEQ_S,     OP_FLT_S,
      OP_FLE_S,    OP_F32V2_ADD, OP_F32V2_SUB, OP_F32V2_MUL, OP_F32V2_MIN, OP_F32V2_MAX};
  enum { CASES = 20000 };
  for (size_t i = 0; i < sizeof ids / sizeof *ids; i++) {
    size_t done = compare(ids[i], CASES, 1 + i);
    cr_assert_gt(done, CASES / 32, "op %u takes the short way in %zu of %d cases", ids[i], done,
                 CASES);
  }
}

/* A new controlled operation that this file does not know takes the exact path. */
Test(float_control, what_is_not_controlled_never_takes_the_short_way)
{
  for (uint32_t id = 0; id < OPERATION_COUNT; id++) {
    context c = {.float_control = ALL_FAULTS};
    operation op = {.id = (uint8_t)id, .rd = RD, .rs1 = RS1, .rs2 = RS2};
    if (!float_is_controlled(id)) cr_assert_not(float_operate_fast(&c, &op), "op %u", id);
  }
}

static const isa_op singles[] = {OP_F32EXP,  OP_F32EXP2, OP_F32LN,  OP_F32LOG2,
                                 OP_F32TANH, OP_F32SIGM, OP_F32OORX};

static machine_fault_kind operate(context *c, isa_op id)
{
  tile t = {.random = {{1, 2, 3, 4}}};
  operation op = {.id = (uint8_t)id, .rd = RD, .rs1 = RS1};
  float_clear_host_flags();
  return float_operate_controlled(&t, c, &op, ROUND_NEAREST_EVEN);
}

/* Functions give the same results under control. A fault comes before anything is written. */
Test(float_control, functions_are_themselves_or_faults)
{
  uint64_t seed = 5;
  for (size_t i = 0; i < sizeof singles / sizeof *singles; i++)
    for (int n = 0; n < 5000; n++) {
      context c = {.float_control = ALL_FAULTS, .f = {[RS1] = draw(&seed), [RD] = 77}};
      uint32_t result = function_single(singles[i], c.f[RS1]);
      uint32_t flags = function_flags(c.f[RS1], result);
      machine_fault_kind kind = operate(&c, singles[i]),
                         wanted = flags & FLAG_INVALID    ? MACHINE_FAULT_FLOAT_INVALID
                                  : flags & FLAG_DIVIDE   ? MACHINE_FAULT_FLOAT_DIVIDE
                                  : flags & FLAG_OVERFLOW ? MACHINE_FAULT_FLOAT_OVERFLOW
                                                          : MACHINE_FAULT_NONE;
      cr_assert_eq(kind, wanted, "op %u of %08x", singles[i], c.f[RS1]);
      cr_assert_eq(c.f[RD], wanted == MACHINE_FAULT_NONE ? result : 77, "op %u of %08x", singles[i],
                   c.f[RS1]);
      if (wanted != MACHINE_FAULT_NONE) cr_assert_eq(c.fflags, 0);
    }
}

/* If the second word faults, the first one is not written either. */
Test(float_control, functions_of_pairs_write_both_words_or_none)
{
  context c = {.float_control = ALL_FAULTS, .f = {[RS1] = 0x3f800000, [RS1 + 32] = 0, [RD] = 77}};
  cr_assert_eq(operate(&c, OP_F32V2LN), MACHINE_FAULT_FLOAT_DIVIDE);
  cr_assert_eq(c.f[RD], 77);
  c.f[RS1 + 32] = 0x40000000;
  cr_assert_eq(operate(&c, OP_F32V2LN), MACHINE_FAULT_NONE);
  cr_assert_eq(c.f[RD], 0);
  cr_assert_eq(c.f[RD + 32], function_single(OP_F32LN, 0x40000000));
}

/* Each of four halves is rounded with its own random number, in order, like four conversions. */
Test(float_control, functions_of_halves_round_at_random)
{
  enum { STOCHASTIC = 1 << 19, ROUNDS = 4000 };
  const uint32_t one_and_two = 0x40003c00, results[2] = {0x416f, 0x4763}; /* below e and e^2 */
  uint32_t above[4] = {0};
  tile t = {.random = {{1, 2, 3, 4}}}, other = t;
  for (int n = 0; n < ROUNDS; n++) {
    context c = {.float_control = STOCHASTIC, .f = {[RS1] = one_and_two, [RS1 + 32] = one_and_two}};
    context single = c;
    operation op = {.id = OP_F16V4EXP, .rd = RD, .rs1 = RS1};
    operation convert = {.id = OP_FCVT_H_S, .rd = RD, .rs1 = RS1};
    cr_assert_eq(float_operate_controlled(&t, &c, &op, ROUND_NEAREST_EVEN), MACHINE_FAULT_NONE);
    for (uint32_t k = 0; k < 4; k++) {
      uint32_t half = c.f[RD + 32 * (k / 2)] >> 16 * (k % 2) & 0xffff;
      single.f[RS1] = function_single(OP_F32EXP, k % 2 ? 0x40000000 : 0x3f800000);
      float_operate_controlled(&other, &single, &convert, ROUND_NEAREST_EVEN);
      cr_assert_eq(half, single.f[RD] & 0xffff, "element %u: %x, converted %x", k, half,
                   single.f[RD]);
      cr_assert(half == results[k % 2] || half == results[k % 2] + 1, "element %u: %x", k, half);
      above[k] += half != results[k % 2];
    }
  }
  for (uint32_t k = 0; k < 4; k++) {
    double exact = exp(k % 2 ? 2 : 1), step = k % 2 ? 0x1p-8 : 0x1p-9;
    double below = half_to_single(results[k % 2]), wanted = (exact - below) / step * ROUNDS;
    cr_assert(fabs(above[k] - wanted) < 150, "element %u: %u of %d, wanted %f", k, above[k], ROUNDS,
              wanted);
  }
}

enum { NAN_ON_OVERFLOW = 1 << 20 };

static machine_fault_kind operate_pair(context *c, isa_op id)
{
  tile t = {.random = {{1, 2, 3, 4}}};
  operation op = {.id = (uint8_t)id, .rd = RD, .rs1 = RS1, .rs2 = RS2};
  return float_operate_controlled(&t, c, &op, ROUND_NEAREST_EVEN);
}

/* An element that overflows becomes NaN, and leaves the others as they are. */
Test(float_control, overflow_of_a_packed_half_is_its_own)
{
  const uint32_t large = 0x7bff, one = 0x3c00, two = 0x4000, nan = 0x7e00;
  for (uint32_t overflowing = 0; overflowing < 4; overflowing++) {
    uint32_t halves[4] = {one, one, one, one};
    halves[overflowing] = large;
    uint32_t low = halves[0] | halves[1] << 16, high = halves[2] | halves[3] << 16;
    context c = {.float_control = NAN_ON_OVERFLOW,
                 .f = {[RS1] = low, [RS1 + 32] = high, [RS2] = low, [RS2 + 32] = high}};
    cr_assert_eq(operate_pair(&c, OP_F16V4_ADD), MACHINE_FAULT_NONE);
    for (uint32_t k = 0; k < 4; k++) {
      uint32_t half = c.f[RD + 32 * (k / 2)] >> 16 * (k % 2) & 0xffff;
      cr_assert_eq(half, k == overflowing ? nan : two, "element %u of an overflow of %u: %x", k,
                   overflowing, half);
    }
    cr_assert(c.fflags & FLAG_OVERFLOW && c.fflags & FLAG_INVALID);
  }
}

/* Also if the function overflows a single already. */
Test(float_control, overflow_of_a_function_of_a_half_is_its_own)
{
  const uint32_t hundred = 0x5640, twelve = 0x4a00, nan = 0x7e00, one = 0x3c00;
  context c = {.float_control = NAN_ON_OVERFLOW,
               .f = {[RS1] = hundred | 0 << 16, [RS1 + 32] = twelve | 0x8000u << 16}};
  cr_assert_eq(operate(&c, OP_F16V4EXP), MACHINE_FAULT_NONE);
  cr_assert_eq(c.f[RD], nan | one << 16, "%x", c.f[RD]);
  cr_assert_eq(c.f[RD + 32], nan | one << 16, "%x", c.f[RD + 32]);
}

/* A signalling NaN in a register that is no operand raises nothing. */
Test(float_control, rounding_at_random_looks_at_its_operands_only)
{
  enum { STOCHASTIC = 1 << 19, SIGNALLING = (int)0xffff7c01, ONE = (int)0xffff3c00 };
  static const isa_op ids[] = {OP_FADD_H, OP_FSUB_H, OP_FMUL_H, OP_FDIV_H, OP_FSQRT_H};
  for (size_t i = 0; i < sizeof ids / sizeof *ids; i++) {
    context c = {.float_control = STOCHASTIC | ALL_FAULTS,
                 .f = {[0] = (uint32_t)SIGNALLING, [RS1] = (uint32_t)ONE, [RS2] = (uint32_t)ONE}};
    tile t = {.random = {{1, 2, 3, 4}}};
    operation op = {.id = ids[i], .rd = RD, .rs1 = RS1, .rs2 = ids[i] == OP_FSQRT_H ? 0 : RS2};
    cr_assert_eq(float_operate_controlled(&t, &c, &op, ROUND_NEAREST_EVEN), MACHINE_FAULT_NONE,
                 "op %u", ids[i]);
    cr_assert_eq(c.fflags, 0, "op %u: flags %x", ids[i], c.fflags);
  }
  context fused = {
      .float_control = STOCHASTIC | ALL_FAULTS,
      .f = {[RS1] = (uint32_t)ONE, [RS2] = (uint32_t)ONE, [RS3] = (uint32_t)SIGNALLING}};
  tile t = {.random = {{1, 2, 3, 4}}};
  operation op = {.id = OP_FMADD_H, .rd = RD, .rs1 = RS1, .rs2 = RS2, .imm = RS3 << 8};
  cr_assert_eq(float_operate_controlled(&t, &fused, &op, ROUND_NEAREST_EVEN),
               MACHINE_FAULT_FLOAT_INVALID);
}
