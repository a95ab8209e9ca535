/* The smaller and the larger of two singles: IEEE 754-2019 minimumNumber and maximumNumber.
 *
 * They are lifted as calls of functions that do not exist. The calls become instructions when LLVM
 * has found which operands are constants: with most constants one instruction of the host is
 * enough, otherwise some seven. */
#include "lift.h"

#include <math.h>
#include <string.h>

static const char larger_name[] = "tile_larger", smaller_name[] = "tile_smaller";

static void add_attribute(LLVMValueRef function, const char *name, uint64_t value)
{
  unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));
  LLVMContextRef context = LLVMGetModuleContext(LLVMGetGlobalParent(function));
  LLVMAddAttributeAtIndex(function, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
                          LLVMCreateEnumAttribute(context, kind, value));
}

static LLVMValueRef function_of(lift *l, const char *name)
{
  LLVMValueRef function = LLVMGetNamedFunction(l->module, name);
  if (function) return function;
  LLVMTypeRef operands[] = {l->type.single, l->type.single};
  function = LLVMAddFunction(l->module, name, LLVMFunctionType(l->type.single, operands, 2, 0));
  add_attribute(function, "memory", 0); /* accesses no memory */
  add_attribute(function, "nounwind", 0);
  add_attribute(function, "willreturn", 0);
  add_attribute(function, "speculatable", 0);
  return function;
}

LLVMValueRef lift_min_max(lift *l, LLVMValueRef a, LLVMValueRef b, bool larger)
{
  LLVMValueRef function = function_of(l, larger ? larger_name : smaller_name);
  LLVMValueRef operands[] = {a, b};
  return LLVMBuildCall2(l->b, LLVMGlobalGetValueType(function), function, operands, 2, "");
}

/* `limit` is a constant: may it be the result wherever the other operand is not beyond it? Not if
 * it is a NaN, or the zero that counts as less (more) than the other zero. */
static bool is_plain_limit(LLVMValueRef limit, bool larger)
{
  if (!LLVMIsAConstantFP(limit)) return false;
  LLVMBool lost;
  double value = LLVMConstRealGetDouble(limit, &lost);
  if (value == 0) return !signbit(value) == larger;
  return value == value;
}

/* `x` if it is beyond `y`, else `y`: also if they are equal or one is a NaN. */
static LLVMValueRef select_beyond(LLVMBuilderRef b, LLVMValueRef x, LLVMValueRef y, bool larger)
{
  LLVMRealPredicate beyond = larger ? LLVMRealOGT : LLVMRealOLT;
  return LLVMBuildSelect(b, LLVMBuildFCmp(b, beyond, x, y, ""), x, y, "");
}

/* Equal values differ only if they are zeros: the smaller one has the OR of the sign bits, the
 * larger one the AND. Of two NaNs either will do; it is made canonical later. */
static LLVMValueRef min_max_general(LLVMBuilderRef b, LLVMValueRef x, LLVMValueRef y, bool larger)
{
  LLVMTypeRef single = LLVMTypeOf(x), bits = LLVMInt32TypeInContext(LLVMGetTypeContext(single));
  LLVMValueRef picked = select_beyond(b, x, y, larger);
  LLVMValueRef is_nan = LLVMBuildFCmp(b, LLVMRealUNO, y, y, "");
  picked = LLVMBuildSelect(b, is_nan, x, picked, "");
  LLVMValueRef both = LLVMBuildBinOp(b, larger ? LLVMAnd : LLVMOr, LLVMBuildBitCast(b, x, bits, ""),
                                     LLVMBuildBitCast(b, y, bits, ""), "");
  LLVMValueRef equal = LLVMBuildFCmp(b, LLVMRealOEQ, x, y, "");
  return LLVMBuildSelect(b, equal, LLVMBuildBitCast(b, both, single, ""), picked, "");
}

static void expand(LLVMBuilderRef b, LLVMValueRef call, bool larger)
{
  LLVMValueRef x = LLVMGetOperand(call, 0), y = LLVMGetOperand(call, 1), result;
  LLVMPositionBuilderBefore(b, call);
  if (is_plain_limit(y, larger))
    result = select_beyond(b, x, y, larger);
  else if (is_plain_limit(x, larger))
    result = select_beyond(b, y, x, larger);
  else
    result = min_max_general(b, x, y, larger);
  LLVMReplaceAllUsesWith(call, result);
  LLVMInstructionEraseFromParent(call);
}

void min_max_expand(LLVMModuleRef module)
{
  LLVMBuilderRef b = LLVMCreateBuilderInContext(LLVMGetModuleContext(module));
  for (int larger = 0; larger < 2; larger++) {
    LLVMValueRef function = LLVMGetNamedFunction(module, larger ? larger_name : smaller_name);
    if (!function) continue;
    LLVMUseRef use;
    while ((use = LLVMGetFirstUse(function))) expand(b, LLVMGetUser(use), larger);
    LLVMDeleteFunction(function);
  }
  LLVMDisposeBuilder(b);
}
