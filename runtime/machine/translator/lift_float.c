/* F and Zfh.
 *
 * Operations that round to nearest even are the host's own; its NaNs become canonical where their
 * bits can be seen (lift.h). Conversions to integers are exact in all rounding modes: they round to
 * an integral float first. Halves are computed as singles and rounded (float.h says why that is
 * exact). Whatever else there is (other rounding modes, fused operations on halves, fclass) is a
 * call of the machine's integer arithmetic. The rounding mode in frm is 0 while native code runs. */
#include "lift.h"

#include "machine/float.h"
#include <string.h>

/* Bits and values */

static LLVMValueRef as_single(lift *l, LLVMValueRef bits)
{
  return LLVMBuildBitCast(l->b, bits, l->type.single, "");
}

static LLVMValueRef as_bits(lift *l, LLVMValueRef single)
{
  return LLVMBuildBitCast(l->b, single, l->type.i32, "");
}

static LLVMValueRef constant_i16(const lift *l, uint32_t value)
{
  return LLVMConstInt(l->type.i16, value, 0);
}

static LLVMValueRef constant_flag(const lift *l, bool value)
{
  return LLVMConstInt(l->type.i1, value, 0);
}

static LLVMValueRef is_nan(lift *l, LLVMValueRef single)
{
  return LLVMBuildFCmp(l->b, LLVMRealUNO, single, single, "");
}

static LLVMValueRef bits_of_half(lift *l, LLVMValueRef half)
{
  return LLVMBuildBitCast(l->b, half, l->type.i16, "");
}

static LLVMValueRef half_of_bits(lift *l, LLVMValueRef bits)
{
  return LLVMBuildBitCast(l->b, bits, l->type.half, "");
}

static LLVMValueRef box_bits(lift *l, LLVMValueRef half_bits)
{
  LLVMValueRef wide = LLVMBuildZExt(l->b, half_bits, l->type.i32, "");
  return LLVMBuildOr(l->b, wide, lift_constant(l, 0xffff0000), "");
}

static LLVMValueRef unbox_bits(lift *l, LLVMValueRef bits)
{
  LLVMValueRef boxed = LLVMBuildICmp(l->b, LLVMIntUGE, bits, lift_constant(l, 0xffff0000), "");
  LLVMValueRef low = LLVMBuildTrunc(l->b, bits, l->type.i16, "");
  return LLVMBuildSelect(l->b, boxed, low, constant_i16(l, 0x7e00), "");
}

static LLVMValueRef canonical_half_bits(lift *l, LLVMValueRef bits)
{
  LLVMValueRef magnitude = LLVMBuildAnd(l->b, bits, constant_i16(l, 0x7fff), "");
  LLVMValueRef nan = LLVMBuildICmp(l->b, LLVMIntUGT, magnitude, constant_i16(l, 0x7c00), "");
  return LLVMBuildSelect(l->b, nan, constant_i16(l, 0x7e00), bits, "");
}

/* Registers */

static LLVMValueRef get_single(lift *l, uint32_t r)
{
  return LLVMBuildLoad2(l->b, l->type.single, l->single[r], "");
}

static LLVMValueRef get_half_bits(lift *l, uint32_t r)
{
  return LLVMBuildLoad2(l->b, l->type.i16, l->half[r], "");
}

static LLVMValueRef get_half(lift *l, uint32_t r)
{
  return half_of_bits(l, get_half_bits(l, r));
}

static LLVMValueRef get_flag(lift *l, LLVMValueRef slot)
{
  return LLVMBuildLoad2(l->b, l->type.i1, slot, "");
}

static void set_flags(lift *l, uint32_t r, bool lazy_single, bool lazy_half)
{
  LLVMBuildStore(l->b, constant_flag(l, lazy_single), l->lazy_single[r]);
  if (l->has_half) LLVMBuildStore(l->b, constant_flag(l, lazy_half), l->lazy_half[r]);
}

/* The result of an operation. A single is never a boxed half. */
static void set_single(lift *l, uint32_t r, LLVMValueRef value)
{
  LLVMBuildStore(l->b, value, l->single[r]);
  if (l->has_half) LLVMBuildStore(l->b, constant_i16(l, 0x7e00), l->half[r]);
  set_flags(l, r, true, false);
}

static void set_half(lift *l, uint32_t r, LLVMValueRef value)
{
  LLVMValueRef bits = bits_of_half(l, value);
  LLVMBuildStore(l->b, bits, l->half[r]);
  LLVMBuildStore(l->b, as_single(l, box_bits(l, bits)), l->single[r]);
  set_flags(l, r, false, true);
}

void lift_set_f_bits(lift *l, uint32_t r, LLVMValueRef bits)
{
  LLVMBuildStore(l->b, as_single(l, bits), l->single[r]);
  if (l->has_half) LLVMBuildStore(l->b, unbox_bits(l, bits), l->half[r]);
  set_flags(l, r, false, false);
}

