/* F and Zfh.
 *
 * Operations that round to nearest even are the host's own; its NaNs become canonical where their
 * bits can be seen (lift_float_registers.c). Conversions to integers are exact in all rounding modes: they round to
 * an integral float first. Halves are computed as singles and rounded (float.h says why that is
 * exact). Whatever else there is (other rounding modes, fused operations on halves, fclass) is a
 * call of the machine's integer arithmetic. The rounding mode in frm is 0 while native code runs. */
#include "lift.h"

#include "isa/float.h"

#include <math.h>

static void leave_if_unordered(lift *l, LLVMValueRef a, LLVMValueRef b)
{
  if (l->unit->checked) lift_leave_unless(l, LLVMBuildFCmp(l->b, LLVMRealORD, a, b, ""));
}

/* Unless it is in the integers' range, however it is rounded. */
static void leave_if_out_of_range(lift *l, LLVMValueRef a, bool is_signed)
{
  if (!l->unit->checked) return;
  LLVMValueRef fits = lift_is_below(l, a, is_signed ? 0x1p31 : 0x1p32);
  LLVMValueRef zero = LLVMConstReal(l->type.single, 0);
  if (!is_signed)
    fits = LLVMBuildAnd(l->b, fits, LLVMBuildFCmp(l->b, LLVMRealOGE, a, zero, ""), "");
  lift_leave_unless(l, fits);
}

static void finish_single(lift *l, uint32_t r, LLVMValueRef result)
{
  lift_need_finite(l, 0, result);
  lift_set_single(l, r, result);
}

static void finish_half(lift *l, uint32_t r, LLVMValueRef result)
{
  if (l->unit->checked)
    lift_leave_unless(l, lift_is_finite(l, LLVMBuildFPExt(l->b, result, l->type.single, "")));
  lift_set_half(l, r, result);
}

/* Operations of the host */

static LLVMValueRef widen(lift *l, LLVMValueRef half)
{
  return LLVMBuildFPExt(l->b, half, l->type.single, "");
}

static LLVMValueRef narrow(lift *l, LLVMValueRef single)
{
  return LLVMBuildFPTrunc(l->b, single, l->type.half, "");
}

static LLVMValueRef square_root(lift *l, LLVMValueRef a)
{
  return lift_intrinsic(l, "llvm.sqrt", &l->type.single, 1, &a, 1);
}

static LLVMValueRef negated(lift *l, LLVMValueRef a)
{
  return LLVMBuildFNeg(l->b, a, "");
}

static LLVMValueRef multiply_add(lift *l, LLVMValueRef a, LLVMValueRef b, LLVMValueRef c)
{
  return lift_intrinsic(l, "llvm.fma", &l->type.single, 1, (LLVMValueRef[]){a, b, c}, 3);
}

/* Cut off to an integer, the nearest that there is; NaN counts as plus infinity. LLVM's fptosi.sat makes less of it, but its vectorizer takes that
 * for dear. */
static LLVMValueRef cut(lift *l, LLVMValueRef a, bool is_signed)
{
  LLVMTypeRef single = l->type.single, types[] = {l->type.i32, single};
  LLVMValueRef most = lift_constant(l, is_signed ? INT32_MAX : UINT32_MAX);
  if (!l->fast) {
    const char *name = is_signed ? "llvm.fptosi.sat" : "llvm.fptoui.sat";
    LLVMValueRef converted = lift_intrinsic(l, name, types, 2, &a, 1);
    return LLVMBuildSelect(l->b, lift_is_nan(l, a), most, converted, "");
  }
  LLVMValueRef least = lift_constant(l, is_signed ? 0x80000000 : 0);
  LLVMValueRef from = LLVMConstReal(single, is_signed ? -0x1p31 : 0);
  LLVMValueRef to = LLVMConstReal(single, is_signed ? 0x1p31 : 0x1p32);
  LLVMValueRef above = LLVMBuildFCmp(l->b, LLVMRealOGT, a, from, "");
  LLVMValueRef below = LLVMBuildFCmp(l->b, LLVMRealOLT, a, to, "");
  LLVMValueRef fits = LLVMBuildAnd(l->b, above, below, "");
  LLVMValueRef inside = LLVMBuildSelect(l->b, fits, a, LLVMConstReal(single, 0), "");
  LLVMValueRef outside = LLVMBuildSelect(l->b, below, least, most, "");
  inside = LLVMBuildCast(l->b, is_signed ? LLVMFPToSI : LLVMFPToUI, inside, l->type.i32, "");
  return LLVMBuildSelect(l->b, fits, inside, outside, "");
}

