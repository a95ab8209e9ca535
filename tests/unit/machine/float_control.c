/* Floating point under control registers: the short way (float_control_fast.h) against the exact one, which is integers
 * alone: what the short way does not leave to the other must be the same result and the same flags, and no fault. */
#include "machine/float_control_fast.h"
#include "support/random.h"

#include <criterion/criterion.h>

enum { RD = 5, RS1 = 6, RS2 = 7, RS3 = 8, ALL_FAULTS = 7 };

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

/* Of the operation as the decoder gives it to either: to nearest even, or to zero where it gives an integer. */
static rounding_mode mode_of(uint8_t id)
{
  return id == OP_FCVT_W_S || id == OP_FCVT_WU_S ? ROUND_TO_ZERO : ROUND_NEAREST_EVEN;
}

/* How many of the cases the short way has done. */
static size_t compare(uint8_t id, size_t cases, uint64_t seed)
{
  size_t done = 0;
  operation op = {.id = id, .rd = RD, .rs1 = RS1, .rs2 = RS2};
  if (is_fused(id)) op.imm = RS3 << 8;
  for (size_t i = 0; i < cases; i++) {
    tile t = {0};
    context fast = {.float_control = ALL_FAULTS};
    for (uint32_t r = RD; r <= RS3; r++) fast.x[r] = fast.f[r] = draw(&seed);
    context exact = fast;
    float_clear_host_flags();
    bool is_done = float_operate_fast(&fast, &op);
    fast.fflags |= float_host_flags();
    float_clear_host_flags();
    if (!is_done) {
      cr_assert(fast.x[RD] == exact.x[RD] && fast.f[RD] == exact.f[RD], "op %u wrote", id);
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
  }
  return done;
}

Test(float_control, the_short_way_does_what_the_exact_one_does)
{
  static const uint8_t ids[] = {OP_FADD_S,    OP_FSUB_S,   OP_FMUL_S,   OP_FDIV_S,    OP_FSQRT_S,
                                OP_FMADD_S,   OP_FMSUB_S,  OP_FNMSUB_S, OP_FNMADD_S,  OP_FCVT_S_W,
                                OP_FCVT_S_WU, OP_FCVT_S_H, OP_FCVT_W_S, OP_FCVT_WU_S, OP_FMIN_S,
                                OP_FMAX_S,    OP_FEQ_S,    OP_FLT_S,    OP_FLE_S};
  enum { CASES = 20000 };
  for (size_t i = 0; i < sizeof ids / sizeof *ids; i++) {
    size_t done = compare(ids[i], CASES, 1 + i);
    cr_assert_gt(done, CASES / 32, "op %u takes the short way in %zu of %d cases", ids[i], done,
                 CASES);
  }
}

/* A new operation that is controlled, and that nobody has thought of here, takes the exact way. */
Test(float_control, what_is_not_controlled_never_takes_the_short_way)
{
  for (uint32_t id = 0; id < OPERATION_COUNT; id++) {
    context c = {.float_control = ALL_FAULTS};
    operation op = {.id = (uint8_t)id, .rd = RD, .rs1 = RS1, .rs2 = RS2};
    if (!float_is_controlled(id)) cr_assert_not(float_operate_fast(&c, &op), "op %u", id);
  }
}