LLVMValueRef lift_f_bits(lift *l, uint32_t r)
{
  LLVMValueRef value = get_single(l, r), bits = as_bits(l, value);
  LLVMValueRef change = LLVMBuildAnd(l->b, get_flag(l, l->lazy_single[r]), is_nan(l, value), "");
  bits = LLVMBuildSelect(l->b, change, lift_constant(l, 0x7fc00000), bits, "");
  if (!l->has_half) return bits;
  LLVMValueRef half_bits = box_bits(l, canonical_half_bits(l, get_half_bits(l, r)));
  return LLVMBuildSelect(l->b, get_flag(l, l->lazy_half[r]), half_bits, bits, "");
}

static void copy(lift *l, uint32_t to, uint32_t from)
{
  LLVMValueRef value = get_single(l, from), flag = get_flag(l, l->lazy_single[from]);
  if (l->has_half) {
    LLVMValueRef half = get_half_bits(l, from), half_flag = get_flag(l, l->lazy_half[from]);
    LLVMBuildStore(l->b, half, l->half[to]);
    LLVMBuildStore(l->b, half_flag, l->lazy_half[to]);
  }
  LLVMBuildStore(l->b, value, l->single[to]);
  LLVMBuildStore(l->b, flag, l->lazy_single[to]);
}

/* Operations of the host */

static LLVMValueRef intrinsic(lift *l, const char *name, LLVMTypeRef *types, size_t num_types,
                              LLVMValueRef *operands, unsigned count)
{
  unsigned id = LLVMLookupIntrinsicID(name, strlen(name));
  LLVMValueRef function = LLVMGetIntrinsicDeclaration(l->module, id, types, num_types);
  return LLVMBuildCall2(l->b, LLVMGlobalGetValueType(function), function, operands, count, "");
}

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
  return intrinsic(l, "llvm.sqrt", &l->type.single, 1, &a, 1);
}

static LLVMValueRef negated(lift *l, LLVMValueRef a)
{
  return LLVMBuildFNeg(l->b, a, "");
}

static LLVMValueRef multiply_add(lift *l, LLVMValueRef a, LLVMValueRef b, LLVMValueRef c)
{
  return intrinsic(l, "llvm.fma", &l->type.single, 1, (LLVMValueRef[]){a, b, c}, 3);
}

/* Rounds as the mode says to an integral value, and that to an integer: NaN counts as plus
 * infinity. Modes: see float.h. */
static LLVMValueRef to_integer(lift *l, LLVMValueRef a, uint32_t mode, bool is_signed)
{
  static const char *const roundings[] = {[ROUND_NEAREST_EVEN] = "llvm.roundeven",
                                          [ROUND_TO_ZERO] = NULL,
                                          [ROUND_DOWN] = "llvm.floor",
                                          [ROUND_UP] = "llvm.ceil",
                                          [ROUND_NEAREST_AWAY] = "llvm.round"};
  LLVMValueRef integral = a;
  if (roundings[mode]) integral = intrinsic(l, roundings[mode], &l->type.single, 1, &a, 1);
  LLVMTypeRef types[] = {l->type.i32, l->type.single};
  LLVMValueRef converted =
      intrinsic(l, is_signed ? "llvm.fptosi.sat" : "llvm.fptoui.sat", types, 2, &integral, 1);
  uint32_t most = is_signed ? INT32_MAX : UINT32_MAX;
  return LLVMBuildSelect(l->b, is_nan(l, a), lift_constant(l, most), converted, "");
}

/* IEEE 754-2019 minimumNumber and maximumNumber. Of two equal values only zeros differ: the smaller
 * has the sign bit of either, the larger that of both. Two NaNs: either, to be made canonical. */
static LLVMValueRef pick(lift *l, LLVMValueRef a, LLVMValueRef b, bool larger)
{
  LLVMRealPredicate before = larger ? LLVMRealOGT : LLVMRealOLT;
  LLVMValueRef picked = LLVMBuildSelect(l->b, LLVMBuildFCmp(l->b, before, a, b, ""), a, b, "");
  picked = LLVMBuildSelect(l->b, is_nan(l, b), a, picked, "");
  LLVMValueRef both =
      LLVMBuildBinOp(l->b, larger ? LLVMAnd : LLVMOr, as_bits(l, a), as_bits(l, b), "");
  LLVMValueRef equal = LLVMBuildFCmp(l->b, LLVMRealOEQ, a, b, "");
  return LLVMBuildSelect(l->b, equal, as_single(l, both), picked, "");
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
  return unbox_bits(l, lift_f_bits(l, r));
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
  LLVMValueRef result = LLVMBuildCall2(l->b, l->type.rounded, l->rounded, arguments, 5, "");
  if (to_x)
    lift_set_x(l, op->rd, result);
  else
    lift_set_f_bits(l, op->rd, result);
}

static LLVMValueRef arithmetic(lift *l, uint8_t id, LLVMValueRef a, LLVMValueRef b)
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
    return pick(l, a, b, false);
  default:
    return pick(l, a, b, true);
  }
}

