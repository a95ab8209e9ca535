/* rv32i, m, zba, zbb on integer registers, and the conditions of branches. */
#include "lift.h"

static LLVMValueRef binary(lift *l, LLVMOpcode opcode, LLVMValueRef a, LLVMValueRef b)
{
  return LLVMBuildBinOp(l->b, opcode, a, b, "");
}

static LLVMValueRef compare(lift *l, LLVMIntPredicate predicate, LLVMValueRef a, LLVMValueRef b)
{
  return LLVMBuildICmp(l->b, predicate, a, b, "");
}

static LLVMValueRef compared(lift *l, LLVMIntPredicate predicate, LLVMValueRef a, LLVMValueRef b)
{
  return LLVMBuildZExt(l->b, compare(l, predicate, a, b), l->type.i32, "");
}

static LLVMValueRef selected(lift *l, LLVMIntPredicate predicate, LLVMValueRef a, LLVMValueRef b)
{
  return LLVMBuildSelect(l->b, compare(l, predicate, a, b), a, b, "");
}

/* An intrinsic on i32, with the operands given. */
static LLVMValueRef intrinsic(lift *l, const char *name, LLVMValueRef *operands, unsigned count)
{
  unsigned id = LLVMLookupIntrinsicID(name, __builtin_strlen(name));
  LLVMTypeRef i32 = l->type.i32;
  LLVMValueRef function = LLVMGetIntrinsicDeclaration(l->module, id, &i32, 1);
  return LLVMBuildCall2(l->b, LLVMGlobalGetValueType(function), function, operands, count, "");
}

static LLVMValueRef count_zeros(lift *l, const char *name, LLVMValueRef a)
{
  return intrinsic(l, name, (LLVMValueRef[]){a, LLVMConstInt(l->type.i1, 0, 0)}, 2);
}

static LLVMValueRef rotate(lift *l, const char *name, LLVMValueRef a, LLVMValueRef count)
{
  return intrinsic(l, name, (LLVMValueRef[]){a, a, count}, 3);
}

/* a << b, … where only the low 5 bits of b count */
static LLVMValueRef shift(lift *l, LLVMOpcode opcode, LLVMValueRef a, LLVMValueRef b)
{
  return binary(l, opcode, a, binary(l, LLVMAnd, b, lift_constant(l, 31)));
}

static LLVMValueRef high_product(lift *l, LLVMValueRef a, bool a_signed, LLVMValueRef b,
                                 bool b_signed)
{
  LLVMTypeRef i64 = l->type.i64;
  LLVMValueRef wide_a = LLVMBuildCast(l->b, a_signed ? LLVMSExt : LLVMZExt, a, i64, "");
  LLVMValueRef wide_b = LLVMBuildCast(l->b, b_signed ? LLVMSExt : LLVMZExt, b, i64, "");
  LLVMValueRef product = binary(l, LLVMMul, wide_a, wide_b);
  return LLVMBuildTrunc(l->b, binary(l, LLVMLShr, product, LLVMConstInt(i64, 32, 0)), l->type.i32,
                        "");
}

/* The host traps where RISC-V has results: there it divides by 1. */
static LLVMValueRef divide(lift *l, const code_op *op, LLVMValueRef a, LLVMValueRef b)
{
  bool is_signed = op->id == OP_DIV || op->id == OP_REM;
  bool remainder = op->id == OP_REM || op->id == OP_REMU;
  LLVMValueRef zero = compare(l, LLVMIntEQ, b, lift_constant(l, 0)), unsafe = zero;
  if (is_signed) {
    LLVMValueRef least = compare(l, LLVMIntEQ, a, lift_constant(l, 0x80000000));
    LLVMValueRef minus_one = compare(l, LLVMIntEQ, b, lift_constant(l, UINT32_MAX));
    unsafe = binary(l, LLVMOr, zero, binary(l, LLVMAnd, least, minus_one));
  }
  LLVMValueRef divisor = LLVMBuildSelect(l->b, unsafe, lift_constant(l, 1), b, "");
  LLVMOpcode opcode =
      remainder ? (is_signed ? LLVMSRem : LLVMURem) : (is_signed ? LLVMSDiv : LLVMUDiv);
  LLVMValueRef by_zero = remainder ? a : lift_constant(l, UINT32_MAX);
  return LLVMBuildSelect(l->b, zero, by_zero, binary(l, opcode, a, divisor), "");
}

