/* Finds the loops that the chip's compiler would repeat without a branch, and makes them count as
 * it does: down to zero, from a trip count that is known when the loop begins.
 *
 *   for (unsigned short i = 0; i < size; ++i)        trip_count = size; do … while (--trip_count);
 *
 * The chip's compiler runs LLVM's pass for hardware loops. It makes brnzdec of what the pass finds,
 * or rpt, which takes no slot in the loop, if the trip count fits into rpt's counter (public fork
 * of LLVM, graphcore/llvm-project-fork: isHardwareLoopProfitable of ColossusTTIImpl,
 * colossus-hwloop-pass.ll, ColossusTargetMachine.cpp). Here the same pass runs, and the intrinsics
 * that it leaves for the code generator are replaced. In loops that may be repeats the decrement
 * becomes the instruction tile.count (isa.h: REPEATS), which marks the loop for popc's work on the
 * finished object (libarchive-ipu/object_joins.c). Other loops get their exit condition back. */
#include "pairs.h"

#include <populus/arena.h>
#include <populus/gp.h>

#include <llvm-c/Transforms/PassBuilder.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_TRIP_COUNT = 65535, MAX_STEPS = 8 };

/* ---- upper bounds of values ---- */

static uint64_t upper_bound(LLVMValueRef value, unsigned steps);

static uint64_t all_ones(LLVMValueRef value)
{
  unsigned bits = LLVMGetIntTypeWidth(LLVMTypeOf(value));
  return bits < 64 ? (UINT64_C(1) << bits) - 1 : UINT64_MAX;
}

static uint64_t smaller(uint64_t a, uint64_t b)
{
  return a < b ? a : b;
}

static bool is_call_of(LLVMValueRef i, const char *intrinsic)
{
  LLVMValueRef called = LLVMIsACallInst(i) ? LLVMGetCalledValue(i) : NULL;
  unsigned id = called && LLVMIsAFunction(called) ? LLVMGetIntrinsicID(called) : 0;
  return id && id == LLVMLookupIntrinsicID(intrinsic, strlen(intrinsic));
}

/* The upper bound of `value` if `use` is a comparison with a constant that the source asserts
 * (__builtin_assume). */
static uint64_t assumed_upper_bound(LLVMValueRef value, LLVMValueRef use)
{
  if (!LLVMIsAICmpInst(use) || LLVMGetOperand(use, 0) != value) return UINT64_MAX;
  LLVMValueRef limit = LLVMIsAConstantInt(LLVMGetOperand(use, 1));
  LLVMIntPredicate is = LLVMGetICmpPredicate(use);
  if (!limit || (is != LLVMIntULT && is != LLVMIntULE)) return UINT64_MAX;
  for (LLVMUseRef u = LLVMGetFirstUse(use); u; u = LLVMGetNextUse(u))
    if (is_call_of(LLVMGetUser(u), "llvm.assume"))
      return LLVMConstIntGetZExtValue(limit) - (is == LLVMIntULT);
  return UINT64_MAX;
}

static uint64_t upper_bound_of_load(LLVMValueRef load)
{
  unsigned kind = LLVMGetMDKindIDInContext(LLVMGetTypeContext(LLVMTypeOf(load)), "range", 5);
  LLVMValueRef range = LLVMGetMetadata(load, kind), ends[2];
  if (!range || LLVMGetMDNodeNumOperands(range) != 2) return UINT64_MAX;
  LLVMGetMDNodeOperands(range, ends);
  uint64_t begin = LLVMConstIntGetZExtValue(ends[0]), end = LLVMConstIntGetZExtValue(ends[1]);
  return begin < end ? end - 1 : UINT64_MAX;
}

static uint64_t upper_bound_of_call(LLVMValueRef call, unsigned steps)
{
  bool least = is_call_of(call, "llvm.umin");
  if (!least && !is_call_of(call, "llvm.umax")) return UINT64_MAX;
  uint64_t a = upper_bound(LLVMGetOperand(call, 0), steps),
           b = upper_bound(LLVMGetOperand(call, 1), steps);
  return least ? smaller(a, b) : a + b - smaller(a, b);
}

