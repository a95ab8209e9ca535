/* The LLVM module of a unit: types and helpers for lifting, and attributes of its functions. */
#include "lift.h"
#include "module.h"

#include <populus/arena.h>
#include <stdlib.h>
#include <string.h>

static void make_types(lift *l)
{
  lift_types *t = &l->type;
  LLVMContextRef c = l->context;
  t->i1 = LLVMInt1TypeInContext(c);
  t->i8 = LLVMInt8TypeInContext(c);
  t->i16 = LLVMInt16TypeInContext(c);
  t->i32 = LLVMInt32TypeInContext(c);
  t->i64 = LLVMInt64TypeInContext(c);
  t->half = LLVMHalfTypeInContext(c);
  t->single = LLVMFloatTypeInContext(c);
  t->pointer = LLVMPointerTypeInContext(c, 0);
  t->function = LLVMFunctionType(LLVMVoidTypeInContext(c), &t->pointer, 1, 0);
  t->more_time = LLVMFunctionType(t->i64, &t->pointer, 1, 0);
  t->access = LLVMFunctionType(t->i32, (LLVMTypeRef[]){t->pointer, t->i32, t->i32, t->i32}, 4, 0);
  t->find = LLVMFunctionType(t->pointer, (LLVMTypeRef[]){t->pointer, t->i32}, 2, 0);
  t->value =
      LLVMFunctionType(t->i32, (LLVMTypeRef[]){t->i32, t->i32, t->i32, t->i32, t->i32}, 5, 0);
  t->copy =
      LLVMFunctionType(t->i64, (LLVMTypeRef[]){t->pointer, t->i32, t->i32, t->i32, t->i64}, 5, 0);
}

static void add_attribute(const lift *l, LLVMValueRef function, const char *name, uint64_t value)
{
  unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));
  LLVMAddAttributeAtIndex(function, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
                          LLVMCreateEnumAttribute(l->context, kind, value));
}

/* Values of the attribute `memory`: two bits (1 reads, 2 writes) for arguments, inaccessible memory
 * and everything else ("MemoryEffects", llvm/Support/ModRef.h). */
enum {
  MEMORY_NONE = 0,
  MEMORY_READS = 1 | 1 << 2 | 1 << 4,
  MEMORY_WRITES_FRAME = 3 | 1 << 2 | 1 << 4,
  MEMORY_WRITES = 3 | 3 << 2 | 3 << 4
};

static LLVMValueRef declare_helper(const lift *l, const char *name, LLVMTypeRef type,
                                   uint64_t memory)
{
  LLVMValueRef function = LLVMAddFunction(l->module, name, type);
  add_attribute(l, function, "nounwind", 0);
  add_attribute(l, function, "willreturn", 0);
  add_attribute(l, function, "memory", memory);
  return function;
}

/* Wraps `helper` in a function whose calling convention preserves the caller's registers, so that
 * the code around an access or a test of time does not suffer from a call that hardly ever happens.
 * For functions that are called by context it is preserve-most, which preserves all general
 * registers. For functions that are called by regcall it is regcall; otherwise they would save its
 * callee-saved registers on every entry.
 *
 * No other vector register may live across this call. The convention that promises to preserve all
 * vector registers (preserve-all) is broken on hosts with AVX: LLVM 19 clears their upper halves
 * (vzeroupper) in front of the return, behind the code that has restored them.
 * tests/e2e/native_helpers.sh looks at the machine code. */
static LLVMValueRef define_quiet(const lift *l, const char *name, LLVMTypeRef type,
                                 LLVMValueRef helper, uint64_t memory, LLVMCallConv convention)
{
  LLVMValueRef function = LLVMAddFunction(l->module, name, type), arguments[4];
  LLVMSetLinkage(function, LLVMInternalLinkage);
  LLVMSetFunctionCallConv(function, convention);
  static const char *const names[] = {"noinline", "cold", "nounwind", "willreturn"};
  for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
    add_attribute(l, function, names[i], 0);
  add_attribute(l, function, "memory", memory);
  LLVMPositionBuilderAtEnd(l->b, LLVMAppendBasicBlockInContext(l->context, function, "entry"));
  LLVMGetParams(function, arguments);
  LLVMBuildRet(l->b, LLVMBuildCall2(l->b, type, helper, arguments, LLVMCountParams(function), ""));
  return function;
}

/* Branch metadata: nearly always the first successor. */
static LLVMValueRef make_likely(const lift *l)
{
  LLVMMetadataRef operands[] = {
      LLVMMDStringInContext2(l->context, "branch_weights", 14),
      LLVMValueAsMetadata(LLVMConstInt(l->type.i32, 1 << 20, 0)),
      LLVMValueAsMetadata(LLVMConstInt(l->type.i32, 1, 0)),
  };
  return LLVMMetadataAsValue(l->context, LLVMMDNodeInContext2(l->context, operands, 3));
}

