/* Conversions between integers and floats.
 *
 * To integers: in each rounding mode the float is rounded to an integral float first, and
 * converting that is exact. To floats: the host rounds to nearest even. In another mode the number
 * has mostly just been made by a conversion to an integer (clang makes floor, ceil, trunc and round
 * so), and so gives the same float again. */
#include "lift.h"

#include "isa/float.h"

#include <math.h>

static LLVMValueRef widened(lift *l, uint32_t r)
{
  return LLVMBuildFPExt(l->b, lift_half(l, r), l->type.single, "");
}

static LLVMValueRef narrow(lift *l, LLVMValueRef single)
{
  return LLVMBuildFPTrunc(l->b, single, l->type.half, "");
}

/* To integers */

/* Leaves unless the number is in the integers' range, however it is rounded. */
static void leave_if_out_of_range(lift *l, LLVMValueRef a, bool is_signed)
{
  if (!l->unit->checked) return;
  LLVMValueRef fits = lift_is_below(l, a, is_signed ? 0x1p31 : 0x1p32);
  LLVMValueRef zero = LLVMConstReal(l->type.single, 0);
  if (!is_signed)
    fits = LLVMBuildAnd(l->b, fits, LLVMBuildFCmp(l->b, LLVMRealOGE, a, zero, ""), "");
  lift_leave_unless(l, fits);
}

/* Truncates to an integer, saturating; NaN counts as plus infinity. LLVM's fptosi.sat is less code,
 * but its vectorizer takes that for expensive. */
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

/* Rounds to an integral value as the mode says, then converts it. Modes: see float.h. */
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

static void put_integer(lift *l, const code_op *op, LLVMValueRef from, bool is_signed)
{
  leave_if_out_of_range(l, from, is_signed);
  lift_set_x(l, op->rd, to_integer(l, from, lift_rounding_of(op), is_signed));
}

/* From integers */

static LLVMValueRef from_integer(lift *l, const code_op *op)
{
  LLVMValueRef x = lift_x(l, op->rs1);
  if (op->id == OP_FCVT_S_W || op->id == OP_FCVT_H_W)
    return LLVMBuildSIToFP(l->b, x, l->type.single, "");
  return LLVMBuildUIToFP(l->b, x, l->type.single, "");
}

/* The correction (-1, 0, 1) of the magnitude's bits of `nearest` for another rounding mode.
 * `nearest` is the float nearest to `x`, `next` the next one farther from zero. All are doubles, in
 * which integers, floats and their distances are exact. */
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
  if (mode == ROUND_NEAREST_AWAY) { /* a tie */
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

/* Has a conversion in the block made this integer of a float of the same format? Then the result is
 * that float's integral value again, except for infinities and NaNs. */
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
  bool is_signed = op->id == OP_FCVT_S_W, up = lift_rounding_of(op) >= ROUND_UP;
  float above = is_signed ? 0x1p31f : 0x1p32f;
  LLVMValueRef largest = LLVMConstReal(l->type.single, (double)(up ? above : nextafterf(above, 0)));
  return unless_equal(l, op, is_signed ? INT32_MAX : UINT32_MAX, largest, from_integer(l, op));
}

static LLVMValueRef half_again(lift *l, const code_op *op)
{
  bool is_signed = op->id == OP_FCVT_H_W;
  uint32_t mode = lift_rounding_of(op);
  const double most = 65504, infinity = (double)INFINITY;
  LLVMValueRef largest = LLVMConstReal(l->type.half, mode >= ROUND_UP ? infinity : most);
  LLVMValueRef lowest = LLVMConstReal(
      l->type.half, mode == ROUND_DOWN || mode == ROUND_NEAREST_AWAY ? -infinity : -most);
  LLVMValueRef half = narrow(l, from_integer(l, op));
  half = unless_equal(l, op, is_signed ? INT32_MAX : UINT32_MAX, largest, half);
  return is_signed ? unless_equal(l, op, 0x80000000, lowest, half) : half;
}

/* Corrects the nearest float to the one that the mode wants. */
static LLVMValueRef rounded_bits(lift *l, const code_op *op, LLVMValueRef nearest, bool half,
                                 bool is_signed)
{
  LLVMTypeRef type = half ? l->type.i16 : l->type.i32;
  LLVMValueRef bits = LLVMBuildBitCast(l->b, nearest, type, "");
  LLVMValueRef next = LLVMBuildAdd(l->b, bits, LLVMConstInt(type, 1, 0), "");
  LLVMValueRef x = LLVMBuildCast(l->b, is_signed ? LLVMSIToFP : LLVMUIToFP, lift_x(l, op->rs1),
                                 LLVMDoubleTypeInContext(l->context), "");
  LLVMValueRef step = step_to_rounded(l, lift_rounding_of(op), x, as_double(l, bits, half),
                                      as_double(l, next, half));
  return LLVMBuildAdd(l->b, bits, LLVMBuildIntCast2(l->b, step, type, true, ""), "");
}

static LLVMValueRef to_single(lift *l, const code_op *op)
{
  LLVMValueRef nearest = from_integer(l, op);
  if (lift_rounding_of(op) == ROUND_NEAREST_EVEN) return nearest;
  if (was_float(l, op)) return single_again(l, op);
  return lift_as_single(l, rounded_bits(l, op, nearest, false, op->id == OP_FCVT_S_W));
}

static void put_half(lift *l, const code_op *op)
{
  LLVMValueRef nearest = narrow(l, from_integer(l, op));
  if (lift_rounding_of(op) == ROUND_NEAREST_EVEN) {
    lift_finish_half(l, op->rd, nearest);
    return;
  }
  /* under float control left to the interpreter */
  lift_leave_unless(l, LLVMConstInt(l->type.i1, 0, 0));
  if (was_float(l, op))
    lift_set_half(l, op->rd, half_again(l, op));
  else
    lift_set_f_bits(l, op->rd,
                    lift_box(l, rounded_bits(l, op, nearest, true, op->id == OP_FCVT_H_W)));
}

bool lift_conversion(lift *l, const code_op *op)
{
  switch (op->id) {
  case OP_FCVT_W_S:
  case OP_FCVT_WU_S:
    put_integer(l, op, lift_single(l, op->rs1), op->id == OP_FCVT_W_S);
    return true;
  case OP_FCVT_W_H:
  case OP_FCVT_WU_H:
    put_integer(l, op, widened(l, op->rs1), op->id == OP_FCVT_W_H);
    return true;
  case OP_FCVT_S_W:
  case OP_FCVT_S_WU:
    lift_set_single(l, op->rd, to_single(l, op));
    return true;
  case OP_FCVT_H_W:
  case OP_FCVT_H_WU:
    put_half(l, op);
    return true;
  default:
    return false;
  }
}
