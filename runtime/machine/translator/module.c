/* The module: units in, native code out, through LLVM's optimiser and ORC.
 *
 * LLVM's errors become texts here. Code is made for the host's own processor; it must have fused
 * multiply-add and half-precision conversions, because without them both would be calls of
 * libraries that the code generator takes for granted. */
#include "base/llvm/ends.h"
#include "double_words.h"
#include "lift.h"
#include "translator_contract.h"

#include <llvm-c/Analysis.h>
#include <llvm-c/Core.h>
#include <llvm-c/Error.h>
#include <llvm-c/LLJIT.h>
#include <llvm-c/Support.h>
#include <llvm-c/Target.h>
#include <llvm-c/TargetMachine.h>
#include <llvm-c/Transforms/PassBuilder.h>
#include <llvm-c/blake3.h>
#include <populus/arena.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct translator {
  LLVMTargetMachineRef target;
  LLVMOrcLLJITRef jit;
  char *triple;
  char *features; /* of the host's processor */
  char *layout;
  char *identity;
  LLVMCodeGenOptLevel effort;
  uint32_t num_linked;
};

/* `error`, which is used up, as a text. */
static char *text_of(LLVMErrorRef error)
{
  char *message = LLVMGetErrorMessage(error), *text = pop_xstrdup(message);
  LLVMDisposeErrorMessage(message);
  return text;
}

static bool failed(LLVMErrorRef raised, char **error)
{
  if (raised) *error = text_of(raised);
  return raised != NULL;
}

/* The host */

/* Vector extensions that the environment's POPULUS_TRANSLATOR_WITHOUT can take away, so that what is made for other
 * processors can be seen, and tested, here. Without AVX there is no fused multiply-add either. */
static const struct {
  const char *name, *features;
} extensions[] = {{"avx512", ",-avx512f"},
                  {"avx2", ",-avx512f,-avx2"},
                  {"avx", ",-avx512f,-avx2,-avx,-fma,-f16c"}};

/* To be appended to the host's features; NULL: see `error`. */
static const char *unwanted_features(char **error)
{
  const char *name = secure_getenv("POPULUS_TRANSLATOR_WITHOUT");
  if (!name || !*name) return "";
  for (size_t i = 0; i < sizeof extensions / sizeof *extensions; i++)
    if (strcmp(name, extensions[i].name) == 0) return extensions[i].features;
  *error = pop_xasprintf("POPULUS_TRANSLATOR_WITHOUT is '%s': it can be avx512, avx2 or avx", name);
  return NULL;
}

/* What code may use: the processor's features, as LLVM writes them; NULL: see `error`. */
static char *usable_features(char **error)
{
  const char *unwanted = unwanted_features(error);
  if (!unwanted) return NULL;
  char *cpu = LLVMGetHostCPUName(), *host = LLVMGetHostCPUFeatures(), *features = NULL;
  if (strstr(host, "+fma,") && strstr(host, "+f16c") && !strstr(unwanted, "-fma"))
    features = pop_xasprintf("%s%s", host, unwanted);
  else
    *error =
        pop_xasprintf("the processor (%s%s) has no fma or no f16c instructions", cpu, unwanted);
  LLVMDisposeMessage(cpu);
  LLVMDisposeMessage(host);
  return features;
}

/* With POPULUS_TRANSLATOR_EFFORT=least in the environment, code goes through all passes over LLVM's code, but registers and
 * the order of instructions are given as they come: it is made in a third of the time, for code that hardly runs. */
static bool choose_effort(LLVMCodeGenOptLevel *effort, char **error)
{
  const char *name = secure_getenv("POPULUS_TRANSLATOR_EFFORT");
  bool least = name && strcmp(name, "least") == 0;
  *effort = least ? LLVMCodeGenLevelNone : LLVMCodeGenLevelDefault;
  if (least || !name || !*name) return true;
  *error = pop_xasprintf("POPULUS_TRANSLATOR_EFFORT is '%s': it can be least", name);
  return false;
}