/* Rounds as the mode says to an integral value, and that to an integer. Modes: see float.h. */
static LLVMValueRef to_integer(lift *l, LLVMValueRef a, uint32_t mode, bool is_signed)
{
  static const char *const roundings[] = {[ROUND_NEAREST_EVEN] = "llvm.roundeven",
                                          [ROUND_TO_ZERO] = NULL,
                                          [ROUND_DOWN] = "llvm.floor",
                                          [ROUND_UP] = "llvm.ceil",
                                          [ROUND_NEAREST_AWAY] = "llvm.round"};
  if (roundings[mode]) a = lift_intrinsic(l, roundings[mode], &l->type.single, 1, &a, 1);
  return cut(l, a, is_signed);
}

static LLVMValueRef compared(lift *l, LLVMRealPredicate predicate, LLVMValueRef a, LLVMValueRef b)
{
  return LLVMBuildZExt(l->b, LLVMBuildFCmp(l->b, predicate, a, b, ""), l->type.i32, "");
}

/* Sign operations, on bits of either format. */
static LLVMValueRef with_sign(lift *l, const code_op *op, LLVMValueRef a, LLVMValueRef b,
                              uint64_t sign)
{
  LLVMTypeRef type = LLVMTypeOf(a);
  LLVMValueRef mask = LLVMConstInt(type, sign, 0);
  LLVMValueRef magnitude = LLVMBuildAnd(l->b, a, LLVMConstInt(type, sign - 1, 0), "");
  if (op->id == OP_FSGNJX_S || op->id == OP_FSGNJX_H)
    return LLVMBuildXor(l->b, a, LLVMBuildAnd(l->b, b, mask, ""), "");
  if (op->id == OP_FSGNJN_S || op->id == OP_FSGNJN_H) b = LLVMBuildNot(l->b, b, "");
  return LLVMBuildOr(l->b, magnitude, LLVMBuildAnd(l->b, b, mask, ""), "");
}

static LLVMValueRef exact_half_bits(lift *l, uint32_t r)
{
  return lift_unbox(l, lift_f_bits(l, r));
}

/* What fclass says of a float whose sign is the top bit and whose magnitude are the lowest ones, given the least normal number and
 * infinity. Its bits: infinity, normal, subnormal, zero, and back for the other sign; NaNs. */
static LLVMValueRef class_of(lift *l, LLVMValueRef bits, uint32_t normal, uint32_t infinity)
{
  static const uint32_t negative[] = {1 << 0, 1 << 1, 1 << 2, 1 << 3};
  static const uint32_t positive[] = {1 << 7, 1 << 6, 1 << 5, 1 << 4};
  enum { SIGNALING = 1 << 8, QUIET = 1 << 9 };
  LLVMValueRef size = LLVMBuildAnd(l->b, bits, lift_constant(l, INT32_MAX), "");
  LLVMValueRef minus = lift_compare(l, LLVMIntSLT, bits, lift_constant(l, 0)), class = NULL;
  const uint32_t from[] = {infinity, normal, 1, 0};
  for (int i = 3; i >= 0; i--) {
    LLVMValueRef own = LLVMBuildSelect(l->b, minus, lift_constant(l, negative[i]),
                                       lift_constant(l, positive[i]), "");
    LLVMValueRef is_it = lift_compare(l, LLVMIntUGE, size, lift_constant(l, from[i]));
    class = class ? LLVMBuildSelect(l->b, is_it, own, class, "") : own;
  }
  /* A NaN's fraction has the bit below the exponent's lowest one, which is that of the least normal number. */
  LLVMValueRef quiet = LLVMBuildAnd(l->b, bits, lift_constant(l, normal / 2), "");
  LLVMValueRef is_quiet = lift_compare(l, LLVMIntNE, quiet, lift_constant(l, 0));
  LLVMValueRef nan =
      LLVMBuildSelect(l->b, is_quiet, lift_constant(l, QUIET), lift_constant(l, SIGNALING), "");
  LLVMValueRef is_nan = lift_compare(l, LLVMIntUGT, size, lift_constant(l, infinity));
  return LLVMBuildSelect(l->b, is_nan, nan, class, "");
}

