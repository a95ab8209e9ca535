/* F and Zfh without conversions from and to integers (lift_conversion.c).
 *
 * Operations that round to nearest even are the host's own. Its NaNs become canonical where their
 * bits can be seen (lift_float_registers.c). Halves are computed as singles and rounded (float.h
 * says why that is exact). The rest (other rounding modes, fused operations on halves) calls the
 * machine's integer arithmetic. frm is 0 while native code runs. */
#include "lift.h"

#include "isa/float.h"

static void leave_if_unordered(lift *l, LLVMValueRef a, LLVMValueRef b)
{
  if (l->unit->checked) lift_leave_unless(l, LLVMBuildFCmp(l->b, LLVMRealORD, a, b, ""));
}

static void finish_single(lift *l, uint32_t r, LLVMValueRef result)
{
  lift_need_finite(l, 0, result);
  lift_set_single(l, r, result);
}

void lift_finish_half(lift *l, uint32_t r, LLVMValueRef result)
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

/* fclass of a float. The sign is the top bit, the magnitude the low bits; `normal` is the least
 * normal number. Result bits 0-3 are infinity, normal, subnormal, zero for the negative sign; bits
 * 4-7 the same backwards for the positive one; then NaNs. */
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
  /* A quiet NaN has the top bit of the fraction. It is the one below the exponent's lowest bit,
   * which is the least normal number. */
  LLVMValueRef quiet = LLVMBuildAnd(l->b, bits, lift_constant(l, normal / 2), "");
  LLVMValueRef is_quiet = lift_compare(l, LLVMIntNE, quiet, lift_constant(l, 0));
  LLVMValueRef nan =
      LLVMBuildSelect(l->b, is_quiet, lift_constant(l, QUIET), lift_constant(l, SIGNALING), "");
  LLVMValueRef is_nan = lift_compare(l, LLVMIntUGT, size, lift_constant(l, infinity));
  return LLVMBuildSelect(l->b, is_nan, nan, class, "");
}

/* Classes of operations */

uint32_t lift_rounding_of(const code_op *op)
{
  uint32_t mode = (uint32_t)op->imm & 7;
  return mode == ROUND_DYNAMIC ? ROUND_NEAREST_EVEN : mode;
}

static uint32_t third(const code_op *op)
{
  return (uint32_t)op->imm >> 8 & 31;
}

/* Calls the machine's own arithmetic. The rs2 field of a unary operation is no register. */
static void general(lift *l, const code_op *op, bool fused)
{
  bool has_second = code_op_reads_f(op) >> op->rs2 & 1;
  LLVMValueRef arguments[] = {lift_constant(l, op->id), lift_f_bits(l, op->rs1),
                              has_second ? lift_f_bits(l, op->rs2) : lift_constant(l, 0),
                              fused ? lift_f_bits(l, third(op)) : lift_constant(l, 0),
                              lift_constant(l, lift_rounding_of(op))};
  lift_set_f_bits(l, op->rd, LLVMBuildCall2(l->b, l->type.value, l->value, arguments, 5, ""));
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
    return lift_min_max(l, a, b, false);
  default:
    return lift_min_max(l, a, b, true);
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

/* Operations that round, here to nearest even; false: no such operation. */
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
  case OP_FADD_H:
  case OP_FSUB_H:
  case OP_FMUL_H:
  case OP_FDIV_H:
    lift_finish_half(l, op->rd,
                     narrow(l, lift_arithmetic(l, op->id, widen(l, lift_half(l, op->rs1)),
                                               widen(l, lift_half(l, op->rs2)))));
    return true;
  case OP_FSQRT_H:
    lift_finish_half(l, op->rd, narrow(l, square_root(l, widen(l, lift_half(l, op->rs1)))));
    return true;
  case OP_FCVT_H_S:
    lift_finish_half(l, op->rd, narrow(l, lift_single(l, op->rs1)));
    return true;
  default:
    return false;
  }
}

/* Operations that do not round. */
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

/* Fused operations on halves, and all operations in another rounding mode: calls of the machine.
 * Under float control left to the interpreter. */
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
    general(l, op, true);
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
    general(l, op, false);
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
  if (lift_conversion(l, op) || lift_exact(l, op)) return true;
  return (lift_rounding_of(op) == ROUND_NEAREST_EVEN && lift_nearest(l, op)) || lift_general(l, op);
}
