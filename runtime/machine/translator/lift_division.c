/* Blocks that divide 64-bit integers (../translate_divisions.c): the host's division gives their
 * results. */
#include "lift.h"

enum { A0 = 10, A1, A2, A3 };

void lift_begin_division(lift *l, LLVMValueRef operands[4])
{
  for (uint32_t i = 0; i < 4; i++) operands[i] = l->block->division ? lift_x(l, A0 + i) : NULL;
}

static LLVMValueRef is_zero(lift *l, LLVMValueRef word)
{
  return lift_compare(l, LLVMIntEQ, word, lift_constant(l, 0));
}

static LLVMValueRef both(lift *l, LLVMValueRef a, LLVMValueRef b)
{
  return LLVMBuildSelect(l->b, a, b, LLVMConstInt(l->type.i1, 0, 0), "");
}

/* Are the operands of the block's case? The routine's branches have asked the same. */
static LLVMValueRef are_of_the_case(lift *l, LLVMValueRef x[4])
{
  LLVMValueRef is_word = is_zero(l, x[3]), is_some = LLVMBuildNot(l->b, is_zero(l, x[2]), "");
  switch ((code_division)l->block->division) {
  case DIVISION_WORDS:
    return both(l, both(l, is_word, is_some), is_zero(l, x[1]));
  case DIVISION_LONG_DIVISOR:
    return LLVMBuildNot(l->b, is_zero(l, LLVMBuildLShr(l->b, x[3], lift_constant(l, 3), "")), "");
  case DIVISION_MIDDLE_DIVISOR:
    return LLVMBuildNot(l->b, is_word, "");
  default:
    return both(l, is_word, is_some);
  }
}

static LLVMValueRef whole(lift *l, LLVMValueRef low, LLVMValueRef high)
{
  LLVMValueRef upper =
      LLVMBuildShl(l->b, LLVMBuildZExt(l->b, high, l->type.i64, ""), lift_constant64(l, 32), "");
  return LLVMBuildOr(l->b, upper, LLVMBuildZExt(l->b, low, l->type.i64, ""), "");
}

/* Sets `low` and the register behind it to the words of `value`, or leaves them if `holds` is
 * false. */
static void set_whole(lift *l, uint32_t low, LLVMValueRef holds, LLVMValueRef value)
{
  for (uint32_t i = 0; i < 2; i++) {
    LLVMValueRef part = i ? LLVMBuildLShr(l->b, value, lift_constant64(l, 32), "") : value;
    LLVMValueRef word = LLVMBuildTrunc(l->b, part, l->type.i32, "");
    lift_set_x(l, low + i, LLVMBuildSelect(l->b, holds, word, lift_x(l, low + i), ""));
  }
}

void lift_end_division(lift *l, LLVMValueRef x[4])
{
  if (!l->block->division) return;
  bool words = l->block->division == DIVISION_WORDS;
  LLVMTypeRef type = words ? l->type.i32 : l->type.i64;
  LLVMValueRef n = words ? x[0] : whole(l, x[0], x[1]), d = words ? x[2] : whole(l, x[2], x[3]);
  LLVMValueRef holds = are_of_the_case(l, x);
  d = LLVMBuildSelect(l->b, holds, d, LLVMConstInt(type, 1, 0), "");
  LLVMValueRef quotient = LLVMBuildUDiv(l->b, n, d, ""), rest = LLVMBuildURem(l->b, n, d, "");
  set_whole(l, A0, holds, LLVMBuildZExt(l->b, quotient, l->type.i64, ""));
  set_whole(l, A2, holds, LLVMBuildZExt(l->b, rest, l->type.i64, ""));
}
