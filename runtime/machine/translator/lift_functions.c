/* Functions of floats (isa.h: FUNCTIONS, PAIR_FUNCTIONS): isa/function_values.h as LLVM
 * instructions. */
#include "lift.h"

#include "isa/functions.h"

typedef LLVMValueRef fn_float;
typedef LLVMValueRef fn_word;
typedef LLVMValueRef fn_truth;

#define FN(name) lifted_##name
#define FN_TAKES lift *l,
#define FN_GIVES l,
#define FN_FLOAT(constant) LLVMConstReal(l->type.single, (double)(constant))
#define FN_WORD(constant) lift_constant(l, constant)
#define fn_float_of(word) lift_as_single(l, word)
#define fn_bits(single) lift_as_bits(l, single)
#define fn_add(x, y) LLVMBuildFAdd(l->b, x, y, "")
#define fn_sub(x, y) LLVMBuildFSub(l->b, x, y, "")
#define fn_mul(x, y) LLVMBuildFMul(l->b, x, y, "")
#define fn_div(x, y) LLVMBuildFDiv(l->b, x, y, "")
#define fn_fma(x, y, z)                                                                            \
  lift_intrinsic(l, "llvm.fma", &l->type.single, 1, (LLVMValueRef[]){x, y, z}, 3)
#define fn_sqrt(x) lift_intrinsic(l, "llvm.sqrt", &l->type.single, 1, (LLVMValueRef[]){x}, 1)
#define fn_from_signed(word) LLVMBuildSIToFP(l->b, word, l->type.single, "")
#define fn_plus(x, y) LLVMBuildAdd(l->b, x, y, "")
#define fn_minus(x, y) LLVMBuildSub(l->b, x, y, "")
#define fn_and(x, y) LLVMBuildAnd(l->b, x, y, "")
#define fn_xor(x, y) LLVMBuildXor(l->b, x, y, "")
#define fn_shl(x, count) LLVMBuildShl(l->b, x, lift_constant(l, count), "")
#define fn_sra(x, count) LLVMBuildAShr(l->b, x, lift_constant(l, count), "")
#define fn_less(x, y) LLVMBuildFCmp(l->b, LLVMRealOLT, x, y, "")
#define fn_below(x, y) LLVMBuildICmp(l->b, LLVMIntULT, x, y, "")
#define fn_same(x, y) LLVMBuildICmp(l->b, LLVMIntEQ, x, y, "")
#define fn_pick(truth, x, y) LLVMBuildSelect(l->b, truth, x, y, "")

#include "isa/function_values.h"

static LLVMValueRef function_of(lift *l, uint8_t id, LLVMValueRef x)
{
  switch (id) {
#define FUNCTION_CASE(id, mnemonic, mask, match, format, cost, function)                           \
  case OP_##id:                                                                                    \
    return lifted_##function(l, x);
    FUNCTIONS(FUNCTION_CASE)
    PAIR_FUNCTIONS(FUNCTION_CASE)
#undef FUNCTION_CASE
  default:
    return NULL;
  }
}

static LLVMValueRef single_result(lift *l, const code_op *op, uint32_t word)
{
  LLVMValueRef result = function_of(l, op->id, lift_single(l, op->rs1 + word));
  lift_need_finite(l, word, result);
  return result;
}

/* Like packed arithmetic on halves (lift_packed.c): any NaN becomes the canonical one. */
static LLVMValueRef half_result(lift *l, const code_op *op, LLVMValueRef word, uint32_t shift)
{
  LLVMValueRef bits = LLVMBuildLShr(l->b, word, lift_constant(l, shift), "");
  LLVMValueRef half =
      LLVMBuildBitCast(l->b, LLVMBuildTrunc(l->b, bits, l->type.i16, ""), l->type.half, "");
  LLVMValueRef result = function_of(l, op->id, LLVMBuildFPExt(l->b, half, l->type.single, ""));
  LLVMValueRef nan = lift_is_nan(l, result);
  result = LLVMBuildFPTrunc(l->b, result, l->type.half, "");
  result = LLVMBuildBitCast(l->b, result, l->type.i16, "");
  result = LLVMBuildSelect(l->b, nan, LLVMConstInt(l->type.i16, 0x7e00, 0), result, "");
  result = LLVMBuildZExt(l->b, result, l->type.i32, "");
  return LLVMBuildShl(l->b, result, lift_constant(l, shift), "");
}

static LLVMValueRef half_word(lift *l, const code_op *op, uint32_t word)
{
  LLVMValueRef bits = lift_f_bits(l, op->rs1 + word);
  return LLVMBuildOr(l->b, half_result(l, op, bits, 0), half_result(l, op, bits, 16), "");
}

bool lift_functions(lift *l, const code_op *op)
{
  if (!function_is(op->id)) return false;
  LLVMValueRef words[2] = {NULL};
  uint32_t count = isa_is_pair_function((isa_op)op->id) ? 2 : 1;
  bool halves = function_is_of_halves((isa_op)op->id);
  if (halves) lift_leave_unless(l, LLVMConstInt(l->type.i1, 0, 0));
  for (uint32_t i = 0; i < count; i++) { /* both are computed before one is written */
    uint32_t word = i * NUM_REGISTERS;
    words[i] = halves ? half_word(l, op, word) : single_result(l, op, word);
  }
  for (uint32_t i = 0; i < count; i++) {
    uint32_t r = op->rd + i * NUM_REGISTERS;
    if (halves)
      lift_set_f_bits(l, r, words[i]);
    else
      lift_set_single(l, r, words[i]);
  }
  return true;
}