static LLVMTargetMachineRef make_machine(const translator *t, char **error)
{
  LLVMTargetRef target;
  char *message = NULL;
  if (LLVMGetTargetFromTriple(t->triple, &target, &message)) {
    *error = pop_xstrdup(message);
    LLVMDisposeMessage(message);
    return NULL;
  }
  char *cpu = LLVMGetHostCPUName();
  LLVMTargetMachineRef machine = LLVMCreateTargetMachine(
      target, t->triple, cpu, t->features, t->effort, LLVMRelocPIC, LLVMCodeModelSmall);
  LLVMDisposeMessage(cpu);
  return machine;
}

/* Division of 128 bits, of the C compiler's library: LLVM computes what loops leave with it. */
__extension__ typedef __int128 wide;
wide __udivti3(wide a, wide b);
wide __umodti3(wide a, wide b);
wide __divti3(wide a, wide b);
wide __modti3(wide a, wide b);

/* Helpers of native code by name. */
typedef union helper_address {
  uint32_t (*access)(translated_frame *, uint32_t, uint32_t, uint32_t);
  uint64_t (*more_time)(translated_frame *);
  translated_code (*find)(translated_frame *, uint32_t);
  uint32_t (*value)(uint32_t, uint32_t, uint32_t, uint32_t, uint32_t);
  uint64_t (*copy)(translated_frame *, uint32_t, uint32_t, uint32_t, int64_t);
  wide (*divide)(wide, wide);
  uintptr_t address;
} helper_address;

enum { NUM_HELPERS = 9 };

static LLVMErrorRef define_helpers(LLVMOrcLLJITRef jit, const translator_helpers *helpers)
{
  static const char *const names[NUM_HELPERS] = {"tile_access", "tile_more_time", "tile_find",
                                                 "tile_value",  "tile_copy",      "__udivti3",
                                                 "__umodti3",   "__divti3",       "__modti3"};
  helper_address addresses[NUM_HELPERS] = {
      {.access = helpers->access}, {.more_time = helpers->more_time},
      {.find = helpers->find},     {.value = helpers->value},
      {.copy = helpers->copy},     {.divide = __udivti3},
      {.divide = __umodti3},       {.divide = __divti3},
      {.divide = __modti3}};
  LLVMOrcCSymbolMapPair pairs[NUM_HELPERS];
  for (unsigned i = 0; i < NUM_HELPERS; i++)
    pairs[i] = (LLVMOrcCSymbolMapPair){
        .Name = LLVMOrcLLJITMangleAndIntern(jit, names[i]),
        .Sym = {.Address = addresses[i].address,
                .Flags = {.GenericFlags = LLVMJITSymbolGenericFlagsExported |
                                          LLVMJITSymbolGenericFlagsCallable}}};
  return LLVMOrcJITDylibDefine(LLVMOrcLLJITGetMainJITDylib(jit),
                               LLVMOrcAbsoluteSymbols(pairs, NUM_HELPERS));
}

/* What the code generator calls by itself: memcpy, memset. */
static LLVMErrorRef define_process(LLVMOrcLLJITRef jit)
{
  LLVMOrcDefinitionGeneratorRef generator;
  LLVMErrorRef error = LLVMOrcCreateDynamicLibrarySearchGeneratorForProcess(
      &generator, LLVMOrcLLJITGetGlobalPrefix(jit), NULL, NULL);
  if (!error) LLVMOrcJITDylibAddGenerator(LLVMOrcLLJITGetMainJITDylib(jit), generator);
  return error;
}

static bool start_jit(translator *t, const translator_helpers *helpers, char **error)
{
  LLVMOrcLLJITBuilderRef builder = LLVMOrcCreateLLJITBuilder();
  LLVMTargetMachineRef machine = make_machine(t, error);
  if (!machine) {
    LLVMOrcDisposeLLJITBuilder(builder);
    return false;
  }
  LLVMOrcLLJITBuilderSetJITTargetMachineBuilder(
      builder, LLVMOrcJITTargetMachineBuilderCreateFromTargetMachine(machine));
  if (failed(LLVMOrcCreateLLJIT(&t->jit, builder), error)) return false;
  t->layout = pop_xstrdup(LLVMOrcLLJITGetDataLayoutStr(t->jit));
  return !failed(define_helpers(t->jit, helpers), error) && !failed(define_process(t->jit), error);
}