/* 0xff for every byte that is not 0 */
static LLVMValueRef or_combine_bytes(lift *l, LLVMValueRef a)
{
  static const uint32_t masks[][2] = {{4, 0x0f0f0f0f}, {2, 0x03030303}, {1, 0x01010101}};
  for (unsigned i = 0; i < 3; i++) {
    LLVMValueRef shifted = binary(l, LLVMLShr, a, lift_constant(l, masks[i][0]));
    a = binary(l, LLVMOr, a, binary(l, LLVMAnd, shifted, lift_constant(l, masks[i][1])));
  }
  a = binary(l, LLVMAnd, a, lift_constant(l, 0x01010101));
  return binary(l, LLVMMul, a, lift_constant(l, 0xff));
}

static LLVMValueRef sign_extend_low(lift *l, LLVMTypeRef type, LLVMValueRef a)
{
  return LLVMBuildSExt(l->b, LLVMBuildTrunc(l->b, a, type, ""), l->type.i32, "");
}

static LLVMValueRef shifted_sum(lift *l, LLVMValueRef a, uint32_t count, LLVMValueRef b)
{
  return binary(l, LLVMAdd, binary(l, LLVMShl, a, lift_constant(l, count)), b);
}

static LLVMValueRef inverse(lift *l, LLVMValueRef a)
{
  return LLVMBuildNot(l->b, a, "");
}

static LLVMValueRef context_number(lift *l)
{
  LLVMValueRef offset = LLVMConstInt(l->type.i64, offsetof(context, number), 0);
  LLVMValueRef place = LLVMBuildGEP2(l->b, l->type.i8, l->registers, &offset, 1, "");
  return LLVMBuildLoad2(l->b, l->type.i32, place, "");
}

static LLVMValueRef tile_number(lift *l)
{
  LLVMValueRef offset = LLVMConstInt(l->type.i64, offsetof(translated_frame, tile_number), 0);
  LLVMValueRef place = LLVMBuildGEP2(l->b, l->type.i8, l->frame, &offset, 1, "");
  return LLVMBuildLoad2(l->b, l->type.i32, place, "");
}