/* Classes of operations */

static uint32_t rounding_of(const code_op *op)
{
  uint32_t mode = (uint32_t)op->imm & 7;
  return mode == ROUND_DYNAMIC ? ROUND_NEAREST_EVEN : mode;
}

static uint32_t third(const code_op *op)
{
  return (uint32_t)op->imm >> 8 & 31;
}

/* By the machine's own arithmetic. */
static void general(lift *l, const code_op *op, bool from_x, bool to_x, bool fused)
{
  LLVMValueRef arguments[] = {
      lift_constant(l, op->id), from_x ? lift_x(l, op->rs1) : lift_f_bits(l, op->rs1),
      from_x ? lift_constant(l, 0) : lift_f_bits(l, op->rs2),
      fused ? lift_f_bits(l, third(op)) : lift_constant(l, 0), lift_constant(l, rounding_of(op))};
  LLVMValueRef result = LLVMBuildCall2(l->b, l->type.value, l->value, arguments, 5, "");
  if (to_x)
    lift_set_x(l, op->rd, result);
  else
    lift_set_f_bits(l, op->rd, result);
}

LLVMValueRef lift_arithmetic(lift *l, uint8_t id, LLVMValueRef a, LLVMValueRef b)
{
  switch (id) {
  case OP_FADD_S:
  case OP_FADD_H:
    return LLVMBuildFAdd(l->b, a, b, "");
  case OP_FSUB_S:
  case OP_FSUB_H:
    return LLVMBuildFSub(l->b, a, b, "");
  case OP_FMUL_S:
  case OP_FMUL_H:
    return LLVMBuildFMul(l->b, a, b, "");
  case OP_FDIV_S:
  case OP_FDIV_H:
    return LLVMBuildFDiv(l->b, a, b, "");
  case OP_FSQRT_S:
  case OP_FSQRT_H:
    return square_root(l, a);
  case OP_FMIN_S:
  case OP_FMIN_H:
    return lift_pick(l, a, b, false);
  default:
    return lift_pick(l, a, b, true);
  }
}

static void fused(lift *l, const code_op *op)
{
  LLVMValueRef a = lift_single(l, op->rs1), b = lift_single(l, op->rs2),
               c = lift_single(l, third(op));
  if (op->id == OP_FNMSUB_S || op->id == OP_FNMADD_S) a = negated(l, a);
  if (op->id == OP_FMSUB_S || op->id == OP_FNMADD_S) c = negated(l, c);
  finish_single(l, op->rd, multiply_add(l, a, b, c));
}

static LLVMRealPredicate predicate_of(uint8_t id)
{
  if (id == OP_FEQ_S || id == OP_FEQ_H) return LLVMRealOEQ;
  return id == OP_FLT_S || id == OP_FLT_H ? LLVMRealOLT : LLVMRealOLE;
}

static LLVMValueRef from_integer(lift *l, const code_op *op)
{
  LLVMValueRef x = lift_x(l, op->rs1);
  if (op->id == OP_FCVT_S_W || op->id == OP_FCVT_H_W)
    return LLVMBuildSIToFP(l->b, x, l->type.single, "");
  return LLVMBuildUIToFP(l->b, x, l->type.single, "");
}