static void destroy(translator *t)
{
  if (!t) return;
  LLVMErrorRef error = t->jit ? LLVMOrcDisposeLLJIT(t->jit) : NULL;
  if (error) LLVMConsumeError(error);
  if (t->target) LLVMDisposeTargetMachine(t->target);
  if (t->triple) LLVMDisposeMessage(t->triple);
  free(t->features);
  free(t->layout);
  free(t->identity);
  free(t);
}

static char *describe(const translator *t)
{
  unsigned major, minor, patch;
  LLVMGetVersion(&major, &minor, &patch);
  char *cpu = LLVMGetHostCPUName();
  char *text = pop_xasprintf("LLVM %u.%u.%u %s %s %s%s", major, minor, patch, t->triple, cpu,
                             t->features, t->effort == LLVMCodeGenLevelNone ? " least" : "");
  LLVMDisposeMessage(cpu);
  return text;
}

static const char *identity(const translator *t)
{
  return t->identity;
}

/* LLVM does what is left behind vectors of 16 elements in shorter vectors; loops on tiles are so short that it should do
 * the same behind 8 (14 x 14 x 14 points of a stencil: 1.67 of the host's time without, 1.35 with). And superword
 * vectorisation begins with pairs that hardly pay, which then are in the way of fours (four sums of products in a loop
 * that is written out: 2.6 of the host's time without, 1.9 with). Only its command line says so, which is the process's. */
static void set_options(void)
{
  static const char *const options[] = {"translator", "-epilogue-vectorization-minimum-VF=8",
                                        "-slp-threshold=4"};
  LLVMParseCommandLineOptions(sizeof options / sizeof *options, options, NULL);
}

static translator *create(const translator_helpers *helpers, char **error)
{
  LLVMInitializeNativeTarget();
  LLVMInitializeNativeAsmPrinter();
  set_options();
  translator *t = pop_xcalloc(1, sizeof *t);
  t->triple = LLVMGetDefaultTargetTriple();
  t->features = usable_features(error);
  if (t->features && choose_effort(&t->effort, error)) t->target = make_machine(t, error);
  if (t->target) t->identity = describe(t);
  if (t->target && start_jit(t, helpers, error)) return t;
  destroy(t);
  return NULL;
}

/* Lifting */

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

/* `helper` under a calling convention that keeps registers of the caller, so that the code around
 * an access or a test of time does not suffer from what it hardly ever does: all general ones (preserve-most), or those that
 * a function keeps that is called by regcall, which without that would save them whenever it is called.
 *
 * No more vector state may live across this call: the convention that promises to keep all vector registers
 * (preserve-all) is broken on hosts with AVX. LLVM 19 clears their upper halves (vzeroupper) in front of the
 * return, behind the code that has restored them. tests/e2e/native_helpers.sh looks at the machine code. */
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

/* As metadata of branches: nearly always the first way. */
static LLVMValueRef make_likely(const lift *l)
{
  LLVMMetadataRef operands[] = {
      LLVMMDStringInContext2(l->context, "branch_weights", 14),
      LLVMValueAsMetadata(LLVMConstInt(l->type.i32, 1 << 20, 0)),
      LLVMValueAsMetadata(LLVMConstInt(l->type.i32, 1, 0)),
  };
  return LLVMMetadataAsValue(l->context, LLVMMDNodeInContext2(l->context, operands, 3));
}

/* Rows on tiles often have no 16 elements, and then would not be vectorised at all. (A stencil's rows of 14: 1.35 of the
 * host's time instead of 1.69; 80 products and sums .79 instead of .70.) */
static void prefer_vectors_of_256_bits(const lift *l, LLVMValueRef function)
{
  static const char name[] = "prefer-vector-width", width[] = "256";
  LLVMAddAttributeAtIndex(
      function, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
      LLVMCreateStringAttribute(l->context, name, sizeof name - 1, width, sizeof width - 1));
}

/* The function's name ends with eight zeros, which linking replaces by digits that no other has. */
#define ZEROS "_00000000"