static void fused(lift *l, const code_op *op)
{
  LLVMValueRef a = get_single(l, op->rs1), b = get_single(l, op->rs2), c = get_single(l, third(op));
  if (op->id == OP_FNMSUB_S || op->id == OP_FNMADD_S) a = negated(l, a);
  if (op->id == OP_FMSUB_S || op->id == OP_FNMADD_S) c = negated(l, c);
  set_single(l, op->rd, multiply_add(l, a, b, c));
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
    set_single(l, op->rd, arithmetic(l, op->id, get_single(l, op->rs1), get_single(l, op->rs2)));
    return true;
  case OP_FSQRT_S:
    set_single(l, op->rd, square_root(l, get_single(l, op->rs1)));
    return true;
  case OP_FMADD_S:
  case OP_FMSUB_S:
  case OP_FNMSUB_S:
  case OP_FNMADD_S:
    fused(l, op);
    return true;
  case OP_FCVT_S_W:
  case OP_FCVT_S_WU:
    set_single(l, op->rd, from_integer(l, op));
    return true;
  case OP_FADD_H:
  case OP_FSUB_H:
  case OP_FMUL_H:
  case OP_FDIV_H:
    set_half(l, op->rd,
             narrow(l, arithmetic(l, op->id, widen(l, get_half(l, op->rs1)),
                                  widen(l, get_half(l, op->rs2)))));
    return true;
  case OP_FSQRT_H:
    set_half(l, op->rd, narrow(l, square_root(l, widen(l, get_half(l, op->rs1)))));
    return true;
  case OP_FCVT_H_S:
    set_half(l, op->rd, narrow(l, get_single(l, op->rs1)));
    return true;
  case OP_FCVT_H_W:
  case OP_FCVT_H_WU:
    set_half(l, op->rd, narrow(l, from_integer(l, op)));
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
      copy(l, op->rd, op->rs1);
      return true;
    } /* fall through */
  case OP_FSGNJN_S:
  case OP_FSGNJX_S:
  case OP_FSGNJN_H:
  case OP_FSGNJX_H:
    if (lift_is_half(op->id))
      lift_set_f_bits(l, op->rd,
                      box_bits(l, with_sign(l, op, exact_half_bits(l, op->rs1),
                                            exact_half_bits(l, op->rs2), 0x8000)));
    else
      lift_set_f_bits(
          l, op->rd,
          with_sign(l, op, lift_f_bits(l, op->rs1), lift_f_bits(l, op->rs2), 0x80000000));
    return true;
  case OP_FMIN_S:
  case OP_FMAX_S:
    set_single(l, op->rd, arithmetic(l, op->id, get_single(l, op->rs1), get_single(l, op->rs2)));
    return true;
  case OP_FMIN_H:
  case OP_FMAX_H:
    set_half(l, op->rd,
             narrow(l, arithmetic(l, op->id, widen(l, get_half(l, op->rs1)),
                                  widen(l, get_half(l, op->rs2)))));
    return true;
  case OP_FEQ_S:
  case OP_FLT_S:
  case OP_FLE_S:
    lift_set_x(l, op->rd,
               compared(l, predicate_of(op->id), get_single(l, op->rs1), get_single(l, op->rs2)));
    return true;
  case OP_FEQ_H:
  case OP_FLT_H:
  case OP_FLE_H:
    lift_set_x(l, op->rd,
               compared(l, predicate_of(op->id), widen(l, get_half(l, op->rs1)),
                        widen(l, get_half(l, op->rs2))));
    return true;
  case OP_FCVT_W_S:
  case OP_FCVT_WU_S:
    lift_set_x(l, op->rd,
               to_integer(l, get_single(l, op->rs1), rounding_of(op), op->id == OP_FCVT_W_S));
    return true;
  case OP_FCVT_W_H:
  case OP_FCVT_WU_H:
    lift_set_x(
        l, op->rd,
        to_integer(l, widen(l, get_half(l, op->rs1)), rounding_of(op), op->id == OP_FCVT_W_H));
    return true;
  case OP_FCVT_S_H:
    set_single(l, op->rd, widen(l, get_half(l, op->rs1)));
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
                    box_bits(l, LLVMBuildTrunc(l->b, lift_x(l, op->rs1), l->type.i16, "")));
    return true;
  case OP_FCLASS_S:
  case OP_FCLASS_H:
    general(l, op, false, true, false);
    return true;
  default:
    return false;
  }
}

/* Operations on halves that the machine computes, and everything in an unusual rounding mode. */
static bool lift_general(lift *l, const code_op *op)
{
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
  case OP_FCVT_S_W:
  case OP_FCVT_S_WU:
  case OP_FCVT_H_W:
  case OP_FCVT_H_WU:
    general(l, op, true, false, false);
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
  return (rounding_of(op) == ROUND_NEAREST_EVEN && lift_nearest(l, op)) || lift_general(l, op);
}