/* Rounded to nearest even only; false if it is something else. */
static bool lift_nearest(lift *l, const code_op *op)
{
  switch (op->id) {
  case OP_FADD_S:
  case OP_FSUB_S:
  case OP_FMUL_S:
  case OP_FDIV_S:
    finish_single(l, op->rd,
                  lift_arithmetic(l, op->id, lift_single(l, op->rs1), lift_single(l, op->rs2)));
    return true;
  case OP_FSQRT_S:
    finish_single(l, op->rd, square_root(l, lift_single(l, op->rs1)));
    return true;
  case OP_FMADD_S:
  case OP_FMSUB_S:
  case OP_FNMSUB_S:
  case OP_FNMADD_S:
    fused(l, op);
    return true;
  case OP_FCVT_S_W:
  case OP_FCVT_S_WU:
    lift_set_single(l, op->rd, from_integer(l, op));
    return true;
  case OP_FADD_H:
  case OP_FSUB_H:
  case OP_FMUL_H:
  case OP_FDIV_H:
    finish_half(l, op->rd,
                narrow(l, lift_arithmetic(l, op->id, widen(l, lift_half(l, op->rs1)),
                                          widen(l, lift_half(l, op->rs2)))));
    return true;
  case OP_FSQRT_H:
    finish_half(l, op->rd, narrow(l, square_root(l, widen(l, lift_half(l, op->rs1)))));
    return true;
  case OP_FCVT_H_S:
    finish_half(l, op->rd, narrow(l, lift_single(l, op->rs1)));
    return true;
  case OP_FCVT_H_W:
  case OP_FCVT_H_WU:
    finish_half(l, op->rd, narrow(l, from_integer(l, op)));
    return true;
  default:
    return false;
  }
}

