/* Which instructions become pairs: arithmetic on vectors, and what carries vectors to and
 * from it. */
#include "pairs.h"

#include <populus/arena.h>

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { PAIR_BYTES = 8 };

static bool is_vector_of(LLVMTypeRef type, LLVMTypeKind element, unsigned count)
{
  return LLVMGetTypeKind(type) == LLVMVectorTypeKind &&
         LLVMGetTypeKind(LLVMGetElementType(type)) == element && LLVMGetVectorSize(type) == count;
}

bool pairs_is_floats(LLVMTypeRef type)
{
  return is_vector_of(type, LLVMFloatTypeKind, 2);
}

bool pairs_is_halves(LLVMTypeRef type)
{
  return is_vector_of(type, LLVMHalfTypeKind, 4);
}

static bool is_pair(LLVMValueRef value)
{
  LLVMTypeRef type = LLVMTypeOf(value);
  return pairs_is_floats(type) || pairs_is_halves(type);
}

static bool calls(LLVMValueRef i, const char *intrinsic)
{
  LLVMValueRef called = LLVMIsACallInst(i) ? LLVMGetCalledValue(i) : NULL;
  unsigned id = called && LLVMIsAFunction(called) ? LLVMGetIntrinsicID(called) : 0;
  return id && id == LLVMLookupIntrinsicID(intrinsic, strlen(intrinsic));
}

int pairs_operation(LLVMValueRef i)
{
  if (!is_pair(i)) return -1;
  switch (LLVMGetInstructionOpcode(i)) {
  case LLVMFAdd:
    return 0;
  case LLVMFSub:
    return 1;
  case LLVMFMul:
    return 2;
  case LLVMCall:
    return calls(i, "llvm.minnum") ? 3 : calls(i, "llvm.maxnum") ? 4 : -1;
  default:
    return -1;
  }
}

/* ---- functions ---- */

static bool is_one(LLVMValueRef value)
{
  LLVMValueRef element = LLVMIsAConstant(value) ? LLVMGetAggregateElement(value, 0) : NULL;
  if (!element || !LLVMIsAConstantFP(element)) return false;
  LLVMBool inexact;
  if (LLVMConstRealGetDouble(element, &inexact) != 1) return false;
  unsigned count = LLVMGetVectorSize(LLVMTypeOf(value));
  for (unsigned i = 1; i < count; ++i)
    if (LLVMGetAggregateElement(value, i) != element) return false;
  return true;
}

/* x of 1 + x; else NULL. */
static LLVMValueRef behind_one(LLVMValueRef sum)
{
  if (!LLVMIsAInstruction(sum) || LLVMGetInstructionOpcode(sum) != LLVMFAdd) return NULL;
  if (is_one(LLVMGetOperand(sum, 0))) return LLVMGetOperand(sum, 1);
  return is_one(LLVMGetOperand(sum, 1)) ? LLVMGetOperand(sum, 0) : NULL;
}

/* Intrinsics with a packed instruction for vectors of floats, in the order of funct7. */
static const char *const intrinsics[] = {"llvm.exp", "llvm.exp2", "llvm.log", "llvm.log2",
                                         "llvm.tanh"};
enum { NUM_INTRINSICS = sizeof intrinsics / sizeof *intrinsics, SIGM = NUM_INTRINSICS, OORX };

/* Which function `i` is, and of which operand; -1: none. The patterns 1 / (1 + e^-x) and 1 /
 * sqrt(x) are what f32sigm and f32oorx compute, to the bit. */
static int function_of_floats(LLVMValueRef i, LLVMValueRef *of)
{
  if (!LLVMIsAInstruction(i)) return -1;
  for (int k = 0; k < NUM_INTRINSICS; ++k)
    if (calls(i, intrinsics[k])) {
      *of = LLVMGetOperand(i, 0);
      return k;
    }
  if (LLVMGetInstructionOpcode(i) != LLVMFDiv || !is_one(LLVMGetOperand(i, 0))) return -1;
  LLVMValueRef divisor = LLVMGetOperand(i, 1), power = behind_one(divisor);
  if (calls(divisor, "llvm.sqrt")) {
    *of = LLVMGetOperand(divisor, 0);
    return OORX;
  }
  if (!power || !calls(power, "llvm.exp")) return -1;
  LLVMValueRef negated = LLVMGetOperand(power, 0);
  if (!LLVMIsAInstruction(negated) || LLVMGetInstructionOpcode(negated) != LLVMFNeg) return -1;
  *of = LLVMGetOperand(negated, 0);
  return SIGM;
}

/* The same for halves. It has to be an intrinsic, as a pattern of several operations would round
 * after each; or a function of floats that were extended from halves and are truncated again. */