/* Behind these words an object has its numbers (lift_number), which linking writes. An object that has the words twice, because
 * tile code has these constants, is not linked. */
static const uint32_t numbers_mark[] = {0x9e4d7a31, 0x62b5c0f8, 0xd817e29b, 0x3fa4068d};
enum { MARK_WORDS = sizeof numbers_mark / sizeof *numbers_mark };

/* Also if nothing asks for it. */
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
    words[i] = LLVMConstInt(l->type.i32, i < MARK_WORDS ? numbers_mark[i] : 0, 0);
  LLVMTypeRef type = LLVMArrayType2(l->type.i32, count);
  LLVMValueRef all = LLVMAddGlobal(l->module, type, "numbers"), way;
  LLVMSetInitializer(all, LLVMConstArray2(l->type.i32, words, count));
  LLVMSetLinkage(all, LLVMInternalLinkage);
  LLVMSetGlobalConstant(all, true);
  LLVMSetExternallyInitialized(all, true);
  LLVMSetAlignment(all, 4);
  keep_in_object(l, all);
  free(words);
  way = LLVMConstInt(l->type.i64, sizeof numbers_mark, 0);
  return LLVMConstInBoundsGEP2(l->type.i8, all, &way, 1);
}

static LLVMModuleRef lift_module(const translator *t, LLVMContextRef context, const code_unit *unit,
                                 const char *name)
{
  lift l = {.context = context,
            .module = LLVMModuleCreateWithNameInContext(name, context),
            .b = LLVMCreateBuilderInContext(context),
            .unit = unit,
            .functions = pop_xcalloc(unit->num_functions, sizeof *l.functions)};
  LLVMSetTarget(l.module, t->triple);
  LLVMSetDataLayout(l.module, t->layout);
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

/* Optimising and linking */

static bool verify(LLVMModuleRef module, char **error)
{
  char *message = NULL;
  bool broken = LLVMVerifyModule(module, LLVMReturnStatusAction, &message);
  if (broken) *error = pop_xstrdup(message);
  LLVMDisposeMessage(message);
  return !broken;
}

/* Superword vectorisation makes vectors of the halves of 64-bit integers, and of what else an integer function has in
 * pairs, and then spends more on getting them in and out (SipHash: 5.4 of the host's time, 2.0 without). It leaves
 * functions alone that may use no vector registers by themselves, so that is what these are said to be meanwhile. */
static const char keeps_scalars[] = "noimplicitfloat";

static void keep_scalars(LLVMModuleRef module, bool keep)
{
  unsigned kind = LLVMGetEnumAttributeKindForName(keeps_scalars, sizeof keeps_scalars - 1);
  LLVMAttributeIndex place = (LLVMAttributeIndex)LLVMAttributeFunctionIndex;
  for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f)) {
    if (!LLVMGetStringAttributeAtIndex(f, place, LIFT_INTEGERS_ONLY, strlen(LIFT_INTEGERS_ONLY)))
      continue;
    if (keep)
      LLVMAddAttributeAtIndex(f, place,
                              LLVMCreateEnumAttribute(LLVMGetModuleContext(module), kind, 0));
    else
      LLVMRemoveEnumAttributeAtIndex(f, place, kind);
  }
}

/* LLVM's own -O2 without inlining and with two changes, each measured (tests/bench/machine.sh):
 * superword vectorisation comes last, because in front of unrolling it makes pairs where four would
 * fit, or where none do; and passes that look for more facts about branches (jump threading,
 * correlated values) are left out, because the checks of accesses have nothing to give them. */
