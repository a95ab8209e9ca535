/* rv32i, m, zba, zbb on integer registers, and conditions of branches.
 *
 * isa/instructions.h says what an operation computes. `makers` says it in LLVM's instructions, for
 * the operations that LLVM knows and that programs use. The others call the machine's own
 * arithmetic. */
#include "lift.h"

static LLVMValueRef binary(lift *l, unsigned opcode, LLVMValueRef a, LLVMValueRef b)
{
  return LLVMBuildBinOp(l->b, (LLVMOpcode)opcode, a, b, "");
}

static LLVMValueRef compare(lift *l, unsigned predicate, LLVMValueRef a, LLVMValueRef b)
{
  return LLVMBuildICmp(l->b, (LLVMIntPredicate)predicate, a, b, "");
}

static LLVMValueRef compared(lift *l, unsigned predicate, LLVMValueRef a, LLVMValueRef b)
{
  return LLVMBuildZExt(l->b, compare(l, predicate, a, b), l->type.i32, "");
}

static LLVMValueRef selected(lift *l, unsigned predicate, LLVMValueRef a, LLVMValueRef b)
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

static LLVMValueRef count_zeros(lift *l, unsigned leading, LLVMValueRef a, LLVMValueRef b)
{
  (void)b;
  return intrinsic(l, leading ? "llvm.ctlz" : "llvm.cttz",
                   (LLVMValueRef[]){a, LLVMConstInt(l->type.i1, 0, 0)}, 2);
}

static LLVMValueRef count_bits(lift *l, unsigned how, LLVMValueRef a, LLVMValueRef b)
{
  (void)how, (void)b;
  return intrinsic(l, "llvm.ctpop", &a, 1);
}

static LLVMValueRef swap_bytes(lift *l, unsigned how, LLVMValueRef a, LLVMValueRef b)
{
  (void)how, (void)b;
  return intrinsic(l, "llvm.bswap", &a, 1);
}

static LLVMValueRef rotate(lift *l, unsigned left, LLVMValueRef a, LLVMValueRef count)
{
  return intrinsic(l, left ? "llvm.fshl" : "llvm.fshr", (LLVMValueRef[]){a, a, count}, 3);
}

/* a << b, … where only the low 5 bits of b count */
static LLVMValueRef shift(lift *l, unsigned opcode, LLVMValueRef a, LLVMValueRef b)
{
  return binary(l, opcode, a, binary(l, LLVMAnd, b, lift_constant(l, 31)));
}

static LLVMValueRef high_product(lift *l, unsigned extension, LLVMValueRef a, LLVMValueRef b)
{
  LLVMTypeRef i64 = l->type.i64;
  LLVMValueRef wide_a = LLVMBuildCast(l->b, (LLVMOpcode)extension, a, i64, "");
  LLVMValueRef wide_b = LLVMBuildCast(l->b, (LLVMOpcode)extension, b, i64, "");
  LLVMValueRef product = binary(l, LLVMMul, wide_a, wide_b);
  return LLVMBuildTrunc(l->b, binary(l, LLVMLShr, product, LLVMConstInt(i64, 32, 0)), l->type.i32,
                        "");
}

/* Where the host would trap but RISC-V has a result, it divides by 1. */
static LLVMValueRef divide(lift *l, unsigned opcode, LLVMValueRef a, LLVMValueRef b)
{
  bool is_signed = opcode == LLVMSDiv || opcode == LLVMSRem;
  bool remainder = opcode == LLVMSRem || opcode == LLVMURem;
  LLVMValueRef zero = compare(l, LLVMIntEQ, b, lift_constant(l, 0)), unsafe = zero;
  if (is_signed) {
    LLVMValueRef least = compare(l, LLVMIntEQ, a, lift_constant(l, 0x80000000));
    LLVMValueRef minus_one = compare(l, LLVMIntEQ, b, lift_constant(l, UINT32_MAX));
    unsafe = binary(l, LLVMOr, zero, binary(l, LLVMAnd, least, minus_one));
  }
  LLVMValueRef divisor = LLVMBuildSelect(l->b, unsafe, lift_constant(l, 1), b, "");
  LLVMValueRef by_zero = remainder ? a : lift_constant(l, UINT32_MAX);
  return LLVMBuildSelect(l->b, zero, by_zero, binary(l, opcode, a, divisor), "");
}