static int function_of_halves(LLVMValueRef i, LLVMValueRef *of)
{
  if (LLVMGetInstructionOpcode(i) != LLVMFPTrunc) {
    int function = function_of_floats(i, of);
    return function < NUM_INTRINSICS ? function : -1;
  }
  int function = function_of_floats(LLVMGetOperand(i, 0), of);
  if (function < 0 || function == OORX) return -1; /* there is none of halves */
  LLVMValueRef wide = *of;
  if (!LLVMIsAInstruction(wide) || LLVMGetInstructionOpcode(wide) != LLVMFPExt) return -1;
  *of = LLVMGetOperand(wide, 0);
  return pairs_is_halves(LLVMTypeOf(*of)) ? function : -1;
}

int pairs_function(LLVMValueRef i, LLVMValueRef *of)
{
  LLVMTypeRef type = LLVMTypeOf(i);
  if (!LLVMIsAInstruction(i)) return -1;
  if (pairs_is_floats(type)) return function_of_floats(i, of);
  return pairs_is_halves(type) ? function_of_halves(i, of) : -1;
}

bool pairs_is_by_words(LLVMValueRef i)
{
  if (!LLVMIsAInstruction(i) || !pairs_is_floats(LLVMTypeOf(i))) return false;
  return LLVMGetInstructionOpcode(i) == LLVMFDiv || calls(i, "llvm.sqrt");
}

/* Of a load or a store. */
static bool is_wide(LLVMValueRef access)
{
  return !LLVMGetVolatile(access) && LLVMGetOrdering(access) == LLVMAtomicOrderingNotAtomic &&
         LLVMGetAlignment(access) >= PAIR_BYTES;
}

bool pairs_is_wide_store(LLVMValueRef user)
{
  return LLVMIsAStoreInst(user) && is_pair(LLVMGetOperand(user, 0)) && is_wide(user);
}

static bool is_wide_load(LLVMValueRef i)
{
  return LLVMIsALoadInst(i) && is_wide(i);
}

/* May `i` be a pair? It becomes one if an operand or a user is one. */
static bool may_be_pair(LLVMValueRef i)
{
  if (!is_pair(i)) return false;
  if (LLVMIsASelectInst(i))
    return LLVMGetTypeKind(LLVMTypeOf(LLVMGetOperand(i, 0))) != LLVMVectorTypeKind;
  return LLVMIsAPHINode(i) || LLVMIsAFreezeInst(i) || is_wide_load(i);
}

/* ---- the table ---- */

static pair_value *slot(const pairs *p, LLVMValueRef vector)
{
  size_t i = (size_t)((uintptr_t)vector / 16 * UINT64_C(0x9e3779b97f4a7c15) >> 20);
  for (;; ++i) {
    pair_value *v = &p->values[i & (p->values_capacity - 1)];
    if (!v->vector || v->vector == vector) return v;
  }
}

static void grow(pairs *p)
{
  pairs old = *p;
  p->values_capacity = old.values_capacity ? 2 * old.values_capacity : 64;
  p->values = pop_xcalloc(p->values_capacity, sizeof *p->values);
  for (size_t i = 0; i < old.values_capacity; ++i)
    if (old.values[i].vector) *slot(p, old.values[i].vector) = old.values[i];
  free(old.values);
}

pair_value *pairs_find(const pairs *p, LLVMValueRef vector)
{
  pair_value *v = p->values_capacity ? slot(p, vector) : NULL;
  return v && v->vector ? v : NULL;
}

pair_value *pairs_get(pairs *p, LLVMValueRef vector)
{
  if (2 * p->num_values >= p->values_capacity) grow(p);
  pair_value *v = slot(p, vector);
  p->num_values += !v->vector;
  v->vector = vector;
  return v;
}

bool pairs_is_chosen(const pairs *p, LLVMValueRef value)
{
  const pair_value *v = pairs_find(p, value);
  return v && v->chosen;
}

/* ---- blocks ---- */

typedef struct visit {
  LLVMBasicBlockRef block;
  unsigned next; /* of its successors */
} visit;

/* Adds a block to the table, which is used as a set: the block's value takes a vector's place. */
static bool enter(pairs *seen, LLVMBasicBlockRef block)
{
  size_t before = seen->num_values;
  pairs_get(seen, LLVMBasicBlockAsValue(block));
  return seen->num_values > before;
}

/* Reverse post-order: depth first, and each block is put in front of those that were done
 * before it. */