static const char *const passes[] = {
    "function<eager-inv>("
    "sroa<modify-cfg>,early-cse<memssa>,simplifycfg)",
    "function<eager-inv>("
    "adce,instcombine<no-verify-fixpoint>,simplifycfg,"
    "reassociate,loop-mssa(loop-instsimplify,loop-simplifycfg,licm<allowspeculation>),simplifycfg,"
    "instcombine<no-verify-fixpoint>,loop(indvars,loop-deletion,loop-unroll-full),sroa<modify-cfg>"
    ")",
    "function<eager-inv>("
    "gvn,sccp,bdce,instcombine<no-verify-fixpoint>,adce,dse,loop-mssa(licm<allowspeculation>),"
    "simplifycfg,instcombine<no-verify-fixpoint>)",
    "function<eager-inv>("
    "loop-vectorize,loop-load-elim,"
    "instcombine<no-verify-fixpoint>,simplifycfg,loop-unroll<O2>,"
    "instcombine<no-verify-fixpoint>)",
    "function<eager-inv>(slp-vectorizer)",
    "function<eager-inv>(loop-mssa(licm<allowspeculation>),div-rem-pairs,simplifycfg)"};
enum { NUM_PASSES = sizeof passes / sizeof *passes, SUPERWORDS = NUM_PASSES - 2 };
enum {
  WORDS = 1
}; /* in front of these words are values, constants are known, and nothing has been combined: what is lifted gets its final form */

static bool optimise(const translator *t, LLVMModuleRef module, void (*breathe)(void), char **error)
{
  LLVMPassBuilderOptionsRef options = LLVMCreatePassBuilderOptions();
  bool bad = false;
  for (size_t i = 0; i < NUM_PASSES && !bad; i++) {
    if (breathe) breathe();
    if (i == WORDS) {
      double_words_join(module);
      picks_expand(module);
    }
    if (i >= SUPERWORDS) keep_scalars(module, i == SUPERWORDS);
    bad = failed(LLVMRunPasses(module, passes[i], t->target, options), error);
  }
  LLVMDisposePassBuilderOptions(options);
  return !bad;
}

static void show(LLVMModuleRef module, const char *stage)
{
  const char *wanted = secure_getenv("POPULUS_TRANSLATOR_DUMP");
  if (!wanted || strcmp(wanted, stage) != 0) return;
  char *text = LLVMPrintModuleToString(module);
  fputs(text, stderr);
  LLVMDisposeMessage(text);
}

/* The machine code as an object file; NULL: see `error`. */
static LLVMMemoryBufferRef generate(const translator *t, const code_unit *unit, const char *name,
                                    void (*breathe)(void), char **error)
{
  LLVMContextRef context = LLVMContextCreate();
  LLVMModuleRef module = lift_module(t, context, unit, name);
  LLVMMemoryBufferRef object = NULL;
  show(module, "lift");
  if (verify(module, error) && optimise(t, module, breathe, error)) {
    show(module, "optimise");
    if (breathe) breathe();
    char *message = NULL;
    if (LLVMTargetMachineEmitToMemoryBuffer(t->target, module, LLVMObjectFile, &message, &object)) {
      *error = pop_xstrdup(message);
      LLVMDisposeMessage(message);
      object = NULL;
    }
  }
  LLVMDisposeModule(module);
  LLVMContextDispose(context);
  return object;
}

static uint8_t *compile(translator *t, const code_unit *unit, const char *name,
                        void (*breathe)(void), size_t *size, char **error)
{
  LLVMMemoryBufferRef object = generate(t, unit, name, breathe, error);
  if (!object) return NULL;
  *size = LLVMGetBufferSize(object);
  uint8_t *bytes = pop_xmalloc(*size);
  memcpy(bytes, LLVMGetBufferStart(object), *size);
  LLVMDisposeMemoryBuffer(object);
  return bytes;
}

/* Linked code: what frees it. */
struct translated_object {
  LLVMOrcResourceTrackerRef tracker;
};

static void discard(translated_object *object)
{
  LLVMErrorRef error = LLVMOrcResourceTrackerRemove(object->tracker);
  if (error) LLVMConsumeError(error);
  LLVMOrcReleaseResourceTracker(object->tracker);
  free(object);
}

static char *numbered(const char *name, uint32_t number)
{
  return pop_xasprintf("%s_%08x", name, number);
}

/* In the table of symbols' names, which has it once. */
static void rename_function(uint8_t *object, size_t size, const char *name, const char *to)
{
  char *from = numbered(name, 0);
  size_t length = strlen(from) + 1;
  uint8_t *at = memmem(object, size, from, length);
  if (at) memcpy(at, to, length);
  free(from);
}