/* What does not round, or rounds to integers. */
static bool lift_exact(lift *l, const code_op *op)
{
  switch (op->id) {
  case OP_FSGNJ_S:
  case OP_FSGNJ_H:
    if (op->id == OP_FSGNJ_S && op->rs1 == op->rs2) {
      lift_copy_f(l, op->rd, op->rs1);
      return true;
    } /* fall through */
  case OP_FSGNJN_S:
  case OP_FSGNJX_S:
  case OP_FSGNJN_H:
  case OP_FSGNJX_H:
    if (lift_is_half(op->id))
      lift_set_f_bits(l, op->rd,
                      lift_box(l, with_sign(l, op, exact_half_bits(l, op->rs1),
                                            exact_half_bits(l, op->rs2), 0x8000)));
    else
      lift_set_f_bits(
          l, op->rd,
          with_sign(l, op, lift_f_bits(l, op->rs1), lift_f_bits(l, op->rs2), 0x80000000));
    return true;
  case OP_FMIN_S:
  case OP_FMAX_S:
    leave_if_unordered(l, lift_single(l, op->rs1), lift_single(l, op->rs2));
    lift_set_single(l, op->rd,
                    lift_arithmetic(l, op->id, lift_single(l, op->rs1), lift_single(l, op->rs2)));
    return true;
  case OP_FMIN_H:
  case OP_FMAX_H:
    leave_if_unordered(l, widen(l, lift_half(l, op->rs1)), widen(l, lift_half(l, op->rs2)));
    lift_set_half(l, op->rd,
                  narrow(l, lift_arithmetic(l, op->id, widen(l, lift_half(l, op->rs1)),
                                            widen(l, lift_half(l, op->rs2)))));
    return true;
  case OP_FEQ_S:
  case OP_FLT_S:
  case OP_FLE_S:
    leave_if_unordered(l, lift_single(l, op->rs1), lift_single(l, op->rs2));
    lift_set_x(l, op->rd,
               compared(l, predicate_of(op->id), lift_single(l, op->rs1), lift_single(l, op->rs2)));
    return true;
  case OP_FEQ_H:
  case OP_FLT_H:
  case OP_FLE_H:
    leave_if_unordered(l, widen(l, lift_half(l, op->rs1)), widen(l, lift_half(l, op->rs2)));
    lift_set_x(l, op->rd,
               compared(l, predicate_of(op->id), widen(l, lift_half(l, op->rs1)),
                        widen(l, lift_half(l, op->rs2))));
    return true;
  case OP_FCVT_W_S:
  case OP_FCVT_WU_S:
    leave_if_out_of_range(l, lift_single(l, op->rs1), op->id == OP_FCVT_W_S);
    lift_set_x(l, op->rd,
               to_integer(l, lift_single(l, op->rs1), rounding_of(op), op->id == OP_FCVT_W_S));
    return true;
  case OP_FCVT_W_H:
  case OP_FCVT_WU_H:
    leave_if_out_of_range(l, widen(l, lift_half(l, op->rs1)), op->id == OP_FCVT_W_H);
    lift_set_x(
        l, op->rd,
        to_integer(l, widen(l, lift_half(l, op->rs1)), rounding_of(op), op->id == OP_FCVT_W_H));
    return true;
  case OP_FCVT_S_H:
    leave_if_unordered(l, widen(l, lift_half(l, op->rs1)), widen(l, lift_half(l, op->rs1)));
    lift_set_single(l, op->rd, widen(l, lift_half(l, op->rs1)));
    return true;
  case OP_FMV_X_W:
    lift_set_x(l, op->rd, lift_f_bits(l, op->rs1));
    return true;
  case OP_FMV_W_X:
    lift_set_f_bits(l, op->rd, lift_x(l, op->rs1));
    return true;
  case OP_FMV_X_H: {
    LLVMValueRef low = LLVMBuildTrunc(l->b, lift_f_bits(l, op->rs1), l->type.i16, "");
    lift_set_x(l, op->rd, LLVMBuildSExt(l->b, low, l->type.i32, ""));
    return true;
  }
  case OP_FMV_H_X:
    lift_set_f_bits(l, op->rd,
                    lift_box(l, LLVMBuildTrunc(l->b, lift_x(l, op->rs1), l->type.i16, "")));
    return true;
  case OP_FCLASS_S:
    lift_set_x(l, op->rd, class_of(l, lift_f_bits(l, op->rs1), 0x00800000, 0x7f800000));
    return true;
  case OP_FCLASS_H: {
    LLVMValueRef bits = LLVMBuildSExt(l->b, exact_half_bits(l, op->rs1), l->type.i32, "");
    bits = LLVMBuildAnd(l->b, bits, lift_constant(l, 0x80007fff), "");
    lift_set_x(l, op->rd, class_of(l, bits, 0x0400, 0x7c00));
    return true;
  }
  default:
    return false;
  }
}

/* By how much the magnitude's bits of what is nearest to `x` are off in another rounding mode. `nearest` and `next`, which is one step farther from zero,
 * are doubles, as `x` is: integers, floats and their distances are exact there. */
