/* Packed arithmetic and moves of words (isa.h: PACKED), word by word; LLVM makes vectors of
 * neighbouring words. */
#include "lift.h"

#include "isa/packed.h"

static LLVMValueRef single_word(lift *l, const code_op *op, uint32_t word)
{
  LLVMValueRef a = lift_single(l, op->rs1 + word), b = lift_single(l, op->rs2 + word);
  LLVMValueRef result = lift_arithmetic(l, packed_element(op->id), a, b);
  lift_need_finite(l, word, result);
  return result;
}

static LLVMValueRef halves(lift *l, LLVMValueRef word, LLVMTypeRef pair)
{
  return LLVMBuildFPExt(l->b, LLVMBuildBitCast(l->b, word, LLVMVectorType(l->type.half, 2), ""),
                        pair, "");
}

/* The two halves of a word: computed as singles and rounded (lift_float.c). */
static LLVMValueRef half_word(lift *l, const code_op *op, uint32_t word)
{
  LLVMTypeRef pair = LLVMVectorType(l->type.single, 2), bits = LLVMVectorType(l->type.i16, 2);
  LLVMValueRef a = halves(l, lift_f_bits(l, op->rs1 + word), pair),
               b = halves(l, lift_f_bits(l, op->rs2 + word), pair),
               result = lift_arithmetic(l, packed_element(op->id), a, b);
  LLVMValueRef ordered = LLVMBuildFCmp(l->b, LLVMRealORD, result, result, "");
  LLVMValueRef nan = LLVMConstInt(l->type.i16, 0x7e00, 0);
  result = LLVMBuildFPTrunc(l->b, result, LLVMVectorType(l->type.half, 2), "");
  result = LLVMBuildSelect(l->b, ordered, LLVMBuildBitCast(l->b, result, bits, ""),
                           LLVMConstVector((LLVMValueRef[]){nan, nan}, 2), "");
  return LLVMBuildBitCast(l->b, result, l->type.i32, "");
}

/* Calls the machine's own arithmetic. */
static LLVMValueRef general_word(lift *l, const code_op *op, uint32_t word)
{
  LLVMValueRef arguments[] = {lift_constant(l, op->id), lift_f_bits(l, op->rs1 + word),
                              lift_f_bits(l, op->rs2 + word), lift_constant(l, 0),
                              lift_constant(l, 0)};
  return LLVMBuildCall2(l->b, l->type.value, l->value, arguments, 5, "");
}

/* Both results are computed before one is written: if the operation leaves, it has written
 * neither. */
static void lift_singles(lift *l, const code_op *op)
{
  LLVMValueRef low = single_word(l, op, 0), high = single_word(l, op, NUM_REGISTERS);
  lift_set_single(l, op->rd, low);
  lift_set_single(l, op->rd + NUM_REGISTERS, high);
}

static void set_bits(lift *l, uint32_t r, LLVMValueRef low, LLVMValueRef high)
{
  lift_set_f_bits(l, r, low);
  lift_set_f_bits(l, r + NUM_REGISTERS, high);
}

typedef LLVMValueRef word_of(lift *l, const code_op *op, uint32_t word);

static void lift_words(lift *l, const code_op *op, word_of *of)
{
  lift_leave_unless(l, LLVMConstInt(l->type.i1, 0, 0));
  LLVMValueRef low = of(l, op, 0), high = of(l, op, NUM_REGISTERS);
  set_bits(l, op->rd, low, high);
}

static LLVMValueRef low_halves(lift *l, LLVMValueRef a, LLVMValueRef b)
{
  a = LLVMBuildAnd(l->b, a, lift_constant(l, 0xffff), "");
  return LLVMBuildOr(l->b, a, LLVMBuildShl(l->b, b, lift_constant(l, 16), ""), "");
}

static LLVMValueRef with_sign(lift *l, LLVMValueRef a, LLVMValueRef b)
{
  a = LLVMBuildAnd(l->b, a, lift_constant(l, 0x7fffffff), "");
  return LLVMBuildOr(l->b, a, LLVMBuildAnd(l->b, b, lift_constant(l, 0x80000000), ""), "");
}

/* fsgnj.d, which copies if both operands are one register. */
static void copy_both(lift *l, const code_op *op)
{
  LLVMValueRef high = lift_f_bits(l, op->rs1 + NUM_REGISTERS);
  high = with_sign(l, high, lift_f_bits(l, op->rs2 + NUM_REGISTERS));
  lift_copy_f(l, op->rd, op->rs1);
  if (op->rs1 == op->rs2)
    lift_copy_f(l, op->rd + NUM_REGISTERS, op->rs1 + NUM_REGISTERS);
  else
    lift_set_f_bits(l, op->rd + NUM_REGISTERS, high);
}

bool lift_packed(lift *l, const code_op *op)
{
  switch (op->id) {
  case OP_F32V2_ADD:
  case OP_F32V2_SUB:
  case OP_F32V2_MUL:
    lift_singles(l, op);
    return true;
  case OP_F16V4_ADD:
  case OP_F16V4_SUB:
  case OP_F16V4_MUL:
    lift_words(l, op, half_word);
    return true;
  case OP_F32V2_MIN:
  case OP_F32V2_MAX:
  case OP_F16V4_MIN:
  case OP_F16V4_MAX:
    lift_words(l, op, general_word);
    return true;
  case OP_TILE_PAIR:
    set_bits(l, op->rd, lift_f_bits(l, op->rs1), lift_f_bits(l, op->rs2));
    return true;
  case OP_FSGNJ_D:
    copy_both(l, op);
    return true;
  case OP_TILE_HIGH:
    lift_copy_f(l, op->rd, op->rs1 + NUM_REGISTERS);
    return true;
  case OP_TILE_LOW:
    lift_copy_f(l, op->rd, op->rs1);
    return true;
  case OP_SORT4X16LO:
    lift_set_f_bits(l, op->rd, low_halves(l, lift_f_bits(l, op->rs1), lift_f_bits(l, op->rs2)));
    return true;
  default:
    return false;
  }
}