static LLVMValueRef sign_extend_low(lift *l, unsigned bits, LLVMValueRef a, LLVMValueRef b)
{
  (void)b;
  LLVMTypeRef type = bits == 8 ? l->type.i8 : l->type.i16;
  return LLVMBuildSExt(l->b, LLVMBuildTrunc(l->b, a, type, ""), l->type.i32, "");
}

static LLVMValueRef zero_extend_half(lift *l, unsigned how, LLVMValueRef a, LLVMValueRef b)
{
  (void)how, (void)b;
  return binary(l, LLVMAnd, a, lift_constant(l, 0xffff));
}

static LLVMValueRef shifted_sum(lift *l, unsigned count, LLVMValueRef a, LLVMValueRef b)
{
  return binary(l, LLVMAdd, binary(l, LLVMShl, a, lift_constant(l, count)), b);
}

static LLVMValueRef with_inverse(lift *l, unsigned opcode, LLVMValueRef a, LLVMValueRef b)
{
  return binary(l, opcode, a, LLVMBuildNot(l->b, b, ""));
}

static LLVMValueRef second(lift *l, unsigned how, LLVMValueRef a, LLVMValueRef b)
{
  (void)l, (void)how, (void)a;
  return b;
}

/* auipc: the immediate already is the sum with the instruction's address. */
static LLVMValueRef place(lift *l, unsigned how, LLVMValueRef a, LLVMValueRef b)
{
  (void)how, (void)a;
  return lift_pc(l, (uint32_t)LLVMConstIntGetZExtValue(b));
}

/* make(l, how, a, b): a is rs1, b is rs2 or the immediate. */
static const struct {
  LLVMValueRef (*make)(lift *l, unsigned how, LLVMValueRef a, LLVMValueRef b);
  unsigned how;
} makers[ISA_NUM_OPS] = {
    [OP_LUI] = {second, 0},
    [OP_AUIPC] = {place, 0},
    [OP_ADDI] = {binary, LLVMAdd},
    [OP_SLTI] = {compared, LLVMIntSLT},
    [OP_SLTIU] = {compared, LLVMIntULT},
    [OP_XORI] = {binary, LLVMXor},
    [OP_ORI] = {binary, LLVMOr},
    [OP_ANDI] = {binary, LLVMAnd},
    [OP_SLLI] = {binary, LLVMShl},
    [OP_SRLI] = {binary, LLVMLShr},
    [OP_SRAI] = {binary, LLVMAShr},
    [OP_ADD] = {binary, LLVMAdd},
    [OP_SUB] = {binary, LLVMSub},
    [OP_SLL] = {shift, LLVMShl},
    [OP_SLT] = {compared, LLVMIntSLT},
    [OP_SLTU] = {compared, LLVMIntULT},
    [OP_XOR] = {binary, LLVMXor},
    [OP_SRL] = {shift, LLVMLShr},
    [OP_SRA] = {shift, LLVMAShr},
    [OP_OR] = {binary, LLVMOr},
    [OP_AND] = {binary, LLVMAnd},
    [OP_MUL] = {binary, LLVMMul},
    [OP_MULH] = {high_product, LLVMSExt},
    [OP_MULHU] = {high_product, LLVMZExt},
    [OP_DIV] = {divide, LLVMSDiv},
    [OP_DIVU] = {divide, LLVMUDiv},
    [OP_REM] = {divide, LLVMSRem},
    [OP_REMU] = {divide, LLVMURem},
    [OP_SH1ADD] = {shifted_sum, 1},
    [OP_SH2ADD] = {shifted_sum, 2},
    [OP_SH3ADD] = {shifted_sum, 3},
    [OP_ANDN] = {with_inverse, LLVMAnd},
    [OP_ORN] = {with_inverse, LLVMOr},
    [OP_XNOR] = {with_inverse, LLVMXor},
    [OP_CLZ] = {count_zeros, true},
    [OP_CTZ] = {count_zeros, false},
    [OP_CPOP] = {count_bits, 0},
    [OP_MIN] = {selected, LLVMIntSLT},
    [OP_MINU] = {selected, LLVMIntULT},
    [OP_MAX] = {selected, LLVMIntSGT},
    [OP_MAXU] = {selected, LLVMIntUGT},
    [OP_SEXT_B] = {sign_extend_low, 8},
    [OP_SEXT_H] = {sign_extend_low, 16},
    [OP_ZEXT_H] = {zero_extend_half, 0},
    [OP_ROL] = {rotate, true},
    [OP_ROR] = {rotate, false},
    [OP_RORI] = {rotate, false},
    [OP_REV8] = {swap_bytes, 0},
};