static LLVMValueRef step_to_rounded(lift *l, uint32_t mode, LLVMValueRef x, LLVMValueRef nearest,
                                    LLVMValueRef next)
{
  LLVMTypeRef type = LLVMTypeOf(x);
  LLVMValueRef none = lift_constant(l, 0), farther = lift_constant(l, 1);
  LLVMValueRef nearer = lift_constant(l, UINT32_MAX), off;
  LLVMValueRef size = lift_intrinsic(l, "llvm.fabs", &type, 1, &x, 1);
  LLVMValueRef size_of_nearest = lift_intrinsic(l, "llvm.fabs", &type, 1, &nearest, 1);
  LLVMValueRef size_of_next = lift_intrinsic(l, "llvm.fabs", &type, 1, &next, 1);
  if (mode == ROUND_TO_ZERO) {
    off = LLVMBuildFCmp(l->b, LLVMRealOGT, size_of_nearest, size, "");
    return LLVMBuildSelect(l->b, off, nearer, none, "");
  }
  if (mode == ROUND_NEAREST_AWAY) { /* it was in the middle */
    LLVMValueRef below = LLVMBuildFSub(l->b, size, size_of_nearest, "");
    LLVMValueRef above = LLVMBuildFSub(l->b, size_of_next, size, "");
    off = LLVMBuildFCmp(l->b, LLVMRealOEQ, below, above, "");
    return LLVMBuildSelect(l->b, off, farther, none, "");
  }
  bool down = mode == ROUND_DOWN;
  LLVMValueRef positive = LLVMBuildFCmp(l->b, LLVMRealOGT, nearest, LLVMConstReal(type, 0), "");
  off = LLVMBuildFCmp(l->b, down ? LLVMRealOGT : LLVMRealOLT, nearest, x, "");
  LLVMValueRef step =
      LLVMBuildSelect(l->b, positive, down ? nearer : farther, down ? farther : nearer, "");
  return LLVMBuildSelect(l->b, off, step, none, "");
}

static LLVMValueRef as_double(lift *l, LLVMValueRef bits, bool half)
{
  LLVMTypeRef twice = LLVMDoubleTypeInContext(l->context);
  LLVMValueRef single = LLVMBuildBitCast(l->b, bits, half ? l->type.half : l->type.single, "");
  if (half) single = LLVMBuildFPExt(l->b, single, l->type.single, "");
  return LLVMBuildFPExt(l->b, single, twice, "");
}

/* Has the block made the integer of a float of that format? Then it is one again, but for what infinity and NaN have become. */
static bool was_float(const lift *l, const code_op *op)
{
  static const uint8_t makers[ISA_NUM_OPS] = {[OP_FCVT_S_W] = OP_FCVT_W_S,
                                              [OP_FCVT_S_WU] = OP_FCVT_WU_S,
                                              [OP_FCVT_H_W] = OP_FCVT_W_H,
                                              [OP_FCVT_H_WU] = OP_FCVT_WU_H};
  for (uint32_t i = l->op_index; op->rs1 && i-- > l->block->first_op;) {
    const code_op *before = &l->unit->ops[i];
    if (code_op_writes_x(before) == op->rs1) return before->id == makers[op->id];
  }
  return false;
}

static LLVMValueRef unless_equal(lift *l, const code_op *op, uint32_t integer, LLVMValueRef then,
                                 LLVMValueRef otherwise)
{
  LLVMValueRef is_it = lift_compare(l, LLVMIntEQ, lift_x(l, op->rs1), lift_constant(l, integer));
  return LLVMBuildSelect(l->b, is_it, then, otherwise, "");
}

static LLVMValueRef single_again(lift *l, const code_op *op)
{
  bool is_signed = op->id == OP_FCVT_S_W, up = rounding_of(op) >= ROUND_UP;
  float above = is_signed ? 0x1p31f : 0x1p32f;
  LLVMValueRef largest = LLVMConstReal(l->type.single, (double)(up ? above : nextafterf(above, 0)));
  return unless_equal(l, op, is_signed ? INT32_MAX : UINT32_MAX, largest, from_integer(l, op));
}

static LLVMValueRef half_again(lift *l, const code_op *op)
{
  bool is_signed = op->id == OP_FCVT_H_W;
  uint32_t mode = rounding_of(op);
  const double most = 65504, infinity = (double)INFINITY;
  LLVMValueRef largest = LLVMConstReal(l->type.half, mode >= ROUND_UP ? infinity : most);
  LLVMValueRef lowest = LLVMConstReal(
      l->type.half, mode == ROUND_DOWN || mode == ROUND_NEAREST_AWAY ? -infinity : -most);
  LLVMValueRef half = narrow(l, from_integer(l, op));
  half = unless_equal(l, op, is_signed ? INT32_MAX : UINT32_MAX, largest, half);
  return is_signed ? unless_equal(l, op, 0x80000000, lowest, half) : half;
}