static void order_blocks(pairs *p)
{
  size_t count = LLVMCountBasicBlocks(p->function), depth = 0, first = count;
  LLVMBasicBlockRef *blocks = pop_xcalloc(count, sizeof(LLVMBasicBlockRef));
  visit *stack = pop_xcalloc(count, sizeof *stack);
  pairs seen = {0};
  stack[depth++].block = LLVMGetEntryBasicBlock(p->function);
  enter(&seen, stack[0].block);
  while (depth) {
    visit *v = &stack[depth - 1];
    LLVMValueRef end = LLVMGetBasicBlockTerminator(v->block);
    if (v->next == LLVMGetNumSuccessors(end)) {
      blocks[--first] = v->block;
      --depth;
      continue;
    }
    LLVMBasicBlockRef next = LLVMGetSuccessor(end, v->next++);
    if (enter(&seen, next)) stack[depth++] = (visit){next, 0};
  }
  p->num_blocks = count - first;
  memmove(blocks, blocks + first, p->num_blocks * sizeof *blocks);
  p->blocks = blocks;
  free(stack);
  free(seen.values);
}

/* ---- the choice ---- */

static bool is_double(LLVMValueRef value)
{
  LLVMTypeRef type = LLVMTypeOf(value);
  LLVMTypeKind kind = LLVMGetTypeKind(type);
  if (kind == LLVMVectorTypeKind || kind == LLVMScalableVectorTypeKind)
    kind = LLVMGetTypeKind(LLVMGetElementType(type));
  return kind == LLVMDoubleTypeKind;
}

/* Doubles, or vectors of a block's terminator, which nothing can follow (invoke, asm goto). */
static bool prevents_rewriting(LLVMValueRef i)
{
  if (is_double(i) || (LLVMIsATerminatorInst(i) && is_pair(i))) return true;
  unsigned count = (unsigned)LLVMGetNumOperands(i);
  for (unsigned k = 0; k < count; ++k)
    if (is_double(LLVMGetOperand(i, k))) return true;
  return false;
}

static bool may_be_rewritten(const pairs *p)
{
  unsigned strict = LLVMGetEnumAttributeKindForName("strictfp", strlen("strictfp"));
  if (LLVMGetEnumAttributeAtIndex(p->function, LLVMAttributeFunctionIndex, strict)) return false;
  for (size_t b = 0; b < p->num_blocks; ++b)
    for (LLVMValueRef i = LLVMGetFirstInstruction(p->blocks[b]); i; i = LLVMGetNextInstruction(i))
      if (prevents_rewriting(i)) return false;
  return true;
}

static bool is_wanted(const pairs *p, LLVMValueRef i)
{
  LLVMValueRef of;
  if (pairs_operation(i) >= 0 || pairs_function(i, &of) >= 0 || pairs_is_by_words(i)) return true;
  if (!may_be_pair(i)) return false;
  bool is_load = is_wide_load(i);
  for (LLVMUseRef use = LLVMGetFirstUse(i); use; use = LLVMGetNextUse(use)) {
    LLVMValueRef user = LLVMGetUser(use);
    if (pairs_is_chosen(p, user) || (is_load && pairs_is_wide_store(user))) return true;
  }
  unsigned count = is_load ? 0 : (unsigned)LLVMGetNumOperands(i);
  for (unsigned k = 0; k < count; ++k)
    if (pairs_is_chosen(p, LLVMGetOperand(i, k))) return true;
  return false;
}

/* The operand of a function may be several instructions before it. */
static void choose(pairs *p, LLVMValueRef i)
{
  LLVMValueRef of = NULL;
  pairs_get(p, i)->chosen = true;
  if (pairs_function(i, &of) >= 0 && LLVMIsAInstruction(of) && may_be_pair(of))
    pairs_get(p, of)->chosen = true;
}

static bool choose_more(pairs *p)
{
  bool more = false;
  for (size_t b = 0; b < p->num_blocks; ++b)
    for (LLVMValueRef i = LLVMGetFirstInstruction(p->blocks[b]); i; i = LLVMGetNextInstruction(i))
      if (!pairs_is_chosen(p, i) && is_wanted(p, i)) {
        choose(p, i);
        more = true;
      }
  return more;
}

bool pairs_choose(pairs *p)
{
  order_blocks(p);
  if (!may_be_rewritten(p)) return false;
  while (choose_more(p)) {
  }
  for (size_t b = 0; b < p->num_blocks && p->num_values; ++b)
    for (LLVMValueRef i = LLVMGetFirstInstruction(p->blocks[b]); i; i = LLVMGetNextInstruction(i))
      if (pairs_is_chosen(p, i)) pop_push(p->order, p->num_order, p->order_capacity, i);
  return p->num_order > 0;
}