/* Rows on tiles often have fewer than 16 elements, and with wider vectors would not be vectorised
 * at all. (A stencil's rows of 14: 1.35 of the host's time instead of 1.69; 80 products and sums
 * .79 instead of .70.) */
static void prefer_vectors_of_256_bits(const lift *l, LLVMValueRef function)
{
  static const char name[] = "prefer-vector-width", width[] = "256";
  LLVMAddAttributeAtIndex(
      function, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
      LLVMCreateStringAttribute(l->context, name, sizeof name - 1, width, sizeof width - 1));
}

/* Keeps the value even if nothing refers to it. */
static void keep_in_object(const lift *l, LLVMValueRef value)
{
  LLVMTypeRef type = LLVMArrayType2(l->type.pointer, 1);
  LLVMValueRef used = LLVMAddGlobal(l->module, type, "llvm.compiler.used");
  LLVMSetInitializer(used, LLVMConstArray2(l->type.pointer, &value, 1));
  LLVMSetLinkage(used, LLVMAppendingLinkage);
  LLVMSetSection(used, "llvm.metadata");
}

static LLVMValueRef declare_numbers(const lift *l)
{
  unsigned count = MARK_WORDS + NUMBER_STARTS + l->unit->num_starts;
  LLVMValueRef *words = pop_xcalloc(count, sizeof *words);
  for (unsigned i = 0; i < count; i++)
    words[i] = LLVMConstInt(l->type.i32, i < MARK_WORDS ? object_numbers_mark[i] : 0, 0);
  LLVMTypeRef type = LLVMArrayType2(l->type.i32, count);
  LLVMValueRef all = LLVMAddGlobal(l->module, type, "numbers"), offset;
  LLVMSetInitializer(all, LLVMConstArray2(l->type.i32, words, count));
  LLVMSetLinkage(all, LLVMInternalLinkage);
  LLVMSetGlobalConstant(all, true);
  LLVMSetExternallyInitialized(all, true);
  LLVMSetAlignment(all, 4);
  keep_in_object(l, all);
  free(words);
  offset = LLVMConstInt(l->type.i64, sizeof object_numbers_mark, 0);
  return LLVMConstInBoundsGEP2(l->type.i8, all, &offset, 1);
}

LLVMModuleRef lift_module(LLVMContextRef context, const module_kind *kind, const code_unit *unit,
                          const char *name)
{
  lift l = {.context = context,
            .module = LLVMModuleCreateWithNameInContext(name, context),
            .b = LLVMCreateBuilderInContext(context),
            .unit = unit,
            .functions = pop_xcalloc(unit->num_functions, sizeof *l.functions)};
  LLVMSetTarget(l.module, kind->triple);
  LLVMSetDataLayout(l.module, kind->layout);
  make_types(&l);
  l.likely = make_likely(&l);
  LLVMValueRef access = declare_helper(&l, "tile_access", l.type.access, MEMORY_READS);
  LLVMValueRef more = declare_helper(&l, "tile_more_time", l.type.more_time, MEMORY_WRITES_FRAME);
  static const LLVMCallConv conventions[2] = {LLVMPreserveMostCallConv, LLVMX86RegCallCallConv};
  static const char *const names[2][2] = {{"quiet_access", "quiet_more_time"},
                                          {"kept_access", "kept_more_time"}};
  for (unsigned i = 0; i < 2 && i < unit->num_functions; i++) { /* the first is called by context */
    l.access[i] =
        define_quiet(&l, names[i][0], l.type.access, access, MEMORY_READS, conventions[i]);
    l.more_time[i] =
        define_quiet(&l, names[i][1], l.type.more_time, more, MEMORY_WRITES_FRAME, conventions[i]);
  }
  l.find = declare_helper(&l, "tile_find", l.type.find, MEMORY_WRITES_FRAME);
  l.value = declare_helper(&l, "tile_value", l.type.value, MEMORY_NONE);
  l.copy_block = declare_helper(&l, "tile_copy", l.type.copy, MEMORY_WRITES);
  l.numbers = declare_numbers(&l);
  lift_unit(&l);
  char *full_name = pop_xasprintf("%s" ZEROS, name);
  LLVMSetValueName2(l.functions[0], full_name, strlen(full_name));
  free(full_name);
  for (size_t i = 0; i < unit->num_functions; i++) {
    add_attribute(&l, l.functions[i], "nounwind", 0);
    prefer_vectors_of_256_bits(&l, l.functions[i]);
  }
  LLVMDisposeBuilder(l.b);
  free(l.functions);
  return l.module;
}