/* From what is nearest to the neighbour that the mode wants. */
static LLVMValueRef rounded_bits(lift *l, const code_op *op, LLVMValueRef nearest, bool half,
                                 bool is_signed)
{
  LLVMTypeRef type = half ? l->type.i16 : l->type.i32;
  LLVMValueRef bits = LLVMBuildBitCast(l->b, nearest, type, "");
  LLVMValueRef next = LLVMBuildAdd(l->b, bits, LLVMConstInt(type, 1, 0), "");
  LLVMValueRef x = LLVMBuildCast(l->b, is_signed ? LLVMSIToFP : LLVMUIToFP, lift_x(l, op->rs1),
                                 LLVMDoubleTypeInContext(l->context), "");
  LLVMValueRef step =
      step_to_rounded(l, rounding_of(op), x, as_double(l, bits, half), as_double(l, next, half));
  return LLVMBuildAdd(l->b, bits, LLVMBuildIntCast2(l->b, step, type, true, ""), "");
}

/* Integers to floats in other modes than to nearest even: as clang converts back what floor, ceil, trunc and round have made. */
static bool lift_rounded_integer(lift *l, const code_op *op)
{
  LLVMValueRef nearest;
  switch (op->id) {
  case OP_FCVT_S_W:
  case OP_FCVT_S_WU:
    nearest = was_float(l, op) ? single_again(l, op)
                               : lift_as_single(l, rounded_bits(l, op, from_integer(l, op), false,
                                                                op->id == OP_FCVT_S_W));
    lift_set_single(l, op->rd, nearest);
    return true;
  case OP_FCVT_H_W:
  case OP_FCVT_H_WU:
    lift_leave_unless(l, LLVMConstInt(l->type.i1, 0, 0));
    if (was_float(l, op)) {
      lift_set_half(l, op->rd, half_again(l, op));
      return true;
    }
    nearest = narrow(l, from_integer(l, op));
    lift_set_f_bits(l, op->rd,
                    lift_box(l, rounded_bits(l, op, nearest, true, op->id == OP_FCVT_H_W)));
    return true;
  default:
    return false;
  }
}

/* Operations on halves that the machine computes, and everything in an unusual rounding mode; under float control the
 * interpreter's. */
static bool lift_general(lift *l, const code_op *op)
{
  lift_leave_unless(l, LLVMConstInt(l->type.i1, 0, 0));
  switch (op->id) {
  case OP_FMADD_S:
  case OP_FMSUB_S:
  case OP_FNMSUB_S:
  case OP_FNMADD_S:
  case OP_FMADD_H:
  case OP_FMSUB_H:
  case OP_FNMSUB_H:
  case OP_FNMADD_H:
    general(l, op, false, false, true);
    return true;
  case OP_FADD_S:
  case OP_FSUB_S:
  case OP_FMUL_S:
  case OP_FDIV_S:
  case OP_FSQRT_S:
  case OP_FADD_H:
  case OP_FSUB_H:
  case OP_FMUL_H:
  case OP_FDIV_H:
  case OP_FSQRT_H:
  case OP_FCVT_H_S:
    general(l, op, false, false, false);
    return true;
  default:
    return false;
  }
}

bool lift_is_half(uint8_t id)
{
  return (id >= OP_FADD_H && id <= OP_FMV_H_X) || id == OP_FMADD_H || id == OP_FMSUB_H ||
         id == OP_FNMSUB_H || id == OP_FNMADD_H || id == OP_FLH || id == OP_FSH;
}

bool lift_float(lift *l, const code_op *op)
{
  if (lift_exact(l, op)) return true;
  if (rounding_of(op) == ROUND_NEAREST_EVEN && lift_nearest(l, op)) return true;
  return lift_rounded_integer(l, op) || lift_general(l, op);
}