/* The result; NULL if the operation is not of this file. */
static LLVMValueRef result_of(lift *l, const code_op *op, LLVMValueRef a, LLVMValueRef b,
                              LLVMValueRef imm)
{
  switch (op->id) {
  case OP_LUI:
  case OP_AUIPC:
    return imm;
  case OP_ADDI:
    return binary(l, LLVMAdd, a, imm);
  case OP_SLTI:
    return compared(l, LLVMIntSLT, a, imm);
  case OP_SLTIU:
    return compared(l, LLVMIntULT, a, imm);
  case OP_XORI:
    return binary(l, LLVMXor, a, imm);
  case OP_ORI:
    return binary(l, LLVMOr, a, imm);
  case OP_ANDI:
    return binary(l, LLVMAnd, a, imm);
  case OP_SLLI:
    return binary(l, LLVMShl, a, imm);
  case OP_SRLI:
    return binary(l, LLVMLShr, a, imm);
  case OP_SRAI:
    return binary(l, LLVMAShr, a, imm);
  case OP_ADD:
    return binary(l, LLVMAdd, a, b);
  case OP_SUB:
    return binary(l, LLVMSub, a, b);
  case OP_SLL:
    return shift(l, LLVMShl, a, b);
  case OP_SLT:
    return compared(l, LLVMIntSLT, a, b);
  case OP_SLTU:
    return compared(l, LLVMIntULT, a, b);
  case OP_XOR:
    return binary(l, LLVMXor, a, b);
  case OP_SRL:
    return shift(l, LLVMLShr, a, b);
  case OP_SRA:
    return shift(l, LLVMAShr, a, b);
  case OP_OR:
    return binary(l, LLVMOr, a, b);
  case OP_AND:
    return binary(l, LLVMAnd, a, b);
  case OP_MUL:
    return binary(l, LLVMMul, a, b);
  case OP_MULH:
    return high_product(l, a, true, b, true);
  case OP_MULHSU:
    return high_product(l, a, true, b, false);
  case OP_MULHU:
    return high_product(l, a, false, b, false);
  case OP_DIV:
  case OP_DIVU:
  case OP_REM:
  case OP_REMU:
    return divide(l, op, a, b);
  case OP_SH1ADD:
    return shifted_sum(l, a, 1, b);
  case OP_SH2ADD:
    return shifted_sum(l, a, 2, b);
  case OP_SH3ADD:
    return shifted_sum(l, a, 3, b);
  case OP_ANDN:
    return binary(l, LLVMAnd, a, inverse(l, b));
  case OP_ORN:
    return binary(l, LLVMOr, a, inverse(l, b));
  case OP_XNOR:
    return inverse(l, binary(l, LLVMXor, a, b));
  case OP_CLZ:
    return count_zeros(l, "llvm.ctlz", a);
  case OP_CTZ:
    return count_zeros(l, "llvm.cttz", a);
  case OP_CPOP:
    return intrinsic(l, "llvm.ctpop", &a, 1);
  case OP_MIN:
    return selected(l, LLVMIntSLT, a, b);
  case OP_MINU:
    return selected(l, LLVMIntULT, a, b);
  case OP_MAX:
    return selected(l, LLVMIntSGT, a, b);
  case OP_MAXU:
    return selected(l, LLVMIntUGT, a, b);
  case OP_SEXT_B:
    return sign_extend_low(l, l->type.i8, a);
  case OP_SEXT_H:
    return sign_extend_low(l, l->type.i16, a);
  case OP_ZEXT_H:
    return binary(l, LLVMAnd, a, lift_constant(l, 0xffff));
  case OP_ROL:
    return rotate(l, "llvm.fshl", a, b);
  case OP_ROR:
    return rotate(l, "llvm.fshr", a, b);
  case OP_RORI:
    return rotate(l, "llvm.fshr", a, imm);
  case OP_ORC_B:
    return or_combine_bytes(l, a);
  case OP_REV8:
    return intrinsic(l, "llvm.bswap", &a, 1);
  case OP_CSRRW: /* of fflags without a result, or reading frm or a counter: discovery lets no other */
  case OP_CSRRS:
  case OP_CSRRC:
  case OP_CSRRWI:
  case OP_CSRRSI:
  case OP_CSRRCI:
    return op->imm >= CSR_CYCLE ? lift_counter(l, (uint32_t)op->imm) : lift_constant(l, 0);
  case OP_TILE_CONTEXT:
    return context_number(l);
  case OP_TILE_NUMBER:
    return tile_number(l);
  default:
    return NULL;
  }
}

LLVMValueRef lift_integer_result(lift *l, const code_op *op, LLVMValueRef a, LLVMValueRef b)
{
  return result_of(l, op, a, b, lift_constant(l, (uint32_t)op->imm));
}

bool lift_integer(lift *l, const code_op *op)
{
  if (op->id == OP_FENCE) return true;
  LLVMValueRef result = lift_integer_result(l, op, lift_x(l, op->rs1), lift_x(l, op->rs2));
  if (!result) return false;
  lift_set_x(l, op->rd, result);
  return true;
}

LLVMValueRef lift_branch_condition(lift *l, const code_op *op)
{
  static const LLVMIntPredicate predicates[] = {
      [OP_BEQ] = LLVMIntEQ,  [OP_BNE] = LLVMIntNE,   [OP_BLT] = LLVMIntSLT,
      [OP_BGE] = LLVMIntSGE, [OP_BLTU] = LLVMIntULT, [OP_BGEU] = LLVMIntUGE};
  return compare(l, predicates[op->id], lift_x(l, op->rs1), lift_x(l, op->rs2));
}