/* The bound is unknown if a sum or a product may overflow its type. */
static uint64_t upper_bound_of_instruction(LLVMValueRef i, unsigned steps)
{
  unsigned count = (unsigned)LLVMGetNumOperands(i);
  LLVMValueRef x = count > 0 ? LLVMGetOperand(i, 0) : NULL,
               y = count > 1 ? LLVMGetOperand(i, 1) : NULL;
  LLVMValueRef by = y ? LLVMIsAConstantInt(y) : NULL;
  uint64_t constant = by ? LLVMConstIntGetZExtValue(by) : 0;
  switch (LLVMGetInstructionOpcode(i)) {
  case LLVMZExt:
  case LLVMFreeze:
  case LLVMTrunc:
    return upper_bound(x, steps);
  case LLVMAnd:
    return smaller(upper_bound(x, steps), upper_bound(y, steps));
  case LLVMLShr:
    return by && constant < 64 ? upper_bound(x, steps) >> constant : upper_bound(x, steps);
  case LLVMUDiv:
    return by && constant ? upper_bound(x, steps) / constant : upper_bound(x, steps);
  case LLVMURem:
    return by && constant ? constant - 1 : upper_bound(y, steps);
  case LLVMAdd: {
    uint64_t a = upper_bound(x, steps), b = upper_bound(y, steps);
    return a <= UINT32_MAX && b <= UINT32_MAX ? a + b : UINT64_MAX;
  }
  case LLVMMul: {
    uint64_t a = upper_bound(x, steps), b = upper_bound(y, steps);
    return a <= UINT32_MAX && b <= UINT32_MAX ? a * b : UINT64_MAX;
  }
  case LLVMShl: {
    uint64_t a = upper_bound(x, steps);
    return by && constant < 32 && a <= UINT32_MAX ? a << constant : UINT64_MAX;
  }
  case LLVMSelect: {
    uint64_t a = upper_bound(y, steps), b = upper_bound(LLVMGetOperand(i, 2), steps);
    return a > b ? a : b;
  }
  case LLVMLoad:
    return upper_bound_of_load(i);
  case LLVMCall:
    return upper_bound_of_call(i, steps);
  default:
    return UINT64_MAX;
  }
}

/* An upper bound of `value`, from its last `steps` instructions and from assumptions; at most the
 * largest value of its type. */
static uint64_t upper_bound(LLVMValueRef value, unsigned steps)
{
  if (LLVMIsAConstantInt(value)) return LLVMConstIntGetZExtValue(value);
  uint64_t is = all_ones(value), known = UINT64_MAX;
  if (LLVMIsAInstruction(value) && steps) known = upper_bound_of_instruction(value, steps - 1);
  if (known < is) is = known;
  if (LLVMIsAInstruction(value) || LLVMIsAArgument(value))
    for (LLVMUseRef u = LLVMGetFirstUse(value); u; u = LLVMGetNextUse(u))
      is = smaller(is, assumed_upper_bound(value, LLVMGetUser(u)));
  return is;
}

/* ---- the loops ---- */

/* Is it a loop of one block without calls? */
static bool is_simple(LLVMBasicBlockRef block, LLVMValueRef keep)
{
  LLVMValueRef end = LLVMGetBasicBlockTerminator(block);
  bool loops = false;
  for (unsigned i = 0; i < LLVMGetNumSuccessors(end); ++i)
    loops |= LLVMGetSuccessor(end, i) == block;
  for (LLVMValueRef i = LLVMGetFirstInstruction(block); i && loops; i = LLVMGetNextInstruction(i)) {
    LLVMValueRef called = LLVMIsACallInst(i) ? LLVMGetCalledValue(i) : NULL;
    if (called && !LLVMIsAInlineAsm(called) && called != keep &&
        !(LLVMIsAFunction(called) && LLVMGetIntrinsicID(called)))
      return false;
  }
  return loops;
}

/* The exit condition of a loop. The pass removes a condition without uses, so a call keeps it: the
 * loop may need it again. */
typedef struct kept {
  LLVMValueRef call;       /* of a function that does nothing, with the condition */
  LLVMBasicBlockRef first; /* where the branch went if the condition held */
} kept;

typedef struct conditions {
  LLVMValueRef keep; /* that function; NULL: there is no condition */
  kept *items;
  size_t count, capacity;
} conditions;

static void keep_condition(conditions *c, LLVMModuleRef module, LLVMBuilderRef builder,
                           LLVMValueRef branch)
{
  LLVMContextRef context = LLVMGetModuleContext(module);
  LLVMTypeRef bit = LLVMInt1TypeInContext(context);
  LLVMTypeRef type = LLVMFunctionType(LLVMVoidTypeInContext(context), &bit, 1, false);
  LLVMValueRef condition = LLVMGetCondition(branch);
  if (!c->keep) c->keep = LLVMAddFunction(module, "populus.keep", type);
  LLVMPositionBuilderBefore(builder, branch);
  kept k = {LLVMBuildCall2(builder, type, c->keep, &condition, 1, ""), LLVMGetSuccessor(branch, 0)};
  pop_push(c->items, c->count, c->capacity, k);
}

static conditions keep_conditions(LLVMModuleRef module, LLVMBuilderRef builder)
{
  conditions c = {0};
  for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f))
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b)) {
      LLVMValueRef end = LLVMGetBasicBlockTerminator(b);
      if (LLVMIsABranchInst(end) && LLVMIsConditional(end))
        keep_condition(&c, module, builder, end);
    }
  return c;
}

/* tile.count, in a register of its own. */
static LLVMValueRef count_down(LLVMBuilderRef builder, LLVMValueRef trip_count)
{
  static const char text[] = ".insn i 0x1b, 2, $0, $0, -1"
                             "\n.pushsection " POP_GP_NEEDS_SECTION ",\"\",@progbits\n"
                             ".asciz \"" POP_GP_NEEDS_REPEATS "\"\n"
                             ".popsection";
  static const char constraints[] = "=r,0";
  LLVMTypeRef type = LLVMTypeOf(trip_count), signature = LLVMFunctionType(type, &type, 1, false);
  LLVMValueRef code =
      LLVMGetInlineAsm(signature, text, sizeof text - 1, constraints, sizeof constraints - 1, false,
                       false, LLVMInlineAsmDialectATT, false);
  return LLVMBuildCall2(builder, signature, code, &trip_count, 1, "");
}