/* Any of VALUES. */
static LLVMValueRef computed(lift *l, const code_op *op, LLVMValueRef a, LLVMValueRef b)
{
  bool has_register = isa_rows[op->id].format == FORMAT_R;
  LLVMValueRef imm = lift_constant(l, (uint32_t)op->imm);
  if (makers[op->id].make)
    return makers[op->id].make(l, makers[op->id].how, a, has_register ? b : imm);
  LLVMValueRef arguments[] = {lift_constant(l, op->id), a, b, imm, lift_constant(l, 0)};
  return LLVMBuildCall2(l->b, l->type.value, l->value, arguments, 5, "");
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

/* Under float control: the operations in front of a write may be repeated, so their tests come
 * first. */
static LLVMValueRef random_word(lift *l, const code_op *op, LLVMValueRef written)
{
  LLVMValueRef words = LLVMBuildLoad2(
      l->b, l->type.pointer, lift_field(l, l->frame, offsetof(translated_frame, random)), "");
  LLVMValueRef place = lift_field(l, words, ((uint32_t)op->imm - CSR_RANDOM) * sizeof(uint32_t));
  LLVMValueRef before = LLVMBuildLoad2(l->b, l->type.i32, place, "");
  if (op->id != OP_CSRRW) return before;
  lift_flush_tests(l);
  LLVMBuildStore(l->b, written, place);
  return before;
}

LLVMValueRef lift_integer_result(lift *l, const code_op *op, LLVMValueRef a, LLVMValueRef b)
{
  switch (op->id) {
#define VALUE_CASE(id, ...) case OP_##id:
    VALUES(VALUE_CASE)
    return computed(l, op, a, b);
  /* Discovery lets these through: writes of fflags without a result, accesses to random words, and
   * reads of frm and of counters. */
  case OP_CSRRW:
  case OP_CSRRS:
  case OP_CSRRC:
  case OP_CSRRWI:
  case OP_CSRRSI:
  case OP_CSRRCI:
    if (code_op_is_random(op)) return random_word(l, op, a);
    return op->imm >= CSR_CYCLE ? lift_counter(l, (uint32_t)op->imm) : lift_constant(l, 0);
  case OP_TILE_CONTEXT:
    return context_number(l);
  case OP_TILE_NUMBER:
    return tile_number(l);
  default:
    return NULL;
  }
}

bool lift_integer(lift *l, const code_op *op)
{
  if (op->id == OP_FENCE) return true;
  uint32_t reads = code_op_reads_x(op);
  LLVMValueRef a = lift_x(l, reads >> op->rs1 & 1 ? op->rs1 : 0);
  LLVMValueRef b = lift_x(l, reads >> op->rs2 & 1 ? op->rs2 : 0);
  LLVMValueRef result = lift_integer_result(l, op, a, b);
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