/* Where they are in the object; NULL: not there, or that cannot be told. */
static uint8_t *find_numbers(uint8_t *object, size_t size)
{
  uint8_t *at = memmem(object, size, numbers_mark, sizeof numbers_mark);
  if (!at) return NULL;
  at += sizeof numbers_mark;
  size -= (size_t)(at - object);
  return memmem(at, size, numbers_mark, sizeof numbers_mark) ? NULL : at;
}

static bool write_numbers(uint8_t *object, size_t size, const code_place *place)
{
  const code_window w = place->writable, r = place->readable;
  const uint32_t windows[NUMBER_STARTS] = {w.start, w.bytes, w.bytes >> 1, w.bytes >> 2,
                                           r.start, r.bytes, r.bytes >> 1, r.bytes >> 2};
  uint8_t *at = find_numbers(object, size);
  if (!at) return false;
  memcpy(at, windows, sizeof windows);
  if (place->num_starts)
    memcpy(at + sizeof windows, place->starts, place->num_starts * sizeof *place->starts);
  return true;
}

/* A copy of the object for that place: `full_name` is its function's name there. NULL: it has no numbers, or twice. */
static LLVMMemoryBufferRef place_object(const uint8_t *bytes, size_t size, const char *name,
                                        const char *full_name, const code_place *place)
{
  uint8_t *copy = pop_xmalloc(size);
  memcpy(copy, bytes, size);
  LLVMMemoryBufferRef buffer = NULL;
  rename_function(copy, size, name, full_name);
  if (write_numbers(copy, size, place))
    buffer = LLVMCreateMemoryBufferWithMemoryRangeCopy((const char *)copy, size, full_name);
  free(copy);
  return buffer;
}

static translated_code link_at(translator *t, const uint8_t *bytes, size_t size, const char *name,
                               const char *full_name, const code_place *place,
                               translated_object **object, char **error)
{
  LLVMMemoryBufferRef buffer = place_object(bytes, size, name, full_name, place);
  if (!buffer) {
    *error = pop_xstrdup("its numbers' place cannot be told from constants of the code");
    return NULL;
  }
  LLVMOrcResourceTrackerRef tracker =
      LLVMOrcJITDylibCreateResourceTracker(LLVMOrcLLJITGetMainJITDylib(t->jit));
  LLVMOrcExecutorAddress address = 0;
  *object = pop_xcalloc(1, sizeof **object);
  (*object)->tracker = tracker;
  if (failed(LLVMOrcLLJITAddObjectFileWithRT(t->jit, tracker, buffer), error) ||
      failed(LLVMOrcLLJITLookup(t->jit, &address, full_name), error)) {
    discard(*object);
    *object = NULL;
    return NULL;
  }
  union {
    uintptr_t address;
    translated_code code;
  } entry = {.address = (uintptr_t)address};
  return entry.code;
}

static translated_code link_object(translator *t, const uint8_t *bytes, size_t size,
                                   const char *name, const code_place *place,
                                   translated_object **object, char **error)
{
  char *full_name = numbered(name, ++t->num_linked);
  translated_code code = link_at(t, bytes, size, name, full_name, place, object, error);
  free(full_name);
  return code;
}

static void digest(const void *bytes, size_t size, uint8_t digest[TRANSLATOR_DIGEST_BYTES])
{
  llvm_blake3_hasher hasher;
  llvm_blake3_hasher_init(&hasher);
  llvm_blake3_hasher_update(&hasher, bytes, size);
  llvm_blake3_hasher_finalize(&hasher, digest, TRANSLATOR_DIGEST_BYTES);
}

static void forget(char *error)
{
  free(error);
}

extern const translator_interface translator_module;
const translator_interface translator_module = {.contract = POPULUS_TRANSLATOR_CONTRACT,
                                                .ends_in = llvm_ends_in,
                                                .prepare_thread = llvm_ends_prepare_thread,
                                                .create = create,
                                                .identity = identity,
                                                .compile = compile,
                                                .link = link_object,
                                                .discard = discard,
                                                .digest = digest,
                                                .forget = forget,
                                                .shrink = shrink_llvm,
                                                .destroy = destroy};