/* Gives a loop that is not worth a repeat its exit condition back; the counter becomes
 * dead code. */
static void forget(LLVMValueRef decrement, const kept *k)
{
  LLVMValueRef end = LLVMGetBasicBlockTerminator(LLVMGetInstructionParent(decrement));
  LLVMSetCondition(end, LLVMGetOperand(k->call, 0));
  LLVMBasicBlockRef first = LLVMGetSuccessor(end, 0);
  if (first == k->first) return;
  LLVMSetSuccessor(end, 0, LLVMGetSuccessor(end, 1)); /* the pass has what goes on in front */
  LLVMSetSuccessor(end, 1, first);
}

static const kept *kept_in(const conditions *c, LLVMBasicBlockRef block)
{
  for (size_t i = 0; i < c->count; ++i)
    if (LLVMGetInstructionParent(c->items[i].call) == block) return &c->items[i];
  return NULL;
}

/* Does the trip count fit into rpt's counter? It may be one more than a number that fits, if it was
 * computed as a zero-extended number plus 1. */
static bool fits(LLVMValueRef trip_count)
{
  if (upper_bound(trip_count, MAX_STEPS) <= MAX_TRIP_COUNT) return true;
  if (!LLVMIsAInstruction(trip_count) || LLVMGetInstructionOpcode(trip_count) != LLVMAdd)
    return false;
  LLVMValueRef before = LLVMGetOperand(trip_count, 0),
               one = LLVMIsAConstantInt(LLVMGetOperand(trip_count, 1));
  return one && LLVMConstIntGetZExtValue(one) == 1 && LLVMIsAZExtInst(before) &&
         upper_bound(before, MAX_STEPS) <= MAX_TRIP_COUNT;
}

static void replace_decrement(LLVMBuilderRef builder, const conditions *c, LLVMValueRef decrement,
                              LLVMValueRef trip_count)
{
  LLVMValueRef left = LLVMGetOperand(decrement, 0), less = left;
  LLVMBasicBlockRef block = LLVMGetInstructionParent(decrement);
  const kept *k = kept_in(c, block);
  LLVMPositionBuilderBefore(builder, decrement);
  if (!k || (fits(trip_count) && is_simple(block, c->keep)))
    less = count_down(builder, left);
  else
    forget(decrement, k);
  LLVMReplaceAllUsesWith(decrement, less);
  LLVMInstructionEraseFromParent(decrement);
}

/* Replaces the intrinsic `start`, whose count a phi carries to the loop's decrement. */
static void replace_start(LLVMBuilderRef builder, const conditions *c, LLVMValueRef start)
{
  LLVMValueRef trip_count = LLVMGetOperand(start, 0), decrement = NULL;
  for (LLVMUseRef u = LLVMGetFirstUse(start); u; u = LLVMGetNextUse(u)) {
    LLVMValueRef phi = LLVMGetUser(u);
    for (LLVMUseRef v = LLVMGetFirstUse(phi); v; v = LLVMGetNextUse(v))
      if (is_call_of(LLVMGetUser(v), "llvm.loop.decrement.reg")) decrement = LLVMGetUser(v);
  }
  if (decrement) replace_decrement(builder, c, decrement, trip_count);
  LLVMReplaceAllUsesWith(start, trip_count);
  LLVMInstructionEraseFromParent(start);
}

static LLVMValueRef first_call_in(LLVMValueRef function, const char *intrinsic)
{
  for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b; b = LLVMGetNextBasicBlock(b))
    for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
      if (is_call_of(i, intrinsic)) return i;
  return NULL;
}

static LLVMErrorRef run(LLVMModuleRef module, const char *passes)
{
  LLVMPassBuilderOptionsRef options = LLVMCreatePassBuilderOptions();
  LLVMErrorRef error = LLVMRunPasses(module, passes, NULL, options);
  LLVMDisposePassBuilderOptions(options);
  return error;
}

LLVMErrorRef pairs_count_loops(LLVMModuleRef module)
{
  LLVMBuilderRef builder = LLVMCreateBuilderInContext(LLVMGetModuleContext(module));
  conditions c = keep_conditions(module, builder);
  LLVMErrorRef error =
      run(module, "function(hardware-loops<force-hardware-loops;force-hardware-loop-phi;"
                  "hardware-loop-counter-bitwidth=32;hardware-loop-decrement=1>)");
  for (LLVMValueRef f = LLVMGetFirstFunction(module), start; f && !error;
       f = LLVMGetNextFunction(f))
    while ((start = first_call_in(f, "llvm.start.loop.iterations")))
      replace_start(builder, &c, start);
  for (size_t i = 0; i < c.count; ++i) LLVMInstructionEraseFromParent(c.items[i].call);
  if (c.keep) LLVMDeleteFunction(c.keep);
  free(c.items);
  LLVMDisposeBuilder(builder);
  return error ? error : run(module, "function(dce)");
}
